/* SPDX-License-Identifier: MIT
 * Inside of src/super: the session's state, shared by its files. */
#ifndef ZW_SUPER_SUPER_I_H
#define ZW_SUPER_SUPER_I_H

#include <sys/queue.h>

#include "sandbox/launch.h"
#include "src/base/map.h"
#include "src/base/buf.h"
#include "src/base/sha256.h"
#include "src/config/saved_file.h"
#include "src/ipc/chan.h"
#include "src/super/helper.h"
#include "src/super/super.h"

/* Typed for an agent that does not read. Behind the high mark the keyboard is not read, zwatch's own
 * keys with it: so a paste must be large to get there. */
#define SUP_INPUT_MAX_B	 (8u << 20)
#define SUP_INPUT_HIGH_B (4u << 20)
#define SUP_INPUT_LOW_B	 (64u << 10)

/* The listeners stand first among the sandbox's sockets, in px_setup's order. */
#define SUP_N_LISTENERS SB_NET_DIAG

#define SUP_HASHES_MAX 64

/* What a port of the host is called in rules. */
#define SUP_HOST_NAME "localhost"

/** A file that was read before. */
struct sup_hash {
	uint64_t file_id; /* zw_file_id(); 0 = free */
	char hex[ZW_SHA256_HEX + 1];
};

struct sup_ident_file {
	int fd; /* -1 = cannot be told */
	uint64_t file_id;
	char hash[ZW_SHA256_HEX + 1]; /* "" = could not be told */
};

/** Finding out what a program is. */
struct sup_ident {
	struct sup *s;
	struct sup_ident_file file[2]; /* program, script */
	int n_done;
	bool is_started;
	struct zw_sha256 sum;
	struct zev_timer *timer; /* NULL = not at work */
	void (*on_done)(void *arg);
	void *arg;
};

/** Wall clock that does not go back within a session: what it was, and when. */
struct sup_clock {
	int64_t wall_s, boot_s;
};

/** Use of a saved rule that is not yet written down. */
struct sup_use {
	uint32_t id, n;
	int64_t last_s;
};

/** What the agent did with its terminal besides printing. */
enum sup_noted_kind {
	SUP_NOTED_CLIP_READ,
	SUP_NOTED_CLIP_SET,
	SUP_NOTED_CLIP_DONE,
	SUP_NOTED_NOTICE,
	SUP_NOTED_LINK,
	SUP_NOTED_MAX
};
struct sup_noted {
	int64_t ms; /* of the last row; 0 = none */
	unsigned n; /* since */
	char *text; /* owned; of the last one */
};

/** A question on its way: whose it is, and by which number there. */
struct sup_ask {
	TAILQ_ENTRY(sup_ask) link;
	uint64_t id;	   /* zwatch's own, as in the model */
	enum zw_role role; /* ROLE_BROKER, ROLE_PROXY, or ROLE_SUPER: about a server inside */
	unsigned n_starts; /* of that helper, when it asked: a restarted one knows nothing of it */
	uint64_t theirs;   /* its number there */
	bool is_over;	   /* answered, missed or gone */
	bool is_shown;	   /* it became a card */
	bool is_by_user;   /* somebody answered */
	unsigned scope;	   /* ZW_SCOPE_*: how */
	uint32_t saved;	   /* rule that the answer made, 0 = none */
	enum pol_verdict otherwise;	 /* ASK or DENY, when no saved rule fits */
	char *target, *program, *script; /* raw bytes, owned: for the rule that an answer makes */
	uint32_t pid, listener_uid;
	char *listener_exe; /* owned */
	uint64_t exe_id;
	int64_t t_us;
	struct sup *s;
	struct sup_ident ident;
};

/** An allow, or a deny of the lists, that can be taken back. */
struct sup_allow {
	TAILQ_ENTRY(sup_allow) link;
	enum pol_kind kind;
	char *target, *program; /* raw, owned */
	char *title;		/* printable, owned */
	uint32_t rule;		/* of this session, 0 = none */
	uint32_t kept;		/* of s->kept, 0 = none */
	uint32_t saved;		/* of rules.json, 0 = none */
	uint16_t published;	/* a port that is offered, 0 = another thing */
	bool is_direct;		/* the connection does not run through zwatch */
	bool is_deny;
};

