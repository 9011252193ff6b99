/* SPDX-License-Identifier: MIT
 * Every screen at every size. The pictures are in tests/term/ui; GENERATE=1 writes them anew. */
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/words.h"
#include "tests/support/ui_fake.h"

#define PREFIX "\x1d"

static struct ui_fake f;

enum asks { NONE, SITE, HIGH, CRITICAL, ALL };

static void add_asks(enum asks asks)
{
	if (asks == CRITICAL || asks == ALL)
		ui_model_ask_docker(&f.model, 1);
	if (asks == HIGH || asks == ALL)
		ui_model_ask_ssh(&f.model, 2);
	if (asks == SITE || asks == ALL)
		ui_model_ask_site(&f.model, 3);
	ui_core_changed(&f.core, MDL_CHANGED_ASKS, f.now_ms);
	ui_fake_draw(&f);
}

struct picture {
	const char *name;
	enum asks asks;
	const char *keys; /* each with a second of waiting behind it */
};

static const struct picture pictures[] = {
	{"dashboard", NONE, ""},
	{"collapsed", CRITICAL, PREFIX "z"},
	{"knock-critical", ALL, ""},
	{"knock-high", HIGH, ""},
	{"knock-site", SITE, ""},
	{"question-critical", ALL, PREFIX "a"},
	{"question-word", CRITICAL, PREFIX "a|y|dock"},
	{"question-wrong-word", CRITICAL, PREFIX "a|y|podman\r"},
	{"question-high", HIGH, PREFIX "a"},
	{"question-confirm", HIGH, PREFIX "a|y"},
	{"question-site", SITE, PREFIX "a"},
	{"question-note", SITE, PREFIX "a|t|use the mirror"},
	{"question-details", CRITICAL, PREFIX "a|d"},
	{"question-always", CRITICAL, PREFIX "a|A"},
	{"question-always-site", SITE, PREFIX "a|A"},
	{"question-explain", CRITICAL, PREFIX "a|e"},
	{"waiting", ALL, PREFIX "w|j"},
	{"connections", NONE, PREFIX "2|jjj"},
	{"sockets", ALL, PREFIX "3"},
	{"connection", NONE, PREFIX "2|jj|\r"},
	{"connection-deny", NONE, PREFIX "2|j|n"},
	{"connection-copy", NONE, PREFIX "2|c"},
	{"connection-filter", NONE, PREFIX "2|/|proc:node down>1m"},
	{"connection-filter-wrong", NONE, PREFIX "2|/|hosts:x"},
	{"connection-filter-kept", NONE, PREFIX "2|s|s|/|-host:api*|\r"},
	{"socket", NONE, PREFIX "3|\r"},
	{"processes", NONE, PREFIX "p|jj"},
	{"help", NONE, PREFIX "?"},
	{"help-search", NONE, PREFIX "?|/|deny"},
	{"mode", NONE, PREFIX "m"},
	{"stop", NONE, PREFIX "x|st"},
	{"prefix", NONE, PREFIX},
};

static void press_all(const char *keys)
{
	while (*keys != '\0') {
		size_t n = strcspn(keys, "|");

		ui_fake_type_n(&f, keys, n);
		ui_fake_wait(&f, 1000);
		keys += n + (keys[n] == '|' ? 1 : 0);
	}
}

static void assert_picture(const char *name)
{
	zw_autofree char *path = zw_xasprintf("tests/term/ui/%s.screen", name);
	zw_autofree char *text = ui_fake_text(&f), *golden = NULL;
	size_t len;

	if (getenv("GENERATE") != NULL) {
		FILE *file = fopen(path, "we");

		assert_non_null(file);
		fputs(text, file);
		fclose(file);
		return;
	}
	if (zw_read_file(path, 1u << 20, &golden, &len) != 0)
		fail_msg("%s is missing: GENERATE=1 writes it", path);
	if (strcmp(golden, text) != 0)
		fail_msg("%s differs. It is now:\n%s", path, text);
}

static void take(const struct picture *p, int rows, int cols, const char *suffix, bool is_ascii)
{
	zw_autofree char *name = zw_xasprintf("%s-%dx%d%s", p->name, cols, rows, suffix);

	ui_fake_init(&f, UI_LAYOUT_DASHBOARD, rows, cols);
	f.is_ascii = is_ascii;
	add_asks(p->asks);
	press_all(p->keys);
	assert_picture(name);
	ui_fake_fini(&f);
}

static void test_pictures__100x30(void **state)
{
	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(pictures); i++)
		take(&pictures[i], 30, 100, "", true);
}

static void test_pictures__80x24(void **state)
{
	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(pictures); i++)
		take(&pictures[i], 24, 80, "", true);
}

static void test_pictures__40x12(void **state)
{
	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(pictures); i++)
		take(&pictures[i], 12, 40, "", true);
}

static void test_pictures__utf8_and_wide(void **state)
{
	(void)state;
	take(&pictures[0], 30, 100, "-utf8", false);
	take(&pictures[5], 30, 100, "-utf8", false);
	take(&pictures[8], 30, 100, "-utf8", false);
	take(&pictures[0], 40, 160, "-utf8", false);
	take(&pictures[2], 40, 160, "-utf8", false);
}

