/* SPDX-License-Identifier: MIT
 * zwatch replay, and the screen of the history that it stands in. */
#include "src/main/cmd_replay.h"

#include <errno.h>
#include <fcntl.h>

#include "src/audit/query.h"
#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/main/cmd.h"
#include "src/main/player.h"
#include "ui/history.h"

int cmd_history_screen(const struct start *st, const struct cli *cli,
		       const struct cmd_replay *replay)
{
	zw_autofree char *path = cmd_store_path(st);
	char name[64];

	if (ttyname_r(STDIN_FILENO, name, sizeof(name)) != 0)
		return ZW_E_UNSUPPORTED;
	zw_autoclose int tty_fd = open(name, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (tty_fd < 0)
		return -errno;
	struct zev_loop *loop = zev_loop_new();
	const char *no_colour = getenv("NO_COLOR");
	struct player player;
	player_init(&player, loop);
	struct ui_history_config config = {.store_path = path,
					   .session = replay != NULL ? replay->session : 0,
					   .is_replay = replay != NULL,
					   .file = replay != NULL ? replay->file : NULL,
					   .player = &player.ops,
					   .is_ascii = cli_has(cli, CLI_OPT_ASCII),
					   .has_colour = no_colour == NULL || *no_colour == '\0'};
	int r = ui_history_run(loop, tty_fd, &config);
	player_fini(&player);
	zev_loop_free(loop);
	return r;
}

/* Session of @word with a recorded screen. Returns 0 or an exit status, and says why. */
static int session_find(const struct start *st, const char *word, int64_t *ret)
{
	zw_autofree char *store = cmd_store_path(st);
	struct aud_query *q = NULL;
	int r = aud_query_open(store, &q);

	if (r < 0) {
		dprintf(2, "zwatch: the history %s cannot be read: %s\n", store, zw_strerror(r));
		return ZW_EXIT_STORE;
	}
	r = aud_session_find(q, word, ret);
	aud_query_free(q);
	if (r == ZW_E_SYNTAX) {
		dprintf(2,
			"zwatch: '%s' is no session: a number, last, or a file with a / or .cast\n",
			word);
		return ZW_EXIT_USAGE;
	}
	if (r < 0) {
		dprintf(2, "zwatch: there is no session %s\n", word);
		return ZW_EXIT_NOTHING;
	}
	zw_autofree char *path = zw_xasprintf(
		"%.*sscreens/%lld.cast", (int)(zw_basename(store) - store), store, (long long)*ret);
	if (access(path, R_OK) == 0)
		return 0;
	dprintf(2,
		"zwatch: the screen of session %lld was not recorded\n"
		"        fix: start the next one with --record; what happened: zwatch show %lld\n",
		(long long)*ret, (long long)*ret);
	return ZW_EXIT_NOTHING;
}

static bool is_file_word(const char *word)
{
	return strchr(word, '/') != NULL || zw_ends_with(word, ".cast");
}

int cmd_replay(struct start *st, const struct cli *cli)
{
	const char *word = cli->n_rest > 0 ? cli->rest[0] : "last";
	struct cmd_replay what = {.file = is_file_word(word) ? word : NULL};
	int status = 0;

	if (cli->n_rest > 1) {
		dprintf(2, "zwatch: one session at a time: zwatch replay NUMBER\n");
		return ZW_EXIT_USAGE;
	}
	if (what.file == NULL) {
		status = session_find(st, word, &what.session);
	} else if (access(what.file, R_OK) < 0) {
		dprintf(2, "zwatch: %s cannot be read: %s\n", word, zw_strerror(-errno));
		status = ZW_EXIT_NOTHING;
	}
	if (status != 0)
		return status;
	int r = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) ? cmd_history_screen(st, cli, &what)
							      : ZW_E_UNSUPPORTED;
	if (r < 0)
		dprintf(2, "zwatch: a replay needs a terminal\n"
			   "        fix: for another player: zwatch export NUMBER --format cast -o "
			   "FILE\n");
	return r < 0 ? ZW_EXIT_NOTHING : ZW_EXIT_OK;
}
