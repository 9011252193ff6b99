/* SPDX-License-Identifier: MIT
 * The filter language: what it takes, what it finds, and where an error is said to be. */
#include "tests/support/test.h"

#include <errno.h>

#include "src/audit/filter.h"
#include "src/audit/query.h"
#include "src/base/err.h"
#include "tests/support/audit.h"

static struct place place;

static void put(struct aud_writer *w, enum zw_msg_id id, union zw_msg_any m)
{
	aud_writer_put(w, id, &m);
}

/* Events 1 to 6: docker refused, docker once more, a site allowed and closed, a site refused, a
 * socket inside, a question; in a session of claude in ~/src/shop. */
static int setup(void **state)
{
	struct ear e;
	union zw_msg_any m;

	(void)state;
	setenv("TZ", "UTC", 1);
	place_make(&place);
	struct aud_writer *w = writer_start(&place, &e);
	put(w, ZW_ID_sock_event, a_sock(1, ZW_DID_DENY));
	put(w, ZW_ID_sock_event, a_sock(2, ZW_DID_DENY));
	put(w, ZW_ID_conn_event, a_conn(3, 0, ZW_DID_ALLOW));
	m = a_conn(3, 2, ZW_DID_ALLOW);
	m.conn_event.up_b = 20000;
	m.conn_event.down_b = 6u << 20;
	put(w, ZW_ID_conn_event, m);
	m = a_conn(4, 0, ZW_DID_DENY);
	m.conn_event.host = zw_span("telemetry.example");
	m.conn_event.reason = zw_span("tracking is not wanted");
	put(w, ZW_ID_conn_event, m);
	m = a_sock(5, ZW_DID_AUTO);
	m.sock_event.target = zw_span("/tmp/nx/d.sock");
	m.sock_event.exe = zw_span("/usr/bin/node");
	m.sock_event.cwd = zw_span("/home/u/src/shop/web");
	put(w, ZW_ID_sock_event, m);
	m = (union zw_msg_any){.question_event = {.question = 1,
						  .t_us = INT64_C(1796042590118233),
						  .kind = 1,
						  .risk = ZW_RISK_CRITICAL,
						  .target = zw_span("/run/docker.sock"),
						  .did = ZW_DID_DENY,
						  .by = ZW_BY_USER,
						  .waited_ms = 41000}};
	put(w, ZW_ID_question_event, m);
	return writer_stop(w);
}

static int teardown(void **state)
{
	(void)state;
	place_drop(&place);
	return 0;
}

/* The same rows, held against the filter in memory, have to be the ones that the store found. */
static void matched(struct aud_query *q, const struct aud_filter *f, const char *text,
		    const char *wanted)
{
	struct aud_session_page session = {0};
	struct aud_event_page page = {0};
	char got[256] = "";
	size_t n = 0;

	assert_int_equal(aud_session_get(q, 1, &session), 0);
	assert_int_equal(aud_events(q, 1, AUD_FORWARD, 0, 100, &page), 0);
	for (size_t i = 0; i < page.n_rows; i++)
		if (aud_filter_matches(f, &page.rows[i], &session.rows[0]))
			n += (size_t)snprintf(got + n, sizeof(got) - n, "%s%lld", n > 0 ? " " : "",
					      (long long)page.rows[i].no);
	if (strcmp(got, wanted) != 0)
		fail_msg("%s: in memory '%s', in the store '%s'", text, got, wanted);
	aud_event_page_clear(&page);
	aud_session_page_clear(&session);
}

/* Numbers of the events that a filter finds, as "1 2 6". */
static void found(const char *text, char *dst, size_t size)
{
	struct aud_event_page page = {0};
	struct aud_filter_error error;
	struct aud_filter *f = NULL;
	struct aud_query *q = NULL;
	size_t n = 0;

	*dst = '\0';
	if (aud_filter_parse(text, INT64_C(1796042590118233), &f, &error) < 0)
		fail_msg("%s: %s at %zu", text, error.text, error.at);
	assert_int_equal(aud_query_open(place.path, &q), 0);
	assert_int_equal(aud_find(q, f, 0, AUD_FORWARD, 0, 100, &page), 0);
	for (size_t i = 0; i < page.n_rows; i++)
		n += (size_t)snprintf(dst + n, size - n, "%s%lld", i > 0 ? " " : "",
				      (long long)page.rows[i].no);
	aud_event_page_clear(&page);
	if (strstr(text, "tag:") == NULL)
		matched(q, f, text, dst);
	aud_query_free(q);
	aud_filter_free(f);
}

