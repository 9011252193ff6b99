/* SPDX-License-Identifier: MIT
 * Rules. The first line is a pattern, the second a host. Invariants: check and add agree; a bad
 * pattern has a reason; a deny always wins; an allow never opens more than its pattern says. */
#include <assert.h>

#include "src/base/mem.h"
#include "src/policy/pattern.h"
#include "src/policy/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the pattern means, said a second time and slowly. */
static bool matches(const struct pol_site_pattern *p, const struct pol_host *h)
{
	size_t n = strlen(p->name), len = strlen(h->name);

	switch (p->type) {
	case POL_PATTERN_NAME:
		return h->addr.family == POL_FAMILY_NONE && strcmp(p->name, h->name) == 0;
	case POL_PATTERN_SUBDOMAINS:
		return h->addr.family == POL_FAMILY_NONE && len > n + 1 &&
		       h->name[len - n - 1] == '.' && strcmp(h->name + len - n, p->name) == 0;
	case POL_PATTERN_ANY_HOST:
		return h->addr.family == POL_FAMILY_NONE && !pol_host_is_localhost(h);
	case POL_PATTERN_NET:
		return pol_addr_in(&h->addr, &p->net, p->bits);
	}
	return false;
}

static bool port_matches(const struct pol_site_pattern *p, uint16_t port)
{
	return p->port != 0 ? p->port == port : port == 80 || port == 443;
}

static void check_site(struct policy *p, struct pol_rule *rule, const char *host)
{
	static const uint16_t ports[] = {1, 22, 80, 443, 8080, 65535};
	struct pol_site_pattern pattern;
	struct pol_host h;

	if (pol_host_parse(host, strlen(host), &h) < 0)
		return;
	assert(pol_site_pattern_parse(rule->pattern, strlen(rule->pattern), &pattern, NULL) == 0);
	for (size_t i = 0; i < ZW_N_ELEMENTS(ports); i++) {
		struct pol_decision d;

		pol_decide_site(p, &h, ports[i], "/bin/x", &d);
		assert(d.origin != NULL && d.reason != NULL);
		if (!pol_host_is_localhost(&h))
			assert((d.verdict == POL_ALLOW) ==
			       (matches(&pattern, &h) && port_matches(&pattern, ports[i])));
	}
	rule->action = POL_ACTION_DENY;
	assert(pol_rule_add(p, rule) == 0);
	for (size_t i = 0; i < ZW_N_ELEMENTS(ports); i++) {
		struct pol_decision d;

		pol_decide_site(p, &h, ports[i], "/bin/x", &d);
		assert(d.verdict != POL_ALLOW);
	}
}

static void check_socket(struct policy *p, const struct pol_rule *rule, const char *path)
{
	struct pol_socket s = {.path = path, .path_len = strlen(path), .program = ""};
	struct pol_decision d;
	size_t len = s.path_len, rule_len = strlen(rule->pattern);
	const char *a = pol_path_canonical(path, &len);
	const char *b = pol_path_canonical(rule->pattern, &rule_len);

	pol_decide_socket(p, &s, &d, NULL);
	assert((d.verdict == POL_ALLOW) ==
	       (b[0] == '/' && len == rule_len && memcmp(a, b, len) == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nl = size > 0 ? memchr(data, '\n', size) : NULL;
	size_t n = nl != NULL ? (size_t)(nl - data) : size;
	zw_autofree char *pattern = zw_xmemdup0(data, n);
	zw_autofree char *target =
		zw_xmemdup0(nl != NULL ? nl + 1 : data, nl != NULL ? size - n - 1 : 0);

	for (unsigned kind = 0; kind < POL_KIND_MAX; kind++) {
		struct pol_rule rule = {.id = 1,
					.kind = (enum pol_kind)kind,
					.action = POL_ACTION_ALLOW,
					.layer = POL_LAYER_USER,
					.pattern = pattern};
		struct policy *p = pol_new();
		const char *why = NULL;
		int r = pol_rule_check(&rule, &why);

		assert((r < 0) == (why != NULL));
		assert(pol_rule_add(p, &rule) == r);
		if (r == 0 && kind == POL_KIND_SITE)
			check_site(p, &rule, target);
		else if (r == 0)
			check_socket(p, &rule, target);
		pol_private_add(p, pattern);
		assert((pol_rule_remove(p, 1) > 0) == (r == 0));
		pol_free(p);
	}
	return 0;
}
