/* SPDX-License-Identifier: MIT
 * Starting a session: warnings first, then the choice of face, then sup_run(). */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <syslog.h>
#include <termios.h>

#include "src/audit/known.h"
#include "src/audit/query.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/base/prefix.h"
#include "src/base/str.h"
#include "src/config/danger.h"
#include "src/config/saved_file.h"
#include "src/main/about.h"
#include "src/main/cmd.h"
#include "src/main/dash.h"
#include "src/main/events_out.h"
#include "src/main/review.h"
#include "src/main/way_out.h"
#include "src/super/super.h"
#include "ui/outer.h"

#define LOG_MAX_B (1 << 20)
#define LOG_KEPT  5
/* Of a head, on the last line: 128 bits. */
#define HEAD_DIGITS 32

enum face { FACE_NONE, FACE_DASHBOARD, FACE_COLLAPSED, FACE_PLAIN };

char *cmd_rules_path(const struct start *st)
{
	return zw_xasprintf("%s/" CFG_SAVED_FILE, st->places.config_dir);
}

int cmd_rules_load(const char *path, struct cfg_saved *ret)
{
	struct cfg_report report = {.n = 0};
	int r = cfg_saved_load(path, ret, &report);

	for (size_t i = 0; i < report.n; i++) {
		zw_autofree char *line = cfg_error_format(&report.list[i]);

		dprintf(2, "zwatch: %s\n", line);
	}
	if (r < 0)
		dprintf(2,
			"        Without its rules nothing is started: a deny of yours would be "
			"missing.\n"
			"        fix: zwatch rules edit, or take the copy beside it, %s.bak\n",
			path);
	cfg_report_clear(&report);
	return r;
}

char *cmd_store_path(const struct start *st)
{
	const char *env = getenv("ZWATCH_DB");

	if (env != NULL && *env == '/')
		return zw_xstrdup(env);
	return zw_xasprintf("%s/history.db", st->places.state_dir);
}

/* zwatch's own log: 5 files of 1 MB, no host names at the normal level. */
static int log_open(const struct start *st, bool is_verbose)
{
	zw_autofree char *path = zw_xasprintf("%s/zwatch.log", st->places.state_dir);
	struct stat sb;

	zw_mkdirs(st->places.state_dir, 0700);
	if (stat(path, &sb) == 0 && sb.st_size > LOG_MAX_B) {
		for (int i = LOG_KEPT - 1; i > 0; i--) {
			zw_autofree char *from =
				i > 1 ? zw_xasprintf("%s.%d", path, i - 1) : zw_xstrdup(path);
			zw_autofree char *to = zw_xasprintf("%s.%d", path, i);
			rename(from, to);
		}
	}
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	zw_log_init("zwatch", is_verbose ? STDERR_FILENO : fd,
		    is_verbose ? ZW_LOG_INFO : ZW_LOG_WARN);
	return fd;
}

/* Whether a variable of the user's asks for lines in the place of a screen; NULL = none does. */
static const char *plain_variable(void)
{
	static const char *const names[] = {"ZWATCH_PLAIN", "CLAUDE_AX_SCREEN_READER"};

	for (size_t i = 0; i < ZW_N_ELEMENTS(names); i++) {
		const char *value = getenv(names[i]);

		if (value != NULL && *value != '\0' && strcmp(value, "0") != 0)
			return names[i];
	}
	return NULL;
}

/* What is used when nobody said: the dashboard where the terminal can, lines where it cannot. */
static enum face face_default(bool has_terminal, bool is_dumb, const char **ret_why)
{
	const char *variable = plain_variable();

	if (!has_terminal)
		return FACE_NONE;
	if (variable == NULL && !is_dumb)
		return FACE_DASHBOARD;
	*ret_why = variable != NULL ? variable : "TERM";
	return FACE_PLAIN;
}

