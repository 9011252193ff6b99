/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/base/prefix.h"
#include "src/base/words.h"
#include "ui/ask.h"
#include "ui/core.h"
#include "ui/fmt.h"

#define SHOWN_MAX_B 8192
#define LINES_MAX   400

/* One line of a question's text. */
struct line {
	char *text; /* owned */
	int label;  /* bytes at its front that are a label */
	enum ui_style style;
	bool is_must; /* of the consequence: the keys that allow sleep until it has been on screen */
};

struct view_ask {
	struct view view;
	uint64_t id;
	struct ui_ask ask;
	int number, total; /* "ask 1 of 2", as it was when it opened: new ones do not change it */
	bool is_cut;	   /* there is more to read: d */
	bool has_details, has_walk, is_clocked; /* is_clocked: its time stands while it is open */
	int scroll, n_lines, height;		/* of the text, as drawn last */
	int64_t open_ms, left_ms;		/* left_ms: of the hold time */
	char *shown;				/* owned; the text as it stands on screen */
	char tried[200]; /* what past sessions say of the rule; "" = not asked */
	struct line line[LINES_MAX];
};

/* -- text -------------------------------------------------------------------------------------- */

static void lines_clear(struct view_ask *v)
{
	for (int i = 0; i < v->n_lines; i++)
		free(v->line[i].text);
	v->n_lines = 0;
}

static void line_add(struct view_ask *v, char *text_take, int label, enum ui_style style,
		     bool is_must)
{
	if (v->n_lines == LINES_MAX) {
		free(text_take);
		return;
	}
	v->line[v->n_lines++] = (struct line){text_take, label, style, is_must};
}

/* @text wrapped to @width, all lines but the first indented. */
static void lines_wrap(struct view_ask *v, int width, const char *label, int indent,
		       const char *text, enum ui_style style, bool is_must)
{
	struct zw_span part;
	bool is_first = true;

	if (width - indent < 8)
		indent = 0;
	zw_autofree char *all = indent > 0 ? zw_xstrdup(text) : zw_xasprintf("%s %s", label, text);
	const char *rest = all;
	while (draw_wrap_next(&rest, width - indent, &part)) {
		zw_autofree char *one = zw_span_dup(part);

		line_add(v,
			 zw_xasprintf("%-*s%s", indent, is_first && indent > 0 ? label : "", one),
			 is_first ? (int)strlen(label) : 0, style, is_must);
		is_first = false;
	}
}

static void line_blank(struct view_ask *v)
{
	line_add(v, zw_xstrdup(""), 0, UI_STYLE_TEXT, false);
}

static void fact(struct view_ask *v, int width, const char *label, const char *text)
{
	if (*text != '\0')
		lines_wrap(v, width, label, 9, text, UI_STYLE_TEXT, false);
}

static void who_text(char *out, size_t size, const struct mdl_proc *p)
{
	snprintf(out, size, "%s%s%s(%u)", p->chain, *p->chain != '\0' ? " > " : "",
		 mdl_proc_name(p), p->pid);
}

static void socket_text(char *out, size_t size, const struct mdl_ask *a)
{
	bool is_other = *a->asked != '\0' && strcmp(a->asked, a->target) != 0;

	snprintf(out, size, "%s%s%s%s%s%s", is_other ? a->asked : "", is_other ? " -> " : "",
		 a->target, *a->owner != '\0' ? " (" : "", a->owner, *a->owner != '\0' ? ")" : "");
}

/* What is known, the most useful first: the last ones go when room is short. */
static void facts(struct view_ask *v, const struct mdl_ask *a, int width)
{
	char text[9000];

	who_text(text, sizeof(text), &a->proc);
	fact(v, width, "Who", text);
	if (a->is_interpreter)
		fact(v, width, "Script",
		     *a->script != '\0' ? a->script : "code that is in no file, or a module");
	fact(v, width, "Command", a->proc.command);
	fact(v, width, "Folder", a->proc.cwd);
	if (a->kind == POL_KIND_SOCKET) {
		socket_text(text, sizeof(text), a);
		fact(v, width, "Socket", text);
		fact(v, width, "Answers", a->answers);
	} else {
		if (*a->asked != '\0')
			fact(v, width, "Asked", a->asked);
		if (*a->answers != '\0')
			fact(v, width, "Answers", a->answers);
	}
	fact(v, width, "Before", a->before);
	if (a->n_waiting > 1) {
		snprintf(text, sizeof(text), "%u tries wait for this one answer", a->n_waiting);
		fact(v, width, "Waiting", text);
	}
	fact(v, width, "Safer", a->safer);
}

static const char *verdict_of_mode(const struct ui_core *core)
{
	return core->model->mode == POL_MODE_WATCH ? "watch" : "guard";
}

