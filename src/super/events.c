/* SPDX-License-Identifier: MIT
 * What happened: from the helper that saw it into the record and into the model. The numbers of the
 * sources are made one: source and start of the helper in the upper bits, its own number below, so
 * that a restarted helper never writes over an older row. */
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/log.h"
#include "src/base/vis.h"
#include "src/base/words.h"
#include "src/super/super_i.h"

#define SEQ_BITS  44
#define SEQ_MASK  ((UINT64_C(1) << SEQ_BITS) - 1)
#define START_MAX 0xfffu

static uint64_t seq_global(const struct sup_helper *h, uint64_t seq)
{
	return (uint64_t)h->role << (SEQ_BITS + 12) |
	       (uint64_t)(h->n_starts & START_MAX) << SEQ_BITS | (seq & SEQ_MASK);
}

void sup_changed(struct sup *s, unsigned changed)
{
	if (s->face != NULL && s->is_face_open)
		s->face->changed(s->face->arg, changed);
}

void sup_record(struct sup *s, const char *kind, const char *text)
{
	sup_mark(s, "%s: %s", kind, text);
	if (s->audit.chan != NULL)
		zw_send(s->audit.chan, misc_event, .t_us = zw_now_us(), .kind = zw_span(kind),
			.text = zw_span(text));
}

void sup_warn(struct sup *s, const char *fmt, ...)
{
	zw_autofree char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		zw_fatal("out of memory");
	va_end(ap);
	zw_warn("%s", text);
	mdl_set(&s->model.warning, zw_span(text), 1024);
	sup_record(s, "warning", text);
	sup_changed(s, MDL_CHANGED_STATUS);
}

/* Nothing is granted that is not on record: without a store the answer to a wish to commit is no. */
static void refuse_commit(struct sup_helper *h, uint64_t seq)
{
	if (h->chan != NULL)
		zw_send(h->chan, committed, .seq = seq, .is_kept = 0);
}

static void count(struct mdl_session *m, unsigned did, uint32_t n)
{
	if (did == ZW_DID_ALLOW)
		m->n_allow += n;
	else if (did == ZW_DID_DENY || did == ZW_DID_MISS)
		m->n_deny += n;
	else if (did == ZW_DID_AUTO)
		m->n_auto += n;
}

/* What zwatch-init tries before the agent runs, to test the sandbox, is no deed of the agent's. */
static bool is_self_test(const struct sup *s, const struct zw_msg_sock_event *m)
{
	return m->t_us < s->go_us && (m->did == ZW_DID_DENY || m->did == ZW_DID_AUTO) &&
	       !m->want_commit && m->exe.len >= strlen("zwatch-init") &&
	       memcmp(m->exe.p + m->exe.len - strlen("zwatch-init"), "zwatch-init",
		      strlen("zwatch-init")) == 0;
}

static bool is_refusal(unsigned did)
{
	return did == ZW_DID_DENY || did == ZW_DID_MISS;
}

static void text_of(char *out, size_t size, struct zw_span s)
{
	zw_vis(out, size, s.p, s.len);
}

static void sock_refused(struct sup *s, const struct zw_msg_sock_event *m, uint32_t n)
{
	struct sup_refusal r = {.event = m->seq,
				.t_us = m->t_us,
				.kind = POL_KIND_SOCKET,
				.by = m->by,
				.rule = m->rule,
				.n = n};

	if (!is_refusal(m->did) || n == 0)
		return;
	text_of(r.target, sizeof(r.target), m->target);
	text_of(r.program, sizeof(r.program), m->exe);
	text_of(r.reason, sizeof(r.reason), m->reason);
	text_of(r.note, sizeof(r.note), m->note);
	sup_refused(s, &r);
}

static void conn_refused(struct sup *s, const struct zw_msg_conn_event *m, uint32_t n)
{
	struct sup_refusal r = {.event = m->seq,
				.t_us = m->t_us,
				.kind = POL_KIND_SITE,
				.by = m->by,
				.rule = m->rule,
				.n = n};
	char host[300];

	if (!is_refusal(m->did) || n == 0)
		return;
	text_of(host, sizeof(host), m->host);
	snprintf(r.target, sizeof(r.target), "%s:%u", host, m->port);
	text_of(r.program, sizeof(r.program), m->exe);
	text_of(r.reason, sizeof(r.reason), m->reason);
	text_of(r.note, sizeof(r.note), m->note);
	sup_refused(s, &r);
}

/* Tries that this event adds to its line. A storm comes as one event whose total grows; a line shows
 * several of them, and only the total of the newest is known. */
static uint32_t sock_more(struct mdl_sock *k, bool is_new, const struct zw_msg_sock_event *m,
			  uint64_t seq)
{
	bool is_newest = !is_new && k->id == seq;
	uint32_t known = is_newest ? k->n_newest : 0;

	if (!is_newest && m->phase > 0)
		return 0;
	k->id = seq;
	k->n_newest = m->n_times;
	return m->n_times > known ? m->n_times - known : 0;
}

