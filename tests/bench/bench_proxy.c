/* SPDX-License-Identifier: MIT
 * zwatch-proxy beside tinyproxy, in one run and with the same clients: connections a second, CPU of
 * the proxy for each, GB/s and CPU for each GB of one tunnel, memory of an idle tunnel.
 *
 *   bench_proxy BIN [TINYPROXY]
 *
 * Every connection through zwatch is told to it (tcp_who), recorded and committed, as in earnest. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "src/base/io.h"
#include "src/base/mem.h"
#include "tests/net/super.h"

#define WORKERS 8
#define CONN_S	3
#define BULK_B	(2ull << 30)
#define N_IDLE	1000 /* or as $N_IDLE says */
#define ROUNDS	3

static struct tsuper t;
static uint16_t origin_port;
static int port_pipe[2];

static int listen_any(uint16_t *ret_port, int type)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(sa);
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 ||
	    (type == SOCK_STREAM && listen(fd, 4096) < 0))
		zw_fatal("listen: %s", strerror(errno));
	getsockname(fd, (struct sockaddr *)&sa, &len);
	*ret_port = ntohs(sa.sin_port);
	return fd;
}

/* 'b': BULK_B bytes come; anything else: nothing does, until the client ends. */
static void origin(int fd)
{
	static char block[262144];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		int conn = accept(fd, NULL, NULL);
		char what = 0;

		if (conn < 0)
			continue;
		/* Most connections are for their own sake: no process for those. */
		struct timeval tv = {.tv_usec = 1};
		setsockopt(conn, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
		if (recv(conn, &what, 1, 0) != 1 || what != 'b') {
			static int kept[N_IDLE * 4];
			static size_t at;

			close(kept[at] > 0 ? kept[at] : -1);
			kept[at] = conn;
			at = (at + 1) % ZW_N_ELEMENTS(kept);
			continue;
		}
		if (fork() == 0) {
			for (uint64_t n = 0; n < BULK_B; n += sizeof(block))
				if (zw_write_all(conn, block, sizeof(block)) < 0)
					break;
			_exit(0);
		}
		close(conn);
	}
}

