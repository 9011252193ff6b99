/* SPDX-License-Identifier: MIT
 * P1, P2, P6, P8 in plain mode: 10,000 random interleavings of keys, pastes, sizes, new questions,
 * timeouts and a terminal that does not write: an allow only ever follows the full deliberate
 * sequence. What that is stands here a second time, as a look back over what was done. */
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/words.h"
#include "tests/support/ui_fake.h"
#include "ui/plain.h"

#define RUNS	 10000
#define STEPS	 10
#define LOG_MAX	 4096
#define ARM_MS	 500
#define QUIET_MS 300
#define PREFIX	 0x1du

enum what { KEY, WRITTEN, OPENED, PASTED };

/** A key; all that was printed is on screen; zwatch took the line for a question or the list. */
struct event {
	enum what what;
	int64_t at_ms;
	uint32_t code, piece;
};

/** A line that was typed to zwatch, ended by Enter. */
struct line {
	char text[512];
	bool is_calm, is_shown, is_in_one_piece;
};

static struct ui_fake f;
static struct plain p;
static struct event past[LOG_MAX];
static size_t n_past;
static uint32_t seed, first_seed, n_piece;
static uint64_t last_id;
static int n_allowed[POL_RISK_MAX], n_always, n_listed;

static uint32_t dice(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
}

static void note(enum what what, uint32_t code)
{
	assert_true(n_past < LOG_MAX);
	past[n_past++] = (struct event){what, f.now_ms, code, n_piece};
}

/* -- the look back ------------------------------------------------------------------------------ */

static void print_past(void)
{
	static const char *const words[] = {"key", "written", "opened", "pasted"};

	print_message("seed %u\n", first_seed);
	for (size_t i = n_past > 60 ? n_past - 60 : 0; i < n_past; i++)
		print_message("%lld %s %x in piece %u\n",
			      (long long)(past[i].at_ms - past[0].at_ms), words[past[i].what],
			      past[i].code, past[i].piece);
	print_message("allowed, key %s, scope %u\n", f.key, f.answer.scope);
}