void sup_on_sock_event(struct sup *s, struct sup_helper *h, const struct zw_msg_sock_event *m)
{
	struct zw_msg_sock_event out = *m;
	bool is_new;

	if (is_self_test(s, m))
		return;
	out.seq = seq_global(h, m->seq);
	if (s->audit.chan != NULL)
		zw_chan_send_fds(s->audit.chan, ZW_ID_sock_event, &out, NULL, 0);
	else if (m->want_commit)
		refuse_commit(h, m->seq);
	struct mdl_sock *k = mdl_sock_get(&s->model, m->target, m->pid, m->did, m->op, &is_new);
	uint32_t more = sock_more(k, is_new, m, out.seq);
	if (m->by == ZW_BY_RULE)
		sup_saved_used(s, m->rule, more);
	sock_refused(s, m, more);
	count(&s->model, m->did, more);
	k->n_times += more;
	k->by = m->by;
	k->rule = m->rule;
	k->is_new =
		m->did != ZW_DID_AUTO && m->did != ZW_DID_FAIL && sup_is_new_socket(s, m->target);
	k->t_us = m->t_us;
	k->up_b = m->up_b;
	k->down_b = m->down_b;
	k->risk = m->risk < POL_RISK_MAX ? (enum pol_risk)m->risk : POL_RISK_CRITICAL;
	mdl_set(&k->asked, m->asked, 4096);
	mdl_set(&k->class_name, m->class_name, 64);
	mdl_set(&k->reason, m->reason, 512);
	mdl_proc_set(&s->model, &k->proc, m->pid, m->exe, m->argv, m->cwd, m->chain);
	if (m->phase == 0)
		sup_mark_event(s, m->did, m->by, k->target, &k->proc);
	sup_changed(s, MDL_CHANGED_SOCKS | MDL_CHANGED_STATUS);
}

void sup_close(struct sup *s, const struct mdl_sock *k)
{
	if (s->broker.chan == NULL)
		return;
	zw_send(s->broker.chan, brk_close, .target = zw_span(k->raw_target), .pid = k->proc.pid);
	zw_autofree char *text =
		zw_xasprintf("connections of process %u to %s ended", k->proc.pid, k->target);
	sup_record(s, "mode", text);
}

bool sup_close_conn(struct sup *s, const struct mdl_conn *c)
{
	if (s->proxy.chan == NULL || seq_global(&s->proxy, c->id) != c->id)
		return false;
	zw_send(s->proxy.chan, px_close, .seq = c->id & SEQ_MASK);
	zw_autofree char *text =
		zw_xasprintf("connection of process %u to %s:%u ended", c->proc.pid,
			     *c->host != '\0' ? c->host : c->address, c->port);
	sup_record(s, "mode", text);
	return true;
}

static void conn_show(struct sup *s, const struct zw_msg_conn_event *m, uint64_t id)
{
	bool is_new;
	struct mdl_conn *c = mdl_conn_get(&s->model, id, &is_new);
	bool was_live = !is_new && c->closed_us == 0;

	uint32_t more = m->n_times > c->n_times ? m->n_times - c->n_times : 0;
	conn_refused(s, m, more);
	count(&s->model, m->did, more);
	if (m->by == ZW_BY_RULE)
		sup_saved_used(s, m->rule, more);
	if (m->phase == 0) {
		c->opened_us = m->t_us;
		mdl_proc_set(&s->model, &c->proc, m->pid, m->exe, m->argv, m->cwd, m->chain);
	}
	uint64_t up_b = m->up_b > c->up_b ? m->up_b - c->up_b : 0;
	uint64_t down_b = m->down_b > c->down_b ? m->down_b - c->down_b : 0;
	s->model.up_b += up_b;
	s->model.down_b += down_b;
	if (up_b > 0 || down_b > 0) {
		mdl_rate_add(&c->rate, zw_mono_ms() / 1000, up_b, down_b);
		mdl_rate_add(&s->model.rate, zw_mono_ms() / 1000, up_b, down_b);
	}
	c->did = m->did;
	c->via = m->via;
	c->by = m->by;
	c->rule = m->rule;
	c->port = m->port;
	c->is_new = m->via != ZW_VIA_DNS && sup_is_new_site(s, m->host, m->port);
	c->up_b = m->up_b;
	c->down_b = m->down_b;
	c->n_times = m->n_times;
	mdl_set(&c->host, m->host, 255);
	mdl_set(&c->address, m->address, 64);
	mdl_set(&c->reason, m->reason, 512);
	mdl_set(&c->end, m->end, 128);
	if (m->phase == 0) {
		zw_autofree char *target =
			zw_xasprintf("%s:%u", *c->host != '\0' ? c->host : c->address, m->port);

		sup_mark_event(s, m->did, m->by, target, &c->proc);
	}
	if (m->phase == 2 || m->did != ZW_DID_ALLOW)
		c->closed_us = m->t_us;
	bool is_live = c->closed_us == 0;
	if (is_live && !was_live)
		s->model.n_live++;
	else if (!is_live && was_live)
		s->model.n_live--;
}

void sup_on_conn_event(struct sup *s, struct sup_helper *h, const struct zw_msg_conn_event *m)
{
	struct zw_msg_conn_event out = *m;

	out.seq = seq_global(h, m->seq);
	if (s->audit.chan != NULL)
		zw_chan_send_fds(s->audit.chan, ZW_ID_conn_event, &out, NULL, 0);
	else if (m->want_commit)
		refuse_commit(h, m->seq);
	conn_show(s, m, out.seq);
	sup_changed(s, MDL_CHANGED_CONNS | MDL_CHANGED_STATUS);
}

void sup_on_committed(struct sup *s, const struct zw_msg_committed *m)
{
	struct sup_helper *const sources[] = {&s->broker, &s->proxy};

	for (size_t i = 0; i < ZW_N_ELEMENTS(sources); i++) {
		struct sup_helper *h = sources[i];

		if (h->chan != NULL && seq_global(h, m->seq) == m->seq)
			zw_send(h->chan, committed, .seq = m->seq & SEQ_MASK, .is_kept = m->is_kept,
				.session = m->session, .event = m->event);
	}
}
