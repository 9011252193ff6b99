/* SPDX-License-Identifier: MIT
 * Servers inside, offered on the host's 127.0.0.1: accepts there, and carries each connection to the
 * same port of the sandbox's loopback. A socket keeps the network it was made in, so zwatch makes one
 * inside for each connection and hands it over. Nothing is looked at on the way. */
#ifndef ZW_PROXY_PUBLISH_H
#define ZW_PROXY_PUBLISH_H

#include "proxy/px.h"

/** Connections at once, over all ports; more wait in the backlog. */
#define PX_PUBLISHED_MAX 256

struct px_publish;

/** Ownership: px_publish_free(), NULL is ok: closes every listener and connection. */
struct px_publish *px_publish_new(struct px *px);
void px_publish_free(struct px_publish *p);

/** Offers a port; takes the listener. One that is offered already is replaced. */
void px_publish_add(struct px_publish *p, const struct zw_msg_px_publish *m, int take_fd);
/** The server inside has gone: the listener is closed, connections end by themselves. */
void px_publish_remove(struct px_publish *p, uint16_t port, bool is_cut);

/** The user ends the connection with this row; nothing when it is not one of these. */
void px_publish_close(struct px_publish *p, uint64_t seq);
/** The row of a connection is on record, or could not be put there. */
void px_publish_committed(struct px_publish *p, uint64_t seq, bool is_kept);
/** The socket for a connection. */
void px_publish_inside(struct px_publish *p, uint64_t seq, int take_fd);

#endif
