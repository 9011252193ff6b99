/* SPDX-License-Identifier: MIT
 * What comes from the user's keyboard: raw bytes of the terminal, cut into tokens.
 *
 * It looks only for what concerns zwatch: the prefix key, mouse reports, focus, pastes, answers to
 * zwatch's own probes; and it names keys for zwatch's own screens. Every byte comes out in exactly
 * one token and in order, so the agent can be given what it would have got without zwatch.
 * Nothing inside a paste is a key. Pure: no I/O, no clock, any bytes in any pieces are safe. */
#ifndef ZW_UI_INPUT_H
#define ZW_UI_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Keys that are no character; behind Unicode. */
enum ui_key_code {
	UI_KEY_NONE = 0, /* a sequence without a name here */
	UI_KEY_FIRST = 0x110000,
	UI_KEY_ENTER,
	UI_KEY_TAB,
	UI_KEY_BACKTAB,
	UI_KEY_ESC,
	UI_KEY_BACKSPACE,
	UI_KEY_DELETE,
	UI_KEY_UP,
	UI_KEY_DOWN,
	UI_KEY_LEFT,
	UI_KEY_RIGHT,
	UI_KEY_HOME,
	UI_KEY_END,
	UI_KEY_PGUP,
	UI_KEY_PGDN,
	UI_KEY_F12,
};

/** In the number of a mouse button. */
enum ui_mouse_bit { UI_MOUSE_SHIFT = 4, UI_MOUSE_MOTION = 32, UI_MOUSE_WHEEL = 64 };

enum ui_key_mod { UI_MOD_SHIFT = 1, UI_MOD_ALT = 2, UI_MOD_CTRL = 4 };

/** A key. Ctrl-D is {'d', UI_MOD_CTRL}, D is {'D', 0}. */
struct ui_key {
	uint32_t code; /* Unicode, or enum ui_key_code */
	uint8_t mods;  /* enum ui_key_mod, or-ed */
};

enum ui_token_kind {
	UI_TOKEN_TEXT,	 /* typed bytes without ESC and prefix: ui_input_text_key() */
	UI_TOKEN_KEY,	 /* a sequence, named by .key */
	UI_TOKEN_PREFIX, /* zwatch's key */
	UI_TOKEN_MOUSE,
	UI_TOKEN_FOCUS,
	UI_TOKEN_PASTE_BEGIN, /* the mark itself */
	UI_TOKEN_PASTE,	      /* bytes of a paste */
	UI_TOKEN_PASTE_END,
	UI_TOKEN_REPLY, /* the terminal's answer to a probe, a key's release, or an end mark inside
			 * a paste: nobody's input */
};

enum ui_reply {
	UI_REPLY_OTHER,
	UI_REPLY_SYNC,
	UI_REPLY_KITTY,
	UI_REPLY_DA1,
	UI_REPLY_FG,
	UI_REPLY_BG,
};

struct ui_token {
	enum ui_token_kind kind;
	const uint8_t *bytes; /* as they came; borrowed during the call */
	size_t len;
	struct ui_key key;
	struct {
		int button, row, col; /* button as xterm codes it; row and col from 0 */
		bool is_release;
	} mouse;
	bool is_in;	    /* FOCUS */
	enum ui_reply what; /* REPLY */
	int value;	    /* SYNC: 1 set, 2 reset, 0 and 4 no; KITTY: flags; FG, BG: 0xrrggbb */
};

#define UI_INPUT_HELD_MAX 64

/** Memory of the caller; all zero is a good start. */
struct ui_input {
	int state;
	uint8_t held[UI_INPUT_HELD_MAX];
	size_t n;
	bool wants_osc; /* the terminal was asked for its colours: ESC ] begins the answer, not Alt-] */
};

/** Feeds bytes; @on_token is called for each token, with spans that live for the call. */
void ui_input_feed(struct ui_input *in, const void *bytes, size_t len,
		   void (*on_token)(const struct ui_token *token, void *arg), void *arg);

/** How long to wait for the rest of a sequence that began, ms; 0 = none began. */
int ui_input_wait_ms(const struct ui_input *in);
/** It did not come: hands out what is held as it is. A lone ESC is the Esc key. */
void ui_input_timeout(struct ui_input *in,
		      void (*on_token)(const struct ui_token *token, void *arg), void *arg);
/** Whether a paste is open. */
bool ui_input_is_pasting(const struct ui_input *in);
/** Its end mark was lost: what is held comes out as paste, what follows is typed again. */
void ui_input_end_paste(struct ui_input *in,
			void (*on_token)(const struct ui_token *token, void *arg), void *arg);

/** The first key of a TEXT token's bytes. Returns the bytes it takes (at least 1 of @len > 0). */
size_t ui_input_text_key(const uint8_t *bytes, size_t len, struct ui_key *ret);

#endif
