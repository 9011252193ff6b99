/* SPDX-License-Identifier: MIT
 * Pages of text in the history view: one event, the question as it was shown, and what another zwatch
 * prints (sums, comparisons, exports, rules), which runs beside so that nothing here waits. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/vis.h"
#include "src/policy/saved.h"
#include "ui/fmt.h"
#include "ui/hist.h"

#define LABEL_COLS 11

/* -- words ------------------------------------------------------------------------------------- */

const char *hist_shown(char *out, size_t size, struct zw_span s)
{
	char raw[2048];
	size_t len = s.len < sizeof(raw) ? s.len : sizeof(raw);

	if (s.p == NULL)
		len = 0;
	for (size_t i = 0; i < len; i++)
		raw[i] = s.p[i] == '\0' ? ' ' : s.p[i];
	while (len > 0 && raw[len - 1] == ' ')
		len--;
	zw_vis(out, size, raw, len);
	return out;
}

const char *hist_target(char *out, size_t size, const struct aud_event *e)
{
	char text[1024];

	hist_shown(text, sizeof(text), e->row == AUD_ROW_MISC ? e->text : e->target);
	if (e->row == AUD_ROW_CONN && e->port > 0)
		snprintf(out, size, "%s:%lld", text, (long long)e->port);
	else
		zw_strlcpy(out, text, size);
	if (e->count > 1) {
		size_t used = strlen(out);

		snprintf(out + used, size - used, " x%lld", (long long)e->count);
	}
	return out;
}

const char *hist_proc(char *out, size_t size, const struct aud_event *e)
{
	char exe[512];

	*out = '\0';
	hist_shown(exe, sizeof(exe), e->exe);
	if (e->pid > 0)
		snprintf(out, size, "%s(%lld)", zw_basename(exe), (long long)e->pid);
	return out;
}

const char *hist_by(char *out, size_t size, const struct aud_event *e)
{
	char by[32];

	hist_shown(by, sizeof(by), e->by);
	if (e->rule > 0 && e->rule < POL_RULE_PASSING)
		snprintf(out, size, "rule %lld", (long long)e->rule);
	else
		zw_strlcpy(out, strcmp(by, "user") == 0 ? "you" : by, size);
	return out;
}

/* -- the page ---------------------------------------------------------------------------------- */

void hist_lines_clear(struct view_history *v)
{
	for (int i = 0; i < v->n_lines; i++)
		free(v->line[i]);
	v->n_lines = v->scroll = 0;
}

void hist_text_open(struct view_history *v, const char *title, bool has_labels)
{
	hist_run_stop(v);
	hist_lines_clear(v);
	zw_strlcpy(v->title, title, sizeof(v->title));
	v->has_labels = has_labels;
	v->said[0] = '\0';
	if (v->level != HIST_TEXT)
		v->below = v->level;
	v->level = HIST_TEXT;
}

static void add_line(struct view_history *v, char *line)
{
	if (v->n_lines < HIST_LINES_MAX)
		v->line[v->n_lines++] = line;
	else
		free(line);
}

void hist_text_line(struct view_history *v, const char *label, const char *text)
{
	int width = v->view.core->cols - LABEL_COLS - 3;
	struct zw_span part;

	while (*text != '\0' && draw_wrap_next(&text, width > 10 ? width : 10, &part)) {
		zw_autofree char *one = zw_span_dup(part);

		add_line(v, zw_xasprintf("%-*s%s", LABEL_COLS, label, one));
		label = "";
	}
}

static void span_line(struct view_history *v, const char *label, struct zw_span s)
{
	char text[4200];

	hist_text_line(v, label, hist_shown(text, sizeof(text), s));
}

/* The text of a question has lines of its own. */
static void text_lines(struct view_history *v, const char *label, struct zw_span s)
{
	while (s.p != NULL && s.len > 0) {
		const char *end = memchr(s.p, '\n', s.len);
		size_t n = end != NULL ? (size_t)(end - s.p) : s.len;

		span_line(v, label, zw_span_n(s.p, n));
		label = "";
		n += end != NULL ? 1 : 0;
		s = zw_span_n(s.p + n, s.len - n);
	}
}

