/* SPDX-License-Identifier: MIT
 * What the tests of the record share: a folder of their own, events, and an ear for the writer. */
#ifndef ZW_TESTS_SUPPORT_AUDIT_H
#define ZW_TESTS_SUPPORT_AUDIT_H

#include <ftw.h>
#include <poll.h>
#include <sys/stat.h>

#include "src/audit/writer.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/words.h"

struct ear {
	int status;
	uint64_t session;
	unsigned n_opened, n_kept, n_refused, n_problems;
	uint64_t last_kept, last_refused, n_lost;
	int64_t last_no;
	char text[512];
};

static inline void on_ear_opened(int status, uint64_t session, const char *text, void *arg)
{
	struct ear *e = arg;

	(void)text;
	e->n_opened++;
	e->status = status;
	e->session = session;
}

static inline void on_ear_committed(uint64_t seq, bool is_kept, int64_t no, void *arg)
{
	struct ear *e = arg;

	e->last_no = no;
	if (is_kept) {
		e->n_kept++;
		e->last_kept = seq;
	} else {
		e->n_refused++;
		e->last_refused = seq;
	}
}

static inline void on_ear_problem(const char *text, uint64_t n_lost, bool is_over, void *arg)
{
	struct ear *e = arg;

	(void)is_over;
	e->n_problems++;
	e->n_lost = n_lost;
	zw_strlcpy(e->text, text, sizeof(e->text));
}

static const struct aud_writer_ops ear_ops = {on_ear_opened, on_ear_committed, on_ear_problem};

/* A folder for one test, and the path of a store in a folder below it that is not there yet. */
struct place {
	char root[64], folder[128], path[160];
};

static inline void place_make(struct place *p)
{
	/* In memory where that can be had: the disk of a busy machine makes times meaningless. */
	snprintf(p->root, sizeof(p->root), "%s/zw-audit-XXXXXX",
		 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	if (mkdtemp(p->root) == NULL)
		abort();
	snprintf(p->folder, sizeof(p->folder), "%s/state/zwatch", p->root);
	snprintf(p->path, sizeof(p->path), "%s/history.db", p->folder);
}

static inline int on_place_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline void place_drop(const struct place *p)
{
	nftw(p->root, on_place_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static inline struct zw_msg_aud_open an_opening(const char *path)
{
	return (struct zw_msg_aud_open){
		.path = zw_span(path),
		.t_us = INT64_C(1796042590118233), /* 2026-11-30T12:43:10.118233Z */
		.agent = zw_span("claude"),
		.argv = zw_span_n("claude\0--foo", 12),
		.cwd = zw_span("/home/u/src/shop"),
		.project = zw_span("/home/u/src/shop"),
		.mode = ZW_MODE_GUARD,
		.level = 1,
		.version = zw_span("0.1.0"),
		.uid = 1000,
	};
}

static inline union zw_msg_any a_sock(uint64_t seq, unsigned did)
{
	return (union zw_msg_any){
		.sock_event = {
			.seq = seq,
			.t_us = INT64_C(1796042590118233) + (int64_t)(seq & 0xffffff) * 1000,
			.did = (uint8_t)did,
			.op = ZW_OP_CONNECT,
			.target = zw_span("/run/docker.sock"),
			.asked = zw_span("/var/run/docker.sock"),
			.class_name = zw_span("docker"),
			.risk = ZW_RISK_CRITICAL,
			.listener_uid = 0,
			.listener_pid = 1187,
			.listener_exe = zw_span("/usr/bin/dockerd"),
			.by = ZW_BY_USER,
			.reason = zw_span("refused by the user"),
			.n_times = 1,
			.pid = 4711,
			.exe = zw_span("/usr/bin/docker"),
			.argv = zw_span_n("docker\0compose\0up", 17),
			.cwd = zw_span("/home/u/src/shop"),
			.chain = zw_span_n("4502 claude\0004688 bash", 21),
		}};
}

static inline union zw_msg_any a_conn(uint64_t seq, unsigned phase, unsigned did)
{
	return (union zw_msg_any){.conn_event = {
					  .seq = seq,
					  .phase = (uint8_t)phase,
					  .t_us = INT64_C(1796042590118233) +
						  (int64_t)(seq & 0xffffff) * 1000 + phase,
					  .did = (uint8_t)did,
					  .via = ZW_VIA_CONNECT,
					  .host = zw_span("registry.pkgs.test"),
					  .port = 443,
					  .by = ZW_BY_RULE,
					  .rule = 7,
					  .n_times = 1,
					  .pid = 4760,
					  .exe = zw_span("/usr/bin/node"),
					  .argv = zw_span_n("npm\0install", 11),
				  }};
}

/* Does what is due until @ms are over. */
static inline void run_for(struct aud_writer *w, int64_t ms)
{
	int64_t end_ms = zw_mono_ms() + ms;

	for (;;) {
		int64_t now_ms = zw_mono_ms(), due_ms = aud_writer_due_ms(w);

		if (now_ms >= end_ms)
			return;
		if (due_ms < 0 || due_ms > end_ms - now_ms)
			due_ms = end_ms - now_ms;
		poll(NULL, 0, (int)due_ms);
		aud_writer_run(w);
	}
}

static inline struct aud_writer *writer_start(const struct place *p, struct ear *e)
{
	struct zw_msg_aud_open m = an_opening(p->path);
	struct aud_writer *w = aud_writer_new(&m, getpid(), &ear_ops, e);

	*e = (struct ear){0};
	aud_writer_open(w);
	return w;
}

static inline int writer_stop(struct aud_writer *w)
{
	struct aud_closing c;
	int r = aud_writer_end(w, zw_now_us(), 0, zw_span("exited"), 20000, &c);

	aud_writer_free(w);
	return r;
}

#endif
