/* SPDX-License-Identifier: MIT
 * zwatch-resolver: looks names up for zwatch over authenticated DNS (TLS, HTTPS). A process of its own, because
 * what servers send is parsed here, and restarted by zwatch if that ever ends it.
 *
 * Life: hello → res_setup → contexts and warm-up (files are opened) → lock-down → locked, res_ready →
 * res_query / res_answer until the control channel closes. */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "proxy/resolver/doh.h"
#include "proxy/resolver/dot.h"
#include "proxy/resolver/lookup.h"
#include "proxy/resolver/upstream.h"
#include "sandbox/role_lock.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/base/words.h"
#include "src/ipc/chan.h"

#define RESOLV_CONF	  "/etc/resolv.conf"
#define RESOLV_CONF_MAX_B 65536
#define TIMEOUT_MS	  4000 /* of a lookup, when the settings name none */
/* The library gives up later than the lookup, whose timer decides. */
#define LIBRARY_SLACK_MS 500

/* One upstream; neither of the two pointers: it cannot be asked, and what is asked of it fails. */
struct server {
	struct res_upstream up;
	struct res_server *dot; /* owned */
	struct res_doh *doh;	/* owned */
};

struct resolver {
	struct zev_loop *loop;
	struct zw_chan *chan;
	struct res_lookups *lookups; /* NULL until set up */
	unsigned timeout_ms;
	char *anchors; /* owned; NULL = no validation */
	size_t n_servers;
	struct server servers[RES_UPSTREAMS_MAX];
	int exit_status;
};

static void on_answer(void *arg, uint64_t query, const struct res_result *result,
		      const char *detail)
{
	struct resolver *r = arg;

	zw_send(r->chan, res_answer, .query = query, .status = (uint8_t)result->status,
		.ttl_s = result->ttl_s,
		.addrs = zw_span_n(result->addrs, result->n_addrs * sizeof(result->addrs[0])),
		.cnames = zw_span_n(result->cnames, result->cnames_len_b),
		.records = zw_span_n(result->records, result->records_len_b),
		.detail = zw_span(detail));
}

/* An upstream that cannot be used keeps its place: names of its zone must not go elsewhere. */
static void server_add(struct resolver *r, const struct res_upstream *up)
{
	/* A zone of one's own is seldom below the keys of the root. */
	const char *anchors = up->zone[0] == '\0' ? r->anchors : NULL;
	const char *why = "";
	int e = 0;

	if (r->n_servers >= RES_UPSTREAMS_MAX) {
		zw_warn("more than %d upstreams: %s is left out", RES_UPSTREAMS_MAX, up->text);
		return;
	}
	struct server *s = &r->servers[r->n_servers++];
	s->up = *up;
	if (up->kind == RES_UPSTREAM_DOH && anchors != NULL)
		e = ZW_E_UNSUPPORTED, why = "DNSSEC is validated over tls:// and system alone";
	else if (up->kind == RES_UPSTREAM_DOH)
		e = res_doh_new(r->loop, up, r->timeout_ms + LIBRARY_SLACK_MS, &s->doh, &why);
	else
		e = res_server_new(r->loop, up, r->timeout_ms + LIBRARY_SLACK_MS, anchors, &s->dot,
				   &why);
	if (e < 0)
		zw_error("upstream %s: %s (%s)", up->text, why, zw_strerror(e));
}

static void system_add(struct resolver *r, const char *zone)
{
	struct res_upstream found[3]; /* as many as resolv.conf(5) takes */
	zw_autofree char *text = NULL;
	size_t len = 0;
	int e = zw_read_file(RESOLV_CONF, RESOLV_CONF_MAX_B, &text, &len);

	if (e < 0)
		zw_error("%s: %s", RESOLV_CONF, zw_strerror(e));
	size_t n =
		e < 0 ? 0 : res_resolvconf_parse(zw_span_n(text, len), found, ZW_N_ELEMENTS(found));
	for (size_t i = 0; i < n; i++) {
		zw_strlcpy(found[i].zone, zone, sizeof(found[i].zone));
		server_add(r, &found[i]);
	}
}

static void upstreams_add(struct resolver *r, struct zw_span text)
{
	struct zw_span line;

	while (res_line_next(&text, &line)) {
		struct res_upstream up;
		const char *why = "";

		if (res_upstream_parse(line, &up, &why) < 0)
			zw_error("upstream %.*s: %s", (int)(line.len > 200 ? 200 : line.len),
				 line.p, why);
		else if (up.kind == RES_UPSTREAM_SYSTEM)
			system_add(r, up.zone);
		else
			server_add(r, &up);
	}
}

