/* SPDX-License-Identifier: MIT */
#include "src/audit/stats.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "src/audit/json.h"
#include "src/audit/query_i.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/vis.h"

#define OUT_MAX_B  65536
#define HOUR_MS	   3600000.0
#define ALL_EVENTS "WHERE id > ?1 AND "

static const int64_t no_numbers[4];

/* -- lists ------------------------------------------------------------------------------------- */

#define STAT_COLUMNS                                                                              \
	"count(DISTINCT session), sum(n_times), sum(up_b), sum(down_b), sum(iif(did IN ('allow'," \
	" 'auto'), n_times, 0)), sum(iif(did IN ('deny', 'miss'), n_times, 0)), min(t_us), "      \
	"max(t_us)"

static void stat_fill(struct aud_stat *s, sqlite3_stmt *st, bool is_site)
{
	const void *name = sqlite3_column_blob(st, 0);
	size_t n = zw_vis(s->name, sizeof(s->name) - 8, name != NULL ? name : "",
			  (size_t)sqlite3_column_bytes(st, 0));

	if (is_site && sqlite3_column_int(st, 1) > 0)
		snprintf(s->name + n, sizeof(s->name) - n, ":%d", sqlite3_column_int(st, 1));
	if (!is_site && sqlite3_column_bytes(st, 1) > 0)
		zw_vis(s->risk, sizeof(s->risk), sqlite3_column_blob(st, 1),
		       (size_t)sqlite3_column_bytes(st, 1));
	s->n_sessions = sqlite3_column_int64(st, 2);
	s->n_tries = sqlite3_column_int64(st, 3);
	s->up_b = sqlite3_column_int64(st, 4);
	s->down_b = sqlite3_column_int64(st, 5);
	s->n_allow = sqlite3_column_int64(st, 6);
	s->n_deny = sqlite3_column_int64(st, 7);
	s->first_us = sqlite3_column_int64(st, 8);
	s->last_us = sqlite3_column_int64(st, 9);
}

static int list_read(struct aud_query *q, const struct aud_filter *f, bool is_site,
		     struct aud_stat *rows, size_t *ret_n)
{
	static const char sites[] = "SELECT target, port, " STAT_COLUMNS " FROM events " ALL_EVENTS
				    "tbl = 1 AND kind = 'net' AND ";
	/* Sockets that were made inside are one line. */
	static const char sockets[] =
		"SELECT iif(did = 'auto', '(inside the sandbox)', target), max(risk), " STAT_COLUMNS
		" FROM events " ALL_EVENTS "tbl = 0 AND ";
	sqlite3_stmt *st = NULL;
	int rc = SQLITE_DONE,
	    r = aud_query_prepare(q, f, false, is_site ? sites : sockets,
				  is_site ? " GROUP BY 1, 2 ORDER BY 4 DESC LIMIT 20"
					  : " GROUP BY 1 ORDER BY 4 DESC LIMIT 20",
				  no_numbers, &st);

	*ret_n = 0;
	while (r > 0 && *ret_n < AUD_STATS_ROWS && (rc = sqlite3_step(st)) == SQLITE_ROW)
		stat_fill(&rows[(*ret_n)++], st, is_site);
	sqlite3_finalize(st);
	return r <= 0 ? r : rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : aud_query_error(rc);
}

/* -- how the user answers ---------------------------------------------------------------------- */

static int habit_read(struct aud_query *q, const struct aud_filter *f, struct aud_habit *ret)
{
	sqlite3_stmt *st = NULL;
	int rc, r = aud_query_prepare(q, f, false,
				      "SELECT count(*), sum(by = 'user'), sum(did = 'miss'), "
				      "sum(by = 'user' AND did ="
				      " 'allow'), sum(by = 'user' AND did = 'deny'), sum(by = "
				      "'user' AND shown_ms <"
				      " 2000), sum(by = 'user' AND shown_ms < 2000 AND did = "
				      "'allow') FROM events " ALL_EVENTS "tbl = 2 AND ",
				      "", no_numbers, &st);

	*ret = (struct aud_habit){.median_ms = AUD_UNKNOWN};
	if (r <= 0)
		return r;
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW) {
		ret->n_asks = sqlite3_column_int64(st, 0);
		ret->n_answered = sqlite3_column_int64(st, 1);
		ret->n_missed = sqlite3_column_int64(st, 2);
		ret->n_allowed = sqlite3_column_int64(st, 3);
		ret->n_denied = sqlite3_column_int64(st, 4);
		ret->n_quick = sqlite3_column_int64(st, 5);
		ret->n_quick_allowed = sqlite3_column_int64(st, 6);
	}
	sqlite3_finalize(st);
	return rc == SQLITE_ROW ? 0 : aud_query_error(rc);
}

