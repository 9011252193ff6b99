/* SPDX-License-Identifier: MIT
 * Plain mode: one question, from its text to its answer. Lines become the keys of ui/ask.h, which
 * holds the rules. */
#include <stdio.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/prefix.h"
#include "src/base/words.h"
#include "ui/plain.h"

#define SHOWN_MAX_B 8192

/** Numbers of the choices. */
enum choice {
	DENY_ONCE = 1,
	DENY_SESSION,
	DENY_NOTE,
	ALLOW_ONCE,
	ALLOW_SESSION,
	ALLOW_ALWAYS,
	DETAILS,
	LATER,
	DENY_PROGRAM,
	STRICT,
};

static const struct mdl_ask *current(struct plain *p)
{
	const struct mdl_ask *a = mdl_ask_find(p->model, p->id);

	return a != NULL && a->state != MDL_ASK_GONE && a->state != MDL_ASK_ANSWERED ? a : NULL;
}

static unsigned same_program(const struct plain *p, const struct mdl_ask *me)
{
	const struct mdl_ask *a;
	unsigned n = 0;

	TAILQ_FOREACH (a, &p->model->asks, link)
		n += (a->state == MDL_ASK_HELD || a->state == MDL_ASK_OPEN) &&
		     strcmp(a->proc.exe, me->proc.exe) == 0;
	return n;
}

/* -- text ---------------------------------------------------------------------------------------- */

static void fact(struct plain *p, const char *label, const char *text)
{
	if (*text != '\0')
		plain_say(p, "%s: %s.", label, text);
}

static void say_question(struct plain *p, const struct mdl_ask *a)
{
	const struct mdl_proc *proc = &a->proc;

	plain_say(p, "Question %ju of session %ju. %s, %s.", (uintmax_t)a->id,
		  (uintmax_t)p->model->number, zw_risk_word(a->risk), a->title);
	if (p->config.repeat_n > 0 && (int)a->n_denied + 1 >= p->config.repeat_n)
		plain_say(p, "Denied %u times before. 2 refuses it for the rest of this session.",
			  a->n_denied);
	plain_say(p, "%s %s.", mdl_proc_name(proc), a->wants);
	plain_say(p, "If you allow it: %s", a->consequence);
	if (a->risk >= POL_RISK_HIGH)
		plain_say(p, "One allow covers one connection, which can carry many commands.");
	fact(p, "A rule did not apply", a->near);
	plain_say(p, "Who: %s%s%s %u.", proc->chain, *proc->chain != '\0' ? ", " : "",
		  mdl_proc_name(proc), proc->pid);
	if (a->is_interpreter)
		fact(p, "Script", *a->script != '\0' ? a->script : "code that is in no file");
	fact(p, "Command", proc->command);
	fact(p, "Folder", proc->cwd);
	fact(p, a->kind == POL_KIND_SOCKET ? "Socket" : "Site", a->target);
	fact(p, "Asked as", a->asked);
	fact(p, "Answers", a->answers);
	fact(p, "Before", a->before);
	if (a->n_waiting > 1)
		plain_say(p, "Waiting: %u tries wait for this one answer.", a->n_waiting);
	fact(p, "Safer", a->safer);
}

static void say_details(struct plain *p, const struct mdl_ask *a)
{
	fact(p, "Program", a->proc.exe);
	fact(p, "Hash", *a->hash != '\0' ? a->hash : a->is_identified ? "could not be read" : "");
	fact(p, "Class", a->class_name);
	fact(p, "Owner", a->owner);
	plain_say(p, "Why zwatch asks: no deny and no allow is about this%s%s; the mode is %s.",
		  *a->near != '\0' ? ", but nearly: " : "", a->near, zw_mode_word(p->model->mode));
}

static void say_choices(struct plain *p, const struct mdl_ask *a)
{
	unsigned n = same_program(p, a);

	plain_say(p, "1 deny once, 2 deny for this session, 3 deny with a note,");
	plain_say(p, "%s5 allow this session, 6 allow always, 7 details, 8 later.",
		  p->ask.is_late ? "" : "4 allow once, ");
	if (n > 1)
		plain_say(p, "9 deny all %u questions of %s once, 10 refuse whatever %s asks.", n,
			  mdl_proc_name(&a->proc), mdl_proc_name(&a->proc));
	plain_prompt(p, "Number, then Enter. Enter alone is 1:");
}

