/* SPDX-License-Identifier: MIT
 * The rules of the user interface, each as a test: who gets which key, and what allows. */
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/words.h"
#include "tests/support/ui_fake.h"

#define PREFIX "\x1d"

static struct ui_fake f;

static int start(void **state)
{
	(void)state;
	ui_fake_init(&f, UI_LAYOUT_DASHBOARD, 30, 100);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	ui_fake_fini(&f);
	return 0;
}

static void assert_input(const char *expected, size_t len)
{
	assert_int_equal(f.input.len, len);
	assert_memory_equal(zw_buf_head(&f.input), expected, len);
	zw_buf_consume(&f.input, len);
}

static void arrives(void)
{
	ui_core_changed(&f.core, MDL_CHANGED_ASKS, f.now_ms);
	ui_fake_draw(&f);
}

static void docker_arrives(uint64_t id)
{
	ui_model_ask_docker(&f.model, id);
	arrives();
}

/* Opens the oldest question and waits until its keys are awake. */
static void open_question(void)
{
	ui_fake_type(&f, PREFIX "a");
	ui_fake_wait(&f, 1000);
}

static void test_P1_held__all_keys_go_to_the_agent(void **state)
{
	static const char some[] = "yYnNsAt1 \r\n\t";
	char bytes[1000];

	(void)state;
	docker_arrives(1);
	srand(1);
	for (size_t i = 0; i < sizeof(bytes); i++) {
		bytes[i] = i % 3 == 0 ? some[(size_t)rand() % (sizeof(some) - 1)]
				      : (char)(' ' + rand() % 95);
		ui_fake_type_n(&f, &bytes[i], 1);
		f.now_ms += 37;
	}
	assert_input(bytes, sizeof(bytes));
	assert_int_equal(f.n_answers, 0);
	assert_int_equal(f.opened, 0);
	assert_int_equal(mdl_ask_find(&f.model, 1)->state, MDL_ASK_HELD);
}

static void test_P1_picture__of_a_question_is_no_question(void **state)
{
	static const char text[] = " > n  Deny once    y  Allow once";

	(void)state;
	for (size_t i = 0; i < sizeof(text) - 1; i++)
		f.grid->cell[3][i].cp[0] = (uint8_t)text[i];
	f.grid->dirty[3] = 1;
	f.core.has_frame = true;
	ui_fake_draw(&f);
	assert_true(ui_fake_shows(&f, "Deny once    y  Allow once"));
	ui_fake_type(&f, "y\r");
	assert_input("y\r", 2);
}

static void test_prefix__never_reaches_the_agent_but_doubled(void **state)
{
	(void)state;
	ui_fake_type(&f, "a" PREFIX "\033b"); /* prefix, Alt-b: no command */
	assert_input("a", 1);
	ui_fake_type(&f, PREFIX PREFIX "c");
	assert_input("\x1d"
		     "c",
		     2);
	ui_fake_type(&f, PREFIX "Kd");
	assert_input("d", 1);
	assert_true(ui_fake_shows(&f, "Ctrl-] K is not a command"));
	ui_fake_type(&f, PREFIX "\033");
	ui_fake_type(&f, "e\033[A");
	assert_input("e\033[A", 4);
	ui_fake_type(&f, "\033[93;5u?");
	assert_true(ui_fake_shows(&f, "AFTER Ctrl-]"));
	assert_int_equal(f.input.len, 0);
}

static void test_prefix__shows_its_keys_after_half_a_second(void **state)
{
	(void)state;
	ui_fake_type(&f, PREFIX);
	assert_false(ui_fake_shows(&f, "a answer  w waiting"));
	assert_int_equal(ui_core_next_ms(&f.core, f.now_ms), 500);
	ui_fake_wait(&f, 500);
	assert_true(ui_fake_shows(&f, "a answer  w waiting"));
	ui_fake_wait(&f, 600000); /* no timeout */
	ui_fake_type(&f, "?");
	assert_true(ui_fake_shows(&f, "AFTER Ctrl-]"));
}

static void test_P2_early__nothing_is_allowed(void **state)
{
	(void)state;
	ui_model_ask_site(&f.model, 1);
	arrives();
	ui_fake_type(&f, PREFIX "ay"); /* typed ahead */
	ui_fake_type(&f, "y");
	ui_fake_wait(&f, 400);
	ui_fake_type(&f, "y");
	assert_int_equal(f.n_answers, 0);
	ui_fake_wait(&f, 1000);
	ui_fake_type(&f, "y");
	assert_int_equal(f.n_answers, 1);
	assert_int_equal(f.answer.verdict, POL_ALLOW);
	assert_int_equal(f.answer.scope, ZW_SCOPE_ONCE);
	assert_string_equal(f.answer.key, "y");
	assert_int_equal(f.input.len, 0);
}

