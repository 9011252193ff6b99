/* SPDX-License-Identifier: MIT */
#include "ui/plain.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/prefix.h"
#include "src/base/str.h"
#include "src/base/utf8.h"
#include "src/base/vis.h"
#include "src/base/words.h"
#include "ui/cmd.h"
#include "ui/draw.h"
#include "ui/fmt.h"

#define HELD_MAX_B     (256u << 10)
#define SHOWN_MAX_B    8192
#define AWAY_MS	       30000 /* without a key: the user looks elsewhere */
#define NUDGE_MS       1000
#define LAST_MS	       15000 /* "15 seconds are left" */
#define REFUSED_GAP_MS 2000
#define WIDTH_MIN      20
#define WIDTH_MAX      100
#define PASTE_KEYS     3 /* more of them at once were not typed */

/* -- output ------------------------------------------------------------------------------------- */

static void put(struct plain *p, const char *bytes, size_t len)
{
	p->effects.write(p->effects.arg, bytes, len);
}

/* Texts are printable already; a terminal without UTF-8 gets a mark for what it cannot show. */
static void put_text(struct plain *p, const char *text, size_t len)
{
	const uint8_t *b = (const uint8_t *)text;

	for (size_t i = 0; i < len;) {
		uint32_t cp = 0;
		int n = zw_utf8_decode(b + i, len - i, &cp);

		if (n < 0 || !zw_vis_is_safe(cp) || (n > 1 && p->config.is_ascii))
			put(p, "?", 1);
		else
			put(p, text + i, (size_t)n);
		i += n > 0 ? (size_t)n : 1;
	}
}

static void new_line(struct plain *p)
{
	put(p, "\r\n", 2);
	p->is_at_start = true;
}

static int width_of(const struct plain *p)
{
	int width = p->cols - 1;

	return width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : width;
}

static void say_text(struct plain *p, const char *text, bool is_prompt)
{
	struct zw_span part;
	bool is_first = true;

	if (!p->is_at_start)
		new_line(p);
	while (draw_wrap_next(&text, width_of(p), &part)) {
		if (!is_first)
			new_line(p);
		put_text(p, part.p, part.len);
		is_first = false;
	}
	p->is_at_start = false;
	if (is_prompt)
		put(p, " ", 1);
	else
		new_line(p);
}

void plain_say(struct plain *p, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	int n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	say_text(p, text, false);
	/* What stood on screen is kept with the record. */
	if (p->with == PLAIN_ASK && zw_buf_left(&p->shown) > (size_t)n + 1)
		zw_buf_addf(&p->shown, "%s\n", text);
	free(text);
}

void plain_prompt(struct plain *p, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	int n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	say_text(p, text, true);
	free(text);
	p->len = 0;
	p->line[0] = '\0';
	p->is_pasted = false;
	p->is_drawn = true;
	p->prompt_ms = -1;
}

void plain_take(struct plain *p, enum plain_with with)
{
	p->with = with;
	p->len = 0;
	p->line[0] = '\0';
	p->is_pasted = false;
	if (!p->is_at_start)
		new_line(p);
}

static void told_look(struct plain *p);
static void tell_new(struct plain *p);

void plain_give_back(struct plain *p)
{
	p->with = PLAIN_AGENT;
	p->len = 0;
	if (p->held.len > 0) {
		const uint8_t *b = zw_buf_head(&p->held);

		p->is_at_start = b[p->held.len - 1] == '\n';
		put(p, (const char *)b, p->held.len);
		zw_buf_consume(&p->held, p->held.len);
	}
	told_look(p);
	tell_new(p);
}

static bool sets_modes(const void *bytes, size_t len)
{
	return memmem(bytes, len, "\033[?", 3) != NULL || memmem(bytes, len, "\033[>", 3) != NULL ||
	       memmem(bytes, len, "\033=", 2) != NULL;
}

void plain_agent(struct plain *p, const void *bytes, size_t len, int64_t now_ms)
{
	p->now_ms = now_ms;
	p->owes_frame = true;
	if (len == 0)
		return;
	p->has_agent_modes = p->has_agent_modes || sets_modes(bytes, len);
	if (p->with != PLAIN_AGENT) {
		zw_buf_add(&p->held, bytes, len);
		return;
	}
	put(p, bytes, len);
	p->is_at_start = ((const char *)bytes)[len - 1] == '\n';
}

