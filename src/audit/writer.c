/* SPDX-License-Identifier: MIT */
#include "src/audit/writer.h"

#include <errno.h>
#include <poll.h>

#include "src/audit/prune.h"
#include "src/audit/queue.h"
#include "src/audit/store.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"

/* Events that wait in memory while the store cannot be written. */
#define QUEUE_MAX_B (16u << 20)
/* A batch of this size is written without waiting for more. */
#define BATCH_B (1u << 20)
/* The length of a transaction: so long somebody waits whose event comes while one is written. More while
 * more than a batch waits. */
#define SLICE_US 500
/* The same when nothing comes any more. */
#define END_US 100000
/* The same with something in it that is waited for. */
#define WANTED_US     200
#define BUSY_AGAIN_MS 50
#define OPEN_TRIES    3
/* The log is moved into the file when nothing else is to do, or when it has grown too long. */
#define WAL_IDLE_PAGES 1000
#define WAL_MAX_PAGES  8000
/* So little is left of it that no more is written until that is in the file, too: then it begins anew.
 * Those that somebody waits for are written all the same, and with them in the way it may come to
 * WAL_HARD_PAGES before everybody waits. */
#define WAL_REST_PAGES 2000
#define WAL_HARD_PAGES 64000
#define TIDY_LOOK_MS   2
#define HOLD_MS	       200
#define IDLE_MS	       250
/* Between steps of finishing a removal that was cut short. */
#define REST_MS 100

struct aud_writer {
	struct aud_store *store;
	struct aud_ident who;
	struct aud_queue queue, opening; /* opening: the aud_open, to begin again with */
	const struct aud_writer_ops *ops;
	void *arg;
	int64_t session;  /* 0 = none yet */
	int error;	  /* why the store could not be written at the last try; 0 = it could */
	int64_t error_ms; /* since when */
	int64_t retry_ms; /* when to try again */
	int64_t put_ms;	  /* when the last event came */
	uint64_t n_lost, n_lost_unwritten, n_lost_told;
	bool is_told;	 /* the error */
	int64_t rest_ms; /* when to look for what a removal left behind; 0 = no more */
	bool is_overrun; /* events came faster than they could be written, and were lost */
	bool is_urgent;	 /* somebody wants a number */
	bool is_tidying; /* the log is moved into the file, pass after pass */
	bool is_holding; /* and this pass may be the last, if nothing is written meanwhile */
	int64_t held_ms; /* since when */
	bool is_ending;
	int n_tidied; /* pages, by the pass before */
};

struct aud_writer *aud_writer_new(const struct zw_msg_aud_open *open, pid_t zwatch_pid,
				  const struct aud_writer_ops *ops, void *arg)
{
	struct aud_writer *w = zw_xnew(struct aud_writer);
	zw_autofree char *path = zw_span_dup(open->path);

	w->store = aud_store_new(path);
	w->ops = ops;
	w->arg = arg;
	aud_queue_init(&w->queue, QUEUE_MAX_B);
	aud_queue_init(&w->opening, ZW_MSG_SIZE_MAX);
	aud_queue_add(&w->opening, ZW_ID_aud_open, open, 0, 0, 0);
	if (aud_ident_get(zwatch_pid, &w->who) < 0)
		w->who = (struct aud_ident){.pid = zwatch_pid};
	return w;
}

void aud_writer_free(struct aud_writer *w)
{
	if (w == NULL)
		return;
	aud_store_free(w->store);
	aud_queue_fini(&w->queue);
	aud_queue_fini(&w->opening);
	free(w);
}

const char *aud_writer_folder(const struct aud_writer *w)
{
	return aud_store_folder(w->store);
}

static void problem(struct aud_writer *w, const char *text, bool is_over)
{
	w->n_lost_told = w->n_lost;
	w->ops->on_problem(text, w->n_lost, is_over, w->arg);
}

static void cannot_write(struct aud_writer *w, int error)
{
	zw_autofree char *text = zw_xasprintf("cannot write history (%s)", aud_store_why(error));

	problem(w, text, false);
}

