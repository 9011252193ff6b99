/* SPDX-License-Identifier: MIT */
#include "ui/term.h"
#include "ui/guard.h"
#include "ui/ui.h"

#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <term.h>
#undef lines /* macros of term.h that are plain words */
#undef columns

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>

#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/utf8.h"
#include "src/base/vis.h"
#include "ui_entry.h"

#define OUT_MAX_B      (8u << 20) /* a frame of the largest screen with a colour change per cell */
#define READ_B	       (64u << 10)
#define MEM_KEEP_B     (1 << 20) /* of ncurses' file, which else is written over */
#define PAIR_SLOTS     (1u << 17)
#define PAIRS_MAX      65535
#define DIRECT_PALETTE 0x1000000 /* first number of the palette in the private entry */
#define LEAVE_MAX_B    256
#define PROBE_WAIT_MS  3000

struct pair_slot {
	uint64_t key; /* (fg + 1) << 32 | (bg + 1); 0 = free */
	int pair;
};

struct ui_term {
	struct zev_loop *loop; /* borrowed */
	struct term_host host;
	int fd;		    /* own */
	int borrowed_flags; /* of a descriptor that is shared with the shell; -1 = own */
	struct zev_io *io;
	struct termios saved;
	char *name; /* TERM */
	bool has_colour, is_direct, has_curly, has_sync, has_kitty, is_probing;
	int64_t probe_ms; /* when the probes were sent */

	SCREEN *screen;
	FILE *mem_out, *null_in;
	int mem_fd;
	int n_colours, pair_limit, pair_count;
	struct pair_slot *pairs;
	bool is_pair_full;

	struct draw_grid shown; /* what ncurses was given */
	bool is_blank;		/* and that is not what the screen shows: all rows are looked at */
	struct term_modes modes;
	struct term_cursor cursor;
	struct zw_buf out;
	struct ui_guard guard;	  /* of all that goes into it */
	bool is_paused, is_drawn; /* is_drawn: a frame is in the queue */
};

/* What makes the terminal sane again; read by a signal handler. */
static struct {
	volatile sig_atomic_t len;
	volatile sig_atomic_t fd;
	volatile sig_atomic_t flags; /* to give back, -1 = none */
	struct termios saved;
	char bytes[LEAVE_MAX_B];
} emergency = {.fd = -1};

bool term_locale_is_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < ZW_N_ELEMENTS(names); i++) {
		const char *v = getenv(names[i]);

		if (v != NULL && *v != '\0')
			return strcasestr(v, "utf-8") != NULL || strcasestr(v, "utf8") != NULL;
	}
	return false;
}

bool term_colour_is_wanted(void)
{
	const char *v = getenv("NO_COLOR");

	return v == NULL || *v == '\0';
}

/* -- writing ----------------------------------------------------------------------------------- */

static void io_want(struct ui_term *t)
{
	zev_io_set(t->io, (t->is_paused ? 0u : ZEV_READ) | (t->out.len > 0 ? ZEV_WRITE : 0u));
}

