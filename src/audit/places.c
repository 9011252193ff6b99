/* SPDX-License-Identifier: MIT */
#include "src/audit/places.h"

#include <string.h>

#include <sqlite3.h>

#include "src/audit/query_i.h"
#include "src/base/mem.h"

#define ID_SHIFT    32
#define BLOCK_SHIFT 14
/* The first schema that has them. */
#define SCHEMA 4
/* More parts than this are no help. */
#define RANGES_MAX 20000

void aud_ranges_clear(struct aud_ranges *r)
{
	free(r->at);
	*r = (struct aud_ranges){0};
}

/* Adds a part behind those that are there, cut to @bounds; one that begins where the last one ends
 * makes that longer. */
static void add(struct aud_ranges *r, const struct aud_range *bounds, int64_t low, int64_t high)
{
	struct aud_range *last = r->n > 0 ? &r->at[r->n - 1] : NULL;

	low = low > bounds->low ? low : bounds->low;
	high = high < bounds->high ? high : bounds->high;
	if (high - low < 2)
		return;
	if (last != NULL && low < last->high) {
		last->high = high > last->high ? high : last->high;
		return;
	}
	r->at = zw_xrealloc(r->at, r->n + 1, sizeof(*r->at));
	r->at[r->n++] = (struct aud_range){low, high};
}

static int all(struct aud_ranges *r, const struct aud_range *bounds)
{
	aud_ranges_clear(r);
	add(r, bounds, bounds->low, bounds->high);
	return 1;
}

/* One number. Returns 1, 0: there is none, or an error. */
static int number(struct aud_query *q, const char *sql, int64_t *ret)
{
	sqlite3_stmt *st = NULL;
	int r = aud_query_statement(q, sql, &st);
	int rc = r > 0 ? sqlite3_step(st) : SQLITE_DONE;

	if (rc == SQLITE_ROW)
		*ret = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return r <= 0 ? r : rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : aud_query_error(rc);
}

/* The blocks that @st gives, in order. */
static int blocks_add(sqlite3_stmt *st, struct aud_ranges *r, const struct aud_range *bounds)
{
	int rc;

	while ((rc = sqlite3_step(st)) == SQLITE_ROW && r->n < RANGES_MAX) {
		int64_t block = sqlite3_column_int64(st, 0);

		add(r, bounds, (block << BLOCK_SHIFT) - 1, (block + 1) << BLOCK_SHIFT);
	}
	return rc == SQLITE_DONE ? 1 : rc == SQLITE_ROW ? 0 : aud_query_error(rc);
}

int aud_ranges_find(struct aud_query *q, const struct aud_filter *f, int64_t low, int64_t high,
		    struct aud_ranges *ret)
{
	struct aud_range bounds = {low, high};
	int64_t first = 0, newest = 0;
	sqlite3_stmt *st = NULL;

	*ret = (struct aud_ranges){0};
	if (aud_query_schema(q) < SCHEMA || !aud_filter_has_places(f))
		return all(ret, &bounds);
	int r = number(q, "SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'places_from'",
		       &first);
	if (r > 0)
		r = number(q,
			   "SELECT max((SELECT ifnull(max(id), 0) FROM socket_events),"
			   " (SELECT ifnull(max(id), 0) FROM connections),"
			   " (SELECT ifnull(max(id), 0) FROM questions))",
			   &newest);
	if (r > 0)
		r = aud_query_places(q, f, &st);
	if (r <= 0)
		return r < 0 ? r : all(ret, &bounds);
	/* What is older has no places; what comes from now on is looked at. */
	add(ret, &bounds, 0, first << ID_SHIFT);
	r = blocks_add(st, ret, &bounds);
	sqlite3_finalize(st);
	if (r > 0)
		add(ret, &bounds, (newest >> BLOCK_SHIFT << BLOCK_SHIFT) - 1, INT64_MAX);
	if (r < 0)
		aud_ranges_clear(ret);
	return r == 0 ? all(ret, &bounds) : r;
}
