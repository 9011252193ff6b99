/* SPDX-License-Identifier: MIT */
#include "tests/net/super.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/words.h"

static struct tev *event_of(struct tsuper *t, uint64_t seq)
{
	for (size_t i = t->n_events; i-- > 0 && t->events[i].seq >= seq;)
		if (t->events[i].seq == seq)
			return &t->events[i];
	/* Full: the older half goes. */
	if (t->n_events == SUP_EVENTS_MAX) {
		t->n_events = SUP_EVENTS_MAX / 2;
		memmove(t->events, t->events + t->n_events, t->n_events * sizeof(t->events[0]));
	}
	t->events[t->n_events] = (struct tev){.seq = seq};
	return &t->events[t->n_events++];
}

static void on_conn_event(struct tsuper *t, const struct zw_msg_conn_event *m)
{
	struct tev *e = event_of(t, m->seq);

	e->n_msgs++;
	e->phase = m->phase;
	t->n_phase1 += m->phase == 1;
	e->did = m->did;
	e->via = m->via;
	e->port = m->port;
	e->by = m->by;
	e->rule = m->rule;
	e->n_times = m->n_times;
	e->up_b = m->up_b;
	e->down_b = m->down_b;
	e->waited_ms = m->waited_ms;
	e->had_commit |= m->want_commit == 1;
	zw_span_cpy(e->host, sizeof(e->host), m->host);
	zw_span_cpy(e->address, sizeof(e->address), m->address);
	zw_span_cpy(e->reason, sizeof(e->reason), m->reason);
	zw_span_cpy(e->note, sizeof(e->note), m->note);
	zw_span_cpy(e->end, sizeof(e->end), m->end);
	zw_span_cpy(e->exe, sizeof(e->exe), m->exe);
	if (m->want_commit == 2 || (m->want_commit && !t->want_no_commit))
		zw_send(t->proxy, committed, .seq = m->seq, .is_kept = !t->want_bad_commit,
			.session = 7, .event = m->seq);
}

static void on_ask(struct tsuper *t, const struct zw_msg_ask *m)
{
	if (t->n_asks == ZW_N_ELEMENTS(t->asks))
		return;
	struct task *a = &t->asks[t->n_asks++];
	*a = (struct task){.ask = m->ask, .n_waiting = 1};
	zw_span_cpy(a->target, sizeof(a->target), m->target);
	zw_span_cpy(a->asked, sizeof(a->asked), m->asked);
	zw_span_cpy(a->exe, sizeof(a->exe), m->exe);
}

static struct task *ask_of(struct tsuper *t, uint64_t ask)
{
	for (size_t i = 0; i < t->n_asks; i++)
		if (t->asks[i].ask == ask)
			return &t->asks[i];
	return NULL;
}

static void on_proxy_msg(struct zw_chan *chan, enum zw_msg_id id, const union zw_msg_any *m,
			 int *fds, void *arg)
{
	struct tsuper *t = arg;
	struct task *a;

	(void)chan;
	(void)fds;
	if (id == ZW_ID_px_ready)
		t->is_proxy_ready = true;
	else if (id == ZW_ID_conn_event)
		on_conn_event(t, &m->conn_event);
	else if (id == ZW_ID_ask)
		on_ask(t, &m->ask);
	else if (id == ZW_ID_ask_more && (a = ask_of(t, m->ask_more.ask)) != NULL)
		a->n_waiting = m->ask_more.n_waiting;
	else if (id == ZW_ID_ask_gone && (a = ask_of(t, m->ask_gone.ask)) != NULL)
		a->is_gone = true;
	else if (id == ZW_ID_res_query) {
		t->n_queries++;
		if (t->resolver != NULL)
			zw_chan_send_fds(t->resolver, ZW_ID_res_query, &m->res_query, NULL, 0);
	}
}

static void answer_keep(struct tsuper *t, const struct zw_msg_res_answer *m)
{
	struct zw_span *spans[4] = {&t->answer.addrs, &t->answer.cnames, &t->answer.records,
				    &t->answer.detail};
	size_t n = 0;

	t->answer = *m;
	for (size_t i = 0; i < 4; i++) {
		memcpy(t->answer_data + n, spans[i]->p, spans[i]->len);
		spans[i]->p = (char *)t->answer_data + n;
		n += spans[i]->len;
	}
	t->has_answer = true;
	zev_stop(t->loop); /* tsuper_lookup() waits, and may be measuring */
}

static void on_resolver_msg(struct zw_chan *chan, enum zw_msg_id id, const union zw_msg_any *m,
			    int *fds, void *arg)
{
	struct tsuper *t = arg;

	(void)chan;
	(void)fds;
	if (id == ZW_ID_res_ready)
		t->is_resolver_ready = true;
	else if (id == ZW_ID_res_answer && m->res_answer.query == t->own_query)
		answer_keep(t, &m->res_answer);
	else if (id == ZW_ID_res_answer && t->proxy == NULL) {
		t->n_answers++;
		t->n_ok += m->res_answer.status == ZW_RES_STATUS_OK;
	} else if (id == ZW_ID_res_answer)
		zw_chan_send_fds(t->proxy, ZW_ID_res_answer, &m->res_answer, NULL, 0);
}

static void on_proxy_end(struct zw_chan *chan, int error, void *arg)
{
	(void)chan;
	(void)error;
	((struct tsuper *)arg)->is_proxy_gone = true;
}

