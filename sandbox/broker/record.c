/* SPDX-License-Identifier: MIT */
#include "sandbox/broker/record.h"

#include <sys/queue.h>

#include "src/base/io.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/base/words.h"

#define ROWS_MAX    512
#define TELL_MS	    1000
#define BACKLOG_MAX 512 /* messages that zwatch has not taken: from here on, only sums */
#define KEY_MAX_B   (3 * BRK_PATH_MAX)
/* Different refusals that get a row of their own: so many a second, after a first burst. Beyond, a
 * program that tries names without end would fill the user's disk. */
#define NEW_PER_S 100
#define NEW_BURST 2000

struct row {
	struct zw_map_node node;
	TAILQ_ENTRY(row) link;	 /* least recently used first */
	struct brk_event *event; /* owned */
	bool is_dirty;
	char key[];
};

struct brk_recorder {
	struct zw_chan *chan;
	struct zev_timer *tell;
	struct zw_map map;
	TAILQ_HEAD(, row) rows;
	unsigned n_rows;
	uint64_t last_seq;
	int64_t tokens_milli, tokens_ms; /* thousandths of a new row, and as of when */
};

static void send_sock(struct zw_chan *chan, const struct brk_event *e, bool want_commit,
		      unsigned phase)
{
	const struct brk_who *w = &e->who;

	zw_send(chan, sock_event, .seq = e->seq, .want_commit = want_commit,
		.phase = (uint8_t)phase, .t_us = e->t_us, .did = (uint8_t)e->did,
		.op = (uint8_t)e->op, .target = zw_span(e->target), .asked = zw_span(e->asked),
		.class_name = zw_span(e->class_name), .risk = (uint8_t)e->risk,
		.listener_uid = e->listener.uid, .listener_pid = e->listener.pid,
		.listener_exe = zw_span(e->listener.exe), .by = (uint8_t)e->by, .rule = e->rule,
		.reason = zw_span(e->reason), .note = zw_span(e->note), .waited_ms = e->waited_ms,
		.n_times = e->n_times, .up_b = e->up_b, .down_b = e->down_b, .pid = w->pid,
		.exe = zw_span(w->exe), .argv = zw_span_n(w->argv, w->argv_len),
		.cwd = zw_span(w->cwd), .chain = zw_span_n(w->chain, w->chain_len));
}

static void send_conn(struct zw_chan *chan, const struct brk_event *e, bool want_commit,
		      unsigned phase)
{
	const struct brk_who *w = &e->who;

	zw_send(chan, conn_event, .seq = e->seq, .want_commit = want_commit,
		.phase = (uint8_t)phase, .t_us = e->t_us, .did = (uint8_t)e->did,
		.via = ZW_VIA_DIRECT, .host = zw_span(e->target), .port = e->port,
		.address = zw_span(e->target), .by = (uint8_t)e->by, .rule = e->rule,
		.reason = zw_span(e->reason), .note = zw_span(e->note), .waited_ms = e->waited_ms,
		.n_times = e->n_times, .pid = w->pid, .exe = zw_span(w->exe),
		.argv = zw_span_n(w->argv, w->argv_len), .cwd = zw_span(w->cwd),
		.chain = zw_span_n(w->chain, w->chain_len));
}

void brk_record(struct brk_recorder *r, struct brk_event *e, bool want_commit, unsigned phase)
{
	if (e->seq == 0)
		e->seq = ++r->last_seq;
	if (e->n_times == 0)
		e->n_times = 1;
	if (e->t_us == 0)
		e->t_us = zw_now_us();
	if (e->is_conn)
		send_conn(r->chan, e, want_commit, phase);
	else
		send_sock(r->chan, e, want_commit, phase);
}

static void tell_row(struct brk_recorder *r, struct row *row)
{
	if (row->is_dirty)
		brk_record(r, row->event, false, 1);
	row->is_dirty = false;
}