static struct res_source source_of(struct server *s)
{
	return (struct res_source){
		.text = s->up.text,
		.zone = s->up.zone,
		.server = s->doh != NULL ? (void *)s->doh : (void *)s->dot,
		.ask = s->doh != NULL	? res_doh_ask
		       : s->dot != NULL ? res_server_ask
					: NULL,
	};
}

static void on_msg_res_setup(struct resolver *r, const struct zw_msg_res_setup *m)
{
	struct res_source sources[RES_UPSTREAMS_MAX];

	if (r->lookups != NULL) {
		zw_error("set up twice");
		zev_stop(r->loop);
		return;
	}
	r->timeout_ms = m->timeout_ms > 0 && m->timeout_ms < 60000 ? m->timeout_ms : TIMEOUT_MS;
	r->anchors = m->anchors.len > 0 ? zw_span_dup(m->anchors) : NULL;
	upstreams_add(r, m->upstreams);
	for (size_t i = 0; i < r->n_servers; i++)
		sources[i] = source_of(&r->servers[i]);
	r->lookups = res_lookups_new(r->loop, sources, r->n_servers, r->timeout_ms, on_answer, r);
	r->exit_status = 0;
	/* Back to main(), which locks down before it serves. */
	zev_stop(r->loop);
}

static void on_msg_res_query(struct resolver *r, const struct zw_msg_res_query *m)
{
	char name[RES_NAME_MAX + 3];

	zw_span_cpy(name, sizeof(name), m->name);
	res_lookup_start(r->lookups, m->query, name, (enum res_type)m->type);
}

static void on_msg(struct zw_chan *chan, enum zw_msg_id id, const union zw_msg_any *msg, int *fds,
		   void *arg)
{
	struct resolver *r = arg;

	(void)chan;
	(void)fds;
	if (id == ZW_ID_res_setup) {
		on_msg_res_setup(r, &msg->res_setup);
	} else if (id == ZW_ID_res_query && r->lookups != NULL &&
		   res_type_is_known(msg->res_query.type)) {
		on_msg_res_query(r, &msg->res_query);
	} else {
		zw_error("%s does not belong here", zw_msg_name(id));
		r->exit_status = 1;
		zev_stop(r->loop);
	}
}

static void on_end(struct zw_chan *chan, int error, void *arg)
{
	struct resolver *r = arg;

	(void)chan;
	if (error != ZW_E_EOF) {
		zw_error("control channel: %s", zw_strerror(error));
		r->exit_status = 1;
	}
	zev_stop(r->loop);
}

static const struct zw_chan_ops chan_ops = {.on_msg = on_msg, .on_end = on_end};

static void fini(struct resolver *r)
{
	res_lookups_free(r->lookups);
	for (size_t i = 0; i < r->n_servers; i++) {
		res_server_free(r->servers[i].dot);
		res_doh_free(r->servers[i].doh);
	}
	free(r->anchors);
	zw_chan_free(r->chan);
	zev_loop_free(r->loop);
}

int main(void)
{
	struct resolver r = {.exit_status = 1};

	/* A server that closes while getdns writes would end the process. */
	signal(SIGPIPE, SIG_IGN);
	zw_log_init("zwatch-resolver", fcntl(ZW_FD_LOG, F_GETFD) < 0 ? STDERR_FILENO : ZW_FD_LOG,
		    ZW_LOG_INFO);
	if (fcntl(ZW_FD_CONTROL, F_GETFD) < 0) {
		zw_error("is started by zwatch, not by hand");
		return 1;
	}
	r.loop = zev_loop_new();
	r.chan = zw_chan_new(r.loop, ZW_FD_CONTROL, ROLE_RESOLVER, ROLE_SUPER, &chan_ops, &r);
	zw_send(r.chan, hello, .version = ZW_MSG_VERSION, .pid = (uint32_t)getpid());
	zev_run(r.loop);
	if (r.exit_status == 0) {
		int how = sb_role_lock(SB_ROLE_RESOLVER, NULL);

		if (how < 0) {
			zw_error("lock-down: %s", zw_strerror(how));
			return 1;
		}
		zw_send(r.chan, locked, .how = (uint8_t)how);
		zw_send(r.chan, res_ready, .unused = 0);
		if (!zw_chan_is_over(r.chan))
			zev_run(r.loop);
	}
	int status = r.exit_status;
	fini(&r);
	return status;
}
