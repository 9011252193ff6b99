/* SPDX-License-Identifier: MIT */
#include "sandbox/broker/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox/broker/diag.h"
#include "sandbox/broker/req.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/base/words.h"

/* Calls taken in one turn of the loop, so that answers of zwatch come through. */
#define CALLS_PER_TURN	32
#define RECV_FAILED_MAX 100
#define WATCH_MS	150
#define LOOKERS		2
#define WAITERS		3
/* Namespaces, seccomp, descriptors by pidfd: sandbox levels count from 0 to 4. */
#define LEVEL 3

void brk_end(struct broker *b, int error)
{
	if (b->is_ending)
		return;
	b->is_ending = true;
	b->ops->on_end(error, b->arg);
}

/* -- the listener ---------------------------------------------------------------------------------- */

/* Whether a call waits: 1, nothing: 0, the last task with the filter has gone: -1. RECV would wait. */
static int listener_state(const struct broker *b)
{
	struct pollfd p = {.fd = b->listener_fd, .events = POLLIN};

	if (poll(&p, 1, 0) <= 0)
		return 0;
	return p.revents & POLLIN ? 1 : p.revents & (POLLHUP | POLLERR | POLLNVAL) ? -1 : 0;
}

static void on_listener_ready(int fd, unsigned what, void *arg)
{
	struct broker *b = arg;
	union brk_notif n;

	(void)what;
	for (int i = 0; i < CALLS_PER_TURN; i++) {
		int state = listener_state(b);
		if (state < 0) {
			zev_io_set(b->listener_io, 0);
			brk_end(b, 0);
		}
		if (state <= 0)
			return;
		int r = b->sys->notif_recv(fd, &n);
		if (r == 0) {
			b->n_recv_failed = 0;
			brk_req_start(b, &n);
		} else if (r != -ENOENT && r != -EINTR && ++b->n_recv_failed > RECV_FAILED_MAX) {
			/* Calls stay held; with the listener closed they end as ENOSYS. */
			zev_io_set(b->listener_io, 0);
			brk_end(b, r);
			return;
		}
	}
}

/* -- questions ------------------------------------------------------------------------------------- */

static struct brk_req *req_of_wait(struct brk_wait *w)
{
	return zw_map_entry(w, struct brk_req, wait);
}

static void send_ask(struct brk_wait *w, uint64_t ask, void *arg)
{
	struct broker *b = arg;
	struct brk_req *r = req_of_wait(w);
	const struct brk_found *f = r->found;
	char asked[BRK_PATH_MAX];

	brk_addr_format(&r->addr, asked, sizeof(asked));
	zw_send(b->chan, ask, .ask = ask,
		.kind = r->domain == AF_UNIX ? POL_KIND_SOCKET : POL_KIND_SITE,
		.risk = (uint8_t)r->v.risk, .class_name = zw_span(r->v.class_name),
		.target = zw_span(f->path), .asked = zw_span(asked),
		.listener_uid = f->listener.uid, .listener_pid = f->listener.pid,
		.listener_exe = zw_span(f->listener.exe), .owner_uid = f->owner_uid,
		.owner_gid = f->owner_gid, .mode_bits = f->mode, .is_look = r->v.is_look,
		.otherwise = (uint8_t)r->v.otherwise, .exe_id = r->who->exe_id, .pid = r->who->pid,
		.exe = zw_span(r->exe), .argv = zw_span_n(r->who->argv, r->who->argv_len),
		.cwd = zw_span(r->who->cwd), .chain = zw_span_n(r->who->chain, r->who->chain_len));
	if (!zev_timer_is_running(b->watch))
		zev_timer_start(b->watch, WATCH_MS);
}

static void send_more(uint64_t ask, uint32_t n_waiting, void *arg)
{
	struct broker *b = arg;

	zw_send(b->chan, ask_more, .ask = ask, .n_waiting = n_waiting);
}

static void send_gone(uint64_t ask, void *arg)
{
	struct broker *b = arg;

	zw_send(b->chan, ask_gone, .ask = ask);
}

static void on_answered(struct brk_wait *w, const struct brk_answer *a, void *arg)
{
	(void)arg;
	struct brk_req *r = req_of_wait(w);

	if (r->domain == AF_UNIX)
		brk_unix_answered(r, a);
	else
		brk_serve_answered(r, a);
}

static const struct brk_prompts_ops prompts_ops = {
	.ask = send_ask, .more = send_more, .gone = send_gone, .answered = on_answered};

