/* SPDX-License-Identifier: MIT
 * Runs the screens of tests/term/NAME.test against the terminal engine.
 *
 * A file is a list of lines; each CASE starts with a fresh terminal of 5 x 20:
 *
 *   CASE what it shows       begins a case
 *   SIZE rows cols [WORD]    a fresh terminal of this size; kitty: the real one speaks its protocol,
 *                            clipboard: the child may set it
 *   PUSH "bytes"             C escapes: \e \r \n \t \b \a \\ \" \xHH
 *   SPLIT "bytes"            the same, one byte at a time
 *   WAIT ms                  turns the clock on
 *   FILL n "bytes"           the bytes n times
 *   RESIZE rows cols
 *   KEEP n                   a fresh terminal of 5 x 20 that keeps n lines of history
 *   LOOK n                   the view goes n lines back; LOOK 0 is live
 *   VIEW back history        where it stands now
 *   SEEN y "text"            as ROW, of the frame's rows
 *   CLEAN, DIRTY 0|1         takes a frame; whether there is something for the next
 *   FIND up|down line col "needle" and FOUND line col line col, or NOTFOUND
 *   TEXT chars|lines line col line col "text"   what is copied
 *   LINK line col "target"   "" = none
 *   ROW y "text"             the row's text, blanks at the end cut
 *   CURSOR row col
 *   CELL y x attribute...    exactly these: fg=HEX bg=HEX ul=HEX width=N bold dim italic blink
 *                            reverse conceal strike overline underline=N
 *   REPLY "bytes"            all that was answered since the last REPLY
 *   EVENT "text"             the next event: title T, bell, note T|B, progress S P, clipboard R N
 *   NOEVENT
 *   MODES HEX, KITTY n, KEYS n, SHAPE n, SYNC 0|1   of the state */
#include "tests/support/test.h"

#include <dirent.h>
#include <stdio.h>

#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/base/utf8.h"
#include "ui/pane/vt.h"

#define FOLDER	   "tests/term"
#define EVENTS_MAX 32
#define LINE_MAX_B 4096

struct bed {
	struct pane_vt *vt;
	char *event[EVENTS_MAX];
	size_t n_events, next_event;
	const char *file;
	int line;
	int64_t now_ms;
	bool is_found; /* by the last FIND */
	struct pane_vt_place found, found_end;
};

static struct pane_grid grid;

static void event_add(struct bed *b, char *take_text)
{
	assert_true(b->n_events < EVENTS_MAX);
	b->event[b->n_events++] = take_text;
}

static void on_title(void *arg, const char *title)
{
	event_add(arg, zw_xasprintf("title %s", title));
}

static void on_bell(void *arg)
{
	event_add(arg, zw_xstrdup("bell"));
}

static void on_note(void *arg, const char *title, const char *text)
{
	event_add(arg, zw_xasprintf("note %s|%s", title, text));
}

static void on_progress(void *arg, unsigned state, unsigned percent)
{
	event_add(arg, zw_xasprintf("progress %u %u", state, percent));
}

static void on_clipboard(void *arg, bool is_read, size_t len_b, struct zw_span text)
{
	event_add(arg,
		  zw_xasprintf("clipboard %d %zu%s%.*s", is_read, len_b, text.p != NULL ? " " : "",
			       (int)text.len, text.p != NULL ? text.p : ""));
}

static const struct pane_vt_events events = {
	.on_title = on_title,
	.on_bell = on_bell,
	.on_note = on_note,
	.on_progress = on_progress,
	.on_clipboard = on_clipboard,
};

static void bed_clear(struct bed *b)
{
	pane_vt_free(b->vt);
	b->vt = NULL;
	while (b->n_events > 0)
		free(b->event[--b->n_events]);
	b->next_event = 0;
}

