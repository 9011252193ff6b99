/* SPDX-License-Identifier: MIT
 * Throughput of the terminal engine: plain text and coloured Unicode, 50 x 200, read by 64 KB, a
 * frame handed over every 64 reads, without and with a history of 10,000 lines. Not a test: prints
 * MB per second of CPU, so that a busy machine does not blur it, and the memory of all together.
 *
 * usage: bench_vt [FILE]      FILE: measure a recording, fed again and again */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "src/base/io.h"
#include "src/base/mem.h"
#include "ui/pane/vt.h"

#define CHUNK_B (64u << 10)
#define TOTAL_B (64u << 20)

static void ignore_str(void *arg, const char *s)
{
	(void)arg;
	(void)s;
}

static void ignore_bell(void *arg)
{
	(void)arg;
}

static void ignore_note(void *arg, const char *a, const char *b)
{
	(void)arg;
	(void)a;
	(void)b;
}

static void ignore_progress(void *arg, unsigned a, unsigned b)
{
	(void)arg;
	(void)a;
	(void)b;
}

static void ignore_clipboard(void *arg, bool a, size_t b)
{
	(void)arg;
	(void)a;
	(void)b;
}

static const struct pane_vt_events events = {ignore_str, ignore_bell, ignore_note, ignore_progress,
					     ignore_clipboard};

static int64_t cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void run_with(const char *name, const char *bytes, size_t len, uint32_t scrollback_n)
{
	static struct pane_grid grid;
	struct pane_vt_config config = {.rows = 50, .cols = 200, .scrollback_n = scrollback_n};
	struct pane_vt *vt = pane_vt_new(&config, &events, NULL);
	int64_t start = cpu_us(), took;
	size_t total = 0, at = 0;

	for (unsigned turn = 0; total < TOTAL_B; turn++) {
		size_t n = len - at < CHUNK_B ? len - at : CHUNK_B;
		size_t fed = pane_vt_feed(vt, bytes + at, n, 0);

		total += fed;
		at = at + fed == len ? 0 : at + fed;
		if (turn % 64 == 0)
			pane_vt_publish(vt, &grid);
		zw_buf_consume(pane_vt_replies(vt), pane_vt_replies(vt)->len);
	}
	took = cpu_us() - start;
	struct rusage use;
	getrusage(RUSAGE_SELF, &use);
	printf("%-16s history %5u  %6.1f MB/s  %5.1f MB at most\n", name, scrollback_n,
	       (double)total / (double)took, (double)use.ru_maxrss / 1024);
	pane_vt_free(vt);
}

static void run(const char *name, const char *bytes, size_t len)
{
	run_with(name, bytes, len, 0);
	run_with(name, bytes, len, 10000);
}

static char *repeat(size_t *ret_len, const char *const *lines, size_t n_lines)
{
	struct zw_buf b;

	zw_buf_init(&b, 2u << 20);
	for (size_t i = 0; b.len < 1u << 20; i++)
		zw_buf_add(&b, lines[i % n_lines], strlen(lines[i % n_lines]));
	*ret_len = b.len;
	return (char *)b.data;
}

int main(int argc, char **argv)
{
	static const char *const plain[] = {
		"17 The quick brown fox jumps over the lazy dog, 42 times in a row.\r\n",
		"drwxr-xr-x   2 user group 4096 Jan 01 12:00 "
		"some-directory/with/a/long/name.txt\r\n",
	};
	static const char *const colour[] = {
		"\033[38;2;215;119;87mTr\303\274e \342\224\200\342\224\200\342\224\200 "
		"\342\234\224 done\033[0m\r\n",
		"\033[1;35m\346\227\245\346\234\254\350\252\236\033[22m \360\237\216\211 "
		"\033[48;5;237m caf\303\251 \033[0m\r\n",
		"\033[2m\342\224\202\033[0m 12 \033[4mline\033[24m "
		"\342\226\210\342\226\210\342\226\210 99\r\n",
	};
	size_t len = 0;
	zw_autofree char *bytes = NULL;

	if (argc > 1) {
		if (zw_read_file(argv[1], 64u << 20, &bytes, &len) < 0 || len == 0)
			return 1;
		run(argv[1], bytes, len);
		return 0;
	}
	bytes = repeat(&len, plain, ZW_N_ELEMENTS(plain));
	run("plain text", bytes, len);
	free(bytes);
	bytes = repeat(&len, colour, ZW_N_ELEMENTS(colour));
	run("coloured Unicode", bytes, len);
	return 0;
}