/* A caller that was killed takes its question with it. */
static void on_watch(void *arg)
{
	struct broker *b = arg;
	struct brk_req *r = TAILQ_FIRST(&b->reqs), *next;
	bool is_any = false;

	for (; r != NULL; r = next) {
		next = TAILQ_NEXT(r, link);
		if (r->wait.prompt == NULL)
			continue;
		int error = b->sys->notif_valid(b->listener_fd, r->id);
		if (error == 0) {
			is_any = true;
			continue;
		}
		r->waited_ms = zw_mono_ms() - r->start_ms;
		brk_prompts_leave(b->prompts, &r->wait);
		if (error == -ENOENT) {
			brk_req_record(r, ZW_DID_GONE,
				       r->domain == AF_UNIX ? ZW_OP_CONNECT : ZW_OP_TCP,
				       ZW_BY_NATIVE, "the program ended first");
			brk_req_drop(r);
		} else {
			brk_req_continue(
				r, brk_req_fault(r, "checking that the call still waits", error));
		}
	}
	if (is_any)
		zev_timer_start(b->watch, WATCH_MS);
}

/* -- messages of zwatch ------------------------------------------------------------------------------ */

static void take_setup(struct broker *b, const struct zw_msg_brk_setup *m)
{
	b->init_pid = (pid_t)m->init_pid;
	b->listen_addr = m->listen_addr;
	b->http_port = m->http_port;
	b->socks_port = m->socks_port;
	b->transparent_port = m->transparent_port;
	b->can_ask = m->can_ask != 0;
	b->level = m->level;
	b->hold_ms = (int64_t)(m->hold_ms & INT64_MAX);
	zw_span_cpy(b->runtime_dir, sizeof(b->runtime_dir), m->runtime_dir);
	b->socket_dirs_len = m->socket_dirs.len < sizeof(b->socket_dirs) ? m->socket_dirs.len
									 : sizeof(b->socket_dirs);
	memcpy(b->socket_dirs, m->socket_dirs.p, b->socket_dirs_len);
	for (size_t i = 0;
	     i + 1 < m->local_ports.len && b->n_local_ports < ZW_N_ELEMENTS(b->local_ports); i += 2)
		b->local_ports[b->n_local_ports++] = (uint16_t)((uint8_t)m->local_ports.p[i] << 8 |
								(uint8_t)m->local_ports.p[i + 1]);
	brk_prompts_hold(b->prompts, b->hold_ms);
}

/* Everything that needs a descriptor is opened here, before the lock-down. */
static int open_all(struct broker *b, int *fds)
{
	b->listener_fd = zw_steal_fd(&fds[0]);
	b->inside_diag_fd = zw_steal_fd(&fds[1]);
	b->host_diag_fd = brk_diag_open();
	if (b->host_diag_fd < 0)
		return b->host_diag_fd;
	b->root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (b->root_fd < 0)
		return -errno;
	int r = brk_diag_prepare(b->inside_diag_fd);
	if (r == 0)
		r = b->sys->sock_netns(b->inside_diag_fd, &b->netns);
	if (r < 0)
		return r;
	b->lookout = (struct brk_lookout){.sys = b->sys,
					  .inside_fd = b->inside_diag_fd,
					  .host_fd = b->host_diag_fd,
					  .root_fd = b->root_fd};
	pthread_mutex_init(&b->lookout.lock, NULL);
	return 0;
}

static void on_msg_brk_setup(struct broker *b, const struct zw_msg_brk_setup *m, int *fds)
{
	if (b->is_set_up || feed_generation(b->feed) == 0) {
		brk_end(b, ZW_E_DIRECTION);
		return;
	}
	b->is_set_up = true;
	take_setup(b, m);
	int r = open_all(b, fds);
	if (r == 0)
		r = b->ops->on_setup(b->arg);
	if (r < 0) {
		brk_end(b, r);
		return;
	}
	b->listener_io = zev_io_new(b->loop, b->listener_fd, ZEV_READ, on_listener_ready, b);
	zw_send(b->chan, brk_ready, .level = LEVEL);
}

static void on_msg_ask_answer(struct broker *b, const struct zw_msg_ask_answer *m)
{
	struct brk_answer a = {.verdict = m->verdict == POL_ALLOW ? POL_ALLOW : POL_DENY,
			       .did = m->by == ZW_BY_TIMEOUT ? ZW_DID_MISS : ZW_DID_DENY,
			       .by = m->by,
			       .rule = m->rule};
	struct brk_req *r;

	zw_span_cpy(a.note, sizeof(a.note), m->note);
	/* ALWAYS comes back as a rule, which can be taken out again. */
	if (m->scope == ZW_SCOPE_SESSION) {
		TAILQ_FOREACH (r, &b->reqs, link)
			if (brk_prompts_is(&r->wait, m->ask))
				break;
		/* Of a port it comes as a rule. */
		if (r != NULL && r->domain == AF_UNIX)
			brk_memory_add(b->memory, r->found, r->exe, &a);
	}
	brk_prompts_answer(b->prompts, m->ask, &a);
}

