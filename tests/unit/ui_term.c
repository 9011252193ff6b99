/* SPDX-License-Identifier: MIT
 * The terminal, on a real pty: what is written to it, that it is given back as it was, and that one
 * which does not read holds up nothing. */
#include "tests/support/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "tests/support/ui_model.h"
#include "src/base/words.h"
#include "ui/guard.h"
#include "ui/pane/vt.h"
#include "ui/layout.h"
#include "ui/ui.h"

struct rig {
	struct zev_loop *loop;
	struct zev_io *io;
	struct zev_timer *timer;
	int master, slave;
	struct zw_buf out; /* what the terminal was sent */
	struct termios before;
	struct mdl_session model;
	struct pane_grid *grid;
	struct ui *ui;
	int n_frames_done, rows, cols;
	char input[64];
	size_t input_len;
	const char *answers; /* to the other probes, before the last one's */
	struct ui_terminal told;
	int n_told;
};

static struct rig r;

static void on_master(int fd, unsigned what, void *arg)
{
	uint8_t bytes[65536];
	ssize_t n = read(fd, bytes, sizeof(bytes));

	(void)what;
	(void)arg;
	if (n <= 0)
		return;
	assert_int_equal(zw_buf_add(&r.out, bytes, (size_t)n), 0);
	/* As every terminal does. */
	if (memmem(bytes, (size_t)n, "\033[c", 3) == NULL)
		return;
	if (r.answers != NULL)
		assert_int_equal(write(fd, r.answers, strlen(r.answers)), strlen(r.answers));
	assert_int_equal(write(fd, "\033[?62;22c", 9), 9);
}

static void on_timer(void *arg)
{
	(void)arg;
	zev_stop(r.loop);
}

/* At least so long, and until nothing more comes: a machine under load may have slept through it. */
static void run_ms(int64_t ms)
{
	size_t had;

	do {
		had = r.out.len;
		zev_timer_start(r.timer, ms);
		assert_int_equal(zev_run(r.loop), 0);
		ms = 5;
	} while (r.out.len != had);
}

static void on_input(void *arg, const void *bytes, size_t len)
{
	(void)arg;
	if (len > sizeof(r.input) - r.input_len)
		len = sizeof(r.input) - r.input_len;
	memcpy(r.input + r.input_len, bytes, len);
	r.input_len += len;
}

static void on_pane_resize(void *arg, int rows, int cols)
{
	(void)arg;
	r.rows = rows;
	r.cols = cols;
}

static void on_frame_done(void *arg)
{
	(void)arg;
	r.n_frames_done++;
}

static void on_ask_open(void *arg, uint64_t ask, bool is_open)
{
	(void)arg;
	mdl_ask_find(&r.model, ask)->state = is_open ? MDL_ASK_OPEN : MDL_ASK_HELD;
}

static void on_look(void *arg, const struct ui_look *look)
{
	(void)arg;
	(void)look;
}

static void on_terminal(void *arg, const struct ui_terminal *terminal)
{
	(void)arg;
	r.told = *terminal;
	r.n_told++;
}

static void frame(uint32_t modes)
{
	struct ui_frame f = {
		.rows = r.rows, .cols = r.cols, .modes = modes | PANE_MODE_CURSOR_VISIBLE};

	r.grid->rows = (uint32_t)r.rows;
	r.grid->cols = (uint32_t)r.cols;
	memset(r.grid->dirty, 1, sizeof(r.grid->dirty));
	ui_frame(r.ui, &f);
}

static int open_ui_as(enum ui_layout layout)
{
	static const struct ui_host host = {.input = on_input,
					    .pane_resize = on_pane_resize,
					    .frame_done = on_frame_done,
					    .ask_open = on_ask_open,
					    .look = on_look,
					    .terminal = on_terminal};
	const struct ui_config config = {.layout = layout,
					 .has_colour = true,
					 .arm_ms = 500,
					 .quiet_ms = 300,
					 .agent_name = "claude"};

	return ui_new(r.loop, r.slave, &r.model, r.grid, &host, &config, &r.ui);
}

static int open_ui(void)
{
	return open_ui_as((enum ui_layout)0);
}

