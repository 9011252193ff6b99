/* SPDX-License-Identifier: MIT
 * zwatch's middle: starts the sandbox and the helpers, carries messages between them, holds the
 * questions, keeps the model, and ends it all in order. It parses nothing that the agent shapes. */
#ifndef ZW_SUPER_SUPER_H
#define ZW_SUPER_SUPER_H

#include <stdbool.h>
#include <stdint.h>

#include "sandbox/plan.h"
#include "src/config/catalogue.h"
#include "src/ev/ev.h"
#include "src/ipc/msg.h"
#include "src/model/model.h"
#include "src/policy/policy.h"
#include "src/policy/saved.h"

struct sup;
struct cfg_saved;

/* Where programs inside find the certificate of the session's authority (`network.dns.doh`: filter):
 * alone, and with all that the system trusts. */
#define SUP_TRUST_CA	 "/run/zwatch-certs/ca.pem"
#define SUP_TRUST_BUNDLE "/run/zwatch-certs/bundle.pem"

/** Limits and times of the proxy; units as their names say, 0 = none. */
struct sup_net {
	uint32_t max_connections, max_per_host, max_per_program, new_per_second, header_b,
		header_fields;
	uint32_t resolve_ms, connect_ms, header_ms, tls_hello_ms, idle_ms, half_close_ms;
	uint64_t quota_up_b, quota_down_b;
	const char *quotas;	 /* lines: PATTERN BYTES; borrowed */
	uint8_t sni, ech, doh;	 /* as the settings' enums number them */
	const char *trust_files; /* lines: files of certificates that the user's variables name */
	const char *upstream, *upstream_login; /* as px_setup has them; borrowed */
	const uint16_t *local_ports; /* host's loopback services the agent may reach; borrowed */
	size_t n_local_ports;
	const uint16_t *publish_ports; /* servers inside that the host may reach; borrowed */
	size_t n_publish_ports;
	const char *upstreams;	   /* lines, those of a zone with ZONE= in front; borrowed */
	const char *anchors;	   /* file of DNSSEC trust anchors, "" = no validation; borrowed */
	const char *allow_private; /* lines: *.name or CIDR; borrowed */
};

/** Where the agent's screen is recorded. */
struct sup_cast {
	int fd;		  /* read and write; borrowed */
	const char *path; /* of the file, for messages; borrowed */
	const char *
		folder; /* there it gets the session's number as its name; NULL = it keeps its own */
	uint64_t max_b;
};

/** Everything a session is started with. All borrowed until sup_run() returns. */
struct sup_config {
	const char *agent;	    /* name for screen and record: "claude", "bash" */
	const char *project, *home; /* absolute */
	struct sb_plan *plan;
	/* The catalogue of sockets, read when it is first asked for: while bwrap works. Never NULL. */
	const struct cfg_catalogue *(*catalogue)(void *arg);
	void *catalogue_arg;
	const struct pol_rule *rules;
	size_t n_rules;
	enum pol_mode mode, mode_floor; /* never looser than that: the managed policy */
	struct sup_net net;
	int64_t hold_site_ms, hold_socket_ms; /* 0 = until answered */
	const char *store_path;
	int64_t keep_ms, max_b;	 /* what the store may hold, 0 = no limit */
	uint8_t command_lines;	 /* enum cfg_command_lines */
	bool is_required;	 /* no record, no agent */
	bool is_durable;	 /* commits survive loss of power */
	const char *runtime_dir; /* of zwatch itself: no socket below it is ever opened */
	const char *control_dir; /* where the control socket is made; NULL = none */
	/* Tells what sessions of this project with a number below @before have met: kind and target, as the
	 * record has them. Returns 0 or a negative error. NULL = nobody knows. */
	int (*known)(void *arg, uint64_t before,
		     void (*fn)(void *to, struct zw_span kind, struct zw_span target), void *to);
	void *known_arg;
	const char *rules_path; /* of rules.json; NULL = nothing is saved, nothing is loaded */
	struct cfg_saved
		*saved; /* what it held at the start; sup_run() takes it over. NULL = nothing */
	bool is_private, is_dangerous, can_ask;
	struct zw_span name, tags, note; /* the user's words for the record; tags: NUL between */
	struct zw_span redact;		 /* as zw_mask_rules() takes them */
	int log_fd;			 /* -1 = none */
	uint32_t scrollback_n;
	bool has_kitty;	    /* the terminal is known to speak the kitty keyboard protocol */
	bool has_clipboard; /* the agent may set the user's clipboard */
	const struct sup_cast *cast; /* NULL = the screen is not recorded */
};

