/* SPDX-License-Identifier: MIT */
#include "src/audit/print.h"

#include <errno.h>

#include "src/audit/json.h"
#include "src/audit/format.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/vis.h"

/* One record as text: each of its strings is bounded where it enters, and may grow sixfold. */
#define RECORD_MAX_B (512u << 10)
#define PAGE_N	     200
#define CELL_MAX     (4 * 4096 + 32)

/* -- small words and numbers --------------------------------------------------------------------- */

void aud_number(int64_t n, char *dst, size_t size)
{
	static const char units[] = "KMGTPE";
	double value = (double)n;
	size_t unit = 0;

	if (n <= 0) {
		zw_strlcpy(dst, "-", size);
		return;
	}
	if (n < 1000) {
		snprintf(dst, size, "%lld", (long long)n);
		return;
	}
	for (value /= 1000; value >= 999.5 && unit + 2 < sizeof(units); unit++)
		value /= 1000;
	snprintf(dst, size, value < 99.95 ? "%.1f%c" : "%.0f%c", value, units[unit]);
}

void aud_length(const struct aud_session *s, int64_t now_us, char *dst, size_t size)
{
	bool is_running = s->ended_us == AUD_UNKNOWN;
	int64_t us = (is_running ? now_us : s->ended_us) - s->started_us;
	long long min = us > 0 ? us / 60000000 : 0;

	snprintf(dst, size, "%lld:%02lld%s", min / 60, min % 60, is_running ? "+" : "");
}

void aud_session_end(const struct aud_session *s, char *dst, size_t size)
{
	if (s->ended_us == AUD_UNKNOWN)
		zw_strlcpy(dst, "running", size);
	else if (s->how.len > 0 && !zw_span_eq(s->how, "exited"))
		zw_vis(dst, size, s->how.p, s->how.len);
	else if (s->exit_status == 0)
		zw_strlcpy(dst, "ok", size);
	else if (s->exit_status > 0)
		snprintf(dst, size, "exit %lld", (long long)s->exit_status);
	else
		zw_strlcpy(dst, "-", size);
}

static const char *last_component(struct zw_span path, size_t *ret_len)
{
	size_t i = path.len;

	while (i > 0 && path.p[i - 1] != '/')
		i--;
	*ret_len = path.len - i;
	return path.len > 0 ? path.p + i : "";
}

void aud_event_who(const struct aud_event *e, char *dst, size_t size)
{
	size_t len = 0;
	const char *name = last_component(e->exe, &len);
	size_t n = zw_vis(dst, size, name, len);

	if (e->pid > 0)
		snprintf(dst + n, size - n, "%s(%lld)", n == 0 ? "?" : "", (long long)e->pid);
	else if (n == 0)
		zw_strlcpy(dst, "-", size);
}

void aud_event_what(const struct aud_event *e, char *dst, size_t size)
{
	struct zw_span what = e->row == AUD_ROW_MISC ? e->text : e->target;

	if (what.len == 0)
		what = e->row == AUD_ROW_CONN && e->address.len > 0 ? e->address : zw_span("-");
	size_t n = zw_vis(dst, size, what.p, what.len);
	if (e->row == AUD_ROW_CONN && e->port > 0)
		n += (size_t)snprintf(dst + n, size - n, ":%lld", (long long)e->port);
	if (n < size && e->count > 1)
		snprintf(dst + n, size - n, " x%lld", (long long)e->count);
}

void aud_event_by(const struct aud_event *e, char *dst, size_t size)
{
	char by[64], scope[64];

	zw_vis(by, sizeof(by), e->by.p, e->by.len);
	zw_vis(scope, sizeof(scope), e->scope.p, e->scope.len);
	if (e->by.len == 0)
		zw_strlcpy(dst, "-", size);
	else if (zw_span_eq(e->by, "user"))
		snprintf(dst, size, "you%s%s", e->scope.len > 0 ? ", " : "", scope);
	else if (zw_span_eq(e->by, "rule") && e->rule > 0)
		snprintf(dst, size, "rule %lld", (long long)e->rule);
	else
		zw_strlcpy(dst, by, size);
}