static void bed_fresh(struct bed *b, unsigned rows, unsigned cols, const char *word,
		      unsigned keep_n)
{
	struct pane_vt_config config = {.rows = rows,
					.cols = cols,
					.scrollback_n = keep_n,
					.fg_rgb = 0xd0d0d0,
					.bg_rgb = 0x102030,
					.has_kitty = strcmp(word, "kitty") == 0,
					.has_clipboard = strcmp(word, "clipboard") == 0};

	bed_clear(b);
	b->vt = pane_vt_new(&config, &events, b);
}

/* The quoted string at @s, unescaped into @out. Returns its length. */
static size_t unquote(struct bed *b, const char *s, char *out)
{
	size_t n = 0;
	unsigned hex;

	while (*s == ' ')
		s++;
	if (*s++ != '"')
		fail_msg("%s:%d: quoted text expected", b->file, b->line);
	for (; *s != '"'; s++) {
		if (*s == '\0')
			fail_msg("%s:%d: no closing quote", b->file, b->line);
		if (*s != '\\') {
			out[n++] = *s;
			continue;
		}
		s++;
		if (*s == 'x' && sscanf(s + 1, "%2x", &hex) == 1) {
			out[n++] = (char)hex;
			s += 2;
			continue;
		}
		out[n++] = *s == 'e'   ? '\033'
			   : *s == 'r' ? '\r'
			   : *s == 'n' ? '\n'
			   : *s == 't' ? '\t'
			   : *s == 'b' ? '\b'
			   : *s == 'a' ? '\a'
				       : *s;
	}
	out[n] = '\0';
	return n;
}

static void feed(struct bed *b, const char *bytes, size_t len, size_t piece)
{
	while (len > 0) {
		size_t n = pane_vt_feed(b->vt, bytes, piece < len ? piece : len, b->now_ms);

		assert_true(n > 0);
		bytes += n;
		len -= n;
	}
}

static void row_text(struct bed *b, unsigned y, bool is_frame, char *out)
{
	static struct pane_cell cell[PANE_COLS_MAX];
	struct pane_vt_state s;
	struct pane_vt_view v;
	size_t n = 0, end = 0;

	pane_vt_state(b->vt, &s);
	pane_vt_view(b->vt, &v);
	assert_true(y < s.rows);
	pane_vt_copy_row(b->vt, y, cell);
	if (is_frame)
		assert_true(pane_vt_copy_line(b->vt, v.top + y, cell));
	for (unsigned x = 0; x < s.cols; x++) {
		if (cell[x].width == 0)
			continue;
		if (cell[x].cp[0] == 0)
			out[n++] = ' ';
		for (int i = 0; i < PANE_CLUSTER_MAX && cell[x].cp[i] != 0; i++)
			n += (size_t)zw_utf8_encode(out + n, cell[x].cp[i]);
		if (cell[x].cp[0] != 0 && cell[x].cp[0] != ' ')
			end = n;
	}
	out[end] = '\0';
}

static void do_row(struct bed *b, const char *rest, bool is_frame)
{
	char want[LINE_MAX_B], have[PANE_COLS_MAX * PANE_CLUSTER_MAX * 4 + 1];
	char *after;
	unsigned y = (unsigned)strtoul(rest, &after, 10);

	unquote(b, after, want);
	row_text(b, y, is_frame, have);
	if (strcmp(want, have) != 0)
		fail_msg("%s:%d: row %u is \"%s\"", b->file, b->line, y, have);
}

static void do_view(struct bed *b, const char *verb, const char *rest)
{
	struct pane_vt_view v;
	unsigned back, kept;

	pane_vt_view(b->vt, &v);
	if (verb[0] == 'L') {
		back = (unsigned)strtoul(rest, NULL, 10);
		pane_vt_look_at(b->vt, back == 0	     ? PANE_VT_LIVE
				       : back > v.screen_top ? 0
							     : v.screen_top - back);
		return;
	}
	if (sscanf(rest, "%u %u", &back, &kept) != 2 || back != v.screen_top - v.top ||
	    kept != v.screen_top - v.first)
		fail_msg("%s:%d: view is %u %u", b->file, b->line, (unsigned)(v.screen_top - v.top),
			 (unsigned)(v.screen_top - v.first));
}

