/* SPDX-License-Identifier: MIT
 * What a program is: the hash of its file, and of the script that it runs. The files are read in
 * pieces, between which the loop goes on; what was read before is remembered by the file's number,
 * which changes with every change of the file. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/super/super_i.h"

#define PIECE_B	   (512u << 10)
#define FILE_MAX_B (2ll << 30)

static const char *known_hash(const struct sup *s, uint64_t file_id)
{
	for (size_t i = 0; i < SUP_HASHES_MAX; i++)
		if (s->hashes[i].file_id == file_id)
			return s->hashes[i].hex;
	return NULL;
}

static void hash_keep(struct sup *s, uint64_t file_id, const char *hex)
{
	struct sup_hash *h = &s->hashes[s->next_hash++ % SUP_HASHES_MAX];

	h->file_id = file_id;
	zw_strlcpy(h->hex, hex, sizeof(h->hex));
}

static int program_open(uint32_t pid)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* As the process itself sees the path. */
static int script_open(uint32_t pid, const char *script)
{
	struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
			       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	char path[40];

	snprintf(path, sizeof(path), "/proc/%u/root", pid);
	zw_autoclose int root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -1;
	return (int)syscall(SYS_openat2, root, script, &how, sizeof(how));
}

static struct sup_ident_file *file_now(struct sup_ident *id)
{
	return id->n_done < 2 ? &id->file[id->n_done] : NULL;
}

static void file_end(struct sup_ident *id, struct sup_ident_file *f)
{
	zw_close(&f->fd);
	id->n_done++;
	zw_sha256_init(&id->sum);
}

/* One piece. Returns false when the file is done, one way or the other. */
static bool file_read(struct sup_ident *id, struct sup_ident_file *f)
{
	static uint8_t piece[PIECE_B];
	struct stat st;
	ssize_t n = read(f->fd, piece, sizeof(piece));

	if (n > 0) {
		zw_sha256_add(&id->sum, piece, (size_t)n);
		return true;
	}
	/* Changed while it was read: no hash of anything that ever was. */
	if (n == 0 && fstat(f->fd, &st) == 0 && zw_file_id(&st) == f->file_id) {
		zw_sha256_hex(&id->sum, f->hash);
		hash_keep(id->s, f->file_id, f->hash);
	}
	return n < 0 && (errno == EINTR || errno == EAGAIN);
}

/* Skips what is not there or known. Returns whether all is done. */
static bool advance(struct sup_ident *id)
{
	struct sup_ident_file *f;

	while ((f = file_now(id)) != NULL) {
		const char *known = f->fd >= 0 ? known_hash(id->s, f->file_id) : NULL;

		if (known != NULL)
			zw_strlcpy(f->hash, known, sizeof(f->hash));
		else if (f->fd >= 0)
			return false;
		file_end(id, f);
	}
	return true;
}

static void on_piece(void *arg)
{
	struct sup_ident *id = arg;
	struct sup_ident_file *f = file_now(id);

	if (f != NULL && !file_read(id, f))
		file_end(id, f);
	if (!advance(id)) {
		zev_timer_start(id->timer, 0);
		return;
	}
	zev_timer_free(zw_steal(&id->timer));
	id->on_done(id->arg);
}

/* Takes the file over when it is a plain one, and the one that was meant. */
static void file_begin(struct sup_ident_file *f, int take_fd, uint64_t want_id)
{
	struct stat st;

	f->fd = take_fd;
	if (take_fd < 0)
		return;
	if (fstat(take_fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > FILE_MAX_B ||
	    (want_id != 0 && zw_file_id(&st) != want_id)) {
		zw_close(&f->fd);
		return;
	}
	f->file_id = zw_file_id(&st);
}

bool sup_ident_start(struct sup_ident *id, struct sup *s, uint32_t pid, uint64_t exe_id,
		     const char *script, void (*on_done)(void *arg), void *arg)
{
	id->s = s;
	id->on_done = on_done;
	id->arg = arg;
	id->is_started = true;
	zw_sha256_init(&id->sum);
	id->file[0].fd = id->file[1].fd = -1;
	/* A number that was given anew meanwhile is another program: its file tells. */
	if (exe_id != 0)
		file_begin(&id->file[0], program_open(pid), exe_id);
	if (*script != '\0')
		file_begin(&id->file[1], script_open(pid, script), 0);
	if (advance(id))
		return true;
	id->timer = zev_timer_new(s->loop, on_piece, id);
	zev_timer_start(id->timer, 0);
	return false;
}

bool sup_ident_is_done(const struct sup_ident *id)
{
	return id->is_started && id->timer == NULL;
}

void sup_ident_fini(struct sup_ident *id)
{
	if (!id->is_started)
		return;
	zev_timer_free(zw_steal(&id->timer));
	zw_close(&id->file[0].fd);
	zw_close(&id->file[1].fd);
}
