/* SPDX-License-Identifier: MIT */
#include "sandbox/broker/ports.h"

bool brk_ports_has(const struct brk_ports *s, uint16_t port)
{
	return (s->bits[port / 8] >> port % 8 & 1) != 0;
}

bool brk_ports_add(struct brk_ports *s, uint16_t port)
{
	if (brk_ports_has(s, port))
		return false;
	s->bits[port / 8] |= (uint8_t)(1u << port % 8);
	s->n++;
	return true;
}

void brk_ports_remove(struct brk_ports *s, uint16_t port)
{
	if (!brk_ports_has(s, port))
		return;
	s->bits[port / 8] &= (uint8_t) ~(1u << port % 8);
	s->n--;
}
