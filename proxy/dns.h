/* SPDX-License-Identifier: MIT
 * The name server inside the sandbox. A question for an address is answered with a fake one, whatever
 * the policy says about the name, so that a denial never looks like a fault of DNS, and nobody is
 * asked. Only MX, SRV, TXT, CAA and PTR are asked for outside, for names that are allowed by then, in
 * a question that zwatch writes; the answer is put together anew from what the resolver took apart. */
#ifndef ZW_PROXY_DNS_H
#define ZW_PROXY_DNS_H

#include "proxy/dnsmsg.h"
#include "proxy/fake.h"
#include "proxy/wheel.h"
#include "src/ev/ev.h"
#include "src/feed/feed.h"
#include "src/ipc/chan.h"

/** What a question gets. */
struct px_dns_answer {
	enum px_dns_rcode rcode;
	bool has_addr;
	struct pol_addr addr;
	uint32_t ttl_s;
	const char *name; /* of PTR: what the address stands for; borrowed; or NULL */
	bool must_ask;	  /* the resolver has the answer */
};

/**
 * Decides on one question; only A questions enter @fake. localhost is itself. Names by which a
 * browser is told to use another name server do not exist (use-application-dns.net, Apple's private
 * relay). Service names (_sip._tcp.host) are judged as their host; a reverse question as its address.
 * Addresses of nobody but this sandbox or network are not looked up outside (RFC 6303). Everything
 * else is refused, TXT of other names above all, which carries tunnels.
 */
void px_dns_decide(struct px_fake *fake, const struct policy *policy, const struct px_dns_query *q,
		   struct px_dns_answer *ret);

struct px_dns;

/**
 * Serves two sockets (borrowed, made non-blocking).
 *
 * @chan, @feed, @wheel  borrowed; questions go out by @chan, judged by @feed's policy
 * Ownership             px_dns_free(), NULL is ok
 */
struct px_dns *px_dns_new(struct zev_loop *loop, struct px_wheel *wheel, struct zw_chan *chan,
			  struct feed *feed, int udp_fd, int tcp_fd, struct px_fake *fake);
void px_dns_free(struct px_dns *d);

/** Takes an answer of the resolver; false: it is not to a question of this server. */
bool px_dns_answered(struct px_dns *d, const struct zw_msg_res_answer *m);

#endif
