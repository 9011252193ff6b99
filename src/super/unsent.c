/* SPDX-License-Identifier: MIT
 * What programs sent past the proxy. A datagram without a connect() is asked of nobody: it ends in the
 * sandbox's own network, which has no way out, and the kernel counts it there. The files of these
 * counters are opened while there is a process inside, and keep its network alive until they are read. */
#include <fcntl.h>
#include <unistd.h>

#include "src/base/mem.h"
#include "src/super/super_i.h"

#define TEXT_MAX 16384

/* /proc/net/snmp has two lines for each protocol: names, then numbers in the same order. */
static uint64_t ip_no_route(const char *text)
{
	const char *names = strstr(text, "Ip: "), *numbers;

	if (names == NULL || (numbers = strstr(names + 1, "\nIp: ")) == NULL)
		return 0;
	numbers++;
	for (;;) {
		size_t len = strcspn(names, " \n");
		bool is_it = len == strlen("OutNoRoutes") && memcmp(names, "OutNoRoutes", len) == 0;

		if (is_it)
			return strtoull(numbers, NULL, 10);
		size_t width = strcspn(numbers, " \n");
		if (names[len] != ' ' || numbers[width] != ' ')
			return 0;
		names += len + 1;
		numbers += width + 1;
	}
}

static uint64_t ip6_no_route(const char *text)
{
	const char *at = strstr(text, "Ip6OutNoRoutes");

	return at != NULL ? strtoull(at + strlen("Ip6OutNoRoutes"), NULL, 10) : 0;
}

static uint64_t read_both(const struct sup *s)
{
	uint64_t n = 0;

	for (int i = 0; i < 2; i++) {
		char text[TEXT_MAX];
		ssize_t len = s->unsent_fds[i] < 0
				      ? -1
				      : pread(s->unsent_fds[i], text, sizeof(text) - 1, 0);

		if (len <= 0)
			continue;
		text[len] = '\0';
		n += i == 0 ? ip_no_route(text) : ip6_no_route(text);
	}
	return n;
}

void sup_unsent_start(struct sup *s)
{
	static const char *const files[] = {"snmp", "snmp6"};

	for (int i = 0; i < 2; i++) {
		zw_autofree char *path =
			zw_xasprintf("/proc/%d/net/%s", s->sandbox.init_pid, files[i]);

		s->unsent_fds[i] = open(path, O_RDONLY | O_CLOEXEC);
	}
	/* The self-test may have sent some. */
	s->unsent_before = read_both(s);
}

void sup_unsent_end(struct sup *s)
{
	uint64_t n = read_both(s);

	zw_close(&s->unsent_fds[0]);
	zw_close(&s->unsent_fds[1]);
	if (n <= s->unsent_before)
		return;
	zw_autofree char *text = zw_xasprintf(
		"%llu datagrams were sent past the proxy; none left, the sandbox has no way out",
		(unsigned long long)(n - s->unsent_before));
	sup_record(s, "network", text);
}