static int start(void **state)
{
	struct winsize ws = {.ws_row = 30, .ws_col = 100};

	(void)state;
	memset(&r, 0, sizeof(r));
	setenv("TERM", "xterm-256color", 1);
	setenv("COLORTERM", "truecolor", 1);
	setenv("LANG", "C.UTF-8", 1);
	unsetenv("LC_ALL");
	unsetenv("NO_COLOR");
	r.loop = zev_loop_new();
	assert_int_equal(openpty(&r.master, &r.slave, NULL, NULL, &ws), 0);
	zw_set_nonblock(r.master);
	tcgetattr(r.slave, &r.before);
	zw_buf_init(&r.out, 64u << 20);
	r.io = zev_io_new(r.loop, r.master, ZEV_READ, on_master, NULL);
	r.timer = zev_timer_new(r.loop, on_timer, NULL);
	r.grid = zw_xcalloc(1, PANE_GRID_SIZE_B);
	r.grid->is_awaited = 1;
	ui_model_fill(&r.model);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	ui_free(r.ui);
	zev_io_free(r.io);
	zev_timer_free(r.timer);
	close(r.master);
	close(r.slave);
	zw_buf_fini(&r.out);
	mdl_session_fini(&r.model);
	free(r.grid);
	zev_loop_free(r.loop);
	return 0;
}

static bool sent(const char *bytes)
{
	return r.out.len > 0 &&
	       memmem(zw_buf_head(&r.out), r.out.len, bytes, strlen(bytes)) != NULL;
}

static void forget(void)
{
	zw_buf_consume(&r.out, r.out.len);
}

static void type(const char *bytes)
{
	assert_int_equal(write(r.master, bytes, strlen(bytes)), strlen(bytes));
	run_ms(120);
}

static void test_Z107_term__unknown_is_refused(void **state)
{
	static const char *const bad[] = {"", "dumb", "no-such-terminal", "../../etc/passwd"};

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(bad); i++) {
		setenv("TERM", bad[i], 1);
		assert_int_equal(open_ui(), ZW_E_UNSUPPORTED);
		assert_null(r.ui);
	}
	unsetenv("TERM");
	assert_int_equal(open_ui(), ZW_E_UNSUPPORTED);
	setenv("TERM", "xterm", 1);
	int pipes[2];
	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	int slave = r.slave;
	r.slave = pipes[0];
	assert_int_equal(open_ui(), -ENOTTY);
	r.slave = slave;
	close(pipes[0]);
	close(pipes[1]);
	run_ms(10);
	assert_int_equal(r.out.len, 0); /* and nothing was written */
}

static void test_Z107_term__known_ones_draw(void **state)
{
	static const char *const good[] = {"xterm", "linux", "vt100", "screen-256color",
					   "tmux-256color"};

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(good); i++) {
		setenv("TERM", good[i], 1);
		unsetenv("COLORTERM");
		setenv("LANG", i % 2 == 0 ? "C" : "no_SUCH.locale", 1);
		assert_int_equal(open_ui(), 0);
		run_ms(60);
		assert_true(sent("Unix sockets"));
		assert_false(sent("\xe2\x94\x80")); /* borders are ASCII */
		assert_false(sent("\033[1;24r"));   /* no scroll region of another size */
		assert_false(sent("38;2;"));
		forget();
		ui_free(zw_steal(&r.ui));
		run_ms(20);
	}
}

static void test_Z102_exit__given_back_as_it_was(void **state)
{
	struct termios after;

	(void)state;
	assert_int_equal(open_ui(), 0);
	run_ms(60);
	assert_true(sent("\033[?1049h"));
	assert_true(sent("\033[?2004h"));
	tcgetattr(r.slave, &after);
	assert_false((after.c_lflag & ICANON) != 0);
	forget();
	ui_free(zw_steal(&r.ui));
	run_ms(20);
	assert_true(sent("\033[?2004l"));
	assert_true(sent("\033[?1004l"));
	assert_true(sent("\033[r"));
	assert_true(sent("\033[?1049l"));
	assert_true(sent("\033[?25h"));
	tcgetattr(r.slave, &after);
	assert_int_equal(after.c_lflag, r.before.c_lflag);
	assert_int_equal(after.c_iflag, r.before.c_iflag);
	assert_int_equal(after.c_oflag, r.before.c_oflag);
	/* the shell's own descriptor did not become non-blocking */
	assert_false((fcntl(r.slave, F_GETFL) & O_NONBLOCK) != 0);
}