static void test_P2_paste__does_not_answer(void **state)
{
	(void)state;
	docker_arrives(1);
	open_question();
	ui_fake_type(&f, "\033[200~y\033[201~");
	ui_fake_wait(&f, 1000);
	ui_fake_type(&f, "y");
	assert_true(ui_fake_shows(&f, "Type docker and Enter"));
	ui_fake_type(&f, "\033[200~docker\n\033[201~");
	ui_fake_type(&f, "\033[200~docker\r\033[201~");
	assert_true(ui_fake_shows(&f, "Pasting is off here"));
	ui_fake_type(&f, "\r");
	assert_int_equal(f.n_answers, 0);
}

static void test_P2_mouse__does_not_answer(void **state)
{
	char report[32];

	(void)state;
	ui_model_ask_site(&f.model, 1);
	arrives();
	open_question();
	for (int row = 1; row <= 30; row++) {
		for (int col = 1; col <= 100; col += 3) {
			snprintf(report, sizeof(report), "\033[<0;%d;%dM\033[<0;%d;%dm", col, row,
				 col, row);
			ui_fake_type(&f, report);
		}
	}
	assert_int_equal(f.n_answers, 0);
	assert_int_equal(f.opened, 1);
}

static void test_P2_enter__denies(void **state)
{
	(void)state;
	docker_arrives(1);
	open_question();
	ui_fake_type(&f, "\r");
	assert_int_equal(f.n_answers, 1);
	assert_int_equal(f.answer.verdict, POL_DENY);
	assert_int_equal(f.answer.scope, ZW_SCOPE_ONCE);
	assert_string_equal(f.answer.key, "Enter");
	assert_non_null(strstr(f.answer.shown, "the agent gets root on this machine"));
	assert_int_equal(f.answer.shown_ms, 1000);
	assert_true(ui_fake_shows(&f, "Denied once: docker.sock for docker(4711)."));
}

static void test_P2_prefix_paste__opens_nothing(void **state)
{
	(void)state;
	docker_arrives(1);
	ui_fake_type(&f, "\033[200~" PREFIX "a\033[201~");
	assert_int_equal(f.opened, 0);
	assert_input("\033[200~" PREFIX "a\033[201~", 14);
}

static void test_paste__marks_only_for_an_agent_that_wants_them(void **state)
{
	(void)state;
	f.core.frame.modes = PANE_MODE_CURSOR_VISIBLE;
	ui_fake_type(&f, "\033[200~abc\033[201~");
	assert_input("abc", 3);
}

static void test_paste__a_lost_end_mark_locks_nobody_out(void **state)
{
	(void)state;
	ui_fake_type(&f, "\033[200~abc");
	f.now_ms += 1000;
	ui_fake_type(&f, "\x1d"
			 "?");
	assert_false(ui_fake_shows(&f, "AFTER Ctrl-]"));
	f.now_ms += 2500;
	ui_fake_type(&f, "\x1d"
			 "?");
	assert_true(ui_fake_shows(&f, "AFTER Ctrl-]"));
	assert_input("\033[200~abc\x1d"
		     "?",
		     11);
}

static void test_critical__word_allows(void **state)
{
	(void)state;
	docker_arrives(7);
	open_question();
	assert_int_equal(f.opened, 7);
	ui_fake_type(&f, "y");
	ui_fake_type(&f, "docke\x7f"
			 "er\r");
	assert_int_equal(f.n_answers, 1);
	assert_int_equal(f.answer.ask, 7);
	assert_int_equal(f.answer.verdict, POL_ALLOW);
	assert_string_equal(f.answer.key, "y+docker");
	assert_true(ui_fake_shows(&f, "Allowed once: docker.sock"));
}

static void test_critical__wrong_word_allows_nothing(void **state)
{
	(void)state;
	docker_arrives(7);
	open_question();
	ui_fake_type(&f, "s");
	ui_fake_type(&f, "podman\r");
	assert_true(ui_fake_shows(&f, "Not the same as docker. Nothing was allowed."));
	assert_int_equal(f.n_answers, 0);
	assert_int_equal(f.opened, 7);
}