/* How it came to be asked, step by step. */
static void walk(struct view_ask *v, const struct mdl_ask *a, int width)
{
	char text[600];

	lines_wrap(v, width, "", 0, "Why zwatch asks:", UI_STYLE_STRONG, false);
	if (a->kind == POL_KIND_SITE)
		zw_strlcpy(text, "a site is outside the sandbox", sizeof(text));
	else
		snprintf(text, sizeof(text), "inside the sandbox? no: %.200s", a->answers);
	lines_wrap(v, width, "1", 4, text, UI_STYLE_TEXT, false);
	lines_wrap(v, width, "2", 4, "any deny in settings, rules or this session? no",
		   UI_STYLE_TEXT, false);
	snprintf(text, sizeof(text), "any allow? %.500s",
		 *a->near != '\0' ? a->near : "no rule is about this");
	lines_wrap(v, width, "3", 4, text, UI_STYLE_TEXT, false);
	snprintf(text, sizeof(text), "mode %s, %s: ask", verdict_of_mode(v->view.core),
		 zw_risk_word(a->risk));
	lines_wrap(v, width, "4", 4, text, UI_STYLE_TEXT, false);
}

static void details(struct view_ask *v, const struct mdl_ask *a, int width)
{
	char text[256];

	fact(v, width, "Program", a->proc.exe);
	fact(v, width, "Hash",
	     *a->hash != '\0'	? a->hash
	     : a->is_identified ? "could not be read"
				: "");
	fact(v, width, "Class", a->class_name);
	fact(v, width, "Risk", zw_risk_word(a->risk));
	snprintf(text, sizeof(text), "%ju", (uintmax_t)a->id);
	fact(v, width, "Question", text);
	if (a->kind == POL_KIND_SITE)
		fact(v, width, "Seen", "zwatch sees sizes and names, not what is sent");
}

static void wants_text(char *out, size_t size, const struct ui_core *core, const struct mdl_ask *a)
{
	bool is_agent = strcmp(mdl_proc_name(&a->proc), core->config.agent_name) == 0;

	snprintf(out, size, "%s%s%s%s%s.", mdl_proc_name(&a->proc), is_agent ? "" : ", started by ",
		 is_agent ? "" : core->config.agent_name, is_agent ? " " : ", ", a->wants);
}

enum fullness { BARE, TIGHT, LOOSE }; /* consequence only; and facts; and blank lines */

static void text_make(struct view_ask *v, const struct mdl_ask *a, int width, enum fullness full)
{
	const struct ui_core *core = v->view.core;
	char text[2048];
	bool is_loose = full == LOOSE;

	lines_clear(v);
	if (full != BARE && core->config.repeat_n > 0 &&
	    (int)a->n_denied + 1 >= core->config.repeat_n) {
		snprintf(text, sizeof(text),
			 "Denied %u times before. N refuses it for the rest of this session.",
			 a->n_denied);
		lines_wrap(v, width, "", 0, text, UI_STYLE_ASK, false);
	}
	if (full != BARE) {
		wants_text(text, sizeof(text), v->view.core, a);
		lines_wrap(v, width, "", 0, text, UI_STYLE_STRONG, false);
		if (is_loose)
			line_blank(v);
	}
	snprintf(text, sizeof(text), "If you allow it: %s", a->consequence);
	lines_wrap(v, width, "", 0, text, UI_STYLE_TEXT, true);
	if (a->risk >= POL_RISK_HIGH && is_loose)
		lines_wrap(v, width, "", 0,
			   "One allow covers one connection, and one connection can carry many "
			   "commands.",
			   UI_STYLE_TEXT, false);
	if (full == BARE)
		return;
	if (*a->near != '\0')
		lines_wrap(v, width, "", 0, a->near, UI_STYLE_ASK, false);
	if (is_loose)
		line_blank(v);
	if (v->has_walk)
		walk(v, a, width);
	facts(v, a, width);
	if (v->has_details)
		details(v, a, width);
}

/* -- what is kept ------------------------------------------------------------------------------- */

struct choice {
	const char *label, *a, *b; /* b is meant when is_b */
	bool is_b;
};

static void hash_short(const char *hash, char *out, size_t size)
{
	if (strlen(hash) < 8)
		zw_strlcpy(out, "not known yet", size);
	else
		snprintf(out, size, "sha256 %.4s..%s", hash, hash + strlen(hash) - 4);
}

static void keep_program(const struct view_ask *v, const struct mdl_ask *a, char *out, size_t size)
{
	char hash[40], script[40];

	hash_short(a->hash, hash, sizeof(hash));
	hash_short(a->script_hash, script, sizeof(script));
	if (v->ask.is_any_program)
		zw_strlcpy(out, "any program that the agent runs", size);
	else if (*a->script != '\0')
		snprintf(out, size, "%s (%s) running %s (%s)", a->proc.exe, hash, a->script,
			 script);
	else if (a->is_interpreter)
		snprintf(out, size, "%s (%s), whatever code it runs", a->proc.exe, hash);
	else
		snprintf(out, size, "%s (%s)", a->proc.exe, hash);
}

static void keep_target(const struct view_ask *v, const struct mdl_ask *a, char *out, size_t size)
{
	if (a->kind == POL_KIND_SITE)
		snprintf(out, size, "%s",
			 v->ask.is_whole_domain && *a->below != '\0' ? a->below : a->target);
	else
		snprintf(out, size, "%s, answered by %s", a->target, a->answers);
}