#define SUP_REFUSALS_MAX 16

/** What `zwatch why` tells; all texts printable. */
struct sup_refusal {
	uint64_t event; /* as X-Zwatch-Event names it */
	int64_t t_us;
	enum pol_kind kind;
	unsigned by; /* ZW_BY_* */
	uint32_t rule, n;
	char target[512], program[256], reason[512], note[512];
};

struct sup_client;

/** A rule that an answer made. Strings owned. */
struct sup_rule {
	TAILQ_ENTRY(sup_rule) link;
	struct pol_rule rule;
	bool is_pinned; /* the broker keeps it by inode */
};

#define SUP_TRUST_MAX 8

/** A port of loopback that a server inside listens on. */
struct sup_port {
	TAILQ_ENTRY(sup_port) link;
	uint16_t port;
	uint32_t pid;
	char *program; /* owned, raw bytes */
	uint64_t exe_id;
	unsigned by;   /* ZW_BY_*: why it is offered */
	uint32_t rule; /* of rules.json, 0 = none */
	int fd;	       /* listener on the host, owned; negative = not offered */
};

/** What was asked about a server, and answered. */
struct sup_offer {
	TAILQ_ENTRY(sup_offer) link;
	uint16_t port;
	char *program; /* owned */
	int answer;    /* enum pol_verdict for the session; -1 = none */
};

#define SUP_FROZEN_BY_USER     1u
#define SUP_FROZEN_FOR_HISTORY 2u

struct sup {
	const struct sup_config *config;
	const struct sup_face *face; /* NULL = none */
	struct zev_loop *loop;
	struct mdl_session model;
	struct sb_session sandbox;
	bool is_face_open, has_sandbox;
	struct sup_noted noted[SUP_NOTED_MAX];

	struct sup_helper audit, broker, pane, proxy, resolver;

	/* agent.c */
	int pty_fd; /* master, ours; -1 = none */
	struct zev_io *pty_io;
	struct zw_buf input;
	bool is_input_full;
	int rows, cols;
	struct zev_io *bwrap_io; /* its pidfd: readable when the sandbox is over */
	struct zev_timer *kill_timer, *redraw_timer;
	int64_t pane_died_ms; /* monotonic; 0 = never */
	bool is_pane_wanted;  /* the user has it ended to have a new one */
	bool is_agent_over, is_pane_over;
	bool has_terminal; /* the next field was filled */
	struct zw_msg_pane_colours terminal;
	int agent_status; /* 0 to 255, when it is over */

	/* freeze.c */
	unsigned want_frozen; /* SUP_FROZEN_ or-ed: who wants it */
	bool is_signalled;    /* frozen by SIGSTOP, not by the control group */
	pid_t stopped[64];    /* were stopped before */
	size_t n_stopped;

	/* tasks.c */
	struct zev_timer *tasks_timer; /* NULL = nobody has looked yet */
	int64_t tasks_ms;	       /* of the last look; monotonic */

	/* cast.c */
	char *cast_path; /* owned; NULL = the screen was never recorded */

	/* limits.c */
	struct zev_timer *limits_timer; /* looks whether one was met; NULL = no control group */
	struct sb_group_events limits_met;

	/* net.c */
	struct zev_io *listen_io[SUP_N_LISTENERS]; /* watched while no proxy runs */
	struct zw_map queries;			   /* of the proxy, that no answer has come to */
	struct policy *inside;	   /* owned; its private names are those of the user's network */
	int64_t resolver_since_ms; /* of the minute that its starts are counted in */
	unsigned n_resolver_starts;

	/* trust.c */
	struct zw_buf ca_cert, ca_key;		 /* of the session's authority; empty = none */
	struct sb_text trust[SUP_TRUST_MAX + 1]; /* owned; the last one is empty */
	size_t n_trust;
	bool is_making_ca;

	/* publish.c */
	TAILQ_HEAD(, sup_port) ports;
	TAILQ_HEAD(, sup_offer) offers;
	unsigned n_offers;

