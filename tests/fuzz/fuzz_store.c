/* SPDX-License-Identifier: MIT
 * A store that was damaged or made by an enemy, as the readers of it get it: verification, lists,
 * filters and printing end with an answer or an error. The input is a list of changes to a good one. */
#include <assert.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/audit/print.h"
#include "src/audit/stats.h"
#include "src/audit/verify.h"
#include "tests/support/audit.h"

static uint8_t *good;
static size_t good_len;
static char path[64];
static int null_fd;

/* A small store, checkpointed, as bytes. */
static void make_good(void)
{
	struct place p;
	struct ear e;
	size_t len = 0;
	char *text = NULL;

	place_make(&p);
	struct aud_writer *w = writer_start(&p, &e);
	for (uint64_t i = 1; i <= 20; i++) {
		union zw_msg_any m = i % 2 ? a_sock(i, i % 3 ? ZW_DID_DENY : ZW_DID_AUTO)
					   : a_conn(i, 0, ZW_DID_ALLOW);

		aud_writer_put(w, i % 2 ? ZW_ID_sock_event : ZW_ID_conn_event, &m);
	}
	assert(writer_stop(w) == 0);
	assert(zw_read_file(p.path, 10 << 20, &text, &len) == 0);
	good = (uint8_t *)text;
	good_len = len;
	place_drop(&p);
	snprintf(path, sizeof(path), "/tmp/zw-fuzz-store-%d.db", (int)getpid());
	null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
}

static void on_fault(int64_t session, int64_t event, const char *what, void *arg)
{
	(void)session;
	(void)event;
	(void)arg;
	assert(*what != '\0');
}

static void read_it(void)
{
	static struct aud_stats stats;
	struct aud_print p = {.fd = null_fd, .format = AUD_FORMAT_NDJSON};
	struct aud_filter_error error;
	struct aud_filter *f = NULL;
	struct aud_query *q = NULL;
	struct aud_verify v;
	sqlite3 *db = NULL;

	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK) {
		sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
		aud_verify(db, 0, "", on_fault, NULL, &v);
	}
	sqlite3_close(db);
	assert(aud_filter_parse("did:deny or path:/run", 0, &f, &error) == 0);
	if (aud_query_open(path, &q) == 0) {
		aud_print_history(q, f, 100, &p);
		aud_print_found(q, f, 0, &p);
		aud_stats_read(q, f, &stats);
	}
	aud_query_free(q);
	aud_filter_free(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (good == NULL)
		make_good();
	uint8_t *bad = zw_xmalloc(good_len);
	memcpy(bad, good, good_len);
	/* Four bytes each: a place (3) and what stands there now. */
	for (size_t i = 0; i + 4 <= size; i += 4) {
		size_t at =
			((size_t)data[i] << 16 | (size_t)data[i + 1] << 8 | data[i + 2]) % good_len;

		bad[at] = data[i + 3];
	}
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert(fd >= 0 && write(fd, bad, good_len) == (ssize_t)good_len);
	close(fd);
	free(bad);
	read_it();
	unlink(path);
	return 0;
}
