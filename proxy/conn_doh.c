/* SPDX-License-Identifier: MIT
 * A connection to a public name server that is answered here: every question in it is judged and on
 * record like a connection. */
#include <sys/socket.h>

#include "proxy/conn_i.h"
#include "proxy/dns.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/words.h"
#include "src/policy/resolvers.h"

#define IDLE_MS	   120000
#define PORT_DNS   53
#define PORT_HTTP  80
#define PORT_HTTPS 443

/* Denied for the web altogether. What is asked about is answered: the question comes when somebody
 * connects there. */
static bool is_refused(const struct px_conn *c, const struct pol_host *host,
		       struct pol_decision *ret)
{
	const struct policy *policy = feed_policy(c->px->feed);

	pol_decide_site(policy, host, PORT_HTTP, c->who->exe, ret);
	if (ret->verdict != POL_DENY)
		return false;
	pol_decide_site(policy, host, PORT_HTTPS, c->who->exe, ret);
	return ret->verdict == POL_DENY;
}

static void record(const struct px_conn *c, const struct px_dns_query *q,
		   const struct px_doh_answer *a, const struct pol_decision *d)
{
	char address[46] = "", reason[400];

	if (a->has_addr)
		pol_addr_format(&a->addr, address, sizeof(address));
	snprintf(reason, sizeof(reason), "%.200s%sasked of %.100s over HTTPS", a->why,
		 a->why[0] != '\0' ? "; " : "", c->host->name);
	struct px_row row = {.did = a->is_filtered ? ZW_DID_DENY : ZW_DID_ALLOW,
			     .via = ZW_VIA_DNS,
			     .by = a->is_filtered ? d->by : ZW_BY_INSIDE,
			     .host = q->host.name,
			     .port = PORT_DNS,
			     .address = address,
			     .rule = a->is_filtered ? d->rule : 0,
			     .reason = reason,
			     .note = "",
			     .end = "",
			     .who = c->who};
	(void)px_record_refusal(c->px->record, &row, NULL);
}

static void on_question(void *arg, const struct px_dns_query *q, struct px_doh_answer *ret)
{
	struct px_conn *c = arg;
	struct pol_decision d = {0};
	struct px_dns_answer a;

	*ret = (struct px_doh_answer){.why = ""};
	if (is_refused(c, &q->host, &d)) {
		ret->rcode = PX_DNS_NXDOMAIN;
		ret->is_filtered = true;
		ret->why = d.reason[0] != '\0' ? d.reason : "denied";
	} else {
		px_dns_decide(c->px->fake, feed_policy(c->px->feed), q, &a);
		/* What has to be looked up outside is not answered this way. */
		ret->rcode = a.must_ask ? PX_DNS_REFUSED : a.rcode;
		ret->has_addr = a.has_addr;
		ret->addr = a.addr;
		ret->ttl_s = a.ttl_s;
	}
	record(c, q, ret, &d);
}

static void on_bytes(void *arg, size_t up_b, size_t down_b)
{
	struct px_conn *c = arg;

	c->since_ms = zw_mono_ms();
	c->relay.up_b += up_b;
	c->relay.down_b += down_b;
}

static void on_end(void *arg, const char *how)
{
	px_conn_over(arg, how);
}

static void on_idle(void *arg)
{
	struct px_conn *c = arg;
	int64_t left_ms = c->since_ms + IDLE_MS - zw_mono_ms();

	if (left_ms > 0)
		px_timeout_set(c->px->wheel, &c->timeout, left_ms, on_idle, c);
	else
		px_conn_over(c, "idle");
}

static const struct px_doh_ops ops = {
	.on_question = on_question, .on_bytes = on_bytes, .on_end = on_end};

/* The client hears that it is connected, as if it were. Returns 0 or < 0. */
static int grant(struct px_conn *c)
{
	struct zw_buf out;

	zw_buf_init(&out, 512);
	px_conn_granted(c, &out);
	/* A few bytes into an empty socket buffer. */
	ssize_t n = out.len > 0
			    ? send(c->fd, zw_buf_head(&out), out.len, MSG_NOSIGNAL | MSG_DONTWAIT)
			    : 0;
	int r = n == (ssize_t)out.len ? 0 : ZW_E_EOF;
	zw_buf_fini(&out);
	return r;
}

const char *px_conn_doh_reason(const struct px_conn *c)
{
	const struct pol_resolver *r = pol_resolver_of(c->host);

	return r != NULL ? r->provider : "";
}

int px_conn_doh_start(struct px_conn *c)
{
	struct zw_span early =
		c->in.len > 0 ? zw_span_n(zw_buf_head(&c->in), c->in.len) : zw_span("");

	if (c->px->ca == NULL || grant(c) < 0)
		return ZW_E_UNSUPPORTED;
	c->since_ms = zw_mono_ms();
	px_timeout_set(c->px->wheel, &c->timeout, IDLE_MS, on_idle, c);
	c->doh = px_doh_new(c->px->loop, c->px->ca, c->fd, c->host, early, &ops, c);
	zw_buf_fini(&c->in);
	return c->doh != NULL ? 0 : ZW_E_UNSUPPORTED;
}
