/* SPDX-License-Identifier: MIT */
#include "ui/input.h"

#include <string.h>

#include "src/base/prefix.h"
#include "src/base/utf8.h"

#define ESC    0x1b
#define BEL    0x07
#define PARAMS 4
#define SUBS   3

enum state { GROUND, AFTER_ESC, IN_CSI, IN_SS3, IN_X10, IN_PASTE, IN_OSC, STATE_MAX };

typedef void on_token_fn(const struct ui_token *token, void *arg);

/* Who gets the tokens; travels through the functions below. */
struct sink {
	struct ui_input *in;
	on_token_fn *fn;
	void *arg;
};

static void emit(struct sink *s, struct ui_token *t, const void *bytes, size_t len)
{
	t->bytes = bytes;
	t->len = len;
	s->fn(t, s->arg);
}

/* Hands out the held sequence as @t; the state is clean before the callback runs. */
static void emit_held(struct sink *s, struct ui_token t, enum state next)
{
	uint8_t bytes[UI_INPUT_HELD_MAX];
	size_t n = s->in->n;

	memcpy(bytes, s->in->held, n);
	s->in->n = 0;
	s->in->state = next;
	emit(s, &t, bytes, n);
}

static struct ui_token key_token(uint32_t code, unsigned mods)
{
	return (struct ui_token){.kind = UI_TOKEN_KEY, .key = {code, (uint8_t)mods}};
}

/* -- CSI -------------------------------------------------------------------------------------- */

struct csi {
	char mark; /* '<' '?' '>' '=' or 0 */
	char middle;
	char final;
	int n;
	int p[PARAMS][SUBS]; /* -1 = empty */
};

static bool csi_parse(const uint8_t *b, size_t len, struct csi *c)
{
	size_t i = 2;
	int sub = 0;

	*c = (struct csi){.final = (char)b[len - 1], .n = 1};
	memset(c->p, -1, sizeof(c->p));
	if (i < len - 1 && b[i] >= '<' && b[i] <= '?')
		c->mark = (char)b[i++];
	for (; i < len - 1; i++) {
		if (b[i] >= '0' && b[i] <= '9' && c->n <= PARAMS && sub < SUBS) {
			int *v = &c->p[c->n - 1][sub];

			*v = (*v < 0 ? 0 : *v) * 10 + (b[i] - '0');
			if (*v > 0x10ffff)
				return false;
		} else if (b[i] == ';') {
			c->n++;
			sub = 0;
		} else if (b[i] == ':') {
			sub++;
		} else if (b[i] >= 0x20 && b[i] <= 0x2f) {
			c->middle = (char)b[i];
		} else if (b[i] < '0' || b[i] > '9') {
			return false;
		}
	}
	return c->n <= PARAMS;
}

/* Modifiers of a parameter: caps and num lock say nothing. */
static unsigned csi_mods(const struct csi *c)
{
	int m = c->n > 1 && c->p[1][0] > 0 ? c->p[1][0] - 1 : 0;

	return (unsigned)m & (UI_MOD_SHIFT | UI_MOD_ALT | UI_MOD_CTRL | 8 | 16 | 32);
}

static uint32_t code_of(int c)
{
	switch (c) {
	case 9:
		return UI_KEY_TAB;
	case 13:
	case 57414: /* of the keypad, as kitty says it */
		return UI_KEY_ENTER;
	case 27:
		return UI_KEY_ESC;
	case 8:
	case 127:
		return UI_KEY_BACKSPACE;
	default:
		return c > 0 ? (uint32_t)c : UI_KEY_NONE;
	}
}

/* A key told by number: kitty's CSI u and xterm's modifyOtherKeys. */
static struct ui_token numbered_key(int number, const int *alternate, unsigned mods, int event)
{
	struct ui_token t = key_token(code_of(number), mods);
	int shifted = alternate[0];
	/* On another layout the key that it is on a Latin one. */
	int c = number > 0x7f && alternate[1] > 0 ? alternate[1] : number;
	bool is_prefix = c > 0 && ((mods == UI_MOD_CTRL && zw_prefix_is_ctrl((uint32_t)c)) ||
				   (mods == UI_MOD_ALT && zw_prefix_is_alt((uint32_t)c)));

