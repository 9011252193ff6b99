/* SPDX-License-Identifier: MIT */
#include "proxy/resolver/dot.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proxy/resolver/gloop.h"
#include "proxy/resolver/wire.h"
#include "src/base/err.h"
#include "src/base/mem.h"

#define SYSTEM_CA_FILE	"/etc/ssl/certs/ca-certificates.crt"
#define IDLE_TIMEOUT_MS 10000
#define BACKOFF_S	1 /* the library's own is an hour */
#define CONNECT_RETRIES 2
#define OUTSTANDING_MAX 2048 /* twice the lookups that may be open */
#define PADDING_B	128  /* RFC 8467 */
#define WARM_UP_MS	300

struct res_server {
	struct zev_loop *loop;
	struct res_gloop gloop;
	getdns_context *context; /* owned */
	struct res_upstream up;
	getdns_dict *extensions; /* owned; NULL unless answers are validated */
};

/* One question in the library's hands. */
struct question {
	const struct res_server *server;
	char name[RES_NAME_MAX + 1];
	enum res_type type;
	void (*on_reply)(void *arg, const struct res_reply *reply);
	void *arg;
};

/* -- replies ------------------------------------------------------------------------------------ */

/* Only what is signed well, or lies below a zone that provably has no keys. A bogus answer is taken
 * out by the library, and has no status. */
static bool is_proven(const getdns_dict *response)
{
	uint32_t status;

	return getdns_dict_get_int(response, "/replies_tree/0/dnssec_status", &status) ==
		       GETDNS_RETURN_GOOD &&
	       (status == GETDNS_DNSSEC_SECURE || status == GETDNS_DNSSEC_INSECURE);
}

/* The reply as it came goes through the own codec: that of the library reads out of bounds. */
static void reply_read(const struct question *q, const getdns_dict *response, struct res_reply *ret)
{
	getdns_bindata *wire;

	if (q->server->extensions != NULL && !is_proven(response)) {
		*ret = (struct res_reply){
			.error = ZW_E_DENIED,
			.why = "DNSSEC: the answer is not what its zone has signed"};
		return;
	}
	if (getdns_dict_get_bindata(response, "/replies_full/0", &wire) != GETDNS_RETURN_GOOD)
		*ret = (struct res_reply){.error = ZW_E_EOF};
	else if (res_wire_reply(wire->data, wire->size, q->name, q->type, 0, ret) < 0)
		*ret = (struct res_reply){.error = ZW_E_SYNTAX,
					  .why = "its answer is not well-formed"};
}

static void on_getdns(getdns_context *context, getdns_callback_type_t type, getdns_dict *response,
		      void *userarg, getdns_transaction_t id)
{
	zw_autofree struct question *q = userarg;
	zw_autofree struct res_reply *reply = zw_xnew(struct res_reply);

	(void)context;
	(void)id;
	if (type == GETDNS_CALLBACK_COMPLETE && response != NULL)
		reply_read(q, response, reply);
	else
		reply->error = type == GETDNS_CALLBACK_TIMEOUT ? ZW_E_TIMEOUT : ZW_E_EOF;
	getdns_dict_destroy(response);
	q->on_reply(q->arg, reply);
}

int res_server_ask(void *server, const char *name, enum res_type type,
		   void (*on_reply)(void *arg, const struct res_reply *reply), void *arg)
{
	struct res_server *s = server;
	char fqdn[RES_NAME_MAX + 2];
	struct question *q = zw_xnew(struct question);

	*q = (struct question){.server = s, .type = type, .on_reply = on_reply, .arg = arg};
	zw_strlcpy(q->name, name, sizeof(q->name));
	snprintf(fqdn, sizeof(fqdn), "%s.", name);
	/* A server that has just failed is reported here, not by the callback. */
	if (getdns_general(s->context, fqdn, (uint16_t)type, s->extensions, q, NULL, on_getdns) ==
	    GETDNS_RETURN_GOOD)
		return 0;
	free(q);
	return ZW_E_EOF;
}

/* -- context ------------------------------------------------------------------------------------ */

