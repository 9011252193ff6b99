/* SPDX-License-Identifier: MIT */
#include "src/audit/maint.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/audit/prune.h"
#include "src/audit/store.h"
#include "src/base/buf.h"
#include "src/audit/verify.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/str.h"

/* As in zwatch(1). */
enum { EXIT_OK = 0, EXIT_NO = 1, EXIT_BAD_USAGE = 2, EXIT_STORE = 6 };

/* A dry run stops here, and well. */
#define STOP_WELL 100

#define BUSY_MS	     5000
#define BUSY_TRIES   20
#define BYTES_PER_MB 1048576.0

static int say_error(const char *path, int r)
{
	dprintf(2, "zwatch: the history %s: %s\n", path, aud_store_why(r));
	if (r == ZW_E_BUSY)
		dprintf(2, "        fix: try again when the other program is done\n");
	else if (r == -EUCLEAN)
		dprintf(2, "        fix: move it away to start a new one; a copy may stand beside "
			   "it\n");
	return EXIT_STORE;
}

/* For words that change nothing: no migration, no new file. Returns 0 or an exit status. */
static int open_to_read(const char *path, sqlite3 **ret)
{
	int rc = sqlite3_open_v2(path, ret, SQLITE_OPEN_READONLY | SQLITE_OPEN_EXRESCODE, NULL);

	if (access(path, F_OK) < 0 && errno == ENOENT) {
		dprintf(2, "zwatch: there is no history at %s yet\n", path);
		sqlite3_close(*ret);
		return EXIT_NO;
	}
	if (rc == SQLITE_OK) {
		sqlite3_busy_timeout(*ret, BUSY_MS);
		sqlite3_db_config(*ret, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
		sqlite3_db_config(*ret, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
		rc = sqlite3_exec(*ret, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL);
	}
	if (rc == SQLITE_OK)
		return 0;
	int status = say_error(path, aud_store_error(*ret, rc));
	sqlite3_close(*ret);
	return status;
}

/* For words that change it. Returns 0 or an exit status. */
static int open_to_write(const char *path, struct aud_store **ret)
{
	if (access(path, F_OK) < 0) {
		dprintf(2, "zwatch: there is no history at %s yet\n", path);
		return EXIT_NO;
	}
	*ret = aud_store_new(path);
	int r = aud_store_open(*ret);
	if (r == 0) {
		sqlite3_busy_timeout(aud_store_db(*ret), BUSY_MS);
		return 0;
	}
	aud_store_free(*ret);
	return say_error(path, r);
}

static int64_t number(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *st = NULL;
	int64_t n = 0;

	if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) == SQLITE_OK &&
	    sqlite3_step(st) == SQLITE_ROW)
		n = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return n;
}

static void size_text(int64_t b, char *dst, size_t size)
{
	snprintf(dst, size, "%.1f MB", (double)b / BYTES_PER_MB);
}

/* -- info, check, verify, backup --------------------------------------------------------------- */

struct info {
	int64_t schema, file_b, used_b, n_sessions, n_running, n_events, n_removed, oldest_us;
};

static void info_read(sqlite3 *db, const char *path, struct info *ret)
{
	struct stat st;

	*ret = (struct info){
		.schema = number(db, "PRAGMA user_version"),
		.file_b = stat(path, &st) == 0 ? st.st_size : 0,
		.n_sessions = number(db, "SELECT count(*) FROM sessions"),
		.n_running = number(db, "SELECT count(*) FROM sessions WHERE ended_us IS NULL"),
		.n_events = number(db, "SELECT ifnull(sum(n_events), 0) FROM sums"),
		.n_removed = number(db, "SELECT count(*) FROM tombstones WHERE event IS NULL"),
		.oldest_us = number(db, "SELECT ifnull(min(started_us), 0) FROM sessions"),
	};
	aud_prune_used(db, &ret->used_b);
}

