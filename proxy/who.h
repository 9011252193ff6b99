/* SPDX-License-Identifier: MIT
 * Who connects: the broker tells, by local port, which program made a connection and, for a
 * redirected one, where it wanted to go. The message and the connection arrive in either order. */
#ifndef ZW_PROXY_WHO_H
#define ZW_PROXY_WHO_H

#include <stdbool.h>
#include <stdint.h>

#include "proxy/wheel.h"
#include "src/ipc/msg.h"
#include "src/policy/host.h"

/* A message that no connection came for is about one that failed: its port will be used again. */
#define PX_WHO_KEEP_MS 2000

/** One program and one destination; shared by counting. */
struct px_who {
	unsigned n_refs;
	uint16_t local_port;
	unsigned
		host_local; /* loopback, with no listener inside: a service of the host; as in tcp_who */
	uint32_t rule;	    /* that host_local stands for, 0 = none */
	struct pol_addr addr; /* where to, for the transparent listener */
	uint16_t port;
	uint32_t pid;
	uint64_t exe_id; /* zw_file_id() of it, 0 = not known */
	const char *exe; /* NUL-terminated, inside the object, as the next ones are */
	struct zw_span argv, cwd, chain;
	TAILQ_ENTRY(px_who) by_time;
	int64_t until_ms;
	char data[];
};

struct px_whos;

/** Ownership: px_whos_free(), NULL is ok; entries that are held elsewhere live on. */
struct px_whos *px_whos_new(struct px_wheel *wheel);
void px_whos_free(struct px_whos *w);

/** Keeps what the broker told, in the place of an older word about that port. */
void px_whos_put(struct px_whos *w, const struct zw_msg_tcp_who *m);
/** Takes the word about this port out: the caller's reference now; NULL = none is there. */
struct px_who *px_whos_take(struct px_whos *w, uint16_t local_port);

void px_who_unref(struct px_who *who);

#endif
