/* SPDX-License-Identifier: MIT */
#include "sandbox/broker/req.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/base/words.h"

/* Calls held at once. Each has a few descriptors; beyond this the agent only hurts itself. */
#define REQS_MAX 4096

static enum brk_state copy(struct brk_req *r);
static enum brk_state copied(struct brk_req *r);
static enum brk_state pin(struct brk_req *r);
static enum brk_state valid(struct brk_req *r);
static enum brk_state route(struct brk_req *r);
static enum brk_state reply(struct brk_req *r);

static enum brk_state (*const steps[BRK_STATE_MAX])(struct brk_req *r) = {
	[BRK_COPY] = copy,
	[BRK_COPIED] = copied,
	[BRK_PIN] = pin,
	[BRK_VALID] = valid,
	[BRK_ROUTE] = route,
	[BRK_RESOLVE] = brk_unix_resolve,
	[BRK_LOOKUP] = brk_unix_lookup,
	[BRK_DECIDE] = brk_unix_decide,
	[BRK_ASK] = brk_unix_ask,
	[BRK_RECHECK] = brk_unix_recheck,
	[BRK_COMMIT] = brk_unix_commit,
	[BRK_OPEN] = brk_unix_open,
	[BRK_OWN] = brk_unix_own,
	[BRK_INET] = brk_inet_route,
	[BRK_REDIRECT] = brk_inet_redirect,
	[BRK_PORT] = brk_serve_port,
	[BRK_DATAGRAM] = brk_datagram,
	[BRK_BIND] = brk_bind,
	[BRK_BIND_LOOK] = brk_bind_look,
	[BRK_LISTEN] = brk_serve_listen,
	[BRK_REPLY] = reply,
};

static void req_free(struct brk_req *r)
{
	struct broker *b = r->b;

	TAILQ_REMOVE(&b->reqs, r, link);
	b->n_reqs--;
	brk_prompts_leave(b->prompts, &r->wait);
	if (r->commit_timer != NULL) {
		zw_map_remove(&b->commits, &r->commit_node);
		zev_timer_free(r->commit_timer);
	}
	if (r->found != NULL)
		brk_found_fini(r->found);
	free(r->found);
	free(r->who);
	free(r->event);
	zw_close(&r->place.pidfd);
	zw_close(&r->place.root_fd);
	zw_close(&r->place.cwd_fd);
	zw_close(&r->sock_fd);
	zw_close(&r->host_fd);
	free(r);
}

static void run(struct brk_req *r)
{
	while (r->state != BRK_WAITS && r->state != BRK_DONE)
		r->state = steps[r->state](r);
	if (r->state == BRK_DONE)
		req_free(r);
}

void brk_req_continue(struct brk_req *r, enum brk_state state)
{
	r->state = state;
	run(r);
}

void brk_req_drop(struct brk_req *r)
{
	req_free(r);
}

void brk_req_start(struct broker *b, const union brk_notif *n)
{
	struct brk_req *r = zw_xnew(struct brk_req);

	r->b = b;
	r->id = n->n.id;
	r->tid = (pid_t)n->n.pid;
	r->nr = n->n.data.nr;
	for (size_t i = 0; i < ZW_N_ELEMENTS(r->args); i++)
		r->args[i] = n->n.data.args[i];
	r->place = (struct brk_place){.tid = r->tid, .pidfd = -1, .root_fd = -1, .cwd_fd = -1};
	r->sock_fd = r->host_fd = -1;
	r->start_ms = zw_mono_ms();
	TAILQ_INSERT_TAIL(&b->reqs, r, link);
	b->n_reqs++;
	r->state = BRK_COPY;
	if (b->n_reqs > REQS_MAX) {
		brk_req_record(r, ZW_DID_DENY, brk_req_op(r), ZW_BY_LIMIT, "too many calls wait");
		r->state = brk_req_answer(r, EACCES);
	}
	run(r);
}

unsigned brk_req_op(const struct brk_req *r)
{
	if (r->nr == SYS_bind)
		return ZW_OP_BIND;
	if (r->nr == SYS_listen)
		return ZW_OP_TCP;
	if (r->nr != SYS_connect)
		return ZW_OP_DATAGRAM;
	if (r->addr.kind == BRK_ADDR_ABSTRACT)
		return ZW_OP_ABSTRACT;
	if (r->domain == AF_INET || r->domain == AF_INET6)
		return r->type == SOCK_STREAM ? ZW_OP_TCP : ZW_OP_UDP;
	return ZW_OP_CONNECT;
}

enum brk_state brk_req_answer(struct brk_req *r, int error)
{
	r->error = error;
	return BRK_REPLY;
}

enum brk_state brk_req_fault(struct brk_req *r, const char *what, int error)
{
	char reason[256];