void plain_written(struct plain *p, int64_t now_ms)
{
	p->now_ms = now_ms;
	if (p->prompt_ms < 0)
		p->prompt_ms = now_ms;
	if (p->with == PLAIN_ASK && p->is_drawn) {
		ui_ask_drawn(&p->ask);
		ui_ask_written(&p->ask, now_ms);
	}
	if (p->owes_frame && p->with == PLAIN_AGENT) {
		p->owes_frame = false;
		p->host.frame_done(p->host.arg);
	}
}

/* -- telling of questions ------------------------------------------------------------------------ */

/* "docker, started by claude, wants to talk to the Docker daemon." */
static void wants(char *out, size_t size, const struct plain *p, const struct mdl_ask *a)
{
	bool is_agent = strcmp(mdl_proc_name(&a->proc), p->config.agent_name) == 0;

	snprintf(out, size, "%s%s%s%s%s.", mdl_proc_name(&a->proc), is_agent ? "" : ", started by ",
		 is_agent ? "" : p->config.agent_name, is_agent ? " " : ", ", a->wants);
}

void plain_tell_ask(struct plain *p, const struct mdl_ask *a)
{
	char text[2048];
	const char *stop = strstr(a->consequence, ". ");
	size_t first = stop != NULL ? (size_t)(stop - a->consequence) + 1 : strlen(a->consequence);
	const char *risk = a->risk >= POL_RISK_HIGH   ? zw_risk_word(a->risk)
			   : a->kind == POL_KIND_SITE ? "New site"
						      : "Socket";

	wants(text, sizeof(text), p, a);
	plain_say(p, "Question %ju. %s. %s", (uintmax_t)a->id, risk, text);
	plain_say(p, "If you allow it, %.*s", (int)first, a->consequence);
}

static struct plain_told *told_find(struct plain *p, uint64_t id)
{
	for (size_t i = 0; i < p->n_told; i++)
		if (p->told[i].id == id)
			return &p->told[i];
	return NULL;
}

void plain_forget(struct plain *p, uint64_t id)
{
	struct plain_told *t = told_find(p, id);

	if (t != NULL)
		*t = p->told[--p->n_told];
}

/* More than so many in that time are counted and not read out. */
static bool is_flood(struct plain *p)
{
	unsigned n_max = p->config.flood_n > 0 ? (unsigned)p->config.flood_n : 8;
	unsigned n = n_max < ZW_N_ELEMENTS(p->tell_ms) ? n_max : ZW_N_ELEMENTS(p->tell_ms);
	int64_t *slot = &p->tell_ms[p->n_tell % n];

	if (p->config.flood_n > 0 && p->n_tell >= n && p->now_ms - *slot < p->config.flood_ms)
		return true;
	*slot = p->now_ms;
	p->n_tell++;
	return false;
}

static void tell_new(struct plain *p)
{
	const struct mdl_ask *a;
	size_t n = 0, n_folded = 0;

	if (p->with != PLAIN_AGENT)
		return;
	TAILQ_FOREACH (a, &p->model->asks, link) {
		if (a->state != MDL_ASK_HELD || a->id <= p->seen)
			continue;
		p->seen = a->id;
		if (p->n_told < PLAIN_TOLD_MAX)
			p->told[p->n_told++] = (struct plain_told){
				.id = a->id, .full_ms = mdl_ask_left_ms(a, p->now_ms)};
		if (is_flood(p)) {
			n_folded++;
			continue;
		}
		plain_tell_ask(p, a);
		n++;
	}
	size_t waiting = mdl_asks_waiting(p->model);
	if (n_folded > 0)
		plain_say(p, "%zu questions wait. Press %s, then w, for the list.", waiting,
			  zw_prefix_spoken());
	else if (n > 0 && waiting > 1)
		plain_say(p, "%zu wait. Press %s, then a, to answer, or w for the list.", waiting,
			  zw_prefix_spoken());
	else if (n > 0)
		plain_say(p, "Waiting. Press %s, then a, to answer.", zw_prefix_spoken());
}

