/* SPDX-License-Identifier: MIT
 * Runs the real zwatch-pane on a real pty, locked down, and plays zwatch's part: the setup, frames
 * in the shared grid, credit, replies, events, resize, the end, and a successor after a crash. */
#include "tests/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <termios.h>

#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/words.h"
#include "src/ipc/chan.h"
#include "ui/pane/grid.h"

#define WAIT_MS	  5000
#define QUIET_MS  120
#define QUEUE_MAX 64

struct received {
	enum zw_msg_id id;
	union zw_msg_any msg; /* its spans are void */
	char text[64];	      /* of a title or note */
};

struct bed {
	struct zev_loop *loop;
	struct zw_chan *chan;
	struct zev_timer *timer;
	int master, slave; /* the pty */
	int memfd;
	struct pane_grid *grid;
	pid_t pid;
	struct received queue[QUEUE_MAX];
	size_t n_queued;
	union zw_msg_any msg; /* the last one taken */
	char text[64];
	unsigned locked_how; /* 0 = filtered */
};

static pid_t pane_start(int fd_control)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	dup2(fcntl(fd_control, F_DUPFD, 10), 3);
	dup2(2, 4);
	close_range(5, ~0u, 0);
	execl(ZW_PANE_PATH, "zwatch-pane", (char *)NULL);
	_exit(127);
}

static void on_chan_msg(struct zw_chan *chan, enum zw_msg_id id, const union zw_msg_any *msg,
			int *fds, void *arg)
{
	struct bed *b = arg;
	struct received *r = &b->queue[b->n_queued];

	(void)chan;
	(void)fds;
	assert_true(b->n_queued < QUEUE_MAX);
	b->n_queued++;
	r->id = id;
	r->msg = *msg;
	if (id == ZW_ID_pane_title)
		zw_span_cpy(r->text, sizeof(r->text), msg->pane_title.title);
	if (id == ZW_ID_pane_link_is)
		zw_span_cpy(r->text, sizeof(r->text), msg->pane_link_is.uri);
	if (id == ZW_ID_pane_text)
		zw_span_cpy(r->text, sizeof(r->text), msg->pane_text.text);
	if (id == ZW_ID_pane_note)
		zw_span_cpy(r->text, sizeof(r->text), msg->pane_note.text);
	zev_stop(b->loop);
}

static void on_chan_end(struct zw_chan *chan, int error, void *arg)
{
	struct bed *b = arg;

	(void)chan;
	(void)error;
	zev_stop(b->loop);
}

static const struct zw_chan_ops chan_ops = {.on_msg = on_chan_msg, .on_end = on_chan_end};

static void on_timeout(void *arg)
{
	struct bed *b = arg;

	zev_stop(b->loop);
}

/* The next message, or 0 when none comes in @timeout_ms. */
static enum zw_msg_id receive(struct bed *b, int timeout_ms)
{
	enum zw_msg_id id;

	if (b->n_queued == 0) {
		zev_timer_start(b->timer, timeout_ms);
		zev_run(b->loop);
		zev_timer_stop(b->timer);
	}
	if (b->n_queued == 0)
		return 0;
	id = b->queue[0].id;
	b->msg = b->queue[0].msg;
	memcpy(b->text, b->queue[0].text, sizeof(b->text));
	b->n_queued--;
	memmove(b->queue, b->queue + 1, b->n_queued * sizeof(b->queue[0]));
	return id;
}

static void expect(struct bed *b, enum zw_msg_id id)
{
	enum zw_msg_id got = receive(b, WAIT_MS);

	if (got != id)
		fail_msg("got %s, wanted %s", got == 0 ? "nothing" : zw_msg_name(got),
			 zw_msg_name(id));
}

static void next(struct bed *b)
{
	atomic_store(&b->grid->is_taken, 1);
	if (atomic_load(&b->grid->is_awaited) != 0)
		zw_send(b->chan, pane_next, .unused = 0);
}

static void setup_send(struct bed *b)
{
	int fds[2] = {b->master, b->memfd};

	expect(b, ZW_ID_hello);
	expect(b, ZW_ID_locked);
	b->locked_how = b->msg.locked.how;
	zw_chan_send_fds(b->chan, ZW_ID_pane_setup,
			 &(struct zw_msg_pane_setup){
				 .rows = 6, .cols = 30, .bg_rgb = 0x0a0b0c, .scrollback_n = 12000},
			 fds, 2);
	expect(b, ZW_ID_pane_frame);
	next(b);
}

