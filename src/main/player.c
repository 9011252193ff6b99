/* SPDX-License-Identifier: MIT */
#include "src/main/player.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/vis.h"

static void on_frame(struct player *p, const struct zw_msg_pane_frame *m)
{
	struct ui_frame frame = {.rows = m->rows <= PANE_ROWS_MAX ? m->rows : PANE_ROWS_MAX,
				 .cols = m->cols <= PANE_COLS_MAX ? m->cols : PANE_COLS_MAX,
				 .cursor_row = m->cursor_row,
				 .cursor_col = m->cursor_col,
				 .modes = m->modes};

	p->ear->on_frame(p->ear_arg, &frame);
}

static void on_info(struct player *p, const struct zw_msg_play_info *m)
{
	int64_t most_us = INT64_MAX / 4;
	struct ui_reel reel = {.status = m->status < 0 && m->status > -100000 ? (int)m->status : 0,
			       .rows = m->rows,
			       .cols = m->cols,
			       .t_us = m->t_s > 0 && m->t_s < most_us / 1000000 ? m->t_s * 1000000
										: 0,
			       .end_us = m->end_us > 0 && m->end_us < most_us ? m->end_us : 0,
			       .n_marks = m->n_marks,
			       .n_bad = m->n_bad,
			       .busy = (const uint8_t *)m->busy.p,
			       .n_busy = m->busy.len};

	p->ear->on_reel(p->ear_arg, &reel);
}

static void on_pane_msg(struct sup_helper *h, enum zw_msg_id id, const union zw_msg_any *msg,
			int *fds, void *arg)
{
	struct player *p = arg;
	char text[1024];

	(void)h;
	(void)fds;
	if (p->ear == NULL)
		return;
	if (id == ZW_ID_play_mark) {
		zw_vis(text, sizeof(text), msg->play_mark.text.p, msg->play_mark.text.len);
		p->ear->on_mark(p->ear_arg, msg->play_mark.at_us, text);
	} else if (id == ZW_ID_play_info) {
		on_info(p, &msg->play_info);
	} else if (id == ZW_ID_pane_frame) {
		on_frame(p, &msg->pane_frame);
	} else if (id == ZW_ID_play_at) {
		p->ear->on_at(p->ear_arg, msg->play_at.at_us, msg->play_at.next_us);
	}
}

static void on_pane_dead(struct sup_helper *h, const char *how, void *arg)
{
	struct player *p = arg;

	(void)h;
	if (p->ear != NULL)
		p->ear->on_dead(p->ear_arg, how);
}

static const struct sup_helper_ops pane_ops = {.on_msg = on_pane_msg, .on_dead = on_pane_dead};

static void op_close(void *arg)
{
	struct player *p = arg;
	pid_t pid = p->pane.pid;

	p->ear = NULL;
	sup_helper_stop(&p->pane);
	if (pid > 0) {
		kill(pid, SIGKILL); /* it has nothing to finish */
		waitpid(pid, NULL, 0);
	}
	if (p->grid != NULL)
		munmap(p->grid, PANE_GRID_SIZE_B);
	p->grid = NULL;
	zw_close(&p->grid_fd);
}

static int grid_make(struct player *p)
{
	p->grid_fd = memfd_create("zwatch-replay", MFD_CLOEXEC);
	if (p->grid_fd < 0 || ftruncate(p->grid_fd, (off_t)PANE_GRID_SIZE_B) < 0)
		return -errno;
	void *map = mmap(NULL, PANE_GRID_SIZE_B, PROT_READ | PROT_WRITE, MAP_SHARED, p->grid_fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	p->grid = map;
	return 0;
}

static int op_open(void *arg, const char *path, const struct ui_player_ear *ear, void *ear_arg)
{
	struct player *p = arg;
	struct stat st;
	/* A pipe or a device in its place would hold zwatch up. */
	zw_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return -EINVAL;
	op_close(p);
	int r = grid_make(p);
	if (r == 0)
		r = sup_helper_start(&p->pane, -1);
	if (r < 0) {
		op_close(p);
		return r;
	}
	p->ear = ear;
	p->ear_arg = ear_arg;
	int fds[2] = {fd, p->grid_fd};
	zw_chan_send_fds(p->pane.chan, ZW_ID_play_setup, &(struct zw_msg_play_setup){0}, fds, 2);
	return 0;
}

static void op_go(void *arg, int64_t at_us)
{
	struct player *p = arg;

	if (p->pane.chan != NULL)
		zw_send(p->pane.chan, play_go, .at_us = at_us);
}

static const struct pane_grid *op_grid(void *arg)
{
	return ((struct player *)arg)->grid;
}

static void op_frame_done(void *arg)
{
	struct player *p = arg;

	if (p->pane.chan != NULL)
		zw_send(p->pane.chan, pane_next, .unused = 0);
}

void player_init(struct player *p, struct zev_loop *loop)
{
	*p = (struct player){.grid_fd = -1,
			     .ops = {.open = op_open,
				     .go = op_go,
				     .grid = op_grid,
				     .frame_done = op_frame_done,
				     .close = op_close,
				     .arg = p}};
	sup_helper_init(&p->pane, ROLE_PANE, loop, &pane_ops, p);
}

void player_fini(struct player *p)
{
	op_close(p);
	sup_helper_fini(&p->pane);
}