/* Parts of "2026-11-30 12:43:10". */
enum stamp { STAMP_ALL, STAMP_MINUTE, STAMP_CLOCK };

static void time_text(int64_t t_us, enum stamp part, bool is_utc, char *dst, size_t size)
{
	time_t s = (time_t)(t_us / 1000000);
	char text[64];
	struct tm tm;

	if (t_us == AUD_UNKNOWN || (is_utc ? gmtime_r(&s, &tm) : localtime_r(&s, &tm)) == NULL ||
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm) != 19)
		zw_strlcpy(dst, "-", size);
	else
		zw_span_cpy(dst, size,
			    zw_span_n(text + (part == STAMP_CLOCK ? 11 : 0), part == STAMP_ALL ? 19
									     : part == STAMP_CLOCK
										     ? 8
										     : 16));
}

/* A folder, the home written as ~. */
static void folder_text(struct zw_span path, const char *home, char *dst, size_t size)
{
	size_t n = home != NULL ? strlen(home) : 0, at = 0;

	if (path.len == 0) {
		zw_strlcpy(dst, "-", size);
		return;
	}
	if (n > 1 && path.len >= n && memcmp(path.p, home, n) == 0 &&
	    (path.len == n || path.p[n] == '/')) {
		at = zw_strlcpy(dst, "~", size);
		path = zw_span_n(path.p + n, path.len - n);
	}
	zw_vis(dst + at, size - at, path.p, path.len);
}

/* Arguments with blanks between, escaped. */
static char *argv_text(struct zw_span argv)
{
	zw_autofree char *joined = zw_span_dup(argv);

	for (size_t i = 0; i < argv.len; i++)
		if (joined[i] == '\0')
			joined[i] = ' ';
	return zw_vis_dup(joined, argv.len, 4 * argv.len + 1);
}

/* -- JSON ------------------------------------------------------------------------------------------ */

static void known_str(struct aud_json *j, const char *name, struct zw_span s)
{
	if (s.len > 0)
		aud_json_str(j, name, s);
}

static void known_int(struct aud_json *j, const char *name, int64_t value)
{
	if (value != AUD_UNKNOWN)
		aud_json_int(j, name, value);
}

static void known_time(struct aud_json *j, const char *name, int64_t t_us)
{
	if (t_us != AUD_UNKNOWN)
		aud_json_time(j, name, t_us);
}

static void json_argv(struct aud_json *j, struct zw_span argv)
{
	if (argv.len == 0)
		return;
	aud_json_begin(j, "argv", '[');
	for (size_t i = 0; i < argv.len;) {
		size_t n = strnlen(argv.p + i, argv.len - i);

		aud_json_str(j, NULL, zw_span_n(argv.p + i, n));
		i += n + 1;
	}
	aud_json_end(j, ']');
}

static void json_process(struct aud_json *j, const struct aud_event *e)
{
	if (e->pid == AUD_UNKNOWN && e->exe.len == 0)
		return;
	aud_json_begin(j, "process", '{');
	known_int(j, "pid", e->pid);
	known_str(j, "exe", e->exe);
	json_argv(j, e->argv);
	known_str(j, "cwd", e->cwd);
	aud_json_end(j, '}');
}

/* Numbers of the processes from the agent down to the one that did it. */
static void json_chain(struct aud_json *j, const struct aud_event *e)
{
	if (e->chain.len == 0)
		return;
	aud_json_begin(j, "chain", '[');
	for (size_t i = 0; i < e->chain.len;) {
		const char *p = e->chain.p + i;
		size_t n = strnlen(p, e->chain.len - i), n_digits = 0;
		uint64_t pid = 0;

		/* The last item need not end in a NUL: strspn() would read on. */
		while (n_digits < n && p[n_digits] >= '0' && p[n_digits] <= '9')
			n_digits++;
		if (zw_parse_u64(p, n_digits, UINT32_MAX, &pid) == 0)
			aud_json_int(j, NULL, (int64_t)pid);
		i += n + 1;
	}
	known_int(j, NULL, e->pid);
	aud_json_end(j, ']');
}