	snprintf(reason, sizeof(reason), "%s failed: %s", what, zw_strerror(error));
	brk_req_record(r, ZW_DID_DENY, brk_req_op(r), ZW_BY_FAULT, reason);
	return brk_req_answer(r, EACCES);
}

/* -- records ------------------------------------------------------------------------------------ */

const char *brk_req_exe(struct brk_req *r)
{
	if (r->exe[0] == '\0' && r->b->sys->proc_link(r->tid, "exe", r->exe, sizeof(r->exe)) < 0)
		r->exe[0] = '\0';
	return r->exe;
}

struct brk_event *brk_req_event(struct brk_req *r, unsigned did, unsigned op, unsigned by,
				const char *reason)
{
	struct brk_event *e = zw_xnew(struct brk_event);

	e->did = did;
	e->op = op;
	e->by = by;
	e->risk = r->v.risk;
	e->rule = r->v.rule;
	e->waited_ms = (uint64_t)r->waited_ms;
	e->listener.uid = BRK_UID_UNKNOWN;
	if (r->found != NULL)
		e->listener = r->found->listener;
	brk_addr_format(&r->addr, e->asked, sizeof(e->asked));
	zw_strlcpy(e->target, r->found != NULL ? r->found->path : e->asked, sizeof(e->target));
	zw_strlcpy(e->class_name, r->v.class_name, sizeof(e->class_name));
	zw_strlcpy(e->reason, reason, sizeof(e->reason));
	zw_strlcpy(e->note, r->v.note, sizeof(e->note));
	if (r->who == NULL) {
		r->who = zw_xnew(struct brk_who);
		brk_who_read(r->b->sys, r->tid, r->b->init_pid, r->who);
	}
	e->who = *r->who;
	return e;
}

static void record(struct brk_req *r, const struct brk_fold_key *k, bool is_conn)
{
	if (brk_fold_count(r->b->recorder, k))
		return;
	struct brk_event *e = brk_req_event(r, k->did, k->op, k->by, k->reason);
	zw_strlcpy(e->target, k->target, sizeof(e->target));
	e->is_conn = is_conn;
	e->port = r->addr.port;
	brk_fold_add(r->b->recorder, k, e);
}

void brk_req_record(struct brk_req *r, unsigned did, unsigned op, unsigned by, const char *reason)
{
	char text[BRK_PATH_MAX];
	struct brk_fold_key k = {.did = did, .op = op, .by = by, .target = text, .reason = reason};

	k.exe = brk_req_exe(r);
	if (r->found != NULL)
		k.target = r->found->path;
	else
		brk_addr_format(&r->addr, text, sizeof(text));
	record(r, &k, false);
}

void brk_req_record_address(struct brk_req *r, unsigned by, uint32_t rule, const char *reason)
{
	char text[64];
	struct brk_fold_key k = {
		.did = ZW_DID_DENY, .op = ZW_OP_TCP, .by = by, .target = text, .reason = reason};

	k.exe = brk_req_exe(r);
	pol_addr_format(&r->addr.ip, text, sizeof(text));
	r->v.rule = rule;
	record(r, &k, true);
}

/* -- workers ------------------------------------------------------------------------------------ */

struct brk_req *brk_req_of(struct brk_job *job)
{
	return zw_map_entry(job, struct brk_req, job);
}

/* The caller may have died meanwhile; its number is not looked at then, for it may be another's. */
static void on_job_done(struct brk_job *job)
{
	struct brk_req *r = brk_req_of(job);

	brk_req_continue(r, r->next);
}

enum brk_state brk_req_work(struct brk_req *r, struct brk_pool *pool,
			    bool (*work)(struct brk_job *job), enum brk_state next)
{
	r->job.work = work;
	r->job.done = on_job_done;
	r->next = next;
	brk_pool_add(pool, &r->job);
	return BRK_WAITS;
}

/* -- states that all share ----------------------------------------------------------------------- */

/* The result goes to job_result: bytes, or -errno. */
static bool work_copy(struct brk_job *job)
{
	struct brk_req *r = brk_req_of(job);

	r->job_result = (int)r->b->sys->vm_read(r->tid, r->args[1], r->raw, r->raw_len);
	return true;
}

/* A page that has yet to be fetched (from a slow file, say) is a worker's to wait for. */
static enum brk_state copy(struct brk_req *r)
{
	int len = (int)(uint32_t)r->args[2];

	if (r->nr == SYS_listen)
		return BRK_LISTEN;
	if (r->nr != SYS_connect && r->nr != SYS_bind)
		return BRK_DATAGRAM;
	if (len < 0 || len > BRK_ADDR_MAX)
		return brk_req_answer(r, EINVAL);
	r->raw_len = (size_t)len;
	if (len == 0)
		return BRK_PIN;
	if (r->b->sys->vm_is_there(r->tid, r->args[1], r->raw_len) != 1)
		return brk_req_work(r, r->b->lookers, work_copy, BRK_COPIED);
	work_copy(&r->job);
	return BRK_COPIED;
}