#define demand(what)                                   \
	do {                                           \
		if (!(what)) {                         \
			print_past();                  \
			fail_msg("not so: %s", #what); \
		}                                      \
	} while (0)

/* Where the line begins whose Enter is at @enter: behind what made zwatch ask for it. */
static long line_start(long enter)
{
	for (long i = enter - 1; i >= 0; i--)
		if (past[i].what == OPENED || (past[i].what == KEY && past[i].code == UI_KEY_ENTER))
			return i + 1;
	return 0;
}

static int64_t quiet_before(long at)
{
	for (long i = at - 1; i >= 0; i--)
		if (past[i].what == KEY)
			return past[at].at_ms - past[i].at_ms;
	return INT64_MAX;
}

/* Since when the question or the list was on screen. */
static int64_t opened_ms(long at)
{
	int64_t ms = INT64_MAX / 2;

	for (; at >= 0 && past[at].what != OPENED; at--)
		if (past[at].what == WRITTEN)
			ms = past[at].at_ms;
	return ms;
}

static void line_get(long enter, struct line *l)
{
	long start = line_start(enter), first = -1, shown = -1, last = -1;
	size_t n = 0;
	unsigned n_piece_keys = 0;

	*l = (struct line){.text = ""};
	for (long i = start; i < enter; i++) {
		uint32_t c = past[i].code;

		if (past[i].what == WRITTEN && shown < 0)
			shown = i;
		if (past[i].what != KEY)
			continue;
		if (c == PREFIX) { /* and the key behind it */
			while (i + 1 < enter && past[i + 1].what != KEY &&
			       past[i + 1].what != PASTED)
				i++;
			i += past[i + 1].what == KEY;
			continue;
		}
		if (c == UI_KEY_BACKSPACE) {
			n -= n > 0;
			continue;
		}
		if (n + 1 >= sizeof(l->text) || c < ' ' || c > '~')
			continue;
		if (n == 0)
			first = i;
		n_piece_keys =
			last >= 0 && past[last].piece == past[i].piece ? n_piece_keys + 1 : 1;
		l->is_in_one_piece = l->is_in_one_piece || n_piece_keys > 3;
		l->text[n++] = (char)c;
		last = i;
	}
	l->text[n] = '\0';
	l->is_in_one_piece =
		l->is_in_one_piece || (last >= 0 && past[last].piece == past[enter].piece);
	l->is_shown = first >= 0 && shown >= 0 && shown < first;
	l->is_calm = l->is_shown && past[first].at_ms - opened_ms(first) >= ARM_MS &&
		     quiet_before(first) >= QUIET_MS;
}

static long enter_before(long at)
{
	for (long i = at - 1; i >= 0; i--) {
		if (past[i].what == OPENED)
			return -1;
		if (past[i].what == KEY && past[i].code == UI_KEY_ENTER)
			return i;
	}
	return -1;
}

static bool is_number(const struct line *l, int n)
{
	return *l->text != '\0' && strspn(l->text, "0123456789") == strlen(l->text) &&
	       atoi(l->text) == n;
}

static void check_always(const struct mdl_ask *a, const struct line *last, long enter)
{
	char want[512];
	struct line l;

	n_always++;
	snprintf(want, sizeof(want), "%s%s",
		 a->risk == POL_RISK_LOW    ? "save"
		 : a->risk == POL_RISK_HIGH ? "ssh"
					    : a->target,
		 a->risk == POL_RISK_CRITICAL && f.answer.until == POL_UNTIL_NO_END ? " no end"
										    : "");
	demand(strcmp(last->text, want) == 0);
	demand(last->is_shown);
	demand(a->risk != POL_RISK_LOW || last->is_calm);
	while ((enter = enter_before(enter)) >= 0) {
		line_get(enter, &l);
		if (is_number(&l, 6) && l.is_calm && !l.is_in_one_piece)
			return;
	}
	demand(!"6, in calm, before it");
}

static void check_allow(void)
{
	const struct mdl_ask *a = mdl_ask_find(&f.model, f.answer.ask);
	long enter = (long)n_past - 1;
	struct line l, before = {.text = ""};
	bool is_session = f.answer.scope == ZW_SCOPE_SESSION;

	assert_non_null(a);
	demand(enter >= 0 && past[enter].what == KEY && past[enter].code == UI_KEY_ENTER);
	line_get(enter, &l);
	demand(!l.is_in_one_piece);
	long opened = enter, prefix;
	while (opened >= 0 && past[opened].what != OPENED)
		opened--;
	demand(opened >= 2);
	for (prefix = opened; prefix >= 0 && past[prefix].code != PREFIX; prefix--)
		;
	demand(prefix >= 0);
	n_allowed[a->risk]++;
	if (strncmp(l.text, "allow ", 6) == 0) {
		n_listed++;
		assert_int_equal(a->risk, POL_RISK_LOW);
		demand(l.is_calm && f.answer.scope == ZW_SCOPE_ONCE);
	} else if (f.answer.scope == ZW_SCOPE_ALWAYS) {
		check_always(a, &l, enter);
	} else if (a->risk == POL_RISK_LOW) {
		demand(is_number(&l, is_session ? 5 : 4) && l.is_calm);
	} else {
		demand(strcmp(l.text, a->risk == POL_RISK_CRITICAL ? "docker"
				      : is_session		   ? "ssh"
								   : "yes") == 0);
		demand(l.is_shown || a->risk == POL_RISK_CRITICAL || is_session);
		/* What came before the second step was on screen, or as a paste does, is nobody's. */
		do {
			enter = enter_before(enter);
			demand(enter >= 0);
			line_get(enter, &before);
		} while (!before.is_shown || before.is_in_one_piece);
		demand(is_number(&before, is_session ? 5 : 4) && before.is_calm &&
		       !before.is_in_one_piece);
	}
}

/* -- what is done ------------------------------------------------------------------------------- */

static void on_write(void *arg, const void *bytes, size_t len)
{
	(void)arg;
	(void)bytes;
	(void)len;
}

static void written(void)
{
	f.now_ms += dice(30);
	plain_written(&p, f.now_ms);
	note(WRITTEN, 0);
}

/* A piece of bytes, as it comes from the terminal. */
static void piece(const char *bytes)
{
	int before = f.n_answers;
	enum plain_with with = p.with;

	n_piece++;
	for (const char *b = bytes; *b != '\0'; b++)
		note(KEY, *b == '\r' ? UI_KEY_ENTER : *b == 0x7f ? UI_KEY_BACKSPACE : (uint8_t)*b);
	plain_input(&p, bytes, strlen(bytes), f.now_ms);
	if (ui_input_wait_ms(&p.input) > 0)
		plain_input_timeout(&p, f.now_ms);
	if (f.n_answers > before && f.answer.verdict == POL_ALLOW)
		check_allow();
	/* From the list a question may be opened, too. */
	if (p.with != with && p.with != PLAIN_AGENT)
		note(OPENED, 0);
}

static void type(const char *text)
{
	for (; *text != '\0'; text++) {
		char one[2] = {*text, '\0'};

		piece(one);
		f.now_ms += 5 + dice(60);
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
	plain_changed(&p, MDL_CHANGED_ASKS, f.now_ms);
}

static void ask_end(void)
{
	struct mdl_ask *a;

	TAILQ_FOREACH (a, &f.model.asks, link) {
		if ((a->state != MDL_ASK_HELD && a->state != MDL_ASK_OPEN) || dice(2) == 0)
			continue;
		a->state = a->state == MDL_ASK_HELD && dice(2) == 0 ? MDL_ASK_MISSED : MDL_ASK_GONE;
		plain_changed(&p, MDL_CHANGED_ASKS, f.now_ms);
		return;
	}
}

/* With marks and, as dumb terminals do it, without. */
static void paste(void)
{
	static const char *const texts[] = {"4",   "docker\r", "yes\r",	 "4\r",
					    "5\r", "save\r",   "docker", "/run/docker.sock\r"};
	const char *text = texts[dice(8)];
	zw_autofree char *marked = zw_xasprintf("\033[200~%s\033[201~", text);
	int before = f.n_answers;

	if (dice(2) == 0) {
		piece(text);
		return;
	}
	n_piece++;
	note(PASTED, 0);
	plain_input(&p, marked, strlen(marked), f.now_ms);
	assert_int_equal(f.n_answers, before);
}

static void wait_long(void)
{
	written();
	f.now_ms += 350 + dice(700);
}

static void maybe_wait(void)
{
	if (dice(5) > 0)
		wait_long();
}

/* As somebody who means it would, with every part left out now and then. */
static void deliberate(void)
{
	static const char *const words[] = {
		"docker", "ssh", "yes", "save", "/run/docker.sock", "/run/docker.sock no end"};
	static const char *const choices[] = {"4", "5", "6", "04", "7"};
	char line[32];

	if (dice(6) > 0)
		piece("\x1d");
	piece(dice(5) == 0 ? "w" : "a");
	maybe_wait();
	if (dice(5) == 0) {
		snprintf(line, sizeof(line), "%s%u\r", dice(2) == 0 ? "allow " : "",
			 (unsigned)(last_id - dice(3)));
		type(line);
		maybe_wait();
	}
	if (dice(8) == 0)
		type("x\x7f");
	type(choices[dice(5)]);
	type("\r");
	maybe_wait();
	if (dice(8) == 0)
		type("1\r");
	maybe_wait();
	if (dice(5) > 0)
		type(words[dice(6)]);
	else
		paste();
	piece("\r");
}

static void step(void)
{
	static const char *const keys[] = {"4", "5",   "6",    "\r",   " ",    "1",
					   "2", "yes", "d",    "\x1b", "\x7f", "\x1d",
					   "a", "w",   "\x15", "9",    "10",   "8"};

	switch (dice(12)) {
	case 0:
	case 1:
		piece(keys[dice(ZW_N_ELEMENTS(keys))]);
		break;
	case 2:
		paste();
		break;
	case 3:
		plain_resize(&p, 20 + (int)dice(100));
		break;
	case 4:
		ask_new();
		break;
	case 5:
		ask_end();
		break;
	case 6:
		plain_agent(&p, "output\r\n", 8, f.now_ms);
		break;
	case 7:
		written();
		break;
	case 8:
		f.now_ms += dice(900); /* and the terminal writes nothing */
		break;
	case 9:
		plain_tick(&p, f.now_ms);
		break;
	default:
		deliberate();
	}
	f.now_ms += dice(120);
}

static void begin(void)
{
	const struct plain_effects effects = {.write = on_write};
	const struct plain_config config = {.arm_ms = ARM_MS,
					    .quiet_ms = QUIET_MS,
					    .repeat_n = 3,
					    .flood_n = 8,
					    .flood_ms = 10000,
					    .agent_name = "claude",
					    .why = "ZWATCH_PLAIN"};

	ui_fake_init(&f, UI_LAYOUT_COLLAPSED, 24, 80);
	plain_init(&p, &f.model, &f.core.host, &config, &effects, 80, f.now_ms);
	last_id = 0;
}

static void end(void)
{
	plain_fini(&p);
	ui_fake_fini(&f);
}

static void run(uint32_t number)
{
	seed = first_seed = number * 2654435761u + 1;
	n_past = 0;
	for (int i = 0; i < STEPS; i++) {
		if (mdl_asks_waiting(&f.model) == 0)
			ask_new();
		step();
	}
	/* the next run begins with the agent */
	for (int i = 0; i < 20 && (p.with != PLAIN_AGENT || p.is_prefix); i++) {
		piece("\x1b");
		written();
		f.now_ms += 1000;
	}
	assert_int_equal(p.with, PLAIN_AGENT);
}

static void test_allow__only_after_the_full_sequence(void **state)
{
	(void)state;
	begin();
	for (uint32_t i = 0; i < RUNS; i++) {
		if (i > 0 && i % 100 == 0) {
			end();
			begin();
		}
		run(i);
	}
	end();
	/* and it is not that nothing was ever allowed */
	print_message("allowed: low %d, HIGH %d, CRITICAL %d; always %d, from the list %d\n",
		      n_allowed[POL_RISK_LOW], n_allowed[POL_RISK_HIGH],
		      n_allowed[POL_RISK_CRITICAL], n_always, n_listed);
	assert_true(n_allowed[POL_RISK_LOW] > 100 && n_allowed[POL_RISK_HIGH] > 20 &&
		    n_allowed[POL_RISK_CRITICAL] > 20 && n_always > 20 && n_listed > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_allow__only_after_the_full_sequence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
