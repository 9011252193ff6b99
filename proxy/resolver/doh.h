/* SPDX-License-Identifier: MIT
 * One name server, asked by DNS over HTTPS (RFC 8484): HTTP/2 and POST over TLS by GnuTLS, on one
 * connection that is kept while it is used. A server whose certificate does not prove the host of
 * its URL, by the authorities and by the pin where one is given, gets no question. */
#ifndef ZW_PROXY_RESOLVER_DOH_H
#define ZW_PROXY_RESOLVER_DOH_H

#include "proxy/resolver/answer.h"
#include "proxy/resolver/upstream.h"
#include "src/ev/ev.h"

struct res_doh;

/**
 * Reads the authorities: after this the process may lose the right to open files. Connects to
 * nobody.
 *
 * @up          kind DOH; copied
 * @timeout_ms  of one question
 * @ret_why     on error: a static sentence. May be NULL
 * Returns      0, ZW_E_UNSUPPORTED (library), ZW_E_CONFIG (authorities cannot be read)
 * Ownership    caller, res_doh_free(); open questions fail then. NULL is ok
 */
int res_doh_new(struct zev_loop *loop, const struct res_upstream *up, unsigned timeout_ms,
		struct res_doh **ret, const char **ret_why);
void res_doh_free(struct res_doh *d);

/** As res_server_ask(). */
int res_doh_ask(void *server, const char *name, enum res_type type,
		void (*on_reply)(void *arg, const struct res_reply *reply), void *arg);

#endif
