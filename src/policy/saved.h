/* SPDX-License-Identifier: MIT
 * Rules that outlive a session: program x target x project x duration. Pure: whoever asks says what
 * time it is.
 *
 * A saved deny is an ordinary rule (pol_rule_add) for as long as it holds: broker and proxy need
 * nobody for it. So is an allow that is about any program. An allow for one program stands there
 * with POL_RULE_LOOK: they put the question to zwatch, which compares what only it can see (hash,
 * script, listener, clock) by pol_saved_fit(). The same function serves the broker's and the
 * proxy's questions, `zwatch explain` and `zwatch rules test`. */
#ifndef ZW_POLICY_SAVED_H
#define ZW_POLICY_SAVED_H

#include "src/policy/policy.h"

/** Numbers below it are of saved rules: they last, and the user can look them up. Those of settings, options and
 * presets begin here, and change with the files. */
#define POL_RULE_PASSING 100000u

/** Begins the target of a question, or rule, about a server inside; its port follows. */
#define POL_PUBLISH "publish:"

/* A clock may be corrected by this much without anybody having turned it back. */
#define POL_CLOCK_SLACK_S 600

/** One saved rule. Strings owned, never NULL; "" = any, none, not known. */
struct pol_saved {
	uint32_t id; /* as the user knows it; never used twice */
	enum pol_kind kind;
	enum pol_action action;
	enum pol_risk risk; /* as it was when the user agreed */
	char *target;	    /* site: a pattern of rules; socket: real path or @name */
	bool is_publish;    /* SITE whose target is POL_PUBLISH and a port: a server inside that the
			     * host may reach. zwatch's own business, never a helper's rule */
	char *program;	    /* path of the executable */
	char *program_hash; /* 64 hex digits */
	char *script;	    /* what an interpreter ran */
	char *script_hash;
	char *project; /* absolute; "" = every project */
	bool has_listener;
	uint32_t listener_uid;	 /* who answered */
	char *listener_exe;	 /* "" = the system did not tell */
	char *note;		 /* for the agent, of a deny */
	int64_t made_s, until_s; /* wall clock; until 0 = no end */
	uint64_t n_used;
	int64_t used_s;	 /* 0 = never */
	int64_t session; /* in which it was made; 0 = by `zwatch rules` */
};

void pol_saved_init(struct pol_saved *r);
void pol_saved_fini(struct pol_saved *r);
/** A copy of its own. *to is uninitialised before. */
void pol_saved_copy(struct pol_saved *to, const struct pol_saved *from);

/** What is tried. Strings borrowed; NULL = not known yet, where it says so. */
struct pol_try {
	enum pol_kind kind;
	enum pol_risk risk;
	const struct pol_host *host; /* SITE */
	uint16_t port;
	const char *socket;  /* SOCKET: real path or @name */
	const char *publish; /* SITE: the target of such a question, then no host; NULL = another */
	const char *program;
	const char *program_hash; /* NULL = not known yet */
	const char *script;	  /* "" = no script */
	const char *script_hash;  /* NULL = not known yet */
	const char *project;
	uint32_t listener_uid;
	const char *listener_exe;
	int64_t now_s;	/* wall clock, never behind what this process has seen */
	int64_t seen_s; /* latest time that any zwatch has written down; 0 = none */
	bool is_past;	/* a question of the record: time, hashes and listener do not count */
};

/** How far a rule fits; the later in this list, the more narrowly it missed. */
enum pol_fit {
	POL_FIT_OTHER, /* about something else */
	POL_FIT_PORT,
	POL_FIT_PROJECT,
	POL_FIT_PROGRAM,
	POL_FIT_SCRIPT,
	POL_FIT_LISTENER,
	POL_FIT_RISK, /* a newer catalogue thinks worse of it */
	POL_FIT_OVER,
	POL_FIT_CLOCK, /* the clock has been turned back: nothing with an end holds */
	POL_FIT_PROGRAM_CHANGED,
	POL_FIT_SCRIPT_CHANGED,
	POL_FIT_NEEDS_HASH, /* all else fits; a hash is not known yet */
	POL_FIT_YES,
};

enum pol_fit pol_saved_fit(const struct pol_saved *r, const struct pol_try *t);
/**
 * The sentence for a rule that narrowly did not apply: "Rule 3 did not apply: it is for git, this is
 * node." Ownership: caller frees. NULL when it was about something else, or did apply.
 */
char *pol_saved_why_not(const struct pol_saved *r, const struct pol_try *t);

/** Whether the rule is over, or not to be trusted because of the clock. */
enum pol_fit pol_saved_time(const struct pol_saved *r, int64_t now_s, int64_t seen_s);

/** Sets the target, and whether it is about a server inside. */
void pol_saved_set_site(struct pol_saved *r, const char *target);

/** Whether broker and proxy can hold it without zwatch. */
bool pol_saved_is_plain(const struct pol_saved *r);
/** As a rule of the policy, borrowing the strings. @origin: "rule 12". */
void pol_saved_rule(const struct pol_saved *r, const char *origin, struct pol_rule *ret);

/**
 * Checks what is written in a rule. @ret_why: static text.
 * Returns 0 or ZW_E_SYNTAX
 */
int pol_saved_check(const struct pol_saved *r, const char **ret_why);

/** How long an answer lasts. */
enum pol_until { POL_UNTIL_HOUR, POL_UNTIL_TODAY, POL_UNTIL_WEEK, POL_UNTIL_NO_END, POL_UNTIL_MAX };
/** "1 hour" "today" "7 days" "no end" */
const char *pol_until_word(enum pol_until u);
/** Its end in wall clock; 0 = no end. Today ends at local midnight, and lasts an hour at least. */
int64_t pol_until_end(enum pol_until u, int64_t now_s);

/**
 * The pattern for everything beside @host: "*.pythonhosted.org" of files.pythonhosted.org. Not
 * offered where it could be a registry's whole zone (two labels, the upper one of 3 letters or less
 * below a country's: co.uk).
 *
 * Returns  whether there is one; @out of POL_HOST_MAX + 3 bytes
 */
bool pol_site_below(const struct pol_host *host, char *out, size_t size);

/** Splits host:port or [v6]:port, as questions name a site. Returns 0 or ZW_E_SYNTAX. */
int pol_target_site(const char *target, struct pol_host *ret_host, uint16_t *ret_port);

#endif
