/* SPDX-License-Identifier: MIT */
#include "proxy/who.h"

#include "src/base/io.h"
#include "src/base/mem.h"

struct px_whos {
	struct px_wheel *wheel;
	struct px_timeout expiry; /* of the oldest */
	TAILQ_HEAD(, px_who) by_time;
	struct px_who *by_port[65536];
};

struct px_whos *px_whos_new(struct px_wheel *wheel)
{
	struct px_whos *w = zw_xnew(struct px_whos);

	w->wheel = wheel;
	TAILQ_INIT(&w->by_time);
	return w;
}

void px_who_unref(struct px_who *who)
{
	if (who != NULL && --who->n_refs == 0)
		free(who);
}

struct px_who *px_whos_take(struct px_whos *w, uint16_t local_port)
{
	struct px_who *who = w->by_port[local_port];

	if (who == NULL)
		return NULL;
	w->by_port[local_port] = NULL;
	TAILQ_REMOVE(&w->by_time, who, by_time);
	if (who->until_ms < zw_mono_ms()) {
		px_who_unref(who);
		return NULL;
	}
	return who;
}

void px_whos_free(struct px_whos *w)
{
	struct px_who *who;

	if (w == NULL)
		return;
	px_timeout_clear(w->wheel, &w->expiry);
	while ((who = TAILQ_FIRST(&w->by_time)) != NULL) {
		TAILQ_REMOVE(&w->by_time, who, by_time);
		px_who_unref(who);
	}
	free(w);
}

static void on_expiry(void *arg)
{
	struct px_whos *w = arg;
	int64_t now_ms = zw_mono_ms();
	struct px_who *who;

	while ((who = TAILQ_FIRST(&w->by_time)) != NULL && who->until_ms <= now_ms)
		px_who_unref(px_whos_take(w, who->local_port));
	if (who != NULL)
		px_timeout_set(w->wheel, &w->expiry, who->until_ms - now_ms, on_expiry, w);
}

static struct zw_span put(char **at, struct zw_span s)
{
	struct zw_span copy = zw_span_n(*at, s.len);

	if (s.len > 0)
		memcpy(*at, s.p, s.len);
	*at += s.len;
	*(*at)++ = '\0';
	return copy;
}

static void addr_set(struct px_who *who, const struct zw_msg_tcp_who *m)
{
	size_t size = m->family == 4 ? 4 : m->family == 6 ? 16 : 0;

	if (size == 0 || m->addr.len < size)
		return;
	memcpy(who->addr.b, m->addr.p, size);
	who->addr.family = m->family == 4 ? POL_FAMILY_V4 : POL_FAMILY_V6;
}

void px_whos_put(struct px_whos *w, const struct zw_msg_tcp_who *m)
{
	size_t size = m->exe.len + m->argv.len + m->cwd.len + m->chain.len + 4;
	struct px_who *who = zw_xcalloc(1, sizeof(*who) + size);
	char *at = who->data;

	px_who_unref(px_whos_take(w, m->local_port));
	who->n_refs = 1;
	who->local_port = m->local_port;
	who->host_local = m->is_host_local;
	who->rule = m->rule;
	addr_set(who, m);
	who->port = m->port;
	who->pid = m->pid;
	who->exe_id = m->exe_id;
	who->exe = put(&at, m->exe).p;
	who->argv = put(&at, m->argv);
	who->cwd = put(&at, m->cwd);
	who->chain = put(&at, m->chain);
	who->until_ms = zw_mono_ms() + PX_WHO_KEEP_MS;
	w->by_port[m->local_port] = who;
	TAILQ_INSERT_TAIL(&w->by_time, who, by_time);
	if (w->expiry.list == NULL)
		px_timeout_set(w->wheel, &w->expiry, PX_WHO_KEEP_MS, on_expiry, w);
}
