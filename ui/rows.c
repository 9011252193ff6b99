/* SPDX-License-Identifier: MIT */
#include "ui/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/base/words.h"
#include "src/policy/saved.h"

#define JSON_MAX 32768

/* -- texts --------------------------------------------------------------------------------------- */

const char *ui_sort_word(enum ui_sort sort)
{
	static const char *const words[] = {"newest", "name", "program", "amount"};

	return words[sort];
}

bool ui_conn_is_live(const struct mdl_conn *c)
{
	return c->did == ZW_DID_ALLOW && c->closed_us == 0;
}

void ui_why_text(char *out, size_t size, unsigned by, uint32_t rule, const char *reason)
{
	if (by == ZW_BY_RULE && rule != 0 && rule < POL_RULE_PASSING)
		snprintf(out, size, "rule %u", rule);
	else if (by == ZW_BY_USER)
		zw_strlcpy(out, "you", size);
	else if (by == ZW_BY_NATIVE && *reason != '\0')
		zw_strlcpy(out, reason, size);
	else
		zw_strlcpy(out, zw_by_word(by), size);
}

static const char *host_of(const struct mdl_conn *c)
{
	return *c->host != '\0' ? c->host : c->address;
}

void ui_site_text(char *out, size_t size, const struct mdl_conn *c)
{
	const char *host = host_of(c);
	bool is_bare6 = strchr(host, ':') != NULL;

	snprintf(out, size, "%s%s%s:%u", is_bare6 ? "[" : "", host, is_bare6 ? "]" : "", c->port);
}

void ui_row_target(char *out, size_t size, const struct ui_row *r)
{
	if (r->conn != NULL)
		ui_site_text(out, size, r->conn);
	else
		zw_strlcpy(out, r->ask != NULL ? r->ask->target : r->sock->target, size);
}

const struct mdl_proc *ui_row_proc(const struct ui_row *r)
{
	return r->ask != NULL ? &r->ask->proc : r->conn != NULL ? &r->conn->proc : &r->sock->proc;
}

/* -- as a row of the record ---------------------------------------------------------------------- */

/* Of a text that is "" when it is not known. */
static struct zw_span known(const char *text)
{
	return *text != '\0' ? zw_span(text) : (struct zw_span){NULL, 0};
}

static int64_t number(uint32_t n)
{
	return n != 0 ? (int64_t)n : AUD_UNKNOWN;
}

static void event_of_proc(struct aud_event *e, const struct mdl_proc *p, const char *folder)
{
	e->pid = number(p->pid);
	e->exe = known(p->exe);
	e->argv = known(p->command);
	e->cwd = known(folder);
}

static void event_of_conn(struct aud_event *e, const struct mdl_conn *c)
{
	e->row = AUD_ROW_CONN;
	e->kind = zw_span(c->via == ZW_VIA_DNS ? "dns" : "net");
	e->op = zw_span(zw_via_word(c->via));
	e->did = zw_span(zw_did_word(c->did));
	e->by = zw_span(zw_by_word(c->by));
	e->target = known(c->host);
	e->address = known(c->address);
	e->port = c->port;
	e->rule = number(c->rule);
	e->reason = known(c->reason);
	e->t_us = c->opened_us;
	e->closed_us = c->closed_us != 0 ? c->closed_us : AUD_UNKNOWN;
	e->up_b = (int64_t)c->up_b;
	e->down_b = (int64_t)c->down_b;
	e->count = c->n_times;
	e->is_new = c->is_new;
	e->end = known(c->end);
}

static void event_of_sock(struct aud_event *e, const struct mdl_sock *k)
{
	e->row = AUD_ROW_SOCKET;
	e->kind = zw_span("unix");
	e->op = zw_span(zw_op_word(k->op));
	e->did = zw_span(zw_did_word(k->did));
	e->by = zw_span(zw_by_word(k->by));
	e->target = known(k->target);
	e->asked = known(k->asked);
	e->class_name = known(k->class_name);
	e->risk = zw_span(zw_risk_word(k->risk));
	e->rule = number(k->rule);
	e->reason = known(k->reason);
	e->t_us = k->t_us;
	e->up_b = (int64_t)k->up_b;
	e->down_b = (int64_t)k->down_b;
	e->count = k->n_times;
	e->is_new = k->is_new;
}

