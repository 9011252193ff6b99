/* SPDX-License-Identifier: MIT
 * zwatch-proxy beside tinyproxy, squid and HAProxy, in one run, with the same clients and the same
 * origin on loopback, in turns: requests a second, CPU of the proxy for each, p99, CPU for each GB of
 * one tunnel, memory of an idle tunnel. bench_proxy.sh starts the others.
 *
 *   bench_proxy BIN ORIGIN_PORT BULK_PORT [NAME:PID:PORT]...
 *
 * The two ports are free ones that the others know. Every connection through zwatch is told to it
 * (tcp_who), recorded and committed, as in earnest. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "src/base/io.h"
#include "src/base/mem.h"
#include "tests/bench/load.h"
#include "tests/net/super.h"

#define BULK_B	   (1ull << 30)
#define N_IDLE	   1000 /* or as $N_IDLE says */
#define ROUNDS	   3	/* or as $ROUNDS says */
#define MS	   1000 /* of each measurement, or as $MS says */
#define OTHERS_MAX 4

/* One proxy of those that are compared. The first is zwatch. */
struct one {
	char *name;
	pid_t pid;
	uint16_t port;
	bool is_tcp; /* knows one target only, and no CONNECT */
};

/* The result of one measurement. */
struct figure {
	double per_s, cpu_us, p50_us, p99_us;
	unsigned n_failed;
};

static struct tsuper t;
static uint16_t origin_port, bulk_port;
static int port_pipe[2];
static struct load_result *result;
static struct one all[OTHERS_MAX + 1];
static size_t n_all = 1;

static unsigned setting(const char *name, unsigned otherwise)
{
	const char *s = getenv(name);

	return s != NULL ? (unsigned)atoi(s) : otherwise;
}

/* BULK_B bytes for each that sends one byte; without one, nothing, until the client ends. */
static void bulk_origin(int fd)
{
	static char block[262144];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		int conn = accept(fd, NULL, NULL);
		char what;

		if (conn < 0)
			continue;
		if (recv(conn, &what, 1, 0) == 1 && fork() == 0) {
			for (uint64_t n = 0; n < BULK_B; n += sizeof(block))
				if (zw_write_all(conn, block, sizeof(block)) < 0)
					break;
			_exit(0);
		}
		close(conn);
	}
}

/* Opens a tunnel and says by which port. Returns the socket or -1. */
static int tunnel(const struct one *p, uint16_t to, const char *first)
{
	struct sockaddr_in sa = {.sin_family = AF_INET,
				 .sin_port = htons(p->port),
				 .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(sa);
	char q[256], in[512];
	int n = 0, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0) {
		close(fd);
		return -1;
	}
	getsockname(fd, (struct sockaddr *)&sa, &len);
	uint16_t port = ntohs(sa.sin_port);
	if (p == &all[0] && write(port_pipe[1], &port, 2) != 2)
		_exit(1);
	if (!p->is_tcp)
		n = snprintf(q, sizeof(q),
			     "CONNECT 127.0.0.1:%u HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n", to, to);
	if ((n > 0 && (send(fd, q, (size_t)n, MSG_NOSIGNAL) != n ||
		       recv(fd, in, sizeof(in), 0) < 12 || memcmp(in + 8, " 200", 4) != 0)) ||
	    send(fd, first, strlen(first), MSG_NOSIGNAL) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Ports of new connections, as the broker would tell them. */
static void on_ports(int fd, unsigned what, void *arg)
{
	uint16_t ports[512];
	ssize_t n = read(fd, ports, sizeof(ports));

	(void)what;
	(void)arg;
	for (ssize_t i = 0; i < n / 2 && t.proxy != NULL; i++)
		zw_send(t.proxy, tcp_who, .local_port = ports[i], .family = 4,
			.addr = zw_span_n("\177\0\0\1", 4), .port = 1, .pid = 42,
			.exe = zw_span("/usr/bin/bench"), .argv = zw_span("bench"),
			.cwd = zw_span("/work"), .chain = zw_span("1 init"));
}

/* CPU seconds of a process so far, with threads that have ended. */
static double cpu_s(pid_t pid)
{
	struct timespec ts;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &ts) < 0)
		return 0;
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static long rss_kb(pid_t pid)
{
	char path[64];
	zw_autofree char *text = NULL;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (zw_read_file(path, 65536, &text, &len) < 0)
		return 0;
	const char *at = strstr(text, "VmRSS:");
	return at != NULL ? atol(at + 6) : 0;
}

static void wait_child(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, WNOHANG) == 0)
		tsuper_idle(&t, 20);
}

/* -- requests ----------------------------------------------------------------------------------- */

static struct figure measure(const struct one *p, enum load_kind kind, unsigned n_conns)
{
	struct load l = {.kind = kind,
			 .n_conns = n_conns,
			 .ms = setting("MS", MS),
			 .host = "127.0.0.1",
			 .proxy_port = p->port,
			 .origin_port = origin_port,
			 .port_fd = p == &all[0] ? port_pipe[1] : -1};
	double cpu = cpu_s(p->pid);
	pid_t pid = fork();

