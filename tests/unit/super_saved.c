/* SPDX-License-Identifier: MIT
 * Questions that a saved rule answers, or narrowly does not; answers that last; the way back. The
 * program that asks is this test itself. Z016, Z118. */
#include "tests/support/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/words.h"
#include "src/super/super_i.h"

static char dir[64], rules[96], exe[4096];
static uint64_t exe_id;
static struct sup_config config;
static struct cfg_catalogue *catalogue;

static const struct cfg_catalogue *catalogue_get(void *arg)
{
	(void)arg;
	return catalogue;
}

static struct sup *sup_make(void)
{
	struct sup *s = zw_xnew(struct sup);
	struct cfg_report report = {.n = 0};

	s->config = &config;
	s->loop = zev_loop_new();
	TAILQ_INIT(&s->asks);
	TAILQ_INIT(&s->answers);
	TAILQ_INIT(&s->allows);
	LIST_INIT(&s->clients);
	s->saved_fd = s->control_fd = s->control_dir_fd = -1;
	s->last_rule = 100000;
	cfg_saved_init(&s->kept);
	assert_int_equal(cfg_saved_load(rules, &s->saved, &report), 0);
	mdl_session_init(&s->model, "/home/u");
	s->model.mode = POL_MODE_GUARD;
	s->broker = (struct sup_helper){.role = ROLE_BROKER, .n_starts = 1};
	s->proxy = (struct sup_helper){.role = ROLE_PROXY, .n_starts = 1};
	return s;
}

static void sup_end(struct sup *s)
{
	sup_asks_fini(s);
	sup_rules_fini(s);
	sup_allows_fini(s);
	sup_uses_write(s);
	sup_saved_fini(s);
	mdl_session_fini(&s->model);
	zev_loop_free(s->loop);
	free(s);
}

static int setup(void **state)
{
	struct cfg_places places = {.home = zw_xstrdup("/home/u"),
				    .home_real = zw_xstrdup("/home/u"),
				    .runtime_dir = zw_xstrdup("/run/user/1"),
				    .config_dir = zw_xstrdup("/home/u/.config/zwatch"),
				    .state_dir = zw_xstrdup("/home/u/.local/state/zwatch"),
				    .start_dir = zw_xstrdup("/")};
	struct stat st;

	zw_strlcpy(dir, "/tmp/zw-super.XXXXXX", sizeof(dir));
	assert_non_null(mkdtemp(dir));
	snprintf(rules, sizeof(rules), "%s/" CFG_SAVED_FILE, dir);
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	assert_true(n > 0);
	exe[n] = '\0';
	assert_int_equal(stat("/proc/self/exe", &st), 0);
	exe_id = zw_file_id(&st);
	assert_int_equal(cfg_catalogue_load(&places, NULL, &catalogue), 0);
	cfg_places_fini(&places);
	config = (struct sup_config){.project = "/home/u/src/shop",
				     .hold_site_ms = 60000,
				     .hold_socket_ms = 60000,
				     .can_ask = true,
				     .catalogue = catalogue_get,
				     .rules_path = rules};
	*state = sup_make();
	return 0;
}

static int teardown(void **state)
{
	static const char *const names[] = {"", ".bak", ".new"};

	sup_end(*state);
	cfg_catalogue_free(catalogue);
	for (size_t i = 0; i < ZW_N_ELEMENTS(names); i++) {
		zw_autofree char *file = zw_xasprintf("%s%s", rules, names[i]);

		unlink(file);
	}
	rmdir(dir);
	return 0;
}

/* Another session, later. */
static struct sup *session_next(void **state)
{
	sup_end(*state);
	*state = sup_make();
	return *state;
}

static struct zw_msg_ask message(uint64_t number, const char *socket)
{
	return (struct zw_msg_ask){.ask = number,
				   .kind = POL_KIND_SOCKET,
				   .risk = POL_RISK_LOW,
				   .target = zw_span(socket),
				   .listener_uid = 7,
				   .listener_exe = zw_span("/usr/bin/served"),
				   .is_look = 1,
				   .otherwise = POL_ASK,
				   .exe_id = exe_id,
				   .pid = (uint32_t)getpid(),
				   .exe = zw_span(exe),
				   .cwd = zw_span("/home/u/src/shop")};
}