static void test_Z102_exit__late_answers_are_swallowed(void **state)
{
	char bytes[16];

	(void)state;
	assert_int_equal(open_ui(), 0);
	/* The probes are still in the pty, nobody has answered yet. */
	assert_int_equal(write(r.master, "\033[?62;22c", 9), 9);
	ui_free(zw_steal(&r.ui));
	fcntl(r.slave, F_SETFL, O_NONBLOCK);
	assert_int_equal(read(r.slave, bytes, sizeof(bytes)), -1);
}

static void test_emergency__restores(void **state)
{
	struct termios after;

	(void)state;
	assert_int_equal(open_ui(), 0);
	frame(PANE_MODE_CURSOR_KEYS | PANE_MODE_MOUSE_MOVE);
	run_ms(60);
	forget();
	ui_emergency_restore();
	run_ms(20);
	assert_true(sent("\033[?1l"));
	assert_true(sent("\033[?1003l"));
	assert_true(sent("\033[?1049l"));
	tcgetattr(r.slave, &after);
	assert_true((after.c_lflag & ICANON) != 0);
}

static void test_modes__mirrored(void **state)
{
	(void)state;
	assert_int_equal(open_ui(), 0);
	frame(PANE_MODE_CURSOR_KEYS | PANE_MODE_MOUSE_DRAG | PANE_MODE_KEYPAD);
	run_ms(60);
	assert_true(sent("\033[?1h"));
	assert_true(sent("\033="));
	assert_true(sent("\033[?1002h\033[?1006h"));
	forget();
	ui_model_ask_docker(&r.model, 1);
	ui_changed(r.ui, MDL_CHANGED_ASKS);
	type("\x1d"
	     "a");
	assert_true(sent("\033[?1l"));
	assert_true(sent("\033[?1002l"));
	forget();
	type("\033");
	run_ms(100);
	assert_true(sent("\033[?1h"));
	assert_int_equal(r.input_len, 0);
	type("x");
	assert_int_equal(r.input_len, 1);
}

static void test_probes__what_the_terminal_told(void **state)
{
	struct winsize ws = {.ws_row = 30, .ws_col = 100, .ws_xpixel = 900, .ws_ypixel = 600};

	(void)state;
	ioctl(r.master, TIOCSWINSZ, &ws);
	r.answers = "\033[?0u\033]10;rgb:ffff/8080/0000\033\\\033]11;rgb:12/34/56\a";
	assert_int_equal(open_ui(), 0);
	assert_int_equal(r.n_told, 0);
	run_ms(60);
	assert_int_equal(r.n_told, 1);
	assert_int_equal(r.told.fg_rgb, 0xff8000);
	assert_int_equal(r.told.bg_rgb, 0x123456);
	assert_true(r.told.has_kitty);
	assert_int_equal(r.told.cell_width, 9);
	assert_int_equal(r.told.cell_height, 20);
	type("\033]"); /* from now on that is Alt-] */
	assert_int_equal(r.input_len, 2);
	ws.ws_xpixel = 1000;
	ioctl(r.master, TIOCSWINSZ, &ws);
	ui_resized(r.ui);
	assert_int_equal(r.n_told, 2);
	assert_int_equal(r.told.cell_width, 10);
}

static void test_probes__a_terminal_that_tells_little(void **state)
{
	(void)state;
	assert_int_equal(open_ui(), 0);
	run_ms(60);
	assert_int_equal(r.n_told, 1);
	assert_int_equal(r.told.fg_rgb, 0xd0d0d0);
	assert_int_equal(r.told.bg_rgb, 0);
	assert_false(r.told.has_kitty);
	assert_int_equal(r.told.cell_width, 0);
}

static void test_copy__osc_52_in_base64(void **state)
{
	(void)state;
	unsetenv("TMUX");
	unsetenv("STY");
	assert_int_equal(open_ui(), 0);
	run_ms(60);
	setenv("XDG_RUNTIME_DIR", "/nonexistent", 1);
	type("\x1d[y");
	ui_text(r.ui, "one\ntwo\xc3\xa4\033", 10, true, false);
	run_ms(60);
	assert_true(sent("\033]52;c;b25lCnR3b8OkGw==\a"));
	setenv("TMUX", "x", 1);
	setenv("PATH", "/nonexistent", 1);
	type("\x1d[y");
	ui_text(r.ui, "ab", 2, true, false);
	run_ms(60);
	assert_true(sent("\033Ptmux;\033\033]52;c;YWI=\a\033\\"));
	unsetenv("TMUX");
	setenv("STY", "x", 1);
	type("\x1d[y");
	ui_text(r.ui, "a", 1, true, false);
	run_ms(60);
	assert_true(sent("\033P\033]52;c;YQ==\a\033\\"));
	unsetenv("STY");
}