static void number_line(struct view_history *v, const char *label, int64_t n, const char *unit)
{
	char text[64];

	if (n <= 0)
		return;
	snprintf(text, sizeof(text), "%lld%s", (long long)n, unit);
	hist_text_line(v, label, text);
}

void hist_text_event(struct view_history *v, const struct aud_event *e)
{
	char text[1200], clock[UI_FMT_MAX];

	snprintf(text, sizeof(text), "Event %lld.%lld", (long long)e->session, (long long)e->no);
	hist_text_open(v, text, true);
	hist_text_line(v, "Time", ui_fmt_clock(clock, e->t_us));
	span_line(v, "Decision", e->did);
	hist_text_line(v, "By", hist_by(text, sizeof(text), e));
	span_line(v, "Scope", e->scope);
	span_line(v, "Reason", e->reason);
	span_line(v, "Note", e->note);
	hist_text_line(v, "What", hist_target(text, sizeof(text), e));
	span_line(v, "Asked", e->asked);
	span_line(v, "Address", e->address);
	span_line(v, "Class", e->class_name);
	span_line(v, "Risk", e->risk);
	span_line(v, "Answers", e->listener_exe);
	hist_text_line(v, "Program", hist_proc(text, sizeof(text), e));
	span_line(v, "Command", e->argv);
	span_line(v, "Folder", e->cwd);
	span_line(v, "Started by", e->chain);
	number_line(v, "Up", e->up_b, " bytes");
	number_line(v, "Down", e->down_b, " bytes");
	span_line(v, "End", e->end);
	number_line(v, "Waited", e->waited_ms, " ms");
	span_line(v, "Keys", e->key);
	number_line(v, "On screen", e->shown_ms, " ms");
	if (e->row == AUD_ROW_QUESTION)
		text_lines(v, "Shown", e->text);
}

/* The question that was asked for a row, which a filter may have left out: the newest of its session
 * on the same target. @page holds it. */
static const struct aud_event *question_of(struct view_history *v, const struct aud_event *e,
					   struct aud_event_page *page)
{
	char text[1024] = "kind:question ", raw[400];
	size_t n = strlen(text);
	struct aud_filter *f = NULL;
	struct aud_filter_error error;

	if (e->target.len == 0 || e->target.len >= sizeof(raw))
		return NULL;
	zw_span_cpy(raw, sizeof(raw), e->target);
	n += (size_t)snprintf(text + n, sizeof(text) - n,
			      e->row == AUD_ROW_CONN ? "host=\"" : "path=\"");
	for (const char *c = raw; *c != '\0'; c++) {
		if (*c == '"' || *c == '\\')
			text[n++] = '\\';
		text[n++] = *c;
	}
	zw_strlcpy(text + n, "\"", sizeof(text) - n);
	if (aud_filter_parse(text, zw_now_us(), &f, &error) < 0)
		return NULL;
	int r = aud_find(v->query, f, e->session, AUD_BACKWARD, 0, 1, page);
	aud_filter_free(f);
	return r == 0 && page->n_rows == 1 ? &page->rows[0] : NULL;
}

bool hist_text_shown(struct view_history *v, const struct aud_event *e)
{
	struct aud_event_page page = {0};
	const struct aud_event *q = e->row == AUD_ROW_QUESTION ? e : question_of(v, e, &page);
	char text[200], key[32];
	bool is_there = q != NULL && q->text.len > 0;

	if (is_there) {
		hist_text_open(v, "What you saw on screen", false);
		text_lines(v, "", q->text);
		hist_shown(key, sizeof(key), q->key);
		snprintf(text, sizeof(text), "It was on screen for %.1f s; the answer was %s.",
			 (double)q->shown_ms / 1000, *key != '\0' ? key : "none");
		add_line(v, zw_xstrdup(""));
		hist_text_line(v, "", text);
	}
	aud_event_page_clear(&page);
	return is_there;
}

void hist_text_draw(struct view_history *v, const struct draw_ctx *c)
{
	int max = v->n_lines > c->rows ? v->n_lines - c->rows : 0;

	v->scroll = v->scroll > max ? max : v->scroll;
	for (int row = 0; row < c->rows && v->scroll + row < v->n_lines; row++) {
		draw_fit(c, row, 1, c->cols - 2, UI_STYLE_TEXT, v->line[v->scroll + row]);
		if (v->has_labels)
			draw_restyle(c, row, 1, LABEL_COLS, UI_STYLE_QUIET);
	}
	if (v->n_lines == 0)
		draw_fit(c, 0, 1, c->cols - 2, UI_STYLE_QUIET,
			 v->child.pid > 0 ? "working ... Esc stops it" : "Nothing.");
}