/* The folder as the record has it: with the home folder written out. */
static void folder_full(char *out, size_t size, const struct mdl_session *s, const char *cwd)
{
	bool is_home = cwd[0] == '~' && (cwd[1] == '/' || cwd[1] == '\0') && *s->home != '\0';

	snprintf(out, size, "%s%s", is_home ? s->home : "", is_home ? cwd + 1 : cwd);
}

static bool fits(const struct mdl_session *s, const struct aud_filter *f, const struct ui_row *r)
{
	struct aud_event e = {.port = AUD_UNKNOWN,
			      .closed_us = AUD_UNKNOWN,
			      .listener_uid = AUD_UNKNOWN,
			      .listener_pid = AUD_UNKNOWN,
			      .waited_ms = AUD_UNKNOWN,
			      .shown_ms = AUD_UNKNOWN};
	char folder[4200], project[4200];

	if (f == NULL)
		return true;
	folder_full(folder, sizeof(folder), s, ui_row_proc(r)->cwd);
	folder_full(project, sizeof(project), s, s->project);
	const struct aud_session session = {.id = (int64_t)s->number,
					    .agent = known(s->agent),
					    .project = known(project),
					    .mode = zw_span(zw_mode_word(s->mode))};
	event_of_proc(&e, ui_row_proc(r), folder);
	if (r->conn != NULL)
		event_of_conn(&e, r->conn);
	else
		event_of_sock(&e, r->sock);
	return aud_filter_matches(f, &e, &session);
}

/* -- order --------------------------------------------------------------------------------------- */

