/* SPDX-License-Identifier: MIT */
#include "src/base/tcp_table.h"

#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>

#define LINE_MAX_B 256

/* "   0: 0100007F:0CEA 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 ..." */
#define LINE " %*u: %32[0-9A-Fa-f]:%4x %*32[0-9A-Fa-f]:%*4x %2x %*8x:%*8x %*2x:%*8x %*8x %u %*d %lu"

/* Addresses stand as numbers of 32 bits in the machine's own order: their bytes are those of the net. */
static bool is_on_loopback(const char *hex)
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

/* A line by itself: blanks of the format would go on to the next one. */
static bool line_parse(const char *line, size_t len, struct zw_tcp_listener *ret)
{
	char text[LINE_MAX_B], addr[33];
	unsigned port, state, uid;
	unsigned long ino;

	if (len >= sizeof(text))
		return false;
	memcpy(text, line, len);
	text[len] = '\0';
	if (sscanf(text, LINE, addr, &port, &state, &uid, &ino) != 5 || state != TCP_LISTEN)
		return false;
	*ret = (struct zw_tcp_listener){.port = (uint16_t)port,
					.is_on_loopback = is_on_loopback(addr),
					.uid = uid,
					.ino = ino};
	return true;
}

void zw_tcp_table(const char *text, bool (*each)(const struct zw_tcp_listener *l, void *arg),
		  void *arg)
{
	const char *line = strchr(text, '\n'), *end;
	struct zw_tcp_listener l;

	for (; line != NULL && (end = strchr(line + 1, '\n')) != NULL; line = end)
		if (line_parse(line + 1, (size_t)(end - line - 1), &l) && !each(&l, arg))
			return;
}