static void flush(struct ui_term *t)
{
	while (t->out.len > 0) {
		ssize_t n = write(t->fd, zw_buf_head(&t->out), t->out.len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		/* A terminal that is gone takes everything. */
		zw_buf_consume(&t->out, n > 0 ? (size_t)n : t->out.len);
	}
	io_want(t);
	if (t->out.len == 0 && t->is_drawn) {
		t->is_drawn = false;
		t->host.on_written(t->host.arg);
	}
}

/* In debug builds: whatever is written is in the list of guard.def. */
static void check(struct ui_guard *g, const void *bytes, size_t len)
{
#ifdef UI_GUARD_ON
	assert(ui_guard_pass(g, bytes, len));
#else
	(void)g;
	(void)bytes;
	(void)len;
#endif
}

static void say(struct ui_term *t, const char *s)
{
	/* Full means that the terminal has not read for megabytes: it gets the end state later. */
	if (zw_buf_add(&t->out, s, strlen(s)) == 0)
		check(&t->guard, s, strlen(s));
}

static void sayf(struct ui_term *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void sayf(struct ui_term *t, const char *fmt, ...)
{
	char s[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(s, sizeof(s), fmt, ap);
	va_end(ap);
	say(t, s);
}

/* -- modes ------------------------------------------------------------------------------------- */

static bool is_console(const struct ui_term *t)
{
	return zw_starts_with(t->name, "linux");
}

/* The bytes that undo everything that is in force now. */
static void leave_text(const struct ui_term *t, char *out, size_t size)
{
	snprintf(out, size,
		 "%s%s%s\033[m\033(B\033[?1l\033>%s\033[?1004l\033[?2004l%s\0337\033[r\0338\033[?"
		 "1049l%s"
		 "\033[?25h",
		 t->has_sync ? "\033[?2026l" : "", t->modes.kitty != 0 ? "\033[<9u" : "",
		 t->modes.modify_other_keys != 0 ? "\033[>4m" : "",
		 t->modes.mouse != 0 ? "\033[?1003l\033[?1002l\033[?1000l\033[?1006l" : "",
		 t->cursor.shape > 0 ? "\033[0 q" : "", is_console(t) ? "" : "\033[23;2t");
}

static void emergency_update(const struct ui_term *t)
{
	emergency.len = 0;
	leave_text(t, emergency.bytes, sizeof(emergency.bytes));
	check(&(struct ui_guard){.state = 0}, emergency.bytes, strlen(emergency.bytes));
	emergency.saved = t->saved;
	emergency.flags = t->borrowed_flags;
	emergency.fd = t->fd;
	emergency.len = (sig_atomic_t)strlen(emergency.bytes);
}

void term_emergency_restore(void)
{
	int fd = (int)emergency.fd;

	if (fd < 0 || emergency.len == 0)
		return;
	for (ssize_t off = 0; off < (ssize_t)emergency.len;) {
		ssize_t n = write(fd, emergency.bytes + off, (size_t)(emergency.len - off));

		/* One that is slow gets a moment; one that is stuck its settings all the same. */
		if (n < 0 && errno == EAGAIN && poll(&(struct pollfd){fd, POLLOUT, 0}, 1, 200) > 0)
			continue;
		if (n <= 0)
			break;
		off += n;
	}
	tcsetattr(fd, TCSANOW, &emergency.saved);
	if (emergency.flags >= 0)
		fcntl(fd, F_SETFL, (int)emergency.flags);
}

static void say_mouse(struct ui_term *t, int mode)
{
	if (t->modes.mouse == mode)
		return;
	if (t->modes.mouse != 0)
		sayf(t, "\033[?%dl", t->modes.mouse);
	if (mode != 0)
		sayf(t, "\033[?%dh\033[?1006h", mode);
	else
		say(t, "\033[?1006l");
	t->modes.mouse = mode;
}

static void say_kitty(struct ui_term *t, int flags)
{
	if (!t->has_kitty || flags == t->modes.kitty)
		return;
	if (flags == 0)
		say(t, "\033[<u");
	else
		sayf(t, t->modes.kitty == 0 ? "\033[>%du" : "\033[=%d;1u", flags);
	t->modes.kitty = flags;
}

void term_set_modes(struct ui_term *t, const struct term_modes *m)
{
	size_t before = t->out.len;

	if (t->modes.cursor_keys != m->cursor_keys)
		say(t, m->cursor_keys ? "\033[?1h" : "\033[?1l");
	if (t->modes.keypad != m->keypad)
		say(t, m->keypad ? "\033=" : "\033>");
	t->modes.cursor_keys = m->cursor_keys;
	t->modes.keypad = m->keypad;
	say_mouse(t, m->mouse);
	say_kitty(t, m->kitty);
	if (t->modes.modify_other_keys != m->modify_other_keys) {
		if (m->modify_other_keys == 0)
			say(t, "\033[>4m");
		else
			sayf(t, "\033[>4;%dm", m->modify_other_keys);
		t->modes.modify_other_keys = m->modify_other_keys;
	}
	if (t->out.len != before) {
		emergency_update(t);
		flush(t);
	}
}

/* -- taking and giving back -------------------------------------------------------------------- */

static void enter(struct ui_term *t)
{
	struct termios raw = t->saved;

	cfmakeraw(&raw);
	tcsetattr(t->fd, TCSADRAIN, &raw);
	t->modes = (struct term_modes){0};
	t->cursor = (struct term_cursor){0};
	if (!is_console(t))
		say(t, "\033[22;2t");
	say(t, "\033[?1049h\033[?25l\033[m\033(B\033[2J\033[?2004h\033[?1004h");
	emergency_update(t);
}

static void probe(struct ui_term *t)
{
	say(t, is_console(t) ? "\033[c" : "\033[?2026$p\033[?u\033]10;?\a\033]11;?\a\033[c");
	t->is_probing = true;
	t->probe_ms = zw_mono_ms();
}

static void wait_writable(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};

	(void)poll(&p, 1, ms);
}

/* An answer that is still on its way would appear on the shell's command line. */
static void drain_probes(struct ui_term *t)
{
	int64_t end = t->probe_ms + PROBE_WAIT_MS, left;

	while (t->is_probing && (left = end - zw_mono_ms()) > 0) {
		struct pollfd p = {.fd = t->fd, .events = POLLIN};
		char bytes[256];

		/* A signal, as that of the child that ended, is no reason to leave the answer there. */
		if (poll(&p, 1, (int)left) <= 0)
			continue;
		ssize_t n = read(t->fd, bytes, sizeof(bytes));
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			return;
		t->host.on_input(bytes, (size_t)n, t->host.arg);
	}
}

static void leave(struct ui_term *t)
{
	char text[LEAVE_MAX_B];

	leave_text(t, text, sizeof(text));
	/* What was queued may be half a sequence: it has to go first, but not for ever. */
	for (int i = 0; i < 20 && t->out.len > 0; i++) {
		wait_writable(t->fd, 25);
		ssize_t n = write(t->fd, zw_buf_head(&t->out), t->out.len);
		if (n > 0)
			zw_buf_consume(&t->out, (size_t)n);
	}
	zw_buf_consume(&t->out, t->out.len);
	wait_writable(t->fd, 100);
	(void)!write(t->fd, text, strlen(text));
	tcsetattr(t->fd, TCSANOW, &t->saved);
	emergency.fd = -1;
}

/* ncurses installs handlers where there are none; signals are the loop's business. */
static SCREEN *new_screen(const char *name, FILE *out, FILE *in)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGTSTP, SIGWINCH};
	struct sigaction saved[ZW_N_ELEMENTS(signals)];

	for (size_t i = 0; i < ZW_N_ELEMENTS(signals); i++)
		sigaction(signals[i], NULL, &saved[i]);
	SCREEN *s = newterm(name, out, in);
	for (size_t i = 0; i < ZW_N_ELEMENTS(signals); i++)
		sigaction(signals[i], &saved[i], NULL);
	return s;
}

