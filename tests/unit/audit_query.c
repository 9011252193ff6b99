/* SPDX-License-Identifier: MIT
 * Reading and printing, over stores that the writing side has made. JSON is read back by python3. */
#include "tests/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>

#include "src/audit/known.h"
#include "src/audit/print.h"
#include "src/audit/query.h"
#include "src/audit/store.h"
#include "src/base/err.h"
#include "src/policy/policy.h"
#include "tests/support/audit.h"

static int setup(void **state)
{
	struct place *p = zw_xnew(struct place);

	place_make(p);
	setenv("TZ", "UTC", 1);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	place_drop(*state);
	free(*state);
	return 0;
}

static void put(struct aud_writer *w, enum zw_msg_id id, union zw_msg_any m)
{
	aud_writer_put(w, id, &m);
}

/* One session with every kind of event, in this order: socket, connection, question, mode, dns. */
static void make_session(const struct place *p)
{
	struct ear e;
	struct aud_writer *w = writer_start(p, &e);
	union zw_msg_any m = a_sock(1, ZW_DID_DENY);

	m.sock_event.note = zw_span("use localhost:5432");
	m.sock_event.waited_ms = 41000;
	put(w, ZW_ID_sock_event, m);
	put(w, ZW_ID_conn_event, a_conn(2, 0, ZW_DID_ALLOW));
	m = (union zw_msg_any){.question_event = {.question = 118,
						  .t_us = INT64_C(1796042590118233),
						  .kind = 1,
						  .risk = ZW_RISK_CRITICAL,
						  .target = zw_span("/run/docker.sock"),
						  .did = ZW_DID_DENY,
						  .by = ZW_BY_USER,
						  .scope = ZW_SCOPE_ONCE,
						  .waited_ms = 41000,
						  .shown_ms = 3000,
						  .key = zw_span("n"),
						  .text = zw_span("docker wants\nroot"),
						  .pid = 4711,
						  .exe = zw_span("/usr/bin/docker")}};
	put(w, ZW_ID_question_event, m);
	m = (union zw_msg_any){.misc_event = {.t_us = INT64_C(1796042590118233),
					      .kind = zw_span("mode"),
					      .text = zw_span("guard -> strict")}};
	put(w, ZW_ID_misc_event, m);
	m = a_conn(3, 0, ZW_DID_DENY);
	m.conn_event.via = ZW_VIA_DNS;
	put(w, ZW_ID_conn_event, m);
	m = a_conn(2, 2, ZW_DID_ALLOW);
	m.conn_event.up_b = 1234;
	m.conn_event.down_b = 860160;
	m.conn_event.end = zw_span("closed by client");
	put(w, ZW_ID_conn_event, m);
	assert_int_equal(writer_stop(w), 0);
}

/* What a function prints, as text. */
static char *printed(struct aud_query *q, enum aud_format format, int64_t session,
		     int64_t (*print)(struct aud_query *, int64_t, const struct aud_print *))
{
	char *text = NULL;
	size_t len = 0;
	zw_autoclose int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	struct aud_print p = {.fd = fd, .format = format, .is_utc = true, .home = "/home/u"};

	assert_true(fd >= 0);
	assert_true(print(q, session, &p) >= 0);
	lseek(fd, 0, SEEK_SET);
	assert_int_equal(zw_read_fd(fd, 64u << 20, &text, &len), 0);
	return text;
}

static int64_t print_show(struct aud_query *q, int64_t session, const struct aud_print *p)
{
	return aud_print_show(q, session, p);
}

static int64_t print_history(struct aud_query *q, int64_t limit, const struct aud_print *p)
{
	struct aud_filter *all = NULL;
	struct aud_filter_error error;

	assert_int_equal(aud_filter_parse("", 0, &all, &error), 0);
	int64_t n = aud_print_history(q, all, (size_t)limit, p);
	aud_filter_free(all);
	return n;
}

