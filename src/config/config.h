/* SPDX-License-Identifier: MIT
 * Settings of all layers, read into one struct and a list of rules.
 *
 * A file that is there and not right is an error, never "no rules". A missing file means defaults
 * unless the user named it. Layers: the managed policy in /etc/zwatch/policy.d (narrows only, and
 * holds), /etc/zwatch/config.json, the user's file, the project's .zwatch.json (narrows only), what
 * the user granted of its wishes (wish.h), options of this run. Lists add up; of single values the
 * last layer wins that may set them. Every key has a row in keys.def. */
#ifndef ZW_CONFIG_CONFIG_H
#define ZW_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/config/places.h"
#include "src/config/report.h"
#include "src/policy/policy.h"
#include "src/policy/saved.h"

#define CFG_SYSTEM_FILE	 "/etc/zwatch/config.json"
#define CFG_POLICY_DIR	 "/etc/zwatch/policy.d"
#define CFG_POLICY_MAX	 64  /* files there */
#define CFG_KEYS_MAX	 128 /* room for the rows of keys.def */
#define CFG_PROJECT_FILE ".zwatch.json"

enum cfg_tls_sni { CFG_SNI_MUST_MATCH, CFG_SNI_OPTIONAL };
enum cfg_tls_ech { CFG_ECH_GREASE_OK, CFG_ECH_DENY };
enum cfg_dns_doh { CFG_DOH_BLOCK, CFG_DOH_FILTER };
enum cfg_allow_sockets { CFG_SOCKETS_PROJECT, CFG_SOCKETS_PRIVATE };
enum cfg_notify { CFG_NOTIFY_AUTO, CFG_NOTIFY_ALWAYS, CFG_NOTIFY_NEVER };
enum cfg_panes { CFG_PANES_AUTO, CFG_PANES_BELOW, CFG_PANES_RIGHT, CFG_PANES_OFF };
/* As enum ui_theme. */
enum cfg_theme {
	CFG_THEME_TERMINAL,
	CFG_THEME_MONO,
	CFG_THEME_HIGH_CONTRAST,
	CFG_THEME_BLUE_ORANGE
};
enum cfg_durable { CFG_DURABLE_CRASH, CFG_DURABLE_POWER };
enum cfg_command_lines { CFG_LINES_MASKED, CFG_LINES_FULL, CFG_LINES_NONE };

#define CFG_RULE_FIRST POL_RULE_PASSING

#define CFG_ARM_SECOND_KEY (-1) /* arm_ms: no delay, allowing needs Enter as well */

/** A text from a settings file and where it stands; owned. */
struct cfg_item {
	char *text;
	char *origin; /* "~/.config/zwatch/config.json:9", "--rw" */
};

struct cfg_items {
	struct cfg_item *list;
	size_t n;
};

struct cfg_ports {
	uint16_t *list; /* owned; ascending, none twice */
	char **origins; /* of each; owned */
	size_t n;
};

struct cfg_flood {
	int64_t n;
	int64_t in_ms;
};

/** A socket listed by path, before anybody asked whether it is dangerous; owned. */
struct cfg_socket {
	char *listed; /* as written */
	char *path;   /* absolute, /run for /var/run; or "@name" */
	char *origin;
	enum pol_layer layer;
};

/** `agents` entry; owned. */
struct cfg_agent_entry {
	char *name;
	char *command;
	char *preset;	       /* name of a preset, "" = base */
	char *import_settings; /* "ask", "on", "off" */
	char *origin;
};

/** What a managed policy says of one single value; owned. */
struct cfg_hold {
	int64_t value; /* of a row with an order: nobody goes below it in strictness */
	char *origin;  /* NULL = nothing is held */
};

/** The nearest project file, as it was read; owned, text NULL = there is none, or it cannot be read. */
struct cfg_project {
	char *text;
	size_t len;
};

