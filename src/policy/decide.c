/* SPDX-License-Identifier: MIT */
#include "src/policy/resolvers.h"
#include "src/policy/rules.h"

#include "src/base/mem.h"
#include "src/base/words.h"

#define PORT_HTTPS 443

/* What is looked for in the rules about sites. */
struct wanted {
	enum pol_action action;
	uint16_t port; /* 0 = any */
	const char *program;
	bool want_look; /* only allows that zwatch has to look at; else none of these */
};

static bool port_is_meant(const struct pol_entry *e, uint16_t port)
{
	switch (e->ports) {
	case POL_PORTS_ALL:
		return true;
	case POL_PORTS_WEB:
		return port == 80 || port == 443 || port == 0;
	case POL_PORTS_ONE:
		return port == e->port || port == 0;
	}
	return false;
}

/* Of an unknown program nobody knows that it is another: it takes every deny, and no allow that was
 * given to one program. */
static bool program_is_meant(const struct pol_rule *r, const char *program)
{
	if (r->program[0] == '\0')
		return true;
	if (program == NULL || program[0] == '\0')
		return r->action == POL_ACTION_DENY;
	return strcmp(r->program, program) == 0;
}

static bool is_look(const struct pol_rule *r)
{
	return (r->flags & POL_RULE_LOOK) != 0;
}

static const struct pol_entry *pick(const struct pol_entry *e, const struct wanted *w)
{
	for (; e != NULL; e = pol_entry_next(e)) {
		if (e->rule.action == w->action && is_look(&e->rule) == w->want_look &&
		    port_is_meant(e, w->port) && program_is_meant(&e->rule, w->program))
			return e;
	}
	return NULL;
}

static const struct pol_entry *find_by_name(const struct policy *p, const char *name,
					    const struct wanted *w)
{
	const struct pol_entry *e = pick(pol_entry_find(p, POL_KEY_NAME, name, strlen(name)), w);

	for (const char *dot = strchr(name, '.'); e == NULL && dot != NULL;
	     dot = strchr(dot + 1, '.'))
		e = pick(pol_entry_find(p, POL_KEY_SUBDOMAINS, dot + 1, strlen(dot + 1)), w);
	return e;
}

/* The narrowest network first. @type: POL_KEY_NET or POL_KEY_PRIVATE_NET; without @w any entry. */
static const struct pol_entry *find_by_addr(const struct policy *p, enum pol_key_type type,
					    const struct pol_addr *a, const struct wanted *w)
{
	const uint32_t *n = a->family == POL_FAMILY_V4 ? p->n_v4 : p->n_v6;
	const struct pol_entry *e = NULL;

	if (a->family == POL_FAMILY_NONE)
		return NULL;
	for (int bits = a->family == POL_FAMILY_V4 ? 32 : 128; e == NULL && bits >= 0; bits--) {
		uint8_t key[POL_KEY_NET_LEN];

		if (n[bits] == 0)
			continue;
		pol_net_key(a, (unsigned)bits, key);
		e = pol_entry_find(p, type, key, sizeof(key));
		if (w != NULL)
			e = pick(e, w);
	}
	return e;
}

/* A rule about 1.2.3.4 is about ::ffff:1.2.3.4 as well, which the kernel dials as the same. Through
 * NAT64 it is the same place, but an allow of one way is none of the other. */
static const struct pol_entry *find_addr_rule(const struct policy *p, const struct pol_addr *a,
					      const struct wanted *w)
{
	const struct pol_entry *e = find_by_addr(p, POL_KEY_NET, a, w);
	struct pol_addr v4;

	if (e == NULL && pol_addr_unwrap(a, &v4) &&
	    (w->action == POL_ACTION_DENY || a->b[10] == 0xff /* mapped */))
		e = find_by_addr(p, POL_KEY_NET, &v4, w);
	return e;
}

static const struct pol_entry *find_any_host(const struct policy *p, const struct wanted *w)
{
	return pick(pol_entry_find(p, POL_KEY_ANY_HOST, NULL, 0), w);
}

static void by_entry(const struct pol_entry *e, struct pol_decision *ret)
{
	*ret = (struct pol_decision){
		.verdict = e->rule.action == POL_ACTION_ALLOW ? POL_ALLOW : POL_DENY,
		.by = ZW_BY_RULE,
		.rule = e->rule.id,
		.flags = e->rule.flags,
		.origin = e->rule.origin,
		.reason = e->rule.reason,
	};
}

static void by_other(enum pol_verdict verdict, unsigned by, const char *reason,
		     struct pol_decision *ret)
{
	*ret = (struct pol_decision){.verdict = verdict, .by = by, .origin = "", .reason = reason};
}

static const char *addr_reason(enum pol_addr_kind kind)
{
	switch (kind) {
	case POL_ADDR_PUBLIC:
		return "an address instead of a name, and no rule names it";
	case POL_ADDR_LOOPBACK:
		return "a loopback address, and no rule names it";
	case POL_ADDR_PRIVATE:
		return "a private address, and no rule names it";
	case POL_ADDR_METADATA:
		return "a cloud metadata address, and no rule names it";
	case POL_ADDR_SPECIAL:
		return "a reserved address, and no rule names it";
	case POL_ADDR_FAKE:
		return "a stand-in address of zwatch that belongs to no name";
	}
	return "";
}