	/* asks.c */
	TAILQ_HEAD(, sup_ask) asks;
	TAILQ_HEAD(sup_rule_list, sup_rule) answers;
	TAILQ_HEAD(sup_allow_list, sup_allow) allows;
	size_t n_allows;
	uint64_t last_ask;
	uint32_t last_rule;
	uint64_t generation;
	struct zev_timer *hold_timer;
	char *undo_text, *answer_text, *deny_text, *rule_text;

	/* ident.c, saved.c */
	struct sup_hash hashes[SUP_HASHES_MAX];
	size_t next_hash;
	struct cfg_saved saved; /* of rules.json */
	struct cfg_saved kept;	/* of this session, for one script of an interpreter */
	struct sup_clock clock;
	uint64_t in_force;
	struct zev_timer *saved_timer;
	int saved_fd; /* inotify */
	struct zev_io *saved_io;
	struct sup_use *uses; /* owned */
	size_t n_uses;
	int64_t uses_ms;
	char **strict; /* programs that are refused whatever they ask; owned */
	size_t n_strict;

	/* known.c */
	struct zw_map known;
	bool is_known_read;

	/* why.c, control.c */
	struct sup_refusal refusals[SUP_REFUSALS_MAX];
	size_t n_refusals; /* that ever were */
	struct zev_io *why_io;
	LIST_HEAD(, sup_client) clients;
	unsigned n_clients;
	int control_fd, control_dir_fd; /* -1 = none */
	char control_name[32];
	struct zev_io *control_io;

	/* session.c */
	struct zev_timer *patience; /* ends a bounded wait */
	struct zev_signal *signals[8];
	bool is_prepared, is_closing, is_closed;
	int64_t started_us; /* wall clock */
	int64_t go_us;	    /* wall clock; when the agent was let go, INT64_MAX before */
	int unsent_fds[2];  /* counters of the network inside, owned; -1 = none */
	uint64_t unsent_before;
	int end_signal; /* that told zwatch to end; 0 = none */
	struct sup_result *result;
};

/* agent.c */
/** Takes the pty and watches for the sandbox's end. */
void sup_agent_start(struct sup *s);
void sup_agent_fini(struct sup *s);

/* freeze.c */
/** Process numbers of the sandbox, its pid 1 first, then children behind parents; at most @max. Returns
 * how many. Ownership of *ret: caller frees. */
size_t sup_tree(pid_t init_pid, size_t max, pid_t **ret);

/** Frozen while nothing is kept of what the agent does (history.required), whatever the user wants. */
void sup_freeze_for_history(struct sup *s, bool is_frozen);
/** It is to end: nobody's wish holds it any more. */
void sup_thaw_all(struct sup *s);

/* tasks.c */
void sup_tasks_fini(struct sup *s);

/** Starts zwatch-pane and gives it the terminal. */
void sup_pane_start(struct sup *s);
/** It ended: another takes over, or, after two deaths in a short time, the user is told. */
void sup_pane_dead(struct sup *s, const char *how);
void sup_on_pane_msg(struct sup *s, enum zw_msg_id id, const union zw_msg_any *msg);

/* ident.c */
/**
 * Finds the hashes of what runs as @pid. Files are opened at once, read in turns of the loop.
 *
 * @id       zeroed; lives until sup_ident_fini()
 * @script   "" = none
 * Returns   true: all is known already, and @on_done is not called
 */
bool sup_ident_start(struct sup_ident *id, struct sup *s, uint32_t pid, uint64_t exe_id,
		     const char *script, void (*on_done)(void *arg), void *arg);
bool sup_ident_is_done(const struct sup_ident *id);
void sup_ident_fini(struct sup_ident *id);

/* known.c */
/** Reads what earlier sessions have met, once, and marks what is there already. The record is open. */
void sup_known_read(struct sup *s);
/** Whether no session before this one has met it in this project; false as long as that is not known. */
bool sup_is_new_socket(struct sup *s, struct zw_span path);
bool sup_is_new_site(struct sup *s, struct zw_span host, unsigned port);
bool sup_is_new_ask(struct sup *s, const struct sup_ask *q, enum pol_kind kind);
void sup_known_fini(struct sup *s);

/* review.c */
/** While the questions are there. *ret is empty before. */
void sup_review_make(struct sup *s, struct sup_review *ret);