static void do_find(struct bed *b, const char *rest)
{
	char way[8], needle[LINE_MAX_B];
	unsigned line, col;
	struct pane_vt_place from;
	int n = 0;

	if (sscanf(rest, "%7s %u %u%n", way, &line, &col, &n) != 3)
		fail_msg("%s:%d: place expected", b->file, b->line);
	unquote(b, rest + n, needle);
	from = (struct pane_vt_place){line, col};
	b->is_found = pane_vt_find(b->vt, zw_span(needle), strcmp(way, "up") == 0, from, &b->found,
				   &b->found_end);
}

static void do_found(struct bed *b, const char *rest)
{
	unsigned v[4];

	if (sscanf(rest, "%u %u %u %u", &v[0], &v[1], &v[2], &v[3]) != 4)
		fail_msg("%s:%d: places expected", b->file, b->line);
	if (!b->is_found || b->found.line != v[0] || b->found.col != v[1] ||
	    b->found_end.line != v[2] || b->found_end.col != v[3])
		fail_msg("%s:%d: found %d: %u %u to %u %u", b->file, b->line, b->is_found,
			 (unsigned)b->found.line, b->found.col, (unsigned)b->found_end.line,
			 b->found_end.col);
}

static void do_text(struct bed *b, const char *rest)
{
	char how[8], want[LINE_MAX_B];
	unsigned v[4];
	struct zw_buf have;
	int n = 0;

	if (sscanf(rest, "%7s %u %u %u %u%n", how, &v[0], &v[1], &v[2], &v[3], &n) != 5)
		fail_msg("%s:%d: places expected", b->file, b->line);
	unquote(b, rest + n, want);
	zw_buf_init(&have, LINE_MAX_B);
	pane_vt_text(b->vt, (struct pane_vt_place){v[0], v[1]}, (struct pane_vt_place){v[2], v[3]},
		     how[0] == 'l', &have);
	zw_buf_add(&have, "", 1);
	if (strcmp(want, (const char *)zw_buf_head(&have)) != 0)
		fail_msg("%s:%d: text is \"%s\"", b->file, b->line,
			 (const char *)zw_buf_head(&have));
	zw_buf_fini(&have);
}

static void do_link(struct bed *b, const char *rest)
{
	char want[LINE_MAX_B], *after;
	unsigned line = (unsigned)strtoul(rest, &after, 10);
	unsigned col = (unsigned)strtoul(after, &after, 10);
	const char *uri = pane_vt_link_at(b->vt, (struct pane_vt_place){line, col});

	unquote(b, after, want);
	if (strcmp(want, uri != NULL ? uri : "") != 0)
		fail_msg("%s:%d: link is \"%s\"", b->file, b->line, uri != NULL ? uri : "");
}

/* Verbs about what is behind the screen. Returns false when it is another. */
static bool do_lookback(struct bed *b, const char *verb, const char *rest)
{
	if (strcmp(verb, "LOOK") == 0 || strcmp(verb, "VIEW") == 0)
		do_view(b, verb, rest);
	else if (strcmp(verb, "SEEN") == 0)
		do_row(b, rest, true);
	else if (strcmp(verb, "CLEAN") == 0)
		pane_vt_publish(b->vt, &grid);
	else if (strcmp(verb, "DIRTY") == 0)
		assert_int_equal(pane_vt_is_dirty(b->vt), strtol(rest, NULL, 10));
	else if (strcmp(verb, "FIND") == 0)
		do_find(b, rest);
	else if (strcmp(verb, "FOUND") == 0)
		do_found(b, rest);
	else if (strcmp(verb, "NOTFOUND") == 0)
		assert_false(b->is_found);
	else if (strcmp(verb, "TEXT") == 0)
		do_text(b, rest);
	else if (strcmp(verb, "LINK") == 0)
		do_link(b, rest);
	else
		return false;
	return true;
}

