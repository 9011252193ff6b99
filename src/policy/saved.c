/* SPDX-License-Identifier: MIT */
#include "src/policy/saved.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/policy/pattern.h"

#define HASH_LEN 64

/* All strings of a rule, for the functions that treat them alike. */
#define STRINGS(r)                                                                                \
	{                                                                                         \
		&(r)->target, &(r)->program, &(r)->program_hash, &(r)->script, &(r)->script_hash, \
			&(r)->project, &(r)->listener_exe, &(r)->note                             \
	}

void pol_saved_init(struct pol_saved *r)
{
	char **const s[] = STRINGS(r);

	*r = (struct pol_saved){.kind = POL_KIND_SITE, .risk = POL_RISK_LOW};
	for (size_t i = 0; i < ZW_N_ELEMENTS(s); i++)
		*s[i] = zw_xstrdup("");
}

void pol_saved_fini(struct pol_saved *r)
{
	char **const s[] = STRINGS(r);

	for (size_t i = 0; i < ZW_N_ELEMENTS(s); i++)
		free(zw_steal(s[i]));
}

void pol_saved_copy(struct pol_saved *to, const struct pol_saved *from)
{
	*to = *from;
	char **const s[] = STRINGS(to);

	for (size_t i = 0; i < ZW_N_ELEMENTS(s); i++)
		*s[i] = zw_xstrdup(*s[i]);
}

/* -- how far a rule fits ------------------------------------------------------------------------ */

static bool host_is_meant(const struct pol_site_pattern *p, const struct pol_host *h)
{
	size_t n = strlen(h->name), m = strlen(p->name);

	switch (p->type) {
	case POL_PATTERN_NAME:
		return h->addr.family == POL_FAMILY_NONE && strcmp(h->name, p->name) == 0;
	case POL_PATTERN_SUBDOMAINS:
		return h->addr.family == POL_FAMILY_NONE && n > m + 1 &&
		       h->name[n - m - 1] == '.' && strcmp(h->name + n - m, p->name) == 0;
	case POL_PATTERN_ANY_HOST:
		return h->addr.family == POL_FAMILY_NONE;
	case POL_PATTERN_NET:
		return h->addr.family == p->net.family && pol_addr_in(&h->addr, &p->net, p->bits);
	}
	return false;
}

static enum pol_fit site_fit(const struct pol_saved *r, const struct pol_try *t)
{
	struct pol_site_pattern p;

	if (t->host == NULL || pol_site_pattern_parse(r->target, strlen(r->target), &p, NULL) < 0 ||
	    !host_is_meant(&p, t->host))
		return POL_FIT_OTHER;
	if (p.port != 0)
		return p.port == t->port ? POL_FIT_YES : POL_FIT_PORT;
	/* As pol_rule_add() has it: an allow without a port is for the web's two, a deny for all. */
	if (r->action == POL_ACTION_DENY || t->port == 80 || t->port == 443)
		return POL_FIT_YES;
	return POL_FIT_PORT;
}

static enum pol_fit target_fit(const struct pol_saved *r, const struct pol_try *t)
{
	size_t n, m;

	if (r->kind != t->kind || r->is_publish != (t->publish != NULL))
		return POL_FIT_OTHER;
	if (r->is_publish)
		return strcmp(r->target, t->publish) == 0 ? POL_FIT_YES : POL_FIT_OTHER;
	if (r->kind == POL_KIND_SITE)
		return site_fit(r, t);
	if (t->socket == NULL)
		return POL_FIT_OTHER;
	n = strlen(r->target);
	m = strlen(t->socket);
	const char *a = pol_path_canonical(r->target, &n), *b = pol_path_canonical(t->socket, &m);
	return n == m && memcmp(a, b, n) == 0 ? POL_FIT_YES : POL_FIT_OTHER;
}

static bool is_listener(const struct pol_saved *r, const struct pol_try *t)
{
	if (!r->has_listener || t->is_past)
		return true;
	if (r->listener_uid != t->listener_uid)
		return false;
	/* An unprivileged zwatch is not told which program of another user's it is. */
	return *r->listener_exe == '\0' || t->listener_exe == NULL || *t->listener_exe == '\0' ||
	       strcmp(r->listener_exe, t->listener_exe) == 0;
}

