/* SPDX-License-Identifier: MIT
 * Internet connects. Nothing of the sandbox has a way out of its own network; what is meant for
 * outside is connected to the proxy's listener inside, and the proxy is told where to and who. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox/broker/req.h"
#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/base/words.h"

#define INLINE_MS     2
#define SLICE_MS      200
#define SLICE_BUSY_MS 20

/* Loopback, or "this host", which connects to it (RFC 1122, 3.2.1.3). */
static bool is_loopback(const struct brk_addr *a)
{
	static const uint8_t v6_any[16];
	static const uint8_t v6_loopback[16] = {[15] = 1};

	if (a->ip.family == POL_FAMILY_V4)
		return a->ip.b[0] == 127 || brk_addr_v4(a) == INADDR_ANY;
	return memcmp(a->ip.b, v6_any, 16) == 0 || memcmp(a->ip.b, v6_loopback, 16) == 0;
}

static bool is_local_port(const struct broker *b, uint16_t port)
{
	for (size_t i = 0; i < b->n_local_ports; i++)
		if (b->local_ports[i] == port)
			return true;
	return false;
}

/* -- as it is, inside ------------------------------------------------------------------------------ */

static bool work_native(struct brk_job *job)
{
	struct brk_req *r = brk_req_of(job);
	int slice_ms = brk_pool_is_busy(r->b->waiters) ? SLICE_BUSY_MS : SLICE_MS;

	if (r->b->sys->notif_valid(r->b->listener_fd, r->id) < 0)
		r->job_result = -EACCES;
	else
		r->job_result =
			brk_guard_connect(&r->guard, r->sock_fd, r->to, r->to_len, slice_ms);
	return r->job_result != BRK_GUARD_AGAIN;
}

static enum brk_state native_result(struct brk_req *r, int result)
{
	r->is_connected = result == 0;
	return brk_req_answer(r, result < 0 ? -result : 0);
}

/* Connects to r->to. */
static enum brk_state native(struct brk_req *r)
{
	int result = brk_guard_connect(&r->guard, r->sock_fd, r->to, r->to_len, INLINE_MS);

	if (result == BRK_GUARD_AGAIN)
		return brk_req_work(r, r->b->waiters, work_native, BRK_INET);
	return native_result(r, result);
}

static enum brk_state as_asked(struct brk_req *r)
{
	memcpy(r->to, r->addr.raw, r->addr.raw_len);
	r->to_len = r->addr.raw_len;
	return native(r);
}

/* -- to the proxy ----------------------------------------------------------------------------------- */

/* Whether connect() was not called on this socket before. */
static bool is_fresh(const struct brk_req *r)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);

	if (getsockopt(r->sock_fd, IPPROTO_TCP, TCP_INFO, &info, &len) < 0)
		return true;
	return info.tcpi_state == TCP_CLOSE;
}

static bool work_redirect(struct brk_job *job)
{
	struct brk_req *r = brk_req_of(job);

	if (r->who == NULL) {
		r->who = zw_xnew(struct brk_who);
		brk_who_read(r->b->sys, r->tid, r->b->init_pid, r->who);
	}
	return work_native(job);
}

static void tell_who(struct brk_req *r)
{
	struct sockaddr_storage ss = {0};
	socklen_t len = sizeof(ss);
	const struct brk_who *w = r->who;
	size_t addr_len = r->addr.ip.family == POL_FAMILY_V6 ? 16 : 4;
	uint16_t port;

	if (getsockname(r->sock_fd, (struct sockaddr *)&ss, &len) < 0)
		return;
	/* sin_port and sin6_port lie at the same place. */
	memcpy(&port, (const uint8_t *)&ss + offsetof(struct sockaddr_in, sin_port), sizeof(port));
	zw_send(r->b->chan, tcp_who, .local_port = ntohs(port),
		.is_host_local = (uint8_t)r->is_host_local,
		.rule = r->is_host_local == BRK_HOST_BY_SAVED ? r->v.rule : 0,
		.family = (uint8_t)r->addr.ip.family, .addr = zw_span_n(r->addr.ip.b, addr_len),
		.port = r->addr.port, .exe_id = w->exe_id, .pid = w->pid, .exe = zw_span(w->exe),
		.argv = zw_span_n(w->argv, w->argv_len), .cwd = zw_span(w->cwd),
		.chain = zw_span_n(w->chain, w->chain_len));
}