/* The answer in the middle, by how long it took. */
static int median_read(struct aud_query *q, const struct aud_filter *f, struct aud_habit *h)
{
	sqlite3_stmt *st = NULL;
	int64_t numbers[4] = {0, h->n_answered / 2, 0, 0};
	int rc, r;

	if (h->n_answered == 0)
		return 0;
	r = aud_query_prepare(q, f, false,
			      "SELECT shown_ms FROM events " ALL_EVENTS
			      "tbl = 2 AND by = 'user' AND ",
			      " ORDER BY shown_ms LIMIT 1 OFFSET ?2", numbers, &st);
	if (r <= 0)
		return r;
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		h->median_ms = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : aud_query_error(rc);
}

static int sessions_read(struct aud_query *q, const struct aud_filter *f, struct aud_stats *s)
{
	bool is_own = aud_filter_is_of_sessions(f);
	sqlite3_stmt *st = NULL;
	int rc, r = aud_query_prepare(q, f, is_own,
				      is_own ? "SELECT count(*), sum(max(0, ifnull(ended_us, ?2) - "
					       "started_us)) / 1000,"
					       " sum(n_events) FROM sessions LEFT JOIN sums ON "
					       "session = id WHERE "
					     : "SELECT count(*), sum(max(0, ifnull(ended_us, ?2) - "
					       "started_us)) / 1000,"
					       " sum(n_events) FROM sessions LEFT JOIN sums ON "
					       "session = id WHERE EXISTS"
					       " (SELECT 1 FROM events WHERE events.id > "
					       "sessions.id << 32 AND events.id"
					       " < (sessions.id + 1) << 32 AND ",
				      is_own ? "" : ")", (int64_t[]){0, zw_now_us(), 0, 0}, &st);

	if (r <= 0)
		return r;
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW) {
		s->n_sessions = sqlite3_column_int64(st, 0);
		s->length_ms = sqlite3_column_int64(st, 1);
		s->n_events = sqlite3_column_int64(st, 2);
	}
	sqlite3_finalize(st);
	return rc == SQLITE_ROW ? 0 : aud_query_error(rc);
}

int aud_stats_read(struct aud_query *q, const struct aud_filter *f, struct aud_stats *ret)
{
	*ret = (struct aud_stats){.habit.median_ms = AUD_UNKNOWN};
	int r = sessions_read(q, f, ret);

	if (r == 0)
		r = list_read(q, f, true, ret->sites, &ret->n_sites);
	if (r == 0)
		r = list_read(q, f, false, ret->sockets, &ret->n_sockets);
	if (r == 0)
		r = habit_read(q, f, &ret->habit);
	if (r == 0)
		r = median_read(q, f, &ret->habit);
	if (r == 0 && ret->length_ms > 0)
		ret->habit.per_hour = (double)ret->habit.n_asks * HOUR_MS / (double)ret->length_ms;
	return r;
}

/* -- printing ---------------------------------------------------------------------------------- */

static void day_text(int64_t t_us, bool is_utc, char *dst, size_t size)
{
	time_t s = (time_t)(t_us / 1000000);
	struct tm tm;

	if ((is_utc ? gmtime_r(&s, &tm) : localtime_r(&s, &tm)) == NULL ||
	    strftime(dst, size, "%Y-%m-%d", &tm) == 0)
		zw_strlcpy(dst, "-", size);
}