/* A variable that is set for a moment. */
struct loan {
	const char *name;
	char *kept; /* owned; NULL = it was not set */
};

static struct loan borrow(const char *name, const char *value)
{
	const char *old = getenv(name);
	struct loan l = {name, old != NULL ? zw_xstrdup(old) : NULL};

	setenv(name, value, 1);
	return l;
}

static void give_back(struct loan *l)
{
	if (l->kept != NULL)
		setenv(l->name, l->kept, 1);
	else
		unsetenv(l->name);
	free(zw_steal(&l->kept));
}

/* With the true size from the start, by the variables that ncurses reads it from: it sets the scroll
 * region to what it takes for the screen. */
static SCREEN *new_sized_screen(const struct ui_term *t, const char *name, int rows, int cols)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", rows);
	struct loan lines = borrow("LINES", number);
	snprintf(number, sizeof(number), "%d", cols);
	struct loan columns = borrow("COLUMNS", number);
	use_env(TRUE);
	SCREEN *s = new_screen(name, t->mem_out, t->null_in);
	give_back(&columns);
	give_back(&lines);
	return s;
}

/* The private entry travels in the variable that ncurses reads it from, and is gone again. */
static SCREEN *new_direct_screen(const struct ui_term *t, int rows, int cols)
{
	struct loan entry = borrow("TERMINFO", UI_TERM_ENTRY);
	SCREEN *s = new_sized_screen(t, "zwatch-direct", rows, cols);

	give_back(&entry);
	return s;
}

static int open_screen(struct ui_term *t, int rows, int cols)
{
	t->screen = t->is_direct ? new_direct_screen(t, rows, cols) : NULL;
	if (t->screen == NULL) {
		t->is_direct = false;
		t->screen = new_sized_screen(t, t->name, rows, cols);
	}
	if (t->screen == NULL)
		return ZW_E_UNSUPPORTED;
	set_term(t->screen);
	const char *cup = cursor_address;
	if (cup == NULL || strncmp(cup, "\033[", 2) != 0) {
		delscreen(zw_steal(&t->screen));
		return ZW_E_UNSUPPORTED;
	}
	resize_term(rows, cols);
	t->n_colours = 0;
	if (t->has_colour && has_colors() && start_color() == OK && use_default_colors() == OK)
		t->n_colours = COLORS;
	t->pair_limit = COLOR_PAIRS - 1 < PAIRS_MAX ? COLOR_PAIRS - 1 : PAIRS_MAX;
	t->pair_count = 0;
	memset(t->pairs, 0, PAIR_SLOTS * sizeof(*t->pairs));
	idcok(stdscr, FALSE);
	leaveok(stdscr, FALSE);
	draw_grid_fini(&t->shown);
	draw_grid_init(&t->shown, rows, cols);
	memset(t->shown.cell, 0xff, (size_t)rows * (size_t)cols * sizeof(*t->shown.cell));
	t->is_blank = true;
	return 0;
}

