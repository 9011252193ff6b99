/* SPDX-License-Identifier: MIT
 * Clients and an origin for the benches of the proxy: one process each, plain epoll, so that what they
 * take of the machine is little and the same for whatever stands between them. */
#ifndef ZW_TESTS_BENCH_LOAD_H
#define ZW_TESTS_BENCH_LOAD_H

#include <stddef.h>
#include <stdint.h>

#define LOAD_BODY_B  512
#define LOAD_OPS_MAX 2000000

/** What one operation is. */
enum load_kind {
	LOAD_CONNECT, /* a tunnel, one GET, and its end */
	LOAD_TUNNEL,  /* a GET in a tunnel that stays */
	LOAD_PLAIN,   /* a GET of a whole URL, a connection each */
	LOAD_DIRECT,  /* a GET of the origin itself, a connection each */
	LOAD_N_KINDS,
};

struct load {
	enum load_kind kind;
	unsigned n_conns;
	unsigned ms;	  /* how long */
	const char *host; /* of the origin, as the proxy is told */
	uint16_t proxy_port, origin_port;
	int port_fd; /* every connection's own port is written there, 2 bytes; -1 = nowhere */
};

/** Kept in shared memory: the clients are a process of their own. */
struct load_result {
	unsigned n_ops, n_failed;
	double seconds;
	uint32_t us[LOAD_OPS_MAX]; /* of each operation */
};

const char *load_name(enum load_kind kind);

/** Serves on a listening socket for ever; dies with its parent. */
void load_origin(int fd) __attribute__((noreturn));

/** Runs the clients in this process and fills @ret. */
void load_run(const struct load *l, struct load_result *ret);

/** Sorts the times. @part  0.5 or 0.99. In microseconds. */
uint32_t load_quantile(struct load_result *r, double part);

/** A listener on 127.0.0.1; ends the process when there is none. @type SOCK_STREAM or SOCK_DGRAM */
int load_listen(uint16_t *ret_port, int type);

#endif