static const struct {
	const char *filter, *wanted;
} filters[] = {
	{"", "1 2 3 4 5 6"},
	{"did:deny", "1 2 4 6"},
	{"did:DENY kind:unix", "1 2"},
	{"did:deny and kind:unix", "1 2"},
	{"did:deny -kind:unix", "4 6"},
	{"did:deny not kind:unix", "4 6"},
	{"not not did:allow", "3"},
	{"did:allow or did:auto", "3 5"},
	{"did:allow or did:deny kind:net", "3 4"},
	{"(did:allow or did:deny) kind:net", "3 4"},
	{"did:ask", "6"},
	{"kind:question", "6"},
	{"host:*.pkgs.test", "3"},
	{"host:registry.pkgs.test", "3"},
	{"host:REGISTRY.*", "3"},
	{"host:pkgs.test", ""},
	{"-host:*.pkgs.test", "1 2 4 5 6"},
	{"port:443", "3 4"},
	{"port>443", ""},
	{"port<444", "3 4"},
	{"path:/run", "1 2 6"},
	{"path:/run/docker.sock", "1 2 6"},
	{"path:/run/docker", ""},
	{"path:*.sock", "1 2 5 6"},
	{"path:docker", "1 2 6"},
	{"proc:docker", "1 2"},
	{"proc:node", "3 4 5"},
	{"proc:/usr/bin/node", "3 4 5"},
	{"proc:nod", ""},
	{"proc~nod", "3 4 5"},
	{"cmd:compose", "1 2 5"},
	{"cmd:\"npm install\"", "3 4"},
	{"cmd~^docker.*up$", "1 2 5"},
	{"pid:4711", "1 2 5"},
	{"folder:/home/u/src/shop", "1 2 5"},
	{"folder:/home/u/src/shop/web", "5"},
	{"folder:/home/u/src/sh", ""},
	{"risk:critical", "1 2 5 6"},
	{"class:docker", "1 2 5"},
	{"peer:*dockerd", "1 2 5"},
	{"by:user", "1 2 5 6"},
	{"rule:7", "3 4"},
	{"note:tracking", "4"},
	{"up>10k", "3"},
	{"up>1m", ""},
	{"down>5m", "3"},
	{"held>40s", "6"},
	{"held<40s did:deny", "1 2 4"},
	{"took>40s", "6"},
	{"new:yes", "1 3 4"},
	{"new:no", "2 5 6"},
	{"session:1", "1 2 3 4 5 6"},
	{"session:2", ""},
	{"agent:claude", "1 2 3 4 5 6"},
	{"agent:codex", ""},
	{"mode:guard did:allow", "3"},
	{"project:/home/u/src", "1 2 3 4 5 6"},
	{"since:1h", "1 2 3 4 5 6"},
	{"since:2026-12-01", ""},
	{"until:2026-11-30", ""},
	{"until:2026-12-01", "1 2 3 4 5 6"},
	{"since:2026-11-30T12:43", "1 2 3 4 5 6"},
	{"telemetry", "4"},
	{"TELEMETRY", "4"},
	{"\"tracking is\"", "4"},
	{"\"no such\"", ""},
	{"host=registry.pkgs.test", "3"},
	{"host=REGISTRY.pkgs.test", ""},
	{"tag:x", ""},
};

static void test_filters__find_what_they_say(void **state)
{
	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(filters); i++) {
		char got[256];

		found(filters[i].filter, got, sizeof(got));
		if (strcmp(got, filters[i].wanted) != 0)
			fail_msg("'%s': wanted '%s', found '%s'", filters[i].filter,
				 filters[i].wanted, got);
	}
}