enum pol_fit pol_saved_time(const struct pol_saved *r, int64_t now_s, int64_t seen_s)
{
	if (r->until_s == 0)
		return POL_FIT_YES;
	if (now_s + POL_CLOCK_SLACK_S < r->made_s || now_s + POL_CLOCK_SLACK_S < seen_s)
		return POL_FIT_CLOCK;
	return now_s < r->until_s ? POL_FIT_YES : POL_FIT_OVER;
}

static enum pol_fit hash_fit(const char *want, const char *is, enum pol_fit otherwise)
{
	if (*want == '\0')
		return POL_FIT_YES;
	if (is == NULL)
		return POL_FIT_NEEDS_HASH;
	return strcmp(want, is) == 0 ? POL_FIT_YES : otherwise;
}

/* A deny for a program holds whatever has become of the program. */
static enum pol_fit hashes_fit(const struct pol_saved *r, const struct pol_try *t)
{
	if (r->action == POL_ACTION_DENY || t->is_past)
		return POL_FIT_YES;
	enum pol_fit program = hash_fit(r->program_hash, t->program_hash, POL_FIT_PROGRAM_CHANGED);
	enum pol_fit script = hash_fit(r->script_hash, t->script_hash, POL_FIT_SCRIPT_CHANGED);

	if (program == POL_FIT_PROGRAM_CHANGED || script == POL_FIT_YES)
		return program;
	return script;
}

enum pol_fit pol_saved_fit(const struct pol_saved *r, const struct pol_try *t)
{
	const char *program = t->program != NULL ? t->program : "";
	const char *script = t->script != NULL ? t->script : "";
	enum pol_fit fit = target_fit(r, t);

	if (fit != POL_FIT_YES)
		return fit;
	if (*r->project != '\0' && strcmp(r->project, t->project) != 0)
		return POL_FIT_PROJECT;
	if (*r->program != '\0' && strcmp(r->program, program) != 0)
		return POL_FIT_PROGRAM;
	if (*r->script != '\0' && strcmp(r->script, script) != 0 && !t->is_past)
		return POL_FIT_SCRIPT;
	if (!is_listener(r, t))
		return POL_FIT_LISTENER;
	if (r->action == POL_ACTION_ALLOW && t->risk > r->risk)
		return POL_FIT_RISK;
	fit = t->is_past ? POL_FIT_YES : pol_saved_time(r, t->now_s, t->seen_s);
	return fit == POL_FIT_YES ? hashes_fit(r, t) : fit;
}

/* -- why it did not ----------------------------------------------------------------------------- */

static void date_text(int64_t t_s, char *out, size_t size)
{
	time_t t = (time_t)t_s;
	struct tm tm;

	if (localtime_r(&t, &tm) == NULL || strftime(out, size, "%Y-%m-%d %H:%M", &tm) == 0)
		zw_strlcpy(out, "?", size);
}

static char *because(const struct pol_saved *r, const char *fmt, const char *want, const char *is)
{
	zw_autofree char *text = NULL;

	if (strcmp(fmt, "for") == 0)
		text = zw_xasprintf("it is for %s, this is %s", want, is);
	else
		text = zw_xasprintf("%s%s", fmt, want);
	return zw_xasprintf("Rule %u did not apply: %s.", r->id, text);
}

static char *why_port(const struct pol_saved *r, const struct pol_try *t)
{
	zw_autofree char *is = zw_xasprintf("port %u", t->port);
	struct pol_site_pattern p = {.port = 0};

	(void)pol_site_pattern_parse(r->target, strlen(r->target), &p, NULL);
	zw_autofree char *want =
		p.port != 0 ? zw_xasprintf("port %u", p.port) : zw_xstrdup("ports 80 and 443");
	return because(r, "for", want, is);
}

/* Two programs of the same name differ in their folder. */
static char *why_path(const struct pol_saved *r, const char *want, const char *is)
{
	bool is_same_name = strcmp(zw_basename(want), zw_basename(is)) == 0;

	if (*is == '\0')
		return because(r, "for", is_same_name ? want : zw_basename(want),
			       "not known to be it");
	return because(r, "for", is_same_name ? want : zw_basename(want),
		       is_same_name ? is : zw_basename(is));
}

