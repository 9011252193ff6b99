/* SPDX-License-Identifier: MIT */
#include "proxy/conn.h"

#include <errno.h>
#include <sys/socket.h>

#include "proxy/conn_i.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/base/words.h"

#define WHO_MS	  1000
#define COMMIT_MS 10000
#define LINGER_MS 2000 /* for a client to read a refusal and close */
#define NUMBER_MS 500  /* for the record to tell the number of a refusal */

/* Bytes held beyond a head: what a client sends before it has an answer. */
#define EARLY_B (64u * 1024)

#define COUNT_MS   1000
#define COUNT_ROWS 200 /* in one round: a thousand live rows are no flood of messages */

static const char *const end_words[] = {
	[PX_END_CLIENT] = "closed by client",
	[PX_END_SERVER] = "closed by server",
	[PX_END_RESET] = "reset",
	[PX_END_FILTER] = "refused",
	[PX_END_QUOTA] = "",
};

static const char *text(const char *s)
{
	return s != NULL ? s : "";
}

void px_conn_set(char **to, const char *s)
{
	free(*to);
	*to = s != NULL && s[0] != '\0' ? zw_xstrdup(s) : NULL;
}

static void enter(struct px_conn *c, enum px_state state)
{
	zw_debug("port %u: state %d to %d", c->local_port, c->state, state);
	if (c->state == PX_STATE_WHO)
		c->px->n_nameless--;
	if (c->state == PX_STATE_NUMBER)
		c->px->n_unnumbered--;
	if (state == PX_STATE_NUMBER)
		c->px->n_unnumbered++;
	c->state = state;
}

struct px_row px_conn_row(const struct px_conn *c)
{
	return (struct px_row){.seq = c->seq,
			       .did = c->did,
			       .via = c->via,
			       .by = c->by,
			       .host = c->host != NULL ? c->host->name : "",
			       .port = c->port,
			       .address = text(c->address),
			       .rule = c->rule,
			       .reason = text(c->reason),
			       .note = text(c->note),
			       .end = "",
			       .waited_ms = c->waited_ms,
			       .up_b = c->relay.up_b,
			       .down_b = c->relay.down_b,
			       .who = c->who};
}

/* -- the end ------------------------------------------------------------------------------------ */

static void on_conn_dead(void *arg)
{
	struct px_conn *c = arg;

	zw_buf_fini(&c->in);
	zw_buf_fini(&c->out);
	px_who_unref(c->who);
	free(c->host);
	free(c->asked);
	free(c->reason);
	free(c->note);
	free(c->address);
	free(c);
}

/* The last word on a row that was opened; its number is not used again. */
static void row_close(struct px_conn *c, const char *end)
{
	if (c->seq == 0)
		return;
	struct px_row row = px_conn_row(c);
	row.end = text(end);
	px_record_close(c->px->record, &row);
	c->seq = 0;
}

static void reset_on_close(int fd)
{
	struct linger l = {.l_onoff = 1, .l_linger = 0};

	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
}

void px_conn_close(struct px_conn *c)
{
	struct px *px = c->px;

	if (c->state == PX_STATE_GONE)
		return;
	enter(c, PX_STATE_GONE);
	row_close(c, "closed by client");
	px_ask_cancel(px->asks, &c->waiter);
	px_dial_cancel(zw_steal(&c->dial));
	px_doh_free(zw_steal(&c->doh));
	px_timeout_clear(px->wheel, &c->timeout);
	zev_io_free(zw_steal(&c->io));
	zw_close(&c->fd);
	if (c->is_relaying)
		px_relay_fini(&c->relay);
	if (c->is_host_counted)
		px_limits_host_close(&px->limits, c->host->name);
	if (c->is_program_counted)
		px_limits_program_close(&px->limits, c->who->exe);
	px_limits_close(&px->limits);
	if (px->count_from == c)
		px->count_from = TAILQ_NEXT(c, link);
	TAILQ_REMOVE(&px->conns, c, link);
	zev_defer(px->loop, on_conn_dead, c);
}

void px_conn_over(struct px_conn *c, const char *how)
{
	row_close(c, how);
	px_conn_close(c);
}

