/* SPDX-License-Identifier: MIT
 * P1, P2, P6, P8: 10,000 random interleavings of keys, pastes, clicks, sizes, new cards, timeouts and frames: an
 * allow only ever follows the full deliberate sequence. What that is stands here a second time, as a
 * look back over what was done, without a line of the program's own state machine. */
#include "tests/support/test.h"

#include <string.h>

#include "src/base/mem.h"
#include "src/base/words.h"
#include "tests/support/ui_fake.h"

#define RUNS	 10000
#define STEPS	 10
#define LOG_MAX	 4096
#define ARM_MS	 500
#define QUIET_MS 300
#define DOCKER	 "docker"
#define SSH	 "ssh"

enum what { KEY, OTHER_INPUT, CLICK, PICTURE, FRAME };

/** What happened: a key; a paste; a click; something that changes the picture; a frame on screen. */
struct event {
	enum what what;
	int64_t at_ms;
	uint32_t code; /* KEY */
};

static struct ui_fake f;
static struct event past[LOG_MAX];
static size_t n_past;
static uint32_t seed, first_seed;
static uint64_t last_id;
static int n_allowed[POL_RISK_MAX], n_always, n_tagged;

static uint32_t dice(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
}

static void note(enum what what, uint32_t code)
{
	assert_true(n_past < LOG_MAX);
	past[n_past++] = (struct event){what, f.now_ms, code};
}

/* -- the look back ------------------------------------------------------------------------------ */

/* Index of the newest key before @at, or -1. */
static long key_before(long at)
{
	while (--at >= 0)
		if (past[at].what == KEY)
			return at;
	return -1;
}

/* Whether the key at @at came after silence, on a picture that had stood long enough. */
static bool is_calm(long at)
{
	int64_t t = past[at].at_ms;
	long i = at;

	for (i = at - 1; i >= 0; i--)
		if (past[i].what == KEY || past[i].what == OTHER_INPUT)
			break;
	if (i >= 0 && t - past[i].at_ms < QUIET_MS)
		return false;
	/* the first frame since the picture last changed */
	long shown = -1;
	for (i = at - 1; i >= 0 && past[i].what != PICTURE; i--)
		if (past[i].what == FRAME)
			shown = i;
	return shown >= 0 && t - past[shown].at_ms >= ARM_MS;
}

static bool has_frame_between(long from, long to)
{
	for (long i = from + 1; i < to; i++)
		if (past[i].what == FRAME)
			return true;
	return false;
}

/* The keys behind @from up to the last one are @word and Enter, with the editing taken into account. */
static bool is_typed(long from, long enter, const char *word)
{
	char text[512] = "";
	size_t n = 0;

	for (long i = from + 1; i < enter; i++) {
		uint32_t c = past[i].code;

		if (past[i].what != KEY)
			continue;
		if (c == UI_KEY_BACKSPACE)
			n -= n > 0;
		else if (c > ' ' && c < 0x7f && n + 1 < sizeof(text))
			text[n++] = (char)c;
		else if (c == ' ' && n + 1 < sizeof(text))
			text[n++] = ' ';
	}
	text[n] = '\0';
	return past[enter].code == UI_KEY_ENTER && strcmp(text, word) == 0;
}

/* The newest of the keys y, s, A that was pressed in calm, with the prefix key somewhere before. */
static long chosen(long before, const char *keys)
{
	for (long i = key_before(before); i >= 0; i = key_before(i))
		if (past[i].code < 0x7f && strchr(keys, (int)past[i].code) != NULL && is_calm(i))
			return i;
	return -1;
}

/* Nothing reaches a question by typing alone: the prefix key, or a click into a list, comes first. */
static bool prefix_came(long before)
{
	for (long i = before - 1; i >= 0; i--)
		if (past[i].what == CLICK || (past[i].what == KEY && past[i].code == 0x1d))
			return true;
	return false;
}

/* For whoever reads a failure: what led to it. */
static void print_past(void)
{
	static const char *const words[] = {"key", "paste", "click", "picture", "frame"};

	print_message("seed %u\n", first_seed);
	for (size_t i = n_past > 40 ? n_past - 40 : 0; i < n_past; i++)
		print_message("%lld %s %x\n", (long long)(past[i].at_ms - past[0].at_ms),
			      words[past[i].what], past[i].code);
	print_message("allowed %s, key %s, scope %u\n", f.shown, f.key, f.answer.scope);
}