/* Runs a python3 program over @text on its stdin; it has to exit with 0. */
static void check_python(const char *text, const char *program)
{
	int fds[2], status = 1;

	assert_int_equal(pipe(fds), 0);
	pid_t pid = fork();
	if (pid == 0) {
		dup2(fds[0], 0);
		close(fds[1]);
		execlp("python3", "python3", "-c", program, (char *)NULL);
		_exit(127);
	}
	close(fds[0]);
	assert_int_equal(zw_write_all(fds[1], text, strlen(text)), 0);
	close(fds[1]);
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

static struct aud_query *open_query(const struct place *p)
{
	struct aud_query *q = NULL;

	assert_int_equal(aud_query_open(p->path, &q), 0);
	return q;
}

static void test_missing_store__reads_as_empty_until_it_is_there(void **state)
{
	struct aud_query *q = open_query(*state);
	struct aud_session_page page = {0};
	struct aud_event_page events = {0};
	struct aud_totals totals;
	int64_t id = 0;

	assert_int_equal(aud_query_schema(q), 0);
	assert_int_equal(aud_sessions(q, 0, 10, &page), 0);
	assert_int_equal(page.n_rows, 0);
	assert_int_equal(aud_events(q, 1, AUD_FORWARD, 0, 10, &events), 0);
	assert_int_equal(aud_session_find(q, "last", &id), ZW_E_NOT_FOUND);
	assert_int_equal(aud_totals(q, &totals), 0);
	assert_int_equal(totals.n_sessions, 0);
	make_session(*state);
	assert_int_equal(aud_session_find(q, "last", &id), 0);
	assert_int_equal(id, 1);
	assert_int_equal(aud_query_schema(q), AUD_SCHEMA);
	assert_int_equal(aud_totals(q, &totals), 0);
	assert_int_equal(totals.n_sessions, 1);
	assert_int_equal(totals.n_events, 5);
	aud_query_free(q);
}

static void test_session__row_and_sums(void **state)
{
	struct aud_session_page page = {0};

	make_session(*state);
	struct aud_query *q = open_query(*state);
	assert_int_equal(aud_session_get(q, 1, &page), 0);
	const struct aud_session *s = &page.rows[0];
	assert_string_equal(s->agent.p, "claude");
	assert_string_equal(s->project.p, "/home/u/src/shop");
	assert_int_equal(s->argv.len, 12);
	assert_string_equal(s->mode.p, "guard");
	assert_string_equal(s->how.p, "exited");
	assert_int_equal(s->exit_status, 0);
	assert_int_equal(s->n_allow, 1);
	assert_int_equal(s->n_deny, 2);
	assert_int_equal(s->n_ask, 1);
	assert_int_equal(s->n_new, 2);
	assert_int_equal(s->up_b, 1234);
	assert_int_equal(s->down_b, 860160);
	assert_int_equal(aud_session_get(q, 2, &page), ZW_E_NOT_FOUND);
	aud_session_page_clear(&page);
	aud_query_free(q);
}

static void test_find__words_that_users_type(void **state)
{
	int64_t id = 0;

	make_session(*state);
	make_session(*state);
	struct aud_query *q = open_query(*state);
	assert_int_equal(aud_session_find(q, NULL, &id), 0);
	assert_int_equal(id, 2);
	assert_int_equal(aud_session_find(q, "1", &id), 0);
	assert_int_equal(id, 1);
	assert_int_equal(aud_session_find(q, "3", &id), ZW_E_NOT_FOUND);
	assert_int_equal(aud_session_find(q, "99999999999999999999", &id), ZW_E_SYNTAX);
	assert_int_equal(aud_session_find(q, "-1", &id), ZW_E_SYNTAX);
	assert_int_equal(aud_session_find(q, "1; DROP TABLE sessions", &id), ZW_E_SYNTAX);
	aud_query_free(q);
}

static void test_events__merged_in_order(void **state)
{
	static const char *const kinds[] = {"unix", "net", "question", "mode", "dns"};
	struct aud_event_page page = {0};

	make_session(*state);
	struct aud_query *q = open_query(*state);
	assert_int_equal(aud_events(q, 1, AUD_FORWARD, 0, 100, &page), 0);
	assert_int_equal(page.n_rows, 5);
	assert_false(page.has_more);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(page.rows[i].no, i + 1);
		assert_string_equal(page.rows[i].kind.p, kinds[i]);
	}
	assert_int_equal(page.rows[0].rule, AUD_UNKNOWN);
	assert_int_equal(page.rows[0].port, AUD_UNKNOWN);
	assert_string_equal(page.rows[0].exe.p, "/usr/bin/docker");
	assert_int_equal(page.rows[1].rule, 7);
	assert_int_equal(page.rows[1].port, 443);
	assert_string_equal(page.rows[2].scope.p, "once");
	assert_null(page.rows[3].did.p);
	assert_int_equal(aud_events(q, 1, AUD_BACKWARD, 0, 2, &page), 0);
	assert_int_equal(page.n_rows, 2);
	assert_true(page.has_more);
	assert_int_equal(page.rows[0].no, 5);
	assert_int_equal(page.rows[1].no, 4);
	assert_int_equal(aud_events(q, 1, AUD_BACKWARD, 4, 100, &page), 0);
	assert_int_equal(page.n_rows, 3);
	assert_int_equal(page.rows[0].no, 3);
	assert_int_equal(aud_events(q, 2, AUD_FORWARD, 0, 100, &page), 0);
	assert_int_equal(page.n_rows, 0);
	aud_event_page_clear(&page);
	aud_query_free(q);
}

