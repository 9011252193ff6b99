/* SPDX-License-Identifier: MIT */
#include "src/base/words.h"

static const struct {
	const char *word;
	int set_first;
} rows[] = {
#define ZW_WORD(set, name, text) {text, ZW_FIRST_##set},
#include "src/base/words.def"
#undef ZW_WORD
};

static const char *word_of(int first, unsigned value)
{
	if (value >= (unsigned)(ZW_ROW_MAX - first) || rows[first + (int)value].set_first != first)
		return "?";
	return rows[first + (int)value].word;
}

const char *zw_did_word(unsigned value)
{
	return word_of(ZW_FIRST_DID, value);
}

const char *zw_op_word(unsigned value)
{
	return word_of(ZW_FIRST_OP, value);
}

const char *zw_by_word(unsigned value)
{
	return word_of(ZW_FIRST_BY, value);
}

const char *zw_via_word(unsigned value)
{
	return word_of(ZW_FIRST_VIA, value);
}

const char *zw_note_kind_word(unsigned value)
{
	return word_of(ZW_FIRST_NOTE_KIND, value);
}

const char *zw_scope_word(unsigned value)
{
	return word_of(ZW_FIRST_SCOPE, value);
}

const char *zw_res_status_word(unsigned value)
{
	return word_of(ZW_FIRST_RES_STATUS, value);
}

const char *zw_risk_word(unsigned value)
{
	return word_of(ZW_FIRST_RISK, value);
}

const char *zw_mode_word(unsigned value)
{
	return word_of(ZW_FIRST_MODE, value);
}
