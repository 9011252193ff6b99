/* SPDX-License-Identifier: MIT
 * Reading the record: history, show, log. */
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>

#include "src/audit/compare.h"
#include "src/audit/follow.h"
#include "src/audit/print.h"
#include "src/audit/query.h"
#include "src/audit/stats.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/main/cmd.h"
#include "src/main/cmd_replay.h"

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

/* What `log` and `export` are asked for: a session or all, and a filter. */
struct request {
	int64_t session; /* 0 = all */
	struct aud_filter *filter;
};

int cmd_filter_read(const struct cli *cli, int first, struct aud_filter **ret)
{
	struct aud_filter_error error;
	struct zw_buf text;

	zw_buf_init(&text, AUD_FILTER_LEN_MAX + 2);
	int r = 0;
	for (int i = first; i < cli->n_rest && r == 0; i++)
		r = zw_buf_addf(&text, "%s%s", i > first ? " " : "", cli->rest[i]);
	if (r == 0)
		r = zw_buf_add(&text, "", 1);
	const char *filter = (const char *)zw_buf_head(&text);
	if (r == 0)
		r = aud_filter_parse(filter, zw_now_us(), ret, &error);
	if (r == ZW_E_TOOBIG)
		dprintf(2, "zwatch: the filter is longer than %d bytes\n", AUD_FILTER_LEN_MAX);
	else if (r < 0)
		dprintf(2, "zwatch: %s\n          %s\n          %*s^\n", error.text, filter,
			(int)error.at, "");
	zw_buf_fini(&text);
	return r < 0 ? ZW_EXIT_USAGE : 0;
}

static bool is_session_word(const char *word)
{
	return strcmp(word, "last") == 0 ||
	       (*word != '\0' && strspn(word, "0123456789") == strlen(word));
}

/* @is_all: with no session named, all of them; else the last one. */
static int request_read(struct aud_query *q, const struct cli *cli, bool is_all,
			struct request *ret)
{
	bool has_word = cli->n_rest > 0 && is_session_word(cli->rest[0]);
	int first = has_word ? 1 : 0;
	int status = 0;

	*ret = (struct request){.session = 0};
	/* A filter alone looks everywhere; no word at all means the last session. */
	if (has_word || (cli->n_rest == 0 && !is_all)) {
		struct cli only = *cli;

		only.n_rest = has_word ? 1 : 0;
		status = session_find(q, session_word(&only), &ret->session);
	}
	return status == 0 ? cmd_filter_read(cli, first, &ret->filter) : status;
}

static int format_read(const struct cli *cli, struct aud_print *p)
{
	const char *word = cli_get(cli, CLI_OPT_FORMAT);

	if (word == NULL || aud_format_of(word, &p->format) == 0)
		return 0;
	dprintf(2, "zwatch: '%s' is no format: %s\n", word, aud_format_words());
	return ZW_EXIT_USAGE;
}

/* File of a place that --since-last keeps, NULL = none. Caller frees. */
static int cursor_path(const struct start *st, const struct cli *cli, char **ret)
{
	const char *name = cli_get(cli, CLI_OPT_SINCE_LAST);

	*ret = NULL;
	if (name == NULL)
		return 0;
	if (*name == '\0' || *name == '.' || strlen(name) > 64 || strchr(name, '/') != NULL) {
		dprintf(2, "zwatch: '%s' cannot be a name: letters and digits, at most 64\n", name);
		return ZW_EXIT_USAGE;
	}
	zw_autofree char *folder = zw_xasprintf("%s/cursors", st->places.state_dir);
	int r = zw_mkdirs(folder, 0700);
	if (r < 0) {
		dprintf(2, "zwatch: %s cannot be made: %s\n", folder, zw_strerror(r));
		return ZW_EXIT_STORE;
	}
	*ret = zw_xasprintf("%s/%s", folder, name);
	return 0;
}

