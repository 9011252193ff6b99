/* SPDX-License-Identifier: MIT
 * Services across the border, seen from the broker: a server that begins to listen inside, and a
 * connect to a port of loopback that nobody inside serves, but somebody on the host does. */
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox/broker/req.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/base/tcp_table.h"
#include "src/base/words.h"

/* How often servers of the sandbox are looked for that have gone, while there is one. */
#define GONE_MS 1000
/* Listening sockets stand first in the table; of more than these nothing is known. */
#define TABLE_B (64u * 1024)

/* -- servers inside -------------------------------------------------------------------------------- */

static bool see(const struct zw_tcp_listener *l, void *arg)
{
	if (l->is_on_loopback)
		brk_ports_add(arg, l->port);
	return true;
}

/* Ports with a listener inside. Returns false when not all of them could be seen. */
static bool look_inside(const struct broker *b, struct brk_ports *ret)
{
	static const char *const tables[] = {"net/tcp", "net/tcp6"};
	zw_autofree char *text = zw_xmalloc(TABLE_B);
	bool is_all = true;

	for (size_t i = 0; i < ZW_N_ELEMENTS(tables); i++) {
		ssize_t n = b->sys->proc_read(b->init_pid, tables[i], text, TABLE_B);

		if (n == -ENOENT)
			continue; /* no IPv6 */
		if (n > 0)
			zw_tcp_table(text, see, ret);
		if (n < 0 || n + 1 >= (ssize_t)TABLE_B)
			is_all = false;
	}
	return is_all;
}

void brk_serve_on_timer(void *arg)
{
	struct broker *b = arg;
	zw_autofree struct brk_ports *now = zw_xnew(struct brk_ports);

	if (look_inside(b, now))
		for (unsigned port = 1; port < 65536; port++) {
			if (!brk_ports_has(&b->inside, (uint16_t)port) ||
			    brk_ports_has(now, (uint16_t)port))
				continue;
			brk_ports_remove(&b->inside, (uint16_t)port);
			zw_send(b->chan, serving, .port = (uint16_t)port, .is_gone = 1);
		}
	if (b->inside.n > 0)
		zev_timer_start(b->gone_timer, GONE_MS);
}

/* Port of a listening socket that loopback reaches; 0 = another. */
static uint16_t port_of(int fd)
{
	struct sockaddr_storage ss = {0};
	socklen_t len = sizeof(ss);
	static const uint8_t zero[16], one[16] = {[15] = 1}, mapped[12] = {[10] = 0xff, 0xff};

	if (getsockname(fd, (struct sockaddr *)&ss, &len) < 0)
		return 0;
	if (ss.ss_family == AF_INET) {
		struct sockaddr_in in;

		memcpy(&in, &ss, sizeof(in));
		uint32_t addr = ntohl(in.sin_addr.s_addr);
		return addr == INADDR_ANY || addr >> 24 == 127 ? ntohs(in.sin_port) : 0;
	}
	if (ss.ss_family == AF_INET6) {
		struct sockaddr_in6 in;

		memcpy(&in, &ss, sizeof(in));
		const uint8_t *a = in.sin6_addr.s6_addr;
		bool is_ours = memcmp(a, zero, 16) == 0 || memcmp(a, one, 16) == 0 ||
			       (memcmp(a, mapped, 12) == 0 && a[12] == 127);
		return is_ours ? ntohs(in.sin6_port) : 0;
	}
	return 0;
}

static void tell_serving(struct brk_req *r, uint16_t port)
{
	struct broker *b = r->b;
	zw_autofree struct brk_who *w = zw_xnew(struct brk_who);

	if (port == 0)
		return;
	bool is_new = brk_ports_add(&b->inside, port);
	brk_who_read(b->sys, r->tid, b->init_pid, w);
	/* Another one may have come before it was seen that the first has gone, also one that the same
	 * process became. */
	const uint64_t id = w->exe_id ^ (uint64_t)w->pid << 32;
	if (!is_new && b->serving[port] == id)
		return;
	b->serving[port] = id;
	zw_send(b->chan, serving, .port = port, .is_gone = 0, .exe_id = w->exe_id, .pid = w->pid,
		.exe = zw_span(w->exe), .argv = zw_span_n(w->argv, w->argv_len),
		.cwd = zw_span(w->cwd), .chain = zw_span_n(w->chain, w->chain_len));
	if (!zev_timer_is_running(b->gone_timer))
		zev_timer_start(b->gone_timer, GONE_MS);
}

/* listen() is never refused: it opens nothing to the outside. Of an internet socket it is done here,
 * on the caller's own; a Unix socket keeps who listened, so there the caller does it. */
enum brk_state brk_serve_listen(struct brk_req *r)
{
	struct broker *b = r->b;
	int error = brk_req_pin_socket(r);

	if (error == -EBADF || error == -ENOTSOCK)
		return brk_req_answer(r, -error);
	if (error < 0)
		return brk_req_fault(r, "looking at the socket", error);
	error = b->sys->notif_valid(b->listener_fd, r->id);
	if (error < 0)
		return brk_req_answer(r, EACCES);
	if (r->domain != AF_INET && r->domain != AF_INET6) {
		error = b->sys->notif_continue(b->listener_fd, r->id);
		return error == 0 || error == -ENOENT
			       ? BRK_DONE
			       : brk_req_fault(r, "letting the call go on", error);
	}
	if (listen(r->sock_fd, (int)(uint32_t)r->args[1]) < 0)
		return brk_req_answer(r, errno);
	if (r->type == SOCK_STREAM)
		tell_serving(r, port_of(r->sock_fd));
	return brk_req_answer(r, 0);
}