static void stop(void *arg)
{
	zev_stop(arg);
}

/* Runs until files have been read, as far as they are needed. */
static void settle(struct sup *s, const struct mdl_ask *a)
{
	struct zev_timer *t = zev_timer_new(s->loop, stop, s->loop);

	for (int i = 0; i < 10000 && (a->state == MDL_ASK_LOOK ||
				      (a->state == MDL_ASK_OPEN && !a->is_identified));
	     i++) {
		zev_timer_start(t, 1);
		zev_run(s->loop);
	}
	zev_timer_free(t);
}

static struct mdl_ask *ask(struct sup *s, const struct zw_msg_ask *m)
{
	sup_on_ask(s, &s->broker, m);
	struct mdl_ask *a = mdl_ask_find(&s->model, s->last_ask);

	settle(s, a);
	return a;
}

static const char *always(struct sup *s, struct mdl_ask *a, enum pol_until until)
{
	const struct sup_reply reply = {.verdict = POL_ALLOW,
					.scope = ZW_SCOPE_ALWAYS,
					.note = "",
					.key = "A+Enter",
					.shown = "",
					.until = until};

	sup_ask_open(s, a->id, true);
	settle(s, a);
	return sup_answer(s, a->id, &reply);
}

static void test_Z125_always__answers_in_the_next_session(void **state)
{
	struct sup *s = *state;
	struct zw_msg_ask m = message(1, "/srv/a.sock");
	struct mdl_ask *a = ask(s, &m);

	assert_int_equal(a->state, MDL_ASK_HELD);
	assert_string_equal(a->near, "");
	assert_null(always(s, a, POL_UNTIL_NO_END));
	assert_true(a->is_allowed);
	s = session_next(state);
	a = ask(s, &m);
	assert_int_equal(a->state, MDL_ASK_ANSWERED);
	assert_true(a->is_allowed);
	assert_int_equal(s->model.n_ask, 0);
	/* in another project: asked */
	config.project = "/home/u/src/api";
	s = session_next(state);
	a = ask(s, &m);
	assert_int_equal(a->state, MDL_ASK_HELD);
	assert_non_null(strstr(a->near, "it is for /home/u/src/shop"));
}

static void test_Z016__another_listener_program_or_target_asks(void **state)
{
	struct sup *s = *state;
	struct zw_msg_ask m = message(1, "/srv/a.sock");

	assert_null(always(s, ask(s, &m), POL_UNTIL_WEEK));
	s = session_next(state);
	m.listener_uid = 8;
	struct mdl_ask *a = ask(s, &m);
	assert_int_equal(a->state, MDL_ASK_HELD);
	assert_non_null(strstr(a->near, "somebody else answers"));
	m = message(2, "/srv/a.sock");
	m.exe_id ^= 1; /* the number is another program's by now: it cannot be told */
	a = ask(s, &m);
	assert_int_equal(a->state, MDL_ASK_HELD);
	assert_non_null(strstr(a->near, "not the same file"));
	m = message(3, "/srv/b.sock");
	a = ask(s, &m);
	assert_int_equal(a->state, MDL_ASK_HELD);
	assert_string_equal(a->near, "");
	m = message(4, "/srv/a.sock");
	m.risk = POL_RISK_CRITICAL;
	a = ask(s, &m);
	assert_int_equal(a->state, MDL_ASK_HELD);
	assert_non_null(strstr(a->near, "counted as low"));
}

static void test_look__without_a_fit_the_mode_holds(void **state)
{
	struct sup *s = *state;
	struct zw_msg_ask m = message(1, "/srv/a.sock");

	m.otherwise = POL_DENY;
	struct mdl_ask *a = ask(s, &m);
	assert_int_equal(a->state, MDL_ASK_ANSWERED);
	assert_false(a->is_allowed);
	m.otherwise = POL_ASK;
	config.can_ask = false;
	m.ask = 2;
	a = ask(s, &m);
	assert_int_equal(a->state, MDL_ASK_ANSWERED);
	assert_false(a->is_allowed);
	assert_int_equal(s->model.n_ask, 0);
}

