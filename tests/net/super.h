/* SPDX-License-Identifier: MIT
 * zwatch's place for tests: starts the real zwatch-proxy and zwatch-resolver over their channels,
 * passes messages between them as zwatch does, and keeps what they report. One thread: a test waits
 * by running the loop. */
#ifndef ZW_TESTS_NET_SUPER_H
#define ZW_TESTS_NET_SUPER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/ipc/chan.h"

#define SUP_EVENTS_MAX 4096

/** What is kept of a conn_event; the last one of each number. */
struct tev {
	uint64_t seq, up_b, down_b, waited_ms;
	unsigned n_msgs, phase, did, via, port, by, n_times;
	uint32_t rule;
	bool had_commit;
	char host[256], address[65], reason[513], note[513], end[129], exe[256];
};

/** A question as the proxy asked it. */
struct task {
	uint64_t ask;
	unsigned n_waiting;
	bool is_gone;
	char target[300], asked[300], exe[256];
};

struct tsuper {
	struct zev_loop *loop;
	struct zw_chan *proxy, *resolver;
	pid_t proxy_pid, resolver_pid;
	bool is_proxy_ready, is_resolver_ready, is_proxy_gone, is_resolver_gone;
	const char *anchors;  /* file of trust anchors for the resolver, or NULL */
	bool want_no_commit;  /* leave commits unanswered */
	bool want_bad_commit; /* answer them with "not kept" */
	struct tev events[SUP_EVENTS_MAX];
	size_t n_events, n_phase1;
	struct task asks[256];
	size_t n_asks;
	unsigned n_queries; /* res_query seen */
	uint64_t own_query; /* number of the test's own lookup */
	bool has_answer;
	unsigned n_answers, n_ok;	 /* to other lookups of the test's own */
	struct zw_msg_res_answer answer; /* spans into answer_data */
	uint8_t answer_data[16384];
	struct zev_timer *timer;
	bool is_timeout;
};

/** Starts the loop; helpers by their own calls. */
void tsuper_init(struct tsuper *t);
/** Ends the helpers by closing their channels; returns false when one had died or did not end well. */
bool tsuper_fini(struct tsuper *t);

void tsuper_resolver_start(struct tsuper *t, const char *bin, const char *upstreams,
			   unsigned timeout_ms);

/** @listen_fds  HTTP, SOCKS5, transparent, DNS UDP, DNS TCP; borrowed. Policy goes out by the caller. */
void tsuper_proxy_start(struct tsuper *t, const char *bin, const struct zw_msg_px_setup *setup,
			const int listen_fds[5]);

/** Whether a helper is under its filter. */
bool tsuper_is_locked(pid_t pid);

/** Runs the loop until *@flag or @ms have passed; returns *@flag. */
bool tsuper_wait(struct tsuper *t, const bool *flag, int ms);
/** Runs the loop until @fd is ready for @what (ZEV_READ or ZEV_WRITE), or false after @ms. */
bool tsuper_wait_fd(struct tsuper *t, int fd, unsigned what, int ms);
/** Runs the loop for so long. */
void tsuper_idle(struct tsuper *t, int ms);

/**
 * Looks @name up through the resolver alone; NULL after @ms. Valid until the next call.
 * @type  0 = its addresses, else a number of DNS
 */
const struct zw_msg_res_answer *tsuper_lookup(struct tsuper *t, const char *name, unsigned type,
					      int ms);

#endif