static void on_linger(void *arg)
{
	px_conn_close(arg);
}

static void reset(struct px_conn *c)
{
	if (c->fd >= 0)
		reset_on_close(c->fd);
	px_conn_close(c);
}

void px_conn_reply(struct px_conn *c)
{
	enter(c, PX_STATE_REPLY);
	px_timeout_set(c->px->wheel, &c->timeout, LINGER_MS, on_linger, c);
	zev_io_set(c->io, ZEV_WRITE);
}

static void refusal_write(struct px_conn *c)
{
	if (px_conn_refusal(c, &c->out))
		px_conn_reply(c);
	else
		reset(c);
}

static void on_number_timeout(void *arg)
{
	refusal_write(arg);
}

void px_conn_refuse(struct px_conn *c, enum px_refusal how, int error)
{
	zw_buf_fini(&c->out);
	px_ask_cancel(c->px->asks, &c->waiter);
	c->refusal = how;
	c->error = error;
	/* HTTP has a field for where it stands in the record, which is a moment away. */
	if (c->listener == PX_HTTP && c->number.event == 0 && c->reply_seq != 0) {
		enter(c, PX_STATE_NUMBER);
		px_timeout_set(c->px->wheel, &c->timeout, NUMBER_MS, on_number_timeout, c);
		return;
	}
	refusal_write(c);
}

void px_conn_bad(struct px_conn *c, unsigned by, int error, const char *why)
{
	c->did = ZW_DID_DENY;
	c->by = by;
	px_conn_set(&c->reason, why);
	struct px_row row = px_conn_row(c);
	c->reply_seq = px_record_refusal(c->px->record, &row, &c->number);
	px_conn_refuse(c, PX_REFUSE_BAD, error);
}

void px_conn_deny(struct px_conn *c, unsigned did, unsigned by, uint32_t rule, const char *reason,
		  const char *note)
{
	struct px_row row;

	c->did = did;
	c->by = by;
	c->rule = rule;
	px_conn_set(&c->reason, reason);
	px_conn_set(&c->note, note);
	row = px_conn_row(c);
	c->reply_seq = c->seq;
	if (c->seq != 0)
		row_close(c, end_words[PX_END_FILTER]);
	else
		c->reply_seq = px_record_refusal(c->px->record, &row, &c->number);
	if (did == ZW_DID_GONE)
		reset(c);
	else
		px_conn_refuse(c,
			       by != ZW_BY_LIMIT	   ? PX_REFUSE_DENIED
			       : px_limits_is_rate(reason) ? PX_REFUSE_RATE
							   : PX_REFUSE_LIMIT,
			       ZW_E_DENIED);
}

/* -- counts of what goes on ------------------------------------------------------------------- */

static void on_count(void *arg)
{
	struct px *px = arg;
	struct px_conn *c = px->count_from != NULL ? px->count_from : TAILQ_FIRST(&px->conns);

	for (int n = 0; c != NULL && n < COUNT_ROWS; c = TAILQ_NEXT(c, link)) {
		uint64_t sum_b = c->relay.up_b + c->relay.down_b;

		if (c->state != PX_STATE_RELAY || sum_b == c->counted_b)
			continue;
		struct px_row row = px_conn_row(c);
		px_record_count(px->record, &row);
		c->counted_b = sum_b;
		n++;
	}
	px->count_from = c;
	if (!TAILQ_EMPTY(&px->conns))
		px_timeout_set(px->wheel, &px->counting, COUNT_MS, on_count, px);
}

static void count_start(struct px *px)
{
	if (px->counting.list == NULL)
		px_timeout_set(px->wheel, &px->counting, COUNT_MS, on_count, px);
}

/* -- relaying ----------------------------------------------------------------------------------- */

static void on_relay_end(void *arg, enum px_relay_end how)
{
	struct px_conn *c = arg;

	if (how == PX_END_RESET) {
		reset_on_close(c->relay.client.fd);
		reset_on_close(c->relay.server.fd);
	}
	row_close(c, how == PX_END_QUOTA ? c->over_limit : end_words[how]);
	px_conn_close(c);
}

