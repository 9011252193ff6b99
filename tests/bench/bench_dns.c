/* SPDX-License-Identifier: MIT
 * DNS, measured by hand (bench_dns.sh): answers of the name server inside, and lookups through
 * zwatch-resolver beside the server's own answers.
 *
 *   bench_dns BIN PORT UPSTREAM...    PORT: of the same server by UDP, in clear text */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "proxy/resolver/wire.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "tests/net/super.h"

enum { N_ANSWERS = 200000, WINDOW = 64, N_LOOKUPS = 2000 };

static struct tsuper t;

static int64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000000) + ts.tv_nsec / 1000;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static int udp_to(uint16_t port)
{
	struct sockaddr_in sa = {.sin_family = AF_INET,
				 .sin_port = htons(port),
				 .sin_addr = {htonl(INADDR_LOOPBACK)}};
	struct timeval patience = {2, 0};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
		zw_fatal("udp: %s", strerror(errno));
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return fd;
}

/* -- inside ------------------------------------------------------------------------------------- */

/* A child of its own asks, since this process serves the proxy's channel. */
static void flood(uint16_t port)
{
	int fd = udp_to(port);
	uint8_t query[RES_WIRE_QUERY_MAX], in[1500];
	unsigned n_sent = 0, n_got = 0;
	int64_t start = now_us();

	while (n_got < N_ANSWERS) {
		char name[64];

		while (n_sent < N_ANSWERS && n_sent - n_got < WINDOW) {
			snprintf(name, sizeof(name), "name%u.example", n_sent++ % 1000);
			int n = res_wire_query(name, RES_TYPE_A, query);
			(void)!send(fd, query, (size_t)n, 0);
		}
		if (recv(fd, in, sizeof(in), 0) < 0)
			break;
		n_got++;
	}
	double s = (double)(now_us() - start) / 1e6;
	printf("inside: %u of %u answers, %.0f answers/s\n", n_got, N_ANSWERS, n_got / s);
}

static void bench_inside(const char *bin)
{
	const struct zw_msg_px_setup m = {.resolve_ms = 5000};
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(sa);
	uint16_t port = 0;
	int fds[5], status;

	for (int i = 0; i < 5; i++) {
		sa.sin_port = 0;
		fds[i] = socket(AF_INET, (i == 3 ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC, 0);
		if (bind(fds[i], (struct sockaddr *)&sa, sizeof(sa)) < 0 ||
		    (i != 3 && listen(fds[i], 16) < 0) ||
		    getsockname(fds[i], (struct sockaddr *)&sa, &len) < 0)
			zw_fatal("listen: %s", strerror(errno));
		if (i == 3)
			port = ntohs(sa.sin_port);
	}
	tsuper_init(&t);
	tsuper_proxy_start(&t, bin, &m, fds);
	zw_send(t.proxy, pol_begin, .generation = 1, .mode = 1);
	zw_send(t.proxy, pol_end, .generation = 1);
	if (!tsuper_wait(&t, &t.is_proxy_ready, 10000))
		zw_fatal("zwatch-proxy is not ready");
	pid_t pid = fork();
	if (pid == 0) {
		flood(port);
		fflush(stdout);
		_exit(0);
	}
	while (waitpid(pid, &status, WNOHANG) == 0)
		tsuper_idle(&t, 20);
	(void)tsuper_fini(&t);
}

/* -- outside ------------------------------------------------------------------------------------ */

static void print(const char *what, double *ms, size_t n)
{
	double first = ms[0];

	qsort(ms + 1, n - 1, sizeof(ms[0]), compare);
	printf("%-44s first %.2f ms, then p50 %.3f ms, p99 %.3f ms\n", what, first, ms[n / 2],
	       ms[n * 99 / 100]);
}

static void bench_server(uint16_t port)
{
	static double ms[N_LOOKUPS];
	int fd = udp_to(port);

	for (int i = 0; i < N_LOOKUPS; i++) {
		uint8_t query[RES_WIRE_QUERY_MAX], in[1500];
		char name[64];

		snprintf(name, sizeof(name), "s%d.zw.test", i);
		int n = res_wire_query(name, RES_TYPE_A, query);
		int64_t start = now_us();
		if (send(fd, query, (size_t)n, 0) < 0 || recv(fd, in, sizeof(in), 0) < 0)
			zw_fatal("the server does not answer");
		ms[i] = (double)(now_us() - start) / 1e3;
	}
	close(fd);
	print("the server by UDP, one question", ms, N_LOOKUPS);
}

/* Names that no cache has; both types are asked for each. */
static void bench_upstream(const char *bin, const char *upstream)
{
	static double ms[N_LOOKUPS];

	tsuper_init(&t);
	tsuper_resolver_start(&t, bin, upstream, 5000);
	if (!tsuper_wait(&t, &t.is_resolver_ready, 10000))
		zw_fatal("zwatch-resolver is not ready");
	for (int i = 0; i < N_LOOKUPS; i++) {
		char name[64];

		snprintf(name, sizeof(name), "r%d.zw.test", i);
		int64_t start = now_us();
		if (tsuper_lookup(&t, name, 0, 6000) == NULL)
			zw_fatal("no answer");
		ms[i] = (double)(now_us() - start) / 1e3;
	}
	print(upstream, ms, N_LOOKUPS);
	(void)tsuper_fini(&t);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 4)
		zw_fatal("bench_dns BIN PORT UPSTREAM...");
	bench_inside(argv[1]);
	for (int round = 0; round < 3; round++) {
		bench_server((uint16_t)atoi(argv[2]));
		for (int i = 3; i < argc; i++)
			bench_upstream(argv[1], argv[i]);
	}
	return 0;
}