static void keep_sentence(struct view_ask *v, const struct mdl_ask *a, int width)
{
	const struct ui_core *core = v->view.core;
	char text[9400];

	lines_wrap(v, width, "", 0, "From now on zwatch will NOT ask when", UI_STYLE_STRONG, true);
	keep_program(v, a, text, sizeof(text));
	lines_wrap(v, width, "program", 9, text, UI_STYLE_TEXT, true);
	snprintf(text, sizeof(text), "%s%s", v->ask.is_everywhere ? "in every project" : "in ",
		 v->ask.is_everywhere ? "" : core->model->project);
	lines_wrap(v, width, "started", 9, text, UI_STYLE_TEXT, true);
	keep_target(v, a, text, sizeof(text));
	lines_wrap(v, width, "connects", 9, text, UI_STYLE_TEXT, true);
	if (a->risk >= POL_RISK_HIGH)
		lines_wrap(v, width, "", 0,
			   "The rule cannot tell one request from another: whatever goes through "
			   "this socket will be allowed.",
			   UI_STYLE_TEXT, true);
}

static void keep_choice(struct view_ask *v, int width, enum ui_keep_row row, const char *label,
			const char *const *words, unsigned n, unsigned chosen)
{
	bool is_here = v->ask.row == row;
	struct zw_buf b;

	zw_buf_init(&b, 512);
	for (unsigned i = 0; i < n; i++)
		if (width >= 74 || i == chosen)
			zw_buf_addf(&b, "%s(%s) %s", b.len > 0 ? "   " : "",
				    i == chosen ? "*" : " ", words[i]);
	zw_autofree char *head = zw_xasprintf("%s %s", is_here ? ">" : " ", label);
	zw_autofree char *text = zw_xmemdup0(zw_buf_head(&b), b.len);
	zw_buf_fini(&b);
	lines_wrap(v, width, head, 9, text, is_here ? UI_STYLE_STRONG : UI_STYLE_TEXT, true);
}

static void keep_choices(struct view_ask *v, const struct mdl_ask *a, int width)
{
	const char *until[POL_UNTIL_MAX];
	static const char *const where[] = {"this project only", "every project"};
	static const char *const who[] = {"this program", "anything the agent runs"};
	const char *what[] = {a->target, a->below};

	for (unsigned i = 0; i < POL_UNTIL_MAX; i++)
		until[i] = pol_until_word((enum pol_until)i);
	keep_choice(v, width, UI_KEEP_UNTIL, "Until", until, POL_UNTIL_MAX, v->ask.until);
	keep_choice(v, width, UI_KEEP_WHERE, "Where", where, 2, v->ask.is_everywhere);
	keep_choice(v, width, UI_KEEP_WHO, "Who", who, 2, v->ask.is_any_program);
	if (v->ask.has_below)
		keep_choice(v, width, UI_KEEP_WHAT, "What", what, 2, v->ask.is_whole_domain);
}

/* One sentence, what of it can be chosen, and the way back. */
static void keep_make(struct view_ask *v, const struct mdl_ask *a, int width, bool is_loose)
{
	lines_clear(v);
	keep_sentence(v, a, width);
	if (is_loose)
		line_blank(v);
	keep_choices(v, a, width);
	if (is_loose)
		line_blank(v);
	if (*v->tried != '\0')
		lines_wrap(v, width, "", 0, v->tried, UI_STYLE_ASK, false);
	else
		lines_wrap(v, width, "", 0,
			   "Up Down Left Right change it. T tries it on past sessions.",
			   UI_STYLE_QUIET, false);
	char undo[160];
	snprintf(undo, sizeof(undo),
		 "Saved in rules.json. Undo: %s u, or zwatch rules rm. Pasting is off here on "
		 "purpose.",
		 zw_prefix_name());
	lines_wrap(v, width, "", 0, undo, UI_STYLE_QUIET, false);
}

/* The fullest text that fits into @height rows. Facts are cut at the end, the consequence never: if
 * it alone does not fit, it scrolls. */
static void text_fit(struct view_ask *v, const struct mdl_ask *a, int width, int height)
{
	v->is_cut = false;
	if (v->ask.step == UI_ASK_KEEP) {
		keep_make(v, a, width, true);
		if (v->n_lines > height)
			keep_make(v, a, width, false);
		return;
	}
	text_make(v, a, width, LOOSE);
	if (v->n_lines > height)
		text_make(v, a, width, TIGHT);
	if (v->n_lines <= height || v->has_details || v->has_walk)
		return;
	int must = 0;
	for (int i = 0; i < v->n_lines; i++)
		must = v->line[i].is_must ? i + 1 : must;
	if (must > height) {
		text_make(v, a, width, BARE);
		v->is_cut = true;
	}
	/* Half a fact could mislead: they go as a whole. */
	while (v->n_lines > height && !v->line[v->n_lines - 1].is_must) {
		while (v->line[v->n_lines - 1].label == 0 && !v->line[v->n_lines - 2].is_must)
			free(v->line[--v->n_lines].text);
		free(v->line[--v->n_lines].text);
		v->is_cut = true;
	}
}

/* -- keys -------------------------------------------------------------------------------------- */

