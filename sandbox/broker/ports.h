/* SPDX-License-Identifier: MIT
 * TCP ports of loopback, inside and outside: which one has a server of the sandbox behind it, which
 * one of the host. What /proc/PID/net/tcp says, without a connection made to find out. */
#ifndef ZW_SANDBOX_BROKER_PORTS_H
#define ZW_SANDBOX_BROKER_PORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A listening TCP socket that loopback reaches. */
struct brk_port {
	uint16_t port;
	uint32_t uid, sk_ino;
};

/**
 * Goes through the text of a /proc/PID/net/tcp or tcp6, cut anywhere.
 * Pure: any bytes are safe.
 *
 * @each    called with each listener on a loopback address or on all addresses; false to stop
 */
void brk_ports_parse(const char *text, bool (*each)(const struct brk_port *p, void *arg),
		     void *arg);

/** A set of ports. */
struct brk_ports {
	uint8_t bits[65536 / 8];
	unsigned n;
};

bool brk_ports_has(const struct brk_ports *s, uint16_t port);
/** Returns whether it is new there. */
bool brk_ports_add(struct brk_ports *s, uint16_t port);
void brk_ports_remove(struct brk_ports *s, uint16_t port);

#endif