static void test_note__goes_with_the_denial(void **state)
{
	(void)state;
	docker_arrives(1);
	open_question();
	ui_fake_type(&f, "t");
	ui_fake_type(&f, "use localhost:5432\r");
	assert_int_equal(f.answer.verdict, POL_DENY);
	assert_string_equal(f.answer.note, "use localhost:5432");
	assert_string_equal(f.answer.key, "t");
}

static void test_later__clock_runs_again(void **state)
{
	(void)state;
	docker_arrives(1);
	open_question();
	assert_int_equal(mdl_ask_find(&f.model, 1)->state, MDL_ASK_OPEN);
	ui_fake_type(&f, "\033");
	assert_int_equal(f.opened, 0);
	assert_int_equal(mdl_ask_find(&f.model, 1)->state, MDL_ASK_HELD);
	ui_fake_type(&f, "x");
	assert_input("x", 1);
	assert_int_equal(f.n_answers, 0);
}

static void test_P6_order__critical_first_then_high(void **state)
{
	(void)state;
	ui_model_ask_site(&f.model, 1);
	ui_model_ask_ssh(&f.model, 2);
	ui_model_ask_docker(&f.model, 3);
	arrives();
	open_question();
	assert_int_equal(f.opened, 3);
	ui_fake_type(&f, "n");
	assert_int_equal(f.opened, 0); /* nothing opens by itself */
	open_question();
	assert_int_equal(f.opened, 2);
}

static void test_P8_open__new_ones_move_nothing(void **state)
{
	char *before, *after;

	(void)state;
	docker_arrives(1);
	open_question();
	before = ui_fake_text(&f);
	for (uint64_t id = 2; id < 52; id++) {
		if (id % 2 == 0)
			ui_model_ask_docker(&f.model, id);
		else
			ui_model_ask_ssh(&f.model, id);
		arrives();
	}
	after = ui_fake_text(&f);
	/* all but the status line */
	assert_int_equal(strrchr(before, '#') - before, strrchr(after, '#') - after);
	assert_memory_equal(before, after, (size_t)(strrchr(before, '#') - before));
	free(before);
	free(after);
	ui_fake_type(&f, "n");
	assert_int_equal(f.answer.ask, 1);
	assert_int_equal(f.opened, 0);
}

static void test_gone__while_it_is_read(void **state)
{
	(void)state;
	docker_arrives(1);
	open_question();
	mdl_ask_find(&f.model, 1)->state = MDL_ASK_GONE;
	arrives();
	assert_true(ui_fake_shows(&f, "does not wait any more"));
	ui_fake_type(&f, "y");
	ui_fake_type(&f, "x");
	assert_int_equal(f.n_answers, 0);
	assert_input("x", 1);
}

static void test_late__counts_for_the_session(void **state)
{
	(void)state;
	ui_model_ask_site(&f.model, 1)->state = MDL_ASK_MISSED;
	arrives();
	ui_fake_type(&f, PREFIX "a");
	assert_true(ui_fake_shows(&f, "Nothing waits"));
	ui_fake_type(&f, PREFIX "w\r");
	ui_fake_wait(&f, 1000);
	assert_int_equal(f.opened, 0); /* there is no clock to stop */
	ui_fake_type(&f, "y");
	assert_int_equal(f.n_answers, 0);
	ui_fake_wait(&f, 1000);
	ui_fake_type(&f, "s");
	assert_int_equal(f.answer.verdict, POL_ALLOW);
	assert_int_equal(f.answer.scope, ZW_SCOPE_SESSION);
}

static void test_resize__arms_anew_and_keeps_the_text(void **state)
{
	(void)state;
	docker_arrives(1);
	open_question();
	ui_fake_type(&f, "y");
	ui_fake_type(&f, "dock");
	ui_fake_resize(&f, 24, 80);
	assert_true(ui_fake_shows(&f, "goes back: dock"));
	ui_fake_type(&f, "er\r");
	assert_int_equal(f.n_answers, 1);
	ui_model_ask_site(&f.model, 2);
	arrives();
	open_question();
	ui_fake_resize(&f, 30, 100);
	ui_fake_type(&f, "y");
	assert_int_equal(f.n_answers, 1);
}