static const char *second_step(const struct view_ask *v, bool is_session, char *out, size_t size)
{
	enum pol_risk risk = v->ask.risk;

	if (risk < POL_RISK_HIGH)
		zw_strlcpy(out, v->ask.is_second_key ? "then Enter" : "", size);
	else if (risk == POL_RISK_CRITICAL || (risk == POL_RISK_HIGH && is_session))
		snprintf(out, size, "then type: %s", v->ask.word);
	else
		zw_strlcpy(out, risk == POL_RISK_HIGH ? "then Enter" : "", size);
	return out;
}

static int draw_key(const struct draw_ctx *c, int row, int col, int width, enum ui_cmd cmd,
		    const char *then)
{
	char name[8];
	int end;

	zw_span_cpy(name, sizeof(name),
		    zw_span_n(ui_cmd_keys(cmd), strcspn(ui_cmd_keys(cmd), " ")));
	end = draw_text(c, row, col, UI_STYLE_KEY, name);
	end += 1 + draw_fit(c, row, end + 2, width - 3, UI_STYLE_TEXT, ui_cmd_brief(cmd));
	if (*then != '\0')
		end = draw_text(c, row, col + 24, UI_STYLE_TEXT, then);
	return end;
}

/* Two columns: denying left, allowing right. */
static void draw_keys_wide(struct view_ask *v, const struct draw_ctx *c, int row, bool has_more)
{
	char then[64];
	bool is_roomy = c->cols >= 88;
	int right = is_roomy ? c->cols / 2 - 4 : 30;

	draw_text(c, row, 0, UI_STYLE_KEY, ">");
	draw_key(c, row, 2, right - 4, UI_CMD_DENY_ONCE, is_roomy ? "(Enter)" : "");
	if (!v->ask.is_late)
		draw_key(c, row, right, 24, UI_CMD_ALLOW_ONCE,
			 second_step(v, false, then, sizeof(then)));
	draw_key(c, row + 1, 2, right - 4, UI_CMD_DENY_SESSION, "");
	draw_key(c, row + 1, right, 24, UI_CMD_ALLOW_SESSION,
		 second_step(v, true, then, sizeof(then)));
	draw_key(c, row + 2, 2, right - 4, UI_CMD_DENY_NOTE, is_roomy ? "for the agent" : "");
	draw_key(c, row + 2, right, 24, UI_CMD_ALLOW_ALWAYS,
		 v->ask.risk == POL_RISK_CRITICAL ? "then type the path"
		 : v->ask.risk == POL_RISK_HIGH	  ? second_step(v, true, then, sizeof(then))
						  : "");
	if (has_more)
		draw_fit(c, row + 3, 2, c->cols - 2, UI_STYLE_QUIET,
			 "d details   e explain   c copy   f freeze agent   Tab next   Esc answer "
			 "later");
}

/* Two rows or one. */
static void draw_keys_narrow(struct view_ask *v, const struct draw_ctx *c, int row, int rows)
{
	enum pol_risk risk = v->ask.risk;
	const char *once = risk == POL_RISK_HIGH ? "y once +Enter" : "y once";

	if (rows == 1) {
		draw_fit(c, row, 0, c->cols, UI_STYLE_TEXT, "n deny  y once  s session  A always");
		return;
	}
	draw_text(c, row, 0, UI_STYLE_TEXT, "n deny (Enter)  N session  t with note");
	if (v->ask.is_late)
		once = "allow:";
	if (risk >= POL_RISK_HIGH)
		draw_textf(c, row + 1, 0, UI_STYLE_TEXT, "%s  s session  A always -> type it",
			   once);
	else
		draw_textf(c, row + 1, 0, UI_STYLE_TEXT, "%s  s session  A always", once);
}

static void prompt_text(struct view_ask *v, const struct mdl_ask *a, int width, char *out,
			size_t size)
{
	bool is_once = v->ask.scope == ZW_SCOPE_ONCE;
	char keep[UI_NOTE_MAX + 1];

	if (v->ask.step == UI_ASK_CONFIRM)
		snprintf(out, size,
			 width < 56 ? "Enter allows %s %s"
				    : "Enter allows %s %s, any other key goes back",
			 a->title, is_once ? "once" : "this session");
	else if (v->ask.step == UI_ASK_WORD && width < 76)
		snprintf(out, size, "Type %s + Enter: ", v->ask.word);
	else if (v->ask.step == UI_ASK_WORD)
		snprintf(out, size,
			 "Type %s and Enter to allow %s. Enter alone goes back: ", v->ask.word,
			 is_once ? "once" : "this session");
	else if (v->ask.step == UI_ASK_KEEP &&
		 *ui_ask_keep_text(&v->ask, keep, sizeof(keep)) == '\0')
		zw_strlcpy(out,
			   width < 56 ? "Enter saves. Esc: back" : "Enter saves it. Esc goes back.",
			   size);
	else if (v->ask.step == UI_ASK_KEEP)
		snprintf(out, size,
			 width < 76 ? "Type %s: " : "Type  %s  and Enter. Empty goes back: ", keep);
	else if (v->ask.step == UI_ASK_NOTE)
		zw_strlcpy(out, width < 56 ? "Note: " : "Deny, and tell the agent: ", size);
	else if (width < 34)
		zw_strlcpy(out, "y/N [N] ", size);
	else
		snprintf(out, size,
			 draw_width(a->title) + 32 > width ? "Allow?  y/N  [N] "
							   : "Allow %s?  y/N  [N] ",
			 a->title);
}