void px_conn_refused(struct px_conn *c)
{
	row_close(c, end_words[PX_END_FILTER]);
	px_conn_close(c);
}

/* Counts what has moved since the last time. Returns the quota that is used up, or NULL. */
static const char *charge(struct px_conn *c)
{
	uint64_t up_b = c->relay.up_b - c->charged_up_b;
	uint64_t down_b = c->relay.down_b - c->charged_down_b;

	c->charged_up_b = c->relay.up_b;
	c->charged_down_b = c->relay.down_b;
	return px_limits_bytes(&c->px->limits, c->quotas, up_b, down_b);
}

/* How long it may be silent; 0 = for ever. */
static unsigned idle_ms(const struct px_conn *c)
{
	const struct px_times *t = &c->px->times;

	if (!c->is_half_closed || t->half_close_ms == 0)
		return t->idle_ms;
	return t->idle_ms != 0 && t->idle_ms < t->half_close_ms ? t->idle_ms : t->half_close_ms;
}

static void on_activity(void *arg)
{
	struct px_conn *c = arg;

	c->since_ms = zw_mono_ms();
	c->over_limit = charge(c);
	if (c->over_limit != NULL) {
		px_relay_end(&c->relay, PX_END_QUOTA);
	} else if (c->relay.has_end && !c->is_half_closed) {
		c->is_half_closed = true;
		/* A hello or head that is still waited for has the shorter limit. */
		if (c->up != PX_UP_HELLO && c->up != PX_UP_HEAD)
			px_conn_idle_start(c);
	}
}

static void on_idle(void *arg)
{
	struct px_conn *c = arg;
	int64_t left_ms = c->since_ms + idle_ms(c) - zw_mono_ms();

	if (left_ms > 0) {
		px_timeout_set(c->px->wheel, &c->timeout, left_ms, on_idle, c);
		return;
	}
	row_close(c, c->is_half_closed ? "idle after one side had ended" : "idle");
	px_conn_close(c);
}

void px_conn_idle_start(struct px_conn *c)
{
	c->since_ms = zw_mono_ms();
	px_timeout_clear(c->px->wheel, &c->timeout);
	if (idle_ms(c) > 0)
		px_timeout_set(c->px->wheel, &c->timeout, idle_ms(c), on_idle, c);
}

/* What an open connection needs no more: there may be thousands that are silent. */
static void slim(struct px_conn *c)
{
	size_t size = offsetof(struct pol_host, name) + strlen(c->host->name) + 1;
	struct pol_host *host = zw_xmalloc(size);

	memcpy(host, c->host, size);
	free(c->host);
	c->host = host;
	free(zw_steal(&c->asked));
}

static void relay_start(struct px_conn *c, int take_server_fd)
{
	struct zw_buf grant;

	enter(c, PX_STATE_RELAY);
	zev_io_free(zw_steal(&c->io));
	slim(c);
	c->relay.on_up = px_conn_up;
	c->relay.on_activity = on_activity;
	c->relay.on_end = on_relay_end;
	c->relay.arg = c;
	px_relay_start(&c->relay, c->px->loop, zw_steal_fd(&c->fd), take_server_fd, c->px->buf);
	c->is_relaying = true;
	px_conn_idle_start(c);
	count_start(c->px);
	zw_buf_init(&grant, 512);
	px_conn_granted(c, &grant);
	int r = grant.len > 0 ? px_relay_send_down(&c->relay, zw_buf_head(&grant), grant.len) : 0;
	zw_buf_fini(&grant);
	if (r == 0)
		r = px_conn_up_start(c);
	if (r < 0)
		on_relay_end(c, c->did == ZW_DID_DENY ? PX_END_FILTER : PX_END_RESET);
	else
		px_relay_kick(&c->relay, c->saw_end);
}

/* -- dialling ----------------------------------------------------------------------------------- */

