/* SPDX-License-Identifier: MIT */
#include "proxy/dial.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/base/words.h"

#define NEXT_MS	      250 /* RFC 8305: connection attempt delay */
#define ATTEMPTS_MAX  4	  /* at the same time */
#define ANSWER_ADDR_B 17
#define ADDR_TEXT_B   46

struct attempt {
	struct px_dial *dial;
	int fd; /* owned, -1 = free */
	struct zev_io *io;
	struct pol_addr addr;
};

struct px_dial {
	struct zw_map_node node; /* by query, while it waits for an answer */
	struct px_dials *all;
	uint64_t query; /* 0 = none open */
	const struct pol_host *host;
	uint16_t port;
	const char *program;
	void (*on_end)(void *arg, const struct px_dialled *end);
	void *arg;
	struct px_checked checked;
	size_t next; /* address to try */
	size_t n_running;
	int last_error;
	struct pol_addr last_addr;
	struct attempt attempts[ATTEMPTS_MAX];
	bool is_via; /* through another proxy */
	struct px_via_talk talk;
	struct zev_io *via_io;
	struct zw_buf via_out;
	struct zev_timer *pace;	   /* NEXT_MS; NULL until the second address matters */
	struct px_timeout timeout; /* of the lookup, then of connecting */
	/* The end, until the turn is over. */
	int error, fd;
	unsigned by;
	uint32_t rule;
	bool is_over, is_cancelled;
	char address[ADDR_TEXT_B], reason[256];
};

struct px_dials {
	struct zev_loop *loop;
	struct zw_chan *chan;
	struct px_wheel *wheel;
	struct feed *feed;
	const struct px_via *via;
	unsigned resolve_ms, connect_ms;
	uint64_t last_query;
	struct zw_map queries;
};

struct px_dials *px_dials_new(struct zev_loop *loop, struct zw_chan *chan, struct px_wheel *wheel,
			      struct feed *feed, const struct px_via *via, unsigned resolve_ms,
			      unsigned connect_ms)
{
	struct px_dials *d = zw_xnew(struct px_dials);

	*d = (struct px_dials){.loop = loop,
			       .chan = chan,
			       .wheel = wheel,
			       .feed = feed,
			       .via = via,
			       .resolve_ms = resolve_ms,
			       .connect_ms = connect_ms};
	zw_map_init(&d->queries);
	return d;
}

void px_dials_free(struct px_dials *d)
{
	if (d == NULL)
		return;
	zw_map_fini(&d->queries);
	free(d);
}

/* -- the end ------------------------------------------------------------------------------------ */

static void attempt_close(struct attempt *a)
{
	zev_io_free(zw_steal(&a->io));
	zw_close(&a->fd);
}

static void query_drop(struct px_dial *d)
{
	if (d->query != 0)
		zw_map_remove(&d->all->queries, &d->node);
	d->query = 0;
}

static void on_dial_end(void *arg)
{
	struct px_dial *d = arg;
	struct px_dialled end = {.error = d->error,
				 .take_fd = d->fd,
				 .address = d->address,
				 .by = d->by,
				 .rule = d->rule,
				 .reason = d->reason};

	zev_timer_free(d->pace);
	if (d->is_cancelled)
		zw_close(&d->fd);
	else
		d->on_end(d->arg, &end);
	free(d);
}

/* Everything stops now; the caller hears it at the end of the turn. */
static void finish(struct px_dial *d, int error)
{
	if (d->is_over)
		return;
	d->is_over = true;
	d->error = error;
	query_drop(d);
	px_timeout_clear(d->all->wheel, &d->timeout);
	if (d->pace != NULL)
		zev_timer_stop(d->pace);
	for (size_t i = 0; i < ATTEMPTS_MAX; i++)
		attempt_close(&d->attempts[i]);
	zev_io_free(zw_steal(&d->via_io));
	zw_buf_fini(&d->via_out);
	if (error != 0)
		zw_close(&d->fd);
	zev_defer(d->all->loop, on_dial_end, d);
}

void px_dial_cancel(struct px_dial *d)
{
	if (d == NULL)
		return;
	d->is_cancelled = true;
	finish(d, ZW_E_EOF);
}

/* -- connecting --------------------------------------------------------------------------------- */

static void next(struct px_dial *d);

static void failed(struct px_dial *d, const struct pol_addr *addr, int error)
{
	d->last_error = error;
	d->last_addr = *addr;
}

/* -- through another proxy ---------------------------------------------------------------------- */

static int via_send(struct px_dial *d)
{
	while (d->via_out.len > 0) {
		ssize_t n = send(d->fd, zw_buf_head(&d->via_out), d->via_out.len,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0)
			return -errno;
		zw_buf_consume(&d->via_out, (size_t)n);
	}
	zev_io_set(d->via_io, ZEV_READ | (d->via_out.len > 0 ? ZEV_WRITE : 0u));
	return 0;
}