static void keep_say(struct plain *p, const struct mdl_ask *a)
{
	const struct ui_ask *k = &p->ask;
	char word[UI_NOTE_MAX + 1];

	plain_say(
		p,
		"From now on zwatch will not ask when %s%s%s%s%s connects to %s, in %s, until: %s.",
		k->is_any_program ? "any program that the agent runs" : a->proc.exe,
		!k->is_any_program && *a->hash != '\0' ? ", sha256 " : "",
		k->is_any_program ? "" : a->hash,
		!k->is_any_program && *a->script != '\0' ? ", running " : "",
		k->is_any_program ? "" : a->script,
		k->is_whole_domain && *a->below != '\0' ? a->below : a->target,
		k->is_everywhere ? "every project" : p->model->project, pol_until_word(k->until));
	if (a->kind == POL_KIND_SOCKET)
		plain_say(p, "It is answered by %s.", a->answers);
	if (a->risk >= POL_RISK_HIGH)
		plain_say(p, "The rule cannot tell one request from another: whatever goes through "
			     "this socket will be allowed.");
	plain_say(p, "1 changes until when, 2 where, 3 who, %s5 tries the rule on past sessions.",
		  *a->below != '\0' ? "4 which sites, " : "");
	plain_say(p, "Saved in rules.json. Undo: %s, then u, or zwatch rules rm.",
		  zw_prefix_spoken());
	ui_ask_keep_text(k, word, sizeof(word));
	plain_prompt(p,
		     "Number and Enter changes. Type %s and Enter to save. Enter alone goes back:",
		     *word != '\0' ? word : "save");
	p->ask.is_keep_read = true;
}

/* The prompt of the step that the question is in now. */
static void step_say(struct plain *p, const struct mdl_ask *a)
{
	const char *when = p->ask.scope == ZW_SCOPE_SESSION ? "for this session" : "once";

	if (*p->ask.hint != '\0')
		plain_say(p, "%s", p->ask.hint);
	switch (p->ask.step) {
	case UI_ASK_CONFIRM:
		plain_prompt(p, "Type yes and Enter to allow %s. Enter alone goes back:", when);
		break;
	case UI_ASK_WORD:
		plain_prompt(p,
			     "Type %s and Enter to allow %s. Enter alone goes back:", p->ask.word,
			     when);
		break;
	case UI_ASK_NOTE:
		plain_prompt(p, "Note for the agent, then Enter. It is denied once:");
		break;
	case UI_ASK_KEEP:
		keep_say(p, a);
		break;
	case UI_ASK_CHOOSE:
	default:
		say_choices(p, a);
	}
}

/* -- answers ------------------------------------------------------------------------------------- */

static void close_ask(struct plain *p)
{
	if (p->is_clocked)
		p->host.ask_open(p->host.arg, p->id, false);
	plain_give_back(p);
}

void plain_ask_later(struct plain *p)
{
	plain_say(p, "Later. Question %ju stays held.", (uintmax_t)p->id);
	close_ask(p);
}

static struct ui_answer answer_of(const struct plain *p, enum pol_verdict verdict, char *shown)
{
	return (struct ui_answer){.ask = p->id,
				  .verdict = verdict,
				  .scope = p->ask.scope,
				  .note = verdict == POL_DENY ? p->ask.text : "",
				  .key = p->ask.key,
				  .shown = shown,
				  .shown_ms = p->now_ms - p->open_ms,
				  .until = p->ask.until,
				  .is_everywhere = p->ask.is_everywhere,
				  .is_any_program = p->ask.is_any_program,
				  .is_whole_domain = p->ask.is_whole_domain && p->ask.has_below};
}

static void give(struct plain *p, const struct mdl_ask *a, enum pol_verdict verdict)
{
	zw_autofree char *shown =
		zw_xmemdup0(p->shown.len > 0 ? zw_buf_head(&p->shown) : NULL, p->shown.len);
	zw_autofree char *title = zw_xstrdup(a->title), *name = zw_xstrdup(mdl_proc_name(&a->proc));
	struct ui_answer answer = answer_of(p, verdict, shown);
	uint32_t pid = a->proc.pid;
	const char *when = p->ask.scope == ZW_SCOPE_ONCE     ? "once"
			   : p->ask.scope == ZW_SCOPE_ALWAYS ? "always"
							     : "for this session";

	plain_forget(p, p->id);
	p->is_answering = true;
	const char *refused = p->host.answer(p->host.arg, &answer);
	p->is_answering = false;
	if (refused != NULL) {
		plain_say(p, "%s", refused);
		close_ask(p);
		return;
	}
	plain_say(p, "%s %s. %s for %s %u.", verdict == POL_ALLOW ? "Allowed" : "Denied", when,
		  title, name, pid);
	size_t n = mdl_asks_waiting(p->model);
	if (n > 0)
		plain_say(p, "%zu more: %s, then a.", n, zw_prefix_spoken());
	p->is_clocked = false;
	plain_give_back(p);
}

