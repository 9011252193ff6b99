/* SPDX-License-Identifier: MIT
 * What can be done with a row of the history: copied, exported, compared, made a rule. Whatever
 * changes anything is another zwatch with the words that a user would type. */
#include <stdlib.h>
#include <string.h>

#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/mem.h"
#include "ui/hist.h"

#define COPY_MAX_B 65536

static char *word(const char *text)
{
	return (char *)(uintptr_t)text;
}

static int64_t session_of(const struct view_history *v)
{
	const struct aud_session *s = hist_session(v);

	if (v->level != HIST_SESSIONS && v->now.n_rows > 0)
		return v->now.rows[0].id;
	return s != NULL ? s->id : 0;
}

/* -- copy -------------------------------------------------------------------------------------- */

static void give(struct view_history *v, const char *text, size_t len)
{
	struct ui_core *core = v->view.core;

	core->effects.copy(core->effects.arg, text, len, false);
	snprintf(v->said, sizeof(v->said), "copied %zu characters", len);
}

static void copy_event(struct view_history *v, const struct aud_event *e, char what)
{
	struct aud_print p = {.home = NULL};
	char text[1100];
	struct zw_buf out;

	if (what == 't') {
		hist_shown(text, sizeof(text), e->row == AUD_ROW_MISC ? e->text : e->target);
		give(v, text, strlen(text));
		return;
	}
	zw_buf_init(&out, COPY_MAX_B);
	if ((what == 'j' ? aud_json_event(&out, e) : aud_line_event(&out, e, &p)) == 0)
		give(v, (const char *)zw_buf_head(&out), out.len);
	zw_buf_fini(&out);
}

void hist_copy(struct view_history *v, char what)
{
	const struct aud_event *e = v->level == HIST_EVENTS ? hist_event(v) : NULL;
	const struct aud_session *s = v->level == HIST_SESSIONS ? hist_session(v) : NULL;

	v->said[0] = '\0';
	if (v->level == HIST_TEXT) {
		zw_autofree char *all = hist_text_all(v);

		give(v, all, strlen(all));
	} else if (e != NULL) {
		copy_event(v, e, what);
	} else if (s != NULL) {
		struct zw_buf out;

		zw_buf_init(&out, COPY_MAX_B);
		if (aud_json_session(&out, s) == 0)
			give(v, (const char *)zw_buf_head(&out), out.len);
		zw_buf_fini(&out);
	}
}

/* -- other programs of zwatch ------------------------------------------------------------------ */

void hist_stats(struct view_history *v)
{
	const char *filter = v->filter != NULL ? v->typed : "";
	char session[32], title[120], width[24];
	char *argv[8] = {NULL, word("stats"), word("--width"), width};
	int n = 4;

	snprintf(width, sizeof(width), "%d", v->view.core->cols > 22 ? v->view.core->cols - 2 : 20);
	if (*filter != '\0')
		argv[n++] = word(filter);

	snprintf(session, sizeof(session), "session=%lld", (long long)session_of(v));
	if (v->level == HIST_EVENTS)
		argv[n++] = session;
	argv[n] = NULL;
	snprintf(title, sizeof(title), "Stats  %s  %.60s", v->level == HIST_EVENTS ? session : "",
		 filter);
	hist_text_open(v, title, false);
	hist_run(v, NULL, argv);
}

void hist_diff(struct view_history *v)
{
	char a[24], b[24], title[80];
	int64_t from = v->marked[0], to = v->marked[1] != 0 ? v->marked[1] : session_of(v);

	if (from == 0 || to == 0 || from == to) {
		zw_strlcpy(v->said, "Space marks a session; d compares two", sizeof(v->said));
		return;
	}
	snprintf(a, sizeof(a), "%lld", (long long)(from < to ? from : to));
	snprintf(b, sizeof(b), "%lld", (long long)(from < to ? to : from));
	snprintf(title, sizeof(title), "What is new in session %s against %s", b, a);
	hist_text_open(v, title, false);
	hist_run(v, NULL, (char *[]){NULL, word("history"), word("diff"), a, b, NULL});
	v->marked[0] = v->marked[1] = 0;
}

void hist_mark(struct view_history *v)
{
	int64_t id = session_of(v);

	for (int i = 0; i < 2; i++) {
		if (v->marked[i] == id) {
			v->marked[i] = 0;
			return;
		}
	}
	v->marked[v->marked[0] == 0 ? 0 : 1] = id;
}