/* -- every size -------------------------------------------------------------------------------- */

static void assert_sane(void)
{
	assert_in_range(f.core.cursor_row, 0, f.screen.rows - 1);
	assert_in_range(f.core.cursor_col, 0, f.screen.cols - 1);
	for (int row = 0; row < f.screen.rows; row++) {
		int sum = 0;

		for (int col = 0; col < f.screen.cols; col++)
			sum += f.screen.cell[row * f.screen.cols + col].width;
		assert_int_equal(sum, f.screen.cols);
	}
}

static void test_sizes__draw_without_overrun(void **state)
{
	static const int rows[] = {1, 2, 3, 5, 7, 11, 16, 23, 24, 29, 30, 55, 100};
	static const int cols[] = {1, 2, 7, 20, 39, 40, 59, 60, 79, 80, 99, 100, 149, 150, 300};

	(void)state;
	for (size_t p = 0; p < ZW_N_ELEMENTS(pictures); p++) {
		ui_fake_init(&f, UI_LAYOUT_DASHBOARD, 30, 100);
		add_asks(pictures[p].asks);
		press_all(pictures[p].keys);
		for (size_t r = 0; r < ZW_N_ELEMENTS(rows); r++) {
			for (size_t c = 0; c < ZW_N_ELEMENTS(cols); c++) {
				ui_fake_resize(&f, rows[r], cols[c]);
				assert_sane();
			}
		}
		ui_fake_fini(&f);
	}
}

static void test_P10_last_line__is_always_zwatchs(void **state)
{
	static const int sizes[][2] = {{5, 20}, {12, 40}, {18, 70}, {24, 80}, {30, 100}, {40, 160}};

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(sizes); i++) {
		ui_fake_init(&f, UI_LAYOUT_COLLAPSED, sizes[i][0], sizes[i][1]);
		memset(f.grid->cell, 'Q', sizeof(f.grid->cell));
		add_asks(CRITICAL);
		zw_autofree char *last = draw_row_text(&f.screen, sizes[i][0] - 1);

		assert_non_null(strstr(last, "WAITING"));
		ui_fake_fini(&f);
	}
}

/* -- the consequence --------------------------------------------------------------------------- */

static const char *const consequences[] = {
	"the agent gets root on this machine. It can start a container that mounts your whole "
	"disk, read or "
	"change any file and leave the sandbox.",
	"the agent leaves the sandbox: it can ask your desktop to start any program as you, read "
	"your "
	"password store if it is open, and use your notifications.",
	"the agent gets root on this machine through a virtual machine or container it starts.",
	"it can read every key you type and type into every window, also outside the sandbox.",
	"it can open windows, see the clipboard while it has focus, and with some compositors take "
	"screenshots.",
	"zwatch does not know this one. Whatever some-daemon-with-a-long-name does for its "
	"clients, it would "
	"do for the agent.",
	"a text that nobody would write, but that is here to be longer than the smallest screens "
	"hold: one "
	"two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
	"sixteen "
	"seventeen eighteen nineteen twenty and the end.",
};

/* Takes the words of @text that stand on the screen, in order. */
static const char *read_on(const char *text)
{
	zw_autofree char *all = ui_fake_text(&f);

	for (;;) {
		size_t n = strcspn(text, " ");
		size_t whole = n < (size_t)f.screen.cols - 6 ? n : (size_t)f.screen.cols - 6;
		zw_autofree char *word = zw_xmemdup0(text, whole); /* longer ones are broken */

		if (n == 0 || strstr(all, word) == NULL)
			return text;
		text += n + strspn(text + n, " ");
	}
}

static void assert_readable(const char *consequence, int rows, int cols, int max_pages)
{
	const char *rest = consequence;

	ui_fake_init(&f, UI_LAYOUT_DASHBOARD, rows, cols);
	struct mdl_ask *a = ui_model_ask_docker(&f.model, 1);
	mdl_set(&a->consequence, zw_span(consequence), 4096);
	ui_fake_type(&f, PREFIX "a");
	ui_fake_wait(&f, 1000);
	for (int page = 1; *(rest = read_on(rest)) != '\0'; page++) {
		/* Before the end was on screen, nothing allows. */
		ui_fake_type(&f, "y");
		if (!ui_fake_shows(&f, "Space") && cols >= 30) {
			zw_autofree char *all = ui_fake_text(&f);

			fail_msg("%dx%d: '%s' not seen:\n%s", cols, rows, rest, all);
		}
		if (page >= max_pages)
			fail_msg("%dx%d: not readable from '%s'", cols, rows, rest);
		ui_fake_wait(&f, 1000);
		ui_fake_type(&f, " ");
		ui_fake_wait(&f, 1000);
	}
	ui_fake_type(&f, "y");
	ui_fake_type(&f, "docker\r");
	assert_int_equal(f.n_answers, 1);
	assert_int_equal(f.answer.verdict, POL_ALLOW);
	ui_fake_fini(&f);
}