static void hint_text(struct view_ask *v, char *out, size_t size)
{
	int64_t asleep_ms = ui_ask_asleep_ms(&v->ask, v->view.core->now_ms);

	*out = '\0';
	if (v->ask.hint[0] != '\0')
		zw_strlcpy(out, v->ask.hint, size);
	else if (v->ask.step == UI_ASK_KEEP)
		snprintf(out, size, "%s",
			 !v->ask.is_keep_read ? "PgDn: read on"
			 : asleep_ms != 0     ? "asleep for a moment"
					      : "");
	else if (!v->ask.is_read)
		snprintf(out, size, "Space: read on");
	else if (v->ask.step == UI_ASK_CHOOSE && asleep_ms != 0)
		snprintf(out, size, "allow keys wake in 0.%d s",
			 asleep_ms < 0 || asleep_ms >= 1000 ? 5 : (int)((asleep_ms + 99) / 100));
	else if (v->ask.step == UI_ASK_CHOOSE && v->has_details && v->n_lines > v->height)
		zw_strlcpy(out, "Space more", size);
	else if (v->ask.step == UI_ASK_CHOOSE && v->is_cut)
		zw_strlcpy(out, "d more", size);
}

/* The prompt with the cursor behind it, and what the last key came to. */
static void draw_prompt(struct view_ask *v, const struct mdl_ask *a, const struct draw_ctx *c,
			int row)
{
	char prompt[512], hint[128];
	int col;

	prompt_text(v, a, c->cols, prompt, sizeof(prompt));
	hint_text(v, hint, sizeof(hint));
	int hint_w = draw_width(hint), room = c->cols - (hint_w > 0 ? hint_w + 2 : 0);
	if (hint_w > 0 && room < draw_width(prompt) + draw_width(v->ask.text) + 1) {
		prompt[0] = '\0'; /* what just happened is worth more */
		room = 0;
	}
	col = draw_fit(c, row, 0, room > 1 ? room - 1 : 0, UI_STYLE_STRONG, prompt);
	col += draw_fit_end(c, row, col, room - col - 1, UI_STYLE_TEXT, v->ask.text);
	if (room > 0)
		ui_core_cursor(v->view.core, c, row, col);
	draw_right(c, row, 0, c->cols, UI_STYLE_ASK, hint);
}

/* -- drawing ----------------------------------------------------------------------------------- */

static enum draw_line frame_line(enum pol_risk risk)
{
	return risk == POL_RISK_CRITICAL ? DRAW_HEAVY
	       : risk == POL_RISK_HIGH	 ? DRAW_DOUBLE
					 : DRAW_THIN;
}

static enum ui_style frame_style(enum pol_risk risk)
{
	return risk == POL_RISK_CRITICAL ? UI_STYLE_CRITICAL_LINE
	       : risk == POL_RISK_HIGH	 ? UI_STYLE_HIGH_LINE
					 : UI_STYLE_LINE;
}

static void clock_text(struct view_ask *v, const struct mdl_ask *a, char *out, size_t size)
{
	char left[UI_FMT_MAX];

	if (v->left_ms == INT64_MAX || a->state == MDL_ASK_MISSED)
		snprintf(out, size, " ask %d of %d ", v->number, v->total);
	else
		snprintf(out, size, " ask %d of %d, clock stopped at %s ", v->number, v->total,
			 ui_fmt_span(left, v->left_ms));
}

static void draw_head(struct view_ask *v, const struct mdl_ask *a, const struct draw_ctx *c)
{
	char clock[96], title[320];
	const char *word = a->risk >= POL_RISK_HIGH ? zw_risk_word(a->risk)
			   : strcmp(a->class_name, POL_CLASS_HOST_PORT) == 0
				   ? "Port of this machine"
			   : strcmp(a->class_name, POL_CLASS_PUBLISH) == 0 ? "Server inside"
			   : a->kind == POL_KIND_SITE			   ? "New site"
									   : "Socket";

	clock_text(v, a, clock, sizeof(clock));
	if (v->ask.step == UI_ASK_KEEP)
		zw_strlcpy(clock, " step 2 of 2 ", sizeof(clock));
	int clock_w = draw_width(clock);
	if (c->cols < 74)
		clock_w = 0;
	else
		draw_text(c, 0, c->cols - clock_w - 2, UI_STYLE_TEXT, clock);
	snprintf(title, sizeof(title), " %s ", word);
	int col = draw_text(
		c, 0, 2, a->risk >= POL_RISK_HIGH ? ui_risk_style(a->risk) : UI_STYLE_TITLE, title);
	snprintf(title, sizeof(title), " %s%s ", a->title,
		 v->ask.step == UI_ASK_KEEP ? " - ALLOW ALWAYS" : "");
	draw_fit(c, 0, col, c->cols - clock_w - col - 3, UI_STYLE_TITLE, title);
}