static void count_lost(struct aud_writer *w, uint64_t n)
{
	w->n_lost += n;
	w->n_lost_unwritten += n;
}

/* A line of our own in the record. */
static void note(struct aud_writer *w, const char *text)
{
	struct zw_msg_misc_event m = {
		.t_us = zw_now_us(), .kind = zw_span("store"), .text = zw_span(text)};

	if (aud_queue_add(&w->queue, ZW_ID_misc_event, &m, 0, false, zw_mono_ms()) < 0)
		count_lost(w, 1);
}

/* A damaged file goes out of the way; the next opening begins a new one. */
static int set_aside(struct aud_writer *w)
{
	char name[256];
	uint64_t n_rows = aud_store_n_rows(w->store);
	int r = aud_store_set_aside(w->store, name, sizeof(name));

	if (r < 0)
		return r;
	zw_autofree char *text =
		zw_xasprintf("history.db was damaged; it is kept as %s and a new one was begun",
			     name[0] != '\0' ? name : "another file");
	count_lost(w, w->session != 0 ? n_rows : 0);
	problem(w, text, true); /* a new one is written */
	note(w, text);
	return 0;
}

/* Opens the store and begins or takes up the session, where that is not the case already. */
static int session_ready(struct aud_writer *w)
{
	union zw_msg_any m;
	int64_t session = 0;
	int r;

	if (aud_store_is_open(w->store))
		return 0;
	r = aud_store_open(w->store);
	if (r == 0) {
		aud_item_msg(STAILQ_FIRST(&w->opening.items), &m);
		r = aud_store_session(w->store, &m.aud_open, &w->who, w->session, &session);
	}
	if (r == -EUCLEAN) /* keep its name and inode: it is set aside by them */
		return r;
	if (r < 0) {
		aud_store_close(w->store);
		return r;
	}
	if (session != w->session) {
		w->session = session;
		w->ops->on_opened(0, (uint64_t)session, "", w->arg);
	}
	return 0;
}

/* A file that was removed under way: its rows are gone by somebody's will; begin again. */
static int still_there(struct aud_writer *w)
{
	uint64_t n_rows = aud_store_n_rows(w->store);

	if (!aud_store_is_open(w->store) || aud_store_check(w->store) == 0)
		return 0;
	aud_store_close(w->store);
	int r = session_ready(w);
	if (r < 0)
		return r;
	uint64_t n_left = aud_store_n_rows(w->store);
	if (n_left >= n_rows)
		return 0;
	static const char text[] =
		"history.db was removed or replaced while in use; a new one was begun";
	count_lost(w, n_rows - n_left);
	problem(w, text, true); /* a new one is written */
	note(w, text);
	return 0;
}

/* The more waits, the longer: what comes faster than short transactions take is held up in its channel
 * rather than lost here. */
static int64_t slice_us(const struct aud_writer *w)
{
	int64_t n = (int64_t)(w->queue.len_b / BATCH_B);

	if (w->is_ending)
		return END_US;
	return SLICE_US * (1 + n * n);
}

/* Writes what one transaction takes. *ret: items that are in the store now. */
static int write_once(struct aud_writer *w, size_t *ret)
{
	struct aud_written done = {.n_items = 0};
	int r = still_there(w);

	*ret = 0;
	if (r == 0)
		r = session_ready(w);
	if (r < 0 || w->queue.n_items == 0)
		return r;
	bool is_wanted = w->queue.n_wanted > 0 || w->is_urgent;
	r = aud_store_write(w->store, &w->queue.items, w->n_lost_unwritten,
			    is_wanted && w->queue.len_b < BATCH_B ? WANTED_US : slice_us(w), &done);
	if (r < 0)
		return r;
	w->n_lost += done.n_refused;
	w->n_lost_unwritten = 0;
	*ret = done.n_items;
	return 0;
}

