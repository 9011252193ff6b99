/* SPDX-License-Identifier: MIT
 * Who listens on a Unix socket, by NETLINK_SOCK_DIAG (sock_diag(7), unix_diag.h): it lists the
 * sockets of the network namespace that the netlink socket was made in, with the inode each is
 * bound to, its abstract name and its owner. No connection is made to find out. */
#ifndef ZW_SANDBOX_BROKER_DIAG_H
#define ZW_SANDBOX_BROKER_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sandbox/broker/sys.h"

struct brk_diag_sock {
	uint32_t sk_ino; /* of the socket itself: N of "socket:[N]" */
	uint8_t type;	 /* SOCK_* */
	bool is_listening;
	bool has_vfs, has_uid;
	uint32_t vfs_ino, vfs_dev; /* of the file it is bound to; the kernel's own dev_t */
	uint32_t uid;
	char name[128]; /* as bound; an abstract name begins with NUL */
	size_t name_len;
};

/** What is looked for: a file, or an abstract name. */
struct brk_diag_want {
	bool is_abstract;
	uint64_t ino;
	uint64_t dev;	  /* st_dev */
	const char *name; /* without the leading NUL */
	size_t name_len;
};

/**
 * Walks through one datagram of an answer.
 * Pure: any bytes are safe.
 *
 * @each    called with each socket; returns false to stop
 * Returns  1 more is to come, 0 the end of the answer, or stopped; -EINTR: the table changed while it
 *          was read, ask again; other -errno as the kernel told
 */
int brk_diag_parse(const uint8_t *buf, size_t len, uint32_t seq,
		   bool (*each)(const struct brk_diag_sock *s, void *arg), void *arg);

/** Whether @s is what @want describes. Inodes are compared as far as the kernel tells: 32 bits. */
bool brk_diag_is(const struct brk_diag_sock *s, const struct brk_diag_want *want);

/**
 * Asks for all bound Unix sockets and picks the one. A listening one is taken before others.
 * Not for two threads on one @fd at once. Bounded by the socket's receive timeout.
 *
 * Returns  1 found, 0 not there, -errno
 */
int brk_diag_find(const struct brk_sys *sys, int fd, const struct brk_diag_want *want,
		  struct brk_diag_sock *ret);

/** Opens one for the caller's own network namespace, with a receive timeout of 2 s; fd or -errno. */
int brk_diag_open(void);
/** Sets that timeout on a socket that came from elsewhere. 0 or -errno. */
int brk_diag_prepare(int fd);

#endif