static void draw_text_lines(struct view_ask *v, const struct draw_ctx *c)
{
	int last = v->scroll + c->rows;

	v->height = c->rows;
	for (int i = v->scroll; i < v->n_lines && i < last; i++) {
		const struct line *l = &v->line[i];

		draw_text(c, i - v->scroll, 0, l->style, l->text);
		if (l->label > 0)
			draw_restyle(c, i - v->scroll, 0, l->label, UI_STYLE_QUIET);
	}
	bool is_all = true;
	for (int i = last; i < v->n_lines; i++)
		is_all = is_all && !v->line[i].is_must;
	if (v->ask.step == UI_ASK_KEEP)
		v->ask.is_keep_read = v->ask.is_keep_read || is_all;
	else
		v->ask.is_read = v->ask.is_read || is_all;
}

/* The question as it stands there, for the record. */
static void keep_shown(struct view_ask *v, const struct mdl_ask *a)
{
	struct zw_buf b;

	zw_buf_init(&b, SHOWN_MAX_B - 1);
	zw_buf_addf(&b, "%s %s\n", zw_risk_word(a->risk), a->title);
	for (int i = 0; i < v->n_lines; i++)
		if (*v->line[i].text != '\0')
			zw_buf_addf(&b, "%s\n", v->line[i].text);
	free(v->shown);
	v->shown = zw_xmemdup0(b.len > 0 ? zw_buf_head(&b) : (const uint8_t *)"", b.len);
	zw_buf_fini(&b);
}

static void draw_gone(const struct draw_ctx *c, const char *text)
{
	struct draw_ctx s = draw_sub(c, c->rows - 3, 0, 3, c->cols);

	draw_clear(&s);
	draw_hline(&s, 0, 0, s.cols, DRAW_THIN, UI_STYLE_LINE);
	draw_fit(&s, 1, 1, s.cols - 2, UI_STYLE_STRONG, text);
}

/* Rows around the text, by the room there is. */
struct sheet {
	bool is_framed, is_wide;
	int above, keys, gap,
		bottom; /* blank above the text and below it; rows of keys; of the frame */
	int prompt_gap;
};

static struct sheet sheet_of(const struct view_ask *v, const struct mdl_ask *a,
			     const struct draw_ctx *c)
{
	struct sheet s = {.is_framed = a->risk >= POL_RISK_HIGH && c->cols >= 60 && c->rows >= 16,
			  .is_wide = c->cols >= 76 && c->rows >= 12};

	s.keys = s.is_wide ? (c->rows >= 26 ? 4 : 3) : c->rows >= 10 ? 2 : c->rows >= 7 ? 1 : 0;
	if (v->ask.step == UI_ASK_KEEP)
		s.keys = 0;
	s.above = s.prompt_gap = c->rows >= 26 ? 1 : 0;
	s.gap = c->rows >= 20 ? 1 : 0;
	s.bottom = s.is_framed || c->rows >= 20 ? 1 : 0;
	return s;
}

static int sheet_rows(const struct sheet *s)
{
	return 1 + s->above + s->gap + s->keys + s->prompt_gap + 1 + s->bottom;
}

static void draw_sheet(struct view_ask *v, const struct mdl_ask *a, const struct draw_ctx *c,
		       const struct sheet *s)
{
	int margin = s->is_framed ? 2 : c->cols >= 30 ? 1 : 0;
	struct draw_ctx in = draw_sub(c, 1, margin, c->rows - 1 - s->bottom, c->cols - 2 * margin);
	struct draw_ctx text = draw_sub(&in, s->above, 0, c->rows - sheet_rows(s), in.cols);
	int prompt = in.rows - 1, keys = prompt - s->prompt_gap - s->keys;

	if (s->is_framed)
		draw_frame(c, frame_line(a->risk), frame_style(a->risk));
	else
		draw_hline(c, 0, 0, c->cols, frame_line(a->risk), frame_style(a->risk));
	if (!s->is_framed && s->bottom > 0)
		draw_hline(c, c->rows - 1, 0, c->cols, frame_line(a->risk), frame_style(a->risk));
	draw_head(v, a, c);
	draw_text_lines(v, &text);
	if (s->is_wide && s->keys > 0)
		draw_keys_wide(v, &in, keys, s->keys > 3);
	else if (s->keys > 0)
		draw_keys_narrow(v, &in, keys, s->keys);
	draw_prompt(v, a, &in, prompt);
}

static void ask_draw(struct view *view, const struct draw_ctx *all)
{
	struct view_ask *v = (struct view_ask *)view;
	const struct mdl_ask *a = mdl_ask_find(view->core->model, v->id);

	view->core->is_cursor_visible = false;
	if (a == NULL || a->state == MDL_ASK_GONE || a->state == MDL_ASK_ANSWERED) {
		draw_gone(all, "The program does not wait any more: it gave up or ended. Esc "
			       "closes this.");
		return;
	}
	v->ask.target = a->target;
	v->ask.has_below = *a->below != '\0';
	struct sheet s = sheet_of(v, a, all);
	int margin = s.is_framed && all->cols >= 90 ? 2 : 0, around = sheet_rows(&s);
	int width = all->cols - 2 * margin - (s.is_framed ? 4 : all->cols >= 30 ? 2 : 0);
	text_fit(v, a, width, all->rows - around > 1 ? all->rows - around : 1);
	int rows = v->n_lines + around < all->rows ? v->n_lines + around : all->rows;
	if (v->scroll > v->n_lines - (rows - around))
		v->scroll = v->n_lines - (rows - around) > 0 ? v->n_lines - (rows - around) : 0;
	struct draw_ctx band = draw_sub(all, all->rows - rows, 0, rows, all->cols);
	draw_clear(&band);
	struct draw_ctx c = draw_sub(&band, 0, margin, rows, all->cols - 2 * margin);
	draw_sheet(v, a, &c, &s);
	keep_shown(v, a);
	ui_ask_drawn(&v->ask);
}

