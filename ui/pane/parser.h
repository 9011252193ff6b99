/* SPDX-License-Identifier: MIT
 * Splits what a program prints into text, controls, sequences and strings.
 *
 * The state machine is the public one of DEC's and ANSI's terminals (ECMA-48; vt100.net "A parser
 * for DEC's ANSI-compatible video terminals") with UTF-8 text, colons between parameters, and BEL
 * as a second end of OSC. Every byte is safe in every state: parameters are counted and clamped,
 * strings bounded, and CAN, SUB, ESC or sheer length end whatever was begun. No I/O, and no knowledge of what
 * sequences mean: that is behind struct pane_parser_ops. */
#ifndef ZW_UI_PANE_PARSER_H
#define ZW_UI_PANE_PARSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buf.h"

#define PANE_PARAMS_MAX	       32
#define PANE_PARAM_MAX	       65535
#define PANE_INTERMEDIATES_MAX 2
#define PANE_STRING_MAX	       (64u << 10) /* bytes of an OSC or DCS; longer ones are discarded */
#define PANE_STRING_LOST       (8u << 20)  /* behind so many nobody ends the string any more */

enum pane_parser_state {
	PANE_PS_GROUND,
	PANE_PS_ESCAPE,
	PANE_PS_ESCAPE_INTERMEDIATE,
	PANE_PS_CSI_ENTRY,
	PANE_PS_CSI_PARAM,
	PANE_PS_CSI_INTERMEDIATE,
	PANE_PS_CSI_IGNORE,
	PANE_PS_DCS_ENTRY,
	PANE_PS_DCS_PARAM,
	PANE_PS_DCS_INTERMEDIATE,
	PANE_PS_DCS_PASSTHROUGH,
	PANE_PS_DCS_IGNORE,
	PANE_PS_OSC_STRING,
	PANE_PS_IGNORED_STRING, /* SOS, PM, APC */
};

/** A control sequence, or the head of a DCS. */
struct pane_seq {
	uint8_t prefix;				      /* '<' '=' '>' '?' or 0 */
	uint8_t intermediate[PANE_INTERMEDIATES_MAX]; /* 0x20 to 0x2f, 0-filled */
	uint8_t n_intermediates;		      /* more than the maximum: not dispatched */
	uint8_t final;
	uint8_t n_params;		 /* at most PANE_PARAMS_MAX; an empty list counts 0 */
	uint16_t param[PANE_PARAMS_MAX]; /* clamped to PANE_PARAM_MAX; left out = 0 */
	uint32_t is_sub;		 /* bit i: a colon stood before param[i] */
};

struct pane_parser_ops {
	/** Printable ASCII, 0x20 to 0x7e; @len > 0. */
	void (*on_ascii)(void *arg, const uint8_t *text, size_t len);
	/** One other character, U+00A0 and above; U+FFFD for what is not UTF-8. */
	void (*on_char)(void *arg, uint32_t cp);
	/** A C0 control that is not part of the syntax. */
	void (*on_control)(void *arg, uint8_t c);
	/** Returns true to stop pane_parser_feed() right behind this sequence. */
	bool (*on_csi)(void *arg, const struct pane_seq *seq);
	void (*on_esc)(void *arg, const struct pane_seq *seq);
	/** A whole OSC; @data is not terminated, may hold any byte but C0 and lives for the call. */
	void (*on_osc)(void *arg, const uint8_t *data, size_t len, bool ended_by_bel);
	void (*on_dcs)(void *arg, const struct pane_seq *seq, const uint8_t *data, size_t len);
};

struct pane_parser {
	enum pane_parser_state state;
	const struct pane_parser_ops *ops; /* borrowed */
	void *arg;
	struct pane_seq seq;
	bool has_digit;		       /* the parameter at seq.param[n_params - 1] was begun */
	bool too_many;		       /* parameters or intermediates beyond the maximum */
	bool string_end;	       /* ESC came in a string: a backslash completes it */
	bool too_long;		       /* the string went over its maximum */
	size_t string_len;	       /* of all of it */
	unsigned n_strings;	       /* begun so far: tells one from the next */
	enum pane_parser_state string; /* which string `string_end` is about */
	struct zw_buf data;	       /* of the string */
	uint8_t utf8[4];	       /* a character cut off by the end of a read */
	uint8_t utf8_len;
};

void pane_parser_init(struct pane_parser *p, const struct pane_parser_ops *ops, void *arg);
void pane_parser_fini(struct pane_parser *p);
/** Back to ground; a begun sequence or string is forgotten. */
void pane_parser_reset(struct pane_parser *p);

/** Whether a string was begun and not ended: what comes is not shown. */
static inline bool pane_parser_in_string(const struct pane_parser *p)
{
	return p->state >= PANE_PS_DCS_ENTRY;
}

/** Feeds bytes. Returns how many were taken: @len, or fewer when on_csi asked to stop. */
size_t pane_parser_feed(struct pane_parser *p, const uint8_t *bytes, size_t len);

#endif
