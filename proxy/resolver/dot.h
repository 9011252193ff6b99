/* SPDX-License-Identifier: MIT
 * One name server, asked through getdns: DNS over TLS, or clear text for the host's own servers
 * when the settings list "system". A TLS server never falls back to clear text, and a server whose
 * certificate does not prove it is the one that is meant gets no question. */
#ifndef ZW_PROXY_RESOLVER_DOT_H
#define ZW_PROXY_RESOLVER_DOT_H

#include "proxy/resolver/answer.h"
#include "proxy/resolver/upstream.h"
#include "src/ev/ev.h"

struct res_server;

/**
 * Makes a context and everything in it that opens files (authorities, time zone): after this the
 * process may lose the right to open any. Blocks for some milliseconds.
 *
 * @up          kind DOT or PLAIN; copied
 * @timeout_ms  of one question
 * @anchors     file of DNSSEC trust anchors: only answers that they prove, or that lie below a zone
 *              without keys, are taken; NULL = no validation
 * @ret_why     on error: a static sentence. May be NULL
 * Returns      0, ZW_E_UNSUPPORTED (library), ZW_E_CONFIG (authorities cannot be read)
 * Ownership    caller, res_server_free(), once no question is open; NULL is ok
 */
int res_server_new(struct zev_loop *loop, const struct res_upstream *up, unsigned timeout_ms,
		   const char *anchors, struct res_server **ret, const char **ret_why);
void res_server_free(struct res_server *s);

/**
 * Asks for one type of one name.
 *
 * @on_reply  called exactly once, later, if this returns 0; never from within
 * Returns    0, or ZW_E_EOF: the server is not there now
 */
int res_server_ask(void *server, const char *name, enum res_type type,
		   void (*on_reply)(void *arg, const struct res_reply *reply), void *arg);

#endif