/* What became of those that were told of. Returns whether it is over. */
static bool told_over(struct plain *p, const struct plain_told *t, const struct mdl_ask *a)
{
	unsigned long long id = t->id;

	if (a == NULL || a->state == MDL_ASK_ANSWERED) {
		if (a != NULL)
			plain_say(p, "%s: question %llu, %s.", a->is_allowed ? "Allowed" : "Denied",
				  id, a->title);
		return true;
	}
	if (a->state == MDL_ASK_MISSED) {
		plain_say(p,
			  "Missed: question %llu, %s. Nobody answered in time, so this try was "
			  "denied. %s, then w, still answers it for the session.",
			  id, a->title, zw_prefix_spoken());
		return true;
	}
	if (a->state == MDL_ASK_GONE) {
		plain_say(p, "Gone: question %llu, %s. The program gave up or ended.", id,
			  a->title);
		return true;
	}
	return false;
}

static void told_look(struct plain *p)
{
	if (p->with != PLAIN_AGENT)
		return;
	for (size_t i = 0; i < p->n_told;) {
		if (told_over(p, &p->told[i], mdl_ask_find(p->model, p->told[i].id)))
			p->told[i] = p->told[--p->n_told];
		else
			i++;
	}
}

/* What rules and modes refused, at most a line every two seconds. */
static void refused_look(struct plain *p)
{
	const struct mdl_conn *c = TAILQ_FIRST(&p->model->conns);
	const struct mdl_sock *k = TAILQ_FIRST(&p->model->socks);
	uint64_t at = p->refused_us;

	if (p->with != PLAIN_AGENT ||
	    (p->refused_ms != 0 && p->now_ms - p->refused_ms < REFUSED_GAP_MS))
		return;
	if (c != NULL && c->did == ZW_DID_DENY && c->by != ZW_BY_USER &&
	    (uint64_t)c->opened_us > at) {
		plain_say(p, "Refused: %s:%u for %s(%u), by %s%s%s.", c->host, c->port,
			  mdl_proc_name(&c->proc), c->proc.pid, zw_by_word(c->by),
			  *c->reason != '\0' ? ": " : "", c->reason);
		p->refused_us = (uint64_t)c->opened_us;
	}
	if (k != NULL && k->did == ZW_DID_DENY && k->by != ZW_BY_USER && (uint64_t)k->t_us > at) {
		plain_say(p, "Refused: %s for %s(%u), by %s.", k->target, mdl_proc_name(&k->proc),
			  k->proc.pid, zw_by_word(k->by));
		if ((uint64_t)k->t_us > p->refused_us)
			p->refused_us = (uint64_t)k->t_us;
	}
	if (p->refused_us != at)
		p->refused_ms = p->now_ms;
}

static void nudge(struct plain *p)
{
	char text[UI_NUDGE_TEXT_MAX];
	bool is_looking = p->now_ms - p->key_ms < AWAY_MS;
	unsigned ways = ui_nudge_step(&p->nudge, p->model, p->config.agent_name, is_looking,
				      p->now_ms, text);

	if (ways != 0 && p->effects.nudge != NULL)
		p->effects.nudge(p->effects.arg, ways, text);
}

void plain_changed(struct plain *p, unsigned changed, int64_t now_ms)
{
	p->now_ms = now_ms;
	if (p->with == PLAIN_ASK)
		plain_ask_changed(p);
	if ((changed & MDL_CHANGED_ASKS) != 0) {
		told_look(p);
		tell_new(p);
		nudge(p);
	}
	if ((changed & (MDL_CHANGED_CONNS | MDL_CHANGED_SOCKS)) != 0)
		refused_look(p);
}

void plain_message(struct plain *p, const char *text, int64_t now_ms)
{
	p->now_ms = now_ms;
	if (p->with != PLAIN_AGENT && p->len > 0)
		return; /* never into what is being typed */
	plain_say(p, "zwatch: %s", text);
}

void plain_note(struct plain *p, unsigned kind, const char *text, int64_t now_ms)
{
	p->now_ms = now_ms;
	if (p->with != PLAIN_AGENT)
		return;
	/* Quoted: these are not zwatch's words. */
	if (kind == ZW_NOTE_KIND_NOTIFY)
		plain_say(p, "%.40s says: \"%.200s\"", p->config.agent_name, text);
	else if (kind == ZW_NOTE_KIND_CLIPBOARD)
		plain_say(p, "zwatch: %s", text);
}

/* -- time ---------------------------------------------------------------------------------------- */

