/* SPDX-License-Identifier: MIT */
#include "proxy/decide.h"

#include "src/base/mem.h"
#include "src/base/words.h"

#define PORT_DNS 53
#define PORT_DOT 853

void px_ports_set(struct px_ports *p, const uint8_t *be, size_t len)
{
	*p = (struct px_ports){{0}};
	for (size_t i = 0; i + 2 <= len; i += 2) {
		unsigned port = (unsigned)be[i] << 8 | be[i + 1];

		p->bits[port / 8] |= (uint8_t)(1u << port % 8);
	}
}

bool px_ports_has(const struct px_ports *p, uint16_t port)
{
	return (p->bits[port / 8] >> port % 8 & 1) != 0;
}

static void deny(struct px_decision *ret, unsigned by, const char *reason)
{
	ret->d = (struct pol_decision){
		.verdict = POL_DENY, .by = by, .origin = "", .reason = reason};
}

/* RFC 6761: localhost and all names below it. */
static bool is_loopback_name(const char *name)
{
	return strcmp(name, "localhost") == 0 || zw_ends_with(name, ".localhost");
}

static bool is_loopback(const struct pol_host *host)
{
	if (host->addr.family == POL_FAMILY_NONE)
		return is_loopback_name(host->name);
	/* 0.0.0.0 reaches loopback as well. */
	static const uint8_t zero[16];
	return pol_addr_classify(&host->addr) == POL_ADDR_LOOPBACK ||
	       memcmp(host->addr.b, zero, sizeof(zero)) == 0;
}

/* A rule names it, or it is a resolver that everybody knows: no mode and no port opens it. */
static bool is_denied_by_name(const struct pol_decision *d)
{
	return d->verdict == POL_DENY && (d->by == ZW_BY_RULE || d->by == ZW_BY_CATALOGUE);
}

/* All spellings of loopback are one host: the host's own 127.0.0.1. */
static void decide_host_port(const struct policy *p, const struct px_ports *local_ports,
			     uint16_t port, unsigned host_local, const char *program,
			     struct px_decision *ret)
{
	/* As a name: then rules about the name and about the address both count. */
	static const struct pol_host here = {.name = "localhost"};
	struct pol_decision d;

	ret->way = PX_WAY_HOST;
	pol_decide_site(p, &here, port, program, &d);
	/* A rule that zwatch has to look at: it has done so. */
	bool is_looked_at = host_local >= 2 && d.verdict == POL_ASK;
	if (d.by == ZW_BY_RULE && !is_looked_at)
		ret->d = d;
	else if (ret->d.by == ZW_BY_RULE)
		return;
	else if (px_ports_has(local_ports, port))
		ret->d = (struct pol_decision){.verdict = POL_ALLOW,
					       .by = ZW_BY_RULE,
					       .origin = "network.allowLocalPorts",
					       .reason = ""};
	else if (host_local >= 2)
		ret->d = (struct pol_decision){.verdict = POL_ALLOW,
					       .by = host_local == 2 ? ZW_BY_USER : ZW_BY_RULE,
					       .origin = "",
					       .reason = ""};
	else
		deny(ret, ZW_BY_ADDRESS,
		     "loopback address of the host: its ports are opened by "
		     "network.allowLocalPorts");
}

void px_decide(const struct policy *p, const struct px_ports *local_ports,
	       const struct pol_host *host, uint16_t port, unsigned host_local, const char *program,
	       struct px_decision *ret)
{
	bool is_addr = host->addr.family != POL_FAMILY_NONE;

	*ret = (struct px_decision){.way = is_addr ? PX_WAY_ADDRESS : PX_WAY_NAME};
	if (port == PORT_DNS || port == PORT_DOT) {
		deny(ret, ZW_BY_CATALOGUE,
		     port == PORT_DNS
			     ? "port 53 is DNS: names are looked up by zwatch alone"
			     : "port 853 is DNS over TLS: names are looked up by zwatch alone");
		return;
	}
	if (!host_local && pol_is_answered(p, host, port, program)) {
		ret->way = PX_WAY_DOH;
		ret->d = (struct pol_decision){.verdict = POL_ALLOW,
					       .by = ZW_BY_CATALOGUE,
					       .origin = "network.dns.doh",
					       .reason = ""};
		return;
	}
	pol_decide_site(p, host, port, program, &ret->d);
	if (is_denied_by_name(&ret->d))
		return;
	if (host_local != 0 || is_loopback(host)) {
		decide_host_port(p, local_ports, port, host_local, program, ret);
		return;
	}
	if (is_addr && pol_addr_classify(&host->addr) == POL_ADDR_FAKE)
		deny(ret, ZW_BY_ADDRESS, "this address stands for no name that was looked up");
}