static int do_info(const char *path, int argc, char **argv)
{
	struct info i;
	char file[32], used[32], oldest[32] = "-";
	sqlite3 *db = NULL;
	int status = open_to_read(path, &db);

	if (status != 0)
		return status;
	info_read(db, path, &i);
	sqlite3_close(db);
	time_t t = (time_t)(i.oldest_us / 1000000);
	struct tm tm;
	if (t != 0 && localtime_r(&t, &tm) != NULL)
		strftime(oldest, sizeof(oldest), "%Y-%m-%d", &tm);
	size_text(i.file_b, file, sizeof(file));
	size_text(i.used_b, used, sizeof(used));
	if (argc > 0 && strcmp(argv[0], "json") == 0)
		printf("{\"schema\": 1, \"store_schema\": %lld, \"file_bytes\": %lld, "
		       "\"used_bytes\":"
		       " %lld, \"sessions\": %lld, \"running\": %lld, \"events\": %lld,"
		       " \"removed_sessions\": %lld}\n",
		       (long long)i.schema, (long long)i.file_b, (long long)i.used_b,
		       (long long)i.n_sessions, (long long)i.n_running, (long long)i.n_events,
		       (long long)i.n_removed);
	else
		printf("store     %s\nschema    %lld\nsize      %s, %s in use\n"
		       "sessions  %lld, %lld running, oldest %s\nevents    %lld\n"
		       "removed   %lld sessions\n",
		       path, (long long)i.schema, file, used, (long long)i.n_sessions,
		       (long long)i.n_running, oldest, (long long)i.n_events,
		       (long long)i.n_removed);
	return EXIT_OK;
}

static int do_check(const char *path, int argc, char **argv)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *st = NULL;
	int n_faults = 0, status = open_to_read(path, &db);

	(void)argc;
	(void)argv;
	if (status != 0)
		return status;
	int rc = sqlite3_prepare_v2(db, "PRAGMA integrity_check(20)", -1, &st, NULL);
	while (rc == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW) {
		const char *line = (const char *)sqlite3_column_text(st, 0);

		if (line != NULL && strcmp(line, "ok") == 0)
			continue;
		n_faults++;
		printf("bad   %s\n", line != NULL ? line : "?");
	}
	if (rc != SQLITE_OK || sqlite3_finalize(st) != SQLITE_OK)
		n_faults++;
	sqlite3_close(db);
	if (n_faults == 0)
		printf("ok    the file of the history is whole\n");
	else
		printf("bad   the file of the history is damaged: %s\n"
		       "      fix   move it away; what can still be read:  sqlite3 %s .recover\n",
		       path, path);
	return n_faults == 0 ? EXIT_OK : EXIT_NO;
}

static void on_fault(int64_t session, int64_t event, const char *what, void *arg)
{
	(void)arg;
	if (event > 0)
		printf("bad   session %lld, event %lld: %s\n", (long long)session, (long long)event,
		       what);
	else
		printf("bad   session %lld: %s\n", (long long)session, what);
}

static int say_verified(const struct aud_verify *v, int64_t session)
{
	char head[2 * AUD_HASH_B + 1] = "-";

	if (v->n_faults > 0) {
		printf("%lld sessions do not fit their chain.\n", (long long)v->n_faults);
		return EXIT_NO;
	}
	if (v->has_head)
		aud_hash_text(v->head, head);
	if (session == 0)
		printf("ok    %lld sessions, %lld events as they were recorded; %lld removed on"
		       " purpose",
		       (long long)v->n_sessions, (long long)v->n_events, (long long)v->n_removed);
	else if (v->n_removed > 0)
		printf("ok    session %lld was removed on purpose", (long long)session);
	else
		printf("ok    session %lld: %lld events as they were recorded, head %s",
		       (long long)session, (long long)v->n_events, head);
	if (v->n_unsealed > 0)
		printf("; %lld sessions are from before there were chains",
		       (long long)v->n_unsealed);
	printf("\n");
	return EXIT_OK;
}