static void test_event__by_number(void **state)
{
	struct aud_event_page page = {0};

	make_session(*state);
	struct aud_query *q = open_query(*state);
	assert_int_equal(aud_event_get(q, 1, 4, &page), 0);
	assert_string_equal(page.rows[0].text.p, "guard -> strict");
	assert_int_equal(aud_event_get(q, 1, 6, &page), ZW_E_NOT_FOUND);
	assert_int_equal(aud_event_get(q, 1, 0, &page), ZW_E_NOT_FOUND);
	assert_int_equal(aud_event_get(q, -5, 1, &page), ZW_E_NOT_FOUND);
	aud_event_page_clear(&page);
	aud_query_free(q);
}

static void test_pages__every_row_once(void **state)
{
	struct aud_event_page page = {0};
	struct ear e;
	struct aud_writer *w = writer_start(*state, &e);
	int64_t from = 0;
	size_t n = 0;

	for (uint64_t i = 1; i <= 1000; i++)
		put(w, i % 3 == 0 ? ZW_ID_sock_event : ZW_ID_conn_event,
		    i % 3 == 0 ? a_sock(i, ZW_DID_DENY) : a_conn(i, 0, ZW_DID_ALLOW));
	writer_stop(w);
	struct aud_query *q = open_query(*state);
	do {
		assert_int_equal(aud_events(q, 1, AUD_FORWARD, from, 7, &page), 0);
		for (size_t i = 0; i < page.n_rows; i++, n++) {
			assert_int_equal(page.rows[i].no, from + 1);
			from = page.rows[i].no;
		}
	} while (page.has_more);
	assert_int_equal(n, 1000);
	aud_event_page_clear(&page);
	aud_query_free(q);
}

static void test_writer_at_work__reader_sees_commits(void **state)
{
	struct ear e;
	struct aud_event_page page = {0};
	struct aud_writer *w = writer_start(*state, &e);
	struct aud_query *q = open_query(*state);
	int64_t version = aud_query_version(q);

	assert_int_equal(aud_query_version(q), version);
	put(w, ZW_ID_sock_event, a_sock(1, ZW_DID_DENY));
	run_for(w, 80);
	assert_true(aud_query_version(q) != version);
	assert_int_equal(aud_events(q, 1, AUD_FORWARD, 0, 10, &page), 0);
	assert_int_equal(page.n_rows, 1);
	assert_int_equal(e.n_problems, 0);
	aud_event_page_clear(&page);
	aud_query_free(q);
	writer_stop(w);
}

static void test_read_only_folder__read_as_it_stands(void **state)
{
	struct place *p = *state;
	struct aud_session_page page = {0};
	int status = 0;

	make_session(p);
	chmod(p->root, 0755);
	zw_autofree char *state_folder = zw_xasprintf("%s/state", p->root);
	chmod(state_folder, 0755);
	chmod(p->folder, 0555);
	chmod(p->path, 0444);
	pid_t pid = fork();
	if (pid == 0) { /* as somebody who may not write there */
		struct aud_query *q = NULL;

		if (geteuid() == 0 && setuid(65534) < 0)
			_exit(2);
		if (aud_query_open(p->path, &q) != 0 || aud_sessions(q, 0, 1, &page) != 0)
			_exit(3);
		bool is_good = page.n_rows == 1;
		aud_session_page_clear(&page);
		aud_query_free(q);
		_exit(is_good ? 0 : 4);
	}
	waitpid(pid, &status, 0);
	chmod(p->folder, 0700);
	assert_int_equal(status, 0);
}

