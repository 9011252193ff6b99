/* SPDX-License-Identifier: MIT */
#include "tests/support/test.h"

#include <errno.h>

#include "src/base/mem.h"
#include "src/base/words.h"
#include "src/super/super_i.h"

static const struct sup_config config = {
	.hold_site_ms = 60000, .can_ask = true, .project = "/home/u/src/shop"};

static int setup(void **state)
{
	struct sup *s = zw_xnew(struct sup);

	s->config = &config;
	s->loop = zev_loop_new();
	TAILQ_INIT(&s->asks);
	TAILQ_INIT(&s->answers);
	TAILQ_INIT(&s->allows);
	cfg_saved_init(&s->saved);
	cfg_saved_init(&s->kept);
	zw_map_init(&s->known);
	LIST_INIT(&s->clients);
	s->saved_fd = s->control_fd = s->control_dir_fd = -1;
	mdl_session_init(&s->model, "/home/u");
	s->proxy = (struct sup_helper){.role = ROLE_PROXY, .n_starts = 1};
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct sup *s = *state;

	sup_asks_fini(s);
	sup_rules_fini(s);
	sup_allows_fini(s);
	sup_saved_fini(s);
	sup_known_fini(s);
	pol_free(s->inside); /* made by the first question for a site */
	mdl_session_fini(&s->model);
	zev_loop_free(s->loop);
	free(s);
	return 0;
}

static size_t n_asks(const struct sup *s)
{
	const struct sup_ask *q;
	size_t n = 0;

	TAILQ_FOREACH (q, &s->asks, link)
		n++;
	return n;
}

static void ask(struct sup *s, uint64_t number)
{
	char target[32];

	snprintf(target, sizeof(target), "n%u.example:443", (unsigned)number);
	const struct zw_msg_ask m = {
		.ask = number, .kind = POL_KIND_SITE, .target = zw_span(target)};
	sup_on_ask(s, &s->proxy, &m);
}

static void gone(struct sup *s, uint64_t number)
{
	const struct zw_msg_ask_gone m = {.ask = number};

	sup_on_ask_gone(s, &s->proxy, &m);
}

/* A program may ask and give up as often as it likes. */
static void test_asks__a_flood_that_gives_up_is_bounded(void **state)
{
	struct sup *s = *state;

	for (uint64_t i = 1; i <= 4 * MDL_ASKS_MAX; i++) {
		ask(s, i);
		gone(s, i);
	}
	assert_in_range(n_asks(s), 1, MDL_ASKS_MAX);
	assert_int_equal(s->model.n_asks, MDL_ASKS_MAX);
	/* What is still shown can still be answered, for the rest of the session. */
	const struct sup_reply reply = {.verdict = POL_ALLOW,
					.scope = ZW_SCOPE_ONCE,
					.note = "",
					.key = "y",
					.shown = "",
					.shown_ms = 1000};
	assert_null(sup_answer(s, 4 * MDL_ASKS_MAX, &reply));
	assert_string_equal(TAILQ_FIRST(&s->answers)->rule.pattern, "n2000.example:443");
}

static void test_asks__one_that_waits_is_never_let_go(void **state)
{
	struct sup *s = *state;

	ask(s, 1);
	for (uint64_t i = 2; i <= 2 * MDL_ASKS_MAX; i++) {
		ask(s, i);
		gone(s, i);
	}
	assert_int_equal(TAILQ_FIRST(&s->asks)->theirs, 1);
	assert_int_equal(mdl_ask_first(&s->model)->id, 1);
}

/* Sessions before this one have met one site. */
static int known(void *arg, uint64_t before,
		 void (*fn)(void *to, struct zw_span kind, struct zw_span target), void *to)
{
	assert_int_equal(before, 42);
	fn(to, zw_span("net"), zw_span("n1.example:443"));
	fn(to, zw_span("net"), zw_span("n1.example:443"));
	fn(to, zw_span("net"), zw_span("2001:db8::1:443"));
	fn(to, zw_span("unix"), zw_span("/run/known.sock"));
	return *(int *)arg;
}

static bool is_marked(struct sup *s, const char *target, enum pol_kind kind)
{
	const struct zw_msg_ask m = {.ask = 1000 + s->model.n_asks,
				     .kind = (uint8_t)kind,
				     .target = zw_span(target),
				     .class_name = zw_span("unknown")};

	sup_on_ask(s, kind == POL_KIND_SITE ? &s->proxy : &s->broker, &m);
	const struct mdl_ask *a = TAILQ_LAST(&s->model.asks, mdl_ask_list);
	bool is_said = zw_starts_with(a->before, "NEW in this project");
	assert_int_equal(a->is_new, is_said);
	return a->is_new;
}

static void test_asks__what_no_session_has_met_is_new(void **state)
{
	struct sup *s = *state;
	int result = 0;
	struct sup_config c = config;

	c.known = known;
	c.known_arg = &result;
	s->config = &c;
	/* Nothing is new as long as the record is not there. */
	ask(s, 1);
	ask(s, 2);
	assert_false(TAILQ_LAST(&s->model.asks, mdl_ask_list)->is_new);
	s->model.number = 42;
	sup_known_read(s);
	assert_false(mdl_ask_find(&s->model, 1)->is_new);
	assert_true(mdl_ask_find(&s->model, 2)->is_new);
	assert_false(is_marked(s, "n1.example:443", POL_KIND_SITE));
	assert_true(is_marked(s, "n1.example:8443", POL_KIND_SITE));
	assert_false(is_marked(s, "[2001:db8::1]:443", POL_KIND_SITE));
	assert_true(is_marked(s, "[2001:db8::2]:443", POL_KIND_SITE));
	/* What is a question already does not become old by that. */
	assert_true(is_marked(s, "n1.example:8443", POL_KIND_SITE));
}

static void test_asks__an_unreadable_record_marks_nothing(void **state)
{
	struct sup *s = *state;
	int result = -EIO;
	struct sup_config c = config;

	c.known = known;
	c.known_arg = &result;
	s->config = &c;
	s->model.number = 42;
	sup_known_read(s);
	assert_false(is_marked(s, "n9.example:443", POL_KIND_SITE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_asks__a_flood_that_gives_up_is_bounded, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_asks__one_that_waits_is_never_let_go, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_asks__what_no_session_has_met_is_new, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_asks__an_unreadable_record_marks_nothing,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