/* verify [SESSION [HEAD]] */
static int do_verify(const char *path, int argc, char **argv)
{
	int64_t session = argc > 0 ? strtoll(argv[0], NULL, 10) : 0;
	const char *head = argc > 1 ? argv[1] : "";
	struct aud_verify v;
	sqlite3 *db = NULL;
	int status = open_to_read(path, &db);

	if (status != 0)
		return status;
	if (number(db, "PRAGMA user_version") < 2) {
		printf("The history is of schema 1: there are no chains yet to verify.\n");
		sqlite3_close(db);
		return EXIT_OK;
	}
	int r = aud_verify(db, session, head, on_fault, NULL, &v);
	sqlite3_close(db);
	if (r == ZW_E_SYNTAX) {
		dprintf(2, "zwatch: '%s' is no head: at least %d hex digits of it\n", head,
			AUD_HEAD_DIGITS_MIN);
		return EXIT_BAD_USAGE;
	}
	if (r == ZW_E_NOT_FOUND) {
		dprintf(2, "zwatch: there is no session %lld, and no word of its removal\n",
			(long long)session);
		return EXIT_NO;
	}
	return r < 0 ? say_error(path, r) : say_verified(&v, session);
}

/* backup FILE: a whole copy, also while sessions write. */
static int do_backup(const char *path, int argc, char **argv)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *st = NULL;
	int status = argc > 0 ? open_to_read(path, &db) : EXIT_BAD_USAGE;

	if (status != 0)
		return status;
	if (access(argv[0], F_OK) == 0) {
		dprintf(2, "zwatch: %s is there already; it is not written over\n", argv[0]);
		sqlite3_close(db);
		return EXIT_BAD_USAGE;
	}
	umask(077);
	int rc = sqlite3_prepare_v2(db, "VACUUM INTO ?1", -1, &st, NULL);
	if (rc == SQLITE_OK) {
		sqlite3_bind_text(st, 1, argv[0], -1, SQLITE_STATIC);
		rc = sqlite3_step(st);
	}
	sqlite3_finalize(st);
	int r = rc == SQLITE_DONE ? 0 : aud_store_error(db, rc);
	sqlite3_close(db);
	if (r < 0) {
		dprintf(2, "zwatch: %s cannot be written: %s\n", argv[0], aud_store_why(r));
		return EXIT_STORE;
	}
	printf("The history was copied to %s\n", argv[0]);
	return EXIT_OK;
}

/* -- removing ---------------------------------------------------------------------------------- */

enum consent { CONSENT_DRY, CONSENT_YES, CONSENT_ASK };

static enum consent consent_of(const char *word)
{
	return strcmp(word, "yes") == 0	  ? CONSENT_YES
	       : strcmp(word, "ask") == 0 ? CONSENT_ASK
					  : CONSENT_DRY;
}

/* Whether to go on, after what will go was said. Returns 0 or an exit status. */
static int agreed(enum consent consent)
{
	char line[16] = "";

	if (consent == CONSENT_YES)
		return 0;
	if (consent == CONSENT_DRY) {
		printf("Nothing was removed (--dry-run).\n");
		return STOP_WELL;
	}
	if (!isatty(STDIN_FILENO)) {
		dprintf(2, "zwatch: nothing was removed: nobody can be asked here\n"
			   "        fix: say --yes\n");
		return EXIT_BAD_USAGE;
	}
	printf("Delete? [y/N] ");
	fflush(stdout);
	if (fgets(line, sizeof(line), stdin) == NULL || (line[0] != 'y' && line[0] != 'Y')) {
		printf("Nothing was removed.\n");
		return EXIT_NO;
	}
	return 0;
}

static void say_plan(const struct aud_prune *p)
{
	char size[32];

	size_text(p->size_b, size, sizeof(size));
	printf("%s%zu session%s, %lld events, about %s.\n", p->has_more ? "At least " : "",
	       p->n_sessions, p->n_sessions == 1 ? "" : "s", (long long)p->n_events, size);
}