static void json_decision(struct aud_json *j, const struct aud_event *e)
{
	known_str(j, "by", e->by);
	known_str(j, "scope", e->scope);
	if (e->rule != AUD_UNKNOWN)
		aud_json_int(j, "rule", e->rule);
	else
		aud_json_null(j, "rule");
	known_str(j, "reason", e->reason);
	known_str(j, "note", e->note);
	aud_json_int(j, "waited_ms", e->waited_ms);
	aud_json_int(j, "count", e->count);
}

static void json_traffic(struct aud_json *j, const struct aud_event *e)
{
	aud_json_int(j, "up", e->up_b);
	aud_json_int(j, "down", e->down_b);
	known_time(j, "opened", e->t_us);
	known_time(j, "closed", e->closed_us);
	known_str(j, "end", e->end);
}

static void json_socket(struct aud_json *j, const struct aud_event *e)
{
	known_str(j, "op", e->op);
	known_str(j, "did", e->did);
	known_str(j, "target", e->target);
	known_str(j, "asked", e->asked);
	known_str(j, "class", e->class_name);
	known_str(j, "risk", e->risk);
	if (e->listener_uid != AUD_UNKNOWN || e->listener_pid != AUD_UNKNOWN) {
		aud_json_begin(j, "listener", '{');
		known_int(j, "uid", e->listener_uid);
		known_int(j, "pid", e->listener_pid);
		known_str(j, "exe", e->listener_exe);
		aud_json_end(j, '}');
	}
	json_process(j, e);
	json_chain(j, e);
	if (e->closed_us != AUD_UNKNOWN || e->up_b > 0 || e->down_b > 0)
		json_traffic(j, e);
	json_decision(j, e);
}

static void json_conn(struct aud_json *j, const struct aud_event *e)
{
	aud_json_str(j, "op", zw_span("connect"));
	known_str(j, "did", e->did);
	known_str(j, "host", e->target);
	known_int(j, "port", e->port);
	known_str(j, "address", e->address);
	known_str(j, "via", e->op);
	json_traffic(j, e);
	json_process(j, e);
	json_chain(j, e);
	json_decision(j, e);
}

static void json_question(struct aud_json *j, const struct aud_event *e)
{
	known_int(j, "question", e->question);
	known_str(j, "about", e->op);
	known_str(j, "did", e->did);
	known_str(j, "target", e->target);
	known_str(j, "class", e->class_name);
	known_str(j, "risk", e->risk);
	json_process(j, e);
	known_str(j, "by", e->by);
	known_str(j, "scope", e->scope);
	aud_json_int(j, "waited_ms", e->waited_ms);
	aud_json_int(j, "shown_ms", e->shown_ms);
	known_str(j, "key", e->key);
	known_str(j, "text", e->text);
	aud_json_int(j, "count", e->count);
}

int aud_json_event(struct zw_buf *out, const struct aud_event *e)
{
	struct aud_json j;

	aud_json_init(&j, out);
	aud_json_begin(&j, NULL, '{');
	aud_json_int(&j, "schema", 1);
	aud_json_int(&j, "id", e->no);
	aud_json_int(&j, "session", e->session);
	known_time(&j, "time", e->t_us);
	known_str(&j, "kind", e->kind);
	if (e->is_new)
		aud_json_bool(&j, "new", true);
	switch (e->row) {
	case AUD_ROW_SOCKET:
		json_socket(&j, e);
		break;
	case AUD_ROW_CONN:
		json_conn(&j, e);
		break;
	case AUD_ROW_QUESTION:
		json_question(&j, e);
		break;
	case AUD_ROW_MISC:
	case AUD_ROW_MAX:
		known_str(&j, "text", e->text);
		break;
	}
	aud_json_end(&j, '}');
	return j.error;
}