#define demand(what)                                   \
	do {                                           \
		if (!(what)) {                         \
			print_past();                  \
			fail_msg("not so: %s", #what); \
		}                                      \
	} while (0)

static void check_always(const struct mdl_ask *a, long last)
{
	char want[512];

	n_always++;
	assert_int_equal(past[last].code, UI_KEY_ENTER);
	long at = chosen(last, "A");
	demand(at >= 0);
	demand(has_frame_between(at, last));
	if (a->risk == POL_RISK_LOW) {
		demand(is_calm(last));
		return;
	}
	bool is_endless = f.answer.until == POL_UNTIL_NO_END;
	snprintf(want, sizeof(want), "%s%s", a->risk == POL_RISK_HIGH ? SSH : a->target,
		 a->risk == POL_RISK_CRITICAL && is_endless ? " no end" : "");
	/* a wrong word is taken away: what counts stands behind the last one */
	bool is_it = false;
	for (long from = at; from < last && !is_it; from++)
		is_it = is_typed(from, last, want);
	demand(is_it);
}

static void check_allow(void)
{
	const struct mdl_ask *a = mdl_ask_find(&f.model, f.answer.ask);
	long last = key_before((long)n_past);

	assert_non_null(a);
	demand(last >= 0 && past[n_past - 1].what == KEY);
	demand(prefix_came(last));
	n_allowed[a->risk]++;
	if (strstr(f.shown, "tagged") != NULL) {
		n_tagged++;
		assert_int_equal(a->risk, POL_RISK_LOW);
		assert_int_equal(past[last].code, 'y');
		demand(is_calm(last));
	} else if (f.answer.scope == ZW_SCOPE_ALWAYS) {
		check_always(a, last);
	} else if (a->risk == POL_RISK_LOW) {
		demand(past[last].code == 'y' || past[last].code == 's');
		demand(is_calm(last));
	} else if (a->risk == POL_RISK_HIGH && f.answer.scope == ZW_SCOPE_ONCE) {
		/* Keys before the second step was on screen are nobody's. */
		long y = chosen(last, "y");

		assert_int_equal(past[last].code, UI_KEY_ENTER);
		demand(y >= 0 && has_frame_between(key_before(last), last));
	} else {
		long at = chosen(last, f.answer.scope == ZW_SCOPE_ONCE ? "y" : "s");

		/* as late as possible: y may also be a letter of what was typed */
		while (at >= 0 && !is_typed(at, last, a->risk == POL_RISK_HIGH ? SSH : DOCKER))
			at = chosen(at, f.answer.scope == ZW_SCOPE_ONCE ? "y" : "s");
		demand(at >= 0);
	}
}

/* -- what is done ------------------------------------------------------------------------------- */

static void draw(void)
{
	struct draw_ctx c = draw_all(&f.screen, f.is_ascii, f.has_colour);

	ui_core_draw(&f.core, &c, f.now_ms);
}

static void frame(void)
{
	draw();
	f.now_ms += dice(30);
	ui_core_written(&f.core, f.now_ms);
	note(FRAME, 0);
}

static uint32_t code_of(const char *bytes)
{
	switch (bytes[0]) {
	case '\r':
		return UI_KEY_ENTER;
	case '\t':
		return UI_KEY_TAB;
	case 0x7f:
		return UI_KEY_BACKSPACE;
	case 0x1b:
		return bytes[1] == '\0' ? UI_KEY_ESC : UI_KEY_DOWN;
	default:
		return (uint8_t)bytes[0];
	}
}

/* What a key changes of the picture is not looked up: a question may be another one behind it, so
 * its own arming has to begin anew. y, s and a letter of a word change it as well, or do not; a
 * picture that counts as changed too often only makes the look back stricter. */
static void key(const char *bytes)
{
	int before = f.n_answers;
	struct view *top = f.core.top;

	note(KEY, code_of(bytes));
	ui_core_input(&f.core, bytes, strlen(bytes), f.now_ms);
	if (ui_input_wait_ms(&f.core.input) > 0)
		ui_core_input_timeout(&f.core, f.now_ms);
	if (f.n_answers > before && f.answer.verdict == POL_ALLOW)
		check_allow();
	if (f.core.top != top)
		note(PICTURE, 0);
}

static void type(const char *text)
{
	for (; *text != '\0'; text++) {
		char one[2] = {*text, '\0'};

		key(one);
		f.now_ms += dice(60);
	}
}

static void ask_new(void)
{
	uint64_t id = ++last_id;
	uint32_t d = dice(3);
	struct mdl_ask *a = d == 0   ? ui_model_ask_docker(&f.model, id)
			    : d == 1 ? ui_model_ask_ssh(&f.model, id)
				     : ui_model_ask_site(&f.model, id);

	a->since_ms = a->clock_ms = f.now_ms;
	a->is_identified = true;
	ui_core_changed(&f.core, MDL_CHANGED_ASKS, f.now_ms);
}

/* Some question ends by itself: its program goes, or its time is over. */
static void ask_end(void)
{
	struct mdl_ask *a;

	TAILQ_FOREACH (a, &f.model.asks, link) {
		if ((a->state != MDL_ASK_HELD && a->state != MDL_ASK_OPEN) || dice(2) == 0)
			continue;
		a->state = a->state == MDL_ASK_HELD && dice(2) == 0 ? MDL_ASK_MISSED : MDL_ASK_GONE;
		ui_core_changed(&f.core, MDL_CHANGED_ASKS, f.now_ms);
		return;
	}
}

static void resize(void)
{
	static const int sizes[][2] = {{24, 80}, {30, 100}, {12, 40}, {36, 120}};
	uint32_t i = dice(4);

	draw_grid_fini(&f.screen);
	draw_grid_init(&f.screen, sizes[i][0], sizes[i][1]);
	ui_core_resize(&f.core, sizes[i][0], sizes[i][1], f.now_ms);
	note(PICTURE, 0);
}

static void paste(void)
{
	static const char *const texts[] = {"y",  "docker", "docker\r",	       "ssh",
					    "\r", "A\r",    "/run/docker.sock"};
	zw_autofree char *bytes = zw_xasprintf("\033[200~%s\033[201~", texts[dice(7)]);
	int before = f.n_answers;

	note(OTHER_INPUT, 0);
	ui_core_input(&f.core, bytes, strlen(bytes), f.now_ms);
	assert_int_equal(f.n_answers, before);
}

static void click(void)
{
	int before = f.n_answers;
	zw_autofree char *bytes = zw_xasprintf("\033[<0;%u;%uM", 1 + dice(100), 1 + dice(30));

	note(CLICK, 0);
	ui_core_input(&f.core, bytes, strlen(bytes), f.now_ms);
	assert_false(f.n_answers > before && f.answer.verdict == POL_ALLOW);
}

static void wait_long(void)
{
	frame();
	f.now_ms += 400 + dice(700);
}

/* As somebody who means it would, with every part left out now and then. */
static void deliberate(void)
{
	static const char *const words[] = {DOCKER, SSH, "/run/docker.sock",
					    "/run/docker.sock no end"};
	static const char *const choices[] = {"y", "s", "A"};

	if (dice(5) > 0)
		key("\x1d");
	key(dice(8) == 0 ? "w" : "a");
	if (dice(6) == 0)
		key(" ");
	if (dice(6) > 0)
		wait_long();
	key(choices[dice(3)]);
	if (dice(5) > 0)
		wait_long();
	if (dice(3) > 0)
		type(words[dice(4)]);
	else if (dice(2) == 0)
		paste();
	key("\r");
}

static void step(void)
{
	static const char *const keys[] = {"y",	   "s", "A", "\r", " ",	 "n",	 "N",
					   "t",	   "d", "e", "c",  "\t", "\x1b", "\x7f",
					   "\x1d", "a", "w", "x",  "j",	 "k",	 "\033[B"};

	switch (dice(12)) {
	case 0:
	case 1:
		key(keys[dice(ZW_N_ELEMENTS(keys))]);
		break;
	case 2:
		paste();
		break;
	case 3:
		resize();
		break;
	case 4:
		ask_new();
		break;
	case 5:
		ask_end();
		break;
	case 6:
		click();
		break;
	case 7:
		frame();
		break;
	case 8:
		f.now_ms += dice(900);
		break;
	case 9:
		draw(); /* drawn, and never written */
		break;
	default:
		deliberate();
	}
	f.now_ms += dice(120);
}

static void run(uint32_t number)
{
	seed = first_seed = number * 2654435761u + 1;
	n_past = 0;
	note(PICTURE, 0);
	for (int i = 0; i < STEPS; i++) {
		if (mdl_asks_waiting(&f.model) == 0)
			ask_new();
		step();
	}
	/* the next run begins on the dashboard */
	for (int i = 0; i < 20 && (f.core.top != NULL || f.core.is_prefix); i++) {
		key("\x1b");
		frame();
		f.now_ms += 1000;
	}
	f.core.focus = UI_FOCUS_AGENT;
	if (f.core.top != NULL)
		fail_msg("Esc does not lead back: %s", f.core.top->ops->name);
}

static void test_allow__only_after_the_full_sequence(void **state)
{
	(void)state;
	ui_fake_init(&f, UI_LAYOUT_DASHBOARD, 24, 80);
	for (uint32_t i = 0; i < RUNS; i++) {
		if (i > 0 && i % 100 == 0) {
			ui_fake_fini(&f);
			ui_fake_init(&f, UI_LAYOUT_DASHBOARD, 24, 80);
			last_id = 0;
		}
		run(i);
	}
	ui_fake_fini(&f);
	/* and it is not that nothing was ever allowed */
	print_message("allowed: low %d, HIGH %d, CRITICAL %d; always %d, tagged %d\n",
		      n_allowed[POL_RISK_LOW], n_allowed[POL_RISK_HIGH],
		      n_allowed[POL_RISK_CRITICAL], n_always, n_tagged);
	assert_true(n_allowed[POL_RISK_LOW] > 100 && n_allowed[POL_RISK_HIGH] > 20 &&
		    n_allowed[POL_RISK_CRITICAL] > 20 && n_always > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_allow__only_after_the_full_sequence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
