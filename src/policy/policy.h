/* SPDX-License-Identifier: MIT
 * Rules and what follows from them. Pure: no I/O, no clock, no allocation while deciding.
 *
 * The same code decides in zwatch-broker (sockets, raw addresses) and zwatch-proxy (sites), fed by
 * zwatch through pol_* messages, and in zwatch itself (explain, warnings).
 *
 * The order is fixed, first hit wins, and no order of rules can be got wrong:
 *   1. the other end is inside the same sandbox: the caller knows, and does not come here
 *   2. any deny in any layer: deny; so is a public resolver, by name or address, where these are
 *      blocked (by ZW_BY_CATALOGUE)
 *   3. any allow that its layer may give for this risk: allow
 *   4. the mode
 */
#ifndef ZW_POLICY_POLICY_H
#define ZW_POLICY_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/str.h"
#include "src/policy/host.h"

enum pol_kind { POL_KIND_SITE, POL_KIND_SOCKET, POL_KIND_MAX };
enum pol_action { POL_ACTION_ALLOW, POL_ACTION_DENY, POL_ACTION_MAX };
enum pol_verdict { POL_ALLOW, POL_DENY, POL_ASK, POL_NOT_THERE };
enum pol_mode { POL_MODE_WATCH, POL_MODE_GUARD, POL_MODE_STRICT, POL_MODE_MAX };
enum pol_risk { POL_RISK_HARMLESS, POL_RISK_LOW, POL_RISK_HIGH, POL_RISK_CRITICAL, POL_RISK_MAX };

/** Where a rule comes from; decides what it may widen (ux: layers and who wins). */
enum pol_layer {
	POL_LAYER_BUILTIN,
	POL_LAYER_MANAGED, /* denies only, final */
	POL_LAYER_SYSTEM,
	POL_LAYER_USER,
	POL_LAYER_PROJECT, /* denies only */
	POL_LAYER_WISH,	   /* what the user granted of a project's wishes: never HIGH or CRITICAL */
	POL_LAYER_OPTION,  /* this run's command line */
	POL_LAYER_ANSWER,  /* an answer in this session */
	POL_LAYER_MAX,
};

/** How a class of sockets is treated whatever its risk. */
enum pol_treat {
	POL_TREAT_BY_RISK,
	POL_TREAT_NOT_THERE, /* answered with ENOENT, no question (name services around the proxy) */
	POL_TREAT_REFUSE,    /* zwatch's own sockets: never */
	POL_TREAT_MAX,
};

/** How an allowed host socket is opened. */
enum pol_way { POL_WAY_RELAY, POL_WAY_DIRECT, POL_WAY_MAX };

enum pol_rule_flag {
	/* The user agreed to this very grant: it may open HIGH and CRITICAL (an answer with its
	 * second step; --allow-dangerous-sockets; "yes" to the warning). */
	POL_RULE_DANGEROUS_OK = 1 << 0,
	/* An allow that zwatch has to compare with what only it sees (a saved rule, saved.h): it
	 * decides POL_ASK, also where the mode alone would refuse. */
	POL_RULE_LOOK = 1 << 1,
	/* An allowed socket is connected by itself and not relayed: faster, passed descriptors come
	 * along, and nobody but its ends can close it. */
	POL_RULE_DIRECT = 1 << 2,
};

/** One rule. Strings are owned by whoever holds the struct; NULL counts as "". */
struct pol_rule {
	uint32_t id; /* as shown to the user; 0 = no number */
	enum pol_kind kind;
	enum pol_action action;
	enum pol_layer layer;
	unsigned flags; /* enum pol_rule_flag */
	const char
		*pattern; /* site: host, *.host, host:port, *:port, address, CIDR, with or without
	                           :port; without a port: 80 and 443 for an allow, every port for a deny.
	                           socket: real path, or @abstract with \x00 and \x5c for the
	                           bytes NUL and backslash, as records show them */
	const char *program; /* "" = any; else the path of the executable inside */
	const char *origin;  /* "~/.config/zwatch/config.json:9", "answer", "--allow" */
	const char *reason;  /* text for the agent when it denies, may be "" */
};

/** A class of the catalogue, as a decision needs it. */
struct pol_class {
	char name[64]; /* "docker", as shown in filters and records */
	enum pol_risk risk;
	enum pol_treat treat;
	enum pol_way way;
};

struct pol_decision {
	enum pol_verdict verdict;
	unsigned by;	    /* ZW_BY_RULE, ZW_BY_MODE, ZW_BY_CATALOGUE, ZW_BY_ADDRESS */
	uint32_t rule;	    /* of the deciding rule, 0 = none */
	unsigned flags;	    /* of it */
	const char *origin; /* of it; borrowed from the policy, "" = none */
	const char *reason; /* one plain sentence or ""; borrowed */
	/* ASK because of POL_RULE_LOOK: what holds when zwatch finds that the rule does not fit. */
	bool is_look;
	enum pol_verdict otherwise; /* ASK or DENY */
};