static void test_question__agent_area_stays(void **state)
{
	int rows = f.pane_rows, cols = f.pane_cols;

	(void)state;
	f.pane_rows = f.pane_cols = 0;
	docker_arrives(1);
	open_question();
	ui_fake_type(&f, "n");
	assert_int_equal(f.pane_rows, 0); /* nobody was told a size */
	f.pane_rows = rows;
	f.pane_cols = cols;
}

static void test_waiting__deny_all(void **state)
{
	(void)state;
	for (uint64_t id = 1; id <= 5; id++)
		ui_model_ask_site(&f.model, id);
	arrives();
	ui_fake_type(&f, PREFIX "w");
	assert_true(ui_fake_shows(&f, "Waiting  5 held  0 missed"));
	ui_fake_type(&f, "y"); /* allows nothing here */
	assert_int_equal(f.n_answers, 0);
	ui_fake_type(&f, "jn");
	assert_int_equal(f.answer.ask, 2);
	ui_fake_type(&f, "D");
	assert_int_equal(f.n_answers, 5);
	assert_int_equal(f.answer.verdict, POL_DENY);
}

static void test_lists__focus_and_back(void **state)
{
	(void)state;
	ui_fake_type(&f, PREFIX "2jjj");
	assert_int_equal(f.core.lists[UI_FOCUS_CONNS].sel, 3);
	assert_true(ui_fake_shows(&f, "DENY node(4720) sentry.example.net:443 - rule 9"));
	ui_fake_type(&f, "\033");
	ui_fake_type(&f, "j");
	assert_input("j", 1);
	ui_fake_type(&f, PREFIX "\t\033");
	ui_fake_type(&f, "k");
	assert_input("k", 1);
}

static void test_stop__only_with_the_word(void **state)
{
	(void)state;
	ui_fake_type(&f, PREFIX "x");
	ui_fake_type(&f, "\r");
	assert_false(f.is_stopped);
	ui_fake_type(&f, PREFIX "x");
	ui_fake_type(&f, "\033[200~stop\r\033[201~");
	assert_false(f.is_stopped);
	ui_fake_type(&f, "stop\r");
	assert_true(f.is_stopped);
}

static void test_socket_list__b_ends_what_a_row_has_open(void **state)
{
	(void)state;
	ui_fake_type(&f, PREFIX "3g");
	/* From the top down; what was denied has nothing open. */
	for (int i = 0; i < 12 && f.closed == NULL; i++)
		ui_fake_type(&f, "bj");
	assert_non_null(f.closed);
	assert_int_equal(f.closed->did, ZW_DID_ALLOW);
	assert_true(ui_fake_shows(&f, "Ended: what"));
	ui_fake_type(&f, "q");
	ui_fake_type(&f, "c");
	assert_input("c", 1);
}

static void test_mode_freeze_panes_undo(void **state)
{
	(void)state;
	ui_fake_type(&f, PREFIX "m3");
	assert_int_equal(f.model.mode, POL_MODE_STRICT);
	ui_fake_type(&f, PREFIX "f");
	assert_true(f.is_frozen);
	assert_true(ui_fake_shows(&f, "FROZEN"));
	ui_fake_type(&f, PREFIX "f");
	assert_false(f.is_frozen);
	ui_fake_type(&f, PREFIX "u");
	assert_true(ui_fake_shows(&f, "Taken back"));
	ui_fake_type(&f, PREFIX "z");
	assert_int_equal(f.pane_rows, 29);
	ui_fake_type(&f, PREFIX "z");
	assert_int_equal(f.pane_rows, 16);
}

static void test_mouse__moved_into_the_agents_corner(void **state)
{
	(void)state;
	ui_fake_type(&f, "\033[<0;5;4M\033[<0;5;4m");
	assert_int_equal(f.input.len, 0);
	f.core.frame.modes |= PANE_MODE_MOUSE_CLICK | PANE_MODE_MOUSE_SGR;
	ui_fake_type(&f, "\033[<0;5;4M\033[<0;5;4m");
	assert_input("\033[<0;5;3M\033[<0;5;3m", 18);
	ui_fake_type(&f, "\033[<0;5;20M\033[<0;5;20m"); /* into the list: focus, and nothing else */
	assert_int_equal(f.input.len, 0);
	assert_int_equal(f.core.focus, UI_FOCUS_CONNS);
	ui_fake_type(&f, "\033[<0;5;4M\033[<0;5;4m"); /* back: the first click only focuses */
	assert_int_equal(f.input.len, 0);
	assert_int_equal(f.core.focus, UI_FOCUS_AGENT);
	f.core.frame.modes &= ~(unsigned)PANE_MODE_MOUSE_SGR;
	ui_fake_type(&f, "\033[<0;5;4M");
	assert_input("\033[M %#", 6);
}

