/* SPDX-License-Identifier: MIT
 * Shows what the engine makes of files: text, colours and cursor as plain lines, so that another
 * terminal's view of the same bytes can be compared with it (differ.mjs prints the same form).
 *
 * usage: vt_dump ROWS COLS SCROLLBACK FILE...
 *
 * APC size;rows;cols ST in a file changes the size there. For each file: "F name", then for each
 * line, history first, "T text" (trailing blanks cut) and "A runs", then "C row col alt history". A run is first-last:fg/bg/flags in columns; runs that are all default are left out. */
#include <stdio.h>
#include <stdlib.h>

#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/utf8.h"
#include "ui/pane/vt.h"

static void ignore_title(void *arg, const char *title)
{
	(void)arg;
	(void)title;
}

static void ignore_bell(void *arg)
{
	(void)arg;
}

static void ignore_note(void *arg, const char *title, const char *text)
{
	(void)arg;
	(void)title;
	(void)text;
}

static void ignore_progress(void *arg, unsigned state, unsigned percent)
{
	(void)arg;
	(void)state;
	(void)percent;
}

static void ignore_clipboard(void *arg, bool is_read, size_t len_b, struct zw_span text)
{
	(void)text;
	(void)arg;
	(void)is_read;
	(void)len_b;
}

static const struct pane_vt_events events = {
	.on_title = ignore_title,
	.on_bell = ignore_bell,
	.on_note = ignore_note,
	.on_progress = ignore_progress,
	.on_clipboard = ignore_clipboard,
};

static void dump_text(const struct pane_cell *cell, unsigned cols)
{
	unsigned end = cols;

	while (end > 0 && cell[end - 1].cp[0] == 0 && cell[end - 1].width == 1)
		end--;
	printf("T ");
	for (unsigned x = 0; x < end; x++) {
		if (cell[x].width == 0)
			continue;
		if (cell[x].cp[0] == 0)
			putchar(' ');
		for (int i = 0; i < PANE_CLUSTER_MAX && cell[x].cp[i] != 0; i++) {
			char out[4];

			fwrite(out, 1, (size_t)zw_utf8_encode(out, cell[x].cp[i]), stdout);
		}
	}
	putchar('\n');
}

/* The look of a cell; of a blank one only the background, the rest is not seen. */
static void look(char *out, size_t size, const struct pane_cell *c)
{
	bool blank = c->cp[0] == 0 && c->width == 1;

	snprintf(out, size, "%x/%x/%x", blank ? 0 : c->fg, c->bg,
		 blank ? 0 : (unsigned)c->attrs | (c->underline != 0 ? 0x100u : 0));
}

static void dump_looks(const struct pane_cell *cell, unsigned cols)
{
	char was[64] = "", now[64];
	unsigned begin = 0;

	printf("A");
	for (unsigned x = 0; x <= cols; x++) {
		if (x < cols)
			look(now, sizeof(now), &cell[x]);
		if (x < cols && x > 0 && strcmp(now, was) == 0)
			continue;
		if (x > 0 && strcmp(was, "0/0/0") != 0)
			printf(" %u-%u:%s", begin, x - 1, was);
		begin = x;
		memcpy(was, now, sizeof(was));
	}
	putchar('\n');
}

/* Feeds up to the next change of size and does that. Returns the bytes taken. */
static size_t feed_part(struct pane_vt *vt, const char *bytes, size_t len)
{
	static const char mark[] = "\033_size;";
	const char *at = memmem(bytes, len, mark, sizeof(mark) - 1);
	size_t end = at != NULL ? (size_t)(at - bytes) : len;
	unsigned rows, cols;
	int n = 0;

	for (size_t i = 0; i < end;)
		i += pane_vt_feed(vt, bytes + i, end - i, 0);
	if (at == NULL)
		return len;
	if (sscanf(at, "\033_size;%u;%u\033\\%n", &rows, &cols, &n) != 2 || n == 0)
		return end + sizeof(mark) - 1;
	pane_vt_resize(vt, rows, cols);
	return end + (size_t)n;
}

static void dump(const struct pane_vt *vt, const char *path)
{
	struct pane_cell cell[PANE_COLS_MAX];
	struct pane_vt_state state;
	struct pane_vt_view view;

	pane_vt_state(vt, &state);
	pane_vt_view(vt, &view);
	printf("F %s\n", path);
	for (uint64_t line = view.first; pane_vt_copy_line(vt, line, cell); line++) {
		dump_text(cell, state.cols);
		dump_looks(cell, state.cols);
	}
	printf("C %u %u %d %u\n", state.cursor_row, state.cursor_col,
	       (state.modes & PANE_MODE_ALT_SCREEN) != 0, (unsigned)(view.screen_top - view.first));
}

static int dump_file(const char *path, const struct pane_vt_config *config)
{
	struct pane_vt *vt = pane_vt_new(config, &events, NULL);
	zw_autofree char *bytes = NULL;
	size_t len = 0;
	int r = zw_read_file(path, 64u << 20, &bytes, &len);

	if (r < 0)
		fprintf(stderr, "%s: cannot read\n", path);
	for (size_t i = 0; i < len;)
		i += feed_part(vt, bytes + i, len - i);
	if (r == 0)
		dump(vt, path);
	pane_vt_free(vt);
	return r < 0;
}

int main(int argc, char **argv)
{
	struct pane_vt_config config = {0};
	int failed = 0;

	if (argc < 5) {
		fprintf(stderr, "usage: vt_dump ROWS COLS SCROLLBACK FILE...\n");
		return 2;
	}
	config.rows = (unsigned)atoi(argv[1]);
	config.cols = (unsigned)atoi(argv[2]);
	config.scrollback_n = (unsigned)atoi(argv[3]);
	for (int i = 4; i < argc; i++)
		failed |= dump_file(argv[i], &config);
	return failed;
}
