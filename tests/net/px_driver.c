/* SPDX-License-Identifier: MIT
 * The real zwatch-proxy with the real zwatch-resolver: every way in, every way to be refused.
 * Started by proxy.sh, which runs a name server and gives
 *
 *   px_driver BIN UPSTREAMS [PART]
 *
 * Clients are sockets of this program; the origin is a child that sends back what it gets, so that
 * a test sees the very bytes which left the proxy. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/words.h"
#include "src/feed/feed.h"
#include "tests/net/super.h"

enum { HTTP, SOCKS, TRANSPARENT, DNS_UDP, DNS_TCP, N_LISTENERS };

#define EXE "/usr/bin/program"
/* Of an origin. */
#define HOSTILE "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n"

static struct tsuper t;
static const char *bin, *upstreams, *part;
static int listen_fds[N_LISTENERS];
static uint16_t listen_ports[N_LISTENERS], origin_port, closed_port, banner_port, hostile_port;
static bool has_443, has_80;
static unsigned n_bad, n_good;
static bool is_end_expected; /* the proxy was told to leave */
static char got[1 << 20];
static size_t got_len;

static void check(bool is_good, const char *what, int line)
{
	if (is_good) {
		n_good++;
		return;
	}
	n_bad++;
	printf("FAIL line %d: %s\n     got: %.300s\n", line, what, got);
	if (t.n_events > 0) {
		const struct tev *e = &t.events[t.n_events - 1];

		printf("     last row: %s %s:%u by %s via %s '%s' note '%s' end '%s' phase %u "
		       "times %u\n",
		       zw_did_word(e->did), e->host, e->port, zw_by_word(e->by),
		       zw_via_word(e->via), e->reason, e->note, e->end, e->phase, e->n_times);
	}
}
#define CHECK(x) check((x), #x, __LINE__)

/* -- origin ------------------------------------------------------------------------------------- */

static int listen_at(const char *addr, uint16_t port, int type, uint16_t *ret_port)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_port = htons(port)};
	socklen_t len = sizeof(sa);
	int on = 1, fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	inet_pton(AF_INET, addr, &sa.sin_addr);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 ||
	    (type == SOCK_STREAM && listen(fd, 512) < 0)) {
		close(fd);
		return -1;
	}
	getsockname(fd, (struct sockaddr *)&sa, &len);
	if (ret_port != NULL)
		*ret_port = ntohs(sa.sin_port);
	return fd;
}

/* Sends back what comes; with a banner it speaks first. One child a connection. */
static void origin_run(int fd, const char *banner)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		int conn = accept(fd, NULL, NULL);
		char buf[65536];
		ssize_t n;

		if (conn < 0)
			continue;
		if (fork() > 0) {
			close(conn);
			continue;
		}
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (banner != NULL && send(conn, banner, strlen(banner), 0) < 0)
			_exit(0);
		while ((n = recv(conn, buf, sizeof(buf), 0)) > 0)
			if (zw_write_all(conn, buf, (size_t)n) < 0)
				break;
		_exit(0);
	}
}

static void origin_start(const char *addr, uint16_t port, const char *banner, uint16_t *ret_port)
{
	int fd = listen_at(addr, port, SOCK_STREAM, ret_port);

	if (fd < 0)
		return;
	has_443 |= port == 443;
	has_80 |= port == 80;
	fflush(stdout);
	if (fork() == 0)
		origin_run(fd, banner);
	close(fd);
}

/* -- clients ------------------------------------------------------------------------------------ */

static void who(uint16_t port, const char *exe, bool is_host_local, const char *to,
		uint16_t to_port)
{
	uint8_t addr[16] = {0};
	int family = strchr(to, ':') != NULL ? 6 : 4;

	inet_pton(family == 6 ? AF_INET6 : AF_INET, to, addr);
	zw_send(t.proxy, tcp_who, .local_port = port, .is_host_local = is_host_local,
		.family = (uint8_t)family, .addr = zw_span_n(addr, family == 6 ? 16 : 4),
		.port = to_port, .pid = (uint32_t)getpid(), .exe = zw_span(exe),
		.argv = zw_span_n("program\0-x", 10), .cwd = zw_span("/work"),
		.chain = zw_span("1 init"));
}