static void close_screen(struct ui_term *t)
{
	if (t->screen == NULL)
		return;
	delscreen(zw_steal(&t->screen));
	(void)!ftruncate(t->mem_fd, 0);
	(void)lseek(t->mem_fd, 0, SEEK_SET);
}

static bool is_one_of(const char *word, const char *const *list)
{
	for (; *list != NULL; list++)
		if (zw_starts_with(word, *list))
			return true;
	return false;
}

int ui_check_terminal(void)
{
	const char *name = getenv("TERM");
	int err;

	if (name == NULL || *name == '\0' || strcmp(name, "dumb") == 0 || strchr(name, '/') != NULL)
		return ZW_E_UNSUPPORTED;
	/* An unknown name is not guessed at, whatever colours are promised. */
	if (setupterm(name, -1, &err) != OK)
		return ZW_E_UNSUPPORTED;
	del_curterm(cur_term);
	return 0;
}

/* What the environment tells of the terminal. */
static int look_at_env(struct ui_term *t)
{
	static const char *const direct[] = {"xterm-kitty",   "foot",	 "alacritty", "wezterm",
					     "xterm-ghostty", "contour", NULL};
	static const char *const curly[] = {"xterm-kitty",   "foot",	"alacritty", "wezterm",
					    "xterm-ghostty", "contour", NULL};
	const char *name = getenv("TERM"), *colour = getenv("COLORTERM");

	int r = ui_check_terminal();
	if (r < 0)
		return r;
	t->name = zw_xstrdup(name);
	t->is_direct = t->has_colour && (is_one_of(name, direct) || zw_ends_with(name, "-direct") ||
					 (colour != NULL && (strcmp(colour, "truecolor") == 0 ||
							     strcmp(colour, "24bit") == 0)));
	t->has_curly = is_one_of(name, curly);
	return 0;
}

/* The terminal opened anew, so that O_NONBLOCK does not leak to the shell; where that is forbidden
 * (another user's terminal, after su) the shared one, given back as it was. */
static int open_tty(struct ui_term *t, int tty_fd)
{
	char path[64];

	if (tcgetattr(tty_fd, &t->saved) < 0)
		return -errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", tty_fd);
	t->borrowed_flags = -1;
	t->fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (t->fd >= 0)
		return 0;
	t->fd = fcntl(tty_fd, F_DUPFD_CLOEXEC, 10);
	if (t->fd < 0)
		return -errno;
	t->borrowed_flags = fcntl(t->fd, F_GETFL);
	return zw_set_nonblock(t->fd);
}

static int open_memory(struct ui_term *t)
{
	t->mem_fd = memfd_create("zwatch-screen", MFD_CLOEXEC);
	if (t->mem_fd < 0)
		return -errno;
	t->mem_out = fdopen(t->mem_fd, "w+");
	t->null_in = fopen("/dev/null", "re");
	return t->mem_out != NULL && t->null_in != NULL ? 0 : -errno;
}

static void on_tty_ready(int fd, unsigned what, void *arg)
{
	struct ui_term *t = arg;
	static uint8_t bytes[READ_B];

	if ((what & ZEV_WRITE) != 0)
		flush(t);
	if ((what & ZEV_READ) == 0)
		return;
	ssize_t n = read(fd, bytes, sizeof(bytes));
	if (n > 0) {
		t->host.on_input(bytes, (size_t)n, t->host.arg);
	} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
		t->is_paused = true;
		io_want(t);
		t->host.on_hangup(t->host.arg);
	}
}

int term_new(struct zev_loop *loop, int tty_fd, bool has_colour, const struct term_host *host,
	     struct ui_term **ret)
{
	struct ui_term *t = zw_xnew(struct ui_term);
	int rows, cols;