static void test_undo__takes_the_saved_rule_back(void **state)
{
	struct sup *s = *state;
	struct zw_msg_ask m = message(1, "/srv/a.sock");

	assert_null(always(s, ask(s, &m), POL_UNTIL_HOUR));
	assert_int_equal(s->saved.n, 1);
	assert_non_null(strstr(sup_undo(s), "Taken back: a.sock"));
	assert_int_equal(s->saved.n, 0);
	s = session_next(state);
	assert_int_equal(s->saved.n, 0);
	assert_non_null(strstr(sup_undo(s), "Nothing was allowed"));
}

static void test_use__is_counted_in_the_file(void **state)
{
	struct sup *s = *state;
	struct zw_msg_ask m = message(1, "/srv/a.sock");

	assert_null(always(s, ask(s, &m), POL_UNTIL_NO_END));
	sup_saved_used(s, s->saved.list[0].id, 2);
	sup_saved_used(s, s->saved.list[0].id, 3);
	sup_saved_used(s, 999, 3); /* of no saved rule */
	s = session_next(state);
	assert_int_equal(s->saved.list[0].n_used, 5);
	assert_true(s->saved.list[0].used_s >= s->saved.list[0].made_s);
}

static void test_Z118_reload__a_bad_file_changes_nothing(void **state)
{
	struct sup *s = *state;
	struct zw_msg_ask m = message(1, "/srv/a.sock");
	struct zev_timer *t = zev_timer_new(s->loop, stop, s->loop);

	sup_saved_start(s);
	assert_null(always(s, ask(s, &m), POL_UNTIL_NO_END));
	zw_autofree char *good = cfg_saved_format(&s->saved);
	zw_autofree char *fresh = zw_xasprintf("%s.new", rules);
	for (int round = 0; round < 2; round++) {
		const char *text = round == 0 ? "{ broken" : good;
		int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC, 0600);

		assert_true(fd >= 0);
		assert_int_equal(zw_write_all(fd, text, strlen(text)), 0);
		close(fd);
		assert_int_equal(rename(fresh, rules), 0);
		for (int i = 0; i < 2000 && round == 0 && *s->model.warning == '\0'; i++) {
			zev_timer_start(t, 1);
			zev_run(s->loop);
		}
		if (round == 0)
			assert_non_null(strstr(s->model.warning, "rules.json:1"));
		assert_int_equal(s->saved.n, 1);
		m.ask = (uint64_t)(10 + round);
		struct mdl_ask *a = ask(s, &m);
		assert_int_equal(a->state, MDL_ASK_ANSWERED);
		assert_true(a->is_allowed);
	}
	/* and nothing is saved over it while it is wrong */
	zev_timer_free(t);
}

static void test_always__what_cannot_be_saved_allows_nothing(void **state)
{
	struct sup *s = *state;
	struct zw_msg_ask m = message(1, "/srv/a.sock");
	struct mdl_ask *a = ask(s, &m);

	config.rules_path = "/proc/self/no/rules.json";
	assert_non_null(strstr(always(s, a, POL_UNTIL_NO_END), "Nothing was allowed"));
	assert_int_equal(a->state, MDL_ASK_OPEN);
	sup_ask_open(s, a->id, false);
	assert_int_equal(a->state, MDL_ASK_HELD);
}

static void test_session__one_script_of_an_interpreter(void **state)
{
	struct sup *s = *state;
	struct zw_msg_ask m = message(1, "/srv/a.sock");
	const struct sup_reply reply = {.verdict = POL_ALLOW,
					.scope = ZW_SCOPE_SESSION,
					.note = "",
					.key = "s",
					.shown = ""};

	/* its program cannot be told: it is no python3 */
	m.exe = zw_span("/usr/bin/python3");
	m.exe_id = 0;
	m.argv = zw_span_n("python3\0one.py", 14);
	struct mdl_ask *a = ask(s, &m);
	assert_string_equal(a->script, "~/src/shop/one.py");
	assert_null(sup_answer(s, a->id, &reply));
	m.ask = 2;
	a = ask(s, &m);
	assert_int_equal(a->state, MDL_ASK_ANSWERED);
	m.ask = 3;
	m.argv = zw_span_n("python3\0two.py", 14);
	a = ask(s, &m);
	assert_int_equal(a->state, MDL_ASK_HELD);
	assert_non_null(strstr(a->near, "it is for one.py, this is two.py"));
	/* and undone */
	assert_non_null(strstr(sup_undo(s), "Taken back"));
	m.ask = 4;
	m.argv = zw_span_n("python3\0one.py", 14);
	assert_int_equal(ask(s, &m)->state, MDL_ASK_HELD);
}