/** A socket to judge. */
struct pol_socket {
	const char *path; /* real host path, or NULL */
	size_t path_len;
	const char *abstract; /* abstract name without the leading NUL, or NULL */
	size_t abstract_len;
	/* Another path of it: the spelling that was asked for, or where it lies now; or NULL. For class
	 * patterns and denials, never for an allow. */
	const char *alias;
	size_t alias_len;
	const char *program; /* executable that asks; "" = unknown */
};

/** Classes of what is asked about that is neither a site nor in the catalogue of sockets. */
#define POL_CLASS_HOST_PORT "host-port" /* a service of the host's loopback */
#define POL_CLASS_PUBLISH   "publish"	/* a server inside, to be offered on the host's loopback */

struct policy;

/** An empty policy: mode guard, no rule, no class. Never NULL. Ownership: pol_free(). */
struct policy *pol_new(void);
void pol_free(struct policy *p);
void pol_set_mode(struct policy *p, enum pol_mode mode);
enum pol_mode pol_mode(const struct policy *p);
/** What becomes of the public resolvers of src/policy/resolvers.h (`network.dns.doh`). */
enum pol_resolvers {
	POL_RESOLVERS_OPEN,    /* as rules and mode say; in a new policy */
	POL_RESOLVERS_BLOCKED, /* denied, whatever allows them */
	POL_RESOLVERS_FILTERED, /* denied too: what asks them over HTTPS is answered by zwatch instead */
};
void pol_set_resolvers(struct policy *p, enum pol_resolvers mode);
/** Whether this destination is one that zwatch answers in the place of: port 443 of a resolver that is
 * POL_RESOLVERS_FILTERED and not denied by a rule. */
bool pol_is_answered(const struct policy *p, const struct pol_host *host, uint16_t port,
		     const char *program);

/**
 * Checks and adds a rule; the strings are copied. A bad pattern is an error here, where a line
 * number can still be shown, never a rule that silently does not match.
 *
 * Returns  0, ZW_E_SYNTAX (pattern), ZW_E_TOOBIG
 */
int pol_rule_add(struct policy *p, const struct pol_rule *rule);
/** As pol_rule_add() would answer, without a policy. @ret_why: static text, may be NULL. */
int pol_rule_check(const struct pol_rule *rule, const char **ret_why);
/** Removes all rules with this number; how many there were. */
unsigned pol_rule_remove(struct policy *p, uint32_t id);

/** Adds a class; returns its index (they count from 0) or ZW_E_TOOBIG (65535). */
int pol_class_add(struct policy *p, const struct pol_class *c);
/** Adds a pattern (zw_glob) of class @index; first matching pattern in order of adding wins. */
int pol_pattern_add(struct policy *p, unsigned index, bool is_abstract, const char *glob);
/**
 * Class of a socket by real path, or abstract name; NULL = unknown to the catalogue. The alias can
 * only raise it: a link named like a harmless socket does not make another one harmless.
 */
const struct pol_class *pol_classify(const struct policy *p, const struct pol_socket *s);

/**
 * Decides on a host and port. An address (pol_host.addr) is decided by address rules alone: no rule
 * names it → deny, by ZW_BY_ADDRESS.
 */
void pol_decide_site(const struct policy *p, const struct pol_host *host, uint16_t port,
		     const char *program, struct pol_decision *ret);

/**
 * Decides on a host socket (never on one made inside). @risk of a socket outside the catalogue is
 * LOW. An abstract name is denied unless a rule names it: it says nothing of who made it. @ret_class may
 * be NULL.
 */
void pol_decide_socket(const struct policy *p, const struct pol_socket *s, struct pol_decision *ret,
		       const struct pol_class **ret_class);

/**
 * Adds *.name, name, address or CIDR to what may resolve to private addresses
 * (`network.allowPrivate`). Returns 0, ZW_E_SYNTAX, ZW_E_TOOBIG.
 */
int pol_private_add(struct policy *p, const char *pattern);
/** Whether it was added: the host is said to be inside the user's network. */
bool pol_private_has(const struct policy *p, const struct pol_host *host);

/**
 * Decides on an address that a name, allowed by pol_decide_site(), was resolved to. In this order:
 * a deny rule names the address → deny; it is a blocked resolver → deny; a public address → allow; an allow rule names it with this
 * port → allow; it is private and `network.allowPrivate` has the name or the address → allow; else
 * deny by ZW_BY_ADDRESS, with a reason. A name in allowPrivate opens POL_ADDR_PRIVATE alone: never
 * loopback, metadata or the like. To be asked for every address, before it is dialled.
 */
void pol_decide_resolved(const struct policy *p, const struct pol_host *host,
			 const struct pol_addr *addr, uint16_t port, const char *program,
			 struct pol_decision *ret);

/* -- from and to messages: how zwatch feeds the deciding processes ------------------------------ */

const char *pol_layer_word(enum pol_layer l); /* "managed" "user" "option" … */
const char *pol_mode_word(enum pol_mode m);   /* "watch" "guard" "strict" */
const char *pol_risk_word(enum pol_risk r);   /* "harmless" "low" "HIGH" "CRITICAL" */
int pol_mode_parse(const char *s, enum pol_mode *ret);
int pol_risk_parse(const char *s, enum pol_risk *ret);

#endif
