/* SPDX-License-Identifier: MIT */
#include "src/audit/queue.h"

#include <assert.h>

#include "src/base/err.h"
#include "src/base/mem.h"

void aud_queue_init(struct aud_queue *q, size_t max_b)
{
	*q = (struct aud_queue){.max_b = max_b};
	STAILQ_INIT(&q->items);
}

void aud_queue_fini(struct aud_queue *q)
{
	struct aud_item *item;

	while ((item = aud_queue_take(q)) != NULL)
		free(item);
}

static void insert(struct aud_queue *q, struct aud_item *item, bool is_wanted)
{
	uint64_t *max = &q->max_seq[item->seq >> AUD_SOURCE_SHIFT];
	bool goes_first = is_wanted && item->seq > *max && q->n_items >= AUD_QUEUE_MANY;

	*max = item->seq > *max ? item->seq : *max;
	if (!goes_first)
		STAILQ_INSERT_TAIL(&q->items, item, link);
	else if (q->last_wanted != NULL)
		STAILQ_INSERT_AFTER(&q->items, q->last_wanted, item, link);
	else
		STAILQ_INSERT_HEAD(&q->items, item, link);
	if (goes_first)
		q->last_wanted = item;
}

int aud_queue_add(struct aud_queue *q, enum zw_msg_id id, const void *msg, uint64_t seq,
		  unsigned want, int64_t now_ms)
{
	struct zw_buf frame;

	zw_buf_init(&frame, ZW_MSG_SIZE_MAX);
	int r = zw_msg_encode(&frame, id, msg);
	if (r == 0 && q->len_b + frame.len > q->max_b)
		r = ZW_E_TOOBIG;
	if (r == 0) {
		struct aud_item *item = zw_xcalloc(1, sizeof(*item) + frame.len);

		item->seq = seq;
		item->want_number = want == AUD_WANT_NUMBER;
		item->want_commit = want != 0 && !item->want_number;
		item->since_ms = now_ms;
		item->len = frame.len;
		memcpy(item->frame, zw_buf_head(&frame), frame.len);
		insert(q, item, want != 0);
		q->n_items++;
		q->n_wanted += item->want_commit;
		q->len_b += item->len;
	}
	zw_buf_fini(&frame);
	return r;
}

static void count_out(struct aud_queue *q, const struct aud_item *item)
{
	q->n_items--;
	q->n_wanted -= item->want_commit;
	q->len_b -= item->len;
}

struct aud_item *aud_queue_take(struct aud_queue *q)
{
	struct aud_item *item = STAILQ_FIRST(&q->items);

	if (item != NULL) {
		q->last_wanted = item == q->last_wanted ? NULL : q->last_wanted;
		STAILQ_REMOVE_HEAD(&q->items, link);
		count_out(q, item);
	}
	return item;
}

void aud_queue_take_wanted(struct aud_queue *q, int64_t until_ms, struct aud_items *ret)
{
	struct aud_items rest = STAILQ_HEAD_INITIALIZER(rest);
	struct aud_item *item;

	STAILQ_INIT(ret);
	q->last_wanted = NULL;
	while ((item = STAILQ_FIRST(&q->items)) != NULL) {
		STAILQ_REMOVE_HEAD(&q->items, link);
		if (item->want_commit && item->since_ms <= until_ms) {
			count_out(q, item);
			STAILQ_INSERT_TAIL(ret, item, link);
		} else {
			STAILQ_INSERT_TAIL(&rest, item, link);
		}
	}
	STAILQ_CONCAT(&q->items, &rest);
}

int64_t aud_queue_since_ms(const struct aud_queue *q)
{
	const struct aud_item *item = STAILQ_FIRST(&q->items);

	return item != NULL ? item->since_ms : INT64_MAX;
}

int64_t aud_queue_wanted_since_ms(const struct aud_queue *q)
{
	const struct aud_item *item;

	if (q->n_wanted > 0)
		STAILQ_FOREACH (item, &q->items, link)
			if (item->want_commit)
				return item->since_ms;
	return INT64_MAX;
}

enum zw_msg_id aud_item_msg(const struct aud_item *item, union zw_msg_any *ret)
{
	enum zw_msg_id id = ZW_ID_aud_close;
	int r = zw_msg_decode(item->frame, item->len, ROLE_SUPER, ROLE_AUDIT, 0, &id, ret);

	assert(r == 0);
	return id;
}