static void cell_show(const struct pane_cell *c, char *out, size_t size)
{
	static const char *const name[] = {"bold",    "dim",	 "italic", "blink",
					   "reverse", "conceal", "strike", "overline"};
	size_t n = 0;

	out[0] = '\0';
	if (c->fg != 0)
		n += (size_t)snprintf(out + n, size - n, " fg=%x", c->fg);
	if (c->bg != 0)
		n += (size_t)snprintf(out + n, size - n, " bg=%x", c->bg);
	if (c->ul_colour != 0)
		n += (size_t)snprintf(out + n, size - n, " ul=%x", c->ul_colour);
	if (c->width != 1)
		n += (size_t)snprintf(out + n, size - n, " width=%u", c->width);
	for (size_t i = 0; i < ZW_N_ELEMENTS(name); i++)
		if ((c->attrs >> i & 1) != 0)
			n += (size_t)snprintf(out + n, size - n, " %s", name[i]);
	if (c->underline != 0)
		snprintf(out + n, size - n, " underline=%u", c->underline);
}

static void do_cell(struct bed *b, const char *rest)
{
	static struct pane_cell cell[PANE_COLS_MAX];
	char have[256], *after;
	unsigned y = (unsigned)strtoul(rest, &after, 10);
	unsigned x = (unsigned)strtoul(after, &after, 10);

	pane_vt_copy_row(b->vt, y, cell);
	cell_show(&cell[x], have, sizeof(have));
	if (strcmp(after, have) != 0)
		fail_msg("%s:%d: cell is%s", b->file, b->line, have);
}

static void do_reply(struct bed *b, const char *rest)
{
	struct zw_buf *r = pane_vt_replies(b->vt);
	char want[LINE_MAX_B];
	size_t len = unquote(b, rest, want);

	if (len != r->len || (len > 0 && memcmp(want, zw_buf_head(r), len) != 0))
		fail_msg("%s:%d: reply is \"%.*s\" (ESC shown as it is)", b->file, b->line,
			 (int)r->len, r->len > 0 ? (const char *)zw_buf_head(r) : "");
	zw_buf_consume(r, r->len);
}

static void do_event(struct bed *b, const char *rest)
{
	char want[LINE_MAX_B];

	unquote(b, rest, want);
	if (b->next_event == b->n_events)
		fail_msg("%s:%d: no event", b->file, b->line);
	if (strcmp(want, b->event[b->next_event]) != 0)
		fail_msg("%s:%d: event is \"%s\"", b->file, b->line, b->event[b->next_event]);
	b->next_event++;
}

static void number_is(struct bed *b, unsigned have, const char *rest, int base)
{
	unsigned want = (unsigned)strtoul(rest, NULL, base);

	if (have != want)
		fail_msg("%s:%d: value is %u = 0x%x", b->file, b->line, have, have);
}

static void do_state(struct bed *b, const char *verb, const char *rest)
{
	struct pane_vt_state s;
	char *after;

	pane_vt_state(b->vt, &s);
	if (strcmp(verb, "CURSOR") == 0) {
		unsigned row = (unsigned)strtoul(rest, &after, 10);
		unsigned col = (unsigned)strtoul(after, NULL, 10);

		if (row != s.cursor_row || col != s.cursor_col)
			fail_msg("%s:%d: cursor is %u %u", b->file, b->line, s.cursor_row,
				 s.cursor_col);
	} else if (strcmp(verb, "MODES") == 0) {
		number_is(b, s.modes, rest, 16);
	} else if (strcmp(verb, "KITTY") == 0) {
		number_is(b, s.kitty_flags, rest, 10);
	} else if (strcmp(verb, "KEYS") == 0) {
		number_is(b, s.modify_other_keys, rest, 10);
	} else if (strcmp(verb, "SHAPE") == 0) {
		number_is(b, s.cursor_shape, rest, 10);
	} else if (strcmp(verb, "SYNC") == 0) {
		number_is(b, pane_vt_sync_since(b->vt) >= 0, rest, 10);
	} else {
		fail_msg("%s:%d: unknown word %s", b->file, b->line, verb);
	}
}