	if (is_prefix)
		t.kind = event > 1 ? UI_TOKEN_REPLY : UI_TOKEN_PREFIX;
	else if (event == 3)
		t.key.code = UI_KEY_NONE;
	if ((mods & UI_MOD_SHIFT) != 0 && t.key.code < UI_KEY_FIRST && t.key.code > ' ') {
		if (shifted > 0)
			t.key.code = (uint32_t)shifted;
		else if (number >= 'a' && number <= 'z')
			t.key.code = (uint32_t)(number - 'a' + 'A');
		t.key.mods &= (uint8_t)~UI_MOD_SHIFT;
	}
	return t;
}

/* F1 to F12 of the number before a tilde; 0 = none. */
static int function_of(int number)
{
	static const uint8_t numbers[] = {11, 12, 13, 14, 15, 17, 18, 19, 20, 21, 23, 24};

	for (size_t i = 0; i < sizeof(numbers); i++)
		if (numbers[i] == number)
			return (int)i + 1;
	return 0;
}

static bool is_function(int n)
{
	return n > 0 && zw_prefix_is_function(n);
}

/* F1 to F4 of the letter that ends ESC O or CSI; 0 = none. */
static int function_of_letter(char letter)
{
	return letter >= 'P' && letter <= 'S' ? letter - 'P' + 1 : 0;
}

static struct ui_token tilde_key(const struct csi *c)
{
	static const uint32_t code[] = {
		[1] = UI_KEY_HOME, [3] = UI_KEY_DELETE, [4] = UI_KEY_END, [5] = UI_KEY_PGUP,
		[6] = UI_KEY_PGDN, [7] = UI_KEY_HOME,	[8] = UI_KEY_END, [24] = UI_KEY_F12,
	};
	int number = c->p[0][0], event = c->p[1][1];
	unsigned mods = csi_mods(c);
	bool is_prefix = mods == 0 && is_function(function_of(number));

	if (number == 27 && c->n == 3)
		return numbered_key(c->p[2][0], (const int[]){0, 0}, mods, 0);
	if (is_prefix)
		return (struct ui_token){.kind = event > 1 ? UI_TOKEN_REPLY : UI_TOKEN_PREFIX};
	if (number < 0 || number >= (int)(sizeof(code) / sizeof(code[0])) || event == 3)
		return key_token(UI_KEY_NONE, mods);
	return key_token(code[number], mods);
}

static uint32_t letter_code(char final)
{
	static const struct {
		char letter;
		uint32_t code;
	} letters[] = {{'A', UI_KEY_UP},    {'B', UI_KEY_DOWN},	  {'C', UI_KEY_RIGHT},
		       {'D', UI_KEY_LEFT},  {'H', UI_KEY_HOME},	  {'F', UI_KEY_END},
		       {'M', UI_KEY_ENTER}, {'Z', UI_KEY_BACKTAB}};

	for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
		if (letters[i].letter == final)
			return letters[i].code;
	return UI_KEY_NONE;
}

static struct ui_token question_reply(const struct csi *c)
{
	struct ui_token t = {.kind = UI_TOKEN_REPLY, .what = UI_REPLY_OTHER};

	if (c->final == 'c')
		t.what = UI_REPLY_DA1;
	else if (c->final == 'u') {
		t.what = UI_REPLY_KITTY;
		t.value = c->p[0][0];
	} else if (c->final == 'y' && c->middle == '$' && c->p[0][0] == 2026) {
		t.what = UI_REPLY_SYNC;
		t.value = c->p[1][0];
	}
	return t;
}

static struct ui_token mouse_token(int button, int col, int row, bool is_release)
{
	struct ui_token t = {.kind = UI_TOKEN_MOUSE};

	t.mouse.button = button;
	t.mouse.col = col > 0 ? col - 1 : 0;
	t.mouse.row = row > 0 ? row - 1 : 0;
	t.mouse.is_release = is_release;
	return t;
}