static void on_dialled(void *arg, const struct px_dialled *end)
{
	struct px_conn *c = arg;
	zw_autofree char *why = NULL;

	c->dial = NULL;
	px_conn_set(&c->address, end->address);
	if (end->error == 0) {
		if (end->reason[0] != '\0')
			px_conn_set(&c->reason, end->reason);
		relay_start(c, end->take_fd);
		return;
	}
	if (end->error == ZW_E_DENIED) {
		px_conn_deny(c, ZW_DID_DENY, end->by, end->rule, end->reason, "");
		return;
	}
	why = zw_xasprintf("connect failed: %s", end->reason);
	c->did = ZW_DID_FAIL;
	px_conn_set(&c->reason, end->reason);
	c->reply_seq = c->seq;
	row_close(c, why);
	px_conn_refuse(c, end->error == ZW_E_TIMEOUT ? PX_REFUSE_TIMEOUT : PX_REFUSE_FAILED,
		       end->error);
}

static void dial(struct px_conn *c)
{
	enter(c, PX_STATE_DIAL);
	px_timeout_clear(c->px->wheel, &c->timeout);
	c->dial = px_dial_start(c->px->dials, c->host, c->port, c->way, c->who->exe, on_dialled, c);
	/* It may take its time, and the client go meanwhile. */
	if (!px_dial_is_over(c->dial))
		zev_io_set(c->io, c->saw_end ? 0 : ZEV_READ);
}

/* Nothing of it goes outside. */
static void doh(struct px_conn *c)
{
	enter(c, PX_STATE_DOH);
	zev_io_free(zw_steal(&c->io));
	if (px_conn_doh_start(c) < 0)
		px_conn_over(c, "zwatch could not answer in its place");
}

/* -- the allow, written before it takes effect -------------------------------------------------- */

static void on_commit_timeout(void *arg)
{
	px_conn_deny(arg, ZW_DID_DENY, ZW_BY_FAULT, 0,
		     "the allow was not recorded within 10 s, so it was not given", "");
}

/* Returns NULL, or which limit it is over; what was taken is given back when it closes. */
static const char *slots_take(struct px_conn *c)
{
	struct px_limits *l = &c->px->limits;
	const char *over;

	c->quotas = px_limits_quotas_of(l, c->host, c->port);
	over = px_limits_bytes(l, c->quotas, 0, 0);
	if (over == NULL) {
		over = px_limits_host_open(l, c->host->name);
		c->is_host_counted = over == NULL;
	}
	if (over == NULL) {
		over = px_limits_program_open(l, c->who->exe);
		c->is_program_counted = over == NULL;
	}
	return over;
}

static void commit(struct px_conn *c)
{
	const char *over = slots_take(c);
	struct px_row row;

	if (over != NULL) {
		px_conn_deny(c, ZW_DID_DENY, ZW_BY_LIMIT, 0, over, "");
		return;
	}
	enter(c, PX_STATE_COMMIT);
	c->did = ZW_DID_ALLOW;
	row = px_conn_row(c);
	c->seq = px_record_open(c->px->record, &row);
	px_timeout_set(c->px->wheel, &c->timeout, COMMIT_MS, on_commit_timeout, c);
}

/* Refusals that wait for the number of this row. */
static void numbered(struct px *px, uint64_t seq, struct px_number number)
{
	struct px_conn *c, *next;

	px_record_numbered(px->record, seq, number);
	for (c = TAILQ_FIRST(&px->conns); c != NULL && px->n_unnumbered > 0; c = next) {
		next = TAILQ_NEXT(c, link);
		if (c->state != PX_STATE_NUMBER || c->reply_seq != seq)
			continue;
		c->number = number;
		refusal_write(c);
	}
}

void px_conns_committed(struct px *px, uint64_t seq, bool is_kept, struct px_number number)
{
	struct px_conn *c;

	/* From the youngest: that is where it nearly always is. */
	TAILQ_FOREACH (c, &px->conns, link)
		if (c->seq == seq && c->state == PX_STATE_COMMIT)
			break;
	if (c == NULL) {
		numbered(px, seq, number);
		return;
	}
	c->number = number;
	if (is_kept && c->way == PX_WAY_DOH)
		doh(c);
	else if (is_kept)
		dial(c);
	else
		px_conn_deny(c, ZW_DID_DENY, ZW_BY_FAULT, 0,
			     "the allow could not be recorded, so it was not given", "");
}

/* -- judging ------------------------------------------------------------------------------------ */

