/* SPDX-License-Identifier: MIT
 * The vocabulary of events, one table (words.def) for code, store, JSON and screen. */
#ifndef ZW_BASE_WORDS_H
#define ZW_BASE_WORDS_H

/* The values of a set count from 0: its rows stand together in the table, and the first one's place
 * is taken off. */
#define ZW_WORD(set, name, word) ZW_ROW_##set##_##name,
enum zw_word_row {
#include "src/base/words.def"
	ZW_ROW_MAX
};
#undef ZW_WORD

#define ZW_WORD(set, name, word) ZW_##set##_##name = ZW_ROW_##set##_##name - ZW_FIRST_##set,
#define ZW_FIRST_DID		 ZW_ROW_DID_ALLOW
#define ZW_FIRST_OP		 ZW_ROW_OP_CONNECT
#define ZW_FIRST_BY		 ZW_ROW_BY_USER
#define ZW_FIRST_VIA		 ZW_ROW_VIA_CONNECT
#define ZW_FIRST_NOTE_KIND	 ZW_ROW_NOTE_KIND_BELL
#define ZW_FIRST_SCOPE		 ZW_ROW_SCOPE_ONCE
#define ZW_FIRST_RES_STATUS	 ZW_ROW_RES_STATUS_OK
#define ZW_FIRST_RISK		 ZW_ROW_RISK_HARMLESS
#define ZW_FIRST_MODE		 ZW_ROW_MODE_WATCH

enum zw_word_value {
#include "src/base/words.def"
};
#undef ZW_WORD

/** Word of a value of one set; "?" when out of range, so that hostile numbers are harmless. */
const char *zw_did_word(unsigned value);
const char *zw_op_word(unsigned value);
const char *zw_by_word(unsigned value);
const char *zw_via_word(unsigned value);
const char *zw_note_kind_word(unsigned value);
const char *zw_scope_word(unsigned value);
const char *zw_res_status_word(unsigned value);
const char *zw_risk_word(unsigned value);
const char *zw_mode_word(unsigned value);

#endif