/* @ret_why  for plain mode: where it was asked for */
static int face_choose(const struct cli *cli, enum face *ret, const char **ret_why)
{
	const char *word = cli_get(cli, CLI_OPT_UI);
	const char *term = getenv("TERM");
	bool is_dumb = term == NULL || *term == '\0' || strcmp(term, "dumb") == 0;
	bool has_terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);

	*ret_why = word != NULL ? "--ui" : "ZWATCH_UI";
	if (word == NULL)
		word = getenv("ZWATCH_UI");
	if (word == NULL || *word == '\0')
		*ret = face_default(has_terminal, is_dumb, ret_why);
	else if (strcmp(word, "none") == 0)
		*ret = FACE_NONE;
	else if (strcmp(word, "plain") == 0)
		*ret = FACE_PLAIN;
	else if (strcmp(word, "dashboard") == 0)
		*ret = FACE_DASHBOARD;
	else if (strcmp(word, "collapsed") == 0)
		*ret = FACE_COLLAPSED;
	else {
		dprintf(2, "zwatch: '%s' is no --ui: dashboard, collapsed, plain or none\n", word);
		return ZW_EXIT_USAGE;
	}
	if (*ret == FACE_NONE || (has_terminal && (*ret == FACE_PLAIN || !is_dumb)))
		return 0;
	dprintf(2,
		"zwatch: --ui %s needs a terminal on standard input and output%s\n"
		"        fix: start it in a terminal, or with --ui %s\n",
		word, *ret == FACE_PLAIN ? "" : ", and TERM set to what it is",
		has_terminal ? "plain" : "none");
	return ZW_EXIT_USAGE;
}

/* -- dangerous sockets that settings list ------------------------------------------------------- */