static void process_start(struct bed *b)
{
	int pair[2];

	assert_int_equal(zw_chan_pair(pair), 0);
	b->pid = pane_start(pair[1]);
	b->chan = zw_chan_new(b->loop, pair[0], ROLE_SUPER, ROLE_PANE, &chan_ops, b);
	close(pair[1]);
	setup_send(b);
}

static int bed_open(void **state)
{
	struct bed *b = zw_xnew(struct bed);
	struct termios raw;

	b->loop = zev_loop_new();
	b->timer = zev_timer_new(b->loop, on_timeout, b);
	assert_int_equal(openpty(&b->master, &b->slave, NULL, NULL, NULL), 0);
	tcgetattr(b->slave, &raw);
	cfmakeraw(&raw);
	tcsetattr(b->slave, TCSANOW, &raw);
	b->memfd = memfd_create("grid", MFD_CLOEXEC);
	assert_int_equal(ftruncate(b->memfd, PANE_GRID_SIZE_B), 0);
	b->grid = mmap(NULL, PANE_GRID_SIZE_B, PROT_READ | PROT_WRITE, MAP_SHARED, b->memfd, 0);
	assert_true(b->grid != MAP_FAILED);
	process_start(b);
	*state = b;
	return 0;
}

static int bed_close(void **state)
{
	struct bed *b = *state;
	int status;

	zw_chan_free(b->chan);
	assert_int_equal(waitpid(b->pid, &status, 0), b->pid);
	zev_timer_free(b->timer);
	zev_loop_free(b->loop);
	zw_close(&b->slave);
	close(b->master);
	close(b->memfd);
	munmap(b->grid, PANE_GRID_SIZE_B);
	free(b);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	return 0;
}

static void print(struct bed *b, const char *s)
{
	assert_int_equal(zw_write_all(b->slave, s, strlen(s)), 0);
}

static bool row_is(struct bed *b, unsigned y, const char *text)
{
	for (unsigned x = 0; x < b->grid->cols; x++) {
		uint32_t cp = b->grid->cell[y][x].cp[0];

		if (cp != (uint32_t)(x < strlen(text) ? text[x] : 0))
			return false;
	}
	return true;
}

/* Takes frames until @row shows @text. */
static void frames_until(struct bed *b, unsigned row, const char *text)
{
	int64_t end = zw_mono_ms() + WAIT_MS;

	while (zw_mono_ms() < end) {
		expect(b, ZW_ID_pane_frame);
		if (row_is(b, row, text))
			return;
		next(b);
	}
	fail_msg("row %u never was %s", row, text);
}

static void test_pane__is_locked_down(void **state)
{
	struct bed *b = *state;
	zw_autofree char *path = zw_xasprintf("/proc/%d/status", (int)b->pid);
	zw_autofree char *status = NULL;
	size_t len;

	assert_int_equal(zw_read_file(path, 65536, &status, &len), 0);
	if (b->locked_how == 0) {
		assert_non_null(strstr(status, "NoNewPrivs:\t1"));
		assert_non_null(strstr(status, "Seccomp:\t2"));
	} else {
		print_message("sanitized build: not filtered\n");
	}
}

static void test_pane__frame_shows_what_was_printed(void **state)
{
	struct bed *b = *state;

	print(b, "hello\r\n\033[1mworld\033[?25l");
	frames_until(b, 1, "world");
	assert_true(row_is(b, 0, "hello"));
	assert_int_equal(b->grid->rows, 6);
	assert_int_equal(b->grid->cell[1][0].attrs, PANE_ATTR_BOLD);
	assert_int_equal(b->msg.pane_frame.cursor_row, 1);
	assert_int_equal(b->msg.pane_frame.cursor_col, 5);
	assert_int_equal(b->msg.pane_frame.modes, 0);
}

static void test_pane__no_second_frame_before_credit(void **state)
{
	struct bed *b = *state;

	print(b, "one");
	frames_until(b, 0, "one");
	print(b, "\r\ntwo");
	assert_int_equal(receive(b, QUIET_MS), 0);
	assert_true(row_is(b, 1, "")); /* the grid is left alone */
	next(b);
	frames_until(b, 1, "two");
	assert_int_equal(b->grid->dirty[0], 0);
	assert_int_equal(b->grid->dirty[1], 1);
}

