/* SPDX-License-Identifier: MIT */
#include "tests/bench/load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "src/base/io.h"
#include "src/base/mem.h"

#define FDS_MAX	    65536
#define EVENTS_N    256
#define STUCK_MS    15000 /* longer than that without an answer is a failure */
#define END_OF_HEAD "\r\n\r\n"

const char *load_name(enum load_kind kind)
{
	static const char *const names[] = {"connect+get", "get in tunnel", "plain get", "direct"};

	return names[kind];
}

int load_listen(uint16_t *ret_port, int type)
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

static int poll_new(void)
{
	int poll = epoll_create1(EPOLL_CLOEXEC);

	if (poll < 0)
		zw_fatal("epoll: %s", strerror(errno));
	return poll;
}

static void poll_add(int poll, int fd)
{
	struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};

	if (fd >= FDS_MAX || epoll_ctl(poll, EPOLL_CTL_ADD, fd, &e) < 0)
		zw_fatal("epoll: %s", strerror(errno));
}

/* -- the origin --------------------------------------------------------------------------------- */

static void origin_answer(int fd, const char *head)
{
	char out[LOAD_BODY_B + 256];
	bool is_last = strstr(head, "onnection: close") != NULL;
	int n = snprintf(
		out, sizeof(out),
		"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n%s\r\n",
		LOAD_BODY_B, is_last ? "Connection: close\r\n" : "");

	memset(out + n, 'x', LOAD_BODY_B);
	(void)send(fd, out, (size_t)n + LOAD_BODY_B, MSG_NOSIGNAL);
	if (is_last)
		(void)shutdown(fd, SHUT_WR);
}

static void origin_read(int fd)
{
	/* A head that came in pieces is rare: it waits here for its rest. */
	static char *parts[FDS_MAX];
	char in[8192];
	ssize_t n = recv(fd, in, sizeof(in) - 1, MSG_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		free(zw_steal(&parts[fd]));
		close(fd);
		return;
	}
	in[n] = '\0';
	if (parts[fd] != NULL) {
		char *whole = zw_xasprintf("%s%s", parts[fd], in);

		free(parts[fd]);
		parts[fd] = whole;
	}
	const char *head = parts[fd] != NULL ? parts[fd] : in;
	if (strstr(head, END_OF_HEAD) != NULL) {
		origin_answer(fd, head);
		free(zw_steal(&parts[fd]));
	} else if (parts[fd] == NULL) {
		parts[fd] = zw_xstrdup(in);
	}
}

void load_origin(int fd)
{
	struct epoll_event events[EVENTS_N];
	int poll = poll_new();

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	poll_add(poll, fd);
	for (;;) {
		int n = epoll_wait(poll, events, EVENTS_N, -1);

		for (int i = 0; i < n; i++) {
			if (events[i].data.fd != fd) {
				origin_read(events[i].data.fd);
				continue;
			}
			int conn = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
			if (conn >= 0)
				poll_add(poll, conn);
		}
	}
}

/* -- the clients -------------------------------------------------------------------------------- */

struct client {
	int fd;
	bool is_granted; /* the tunnel is open */
	bool is_good;	 /* the answer began as it should */
	size_t got_b;	 /* of the answer */
	size_t want_b;	 /* of it, where it has to be known */
	int64_t start_us;
};

struct clients {
	const struct load *load;
	struct load_result *result;
	struct client *by_fd[FDS_MAX];
	int poll;
	char connect[256], get[256];
};

static void put(int fd, const char *s)
{
	(void)send(fd, s, strlen(s), MSG_NOSIGNAL);
}

static void ask(struct clients *cs, struct client *c)
{
	c->got_b = c->want_b = 0;
	c->is_good = false;
	put(c->fd, cs->get);
}

static bool client_open(struct clients *cs, struct client *c)
{
	const struct load *l = cs->load;
	uint16_t to = l->kind == LOAD_DIRECT ? l->origin_port : l->proxy_port;
	struct sockaddr_in sa = {
		.sin_family = AF_INET, .sin_port = htons(to), .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(sa);

	c->start_us = zw_mono_us();
	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(c->fd, (struct sockaddr *)&sa, sizeof(sa)) < 0) {
		zw_close(&c->fd);
		return false;
	}
	getsockname(c->fd, (struct sockaddr *)&sa, &len);
	uint16_t port = ntohs(sa.sin_port);
	if (l->port_fd >= 0 && write(l->port_fd, &port, 2) != 2)
		zw_fatal("nobody wants to know of a connection");
	poll_add(cs->poll, c->fd);
	cs->by_fd[c->fd] = c;
	c->is_granted = l->kind == LOAD_PLAIN || l->kind == LOAD_DIRECT;
	if (c->is_granted)
		ask(cs, c);
	else
		put(c->fd, cs->connect);
	return true;
}