static enum brk_state copied(struct brk_req *r)
{
	int n = r->job_result;

	r->job_result = 0;
	if (n == -EFAULT || (n >= 0 && (size_t)n < r->raw_len)) {
		brk_req_record(r, ZW_DID_FAIL, brk_req_op(r), ZW_BY_NATIVE,
			       "the address cannot be read");
		return brk_req_answer(r, EFAULT);
	}
	return n < 0 ? brk_req_fault(r, "reading the address", n) : BRK_PIN;
}

int brk_req_pin_socket(struct brk_req *r)
{
	const struct brk_sys *sys = r->b->sys;

	r->place.pidfd = sys->pidfd_open(r->tid);
	if (r->place.pidfd < 0)
		return r->place.pidfd;
	r->sock_fd = sys->pidfd_getfd(r->place.pidfd, (int)(uint32_t)r->args[0]);
	if (r->sock_fd < 0)
		return r->sock_fd;
	int error = sys->sock_int(r->sock_fd, SO_DOMAIN, &r->domain);
	return error < 0 ? error : sys->sock_int(r->sock_fd, SO_TYPE, &r->type);
}

static int pin_place(struct brk_req *r)
{
	r->place.root_fd = r->b->sys->proc_open(r->tid, "root");
	if (r->place.root_fd < 0)
		return r->place.root_fd;
	if (r->addr.name[0] == '/')
		return 0;
	r->place.cwd_fd = r->b->sys->proc_open(r->tid, "cwd");
	return r->place.cwd_fd < 0 ? r->place.cwd_fd : 0;
}

static enum brk_state pin(struct brk_req *r)
{
	uint64_t netns = 0;
	int error = brk_req_pin_socket(r);

	if (error == -EBADF || error == -ENOTSOCK)
		return brk_req_answer(r, -error);
	if (error < 0)
		return brk_req_fault(r, "looking at the socket", error);
	if (r->nr == SYS_bind && (r->domain != AF_UNIX || r->raw_len == sizeof(sa_family_t)))
		return BRK_VALID;
	error = brk_addr_parse(r->domain, r->type, r->raw, r->raw_len, &r->addr);
	if (error < 0)
		return brk_req_answer(r, -error);
	/* A socket keeps the namespace it was made in. One that was handed in from outside would
	 * connect there, whatever was judged here. */
	error = r->b->sys->sock_netns(r->sock_fd, &netns);
	if (error < 0)
		return brk_req_fault(r, "looking at the socket", error);
	if (netns != r->b->netns) {
		brk_req_record(r, ZW_DID_DENY, brk_req_op(r), ZW_BY_FAULT,
			       "the socket was not made in the sandbox");
		return brk_req_answer(r, EACCES);
	}
	error = r->addr.kind == BRK_ADDR_PATH ? pin_place(r) : 0;
	if (error < 0)
		return brk_req_fault(r, "looking at its root and folder", error);
	return BRK_VALID;
}

static enum brk_state valid(struct brk_req *r)
{
	int error = r->b->sys->notif_valid(r->b->listener_fd, r->id);

	if (error == -ENOENT)
		return brk_req_answer(r, EACCES); /* the caller has gone; if it has not: refused */
	return error < 0 ? brk_req_fault(r, "checking that the call still waits", error)
			 : BRK_ROUTE;
}

/* Netlink: the filter allows route sockets only, of the sandbox's own network. */
static enum brk_state route(struct brk_req *r)
{
	if (r->nr == SYS_bind)
		return BRK_BIND;
	if (r->domain == AF_UNIX)
		return r->addr.kind == BRK_ADDR_PATH ? BRK_RESOLVE : BRK_LOOKUP;
	if (r->domain == AF_INET || r->domain == AF_INET6)
		return BRK_INET;
	if (r->domain == AF_NETLINK) {
		int error =
			brk_guard_connect(&r->guard, r->sock_fd, r->addr.raw, r->addr.raw_len, 2);
		return brk_req_answer(r, error < 0 ? -error : 0);
	}
	return brk_req_fault(r, "knowing the socket's family", -EAFNOSUPPORT);
}

static enum brk_state reply(struct brk_req *r)
{
	struct broker *b = r->b;
	int error = b->sys->notif_send(b->listener_fd, r->id, r->error, 0);

	if (error == 0 || error == -ENOENT)
		return BRK_DONE;
	/* It waits for ever if it gets no answer at all; what it got is taken back. */
	if (r->is_connected)
		shutdown(r->sock_fd, SHUT_RDWR);
	if (r->open != NULL)
		brk_open_close(r->open);
	brk_req_fault(r, "answering the call", error);
	error = b->sys->notif_send(b->listener_fd, r->id, EACCES, 0);
	if (error < 0 && error != -ENOENT)
		brk_end(b, error);
	return BRK_DONE;
}