/* A rule that zwatch has to look at opens nothing by itself; without it @ret stays as it is. */
static void by_look(const struct pol_entry *e, struct pol_decision *ret)
{
	struct pol_decision otherwise = *ret;

	if (otherwise.verdict == POL_ALLOW)
		return;
	*ret = otherwise;
	ret->verdict = POL_ASK;
	ret->by = ZW_BY_RULE;
	ret->rule = e->rule.id;
	ret->origin = e->rule.origin;
	ret->is_look = true;
	ret->otherwise = otherwise.verdict;
}

/* A name below localhost is 127.0.0.1, whatever a resolver would say of it. */
static const struct pol_addr loopback = {POL_FAMILY_V4, {127, 0, 0, 1}};

static const struct pol_entry *find_site(const struct policy *p, const struct pol_host *host,
					 const struct pol_addr *addr, const struct wanted *w)
{
	const struct pol_entry *e = NULL;

	if (host->addr.family == POL_FAMILY_NONE)
		e = find_by_name(p, host->name, w);
	if (e == NULL && addr != NULL)
		e = find_addr_rule(p, addr, w);
	/* `*:port` allows names; addresses have to be named. It denies both. */
	if (e == NULL && (addr == NULL || w->action == POL_ACTION_DENY))
		e = find_any_host(p, w);
	return e;
}

void pol_decide_site(const struct policy *p, const struct pol_host *host, uint16_t port,
		     const char *program, struct pol_decision *ret)
{
	struct wanted w = {POL_ACTION_DENY, port, program, false};
	const struct pol_addr *addr = NULL;
	const struct pol_entry *e;

	if (host->addr.family != POL_FAMILY_NONE)
		addr = &host->addr;
	else if (pol_host_is_localhost(host))
		addr = &loopback;
	e = find_site(p, host, addr, &w);
	if (e == NULL && p->resolvers != POL_RESOLVERS_OPEN) {
		const struct pol_resolver *r = pol_resolver_of(host);

		if (r != NULL) {
			by_other(POL_DENY, ZW_BY_CATALOGUE, r->reason, ret);
			return;
		}
	}
	if (e == NULL) {
		w.action = POL_ACTION_ALLOW;
		e = find_site(p, host, addr, &w);
	}
	if (e != NULL)
		by_entry(e, ret);
	else if (addr != NULL)
		by_other(POL_DENY, ZW_BY_ADDRESS, addr_reason(pol_addr_classify(addr)), ret);
	else if (p->mode == POL_MODE_WATCH)
		by_other(POL_ALLOW, ZW_BY_MODE, "", ret);
	else if (p->mode == POL_MODE_GUARD)
		by_other(POL_ASK, ZW_BY_MODE, "", ret);
	else
		by_other(POL_DENY, ZW_BY_MODE, "mode strict: no rule allows this site", ret);
	if (e == NULL && addr == NULL) {
		w.want_look = true;
		e = find_site(p, host, NULL, &w);
		if (e != NULL)
			by_look(e, ret);
	}
}

static bool private_name_is_allowed(const struct policy *p, const char *name)
{
	if (pol_entry_find(p, POL_KEY_PRIVATE_NAME, name, strlen(name)) != NULL)
		return true;
	for (const char *dot = strchr(name, '.'); dot != NULL; dot = strchr(dot + 1, '.')) {
		if (pol_entry_find(p, POL_KEY_PRIVATE_SUBDOMAINS, dot + 1, strlen(dot + 1)) != NULL)
			return true;
	}
	return false;
}

bool pol_private_has(const struct policy *p, const struct pol_host *host)
{
	return host->addr.family == POL_FAMILY_NONE
		       ? private_name_is_allowed(p, host->name)
		       : find_by_addr(p, POL_KEY_PRIVATE_NET, &host->addr, NULL) != NULL;
}

static bool private_is_listed(const struct policy *p, const struct pol_host *host,
			      const struct pol_addr *addr)
{
	if (find_by_addr(p, POL_KEY_PRIVATE_NET, addr, NULL) != NULL)
		return true;
	return pol_addr_classify(addr) == POL_ADDR_PRIVATE &&
	       host->addr.family == POL_FAMILY_NONE && private_name_is_allowed(p, host->name);
}

bool pol_is_answered(const struct policy *p, const struct pol_host *host, uint16_t port,
		     const char *program)
{
	struct pol_decision d;

	if (p->resolvers != POL_RESOLVERS_FILTERED || port != PORT_HTTPS ||
	    pol_resolver_of(host) == NULL)
		return false;
	pol_decide_site(p, host, port, program, &d);
	return d.verdict == POL_DENY && d.by == ZW_BY_CATALOGUE;
}