static void do_fill(struct bed *b, const char *rest)
{
	char bytes[LINE_MAX_B], *after;
	unsigned long n = strtoul(rest, &after, 10);
	size_t len = unquote(b, after, bytes);

	while (n-- > 0)
		feed(b, bytes, len, len);
}

static void do_line(struct bed *b, const char *line)
{
	char verb[16] = "", bytes[LINE_MAX_B], word[16] = "";
	unsigned rows, cols;
	const char *rest;
	size_t len;

	if (sscanf(line, "%15s", verb) != 1 || verb[0] == '#')
		return;
	rest = line + strlen(verb);
	if (strcmp(verb, "CASE") == 0) {
		bed_fresh(b, 5, 20, "", 0);
	} else if (strcmp(verb, "SIZE") == 0 &&
		   sscanf(rest, "%u %u %15s", &rows, &cols, word) >= 2) {
		bed_fresh(b, rows, cols, word, 0);
	} else if (strcmp(verb, "RESIZE") == 0 && sscanf(rest, "%u %u", &rows, &cols) == 2) {
		pane_vt_resize(b->vt, rows, cols);
	} else if (strcmp(verb, "KEEP") == 0) {
		bed_fresh(b, 5, 20, "", (unsigned)strtoul(rest, NULL, 10));
	} else if (do_lookback(b, verb, rest)) {
		return;
	} else if (strcmp(verb, "PUSH") == 0 || strcmp(verb, "SPLIT") == 0) {
		len = unquote(b, rest, bytes);
		feed(b, bytes, len, verb[0] == 'S' ? 1 : len);
	} else if (strcmp(verb, "WAIT") == 0) {
		b->now_ms += strtol(rest, NULL, 10);
	} else if (strcmp(verb, "FILL") == 0) {
		do_fill(b, rest);
	} else if (strcmp(verb, "ROW") == 0) {
		do_row(b, rest, false);
	} else if (strcmp(verb, "CELL") == 0) {
		do_cell(b, rest);
	} else if (strcmp(verb, "REPLY") == 0) {
		do_reply(b, rest);
	} else if (strcmp(verb, "EVENT") == 0) {
		do_event(b, rest);
	} else if (strcmp(verb, "NOEVENT") == 0) {
		assert_int_equal(b->next_event, b->n_events);
	} else {
		do_state(b, verb, rest);
	}
}

static void run_file(void **state)
{
	struct bed b = {.file = *state};
	zw_autofree char *text = NULL;
	size_t len;
	char *line, *next;

	assert_int_equal(zw_read_file(*state, 1u << 20, &text, &len), 0);
	bed_fresh(&b, 5, 20, "", 0);
	for (line = text; line != NULL && *line != '\0'; line = next) {
		next = strchr(line, '\n');
		if (next != NULL)
			*next++ = '\0';
		b.line++;
		assert_true(strlen(line) < LINE_MAX_B);
		do_line(&b, line);
	}
	bed_clear(&b);
}

int main(void)
{
	struct CMUnitTest tests[64];
	size_t n = 0;
	DIR *dir = opendir(FOLDER);
	struct dirent *e;
	int failed;

	while (dir != NULL && n < ZW_N_ELEMENTS(tests) && (e = readdir(dir)) != NULL) {
		char *path;

		if (!zw_ends_with(e->d_name, ".test"))
			continue;
		path = zw_xasprintf("%s/%s", FOLDER, e->d_name);
		tests[n++] = (struct CMUnitTest){path, run_file, NULL, NULL, path};
	}
	if (dir != NULL)
		closedir(dir);
	if (n == 0) {
		fprintf(stderr, "no screens in %s\n", FOLDER);
		return 1;
	}
	failed = _cmocka_run_group_tests("pane_term", tests, n, NULL, NULL);
	for (size_t i = 0; i < n; i++)
		free(tests[i].initial_state);
	return failed;
}