/* saved.c */
void sup_saved_start(struct sup *s);
void sup_saved_fini(struct sup *s);
/** Sends what is in force here, inside a policy. */
void sup_saved_send(struct sup *s, struct sup_helper *h);
/** Saved or kept rules are others now. */
void sup_saved_changed(struct sup *s);
/** Writes a rule; its number is set. Returns 0 or < 0 with *ret_why (caller frees). */
int sup_saved_add(struct sup *s, struct pol_saved *rule, char **ret_why);
int sup_saved_remove(struct sup *s, uint32_t id, char **ret_why);
/** Whether its time and project are here and now. */
bool sup_saved_is_in_force(struct sup *s, const struct pol_saved *r);
/** A rule decided @n more tries. */
void sup_saved_used(struct sup *s, uint32_t id, uint32_t n);
void sup_uses_write(struct sup *s);
/** How far any allow fits, and which one; *ret lives until the rules change. */
enum pol_fit sup_saved_look(struct sup *s, const struct pol_try *t, const struct pol_saved **ret);
/** Seconds since 1970, never less than what it said before. */
int64_t sup_now_s(struct sup *s);
/** The same, pure: from the wall clock and one that counts on. */
int64_t sup_clock_now(struct sup_clock *c, int64_t wall_s, int64_t boot_s);

/* card.c */
/** Fills the texts of a question's card. */
void sup_card_fill(struct sup *s, struct mdl_ask *a, const struct sup_ask *q,
		   const struct zw_msg_ask *m);

/** What is known of this target from before. */
void sup_card_before(struct sup *s, struct mdl_ask *a);

/* asks.c */
/** Looks at the questions that wait again: rules have changed. */
void sup_asks_settle(struct sup *s);
struct sup_ask *sup_ask_find(struct sup *s, uint64_t id);
/** The verdict reaches the waiting call. */
void sup_ask_tell(struct sup *s, struct sup_ask *q, enum pol_verdict verdict, unsigned scope,
		  unsigned by, uint32_t rule, const char *note);
void sup_ask_record(struct sup *s, const struct sup_ask *q, const struct mdl_ask *a, unsigned did,
		    unsigned scope, unsigned by, const char *key, const char *shown,
		    int64_t shown_ms);
/** Sets the timer to the question whose time is over first. */
void sup_hold_rearm(struct sup *s);

/* why.c */
void sup_why_start(struct sup *s);
void sup_why_fini(struct sup *s);
void sup_refused(struct sup *s, const struct sup_refusal *r);
/** The JSON text that a caller gets. Ownership: caller frees. */
char *sup_why_text(const struct sup *s);

/* control.c */
void sup_control_start(struct sup *s);
void sup_control_fini(struct sup *s);

/* answer.c */
/** A new last thing that can be taken back; strings are copied. */
struct sup_allow *sup_allow_new(struct sup *s, enum pol_kind kind, const char *target,
				const char *program, const char *title);
void sup_allows_fini(struct sup *s);

/* asks.c */
void sup_on_ask(struct sup *s, struct sup_helper *h, const struct zw_msg_ask *m);
void sup_on_ask_more(struct sup *s, struct sup_helper *h, const struct zw_msg_ask_more *m);
void sup_on_ask_gone(struct sup *s, struct sup_helper *h, const struct zw_msg_ask_gone *m);
/** Every question of this helper is over: it died. */
void sup_asks_drop(struct sup *s, const struct sup_helper *h);
/** A question of zwatch's own; nobody inside waits for it. Its answer goes to sup_publish_answered(). */
void sup_own_ask(struct sup *s, const struct zw_msg_ask *m);
void sup_own_ask_gone(struct sup *s, uint64_t theirs);
void sup_asks_fini(struct sup *s);