void pol_decide_resolved(const struct policy *p, const struct pol_host *host,
			 const struct pol_addr *addr, uint16_t port, const char *program,
			 struct pol_decision *ret)
{
	struct wanted w = {POL_ACTION_DENY, port, program, false};
	enum pol_addr_kind kind = pol_addr_classify(addr);
	const struct pol_entry *e = find_addr_rule(p, addr, &w);
	const struct pol_resolver *resolver =
		e == NULL && p->resolvers != POL_RESOLVERS_OPEN ? pol_resolver_by_addr(addr) : NULL;

	if (resolver != NULL) {
		by_other(POL_DENY, ZW_BY_CATALOGUE, resolver->reason, ret);
		return;
	}
	w.action = POL_ACTION_ALLOW;
	if (e == NULL)
		e = find_addr_rule(p, addr, &w);
	if (e != NULL)
		by_entry(e, ret);
	else if (kind == POL_ADDR_PUBLIC || private_is_listed(p, host, addr))
		by_other(POL_ALLOW, ZW_BY_ADDRESS, "", ret);
	else
		by_other(POL_DENY, ZW_BY_ADDRESS, addr_reason(kind), ret);
}

static const struct pol_entry *find_socket(const struct policy *p, const struct pol_socket *s,
					   enum pol_action action, bool is_dangerous,
					   bool want_look)
{
	size_t len = s->path != NULL ? s->path_len : s->abstract_len;
	const char *key = s->path != NULL ? pol_path_canonical(s->path, &len) : s->abstract;
	const struct pol_entry *e = NULL;

	if (key != NULL)
		e = pol_entry_find(p, s->path != NULL ? POL_KEY_PATH : POL_KEY_ABSTRACT, key, len);
	for (; e != NULL; e = pol_entry_next(e)) {
		if (e->rule.action != action || is_look(&e->rule) != want_look ||
		    !program_is_meant(&e->rule, s->program))
			continue;
		if (action == POL_ACTION_DENY || !is_dangerous || want_look ||
		    (e->rule.flags & POL_RULE_DANGEROUS_OK && e->rule.layer != POL_LAYER_BUILTIN &&
		     e->rule.layer != POL_LAYER_WISH))
			return e;
	}
	return NULL;
}

/* A deny holds for the spelling as well; an allow only for what it leads to. */
static const struct pol_entry *find_socket_deny(const struct policy *p, const struct pol_socket *s)
{
	const struct pol_entry *e = find_socket(p, s, POL_ACTION_DENY, false, false);

	if (e == NULL && s->alias != NULL) {
		const struct pol_socket alias = {
			.path = s->alias, .path_len = s->alias_len, .program = s->program};

		e = find_socket(p, &alias, POL_ACTION_DENY, false, false);
	}
	return e;
}

static void socket_by_mode(enum pol_mode mode, enum pol_risk risk, struct pol_decision *ret)
{
	bool is_dangerous = risk >= POL_RISK_HIGH;

	if (mode == POL_MODE_WATCH && !is_dangerous)
		by_other(POL_ALLOW, ZW_BY_MODE, "", ret);
	else if (mode == POL_MODE_GUARD && risk == POL_RISK_HARMLESS)
		by_other(POL_ALLOW, ZW_BY_MODE, "", ret);
	else if (mode == POL_MODE_WATCH || mode == POL_MODE_GUARD)
		by_other(POL_ASK, ZW_BY_MODE, "", ret);
	else
		by_other(POL_DENY, ZW_BY_MODE, "mode strict: no rule allows this socket", ret);
}

void pol_decide_socket(const struct policy *p, const struct pol_socket *s, struct pol_decision *ret,
		       const struct pol_class **ret_class)
{
	const struct pol_class *class = pol_classify(p, s);
	enum pol_risk risk = class != NULL ? class->risk : POL_RISK_LOW;
	enum pol_treat treat = class != NULL ? class->treat : POL_TREAT_BY_RISK;
	const struct pol_entry *e;

	if (ret_class != NULL)
		*ret_class = class;
	if (treat == POL_TREAT_REFUSE) {
		by_other(POL_DENY, ZW_BY_CATALOGUE, "zwatch's own sockets are never opened", ret);
		return;
	}
	e = find_socket_deny(p, s);
	if (e == NULL && treat == POL_TREAT_NOT_THERE) {
		by_other(POL_NOT_THERE, ZW_BY_CATALOGUE,
			 risk == POL_RISK_LOW ? "names are looked up through zwatch alone"
					      : "what runs inside starts one of its own",
			 ret);
		return;
	}
	if (e == NULL)
		e = find_socket(p, s, POL_ACTION_ALLOW, risk >= POL_RISK_HIGH, false);
	if (e != NULL)
		by_entry(e, ret);
	else if (s->path == NULL)
		by_other(POL_DENY, ZW_BY_CATALOGUE,
			 "an abstract name is opened by a rule that names it, and not asked about",
			 ret);
	else
		socket_by_mode(p->mode, risk, ret);
	if (e == NULL) {
		e = find_socket(p, s, POL_ACTION_ALLOW, false, true);
		if (e != NULL)
			by_look(e, ret);
	}
}