	if (pid == 0) {
		load_run(&l, result);
		_exit(0);
	}
	wait_child(pid);
	cpu = cpu_s(p->pid) - cpu;
	double n = result->n_ops > 0 ? result->n_ops : 1;
	return (struct figure){.per_s = n / result->seconds,
			       .cpu_us = cpu * 1e6 / n,
			       .p50_us = load_quantile(result, 0.5),
			       .p99_us = load_quantile(result, 0.99),
			       .n_failed = result->n_failed};
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), compare);
	return v[n / 2];
}

/* The middle of the rounds, each figure for itself. */
static struct figure middle(const struct figure *f, size_t n)
{
	struct figure ret = {0};
	double v[16];

#define MIDDLE(field)                          \
	do {                                   \
		for (size_t i = 0; i < n; i++) \
			v[i] = f[i].field;     \
		ret.field = median(v, n);      \
	} while (0)
	MIDDLE(per_s);
	MIDDLE(cpu_us);
	MIDDLE(p50_us);
	MIDDLE(p99_us);
#undef MIDDLE
	for (size_t i = 0; i < n; i++)
		ret.n_failed += f[i].n_failed;
	return ret;
}

static void bench_requests(enum load_kind kind, unsigned n_conns)
{
	static struct figure f[OTHERS_MAX + 1][16];
	struct figure m[OTHERS_MAX + 1];
	unsigned rounds = setting("ROUNDS", ROUNDS);

	rounds = rounds > 16 ? 16 : rounds;
	for (unsigned r = 0; r < rounds; r++)
		for (size_t i = 0; i < n_all; i++)
			if (!all[i].is_tcp)
				f[i][r] = measure(&all[i], kind, n_conns);
	for (size_t i = 0; i < n_all; i++) {
		if (all[i].is_tcp)
			continue;
		m[i] = middle(f[i], rounds);
		printf("%-14s %3u  %-10s %7.0f/s %7.1f us CPU  p50 %6.0f us  p99 %6.0f us",
		       load_name(kind), n_conns, all[i].name, m[i].per_s, m[i].cpu_us, m[i].p50_us,
		       m[i].p99_us);
		if (i > 0)
			printf("   zwatch: %.2f x the rate, %.2f x the CPU, %.2f x the p99",
			       m[0].per_s / m[i].per_s, m[0].cpu_us / m[i].cpu_us,
			       m[0].p99_us / m[i].p99_us);
		printf("%s\n", m[i].n_failed > 0 ? "   WITH FAILURES" : "");
	}
}

/* -- one big tunnel ----------------------------------------------------------------------------- */

static void bulk_client(const struct one *p)
{
	static char block[1 << 20];
	uint64_t got = 0;
	ssize_t n;
	int fd = tunnel(p, bulk_port, "b");

	while (fd >= 0 && got < BULK_B && (n = recv(fd, block, sizeof(block), 0)) > 0)
		got += (uint64_t)n;
	_exit(got == BULK_B ? 0 : 1);
}

static void bench_bulk(void)
{
	double rate[OTHERS_MAX + 1][ROUNDS], ms[OTHERS_MAX + 1][ROUNDS], gb = (double)BULK_B / 1e9;

	for (int r = 0; r < ROUNDS; r++) {
		for (size_t i = 0; i < n_all; i++) {
			double cpu = cpu_s(all[i].pid);
			int64_t t0 = zw_mono_us();
			pid_t pid = fork();

			if (pid == 0)
				bulk_client(&all[i]);
			wait_child(pid);
			rate[i][r] = gb * 1e6 / (double)(zw_mono_us() - t0);
			ms[i][r] = (cpu_s(all[i].pid) - cpu) * 1000 / gb;
		}
	}
	for (size_t i = 0; i < n_all; i++) {
		double m = median(ms[i], ROUNDS);

		printf("one tunnel          %-10s %7.2f GB/s %6.0f ms CPU per GB", all[i].name,
		       median(rate[i], ROUNDS), m);
		if (i > 0)
			printf("   zwatch: %.2f x the CPU", median(ms[0], ROUNDS) / m);
		printf("\n");
	}
}

/* -- many silent ones --------------------------------------------------------------------------- */

