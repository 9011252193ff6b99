/* SPDX-License-Identifier: MIT
 * A recording of a screen, any bytes as the file: looked through, played to its end, back, and to
 * times between. */
#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/base/mem.h"
#include "src/base/utf8.h"
#include "src/base/vis.h"
#include "ui/pane/player.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int64_t last_us;
static size_t n_told;

static void on_mark(void *arg, int64_t at_us, const char *text)
{
	const uint8_t *p = (const uint8_t *)text;
	size_t len = strlen(text);

	(void)arg;
	assert(at_us >= last_us && at_us < PANE_CAST_TIME_MAX_US);
	last_us = at_us;
	n_told++;
	assert(len <= PANE_PLAYER_MARK_MAX * 4);
	while (len > 0) {
		uint32_t cp;
		int n = zw_utf8_decode(p, len, &cp);

		assert(n > 0 && zw_vis_is_safe(cp));
		p += n;
		len -= (size_t)n;
	}
}

static void go(struct pane_player *p, int64_t us)
{
	struct pane_vt_state s;

	pane_player_go(p, us);
	while (pane_player_step(p))
		;
	assert(p->at_us == p->want_us && p->at_us <= p->end_us);
	pane_vt_state(p->vt, &s);
	assert(s.rows <= PANE_ROWS_MAX && s.cols <= PANE_COLS_MAX);
	assert(pane_player_next_us(p) < 0 || pane_player_next_us(p) > p->at_us);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct pane_player p; /* large */
	static uint8_t busy[PANE_PLAYER_PARTS];
	int fd = memfd_create("cast", MFD_CLOEXEC);

	if (fd < 0 || size > 65536 || write(fd, data, size) != (ssize_t)size)
		abort();
	last_us = 0;
	n_told = 0;
	if (pane_player_init(&p, fd) == 0) {
		while (pane_player_look(&p, on_mark, NULL))
			;
		assert(p.is_known && p.end_us >= last_us && n_told <= p.n_marks);
		assert(pane_player_busy(&p, busy) <= PANE_PLAYER_PARTS);
		go(&p, p.end_us);
		go(&p, p.end_us / 2);
		go(&p, -5);
		go(&p, INT64_MAX);
	}
	pane_player_fini(&p);
	return 0;
}