/* cast.c */
/** Tells a zwatch-pane that was just started to record; nothing when nobody asked for it. */
void sup_cast_start(struct sup *s);
/** It cannot go on: said on screen and in the record. */
void sup_on_record_end(struct sup *s, int64_t status);
/** The session has its number: the file is called after it. */
void sup_cast_number(struct sup *s);
/** Marks this moment in the recording; printable text, cut at 400 bytes. */
void sup_mark(struct sup *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** The same for a decision that was no question. */
void sup_mark_event(struct sup *s, unsigned did, unsigned by, const char *target,
		    const struct mdl_proc *p);

/* deny.c */
void sup_deny_fini(struct sup *s);

/* events.c */
void sup_on_sock_event(struct sup *s, struct sup_helper *h, const struct zw_msg_sock_event *m);
void sup_on_conn_event(struct sup *s, struct sup_helper *h, const struct zw_msg_conn_event *m);
void sup_on_committed(struct sup *s, const struct zw_msg_committed *m);
/** A line for the record (kind is a word of the store) and, as a warning, for the screen. */
/** Records it, at once or as a part of a count; @text printable or raw, cut. */
void sup_noted(struct sup *s, enum sup_noted_kind kind, unsigned n_times, struct zw_span text);
/** What is not written yet. */
void sup_noted_end(struct sup *s);
void sup_record(struct sup *s, const char *kind, const char *text);
void sup_warn(struct sup *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void sup_changed(struct sup *s, unsigned changed);

/* net.c */
/** Starts the proxy when it does not run. */
void sup_proxy_start(struct sup *s);
void sup_net_start(struct sup *s);
void sup_net_fini(struct sup *s);
void sup_on_tcp_who(struct sup *s, const struct zw_msg_tcp_who *m);
void sup_on_res_query(struct sup *s, const struct zw_msg_res_query *m);
void sup_on_res_answer(struct sup *s, const struct zw_msg_res_answer *m);
/* Whether a host is inside the user's network, by `allowPrivate` or by a zone of its own. */
bool sup_is_inside(struct sup *s, const struct pol_host *host);
void sup_proxy_dead(struct sup *s);
/* Starts another one when questions are open, and asks them of it once more. */
void sup_resolver_dead(struct sup *s);

/* limits.c */
/** Says what of the wanted limits is in force, and watches those that tell when they are met. */
void sup_limits_start(struct sup *s);
/** The last look. */
void sup_limits_fini(struct sup *s);

/* publish.c */
void sup_on_serving(struct sup *s, const struct zw_msg_serving *m);
void sup_on_want_inside(struct sup *s, uint64_t seq);
/** A question of sup_own_ask() is over. @rule: of rules.json, 0 = none. */
void sup_publish_answered(struct sup *s, const struct sup_ask *q, enum pol_verdict verdict,
			  unsigned scope, unsigned by, uint32_t rule);
/** The allow is taken back: no longer offered, what is open is closed, and the next server is asked
 * about again. @program: raw bytes */
void sup_publish_undo(struct sup *s, uint16_t port, const char *program);
/** Rules have changed: what only one of them offered may be over. */
void sup_ports_recheck(struct sup *s);
/** A proxy has started: it gets every listener. */
void sup_ports_handed(struct sup *s);
void sup_ports_fini(struct sup *s);

/* rules.c */
const struct cfg_catalogue *sup_catalogue(struct sup *s);
/** Sends the whole policy to a helper that decides. */
void sup_policy_send(struct sup *s, struct sup_helper *h);
/** Adds the rule of an answer (kind, action, pattern, program, reason; strings are copied), and
 * sends it on unless the broker keeps it by itself (@is_pinned). Returns its number. */
uint32_t sup_rule_add(struct sup *s, const struct pol_rule *rule, bool is_pinned);
void sup_rule_remove(struct sup *s, uint32_t id);
void sup_rules_fini(struct sup *s);

/* trust.c */

/** Makes the session's certificate authority, when the settings want one, and puts what programs
 * inside read it from into the plan. Before sb_launch(). Returns 0 or a negative error. */
int sup_trust_start(struct sup *s);
void sup_trust_fini(struct sup *s);
void sup_on_px_ca(struct sup *s, const struct zw_msg_px_ca *m);

/* unsent.c */

/** Begins to count what goes past the proxy; when the agent is let go. */
void sup_unsent_start(struct sup *s);
/** Records how much that was, if any. While the store is open. */
void sup_unsent_end(struct sup *s);

/* session.c */

/** Runs the loop until *flag, until @h is no more, or until the time is over. Returns *flag. */
bool sup_wait_for(struct sup *s, const bool *flag, const struct sup_helper *h, int64_t limit_ms);

#endif
