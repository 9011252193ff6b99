/* SPDX-License-Identifier: MIT */
#include "src/audit/tidy.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <sqlite3.h>

#include "src/base/mem.h"
#include "src/base/str.h"

struct aud_tidy {
	char *path; /* owned */
	pthread_t thread;
	bool has_thread; /* one that was not joined yet */
	atomic_bool is_busy;
	atomic_int n_done;
};

struct aud_tidy *aud_tidy_new(const char *path)
{
	struct aud_tidy *t = zw_xnew(struct aud_tidy);

	t->path = zw_xstrdup(path);
	return t;
}

void aud_tidy_free(struct aud_tidy *t)
{
	if (t == NULL)
		return;
	aud_tidy_wait(t);
	free(t->path);
	free(t);
}

/* One pass. Nothing is written but pages that the writer has committed. A handle finds out at its
 * first look that there is a log. */
static int pass(const char *path)
{
	static const char look[] = "SELECT 1 FROM sqlite_schema LIMIT 1";
	sqlite3 *db = NULL;
	int n_done = -1;

	int rc = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, look, NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, &n_done);
	sqlite3_close(db);
	return rc == SQLITE_OK ? n_done : -1;
}

static void *run(void *arg)
{
	struct aud_tidy *t = arg;

	atomic_store(&t->n_done, pass(t->path));
	atomic_store(&t->is_busy, false);
	return NULL;
}

bool aud_tidy_start(struct aud_tidy *t)
{
	sigset_t all, before;

	if (aud_tidy_is_busy(t))
		return true;
	aud_tidy_wait(t);
	atomic_store(&t->is_busy, true);
	sigfillset(&all); /* signals are the writer's */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	t->has_thread = pthread_create(&t->thread, NULL, run, t) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!t->has_thread)
		atomic_store(&t->is_busy, false);
	return t->has_thread;
}

bool aud_tidy_is_busy(const struct aud_tidy *t)
{
	return atomic_load(&t->is_busy);
}

void aud_tidy_wait(struct aud_tidy *t)
{
	if (t->has_thread)
		pthread_join(t->thread, NULL);
	t->has_thread = false;
}

int aud_tidy_n_done(const struct aud_tidy *t)
{
	return atomic_load(&t->n_done);
}