char *pol_saved_why_not(const struct pol_saved *r, const struct pol_try *t)
{
	enum pol_fit fit = pol_saved_fit(r, t);
	const char *program = t->program != NULL ? t->program : "";
	const char *script = t->script != NULL ? t->script : "";
	char date[32];

	switch (fit) {
	case POL_FIT_PORT:
		return why_port(r, t);
	case POL_FIT_PROJECT:
		return because(r, "for", r->project, t->project);
	case POL_FIT_PROGRAM:
		return why_path(r, r->program, program);
	case POL_FIT_SCRIPT:
		return *script == '\0' ? because(r, "it is for the script ", r->script, "")
				       : why_path(r, r->script, script);
	case POL_FIT_LISTENER:
		return because(r, "somebody else answers there now, ",
			       "not who did when you agreed", "");
	case POL_FIT_RISK:
		return because(r, "you agreed when this counted as ", pol_risk_word(r->risk), "");
	case POL_FIT_OVER:
		date_text(r->until_s, date, sizeof(date));
		return because(r, "it ended at ", date, "");
	case POL_FIT_CLOCK:
		date_text(t->seen_s > r->made_s ? t->seen_s : r->made_s, date, sizeof(date));
		return because(r, "the clock has been turned back, it was once later than ", date,
			       "");
	case POL_FIT_PROGRAM_CHANGED:
		return because(r, zw_basename(r->program),
			       " is not the same file as when you agreed", "");
	case POL_FIT_SCRIPT_CHANGED:
		return because(r, zw_basename(r->script),
			       " is not the same file as when you agreed", "");
	case POL_FIT_NEEDS_HASH:
		return because(r, zw_basename(r->program), " could not be read to compare it", "");
	case POL_FIT_OTHER:
	case POL_FIT_YES:
	default:
		return NULL;
	}
}

/* -- as a rule of the policy -------------------------------------------------------------------- */

bool pol_saved_is_plain(const struct pol_saved *r)
{
	return r->action == POL_ACTION_DENY || (*r->program == '\0' && !r->has_listener);
}

void pol_saved_rule(const struct pol_saved *r, const char *origin, struct pol_rule *ret)
{
	*ret = (struct pol_rule){.id = r->id,
				 .kind = r->kind,
				 .action = r->action,
				 .layer = POL_LAYER_ANSWER,
				 .flags = pol_saved_is_plain(r) ? POL_RULE_DANGEROUS_OK
								: POL_RULE_LOOK,
				 .pattern = r->target,
				 .program = r->program,
				 .origin = origin,
				 .reason = r->note};
}

static bool is_hash(const char *s)
{
	return strlen(s) == HASH_LEN && strspn(s, "0123456789abcdef") == HASH_LEN;
}

static int refuse(const char **ret_why, const char *why)
{
	*ret_why = why;
	return ZW_E_SYNTAX;
}

void pol_saved_set_site(struct pol_saved *r, const char *target)
{
	free(r->target);
	r->target = zw_xstrdup(target);
	r->kind = POL_KIND_SITE;
	r->is_publish = zw_starts_with(target, POL_PUBLISH);
}

static int check_publish(const struct pol_saved *r, const char **ret_why)
{
	const char *port = r->target + strlen(POL_PUBLISH);
	uint64_t number;

	if (zw_parse_u64(port, strlen(port), 65535, &number) < 0 || number == 0)
		return refuse(ret_why, "publish: is followed by a port");
	return r->has_listener ? refuse(ret_why, "a server inside has no listener outside") : 0;
}

static int check_site(const struct pol_saved *r, const char **ret_why)
{
	struct pol_site_pattern p;

	if (pol_site_pattern_parse(r->target, strlen(r->target), &p, ret_why) < 0)
		return ZW_E_SYNTAX;
	if (p.type == POL_PATTERN_NET && *r->program != '\0' && r->action == POL_ACTION_ALLOW)
		return refuse(ret_why, "an allow for an address is for any program");
	if (r->has_listener)
		return refuse(ret_why, "a site has no listener");
	return 0;
}

