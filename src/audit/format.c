/* SPDX-License-Identifier: MIT */
#include "src/audit/format.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "src/audit/json.h"
#include "src/audit/print.h"
#include "src/base/mem.h"
#include "src/base/vis.h"

#define TEXT_MAX 16384

/* What each event is written as: a name, and either a text or a number. One list for all forms. */
struct member {
	const char *name;
	bool is_number;
	int64_t number;
	struct zw_span text;
};

#define MEMBERS_MAX 40

struct members {
	struct member list[MEMBERS_MAX];
	size_t n;
	char time[40], closed[40];
	char *argv, *chain; /* owned; arguments with blanks between */
};

static void add_text(struct members *m, const char *name, struct zw_span text)
{
	m->list[m->n++] = (struct member){.name = name, .text = text};
}

static void add_number(struct members *m, const char *name, int64_t n)
{
	if (n == AUD_UNKNOWN)
		add_text(m, name, zw_span_n(NULL, 0));
	else
		m->list[m->n++] = (struct member){.name = name, .is_number = true, .number = n};
}

static void stamp(int64_t t_us, char *dst, size_t size)
{
	time_t s = (time_t)(t_us / 1000000);
	char text[32];
	struct tm tm;

	*dst = '\0';
	if (t_us < 0 || gmtime_r(&s, &tm) == NULL ||
	    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm) == 0)
		return;
	snprintf(dst, size, "%s.%06dZ", text, (int)(t_us % 1000000));
}

static char *joined(struct zw_span argv)
{
	char *text = zw_xmemdup0(argv.len > 0 ? argv.p : "", argv.len);

	for (size_t i = 0; i < argv.len; i++)
		if (text[i] == '\0')
			text[i] = ' ';
	return text;
}

static void members_init(struct members *m, const struct aud_event *e)
{
	*m = (struct members){.argv = joined(e->argv), .chain = joined(e->chain)};
	stamp(e->t_us, m->time, sizeof(m->time));
	stamp(e->closed_us, m->closed, sizeof(m->closed));
	add_text(m, "time", zw_span(m->time));
	add_number(m, "session", e->session);
	add_number(m, "event", e->no);
	add_text(m, "kind", e->kind);
	add_text(m, "op", e->op);
	add_text(m, "did", e->did);
	add_text(m, "target", e->target);
	add_number(m, "port", e->port);
	add_text(m, "address", e->address);
	add_text(m, "asked", e->asked);
	add_text(m, "class", e->class_name);
	add_text(m, "risk", e->risk);
	add_text(m, "by", e->by);
	add_number(m, "rule", e->rule);
	add_text(m, "reason", e->reason);
	add_text(m, "note", e->note);
	add_number(m, "waited_ms", e->waited_ms);
	add_number(m, "count", e->count);
	add_number(m, "up", e->up_b);
	add_number(m, "down", e->down_b);
	add_text(m, "closed", zw_span(m->closed));
	add_text(m, "end", e->end);
	add_number(m, "listener_uid", e->listener_uid);
	add_number(m, "listener_pid", e->listener_pid);
	add_text(m, "listener_exe", e->listener_exe);
	add_number(m, "pid", e->pid);
	add_text(m, "exe", e->exe);
	add_text(m, "argv", zw_span_n(m->argv, e->argv.len));
	add_text(m, "cwd", e->cwd);
	add_text(m, "chain", zw_span_n(m->chain, e->chain.len));
	add_text(m, "scope", e->scope);
	add_text(m, "key", e->key);
	add_number(m, "shown_ms", e->row == AUD_ROW_QUESTION ? e->shown_ms : AUD_UNKNOWN);
	add_text(m, "new", e->is_new ? zw_span("yes") : zw_span_n(NULL, 0));
	add_text(m, "text", e->text);
}

static void members_fini(struct members *m)
{
	free(m->argv);
	free(m->chain);
}

static int put(struct zw_buf *out, const char *text)
{
	return zw_buf_add(out, text, strlen(text));
}

/* -- CSV --------------------------------------------------------------------------------------- */

int aud_csv_header(struct zw_buf *out)
{
	static const struct aud_event nothing;
	struct members m;
	int r = 0;

	members_init(&m, &nothing);
	for (size_t i = 0; i < m.n && r == 0; i++)
		r = zw_buf_addf(out, "%s%s", i > 0 ? "," : "", m.list[i].name);
	members_fini(&m);
	return r == 0 ? put(out, "\r\n") : r;
}

