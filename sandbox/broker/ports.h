/* SPDX-License-Identifier: MIT
 * A set of TCP ports: those of loopback that have a server of the sandbox behind them. */
#ifndef ZW_SANDBOX_BROKER_PORTS_H
#define ZW_SANDBOX_BROKER_PORTS_H

#include <stdbool.h>
#include <stdint.h>

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
