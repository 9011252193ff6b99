/* SPDX-License-Identifier: MIT */
#include "tests/support/test.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_asks__a_flood_that_gives_up_is_bounded, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_asks__one_that_waits_is_never_let_go, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