/* RFC 4180, section 2: in quotes, a quote as two. */
static int csv_text(struct zw_buf *out, struct zw_span text)
{
	zw_autofree char *shown = zw_vis_dup(text.p, text.len, TEXT_MAX);
	bool is_formula = *shown != '\0' && strchr("=+-@", *shown) != NULL;
	bool is_plain = !is_formula && strpbrk(shown, "\",\r\n ") == NULL;
	int r;

	if (is_plain)
		return put(out, shown);
	r = put(out, is_formula ? "\"'" : "\"");
	for (const char *c = shown; *c != '\0' && r == 0; c++)
		r = *c == '"' ? put(out, "\"\"") : zw_buf_add(out, c, 1);
	return r == 0 ? put(out, "\"") : r;
}

int aud_csv_event(struct zw_buf *out, const struct aud_event *e)
{
	struct members m;
	int r = 0;

	members_init(&m, e);
	for (size_t i = 0; i < m.n && r == 0; i++) {
		if (i > 0)
			r = put(out, ",");
		if (r == 0)
			r = m.list[i].is_number
				    ? zw_buf_addf(out, "%lld", (long long)m.list[i].number)
				    : csv_text(out, m.list[i].text);
	}
	members_fini(&m);
	return r == 0 ? put(out, "\r\n") : r;
}

/* -- syslog ------------------------------------------------------------------------------------ */

/* RFC 5424, section 6.2.1: 8 * facility + severity. */
#define FACILITY_AUTHPRIV 10
/* Of RFC 5612: a number for what is registered to nobody. */
#define SD_ID "zwatch@32473"

struct severity {
	int syslog, otlp; /* OTLP: SeverityNumber */
	const char *word;
};

static struct severity severity_of(const struct aud_event *e)
{
	if (zw_span_eq(e->did, "deny"))
		return (struct severity){4, 13, "WARN"};
	if (e->row == AUD_ROW_QUESTION || zw_span_eq(e->did, "miss"))
		return (struct severity){5, 10, "INFO2"};
	return (struct severity){6, 9, "INFO"};
}

/* Section 6.3.3: a backslash before \ " and ]. */
static int sd_text(struct zw_buf *out, struct zw_span text)
{
	zw_autofree char *shown = zw_vis_dup(text.p, text.len, TEXT_MAX);
	int r = 0;

	for (const char *c = shown; *c != '\0' && r == 0; c++) {
		if (strchr("\\\"]", *c) != NULL)
			r = put(out, "\\");
		if (r == 0)
			r = zw_buf_add(out, c, 1);
	}
	return r;
}

static int sd_member(struct zw_buf *out, const struct member *m)
{
	int r;

	if (!m->is_number && m->text.len == 0)
		return 0;
	if (m->is_number)
		return zw_buf_addf(out, " %s=\"%lld\"", m->name, (long long)m->number);
	r = zw_buf_addf(out, " %s=\"", m->name);
	if (r == 0)
		r = sd_text(out, m->text);
	return r == 0 ? put(out, "\"") : r;
}

/* What a person reads: "deny unix /run/docker.sock by docker(4711)". */
static void sentence(const struct aud_event *e, char *dst, size_t size)
{
	char kind[64], did[64], who[256], what[1024];

	zw_vis(kind, sizeof(kind), e->kind.p, e->kind.len);
	zw_vis(did, sizeof(did), e->did.p, e->did.len);
	aud_event_who(e, who, sizeof(who));
	aud_event_what(e, what, sizeof(what));
	snprintf(dst, size, "%s%s%s %s%s%s", did, *did != '\0' ? " " : "", kind, what,
		 strcmp(who, "-") == 0 ? "" : " by ", strcmp(who, "-") == 0 ? "" : who);
}