static void deny_program(struct plain *p, const struct mdl_ask *me, bool is_strict)
{
	zw_autofree char *exe = zw_xstrdup(me->proc.exe),
			 *name = zw_xstrdup(mdl_proc_name(&me->proc));
	struct mdl_ask *a, *next;
	unsigned n = 0;

	p->is_answering = true;
	if (is_strict)
		p->host.strict(p->host.arg, p->id);
	for (a = TAILQ_FIRST(&p->model->asks); a != NULL; a = next) {
		struct ui_answer answer = {.ask = a->id,
					   .verdict = POL_DENY,
					   .scope = ZW_SCOPE_ONCE,
					   .note = "",
					   .key = is_strict ? "10" : "9",
					   .shown = ""};

		next = TAILQ_NEXT(a, link);
		if ((a->state != MDL_ASK_HELD && a->state != MDL_ASK_OPEN) ||
		    strcmp(a->proc.exe, exe) != 0)
			continue;
		plain_forget(p, a->id);
		n += p->host.answer(p->host.arg, &answer) == NULL;
	}
	p->is_answering = false;
	plain_say(p, "Denied once: %u questions of %s.%s", n, name,
		  is_strict ? " Whatever it asks is refused in this session." : "");
	p->is_clocked = false;
	plain_give_back(p);
}

static void try_rule(struct plain *p, const struct mdl_ask *a)
{
	char none[] = "";
	struct ui_answer answer = answer_of(p, POL_ALLOW, none);
	const char *text = p->host.try_rule(p->host.arg, &answer);

	plain_say(p, "%s", text != NULL ? text : "There is no record to try it on.");
	keep_say(p, a);
}

/* -- lines --------------------------------------------------------------------------------------- */

static enum ui_ask_result press(struct plain *p, uint32_t code)
{
	/* Also of keys that were taken back. */
	if (p->line_ms - p->line_quiet_ms > p->ask.key_ms)
		p->ask.key_ms = p->line_ms - p->line_quiet_ms;
	return ui_ask_key(&p->ask, (struct ui_key){.code = code}, p->line_ms);
}

/* The line as it was typed, and Enter. */
static enum ui_ask_result press_line(struct plain *p)
{
	const uint8_t *b = (const uint8_t *)p->line;

	for (size_t i = 0; i < p->len;) {
		uint32_t cp = 0;
		struct ui_key k;

		i += ui_input_text_key(b + i, p->len - i, &k);
		cp = k.code;
		press(p, cp);
	}
	return press(p, UI_KEY_ENTER);
}

static int number(const struct plain *p)
{
	uint64_t n = 0;

	if (p->len == 0)
		return DENY_ONCE;
	return zw_parse_u64(p->line, p->len, STRICT, &n) == 0 ? (int)n : 0;
}

static enum ui_ask_result choose(struct plain *p, const struct mdl_ask *a)
{
	static const char keys[] = {
		[DENY_ONCE] = 'n',  [DENY_SESSION] = 'N',  [DENY_NOTE] = 't',
		[ALLOW_ONCE] = 'y', [ALLOW_SESSION] = 's', [ALLOW_ALWAYS] = 'A'};
	int n = number(p);

	if (n >= DENY_ONCE && n <= ALLOW_ALWAYS)
		return press(p, p->len == 0 ? UI_KEY_ENTER : (uint32_t)keys[n]);
	if (n == LATER)
		return UI_ASK_LATER;
	if (n == DETAILS)
		say_details(p, a);
	else if ((n == DENY_PROGRAM || n == STRICT) && same_program(p, a) > 1)
		return UI_ASK_COMMAND;
	else
		snprintf(p->ask.hint, sizeof(p->ask.hint), "That is none of the numbers.");
	return UI_ASK_NOTHING;
}