static struct ui_token csi_token(const struct csi *c)
{
	if (c->mark == '<' && (c->final == 'M' || c->final == 'm') && c->n == 3)
		return mouse_token(c->p[0][0], c->p[1][0], c->p[2][0], c->final == 'm');
	if (c->mark == '?' && (c->final == 'c' || c->final == 'u' || c->final == 'y'))
		return question_reply(c);
	if (c->mark != 0 || c->middle != 0)
		return key_token(UI_KEY_NONE, 0);
	if ((c->final == 'I' || c->final == 'O') && c->n == 1 && c->p[0][0] < 0)
		return (struct ui_token){.kind = UI_TOKEN_FOCUS, .is_in = c->final == 'I'};
	if (c->final == '~' && c->p[0][0] == 200)
		return (struct ui_token){.kind = UI_TOKEN_PASTE_BEGIN};
	if (c->final == '~' && c->p[0][0] == 201)
		return (struct ui_token){.kind = UI_TOKEN_PASTE_END};
	if (c->final == '~')
		return tilde_key(c);
	if (c->final == 'u')
		return numbered_key(c->p[0][0], &c->p[0][1], csi_mods(c), c->p[1][1]);
	/* CSI R is where the cursor stands. */
	if (c->final != 'R' && csi_mods(c) == 0 && is_function(function_of_letter(c->final)))
		return (struct ui_token){.kind = c->p[1][1] > 1 ? UI_TOKEN_REPLY : UI_TOKEN_PREFIX};
	return key_token(c->p[1][1] == 3 ? UI_KEY_NONE : letter_code(c->final), csi_mods(c));
}

static void csi_end(struct sink *s)
{
	struct csi c;
	struct ui_token t = key_token(UI_KEY_NONE, 0);

	if (csi_parse(s->in->held, s->in->n, &c))
		t = csi_token(&c);
	emit_held(s, t, t.kind == UI_TOKEN_PASTE_BEGIN ? IN_PASTE : GROUND);
}

/* -- states ------------------------------------------------------------------------------------ */

static void hold(struct ui_input *in, uint8_t b)
{
	in->held[in->n++] = b;
}

/* Ctrl and a letter, a bracket or a backslash as one byte. */
static bool is_prefix_byte(uint8_t b)
{
	return b > 0 && b < 0x20 && b != ESC &&
	       zw_prefix_is_ctrl(b < 27 ? b + 'a' - 1u : b + (uint32_t)'@');
}

/* A byte that ends what is held without belonging to it: the held bytes go, the byte starts anew. */
static bool interrupts(uint8_t b)
{
	return b == ESC || is_prefix_byte(b);
}

static size_t in_ground(struct sink *s, const uint8_t *b, size_t len)
{
	size_t n = 0;

	while (n < len && !interrupts(b[n]))
		n++;
	if (n > 0) {
		struct ui_token t = {.kind = UI_TOKEN_TEXT};

		emit(s, &t, b, n);
		return n;
	}
	hold(s->in, b[0]);
	if (b[0] != ESC)
		emit_held(s, (struct ui_token){.kind = UI_TOKEN_PREFIX}, GROUND);
	else
		s->in->state = AFTER_ESC;
	return 1;
}

static size_t after_esc(struct sink *s, uint8_t b)
{
	struct ui_key key;

	if (interrupts(b)) {
		emit_held(s, key_token(UI_KEY_ESC, 0), GROUND);
		return 0;
	}
	hold(s->in, b);
	if (b == '[') {
		s->in->state = IN_CSI;
	} else if (b == 'O') {
		s->in->state = IN_SS3;
	} else if (b == ']' && s->in->wants_osc) {
		s->in->state = IN_OSC;
	} else if (zw_prefix_is_alt(b)) {
		emit_held(s, (struct ui_token){.kind = UI_TOKEN_PREFIX}, GROUND);
	} else {
		ui_input_text_key(&b, 1, &key);
		emit_held(s, key_token(key.code, key.mods | (unsigned)UI_MOD_ALT), GROUND);
	}
	return 1;
}