int aud_json_session(struct zw_buf *out, const struct aud_session *s)
{
	char end[64];
	struct aud_json j;

	aud_session_end(s, end, sizeof(end));
	aud_json_init(&j, out);
	aud_json_begin(&j, NULL, '{');
	aud_json_int(&j, "schema", 1);
	aud_json_int(&j, "session", s->id);
	known_time(&j, "started", s->started_us);
	known_time(&j, "ended", s->ended_us);
	known_str(&j, "agent", s->agent);
	known_str(&j, "name", s->name);
	known_str(&j, "tags", s->tags);
	known_str(&j, "note", s->note);
	json_argv(&j, s->argv);
	known_str(&j, "cwd", s->cwd);
	known_str(&j, "project", s->project);
	known_str(&j, "mode", s->mode);
	known_int(&j, "level", s->level);
	known_str(&j, "version", s->version);
	aud_json_bool(&j, "private", s->is_private);
	aud_json_str(&j, "end", zw_span(end));
	known_int(&j, "exit", s->exit_status);
	aud_json_int(&j, "events", s->n_events);
	aud_json_int(&j, "allow", s->n_allow);
	aud_json_int(&j, "deny", s->n_deny);
	aud_json_int(&j, "auto", s->n_auto);
	aud_json_int(&j, "miss", s->n_miss);
	aud_json_int(&j, "gone", s->n_gone);
	aud_json_int(&j, "fail", s->n_fail);
	aud_json_int(&j, "ask", s->n_ask);
	known_int(&j, "new", s->n_new);
	aud_json_int(&j, "up", s->up_b);
	aud_json_int(&j, "down", s->down_b);
	aud_json_end(&j, '}');
	return j.error;
}

/* -- tables -------------------------------------------------------------------------------------- */

/* What was refused stands out without colour. */
static void did_text(const struct aud_event *e, char *dst, size_t size)
{
	if (zw_span_eq(e->did, "deny"))
		zw_strlcpy(dst, "DENY", size);
	else if (zw_span_eq(e->did, "miss"))
		zw_strlcpy(dst, "MISS", size);
	else if (e->did.len == 0)
		zw_strlcpy(dst, "-", size);
	else
		zw_vis(dst, size, e->did.p, e->did.len);
}

static void note_text(const struct aud_event *e, char *dst, size_t size)
{
	size_t n = 0;

	dst[0] = '\0';
	if (e->waited_ms >= 1000)
		n += (size_t)snprintf(dst, size, "after %llds", (long long)e->waited_ms / 1000);
	if (e->note.len > 0)
		n += (size_t)snprintf(dst + n, size - n, "%snote sent", n > 0 ? ", " : "");
	if (e->end.len > 0 && n + 3 < size) {
		if (n > 0)
			n += zw_strlcpy(dst + n, ", ", size - n);
		n += zw_vis(dst + n, size - n, e->end.p, e->end.len);
	}
	if (n == 0)
		zw_strlcpy(dst, "-", size);
}

#define EVENT_ROW "%5s  %-8s  %-5s  %-8s  %-34s  %-16s  %-13s  %6s  %6s  %s"

int aud_line_event(struct zw_buf *out, const struct aud_event *e, const struct aud_print *p)
{
	char id[24], at[32], did[16], kind[64], who[CELL_MAX], by[160], up[16], down[16], note[640];
	zw_autofree char *what = zw_xmalloc(CELL_MAX);

	if (p->has_session)
		snprintf(id, sizeof(id), "%lld.%lld", (long long)e->session, (long long)e->no);
	else
		snprintf(id, sizeof(id), "%lld", (long long)e->no);
	time_text(e->t_us, p->has_session ? STAMP_MINUTE : STAMP_CLOCK, p->is_utc, at, sizeof(at));
	did_text(e, did, sizeof(did));
	size_t n = zw_vis(kind, sizeof(kind) - 2, e->kind.p, e->kind.len);
	if (e->is_new)
		zw_strlcpy(kind + n, " *", 3);
	aud_event_what(e, what, CELL_MAX);
	aud_event_who(e, who, sizeof(who));
	aud_event_by(e, by, sizeof(by));
	aud_number(e->up_b, up, sizeof(up));
	aud_number(e->down_b, down, sizeof(down));
	note_text(e, note, sizeof(note));
	return zw_buf_addf(out, EVENT_ROW, id, at, did, kind, what, who, by, up, down, note);
}