static void on_answer(void *arg, const struct px_answer *a)
{
	struct px_conn *c = arg;

	if (c->since_ms != 0)
		c->waited_ms = (uint64_t)(zw_mono_ms() - c->since_ms);
	c->by = a->by;
	c->rule = a->rule;
	px_conn_set(&c->note, a->note);
	if (a->is_allowed)
		commit(c);
	else
		px_conn_deny(c, a->did, a->by, a->rule, a->reason, a->note);
}

static void judge(const struct px_conn *c, struct px_decision *ret)
{
	unsigned host_local = c->listener == PX_TRANSPARENT ? c->who->host_local : 0;

	px_decide(feed_policy(c->px->feed), &c->px->local_ports, c->host, c->port, host_local,
		  c->who->exe, ret);
	if (host_local == 3 && ret->d.verdict == POL_ALLOW && ret->d.rule == 0)
		ret->d.rule = c->who->rule;
}

static char *target_text(const struct px_conn *c)
{
	bool is_v6 = c->host->addr.family == POL_FAMILY_V6;

	return zw_xasprintf(is_v6 ? "[%s]:%u" : "%s:%u", c->host->name, c->port);
}

static void ask(struct px_conn *c, const struct pol_decision *why)
{
	zw_autofree char *target = target_text(c);
	struct px_answer now;

	enter(c, PX_STATE_ASK);
	px_timeout_clear(c->px->wheel, &c->timeout);
	c->since_ms = zw_mono_ms();
	if (px_ask(c->px->asks, target, c->asked != NULL ? c->asked : target, c->who, why,
		   &c->waiter, on_answer, c, &now) == 0)
		on_answer(c, &now);
}

void px_conn_target(struct px_conn *c, const struct pol_host *host, uint16_t port,
		    struct zw_span asked)
{
	struct px_decision d;
	const char *name = px_fake_name(c->px->fake, &host->addr);

	c->host = zw_xmalloc(sizeof(*c->host));
	/* One that looks names up itself and gives the proxy an address means the name. */
	if (name == NULL || pol_host_parse(name, strlen(name), c->host) < 0)
		*c->host = *host;
	c->port = port;
	c->asked = asked.len > 0 && asked.len < 300 ? zw_span_dup(asked) : NULL;
	if (c->over_limit != NULL) {
		px_conn_deny(c, ZW_DID_DENY, ZW_BY_LIMIT, 0, c->over_limit, "");
		return;
	}
	judge(c, &d);
	c->way = d.way;
	c->by = d.d.by;
	c->rule = d.d.rule;
	if (d.way == PX_WAY_DOH) {
		zw_autofree char *why =
			zw_xasprintf("%s: zwatch answers in its place", px_conn_doh_reason(c));
		px_conn_set(&c->reason, why);
	}
	if (d.d.verdict == POL_ALLOW)
		commit(c);
	else if (d.d.verdict == POL_ASK)
		ask(c, &d.d);
	else
		px_conn_deny(c, ZW_DID_DENY, d.d.by, d.d.rule,
			     d.d.reason[0] != '\0' ? d.d.reason : "denied by a rule", "");
}

static bool rejudge(void *arg, struct px_answer *ret)
{
	const struct px_conn *c = arg;
	struct px_decision d;

	judge(c, &d);
	if (d.d.verdict == POL_ASK)
		return false;
	*ret = (struct px_answer){.is_allowed = d.d.verdict == POL_ALLOW,
				  .did = d.d.verdict == POL_ALLOW ? ZW_DID_ALLOW : ZW_DID_DENY,
				  .by = d.d.by,
				  .rule = d.d.rule,
				  .reason = d.d.reason[0] != '\0' ? d.d.reason : "denied by a rule",
				  .note = ""};
	return true;
}

/* What came so far is not all of it: an ordinary end would say that it is. */
static void cut_off(struct px_conn *c, const char *how)
{
	reset_on_close(c->is_relaying ? c->relay.client.fd : c->fd);
	if (c->is_relaying)
		reset_on_close(c->relay.server.fd);
	row_close(c, how);
	px_conn_close(c);
}