static void client_again(struct clients *cs, struct client *c)
{
	if (c->fd >= 0) {
		cs->by_fd[c->fd] = NULL;
		zw_close(&c->fd);
	}
	while (!client_open(cs, c))
		if (++cs->result->n_failed > 1000)
			zw_fatal("nobody takes connections");
}

static void op_end(struct clients *cs, struct client *c, bool is_good)
{
	struct load_result *r = cs->result;
	int64_t now_us = zw_mono_us();

	if (is_good && r->n_ops < LOAD_OPS_MAX)
		r->us[r->n_ops++] = (uint32_t)(now_us - c->start_us);
	else
		r->n_failed++;
	if (is_good && cs->load->kind == LOAD_TUNNEL) {
		c->start_us = now_us;
		ask(cs, c);
	} else {
		client_again(cs, c);
	}
}

static void on_answer(struct clients *cs, struct client *c, const char *in, size_t n)
{
	if (c->got_b == 0)
		c->is_good =
			n > 12 && memcmp(in, "HTTP/1.", 7) == 0 && memcmp(in + 8, " 200", 4) == 0;
	if (c->want_b == 0) {
		const char *end = memmem(in, n, END_OF_HEAD, 4);

		/* A head in pieces: the whole answer is not measured then, but its bytes come. */
		c->want_b = end != NULL ? c->got_b + (size_t)(end - in) + 4 + LOAD_BODY_B : 0;
	}
	c->got_b += n;
	if (cs->load->kind == LOAD_TUNNEL && c->want_b > 0 && c->got_b >= c->want_b)
		op_end(cs, c, c->is_good);
}

static void on_readable(struct clients *cs, struct client *c)
{
	char in[8192];
	ssize_t n = recv(c->fd, in, sizeof(in), MSG_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		op_end(cs, c,
		       c->is_good && c->want_b > 0 && c->got_b >= c->want_b &&
			       cs->load->kind != LOAD_TUNNEL);
	} else if (!c->is_granted) {
		c->is_granted = n > 12 && memcmp(in + 8, " 200", 4) == 0;
		if (!c->is_granted)
			op_end(cs, c, false);
		else
			ask(cs, c);
	} else {
		on_answer(cs, c, in, (size_t)n);
	}
}

static void write_requests(struct clients *cs)
{
	const struct load *l = cs->load;

	snprintf(cs->connect, sizeof(cs->connect), "CONNECT %s:%u HTTP/1.1\r\nHost: %s:%u\r\n\r\n",
		 l->host, l->origin_port, l->host, l->origin_port);
	char url[100] = "";
	if (l->kind == LOAD_PLAIN)
		snprintf(url, sizeof(url), "http://%s:%u", l->host, l->origin_port);
	snprintf(cs->get, sizeof(cs->get),
		 "GET %s/ HTTP/1.1\r\nHost: %s:%u\r\nUser-Agent: bench\r\nAccept: */*\r\n%s\r\n",
		 url, l->host, l->origin_port,
		 l->kind == LOAD_TUNNEL ? "" : "Connection: close\r\n");
}

void load_run(const struct load *l, struct load_result *ret)
{
	static struct clients cs;
	zw_autofree struct client *all = zw_xcalloc(l->n_conns, sizeof(*all));
	struct epoll_event events[EVENTS_N];
	int64_t start_us = zw_mono_us(), end_us = start_us + l->ms * INT64_C(1000),
		last_us = start_us;

	cs = (struct clients){.load = l, .result = ret, .poll = poll_new()};
	ret->n_ops = ret->n_failed = 0;
	write_requests(&cs);
	for (unsigned i = 0; i < l->n_conns; i++) {
		all[i].fd = -1;
		client_again(&cs, &all[i]);
	}
	while (zw_mono_us() < end_us) {
		int n = epoll_wait(cs.poll, events, EVENTS_N, 100);

		for (int i = 0; i < n; i++)
			if (cs.by_fd[events[i].data.fd] != NULL)
				on_readable(&cs, cs.by_fd[events[i].data.fd]);
		if (n > 0)
			last_us = zw_mono_us();
		else if (zw_mono_us() - last_us > STUCK_MS * INT64_C(1000))
			break;
	}
	ret->seconds = (double)(zw_mono_us() - start_us) / 1e6;
	for (unsigned i = 0; i < l->n_conns; i++)
		zw_close(&all[i].fd);
	close(cs.poll);
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

uint32_t load_quantile(struct load_result *r, double part)
{
	if (r->n_ops == 0)
		return 0;
	qsort(r->us, r->n_ops, sizeof(r->us[0]), compare);
	return r->us[(size_t)((double)(r->n_ops - 1) * part)];
}