void hist_export(struct view_history *v, const char *path)
{
	const char *dot = strrchr(path, '.');
	const char *filter = v->filter != NULL ? v->kept : "";
	char session[24];
	zw_autofree char *home = NULL;
	char *argv[10] = {NULL, word("export")};
	int n = 2;

	if (zw_starts_with(path, "~/") && getenv("HOME") != NULL)
		home = zw_xasprintf("%s%s", getenv("HOME"), path + 1);
	snprintf(session, sizeof(session), "%lld", (long long)session_of(v));
	argv[n++] = word("--format");
	argv[n++] = word(dot != NULL ? dot + 1 : "csv");
	argv[n++] = word("--output");
	argv[n++] = home != NULL ? home : word(path);
	bool is_cast = dot != NULL && strcmp(dot, ".cast") == 0; /* one session's, as it is */
	if (v->level == HIST_EVENTS || is_cast)
		argv[n++] = session;
	if (!is_cast && *filter != '\0')
		argv[n++] = word(filter);
	hist_text_open(v, "Export", false);
	hist_text_line(v, "to", path);
	hist_run(v, NULL, argv);
}

void hist_words(struct view_history *v, enum hist_typing what, const char *text)
{
	char session[24];

	snprintf(session, sizeof(session), "%lld", (long long)session_of(v));
	hist_text_open(v, what == HIST_NOTE ? "Note" : "Tags", false);
	hist_run(v, NULL,
		 (char *[]){NULL, word("history"), word(what == HIST_NOTE ? "note" : "tag"),
			    session, word(text), NULL});
}

/* -- a row becomes a rule ---------------------------------------------------------------------- */

/* "host:443" or "unix:PATH"; NULL: no rule can be made of it. Ownership: caller. */
static char *rule_target(const struct aud_event *e)
{
	zw_autofree char *target = e->target.len > 0 ? zw_span_dup(e->target) : NULL;

	if (target == NULL || e->row == AUD_ROW_MISC || zw_span_eq(e->kind, "dns") ||
	    memchr(e->target.p, '\0', e->target.len) != NULL)
		return NULL;
	if (e->row == AUD_ROW_SOCKET || zw_span_eq(e->op, "unix"))
		return *target == '/' ? zw_xasprintf("unix:%s", target) : NULL;
	return e->port > 0 && strchr(target, ':') == NULL
		       ? zw_xasprintf("%s:%lld", target, (long long)e->port)
		       : zw_steal(&target);
}

/* The words of choice @n ('1' to '4') for `zwatch rules`. */
static void rule_words(bool is_trying, char n, char *target, char *program, char **argv)
{
	int i = 1;

	argv[i++] = word("rules");
	argv[i++] = word(is_trying ? "test" : "add");
	argv[i++] = word(n == '1' || n == '2' ? "deny" : "allow");
	argv[i++] = target;
	if (program != NULL && (n == '1' || n == '3')) {
		argv[i++] = word("--by");
		argv[i++] = program;
	}
	if (n == '1' || n == '3')
		argv[i++] = word("--here");
	argv[i] = NULL;
}

static void rule_line(struct view_history *v, char n, char **argv)
{
	char text[1400], label[8];
	size_t used = (size_t)snprintf(text, sizeof(text), "zwatch");

	for (int i = 1; argv[i] != NULL && used < sizeof(text); i++) {
		char shown[600];

		hist_shown(shown, sizeof(shown), zw_span(argv[i]));
		used += (size_t)snprintf(text + used, sizeof(text) - used, " %s", shown);
	}
	snprintf(label, sizeof(label), "%c", n);
	hist_text_line(v, label, text);
}

void hist_rule(struct view_history *v, char n)
{
	const struct aud_event *e = hist_event(v);
	zw_autofree char *target = e != NULL ? rule_target(e) : NULL;
	zw_autofree char *program = e != NULL && e->exe.len > 0 ? zw_span_dup(e->exe) : NULL;
	char *argv[12] = {NULL};

	if (target == NULL) {
		zw_strlcpy(v->said, "no rule can be made of this row", sizeof(v->said));
		return;
	}
	if (n == '\0') {
		hist_text_open(
			v, v->is_trying ? "Try a rule on past sessions" : "Make a rule of this row",
			true);
		for (n = '1'; n <= '4'; n++) {
			rule_words(v->is_trying, n, target, program, argv);
			rule_line(v, n, argv);
		}
		hist_text_line(
			v, "",
			v->is_trying ? "Press the number: what the rule would have answered,"
				       " and whether it takes anything that was denied."
				     : "Press the number. Nothing is kept before. HIGH and CRITICAL"
				       " sockets are allowed on the command line only.");
		v->is_ruling = true;
		return;
	}
	struct zw_span folder = v->now.n_rows > 0 ? v->now.rows[0].project : zw_span("");
	zw_autofree char *in = folder.len > 0 ? zw_span_dup(folder) : NULL;
	rule_words(v->is_trying, n, target, program, argv);
	hist_text_open(v, v->is_trying ? "Try a rule on past sessions" : "Make a rule of this row",
		       false);
	hist_run(v, in, argv);
}