static int log_follow(const struct start *st, const struct cli *cli, struct aud_query *q,
		      const struct request *what, struct aud_print *p)
{
	zw_autofree char *cursor = NULL;
	int status = cursor_path(st, cli, &cursor);

	if (status != 0)
		return status;
	if (p->format == AUD_FORMAT_JSON) /* an array would never end */
		p->format = AUD_FORMAT_NDJSON;
	struct aud_follow f = {.filter = what->filter,
			       .session = what->session,
			       .cursor = cursor,
			       .from_now = what->session == 0 && cursor == NULL,
			       .is_once = !cli_has(cli, CLI_OPT_FOLLOW)};
	int64_t n = aud_follow(q, &f, p);
	if (n == ZW_E_SYNTAX) {
		dprintf(2,
			"zwatch: %s is damaged\n        fix: remove it; the log then begins anew\n",
			cursor);
		return ZW_EXIT_STORE;
	}
	status = status_of(n);
	return status == ZW_EXIT_NOTHING ? ZW_EXIT_OK : status;
}

int cmd_log(struct start *st, const struct cli *cli)
{
	struct aud_query *q = NULL;
	struct aud_print p = print_to(st, cli);
	struct request what = {.filter = NULL};
	bool is_following = cli_has(cli, CLI_OPT_FOLLOW) || cli_has(cli, CLI_OPT_SINCE_LAST);
	int status = format_read(cli, &p);

	if (status == 0)
		status = store_open(st, &q);
	if (status == 0)
		status = request_read(q, cli, cli_has(cli, CLI_OPT_SINCE_LAST), &what);
	p.has_session = what.session == 0;
	if (status == 0 && is_following)
		status = log_follow(st, cli, q, &what, &p);
	else if (status == 0)
		status = status_of(aud_print_found(q, what.filter, what.session, &p));
	aud_filter_free(what.filter);
	aud_query_free(q);
	return status;
}

/* Opens the file of an export for writing; it is not written over what is there by accident. */
static int output_open(const struct cli *cli, struct aud_print *p)
{
	const char *path = cli_get(cli, CLI_OPT_OUTPUT);

	if (path == NULL || strcmp(path, "-") == 0)
		return 0;
	p->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (p->fd >= 0)
		return 0;
	dprintf(2, "zwatch: %s cannot be made: %s\n", path, zw_strerror(-errno));
	return errno == EEXIST ? ZW_EXIT_USAGE : ZW_EXIT_STORE;
}

/* The recorded screen of one session, as it is: an asciicast with the decisions as marks. */
static int export_cast(const struct start *st, const struct cli *cli)
{
	struct aud_query *q = NULL;
	struct aud_print p = {.fd = STDOUT_FILENO};
	int64_t session = 0;
	int status = store_open(st, &q);

	if (status == 0 && cli->n_rest > 1) {
		dprintf(2,
			"zwatch: a screen is one session's: zwatch export NUMBER --format cast\n");
		status = ZW_EXIT_USAGE;
	}
	if (status == 0)
		status = session_find(q, session_word(cli), &session);
	aud_query_free(q);
	if (status != 0)
		return status;
	zw_autofree char *store = cmd_store_path(st);
	zw_autofree char *path =
		zw_xasprintf("%.*sscreens/%lld.cast", (int)(zw_basename(store) - store), store,
			     (long long)session);
	zw_autoclose int in = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (in < 0) {
		dprintf(2,
			"zwatch: the screen of session %lld was not recorded\n"
			"        fix: start the next one with --record\n",
			(long long)session);
		return ZW_EXIT_NOTHING;
	}
	status = output_open(cli, &p);
	char buf[65536];
	ssize_t n = 0;
	int r = 0;
	while (status == 0 && r == 0 && (n = read(in, buf, sizeof(buf))) > 0)
		r = zw_write_all(p.fd, buf, (size_t)n);
	if (p.fd > STDERR_FILENO)
		close(p.fd);
	return status != 0 ? status : r < 0 || n < 0 ? status_of(r < 0 ? r : -errno) : ZW_EXIT_OK;
}

