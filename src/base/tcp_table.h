/* SPDX-License-Identifier: MIT
 * /proc/PID/net/tcp and tcp6: who listens on which port, without a connection made to find out. */
#ifndef ZW_BASE_TCP_TABLE_H
#define ZW_BASE_TCP_TABLE_H

#include <stdbool.h>
#include <stdint.h>

/** A listening TCP socket. */
struct zw_tcp_listener {
	uint16_t port;
	bool is_on_loopback; /* reached by a loopback address: bound to one, or to all addresses */
	uint32_t uid;
	uint64_t ino; /* of the socket; 0 = the system does not tell */
};

/**
 * Goes through the text of such a table, which may be cut anywhere: what has no end of line is left
 * out, and so is the head. Pure: any bytes are safe.
 *
 * @each  called with each listener, in order; false to stop
 */
void zw_tcp_table(const char *text, bool (*each)(const struct zw_tcp_listener *l, void *arg),
		  void *arg);

#endif