/* Columns behind the name. worth: the lowest are left out where there is no room. */
static const struct {
	const char *of_site, *of_socket;
	int width, worth_site, worth_socket;
} columns[] = {
	{"SESSIONS", "SESSIONS", 8, 3, 3}, {"TRIES", "TRIES", 6, 6, 6}, {"UP", "UP", 7, 4, 1},
	{"DOWN", "DOWN", 7, 5, 2},	   {"ALLOW", "ALLOW", 6, 7, 7}, {"DENY", "DENY", 6, 9, 9},
	{"FIRST", "RISK", 10, 1, 8},	   {"LAST", "LAST", 10, 2, 4}};

#define N_COLUMNS ZW_N_ELEMENTS(columns)
#define NAME_MIN  18
#define NAME_MAX  28 /* longer ones move the rest where nothing has to fit */

/* Which columns fit into @width (0 = all), and how wide the name may be. */
static int columns_fit(int width, bool is_site, bool ret_has[N_COLUMNS])
{
	int all = NAME_MIN;

	for (size_t i = 0; i < N_COLUMNS; i++) {
		ret_has[i] = true;
		all += columns[i].width + 1;
	}
	while (width > 0 && all > width) {
		size_t least = N_COLUMNS;

		for (size_t i = 0; i < N_COLUMNS; i++)
			if (ret_has[i] &&
			    (least == N_COLUMNS ||
			     (is_site ? columns[i].worth_site < columns[least].worth_site
				      : columns[i].worth_socket < columns[least].worth_socket)))
				least = i;
		if (least == N_COLUMNS)
			break;
		ret_has[least] = false;
		all -= columns[least].width + 1;
	}
	return width > all ? NAME_MIN + (width - all) : NAME_MIN;
}

static int row_print(struct zw_buf *out, const char *name, int name_width, bool is_cut,
		     const bool has[N_COLUMNS], const char *const cells[N_COLUMNS])
{
	size_t len = strlen(name), most = (size_t)name_width;
	bool is_long = is_cut && len > most;
	int r = zw_buf_addf(out, "%s%-*s", is_long ? ".." : "", name_width - (is_long ? 2 : 0),
			    is_long ? name + len - (most - 2) : name);

	for (size_t i = 0; i < N_COLUMNS && r == 0; i++)
		if (has[i])
			r = zw_buf_addf(out, " %*s", columns[i].width, cells[i]);
	return r == 0 ? zw_buf_add(out, "\n", 1) : r;
}

static int list_print(struct zw_buf *out, const char *title, const struct aud_stat *rows, size_t n,
		      const struct aud_print *p, bool is_site)
{
	bool has[N_COLUMNS];
	int name = columns_fit(p->width, is_site, has);
	const char *heads[N_COLUMNS];

	if (p->width == 0)
		name = NAME_MAX;
	for (size_t i = 0; i < N_COLUMNS; i++)
		heads[i] = is_site ? columns[i].of_site : columns[i].of_socket;
	int r = zw_buf_add(out, "\n", 1);
	if (r == 0)
		r = row_print(out, title, name, false, has, heads);
	for (size_t i = 0; i < n && r == 0; i++) {
		char cell[N_COLUMNS][24];
		const char *cells[N_COLUMNS];
		const int64_t values[] = {rows[i].n_sessions, rows[i].n_tries, rows[i].up_b,
					  rows[i].down_b,     rows[i].n_allow, rows[i].n_deny};

		for (size_t k = 0; k < ZW_N_ELEMENTS(values); k++)
			aud_number(values[k], cell[k], sizeof(cell[k]));
		day_text(rows[i].first_us, p->is_utc, cell[6], sizeof(cell[6]));
		day_text(rows[i].last_us, p->is_utc, cell[7], sizeof(cell[7]));
		if (!is_site)
			zw_strlcpy(cell[6], *rows[i].risk != '\0' ? rows[i].risk : "-",
				   sizeof(cell[6]));
		for (size_t k = 0; k < N_COLUMNS; k++)
			cells[k] = cell[k];
		r = row_print(out, rows[i].name, name, p->width > 0, has, cells);
	}
	return r;
}