static int raw_client(int listener, uint16_t *ret_port)
{
	struct sockaddr_in sa = {.sin_family = AF_INET,
				 .sin_port = htons(listen_ports[listener]),
				 .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(sa);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
		zw_fatal("connect to the proxy: %s", strerror(errno));
	getsockname(fd, (struct sockaddr *)&sa, &len);
	*ret_port = ntohs(sa.sin_port);
	return fd;
}

static int client_as(int listener, const char *exe, const char *to, uint16_t to_port)
{
	uint16_t port;
	int fd = raw_client(listener, &port);

	who(port, exe, false, to, to_port);
	return fd;
}

static int client(int listener)
{
	return client_as(listener, EXE, "127.0.0.1", listen_ports[listener]);
}

static void put(int fd, const void *p, size_t len)
{
	if (send(fd, p, len, MSG_NOSIGNAL) != (ssize_t)len)
		printf("     short send\n");
}

static void puts_to(int fd, const char *s)
{
	put(fd, s, strlen(s));
}

/* Reads into `got` until the end, @until has come, or @ms have passed. Returns 0 end, 1 found or
 * time, -1 reset. */
static int get(int fd, const char *until, int ms)
{
	int64_t end_ms = zw_mono_ms() + ms;

	got_len = 0;
	got[0] = '\0';
	while (zw_mono_ms() < end_ms &&
	       tsuper_wait_fd(&t, fd, ZEV_READ, (int)(end_ms - zw_mono_ms()))) {
		ssize_t n = recv(fd, got + got_len, sizeof(got) - got_len - 1, MSG_DONTWAIT);

		if (n < 0 && errno == EAGAIN)
			continue;
		if (n <= 0)
			return n == 0 ? 0 : -1;
		got_len += (size_t)n;
		got[got_len] = '\0';
		if (until != NULL && memmem(got, got_len, until, strlen(until)) != NULL)
			return 1;
	}
	return 1;
}

static bool has(const char *s)
{
	return memmem(got, got_len, s, strlen(s)) != NULL;
}

static const struct tev *last(void)
{
	static const struct tev none;

	return t.n_events > 0 ? &t.events[t.n_events - 1] : &none;
}

static bool row_is(unsigned did, unsigned by, const char *host)
{
	tsuper_idle(&t, 30);
	return last()->did == did && last()->by == by && strcmp(last()->host, host) == 0;
}

static char *fmt(const char *f, ...) __attribute__((format(printf, 1, 2)));
static char *fmt(const char *f, ...)
{
	static char ring[8][2048];
	static unsigned at;
	char *s = ring[at++ % 8];
	va_list ap;

	va_start(ap, f);
	vsnprintf(s, sizeof(ring[0]), f, ap);
	va_end(ap);
	return s;
}

static int connect_to(const char *host, uint16_t port)
{
	int fd = client(HTTP);

	puts_to(fd, fmt("CONNECT %s:%u HTTP/1.1\r\nHost: %s:%u\r\n\r\n", host, port, host, port));
	return fd;
}

static int socks5_to(const char *host, uint16_t port)
{
	uint8_t q[300] = {5, 1, 0, 5, 1, 0, 3, (uint8_t)strlen(host)};
	size_t n = 8;
	int fd = client(SOCKS);

	memcpy(q + n, host, strlen(host));
	n += strlen(host);
	q[n++] = (uint8_t)(port >> 8);
	q[n++] = (uint8_t)port;
	put(fd, q, n);
	return fd;
}

/* The second byte of the reply behind the method's two. */
static int socks5_code(int fd, int ms)
{
	int64_t end_ms = zw_mono_ms() + ms;

	got_len = 0;
	while (got_len < 12 && zw_mono_ms() < end_ms &&
	       tsuper_wait_fd(&t, fd, ZEV_READ, (int)(end_ms - zw_mono_ms()))) {
		ssize_t n = recv(fd, got + got_len, 12 - got_len, MSG_DONTWAIT);

		if (n <= 0)
			break;
		got_len += (size_t)n;
	}
	return got_len >= 4 && got[0] == 5 && got[1] == 0 ? got[3] : -1;
}

/* A ClientHello of TLS 1.2 with a name and one protocol. Returns its bytes. */
static size_t hello(const char *sni, const char *alpn, uint8_t *out)
{
	uint8_t ext[512];
	size_t e = 0, n = 0, len = sni != NULL ? strlen(sni) : 0;

	if (sni != NULL) {
		uint8_t head[] = {0, 0, 0,	     (uint8_t)(len + 5), 0, (uint8_t)(len + 3),
				  0, 0, (uint8_t)len};

		memcpy(ext, head, sizeof(head));
		memcpy(ext + sizeof(head), sni, len);
		e = sizeof(head) + len;
	}
	if (alpn != NULL) {
		size_t a = strlen(alpn);
		uint8_t head[] = {0, 16, 0, (uint8_t)(a + 3), 0, (uint8_t)(a + 1), (uint8_t)a};

		memcpy(ext + e, head, sizeof(head));
		memcpy(ext + e + sizeof(head), alpn, a);
		e += sizeof(head) + a;
	}
	uint8_t start[] = {0x16, 3, 1, 0, 0, 1, 0, 0, 0, 3, 3};
	memcpy(out, start, sizeof(start));
	n = sizeof(start);
	memset(out + n, 7, 32);
	n += 32;
	uint8_t rest[] = {0, 0, 2, 0x13, 1, 1, 0, (uint8_t)(e >> 8), (uint8_t)e};
	memcpy(out + n, rest, sizeof(rest));
	n += sizeof(rest);
	memcpy(out + n, ext, e);
	n += e;
	out[3] = (uint8_t)((n - 5) >> 8);
	out[4] = (uint8_t)(n - 5);
	out[7] = (uint8_t)((n - 9) >> 8);
	out[8] = (uint8_t)(n - 9);
	return n;
}

/* -- starting ----------------------------------------------------------------------------------- */

static void rule(enum pol_action action, uint32_t id, const char *pattern, const char *reason)
{
	struct pol_rule r = {.id = id,
			     .kind = POL_KIND_SITE,
			     .action = action,
			     .layer = POL_LAYER_USER,
			     .pattern = pattern,
			     .program = "",
			     .origin = "test",
			     .reason = reason};

	feed_send_rule(t.proxy, &r);
}

static void policy_send(enum pol_mode mode)
{
	static const char *const names[] = {"good", "web",  "alias",   "hop1", "toden", "mixed",
					    "many", "none", "nothing", "tls",  "*"};

	zw_send(t.proxy, pol_begin, .generation = 1, .mode = (uint8_t)mode);
	for (size_t i = 0; i < ZW_N_ELEMENTS(names) - 1; i++) {
		rule(POL_ACTION_ALLOW, (uint32_t)(10 + i),
		     fmt("%s.zw.test:%u", names[i], origin_port), "");
		rule(POL_ACTION_ALLOW, (uint32_t)(50 + i),
		     fmt("%s.zw.test:%u", names[i], closed_port), "");
		rule(POL_ACTION_ALLOW, (uint32_t)(70 + i),
		     fmt("%s.zw.test:%u", names[i], banner_port), "");
	}
	rule(POL_ACTION_ALLOW, 89, fmt("good.zw.test:%u", hostile_port), "");
	rule(POL_ACTION_ALLOW, 90, "tls.zw.test", "");
	for (const char *const *p =
		     (const char *const[]){"rfc1918", "cgnat", "link", "meta", "zero", "broadcast",
					   "fake", "nat64", "6to4", "teredo", "mapped", "mcast",
					   "ula", "loop6", NULL};
	     *p != NULL; p++)
		rule(POL_ACTION_ALLOW, 100, fmt("p-%s.zw.test:%u", *p, origin_port), "");
	rule(POL_ACTION_DENY, 200, "denied.zw.test", "this one is not for you");
	zw_send(t.proxy, pol_end, .generation = 1);
}

static void start(struct zw_msg_px_setup m, enum pol_mode mode)
{
	uint8_t ports[2] = {(uint8_t)(origin_port >> 8), (uint8_t)origin_port};

	tsuper_init(&t);
	for (int i = 0; i < N_LISTENERS; i++)
		listen_fds[i] = listen_at("127.0.0.1", 0, i == DNS_UDP ? SOCK_DGRAM : SOCK_STREAM,
					  &listen_ports[i]);
	m.local_ports = zw_span_n(ports, m.local_ports.len > 0 ? 2 : 0);
	m.private_allow = zw_span("127.0.0.0/8\n");
	tsuper_resolver_start(&t, bin, upstreams, 3000);
	tsuper_proxy_start(&t, bin, &m, listen_fds);
	policy_send(mode);
	if (!tsuper_wait(&t, &t.is_proxy_ready, 5000) ||
	    !tsuper_wait(&t, &t.is_resolver_ready, 5000)) {
		printf("FAIL not ready\n");
		exit(1);
	}
#ifndef ZW_SANITIZED
	CHECK(tsuper_is_locked(t.proxy_pid));
	CHECK(tsuper_is_locked(t.resolver_pid));
#endif
}

static const struct zw_msg_px_setup normal = {.can_ask = 1,
					      .resolve_ms = 4000,
					      .connect_ms = 3000,
					      .header_ms = 1000,
					      .tls_hello_ms = 700,
					      .idle_ms = 60000};

static void stop(void)
{
	CHECK(is_end_expected || !t.is_proxy_gone);
	is_end_expected = false;
	CHECK(!t.is_resolver_gone);
	CHECK(tsuper_fini(&t));
	for (int i = 0; i < N_LISTENERS; i++)
		close(listen_fds[i]);
}

/* -- ways in ------------------------------------------------------------------------------------ */

static void test_connect(void)
{
	int fd = connect_to("good.zw.test", origin_port);

	CHECK(get(fd, "\r\n\r\n", 3000) == 1 && has("HTTP/1.1 200"));
	puts_to(fd, "hello there");
	CHECK(get(fd, "hello there", 3000) == 1);
	tsuper_idle(&t, 1200);
	CHECK(t.n_phase1 >= 1);
	shutdown(fd, SHUT_WR);
	CHECK(get(fd, NULL, 3000) == 0);
	close(fd);
	CHECK(row_is(ZW_DID_ALLOW, ZW_BY_RULE, "good.zw.test"));
	CHECK(last()->had_commit && last()->phase == 2 && last()->up_b == 11 &&
	      last()->down_b == 11);
	CHECK(strcmp(last()->end, "closed by client") == 0 && last()->via == ZW_VIA_CONNECT);
	CHECK(strcmp(last()->address, "127.0.0.1") == 0 && strcmp(last()->exe, EXE) == 0);
	CHECK(last()->rule == 10);
}

static void test_absolute(void)
{
	int fd = client(HTTP);

	puts_to(fd, fmt("POST http://good.zw.test:%u/a/b?c=d HTTP/1.1\r\nHost: good.zw.test:%u\r\n"
			"Proxy-Authorization: Basic Zm9v\r\nConnection: keep-alive, "
			"X-Hop\r\nX-Hop: 1\r\n"
			"X-Keep: 2\r\nContent-Length: 4\r\n\r\nbodyGET http://other/ HTTP/1.1\r\n",
			origin_port, origin_port));
	CHECK(get(fd, "body", 3000) == 1);
	tsuper_idle(&t, 50);
	CHECK(zw_starts_with(got, "POST /a/b?c=d HTTP/1.1\r\n"));
	CHECK(has("Connection: close") && has("X-Keep: 2") && !has("X-Hop") && !has("Proxy-Auth"));
	CHECK(has(fmt("Host: good.zw.test:%u", origin_port)) && !has("GET http://other"));
	close(fd);
	CHECK(row_is(ZW_DID_ALLOW, ZW_BY_RULE, "good.zw.test") && last()->via == ZW_VIA_HTTP);
}

static void test_socks(void)
{
	uint8_t q4[64] = {4,   1, (uint8_t)(origin_port >> 8), (uint8_t)origin_port, 0, 0, 0, 1,
			  'u', 0};
	int fd = socks5_to("good.zw.test", origin_port);

	CHECK(socks5_code(fd, 3000) == 0);
	puts_to(fd, "over socks");
	CHECK(get(fd, "over socks", 3000) == 1);
	close(fd);
	CHECK(row_is(ZW_DID_ALLOW, ZW_BY_RULE, "good.zw.test") && last()->via == ZW_VIA_SOCKS5);
	fd = client(SOCKS);
	memcpy(q4 + 10, "good.zw.test", 13);
	put(fd, q4, 23);
	CHECK(get(fd, NULL, 300) == 1 && got_len == 8 && got[0] == 0 && got[1] == 90);
	puts_to(fd, "over socks 4");
	CHECK(get(fd, "over socks 4", 3000) == 1);
	close(fd);
}

/* Asks the name server inside for an A record. */
static bool dns_a(const char *name, char out[INET_ADDRSTRLEN], bool over_tcp)
{
	uint8_t q[300] = {0, 0, 0x12, 0x34, 1, 0, 0, 1}, r[600];
	size_t n = 14;
	struct sockaddr_in sa = {.sin_family = AF_INET,
				 .sin_port = htons(listen_ports[over_tcp ? DNS_TCP : DNS_UDP]),
				 .sin_addr = {htonl(INADDR_LOOPBACK)}};

	for (const char *p = name; *p != '\0';) {
		size_t l = strcspn(p, ".");

		q[n++] = (uint8_t)l;
		memcpy(q + n, p, l);
		n += l;
		p += l + (p[l] == '.');
	}
	q[n++] = 0;
	memcpy(q + n, (uint8_t[]){0, 1, 0, 1}, 4);
	n += 4;
	q[1] = (uint8_t)(n - 2);
	int fd = socket(AF_INET, over_tcp ? SOCK_STREAM : SOCK_DGRAM, 0);
	connect(fd, (struct sockaddr *)&sa, sizeof(sa));
	put(fd, q + (over_tcp ? 0 : 2), n - (over_tcp ? 0 : 2));
	bool is_there = tsuper_wait_fd(&t, fd, ZEV_READ, 2000);
	ssize_t len = is_there ? recv(fd, r, sizeof(r), MSG_DONTWAIT) : -1;
	close(fd);
	const uint8_t *m = over_tcp ? r + 2 : r;
	if (len < (ssize_t)n || m[0] != 0x12 || m[1] != 0x34 || m[7] != 1)
		return false;
	/* One answer: its address is the last four bytes, but for an OPT, which was not sent. */
	inet_ntop(AF_INET, r + len - 4, out, INET_ADDRSTRLEN);
	return true;
}

static void test_transparent(void)
{
	char fake[INET_ADDRSTRLEN] = "", again[INET_ADDRSTRLEN] = "", other[INET_ADDRSTRLEN] = "";
	unsigned before = t.n_queries;

	CHECK(dns_a("Good.ZW.test", fake, false) && zw_starts_with(fake, "198.1"));
	CHECK(dns_a("good.zw.test", again, true) && strcmp(fake, again) == 0);
	CHECK(dns_a("denied.zw.test", other, false) && strcmp(fake, other) != 0);
	CHECK(t.n_queries == before);
	int fd = client_as(TRANSPARENT, EXE, fake, origin_port);
	puts_to(fd, "no proxy known");
	CHECK(get(fd, "no proxy known", 3000) == 1);
	close(fd);
	CHECK(row_is(ZW_DID_ALLOW, ZW_BY_RULE, "good.zw.test") &&
	      last()->via == ZW_VIA_TRANSPARENT);
	fd = client_as(TRANSPARENT, EXE, fake, banner_port);
	CHECK(get(fd, "220 I speak first", 3000) == 1);
	close(fd);
	fd = client_as(TRANSPARENT, EXE, other, origin_port);
	CHECK(get(fd, NULL, 3000) == -1);
	close(fd);
	CHECK(row_is(ZW_DID_DENY, ZW_BY_RULE, "denied.zw.test") && last()->rule == 200);
	fd = client_as(TRANSPARENT, EXE, "198.19.7.7", origin_port);
	CHECK(get(fd, NULL, 3000) == -1);
	close(fd);
	CHECK(row_is(ZW_DID_DENY, ZW_BY_ADDRESS, "198.19.7.7"));
	fd = client_as(TRANSPARENT, EXE, "93.184.216.34", 80);
	CHECK(get(fd, NULL, 3000) == -1);
	close(fd);
	CHECK(row_is(ZW_DID_DENY, ZW_BY_ADDRESS, "93.184.216.34"));
}

static void test_host_local(void)
{
	uint16_t port;
	int fd = raw_client(TRANSPARENT, &port);

	who(port, EXE, true, "127.0.0.1", origin_port);
	puts_to(fd, "to the host");
	CHECK(get(fd, "to the host", 3000) == 1);
	close(fd);
	CHECK(row_is(ZW_DID_ALLOW, ZW_BY_RULE, "127.0.0.1"));
	fd = raw_client(TRANSPARENT, &port);
	who(port, EXE, true, "127.0.0.1", closed_port);
	CHECK(get(fd, NULL, 3000) == -1);
	close(fd);
	CHECK(row_is(ZW_DID_DENY, ZW_BY_ADDRESS, "127.0.0.1"));
	fd = connect_to("localhost", origin_port);
	CHECK(get(fd, "\r\n\r\n", 3000) == 1 && has(" 200 "));
	close(fd);
}

static void test_who(void)
{
	uint16_t port;
	int fd = raw_client(HTTP, &port);
	int64_t t0 = zw_mono_ms();

	CHECK(get(fd, NULL, 3000) == -1 && zw_mono_ms() - t0 >= 950);
	close(fd);
	CHECK(row_is(ZW_DID_DENY, ZW_BY_FAULT, ""));
	/* Told late, but in time. */
	fd = raw_client(HTTP, &port);
	puts_to(fd,
		fmt("CONNECT good.zw.test:%u HTTP/1.1\r\nHost: good.zw.test\r\n\r\n", origin_port));
	tsuper_idle(&t, 400);
	who(port, EXE, false, "127.0.0.1", listen_ports[HTTP]);
	CHECK(get(fd, "\r\n\r\n", 3000) == 1 && has(" 200 "));
	close(fd);
}

/* -- refusals ----------------------------------------------------------------------------------- */

static void test_denied(void)
{
	int fd = connect_to("Denied.zw.test.", 443);

	CHECK(get(fd, NULL, 3000) == 0);
	CHECK(zw_starts_with(got, "HTTP/1.1 403 ") && has("X-Zwatch-Decision: deny\r\n"));
	CHECK(has("this one is not for you"));
	CHECK(row_is(ZW_DID_DENY, ZW_BY_RULE, "denied.zw.test"));
	CHECK(has(fmt("X-Zwatch-Event: 7.%llu\r\n", (unsigned long long)last()->seq)));
	close(fd);
	fd = socks5_to("denied.zw.test", 80);
	CHECK(socks5_code(fd, 3000) == 2);
	close(fd);
	fd = connect_to("toden.zw.test", origin_port);
	CHECK(get(fd, NULL, 3000) == 0 && has(" 403 ") && has("alias of denied.zw.test"));
	close(fd);
	CHECK(row_is(ZW_DID_DENY, ZW_BY_RULE, "toden.zw.test") && last()->rule == 200);
	fd = connect_to("good.zw.test", 853);
	CHECK(get(fd, NULL, 3000) == 0 && has(" 403 ") && has("DNS over TLS"));
	close(fd);
	fd = connect_to("good.zw.test", 53);
	CHECK(get(fd, NULL, 3000) == 0 && has(" 403 ") && has("DNS"));
	close(fd);
	fd = client(HTTP);
	puts_to(fd, fmt("GET http://good.zw.test:%u/dns-query?dns=AAAB HTTP/1.1\r\n"
			"Host: good.zw.test:%u\r\n\r\n",
			origin_port, origin_port));
	CHECK(get(fd, NULL, 3000) == 0 && has(" 403 ") && has("DNS over HTTP"));
	close(fd);
}

static void test_z051_relayed_and_split(void)
{
	int fd = client(HTTP);

	for (const char *p = "CONNECT denied.zw.test:443 HTTP/1.1\r\nHost: denied.zw.test\r\n\r\n";
	     *p; p++) {
		put(fd, p, 1);
		if (p[0] == '\n')
			tsuper_idle(&t, 2);
	}
	CHECK(get(fd, NULL, 3000) == 0 && has(" 403 "));
	close(fd);
}

static void test_z043_spellings(void)
{
	static const char *const hosts[] = {
		"0x7f.1",	   "2130706433", "0177.0.0.1", "127.1",	   "[::ffff:127.0.0.1]",
		"[::ffff:7f00:1]", "[::1]",	 "0",	       "[0:0::1]", "017700000001",
		"169.254.169.254", "10.0.0.1"};
	unsigned queries = t.n_queries;

	for (size_t i = 0; i < ZW_N_ELEMENTS(hosts); i++) {
		size_t rows = t.n_events;
		/* A port that allowLocalPorts does not name. */
		int fd = connect_to(hosts[i], banner_port);

		CHECK(get(fd, NULL, 3000) == 0 && has(" 403 "));
		close(fd);
		CHECK(last()->did == ZW_DID_DENY && last()->by == ZW_BY_ADDRESS);
		fd = client(HTTP);
		puts_to(fd, fmt("GET http://%s:%u/ HTTP/1.1\r\nHost: %s:%u\r\n\r\n", hosts[i],
				banner_port, hosts[i], banner_port));
		CHECK(get(fd, NULL, 3000) == 0 && has(" 403 "));
		close(fd);
		fd = socks5_to(hosts[i], banner_port);
		CHECK(socks5_code(fd, 3000) == 2);
		close(fd);
		CHECK(t.n_events > rows || i > 0);
	}
	CHECK(t.n_queries == queries);
}

static void test_z044_answers(void)
{
	static const char *const names[] = {"rfc1918",	 "cgnat", "link",  "meta", "zero",
					    "broadcast", "fake",  "nat64", "6to4", "teredo",
					    "mapped",	 "mcast", "ula",   "loop6"};

	for (size_t i = 0; i < ZW_N_ELEMENTS(names); i++) {
		const char *host = fmt("p-%s.zw.test", names[i]);
		int fd = connect_to(host, origin_port);

		CHECK(get(fd, NULL, 3000) == 0 && has(" 403 ") && has("private address"));
		CHECK(row_is(ZW_DID_DENY, ZW_BY_ADDRESS, host));
		CHECK(strstr(last()->reason, "private address") != NULL && last()->phase == 2);
		close(fd);
	}
	int fd = connect_to("mixed.zw.test", origin_port);
	CHECK(get(fd, "\r\n\r\n", 3000) == 1 && has(" 200 "));
	close(fd);
	CHECK(row_is(ZW_DID_ALLOW, ZW_BY_RULE, "mixed.zw.test"));
	CHECK(strstr(last()->reason, "10.0.0.1") && strstr(last()->reason, "rebinding?"));
}

static void test_failures(void)
{
	int fd = connect_to("good.zw.test", closed_port);

	CHECK(get(fd, NULL, 3000) == 0 && has(" 502 ") && has("refused"));
	close(fd);
	CHECK(row_is(ZW_DID_FAIL, ZW_BY_RULE, "good.zw.test"));
	CHECK(zw_starts_with(last()->end, "connect failed: "));
	fd = socks5_to("good.zw.test", closed_port);
	CHECK(socks5_code(fd, 3000) == 5);
	close(fd);
	fd = connect_to("nothing.zw.test", origin_port);
	CHECK(get(fd, NULL, 3000) == 0 && has(" 502 ") && has("no such name"));
	close(fd);
	fd = connect_to("none.zw.test", origin_port);
	CHECK(get(fd, NULL, 3000) == 0 && has(" 502 ") && has("no address"));
	close(fd);
	fd = connect_to("many.zw.test", origin_port);
	CHECK(get(fd, "\r\n\r\n", 3000) == 1 && has(" 200 "));
	close(fd);
}

static void test_z055_wrong_protocol(void)
{
	uint8_t tls[1024];
	size_t n = hello("good.zw.test", NULL, tls);
	int fd = client(HTTP);

	put(fd, tls, n);
	CHECK(get(fd, NULL, 3000) == 0 && has(" 400 "));
	close(fd);
	CHECK(row_is(ZW_DID_DENY, ZW_BY_FAULT, ""));
	fd = client(SOCKS);
	put(fd, "\5\1\1", 3);
	CHECK(get(fd, NULL, 3000) == 0 && got_len == 2 && (uint8_t)got[1] == 255);
	close(fd);
	fd = client(SOCKS);
	puts_to(fd, "GET / HTTP/1.1\r\n\r\n");
	CHECK(get(fd, NULL, 3000) == 0);
	close(fd);
	fd = client(HTTP);
	puts_to(fd, "GET / HTTP/1.1\r\nHost: good.zw.test\r\n\r\n");
	CHECK(get(fd, NULL, 3000) == 0 && has(" 400 "));
	close(fd);
	fd = client(HTTP);
	put(fd, "C", 1);
	int64_t t0 = zw_mono_ms();
	CHECK(get(fd, NULL, 3000) == 0 && has(" 408 "));
	CHECK(zw_mono_ms() - t0 >= 900);
	close(fd);
	CHECK(row_is(ZW_DID_DENY, ZW_BY_TIMEOUT, ""));
}

static void test_z052_large_head(void)
{
	char *line = fmt("X-%s: 1\r\n", "abcdefghijklmnopqrstuvwxyz0123456789");
	int fd = client(HTTP), i;

	puts_to(fd, "GET http://good.zw.test/ HTTP/1.1\r\nHost: good.zw.test\r\n");
	for (i = 0; i < 2000; i++)
		if (send(fd, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
			break;
	CHECK(get(fd, NULL, 3000) <= 0 && has(" 431 "));
	close(fd);
}

/* Sizes of chunks and versions that overflow somewhere: from a client they end the request, from an
 * origin they are bytes like any other. */
static void test_z048_sizes_and_versions(void)
{
	static const char *const sizes[] = {"-5", "+5", "0x5", "ffffffffffffffff", "5 5", ""};
	static const char *const versions[] = {"HTTP/4294967295.255", "HTTP/1.1.1", "HTTP/-1.1",
					       "HTTP/2.0", "http/1.1"};
	int fd;

	for (size_t i = 0; i < ZW_N_ELEMENTS(sizes); i++) {
		fd = client(HTTP);
		puts_to(fd, fmt("POST http://good.zw.test:%u/ HTTP/1.1\r\nHost: good.zw.test:%u\r\n"
				"Transfer-Encoding: chunked\r\n\r\n%s\r\nhello\r\n0\r\n\r\n",
				origin_port, origin_port, sizes[i]));
		CHECK(get(fd, NULL, 3000) <= 0 && !has("hello"));
		close(fd);
		tsuper_idle(&t, 30);
		CHECK(strcmp(last()->host, "good.zw.test") == 0 && last()->phase == 2);
	}
	for (size_t i = 0; i < ZW_N_ELEMENTS(versions); i++) {
		fd = client(HTTP);
		puts_to(fd, fmt("GET http://good.zw.test:%u/ %s\r\nHost: good.zw.test:%u\r\n\r\n",
				origin_port, versions[i], origin_port));
		CHECK(get(fd, NULL, 3000) == 0 && has(" 400 ") + has(" 501 ") + has(" 505 ") == 1);
		close(fd);
	}
	fd = client(HTTP);
	puts_to(fd, fmt("GET http://good.zw.test:%u/ HTTP/1.1\r\nHost: good.zw.test:%u\r\n\r\n",
			hostile_port, hostile_port));
	CHECK(get(fd, "-5\r\n", 3000) == 1 && zw_starts_with(got, HOSTILE));
	close(fd);
}

/* What is meant for a proxy ends here, however it is spelt and however often. */
static void test_z053_hop_by_hop(void)
{
	int fd = client(HTTP);

	puts_to(fd, fmt("GET http://good.zw.test:%u/ HTTP/1.1\r\nHost: good.zw.test:%u\r\n"
			"Connection: Connection, connection, Host, X-Hop\r\nX-Hop: gone\r\n"
			"Proxy-Connection: keep-alive\r\nTE: trailers\r\nConnection: TE",
			origin_port, origin_port));
	for (int i = 0; i < 500; i++)
		puts_to(fd, fmt(", n%d", i));
	puts_to(fd, "\r\nn499: gone\r\nX-Kept: 1\r\n\r\n");
	CHECK(get(fd, "\r\n\r\n", 3000) == 1);
	CHECK(has("X-Kept: 1\r\n") && has(fmt("Host: good.zw.test:%u\r\n", origin_port)));
	CHECK(!has("gone") && !has("trailers") && !has("Proxy-Connection") && !has("n12"));
	CHECK(has("Connection: close\r\n"));
	close(fd);
}

/* A refusal is one well-formed answer in plain text, whatever it is about. */
static void test_z054_error_text(void)
{
	static const char *const targets[] = {
		"a.test\rX-Injected:1",		 "a\ttest:443",
		"<script>alert(1)</script>:443", "<script>.denied.zw.test:443",
		"%0d%0aX-Injected:1:443",	 "\x1b]0;x\a.test:443",
		"\xff\xfe\x80\x9b.test:443"};
	char binary[301];

	for (size_t i = 0; i < 300; i++)
		binary[i] = (char)(128 + i % 127);
	binary[300] = '\0';
	for (size_t i = 0; i <= ZW_N_ELEMENTS(targets); i++) {
		const char *target = i < ZW_N_ELEMENTS(targets) ? targets[i] : binary;
		int fd = client(HTTP);

		puts_to(fd, fmt("CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target));
		CHECK(get(fd, NULL, 3000) == 0 && zw_starts_with(got, "HTTP/1.1 4"));
		CHECK(got_len < 4096 && !has("X-Injected") && !has("<script"));
		CHECK(has("Content-Type: text/plain"));
		for (size_t n = 0; n < got_len; n++)
			if ((uint8_t)got[n] >= 127 ||
			    ((uint8_t)got[n] < ' ' && got[n] != '\r' && got[n] != '\n')) {
				CHECK(!"printable");
				break;
			}
		close(fd);
	}
}

/* zwatch asks for no credentials, and keeps those that were meant for a proxy; another spelling of the
 * target is the same target, and a second one on the same connection is not served unjudged. */
static void test_z058_credentials_and_retries(void)
{
	const char *auth = "Proxy-Authorization: Basic c2VjcmV0\r\n";
	int fd = client(HTTP);

	puts_to(fd, fmt("CONNECT GOOD.zw.Test:%u HTTP/1.1\r\nHost: good.ZW.test:%u\r\n%s\r\nping",
			origin_port, origin_port, auth));
	CHECK(get(fd, "ping", 3000) == 1 && has(" 200 "));
	close(fd);
	CHECK(row_is(ZW_DID_ALLOW, ZW_BY_RULE, "good.zw.test"));
	fd = client(HTTP);
	puts_to(fd, fmt("GET http://good.zw.test:%u/ HTTP/1.1\r\nHost: good.zw.test:%u\r\n%s\r\n"
			"GET http://denied.zw.test/ HTTP/1.1\r\nHost: denied.zw.test\r\n\r\n",
			origin_port, origin_port, auth));
	CHECK(get(fd, "\r\n\r\n", 3000) == 1 && has("GET / HTTP/1.1\r\n"));
	tsuper_idle(&t, 100);
	CHECK(!has("Proxy-Auth") && !has("c2VjcmV0") && !has("denied.zw.test"));
	close(fd);
	CHECK(strstr(last()->reason, "c2VjcmV0") == NULL);
}

/* -- TLS ---------------------------------------------------------------------------------------- */

static int send_hello(const char *host, uint16_t port, const char *sni, const char *alpn)
{
	uint8_t tls[1024];
	size_t n = hello(sni, alpn, tls);
	int fd = connect_to(host, port);

	CHECK(get(fd, "\r\n\r\n", 3000) == 1 && has(" 200 "));
	/* In two pieces, inside the name. */
	put(fd, tls, 60);
	tsuper_idle(&t, 5);
	put(fd, tls + 60, n - 60);
	return fd;
}

static void expect_alert(const char *sni, const char *alpn)
{
	int fd = send_hello("good.zw.test", origin_port, sni, alpn);

	CHECK(get(fd, NULL, 3000) <= 0 && got_len == 7 && got[0] == 0x15);
	close(fd);
	CHECK(row_is(ZW_DID_DENY, ZW_BY_NAME, "good.zw.test") && last()->up_b == 0);
}

static void test_tls_names(void)
{
	int fd = send_hello("good.zw.test", origin_port, "GOOD.zw.test", "h2");

	CHECK(get(fd, NULL, 300) == 1 && got_len > 60 && got[0] == 0x16);
	close(fd);
	CHECK(row_is(ZW_DID_ALLOW, ZW_BY_RULE, "good.zw.test"));
	expect_alert("other.zw.test", NULL);
	expect_alert(NULL, "http/1.1");
	expect_alert("good.zw.test", "dot");
	expect_alert("good.zw.test", "h3");
	if (!has_443) {
		printf("     port 443 cannot be bound: left out\n");
		return;
	}
	fd = connect_to("tls.zw.test", 443);
	CHECK(get(fd, "\r\n\r\n", 3000) == 1);
	puts_to(fd, "EHLO x\r\n");
	CHECK(get(fd, NULL, 3000) <= 0 && !has("EHLO"));
	close(fd);
	CHECK(row_is(ZW_DID_DENY, ZW_BY_NAME, "tls.zw.test"));
	/* SSH names no host; many reach it on this port alone. In pieces it is no other. */
	fd = connect_to("tls.zw.test", 443);
	CHECK(get(fd, "\r\n\r\n", 3000) == 1);
	puts_to(fd, "SSH");
	tsuper_idle(&t, 50);
	puts_to(fd, "-2.0-x\r\n");
	CHECK(get(fd, "SSH-2.0-x", 3000) == 1);
	close(fd);
	CHECK(row_is(ZW_DID_ALLOW, ZW_BY_RULE, "tls.zw.test"));
	fd = connect_to("tls.zw.test", 443);
	CHECK(get(fd, "\r\n\r\n", 3000) == 1);
	puts_to(fd, "SSH-1.5-x\r\n");
	CHECK(get(fd, NULL, 3000) <= 0 && !has("SSH"));
	close(fd);
	fd = connect_to("tls.zw.test", 443);
	CHECK(get(fd, "\r\n\r\n", 3000) == 1);
	CHECK(get(fd, NULL, 3000) <= 0);
	close(fd);
	CHECK(row_is(ZW_DID_DENY, ZW_BY_NAME, "tls.zw.test"));
}

/* Port 80: the Host field counts, and one request is one connection. */
static void test_z046_host_field(void)
{
	char fake[INET_ADDRSTRLEN] = "";

	if (!has_80) {
		printf("     port 80 cannot be bound: left out\n");
		return;
	}
	CHECK(dns_a("tls.zw.test", fake, false));
	int fd = client_as(TRANSPARENT, EXE, fake, 80);
	puts_to(fd, "GET /x HTTP/1.1\r\nHost: TLS.zw.test\r\n\r\nGET /y HTTP/1.1\r\nHost: "
		    "other\r\n\r\n");
	CHECK(get(fd, "\r\n\r\n", 3000) == 1);
	tsuper_idle(&t, 30);
	CHECK(zw_starts_with(got, "GET /x HTTP/1.1\r\nHost: tls.zw.test\r\n") && !has("/y"));
	CHECK(has("Connection: close"));
	close(fd);
	CHECK(row_is(ZW_DID_ALLOW, ZW_BY_RULE, "tls.zw.test"));
	fd = client_as(TRANSPARENT, EXE, fake, 80);
	puts_to(fd, "GET /x HTTP/1.1\r\nHost: denied.zw.test\r\n\r\n");
	CHECK(get(fd, NULL, 3000) == 0 && has(" 403 ") && !has("GET /x"));
	close(fd);
	CHECK(row_is(ZW_DID_DENY, ZW_BY_NAME, "tls.zw.test") && last()->up_b == 0);
	fd = client_as(TRANSPARENT, EXE, fake, 80);
	puts_to(fd, "POST /x HTTP/1.1\r\nHost: tls.zw.test\r\nTransfer-Encoding: "
		    "chunked\r\n\r\n-1\r\n");
	CHECK(get(fd, NULL, 3000) <= 0 && !has("-1"));
	close(fd);
	CHECK(row_is(ZW_DID_DENY, ZW_BY_FAULT, "tls.zw.test"));
	/* Beginnings that a lenient server reads as a request are none here. */
	static const char *const smuggled[] = {
		"\r\nGET /x HTTP/1.1\r\nHost: denied.zw.test\r\n\r\n",
		"\nGET /x HTTP/1.1\r\nHost: denied.zw.test\r\n\r\n",
		"get /x HTTP/1.1\r\nHost: denied.zw.test\r\n\r\n"};
	for (size_t i = 0; i < ZW_N_ELEMENTS(smuggled); i++) {
		fd = client_as(TRANSPARENT, EXE, fake, 80);
		puts_to(fd, smuggled[i]);
		CHECK(get(fd, NULL, 3000) >= 0 && !has("GET /x") && !has("get /x"));
		close(fd);
	}
	/* Something else on port 80 is not held up. */
	fd = client_as(TRANSPARENT, EXE, fake, 80);
	puts_to(fd, "\1\2binary");
	CHECK(get(fd, "binary", 3000) == 1);
	close(fd);
}

/* -- questions ---------------------------------------------------------------------------------- */

static struct task *question(int ms)
{
	int64_t end_ms = zw_mono_ms() + ms;
	size_t n = t.n_asks;

	while (t.n_asks == n && zw_mono_ms() < end_ms)
		tsuper_idle(&t, 2);
	return t.n_asks > n ? &t.asks[t.n_asks - 1] : NULL;
}

static void answer(uint64_t ask, enum pol_verdict v, unsigned scope, const char *note)
{
	zw_send(t.proxy, ask_answer, .ask = ask, .verdict = (uint8_t)v, .scope = (uint8_t)scope,
		.by = ZW_BY_USER, .note = zw_span(note));
}

static void test_ask_allow(void)
{
	unsigned queries = t.n_queries;
	int fd = connect_to("Asked.zw.test", origin_port);
	struct task *q = question(2000);

	CHECK(q != NULL && strcmp(q->target, fmt("asked.zw.test:%u", origin_port)) == 0);
	CHECK(q != NULL && strcmp(q->asked, fmt("Asked.zw.test:%u", origin_port)) == 0);
	int fd2 = socks5_to("asked.zw.test", origin_port);
	CHECK(get(fd, NULL, 300) == 1 && got_len == 0);
	CHECK(q != NULL && q->n_waiting == 2 && t.n_queries == queries);
	if (q == NULL)
		return;
	answer(q->ask, POL_ALLOW, ZW_SCOPE_ONCE, "");
	CHECK(get(fd, "\r\n\r\n", 3000) == 1 && has(" 200 "));
	CHECK(socks5_code(fd2, 3000) == 0);
	CHECK(row_is(ZW_DID_ALLOW, ZW_BY_USER, "asked.zw.test") && last()->waited_ms >= 200);
	close(fd);
	close(fd2);
	/* Once lasts for a moment: the same program, the same place. */
	fd = connect_to("asked.zw.test", origin_port);
	CHECK(get(fd, "\r\n\r\n", 3000) == 1 && has(" 200 "));
	close(fd);
	/* Another program is asked anew; it gives up first. */
	fd = client_as(HTTP, "/usr/bin/other", "127.0.0.1", 1);
	puts_to(fd, fmt("CONNECT asked.zw.test:%u HTTP/1.1\r\nHost: asked.zw.test\r\n\r\n",
			origin_port));
	q = question(2000);
	CHECK(q != NULL && strcmp(q->exe, "/usr/bin/other") == 0 && !q->is_gone);
	close(fd);
	tsuper_idle(&t, 60);
	CHECK(q != NULL && q->is_gone);
	CHECK(row_is(ZW_DID_GONE, ZW_BY_NATIVE, "asked.zw.test"));
}

static void test_ask_deny(void)
{
	int fd = connect_to("other.zw.test", origin_port);
	struct task *q = question(2000);

	CHECK(q != NULL);
	if (q == NULL)
		return;
	answer(q->ask, POL_DENY, ZW_SCOPE_ONCE, "use the mirror\r\nX-Evil: 1");
	CHECK(get(fd, NULL, 3000) == 0 && has(" 403 ") && has("use the mirror\\r\\nX-Evil"));
	CHECK(row_is(ZW_DID_DENY, ZW_BY_USER, "other.zw.test"));
	CHECK(zw_starts_with(last()->note, "use the mirror"));
	close(fd);
	fd = connect_to("other.zw.test", origin_port);
	CHECK(get(fd, NULL, 3000) == 0 && has(" 403 "));
	close(fd);
}

static void test_ask_rule_comes(void)
{
	int fd = connect_to("new.zw.test", closed_port);
	struct task *q = question(2000);

	CHECK(q != NULL);
	rule(POL_ACTION_DENY, 300, "new.zw.test", "a new rule");
	CHECK(get(fd, NULL, 3000) == 0 && has(" 403 ") && has("a new rule"));
	CHECK(q != NULL && q->is_gone && row_is(ZW_DID_DENY, ZW_BY_RULE, "new.zw.test"));
	close(fd);
}

static void test_z121_no_answer_is_no(void)
{
	int fd = connect_to("late.zw.test", origin_port);
	struct task *q = question(2000);
	int64_t t0 = zw_mono_ms();

	CHECK(q != NULL);
	CHECK(get(fd, NULL, 4000) == 0 && has(" 403 "));
	CHECK(zw_mono_ms() - t0 > 1200);
	CHECK(row_is(ZW_DID_MISS, ZW_BY_TIMEOUT, "late.zw.test") && t.n_queries == 0);
	CHECK(q != NULL && q->is_gone);
	close(fd);
	/* zwatch goes away while a question is open. */
	fd = connect_to("orphan.zw.test", origin_port);
	CHECK(question(2000) != NULL);
	zw_chan_free(t.proxy);
	t.proxy = NULL;
	CHECK(get(fd, NULL, 3000) <= 0 && !has(" 200 "));
	close(fd);
}

/* -- record and limits -------------------------------------------------------------------------- */

static void test_commit(void)
{
	t.want_bad_commit = true;
	int fd = connect_to("good.zw.test", origin_port);

	CHECK(get(fd, NULL, 3000) == 0 && has(" 403 ") && has("could not be recorded"));
	CHECK(row_is(ZW_DID_DENY, ZW_BY_FAULT, "good.zw.test"));
	close(fd);
	t.want_bad_commit = false;
	t.want_no_commit = true;
	unsigned queries = t.n_queries;
	fd = connect_to("good.zw.test", origin_port);
	CHECK(get(fd, NULL, 1500) == 1 && got_len == 0 && t.n_queries == queries);
	t.want_no_commit = false;
	close(fd);
}

static void test_storm(void)
{
	size_t before = t.n_events;

	for (int i = 0; i < 40; i++) {
		int fd = connect_to("denied.zw.test", 8080);

		CHECK(get(fd, NULL, 3000) == 0);
		close(fd);
	}
	tsuper_idle(&t, 1300);
	unsigned n = 0;
	for (size_t i = before; i < t.n_events; i++)
		n += t.events[i].n_times;
	CHECK(n == 40 && t.n_events - before <= 3);
}

static unsigned n_open(void)
{
	unsigned n = 0;

	for (size_t i = 0; i < t.n_events; i++)
		n += t.events[i].did == ZW_DID_ALLOW && t.events[i].phase != 2;
	return n;
}

static void test_limits(void)
{
	int fds[12];
	unsigned n_200 = 0, n_503 = 0;

	for (size_t i = 0; i < ZW_N_ELEMENTS(fds); i++) {
		fds[i] = connect_to(i % 2 ? "good.zw.test" : "web.zw.test", origin_port);
		CHECK(get(fds[i], "\r\n\r\n", 3000) >= 0);
		n_200 += has(" 200 ");
		n_503 += has(" 503 ");
	}
	/* 5 to one host, 8 in all: four of good and four of web. */
	CHECK(n_200 == 8 && n_503 == 4);
	CHECK(last()->did == ZW_DID_DENY && last()->by == ZW_BY_LIMIT);
	for (size_t i = 0; i < ZW_N_ELEMENTS(fds); i++)
		close(fds[i]);
	/* Both ends have to be told before a place is free again. */
	for (int i = 0; i < 300 && n_open() > 0; i++)
		tsuper_idle(&t, 10);
	CHECK(n_open() == 0);
	for (int i = 0; i < 6; i++)
		fds[i] = connect_to("good.zw.test", origin_port);
	n_503 = n_200 = 0;
	for (int i = 0; i < 6; i++) {
		CHECK(get(fds[i], "\r\n\r\n", 3000) >= 0);
		n_200 += has(" 200 ");
		n_503 += has(" 503 ") && has("perHost");
		close(fds[i]);
	}
	CHECK(n_200 == 5 && n_503 == 1);
}

static void test_rate(void)
{
	unsigned n_403 = 0, n_503 = 0;

	for (int i = 0; i < 30; i++) {
		int fd = connect_to("denied.zw.test", 81);

		CHECK(get(fd, NULL, 3000) == 0);
		n_403 += has(" 403 ");
		n_503 += has(" 429 ") && has("newPerSecond");
		close(fd);
	}
	CHECK(n_403 >= 20 && n_503 >= 5);
}

static void test_idle(void)
{
	int fd = connect_to("good.zw.test", origin_port);

	CHECK(get(fd, "\r\n\r\n", 3000) == 1);
	int64_t t0 = zw_mono_ms();
	tsuper_idle(&t, 300);
	puts_to(fd, "x");
	CHECK(get(fd, "x", 300) == 1);
	CHECK(get(fd, NULL, 3000) <= 0 && zw_mono_ms() - t0 >= 750);
	close(fd);
	CHECK(row_is(ZW_DID_ALLOW, ZW_BY_RULE, "good.zw.test") && strcmp(last()->end, "idle") == 0);
}

/* One program cannot take the places of all others, and a place comes back. */
static void test_per_program(void)
{
	int fds[4], other;

	for (size_t i = 0; i < 3; i++) {
		fds[i] = connect_to("good.zw.test", origin_port);
		CHECK(get(fds[i], "\r\n\r\n", 3000) == 1 && has(" 200 "));
	}
	fds[3] = connect_to("web.zw.test", origin_port);
	CHECK(get(fds[3], NULL, 3000) == 0 && has(" 503 ") && has("network.limits.perProgram"));
	CHECK(row_is(ZW_DID_DENY, ZW_BY_LIMIT, "web.zw.test"));
	other = client_as(HTTP, "/usr/bin/other", "127.0.0.1", listen_ports[HTTP]);
	puts_to(other, fmt("CONNECT good.zw.test:%u HTTP/1.1\r\nHost: good.zw.test:%u\r\n\r\n",
			   origin_port, origin_port));
	CHECK(get(other, "\r\n\r\n", 3000) == 1 && has(" 200 "));
	close(other);
	for (size_t i = 0; i < ZW_N_ELEMENTS(fds); i++)
		close(fds[i]);
	for (int i = 0; i < 300 && n_open() > 0; i++)
		tsuper_idle(&t, 10);
	fds[0] = connect_to("good.zw.test", origin_port);
	CHECK(get(fds[0], "\r\n\r\n", 3000) == 1 && has(" 200 "));
	close(fds[0]);
}

/* A place comes back however a connection ends: 300 of them through six places. */
static void test_z082_slots(void)
{
	for (int i = 0; i < 300; i++) {
		bool is_denied = i % 6 == 3, is_dead = i % 6 == 4;
		int fd = connect_to(is_denied ? "denied.zw.test" : "good.zw.test",
				    is_dead ? closed_port : origin_port);

		if (i % 6 != 5) /* else gone before the answer */
			CHECK(get(fd, is_denied || is_dead ? NULL : "\r\n\r\n", 3000) >= 0);
		if (i % 6 < 3)
			CHECK(has(" 200 "));
		if (i % 6 == 1) {
			struct linger l = {1, 0};
			setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
		} else if (i % 6 == 2) {
			shutdown(fd, SHUT_WR);
			CHECK(get(fd, NULL, 3000) == 0);
		}
		close(fd);
		for (int k = 0; k < 300 && n_open() > 0; k++)
			tsuper_idle(&t, 5);
		CHECK(n_open() == 0);
	}
	for (size_t i = 0; i < t.n_events; i++)
		CHECK(t.events[i].by != ZW_BY_LIMIT);
}

static void test_header_fields(void)
{
	int fd = client(HTTP);

	puts_to(fd, fmt("GET http://good.zw.test:%u/ HTTP/1.1\r\nHost: good.zw.test:%u\r\n"
			"A: 1\r\nB: 1\r\n\r\n",
			origin_port, origin_port));
	CHECK(get(fd, NULL, 1000) >= 0 && has("A: 1"));
	close(fd);
	fd = client(HTTP);
	puts_to(fd, fmt("GET http://good.zw.test:%u/ HTTP/1.1\r\nHost: good.zw.test:%u\r\n"
			"A: 1\r\nB: 1\r\nC: 1\r\n\r\n",
			origin_port, origin_port));
	CHECK(get(fd, NULL, 3000) == 0 && has(" 431 ") && has("X-Zwatch-Event: 7."));
	close(fd);
}

/* Cut where the quota ends, said why, and nothing new after that. */
static void test_quota_of_session(void)
{
	static char block[6000];
	int fd = connect_to("good.zw.test", origin_port);

	CHECK(get(fd, "\r\n\r\n", 3000) == 1);
	memset(block, 'x', sizeof(block));
	put(fd, block, 1000);
	CHECK(get(fd, NULL, 300) == 1 && got_len == 1000);
	put(fd, block, sizeof(block));
	CHECK(get(fd, NULL, 3000) <= 0);
	close(fd);
	tsuper_idle(&t, 50);
	CHECK(strstr(last()->end, "network.quotas.up") != NULL && last()->did == ZW_DID_ALLOW);
	CHECK(last()->up_b == 7000 && last()->phase == 2);
	fd = connect_to("web.zw.test", origin_port);
	CHECK(get(fd, NULL, 3000) == 0 && has(" 429 ") && has("network.quotas.up"));
	CHECK(row_is(ZW_DID_DENY, ZW_BY_LIMIT, "web.zw.test"));
	close(fd);
}

static void test_quota_of_site(void)
{
	static char block[3000];
	int fd = connect_to("good.zw.test", origin_port);

	CHECK(get(fd, "\r\n\r\n", 3000) == 1);
	memset(block, 'x', sizeof(block));
	put(fd, block, sizeof(block));
	CHECK(get(fd, NULL, 3000) <= 0);
	close(fd);
	tsuper_idle(&t, 50);
	CHECK(strstr(last()->end, "network.quotas.sites") != NULL);
	fd = connect_to("good.zw.test", origin_port);
	CHECK(get(fd, NULL, 3000) == 0 && has(" 429 ") && has("network.quotas.sites"));
	close(fd);
	fd = connect_to("web.zw.test", origin_port);
	CHECK(get(fd, "\r\n\r\n", 3000) == 1 && has(" 200 "));
	close(fd);
}

/* Accepts what the proxy dials. */
static int origin_accept(int fd)
{
	if (!tsuper_wait_fd(&t, fd, ZEV_READ, 5000))
		return -1;
	return accept4(fd, NULL, NULL, SOCK_CLOEXEC);
}

/* One side has ended and the other is silent: it has a time of its own. */
static void test_half_close(void)
{
	uint16_t port;
	int server, hold = listen_at("127.0.0.1", 0, SOCK_STREAM, &port), fd;

	rule(POL_ACTION_ALLOW, 401, fmt("good.zw.test:%u", port), "");
	fd = connect_to("good.zw.test", port);
	server = origin_accept(hold);
	CHECK(server >= 0 && get(fd, "\r\n\r\n", 3000) == 1);
	shutdown(fd, SHUT_WR);
	CHECK(get(server, NULL, 3000) == 0);
	int64_t t0 = zw_mono_ms();
	puts_to(server, "still here");
	CHECK(get(fd, "still here", 3000) == 1);
	CHECK(get(fd, NULL, 5000) <= 0 && zw_mono_ms() - t0 >= 400);
	tsuper_idle(&t, 50);
	CHECK(strstr(last()->end, "one side had ended") != NULL && last()->down_b == 10);
	close(fd);
	close(server);
	/* While both are open, silence is none of its business. */
	fd = connect_to("good.zw.test", port);
	server = origin_accept(hold);
	CHECK(server >= 0 && get(fd, "\r\n\r\n", 3000) == 1);
	tsuper_idle(&t, 1200);
	puts_to(server, "late");
	CHECK(get(fd, "late", 3000) == 1);
	close(fd);
	close(server);
	close(hold);
}

/* A stream of events that is silent is open as long as its limit says; bytes start it anew. */
static void test_event_stream(void)
{
	uint16_t port;
	int server, hold = listen_at("127.0.0.1", 0, SOCK_STREAM, &port), fd = client(HTTP);

	rule(POL_ACTION_ALLOW, 402, fmt("good.zw.test:%u", port), "");
	puts_to(fd, fmt("GET http://good.zw.test:%u/ HTTP/1.1\r\nHost: good.zw.test:%u\r\n"
			"Accept: text/event-stream\r\n\r\n",
			port, port));
	server = origin_accept(hold);
	CHECK(server >= 0 && get(server, "\r\n\r\n", 3000) == 1);
	puts_to(server, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
	for (int i = 0; i < 4; i++) {
		puts_to(server, "data: x\n\n");
		CHECK(get(fd, "data: x\n\n", 3000) == 1);
		tsuper_idle(&t, 600); /* of 1000 */
	}
	CHECK(get(fd, NULL, 5000) <= 0);
	tsuper_idle(&t, 50);
	CHECK(strcmp(last()->end, "idle") == 0);
	close(fd);
	close(server);
	close(hold);
}

/* -- another protocol on the same connection ---------------------------------------------------- */

static void upgrade_at(int hold, uint16_t port, bool is_agreed)
{
	int fd = client(HTTP), server;

	puts_to(fd, fmt("GET http://good.zw.test:%u/ws HTTP/1.1\r\nHost: good.zw.test:%u\r\n"
			"Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n"
			"Sec-WebSocket-Key: x\r\n\r\nearly-frame",
			port, port));
	server = origin_accept(hold);
	CHECK(server >= 0 && get(server, "\r\n\r\n", 3000) == 1);
	CHECK(has("Upgrade: websocket\r\n") && has("Connection: Upgrade\r\n"));
	CHECK(get(server, NULL, 200) == 1 && !has("early-frame"));
	puts_to(server, "HTTP/1.1");
	tsuper_idle(&t, 50);
	puts_to(server, is_agreed ? " 101 Switching Protocols\r\nUpgrade: websocket\r\n"
				    "Connection: Upgrade\r\n\r\n"
				  : " 200 OK\r\nContent-Length: 2\r\n\r\nok");
	CHECK(get(fd, is_agreed ? "\r\n\r\n" : "ok", 3000) == 1);
	CHECK(get(server, is_agreed ? "early-frame" : NULL, is_agreed ? 3000 : 300) >= 0);
	CHECK(has("early-frame") == is_agreed);
	if (is_agreed) {
		puts_to(fd, "frame 2");
		CHECK(get(server, "frame 2", 3000) == 1);
		puts_to(server, "frame 3");
		CHECK(get(fd, "frame 3", 3000) == 1);
	}
	close(server);
	CHECK(get(fd, NULL, 3000) <= 0);
	close(fd);
	CHECK(row_is(ZW_DID_ALLOW, ZW_BY_RULE, "good.zw.test"));
}

static void test_upgrade(void)
{
	uint16_t port;
	int hold = listen_at("127.0.0.1", 0, SOCK_STREAM, &port);

	rule(POL_ACTION_ALLOW, 403, fmt("good.zw.test:%u", port), "");
	upgrade_at(hold, port, true);
	upgrade_at(hold, port, false);
	close(hold);
}

/* The session ends with connections open: each has its last row, to the byte. */
static void test_end_of_session(void)
{
	int fds[5];

	for (size_t i = 0; i < ZW_N_ELEMENTS(fds); i++) {
		fds[i] = connect_to("good.zw.test", origin_port);
		CHECK(get(fds[i], "\r\n\r\n", 3000) == 1);
		puts_to(fds[i], "12345");
		CHECK(get(fds[i], "12345", 3000) == 1);
	}
	CHECK(n_open() == 5);
	is_end_expected = true;
	zw_send(t.proxy, px_end, .unused = 0);
	for (int i = 0; i < 500 && n_open() > 0; i++)
		tsuper_idle(&t, 10);
	CHECK(n_open() == 0);
	CHECK(strcmp(last()->end, "zwatch ends") == 0 && last()->up_b == 5 && last()->down_b == 5);
	for (size_t i = 0; i < ZW_N_ELEMENTS(fds); i++)
		close(fds[i]);
}

/* -- bytes -------------------------------------------------------------------------------------- */

/* 8 MB through the mirror, read slowly: nothing lost, nothing kept beyond bounds. */
static void test_bulk(void)
{
	enum { TOTAL = 8 << 20 };
	static uint8_t block[65536];
	int fd = connect_to("good.zw.test", origin_port);
	size_t sent = 0, received = 0;
	uint64_t sum_out = 0, sum_in = 0;

	CHECK(get(fd, "\r\n\r\n", 3000) == 1);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	for (int64_t end_ms = zw_mono_ms() + 20000; received < TOTAL && zw_mono_ms() < end_ms;) {
		if (sent < TOTAL) {
			for (size_t i = 0; i < sizeof(block); i += 997)
				block[i] = (uint8_t)(sent + i);
			ssize_t n = send(fd, block, sizeof(block), MSG_NOSIGNAL);
			for (ssize_t i = 0; i < n; i++)
				sum_out += block[i] * (uint64_t)((sent + (size_t)i) % 251 + 1);
			sent += n > 0 ? (size_t)n : 0;
			if (n > 0 && sent < TOTAL / 2)
				continue;
		}
		ssize_t n = recv(fd, got, sizeof(got) - 1, 0);
		for (ssize_t i = 0; i < n; i++)
			sum_in += (uint8_t)got[i] * (uint64_t)((received + (size_t)i) % 251 + 1);
		received += n > 0 ? (size_t)n : 0;
		if (n < 0)
			tsuper_idle(&t, 1);
		if (sent >= TOTAL && received >= sent)
			break;
	}
	CHECK(received == sent && sum_in == sum_out);
	shutdown(fd, SHUT_WR);
	tsuper_idle(&t, 100);
	close(fd);
	got[0] = '\0';
	CHECK(row_is(ZW_DID_ALLOW, ZW_BY_RULE, "good.zw.test"));
	CHECK(last()->up_b == sent && last()->down_b == received);
}

/* A real client against a real server: curl to python's TLS server, by CONNECT. */
static void test_curl(void)
{
	const char *url = getenv("ZW_TEST_URL"), *ca = getenv("ZW_TEST_CA");
	uint16_t port = 0;
	int hold = listen_at("127.0.0.1", 0, SOCK_STREAM, &port), out[2], status = -1;

	close(hold);
	if (url == NULL || pipe2(out, O_CLOEXEC) < 0)
		return;
	rule(POL_ACTION_ALLOW, 400, fmt("web.zw.test:%s", getenv("ZW_TEST_PORT")), "");
	pid_t pid = fork();
	if (pid == 0) {
		dup2(out[1], 1);
		execlp("curl", "curl", "-sS", "--max-time", "5", "--cacert", ca, "--local-port",
		       fmt("%u", port), "-x", fmt("http://127.0.0.1:%u", listen_ports[HTTP]), url,
		       (char *)NULL);
		_exit(127);
	}
	close(out[1]);
	who(port, "/usr/bin/curl", false, "127.0.0.1", 1);
	CHECK(get(out[0], NULL, 6000) >= 0 || true);
	ssize_t n = read(out[0], got, sizeof(got) - 1);
	got[n > 0 ? n : 0] = '\0';
	for (int i = 0; i < 500 && waitpid(pid, &status, WNOHANG) == 0; i++) {
		tsuper_idle(&t, 10);
		if (n <= 0 && (n = read(out[0], got, sizeof(got) - 1)) > 0)
			got[n] = '\0';
	}
	CHECK(status == 0);
	close(out[0]);
	CHECK(row_is(ZW_DID_ALLOW, ZW_BY_RULE, "web.zw.test") && last()->down_b > 500);
}

/* -- */

struct test {
	const char *part, *name;
	void (*fn)(void);
};
#define T(part, name)                    \
	{                                \
		part, #name, test_##name \
	}

static const struct test tests[] = {
	T("main", connect),
	T("main", absolute),
	T("main", socks),
	T("main", transparent),
	T("main", host_local),
	T("main", who),
	T("main", denied),
	T("main", z051_relayed_and_split),
	T("main", z043_spellings),
	T("main", z044_answers),
	T("main", failures),
	T("main", z055_wrong_protocol),
	T("main", z052_large_head),
	T("main", z048_sizes_and_versions),
	T("main", z053_hop_by_hop),
	T("main", z054_error_text),
	T("main", z058_credentials_and_retries),
	T("main", tls_names),
	T("main", z046_host_field),
	T("main", ask_allow),
	T("main", ask_deny),
	T("main", ask_rule_comes),
	T("main", commit),
	T("main", storm),
	T("main", bulk),
	T("main", upgrade),
	T("main", curl),
	T("hold", z121_no_answer_is_no),
	T("limits", limits),
	T("rate", rate),
	T("idle", idle),
	T("program", per_program),
	T("slots", z082_slots),
	T("fields", header_fields),
	T("quota", quota_of_session),
	T("site quota", quota_of_site),
	T("half", half_close),
	T("stream", event_stream),
	T("end", end_of_session),
};

static void run_part(const char *name, struct zw_msg_px_setup setup)
{
	if (part != NULL && strcmp(part, name) != 0)
		return;
	start(setup, POL_MODE_GUARD);
	for (size_t i = 0; i < ZW_N_ELEMENTS(tests); i++) {
		unsigned before = n_bad;

		if (strcmp(tests[i].part, name) != 0)
			continue;
		int64_t t0 = zw_mono_ms();
		got[0] = '\0';
		tests[i].fn();
		printf("%s %s (%lld ms)\n", n_bad == before ? "ok  " : "FAIL", tests[i].name,
		       (long long)(zw_mono_ms() - t0));
	}
	stop();
}

static void test_nobody_to_ask(void)
{
	struct zw_msg_px_setup m = normal;

	if (part != NULL && strcmp(part, "nobody") != 0)
		return;
	m.can_ask = 0;
	start(m, POL_MODE_GUARD);
	int fd = connect_to("asked.zw.test", origin_port);
	CHECK(get(fd, NULL, 500) == 0 && has(" 403 ") && has("nobody to ask"));
	CHECK(row_is(ZW_DID_DENY, ZW_BY_NO_TERMINAL, "asked.zw.test") && t.n_asks == 0);
	close(fd);
	stop();
}

/* No name server answers: no connection, in time. */
static void test_no_names(void)
{
	if (part == NULL || strcmp(part, "nonames") != 0)
		return;
	start(normal, POL_MODE_GUARD);
	int fd = connect_to("good.zw.test", origin_port);
	CHECK(get(fd, NULL, 6000) == 0 && (has(" 502 ") || has(" 504 ")) && has("lookup"));
	CHECK(row_is(ZW_DID_FAIL, ZW_BY_RULE, "good.zw.test"));
	close(fd);
	stop();
}

int main(int argc, char **argv)
{
	struct zw_msg_px_setup m = normal;

	setvbuf(stdout, NULL, _IOLBF, 0);
	bin = argv[1];
	upstreams = argv[2];
	part = argc > 3 ? argv[3] : NULL;
	origin_start("0.0.0.0", 0, NULL, &origin_port);
	origin_start("127.0.0.1", 0, "220 I speak first\r\n", &banner_port);
	origin_start("127.0.0.1", 0, HOSTILE, &hostile_port);
	origin_start("127.0.0.9", 443, NULL, NULL);
	origin_start("127.0.0.9", 80, NULL, NULL);
	close(listen_at("127.0.0.1", 0, SOCK_STREAM, &closed_port));
	m.local_ports = zw_span_n("xx", 2);
	run_part("main", m);
	m.hold_ms = 1500;
	run_part("hold", m);
	m = normal;
	m.max_connections = 8;
	m.max_per_host = 5;
	run_part("limits", m);
	m = normal;
	m.new_per_second = 5;
	run_part("rate", m);
	m = normal;
	m.idle_ms = 500;
	run_part("idle", m);
	m = normal;
	m.max_per_program = 3;
	run_part("program", m);
	m = normal;
	m.max_connections = 6;
	m.max_per_program = 5;
	m.max_per_host = 4;
	run_part("slots", m);
	m = normal;
	m.header_fields = 3;
	run_part("fields", m);
	m = normal;
	m.quota_up_b = 5000;
	run_part("quota", m);
	m = normal;
	m.quotas = zw_span("good.zw.test 2000");
	run_part("site quota", m);
	m = normal;
	m.half_close_ms = 500;
	run_part("half", m);
	m = normal;
	m.idle_ms = 1000;
	run_part("stream", m);
	run_part("end", normal);
	test_nobody_to_ask();
	test_no_names();
	printf("%u checks good, %u bad\n", n_good, n_bad);
	return n_bad == 0 ? 0 : 1;
}