static void on_resolver_end(struct zw_chan *chan, int error, void *arg)
{
	(void)chan;
	(void)error;
	((struct tsuper *)arg)->is_resolver_gone = true;
}

static const struct zw_chan_ops proxy_ops = {.on_msg = on_proxy_msg, .on_end = on_proxy_end};
static const struct zw_chan_ops resolver_ops = {.on_msg = on_resolver_msg,
						.on_end = on_resolver_end};

static void on_timer(void *arg)
{
	struct tsuper *t = arg;

	t->is_timeout = true;
	zev_stop(t->loop);
}

void tsuper_init(struct tsuper *t)
{
	*t = (struct tsuper){.own_query = UINT64_MAX};
	signal(SIGPIPE, SIG_IGN);
	t->loop = zev_loop_new();
	t->timer = zev_timer_new(t->loop, on_timer, t);
}

/* The helper gets its channel as 3 and this process's stderr as 4, as zwatch starts it. */
static pid_t spawn(const char *bin, const char *name, int *ret_fd)
{
	int fds[2];
	char path[4096];

	if (zw_chan_pair(fds) < 0)
		zw_fatal("no channel");
	snprintf(path, sizeof(path), "%s/%s", bin, name);
	pid_t pid = fork();
	if (pid == 0) {
		int theirs = fcntl(fds[1], F_DUPFD, 10);

		dup2(theirs, ZW_FD_CONTROL);
		dup2(STDERR_FILENO, ZW_FD_LOG);
		close_range(5, ~0u, 0);
		execl(path, path, (char *)NULL);
		_exit(126);
	}
	close(fds[1]);
	*ret_fd = fds[0];
	return pid;
}

void tsuper_resolver_start(struct tsuper *t, const char *bin, const char *upstreams,
			   unsigned timeout_ms)
{
	int fd;

	t->resolver_pid = spawn(bin, "zwatch-resolver", &fd);
	t->resolver = zw_chan_new(t->loop, fd, ROLE_SUPER, ROLE_RESOLVER, &resolver_ops, t);
	zw_send(t->resolver, res_setup, .timeout_ms = timeout_ms, .upstreams = zw_span(upstreams),
		.anchors = zw_span(t->anchors));
}

bool tsuper_is_locked(pid_t pid)
{
	char path[64];
	zw_autofree char *text = NULL;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	return zw_read_file(path, 65536, &text, &len) == 0 &&
	       strstr(text, "\nSeccomp:\t2") != NULL && strstr(text, "\nNoNewPrivs:\t1") != NULL;
}

void tsuper_proxy_start(struct tsuper *t, const char *bin, const struct zw_msg_px_setup *setup,
			const int listen_fds[5])
{
	int fd;

	t->proxy_pid = spawn(bin, "zwatch-proxy", &fd);
	t->proxy = zw_chan_new(t->loop, fd, ROLE_SUPER, ROLE_PROXY, &proxy_ops, t);
	zw_chan_send_fds(t->proxy, ZW_ID_px_setup, setup, listen_fds, 5);
}

bool tsuper_wait(struct tsuper *t, const bool *flag, int ms)
{
	int64_t end_ms = zw_mono_ms() + ms;

	/* In slices: a flag is set by a callback, which does not know that somebody waits. */
	while (!*flag && zw_mono_ms() < end_ms)
		tsuper_idle(t, 2);
	return *flag;
}

void tsuper_idle(struct tsuper *t, int ms)
{
	zev_timer_start(t->timer, ms);
	zev_run(t->loop);
}

static void on_fd(int fd, unsigned what, void *arg)
{
	struct tsuper *t = arg;

	(void)fd;
	(void)what;
	zev_stop(t->loop);
}

bool tsuper_wait_fd(struct tsuper *t, int fd, unsigned what, int ms)
{
	struct zev_io *io = zev_io_new(t->loop, fd, what, on_fd, t);

	t->is_timeout = false;
	zev_timer_start(t->timer, ms);
	zev_run(t->loop);
	zev_timer_stop(t->timer);
	zev_io_free(io);
	return !t->is_timeout;
}

const struct zw_msg_res_answer *tsuper_lookup(struct tsuper *t, const char *name, unsigned type,
					      int ms)
{
	t->has_answer = false;
	t->own_query--;
	zw_send(t->resolver, res_query, .query = t->own_query, .name = zw_span(name),
		.type = (uint16_t)type);
	int64_t end_ms = zw_mono_ms() + ms;
	while (!t->has_answer && zw_mono_ms() < end_ms && !t->is_resolver_gone)
		tsuper_idle(t, 20);
	return t->has_answer ? &t->answer : NULL;
}

static bool reap(pid_t pid, const char *name)
{
	int status = 0;

	if (pid <= 0)
		return true;
	for (int i = 0; i < 300; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid) {
			if (status == 0)
				return true;
			fprintf(stderr, "%s ended with status 0x%x\n", name, (unsigned)status);
			return false;
		}
		usleep(10000);
	}
	fprintf(stderr, "%s does not end\n", name);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return false;
}

bool tsuper_fini(struct tsuper *t)
{
	zw_chan_free(t->proxy);
	zw_chan_free(t->resolver);
	bool is_good = reap(t->proxy_pid, "zwatch-proxy");
	is_good &= reap(t->resolver_pid, "zwatch-resolver");
	zev_timer_free(t->timer);
	zev_loop_free(t->loop);
	return is_good;
}