static void on_msg(struct zw_chan *chan, enum zw_msg_id id, const union zw_msg_any *msg, int *fds,
		   void *arg)
{
	struct broker *b = arg;

	(void)chan;
	if (id == ZW_ID_brk_setup) {
		on_msg_brk_setup(b, &msg->brk_setup, fds);
	} else if (id == ZW_ID_ask_answer) {
		on_msg_ask_answer(b, &msg->ask_answer);
	} else if (id == ZW_ID_brk_close) {
		brk_unix_close(b, msg->brk_close.target, msg->brk_close.pid);
	} else if (id == ZW_ID_cut) {
		brk_unix_cut(b, msg->cut.target, msg->cut.program);
	} else if (id == ZW_ID_committed) {
		brk_unix_committed(b, msg->committed.seq, msg->committed.is_kept != 0);
	} else {
		int r = feed_on_msg(b->feed, id, msg);
		if (r <= 0)
			brk_end(b, r < 0 ? r : ZW_E_UNKNOWN_MSG);
		else if (id == ZW_ID_pol_end || id == ZW_ID_pol_rule)
			brk_unix_rejudge(b);
	}
}

static void on_chan_end(struct zw_chan *chan, int error, void *arg)
{
	(void)chan;
	brk_end(arg, error == ZW_E_EOF ? 0 : error);
}

static const struct zw_chan_ops chan_ops = {.on_msg = on_msg, .on_end = on_chan_end};

/* -- life -------------------------------------------------------------------------------------------- */

struct broker *broker_new(struct zev_loop *loop, int take_fd, const struct brk_sys *sys,
			  const struct broker_ops *ops, void *arg)
{
	struct broker *b = zw_xnew(struct broker);

	b->loop = loop;
	b->sys = sys;
	b->ops = ops;
	b->arg = arg;
	b->listener_fd = b->inside_diag_fd = b->host_diag_fd = b->root_fd = -1;
	b->chan = zw_chan_new(loop, take_fd, ROLE_BROKER, ROLE_SUPER, &chan_ops, b);
	b->feed = feed_new();
	b->recorder = brk_recorder_new(loop, b->chan);
	b->prompts = brk_prompts_new(loop, &prompts_ops, b);
	b->memory = brk_memory_new();
	b->lookers = brk_pool_new(loop, LOOKERS);
	b->waiters = brk_pool_new(loop, WAITERS);
	b->watch = zev_timer_new(loop, on_watch, b);
	b->gone_timer = zev_timer_new(loop, brk_serve_on_timer, b);
	TAILQ_INIT(&b->reqs);
	TAILQ_INIT(&b->pin_list);
	LIST_INIT(&b->opens);
	zw_map_init(&b->commits);
	zw_map_init(&b->pins);
	zw_send(b->chan, hello, .version = ZW_MSG_VERSION, .pid = (uint32_t)getpid());
	return b;
}

void broker_free(struct broker *b)
{
	if (b == NULL)
		return;
	b->is_ending = true;
	bool is_free = brk_pool_free(b->lookers);
	is_free = brk_pool_free(b->waiters) && is_free;
	if (!is_free) {
		/* A thread hangs in a look-up and may come back to any of what follows. */
		zw_warn("a look-up hangs; ending without it");
		(void)zw_chan_flush(b->chan, 200);
		_exit(0);
	}
	while (!TAILQ_EMPTY(&b->reqs))
		brk_req_drop(TAILQ_FIRST(&b->reqs));
	brk_unix_fini(b);
	zev_io_free(b->listener_io);
	zev_timer_free(b->watch);
	zev_timer_free(b->gone_timer);
	brk_recorder_free(b->recorder);
	brk_prompts_free(b->prompts);
	brk_memory_free(b->memory);
	feed_free(b->feed);
	(void)zw_chan_flush(b->chan, 200);
	zw_chan_free(b->chan);
	zw_map_fini(&b->commits);
	zw_map_fini(&b->pins);
	zw_close(&b->listener_fd);
	zw_close(&b->inside_diag_fd);
	zw_close(&b->host_diag_fd);
	zw_close(&b->root_fd);
	free(b);
}