	*t = (struct ui_term){
		.loop = loop, .host = *host, .fd = -1, .borrowed_flags = -1, .mem_fd = -1};
	t->has_colour = has_colour;
	zw_buf_init(&t->out, OUT_MAX_B);
	t->pairs = zw_xcalloc(PAIR_SLOTS, sizeof(*t->pairs));
	draw_locale_init();
	int r = open_tty(t, tty_fd);
	if (r == 0)
		r = look_at_env(t);
	if (r == 0)
		r = open_memory(t);
	if (r == 0) {
		term_size(t, &rows, &cols);
		r = open_screen(t, rows, cols);
	}
	if (r < 0) {
		term_free(t);
		return r;
	}
	t->io = zev_io_new(loop, t->fd, ZEV_READ, on_tty_ready, t);
	enter(t);
	probe(t);
	flush(t);
	*ret = t;
	return 0;
}

void term_free(struct ui_term *t)
{
	if (t == NULL)
		return;
	if (t->io != NULL) {
		drain_probes(t);
		zev_io_free(t->io);
		leave(t);
	}
	close_screen(t);
	if (t->mem_out != NULL)
		fclose(t->mem_out);
	else if (t->mem_fd >= 0)
		close(t->mem_fd);
	if (t->null_in != NULL)
		fclose(t->null_in);
	if (t->borrowed_flags >= 0)
		fcntl(t->fd, F_SETFL, t->borrowed_flags);
	zw_close(&t->fd);
	draw_grid_fini(&t->shown);
	zw_buf_fini(&t->out);
	free(t->pairs);
	free(t->name);
	free(t);
}

void term_suspend(struct ui_term *t)
{
	struct sigaction dfl = {.sa_handler = SIG_DFL}, old;

	leave(t);
	sigaction(SIGTSTP, &dfl, &old);
	raise(SIGTSTP);
	sigaction(SIGTSTP, &old, NULL);
	if (t->borrowed_flags >= 0)
		(void)zw_set_nonblock(t->fd);
	enter(t);
	term_redraw(t);
	flush(t);
}

bool term_retake(struct ui_term *t)
{
	struct termios now;

	if (tcgetattr(t->fd, &now) < 0 || (now.c_lflag & (ICANON | ECHO)) == 0)
		return false;
	/* What the shell made of it meanwhile is how it gets it back. */
	t->saved = now;
	if (t->borrowed_flags >= 0)
		(void)zw_set_nonblock(t->fd);
	enter(t);
	term_redraw(t);
	flush(t);
	return true;
}

/* -- drawing ----------------------------------------------------------------------------------- */

void term_size(const struct ui_term *t, int *ret_rows, int *ret_cols)
{
	struct winsize ws;
	bool is_told = ioctl(t->fd, TIOCGWINSZ, &ws) == 0 && ws.ws_row > 0 && ws.ws_col > 0;

	*ret_rows = !is_told ? 24 : ws.ws_row < 1000 ? ws.ws_row : 1000;
	*ret_cols = !is_told ? 80 : ws.ws_col < 1000 ? ws.ws_col : 1000;
}

void term_cell_size(const struct ui_term *t, int *ret_width, int *ret_height)
{
	struct winsize ws;
	bool is_told = ioctl(t->fd, TIOCGWINSZ, &ws) == 0 && ws.ws_row > 0 && ws.ws_col > 0;

	*ret_width = is_told ? ws.ws_xpixel / ws.ws_col : 0;
	*ret_height = is_told ? ws.ws_ypixel / ws.ws_row : 0;
}

bool term_is_ready(const struct ui_term *t)
{
	return t->out.len == 0;
}

void term_redraw(struct ui_term *t)
{
	memset(t->shown.cell, 0xff,
	       (size_t)t->shown.rows * (size_t)t->shown.cols * sizeof(*t->shown.cell));
	t->is_blank = true;
	clearok(curscr, TRUE);
}

static int square(int n)
{
	return n * n;
}

static uint32_t palette_rgb(int n)
{
	static const uint32_t basic[] = {0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd,
					 0x00cdcd, 0xe5e5e5, 0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00,
					 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff};
	static const uint8_t level[] = {0, 95, 135, 175, 215, 255};

	if (n < 16)
		return basic[n];
	if (n >= 232)
		return (uint32_t)(8 + 10 * (n - 232)) * 0x010101u;
	n -= 16;
	return (uint32_t)level[n / 36] << 16 | (uint32_t)level[n / 6 % 6] << 8 | level[n % 6];
}

