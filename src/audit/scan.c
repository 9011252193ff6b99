/* SPDX-License-Identifier: MIT */
#include "src/audit/scan.h"

#include <sqlite3.h>

#include "src/audit/places.h"
#include "src/audit/query_i.h"
#include "src/base/io.h"
#include "src/base/mem.h"

#define ID_SHIFT 32
/* Rows of one statement: some milliseconds. */
#define PIECE_N 4000

struct aud_scan {
	struct aud_query *query;	 /* borrowed */
	const struct aud_filter *filter; /* borrowed */
	int64_t low, at;		 /* what is looked at next lies between, both excluded */
	int64_t n_looked;
	sqlite3_stmt *newest, *found; /* owned; NULL until first used */
	struct aud_ranges parts;      /* of it; those from n_parts on are behind us */
	size_t n_parts;
};

struct aud_scan *aud_scan_new(struct aud_query *q, const struct aud_filter *f, int64_t session,
			      int64_t from)
{
	struct aud_scan *s = zw_xnew(struct aud_scan);

	s->query = q;
	s->filter = f;
	s->low = session > 0 ? session << ID_SHIFT : 0;
	s->at = from > 0 ? from : session > 0 ? (session + 1) << ID_SHIFT : INT64_MAX;
	return s;
}

void aud_scan_free(struct aud_scan *s)
{
	if (s == NULL)
		return;
	sqlite3_finalize(s->newest);
	sqlite3_finalize(s->found);
	aud_ranges_clear(&s->parts);
	free(s);
}

/* Returns 1, 0: there is no store, or an error. */
static int prepare(struct aud_scan *s)
{
	int r = s->newest != NULL
			? 1
			: aud_query_statement(
				  s->query,
				  "SELECT max((SELECT ifnull(max(id), 0) FROM socket_events WHERE "
				  "id < ?1),"
				  " (SELECT ifnull(max(id), 0) FROM connections WHERE id < ?1),"
				  " (SELECT ifnull(max(id), 0) FROM questions WHERE id < ?1),"
				  " (SELECT ifnull(max(id), 0) FROM misc WHERE id < ?1))",
				  &s->newest);

	if (r > 0 && s->found == NULL) {
		aud_ranges_clear(&s->parts);
		r = aud_ranges_find(s->query, s->filter, s->low, s->at, &s->parts);
		s->n_parts = s->parts.n;
	}
	if (r > 0 && s->found == NULL)
		r = aud_query_prepare(s->query, s->filter, false,
				      "SELECT id FROM events WHERE id > ?1 AND id < ?2 AND ",
				      " ORDER BY id DESC LIMIT ?3", (int64_t[]){0, 0, 0, 0},
				      &s->found);
	return r;
}

/* The newest id below s->at. */
static int newest(struct aud_scan *s, int64_t *ret)
{
	sqlite3_bind_int64(s->newest, 1, s->at);
	int rc = sqlite3_step(s->newest);

	if (rc == SQLITE_ROW)
		*ret = sqlite3_column_int64(s->newest, 0);
	if (rc == SQLITE_ROW && *ret >= s->at)
		rc = SQLITE_CORRUPT;
	sqlite3_reset(s->newest);
	return rc == SQLITE_ROW ? 0 : aud_query_error(rc);
}

/* The part of the record that is to be looked at next; NULL at the end. */
static const struct aud_range *part_next(struct aud_scan *s)
{
	while (s->n_parts > 0 && s->parts.at[s->n_parts - 1].low + 1 >= s->at)
		s->n_parts--;
	if (s->n_parts == 0)
		return NULL;
	const struct aud_range *part = &s->parts.at[s->n_parts - 1];
	s->at = s->at < part->high ? s->at : part->high;
	return part;
}

/* One piece, of one session: numbers stand densely there, and far apart between sessions. Adds at most
 * @limit ids. Returns 1, 0 at the end, or an error. */
static int piece(struct aud_scan *s, size_t limit, int64_t *ids, size_t *n)
{
	const struct aud_range *part = part_next(s);
	int64_t top = 0, low = 0, at;
	size_t n_before = *n;
	int r = part != NULL ? newest(s, &top) : 0, rc;

	if (r < 0 || part == NULL || top <= s->low)
		return r < 0 ? r : 0;
	if (top <= part->low) { /* there is nothing in it */
		s->at = part->low + 1;
		return 1;
	}
	low = top - PIECE_N > (top >> ID_SHIFT) << ID_SHIFT ? top - PIECE_N
							    : (top >> ID_SHIFT) << ID_SHIFT;
	low = low > part->low ? low : part->low;
	sqlite3_bind_int64(s->found, 1, low);
	sqlite3_bind_int64(s->found, 2, top + 1);
	sqlite3_bind_int64(s->found, 3, (int64_t)limit);
	at = top + 1;
	while ((rc = sqlite3_step(s->found)) == SQLITE_ROW && *n < n_before + limit) {
		ids[*n] = sqlite3_column_int64(s->found, 0);
		if (!aud_query_goes_on(AUD_BACKWARD, &at, ids[(*n)++])) {
			rc = SQLITE_CORRUPT;
			break;
		}
	}
	sqlite3_reset(s->found);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		return aud_query_error(rc);
	s->at = *n == n_before + limit ? ids[*n - 1] : low + 1;
	s->n_looked += top - s->at + 1;
	return 1;
}

static int64_t end_of(int64_t ms)
{
	return zw_mono_us() + ms * 1000;
}

int aud_scan_next(struct aud_scan *s, int64_t ms, size_t limit, struct aud_event_page *ret)
{
	int64_t ids[AUD_PAGE_MAX], end_us = end_of(ms);
	size_t n = 0;

	aud_event_page_clear(ret);
	limit = limit == 0 || limit > AUD_PAGE_MAX ? AUD_PAGE_MAX : limit;
	int r = prepare(s);
	while (r > 0 && n < limit) {
		r = piece(s, limit - n, ids, &n);
		if (zw_mono_us() >= end_us)
			break;
	}
	if (r < 0 || n == 0)
		return r;
	int filled = aud_query_events(s->query, ids, n, ret);
	ret->has_more = r > 0;
	return filled < 0 ? filled : r;
}

int aud_scan_count(struct aud_scan *s, int64_t ms, int64_t *ret_n)
{
	int64_t ids[PIECE_N], end_us = end_of(ms);
	size_t n = 0;
	int r = prepare(s);

	while (r > 0) {
		r = piece(s, PIECE_N, ids, &n);
		*ret_n += (int64_t)n;
		n = 0;
		if (zw_mono_us() >= end_us)
			break;
	}
	return r;
}

void aud_scan_skip_session(struct aud_scan *s, int64_t session)
{
	if (s->at > session << ID_SHIFT)
		s->at = (session << ID_SHIFT) + 1;
}

int64_t aud_scan_n_looked(const struct aud_scan *s)
{
	return s->n_looked;
}