/* -- keys -------------------------------------------------------------------------------------- */

static void say_answer(struct ui_core *core, const struct mdl_ask *a,
		       const struct ui_answer *answer, bool is_late)
{
	size_t n = mdl_asks_waiting(core->model);
	const char *what = answer->verdict == POL_ALLOW ? "Allowed" : "Denied";
	char always[64];
	snprintf(always, sizeof(always), "always (%s u takes it back)", zw_prefix_name());
	const char *when = answer->scope == ZW_SCOPE_ONCE     ? "once"
			   : answer->scope == ZW_SCOPE_ALWAYS ? always
							      : "for this session";
	char more[64] = "";

	if (n > 0)
		snprintf(more, sizeof(more), "  %zu more: %s a.", n, zw_prefix_name());
	ui_core_say(core, "%s %s%s: %.200s for %.40s(%u).%s", what, when,
		    is_late ? ", from now on" : "", a->title, mdl_proc_name(&a->proc), a->proc.pid,
		    more);
}

static struct ui_answer answer_of(const struct view_ask *v, enum pol_verdict verdict)
{
	return (struct ui_answer){.ask = v->id,
				  .verdict = verdict,
				  .scope = v->ask.scope,
				  .note = verdict == POL_DENY ? v->ask.text : "",
				  .key = v->ask.key,
				  .shown = v->shown != NULL ? v->shown : "",
				  .shown_ms = v->view.core->now_ms - v->open_ms,
				  .until = v->ask.until,
				  .is_everywhere = v->ask.is_everywhere,
				  .is_any_program = v->ask.is_any_program,
				  .is_whole_domain = v->ask.is_whole_domain && v->ask.has_below};
}

static void give(struct view_ask *v, enum pol_verdict verdict)
{
	struct ui_core *core = v->view.core;
	struct mdl_ask *a = mdl_ask_find(core->model, v->id);
	struct ui_answer answer = answer_of(v, verdict);
	const char *refused = core->host.answer(core->host.arg, &answer);

	if (refused != NULL) {
		ui_core_say(core, "%s", refused);
		if (v->is_clocked)
			core->host.ask_open(core->host.arg, v->id, false);
	} else if (a != NULL) {
		say_answer(core, a, &answer, v->ask.is_late);
	}
	view_pop(core);
}

static void try_rule(struct view_ask *v)
{
	struct ui_core *core = v->view.core;
	struct ui_answer answer = answer_of(v, POL_ALLOW);
	const char *text = core->host.try_rule(core->host.arg, &answer);

	zw_strlcpy(v->tried, text != NULL ? text : "There is no record to try it on.",
		   sizeof(v->tried));
	ui_ask_rearm(&v->ask);
}

/* The one that stands behind this in the order of asking, round about. */
static const struct mdl_ask *next_of(const struct ui_core *core, uint64_t id)
{
	const struct mdl_ask *a, *first = NULL;

	TAILQ_FOREACH (a, &core->model->asks, link) {
		if (a->state != MDL_ASK_HELD)
			continue;
		if (a->id > id)
			return a;
		if (first == NULL)
			first = a;
	}
	return first;
}

static void to_next(struct view_ask *v)
{
	struct ui_core *core = v->view.core;
	const struct mdl_ask *next = next_of(core, v->id);

	if (next == NULL) {
		ui_core_say(core, "No other question waits.");
		return;
	}
	uint64_t id = next->id;
	if (v->is_clocked)
		core->host.ask_open(core->host.arg, v->id, false);
	view_pop(core);
	view_ask_open(core, id);
}

static void copy(struct view_ask *v)
{
	struct ui_core *core = v->view.core;
	const char *text = v->shown != NULL ? v->shown : "";

	core->effects.copy(core->effects.arg, text, strlen(text), false);
}

static void scroll(struct view_ask *v, int by)
{
	int max = v->n_lines > v->height ? v->n_lines - v->height : 0;
	int to = v->scroll + by * (v->height > 1 ? v->height - 1 : 1);

	v->scroll = to < 0 ? 0 : to > max ? max : to;
	ui_ask_rearm(&v->ask);
}