/** The dashboard, as the session needs it; all NULL-free when given. @arg goes to each. */
struct sup_face {
	/** Size of the agent's pane now. */
	void (*pane_size)(void *arg, int *ret_rows, int *ret_cols);
	/** Takes the terminal. Returns 0 or a negative error; then the session does not start. */
	int (*open)(struct sup *sup, struct zev_loop *loop, struct mdl_session *model, void *arg);
	void (*close)(void *arg);
	/** memfd of the grid that zwatch-pane fills; borrowed. */
	int (*grid_fd)(void *arg);
	void (*changed)(void *arg, unsigned changed);
	void (*frame)(void *arg, const struct zw_msg_pane_frame *frame);
	/** Plain mode, in the place of frames, NULL otherwise: the agent's output. sup_frame_done() when
	 * more may come. */
	void (*bytes)(void *arg, const void *bytes, size_t len);
	/** ZW_NOTE_KIND_*, as pane_note. */
	void (*note)(void *arg, unsigned kind, uint32_t value, const char *text);
	/** The agent put this on the user's clipboard, as the settings let it. Any bytes. */
	void (*clip)(void *arg, const void *text, size_t len);
	/** pane_found, pane_text or pane_link_is; spans live for the call. */
	void (*pane_answer)(void *arg, enum zw_msg_id id, const union zw_msg_any *msg);
	void (*message)(void *arg, const char *text);
	void (*input_pause)(void *arg, bool is_full);
	void (*resized)(void *arg);
	/** SIGTSTP came, or SIGCONT. */
	void (*job)(void *arg, bool is_continued);
	void *arg;
};

/** Something that was asked about, or that was new. Strings owned, printable. */
struct sup_review_row {
	char *title, *program; /* "files.example:443", or a path; "pip" */
	char *said;	       /* "allow session", "allowed by rule 3" */
	unsigned n_times;
	bool is_new;		    /* in this project */
	bool is_asked;		    /* and will be again, as it stands */
	bool can_always, can_never; /* what of it may be kept */
	struct pol_saved rule;	    /* to keep, as an allow; the same is what is refused */
};

struct sup_review {
	struct sup_review_row *list; /* owned */
	size_t n;
};

/** How a session ended. Strings owned by the struct, sup_result_fini(). */
struct sup_result {
	int exit_status;  /* what zwatch should exit with */
	uint64_t session; /* number in the store, 0 = not kept */
	int64_t length_ms;
	uint64_t n_allow, n_deny, n_ask, n_miss;
	unsigned n_kept;	  /* rules that its answers made, and that last */
	char *what, *why, *fix;	  /* when it did not start (exit 3, 125, 126, 127); else "" */
	char *warning;		  /* the newest, "" = none */
	struct sup_review review; /* what it leaves to decide */
	bool is_cut_short;	  /* a signal ended zwatch */
	char head[65];		  /* of the record's chain, hex; "" = none */
	bool is_prune_due;	  /* the store holds more than it should */
	char *cast_path;	  /* of the recorded screen, "" = none */
};

/**
 * Runs one session to its end.
 *
 * @face    NULL = no dashboard: the agent has the caller's stdin, stdout and stderr
 * @ret     always filled
 * Returns  ret->exit_status
 */
int sup_run(const struct sup_config *config, const struct sup_face *face, struct sup_result *ret);
void sup_review_fini(struct sup_review *r);
void sup_result_fini(struct sup_result *r);

/* -- what the dashboard may ask for ------------------------------------------------------------- */

