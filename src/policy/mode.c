/* SPDX-License-Identifier: MIT */
#include "src/policy/policy.h"

#include <assert.h>
#include <strings.h>

#include "src/base/err.h"
#include "src/base/words.h"

static_assert((int)POL_MODE_WATCH == ZW_MODE_WATCH && (int)POL_MODE_GUARD == ZW_MODE_GUARD &&
		      (int)POL_MODE_STRICT == ZW_MODE_STRICT,
	      "the words of modes stand in their order");
static_assert((int)POL_RISK_HARMLESS == ZW_RISK_HARMLESS && (int)POL_RISK_LOW == ZW_RISK_LOW &&
		      (int)POL_RISK_HIGH == ZW_RISK_HIGH &&
		      (int)POL_RISK_CRITICAL == ZW_RISK_CRITICAL,
	      "the words of risks stand in their order");

const char *pol_layer_word(enum pol_layer l)
{
	static const char *const words[POL_LAYER_MAX] = {
		[POL_LAYER_BUILTIN] = "built in", [POL_LAYER_MANAGED] = "managed",
		[POL_LAYER_SYSTEM] = "system",	  [POL_LAYER_USER] = "user",
		[POL_LAYER_PROJECT] = "project",  [POL_LAYER_WISH] = "wish",
		[POL_LAYER_OPTION] = "option",	  [POL_LAYER_ANSWER] = "answer",
	};

	return words[l];
}

const char *pol_mode_word(enum pol_mode m)
{
	return zw_mode_word(m);
}

const char *pol_risk_word(enum pol_risk r)
{
	return zw_risk_word(r);
}

int pol_mode_parse(const char *s, enum pol_mode *ret)
{
	for (unsigned m = 0; m < POL_MODE_MAX; m++) {
		if (strcasecmp(zw_mode_word(m), s) == 0) {
			*ret = (enum pol_mode)m;
			return 0;
		}
	}
	return ZW_E_SYNTAX;
}

int pol_risk_parse(const char *s, enum pol_risk *ret)
{
	for (unsigned r = 0; r < POL_RISK_MAX; r++) {
		if (strcasecmp(zw_risk_word(r), s) == 0) {
			*ret = (enum pol_risk)r;
			return 0;
		}
	}
	return ZW_E_SYNTAX;
}