static void test_not_a_store__is_an_error(void **state)
{
	struct place *p = *state;
	struct aud_query *q = NULL;
	zw_autofree char *junk = zw_xcalloc(1, 8192);

	assert_int_equal(zw_mkdirs(p->folder, 0700), 0);
	memset(junk, 'x', 8192);
	int fd = open(p->path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_int_equal(zw_write_all(fd, junk, 8192), 0);
	close(fd);
	assert_int_equal(aud_query_open(p->path, &q), -EUCLEAN);
	assert_int_equal(aud_query_open("/dev/null/x", &q), 0);
	aud_query_free(q);
}

/* -- printing -------------------------------------------------------------------------------------- */

static void test_json__members_as_documented(void **state)
{
	make_session(*state);
	struct aud_query *q = open_query(*state);
	zw_autofree char *text = printed(q, AUD_FORMAT_JSON, 1, aud_print_log);

	check_python(
		text,
		"import json,sys\n"
		"e=json.load(sys.stdin)\n"
		"assert [x['kind'] for x in e]==['unix','net','question','mode','dns']\n"
		"assert "
		"e[0]=={'schema':1,'id':1,'session':1,'time':'2026-11-30T12:43:10.119233Z','new':"
		"True,"
		"'kind':'unix','op':'connect','did':'deny','target':'/run/docker.sock',"
		"'asked':'/var/run/docker.sock','class':'docker','risk':'CRITICAL',"
		"'listener':{'uid':0,'pid':1187,'exe':'/usr/bin/dockerd'},"
		"'process':{'pid':4711,'exe':'/usr/bin/docker','argv':['docker','compose','up'],"
		"'cwd':'/home/u/src/shop'},'chain':[4502,4688,4711],'by':'user','rule':None,"
		"'reason':'refused by the user','note':'use localhost:5432','waited_ms':41000,"
		"'count':1},e[0]\n"
		"n=e[1]\n"
		"assert (n['host'],n['port'],n['via'],n['up'],n['down'],n['rule'],n['end'])=="
		"('registry.pkgs.test',443,'connect',1234,860160,7,'closed by client')\n"
		"assert n['closed']>n['opened'] and 'address' not in n\n"
		"assert e[2]['text']=='docker wants\\nroot' and e[2]['scope']=='once'\n"
		"assert e[3]=={'schema':1,'id':4,'session':1,'time':'2026-11-30T12:43:10.118233Z',"
		"'kind':'mode','text':'guard -> strict'}\n");
	aud_query_free(q);
}

static void test_ndjson__one_object_a_line(void **state)
{
	make_session(*state);
	struct aud_query *q = open_query(*state);
	zw_autofree char *text = printed(q, AUD_FORMAT_NDJSON, 1, aud_print_log);

	check_python(text, "import json,sys\n"
			   "e=[json.loads(l) for l in sys.stdin]\n"
			   "assert [x['id'] for x in e]==[1,2,3,4,5]\n");
	aud_query_free(q);
}

static void test_json__empty_is_an_empty_array(void **state)
{
	struct aud_query *q = open_query(*state);
	zw_autofree char *text = printed(q, AUD_FORMAT_JSON, 0, print_history);

	assert_string_equal(text, "[]\n");
	aud_query_free(q);
}

static void test_z117_hostile_text__valid_json_and_no_escape_on_a_terminal(void **state)
{
	static const char nasty[] = "/tmp/\x1b[2J\xff\xfe\"\\\n\t\xe2\x80\xae\xc2\x85%s'); DROP "
				    "TABLE x;\xf3\xa0\x81\x81";
	struct ear e;
	struct aud_writer *w = writer_start(*state, &e);
	union zw_msg_any m = a_sock(1, ZW_DID_DENY);

	m.sock_event.target = m.sock_event.exe = m.sock_event.cwd = zw_span(nasty);
	m.sock_event.argv = zw_span_n("a\0\xff\0\0z", 6);
	put(w, ZW_ID_sock_event, m);
	writer_stop(w);
	struct aud_query *q = open_query(*state);
	zw_autofree char *json = printed(q, AUD_FORMAT_JSON, 1, aud_print_log);
	check_python(json,
		     "import json,sys\n"
		     "e=json.loads(sys.stdin.buffer.read().decode('utf-8'))[0]\n"
		     "assert "
		     "e['target']=='/tmp/\\x1b[2J\\ufffd\\ufffd\"\\\\\\n\\t\\u202e\\x85%s\\'); DROP"
		     " TABLE x;\\U000e0041',ascii(e)\n"
		     "assert e['process']['argv']==['a','\\ufffd','','z']\n");
	zw_autofree char *table = printed(q, AUD_FORMAT_TABLE, 1, aud_print_log);
	for (const char *p = table; *p != '\0'; p++)
		assert_true(*p == '\n' || (unsigned char)*p >= 0x20);
	assert_null(strstr(table, "\xe2\x80\xae"));
	assert_null(strchr(json, '\x1b'));
	assert_null(strstr(json, "\xe2\x80\xae"));
	/* A new line in a name makes no new record. */
	assert_int_equal(strchr(strchr(table, '\n') + 1, '\n')[1], '\0');
	aud_query_free(q);
}

static void test_log__table(void **state)
{
	make_session(*state);
	struct aud_query *q = open_query(*state);
	zw_autofree char *text = printed(q, AUD_FORMAT_TABLE, 1, aud_print_log);

	assert_string_equal(
		text, "   ID  TIME      DID    KIND      WHAT                                WHO   "
		      "            BY                 UP    DOWN  NOTE\n"
		      "    1  12:43:10  DENY   unix *    /run/docker.sock                    "
		      "docker(4711)      you                 -       -  after 41s, note sent\n"
		      "    2  12:43:10  allow  net *     registry.pkgs.test:443              "
		      "node(4760)        rule 7           1.2K    860K  closed by client\n"
		      "    3  12:43:10  DENY   question  /run/docker.sock                    "
		      "docker(4711)      you, once           -       -  after 41s\n"
		      "    4  12:43:10  -      mode      guard -> strict                     -     "
		      "            -                   -       -  -\n"
		      "    5  12:43:10  DENY   dns       registry.pkgs.test:443              "
		      "node(4760)        rule 7              -       -  -\n");
	aud_query_free(q);
}

static void test_history__table_newest_first(void **state)
{
	make_session(*state);
	make_session(*state);
	struct aud_query *q = open_query(*state);
	zw_autofree char *text = printed(q, AUD_FORMAT_TABLE, 0, print_history);
	zw_autofree char *one = printed(q, AUD_FORMAT_TABLE, 1, print_history);

	assert_non_null(strstr(text, "    #  STARTED           AGENT     PROJECT "));
	assert_non_null(strstr(text, "\n    2  2026-11-30 12:43  claude    ~/src/shop "));
	assert_true(strstr(text, "\n    2  ") < strstr(text, "\n    1  "));
	assert_non_null(strstr(text, "       1       2      1      -    1.2K    860K  ok\n"));
	assert_null(strstr(one, "\n    1  "));
	aud_query_free(q);
}

static void test_show__head_sums_and_what_matters(void **state)
{
	make_session(*state);
	struct aud_query *q = open_query(*state);
	zw_autofree char *text = printed(q, AUD_FORMAT_TABLE, 1, print_show);
	zw_autofree char *json = printed(q, AUD_FORMAT_JSON, 1, print_show);

	assert_non_null(strstr(text, "Session 1  ~/src/shop  claude\n"));
	assert_non_null(strstr(text, "  command  claude --foo\n"));
	assert_non_null(strstr(text, "allowed 1, refused 2, asked 1 (0 missed)"));
	assert_non_null(strstr(text, "/run/docker.sock"));
	assert_non_null(strstr(text, "1 more, all routine:  zwatch log 1\n"));
	check_python(json,
		     "import json,sys\n"
		     "s=json.load(sys.stdin)\n"
		     "assert "
		     "(s['session'],s['end'],s['deny'],s['argv'])==(1,'ok',2,['claude','--foo'])\n"
		     "assert s['new']==2 and s['private'] is False\n");
	struct aud_print p = {.fd = -1};
	assert_int_equal(aud_print_show(q, 9, &p), ZW_E_NOT_FOUND);
	aud_query_free(q);
}

static void test_closed_pipe__is_an_error_not_a_loop(void **state)
{
	int fds[2];

	make_session(*state);
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(fds), 0);
	close(fds[0]);
	struct aud_query *q = open_query(*state);
	struct aud_print p = {.fd = fds[1], .format = AUD_FORMAT_NDJSON};
	assert_int_equal(aud_print_log(q, 1, &p), -EPIPE);
	close(fds[1]);
	aud_query_free(q);
}