static void test_sync__only_where_the_terminal_said_so(void **state)
{
	(void)state;
	assert_int_equal(open_ui(), 0);
	run_ms(60);
	assert_false(sent("\033[?2026h"));
	type("\033[?2026;2$y\033[?62c");
	frame(0);
	r.grid->cell[0][0].cp[0] = 'Q';
	run_ms(60);
	assert_true(sent("\033[?2026h"));
	assert_true(sent("\033[?2026l"));
	assert_int_equal(r.input_len, 0);
}

/* Whatever the cells hold, the terminal gets ncurses' sequences and printable text. */
/* All that was sent up to here is in the grammar. */
static void only_listed(void)
{
	struct ui_guard g = {.state = 0};

	assert_true(ui_guard_pass(&g, r.out.len > 0 ? zw_buf_head(&r.out) : (const void *)"",
				  r.out.len));
}

static void test_Z099_cells__nothing_unlisted_reaches_the_terminal(void **state)
{
	static const uint32_t evil[] = {0x1b,	0x9b,	0x9d,	0x07,	  0x0a,	      0x202e,
					0x200b, 0xfeff, 0xd800, 0x110000, 0xffffffff, 0xe0041};

	(void)state;
	assert_int_equal(open_ui(), 0);
	for (int i = 0; i < 1000; i++) {
		struct pane_cell *c = &r.grid->cell[i / 100][i % 100];

		memset(c, 0xff - i % 7, sizeof(*c));
		c->cp[0] = evil[i % (int)ZW_N_ELEMENTS(evil)];
		c->cp[1] = evil[(i / 5) % (int)ZW_N_ELEMENTS(evil)];
		c->width = (uint8_t)(i % 4);
	}
	run_ms(40);
	forget();
	frame(0);
	run_ms(60);
	assert_true(r.out.len > 0);
	only_listed();
	assert_false(sent("\xe2\x80\xae"));
}

/* -- the agent's bytes, all the way -------------------------------------------------------------- */

static void on_title(void *arg, const char *title)
{
	(void)arg;
	free(r.model.title);
	r.model.title = zw_xstrdup(title);
	ui_changed(r.ui, MDL_CHANGED_STATUS);
}

static void on_bell(void *arg)
{
	(void)arg;
	ui_note(r.ui, ZW_NOTE_KIND_BELL, 1, "");
}

static void on_note(void *arg, const char *title, const char *text)
{
	(void)arg;
	ui_note(r.ui, ZW_NOTE_KIND_NOTIFY, 0, *title != '\0' ? title : text);
}

static void on_progress(void *arg, unsigned state, unsigned percent)
{
	(void)arg;
	(void)state;
	(void)percent;
}

static void on_clipboard(void *arg, bool is_read, size_t len_b, struct zw_span text)
{
	(void)arg;
	(void)is_read;
	(void)len_b;
	if (text.p != NULL)
		ui_agent_clip(r.ui, text.p, text.len);
}

static const struct pane_vt_events vt_events = {on_title, on_bell, on_note, on_progress,
						on_clipboard};

static void show(struct pane_vt *vt)
{
	struct ui_frame f = {.rows = r.rows, .cols = r.cols};
	struct pane_vt_state s;
	int before = r.n_frames_done;

	pane_vt_publish(vt, r.grid);
	pane_vt_state(vt, &s);
	f.cursor_row = (int)s.cursor_row;
	f.cursor_col = (int)s.cursor_col;
	f.cursor_shape = s.cursor_shape;
	f.modes = s.modes;
	f.kitty_flags = s.kitty_flags;
	f.modify_other_keys = s.modify_other_keys;
	ui_frame(r.ui, &f);
	while (r.n_frames_done == before)
		run_ms(2);
}