/* Takes out the first @n items, and tells whoever waits for one. */
static void answer(struct aud_writer *w, size_t n)
{
	struct aud_item *item;

	for (size_t i = 0; i < n && (item = aud_queue_take(&w->queue)) != NULL; i++) {
		if (item->want_commit || item->want_number)
			w->ops->on_committed(item->seq, !item->is_refused, item->no, w->arg);
		free(item);
	}
	w->is_urgent = w->is_urgent && w->queue.n_items > 0;
}

/* Those who wait since @until_ms or longer are told no. Their events go: what was not granted must
 * not stand in the record as granted later. */
static void refuse_wanted(struct aud_writer *w, int64_t until_ms)
{
	struct aud_items items;
	struct aud_item *item;

	if (w->queue.n_wanted == 0)
		return;
	aud_queue_take_wanted(&w->queue, until_ms, &items);
	while ((item = STAILQ_FIRST(&items)) != NULL) {
		STAILQ_REMOVE_HEAD(&items, link);
		w->ops->on_committed(item->seq, false, 0, w->arg);
		count_lost(w, 1);
		free(item);
	}
}

static void recovered(struct aud_writer *w)
{
	if (w->is_told) {
		zw_autofree char *text =
			zw_xasprintf("history is written again; %llu events were not kept (%s)",
				     (unsigned long long)w->n_lost, aud_store_why(w->error));
		note(w, text);
		problem(w, "history is written again", true);
	}
	w->error = 0;
	w->is_told = false;
}

static void failed(struct aud_writer *w, int error, int64_t now_ms)
{
	bool is_busy = error == ZW_E_BUSY;

	if (w->error != error) {
		w->error = error;
		w->error_ms = now_ms;
		w->is_told = false;
	}
	bool is_long = !is_busy || now_ms - w->error_ms >= AUD_BUSY_MS;
	w->retry_ms = now_ms + (is_long ? AUD_RETRY_MS : BUSY_AGAIN_MS);
	/* Before the store is closed, which waits for a pass under way. */
	refuse_wanted(w, is_long && !is_busy ? INT64_MAX : now_ms - AUD_BUSY_MS);
	/* A full disk and a lock pass by; for the rest a new handle is worth the try. */
	if (!is_busy && error != -ENOSPC)
		aud_store_close(w->store);
	if (is_long && (!w->is_told || w->n_lost != w->n_lost_told)) {
		if (w->is_told || w->session != 0) /* else on_opened tells it */
			cannot_write(w, error);
		w->is_told = true;
	}
}

/* Events that found no room although the store can be written: said once there is room again. */
static void overrun(struct aud_writer *w)
{
	zw_autofree char *text =
		zw_xasprintf("events came faster than they could be kept; %llu were not",
			     (unsigned long long)(w->n_lost - w->n_lost_told));

	w->is_overrun = false;
	problem(w, text, true);
	note(w, text);
}

/* One try to write: what one transaction takes. Returns 0 or why not. */
static int attempt(struct aud_writer *w)
{
	size_t n = 0;
	int r = write_once(w, &n);

	if (r == -EUCLEAN) {
		r = set_aside(w);
		if (r == 0)
			r = write_once(w, &n);
	}
	if (r < 0) {
		failed(w, r, zw_mono_ms());
		return r;
	}
	answer(w, n);
	if (w->error != 0)
		recovered(w);
	if (w->is_overrun)
		overrun(w);
	return 0;
}

void aud_writer_open(struct aud_writer *w)
{
	int r = attempt(w);

	for (int i = 1; i < OPEN_TRIES && r == ZW_E_BUSY; i++)
		r = attempt(w);
	if (r < 0)
		w->ops->on_opened(r, 0, aud_store_why(r), w->arg);
}

void aud_writer_sweep(struct aud_writer *w)
{
	w->rest_ms = zw_mono_ms() + REST_MS;
	if (aud_store_is_open(w->store))
		aud_store_mark_crashed(w->store); /* else the next session does it */
}