static void test_modes__mirrored_only_while_the_agent_has_the_keys(void **state)
{
	struct ui_modes m;

	(void)state;
	f.core.frame.modes |= PANE_MODE_CURSOR_KEYS | PANE_MODE_MOUSE_MOVE;
	f.core.frame.kitty_flags = 5;
	ui_core_modes(&f.core, &m);
	assert_true(m.cursor_keys && m.kitty == 5 && m.mouse == 1003);
	docker_arrives(1);
	open_question();
	ui_core_modes(&f.core, &m);
	assert_true(!m.cursor_keys && m.kitty == 0 && m.mouse != 1003);
	ui_fake_type(&f, "n");
	ui_core_modes(&f.core, &m);
	assert_true(m.cursor_keys && m.kitty == 5);
}

static void test_focus__told_to_an_agent_that_asked(void **state)
{
	(void)state;
	ui_fake_type(&f, "\033[O\033[I");
	assert_int_equal(f.input.len, 0);
	f.core.frame.modes |= PANE_MODE_FOCUS;
	ui_fake_type(&f, "\033[O\033[I");
	assert_input("\033[O\033[I", 6);
	ui_fake_type(&f, "\033[?62;22c"); /* an answer that comes late */
	assert_int_equal(f.input.len, 0);
}

static void test_knock__rings_when_nobody_looks(void **state)
{
	(void)state;
	docker_arrives(1);
	assert_int_equal(f.n_bells, 0); /* a key was pressed just now */
	ui_fake_type(&f, "\033[O");
	docker_arrives(2);
	assert_int_equal(f.n_bells, 1);
	assert_non_null(strstr(f.notice, "2 waiting"));
	docker_arrives(3);
	assert_int_equal(f.n_bells, 1); /* not so soon */
	f.now_ms += 25000;
	arrives();
	assert_int_equal(f.n_bells, 2); /* of the third, which came too soon */
	f.now_ms += 25000;
	arrives();
	assert_int_equal(f.n_bells, 2); /* nothing new */
	docker_arrives(4);
	assert_int_equal(f.n_bells, 3);
}

static void test_knock__after_half_a_minute_without_a_key(void **state)
{
	(void)state;
	f.now_ms += 31000;
	docker_arrives(1);
	assert_int_equal(f.n_bells, 1);
	assert_string_equal(f.notice, "zwatch: claude waits for you (docker.sock, ~/src/shop)");
}

static void hostile(char **field, const char *text)
{
	mdl_set(field, zw_span(text), 4096);
}

static void test_P11_names__shown_escaped(void **state)
{
	struct mdl_ask *a = ui_model_ask_docker(&f.model, 1);

	(void)state;
	hostile(&a->proc.exe, "/tmp/a\033[2J\xe2\x80\xae"
			      "b");
	hostile(&a->title, "x\ny\033]0;evil\007");
	hostile(&f.model.project, "~/src\nshop");
	hostile(&f.model.title, "%s%n\033[31m");
	arrives();
	assert_true(ui_fake_shows(&f, "a\\x1b[2J\\u{202e}b(4711)"));
	assert_true(ui_fake_shows(&f, "~/src\\nshop"));
	assert_true(ui_fake_shows(&f, "claude: %s%n\\x1b[31m"));
	open_question();
	assert_true(ui_fake_shows(&f, "x\\ny\\x1b]0;evil\\x07"));
	for (int row = 0; row < f.screen.rows; row++) {
		for (int col = 0; col < f.screen.cols; col++) {
			uint32_t cp = f.screen.cell[row * f.screen.cols + col].cp[0];

			assert_true(cp == 0 || (cp >= ' ' && cp < 0x7f));
		}
	}
}