int aud_rfc5424_event(struct zw_buf *out, const struct aud_event *e, const char *host)
{
	char text[1500], kind[33];
	struct members m;

	members_init(&m, e);
	zw_vis(kind, sizeof(kind), e->kind.p, e->kind.len);
	sentence(e, text, sizeof(text));
	int r = zw_buf_addf(out, "<%d>1 %s %s zwatch %lld %s [" SD_ID,
			    8 * FACILITY_AUTHPRIV + severity_of(e).syslog,
			    *m.time != '\0' ? m.time : "-", *host != '\0' ? host : "-",
			    (long long)e->session, *kind != '\0' ? kind : "-");
	for (size_t i = 1; i < m.n && r == 0; i++) /* time stands in the header */
		r = sd_member(out, &m.list[i]);
	members_fini(&m);
	return r == 0 ? zw_buf_addf(out, "] %s", text) : r;
}

/* -- OpenTelemetry ----------------------------------------------------------------------------- */

/* opentelemetry-proto, logs.proto in proto3 JSON: names in camelCase, 64-bit numbers as texts. */

static void otlp_text(struct aud_json *j, const char *key, struct zw_span text)
{
	aud_json_begin(j, NULL, '{');
	aud_json_str(j, "key", zw_span(key));
	aud_json_begin(j, "value", '{');
	aud_json_str(j, "stringValue", text);
	aud_json_end(j, '}');
	aud_json_end(j, '}');
}

static void otlp_number(struct aud_json *j, const char *key, int64_t n)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)n);
	aud_json_begin(j, NULL, '{');
	aud_json_str(j, "key", zw_span(key));
	aud_json_begin(j, "value", '{');
	aud_json_str(j, "intValue", zw_span(text));
	aud_json_end(j, '}');
	aud_json_end(j, '}');
}

static void otlp_resource(struct aud_json *j, const char *host)
{
	aud_json_begin(j, "resource", '{');
	aud_json_begin(j, "attributes", '[');
	otlp_text(j, "service.name", zw_span("zwatch"));
	otlp_text(j, "service.version", zw_span(ZW_VERSION));
	if (*host != '\0')
		otlp_text(j, "host.name", zw_span(host));
	aud_json_end(j, ']');
	aud_json_end(j, '}');
}

static void otlp_attributes(struct aud_json *j, const struct aud_event *e)
{
	struct members m;
	char name[48];

	members_init(&m, e);
	aud_json_begin(j, "attributes", '[');
	for (size_t i = 1; i < m.n; i++) {
		snprintf(name, sizeof(name), "zwatch.%s", m.list[i].name);
		if (m.list[i].is_number)
			otlp_number(j, name, m.list[i].number);
		else if (m.list[i].text.len > 0)
			otlp_text(j, name, m.list[i].text);
	}
	aud_json_end(j, ']');
	members_fini(&m);
}

static void otlp_record(struct aud_json *j, const struct aud_event *e)
{
	struct severity severity = severity_of(e);
	char text[1500], time[32];

	sentence(e, text, sizeof(text));
	snprintf(time, sizeof(time), "%lld000", (long long)(e->t_us > 0 ? e->t_us : 0));
	aud_json_begin(j, NULL, '{');
	aud_json_str(j, "timeUnixNano", zw_span(time));
	aud_json_str(j, "observedTimeUnixNano", zw_span(time));
	aud_json_int(j, "severityNumber", severity.otlp);
	aud_json_str(j, "severityText", zw_span(severity.word));
	aud_json_begin(j, "body", '{');
	aud_json_str(j, "stringValue", zw_span(text));
	aud_json_end(j, '}');
	otlp_attributes(j, e);
	aud_json_end(j, '}');
}

int aud_otlp_event(struct zw_buf *out, const struct aud_event *e, const char *host)
{
	struct aud_json j;

	aud_json_init(&j, out);
	aud_json_begin(&j, NULL, '{');
	aud_json_begin(&j, "resourceLogs", '[');
	aud_json_begin(&j, NULL, '{');
	otlp_resource(&j, host);
	aud_json_begin(&j, "scopeLogs", '[');
	aud_json_begin(&j, NULL, '{');
	aud_json_begin(&j, "scope", '{');
	aud_json_str(&j, "name", zw_span("zwatch"));
	aud_json_end(&j, '}');
	aud_json_begin(&j, "logRecords", '[');
	otlp_record(&j, e);
	aud_json_end(&j, ']');
	aud_json_end(&j, '}');
	aud_json_end(&j, ']');
	aud_json_end(&j, '}');
	aud_json_end(&j, ']');
	aud_json_end(&j, '}');
	return j.error;
}