static void test_pane__answers_reach_the_program(void **state)
{
	struct bed *b = *state;
	char got[64] = "";
	struct pollfd pfd = {b->slave, POLLIN, 0};

	print(b, "\033[c\033]11;?\a");
	for (size_t n = 0; strchr(got, '\a') == NULL;) {
		ssize_t r;

		assert_int_equal(poll(&pfd, 1, WAIT_MS), 1);
		r = read(b->slave, got + n, sizeof(got) - 1 - n);
		assert_true(r > 0);
		n += (size_t)r;
		got[n] = '\0';
	}
	assert_string_equal(got, "\033[?62;22c\033]11;rgb:0a0a/0b0b/0c0c\a");
}

static void test_pane__events_are_folded(void **state)
{
	struct bed *b = *state;

	print(b, "x");
	frames_until(b, 0, "x"); /* no credit now: events gather */
	for (int i = 0; i < 1000; i++)
		print(b, "\a\033]2;title\a\033]9;note\a\033]52;c;AAAA\a");
	assert_int_equal(receive(b, QUIET_MS), 0);
	next(b);
	expect(b, ZW_ID_pane_title);
	assert_string_equal(b->text, "title");
	expect(b, ZW_ID_pane_note);
	assert_int_equal(b->msg.pane_note.kind, ZW_NOTE_KIND_BELL);
	for (int i = 0; i < 4; i++) {
		expect(b, ZW_ID_pane_note);
		assert_int_equal(b->msg.pane_note.kind, ZW_NOTE_KIND_NOTIFY);
		assert_string_equal(b->text, "note");
	}
	expect(b, ZW_ID_pane_note);
	assert_int_equal(b->msg.pane_note.kind, ZW_NOTE_KIND_CLIPBOARD);
	assert_int_equal(b->msg.pane_note.value, 4);
	expect(b, ZW_ID_pane_frame);
}

static void test_pane__synchronized_block_is_one_frame(void **state)
{
	struct bed *b = *state;
	int64_t start = zw_mono_ms();

	print(b, "\033[?2026hhalf");
	assert_int_equal(receive(b, 60), 0);
	print(b, "whole\033[?2026l");
	frames_until(b, 0, "halfwhole");
	next(b);
	print(b, "\033[2J\033[H\033[?2026hstuck"); /* never ended: shown all the same */
	frames_until(b, 0, "stuck");
	assert_true(zw_mono_ms() - start >= 150);
}

static void test_pane__resize(void **state)
{
	struct bed *b = *state;

	zw_send(b->chan, pane_resize, .rows = 3, .cols = 10);
	expect(b, ZW_ID_pane_frame);
	assert_int_equal(b->grid->rows, 3);
	assert_int_equal(b->msg.pane_frame.cols, 10);
}

static void test_pane__end_of_the_pty_is_told_after_the_last_frame(void **state)
{
	struct bed *b = *state;

	print(b, "bye");
	zw_close(&b->slave);
	frames_until(b, 0, "bye");
	if (receive(b, QUIET_MS) == 0) {
		next(b);
		expect(b, ZW_ID_pane_eof);
	}
}

static void test_pane__a_successor_takes_over(void **state)
{
	struct bed *b = *state;

	print(b, "before");
	frames_until(b, 0, "before");
	kill(b->pid, SIGKILL);
	waitpid(b->pid, NULL, 0);
	zw_chan_free(b->chan);
	b->n_queued = 0;
	print(b, "after");
	process_start(b);
	frames_until(b, 0, "after");
}

static void test_pane__flood_is_parsed_to_its_end(void **state)
{
	struct bed *b = *state;
	char line[64];

	for (int i = 0; i < 20000; i++) {
		snprintf(line, sizeof(line), "\r\nline %d", i);
		print(b, line);
	}
	frames_until(b, 5, "line 19999");
}

/* Lines that left the screen are shown on demand, and stay while more is printed. */
static void test_pane__scrolls_back_and_stands_still(void **state)
{
	struct bed *b = *state;

	for (int i = 0; i < 20; i++) {
		char line[16];

		snprintf(line, sizeof(line), "%sl%d", i > 0 ? "\r\n" : "", i);
		print(b, line);
	}
	frames_until(b, 5, "l19");
	assert_int_equal(b->msg.pane_frame.screen_line, 14);
	assert_int_equal(b->msg.pane_frame.first_line, 0);
	next(b);
	zw_send(b->chan, pane_scroll, .line = 3);
	frames_until(b, 0, "l3");
	assert_int_equal(b->msg.pane_frame.top_line, 3);
	next(b);
	print(b, "\r\nl20");
	expect(b, ZW_ID_pane_frame);
	assert_int_equal(b->msg.pane_frame.screen_line, 15);
	assert_true(row_is(b, 0, "l3"));
	next(b);
	zw_send(b->chan, pane_scroll, .line = UINT64_MAX);
	frames_until(b, 5, "l20");
}