char *hist_text_all(const struct view_history *v)
{
	size_t n = 1, used = 0;

	for (int i = 0; i < v->n_lines; i++)
		n += strlen(v->line[i]) + 1;
	char *all = zw_xmalloc(n);
	for (int i = 0; i < v->n_lines; i++)
		used += (size_t)snprintf(all + used, n - used, "%s\n", v->line[i]);
	all[used] = '\0';
	return all;
}

/* -- another zwatch ---------------------------------------------------------------------------- */

/* The environment with the place of this store. Ownership: caller frees the list and its last entry. */
static char **child_env(const char *store_path)
{
	size_t n = 0, used = 0;

	while (environ[n] != NULL)
		n++;
	char **env = zw_xcalloc(n + 2, sizeof(*env));
	for (size_t i = 0; i < n; i++)
		if (strncmp(environ[i], "ZWATCH_DB=", 10) != 0)
			env[used++] = environ[i];
	env[used] = zw_xasprintf("ZWATCH_DB=%s", store_path);
	return env;
}

static int child_start(struct hist_child *child, const char *folder, char **argv, char **env,
		       int out_fd)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none;

	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out_fd, 1);
	posix_spawn_file_actions_adddup2(&actions, out_fd, 2);
	if (folder != NULL)
		posix_spawn_file_actions_addchdir_np(&actions, folder);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	int r = posix_spawn(&child->pid, "/proc/self/exe", &actions, &attr, argv, env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	if (r != 0)
		child->pid = 0;
	return -r;
}

void hist_run(struct view_history *v, const char *folder, char **argv)
{
	int fds[2];

	hist_run_stop(v);
	argv[0] = (char *)(uintptr_t) "zwatch";
	int r = pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0 ? -errno : 0;
	if (r == 0) {
		char **env = child_env(v->path);
		size_t n = 0;

		r = child_start(&v->child, folder, argv, env, fds[1]);
		while (strncmp(env[n], "ZWATCH_DB=", 10) != 0)
			n++;
		free(env[n]);
		free(env);
		close(fds[1]);
		v->child.fd = fds[0];
		v->child.from_ms = zw_mono_ms();
		v->child.n_lines = v->n_lines;
	}
	if (r < 0) {
		if (v->child.pid == 0 && v->child.fd > 0)
			close(v->child.fd);
		v->child.fd = -1;
		hist_text_line(v, "", zw_strerror(r));
	}
}

void hist_run_stop(struct view_history *v)
{
	if (v->child.pid <= 0)
		return;
	kill(v->child.pid, SIGKILL);
	waitpid(v->child.pid, NULL, 0);
	close(v->child.fd);
	v->child = (struct hist_child){.fd = -1};
}

/* Lines come whole or in pieces; a piece is put to the last line. */
static void take_output(struct view_history *v, const char *text, size_t len)
{
	while (len > 0) {
		const char *end = memchr(text, '\n', len);
		size_t n = end != NULL ? (size_t)(end - text) : len;
		zw_autofree char *shown = zw_vis_dup(text, n, 4 * n);

		if (v->child.is_open && v->n_lines > 0) {
			char *both = zw_xasprintf("%s%s", v->line[v->n_lines - 1], shown);

			free(v->line[v->n_lines - 1]);
			v->line[v->n_lines - 1] = both;
		} else {
			add_line(v, zw_steal(&shown));
		}
		v->child.is_open = end == NULL;
		n += end != NULL ? 1 : 0;
		text += n;
		len -= n;
	}
}

void hist_run_read(struct view_history *v)
{
	char text[16384];
	ssize_t n;

	while ((n = read(v->child.fd, text, sizeof(text))) > 0)
		take_output(v, text, (size_t)n);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	waitpid(v->child.pid, NULL, 0);
	close(v->child.fd);
	int n_before = v->child.n_lines;
	v->child = (struct hist_child){.fd = -1};
	if (v->n_lines == n_before)
		add_line(v, zw_xstrdup("Done."));
}