static int event_header(struct zw_buf *out)
{
	return zw_buf_addf(out, EVENT_ROW "\n", "ID", "TIME", "DID", "KIND", "WHAT", "WHO", "BY",
			   "UP", "DOWN", "NOTE");
}

#define SESSION_ROW "%5s  %-16s  %-8s  %-24s  %7s  %6s  %6s  %5s  %5s  %6s  %6s  %s"

static int session_header(struct zw_buf *out)
{
	return zw_buf_addf(out, SESSION_ROW "\n", "#", "STARTED", "AGENT", "PROJECT", "LENGTH",
			   "ALLOW", "DENY", "ASK", "NEW", "UP", "DOWN", "END");
}

static int session_line(struct zw_buf *out, const struct aud_session *s, const struct aud_print *p)
{
	char id[24], at[32], agent[256], length[32], n[4][16], up[16], down[16], end[64];
	zw_autofree char *project = zw_xmalloc(CELL_MAX);

	snprintf(id, sizeof(id), "%lld", (long long)s->id);
	time_text(s->started_us, STAMP_MINUTE, p->is_utc, at, sizeof(at));
	if (zw_vis(agent, sizeof(agent), s->agent.p, s->agent.len) == 0)
		zw_strlcpy(agent, "-", sizeof(agent));
	folder_text(s->project, p->home, project, CELL_MAX);
	aud_length(s, zw_now_us(), length, sizeof(length));
	aud_number(s->n_allow, n[0], sizeof(n[0]));
	aud_number(s->n_deny + s->n_miss, n[1], sizeof(n[1]));
	aud_number(s->n_ask, n[2], sizeof(n[2]));
	aud_number(s->n_new, n[3], sizeof(n[3]));
	aud_number(s->up_b, up, sizeof(up));
	aud_number(s->down_b, down, sizeof(down));
	aud_session_end(s, end, sizeof(end));
	return zw_buf_addf(out, SESSION_ROW, id, at, agent, project, length, n[0], n[1], n[2], n[3],
			   up, down, end);
}

/* -- writing out ----------------------------------------------------------------------------------- */

/* Records on their way to a descriptor, in the frame of the format. */
struct aud_sink {
	const struct aud_print *p;
	struct zw_buf buf;
	int64_t n_records;
	int (*late_header)(struct zw_buf *); /* written before the first record, NULL = none */
};

int aud_sink_flush(struct aud_sink *s)
{
	int r = s->buf.len > 0 ? zw_write_all(s->p->fd, zw_buf_head(&s->buf), s->buf.len) : 0;

	zw_buf_consume(&s->buf, s->buf.len);
	return r;
}

static int sink_open(struct aud_sink *s, const struct aud_print *p, int (*header)(struct zw_buf *))
{
	*s = (struct aud_sink){.p = p};
	zw_buf_init(&s->buf, 2 * RECORD_MAX_B);
	if (p->format == AUD_FORMAT_JSON)
		return zw_buf_add(&s->buf, "[", 1);
	if (p->format == AUD_FORMAT_CSV && header == event_header)
		return aud_csv_header(&s->buf);
	return p->format == AUD_FORMAT_TABLE ? header(&s->buf) : 0;
}

/* Before each record. */
static int sink_lead(struct aud_sink *s)
{
	const char *lead = s->n_records == 0 ? "\n" : ",\n";

	if (s->n_records++ == 0 && s->late_header != NULL)
		return s->late_header(&s->buf);
	return s->p->format == AUD_FORMAT_JSON ? zw_buf_add(&s->buf, lead, strlen(lead)) : 0;
}

/* Behind each record. */
static int sink_trail(struct aud_sink *s)
{
	bool has_end = s->p->format == AUD_FORMAT_JSON || s->p->format == AUD_FORMAT_CSV;
	int r = !has_end ? zw_buf_add(&s->buf, "\n", 1) : 0;

	return r == 0 && s->buf.len >= RECORD_MAX_B ? aud_sink_flush(s) : r;
}