static void feed_all(struct pane_vt *vt, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len;)
		i += pane_vt_feed(vt, bytes + i, len - i, zw_mono_ms());
	zw_buf_consume(pane_vt_replies(vt), pane_vt_replies(vt)->len);
	show(vt);
}

/* The corpus of the fuzzer, and what it is made of, mixed anew each time. */
static void feed_corpus(struct pane_vt *vt)
{
	static const char *const part[] = {
		"text ",
		"\xe6\x97\xa5",
		"\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7",
		"\xcc\x81",
		"\xe2\x80\xae",
		"\xc2\x9b",
		"\xff",
		"\xf3\xa0\x81\x81",
		"\r\n",
		"\b",
		"\t",
		"\x0e",
		"\033(0",
		"\033[7;3;9;4:3m",
		"\033[38;2;1;2;3;48;5;9m",
		"\033[m",
		"\033[5;5H",
		"\033[2J",
		"\033[3L",
		"\033[2;9r",
		"\033[?1049h",
		"\033[?1049l",
		"\033[?1003;1006h",
		"\033[?1016h",
		"\033[>31u",
		"\033[<u",
		"\033[>4;2m",
		"\033[?1h",
		"\033=",
		"\033[?2004h",
		"\033[?1004h",
		"\033[6 q",
		"\033[?25l",
		"\033[?5h",
		"\033]2;a\033b\a",
		("\033]2;\xe2\x80\xae"
		 "evil\a"),
		"\033]9;note\a",
		"\033]52;c;G10yO2V2aWwH\a",
		"\033]8;;http://x\033\\",
		"\033]4;1;#123456\a",
		"\033]11;#fff\a",
		"\033P$qm\033\\",
		"\033_G;\033\\",
		"\033c",
		"\033#8",
		"\033[21t",
		"\033[i",
	};
	DIR *dir = opendir("tests/fuzz/corpus/vt");
	struct dirent *e;
	unsigned seed = 7;

	assert_non_null(dir);
	while ((e = readdir(dir)) != NULL) {
		zw_autofree char *path = zw_xasprintf("tests/fuzz/corpus/vt/%s", e->d_name);
		zw_autofree char *bytes = NULL;
		size_t len;

		if (e->d_name[0] != '.' && zw_read_file(path, 1u << 20, &bytes, &len) == 0)
			feed_all(vt, bytes, len);
	}
	closedir(dir);
	for (int round = 0; round < 60; round++) {
		char bytes[2048];
		size_t n = 0;

		for (int i = 0; i < 60; i++) {
			seed = seed * 1103515245u + 12345u;
			n += zw_strlcpy(bytes + n, part[(seed >> 16) % ZW_N_ELEMENTS(part)],
					sizeof(bytes) - n);
		}
		feed_all(vt, bytes, n);
	}
}

static void test_Z099_corpus__only_listed_bytes_on_every_terminal(void **state)
{
	static const char *const names[] = {"xterm-256color", "linux", "vt100", "screen"};

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(names); i++) {
		setenv("TERM", names[i], 1);
		if (i > 0)
			unsetenv("COLORTERM");
		r.answers = i == 0 ? "\033[?2026;2$y\033[?0u" : NULL;
		assert_int_equal(open_ui(), 0);
		struct pane_vt_config config = {
			.rows = (unsigned)r.rows, .cols = (unsigned)r.cols, .has_clipboard = true};
		struct pane_vt *vt = pane_vt_new(&config, &vt_events, NULL);
		run_ms(20);
		feed_corpus(vt);
		pane_vt_free(vt);
		ui_free(zw_steal(&r.ui));
		run_ms(20);
		assert_true(r.out.len > 1000);
		/* What it put on the clipboard came without its controls. */
		assert_true(sent("\033]52;c;XTI7ZXZpbA==\a") == (i != 1));
		only_listed();
		forget();
	}
}