void px_conns_cut(struct px *px, struct zw_span target, struct zw_span program)
{
	struct px_conn *c, *next;

	px_asks_forget(px->asks);
	for (c = TAILQ_FIRST(&px->conns); c != NULL; c = next) {
		next = TAILQ_NEXT(c, link);
		if (c->did != ZW_DID_ALLOW || c->host == NULL ||
		    (program.len > 0 && !zw_span_eq(program, c->who->exe)))
			continue;
		zw_autofree char *its = target_text(c);
		if (!zw_span_eq(target, its))
			continue;
		cut_off(c, "taken back");
	}
}

void px_conns_close(struct px *px, uint64_t seq)
{
	struct px_conn *c;

	TAILQ_FOREACH (c, &px->conns, link)
		if (c->did == ZW_DID_ALLOW && c->seq == seq)
			break;
	if (c == NULL || seq == 0)
		return;
	cut_off(c, "closed by the user");
}

void px_conns_rejudge(struct px *px)
{
	px_ask_rejudge(px->asks, rejudge);
}

/* -- the client, before there is a relay -------------------------------------------------------- */

static void client_gone(struct px_conn *c)
{
	c->saw_end = true;
	zev_io_set(c->io, 0);
	if (c->state == PX_STATE_ASK) {
		c->waited_ms = (uint64_t)(zw_mono_ms() - c->since_ms);
		px_ask_cancel(c->px->asks, &c->waiter);
		px_conn_deny(c, ZW_DID_GONE, ZW_BY_NATIVE, 0, "the program gave up first", "");
	} else if (c->state == PX_STATE_HEAD) {
		px_conn_close(c);
	}
	/* While it is dialled: one that has said all it has to say still wants the answer. */
}

static void write_out(struct px_conn *c)
{
	ssize_t n = send(c->fd, zw_buf_head(&c->out), c->out.len, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n < 0 && errno != EAGAIN && errno != EINTR) {
		px_conn_close(c);
		return;
	}
	if (n > 0)
		zw_buf_consume(&c->out, (size_t)n);
	if (c->out.len > 0)
		return;
	/* Closing with unread bytes would reset the connection and take the reply with it: the
	 * client is read to its end first. */
	(void)shutdown(c->fd, SHUT_WR);
	zev_io_set(c->io, ZEV_READ);
}

static void drain(struct px_conn *c)
{
	ssize_t n = recv(c->fd, c->px->buf, PX_READ_B, MSG_DONTWAIT);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		px_conn_close(c);
}

static void read_in(struct px_conn *c)
{
	size_t left = zw_buf_left(&c->in);

	/* Full: the rest waits in the kernel until there is a relay. */
	if (left == 0) {
		zev_io_set(c->io, 0);
		return;
	}
	/* By way of the common buffer: the connection's own is as large as what came, not as what
	 * might have come. */
	ssize_t n = recv(c->fd, c->px->buf, left < PX_READ_B ? left : PX_READ_B, MSG_DONTWAIT);
	if (n > 0) {
		(void)zw_buf_add(&c->in, c->px->buf, (size_t)n);
		if (c->state == PX_STATE_HEAD)
			px_conn_head(c);
	} else if (n == 0) {
		client_gone(c);
	} else if (errno != EAGAIN && errno != EINTR) {
		if (c->state == PX_STATE_ASK)
			client_gone(c);
		else {
			row_close(c, "reset");
			px_conn_close(c);
		}
	}
}

static void on_client_ready(int fd, unsigned what, void *arg)
{
	struct px_conn *c = arg;

	(void)fd;
	if (c->state == PX_STATE_REPLY && (what & ZEV_WRITE))
		write_out(c);
	else if (c->state == PX_STATE_REPLY)
		drain(c);
	else
		read_in(c);
}

/* -- the beginning ------------------------------------------------------------------------------ */

static void on_head_timeout(void *arg)
{
	struct px_conn *c = arg;

	/* A handshake that stopped half-way has no reply to wait for. */
	c->socks_version = 0;
	px_conn_bad(c, ZW_BY_TIMEOUT, ZW_E_TIMEOUT, "no complete request came in time");
}