/* -- services of the host -------------------------------------------------------------------------- */

struct search {
	uint16_t port;
	struct brk_listener *ret;
	bool is_found;
};

static bool match(const struct zw_tcp_listener *l, void *arg)
{
	struct search *s = arg;

	if (!l->is_on_loopback || l->port != s->port)
		return true;
	s->ret->uid = l->uid;
	s->ret->sk_ino = (uint32_t)l->ino;
	s->is_found = true;
	return false;
}

/* 1 somebody listens there on the host, 0 nobody, -errno. */
static int look_outside(struct brk_req *r)
{
	static const char *const tables[] = {"net/tcp", "net/tcp6"};
	struct search s = {.port = r->addr.port, .ret = &r->found->listener};
	zw_autofree char *text = zw_xmalloc(TABLE_B);

	for (size_t i = 0; i < ZW_N_ELEMENTS(tables) && !s.is_found; i++) {
		ssize_t n = r->b->sys->proc_read(getpid(), tables[i], text, TABLE_B);

		if (n < 0 && n != -ENOENT)
			return (int)n;
		if (n > 0)
			zw_tcp_table(text, match, &s);
	}
	if (s.is_found)
		brk_listener_find(&r->b->lookout, s.ret);
	return s.is_found;
}

static bool work_look(struct brk_job *job)
{
	struct brk_req *r = brk_req_of(job);

	r->job_result = look_outside(r);
	if (r->job_result > 0) {
		(void)brk_req_exe(r);
		r->who = zw_xnew(struct brk_who);
		brk_who_read(r->b->sys, r->tid, r->b->init_pid, r->who);
	}
	return true;
}

enum brk_state brk_serve_look(struct brk_req *r)
{
	r->found = zw_xmalloc(sizeof(*r->found));
	brk_found_init(r->found);
	snprintf(r->found->path, sizeof(r->found->path), "127.0.0.1:%u", r->addr.port);
	r->found->listener.uid = BRK_UID_UNKNOWN;
	return brk_req_work(r, r->b->lookers, work_look, BRK_PORT);
}

void brk_serve_judge(struct brk_req *r)
{
	/* As a name: then rules about the name and about the address both count. */
	static const struct pol_host here = {.name = "localhost"};
	const struct policy *p = feed_policy(r->b->feed);
	struct pol_decision d;

	pol_decide_site(p, &here, r->addr.port, r->exe, &d);
	r->v.verdict = d.verdict;
	r->v.by = d.by;
	r->v.rule = d.rule;
	zw_strlcpy(r->v.reason, d.reason != NULL ? d.reason : "", sizeof(r->v.reason));
	zw_strlcpy(r->v.class_name, POL_CLASS_HOST_PORT, sizeof(r->v.class_name));
	r->v.risk = POL_RISK_LOW;
	if (d.by == ZW_BY_RULE)
		return;
	/* No rule names it. An address has no allow by mode; here the user is asked. */
	r->v.verdict = pol_mode(p) == POL_MODE_STRICT ? POL_DENY : POL_ASK;
	r->v.by = ZW_BY_MODE;
	zw_strlcpy(r->v.reason,
		   r->v.verdict == POL_DENY ? "mode strict: no rule allows this port of the host"
					    : "",
		   sizeof(r->v.reason));
}

/* What connect() gives where nobody listens, since nobody does for the one who asked. */
static enum brk_state refuse(struct brk_req *r, unsigned did, unsigned by, const char *reason)
{
	struct brk_event *e = brk_req_event(r, did, ZW_OP_TCP, by, reason);

	e->is_conn = true;
	e->port = r->addr.port;
	zw_strlcpy(e->target, "127.0.0.1", sizeof(e->target));
	brk_record(r->b->recorder, e, false, 0);
	free(e);
	return brk_req_answer(r, ECONNREFUSED);
}

static enum brk_state ask(struct brk_req *r)
{
	if (!r->b->can_ask)
		return refuse(r, ZW_DID_DENY, ZW_BY_NO_TERMINAL, "nobody is there to answer");
	r->is_asked = true;
	if (brk_prompts_wait(r->b->prompts, r->found, r->exe, &r->wait) < 0)
		return refuse(r, ZW_DID_DENY, ZW_BY_LIMIT, "too many questions are open");
	return BRK_WAITS;
}

enum brk_state brk_serve_port(struct brk_req *r)
{
	int error = r->b->sys->notif_valid(r->b->listener_fd, r->id);

	if (error < 0)
		return brk_req_answer(r, EACCES);
	if (r->job_result <= 0)
		return brk_inet_inside(r);
	brk_serve_judge(r);
	if (r->v.verdict == POL_ALLOW)
		return brk_inet_to_host(r, BRK_HOST_BY_RULE);
	if (r->v.verdict == POL_ASK)
		return ask(r);
	return refuse(r, ZW_DID_DENY, r->v.by, r->v.reason);
}

void brk_serve_answered(struct brk_req *r, const struct brk_answer *a)
{
	r->waited_ms = zw_mono_ms() - r->start_ms;
	r->v.rule = a->rule;
	zw_strlcpy(r->v.note, a->note, sizeof(r->v.note));
	if (a->verdict == POL_ALLOW)
		brk_req_continue(r, brk_inet_to_host(r, a->by == ZW_BY_RULE ? BRK_HOST_BY_SAVED
									    : BRK_HOST_BY_USER));
	else
		brk_req_continue(r, refuse(r, a->did, a->by,
					   a->by == ZW_BY_TIMEOUT ? "nobody answered in time"
					   : a->by == ZW_BY_USER  ? "the user said no"
								  : r->v.reason));
}