/* An address of zwatch's own making is never outside. */
static bool addr_passes(const struct policy *p, const struct pol_host *host, uint16_t port,
			const char *program, const struct pol_addr *addr, struct pol_decision *ret)
{
	pol_decide_resolved(p, host, addr, port, program, ret);
	return ret->verdict == POL_ALLOW && pol_addr_classify(addr) != POL_ADDR_FAKE;
}

void px_check_addrs(const struct policy *p, const struct pol_host *host, uint16_t port,
		    const char *program, const struct pol_addr *addrs, size_t n,
		    struct px_checked *ret)
{
	struct pol_addr of[2][PX_DIAL_ADDRS_MAX];
	size_t n_of[2] = {0, 0};

	*ret = (struct px_checked){0};
	for (size_t i = 0; i < n; i++) {
		size_t family = addrs[i].family == POL_FAMILY_V6 ? 0 : 1;
		struct pol_decision d;

		if (!addr_passes(p, host, port, program, &addrs[i], &d)) {
			if (ret->n_refused++ == 0) {
				ret->refused = addrs[i];
				ret->kind = pol_addr_classify(&addrs[i]);
				ret->why = d;
			}
		} else if (n_of[family] < PX_DIAL_ADDRS_MAX) {
			of[family][n_of[family]++] = addrs[i];
		}
	}
	for (size_t i = 0; ret->n < PX_DIAL_ADDRS_MAX && (i < n_of[0] || i < n_of[1]); i++)
		for (size_t family = 0; family < 2; family++)
			if (i < n_of[family] && ret->n < PX_DIAL_ADDRS_MAX)
				ret->addrs[ret->n++] = of[family][i];
}

bool px_check_cnames(const struct policy *p, const char *cnames, size_t len, uint16_t port,
		     const char *program, struct pol_decision *ret, char ret_name[POL_HOST_MAX + 1])
{
	for (size_t i = 0; i < len; i += strnlen(cnames + i, len - i) + 1) {
		struct pol_host host;
		struct pol_decision d;

		if (pol_host_parse(cnames + i, strnlen(cnames + i, len - i), &host) < 0)
			continue;
		pol_decide_site(p, &host, port, program, &d);
		if (is_denied_by_name(&d)) {
			*ret = d;
			zw_strlcpy(ret_name, host.name, POL_HOST_MAX + 1);
			return true;
		}
	}
	return false;
}

/* A connection that was judged by its address may go to any name there that no rule denies. */
static bool name_fits(const struct policy *p, const struct pol_host *named,
		      const struct pol_host *host, uint16_t port, const char *program)
{
	struct pol_decision d;

	if (host->addr.family == POL_FAMILY_NONE)
		return strcmp(named->name, host->name) == 0;
	pol_decide_site(p, named, port, program, &d);
	return !is_denied_by_name(&d);
}

const char *px_check_hello(const struct policy *p, const struct px_tls_rules *rules,
			   const struct px_hello *h, const struct pol_host *host, uint16_t port,
			   const char *program)
{
	if (px_hello_has_alpn(h, "dot") || px_hello_has_alpn(h, "doq"))
		return "DNS over TLS inside the connection: names are looked up by zwatch alone";
	if (px_hello_has_alpn(h, "h3"))
		return "HTTP/3 does not run over TCP";
	if (h->has_ech && rules->is_ech_denied)
		return "the TLS hello may hide another name (network.tls.ech is deny)";
	if (!h->has_sni)
		return host->addr.family == POL_FAMILY_NONE && !rules->is_sni_optional
			       ? "the TLS hello names no host (network.tls.sni)"
			       : NULL;
	return name_fits(p, &h->sni, host, port, program)
		       ? NULL
		       : "the TLS hello names another host than the one that was asked for";
}

const char *px_check_http_host(const struct policy *p, const struct pol_host *named,
			       const struct pol_host *host, uint16_t port, const char *program)
{
	return name_fits(p, named, host, port, program)
		       ? NULL
		       : "the Host field names another host than the one that was asked for";
}