/* Looks at what has come and takes no byte that belongs to what is behind the proxy. Returns as
 * px_via_step(), and 0 as well when nothing has come. */
static int via_read(struct px_dial *d)
{
	uint8_t in[PX_VIA_IN_MAX];
	size_t used = 0;
	ssize_t n = recv(d->fd, in, sizeof(in), MSG_PEEK | MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (n == 0) {
		snprintf(d->talk.why, sizeof(d->talk.why), "the proxy ended the connection");
		return -ECONNREFUSED;
	}
	int r = px_via_step(d->all->via, &d->talk, d->host, d->port, in, (size_t)n, &d->via_out,
			    &used);
	if (used > 0 && recv(d->fd, in, used, MSG_DONTWAIT) != (ssize_t)used)
		return ZW_E_EOF;
	return r;
}

static void via_end(struct px_dial *d, int error)
{
	if (error != 0) {
		snprintf(d->reason, sizeof(d->reason), "upstream proxy %s: %s", d->address,
			 d->talk.why[0] != '\0' ? d->talk.why : zw_strerror(error));
		finish(d, error);
		return;
	}
	snprintf(d->reason, sizeof(d->reason), "by way of %.120s (network.upstreamProxy)",
		 d->all->via->host.name);
	finish(d, 0);
}

static void on_via(int fd, unsigned what, void *arg)
{
	struct px_dial *d = arg;
	int r = what & ZEV_READ ? via_read(d) : 0;

	(void)fd;
	if (r == 0)
		r = via_send(d);
	if (r != 0)
		via_end(d, r < 0 ? r : 0);
}

static void via_start(struct px_dial *d)
{
	size_t used;

	zw_buf_init(&d->via_out, PX_VIA_OUT_MAX);
	d->via_io = zev_io_new(d->all->loop, d->fd, ZEV_READ, on_via, d);
	int r = px_via_step(d->all->via, &d->talk, d->host, d->port, NULL, 0, &d->via_out, &used);
	if (r == 0)
		r = via_send(d);
	if (r < 0)
		via_end(d, r);
}

/* Other attempts are no longer wanted; the limit for connecting goes on. */
static void attempts_stop(struct px_dial *d)
{
	d->checked.n = d->next;
	if (d->pace != NULL)
		zev_timer_stop(d->pace);
	for (size_t i = 0; i < ATTEMPTS_MAX; i++)
		attempt_close(&d->attempts[i]);
}

static void connected(struct px_dial *d, struct attempt *a)
{
	int on = 1;

	d->fd = zw_steal_fd(&a->fd);
	(void)setsockopt(d->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	pol_addr_format(&a->addr, d->address, sizeof(d->address));
	if (d->is_via) {
		attempts_stop(d);
		via_start(d);
		return;
	}
	if (d->checked.n_refused > 0) {
		char text[ADDR_TEXT_B];

		pol_addr_format(&d->checked.refused, text, sizeof(text));
		if (d->checked.kind == POL_ADDR_PUBLIC)
			snprintf(d->reason, sizeof(d->reason), "dropped %s: denied%s%.150s", text,
				 d->checked.why.reason[0] != '\0' ? ": " : "",
				 d->checked.why.reason);
		else
			snprintf(d->reason, sizeof(d->reason), "dropped %s (%s): rebinding?", text,
				 pol_addr_kind_word(d->checked.kind));
	}
	finish(d, 0);
}

static void on_connected(int fd, unsigned what, void *arg)
{
	struct attempt *a = arg;
	struct px_dial *d = a->dial;
	int error = 0;
	socklen_t len = sizeof(error);

	(void)what;
	/* Deferred frees keep @d alive; a finished one has no attempts. */
	zev_io_free(zw_steal(&a->io));
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
		error = errno;
	if (error == 0) {
		connected(d, a);
		return;
	}
	failed(d, &a->addr, -error);
	attempt_close(a);
	d->n_running--;
	next(d);
}

static socklen_t sockaddr_fill(const struct pol_addr *addr, uint16_t port,
			       struct sockaddr_storage *ret)
{
	*ret = (struct sockaddr_storage){0};
	if (addr->family == POL_FAMILY_V6) {
		struct sockaddr_in6 *sa = (struct sockaddr_in6 *)ret;

		sa->sin6_family = AF_INET6;
		sa->sin6_port = htons(port);
		memcpy(&sa->sin6_addr, addr->b, 16);
		return sizeof(*sa);
	}
	struct sockaddr_in *sa = (struct sockaddr_in *)ret;
	sa->sin_family = AF_INET;
	sa->sin_port = htons(port);
	memcpy(&sa->sin_addr, addr->b, 4);
	return sizeof(*sa);
}

/* As connect(). A server on this machine has mostly answered by the time that the call is back: asked
 * again, the kernel says what, which is sooner than a turn of the loop. The second answer counts: an
 * error is told once. */
static int try_connect(int fd, const struct sockaddr_storage *sa, socklen_t len)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)sa;
	int r = connect(fd, (const struct sockaddr *)sa, len) == 0 ? 0 : -errno;

	if (r == -EINPROGRESS && sa->ss_family == AF_INET &&
	    ntohl(v4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET)
		r = connect(fd, (const struct sockaddr *)sa, len) == 0 ? 0 : -errno;
	return r == -EALREADY ? -EINPROGRESS : r;
}

/* Returns 0 under way or connected, -errno. */
static int attempt_start(struct px_dial *d, struct attempt *a, const struct pol_addr *addr)
{
	struct sockaddr_storage sa;
	socklen_t len = sockaddr_fill(addr, d->is_via ? d->all->via->port : d->port, &sa);

	a->dial = d;
	a->addr = *addr;
	a->fd = socket(sa.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (a->fd < 0)
		return -errno;
	int r = try_connect(a->fd, &sa, len);
	if (r == 0) {
		connected(d, a);
		return 0;
	}
	if (r == -EINPROGRESS) {
		a->io = zev_io_new(d->all->loop, a->fd, ZEV_WRITE, on_connected, a);
		return 0;
	}
	attempt_close(a);
	return r;
}

static struct attempt *attempt_free_slot(struct px_dial *d)
{
	for (size_t i = 0; i < ATTEMPTS_MAX; i++)
		if (d->attempts[i].fd < 0)
			return &d->attempts[i];
	return NULL;
}

static void fail_all(struct px_dial *d)
{
	pol_addr_format(&d->last_addr, d->address, sizeof(d->address));
	snprintf(d->reason, sizeof(d->reason), "%s", zw_strerror(d->last_error));
	finish(d, d->last_error);
}

static void on_pace(void *arg)
{
	next(arg);
}

/* Starts the next address; when there is none and none runs, it has failed. */
static void next(struct px_dial *d)
{
	while (!d->is_over && d->next < d->checked.n) {
		struct attempt *a = attempt_free_slot(d);
		const struct pol_addr *addr = &d->checked.addrs[d->next];

		if (a == NULL)
			return;
		d->next++;
		int r = attempt_start(d, a, addr);
		if (r < 0) {
			failed(d, addr, r);
			continue;
		}
		d->n_running++;
		if (!d->is_over && d->next < d->checked.n) {
			if (d->pace == NULL)
				d->pace = zev_timer_new(d->all->loop, on_pace, d);
			zev_timer_start(d->pace, NEXT_MS);
		}
		return;
	}
	if (!d->is_over && d->n_running == 0)
		fail_all(d);
}

static void on_connect_timeout(void *arg)
{
	struct px_dial *d = arg;

	snprintf(d->reason, sizeof(d->reason), "no answer within %u ms", d->all->connect_ms);
	finish(d, ZW_E_TIMEOUT);
}

static void connect_start(struct px_dial *d)
{
	d->last_error = -EHOSTUNREACH;
	px_timeout_clear(d->all->wheel, &d->timeout);
	if (d->all->connect_ms > 0)
		px_timeout_set(d->all->wheel, &d->timeout, d->all->connect_ms, on_connect_timeout,
			       d);
	next(d);
}

/* -- the lookup --------------------------------------------------------------------------------- */

static void on_resolve_timeout(void *arg)
{
	struct px_dial *d = arg;

	snprintf(d->reason, sizeof(d->reason), "the name was not looked up within %u ms",
		 d->all->resolve_ms);
	finish(d, ZW_E_TIMEOUT);
}

static void lookup_start(struct px_dial *d)
{
	struct px_dials *all = d->all;

	d->query = ++all->last_query;
	zw_map_add(&all->queries, &d->node, &d->query, sizeof(d->query));
	if (all->resolve_ms > 0)
		px_timeout_set(all->wheel, &d->timeout, all->resolve_ms, on_resolve_timeout, d);
	zw_send(all->chan, res_query, .query = d->query,
		.name = zw_span(d->is_via ? all->via->host.name : d->host->name));
}

static void refuse_cname(struct px_dial *d, const struct pol_decision *why, const char *name)
{
	d->by = why->by;
	d->rule = why->rule;
	snprintf(d->reason, sizeof(d->reason), "alias of %.100s, which is denied%s%.120s", name,
		 why->reason[0] != '\0' ? ": " : "", why->reason);
	finish(d, ZW_E_DENIED);
}

static void refuse_addr(struct px_dial *d)
{
	const char *word = pol_addr_kind_word(d->checked.kind);
	const struct pol_decision *why = &d->checked.why;

	d->by = ZW_BY_ADDRESS;
	pol_addr_format(&d->checked.refused, d->address, sizeof(d->address));
	if (why->verdict == POL_DENY && why->by != ZW_BY_ADDRESS) {
		d->by = why->by;
		d->rule = why->rule;
		snprintf(d->reason, sizeof(d->reason), "its address %s is denied%s%.150s",
			 d->address, why->reason[0] != '\0' ? ": " : "", why->reason);
	} else {
		/* Whatever its registry calls it, to the user it is not a public one. */
		snprintf(d->reason, sizeof(d->reason),
			 "private address: %s is %s (network.allowPrivate)", d->address, word);
	}
	finish(d, ZW_E_DENIED);
}

static size_t addrs_read(struct zw_span s, struct pol_addr *ret, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i + ANSWER_ADDR_B <= s.len && n < max; i += ANSWER_ADDR_B) {
		uint8_t family = (uint8_t)s.p[i];

		if (family != 4 && family != 6)
			continue;
		ret[n] = (struct pol_addr){.family = family == 4 ? POL_FAMILY_V4 : POL_FAMILY_V6};
		memcpy(ret[n++].b, s.p + i + 1, family == 4 ? 4 : 16);
	}
	return n;
}

static void on_answer(struct px_dial *d, const struct zw_msg_res_answer *m)
{
	const struct policy *policy = feed_policy(d->all->feed);
	struct pol_addr addrs[64];
	struct pol_decision why;
	char name[POL_HOST_MAX + 1];

	if (m->status != ZW_RES_STATUS_OK) {
		snprintf(d->reason, sizeof(d->reason), "%s%s%.*s", zw_res_status_word(m->status),
			 m->detail.len > 0 ? ": " : "",
			 (int)(m->detail.len < 180 ? m->detail.len : 180), m->detail.p);
		finish(d, m->status == ZW_RES_STATUS_TIMEOUT ? ZW_E_TIMEOUT : ZW_E_NOT_FOUND);
		return;
	}
	if (d->is_via) {
		/* Whose addresses these are, the user has said. */
		d->checked.n = addrs_read(m->addrs, d->checked.addrs, PX_DIAL_ADDRS_MAX);
		if (d->checked.n > 0)
			connect_start(d);
		else
			finish(d, ZW_E_NOT_FOUND);
		return;
	}
	if (px_check_cnames(policy, m->cnames.p, m->cnames.len, d->port, d->program, &why, name)) {
		refuse_cname(d, &why, name);
		return;
	}
	size_t n = addrs_read(m->addrs, addrs, ZW_N_ELEMENTS(addrs));
	px_check_addrs(policy, d->host, d->port, d->program, addrs, n, &d->checked);
	if (d->checked.n > 0)
		connect_start(d);
	else if (d->checked.n_refused > 0)
		refuse_addr(d);
	else
		finish(d, ZW_E_NOT_FOUND);
}

void px_dials_answer(struct px_dials *all, const struct zw_msg_res_answer *m)
{
	struct zw_map_node *n = zw_map_find(&all->queries, &m->query, sizeof(m->query));

	if (n == NULL)
		return;
	struct px_dial *d = zw_map_entry(n, struct px_dial, node);
	query_drop(d);
	on_answer(d, m);
}

bool px_dial_is_over(const struct px_dial *d)
{
	return d->is_over;
}

struct px_dial *px_dial_start(struct px_dials *all, const struct pol_host *host, uint16_t port,
			      enum px_way way, const char *program,
			      void (*on_end)(void *arg, const struct px_dialled *end), void *arg)
{
	struct px_dial *d = zw_xnew(struct px_dial);

	*d = (struct px_dial){.all = all,
			      .host = host,
			      .port = port,
			      .program = program,
			      .on_end = on_end,
			      .arg = arg,
			      .fd = -1};
	for (size_t i = 0; i < ATTEMPTS_MAX; i++)
		d->attempts[i].fd = -1;
	d->is_via = all->via->kind != PX_VIA_NONE && way != PX_WAY_HOST;
	const struct pol_host *first = d->is_via ? &all->via->host : host;
	if (way != PX_WAY_HOST && first->addr.family == POL_FAMILY_NONE) {
		lookup_start(d);
		return d;
	}
	d->checked.n = 1;
	d->checked.addrs[0] = first->addr;
	if (way == PX_WAY_HOST)
		d->checked.addrs[0] =
			(struct pol_addr){.family = POL_FAMILY_V4, .b = {127, 0, 0, 1}};
	connect_start(d);
	return d;
}