static int pins_add(getdns_dict *dict, const uint8_t pin[32])
{
	uint8_t value[32];
	getdns_bindata digest = {6, (uint8_t *)(uintptr_t) "sha256"}, bytes = {32, value};
	getdns_dict *one = getdns_dict_create();
	getdns_list *list = getdns_list_create();

	memcpy(value, pin, sizeof(value));
	int r = one == NULL || list == NULL || getdns_dict_set_bindata(one, "digest", &digest) ||
		getdns_dict_set_bindata(one, "value", &bytes) ||
		getdns_list_set_dict(list, 0, one) ||
		getdns_dict_set_list(dict, "tls_pubkey_pinset", list);
	getdns_dict_destroy(one);
	getdns_list_destroy(list);
	return r != 0 ? ZW_E_UNSUPPORTED : 0;
}

static int server_fill(getdns_dict *dict, const struct res_upstream *up)
{
	struct res_upstream copy = *up;
	getdns_bindata family = {4, (uint8_t *)(uintptr_t)(up->addr.family == 6 ? "IPv6" : "IPv4")};
	getdns_bindata addr = {up->addr.family == 6 ? 16 : 4, copy.addr.b};
	getdns_bindata name = {strlen(copy.auth_name), (uint8_t *)copy.auth_name};
	bool is_tls = up->kind == RES_UPSTREAM_DOT;

	if (getdns_dict_set_bindata(dict, "address_type", &family) ||
	    getdns_dict_set_bindata(dict, "address_data", &addr) ||
	    getdns_dict_set_int(dict, is_tls ? "tls_port" : "port", up->port) ||
	    (name.size > 0 && getdns_dict_set_bindata(dict, "tls_auth_name", &name)))
		return ZW_E_UNSUPPORTED;
	return up->has_pin ? pins_add(dict, up->pin) : 0;
}

static int server_set(getdns_context *context, const struct res_upstream *up)
{
	getdns_dict *dict = getdns_dict_create();
	getdns_list *list = getdns_list_create();
	int r = dict == NULL || list == NULL ? ZW_E_UNSUPPORTED : server_fill(dict, up);

	if (r == 0 && (getdns_list_set_dict(list, 0, dict) ||
		       getdns_context_set_upstream_recursive_servers(context, list)))
		r = ZW_E_UNSUPPORTED;
	getdns_dict_destroy(dict);
	getdns_list_destroy(list);
	return r;
}

static int context_set(getdns_context *c, const struct res_upstream *up)
{
	getdns_namespace_t dns = GETDNS_NAMESPACE_DNS;
	bool is_tls = up->kind == RES_UPSTREAM_DOT;
	bool bad = getdns_context_set_resolution_type(c, GETDNS_RESOLUTION_STUB) ||
		   getdns_context_set_namespaces(c, 1, &dns) ||
		   getdns_context_set_append_name(c, GETDNS_APPEND_NAME_NEVER) ||
		   getdns_context_set_limit_outstanding_queries(c, OUTSTANDING_MAX);
	/* Clear text goes by TCP: every server has to take it (RFC 7766), an answer cannot be forged
	 * from afar, and the process needs no right to make UDP sockets. */
	getdns_transport_list_t one = is_tls ? GETDNS_TRANSPORT_TLS : GETDNS_TRANSPORT_TCP;

	bad = bad || getdns_context_set_dns_transport_list(c, 1, &one);
	if (is_tls)
		bad = bad ||
		      getdns_context_set_tls_authentication(c, GETDNS_AUTHENTICATION_REQUIRED) ||
		      getdns_context_set_tls_ca_file(c, up->ca_file[0] ? up->ca_file
								       : SYSTEM_CA_FILE) ||
		      getdns_context_set_tls_backoff_time(c, BACKOFF_S) ||
		      getdns_context_set_tls_connection_retries(c, CONNECT_RETRIES) ||
		      getdns_context_set_tls_query_padding_blocksize(c, PADDING_B);
	return bad ? ZW_E_UNSUPPORTED : 0;
}

/* The first question of a context opens files. It goes to a port of this host that is bound and not
 * listened at, so that it is refused at once and says nothing to anybody. */