static int check_target(const struct pol_saved *r, const char **ret_why)
{
	struct pol_rule rule;

	if (r->is_publish)
		return check_publish(r, ret_why);
	if (r->kind == POL_KIND_SITE && check_site(r, ret_why) < 0)
		return ZW_E_SYNTAX;
	pol_saved_rule(r, "", &rule);
	return pol_rule_check(&rule, ret_why);
}

int pol_saved_check(const struct pol_saved *r, const char **ret_why)
{
	const char *paths[] = {r->program, r->script, r->project};

	if (r->id == 0)
		return refuse(ret_why, "a rule has a number, from 1");
	if (check_target(r, ret_why) < 0)
		return ZW_E_SYNTAX;
	for (size_t i = 0; i < ZW_N_ELEMENTS(paths); i++)
		if (*paths[i] != '\0' && *paths[i] != '/')
			return refuse(ret_why, "program, script and project are whole paths");
	if ((*r->program_hash != '\0' && !is_hash(r->program_hash)) ||
	    (*r->script_hash != '\0' && !is_hash(r->script_hash)))
		return refuse(ret_why, "a hash is 64 hex digits");
	if (*r->program == '\0' && (*r->program_hash != '\0' || *r->script != '\0'))
		return refuse(ret_why, "hash and script belong to a program");
	if (r->action == POL_ACTION_DENY && *r->script != '\0')
		return refuse(ret_why, "a deny is for a whole program, not for one script of it");
	if (r->action == POL_ACTION_ALLOW && *r->program != '\0' && *r->program_hash == '\0')
		return refuse(ret_why, "an allow for a program needs the program's hash");
	if (*r->script != '\0' && *r->script_hash == '\0')
		return refuse(ret_why, "an allow for a script needs the script's hash");
	if (r->until_s != 0 && r->until_s <= r->made_s)
		return refuse(ret_why, "it would end before it was made");
	return 0;
}

int pol_target_site(const char *target, struct pol_host *ret_host, uint16_t *ret_port)
{
	const char *colon = strrchr(target, ':');
	uint64_t port;

	if (colon == NULL || zw_parse_u64(colon + 1, strlen(colon + 1), 65535, &port) < 0)
		return ZW_E_SYNTAX;
	size_t len = (size_t)(colon - target);
	if (len > 2 && target[0] == '[' && target[len - 1] == ']') {
		target++;
		len -= 2;
	}
	*ret_port = (uint16_t)port;
	return pol_host_parse(target, len, ret_host) < 0 ? ZW_E_SYNTAX : 0;
}

const char *pol_until_word(enum pol_until u)
{
	static const char *const words[POL_UNTIL_MAX] = {"1 hour", "today", "7 days", "no end"};

	return words[u];
}

int64_t pol_until_end(enum pol_until u, int64_t now_s)
{
	time_t t = (time_t)now_s;
	struct tm tm;

	switch (u) {
	case POL_UNTIL_HOUR:
		return now_s + 3600;
	case POL_UNTIL_WEEK:
		return now_s + 7 * 24 * 3600;
	case POL_UNTIL_TODAY:
		if (localtime_r(&t, &tm) == NULL)
			return now_s + 3600;
		tm.tm_hour = 24;
		tm.tm_min = tm.tm_sec = 0;
		tm.tm_isdst = -1;
		t = mktime(&tm);
		return t > now_s + 3600 ? (int64_t)t : now_s + 3600;
	case POL_UNTIL_NO_END:
	case POL_UNTIL_MAX:
	default:
		return 0;
	}
}

bool pol_site_below(const struct pol_host *host, char *out, size_t size)
{
	const char *dot = strchr(host->name, '.');
	const char *rest = dot != NULL ? dot + 1 : "", *second = strchr(rest, '.');

	if (host->addr.family != POL_FAMILY_NONE || second == NULL)
		return false;
	bool is_country = strlen(second + 1) == 2;
	if (strchr(second + 1, '.') == NULL && is_country && second - rest <= 3)
		return false;
	return snprintf(out, size, "*.%s", rest) < (int)size;
}