static void ask_command(struct view_ask *v)
{
	if (v->ask.cmd == UI_CMD_DETAILS || v->ask.cmd == UI_CMD_ASK_EXPLAIN) {
		bool *has = v->ask.cmd == UI_CMD_DETAILS ? &v->has_details : &v->has_walk;

		*has = !*has;
		v->scroll = 0;
		ui_ask_rearm(&v->ask);
	} else if (v->ask.cmd == UI_CMD_ASK_COPY) {
		copy(v);
	} else if (v->ask.cmd == UI_CMD_ASK_NEXT) {
		to_next(v);
	} else if (v->ask.cmd == UI_CMD_ASK_FREEZE) {
		ui_core_cmd(v->view.core, UI_CMD_FREEZE);
	} else {
		scroll(v, v->ask.cmd == UI_CMD_ASK_DOWN ? 1 : -1);
	}
}

static bool ask_key(struct view *view, struct ui_key key)
{
	struct view_ask *v = (struct view_ask *)view;
	struct ui_core *core = view->core;
	const struct mdl_ask *a = mdl_ask_find(core->model, v->id);

	if (a == NULL || a->state == MDL_ASK_GONE || a->state == MDL_ASK_ANSWERED) {
		view_pop(core);
		return true;
	}
	/* The host may have counted it as missed meanwhile. */
	v->ask.is_late = a->state == MDL_ASK_MISSED;
	v->ask.target = a->target;
	enum ui_ask_step step = v->ask.step;
	switch (ui_ask_key(&v->ask, key, core->now_ms)) {
	case UI_ASK_DENY:
		give(v, POL_DENY);
		break;
	case UI_ASK_ALLOW:
		give(v, POL_ALLOW);
		break;
	case UI_ASK_LATER:
		if (v->is_clocked)
			core->host.ask_open(core->host.arg, v->id, false);
		view_pop(core);
		break;
	case UI_ASK_COMMAND:
		ask_command(v);
		break;
	case UI_ASK_TRY:
		try_rule(v);
		break;
	case UI_ASK_NOTHING:
	default:
		if (v->ask.step != step) {
			v->scroll = 0;
			v->tried[0] = '\0';
		}
		break;
	}
	return true;
}

static enum ui_cmd ask_cmd(struct view *view, enum ui_cmd cmd)
{
	(void)view;
	return cmd;
}

static void ask_paste(struct view *view, const void *bytes, size_t len)
{
	struct view_ask *v = (struct view_ask *)view;

	ui_ask_paste(&v->ask, bytes, len, view->core->now_ms);
}

static void ask_written(struct view *view)
{
	struct view_ask *v = (struct view_ask *)view;

	ui_ask_written(&v->ask, view->core->now_ms);
}

static void ask_resized(struct view *view)
{
	ui_ask_rearm(&((struct view_ask *)view)->ask);
}

static void ask_close(struct view *view)
{
	struct view_ask *v = (struct view_ask *)view;

	lines_clear(v);
	free(v->shown);
	free(v);
}

static const char *ask_hints(struct view *view)
{
	const struct view_ask *v = (const struct view_ask *)view;

	return v->ask.step == UI_ASK_CHOOSE ? "n deny   Tab next   Esc later" : "Esc back";
}

const struct view_ops view_ask_ops = {.name = "question",
				      .section = UI_SECTION_ASK,
				      .close = ask_close,
				      .draw = ask_draw,
				      .key = ask_key,
				      .cmd = ask_cmd,
				      .paste = ask_paste,
				      .written = ask_written,
				      .resized = ask_resized,
				      .hints = ask_hints};

int64_t view_ask_asleep_ms(const struct ui_core *core)
{
	if (!view_is(core, &view_ask_ops))
		return 0;
	int64_t ms = ui_ask_asleep_ms(&((const struct view_ask *)core->top)->ask, core->now_ms);

	return ms < 0 ? 0 : ms;
}

/* Its place in the order in which prefix a would open what waits. */
static void count(struct view_ask *v, const struct mdl_session *s, const struct mdl_ask *me)
{
	const struct mdl_ask *a;

	v->number = v->total = 1;
	TAILQ_FOREACH (a, &s->asks, link) {
		if (a == me || (a->state != MDL_ASK_HELD && a->state != MDL_ASK_OPEN))
			continue;
		v->total++;
		if (a->risk > me->risk || (a->risk == me->risk && a->id < me->id))
			v->number++;
	}
}

void view_ask_open(struct ui_core *core, uint64_t id)
{
	const struct mdl_ask *a = mdl_ask_find(core->model, id);

	if (a == NULL || (a->state != MDL_ASK_HELD && a->state != MDL_ASK_MISSED))
		return;
	struct view_ask *v = zw_xnew(struct view_ask);
	v->view.ops = &view_ask_ops;
	v->id = id;
	v->open_ms = core->now_ms;
	v->left_ms = mdl_ask_left_ms(a, core->now_ms);
	ui_ask_init(&v->ask, a->risk, a->word, core->config.arm_ms, core->config.quiet_ms,
		    core->now_ms);
	v->ask.is_late = a->state == MDL_ASK_MISSED;
	v->ask.is_second_key = core->config.is_second_key;
	v->ask.target = a->target;
	v->is_clocked = !v->ask.is_late;
	count(v, core->model, a);
	view_push(core, &v->view);
	if (v->is_clocked)
		core->host.ask_open(core->host.arg, id, true);
}