/* Returns how many records were written, or @r or another error. */
static int64_t sink_close(struct aud_sink *s, int r)
{
	if (r == 0 && s->p->format == AUD_FORMAT_JSON)
		r = zw_buf_add(&s->buf, s->n_records > 0 ? "\n]\n" : "]\n",
			       s->n_records > 0 ? 3 : 2);
	if (r == 0)
		r = aud_sink_flush(s);
	zw_buf_fini(&s->buf);
	return r < 0 ? r : s->n_records;
}

/* Name of this machine, as it goes into a header: no blank, nothing that is not printable ASCII. */
static const char *host_name(void)
{
	static char name[256];

	if (*name == '\0' && gethostname(name, sizeof(name) - 1) < 0)
		zw_strlcpy(name, "-", sizeof(name));
	for (char *c = name; *c != '\0'; c++)
		if (*c <= ' ' || *c > '~')
			*c = '-';
	return name;
}

static int event_write(struct aud_sink *s, const struct aud_event *e)
{
	switch (s->p->format) {
	case AUD_FORMAT_TABLE:
		return aud_line_event(&s->buf, e, s->p);
	case AUD_FORMAT_CSV:
		return aud_csv_event(&s->buf, e);
	case AUD_FORMAT_RFC5424:
		return aud_rfc5424_event(&s->buf, e, host_name());
	case AUD_FORMAT_OTLP:
		return aud_otlp_event(&s->buf, e, host_name());
	case AUD_FORMAT_JSON:
	case AUD_FORMAT_NDJSON:
		break;
	}
	return aud_json_event(&s->buf, e);
}

int aud_sink_event(struct aud_sink *s, const struct aud_event *e)
{
	int r = sink_lead(s);

	if (r == 0)
		r = event_write(s, e);
	return r == 0 ? sink_trail(s) : r;
}

static int sink_session(struct aud_sink *s, const struct aud_session *row)
{
	int r = sink_lead(s);

	if (r == 0)
		r = s->p->format == AUD_FORMAT_TABLE ? session_line(&s->buf, row, s->p)
						     : aud_json_session(&s->buf, row);
	return r == 0 ? sink_trail(s) : r;
}

/* Every event of a session that @want takes. */
static int each_event(struct aud_query *q, int64_t session, struct aud_sink *s,
		      bool (*want)(const struct aud_event *))
{
	struct aud_event_page page = {0};
	int64_t from = 0;
	bool has_more = true;
	int r = 0;

	while (r == 0 && has_more) {
		r = aud_events(q, session, AUD_FORWARD, from, PAGE_N, &page);
		for (size_t i = 0; r == 0 && i < page.n_rows; i++) {
			from = page.rows[i].no;
			if (want == NULL || want(&page.rows[i]))
				r = aud_sink_event(s, &page.rows[i]);
		}
		has_more = page.has_more;
	}
	aud_event_page_clear(&page);
	return r;
}

int aud_sink_new(const struct aud_print *p, struct aud_sink **ret)
{
	*ret = zw_xnew(struct aud_sink);
	int r = sink_open(*ret, p, event_header);

	if (r < 0)
		free(zw_steal(ret));
	return r;
}

int64_t aud_sink_close(struct aud_sink *s, int error)
{
	int64_t n = sink_close(s, error);

	free(s);
	return n;
}

static const struct {
	const char *word;
	enum aud_format format;
} formats[] = {
	{"table", AUD_FORMAT_TABLE}, {"json", AUD_FORMAT_JSON},	      {"ndjson", AUD_FORMAT_NDJSON},
	{"csv", AUD_FORMAT_CSV},     {"rfc5424", AUD_FORMAT_RFC5424}, {"otlp", AUD_FORMAT_OTLP},
};

int aud_format_of(const char *word, enum aud_format *ret)
{
	for (size_t i = 0; i < ZW_N_ELEMENTS(formats); i++) {
		if (strcmp(formats[i].word, word) != 0)
			continue;
		*ret = formats[i].format;
		return 0;
	}
	return ZW_E_NOT_FOUND;
}