/* A redirected connection: where to was told by the broker. */
static void transparent_target(struct px_conn *c)
{
	char addr[46];
	struct pol_host host;
	const char *name = px_fake_name(c->px->fake, &c->who->addr);

	c->up = PX_UP_FIRST;
	pol_addr_format(&c->who->addr, addr, sizeof(addr));
	if (name == NULL)
		name = addr;
	if (c->who->addr.family == POL_FAMILY_NONE || c->who->port == 0 ||
	    pol_host_parse(name, strlen(name), &host) < 0) {
		px_conn_deny(c, ZW_DID_DENY, ZW_BY_FAULT, 0, "no destination was told", "");
		return;
	}
	px_conn_target(c, &host, c->who->port, zw_span(""));
}

static void head_start(struct px_conn *c)
{
	enter(c, PX_STATE_HEAD);
	px_timeout_clear(c->px->wheel, &c->timeout);
	if (c->listener == PX_TRANSPARENT) {
		transparent_target(c);
	} else {
		if (c->px->times.header_ms > 0)
			px_timeout_set(c->px->wheel, &c->timeout, c->px->times.header_ms,
				       on_head_timeout, c);
		/* Mostly the request is there by now. */
		read_in(c);
	}
	/* One that waits for its row alone is over that in a moment, and nobody needs to look. */
	if (c->state == PX_STATE_HEAD || c->state == PX_STATE_ASK)
		zev_io_set(c->io, c->saw_end ? 0 : ZEV_READ);
}

static void on_who_timeout(void *arg)
{
	struct px_conn *c = arg;

	c->did = ZW_DID_DENY;
	c->by = ZW_BY_FAULT;
	px_conn_set(&c->reason, "which program this connection is of was not told within 1 s");
	struct px_row row = px_conn_row(c);
	(void)px_record_refusal(c->px->record, &row, NULL);
	reset(c);
}

void px_conn_new(struct px *px, enum px_listener listener, int take_fd, uint16_t port)
{
	static const unsigned vias[] = {ZW_VIA_HTTP, ZW_VIA_SOCKS5, ZW_VIA_TRANSPARENT};
	struct px_conn *c = zw_xnew(struct px_conn);

	c->px = px;
	c->listener = listener;
	c->via = vias[listener];
	c->fd = take_fd;
	c->local_port = port;
	zw_buf_init(&c->in,
		    (px->header_b > PX_HELLO_RAW_MAX ? px->header_b : PX_HELLO_RAW_MAX) + EARLY_B);
	zw_buf_init(&c->out, px->header_b + EARLY_B);
	c->over_limit = px_limits_open(&px->limits, zw_mono_ms());
	TAILQ_INSERT_HEAD(&px->conns, c, link);
	px->n_nameless++;
	c->io = zev_io_new(px->loop, c->fd, 0, on_client_ready, c);
	c->who = px_whos_take(px->whos, port);
	/* Over the limit of the settings a connection still gets a reason, but not for any number. */
	if (c->over_limit != NULL && px->limits.n_connections > px->hard_max) {
		c->did = ZW_DID_DENY;
		c->by = ZW_BY_LIMIT;
		px_conn_set(&c->reason, c->over_limit);
		struct px_row row = px_conn_row(c);
		(void)px_record_refusal(px->record, &row, NULL);
		reset(c);
	} else if (c->who != NULL) {
		head_start(c);
	} else {
		px_timeout_set(px->wheel, &c->timeout, WHO_MS, on_who_timeout, c);
	}
}

void px_conns_who(struct px *px, uint16_t port)
{
	struct px_conn *c;

	/* Nearly always the message comes first, and nobody waits. */
	if (px->n_nameless == 0)
		return;
	TAILQ_FOREACH (c, &px->conns, link)
		if (c->state == PX_STATE_WHO && c->local_port == port)
			break;
	if (c == NULL)
		return;
	c->who = px_whos_take(px->whos, port);
	if (c->who != NULL)
		head_start(c);
}

void px_conns_end(struct px *px)
{
	struct px_conn *c;

	px_timeout_clear(px->wheel, &px->counting);
	while ((c = TAILQ_FIRST(&px->conns)) != NULL) {
		row_close(c, "zwatch ends");
		px_conn_close(c);
	}
}