static void bench_idle(const struct one *p)
{
	unsigned n_idle = setting("N_IDLE", N_IDLE), n = 0;
	int done[2], go[2];
	long before = rss_kb(p->pid);
	char c;

	if (pipe(done) < 0 || pipe(go) < 0)
		return;
	pid_t pid = fork();
	if (pid == 0) {
		for (unsigned i = 0; i < n_idle; i++)
			n += tunnel(p, origin_port, "") >= 0;
		if (write(done[1], &n, sizeof(n)) < 0 || read(go[0], &c, 1) < 0)
			_exit(1);
		_exit(0);
	}
	tsuper_wait_fd(&t, done[0], ZEV_READ, 120000);
	if (read(done[0], &n, sizeof(n)) != sizeof(n))
		n = 0;
	tsuper_idle(&t, 1500);
	long after = rss_kb(p->pid);
	if (write(go[1], "x", 1) < 0)
		return;
	wait_child(pid);
	printf("%5u idle tunnels  %-10s %6.2f KB each (%ld KB before)\n", n, p->name,
	       n > 0 ? (double)(after - before) / n : 0, before);
}

/* -- */

static uint16_t zwatch_start(const char *bin)
{
	uint16_t ports[5];
	int fds[5];
	uint8_t local[4] = {(uint8_t)(origin_port >> 8), (uint8_t)origin_port,
			    (uint8_t)(bulk_port >> 8), (uint8_t)bulk_port};
	const struct zw_msg_px_setup m = {.resolve_ms = 5000,
					  .connect_ms = 10000,
					  .header_ms = 10000,
					  .tls_hello_ms = 5000,
					  .idle_ms = 3600000,
					  .local_ports = zw_span_n(local, sizeof(local))};

	for (int i = 0; i < 5; i++)
		fds[i] = load_listen(&ports[i], i == 3 ? SOCK_DGRAM : SOCK_STREAM);
	tsuper_proxy_start(&t, bin, &m, fds);
	zw_send(t.proxy, pol_begin, .generation = 1, .mode = 1);
	zw_send(t.proxy, pol_end, .generation = 1);
	if (!tsuper_wait(&t, &t.is_proxy_ready, 5000))
		zw_fatal("zwatch-proxy is not ready");
	for (int i = 0; i < 5; i++)
		close(fds[i]);
	return ports[0];
}

/* A listener on a port that the others were told before. */
static int listen_on(uint16_t port)
{
	struct sockaddr_in sa = {.sin_family = AF_INET,
				 .sin_port = htons(port),
				 .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 || listen(fd, 4096) < 0)
		zw_fatal("port %u: %s", port, strerror(errno));
	return fd;
}

static void others(int argc, char **argv)
{
	for (int i = 4; i < argc && n_all <= OTHERS_MAX; i++) {
		struct one *p = &all[n_all++];
		unsigned pid = 0, port = 0;

		if (sscanf(argv[i], "%m[^:]:%u:%u", &p->name, &pid, &port) != 3)
			zw_fatal("%s is not NAME:PID:PORT", argv[i]);
		p->pid = (pid_t)pid;
		p->port = (uint16_t)port;
		p->is_tcp = strncmp(p->name, "haproxy", 7) == 0;
	}
}

int main(int argc, char **argv)
{
	static const unsigned n_conns[] = {1, 16, 64};
	struct rlimit fds = {20000, 20000};
	const char *only = getenv("ONLY"); /* "idle", "requests" or "bulk" */

	if (argc < 4)
		zw_fatal("bench_proxy BIN ORIGIN_PORT BULK_PORT [NAME:PID:PORT]...");
	setvbuf(stdout, NULL, _IOLBF, 0);
	(void)setrlimit(RLIMIT_NOFILE, &fds);
	result = mmap(NULL, sizeof(*result), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (result == MAP_FAILED || pipe2(port_pipe, O_CLOEXEC) < 0)
		return 1;
	origin_port = (uint16_t)atoi(argv[2]);
	bulk_port = (uint16_t)atoi(argv[3]);
	others(argc, argv);
	int origin_fd = listen_on(origin_port), bulk_fd = listen_on(bulk_port);
	pid_t origin = fork();
	if (origin == 0)
		load_origin(origin_fd);
	pid_t bulk = fork();
	if (bulk == 0)
		bulk_origin(bulk_fd);
	tsuper_init(&t);
	struct zev_io *io = zev_io_new(t.loop, port_pipe[0], ZEV_READ, on_ports, NULL);
	all[0] = (struct one){zw_xstrdup("zwatch"), 0, zwatch_start(argv[1]), false};
	all[0].pid = t.proxy_pid;
	/* First, while no freed memory can be used again. */
	for (size_t i = 0; i < n_all && (only == NULL || strcmp(only, "idle") == 0); i++)
		if (!all[i].is_tcp)
			bench_idle(&all[i]);
	if (only == NULL || strcmp(only, "bulk") == 0)
		bench_bulk();
	for (int kind = LOAD_CONNECT; kind <= LOAD_PLAIN; kind++)
		for (size_t i = 0; i < ZW_N_ELEMENTS(n_conns); i++)
			if (only == NULL || strcmp(only, "requests") == 0)
				bench_requests((enum load_kind)kind, n_conns[i]);
	kill(origin, SIGKILL);
	kill(bulk, SIGKILL);
	zev_io_free(io);
	return tsuper_fini(&t) ? 0 : 1;
}