const char *aud_format_words(void)
{
	return "table, json, ndjson, csv, rfc5424 or otlp";
}

int64_t aud_print_found(struct aud_query *q, const struct aud_filter *f, int64_t session,
			const struct aud_print *p)
{
	struct aud_event_page page = {0};
	struct aud_sink s;
	int64_t from = 0;
	bool has_more = true;
	int r = sink_open(&s, p, event_header);

	while (r == 0 && has_more) {
		r = aud_find(q, f, session, AUD_FORWARD, from, PAGE_N, &page);
		for (size_t i = 0; r == 0 && i < page.n_rows; i++) {
			from = AUD_EVENT_ID(page.rows[i].session, page.rows[i].no);
			r = aud_sink_event(&s, &page.rows[i]);
		}
		has_more = page.has_more;
	}
	aud_event_page_clear(&page);
	return sink_close(&s, r);
}

int64_t aud_print_log(struct aud_query *q, int64_t session, const struct aud_print *p)
{
	struct aud_sink s;
	int r = sink_open(&s, p, event_header);

	if (r == 0)
		r = each_event(q, session, &s, NULL);
	return sink_close(&s, r);
}

int64_t aud_print_history(struct aud_query *q, const struct aud_filter *f, size_t limit,
			  const struct aud_print *p)
{
	struct aud_session_page page = {0};
	struct aud_sink s;
	int64_t before = 0;
	bool has_more = true;
	int r = sink_open(&s, p, session_header);

	while (r == 0 && has_more) {
		r = aud_sessions_find(q, f, before, PAGE_N, &page);
		has_more = page.has_more;
		for (size_t i = 0; r == 0 && i < page.n_rows; i++) {
			if (limit > 0 && (size_t)s.n_records == limit) {
				has_more = false;
				break;
			}
			before = page.rows[i].id;
			r = sink_session(&s, &page.rows[i]);
		}
	}
	aud_session_page_clear(&page);
	return sink_close(&s, r);
}

/* What a review looks at first: not the routine. */
static bool is_notable(const struct aud_event *e)
{
	if (e->row == AUD_ROW_QUESTION || e->row == AUD_ROW_MISC)
		return true;
	return zw_span_eq(e->did, "deny") || zw_span_eq(e->did, "miss") ||
	       zw_span_eq(e->did, "gone") || zw_span_eq(e->risk, "CRITICAL") ||
	       zw_span_eq(e->risk, "HIGH");
}

static int show_head(struct zw_buf *out, const struct aud_session *s, const struct aud_print *p)
{
	zw_autofree char *project = zw_xmalloc(CELL_MAX);
	zw_autofree char *argv = argv_text(s->argv);
	char at[32], to[32], length[32], end[64], agent[256], mode[64];

	folder_text(s->project, p->home, project, CELL_MAX);
	time_text(s->started_us, STAMP_ALL, p->is_utc, at, sizeof(at));
	time_text(s->ended_us, STAMP_ALL, p->is_utc, to, sizeof(to));
	aud_length(s, zw_now_us(), length, sizeof(length));
	aud_session_end(s, end, sizeof(end));
	zw_vis(agent, sizeof(agent), s->agent.p, s->agent.len);
	zw_vis(mode, sizeof(mode), s->mode.p, s->mode.len);
	int r = zw_buf_addf(out, "Session %lld  %s  %s\n  started  %s\n  ended    %s  (%s, %s)\n",
			    (long long)s->id, project, agent, at, to, length, end);
	if (r == 0 && s->argv.len > 0)
		r = zw_buf_addf(out, "  command  %s\n", argv);
	if (r == 0)
		r = zw_buf_addf(out, "  mode     %s%s\n", mode,
				s->is_private ? ", private: only these sums are kept" : "");
	if (r == 0 && s->level > 0)
		r = zw_buf_addf(out, "  level    %lld%s\n", (long long)s->level,
				s->level < 3 ? ", weaker: without Landlock" : "");
	return r;
}