/** Effective settings. Strings and lists are owned; times in ms, 0 = no limit. */
struct cfg {
	enum pol_mode mode;
	bool proxy_env;
	char *upstream_proxy, *upstream_proxy_credentials; /* the latter an absolute path or "" */
	int tls_sni;					   /* enum cfg_tls_sni */
	int tls_ech;					   /* enum cfg_tls_ech */
	int dns_doh;					   /* enum cfg_dns_doh */
	bool dns_validate;
	char *dns_trust_anchors; /* path of a file */
	int allow_sockets;	 /* enum cfg_allow_sockets */
	int64_t limit_connections, limit_per_host, limit_per_program, limit_new_per_second,
		limit_header_b, limit_header_fields;
	int64_t quota_up_b, quota_down_b;
	int64_t limit_memory_b, limit_processes, limit_cpu;
	int64_t timeout_resolve_ms, timeout_connect_ms, timeout_header_ms, timeout_tls_hello_ms,
		timeout_idle_ms, timeout_half_close_ms;
	int64_t hold_site_ms, hold_socket_ms;
	int64_t arm_ms; /* or CFG_ARM_SECOND_KEY */
	int64_t repeat_to_session;
	struct cfg_flood flood;
	bool notify_bell;
	int notify_osc, notify_desktop; /* enum cfg_notify */
	char *notify_command;
	int ui_panes; /* enum cfg_panes */
	int ui_theme; /* enum cfg_theme */
	bool ui_mouse, ui_review, ui_agent_clipboard;
	int64_t ui_scrollback_n;
	int64_t history_keep_ms, history_max_b;
	bool history_record_screen, history_required;
	int history_command_lines; /* enum cfg_command_lines */
	int history_durable;	   /* enum cfg_durable */

	struct cfg_items dns_upstreams; /* checked, as written */
	struct cfg_items dns_zones;	/* "corp.example=UPSTREAM", one per upstream */
	struct cfg_items allow_private; /* for pol_private_add() */
	struct cfg_items quota_sites;	/* "PATTERN BYTES" */
	struct cfg_items allow_write, deny_read, allow_read, deny_write; /* absolute paths */
	struct cfg_items prefix_keys;
	struct cfg_items redact_flags, redact_patterns;
	struct cfg_ports local_ports, publish_ports;
	struct cfg_agent_entry *agents;
	size_t n_agents;

	/* Rules of all layers; ids count from CFG_RULE_FIRST in this list. Sockets of the settings are here as
	 * allows without POL_RULE_DANGEROUS_OK, and in `sockets` for the warning. */
	struct pol_rule *rules; /* strings owned */
	const char **rule_keys; /* of each: the setting it stands in, NULL = none; static strings */
	size_t n_rules;
	struct cfg_socket *sockets;
	size_t n_sockets;

	/* By row of keys.def. */
	bool keys_set[CFG_KEYS_MAX]; /* some layer has set it */
	char *origins[CFG_KEYS_MAX]; /* of single values: who set it last; NULL = built in */
	struct cfg_hold holds[CFG_KEYS_MAX];	/* of the managed policy */
	struct cfg_items held_read, held_write; /* its denyRead and denyWrite, also in deny_* */

	char *project_dir; /* where the project begins: folder of .zwatch.json, git root or start_dir */
	char *user_file;    /* that was read, or would be if it were there */
	char *project_file; /* the nearest one; "" = none */
	struct cfg_project project;
};

/** What to read. */
struct cfg_source {
	const char *policy_dir;	 /* NULL = CFG_POLICY_DIR */
	const char *system_file; /* NULL = CFG_SYSTEM_FILE */
	uid_t admin;		 /* who alone may write those two: root */
	const char
		*user_file; /* --config or $ZWATCH_CONFIG: must be there; NULL = the usual place */
	bool no_project;    /* --no-project */
};

/** Every default, no rule. @project_dir NULL = start_dir. Ownership: cfg_free(). */
struct cfg *cfg_new(const struct cfg_places *places, const char *project_dir);
void cfg_free(struct cfg *cfg);

/**
 * Reads all layers below the options. Findings go to @report; with an error among them no session
 * may start (exit 4).
 *
 * Returns    0 or ZW_E_CONFIG
 * Ownership  *ret by cfg_free(), set in both cases so that everything can be shown
 */
int cfg_load(const struct cfg_places *places, const struct cfg_source *source, struct cfg **ret,
	     struct cfg_report *report);

/**
 * Reads one text as a file of @layer into @cfg. Pure but for what the paths in it need.
 *
 * Relative paths in it start from the project's folder.
 *
 * @shown  name of the file in messages
 */
void cfg_read_text(struct cfg *cfg, const struct cfg_places *places, enum pol_layer layer,
		   const char *shown, const char *text, size_t len, struct cfg_report *report);

/** Options of this run. */
enum cfg_option {
	CFG_OPT_MODE,	    /* --mode WORD */
	CFG_OPT_ALLOW,	    /* --allow HOST[:PORT] */
	CFG_OPT_DENY,	    /* --deny HOST[:PORT] */
	CFG_OPT_ALLOW_UNIX, /* --allow-unix PATH */
	CFG_OPT_RO,	    /* --ro PATH */
	CFG_OPT_RW,	    /* --rw PATH */
	CFG_OPT_HIDE,	    /* --hide PATH */
	CFG_OPT_HOLD,	    /* --hold SECONDS */
};
/** Adds one. A bad value becomes an error in @report, with the option as its file. */
void cfg_option(struct cfg *cfg, const struct cfg_places *places, enum cfg_option option,
		const char *value, struct cfg_report *report);
