/* SPDX-License-Identifier: MIT
 * `zwatch ask`: the questions of running sessions, from another terminal of the same user. */
#include <sys/stat.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/words.h"
#include "src/ipc/chan.h"
#include "src/main/cmd.h"
#include "src/main/peers.h"

#define LINE_MAX_B 512

/* -- commands ----------------------------------------------------------------------------------- */

static int list(struct peers *all)
{
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++) {
		const struct peer *p = &all->peer[i];

		for (size_t k = 0; k < p->n; k++) {
			const struct question *q = &p->list[k];

			dprintf(1, "%llu:%llu  %-8s  %-4s  %-40s  %s  x%u  %s\n",
				(unsigned long long)p->number, (unsigned long long)q->id,
				zw_risk_word(q->risk), q->kind == POL_KIND_SITE ? "net" : "unix",
				q->target, q->who, q->n_waiting, q->is_missed ? "missed" : "held");
			n++;
		}
	}
	if (all->n == 0)
		dprintf(2, "zwatch: no session runs\n");
	return n > 0 ? ZW_EXIT_OK : ZW_EXIT_NOTHING;
}

static void print_fact(const char *label, const char *text)
{
	if (*text != '\0')
		dprintf(1, "%-9s %s\n", label, text);
}

static void show(const struct peer *p, const struct question *q)
{
	dprintf(1, "%llu:%llu  %s  %s\n", (unsigned long long)p->number, (unsigned long long)q->id,
		zw_risk_word(q->risk), q->title);
	dprintf(1, "%s %s.\nIf you allow it: %s\n", q->who, q->wants, q->consequence);
	print_fact("command", q->command);
	print_fact("folder", q->cwd);
	print_fact("target", q->target);
	print_fact("answers", q->answers);
	print_fact("before", q->before);
	print_fact("rule", q->near);
	print_fact("safer", q->safer);
}

/* "7" when one session has it, "42:7" always. Prints what is wrong. */
static struct question *find(struct peers *all, const char *word, struct peer **ret_peer)
{
	struct question *found = NULL;
	uint64_t session = 0, id = 0;
	const char *colon = word != NULL ? strchr(word, ':') : NULL;
	const char *digits = colon != NULL ? colon + 1 : word != NULL ? word : "";
	bool is_number = zw_parse_u64(digits, strlen(digits), UINT64_MAX, &id) == 0 &&
			 (colon == NULL ||
			  zw_parse_u64(word, (size_t)(colon - word), UINT64_MAX, &session) == 0);
	size_t n = 0;

	for (size_t i = 0; is_number && i < all->n; i++)
		for (size_t k = 0; k < all->peer[i].n; k++) {
			if (all->peer[i].list[k].id != id ||
			    (colon != NULL && all->peer[i].number != session))
				continue;
			found = &all->peer[i].list[k];
			*ret_peer = &all->peer[i];
			n++;
		}
	if (n == 1)
		return found;
	dprintf(2,
		n > 1 ? "zwatch: more than one session has question %s: write SESSION:NUMBER\n"
		      : "zwatch: there is no question %s. zwatch ask lists them\n",
		digits);
	return NULL;
}

static bool read_line(char line[LINE_MAX_B])
{
	size_t n = 0;
	char c;

	while (n + 1 < LINE_MAX_B && read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
		line[n++] = c;
	line[n] = '\0';
	return n > 0;
}

static int give(struct peer *p, const struct question *q, enum pol_verdict verdict, unsigned scope,
		const char *word, const char *note)
{
	p->is_answered = false;
	free(zw_steal(&p->text));
	zw_send(p->chan, ctl_answer, .ask = q->id, .verdict = (uint8_t)verdict,
		.scope = (uint8_t)scope, .word = zw_span(word), .note = zw_span(note));
	return peer_answer(p);
}

static unsigned scope_of(const struct cli *cli)
{
	const char *word = cli_get(cli, CLI_OPT_FOR);

	return word != NULL && strcmp(word, "session") == 0 ? ZW_SCOPE_SESSION : ZW_SCOPE_ONCE;
}

static int allow(struct peers *all, const struct cli *cli)
{
	struct peer *p = NULL;
	const struct question *q = find(all, cli->n_rest > 1 ? cli->rest[1] : NULL, &p);
	char line[LINE_MAX_B] = "";

	if (q == NULL)
		return ZW_EXIT_NOTHING;
	if (q->risk < POL_RISK_HIGH)
		return give(p, q, POL_ALLOW, scope_of(cli), "", "");
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		dprintf(2,
			"zwatch: %s is %s: it is allowed on a terminal only, by typing its word\n",
			q->title, zw_risk_word(q->risk));
		return ZW_EXIT_NOTHING;
	}
	show(p, q);
	dprintf(1, "\nType  %s  and Enter to allow %s. Enter alone goes back: ", q->word,
		scope_of(cli) == ZW_SCOPE_SESSION ? "for this session" : "once");
	if (!read_line(line) || strcmp(line, q->word) != 0) {
		dprintf(1, "Not the same as %s. Nothing was allowed.\n", q->word);
		return ZW_EXIT_NOTHING;
	}
	return give(p, q, POL_ALLOW, scope_of(cli), line, "");
}

static int deny(struct peers *all, const struct cli *cli)
{
	const char *note = cli_get(cli, CLI_OPT_NOTE) != NULL ? cli_get(cli, CLI_OPT_NOTE) : "";
	struct peer *p = NULL;
	int status = ZW_EXIT_NOTHING;

	if (!cli_has(cli, CLI_OPT_ALL)) {
		const struct question *q = find(all, cli->n_rest > 1 ? cli->rest[1] : NULL, &p);

		return q == NULL ? ZW_EXIT_NOTHING : give(p, q, POL_DENY, scope_of(cli), "", note);
	}
	for (size_t i = 0; i < all->n; i++)
		for (size_t k = 0; k < all->peer[i].n; k++)
			if (!all->peer[i].list[k].is_missed &&
			    give(&all->peer[i], &all->peer[i].list[k], POL_DENY, scope_of(cli), "",
				 note) == ZW_EXIT_OK)
				status = ZW_EXIT_OK;
	return status;
}

static int run(struct peers *all, const struct cli *cli)
{
	const char *word = cli->n_rest > 0 ? cli->rest[0] : "list";
	struct peer *p = NULL;

	if (strcmp(word, "list") == 0)
		return list(all);
	if (strcmp(word, "allow") == 0)
		return allow(all, cli);
	if (strcmp(word, "deny") == 0)
		return deny(all, cli);
	if (strcmp(word, "show") == 0) {
		const struct question *q = find(all, cli->n_rest > 1 ? cli->rest[1] : NULL, &p);

		if (q != NULL)
			show(p, q);
		return q != NULL ? ZW_EXIT_OK : ZW_EXIT_NOTHING;
	}
	dprintf(2, "zwatch: zwatch ask what? list, show N, deny N, deny --all or allow N\n");
	return ZW_EXIT_USAGE;
}

char *cmd_control_dir(const struct start *st)
{
	struct stat sb;

	if (stat(st->places.runtime_dir, &sb) == 0 && S_ISDIR(sb.st_mode) &&
	    access(st->places.runtime_dir, W_OK) == 0)
		return zw_xasprintf("%s/zwatch", st->places.runtime_dir);
	return zw_xasprintf("%s/run", st->places.state_dir);
}

int cmd_ask(struct start *st, const struct cli *cli)
{
	struct peers all;

	peers_open(&all, st);
	int status = run(&all, cli);
	peers_fini(&all);
	return status;
}