static void test_colour__true_or_the_nearest(void **state)
{
	(void)state;
	r.grid->cell[0][0] = (struct pane_cell){.cp = {'Q'},
						.width = 1,
						.fg = PANE_COLOUR_RGB | 0x010203,
						.bg = PANE_COLOUR_INDEX | 200};
	r.grid->cell[0][1] = (struct pane_cell){
		.cp = {'S'}, .width = 1, .attrs = PANE_ATTR_STRIKE, .underline = PANE_UL_DOUBLE};
	assert_int_equal(open_ui(), 0);
	frame(0);
	run_ms(60);
	assert_true(sent("38;2;1;2;3"));
	assert_true(sent("48;5;200"));
	assert_true(sent("\033[9m"));
	ui_free(zw_steal(&r.ui));
	unsetenv("COLORTERM");
	forget();
	assert_int_equal(open_ui(), 0);
	frame(0);
	run_ms(60);
	assert_false(sent("38;2;"));
	assert_true(sent("38;5;16m"));
	assert_true(sent("48;5;200m"));
	ui_free(zw_steal(&r.ui));
	setenv("NO_COLOR", "1", 1);
	forget();
	assert_int_equal(open_ui(), 0);
	frame(0);
	run_ms(60);
	assert_false(sent("8;5;"));
}

/* One random act of a program on its screen: text with wide and combining characters, erasing, moving rows. */
static size_t random_act(char *out, size_t size)
{
	static const char *const text[] = {"a",		"Z",
					   " ",		"\xe6\x97\xa5",
					   "e\xcc\x81", "\xe6\x9c\xac\xe8\xaa\x9e",
					   "\033[31m",	"\033[48;5;4m",
					   "\033[m",	"\033[K",
					   "\033[@",	"\033[P",
					   "\033[L",	"\033[M",
					   "\r\n"};
	int len = snprintf(out, size, "\033[%d;%dH", rand() % r.rows + 1, rand() % r.cols + 1);

	for (int i = rand() % 4; i >= 0; i--)
		len += snprintf(out + len, size - (size_t)len, "%s",
				text[(size_t)rand() % ZW_N_ELEMENTS(text)]);
	return (size_t)len;
}

static uint32_t shown_as(const struct pane_cell *cell)
{
	return cell->cp[0] == 0 ? ' ' : cell->cp[0];
}

static bool is_alike(const struct pane_cell *got, const struct pane_cell *want)
{
	return got->width == want->width &&
	       (want->width == 0 || (shown_as(got) == shown_as(want) && got->cp[1] == want->cp[1] &&
				     got->bg == want->bg));
}

/* Whether the terminal shows in the agent's part what the agent printed. */
static bool is_shown(struct pane_vt *terminal, const struct pane_vt *agent)
{
	struct pane_cell want[100], got[100];
	struct ui_rects rects;

	for (size_t i = 0; i < r.out.len;)
		i += pane_vt_feed(terminal, zw_buf_head(&r.out) + i, r.out.len - i, zw_mono_ms());
	zw_buf_consume(pane_vt_replies(terminal), pane_vt_replies(terminal)->len);
	forget();
	ui_layout_make(UI_LAYOUT_COLLAPSED, 30, 100, &rects);
	for (int row = 0; row < r.rows; row++) {
		pane_vt_copy_row(agent, (unsigned)row, want);
		pane_vt_copy_row(terminal, (unsigned)(rects.agent.top + row), got);
		for (int col = 0; col < r.cols; col++)
			if (!is_alike(&got[rects.agent.left + col], &want[col]))
				return false;
	}
	return true;
}

/* Rows drawn alone and parts of rows pushed alone end in the picture that the agent printed. Without lists
 * nothing else is drawn, that would mend it a second later. */
static void test_part__as_if_all_were_drawn(void **state)
{
	const struct pane_vt_config outer = {.rows = 30, .cols = 100};
	struct pane_vt *terminal = pane_vt_new(&outer, &vt_events, NULL);
	char act[1024];

	(void)state;
	srand(7);
	assert_int_equal(open_ui_as(UI_LAYOUT_COLLAPSED), 0);
	struct pane_vt_config config = {.rows = (unsigned)r.rows, .cols = (unsigned)r.cols};
	struct pane_vt *vt = pane_vt_new(&config, &vt_events, NULL);
	run_ms(20);
	for (int i = 0; i < 60; i++) {
		size_t len = 0;

		for (int n = rand() % 8; n >= 0; n--)
			len += random_act(act + len, sizeof(act) - len);
		feed_all(vt, act, len);
		for (int wait = 0; !is_shown(terminal, vt); wait++) {
			assert_true(wait < 3000);
			run_ms(10);
		}
	}
	pane_vt_free(vt);
	pane_vt_free(terminal);
}

