/* SPDX-License-Identifier: MIT */
#include "proxy/record.h"

#include <sys/queue.h>

#include "src/base/io.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/base/words.h"

#define FOLD_MS	 1000
#define FOLD_MAX 1024

enum { WANT_COMMIT = 1, WANT_NUMBER = 2 }; /* of conn_event.want_commit */

/* A refusal that may come again. Keeps its row, for the count at the end. */
struct fold {
	struct zw_map_node node;
	TAILQ_ENTRY(fold) by_time;
	int64_t until_ms;
	unsigned n_times;
	struct px_number number;
	struct px_row row;
	struct px_who *who; /* a reference */
	size_t key_len;
	char *key, *host, *reason, *note; /* owned */
};

struct px_record {
	struct zw_chan *chan;
	struct px_wheel *wheel;
	struct px_timeout expiry;
	uint64_t last_seq;
	struct zw_map folds;
	TAILQ_HEAD(folds, fold) by_time;
};

struct px_record *px_record_new(struct zw_chan *chan, struct px_wheel *wheel)
{
	struct px_record *r = zw_xnew(struct px_record);

	r->chan = chan;
	r->wheel = wheel;
	zw_map_init(&r->folds);
	TAILQ_INIT(&r->by_time);
	return r;
}

static void send_row(struct px_record *r, const struct px_row *row, unsigned phase,
		     unsigned want_commit, unsigned n_times)
{
	struct zw_msg_conn_event m = {
		.seq = row->seq,
		.want_commit = (uint8_t)want_commit,
		.phase = (uint8_t)phase,
		.t_us = zw_now_us(),
		.did = (uint8_t)row->did,
		.via = (uint8_t)row->via,
		.host = zw_span(row->host),
		.port = row->port,
		.address = zw_span(row->address),
		.by = (uint8_t)row->by,
		.rule = row->rule,
		.reason = zw_span(row->reason),
		.note = zw_span(row->note),
		.waited_ms = row->waited_ms,
		.n_times = n_times,
		.up_b = row->up_b,
		.down_b = row->down_b,
		.end = zw_span(row->end),
	};

	if (row->who != NULL) {
		m.pid = row->who->pid;
		m.exe = zw_span(row->who->exe);
		m.argv = row->who->argv;
		m.cwd = row->who->cwd;
		m.chain = row->who->chain;
	}
	zw_chan_send_fds(r->chan, ZW_ID_conn_event, &m, NULL, 0);
}

uint64_t px_record_open(struct px_record *r, const struct px_row *row)
{
	struct px_row copy = *row;

	copy.seq = ++r->last_seq;
	send_row(r, &copy, 0, WANT_COMMIT, 1);
	return copy.seq;
}

void px_record_count(struct px_record *r, const struct px_row *row)
{
	send_row(r, row, 1, 0, 1);
}

void px_record_close(struct px_record *r, const struct px_row *row)
{
	send_row(r, row, 2, 0, 1);
}

/* -- the same again ----------------------------------------------------------------------------- */

/* What was allowed and is over at once gets its end too. */
static void send_all(struct px_record *r, const struct px_row *row, unsigned want, unsigned n_times)
{
	send_row(r, row, 0, want, n_times);
	if (row->did == ZW_DID_ALLOW)
		send_row(r, row, 2, 0, n_times);
}

static void fold_end(struct px_record *r, struct fold *f)
{
	if (f->n_times > 1)
		send_all(r, &f->row, 0, f->n_times);
	zw_map_remove(&r->folds, &f->node);
	TAILQ_REMOVE(&r->by_time, f, by_time);
	px_who_unref(f->who);
	free(f->key);
	free(f->host);
	free(f->reason);
	free(f->note);
	free(f);
}

void px_record_free(struct px_record *r)
{
	struct fold *f;

	if (r == NULL)
		return;
	px_timeout_clear(r->wheel, &r->expiry);
	while ((f = TAILQ_FIRST(&r->by_time)) != NULL)
		fold_end(r, f);
	zw_map_fini(&r->folds);
	free(r);
}

static void on_expiry(void *arg)
{
	struct px_record *r = arg;
	int64_t now_ms = zw_mono_ms();
	struct fold *f;

	while ((f = TAILQ_FIRST(&r->by_time)) != NULL && f->until_ms <= now_ms)
		fold_end(r, f);
	if (f != NULL)
		px_timeout_set(r->wheel, &r->expiry, f->until_ms - now_ms, on_expiry, r);
}

static char *fold_key(const struct px_row *row, size_t *ret_len)
{
	const char *exe = row->who != NULL ? row->who->exe : "";
	char *key = zw_xasprintf("%s\n%s\n%u\n%u\n%u\n%s\n%s", exe, row->host, row->port, row->did,
				 row->by, row->reason, row->note);

	*ret_len = strlen(key);
	return key;
}

static struct fold *fold_new(struct px_record *r, const struct px_row *row, char *take_key,
			     size_t key_len)
{
	struct fold *f = zw_xnew(struct fold);

	f->key = take_key;
	f->until_ms = zw_mono_ms() + FOLD_MS;
	f->host = zw_xstrdup(row->host);
	f->reason = zw_xstrdup(row->reason);
	f->note = zw_xstrdup(row->note);
	f->row = *row;
	f->row.host = f->host;
	f->row.reason = f->reason;
	f->row.note = f->note;
	f->row.address = f->row.end = "";
	if (row->who != NULL) {
		/* The count of references is all that changes. */
		f->who = (struct px_who *)(uintptr_t)row->who;
		f->who->n_refs++;
	}
	zw_map_add(&r->folds, &f->node, f->key, key_len);
	TAILQ_INSERT_TAIL(&r->by_time, f, by_time);
	if (r->expiry.list == NULL)
		px_timeout_set(r->wheel, &r->expiry, FOLD_MS, on_expiry, r);
	return f;
}

void px_record_numbered(struct px_record *r, uint64_t seq, struct px_number number)
{
	struct fold *f;

	/* From the newest: that is where it nearly always is. */
	TAILQ_FOREACH_REVERSE(f, &r->by_time, folds, by_time)
	{
		if (f->row.seq == seq) {
			f->number = number;
			return;
		}
	}
}

uint64_t px_record_refusal(struct px_record *r, const struct px_row *row,
			   struct px_number *ret_number)
{
	size_t len;
	char *key = fold_key(row, &len);
	struct zw_map_node *n = zw_map_find(&r->folds, key, len);
	struct fold *f;

	if (n != NULL) {
		f = zw_map_entry(n, struct fold, node);
		f->n_times++;
		if (ret_number != NULL)
			*ret_number = f->number;
		free(key);
		return f->row.seq;
	}
	if (r->folds.n >= FOLD_MAX)
		fold_end(r, TAILQ_FIRST(&r->by_time));
	f = fold_new(r, row, key, len);
	f->row.seq = ++r->last_seq;
	f->n_times = 1;
	send_all(r, &f->row, WANT_NUMBER, 1);
	return f->row.seq;
}