/* The nearest of the palette's colours from @first up to @end. */
static int nearest(uint32_t rgb, int first, int end)
{
	int best = first, best_far = INT32_MAX;

	for (int n = first; n < end; n++) {
		uint32_t p = palette_rgb(n);
		int far = square((int)(p >> 16 & 255) - (int)(rgb >> 16 & 255)) +
			  square((int)(p >> 8 & 255) - (int)(rgb >> 8 & 255)) +
			  square((int)(p & 255) - (int)(rgb & 255));

		if (far < best_far) {
			best = n;
			best_far = far;
		}
	}
	return best;
}

/* Number of a colour for ncurses; -1 = the terminal's default. */
static int colour(const struct ui_term *t, uint32_t c)
{
	uint32_t kind = c & PANE_COLOUR_KIND, value = c & 0xffffffu;

	if (t->n_colours == 0 || (kind != PANE_COLOUR_INDEX && kind != PANE_COLOUR_RGB))
		return -1;
	if (t->is_direct)
		return kind == PANE_COLOUR_RGB ? (int)value : DIRECT_PALETTE + (int)(value & 255);
	if (kind == PANE_COLOUR_INDEX && (int)(value & 255) < t->n_colours)
		return (int)(value & 255);
	if (kind == PANE_COLOUR_INDEX)
		value = palette_rgb((int)(value & 255));
	if (t->n_colours >= 256)
		return nearest(value, 16, 256);
	return nearest(value, 0, t->n_colours >= 16 ? 16 : 8);
}

static int pair_of(struct ui_term *t, int fg, int bg)
{
	uint64_t key = (uint64_t)(uint32_t)(fg + 1) << 32 | (uint32_t)(bg + 1);

	if (fg == -1 && bg == -1)
		return 0;
	uint32_t i = (uint32_t)(key * 0x9e3779b97f4a7c15u >> 47);
	while (t->pairs[i].key != 0 && t->pairs[i].key != key)
		i = (i + 1) & (PAIR_SLOTS - 1);
	if (t->pairs[i].key == key)
		return t->pairs[i].pair;
	if (t->pair_count >= t->pair_limit) {
		t->is_pair_full = true;
		return 0;
	}
	t->pairs[i] = (struct pair_slot){key, ++t->pair_count};
	init_extended_pair(t->pair_count, fg, bg);
	return t->pair_count;
}

static attr_t attributes(const struct ui_term *t, const struct pane_cell *cell)
{
	attr_t a = 0;

	a |= (cell->attrs & PANE_ATTR_BOLD) != 0 ? A_BOLD : 0;
	a |= (cell->attrs & PANE_ATTR_DIM) != 0 ? A_DIM : 0;
	a |= (cell->attrs & PANE_ATTR_ITALIC) != 0 ? A_ITALIC : 0;
	a |= (cell->attrs & PANE_ATTR_BLINK) != 0 ? A_BLINK : 0;
	a |= (cell->attrs & PANE_ATTR_REVERSE) != 0 ? A_REVERSE : 0;
	a |= (cell->attrs & PANE_ATTR_CONCEAL) != 0 ? A_INVIS : 0;
	a |= (cell->attrs & PANE_ATTR_STRIKE) != 0 && t->is_direct ? A_PROTECT : 0;
	if (cell->underline == PANE_UL_DOUBLE && t->is_direct)
		a |= A_LOW;
	else if (cell->underline == PANE_UL_CURLY && t->is_direct && t->has_curly)
		a |= A_HORIZONTAL;
	else if (cell->underline != PANE_UL_NONE)
		a |= A_UNDERLINE;
	return a;
}

static void cchar_of(struct ui_term *t, const struct pane_cell *cell, int pair, cchar_t *out)
{
	wchar_t text[PANE_CLUSTER_MAX + 1] = {0};

	for (int i = 0; i < PANE_CLUSTER_MAX && cell->cp[i] != 0; i++)
		text[i] = (wchar_t)cell->cp[i];
	if (text[0] == 0)
		text[0] = L' ';
	setcchar(out, text, attributes(t, cell), 0, &pair);
}