void aud_writer_put(struct aud_writer *w, enum zw_msg_id id, const union zw_msg_any *msg)
{
	uint64_t seq = 0;
	unsigned want = 0;

	if (id == ZW_ID_sock_event) {
		seq = msg->sock_event.seq;
		want = msg->sock_event.want_commit;
	} else if (id == ZW_ID_conn_event) {
		seq = msg->conn_event.seq;
		want = msg->conn_event.want_commit;
	} else if (id != ZW_ID_question_event && id != ZW_ID_misc_event) {
		return;
	}
	w->put_ms = zw_mono_ms();
	if (aud_queue_add(&w->queue, id, msg, seq, want, w->put_ms) == 0) {
		w->is_urgent = w->is_urgent || want == AUD_WANT_NUMBER;
		return;
	}
	count_lost(w, 1);
	w->is_overrun = w->error == 0;
	if (want != 0)
		w->ops->on_committed(seq, false, 0, w->arg);
}

static bool want_tidy(const struct aud_writer *w, int64_t now_ms)
{
	unsigned n = w->error == 0 ? aud_store_wal_pages(w->store) : 0;

	return n >= WAL_MAX_PAGES ||
	       (n >= WAL_IDLE_PAGES && w->queue.n_items == 0 && now_ms - w->put_ms >= IDLE_MS);
}

/* What a pass cannot do, or not in time, is done here. What fails shows at the next write. */
static void tidy_end(struct aud_writer *w, bool is_done)
{
	if (!is_done)
		aud_store_checkpoint(w->store, false);
	aud_store_tidied(w->store);
	w->is_tidying = w->is_holding = false;
}

/* A pass is over: another one, unless all is in the file, or a reader keeps the rest in the log. */
static void tidy_more(struct aud_writer *w)
{
	int n_done = aud_store_n_tidied(w->store);
	unsigned n = aud_store_wal_pages(w->store);

	if (n_done < 0 || n >= WAL_HARD_PAGES) {
		tidy_end(w, false);
		return;
	}
	if ((unsigned)n_done >= n || n_done == w->n_tidied) {
		tidy_end(w, true);
		return;
	}
	w->n_tidied = n_done;
	bool was_holding = w->is_holding;
	w->is_holding = n - (unsigned)n_done <= WAL_REST_PAGES;
	if (w->is_holding && !was_holding)
		w->held_ms = zw_mono_ms();
	if (!aud_store_tidy(w->store))
		tidy_end(w, false);
}

static void tidy(struct aud_writer *w)
{
	if (!aud_store_is_open(w->store)) {
		w->is_tidying = w->is_holding = false;
		return;
	}
	if (aud_store_is_tidying(w->store))
		return;
	if (w->is_tidying) {
		tidy_more(w);
		return;
	}
	if (!want_tidy(w, zw_mono_ms()))
		return;
	w->n_tidied = -1;
	w->is_tidying = true;
	if (!aud_store_tidy(w->store))
		tidy_end(w, false);
}

/* A pass may hang on its disk; events are not held back for so long. */
static bool is_held(const struct aud_writer *w)
{
	return w->is_holding && zw_mono_ms() - w->held_ms < HOLD_MS;
}

/* Whether events are to be written now, of those that nobody waits for. */
static bool is_full(const struct aud_writer *w)
{
	return w->queue.len_b >= (is_held(w) ? QUEUE_MAX_B / 2 : BATCH_B);
}

static int64_t until(int64_t at_ms, int64_t now_ms)
{
	return at_ms > now_ms ? at_ms - now_ms : 0;
}

/* When the store can be written: until there is something to do beside what is waited for. */
static int64_t calm_due_ms(const struct aud_writer *w, int64_t now_ms)
{
	int64_t due_ms = -1;

	if (w->queue.n_items > 0 && !is_held(w))
		due_ms = until(aud_queue_since_ms(&w->queue) + AUD_GATHER_MS, now_ms);
	else if (w->queue.n_items == 0 && !w->is_tidying &&
		 aud_store_wal_pages(w->store) >= WAL_IDLE_PAGES)
		due_ms = until(w->put_ms + IDLE_MS, now_ms);
	if (w->is_tidying && (due_ms < 0 || due_ms > TIDY_LOOK_MS))
		return TIDY_LOOK_MS;
	if (w->queue.n_items > 0 || w->rest_ms == 0)
		return due_ms;
	int64_t rest_ms = until(w->rest_ms, now_ms);
	return due_ms < 0 || rest_ms < due_ms ? rest_ms : due_ms;
}