static void test_number__as_in_lists(void **state)
{
	static const struct {
		int64_t n;
		const char *text;
	} rows[] = {
		{0, "-"},
		{-1, "-"},
		{1, "1"},
		{999, "999"},
		{1000, "1.0K"},
		{1234, "1.2K"},
		{99949, "99.9K"},
		{99950, "100K"},
		{860160, "860K"},
		{999499, "999K"},
		{999500, "1.0M"},
		{4100000, "4.1M"},
		{38000000, "38.0M"},
		{INT64_MAX, "9.2E"},
	};
	char text[16];

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(rows); i++) {
		aud_number(rows[i].n, text, sizeof(text));
		assert_string_equal(text, rows[i].text);
	}
}

/* The store may not include the policy; both have the same words for the same numbers. */
static void test_words__as_the_policy_has_them(void **state)
{
	(void)state;
	for (unsigned i = 0; i < POL_RISK_MAX; i++)
		assert_string_equal(zw_risk_word(i), pol_risk_word((enum pol_risk)i));
	for (unsigned i = 0; i < POL_MODE_MAX; i++)
		assert_string_equal(zw_mode_word(i), pol_mode_word((enum pol_mode)i));
	assert_string_equal(zw_risk_word(POL_RISK_MAX), "?");
	assert_string_equal(zw_mode_word(POL_MODE_MAX), "?");
}