static int habit_print(struct zw_buf *out, const struct aud_habit *h, int width)
{
	char median[32] = "-";

	if (h->median_ms != AUD_UNKNOWN)
		snprintf(median, sizeof(median), "%.1f s", (double)h->median_ms / 1000);
	const char *cut = width > 0 && width < 80 ? "\n  " : "  ";
	return zw_buf_addf(
		out,
		"\nHow you answer\n  %lld asked, %lld answered by you, %lld missed.%sallowed"
		" %lld  denied %lld  median %s\n  under 2 s: %lld, of these allowed %lld."
		"%s%.1f questions per hour\n",
		(long long)h->n_asks, (long long)h->n_answered, (long long)h->n_missed, cut,
		(long long)h->n_allowed, (long long)h->n_denied, median, (long long)h->n_quick,
		(long long)h->n_quick_allowed, cut, h->per_hour);
}

static int table_print(struct zw_buf *out, const struct aud_stats *s, const struct aud_print *p)
{
	int r = zw_buf_addf(out, "%lld sessions, %lld h %02lld min, %lld events\n",
			    (long long)s->n_sessions, (long long)(s->length_ms / 3600000),
			    (long long)(s->length_ms / 60000 % 60), (long long)s->n_events);

	if (r == 0)
		r = list_print(out, "SITE", s->sites, s->n_sites, p, true);
	if (r == 0)
		r = list_print(out, "SOCKET", s->sockets, s->n_sockets, p, false);
	return r == 0 ? habit_print(out, &s->habit, p->width) : r;
}

static void list_json(struct aud_json *j, const char *name, const struct aud_stat *rows, size_t n)
{
	aud_json_begin(j, name, '[');
	for (size_t i = 0; i < n; i++) {
		aud_json_begin(j, NULL, '{');
		aud_json_str(j, "target", zw_span(rows[i].name));
		if (*rows[i].risk != '\0')
			aud_json_str(j, "risk", zw_span(rows[i].risk));
		aud_json_int(j, "sessions", rows[i].n_sessions);
		aud_json_int(j, "tries", rows[i].n_tries);
		aud_json_int(j, "allow", rows[i].n_allow);
		aud_json_int(j, "deny", rows[i].n_deny);
		aud_json_int(j, "up", rows[i].up_b);
		aud_json_int(j, "down", rows[i].down_b);
		aud_json_time(j, "first", rows[i].first_us);
		aud_json_time(j, "last", rows[i].last_us);
		aud_json_end(j, '}');
	}
	aud_json_end(j, ']');
}

static int json_print(struct zw_buf *out, const struct aud_stats *s)
{
	const struct aud_habit *h = &s->habit;
	struct aud_json j;

	aud_json_init(&j, out);
	aud_json_begin(&j, NULL, '{');
	aud_json_int(&j, "schema", 1);
	aud_json_int(&j, "sessions", s->n_sessions);
	aud_json_int(&j, "length_ms", s->length_ms);
	aud_json_int(&j, "events", s->n_events);
	list_json(&j, "sites", s->sites, s->n_sites);
	list_json(&j, "sockets", s->sockets, s->n_sockets);
	aud_json_begin(&j, "questions", '{');
	aud_json_int(&j, "asked", h->n_asks);
	aud_json_int(&j, "answered", h->n_answered);
	aud_json_int(&j, "missed", h->n_missed);
	aud_json_int(&j, "allowed", h->n_allowed);
	aud_json_int(&j, "denied", h->n_denied);
	if (h->median_ms != AUD_UNKNOWN)
		aud_json_int(&j, "median_ms", h->median_ms);
	aud_json_int(&j, "under_2s", h->n_quick);
	aud_json_int(&j, "under_2s_allowed", h->n_quick_allowed);
	aud_json_end(&j, '}');
	aud_json_end(&j, '}');
	return j.error == 0 ? zw_buf_add(out, "\n", 1) : j.error;
}

int aud_stats_print(const struct aud_stats *s, const struct aud_print *p)
{
	struct zw_buf out;

	zw_buf_init(&out, OUT_MAX_B);
	int r = p->format == AUD_FORMAT_TABLE ? table_print(&out, s, p) : json_print(&out, s);
	if (r == 0)
		r = zw_write_all(p->fd, zw_buf_head(&out), out.len);
	zw_buf_fini(&out);
	return r;
}