/* Opens a tunnel and says by which port. Returns the socket or -1. */
static int tunnel(uint16_t proxy_port, const char *first)
{
	struct sockaddr_in sa = {.sin_family = AF_INET,
				 .sin_port = htons(proxy_port),
				 .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(sa);
	char q[256], in[512];
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0) {
		close(fd);
		return -1;
	}
	getsockname(fd, (struct sockaddr *)&sa, &len);
	uint16_t port = ntohs(sa.sin_port);
	if (write(port_pipe[1], &port, 2) != 2)
		_exit(1);
	int n = snprintf(q, sizeof(q),
			 "CONNECT 127.0.0.1:%u HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n%s",
			 origin_port, origin_port, first);
	if (send(fd, q, (size_t)n, MSG_NOSIGNAL) != n || recv(fd, in, sizeof(in), 0) < 12 ||
	    memcmp(in + 8, " 200", 4) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static void worker(uint16_t proxy_port, uint64_t *count)
{
	struct linger l = {.l_onoff = 1};
	int64_t end_ms = zw_mono_ms() + CONN_S * 1000;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (zw_mono_ms() < end_ms) {
		int fd = tunnel(proxy_port, "");

		if (fd < 0)
			continue;
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
		close(fd);
		__atomic_add_fetch(count, 1, __ATOMIC_RELAXED);
	}
	_exit(0);
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

/* CPU seconds of a process so far, and its memory. */
static double cpu_s(pid_t pid)
{
	char path[64];
	zw_autofree char *text = NULL;
	size_t len;
	unsigned long user, sys;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (zw_read_file(path, 4096, &text, &len) < 0 ||
	    sscanf(strrchr(text, ')') + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
		   &user, &sys) != 2)
		return 0;
	return (double)(user + sys) / (double)sysconf(_SC_CLK_TCK);
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

static void wait_children(size_t n)
{
	while (n > 0) {
		int status;
		pid_t pid = waitpid(-1, &status, WNOHANG);

		if (pid > 0)
			n--;
		else
			tsuper_idle(&t, 5);
	}
}

static void bench_conns(const char *name, pid_t pid, uint16_t port, uint64_t *count)
{
	double cpu = cpu_s(pid);

	*count = 0;
	for (int i = 0; i < WORKERS; i++)
		if (fork() == 0)
			worker(port, count);
	wait_children(WORKERS);
	cpu = cpu_s(pid) - cpu;
	printf("%-10s %7.0f connections/s  %6.1f us CPU each\n", name, (double)*count / CONN_S,
	       *count > 0 ? cpu * 1e6 / (double)*count : 0);
}

static void bulk_client(uint16_t port)
{
	static char block[1 << 20];
	uint64_t got = 0;
	ssize_t n;
	int fd = tunnel(port, "b");

	while (fd >= 0 && got < BULK_B && (n = recv(fd, block, sizeof(block), 0)) > 0)
		got += (uint64_t)n;
	_exit(got >= BULK_B - 65536 ? 0 : 1);
}

static void bench_bulk(const char *name, pid_t pid, uint16_t port)
{
	double cpu = cpu_s(pid);
	int64_t t0 = zw_mono_us();

	if (fork() == 0)
		bulk_client(port);
	wait_children(1);
	double s = (double)(zw_mono_us() - t0) / 1e6, gb = (double)BULK_B / 1e9;
	printf("%-10s %7.2f GB/s           %6.0f ms CPU per GB\n", name, gb / s,
	       (cpu_s(pid) - cpu) * 1000 / gb);
}

static void bench_idle(const char *name, pid_t pid, uint16_t port)
{
	const char *wanted = getenv("N_IDLE");
	int n_idle = wanted != NULL ? atoi(wanted) : N_IDLE;
	int done[2], go[2];
	long before = rss_kb(pid);
	char c;

	if (pipe(done) < 0 || pipe(go) < 0)
		return;
	if (fork() == 0) {
		unsigned n = 0;

		for (int i = 0; i < n_idle; i++)
			n += tunnel(port, "") >= 0;
		if (write(done[1], &n, sizeof(n)) < 0 || read(go[0], &c, 1) < 0)
			_exit(1);
		_exit(0);
	}
	unsigned n = 0;
	tsuper_wait_fd(&t, done[0], ZEV_READ, 60000);
	if (read(done[0], &n, sizeof(n)) != sizeof(n))
		n = 0;
	tsuper_idle(&t, 300);
	long after = rss_kb(pid);
	if (write(go[1], "x", 1) < 0)
		return;
	wait_children(1);
	printf("%-10s %7u idle tunnels    %6.2f KB each (%ld KB before)\n", name, n,
	       n > 0 ? (double)(after - before) / n : 0, before);
}

static pid_t tinyproxy_start(const char *path, uint16_t *ret_port)
{
	char name[] = "/tmp/bench_proxy.XXXXXX";
	int hold = listen_any(ret_port, SOCK_STREAM), fd = mkostemp(name, O_CLOEXEC);

	close(hold);
	dprintf(fd,
		"Port %u\nListen 127.0.0.1\nTimeout 600\nMaxClients 3000\nAllow 127.0.0.1\n"
		"ConnectPort %u\nDisableViaHeader Yes\nLogLevel Critical\n",
		*ret_port, origin_port);
	close(fd);
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(open("/dev/null", O_WRONLY), 1);
		execl(path, path, "-d", "-c", name, (char *)NULL);
		_exit(127);
	}
	usleep(500000);
	unlink(name);
	return pid;
}

static uint16_t zwatch_start(const char *bin)
{
	uint16_t ports[5];
	int fds[5];
	uint8_t local[2] = {(uint8_t)(origin_port >> 8), (uint8_t)origin_port};
	const struct zw_msg_px_setup m = {.resolve_ms = 5000,
					  .connect_ms = 10000,
					  .header_ms = 10000,
					  .tls_hello_ms = 5000,
					  .idle_ms = 3600000,
					  .local_ports = zw_span_n(local, 2)};

	for (int i = 0; i < 5; i++)
		fds[i] = listen_any(&ports[i], i == 3 ? SOCK_DGRAM : SOCK_STREAM);
	tsuper_proxy_start(&t, bin, &m, fds);
	zw_send(t.proxy, pol_begin, .generation = 1, .mode = 1);
	zw_send(t.proxy, pol_end, .generation = 1);
	if (!tsuper_wait(&t, &t.is_proxy_ready, 5000))
		zw_fatal("zwatch-proxy is not ready");
	return ports[0];
}

int main(int argc, char **argv)
{
	pid_t tiny = 0;
	uint16_t tiny_port = 0, port;
	struct rlimit fds = {20000, 20000};

	setvbuf(stdout, NULL, _IOLBF, 0);
	(void)setrlimit(RLIMIT_NOFILE, &fds);
	uint64_t *count =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (count == MAP_FAILED || pipe2(port_pipe, O_CLOEXEC) < 0)
		return 1;
	int fd = listen_any(&origin_port, SOCK_STREAM);
	pid_t origin_pid = fork();
	if (origin_pid == 0)
		origin(fd);
	tsuper_init(&t);
	struct zev_io *io = zev_io_new(t.loop, port_pipe[0], ZEV_READ, on_ports, NULL);
	port = zwatch_start(argv[1]);
	if (argc > 2)
		tiny = tinyproxy_start(argv[2], &tiny_port);
	/* First, while no freed memory can be used again. */
	bench_idle("zwatch", t.proxy_pid, port);
	if (tiny > 0)
		bench_idle("tinyproxy", tiny, tiny_port);
	for (int i = 0; i < ROUNDS; i++) {
		bench_conns("zwatch", t.proxy_pid, port, count);
		if (tiny > 0)
			bench_conns("tinyproxy", tiny, tiny_port, count);
	}
	for (int i = 0; i < ROUNDS; i++) {
		bench_bulk("zwatch", t.proxy_pid, port);
		if (tiny > 0)
			bench_bulk("tinyproxy", tiny, tiny_port);
	}
	kill(origin_pid, SIGKILL);
	if (tiny > 0)
		kill(tiny, SIGKILL);
	zev_io_free(io);
	return tsuper_fini(&t) ? 0 : 1;
}