static int show_sums(struct zw_buf *out, const struct aud_session *s)
{
	char up[16], down[16];

	aud_number(s->up_b, up, sizeof(up));
	aud_number(s->down_b, down, sizeof(down));
	return zw_buf_addf(out,
			   "  allowed %lld, refused %lld, asked %lld (%lld missed), inside %lld,"
			   " failed %lld, gave up %lld;  up %s  down %s\n\n",
			   (long long)s->n_allow, (long long)(s->n_deny + s->n_miss),
			   (long long)s->n_ask, (long long)s->n_miss, (long long)s->n_auto,
			   (long long)s->n_fail, (long long)s->n_gone, up, down);
}

static int no_header(struct zw_buf *out)
{
	(void)out;
	return 0;
}

static int show_table(struct aud_query *q, const struct aud_session *row, struct aud_sink *s)
{
	int r = show_head(&s->buf, row, s->p);

	if (r == 0)
		r = show_sums(&s->buf, row);
	s->late_header = event_header;
	if (r == 0)
		r = each_event(q, row->id, s, is_notable);
	if (r == 0 && row->n_events > s->n_records)
		r = zw_buf_addf(&s->buf, "%lld more, all routine:  zwatch log %lld\n",
				(long long)(row->n_events - s->n_records), (long long)row->id);
	return r;
}

int aud_print_show(struct aud_query *q, int64_t session, const struct aud_print *p)
{
	struct aud_session_page page = {0};
	struct aud_print object = *p;
	struct aud_sink s;
	int r = aud_session_get(q, session, &page);

	if (r == 0) {
		/* One session is one object, not an array of one. */
		if (p->format == AUD_FORMAT_JSON)
			object.format = AUD_FORMAT_NDJSON;
		r = sink_open(&s, &object, no_header);
		if (r == 0)
			r = p->format == AUD_FORMAT_TABLE ? show_table(q, &page.rows[0], &s)
							  : sink_session(&s, &page.rows[0]);
		int64_t n = sink_close(&s, r);
		r = n < 0 ? (int)n : 0;
	}
	aud_session_page_clear(&page);
	return r;
}

static int detail(struct zw_buf *out, const char *name, struct zw_span value)
{
	if (value.len == 0)
		return 0;
	zw_autofree char *text = zw_vis_dup(value.p, value.len, CELL_MAX);

	return zw_buf_addf(out, "  %-8s %s\n", name, text);
}

/* What the line has no room for. */
static int event_details(struct zw_buf *out, const struct aud_event *e)
{
	zw_autofree char *argv = argv_text(e->argv);
	zw_autofree char *chain = argv_text(e->chain);
	int r = detail(out, "program", e->exe);

	r = r < 0 ? r : detail(out, "command", zw_span(argv));
	r = r < 0 ? r : detail(out, "folder", e->cwd);
	r = r < 0 ? r : detail(out, "parents", zw_span(chain));
	r = r < 0 ? r : detail(out, "asked", e->asked);
	r = r < 0 ? r : detail(out, "address", e->address);
	r = r < 0 ? r : detail(out, "reason", e->reason);
	r = r < 0 ? r : detail(out, "note", e->note);
	r = r < 0 ? r : detail(out, "end", e->end);
	return r < 0 ? r : detail(out, "text", e->text);
}

int aud_print_event(struct aud_query *q, int64_t session, int64_t no, const struct aud_print *p)
{
	struct aud_event_page page = {0};
	struct aud_print object = *p;
	struct aud_sink s;
	int r = aud_event_get(q, session, no, &page);

	if (r == 0) {
		if (p->format == AUD_FORMAT_JSON)
			object.format = AUD_FORMAT_NDJSON;
		r = sink_open(&s, &object, event_header);
		if (r == 0)
			r = aud_sink_event(&s, &page.rows[0]);
		if (r == 0 && p->format == AUD_FORMAT_TABLE)
			r = event_details(&s.buf, &page.rows[0]);
		int64_t n = sink_close(&s, r);
		r = n < 0 ? (int)n : 0;
	}
	aud_event_page_clear(&page);
	return r;
}