/* Back from the worker. */
enum brk_state brk_inet_redirect(struct brk_req *r)
{
	if (r->job_result == 0 || r->job_result == -EINPROGRESS)
		tell_who(r);
	return native_result(r, r->job_result);
}

static enum brk_state redirect(struct brk_req *r, uint16_t port)
{
	const int off = 0;

	r->to_len = brk_addr_make_v4(r->domain, r->b->listen_addr, port, r->to);
	if (!is_fresh(r))
		return native(
			r); /* EISCONN, EALREADY or the end of a connect under way: the kernel's word */
	/* The listener is IPv4, which a socket that was set to IPv6 alone would not reach. */
	if (r->domain == AF_INET6)
		(void)setsockopt(r->sock_fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	return brk_req_work(r, r->b->waiters, work_redirect, BRK_REDIRECT);
}

enum brk_state brk_inet_inside(struct brk_req *r)
{
	brk_req_record(r, ZW_DID_AUTO, ZW_OP_TCP, ZW_BY_INSIDE, "");
	return as_asked(r);
}

enum brk_state brk_inet_to_host(struct brk_req *r, enum brk_host_by by)
{
	r->is_host_local = by;
	return redirect(r, r->b->transparent_port);
}

/* -- by kind ----------------------------------------------------------------------------------------- */

static enum brk_state judge_address(struct brk_req *r)
{
	struct pol_host host = {.addr = r->addr.ip};
	struct pol_decision d;

	if (brk_req_exe(r)[0] == '\0')
		return brk_req_fault(r, "looking which program it is", -ESRCH);
	pol_addr_format(&r->addr.ip, host.name, sizeof(host.name));
	pol_decide_site(feed_policy(r->b->feed), &host, r->addr.port, brk_req_exe(r), &d);
	bool is_answered = d.verdict == POL_DENY && pol_is_answered(feed_policy(r->b->feed), &host,
								    r->addr.port, brk_req_exe(r));
	if (d.verdict == POL_ALLOW || d.verdict == POL_ASK || is_answered || !is_fresh(r))
		return redirect(r, r->b->transparent_port);
	brk_req_record_address(r, d.by, d.rule, d.reason != NULL ? d.reason : "");
	/* Programs that have other addresses to try go on after "unreachable". */
	return brk_req_answer(r, d.by == ZW_BY_ADDRESS ? ENETUNREACH : EACCES);
}

static bool is_fake(const struct brk_addr *a)
{
	return a->ip.family == POL_FAMILY_V4 && pol_addr_classify(&a->ip) == POL_ADDR_FAKE;
}

static enum brk_state route_stream(struct brk_req *r)
{
	const struct broker *b = r->b;

	if (is_loopback(&r->addr)) {
		if (brk_ports_has(&b->inside, r->addr.port) || !is_fresh(r))
			return brk_inet_inside(r);
		if (is_local_port(b, r->addr.port))
			return brk_inet_to_host(r, BRK_HOST_BY_RULE);
		return brk_serve_look(r);
	}
	if (brk_addr_v4(&r->addr) == b->listen_addr) {
		bool is_proxy = r->addr.port == b->http_port || r->addr.port == b->socks_port;
		return is_proxy ? redirect(r, r->addr.port) : as_asked(r);
	}
	if (is_fake(&r->addr))
		return redirect(r, b->transparent_port);
	return judge_address(r);
}

/* Datagrams go nowhere but to the sandbox itself. A connect to a fake address is how getaddrinfo(3)
 * sorts its results; it stays inside, and what is sent there is refused by the kernel. */
static enum brk_state route_datagram(struct brk_req *r)
{
	if (is_loopback(&r->addr) || is_fake(&r->addr))
		return as_asked(r);
	brk_req_record(r, ZW_DID_DENY, ZW_OP_UDP, ZW_BY_ADDRESS, "UDP is not carried");
	return brk_req_answer(r, ENETUNREACH);
}

enum brk_state brk_inet_route(struct brk_req *r)
{
	if (r->guard.is_started) /* back from the worker */
		return native_result(r, r->job_result);
	if (r->addr.kind == BRK_ADDR_UNSPEC)
		return as_asked(r);
	if (r->type == SOCK_STREAM)
		return route_stream(r);
	return route_datagram(r);
}
