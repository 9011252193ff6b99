/* SPDX-License-Identifier: MIT */
#include "src/config/danger.h"

#include <string.h>
#include <strings.h>

#include "src/base/mem.h"
#include "src/base/vis.h"

#define SHOWN_MAX 4096u

enum cfg_danger_step cfg_danger_decide(const struct cfg_danger_case *c)
{
	if (c->is_denied)
		return CFG_DANGER_REFUSE;
	if (!c->is_listed)
		return CFG_DANGER_RULES;
	if (c->has_terminal)
		return c->has_flag ? CFG_DANGER_WARN_OPEN : CFG_DANGER_ASK;
	return c->has_flag ? CFG_DANGER_OPEN : CFG_DANGER_STOP;
}

enum pol_verdict cfg_danger_fallback(enum pol_mode mode, bool has_terminal)
{
	return mode == POL_MODE_STRICT || !has_terminal ? POL_DENY : POL_ASK;
}

bool cfg_danger_class(const struct cfg_class *c)
{
	return c->c.treat == POL_TREAT_BY_RISK &&
	       (c->c.risk == POL_RISK_HIGH || c->c.risk == POL_RISK_CRITICAL);
}

char *cfg_danger_warning(const struct cfg_class *c, const char *listed, const char *real_path,
			 const char *origin)
{
	zw_autofree char *shown = zw_vis_dup(listed, strlen(listed), SHOWN_MAX);
	zw_autofree char *real = zw_vis_dup(real_path, strlen(real_path), SHOWN_MAX);
	zw_autofree char *from = zw_vis_dup(origin, strlen(origin), SHOWN_MAX);
	bool is_other = real[0] != '\0' && strcmp(real, shown) != 0;

	return zw_xasprintf(
		"  Security Warning: %s%s%s%s grants %s.\n"
		"  Through it the agent can %s. The sandbox cannot protect against that.\n"
		"  listed in %s\n",
		shown, is_other ? " (real path " : "", is_other ? real : "", is_other ? ")" : "",
		c->grants, c->through, from);
}

const char *cfg_danger_question(void)
{
	return "  Are you sure? [y/N] ";
}

bool cfg_danger_is_yes(const char *line)
{
	static const char blanks[] = " \t\r\n";

	line += strspn(line, blanks);
	size_t len = strcspn(line, blanks);
	if (line[len + strspn(line + len, blanks)] != '\0')
		return false;
	return (len == 1 && strncasecmp(line, "y", 1) == 0) ||
	       (len == 3 && strncasecmp(line, "yes", 3) == 0);
}