int64_t plain_next_ms(const struct plain *p, int64_t now_ms)
{
	int64_t next = mdl_asks_waiting(p->model) > 0 ? NUDGE_MS : -1;

	for (size_t i = 0; i < p->n_told; i++) {
		const struct plain_told *t = &p->told[i];
		const struct mdl_ask *a = mdl_ask_find(p->model, t->id);
		int64_t left, at;

		if (a == NULL || a->state != MDL_ASK_HELD || t->full_ms == INT64_MAX)
			continue;
		left = mdl_ask_left_ms(a, now_ms);
		at = !t->is_half ? left - t->full_ms / 2 : !t->is_last ? left - LAST_MS : -1;
		if (at >= 0 && (next < 0 || at < next))
			next = at;
	}
	return next;
}

void plain_tick(struct plain *p, int64_t now_ms)
{
	char left_text[UI_FMT_MAX];

	p->now_ms = now_ms;
	nudge(p);
	for (size_t i = 0; i < p->n_told; i++) {
		struct plain_told *t = &p->told[i];
		const struct mdl_ask *a = mdl_ask_find(p->model, t->id);
		bool is_due;

		if (a == NULL || a->state != MDL_ASK_HELD || t->full_ms == INT64_MAX)
			continue;
		int64_t left = mdl_ask_left_ms(a, now_ms);
		is_due =
			(!t->is_half && left <= t->full_ms / 2) || (!t->is_last && left <= LAST_MS);
		t->is_half = t->is_half || left <= t->full_ms / 2;
		t->is_last = t->is_last || left <= LAST_MS;
		if (is_due && p->with == PLAIN_AGENT)
			plain_say(p, "Question %ju still waits: %s. Time left %s.",
				  (uintmax_t)t->id, a->title, ui_fmt_span(left_text, left));
	}
}

/* -- commands ------------------------------------------------------------------------------------ */

static void answer_first(struct plain *p)
{
	const struct mdl_ask *a = mdl_ask_first(p->model);

	if (a == NULL)
		plain_say(p, "Nothing waits for an answer.");
	else
		plain_ask_open(p, a->id);
}

static void mode_open(struct plain *p)
{
	plain_take(p, PLAIN_MODE);
	plain_say(p, "The mode is %s.", zw_mode_word(p->model->mode));
	plain_say(p, "1 watch: sites are allowed and listed. 2 guard: new sites are asked about.");
	plain_say(p, "3 strict: what is not listed is refused.");
	plain_prompt(p, "Number, then Enter. Enter alone changes nothing:");
}

static void mode_line(struct plain *p)
{
	int n = p->len == 1 ? p->line[0] - '1' : -1;

	if (n >= 0 && n < POL_MODE_MAX && !p->is_pasted) {
		const char *why = p->host.mode(p->host.arg, (enum pol_mode)n);

		plain_say(p, "%s", why != NULL ? why : "Done.");
		plain_say(p, "The mode is %s.", zw_mode_word(p->model->mode));
	} else {
		plain_say(p, "The mode stays %s.", zw_mode_word(p->model->mode));
	}
	plain_give_back(p);
}

static void stop_line(struct plain *p)
{
	if (strcmp(p->line, "stop") == 0 && !p->is_pasted) {
		p->host.stop_agent(p->host.arg);
		plain_say(p, "The agent was told to end.");
	} else {
		plain_say(p, "The agent goes on.");
	}
	plain_give_back(p);
}

static void freeze(struct plain *p)
{
	const char *text = p->host.freeze(p->host.arg, !p->model->is_frozen);

	if (p->model->is_frozen)
		plain_say(p, "%s %s, then f, thaws it.", text, zw_prefix_spoken());
	else
		plain_say(p, "%s", text);
}

static void suspend(struct plain *p)
{
	bool was_frozen = p->model->is_frozen;

	if (!was_frozen)
		p->host.freeze(p->host.arg, true);
	p->effects.suspend(p->effects.arg);
	if (!was_frozen)
		p->host.freeze(p->host.arg, false);
}

static void stop_open(struct plain *p)
{
	plain_take(p, PLAIN_STOP);
	plain_say(p, "Stop the agent? It ends now, with everything that it started.");
	plain_prompt(p, "Type stop and Enter. Enter alone goes back:");
}