/* The recorded screen of a session, where --record kept one. */
static void remove_screen(const char *path, int64_t session)
{
	const char *slash = strrchr(path, '/');
	zw_autofree char *file =
		zw_xasprintf("%.*s/screens/%lld.cast", slash != NULL ? (int)(slash - path) : 1,
			     slash != NULL ? path : ".", (long long)session);

	if (unlink(file) < 0 && errno != ENOENT)
		dprintf(2, "zwatch: %s cannot be removed: %s\n", file, zw_strerror(-errno));
}

static int remove_all(sqlite3 *db, const char *path, const struct aud_prune *p, const char *why)
{
	int r = 0;

	for (size_t i = 0; i < p->n_sessions && r == 0; i++) {
		for (int k = 0; (r = aud_prune_session(db, p->sessions[i], why)) == ZW_E_BUSY &&
				k < BUSY_TRIES;
		     k++)
			poll(NULL, 0, 50);
		if (r == 0)
			remove_screen(path, p->sessions[i]);
		if (p->n_sessions > 20 && isatty(STDERR_FILENO))
			dprintf(2, "\r%zu of %zu ", i + 1, p->n_sessions);
	}
	return r < 0 ? r : aud_prune_rest(db);
}

static int remove_planned(struct aud_store *s, const char *path, const struct aud_prune *p,
			  enum consent consent, const char *why)
{
	say_plan(p);
	if (p->n_sessions == 0)
		return EXIT_OK;
	int status = agreed(consent);
	if (status != 0)
		return status == STOP_WELL ? EXIT_OK : status;
	int r = remove_all(aud_store_db(s), path, p, why);
	if (r < 0)
		return say_error(path, r);
	aud_store_checkpoint(s, true); /* the log still holds pages as they were */
	printf("Gone from the store; copies that you exported are not.\n");
	return EXIT_OK;
}

/* prune CONSENT KEEP_MS MAX_B */
static int do_prune(const char *path, int argc, char **argv)
{
	static struct aud_prune p;
	struct aud_store *s = NULL;
	int status = argc == 3 ? open_to_write(path, &s) : EXIT_BAD_USAGE;

	if (status != 0)
		return status;
	int64_t keep_ms = strtoll(argv[1], NULL, 10), max_b = strtoll(argv[2], NULL, 10);
	int r = aud_prune_find(aud_store_db(s), keep_ms > 0 ? zw_now_us() - keep_ms * 1000 : 0,
			       max_b, &p);
	status = r < 0 ? say_error(path, r)
		       : remove_planned(s, path, &p, consent_of(argv[0]), "pruned by the user");
	aud_store_free(s);
	return status;
}

static int plan_add(sqlite3 *db, const char *path, const char *word, struct aud_prune *p)
{
	int r = aud_prune_add(db, strtoll(word, NULL, 10), p);

	if (r == 0)
		return 0;
	if (r != ZW_E_NOT_FOUND && r != ZW_E_BUSY)
		return say_error(path, r);
	dprintf(2,
		r == ZW_E_BUSY ? "zwatch: session %s is running; nothing was removed\n"
			       : "zwatch: there is no session %s; nothing was removed\n",
		word);
	return EXIT_NO;
}

/* rm CONSENT SESSION... */
static int do_rm(const char *path, int argc, char **argv)
{
	static struct aud_prune p;
	struct aud_store *s = NULL;
	int status = argc >= 2 ? open_to_write(path, &s) : EXIT_BAD_USAGE;

	if (status != 0)
		return status;
	for (int i = 1; i < argc && status == 0; i++)
		status = plan_add(aud_store_db(s), path, argv[i], &p);
	if (status == 0)
		status = remove_planned(s, path, &p, consent_of(argv[0]), "removed by the user");
	aud_store_free(s);
	return status;
}