/* What a frame alone changes is drawn alone, and looks as if all had been drawn. */
static void test_frames__only_touched_rows(void **state)
{
	int n_touched = 0, before = f.n_frames_done;

	(void)state;
	ui_fake_draw(&f);
	memset(f.grid->dirty, 0, sizeof(f.grid->dirty));
	f.grid->cell[5][0].cp[0] = 'Q';
	f.grid->cell[7][0].cp[0] = 'R'; /* not marked: not looked at */
	f.grid->dirty[5] = 1;
	f.grid->is_awaited = 0;
	ui_core_frame(&f.core, &f.core.frame, f.now_ms);
	ui_fake_draw(&f);
	for (int row = 0; row < f.screen.rows; row++)
		n_touched += f.screen.touched[row];
	assert_int_equal(n_touched, 1);
	assert_int_equal(f.screen.touched[6], 1);
	assert_int_equal(f.screen.cell[6 * 100].cp[0], 'Q');
	assert_int_not_equal(f.screen.cell[8 * 100].cp[0], 'R');
	assert_int_equal(f.grid->is_taken, 1);
	assert_int_equal(f.n_frames_done, before); /* nobody waits: nobody is woken */
	zw_autofree char *part = ui_fake_text(&f);
	f.core.is_dirty = true;
	ui_fake_draw(&f);
	zw_autofree char *whole = ui_fake_text(&f);
	assert_string_equal(part, whole);
	for (int row = 0; row < f.screen.rows; row++)
		assert_int_equal(f.screen.touched[row], 1);
}

/* Under a view, beside news of the session, in another size: all is drawn. */
static void test_frames__whole_when_more_changed(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		ui_fake_draw(&f);
		memset(f.grid->dirty, 0, sizeof(f.grid->dirty));
		ui_core_frame(&f.core, &f.core.frame, f.now_ms);
		if (i == 0)
			ui_core_message(&f.core, "Something to be said.", f.now_ms);
		else if (i == 1)
			f.core.frame.cols--;
		else
			ui_core_cmd(&f.core, UI_CMD_HELP);
		ui_fake_draw(&f);
		assert_int_equal(f.screen.touched[0], 1);
		assert_int_equal(f.screen.touched[f.screen.rows - 1], 1);
	}
	ui_fake_draw(&f);
	ui_core_frame(&f.core, &f.core.frame, f.now_ms);
	ui_fake_draw(&f);
	assert_int_equal(f.screen.touched[0], 1); /* help is open */
	view_pop(&f.core);
}

static void test_frames__copied_and_given_back(void **state)
{
	int before = f.n_frames_done;

	(void)state;
	f.core.has_frame = true;
	memset(f.grid->dirty, 0, sizeof(f.grid->dirty));
	f.grid->cell[5][0].cp[0] = 'Q'; /* not marked: not looked at */
	ui_fake_draw(&f);
	assert_int_equal(f.n_frames_done, before + 1);
	assert_int_equal(f.screen.cell[6 * 100].cp[0], '*');
	f.grid->dirty[5] = 1;
	f.core.has_frame = true;
	ui_fake_draw(&f);
	assert_int_equal(f.screen.cell[6 * 100].cp[0], 'Q');
}

#define T(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_P1_held__all_keys_go_to_the_agent),
		T(test_P1_picture__of_a_question_is_no_question),
		T(test_prefix__never_reaches_the_agent_but_doubled),
		T(test_prefix__shows_its_keys_after_half_a_second),
		T(test_P2_early__nothing_is_allowed),
		T(test_P2_paste__does_not_answer),
		T(test_P2_mouse__does_not_answer),
		T(test_P2_enter__denies),
		T(test_P2_prefix_paste__opens_nothing),
		T(test_paste__marks_only_for_an_agent_that_wants_them),
		T(test_paste__a_lost_end_mark_locks_nobody_out),
		T(test_critical__word_allows),
		T(test_critical__wrong_word_allows_nothing),
		T(test_note__goes_with_the_denial),
		T(test_later__clock_runs_again),
		T(test_P6_order__critical_first_then_high),
		T(test_P8_open__new_ones_move_nothing),
		T(test_gone__while_it_is_read),
		T(test_late__counts_for_the_session),
		T(test_resize__arms_anew_and_keeps_the_text),
		T(test_question__agent_area_stays),
		T(test_waiting__deny_all),
		T(test_lists__focus_and_back),
		T(test_stop__only_with_the_word),
		T(test_socket_list__b_ends_what_a_row_has_open),
		T(test_mode_freeze_panes_undo),
		T(test_mouse__moved_into_the_agents_corner),
		T(test_modes__mirrored_only_while_the_agent_has_the_keys),
		T(test_focus__told_to_an_agent_that_asked),
		T(test_knock__rings_when_nobody_looks),
		T(test_knock__after_half_a_minute_without_a_key),
		T(test_P11_names__shown_escaped),
		T(test_frames__only_touched_rows),
		T(test_frames__whole_when_more_changed),
		T(test_frames__copied_and_given_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