/* A part of a row as characters for ncurses: a wide one stands once, for its two columns. */
static void push_part(struct ui_term *t, const struct pane_cell *cell, int row, int first, int end)
{
	zw_autofree cchar_t *out = zw_xcalloc((size_t)(end - first), sizeof(*out));
	const struct pane_cell *last = NULL;
	int n = 0, pair = 0;

	for (int col = first; col < end; col++) {
		if (cell[col].width == 0)
			continue;
		if (last == NULL || cell[col].fg != last->fg || cell[col].bg != last->bg)
			pair = pair_of(t, colour(t, cell[col].fg), colour(t, cell[col].bg));
		last = &cell[col];
		cchar_of(t, last, pair, &out[n++]);
	}
	mvwadd_wchnstr(stdscr, row, first, out, n);
}

static bool cell_is(const struct pane_cell *a, const struct pane_cell *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* What differs of a row, from the first such cell to the last, and no half of a wide one. */
static void push_row(struct ui_term *t, const struct pane_cell *now, const struct pane_cell *was,
		     int row, int cols)
{
	int first = 0, end = cols;

	while (first < end && cell_is(&now[first], &was[first]))
		first++;
	while (end > first && cell_is(&now[end - 1], &was[end - 1]))
		end--;
	while (first > 0 && (now[first].width == 0 || was[first].width == 0))
		first--;
	while (end < cols && (now[end].width == 0 || was[end].width == 0))
		end++;
	push_part(t, now, row, first, end);
}

static bool push_rows(struct ui_term *t, const struct draw_grid *grid)
{
	size_t row_b = (size_t)grid->cols * sizeof(*grid->cell);

	t->is_pair_full = false;
	for (int row = 0; row < grid->rows; row++) {
		const struct pane_cell *now = &grid->cell[(size_t)row * (size_t)grid->cols];
		struct pane_cell *was = &t->shown.cell[(size_t)row * (size_t)grid->cols];

		if ((grid->touched[row] == 0 && !t->is_blank) || memcmp(now, was, row_b) == 0)
			continue;
		push_row(t, now, was, row, grid->cols);
		memcpy(was, now, row_b);
	}
	t->is_blank = t->is_pair_full;
	return !t->is_pair_full;
}

/* Moves ncurses' bytes from the memory file to the queue. */
static void collect(struct ui_term *t)
{
	off_t len = lseek(t->mem_fd, 0, SEEK_CUR);
	uint8_t *room = len > 0 ? zw_buf_room(&t->out, (size_t)len) : NULL;

	if (room != NULL) {
		ssize_t n = pread(t->mem_fd, room, (size_t)len, 0);

		if (n > 0) {
			check(&t->guard, room, (size_t)n);
			zw_buf_grow(&t->out, (size_t)n);
		}
	}
	if (len > MEM_KEEP_B)
		(void)!ftruncate(t->mem_fd, 0);
	(void)lseek(t->mem_fd, 0, SEEK_SET);
}

static void say_cursor(struct ui_term *t, const struct term_cursor *c)
{
	if (c->shape != t->cursor.shape && !is_console(t))
		sayf(t, "\033[%d q", c->shape);
	if (c->is_visible)
		say(t, "\033[?25h");
	else if (t->cursor.is_visible)
		say(t, "\033[?25l");
	bool is_first_shape = c->shape != 0 && t->cursor.shape == 0;
	t->cursor = *c;
	if (is_first_shape)
		emergency_update(t);
}

static bool ensure_size(struct ui_term *t, const struct draw_grid *grid)
{
	if (grid->rows == t->shown.rows && grid->cols == t->shown.cols)
		return true;
	close_screen(t);
	return open_screen(t, grid->rows, grid->cols) == 0;
}

void term_draw(struct ui_term *t, const struct draw_grid *grid, const struct term_cursor *cursor)
{
	if (!ensure_size(t, grid))
		return;
	if (!push_rows(t, grid)) {
		/* The table of colour pairs is full: an empty one, and everything anew. */
		close_screen(t);
		if (open_screen(t, grid->rows, grid->cols) < 0)
			return;
		push_rows(t, grid);
	}
	wmove(stdscr, cursor->row, cursor->col);
	wnoutrefresh(stdscr);
	if (t->has_sync)
		say(t, "\033[?2026h");
	else if (t->cursor.is_visible)
		say(t, "\033[?25l");
	doupdate();
	collect(t);
	say_cursor(t, cursor);
	if (t->has_sync)
		say(t, "\033[?2026l");
	t->is_drawn = true;
	flush(t);
}

/* -- small things ------------------------------------------------------------------------------ */

void term_bell(struct ui_term *t)
{
	say(t, "\a");
	flush(t);
}

/* An OSC string of safe characters only. */
static void say_osc(struct ui_term *t, int number, const char *text)
{
	char safe[128];

	zw_vis(safe, sizeof(safe), text, strlen(text));
	if (!is_console(t))
		sayf(t, "\033]%d;%s\a", number, safe);
	flush(t);
}

/* Which form of a notice the terminal knows; behind tmux and screen nobody tells. */
static const char *notice_form(void)
{
	const char *term = getenv("TERM"), *program = getenv("TERM_PROGRAM");

	if (getenv("TMUX") != NULL || getenv("STY") != NULL || term == NULL)
		return "9;";
	if (zw_starts_with(term, "xterm-kitty"))
		return "99;i=zwatch;";
	if (zw_starts_with(term, "foot") || zw_starts_with(term, "rxvt") ||
	    getenv("VTE_VERSION") != NULL || (program != NULL && strcmp(program, "konsole") == 0))
		return "777;notify;zwatch;";
	if (program == NULL && getenv("KITTY_WINDOW_ID") != NULL)
		return "99;i=zwatch;";
	return "9;";
}

void term_notice(struct ui_term *t, const char *text)
{
	bool is_tmux = getenv("TMUX") != NULL, is_screen = !is_tmux && getenv("STY") != NULL;
	const char *form = notice_form();
	char safe[1024];

	if (is_console(t))
		return;
	if (text == NULL) { /* one terminal can take it back */
		if (zw_starts_with(form, "99;"))
			say(t, "\033]99;i=zwatch:p=close;\a");
		flush(t);
		return;
	}
	zw_vis(safe, sizeof(safe), text, strlen(text));
	/* In parts: what was cut short would have no end. */
	sayf(t, "%s\033]%s", is_tmux ? "\033Ptmux;\033" : is_screen ? "\033P" : "", form);
	say(t, safe);
	say(t, is_tmux || is_screen ? "\a\033\\" : "\a");
	flush(t);
}

/* -- the clipboard --------------------------------------------------------------------------------- */

#define SCREEN_PIECE_B 500 /* GNU screen takes no longer strings */

static void say_base64(struct ui_term *t, const char *text, size_t len)
{
	static const char digit[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *p = (const uint8_t *)text;

	for (size_t i = 0; i < len; i += 3) {
		uint32_t v = (uint32_t)p[i] << 16 | (i + 1 < len ? (uint32_t)p[i + 1] << 8 : 0) |
			     (i + 2 < len ? p[i + 2] : 0u);
		char four[5] = {digit[v >> 18], digit[v >> 12 & 63],
				i + 1 < len ? digit[v >> 6 & 63] : '=',
				i + 2 < len ? digit[v & 63] : '='};

		/* screen: the string is passed on in pieces. */
		if (getenv("STY") != NULL && i > 0 && i % (SCREEN_PIECE_B / 4 * 3) == 0)
			say(t, "\033\\\033P");
		say(t, four);
	}
}

void term_copy(struct ui_term *t, const char *text, size_t len)
{
	bool is_tmux = getenv("TMUX") != NULL, is_screen = !is_tmux && getenv("STY") != NULL;

	/* A string that is begun must be ended: all of it or nothing. */
	if (is_console(t) || zw_buf_left(&t->out) < len * 2 + 1024)
		return;
	say(t, is_tmux ? "\033Ptmux;\033\033]52;c;" : is_screen ? "\033P\033]52;c;" : "\033]52;c;");
	say_base64(t, text, len);
	say(t, is_tmux || is_screen ? "\a\033\\" : "\a");
	flush(t);
}

bool term_has_clipboard(const struct ui_term *t)
{
	static const char *const names[] = {"xterm-kitty",   "foot",	"alacritty", "wezterm",
					    "xterm-ghostty", "contour", NULL};
	static const char *const programs[] = {"iTerm.app", "WezTerm", "ghostty", "vscode", NULL};
	const char *program = getenv("TERM_PROGRAM");

	return is_one_of(t->name, names) || (program != NULL && is_one_of(program, programs));
}

void term_title(struct ui_term *t, const char *text)
{
	say_osc(t, 2, text);
}

void term_has_sync(struct ui_term *t, bool is_there)
{
	t->has_sync = is_there;
	emergency_update(t);
}

void term_has_kitty(struct ui_term *t, bool is_there)
{
	t->has_kitty = is_there;
}

void term_probes_done(struct ui_term *t)
{
	t->is_probing = false;
}

void term_read_pause(struct ui_term *t, bool is_paused)
{
	t->is_paused = is_paused;
	io_want(t);
}
