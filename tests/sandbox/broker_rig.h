/* SPDX-License-Identifier: MIT
 * A broker under test: this process plays zwatch, a forked child in its own namespaces plays the
 * agent under a filter that notifies what the real one does, and zwatch-broker stands between. */
#ifndef ZW_TESTS_SANDBOX_BROKER_RIG_H
#define ZW_TESTS_SANDBOX_BROKER_RIG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sandbox/broker/sys.h"
#include "src/base/words.h"
#include "src/policy/policy.h"

#define RIG_HOST_ADDR	     0xc613fffeu /* 198.19.255.254 */
#define RIG_HTTP_PORT	     3128
#define RIG_SOCKS_PORT	     1080
#define RIG_TRANSPARENT_PORT 15001
#define RIG_ROWS_MAX	     512

/** One row as zwatch got it. */
struct rig_row {
	bool is_conn;
	uint64_t seq;
	unsigned want_commit, phase, did, op, by, n_times;
	uint64_t up_b, down_b, waited_ms;
	uint32_t rule, pid, listener_pid, listener_uid;
	char target[512], asked[512], class_name[64], reason[512], exe[512], cwd[512];
	char argv[512], chain[512]; /* the first of each */
};

struct rig_ask {
	uint64_t ask;
	char target[512], asked[512], class_name[64];
	unsigned risk;
	uint32_t listener_pid, listener_uid, pid, n_waiting;
	bool is_gone;
};

struct rig_who {
	uint16_t local_port, port;
	unsigned is_host_local, family;
	uint8_t addr[16];
	uint32_t pid;
};

struct rig {
	/* Wishes, before rig_start(). */
	const struct brk_sys *sys; /* not NULL: run the broker's code in a fork with these calls */
	int64_t hold_ms;
	bool cannot_ask;
	enum { RIG_KEEP, RIG_REFUSE, RIG_SILENT } commit;
	enum { RIG_LEAVE, RIG_ALLOW, RIG_DENY } answer;
	unsigned scope;
	uint16_t local_port;
	char allow[128]; /* a socket that a rule opens, whatever its risk; "" = none */
	/* What came. */
	struct rig_row rows[RIG_ROWS_MAX];
	size_t n_rows;
	struct rig_ask asks[64];
	size_t n_asks;
	struct rig_who whos[64];
	size_t n_whos;
	int end_error; /* of the channel; 0 = up */
	/* For the agent, with all that the caller may: before namespaces and filter. NULL = nothing. */
	void (*before)(struct rig *r);
	int fault_fd; /* of before(), in the agent */
	/* Parts. */
	char dir[64];	 /* of the host, seen inside */
	char hidden[80]; /* of the host, not seen inside */
	pid_t broker, agent;
	int ctl;		     /* seqpacket to the agent */
	int transparent_fd, http_fd; /* listeners inside */
	bool is_ready, has_result;
	int result;
	struct zev_loop *loop;
	struct zw_chan *chan;
	struct zev_io *ctl_io;
	struct zev_timer *tick;
	bool (*until)(struct rig *r);
	int64_t until_ms;
};

/** Makes one and its folders; never NULL. Call first. Ownership: caller, rig_free(). */
struct rig *rig_new(void);
/**
 * Starts everything. @agent runs inside, under the filter; its result comes to rig.result.
 * @ctl of the agent and rig.ctl are two ends: one byte each for steps (rig_step(), rig_wait_step()).
 * Skips the test (exit 77) when this machine cannot make the namespaces.
 */
void rig_start(struct rig *r, int (*agent)(struct rig *r));
/** Runs the loop until @until or @limit_ms; whether it held. From 5 s on the limit is as many times as
 * long as the variable ZW_SLOW says. */
bool rig_run(struct rig *r, bool (*until)(struct rig *r), int64_t limit_ms);
/** Until the agent's function has returned; fails the test after 20 s (times ZW_SLOW). Returns its result. */
int rig_result(struct rig *r);
/** Ends broker and agent, removes the folders. */
void rig_free(struct rig *r);

/* For rig_run(): a question has come; the agent has its result; only the limit ends it. */
bool rig_has_ask(struct rig *r);
bool rig_has_result(struct rig *r);
bool rig_never(struct rig *r);

/** Answers question @i. */
void rig_answer(struct rig *r, size_t i, enum pol_verdict verdict, unsigned scope);
/** First row with this and a target that ends so, of a bind excepted; NULL = none. */
const struct rig_row *rig_row(const struct rig *r, unsigned did, const char *target_end);
/** The same of operation @op alone. */
const struct rig_row *rig_row_op(const struct rig *r, unsigned op, unsigned did,
				 const char *target_end);
/** Tells the broker that event @seq is on record: for RIG_SILENT. */
void rig_commit(struct rig *r, uint64_t seq);
/** As the user who ends a connection on the list. */
void rig_close(struct rig *r, const char *target, uint32_t pid);

/** Either side: tells the other to go on; waits for that. */
void rig_step(int ctl);
void rig_wait_step(int ctl);

/** A listening socket at @path (or "@name"), in the namespace of the caller; fd, aborts on failure. */
int rig_listen(const char *path, int type, int backlog);
/** Forks a server that echoes what it gets, prefixed with @word; its pid. */
pid_t rig_echo(const char *path, int type, const char *word);
/** connect() of a new socket: fd, or -errno. "@name" is abstract. */
int rig_connect(const char *path, int type);
/** Whether nobody has connected to @listen_fd. */
bool rig_untouched(int listen_fd);

#endif