static void test_P5_consequence__readable_in_one_look_at_40x12(void **state)
{
	(void)state;
	for (size_t i = 0; i + 1 < ZW_N_ELEMENTS(consequences); i++)
		assert_readable(consequences[i], 12, 40, 1);
}

static void test_consequence__readable_everywhere(void **state)
{
	static const int sizes[][2] = {{5, 20},	 {6, 24},  {8, 30},  {12, 40},
				       {16, 60}, {24, 80}, {30, 100}};

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(consequences); i++)
		for (size_t s = 0; s < ZW_N_ELEMENTS(sizes); s++)
			assert_readable(consequences[i], sizes[s][0], sizes[s][1], 40);
}

/* -- words ------------------------------------------------------------------------------------- */

static void test_P9_words__without_colour(void **state)
{
	(void)state;
	ui_fake_init(&f, UI_LAYOUT_DASHBOARD, 30, 100);
	f.has_colour = false;
	f.model.is_dangerous = true;
	add_asks(ALL);
	assert_true(ui_fake_shows(&f, "CRITICAL"));
	assert_true(ui_fake_shows(&f, "ASK"));
	assert_true(ui_fake_shows(&f, "DANGEROUS SOCKETS OPEN"));
	ui_fake_type(&f, PREFIX "3");
	assert_true(ui_fake_shows(&f, "DENY"));
	assert_true(ui_fake_shows(&f, "auto"));
	for (int i = 0; i < f.screen.rows * f.screen.cols; i++)
		if (f.screen.cell[i].fg != PANE_COLOUR_DEFAULT)
			assert_int_equal(f.screen.cell[i].fg,
					 PANE_COLOUR_RGB | 0xd77757); /* the agent's own */
	ui_fake_fini(&f);
}

static void test_P6_frames__three_looks(void **state)
{
	(void)state;
	for (enum asks asks = SITE; asks <= CRITICAL; asks++) {
		ui_fake_init(&f, UI_LAYOUT_DASHBOARD, 30, 100);
		add_asks(asks);
		press_all(PREFIX "a");
		assert_int_equal(ui_fake_shows(&f, "####"), asks == CRITICAL);
		assert_int_equal(ui_fake_shows(&f, "===="), asks == HIGH);
		assert_int_equal(ui_fake_shows(&f, "then Enter"), asks == HIGH);
		assert_int_equal(ui_fake_shows(&f, "then type: docker"), asks == CRITICAL);
		ui_fake_fini(&f);
	}
}

static void test_warning__stands_on_the_event_row(void **state)
{
	(void)state;
	ui_fake_init(&f, UI_LAYOUT_DASHBOARD, 30, 100);
	mdl_set(&f.model.warning, zw_span("zwatch-proxy ended: no route until it is back"), 200);
	ui_fake_wait(&f, 1);
	assert_true(ui_fake_shows(&f, "zwatch-proxy ended: no route"));
	ui_fake_fini(&f);
}

static void test_big__full_lists_scroll(void **state)
{
	(void)state;
	ui_fake_init(&f, UI_LAYOUT_DASHBOARD, 30, 100);
	for (uint64_t id = 100; id < 100 + MDL_CONNS_MAX; id++) {
		bool is_new;
		struct mdl_conn *c = mdl_conn_get(&f.model, id, &is_new);

		c->did = ZW_DID_DENY;
		c->closed_us = 1;
	}
	ui_fake_type(&f, PREFIX "2G");
	ui_fake_wait(&f, 1);
	assert_int_equal(f.core.lists[UI_FOCUS_CONNS].sel, f.core.lists[UI_FOCUS_CONNS].n - 1);
	uint64_t key = f.core.lists[UI_FOCUS_CONNS].key;
	ui_fake_type(&f, "kkk");
	key = f.core.lists[UI_FOCUS_CONNS].key;
	bool is_new;
	struct mdl_conn *c = mdl_conn_get(&f.model, 99999, &is_new);
	c->did = ZW_DID_DENY;
	ui_fake_wait(&f, 1);
	assert_int_equal(f.core.lists[UI_FOCUS_CONNS].key,
			 key); /* the selection stays on its row */
	ui_fake_type(&f, "g");
	assert_int_equal(f.core.lists[UI_FOCUS_CONNS].sel, 0);
	ui_fake_fini(&f);
}

static int start(void **state)
{
	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pictures__100x30),
		cmocka_unit_test(test_pictures__80x24),
		cmocka_unit_test(test_pictures__40x12),
		cmocka_unit_test(test_pictures__utf8_and_wide),
		cmocka_unit_test(test_sizes__draw_without_overrun),
		cmocka_unit_test(test_P10_last_line__is_always_zwatchs),
		cmocka_unit_test(test_P5_consequence__readable_in_one_look_at_40x12),
		cmocka_unit_test(test_consequence__readable_everywhere),
		cmocka_unit_test(test_P9_words__without_colour),
		cmocka_unit_test(test_P6_frames__three_looks),
		cmocka_unit_test(test_warning__stands_on_the_event_row),
		cmocka_unit_test(test_big__full_lists_scroll),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