static void test_colour__more_pairs_than_there_are(void **state)
{
	uint32_t n = 0;

	(void)state;
	assert_int_equal(open_ui(), 0);
	for (int pass = 0; pass < 50; pass++) {
		for (int i = 0; i < 1600; i++, n++)
			r.grid->cell[i / 100][i % 100] =
				(struct pane_cell){.cp = {'x'},
						   .width = 1,
						   .fg = PANE_COLOUR_RGB | n,
						   .bg = PANE_COLOUR_RGB | (n + 1)};
		frame(0);
		for (int i = 0; i < 100 && r.n_frames_done <= pass; i++)
			run_ms(10);
		forget();
	}
	assert_int_equal(r.n_frames_done, 50);
	/* the colours are still right after the table began anew */
	frame(0);
	run_ms(60);
	r.grid->cell[0][0].fg = PANE_COLOUR_RGB | 0x0a0b0c;
	frame(0);
	run_ms(60);
	assert_true(sent("38;2;10;11;12"));
}

static void test_stuck__a_terminal_that_does_not_read(void **state)
{
	int64_t worst = 0, begin;

	(void)state;
	assert_int_equal(open_ui(), 0);
	run_ms(60);
	zev_io_set(r.io, 0);
	for (int i = 0; i < 100; i++) {
		for (int k = 0; k < 1600; k++)
			r.grid->cell[k / 100][k % 100] = (struct pane_cell){
				.cp = {'a' + (uint32_t)((i + k) % 26)},
				.width = 1,
				.fg = PANE_COLOUR_RGB | (uint32_t)(i * 1600 + k)};
		begin = zw_mono_ms();
		frame(0);
		run_ms(2);
		if (zw_mono_ms() - begin > worst)
			worst = zw_mono_ms() - begin;
	}
	assert_in_range(worst, 0, 20000);  /* it does not wait for the terminal */
	assert_true(r.n_frames_done < 10); /* frames are not even copied */
	zev_io_set(r.io, ZEV_READ);
	run_ms(200);
	forget();
	frame(0);
	run_ms(60);
	assert_true(r.n_frames_done > 0);
	assert_true(r.out.len > 0 || r.n_frames_done > 0);
	zev_io_set(r.io, 0);
	for (int i = 0; i < 20; i++) {
		r.grid->cell[0][i].cp[0] = 'z';
		frame(0);
		run_ms(20);
	}
	begin = zw_mono_ms();
	ui_free(zw_steal(&r.ui)); /* and leaving does not hang either */
	assert_in_range(zw_mono_ms() - begin, 0, 20000);
}

static void test_resize__draws_the_new_size(void **state)
{
	struct winsize ws = {.ws_row = 24, .ws_col = 80};

	(void)state;
	assert_int_equal(open_ui(), 0);
	run_ms(60);
	assert_int_equal(r.cols, 100);
	for (int i = 0; i < 8; i++) {
		static const unsigned short sizes[][2] = {{24, 80}, {5, 20},	{1, 1},
							  {2, 300}, {100, 300}, {30, 100}};

		ws.ws_row = sizes[i % 6][0];
		ws.ws_col = sizes[i % 6][1];
		ioctl(r.master, TIOCSWINSZ, &ws);
		ui_resized(r.ui);
		frame(0);
		run_ms(40);
		assert_in_range(r.cols, 1, ws.ws_col);
	}
	assert_int_equal(r.cols, 20);
}

#define T(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_Z107_term__unknown_is_refused),
		T(test_Z107_term__known_ones_draw),
		T(test_Z102_exit__given_back_as_it_was),
		T(test_Z102_exit__late_answers_are_swallowed),
		T(test_emergency__restores),
		T(test_modes__mirrored),
		T(test_probes__what_the_terminal_told),
		T(test_probes__a_terminal_that_tells_little),
		T(test_copy__osc_52_in_base64),
		T(test_sync__only_where_the_terminal_said_so),
		T(test_Z099_cells__nothing_unlisted_reaches_the_terminal),
		T(test_Z099_corpus__only_listed_bytes_on_every_terminal),
		T(test_colour__true_or_the_nearest),
		T(test_part__as_if_all_were_drawn),
		T(test_colour__more_pairs_than_there_are),
		T(test_stuck__a_terminal_that_does_not_read),
		T(test_resize__draws_the_new_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
