/* SPDX-License-Identifier: MIT
 * `zwatch ps`, `mode` and `stop`: running sessions, from another terminal of the same user. */
#include <stdio.h>

#include "src/base/err.h"
#include "src/base/words.h"
#include "src/ipc/chan.h"
#include "src/main/cmd.h"
#include "src/main/peers.h"

static void age_text(char out[24], uint64_t ms)
{
	unsigned long long s = ms / 1000;

	snprintf(out, 24, "%llu:%02llu:%02llu", s / 3600, s / 60 % 60, s % 60);
}

static int list(const struct peers *all)
{
	if (all->n == 0) {
		dprintf(2, "zwatch: no session runs\n");
		return ZW_EXIT_NOTHING;
	}
	dprintf(1, "%6s  %7s  %-12s  %-6s  %10s  %7s  %5s  %6s  %6s  %s\n", "ID", "PID", "AGENT",
		"MODE", "LENGTH", "WAITING", "LIVE", "ALLOW", "DENY", "PROJECT");
	for (size_t i = 0; i < all->n; i++) {
		const struct peer *p = &all->peer[i];
		char age[24];

		age_text(age, p->age_ms);
		dprintf(1, "%6llu  %7u  %-12s  %-6s  %10s  %7u  %5u  %6llu  %6llu  %s%s\n",
			(unsigned long long)p->number, p->pid, p->agent, zw_mode_word(p->mode), age,
			p->n_waiting, p->n_live, (unsigned long long)p->n_allow,
			(unsigned long long)p->n_deny, p->project, p->is_frozen ? " (frozen)" : "");
	}
	return ZW_EXIT_OK;
}

int cmd_ps(struct start *st)
{
	struct peers all;

	peers_open(&all, st);
	int status = list(&all);
	peers_fini(&all);
	return status;
}

static int mode(struct peers *all, const struct cli *cli)
{
	enum pol_mode m;
	bool is_set = cli->n_rest > 0 && pol_mode_parse(cli->rest[0], &m) == 0;
	int n_words = is_set ? 2 : 1;

	if (cli->n_rest > n_words) {
		dprintf(2, "zwatch: zwatch mode [watch|guard|strict] [ID]\n");
		return ZW_EXIT_USAGE;
	}
	struct peer *p = peers_find(all, cli->n_rest == n_words ? cli->rest[n_words - 1] : NULL);
	if (p == NULL)
		return ZW_EXIT_NOTHING;
	if (!is_set) {
		dprintf(1, "%s\n", zw_mode_word(p->mode));
		return ZW_EXIT_OK;
	}
	zw_send(p->chan, ctl_mode, .mode = (uint8_t)m);
	return peer_answer(p);
}

int cmd_mode(struct start *st, const struct cli *cli)
{
	struct peers all;

	peers_open(&all, st);
	int status = mode(&all, cli);
	peers_fini(&all);
	return status;
}

int cmd_stop(struct start *st, const struct cli *cli)
{
	struct peers all;
	int status = ZW_EXIT_NOTHING;

	if (cli->n_rest != 1) {
		dprintf(2, "zwatch: stop which session? zwatch stop ID; zwatch ps lists them\n");
		return ZW_EXIT_USAGE;
	}
	peers_open(&all, st);
	struct peer *p = peers_find(&all, cli->rest[0]);
	if (p != NULL) {
		zw_send(p->chan, ctl_stop, .unused = 0);
		status = peer_answer(p);
	}
	peers_fini(&all);
	return status;
}