static void test_pane__finds_copies_and_tells_links(void **state)
{
	struct bed *b = *state;

	print(b, "some \033]8;;http://x/\alink\033]8;;\a here\r\nnext");
	frames_until(b, 1, "next");
	zw_send(b->chan, pane_find, .needle = zw_span("link"), .is_up = 1, .line = 1, .col = 0);
	expect(b, ZW_ID_pane_found);
	assert_int_equal(b->msg.pane_found.is_found, 1);
	assert_int_equal(b->msg.pane_found.col, 5);
	assert_int_equal(b->msg.pane_found.end_col, 8);
	zw_send(b->chan, pane_link, .line = 0, .col = 5);
	expect(b, ZW_ID_pane_link_is);
	assert_string_equal(b->text, "http://x/");
	zw_send(b->chan, pane_copy, .line = 0, .col = 5, .end_line = 1, .end_col = 1);
	expect(b, ZW_ID_pane_text);
	assert_string_equal(b->text, "link here\nne");
	assert_int_equal(b->msg.pane_text.is_last, 1);
	assert_int_equal(b->msg.pane_text.is_cut, 0);
}

static void test_pane__copies_at_most_a_megabyte_in_pieces(void **state)
{
	struct bed *b = *state;
	char line[30 * 4 + 1] = "";
	size_t total = 0;

	/* 30 characters of 3 bytes in a row of 30 columns, never a line's end */
	for (int i = 0; i < 30; i++)
		zw_strlcpy(line + 3 * i, "\xe2\x94\x80", sizeof(line) - 3 * (size_t)i);
	for (int i = 0; i < 12000; i++)
		print(b, line);
	print(b, "\r\nend");
	frames_until(b, 5, "end");
	zw_send(b->chan, pane_copy, .end_line = UINT64_MAX, .is_lines = 1);
	do {
		expect(b, ZW_ID_pane_text);
		total += b->msg.pane_text.text.len;
	} while (b->msg.pane_text.is_last == 0);
	assert_int_equal(b->msg.pane_text.is_cut, 1);
	assert_in_range(total, (1u << 20) - 3, 1u << 20);
}

static void test_pane__learns_of_the_terminal_later(void **state)
{
	struct bed *b = *state;
	char got[64] = "";
	struct pollfd pfd = {b->slave, POLLIN, 0};

	zw_send(b->chan, pane_colours, .fg_rgb = 0x010203, .bg_rgb = 0xfffefd, .has_kitty = 1,
		.cell_w = 9, .cell_h = 18);
	zw_send(b->chan, pane_resize, .rows = 6, .cols = 29); /* its frame comes after that */
	expect(b, ZW_ID_pane_frame);
	print(b, "\033]11;?\a\033[16t\033[?u");
	for (size_t n = 0; strstr(got, "0u") == NULL;) {
		assert_int_equal(poll(&pfd, 1, WAIT_MS), 1);
		ssize_t r = read(b->slave, got + n, sizeof(got) - 1 - n);
		assert_true(r > 0);
		n += (size_t)r;
		got[n] = '\0';
	}
	assert_string_equal(got, "\033]11;rgb:ffff/fefe/fdfd\a\033[6;18;9t\033[?0u");
}

#define CASE(t) cmocka_unit_test_setup_teardown(t, bed_open, bed_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_pane__is_locked_down),
		CASE(test_pane__frame_shows_what_was_printed),
		CASE(test_pane__no_second_frame_before_credit),
		CASE(test_pane__answers_reach_the_program),
		CASE(test_pane__events_are_folded),
		CASE(test_pane__synchronized_block_is_one_frame),
		CASE(test_pane__resize),
		CASE(test_pane__end_of_the_pty_is_told_after_the_last_frame),
		CASE(test_pane__a_successor_takes_over),
		CASE(test_pane__flood_is_parsed_to_its_end),
		CASE(test_pane__scrolls_back_and_stands_still),
		CASE(test_pane__finds_copies_and_tells_links),
		CASE(test_pane__copies_at_most_a_megabyte_in_pieces),
		CASE(test_pane__learns_of_the_terminal_later),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