static size_t in_csi(struct sink *s, uint8_t b)
{
	struct ui_input *in = s->in;

	if (interrupts(b)) {
		emit_held(s, key_token(UI_KEY_NONE, 0), GROUND);
		return 0;
	}
	hold(in, b);
	if (b == 'M' && in->n == 3)
		in->state = IN_X10;
	else if (b >= 0x40 && b <= 0x7e)
		csi_end(s);
	else if (b < 0x20 || b > 0x7e || in->n == UI_INPUT_HELD_MAX)
		emit_held(s, key_token(UI_KEY_NONE, 0), GROUND);
	return 1;
}

static size_t in_ss3(struct sink *s, uint8_t b)
{
	if (interrupts(b)) {
		emit_held(s, key_token('O', UI_MOD_ALT), GROUND);
		return 0;
	}
	hold(s->in, b);
	emit_held(s,
		  is_function(function_of_letter((char)b))
			  ? (struct ui_token){.kind = UI_TOKEN_PREFIX}
			  : key_token(letter_code((char)b), 0),
		  GROUND);
	return 1;
}

/* The mouse report of terminals without SGR mode: three bytes, any values. */
static size_t in_x10(struct sink *s, uint8_t b)
{
	struct ui_input *in = s->in;

	hold(in, b);
	if (in->n < 6)
		return 1;
	int button = in->held[3] - 32;
	emit_held(s, mouse_token(button, in->held[4] - 32, in->held[5] - 32, (button & 3) == 3),
		  GROUND);
	return 1;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

/* A channel of rgb:R/G/B with one to four digits; its highest 8 bits. */
static bool channel(const char **p, const char *end, uint32_t *ret)
{
	uint32_t v = 0, max = 0;

	for (; *p < end && max < 0xffff; (*p)++) {
		int digit = hex_digit(**p);

		if (digit < 0)
			break;
		v = v << 4 | (uint32_t)digit;
		max = max << 4 | 15;
	}
	if (max == 0)
		return false;
	*ret = v * 255 / max;
	return true;
}

/* ESC ] 10 ; rgb:R/G/B, or 11: the default colours. */
static struct ui_token colour_reply(const uint8_t *held, size_t n)
{
	struct ui_token t = {.kind = UI_TOKEN_REPLY, .what = UI_REPLY_OTHER};
	const char *p = (const char *)held + 2, *end = (const char *)held + n;
	uint32_t rgb = 0, one;

	if (n < 9 || memcmp(p, "1", 1) != 0 || memcmp(p + 2, ";rgb:", 5) != 0)
		return t;
	enum ui_reply what = p[1] == '0' ? UI_REPLY_FG : p[1] == '1' ? UI_REPLY_BG : UI_REPLY_OTHER;
	p += 7;
	for (int i = 0; i < 3; i++) {
		if (i > 0 && (p == end || *p++ != '/'))
			return t;
		if (!channel(&p, end, &one))
			return t;
		rgb = rgb << 8 | one;
	}
	t.what = what;
	t.value = (int)rgb;
	return t;
}

static size_t in_osc(struct sink *s, uint8_t b)
{
	struct ui_input *in = s->in;
	bool is_after_esc = in->held[in->n - 1] == ESC;

	if ((b < 0x20 && b != BEL && b != ESC) || (is_after_esc && b != '\\') ||
	    in->n == UI_INPUT_HELD_MAX) {
		emit_held(s, key_token(UI_KEY_NONE, 0), GROUND); /* it was a key after all */
		return 0;
	}
	hold(in, b);
	if (b == BEL || is_after_esc)
		emit_held(s, colour_reply(in->held, in->n), GROUND);
	return 1;
}

static const uint8_t paste_end[] = {ESC, '[', '2', '0', '1', '~'};
static const uint8_t paste_begin[] = {ESC, '[', '2', '0', '0', '~'};

/* Whether the same read holds a later end of this paste: then the mark before it was part of what was
 * copied, put there to make the rest look typed. */
static bool ends_later(const uint8_t *b, size_t len)
{
	const uint8_t *end = memmem(b, len, paste_end, sizeof(paste_end));
	const uint8_t *begin = memmem(b, len, paste_begin, sizeof(paste_begin));

	return end != NULL && (begin == NULL || end < begin);
}

/* Only the end mark counts, wherever the pieces part it. */
static size_t in_paste(struct sink *s, const uint8_t *b, size_t len)
{
	const uint8_t *mark = paste_end;
	struct ui_input *in = s->in;
	struct ui_token t = {.kind = UI_TOKEN_PASTE};

	if (in->n == 0) {
		const uint8_t *esc = memchr(b, ESC, len);
		size_t n = esc != NULL ? (size_t)(esc - b) : len;

		if (n > 0) {
			emit(s, &t, b, n);
			return n;
		}
	}
	if (b[0] != mark[in->n]) {
		emit_held(s, t, IN_PASTE);
		return 0;
	}
	hold(in, b[0]);
	if (in->n < sizeof(paste_end))
		return 1;
	if (ends_later(b + 1, len - 1))
		emit_held(s, (struct ui_token){.kind = UI_TOKEN_REPLY}, IN_PASTE);
	else
		emit_held(s, (struct ui_token){.kind = UI_TOKEN_PASTE_END}, GROUND);
	return 1;
}

void ui_input_feed(struct ui_input *in, const void *bytes, size_t len, on_token_fn *on_token,
		   void *arg)
{
	struct sink s = {in, on_token, arg};
	const uint8_t *b = bytes;

	for (size_t n; len > 0; b += n, len -= n) {
		switch ((enum state)in->state) {
		case AFTER_ESC:
			n = after_esc(&s, *b);
			break;
		case IN_CSI:
			n = in_csi(&s, *b);
			break;
		case IN_SS3:
			n = in_ss3(&s, *b);
			break;
		case IN_X10:
			n = in_x10(&s, *b);
			break;
		case IN_PASTE:
			n = in_paste(&s, b, len);
			break;
		case IN_OSC:
			n = in_osc(&s, *b);
			break;
		case GROUND:
		case STATE_MAX:
		default:
			n = in_ground(&s, b, len);
		}
	}
}

int ui_input_wait_ms(const struct ui_input *in)
{
	switch ((enum state)in->state) {
	case AFTER_ESC:
	case IN_SS3:
		return 50; /* a finger on Esc, Alt-O */
	case IN_CSI:
	case IN_X10:
	case IN_OSC:
		return 500; /* nobody types that: the line is slow */
	case GROUND:
	case IN_PASTE: /* an end mark will come; breaking it would leave the paste open for ever */
	case STATE_MAX:
	default:
		return 0;
	}
}

void ui_input_timeout(struct ui_input *in, on_token_fn *on_token, void *arg)
{
	struct sink s = {in, on_token, arg};
	struct ui_token t = key_token(UI_KEY_NONE, 0);

	if (ui_input_wait_ms(in) == 0)
		return;
	if (in->state == AFTER_ESC)
		t.key.code = UI_KEY_ESC;
	else if (in->n == 2)
		t = key_token(in->held[1], UI_MOD_ALT);
	emit_held(&s, t, GROUND);
}

bool ui_input_is_pasting(const struct ui_input *in)
{
	return in->state == IN_PASTE;
}

void ui_input_end_paste(struct ui_input *in, on_token_fn *on_token, void *arg)
{
	struct sink s = {in, on_token, arg};

	if (in->state != IN_PASTE)
		return;
	if (in->n > 0)
		emit_held(&s, (struct ui_token){.kind = UI_TOKEN_PASTE}, GROUND);
	in->state = GROUND;
}

size_t ui_input_text_key(const uint8_t *bytes, size_t len, struct ui_key *ret)
{
	uint32_t cp = UI_KEY_NONE;
	int n = zw_utf8_decode(bytes, len, &cp);

	*ret = (struct ui_key){0};
	if (n < 0)
		return 1;
	if (cp == '\r' || cp == '\t' || cp == ESC || cp == 0x7f || cp == 8)
		ret->code = code_of((int)cp);
	else if (cp == 0)
		*ret = (struct ui_key){' ', UI_MOD_CTRL};
	else if (cp < 0x20)
		*ret = (struct ui_key){cp < 27 ? cp + 'a' - 1 : cp + '@', UI_MOD_CTRL};
	else
		ret->code = cp;
	return (size_t)n;
}