static int warm_up(getdns_context *c, const struct res_upstream *up)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(sa);
	zw_autoclose int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct res_upstream nobody = *up;
	getdns_dict *response = NULL;

	if (fd < 0 || bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 ||
	    getsockname(fd, (struct sockaddr *)&sa, &len) < 0)
		return ZW_E_UNSUPPORTED;
	nobody.addr = (struct res_addr){.family = 4, .b = {127, 0, 0, 1}};
	nobody.port = ntohs(sa.sin_port);
	if (server_set(c, &nobody) < 0 || getdns_context_set_timeout(c, WARM_UP_MS))
		return ZW_E_UNSUPPORTED;
	(void)getdns_general_sync(c, "warm-up.invalid.", GETDNS_RRTYPE_A, NULL, &response);
	getdns_dict_destroy(response);
	return 0;
}

/* In this order: an idle timeout before the servers are set is a NULL pointer in getdns 1.6. */
static int context_start(struct res_server *s, unsigned timeout_ms)
{
	getdns_context *c = s->context;

	if (context_set(c, &s->up) < 0 || warm_up(c, &s->up) < 0)
		return ZW_E_UNSUPPORTED;
	if (getdns_context_set_eventloop(c, &s->gloop.base) || server_set(c, &s->up) < 0 ||
	    getdns_context_set_timeout(c, timeout_ms) ||
	    getdns_context_set_idle_timeout(c, IDLE_TIMEOUT_MS))
		return ZW_E_UNSUPPORTED;
	return 0;
}

/* Anchors from a file, never from the place that the library has built in and asks over HTTP. */
static int anchors_set(struct res_server *s, const char *file)
{
	FILE *f = fopen(file, "re");
	getdns_list *anchors = NULL;
	size_t n = 0;
	int r = ZW_E_CONFIG;

	if (f == NULL)
		return r;
	/* An origin would be read with its length not set. */
	if (getdns_fp2rr_list(f, &anchors, NULL, 3600) == GETDNS_RETURN_GOOD &&
	    getdns_list_get_length(anchors, &n) == GETDNS_RETURN_GOOD && n > 0 &&
	    getdns_context_set_dnssec_trust_anchors(s->context, anchors) == GETDNS_RETURN_GOOD &&
	    (s->extensions = getdns_dict_create()) != NULL &&
	    getdns_dict_set_int(s->extensions, "dnssec_return_status", GETDNS_EXTENSION_TRUE) ==
		    GETDNS_RETURN_GOOD)
		r = 0;
	getdns_list_destroy(anchors);
	fclose(f);
	return r;
}

int res_server_new(struct zev_loop *loop, const struct res_upstream *up, unsigned timeout_ms,
		   const char *anchors, struct res_server **ret, const char **ret_why)
{
	const char *ca = up->ca_file[0] != '\0' ? up->ca_file : SYSTEM_CA_FILE;
	const char *why = NULL;
	int r = 0;

	struct res_server *s = zw_xnew(struct res_server);
	s->loop = loop;
	s->up = *up;
	res_gloop_init(&s->gloop, loop);
	if (up->kind == RES_UPSTREAM_DOT && up->auth_name[0] != '\0' && access(ca, R_OK) < 0) {
		why = "the file of certificate authorities cannot be read";
		r = ZW_E_CONFIG;
	} else if (getdns_context_create(&s->context, 0) != GETDNS_RETURN_GOOD) {
		why = "getdns makes no context";
		r = ZW_E_UNSUPPORTED;
	} else if (anchors != NULL && (r = anchors_set(s, anchors)) < 0) {
		why = "the file of DNSSEC trust anchors cannot be read";
	} else if ((r = context_start(s, timeout_ms)) < 0) {
		why = "getdns does not take the settings";
	}
	if (r < 0) {
		if (ret_why != NULL)
			*ret_why = why;
		res_server_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

void res_server_free(struct res_server *s)
{
	if (s == NULL)
		return;
	if (s->context != NULL)
		getdns_context_destroy(s->context);
	getdns_dict_destroy(s->extensions);
	free(s);
}