/* rm-event CONSENT SESSION NO */
static int do_rm_event(const char *path, int argc, char **argv)
{
	struct aud_store *s = NULL;
	int status = argc == 3 ? open_to_write(path, &s) : EXIT_BAD_USAGE;

	if (status != 0)
		return status;
	printf("Event %s of session %s.\n", argv[2], argv[1]);
	status = agreed(consent_of(argv[0]));
	if (status == 0) {
		int r = aud_prune_event(aud_store_db(s), strtoll(argv[1], NULL, 10),
					strtoll(argv[2], NULL, 10), "removed by the user");

		if (r == ZW_E_NOT_FOUND || r == ZW_E_BUSY) {
			dprintf(2,
				r == ZW_E_BUSY ? "zwatch: session %s is running\n"
					       : "zwatch: session %s has no event %s\n",
				argv[1], argv[2]);
			status = EXIT_NO;
		} else if (r < 0) {
			status = say_error(path, r);
		} else {
			aud_prune_rest(aud_store_db(s));
			aud_store_checkpoint(s, true);
			printf("Gone from the store; copies that you exported are not.\n");
		}
	}
	aud_store_free(s);
	return status == STOP_WELL ? EXIT_OK : status;
}

static int do_vacuum(const char *path, int argc, char **argv)
{
	struct aud_store *s = NULL;
	struct stat before, after;
	char from[32], to[32];
	int status = open_to_write(path, &s);

	(void)argc;
	(void)argv;
	if (status != 0)
		return status;
	int r = aud_prune_rest(aud_store_db(s));
	int rc = SQLITE_OK;
	if (r == 0 && stat(path, &before) == 0)
		rc = sqlite3_exec(aud_store_db(s), "VACUUM", NULL, NULL, NULL);
	if (r == 0 && rc != SQLITE_OK)
		r = aud_store_error(aud_store_db(s), rc);
	if (r == 0)
		aud_store_checkpoint(s, true);
	aud_store_free(s);
	if (r < 0 || stat(path, &after) < 0)
		return say_error(path, r < 0 ? r : -errno);
	size_text(before.st_size, from, sizeof(from));
	size_text(after.st_size, to, sizeof(to));
	printf("%s before, %s now.\n", from, to);
	return EXIT_OK;
}

/* The user's own words on a session: SESSION and a note, or SESSION and tags. */
static int set_words(const char *path, int argc, char **argv, bool is_note)
{
	struct aud_store *s = NULL;
	struct zw_buf text;
	int status = argc >= 1 ? open_to_write(path, &s) : EXIT_BAD_USAGE;

	if (status != 0)
		return status;
	zw_buf_init(&text, 4096);
	int r = 0;
	for (int i = 1; i < argc && r == 0; i++)
		r = zw_buf_add(&text, argv[i], strlen(argv[i]) + (is_note ? 0 : 1));
	struct zw_span span = zw_span_n((char *)zw_buf_head(&text), text.len);
	int64_t session = strtoll(argv[0], NULL, 10);
	if (r == 0)
		r = is_note ? aud_store_set_note(s, session, span)
			    : aud_store_set_tags(s, session, span);
	if (r == 0)
		aud_store_checkpoint(s, true);
	zw_buf_fini(&text);
	aud_store_free(s);
	if (r == ZW_E_NOT_FOUND) {
		dprintf(2, "zwatch: there is no session %s\n", argv[0]);
		return EXIT_NO;
	}
	if (r < 0)
		return say_error(path, r);
	printf("Session %s: %s kept.\n", argv[0], is_note ? "note" : "tags");
	return EXIT_OK;
}

static int do_note(const char *path, int argc, char **argv)
{
	return set_words(path, argc, argv, true);
}

static int do_tags(const char *path, int argc, char **argv)
{
	return set_words(path, argc, argv, false);
}

/* -- words ------------------------------------------------------------------------------------- */

static const struct {
	const char *word;
	int (*run)(const char *path, int argc, char **argv);
} words[] = {
	{"info", do_info},   {"check", do_check}, {"verify", do_verify},     {"backup", do_backup},
	{"prune", do_prune}, {"rm", do_rm},	  {"rm-event", do_rm_event}, {"vacuum", do_vacuum},
	{"note", do_note},   {"tags", do_tags},
};

int aud_maint(int argc, char **argv)
{
	if (argc < 3)
		return EXIT_BAD_USAGE;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i].word, argv[2]) == 0)
			return words[i].run(argv[1], argc - 3, argv + 3);
	return EXIT_BAD_USAGE;
}