static void test_errors__say_where(void **state)
{
	static const struct {
		const char *filter, *text;
		size_t at;
	} cases[] = {
		{"hosts:x", "no field 'hosts' - did you mean host", 0},
		{"did:deny hst:x", "did you mean host", 9},
		{"(did:deny", "not closed", 0},
		{"did:deny)", "not opened", 8},
		{"did:", "a value is missing", 4},
		{"\"abc", "quotation mark", 0},
		{"path=\"/x\"y", "a blank is missing", 9},
		{"port:x", "is not a number", 5},
		{"up>5x", "is not a size", 3},
		{"took<x", "length of time", 5},
		{"since:yesterday", "2026-11-02", 6},
		{"new:maybe", "yes or no", 4},
		{"did>deny", "no order", 4},
		{"cmd~\"(\"", "no regular expression", 4},
		{"port~4", "takes no regular", 5},
		{"did:deny or", "nothing stands here", 11},
		{"not", "nothing stands here", 3},
	};

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(cases); i++) {
		struct aud_filter_error error;
		struct aud_filter *f = NULL;

		int r = aud_filter_parse(cases[i].filter, 0, &f, &error);
		if (r != ZW_E_SYNTAX || strstr(error.text, cases[i].text) == NULL ||
		    error.at != cases[i].at)
			fail_msg("'%s': %d '%s' at %zu", cases[i].filter, r, error.text, error.at);
	}
}

static void test_bounds__long_and_deep(void **state)
{
	struct aud_filter_error error;
	struct aud_filter *f = NULL;
	char text[AUD_FILTER_LEN_MAX + 100];

	(void)state;
	memset(text, '(', sizeof(text));
	text[200] = '\0';
	assert_int_equal(aud_filter_parse(text, 0, &f, &error), ZW_E_SYNTAX);
	memset(text, 'a', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(aud_filter_parse(text, 0, &f, &error), ZW_E_SYNTAX);
	/* More terms than parameters: an error, not a wrong answer. */
	for (size_t i = 0; i < 500; i++)
		memcpy(text + 2 * i, "a ", 2);
	text[1000] = '\0';
	assert_int_equal(aud_filter_parse(text, 0, &f, &error), 0);
	struct aud_query *q = NULL;
	struct aud_event_page page = {0};
	assert_int_equal(aud_query_open(place.path, &q), 0);
	assert_int_equal(aud_find(q, f, 0, AUD_FORWARD, 0, 10, &page), ZW_E_TOOBIG);
	aud_query_free(q);
	aud_filter_free(f);
}

static bool stop_now(void *arg)
{
	++*(int *)arg;
	return true;
}

static void test_progress__stops_a_statement(void **state)
{
	struct aud_filter_error error;
	struct aud_filter *f = NULL;
	struct aud_query *q = NULL;
	struct ear e;
	int64_t n = 0;
	int asked = 0;

	(void)state;
	struct aud_writer *w = writer_start(&place, &e);
	for (uint64_t i = 100; i < 5000; i++)
		put(w, ZW_ID_sock_event, a_sock(i, ZW_DID_AUTO));
	assert_int_equal(writer_stop(w), 0);
	assert_int_equal(aud_filter_parse("nowhere", 0, &f, &error), 0);
	assert_int_equal(aud_query_open(place.path, &q), 0);
	aud_query_on_progress(q, stop_now, &asked);
	assert_int_equal(aud_count(q, f, 0, 0, &n), -ECANCELED);
	assert_int_equal(asked, 1);
	aud_query_on_progress(q, NULL, NULL);
	assert_int_equal(aud_count(q, f, 0, 0, &n), 0);
	aud_query_free(q);
	aud_filter_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_filters__find_what_they_say),
		cmocka_unit_test(test_errors__say_where),
		cmocka_unit_test(test_bounds__long_and_deep),
		cmocka_unit_test(test_progress__stops_a_statement),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