static void on_tell(void *arg)
{
	struct brk_recorder *r = arg;
	struct row *row;

	TAILQ_FOREACH (row, &r->rows, link)
		tell_row(r, row);
}

struct brk_recorder *brk_recorder_new(struct zev_loop *loop, struct zw_chan *chan)
{
	struct brk_recorder *r = zw_xnew(struct brk_recorder);

	r->chan = chan;
	r->tokens_milli = NEW_BURST * 1000;
	r->tokens_ms = zw_mono_ms();
	r->tell = zev_timer_new(loop, on_tell, r);
	zw_map_init(&r->map);
	TAILQ_INIT(&r->rows);
	return r;
}

static void drop_row(struct brk_recorder *r, struct row *row)
{
	tell_row(r, row);
	zw_map_remove(&r->map, &row->node);
	TAILQ_REMOVE(&r->rows, row, link);
	r->n_rows--;
	free(row->event);
	free(row);
}

void brk_recorder_free(struct brk_recorder *r)
{
	struct row *row;

	if (r == NULL)
		return;
	while ((row = TAILQ_FIRST(&r->rows)) != NULL)
		drop_row(r, row);
	zw_map_fini(&r->map);
	zev_timer_free(r->tell);
	free(r);
}

/* Fields are strings without NUL, so NUL between them makes the key unambiguous. */
static size_t make_key(const struct brk_fold_key *k, bool is_sum, char *out)
{
	int n = snprintf(out, KEY_MAX_B, "%u %u %u%c%s%c%s%c%s", k->did, k->op, k->by, 0,
			 is_sum ? "" : k->target, 0, is_sum ? "" : k->exe, 0, k->reason);

	return n < 0 ? 0 : (size_t)n < KEY_MAX_B ? (size_t)n : KEY_MAX_B - 1;
}

/* Whether there is too much for a row each. */
static bool is_flood(struct brk_recorder *r)
{
	int64_t now_ms = zw_mono_ms();

	r->tokens_milli += (now_ms - r->tokens_ms) * NEW_PER_S;
	r->tokens_ms = now_ms;
	if (r->tokens_milli > NEW_BURST * 1000)
		r->tokens_milli = NEW_BURST * 1000;
	return r->tokens_milli < 1000 || zw_chan_n_queued(r->chan) > BACKLOG_MAX;
}

static bool count_key(struct brk_recorder *r, const char *key, size_t len)
{
	struct zw_map_node *node = zw_map_find(&r->map, key, len);

	if (node == NULL)
		return false;
	struct row *row = zw_map_entry(node, struct row, node);
	row->event->n_times++;
	row->is_dirty = true;
	TAILQ_REMOVE(&r->rows, row, link);
	TAILQ_INSERT_TAIL(&r->rows, row, link);
	if (!zev_timer_is_running(r->tell))
		zev_timer_start(r->tell, TELL_MS);
	return true;
}

bool brk_fold_count(struct brk_recorder *r, const struct brk_fold_key *k)
{
	char key[KEY_MAX_B];

	if (count_key(r, key, make_key(k, false, key)))
		return true;
	return is_flood(r) && count_key(r, key, make_key(k, true, key));
}

void brk_fold_add(struct brk_recorder *r, const struct brk_fold_key *k,
		  struct brk_event *take_event)
{
	bool is_sum = is_flood(r);
	char key[KEY_MAX_B];
	size_t len = make_key(k, is_sum, key);
	struct row *row = zw_xcalloc(1, sizeof(*row) + len);

	if (!is_sum)
		r->tokens_milli -= 1000;
	else
		zw_strlcpy(take_event->target, "(more than could be listed)",
			   sizeof(take_event->target));
	memcpy(row->key, key, len);
	row->event = take_event;
	if (r->n_rows >= ROWS_MAX)
		drop_row(r, TAILQ_FIRST(&r->rows));
	zw_map_add(&r->map, &row->node, row->key, len);
	TAILQ_INSERT_TAIL(&r->rows, row, link);
	r->n_rows++;
	brk_record(r, take_event, false, 0);
}