static enum ui_ask_result keep(struct plain *p)
{
	static const enum ui_keep_row rows[] = {UI_KEEP_UNTIL, UI_KEEP_WHERE, UI_KEEP_WHO,
						UI_KEEP_WHAT};
	char word[UI_NOTE_MAX + 1];
	bool has_word = *ui_ask_keep_text(&p->ask, word, sizeof(word)) != '\0';
	int n = p->len == 1 ? p->line[0] - '0' : 0;

	if (n == 5)
		return UI_ASK_TRY;
	if (n >= 1 && n <= (p->ask.has_below ? 4 : 3)) {
		p->ask.row = rows[n - 1];
		return press(p, UI_KEY_RIGHT);
	}
	if (p->len == 0)
		return press(p, UI_KEY_ESC);
	if (has_word)
		return press_line(p);
	if (strcmp(p->line, "save") == 0)
		return press(p, UI_KEY_ENTER);
	snprintf(p->ask.hint, sizeof(p->ask.hint), "Not saved.");
	return UI_ASK_NOTHING;
}

static enum ui_ask_result line(struct plain *p, const struct mdl_ask *a)
{
	p->ask.hint[0] = '\0';
	if (p->is_pasted && p->ask.step != UI_ASK_NOTE) {
		snprintf(p->ask.hint, sizeof(p->ask.hint),
			 "That came in one piece, as a paste does. Nothing was done.");
		return UI_ASK_NOTHING;
	}
	switch (p->ask.step) {
	case UI_ASK_CONFIRM:
		return press(p, strcmp(p->line, "yes") == 0 ? UI_KEY_ENTER : UI_KEY_ESC);
	case UI_ASK_WORD:
	case UI_ASK_NOTE:
		return press_line(p);
	case UI_ASK_KEEP:
		return keep(p);
	case UI_ASK_CHOOSE:
	default:
		return choose(p, a);
	}
}

void plain_ask_line(struct plain *p)
{
	const struct mdl_ask *a = current(p);

	if (a == NULL) {
		plain_ask_changed(p);
		return;
	}
	p->ask.is_late = a->state == MDL_ASK_MISSED;
	p->ask.target = a->target;
	p->ask.has_below = *a->below != '\0';
	p->is_drawn = false;
	switch (line(p, a)) {
	case UI_ASK_DENY:
		give(p, a, POL_DENY);
		break;
	case UI_ASK_ALLOW:
		give(p, a, POL_ALLOW);
		break;
	case UI_ASK_LATER:
		plain_ask_later(p);
		break;
	case UI_ASK_TRY:
		try_rule(p, a);
		break;
	case UI_ASK_COMMAND:
		deny_program(p, a, number(p) == STRICT);
		break;
	case UI_ASK_NOTHING:
	default:
		step_say(p, a);
	}
}

void plain_ask_changed(struct plain *p)
{
	const struct mdl_ask *a = mdl_ask_find(p->model, p->id);

	if (p->is_answering || current(p) != NULL)
		return;
	if (a != NULL && a->state == MDL_ASK_ANSWERED)
		plain_say(p, "Question %ju was answered meanwhile: %s.", (uintmax_t)p->id,
			  a->is_allowed ? "allowed" : "denied");
	else
		plain_say(p, "Question %ju is over: the program gave up or ended.",
			  (uintmax_t)p->id);
	plain_forget(p, p->id);
	p->is_clocked = false;
	plain_give_back(p);
}

void plain_ask_open(struct plain *p, uint64_t id)
{
	const struct mdl_ask *a = mdl_ask_find(p->model, id);

	if (a == NULL || (a->state != MDL_ASK_HELD && a->state != MDL_ASK_MISSED)) {
		plain_say(p, "That question is over.");
		return;
	}
	p->id = id;
	p->open_ms = p->now_ms;
	zw_buf_consume(&p->shown, p->shown.len);
	ui_ask_init(&p->ask, a->risk, a->word, p->config.arm_ms, p->config.quiet_ms, p->now_ms);
	p->ask.is_late = a->state == MDL_ASK_MISSED;
	p->ask.is_second_key = p->config.is_second_key;
	p->ask.is_read = true; /* all of it is printed */
	p->ask.target = a->target;
	p->ask.has_below = *a->below != '\0';
	p->is_clocked = !p->ask.is_late;
	p->is_drawn = false;
	plain_take(p, PLAIN_ASK);
	say_question(p, a);
	say_choices(p, a);
	if (p->is_clocked)
		p->host.ask_open(p->host.arg, id, true);
}
