/* SPDX-License-Identifier: MIT
 * Reading the record: history, show, log. */
#include <errno.h>
#include <fcntl.h>

#include "src/audit/print.h"
#include "src/audit/query.h"
#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/main/cmd.h"
#include "ui/history.h"

static int store_open(const struct start *st, struct aud_query **ret)
{
	zw_autofree char *path = cmd_store_path(st);
	int r = aud_query_open(path, ret);

	if (r == 0)
		return 0;
	dprintf(2,
		"zwatch: the history %s cannot be read: %s\n"
		"        fix: move it away to start a new one; the old one is not changed\n",
		path, zw_strerror(r));
	return ZW_EXIT_STORE;
}

static const char *session_word(const struct cli *cli)
{
	return cli->n_rest > 0 ? cli->rest[0] : "last";
}

static struct aud_print print_to(const struct start *st, const struct cli *cli)
{
	return (struct aud_print){.fd = STDOUT_FILENO,
				  .format = cli_has(cli, CLI_OPT_JSON) ? AUD_FORMAT_JSON
								       : AUD_FORMAT_TABLE,
				  .is_utc = cli_has(cli, CLI_OPT_UTC),
				  .home = st->places.home};
}

/* The session that @word means; prints what is wrong. Returns 0 or an exit status. */
static int session_find(struct aud_query *q, const char *word, int64_t *ret)
{
	int r = aud_session_find(q, word, ret);

	if (r == 0)
		return 0;
	if (r == ZW_E_SYNTAX)
		dprintf(2, "zwatch: '%s' is no session: a number, or last\n", word);
	else
		dprintf(2, "zwatch: there is no session %s\n", word);
	return r == ZW_E_SYNTAX ? ZW_EXIT_USAGE : ZW_EXIT_NOTHING;
}

/* A reader that went away (head, a pager) is no failure of ours. */
static int status_of(int64_t n)
{
	if (n < 0 && n != -EPIPE) {
		dprintf(2, "zwatch: the history cannot be printed: %s\n", zw_strerror((int)n));
		return ZW_EXIT_STORE;
	}
	return n == 0 ? ZW_EXIT_NOTHING : ZW_EXIT_OK;
}

int cmd_log(struct start *st, const struct cli *cli)
{
	struct aud_query *q = NULL;
	struct aud_print p = print_to(st, cli);
	int64_t session;
	int status = store_open(st, &q);

	if (status != 0)
		return status;
	status = session_find(q, session_word(cli), &session);
	if (status == 0)
		status = status_of(aud_print_log(q, session, &p));
	aud_query_free(q);
	return status;
}

int cmd_show(struct start *st, const struct cli *cli)
{
	struct aud_query *q = NULL;
	struct aud_print p = print_to(st, cli);
	int64_t session;
	int status = store_open(st, &q);

	if (status != 0)
		return status;
	/* SESSION.EVENT, as a refusal names it to the program. */
	zw_autofree char *word = zw_xstrdup(session_word(cli));
	char *dot = strchr(word, '.');
	uint64_t no = 0;
	if (dot != NULL) {
		*dot = '\0';
		if (zw_parse_u64(dot + 1, strlen(dot + 1), UINT32_MAX, &no) < 0 || no == 0) {
			dprintf(2, "zwatch: '%s' is no event: a number, as in zwatch show last.7\n",
				dot + 1);
			aud_query_free(q);
			return ZW_EXIT_USAGE;
		}
	}
	status = session_find(q, word, &session);
	if (status == 0 && no != 0) {
		int r = aud_print_event(q, session, (int64_t)no, &p);

		if (r == ZW_E_NOT_FOUND)
			dprintf(2, "zwatch: there is no event %llu in session %lld\n",
				(unsigned long long)no, (long long)session);
		status = r == ZW_E_NOT_FOUND ? ZW_EXIT_NOTHING : r < 0 ? status_of(r) : ZW_EXIT_OK;
	} else if (status == 0) {
		int r = aud_print_show(q, session, &p);
		status = r < 0 ? status_of(r) : ZW_EXIT_OK;
	}
	aud_query_free(q);
	return status;
}

static int history_screen(const struct start *st, const struct cli *cli)
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
	int r = ui_history_run(loop, tty_fd, path, 0, cli_has(cli, CLI_OPT_ASCII),
			       no_colour == NULL || *no_colour == '\0');
	zev_loop_free(loop);
	return r;
}

int cmd_history(struct start *st, const struct cli *cli)
{
	struct aud_query *q = NULL;
	struct aud_print p = print_to(st, cli);
	int status = store_open(st, &q);

	if (status != 0)
		return status;
	bool has_screen = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) &&
			  p.format == AUD_FORMAT_TABLE && cli->n_rest == 0;
	if (!has_screen || history_screen(st, cli) < 0)
		status = status_of(aud_print_history(q, 0, &p));
	aud_query_free(q);
	return status;
}