static void on_known(void *arg, struct zw_span kind, struct zw_span target)
{
	zw_buf_addf(arg, "%.*s %.*s\n", (int)kind.len, kind.p, (int)target.len, target.p);
}

/* Of other sessions of the project alone; what was only looked up is not there. */
static void test_known__what_sessions_before_have_met(void **state)
{
	static const struct {
		const char *project;
		int64_t before;
		size_t n_lines;
	} cases[] = {{"/home/u/src/shop", 1, 0}, {"/home/u/src/shop", 2, 2}, {"/home/u", 2, 0}};
	struct place *p = *state;

	make_session(p);
	struct aud_query *q = open_query(p);
	for (size_t i = 0; i < ZW_N_ELEMENTS(cases); i++) {
		struct zw_buf b;
		size_t n_lines = 0;

		zw_buf_init(&b, 4096);
		assert_int_equal(aud_known(q, cases[i].project, cases[i].before, on_known, &b), 0);
		zw_autofree char *text = zw_xmemdup0(b.len > 0 ? zw_buf_head(&b) : NULL, b.len);
		for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
			n_lines++;
		assert_int_equal(n_lines, cases[i].n_lines);
		if (n_lines > 0)
			assert_non_null(strstr(text, "unix /run/docker.sock\n"));
		zw_buf_fini(&b);
	}
	aud_query_free(q);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_missing_store__reads_as_empty_until_it_is_there),
		T(test_session__row_and_sums),
		T(test_find__words_that_users_type),
		T(test_events__merged_in_order),
		T(test_event__by_number),
		T(test_pages__every_row_once),
		T(test_writer_at_work__reader_sees_commits),
		T(test_read_only_folder__read_as_it_stands),
		T(test_not_a_store__is_an_error),
		T(test_json__members_as_documented),
		T(test_ndjson__one_object_a_line),
		T(test_json__empty_is_an_empty_array),
		T(test_z117_hostile_text__valid_json_and_no_escape_on_a_terminal),
		T(test_log__table),
		T(test_history__table_newest_first),
		T(test_show__head_sums_and_what_matters),
		T(test_closed_pipe__is_an_error_not_a_loop),
		T(test_number__as_in_lists),
		T(test_known__what_sessions_before_have_met),
		cmocka_unit_test(test_words__as_the_policy_has_them),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
