/* SPDX-License-Identifier: MIT
 * Inside of src/super: the session's state, shared by its files. */
#ifndef ZW_SUPER_SUPER_I_H
#define ZW_SUPER_SUPER_I_H

#include <sys/queue.h>

#include "sandbox/launch.h"
#include "src/base/map.h"
#include "src/base/buf.h"
#include "src/ipc/chan.h"
#include "src/super/helper.h"
#include "src/super/super.h"

/* Typed and pasted bytes that the agent has not read yet; beyond it reading the tty stops. */
#define SUP_INPUT_MAX_B	 (4u << 20)
#define SUP_INPUT_HIGH_B (256u << 10)
#define SUP_INPUT_LOW_B	 (64u << 10)

/* The listeners stand first among the sandbox's sockets, in px_setup's order. */
#define SUP_N_LISTENERS SB_NET_DIAG

/** A question on its way: whose it is, and by which number there. */
struct sup_ask {
	TAILQ_ENTRY(sup_ask) link;
	uint64_t id;	   /* zwatch's own, as in the model */
	enum zw_role role; /* ROLE_BROKER or ROLE_PROXY */
	unsigned n_starts; /* of that helper, when it asked: a restarted one knows nothing of it */
	uint64_t theirs;   /* its number there */
	bool is_over;	   /* answered, missed or gone */
	char *target, *program; /* raw bytes, owned: for the rule that an answer makes */
	int64_t t_us;
};

/** A rule that an answer made. Strings owned. */
struct sup_rule {
	TAILQ_ENTRY(sup_rule) link;
	struct pol_rule rule;
	bool is_pinned; /* the broker keeps it by inode */
};

#define SUP_TRUST_MAX 8

struct sup {
	const struct sup_config *config;
	const struct sup_face *face; /* NULL = none */
	struct zev_loop *loop;
	struct mdl_session model;
	struct sb_session sandbox;
	bool is_face_open, has_sandbox, is_frozen;
	int64_t clip_ms; /* when the clipboard was last recorded, 0 = never */
	unsigned n_clips;

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

	/* cast.c */
	char *cast_path; /* owned; NULL = the screen was never recorded */

	/* net.c */
	struct zev_io *listen_io[SUP_N_LISTENERS]; /* watched while no proxy runs */
	struct zw_map queries;			   /* of the proxy, that no answer has come to */
	int64_t resolver_since_ms; /* of the minute that its starts are counted in */
	unsigned n_resolver_starts;

	/* trust.c */
	struct zw_buf ca_cert, ca_key;		 /* of the session's authority; empty = none */
	struct sb_text trust[SUP_TRUST_MAX + 1]; /* owned; the last one is empty */
	size_t n_trust;
	bool is_making_ca;

	/* asks.c */
	TAILQ_HEAD(, sup_ask) asks;
	TAILQ_HEAD(sup_rule_list, sup_rule) answers;
	uint64_t last_ask;
	uint32_t last_rule;
	uint64_t generation;
	struct zev_timer *hold_timer;
	char *undo_text;

	/* session.c */
	struct zev_timer *patience; /* ends a bounded wait */
	struct zev_signal *signals[8];
	bool is_prepared, is_closing, is_closed;
	int64_t started_us; /* wall clock */
	int64_t go_us;	    /* wall clock; when the agent was let go, INT64_MAX before */
	int end_signal;	    /* that told zwatch to end; 0 = none */
	struct sup_result *result;
};

/* agent.c */
/** Takes the pty and watches for the sandbox's end. */
void sup_agent_start(struct sup *s);
void sup_agent_fini(struct sup *s);
/** Starts zwatch-pane and gives it the terminal. */
void sup_pane_start(struct sup *s);
/** It ended: another takes over, or, after two deaths in a short time, the user is told. */
void sup_pane_dead(struct sup *s, const char *how);
void sup_on_pane_msg(struct sup *s, enum zw_msg_id id, const union zw_msg_any *msg);

/* asks.c */
void sup_on_ask(struct sup *s, struct sup_helper *h, const struct zw_msg_ask *m);
void sup_on_ask_more(struct sup *s, struct sup_helper *h, const struct zw_msg_ask_more *m);
void sup_on_ask_gone(struct sup *s, struct sup_helper *h, const struct zw_msg_ask_gone *m);
/** Every question of this helper is over: it died. */
void sup_asks_drop(struct sup *s, const struct sup_helper *h);
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

/* events.c */
void sup_on_sock_event(struct sup *s, struct sup_helper *h, const struct zw_msg_sock_event *m);
void sup_on_conn_event(struct sup *s, struct sup_helper *h, const struct zw_msg_conn_event *m);
void sup_on_committed(struct sup *s, const struct zw_msg_committed *m);
/** A line for the record (kind is a word of the store) and, as a warning, for the screen. */
void sup_record(struct sup *s, const char *kind, const char *text);
void sup_warn(struct sup *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void sup_changed(struct sup *s, unsigned changed);

/* net.c */
void sup_net_start(struct sup *s);
void sup_net_fini(struct sup *s);
void sup_on_tcp_who(struct sup *s, const struct zw_msg_tcp_who *m);
void sup_on_res_query(struct sup *s, const struct zw_msg_res_query *m);
void sup_on_res_answer(struct sup *s, const struct zw_msg_res_answer *m);
void sup_proxy_dead(struct sup *s);
/* Starts another one when questions are open, and asks them of it once more. */
void sup_resolver_dead(struct sup *s);

/* rules.c */
const struct cfg_catalogue *sup_catalogue(struct sup *s);
/** Sends the whole policy to a helper that decides. */
void sup_policy_send(struct sup *s, struct sup_helper *h);
/** Adds the rule of an answer (kind, action, pattern, program, reason; strings are copied), and
 * sends it on unless the broker keeps it by itself (@is_pinned). */
void sup_rule_add(struct sup *s, const struct pol_rule *rule, bool is_pinned);
void sup_rules_fini(struct sup *s);

/* trust.c */

/** Makes the session's certificate authority, when the settings want one, and puts what programs
 * inside read it from into the plan. Before sb_launch(). Returns 0 or a negative error. */
int sup_trust_start(struct sup *s);
void sup_trust_fini(struct sup *s);
void sup_on_px_ca(struct sup *s, const struct zw_msg_px_ca *m);

/* session.c */

/** Runs the loop until *flag, until @h is no more, or until the time is over. Returns *flag. */
bool sup_wait_for(struct sup *s, const bool *flag, const struct sup_helper *h, int64_t limit_ms);

#endif
