/* SPDX-License-Identifier: MIT
 * zwatch-audit: the only writer of the store. Takes events from zwatch, writes them, and says when
 * an event is kept. Ends with zwatch: when the channel closes, the session is marked and the store
 * is left in order. With the word `db` it is the writing half of the command `zwatch db` instead. */
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include "sandbox/role_lock.h"
#include "src/audit/maint.h"
#include "src/audit/writer.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/ipc/chan.h"

/* How long the end waits for another program that holds the store. */
#define END_WAIT_MS   3000
#define FLUSH_WAIT_MS 1000

struct audit {
	struct zev_loop *loop;
	struct zw_chan *chan;
	struct zev_timer *timer;
	struct zev_signal *sigterm, *sigint;
	struct aud_writer *writer; /* NULL until aud_open */
	int64_t timer_at_ms;
	uint64_t session; /* its number, 0 = none yet */
	bool is_deferred, is_over;
	bool is_running; /* the writer */
};

static void on_writer_opened(int status, uint64_t session, const char *text, void *arg)
{
	struct audit *a = arg;

	a->session = session;
	if (status < 0)
		zw_error("the history cannot be opened: %s", text);
	zw_send(a->chan, aud_opened, .status = status, .session = session, .text = zw_span(text));
}

static void on_writer_committed(uint64_t seq, bool is_kept, int64_t no, void *arg)
{
	struct audit *a = arg;

	zw_send(a->chan, committed, .seq = seq, .is_kept = is_kept,
		.session = no > 0 ? a->session : 0, .event = (uint64_t)no);
}

static void on_writer_problem(const char *text, uint64_t n_lost, bool is_over, void *arg)
{
	struct audit *a = arg;

	zw_warn("%s; %llu events not kept", text, (unsigned long long)n_lost);
	zw_send(a->chan, aud_problem, .text = zw_span(text), .n_lost = n_lost, .is_over = is_over);
}

static const struct aud_writer_ops writer_ops = {
	.on_opened = on_writer_opened,
	.on_committed = on_writer_committed,
	.on_problem = on_writer_problem,
};

static void schedule(struct audit *a);

static void run(struct audit *a)
{
	if (a->is_over)
		return;
	a->is_running = true;
	aud_writer_run(a->writer);
	schedule(a);
	a->is_running = false;
}

static void on_timer(void *arg)
{
	run(arg);
}

static void on_turn_end(void *arg)
{
	struct audit *a = arg;

	a->is_deferred = false;
	run(a);
}

/* What is due now is done at the end of the turn, so that a burst becomes one transaction; what is
 * still due after one is done in the next turn, behind what the channel has meanwhile. The timer is
 * left alone when it is early enough: under a flood it would else never come to fire. */
static void schedule(struct audit *a)
{
	int64_t due_ms = aud_writer_due_ms(a->writer);
	int64_t at_ms = zw_mono_ms() + due_ms;

	if (due_ms < 0 || a->is_deferred)
		return;
	if (due_ms == 0 && !a->is_running) {
		a->is_deferred = true;
		zev_defer(a->loop, on_turn_end, a);
	} else if (!zev_timer_is_running(a->timer) || at_ms < a->timer_at_ms) {
		a->timer_at_ms = at_ms;
		zev_timer_start(a->timer, due_ms);
	}
}

static void finish(struct audit *a, int64_t t_us, int64_t exit_status, struct zw_span how)
{
	struct aud_closing c = {.n_rows = 0};

	if (a->is_over)
		return;
	a->is_over = true;
	if (a->writer != NULL)
		aud_writer_end(a->writer, t_us, exit_status, how, END_WAIT_MS, &c);
	zw_send(a->chan, aud_closed, .n_rows = c.n_rows,
		.head = zw_span_n((char *)c.head, c.head_len), .is_prune_due = c.is_prune_due);
	zw_chan_flush(a->chan, FLUSH_WAIT_MS);
	zev_stop(a->loop);
}

