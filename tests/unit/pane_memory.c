/* SPDX-License-Identifier: MIT
 * The engine's memory, whatever is printed: streams made to use up each thing that it keeps. */
#include "tests/support/test.h"

#include <malloc.h>

#include "src/base/mem.h"
#include "src/base/str.h"
#include "ui/pane/vt.h"

#define ROWS 50
#define COLS 200
#ifdef __SANITIZE_ADDRESS__ /* several times slower, and the bound is the same */
#define STREAM_B ((size_t)8 << 20)
#else
#define STREAM_B ((size_t)24 << 20)
#endif
/* 64 MB of history that nothing compresses, targets of links, the screens and a string. */
#define ALL_MAX_B ((size_t)(64 + 24) << 20)

#if defined(__SANITIZE_ADDRESS__)
size_t __sanitizer_get_current_allocated_bytes(void);
#endif

static size_t in_use(void)
{
#if defined(__SANITIZE_ADDRESS__)
	return __sanitizer_get_current_allocated_bytes();
#else
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
#endif
}

static void on_title(void *arg, const char *title)
{
	(void)arg;
	(void)title;
}

static void on_bell(void *arg)
{
	(void)arg;
}

static void on_note(void *arg, const char *title, const char *text)
{
	(void)arg;
	(void)title;
	(void)text;
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
	(void)text;
}

static const struct pane_vt_events events = {on_title, on_bell, on_note, on_progress, on_clipboard};

/* One piece of a stream; @i counts them. */
typedef size_t piece_fn(char *out, size_t size, unsigned i);

static size_t text(char *out, size_t size, unsigned i)
{
	return (size_t)snprintf(out, size, "line %u of ordinary text, as programs print it\r\n", i);
}

/* Each cell in a look of its own, with a full cluster. */
static size_t clusters(char *out, size_t size, unsigned i)
{
	return (size_t)snprintf(
		out, size,
		"\033[38;2;%u;%u;%u;48;2;1;%u;3;58;2;4;5;%u;4:3me\u0301\u0302\u0303\u0304"
		"\u0305\u0306\u0307\u0308\u0309",
		i % 256, i / 256 % 256, i / 65536, i % 251, i % 241);
}

static size_t links(char *out, size_t size, unsigned i)
{
	return (size_t)snprintf(out, size, "\033]8;;http://host/%0*u\033\\x%s", 2000, i,
				i % 50 == 0 ? "\r\n" : "");
}

static size_t titles(char *out, size_t size, unsigned i)
{
	return (size_t)snprintf(out, size, "\033]2;%0*u\a\033[22t", 500, i);
}

static size_t strings(char *out, size_t size, unsigned i)
{
	return (size_t)snprintf(out, size, "%s%0*u", i % 1000 == 0 ? "\033P" : "", 400, i);
}

static size_t questions(char *out, size_t size, unsigned i)
{
	return (size_t)snprintf(out, size, "\033[c\033[6n\033P$qm\033\\\033]4;%u;?\a\033[>1u",
				i % 256);
}

static size_t screens(char *out, size_t size, unsigned i)
{
	return (size_t)snprintf(out, size,
				"\033[?1049%c\033[%u;%ur\033[65535b\033[65535L\033[65535S%u\n",
				i % 2 != 0 ? 'h' : 'l', i % 9 + 1, i % 20 + 20, i);
}

static size_t peak_of(piece_fn *fn, size_t stream_b, bool has_resizes)
{
	struct pane_vt_config config = {
		.rows = ROWS, .cols = COLS, .scrollback_n = 10000, .has_kitty = true};
	size_t before = in_use(), peak = 0;
	struct pane_vt *vt = pane_vt_new(&config, &events, NULL);
	char piece[4096];

	for (size_t sent = 0, i = 0; sent < stream_b; i++) {
		size_t n = fn(piece, sizeof(piece), (unsigned)i);

		for (size_t off = 0; off < n;)
			off += pane_vt_feed(vt, piece + off, n - off, 0);
		sent += n;
		if (has_resizes && i % 20000 == 0)
			pane_vt_resize(vt, 20 + i / 20000 % 40, i % 40000 == 0 ? 90 : 200);
		if (i % 512 == 0 && in_use() - before > peak)
			peak = in_use() - before;
	}
	pane_vt_free(vt);
	return peak;
}

static void test_Z108_memory__is_bounded_for_any_stream(void **state)
{
	static const struct {
		const char *name;
		piece_fn *fn;
		size_t n;
	} streams[] = {{"clusters", clusters, 5},   {"links", links, 1},
		       {"titles", titles, 1},	    {"strings", strings, 1},
		       {"questions", questions, 1}, {"screens", screens, 1}};

	(void)state;
	for (size_t i = 0; i < ZW_N_ELEMENTS(streams); i++) {
		size_t peak = peak_of(streams[i].fn, streams[i].n * STREAM_B, false);

		print_message("%-10s %5.1f MB\n", streams[i].name, (double)peak / 1e6);
		assert_in_range(peak, 1, ALL_MAX_B);
	}
}

static void test_memory__of_a_full_history(void **state)
{
	size_t peak = peak_of(text, STREAM_B, true);

	(void)state;
	print_message("text       %5.1f MB with 10,000 lines\n", (double)peak / 1e6);
	assert_in_range(peak, 1, 20u << 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_Z108_memory__is_bounded_for_any_stream),
		cmocka_unit_test(test_memory__of_a_full_history),
	};

	return cmocka_run_group_tests_name("pane_memory", tests, NULL, NULL);
}
