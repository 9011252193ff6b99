/* SPDX-License-Identifier: MIT
 * The network inside: loopback, one fake range, and sockets that zwatch listens on.
 *
 * A short-lived child joins the sandbox's user and network namespace from outside, since a socket
 * keeps the namespace it was made in: the proxy accepts inside and dials outside, and no process
 * of zwatch's network side lives in the sandbox. */
#ifndef ZW_SANDBOX_NETNS_H
#define ZW_SANDBOX_NETNS_H

#include <stdint.h>
#include <sys/types.h>

#include "sandbox/failure.h"

#define SB_NET_ADDR		0xc613fffeu /* 198.19.255.254, host order: zwatch's, inside */
#define SB_NET_FAKE		0xc6120000u /* 198.18.0.0: fake addresses of names, host order */
#define SB_NET_FAKE_BITS	15
#define SB_NET_HTTP_PORT	3128
#define SB_NET_SOCKS_PORT	1080
#define SB_NET_TRANSPARENT_PORT 15001
#define SB_NET_WHY_NAME		"zwatch-why" /* abstract */
#define SB_NET_DNS_ADDR		0x7f000001u  /* 127.0.0.1 */

/** Sockets made inside; non-blocking, close-on-exec. */
enum sb_net_sock {
	SB_NET_HTTP,	    /* TCP listener SB_NET_ADDR:SB_NET_HTTP_PORT */
	SB_NET_SOCKS,	    /* TCP listener SB_NET_ADDR:SB_NET_SOCKS_PORT */
	SB_NET_TRANSPARENT, /* TCP listener SB_NET_ADDR:SB_NET_TRANSPARENT_PORT */
	SB_NET_DNS_UDP,	    /* SB_NET_DNS_ADDR:53 */
	SB_NET_DNS_TCP,	    /* TCP listener SB_NET_DNS_ADDR:53 */
	SB_NET_DIAG,	    /* NETLINK_SOCK_DIAG: lists the sandbox's sockets only */
	SB_NET_WHY,	    /* Unix listener @SB_NET_WHY_NAME: tells the last refusal */
	SB_NET_MAX
};

/**
 * Joins the network of @pid, which is up, in a child, and makes the sockets. Takes some 0.3 ms.
 *
 * @ret     SB_NET_MAX descriptors; written on success only. Ownership: caller closes
 * Returns  0, or < 0 with *ret_failure filled
 */
int sb_netns_open(pid_t pid, int ret[SB_NET_MAX], struct sb_failure *ret_failure);

/**
 * One TCP socket of the network of @pid, for both families where the kernel has them: non-blocking,
 * close-on-exec, neither bound nor connected. Made as above, in a child.
 *
 * Returns  fd, or -errno. Ownership: caller closes
 */
int sb_netns_socket(pid_t pid);

#endif
