/* SPDX-License-Identifier: MIT */
#include "sandbox/broker/ports.h"

#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>

/* "   0: 0100007F:0CEA 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 ..." */
#define LINE_TCP \
	" %*u: %32[0-9A-Fa-f]:%4x %*32[0-9A-Fa-f]:%*4x %2x %*8x:%*8x %*2x:%*8x %*8x %u %*d %lu"

/* Addresses stand as numbers of 32 bits in the machine's own order: their bytes are those of the net. */
static bool is_reached_by_loopback(const char *hex)
{
	uint8_t b[16];
	size_t n = strlen(hex) / 8;
	static const uint8_t zero[16], one[16] = {[15] = 1}, mapped[12] = {[10] = 0xff, 0xff};

	if (strlen(hex) != 8 && strlen(hex) != 32)
		return false;
	for (size_t i = 0; i < n; i++) {
		unsigned word;

		if (sscanf(hex + 8 * i, "%8x", &word) != 1)
			return false;
		uint32_t w = word;
		memcpy(b + 4 * i, &w, 4);
	}
	const uint8_t *v4 = n == 1 ? b : memcmp(b, mapped, sizeof(mapped)) == 0 ? b + 12 : NULL;
	if (v4 != NULL)
		return v4[0] == 127 || memcmp(v4, zero, 4) == 0;
	return memcmp(b, zero, 16) == 0 || memcmp(b, one, 16) == 0;
}

void brk_ports_parse(const char *text, bool (*each)(const struct brk_port *p, void *arg), void *arg)
{
	for (const char *line = strchr(text, '\n'); line != NULL; line = strchr(line, '\n')) {
		char addr[33];
		unsigned port, state, uid;
		unsigned long ino;

		line++;
		/* A line that was cut has no end to rely on. */
		if (strchr(line, '\n') == NULL)
			return;
		if (sscanf(line, LINE_TCP, addr, &port, &state, &uid, &ino) != 5)
			continue;
		struct brk_port p = {(uint16_t)port, uid, (uint32_t)ino};
		if (state == TCP_LISTEN && is_reached_by_loopback(addr) && !each(&p, arg))
			return;
	}
}

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