static void test_strict__refuses_a_program_from_now_on(void **state)
{
	struct sup *s = *state;
	struct zw_msg_ask m = message(1, "/srv/a.sock"), other = message(2, "/srv/b.sock");

	other.exe = zw_span("/usr/bin/other");
	struct mdl_ask *a = ask(s, &m), *b = ask(s, &other);
	sup_strict(s, a->id);
	assert_int_equal(a->state, MDL_ASK_ANSWERED);
	assert_false(a->is_allowed);
	assert_int_equal(b->state, MDL_ASK_HELD);
	m.ask = 3;
	assert_int_equal(ask(s, &m)->state, MDL_ASK_ANSWERED);
	other.ask = 4;
	assert_int_equal(ask(s, &other)->state, MDL_ASK_HELD);
}

static void test_answer__the_first_counts_the_second_is_told(void **state)
{
	struct sup *s = *state;
	struct zw_msg_ask m = message(1, "/srv/a.sock");
	const struct sup_reply yes = {.verdict = POL_ALLOW, .note = "", .key = "y", .shown = ""};
	const struct sup_reply no = {.verdict = POL_DENY, .note = "", .key = "n", .shown = ""};
	struct mdl_ask *a = ask(s, &m);

	assert_null(sup_answer(s, a->id, &no));
	assert_string_equal(sup_answer(s, a->id, &yes), "It was answered meanwhile: denied.");
	assert_false(a->is_allowed);
	assert_string_equal(sup_answer(s, 999, &yes), "There is no such question any more.");
}

static void test_clock__does_not_go_back_in_a_session(void **state)
{
	struct sup_clock c = {0, 0};

	(void)state;
	assert_int_equal(sup_clock_now(&c, 1000, 50), 1000);
	assert_int_equal(sup_clock_now(&c, 1010, 60), 1010);
	assert_int_equal(sup_clock_now(&c, 500, 70), 1020); /* turned back */
	assert_int_equal(sup_clock_now(&c, 510, 80), 1030);
	assert_int_equal(sup_clock_now(&c, 5000, 90), 5000); /* turned forward */
	assert_int_equal(sup_clock_now(&c, 1000, 100), 5010);
}

static void test_why__tells_refusals_newest_first(void **state)
{
	struct sup *s = *state;

	for (unsigned i = 1; i <= SUP_REFUSALS_MAX + 4; i++) {
		struct sup_refusal r = {
			.event = i, .kind = POL_KIND_SITE, .by = ZW_BY_USER, .n = 1};

		snprintf(r.target, sizeof(r.target), "n%u.test:443", i);
		snprintf(r.note, sizeof(r.note), "say \"no\" \\ %u", i);
		sup_refused(s, &r);
		sup_refused(s, &r); /* the same again is counted */
	}
	zw_autofree char *text = sup_why_text(s);
	const char *newest = strstr(text, "\"event\": 20,"),
		   *older = strstr(text, "\"event\": 19,");
	assert_true(newest != NULL && older != NULL && newest < older);
	assert_null(strstr(text, "\"event\": 4,"));
	assert_non_null(strstr(text, "\"count\": 2"));
	assert_non_null(strstr(text, "\"note\": \"say \\\"no\\\" \\\\ 20\""));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_Z125_always__answers_in_the_next_session),
		CASE(test_Z016__another_listener_program_or_target_asks),
		CASE(test_look__without_a_fit_the_mode_holds),
		CASE(test_undo__takes_the_saved_rule_back),
		CASE(test_use__is_counted_in_the_file),
		CASE(test_Z118_reload__a_bad_file_changes_nothing),
		CASE(test_always__what_cannot_be_saved_allows_nothing),
		CASE(test_session__one_script_of_an_interpreter),
		CASE(test_strict__refuses_a_program_from_now_on),
		CASE(test_answer__the_first_counts_the_second_is_told),
		CASE(test_clock__does_not_go_back_in_a_session),
		CASE(test_why__tells_refusals_newest_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