static int order_of(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static const char *name_of(const struct ui_row *r)
{
	return r->conn != NULL ? host_of(r->conn) : r->sock->target;
}

static uint64_t amount_of(const struct ui_row *r)
{
	return r->conn != NULL ? r->conn->up_b + r->conn->down_b : r->sock->n_times;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(name_of(a), name_of(b));
}

static int by_program(const void *a, const void *b)
{
	const struct mdl_proc *p = ui_row_proc(a), *q = ui_row_proc(b);
	int r = strcmp(mdl_proc_name(p), mdl_proc_name(q));

	return r != 0 ? r : order_of(p->pid, q->pid);
}

static int by_amount(const void *a, const void *b)
{
	return order_of(amount_of(b), amount_of(a));
}

/* Stable, by merging: rows that are equal stay newest first. */
static void sort_rows(struct ui_row *rows, struct ui_row *room, size_t n,
		      int (*compare)(const void *a, const void *b))
{
	size_t half = n / 2, i = 0, j = half;

	if (n < 2)
		return;
	sort_rows(rows, room, half, compare);
	sort_rows(rows + half, room, n - half, compare);
	for (size_t k = 0; k < n; k++)
		room[k] = j == n || (i < half && compare(&rows[i], &rows[j]) <= 0) ? rows[i++]
										   : rows[j++];
	memcpy(rows, room, n * sizeof(*rows));
}

static void sort_from(struct ui_rows *rows, size_t from, enum ui_sort sort)
{
	int (*const compare[])(const void *, const void *) = {NULL, by_name, by_program, by_amount};

	if (compare[sort] == NULL || rows->n - from < 2)
		return;
	zw_autofree struct ui_row *room = zw_xcalloc(rows->n, sizeof(*room));
	sort_rows(rows->row + from, room, rows->n - from, compare[sort]);
}

/* -- filling ------------------------------------------------------------------------------------- */

static void rows_add(struct ui_rows *rows, struct ui_row row)
{
	if (rows->n == rows->cap) {
		rows->cap = rows->cap > 0 ? rows->cap * 2 : 64;
		rows->row = zw_xrealloc(rows->row, rows->cap, sizeof(*rows->row));
	}
	rows->row[rows->n++] = row;
}

static void add_asks(struct ui_rows *rows, const struct mdl_session *s, enum pol_kind kind)
{
	const struct mdl_ask *a;

	TAILQ_FOREACH (a, &s->asks, link)
		if (a->kind == kind && (a->state == MDL_ASK_HELD || a->state == MDL_ASK_OPEN))
			rows_add(rows, (struct ui_row){.ask = a});
}

static void add_fitting(struct ui_rows *rows, const struct mdl_session *s,
			const struct aud_filter *f, struct ui_row row)
{
	rows->n_all++;
	if (fits(s, f, &row))
		rows_add(rows, row);
}

/* What is live, then the rest; newest first. */
static void add_conns(struct ui_rows *rows, const struct mdl_session *s, const struct aud_filter *f)
{
	const struct mdl_conn *c;

	TAILQ_FOREACH (c, &s->conns, link)
		if (ui_conn_is_live(c))
			add_fitting(rows, s, f, (struct ui_row){.conn = c});
	TAILQ_FOREACH (c, &s->conns, link)
		if (!ui_conn_is_live(c) && c->did != ZW_DID_ASK)
			add_fitting(rows, s, f, (struct ui_row){.conn = c});
}

void ui_rows_fill(struct ui_rows *rows, const struct mdl_session *s, enum pol_kind kind,
		  const struct aud_filter *filter, enum ui_sort sort)
{
	const struct mdl_sock *k;

	rows->n = rows->n_all = 0;
	add_asks(rows, s, kind);
	size_t n_asks = rows->n;
	if (kind == POL_KIND_SITE)
		add_conns(rows, s, filter);
	else
		TAILQ_FOREACH (k, &s->socks, link)
			if (k->did != ZW_DID_ASK)
				add_fitting(rows, s, filter, (struct ui_row){.sock = k});
	sort_from(rows, n_asks, sort);
}

/* -- keys ---------------------------------------------------------------------------------------- */

static uint64_t key_of(const struct ui_row *r)
{
	if (r->ask != NULL)
		return r->ask->id * 4 + 1;
	return r->conn != NULL ? r->conn->id * 4 + 2 : r->sock->line * 4 + 3;
}

uint64_t ui_row_key(size_t row, void *arg)
{
	return key_of(&((const struct ui_rows *)arg)->row[row]);
}

struct ui_row ui_row_find(const struct mdl_session *s, uint64_t key)
{
	struct ui_row r = {NULL, NULL, NULL};

	TAILQ_FOREACH (r.ask, &s->asks, link)
		if (key_of(&r) == key)
			return r;
	TAILQ_FOREACH (r.conn, &s->conns, link)
		if (key_of(&r) == key)
			return r;
	TAILQ_FOREACH (r.sock, &s->socks, link)
		if (key_of(&r) == key)
			return r;
	return r;
}

/* -- parts to copy ------------------------------------------------------------------------------- */

/* The model's texts are printable: quotation marks and backslashes are all that is left. */
static void json_text(struct zw_buf *b, const char *name, const char *text)
{
	if (*text == '\0')
		return;
	(void)zw_buf_addf(b, ", \"%s\": \"", name);
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			(void)zw_buf_add(b, "\\", 1);
		(void)zw_buf_add(b, text, 1);
	}
	(void)zw_buf_add(b, "\"", 1);
}

static void json_time(struct zw_buf *b, const char *name, int64_t us)
{
	time_t s = (time_t)(us / 1000000);
	struct tm tm;
	char text[64];

	if (us == 0 || gmtime_r(&s, &tm) == NULL)
		return;
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	(void)zw_buf_addf(b, ", \"%s\": \"%s.%06dZ\"", name, text, (int)(us % 1000000));
}

static void json_proc(struct zw_buf *b, const struct mdl_proc *p)
{
	(void)zw_buf_addf(b, ", \"process\": {\"pid\": %u", p->pid);
	json_text(b, "exe", p->exe);
	json_text(b, "command", p->command);
	json_text(b, "cwd", p->cwd);
	(void)zw_buf_addf(b, "}");
}

static void json_end(struct zw_buf *b, uint32_t rule, const char *reason, uint64_t up_b,
		     uint64_t down_b, uint32_t n)
{
	if (rule != 0)
		(void)zw_buf_addf(b, ", \"rule\": %u", rule);
	json_text(b, "reason", reason);
	(void)zw_buf_addf(b, ", \"up\": %ju, \"down\": %ju, \"count\": %u", (uintmax_t)up_b,
			  (uintmax_t)down_b, n);
}