static void on_msg_aud_open(struct audit *a, const struct zw_msg_aud_open *m)
{
	if (a->writer != NULL) {
		zw_warn("a second session was opened; ignored");
		return;
	}
	a->writer = aud_writer_new(m, getppid(), &writer_ops, a);
	aud_writer_open(a->writer);
	zev_stop(a->loop); /* back to main(), which locks this process */
}

static void on_chan_msg(struct zw_chan *chan, enum zw_msg_id id, const union zw_msg_any *msg,
			int *fds, void *arg)
{
	struct audit *a = arg;

	(void)chan;
	(void)fds;
	if (a->is_over)
		return;
	if (id == ZW_ID_aud_open)
		on_msg_aud_open(a, &msg->aud_open);
	else if (id == ZW_ID_aud_close)
		finish(a, msg->aud_close.t_us, msg->aud_close.exit_status, msg->aud_close.how);
	else if (a->writer != NULL)
		aud_writer_put(a->writer, id, msg);
	if (!a->is_over && a->writer != NULL)
		schedule(a);
}

static void on_chan_end(struct zw_chan *chan, int error, void *arg)
{
	(void)chan;
	if (error != ZW_E_EOF)
		zw_error("the channel to zwatch broke: %s", zw_strerror(error));
	finish(arg, zw_now_us(), -1, zw_span("crashed"));
}

static void on_signal(int signo, void *arg)
{
	(void)signo;
	finish(arg, zw_now_us(), -1, zw_span("stopped"));
}

static int lock_down(struct audit *a)
{
	const char *folder = aud_writer_folder(a->writer);
	struct stat st;
	/* A store without a folder cannot be: then this process keeps to refusing, with no files. */
	bool has_folder = stat(folder, &st) == 0 && S_ISDIR(st.st_mode);
	int how = sb_role_lock(SB_ROLE_AUDIT, has_folder ? folder : NULL);

	if (how < 0)
		zw_error("cannot lock this process: %s", zw_strerror(how));
	else
		zw_send(a->chan, locked, .how = (uint8_t)how);
	return how;
}

static void audit_init(struct audit *a)
{
	static const struct zw_chan_ops chan_ops = {on_chan_msg, on_chan_end};

	a->loop = zev_loop_new();
	a->timer = zev_timer_new(a->loop, on_timer, a);
	a->sigterm = zev_signal_new(a->loop, SIGTERM, on_signal, a);
	a->sigint = zev_signal_new(a->loop, SIGINT, on_signal, a);
	a->chan = zw_chan_new(a->loop, ZW_FD_CONTROL, ROLE_AUDIT, ROLE_SUPER, &chan_ops, a);
}

static void audit_fini(struct audit *a)
{
	aud_writer_free(a->writer);
	zw_chan_free(a->chan);
	zev_signal_free(a->sigterm);
	zev_signal_free(a->sigint);
	zev_timer_free(a->timer);
	zev_loop_free(a->loop);
}

int main(int argc, char **argv)
{
	struct audit a = {0};
	int r = 0;

	if (argc > 1 && strcmp(argv[1], "db") == 0) /* zwatch db: a command, no helper */
		return aud_maint(argc - 1, argv + 1);

	umask(077);
	zw_log_init("zwatch-audit", ZW_FD_LOG, ZW_LOG_WARN);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a limit of file sizes is an error of write(2) to us */
	if (fcntl(ZW_FD_CONTROL, F_SETFD, FD_CLOEXEC) < 0)
		return 2; /* not started by zwatch */
	audit_init(&a);
	zw_send(a.chan, hello, .version = ZW_MSG_VERSION, .pid = (uint32_t)getpid());
	zev_run(a.loop);
	if (!a.is_over && a.writer != NULL) {
		aud_writer_sweep(a.writer);
		r = lock_down(&a);
		if (r >= 0)
			zev_run(a.loop);
	}
	audit_fini(&a);
	return r < 0 ? 125 : 0;
}