static bool read_yes(void)
{
	char line[64] = "";
	size_t used = 0;
	char c;

	while (used + 1 < sizeof(line) && read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
		line[used++] = c;
	line[used] = '\0';
	return cfg_danger_is_yes(line);
}

static bool is_denied(const struct start *st, const char *path)
{
	for (size_t i = 0; i < st->cfg->n_rules; i++) {
		const struct pol_rule *r = &st->cfg->rules[i];

		if (r->kind == POL_KIND_SOCKET && r->action == POL_ACTION_DENY &&
		    strcmp(r->pattern, path) == 0)
			return true;
	}
	return false;
}

/* Lets the rules that come from this entry open what they name. */
static void agree(struct start *st, const char *path)
{
	for (size_t i = 0; i < st->cfg->n_rules; i++) {
		struct pol_rule *r = &st->cfg->rules[i];

		if (r->kind == POL_KIND_SOCKET && r->action == POL_ACTION_ALLOW &&
		    strcmp(r->pattern, path) == 0)
			r->flags |= POL_RULE_DANGEROUS_OK;
	}
}

/* One listed socket. Returns 0, or the exit status with which nothing starts. */
static int danger_one(struct start *st, const struct cfg_socket *k, bool has_terminal,
		      bool has_flag, bool *ret_opened)
{
	const struct cfg_class *c = cfg_catalogue_find(start_catalogue(st), k->path);
	char real[PATH_MAX] = "";

	if (!cfg_danger_class(c))
		return 0;
	if (k->path[0] == '/' && realpath(k->path, real) == NULL)
		real[0] = '\0';
	struct cfg_danger_case dc = {.is_listed = true,
				     .is_denied = is_denied(st, k->path),
				     .has_terminal = has_terminal,
				     .has_flag = has_flag};
	enum cfg_danger_step step = cfg_danger_decide(&dc);
	zw_autofree char *block = cfg_danger_warning(c, k->listed, real, k->origin);
	switch (step) {
	case CFG_DANGER_RULES:
	case CFG_DANGER_REFUSE:
		return 0;
	case CFG_DANGER_ASK:
		/* What was typed before the question is no answer to it. */
		tcflush(STDIN_FILENO, TCIFLUSH);
		dprintf(2, "%s%s", block, cfg_danger_question());
		if (!read_yes())
			return 0;
		break;
	case CFG_DANGER_STOP:
		dprintf(2,
			"%szwatch: a dangerous socket is listed and there is no terminal to ask "
			"on; nothing was started.\n"
			"        fix: take it out of %s, or start with --allow-dangerous-sockets\n",
			block, k->origin);
		return ZW_EXIT_CONFIG;
	case CFG_DANGER_WARN_OPEN:
		dprintf(2, "%s", block);
		break;
	case CFG_DANGER_OPEN:
		break;
	}
	agree(st, k->path);
	*ret_opened = true;
	return 0;
}

static int danger_check(struct start *st, const struct cli *cli, bool *ret_opened)
{
	bool has_terminal =
		isatty(STDIN_FILENO) && isatty(STDERR_FILENO) && !cli_has(cli, CLI_OPT_NO_INPUT);
	bool has_flag = cli_has(cli, CLI_OPT_DANGEROUS);

	for (size_t i = 0; i < st->cfg->n_sockets; i++) {
		int status =
			danger_one(st, &st->cfg->sockets[i], has_terminal, has_flag, ret_opened);

		if (status != 0)
			return status;
	}
	return 0;
}

/* -- the session -------------------------------------------------------------------------------- */

/* Items as lines. */
static char *lines_of(const struct cfg_items *items)
{
	struct zw_buf b;

	zw_buf_init(&b, 65536);
	for (size_t i = 0; i < items->n; i++)
		zw_buf_addf(&b, "%s\n", items->list[i].text);
	char *text = zw_xmemdup0(b.len > 0 ? zw_buf_head(&b) : NULL, b.len);
	zw_buf_fini(&b);
	return text;
}

/* Resolvers for all names, then those of zones. Caller frees. */
static char *upstreams_of(const struct cfg *c)
{
	zw_autofree char *servers = lines_of(&c->dns_upstreams);
	zw_autofree char *zones = lines_of(&c->dns_zones);

	return zw_xasprintf("%s%s", servers, zones);
}

static void net_fill(struct sup_net *net, const struct cfg *c, const char *upstreams,
		     const char *private_names, const char *quotas, const char *trust_files,
		     const struct start_way_out *way)
{
	*net = (struct sup_net){.max_connections = (uint32_t)c->limit_connections,
				.max_per_host = (uint32_t)c->limit_per_host,
				.max_per_program = (uint32_t)c->limit_per_program,
				.header_fields = (uint32_t)c->limit_header_fields,
				.quota_up_b = (uint64_t)c->quota_up_b,
				.quota_down_b = (uint64_t)c->quota_down_b,
				.quotas = quotas,
				.half_close_ms = (uint32_t)c->timeout_half_close_ms,
				.sni = (uint8_t)c->tls_sni,
				.ech = (uint8_t)c->tls_ech,
				.doh = (uint8_t)c->dns_doh,
				.trust_files = trust_files,
				.upstream = way->url,
				.upstream_login = way->login,
				.new_per_second = (uint32_t)c->limit_new_per_second,
				.header_b = (uint32_t)c->limit_header_b,
				.resolve_ms = (uint32_t)c->timeout_resolve_ms,
				.connect_ms = (uint32_t)c->timeout_connect_ms,
				.header_ms = (uint32_t)c->timeout_header_ms,
				.tls_hello_ms = (uint32_t)c->timeout_tls_hello_ms,
				.idle_ms = (uint32_t)c->timeout_idle_ms,
				.local_ports = c->local_ports.list,
				.n_local_ports = c->local_ports.n,
				.publish_ports = c->publish_ports.list,
				.n_publish_ports = c->publish_ports.n,
				.upstreams = upstreams,
				.anchors = c->dns_validate ? c->dns_trust_anchors : "",
				.allow_private = private_names};
}

static void say_failure(const struct sup_result *r)
{
	dprintf(2, "zwatch: %s\n", r->what);
	if (*r->why != '\0')
		dprintf(2, "        why: %s\n", r->why);
	if (*r->fix != '\0')
		dprintf(2, "        fix: %s\n", r->fix);
}

/* " 5 new things" of the session that has just been closed; "" = none, or not known. */
static void new_text(const struct start *st, uint64_t session, char *out, size_t size)
{
	zw_autofree char *store = cmd_store_path(st);
	struct aud_session_page page = {0};
	struct aud_query *q = NULL;

	*out = '\0';
	if (session != 0 && aud_query_open(store, &q) == 0 &&
	    aud_session_get(q, (int64_t)session, &page) == 0 && page.rows[0].n_new > 0)
		snprintf(out, size, ", %lld new %s", (long long)page.rows[0].n_new,
			 page.rows[0].n_new == 1 ? "thing" : "things");
	aud_session_page_clear(&page);
	aud_query_free(q);
}

static void say_end(const struct start *st, const struct sup_result *r)
{
	char fresh[48];

	zw_autofree char *number =
		r->session != 0 ? zw_xasprintf("session %llu", (unsigned long long)r->session)
				: zw_xstrdup("session not recorded");

	new_text(st, r->session, fresh, sizeof(fresh));
	dprintf(2,
		"zwatch: %s, %lld min, exit %d.  allowed %llu, refused %llu, asked %llu (%llu "
		"missed)%s.\n",
		number, (long long)(r->length_ms / 60000), r->exit_status,
		(unsigned long long)r->n_allow, (unsigned long long)r->n_deny,
		(unsigned long long)r->n_ask, (unsigned long long)r->n_miss, fresh);
	if (*r->warning != '\0')
		dprintf(2, "        warning: %s\n", r->warning);
	if (*r->cast_path != '\0')
		dprintf(2, "        screen: %s\n", r->cast_path);
	if (r->session != 0)
		dprintf(2, "        review: zwatch show %llu%s%.*s\n",
			(unsigned long long)r->session,
			*r->head != '\0' ? "     head of its record: " : "", HEAD_DIGITS, r->head);
	if (r->session != 0 && r->n_miss > 0)
		dprintf(2, "        missed: zwatch log %llu did:miss\n",
			(unsigned long long)r->session);
	if (r->session != 0 && r->n_kept > 0)
		dprintf(2, "        undo what was kept (%u): zwatch rules list --session %llu\n",
			r->n_kept, (unsigned long long)r->session);
}

/* The head goes where the agent and whoever changes the store later cannot reach. */
static void say_head(const struct sup_result *r)
{
	if (*r->head == '\0')
		return;
	openlog("zwatch", LOG_PID, LOG_USER);
	syslog(LOG_INFO, "session %llu ended, head of its record %s",
	       (unsigned long long)r->session, r->head);
	closelog();
}

/* Folders of PATH that the agent cannot write; what is started for a notice is looked for there alone.
 * Caller frees. */
static char *path_outside(const struct start *st)
{
	const char *rest = getenv("PATH");
	struct zw_buf b;

	zw_buf_init(&b, 65536);
	while (rest != NULL && *rest != '\0') {
		size_t len = strcspn(rest, ":");
		zw_autofree char *one = zw_xmemdup0(rest, len);
		zw_autofree char *real = *one == '/' ? realpath(one, NULL) : NULL;

		if (real != NULL && !start_is_writable(st, real))
			zw_buf_addf(&b, "%s%s", b.len > 0 ? ":" : "", one);
		rest += len + (rest[len] == ':');
	}
	char *path = zw_xmemdup0(b.len > 0 ? zw_buf_head(&b) : NULL, b.len);
	zw_buf_fini(&b);
	return path;
}

/* Whether there is a desktop that the user sits at. */
static bool has_desktop(const struct cfg *c)
{
	const char *bus = getenv("DBUS_SESSION_BUS_ADDRESS"), *ssh = getenv("SSH_CONNECTION");

	if (c->notify_desktop != CFG_NOTIFY_AUTO)
		return c->notify_desktop == CFG_NOTIFY_ALWAYS;
	return bus != NULL && *bus != '\0' && (ssh == NULL || *ssh == '\0');
}

/* notify-send in one of these folders; "" = none. Caller frees. */
static char *notify_send_find(const char *path)
{
	while (*path != '\0') {
		size_t len = strcspn(path, ":");
		zw_autofree char *full = zw_xasprintf("%.*s/notify-send", (int)len, path);

		if (access(full, X_OK) == 0)
			return zw_steal(&full);
		path += len + (path[len] == ':');
	}
	return zw_xstrdup("");
}

static void desktop_fill(struct dash *d, const struct start *st)
{
	d->path = path_outside(st);
	d->notify_send = has_desktop(st->cfg) ? notify_send_find(d->path) : zw_xstrdup("");
	d->config.is_silent = !st->cfg->notify_bell;
	d->config.has_no_osc = st->cfg->notify_osc == CFG_NOTIFY_NEVER;
	d->config.desktop = (struct ui_desktop){
		.notify_send = d->notify_send, .command = st->cfg->notify_command, .path = d->path};
}

static void face_config(struct dash *d, const struct start *st, const struct cli *cli,
			enum face face, const char *store, const char *name)
{
	const char *colour = cli_get(cli, CLI_OPT_COLOR);
	const char *no_colour = getenv("NO_COLOR");
	bool is_auto = colour == NULL || strcmp(colour, "auto") == 0;

	d->config = (struct ui_config){
		.layout = face == FACE_COLLAPSED ? UI_LAYOUT_COLLAPSED : UI_LAYOUT_DASHBOARD,
		.is_ascii = cli_has(cli, CLI_OPT_ASCII),
		.has_colour = is_auto ? no_colour == NULL || *no_colour == '\0'
				      : strcmp(colour, "never") != 0,
		.theme = st->cfg->ui_theme,
		.has_mouse = st->cfg->ui_mouse && !cli_has(cli, CLI_OPT_NO_MOUSE),
		.arm_ms = st->cfg->arm_ms > 0 ? st->cfg->arm_ms : 500,
		.quiet_ms = 300,
		.is_second_key = st->cfg->arm_ms == CFG_ARM_SECOND_KEY,
		.repeat_n = (int)st->cfg->repeat_to_session,
		.flood_n = (int)st->cfg->flood.n,
		.flood_ms = st->cfg->flood.in_ms,
		.history_path = store,
		.agent_name = name,
	};
	desktop_fill(d, st);
}

/* -- the record of the screen -------------------------------------------------------------------- */

#define CAST_MAX_B (256u << 20)

/* The folder of a file, absolute and without links; NULL when there is none. */
static char *folder_of(const char *path)
{
	zw_autofree char *folder = zw_xmemdup0(path, (size_t)(zw_basename(path) - path));

	return realpath(*folder != '\0' ? folder : ".", NULL);
}

static int cast_fail(const char *path, const char *why, const char *fix)
{
	dprintf(2, "zwatch: the screen cannot be recorded in %s: %s\n        fix: %s\n", path, why,
		fix);
	return ZW_EXIT_CONFIG;
}

/* Opens the file of --record=FILE, or, beside the history, one that gets the session's number. A file
 * that the agent may write would be no record. */
static int cast_open(const struct start *st, const char *file, const char *store,
		     struct sup_cast *ret)
{
	zw_autofree char *folder = NULL, *path = NULL;

	if (*file != '\0') {
		folder = folder_of(file);
		if (folder == NULL)
			return cast_fail(file, "there is no such folder", "name one that exists");
		if (start_is_writable(st, folder))
			return cast_fail(file, "the agent may write there",
					 "name a file elsewhere");
		path = zw_xasprintf("%s/%s", folder, zw_basename(file));
	} else {
		zw_autofree char *home = folder_of(store);

		if (home == NULL)
			return cast_fail(store, "the history has no folder",
					 "set ZWATCH_DB to a file in one");
		folder = zw_xasprintf("%s/screens", home);
		zw_mkdirs(folder, 0700);
		path = zw_xasprintf("%s/new-%lld.cast", folder, (long long)zw_now_us());
	}
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	int error = errno;
	if (fd < 0)
		return cast_fail(path, zw_strerror(-error),
				 error == EEXIST ? "name a file that is not there yet"
						 : "make its folder writable for you");
	*ret = (struct sup_cast){.fd = fd,
				 .path = zw_steal(&path),
				 .folder = *file == '\0' ? zw_steal(&folder) : NULL,
				 .max_b = CAST_MAX_B};
	return 0;
}

static void cast_close(struct sup_cast *c)
{
	zw_close(&c->fd);
	free((char *)(uintptr_t)c->path);
	free((char *)(uintptr_t)c->folder);
}

/* What is recorded: by option, else by setting; "" = where zwatch likes, NULL = nothing. */
static int cast_choose(const struct start *st, const struct cli *cli, enum face face,
		       const char **ret)
{
	const char *file = cli_get(cli, CLI_OPT_RECORD);
	bool is_private = cli_has(cli, CLI_OPT_PRIVATE);

	*ret = NULL;
	if (file != NULL && is_private) {
		dprintf(2, "zwatch: --record keeps the screen and --private keeps no names: choose "
			   "one\n");
		return ZW_EXIT_USAGE;
	}
	if (file != NULL && face == FACE_NONE) {
		dprintf(2,
			"zwatch: --record needs zwatch's own screen; with --ui none there is none\n"
			"        fix: start it in a terminal, or record with script(1)\n");
		return ZW_EXIT_USAGE;
	}
	if (file != NULL)
		*ret = file;
	else if (st->cfg->history_record_screen && !is_private && face != FACE_NONE)
		*ret = "";
	return 0;
}

static const struct cfg_catalogue *catalogue_get(void *arg)
{
	return start_catalogue(arg);
}

/* What the record knows of this project, for the marks of what is new. */
struct known {
	const char *store, *project;
};

static int known_tell(void *arg, uint64_t before,
		      void (*fn)(void *to, struct zw_span kind, struct zw_span target), void *to)
{
	const struct known *k = arg;
	struct aud_query *q = NULL;
	int r = aud_query_open(k->store, &q);

	if (r == 0)
		r = aud_known(q, k->project, (int64_t)before, fn, to);
	aud_query_free(q);
	return r;
}

/* Whether anybody answers: on the dashboard, or, with --on-ask wait, by zwatch ask. */
static bool can_ask(const struct cli *cli, enum face face)
{
	const char *on_ask = cli_get(cli, CLI_OPT_ON_ASK);

	if (on_ask == NULL)
		on_ask = getenv("ZWATCH_ON_ASK");
	if (on_ask != NULL && strcmp(on_ask, "wait") == 0)
		return true;
	return face != FACE_NONE && (on_ask == NULL || strcmp(on_ask, "deny") != 0) &&
	       !cli_has(cli, CLI_OPT_NO_INPUT);
}

/* Not when a signal ended it, or when nobody is asked anything. */
static void session_review(struct start *st, const struct cli *cli, const struct dash *d,
			   const char *store, const char *rules, struct sup_result *result)
{
	const struct review_config config = {.store = store,
					     .rules = rules,
					     .is_plain = d->plain_why != NULL,
					     .is_ascii = d->config.is_ascii,
					     .has_colour = d->config.has_colour,
					     .theme = d->config.theme};

	if (st->cfg->ui_review && *result->what == '\0' && !result->is_cut_short &&
	    !cli_has(cli, CLI_OPT_NO_INPUT) && !cli_has(cli, CLI_OPT_QUIET))
		review_run(&config, result);
}

/* The last words on standard error, and what is done when nobody waits any more. */
static void session_end(struct start *st, const struct cli *cli, const struct dash *d,
			const char *store, const char *rules, struct sup_result *result)
{
	if (d != NULL)
		session_review(st, cli, d, store, rules, result);
	if (*result->what != '\0')
		say_failure(result);
	else if (!cli_has(cli, CLI_OPT_QUIET) &&
		 (isatty(STDERR_FILENO) || cli_has(cli, CLI_OPT_VERBOSE)))
		say_end(st, result);
	say_head(result);
	if (result->is_prune_due)
		cmd_db_prune_behind(st);
	sup_result_fini(result);
}

static void about_fill(struct sup_config *c, const struct about *about)
{
	c->name = about->name;
	c->tags = about->tags;
	c->note = about->note;
	c->redact = about->redact;
}

/* Returns 0, or the exit status. */
static int face_prepare(struct dash *d)
{
	int r = dash_init(d);

	if (r == 0)
		return 0;
	dprintf(2,
		"zwatch: the dashboard cannot use this terminal: %s\n"
		"        fix: set TERM to what the terminal is, or start with --ui none\n",
		zw_strerror(r));
	dash_fini(d);
	return ZW_EXIT_INTERNAL;
}

static int way_out_find(const struct start *st, struct start_way_out *ret)
{
	int r = start_way_out(st->cfg, environ, ret);

	if (r < 0)
		dprintf(2, "zwatch: network.upstreamProxy: %s\n", ret->why);
	return r;
}

static int session_run(struct start *st, const struct cli *cli, enum face face, const char *why,
		       bool is_dangerous, const char *name, const struct about *about, int log_fd)
{
	zw_autofree char *upstreams = upstreams_of(st->cfg);
	zw_autofree char *private_names = lines_of(&st->cfg->allow_private);
	zw_autofree char *quotas = lines_of(&st->cfg->quota_sites);
	zw_autofree char *store = cmd_store_path(st);
	zw_autofree char *runtime = zw_xasprintf("%s/zwatch", st->places.runtime_dir);
	zw_autofree char *rules = cmd_rules_path(st);
	zw_autofree char *control = cmd_control_dir(st);
	struct cfg_saved saved;
	const char *cast_file = NULL;
	struct sup_cast cast = {.fd = -1};
	struct dash dash = DASH_NONE;
	struct sup_result result;
	start_auto_way_out struct start_way_out way;

	if (way_out_find(st, &way) < 0)
		return ZW_EXIT_CONFIG;
	struct known known = {store, st->cfg->project_dir};
	const char *floor;
	struct sup_config config = {
		.agent = name,
		.project = st->cfg->project_dir,
		.home = st->places.home,
		.plan = &st->plan,
		.catalogue = catalogue_get,
		.catalogue_arg = st,
		.rules = st->cfg->rules,
		.n_rules = st->cfg->n_rules,
		.mode = st->cfg->mode,
		.mode_floor = cfg_mode_floor(st->cfg, &floor),
		.hold_site_ms = st->cfg->hold_site_ms,
		.hold_socket_ms = st->cfg->hold_socket_ms,
		.store_path = store,
		.keep_ms = st->cfg->history_keep_ms,
		.max_b = st->cfg->history_max_b,
		.command_lines = (uint8_t)st->cfg->history_command_lines,
		.is_required = st->cfg->history_required,
		.is_durable = st->cfg->history_durable == CFG_DURABLE_POWER,
		.runtime_dir = runtime,
		.known = known_tell,
		.known_arg = &known,
		.rules_path = rules,
		.control_dir = control,
		.saved = &saved,
		.is_private = cli_has(cli, CLI_OPT_PRIVATE),
		.is_dangerous = is_dangerous,
		.can_ask = can_ask(cli, face),
		.scrollback_n = (uint32_t)st->cfg->ui_scrollback_n,
		.has_kitty = ui_outer_kitty() != NULL,
		.has_clipboard = st->cfg->ui_agent_clipboard,
	};

	config.log_fd = log_fd;
	about_fill(&config, about);
	if (cmd_rules_load(rules, &saved) < 0)
		return ZW_EXIT_CONFIG;
	net_fill(&config.net, st->cfg, upstreams, private_names, quotas, st->trust_files, &way);
	int status = cast_choose(st, cli, face, &cast_file);
	if (status == 0 && cast_file != NULL)
		status = cast_open(st, cast_file, store, &cast);
	if (status != 0)
		return status;
	config.cast = cast_file != NULL ? &cast : NULL;
	if (face != FACE_NONE) {
		dash.plain_why = face == FACE_PLAIN ? why : NULL;
		face_config(&dash, st, cli, face, store, name);
		status = face_prepare(&dash);
	}
	if (status != 0) {
		cast_close(&cast);
		return status;
	}
	status = sup_run(&config, face != FACE_NONE ? dash_face(&dash) : NULL, &result);
	dash_fini(&dash);
	if (cast_file != NULL && *result.cast_path == '\0')
		unlink(cast.path); /* nothing was started */
	cast_close(&cast);
	session_end(st, cli, face != FACE_NONE ? &dash : NULL, store, rules, &result);
	return status;
}

/* Allows the sites that the agent's maker names, at the user's layer: they can be denied. */
static void agent_sites(struct start *st)
{
	for (size_t i = 0; i < st->agent->n_sites; i++) {
		zw_autofree char *origin = zw_xasprintf("preset %s", st->agent->name);
		const char *why = "";
		struct pol_rule r = {.kind = POL_KIND_SITE,
				     .action = POL_ACTION_ALLOW,
				     .layer = POL_LAYER_SYSTEM,
				     .pattern = st->agent->sites[i].site,
				     .program = "",
				     .origin = origin,
				     .reason = ""};

		if (cfg_rule_add(st->cfg, &r, &why) < 0)
			zw_warn("preset %s: %s: %s", st->agent->name, r.pattern, why);
	}
}

/* A history that the agent may write is none. */
static int store_check(const struct start *st)
{
	zw_autofree char *store = cmd_store_path(st);
	zw_autofree char *folder = zw_xmemdup0(store, (size_t)(zw_basename(store) - store));
	zw_autofree char *real = realpath(folder, NULL);

	if (real == NULL || !start_is_writable(st, real) ||
	    cfg_path_within(store, st->places.state_dir))
		return 0;
	dprintf(2,
		"zwatch: the history would lie where the agent may write: %s\n"
		"        fix: set ZWATCH_DB to a file elsewhere\n",
		store);
	return ZW_EXIT_CONFIG;
}

void cmd_prefix_set(const struct cfg *cfg)
{
	char *names[16];
	size_t n = 0;

	for (; cfg != NULL && n < cfg->prefix_keys.n && n < ZW_N_ELEMENTS(names); n++)
		names[n] = cfg->prefix_keys.list[n].text;
	zw_prefix_set(names, n);
}

int cmd_session(struct start *st, const struct cli *cli)
{
	bool is_run = cli->command == CLI_CMD_run, is_dangerous = false;
	const char *why = "";
	enum face face;

	if (getenv("ZWATCH") != NULL) {
		dprintf(2, "zwatch: zwatch is already watching this session. A second layer would "
			   "hide "
			   "prompts from you.\n");
		return ZW_EXIT_NO_SANDBOX;
	}
	if (is_run && cli->n_rest == 0) {
		dprintf(2, "zwatch: run what? For example: zwatch run -- npm test\n");
		return ZW_EXIT_USAGE;
	}
	const char *on_ask = getenv("ZWATCH_ON_ASK");
	if (on_ask != NULL && *on_ask != '\0' && !cli_is_word(CLI_OPT_ON_ASK, on_ask)) {
		dprintf(2, "zwatch: ZWATCH_ON_ASK is prompt, deny or wait\n");
		return ZW_EXIT_USAGE;
	}
	int status = face_choose(cli, &face, &why);
	if (status == 0)
		status = danger_check(st, cli, &is_dangerous);
	if (status != 0)
		return status;
	static struct about about;
	status = about_read(cli, st->cfg, &about);
	if (status != 0)
		return status;
	cmd_prefix_set(st->cfg);
	zw_autoclose int log_fd = log_open(st, cli_has(cli, CLI_OPT_VERBOSE));
	if (start_agent(st, cli, is_run ? "" : cli->word, cli->rest,
			face == FACE_NONE    ? START_NO_PTY
			: face == FACE_PLAIN ? START_PTY_AS_OUTSIDE
					     : START_PTY) < 0) {
		dprintf(2, "zwatch: the preset of '%s' is not known\n", cli->word);
		return ZW_EXIT_CONFIG;
	}
	status = store_check(st);
	if (status != 0)
		return status;
	agent_sites(st);
	const char *name = strcmp(cli->word, "run") == 0 ? zw_basename(cli->rest[0]) : cli->word;
	zw_autofree char *store = cmd_store_path(st);
	struct events_out events;
	status = events_out_start(cli, store, &events);
	if (status == 0)
		status = session_run(st, cli, face, why, is_dangerous, name, &about, log_fd);
	events_out_end(&events);
	return status;
}