static void json_conn(struct zw_buf *b, const struct mdl_conn *c)
{
	json_text(b, "kind", c->via == ZW_VIA_DNS ? "dns" : "net");
	json_text(b, "did", zw_did_word(c->did));
	json_text(b, "host", c->host);
	(void)zw_buf_addf(b, ", \"port\": %u", c->port);
	json_text(b, "address", c->address);
	if (c->is_new)
		(void)zw_buf_addf(b, ", \"new\": true");
	json_text(b, "via", zw_via_word(c->via));
	json_text(b, "by", zw_by_word(c->by));
	json_time(b, "opened", c->opened_us);
	json_time(b, "closed", c->closed_us);
	json_text(b, "end", c->end);
	json_end(b, c->rule, c->reason, c->up_b, c->down_b, c->n_times);
}

static void json_sock(struct zw_buf *b, const struct mdl_sock *k)
{
	json_text(b, "kind", "unix");
	json_text(b, "op", zw_op_word(k->op));
	json_text(b, "did", zw_did_word(k->did));
	json_text(b, "target", k->target);
	json_text(b, "asked", k->asked);
	if (k->is_new)
		(void)zw_buf_addf(b, ", \"new\": true");
	json_text(b, "class", k->class_name);
	json_text(b, "risk", zw_risk_word(k->risk));
	json_text(b, "by", zw_by_word(k->by));
	json_time(b, "time", k->t_us);
	json_end(b, k->rule, k->reason, k->up_b, k->down_b, k->n_times);
}

static char *json_of(const struct ui_row *r)
{
	struct zw_buf b;

	zw_buf_init(&b, JSON_MAX);
	(void)zw_buf_addf(&b, "{\"schema\": 1");
	if (r->conn != NULL)
		json_conn(&b, r->conn);
	else
		json_sock(&b, r->sock);
	json_proc(&b, ui_row_proc(r));
	(void)zw_buf_addf(&b, "}");
	char *text = zw_xmemdup0(zw_buf_head(&b), b.len);
	zw_buf_fini(&b);
	return text;
}

static char *line_of(const struct ui_row *r)
{
	const struct mdl_proc *p = ui_row_proc(r);
	const struct mdl_conn *c = r->conn;
	char target[4200], why[600];

	ui_row_target(target, sizeof(target), r);
	if (c != NULL)
		ui_why_text(why, sizeof(why), c->by, c->rule, c->reason);
	else
		ui_why_text(why, sizeof(why), r->sock->by, r->sock->rule, r->sock->reason);
	if (c != NULL)
		return zw_xasprintf("%s net %s %s(%u) up %ju down %ju by %s", zw_did_word(c->did),
				    target, mdl_proc_name(p), p->pid, (uintmax_t)c->up_b,
				    (uintmax_t)c->down_b, why);
	return zw_xasprintf("%s unix %s %s(%u) x%u by %s", zw_did_word(r->sock->did), target,
			    mdl_proc_name(p), p->pid, r->sock->n_times, why);
}

char *ui_row_text(const struct ui_row *r, enum ui_row_part part)
{
	const struct mdl_proc *p = ui_row_proc(r);
	char target[4200];

	ui_row_target(target, sizeof(target), r);
	if (part == UI_ROW_TARGET)
		return zw_xstrdup(target);
	if (part == UI_ROW_PROCESS)
		return zw_xasprintf("%s(%u) %s", mdl_proc_name(p), p->pid, p->command);
	if (r->ask != NULL)
		return NULL;
	if (part == UI_ROW_ADDRESS)
		return r->conn != NULL && *r->conn->address != '\0' ? zw_xstrdup(r->conn->address)
								    : NULL;
	if (part == UI_ROW_RULE)
		return zw_xasprintf("zwatch rules add deny %s%s",
				    r->conn != NULL ? "" : "unix:", target);
	return part == UI_ROW_JSON ? json_of(r) : line_of(r);
}

char *ui_row_term(const struct ui_row *r, bool is_program)
{
	const char *value = is_program	      ? mdl_proc_name(ui_row_proc(r))
			    : r->conn != NULL ? host_of(r->conn)
					      : name_of(r);
	char quoted[1100];
	size_t n = 0;

	for (; *value != '\0' && n + 3 < sizeof(quoted); value++) {
		if (*value == '"' || *value == '\\')
			quoted[n++] = '\\';
		quoted[n++] = *value;
	}
	quoted[n] = '\0';
	return zw_xasprintf("%s=\"%s\"",
			    is_program	      ? "proc"
			    : r->conn != NULL ? "host"
					      : "path",
			    quoted);
}