static void command(struct plain *p, enum ui_cmd cmd)
{
	const char *text;

	if (cmd == UI_CMD_ANSWER)
		answer_first(p);
	else if (cmd == UI_CMD_WAITING)
		plain_waiting_open(p);
	else if (cmd == UI_CMD_FOCUS_CONNS)
		plain_conns_say(p);
	else if (cmd == UI_CMD_FOCUS_SOCKS)
		plain_socks_open(p);
	else if (cmd == UI_CMD_FOCUS_AGENT)
		plain_status_say(p);
	else if (cmd == UI_CMD_MODE)
		mode_open(p);
	else if (cmd == UI_CMD_STOP)
		stop_open(p);
	else if (cmd == UI_CMD_FREEZE)
		freeze(p);
	else if (cmd == UI_CMD_SUSPEND)
		suspend(p);
	else if (cmd == UI_CMD_UNDO && (text = p->host.undo(p->host.arg)) != NULL)
		plain_say(p, "%s", text);
	else if (cmd == UI_CMD_HISTORY)
		plain_say(p, "zwatch history, in another terminal, shows past sessions.");
	else if (cmd == UI_CMD_HELP)
		plain_help_say(p);
	else if (cmd != UI_CMD_UNDO && cmd != UI_CMD_CANCEL)
		plain_say(p, "That is for the dashboard. In plain mode the terminal does it.");
}

/* -- keys ---------------------------------------------------------------------------------------- */

static void line_done(struct plain *p)
{
	p->is_pasted = p->is_pasted || (p->len > 0 && p->key_input == p->n_inputs);
	put(p, "\r\n", 2);
	p->is_at_start = true;
	switch (p->with) {
	case PLAIN_ASK:
		plain_ask_line(p);
		break;
	case PLAIN_WAITING:
		plain_waiting_line(p);
		break;
	case PLAIN_SOCKS:
		plain_socks_line(p);
		break;
	case PLAIN_MODE:
		mode_line(p);
		break;
	case PLAIN_STOP:
		stop_line(p);
		break;
	case PLAIN_AGENT:
		break;
	}
}

static void leave(struct plain *p)
{
	if (p->with == PLAIN_ASK) {
		plain_ask_later(p);
		return;
	}
	plain_say(p, "Back.");
	plain_give_back(p);
}

/* Nothing can be wiped out on a screen that is read aloud: the line is said anew. */
static void line_again(struct plain *p)
{
	new_line(p);
	put(p, "> ", 2);
	put_text(p, p->line, p->len);
	p->is_at_start = false;
}

static void line_begin(struct plain *p)
{
	p->line_ms = p->now_ms;
	p->line_quiet_ms = p->n_keys == 0 ? p->now_ms - p->before_ms : 0;
}

static void line_add(struct plain *p, uint32_t cp)
{
	char c[4];

	if (cp >= UI_KEY_FIRST || cp == 0 || !zw_vis_is_safe(cp))
		return;
	size_t n = (size_t)zw_utf8_encode(c, cp);
	if (p->len + n >= sizeof(p->line))
		return;
	if (p->len == 0)
		line_begin(p);
	memcpy(p->line + p->len, c, n);
	p->len += n;
	p->line[p->len] = '\0';
	p->key_input = p->n_inputs;
	if (++p->n_keys > PASTE_KEYS)
		p->is_pasted = true;
	put_text(p, c, n);
	p->is_at_start = false;
}

static void line_key(struct plain *p, struct ui_key key)
{
	if (key.code == UI_KEY_ENTER && key.mods == 0) {
		if (p->len == 0)
			line_begin(p);
		line_done(p);
	} else if (key.code == UI_KEY_ESC || (key.code == 'c' && key.mods == UI_MOD_CTRL)) {
		leave(p);
	} else if (key.code == UI_KEY_BACKSPACE && p->len > 0) {
		while (p->len > 0 && ((uint8_t)p->line[--p->len] & 0xc0) == 0x80)
			;
		p->line[p->len] = '\0';
		line_again(p);
	} else if (key.code == 'u' && key.mods == UI_MOD_CTRL) {
		p->line[p->len = 0] = '\0';
		line_again(p);
	} else if (key.mods == 0) {
		line_add(p, key.code);
	}
}

static void prefix_key(struct plain *p, struct ui_key key)
{
	enum ui_cmd cmd = ui_cmd_of_key(UI_SECTION_PREFIX, key);
	char name[16];

	p->is_prefix = false;
	if (p->with != PLAIN_AGENT)
		plain_say(p, "First this: Enter alone goes back or denies, Escape goes back.");
	else if (cmd == UI_CMD_NONE)
		plain_say(p, "%s is no command here. %s, then question mark, lists them.",
			  ui_key_name(name, key), zw_prefix_spoken());
	else
		command(p, cmd);
}