/** Bytes typed for the agent, in order. */
void sup_input(struct sup *s, const void *bytes, size_t len);
void sup_pane_resize(struct sup *s, int rows, int cols);
/** Ends zwatch-pane, if one runs, and lets a new one take over the agent's terminal. */
void sup_pane_restart(struct sup *s);
void sup_frame_done(struct sup *s);
/** pane_scroll, pane_find, pane_copy or pane_link, with their struct; lost when no pane runs. */
void sup_pane_ask(struct sup *s, enum zw_msg_id id, const void *msg);
/** The user copied a link of the agent's output: scheme and host are recorded. */
void sup_noted_link(struct sup *s, const char *uri);
/** What is known of the user's terminal; every pane gets it. */
void sup_pane_colours(struct sup *s, const struct zw_msg_pane_colours *m);
/** The question is on screen: its clock stands. */
void sup_ask_open(struct sup *s, uint64_t ask, bool is_open);
/** An answer to a question. Strings borrowed. */
struct sup_reply {
	enum pol_verdict verdict;
	unsigned scope;	  /* ZW_SCOPE_* */
	const char *note; /* for the agent */
	const char *key, *shown;
	int64_t shown_ms;
	/* ALWAYS: what is kept. */
	enum pol_until until;
	bool is_everywhere;   /* every project */
	bool is_any_program;  /* anything the agent runs */
	bool is_whole_domain; /* site: all below the same domain */
};
/**
 * Takes an answer. One that comes too late becomes a rule for this session when it allows.
 *
 * Returns  NULL: done; else a sentence why nothing was allowed or the answer does not count, valid
 *          until the next call. The question waits on, unless somebody else answered it.
 */
const char *sup_answer(struct sup *s, uint64_t ask, const struct sup_reply *reply);
/**
 * The rule that an answer ALWAYS would make, without its end. Returns 0 or ZW_E_NOT_FOUND. Ownership:
 * pol_saved_fini().
 */
int sup_rule_of(struct sup *s, uint64_t ask, bool is_everywhere, bool is_any_program,
		bool is_whole_domain, struct pol_saved *ret);
/** From now on all that this program asks is refused, in this session. */
void sup_strict(struct sup *s, uint64_t ask);
/** Ends one connection, with the id of its row in the model. Returns whether there was a way to. */
bool sup_close_conn(struct sup *s, const struct mdl_conn *conn);
/** What the user refuses from now on. Strings borrowed. */
struct sup_deny {
	enum pol_kind kind;
	const char *target;  /* host:port, or path or @name of a socket as records have it */
	const char *program; /* "" = whatever the agent runs */
	bool is_always;	     /* beyond the session, in this project */
};
/**
 * Makes the rule, and ends what is open to the target. Returns a sentence that says what was done and
 * how to undo it, or why nothing was; valid until the next call.
 */
const char *sup_deny(struct sup *s, const struct sup_deny *deny);
/** Looks at the processes of the sandbox, at once and every second (mdl_session.tasks). */
void sup_watch_tasks(struct sup *s, bool is_on);
/**
 * A signal to one process of the sandbox, told by number and start (mdl_task).
 *
 * Returns  NULL, or a sentence why not; static
 */
const char *sup_task_signal(struct sup *s, uint32_t pid, uint64_t started, int sig);
/** What a rule says: "*.github.com, from ~/.config/zwatch/config.json:9". Valid until the next call;
 * NULL when there is none of this number. */
const char *sup_rule_text(struct sup *s, uint32_t id);
/** Takes back the last allow or deny that made a rule. Returns a sentence, valid until the next call. */
const char *sup_undo(struct sup *s);
/** Ends every relayed connection that the process of this row has to its socket. */
void sup_close(struct sup *s, const struct mdl_sock *k);
/**
 * Every process of the sandbox stands still (mdl_session.is_frozen), by its control group or, where
 * there is none of the user's own, by SIGSTOP; or goes on.
 *
 * Returns  a sentence that says how, or why not; static
 */
const char *sup_freeze(struct sup *s, bool is_frozen);
/** Returns NULL: done; else a sentence why not, static or the configuration's. */
const char *sup_set_mode(struct sup *s, enum pol_mode mode);
/** SIGTERM, and SIGKILL for the whole sandbox 3 s later. */
void sup_stop_agent(struct sup *s);

#endif
