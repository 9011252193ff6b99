/* SPDX-License-Identifier: MIT
 * zwatch-proxy: the only way out of the sandbox. Accepts inside (its listeners were made there),
 * judges, dials outside.
 *
 * Life: hello → pol_* and px_setup → lock-down → locked, px_ready → served until the control channel
 * closes; then everything is closed. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "proxy/ca.h"
#include "proxy/conn.h"
#include "proxy/dns.h"
#include "proxy/http1.h"
#include "proxy/publish.h"
#include "proxy/relay.h"
#include "sandbox/role_lock.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/log.h"
#include "src/base/mem.h"

#define HEADER_B	16384
#define FDS_FOR_OTHERS	200 /* of all descriptors; a connection takes two */
#define OVER_LIMIT_MAX	64  /* connections that are told that they are too many */
#define ACCEPT_PER_TURN 64
#define ACCEPT_PAUSE_MS 100 /* when no descriptor is left */
/* An answer that comes with a rule comes right behind it, and has the user's note. */
#define REJUDGE_MS    50
#define LAST_WORDS_MS 2000 /* for zwatch to take the last rows */

struct listener {
	struct proxy *proxy;
	enum px_listener which;
	int fd; /* owned */
	struct zev_io *io;
};

struct proxy {
	struct px px;
	struct px_dns *dns;
	struct px_publish *publish;
	struct listener listeners[PX_N_LISTENERS];
	char *private_allow; /* owned: patterns, one a line */
	bool is_set_up, is_ca_only;
	struct zev_timer *accept_again;
	struct px_timeout rejudge;
	int exit_status;
};

/* -- accepting ---------------------------------------------------------------------------------- */

static void listeners_watch(struct proxy *p, unsigned what)
{
	for (int i = PX_HTTP; i <= PX_TRANSPARENT; i++)
		zev_io_set(p->listeners[i].io, what);
}

static void on_accept_again(void *arg)
{
	listeners_watch(arg, ZEV_READ);
}

static void on_listener(int fd, unsigned what, void *arg)
{
	struct listener *l = arg;

	(void)what;
	for (int i = 0; i < ACCEPT_PER_TURN; i++) {
		struct sockaddr_in from = {0};
		socklen_t len = sizeof(from);
		int conn =
			accept4(fd, (struct sockaddr *)&from, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (conn < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM)) {
			listeners_watch(l->proxy, 0);
			zev_timer_start(l->proxy->accept_again, ACCEPT_PAUSE_MS);
		}
		if (conn < 0)
			return;
		px_conn_new(&l->proxy->px, l->which, conn, ntohs(from.sin_port));
	}
}

/* -- setting up --------------------------------------------------------------------------------- */

static void private_apply(struct proxy *p)
{
	struct policy *policy = feed_policy(p->px.feed);
	char *at = p->private_allow;

	while (at != NULL && *at != '\0') {
		size_t len = strcspn(at, "\n");
		zw_autofree char *pattern = zw_xmemdup0(at, len);

		if (len > 0 && pol_private_add(policy, pattern) < 0)
			zw_error("network.allowPrivate: %s is no pattern", pattern);
		at += len + (at[len] == '\n');
	}
}

static unsigned fds_max(void)
{
	struct rlimit limit;

	/* What this process may have, it takes: a tunnel is two descriptors. */
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 1024;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur > 1000000)
		return 1000000;
	return (unsigned)limit.rlim_cur;
}

static void limits_set(struct px *px, const struct zw_msg_px_setup *m)
{
	unsigned fds = fds_max();
	unsigned hard = fds > 2 * FDS_FOR_OTHERS ? (fds - FDS_FOR_OTHERS) / 2 : FDS_FOR_OTHERS / 2;
	unsigned max =
		m->max_connections == 0 || m->max_connections > hard ? hard : m->max_connections;

	px_limits_init(&px->limits, max, m->max_per_host, m->max_per_program, m->new_per_second);
	px->limits.quota_up_b = m->quota_up_b;
	px->limits.quota_down_b = m->quota_down_b;
	if (px_limits_quotas_add(&px->limits, m->quotas) < 0)
		zw_error("network.quotas.sites: not all of them can be kept");
	px->header_fields = m->header_fields == 0 ? PX_FIELDS_MAX : m->header_fields;
	px->tls =
		(struct px_tls_rules){.is_sni_optional = m->sni != 0, .is_ech_denied = m->ech != 0};
	px->hard_max = max + OVER_LIMIT_MAX;
	px->header_b = m->header_b == 0 ? HEADER_B : m->header_b;
	if (px->header_b > 262144)
		px->header_b = 262144;
	px->times = (struct px_times){.header_ms = m->header_ms,
				      .tls_hello_ms = m->tls_hello_ms,
				      .idle_ms = m->idle_ms,
				      .half_close_ms = m->half_close_ms};
}