static void key(struct plain *p, struct ui_key k)
{
	if (k.code == UI_KEY_NONE)
		return;
	if (p->is_prefix)
		prefix_key(p, k);
	else if (p->with != PLAIN_AGENT)
		line_key(p, k);
}

static bool agent_has_keys(const struct plain *p)
{
	return p->with == PLAIN_AGENT && !p->is_prefix;
}

static void to_agent(struct plain *p, const void *bytes, size_t len)
{
	if (len > 0)
		p->host.input(p->host.arg, bytes, len);
}

/* What is typed behind the key that opens a prompt, in the same piece, was typed ahead. */
static void text(struct plain *p, const uint8_t *bytes, size_t len)
{
	struct ui_key k;

	while (len > 0) {
		if (agent_has_keys(p)) {
			to_agent(p, bytes, len);
			return;
		}
		enum plain_with before = p->with;
		size_t n = ui_input_text_key(bytes, len, &k);

		key(p, k);
		bytes += n;
		len -= n;
		if (before == PLAIN_AGENT && p->with != PLAIN_AGENT)
			return;
	}
}

static void paste(struct plain *p, const struct ui_token *t)
{
	if (t->kind == UI_TOKEN_PASTE_BEGIN) {
		p->is_prefix = false;
		p->is_paste_for_agent = agent_has_keys(p);
	}
	if (p->is_paste_for_agent)
		to_agent(p, t->bytes, t->len);
	else if (t->kind == UI_TOKEN_PASTE_END)
		plain_say(p, "Pasting is off here on purpose.");
	if (t->kind == UI_TOKEN_PASTE_END)
		p->is_paste_for_agent = false;
}

static void on_token(const struct ui_token *t, void *arg)
{
	struct plain *p = arg;

	switch (t->kind) {
	case UI_TOKEN_TEXT:
		text(p, t->bytes, t->len);
		break;
	case UI_TOKEN_PREFIX:
		if (p->is_prefix && p->with == PLAIN_AGENT)
			to_agent(p, t->bytes, t->len);
		p->is_prefix = !p->is_prefix;
		break;
	case UI_TOKEN_PASTE_BEGIN:
	case UI_TOKEN_PASTE:
	case UI_TOKEN_PASTE_END:
		paste(p, t);
		break;
	case UI_TOKEN_KEY:
		if (!agent_has_keys(p)) {
			key(p, t->key);
			break;
		}
		to_agent(p, t->bytes, t->len);
		break;
	case UI_TOKEN_MOUSE:
	case UI_TOKEN_FOCUS:
		if (agent_has_keys(p))
			to_agent(p, t->bytes, t->len);
		break;
	case UI_TOKEN_REPLY:
	default:
		break;
	}
}

void plain_input(struct plain *p, const void *bytes, size_t len, int64_t now_ms)
{
	p->now_ms = now_ms;
	p->before_ms = p->key_ms;
	p->key_ms = now_ms;
	p->n_inputs++;
	p->n_keys = 0;
	ui_input_feed(&p->input, bytes, len, on_token, p);
}

void plain_input_timeout(struct plain *p, int64_t now_ms)
{
	p->now_ms = now_ms;
	p->before_ms = p->key_ms;
	p->key_ms = now_ms;
	p->n_inputs++;
	p->n_keys = 0;
	ui_input_timeout(&p->input, on_token, p);
}

/* -- life ---------------------------------------------------------------------------------------- */

void plain_resize(struct plain *p, int cols)
{
	p->cols = cols;
}

void plain_init(struct plain *p, struct mdl_session *model, const struct ui_host *host,
		const struct plain_config *config, const struct plain_effects *effects, int cols,
		int64_t now_ms)
{
	*p = (struct plain){.model = model,
			    .host = *host,
			    .config = *config,
			    .effects = *effects,
			    .cols = cols,
			    .now_ms = now_ms,
			    .key_ms = now_ms,
			    .is_at_start = true};
	zw_buf_init(&p->held, HELD_MAX_B);
	zw_buf_init(&p->shown, SHOWN_MAX_B);
	plain_say(p, "zwatch: plain mode on (from %s). Say \"zwatch help plain\" for more.",
		  config->why);
}

void plain_fini(struct plain *p)
{
	zw_buf_fini(&p->held);
	zw_buf_fini(&p->shown);
}