int64_t aud_writer_due_ms(const struct aud_writer *w)
{
	int64_t now_ms = zw_mono_ms();

	if (w->error == ZW_E_BUSY && w->queue.n_wanted > 0) {
		int64_t end_ms = aud_queue_wanted_since_ms(&w->queue) + AUD_BUSY_MS;

		return until(end_ms < w->retry_ms ? end_ms : w->retry_ms, now_ms);
	}
	if (w->queue.n_wanted > 0)
		return 0;
	if (w->error != 0)
		return until(w->retry_ms, now_ms);
	if (w->queue.n_items > 0 && (w->is_urgent || is_full(w)))
		return 0;
	return calm_due_ms(w, now_ms);
}

static bool is_write_due(const struct aud_writer *w, int64_t now_ms)
{
	if (w->error != 0)
		return true;
	return w->queue.n_items > 0 &&
	       (w->queue.n_wanted > 0 || w->is_urgent || is_full(w) ||
		(!is_held(w) && now_ms - aud_queue_since_ms(&w->queue) >= AUD_GATHER_MS));
}

void aud_writer_run(struct aud_writer *w)
{
	int64_t now_ms = zw_mono_ms();

	if (w->error != 0 && now_ms < w->retry_ms) {
		refuse_wanted(w, w->error == ZW_E_BUSY ? now_ms - AUD_BUSY_MS : INT64_MAX);
		return;
	}
	if (is_write_due(w, now_ms))
		attempt(w);
	now_ms = zw_mono_ms();
	if (w->rest_ms > 0 && now_ms >= w->rest_ms && w->error == 0 && w->queue.n_items == 0 &&
	    aud_store_is_open(w->store))
		w->rest_ms = aud_prune_step(aud_store_db(w->store)) > 0 ? now_ms + REST_MS : 0;
	tidy(w);
}

static bool is_prune_due(struct aud_writer *w)
{
	static struct aud_prune p;
	union zw_msg_any m;

	aud_item_msg(STAILQ_FIRST(&w->opening.items), &m);
	int64_t keep_ms = m.aud_open.keep_ms;
	return aud_prune_find(aud_store_db(w->store),
			      keep_ms > 0 ? zw_now_us() - keep_ms * 1000 : 0, m.aud_open.max_b,
			      &p) == 0 &&
	       p.n_sessions > 0;
}

int aud_writer_end(struct aud_writer *w, int64_t t_us, int64_t exit_status, struct zw_span how,
		   int64_t wait_ms, struct aud_closing *ret)
{
	int64_t end_ms = zw_mono_ms() + wait_ms;
	int r;

	w->is_ending = true;
	do {
		r = attempt(w);
		while (r == 0 && w->queue.n_items > 0)
			r = attempt(w);
		if (r == 0)
			r = aud_store_end(w->store, t_us, exit_status, how);
		if (r == ZW_E_BUSY)
			poll(NULL, 0, BUSY_AGAIN_MS);
	} while (r == ZW_E_BUSY && zw_mono_ms() < end_ms);
	if (r < 0) {
		refuse_wanted(w, INT64_MAX);
		count_lost(w, w->queue.n_items);
		cannot_write(w, r);
	}
	*ret = (struct aud_closing){.n_rows = aud_store_n_rows(w->store)};
	if (aud_store_is_open(w->store)) {
		ret->head_len = aud_store_head(w->store, ret->head) ? AUD_HASH_B : 0;
		ret->is_prune_due = is_prune_due(w);
		aud_store_checkpoint(w->store, true);
		aud_store_close(w->store);
	}
	return r;
}