static void on_msg_px_setup(struct proxy *p, const struct zw_msg_px_setup *m, int *fds)
{
	struct px *px = &p->px;
	int on = 1;

	limits_set(px, m);
	px_ports_set(&px->local_ports, (const uint8_t *)m->local_ports.p, m->local_ports.len);
	p->private_allow = zw_span_dup(m->private_allow);
	private_apply(p);
	if (m->ca_key.len > 0 && (px->ca = px_ca_new(m->ca_cert, m->ca_key)) == NULL)
		zw_error("the session's certificate authority cannot be read");
	if (px_via_set(&px->via, m->upstream, m->upstream_login) < 0) {
		zw_error("network.upstreamProxy cannot be read");
		zev_stop(px->loop);
		return;
	}
	px->asks = px_asks_new(px->chan, px->wheel, m->can_ask != 0, m->hold_ms);
	px->dials = px_dials_new(px->loop, px->chan, px->wheel, px->feed, &px->via, m->resolve_ms,
				 m->connect_ms);
	for (int i = 0; i < PX_N_LISTENERS; i++) {
		struct listener *l = &p->listeners[i];

		*l = (struct listener){
			.proxy = p, .which = (enum px_listener)i, .fd = zw_steal_fd(&fds[i])};
		(void)zw_set_nonblock(l->fd);
		if (i > PX_TRANSPARENT)
			continue;
		/* What is accepted has it from its listener. */
		(void)setsockopt(l->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		l->io = zev_io_new(px->loop, l->fd, 0, on_listener, l);
	}
	p->is_set_up = true;
	p->exit_status = 0;
	/* Back to main(), which locks down before it serves. */
	zev_stop(px->loop);
}

static void on_msg_px_ca_make(struct proxy *p)
{
	struct zw_buf cert, key;

	zw_buf_init(&cert, PX_CA_CERT_MAX);
	zw_buf_init(&key, PX_CA_KEY_MAX);
	if (px_ca_make(&cert, &key) == 0)
		zw_send(p->px.chan, px_ca, .cert = zw_span_n(zw_buf_head(&cert), cert.len),
			.key = zw_span_n(zw_buf_head(&key), key.len));
	zw_buf_fini(&cert);
	zw_buf_fini(&key);
	(void)zw_chan_flush(p->px.chan, LAST_WORDS_MS);
	p->is_ca_only = true;
	zev_stop(p->px.loop);
}

/* -- messages ----------------------------------------------------------------------------------- */

static void on_rejudge(void *arg)
{
	px_conns_rejudge(&((struct proxy *)arg)->px);
}

static void on_policy(struct proxy *p, enum zw_msg_id id)
{
	if (!p->is_set_up)
		return;
	/* The finished policy is a new one, and knows nothing of them yet. */
	if (id == ZW_ID_pol_end)
		private_apply(p);
	if (id == ZW_ID_pol_end || id == ZW_ID_pol_rule)
		px_timeout_set(p->px.wheel, &p->rejudge, REJUDGE_MS, on_rejudge, p);
}

static void give_up(struct proxy *p, const char *what, int error)
{
	zw_error("%s: %s", what, zw_strerror(error));
	p->exit_status = 1;
	zev_stop(p->px.loop);
}

static void on_served_msg(struct proxy *p, enum zw_msg_id id, const union zw_msg_any *msg, int *fds)
{
	struct px *px = &p->px;

	if (id == ZW_ID_tcp_who) {
		px_whos_put(px->whos, &msg->tcp_who);
		px_conns_who(px, msg->tcp_who.local_port);
	} else if (id == ZW_ID_ask_answer) {
		px_ask_answered(px->asks, &msg->ask_answer);
	} else if (id == ZW_ID_cut) {
		px_conns_cut(px, msg->cut.target, msg->cut.program);
	} else if (id == ZW_ID_px_close) {
		px_conns_close(px, msg->px_close.seq);
		px_publish_close(p->publish, msg->px_close.seq);
	} else if (id == ZW_ID_committed) {
		px_conns_committed(px, msg->committed.seq, msg->committed.is_kept != 0,
				   (struct px_number){(uint32_t)msg->committed.session,
						      (uint32_t)msg->committed.event});
		px_publish_committed(p->publish, msg->committed.seq, msg->committed.is_kept != 0);
	} else if (id == ZW_ID_px_end) {
		zev_stop(px->loop);
	} else if (id == ZW_ID_res_answer) {
		if (!px_dns_answered(p->dns, &msg->res_answer))
			px_dials_answer(px->dials, &msg->res_answer);
	} else if (id == ZW_ID_px_publish) {
		px_publish_add(p->publish, &msg->px_publish, zw_steal_fd(&fds[0]));
	} else if (id == ZW_ID_px_unpublish) {
		px_publish_remove(p->publish, msg->px_unpublish.port,
				  msg->px_unpublish.is_cut != 0);
	} else if (id == ZW_ID_px_inside) {
		px_publish_inside(p->publish, msg->px_inside.seq, zw_steal_fd(&fds[0]));
	} else {
		give_up(p, zw_msg_name(id), ZW_E_DIRECTION);
	}
}

static void on_msg(struct zw_chan *chan, enum zw_msg_id id, const union zw_msg_any *msg, int *fds,
		   void *arg)
{
	struct proxy *p = arg;
	int r = feed_on_msg(p->px.feed, id, msg);

	(void)chan;
	if (r < 0)
		give_up(p, zw_msg_name(id), r);
	else if (r > 0)
		on_policy(p, id);
	else if (id == ZW_ID_px_ca_make && !p->is_set_up)
		on_msg_px_ca_make(p);
	else if (id == ZW_ID_px_setup && !p->is_set_up)
		on_msg_px_setup(p, &msg->px_setup, fds);
	else if (p->is_set_up)
		on_served_msg(p, id, msg, fds);
	else
		give_up(p, zw_msg_name(id), ZW_E_DIRECTION);
}

static void on_end(struct zw_chan *chan, int error, void *arg)
{
	struct proxy *p = arg;

	(void)chan;
	if (error != ZW_E_EOF)
		give_up(p, "control channel", error);
	zev_stop(p->px.loop);
}

static const struct zw_chan_ops chan_ops = {.on_msg = on_msg, .on_end = on_end};

static void init(struct proxy *p)
{
	struct px *px = &p->px;

	px->loop = zev_loop_new();
	px->chan = zw_chan_new(px->loop, ZW_FD_CONTROL, ROLE_PROXY, ROLE_SUPER, &chan_ops, p);
	zw_chan_gather(px->chan);
	px->feed = feed_new();
	px->wheel = px_wheel_new(px->loop);
	px->whos = px_whos_new(px->wheel);
	px->fake = px_fake_new(PX_FAKE_MAX);
	px->record = px_record_new(px->chan, px->wheel);
	px->buf = zw_xmalloc(PX_READ_B);
	p->publish = px_publish_new(px);
	TAILQ_INIT(&px->conns);
	p->accept_again = zev_timer_new(px->loop, on_accept_again, p);
}

static void fini(struct proxy *p)
{
	struct px *px = &p->px;

	px_conns_end(px);
	px_publish_free(p->publish);
	px_timeout_clear(px->wheel, &p->rejudge);
	px_dns_free(p->dns);
	zev_timer_free(p->accept_again);
	for (int i = 0; p->is_set_up && i < PX_N_LISTENERS; i++) {
		zev_io_free(p->listeners[i].io);
		zw_close(&p->listeners[i].fd);
	}
	px_record_free(px->record);
	(void)zw_chan_flush(px->chan, LAST_WORDS_MS);
	px_asks_free(px->asks);
	zw_chan_free(px->chan);
	px_dials_free(px->dials);
	px_whos_free(px->whos);
	px_limits_fini(&px->limits);
	px_fake_free(px->fake);
	px_ca_free(px->ca);
	px_wheel_free(px->wheel);
	zev_loop_free(px->loop);
	feed_free(px->feed);
	px_relay_pipe_close();
	free(px->buf);
	free(p->private_allow);
}

int main(void)
{
	static struct proxy p = {.exit_status = 1};

	signal(SIGPIPE, SIG_IGN);
	zw_log_init("zwatch-proxy", fcntl(ZW_FD_LOG, F_GETFD) < 0 ? STDERR_FILENO : ZW_FD_LOG,
		    ZW_LOG_INFO);
	if (fcntl(ZW_FD_CONTROL, F_GETFD) < 0) {
		zw_error("is started by zwatch, not by hand");
		return 1;
	}
	init(&p);
	zw_send(p.px.chan, hello, .version = ZW_MSG_VERSION, .pid = (uint32_t)getpid());
	zev_run(p.px.loop);
	if (p.exit_status == 0) {
		px_relay_pipe_open();
		int how = sb_role_lock(SB_ROLE_PROXY, NULL);

		if (how < 0) {
			zw_error("lock-down: %s", zw_strerror(how));
			return 1;
		}
		zw_send(p.px.chan, locked, .how = (uint8_t)how);
		p.dns = px_dns_new(p.px.loop, p.px.wheel, p.px.chan, p.px.feed,
				   p.listeners[PX_DNS_UDP].fd, p.listeners[PX_DNS_TCP].fd,
				   p.px.fake);
		listeners_watch(&p, ZEV_READ);
		zw_send(p.px.chan, px_ready, .unused = 0);
		if (!zw_chan_is_over(p.px.chan))
			zev_run(p.px.loop);
	}
	int status = p.is_ca_only ? 0 : p.exit_status;
	fini(&p);
	return status;
}