int cmd_export(struct start *st, const struct cli *cli)
{
	struct aud_query *q = NULL;
	struct aud_print p = print_to(st, cli);
	struct request what = {.filter = NULL};
	int status = 0;
	const char *word = cli_get(cli, CLI_OPT_FORMAT);

	if (word != NULL && strcmp(word, "cast") == 0)
		return export_cast(st, cli);
	if (p.format == AUD_FORMAT_TABLE)
		p.format = AUD_FORMAT_CSV;
	p.has_session = true;
	status = format_read(cli, &p);
	if (status == 0)
		status = store_open(st, &q);
	if (status == 0)
		status = request_read(q, cli, true, &what);
	if (status == 0)
		status = output_open(cli, &p);
	if (status == 0)
		status = status_of(aud_print_found(q, what.filter, what.session, &p));
	if (p.fd > STDERR_FILENO)
		close(p.fd);
	aud_filter_free(what.filter);
	aud_query_free(q);
	return status;
}

/* Columns that a table for a person may take; 0 = a program reads it, all of them. Returns 0 or an
 * exit status. */
static int width_read(const struct cli *cli, int *ret)
{
	const char *word = cli_get(cli, CLI_OPT_WIDTH);
	struct winsize size = {0};
	uint64_t n = 0;

	if (word != NULL && (zw_parse_u64(word, strlen(word), 10000, &n) < 0 || n < 20)) {
		dprintf(2, "zwatch: '%s' is no width: columns, 20 to 10000\n", word);
		return ZW_EXIT_USAGE;
	}
	if (word == NULL && isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		n = size.ws_col;
	*ret = (int)n;
	return 0;
}

int cmd_stats(struct start *st, const struct cli *cli)
{
	struct aud_query *q = NULL;
	struct aud_filter *filter = NULL;
	struct aud_print p = print_to(st, cli);
	static struct aud_stats stats;
	int status = cmd_filter_read(cli, 0, &filter);

	if (status == 0)
		status = width_read(cli, &p.width);
	if (status == 0)
		status = store_open(st, &q);
	if (status == 0) {
		int r = aud_stats_read(q, filter, &stats);

		if (r == 0)
			r = aud_stats_print(&stats, &p);
		status = r < 0 ? status_of(r) : ZW_EXIT_OK;
	}
	aud_filter_free(filter);
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

int cmd_history_diff(struct start *st, const struct cli *cli)
{
	struct aud_query *q = NULL;
	struct aud_print p = print_to(st, cli);
	int64_t of[2] = {0, 0};
	int status = store_open(st, &q);

	if (status == 0 && cli->n_rest != 3) {
		dprintf(2, "zwatch: two sessions: zwatch history diff OLDER NEWER\n");
		status = ZW_EXIT_USAGE;
	}
	for (int i = 0; status == 0 && i < 2; i++)
		status = session_find(q, cli->rest[i + 1], &of[i]);
	if (status == 0)
		status = status_of(aud_compare_print(q, of[0], of[1], &p));
	aud_query_free(q);
	return status;
}

int cmd_history(struct start *st, const struct cli *cli)
{
	struct aud_query *q = NULL;
	struct aud_print p = print_to(st, cli);
	int status = store_open(st, &q);

	if (status != 0)
		return status;
	struct aud_filter *filter = NULL;
	status = cmd_filter_read(cli, 0, &filter);
	if (status != 0) {
		aud_query_free(q);
		return status;
	}
	bool has_screen = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) &&
			  p.format == AUD_FORMAT_TABLE && cli->n_rest == 0;
	if (!has_screen || cmd_history_screen(st, cli, NULL) < 0)
		status = status_of(aud_print_history(q, filter, 0, &p));
	aud_filter_free(filter);
	aud_query_free(q);
	return status;
}
