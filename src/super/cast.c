/* SPDX-License-Identifier: MIT
 * The record of the agent's screen (--record): zwatch has opened the file before the agent ran, and
 * hands it to zwatch-pane, which may write but open nothing. What a pane that was taken over could
 * make of it is bounded by the kernel (RLIMIT_FSIZE), and it is a picture of the screen, no evidence:
 * that is the store. */
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/words.h"
#include "src/super/super_i.h"

#define MARK_MAX_B 400
#define MEND_B	   (64u << 10) /* no line is longer */
#define SLACK_B	   (1u << 20)  /* of the kernel's limit above zwatch-pane's own */

/* A writer that was killed may have left half a line. Returns the size, or -errno. */
static int64_t mend(int fd)
{
	static char bytes[MEND_B];
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	off_t from = st.st_size > MEND_B ? st.st_size - MEND_B : 0;
	ssize_t n = pread(fd, bytes, MEND_B, from);
	if (n < 0)
		return -errno;
	const char *end = memrchr(bytes, '\n', (size_t)n);
	off_t size = end != NULL ? from + (end - bytes) + 1 : 0;
	if (size < st.st_size && ftruncate(fd, size) < 0)
		return -errno;
	return size;
}

static void over(struct sup *s, int error)
{
	const struct sup_cast *c = s->config->cast;
	const char *why = error == ZW_E_TOOBIG ? "the file is full" : zw_strerror(error);

	s->model.is_recorded = false;
	sup_warn(s, "the screen is no longer recorded: %s (%llu MB at most, %s)", why,
		 (unsigned long long)(c->max_b >> 20), s->cast_path);
}

void sup_cast_start(struct sup *s)
{
	const struct sup_cast *c = s->config->cast;
	char name[32];

	if (c == NULL || s->pane.chan == NULL || (s->pane.n_starts > 1 && !s->model.is_recorded))
		return;
	if (s->pane.n_starts == 1) {
		s->cast_path = zw_xstrdup(c->path);
		s->model.is_recorded = true;
	}
	int64_t size = mend(c->fd);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", c->fd);
	int fd = size < 0 ? -1 : open(name, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0) {
		over(s, size < 0 ? (int)size : -errno);
		return;
	}
	struct rlimit limit = {c->max_b + SLACK_B, c->max_b + SLACK_B};
	prlimit(s->pane.pid, RLIMIT_FSIZE, &limit, NULL);
	zw_autofree char *title = zw_xasprintf("zwatch: %s", s->model.agent);
	struct zw_msg_pane_record m = {.rows = (uint16_t)s->rows,
				       .cols = (uint16_t)s->cols,
				       .size_b = (uint64_t)size,
				       .max_b = c->max_b,
				       .t_us = s->started_us,
				       .start_us = s->model.started_ms * 1000,
				       .title = zw_span(title)};
	zw_chan_send_fds(s->pane.chan, ZW_ID_pane_record, &m, &fd, 1);
	close(fd);
}

void sup_on_record_end(struct sup *s, int64_t status)
{
	if (!s->model.is_recorded)
		return;
	mend(s->config->cast->fd);
	over(s, status < 0 && status > -100000 ? (int)status : -EIO);
}

/* What lies there already belongs to a history that was set aside. */
void sup_cast_number(struct sup *s)
{
	const struct sup_cast *c = s->config->cast;

	if (c == NULL || s->cast_path == NULL || s->model.number == 0)
		return;
	if (c->folder != NULL) {
		zw_autofree char *path = zw_xasprintf("%s/%llu.cast", c->folder,
						      (unsigned long long)s->model.number);
		zw_autofree char *old = zw_xasprintf("%s.old", path);

		rename(path, old);
		if (rename(s->cast_path, path) == 0) {
			free(s->cast_path);
			s->cast_path = zw_steal(&path);
		}
	}
	zw_autofree char *line = zw_xasprintf("the screen is recorded in %s", s->cast_path);
	sup_record(s, "terminal", line);
}

void sup_mark(struct sup *s, const char *fmt, ...)
{
	char text[MARK_MAX_B];
	va_list ap;

	if (!s->model.is_recorded || s->pane.chan == NULL)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	zw_send(s->pane.chan, pane_mark, .text = zw_span(text));
}

void sup_mark_event(struct sup *s, unsigned did, unsigned by, const char *target,
		    const struct mdl_proc *p)
{
	/* Of what was asked the question tells. */
	if ((did != ZW_DID_ALLOW && did != ZW_DID_DENY) || by == ZW_BY_USER || by == ZW_BY_TIMEOUT)
		return;
	sup_mark(s, "%s: %.200s, %.40s(%u), by %s", zw_did_word(did), target, mdl_proc_name(p),
		 p->pid, zw_by_word(by));
}