/** The same from a variable of the environment, @name. */
void cfg_variable(struct cfg *cfg, const struct cfg_places *places, enum cfg_option option,
		  const char *name, const char *value, struct cfg_report *report);

/**
 * Adds a rule; the strings are copied and the host of a site goes through IDNA first. Gives it the
 * next id.
 *
 * Returns  0 or what pol_rule_check() says; *ret_why is its text then
 */
int cfg_rule_add(struct cfg *cfg, const struct pol_rule *rule, const char **ret_why);

struct cfg_agent;
/**
 * Adds the sites that an agent needs for its own work (its preset) as allows, under the name "built
 * in, NAME". They are of the lowest layer that may allow, so that every deny wins.
 */
void cfg_agent_sites_add(struct cfg *cfg, const struct cfg_agent *agent);

/**
 * The user agreed to this socket for this session ("yes" to the warning, or
 * --allow-dangerous-sockets): its allows may open HIGH and CRITICAL from now on.
 *
 * @path  as in struct cfg_socket; only what is listed there can be opened
 * Returns  whether there was one
 */
bool cfg_socket_open(struct cfg *cfg, const char *path);

/** Puts mode, rules and private names into a policy; they were checked. */
void cfg_fill(const struct cfg *cfg, struct policy *policy);

/**
 * What the managed policy hides or keeps read-only stays so, whatever allows below it: such entries are
 * taken out of allow_read and allow_write, with a note. The same holds for zwatch's own folders and for
 * the settings in force. A project that lies there is an error.
 * To be called when all layers and options are read; more than once does no harm.
 */
void cfg_hold_paths(struct cfg *cfg, const struct cfg_places *places, struct cfg_report *report);
/** Whether the managed policy forbids to write (@is_write) or to read @path; its origin, else NULL. */
const char *cfg_held_path(const struct cfg *cfg, const char *path, bool is_write);
/** The loosest mode that the managed policy lets this session have. @ret_origin: who says so, NULL =
 * nobody. Borrowed. */
enum pol_mode cfg_mode_floor(const struct cfg *cfg, const char **ret_origin);

/** `agents` entry by name, NULL = none. */
const struct cfg_agent_entry *cfg_agent_entry(const struct cfg *cfg, const char *name);

/* -- values, each with its own tests ------------------------------------------------------------ */

/** "500ms" "5s" "2m" "1h" "90d" "0"; result in ms. Returns 0, ZW_E_SYNTAX, ZW_E_TOOBIG. */
int cfg_parse_duration(const char *s, int64_t *ret_ms);
/** "500M" "2G" "64K" "1048576" "0", powers of 1024; result in bytes. As above. */
int cfg_parse_size(const char *s, int64_t *ret_b);
/** "8 in 10s". As above. */
int cfg_parse_flood(const char *s, struct cfg_flood *ret);
/** C-], C-a, M-x, F1 to F12. Returns 0 or ZW_E_SYNTAX. */
int cfg_check_key(const char *s);
/** An upstream of DNS as keys.def has it. Returns 0 or ZW_E_SYNTAX, *ret_why says what. */
int cfg_check_upstream(const char *s, const char **ret_why);
/**
 * A site pattern with its host in ASCII (RFC 5891, UTS 46 non-transitional): "bücher.example:443"
 * becomes "xn--bcher-kva.example:443". `*.` in front, a port behind and IP literals stay.
 *
 * Returns  0 or ZW_E_SYNTAX, *ret_why says what. Ownership: caller frees *ret
 */
int cfg_site_to_ascii(const char *s, char **ret, const char **ret_why);

/* -- the table, for help, `config show` and tests ----------------------------------------------- */

struct cfg_key {
	const char *path;
	const char *fallback; /* default as JSON text or, for a scalar, without quotes */
	const char *type;     /* "DURATION" … as in keys.def */
	const char *choices;
	const char *help;
	bool is_now;	 /* in force in this release */
	bool is_narrow;	 /* may stand in a project file */
	bool is_ordered; /* a single value of which one is stricter than another */
};
/** All keys in the table's order; static storage. */
const struct cfg_key *cfg_keys(size_t *ret_n);

#endif
