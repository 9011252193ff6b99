/* SPDX-License-Identifier: MIT
 * Memfds for bwrap and zwatch-init. */
#include "sandbox/conf.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "sandbox/filter.h"
#include "sandbox/init/proto.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"

int sb_conf_memfd(const char *name, const void *p, size_t len)
{
	zw_autoclose int fd = memfd_create(name, MFD_CLOEXEC);
	int r;

	if (fd < 0)
		return -errno;
	r = zw_write_all(fd, p, len);
	if (r < 0)
		return r;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	return zw_steal_fd(&fd);
}

int sb_conf_nsswitch(const struct sb_layout *l)
{
	zw_autofree char *text = NULL;
	struct zw_buf out;
	size_t len;
	int fd = -1;

	if (!l->nsswitch || zw_read_file(l->nsswitch, SB_ETC_MAX, &text, &len) < 0)
		return -1;
	zw_buf_init(&out, SB_ETC_MAX + 64);
	if (sb_nsswitch_rewrite(text, len, &out) == 0)
		fd = sb_conf_memfd("nsswitch.conf", zw_buf_head(&out), out.len);
	zw_buf_fini(&out);
	return fd < 0 ? -1 : fd;
}

static int env_add(struct zw_buf *b, char *const *env)
{
	int r = 0;

	for (; r == 0 && env && *env; env++)
		r = zw_buf_add(b, *env, strlen(*env) + 1);
	return r;
}

/** Appends everything behind the head and notes the sizes in it. */
static int body_add(struct zw_buf *b, struct sb_conf *head, const struct sb_plan *p,
		    const struct sb_layout *l, const char *canary)
{
	struct sock_filter filter[SB_BPF_MAX];
	int n = sb_filter_make(head->landlock_abi > 0, filter, SB_BPF_MAX);
	int r;

	if (n < 0)
		return n;
	head->filter_b = (uint32_t)n * (uint32_t)sizeof(filter[0]);
	r = zw_buf_add(b, filter, head->filter_b);
	size_t before = b->len;
	if (r == 0)
		r = env_add(b, p->env);
	head->env_b = (uint32_t)(b->len - before);
	before = b->len;
	if (r == 0)
		r = sb_plan_socket_dirs(p, l, b);
	head->socket_dirs_b = (uint32_t)(b->len - before);
	const struct {
		const char *text;
		uint32_t *size;
	} texts[] = {{canary, &head->canary_b},
		     {l->runtime_dir, &head->runtime_b},
		     {l->cwd, &head->cwd_b}};
	for (size_t i = 0; r == 0 && i < ZW_N_ELEMENTS(texts); i++) {
		*texts[i].size = (uint32_t)strlen(texts[i].text) + 1;
		r = zw_buf_add(b, texts[i].text, *texts[i].size);
	}
	return r;
}

int sb_conf_init(const struct sb_plan *p, const struct sb_layout *l, int ctl, const int stdio[3],
		 int landlock_abi, unsigned rlimits, const char *canary)
{
	struct sb_conf head = {.magic = SB_CONF_MAGIC,
			       .ctl = ctl,
			       .stdio = {stdio[0], stdio[1], stdio[2]},
			       .want_pty = p->want_pty,
			       .rows = p->rows,
			       .cols = p->cols,
			       .landlock_abi = (uint32_t)landlock_abi,
			       .rlimits = rlimits,
			       .limits = p->limits};
	struct zw_buf b;
	int r;

	zw_buf_init(&b, SB_CONF_BYTES_MAX);
	r = zw_buf_add(&b, &head, sizeof(head));
	if (r == 0)
		r = body_add(&b, &head, p, l, canary);
	if (r == 0) {
		memcpy(zw_buf_head(&b), &head, sizeof(head));
		r = sb_conf_memfd("zwatch-init", zw_buf_head(&b), b.len);
	}
	zw_buf_fini(&b);
	return r;
}
