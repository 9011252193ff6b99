/* SPDX-License-Identifier: MIT
 * One connection of a program inside, from its first byte to its row in the record:
 *
 *   WHO → HEAD → (ASK) → COMMIT → DIAL → RELAY → gone
 *            any step → REPLY → gone
 *
 * WHO: the broker has not told yet which program it is. HEAD: the client says where to. COMMIT: the
 * allow is being written. REPLY: a refusal is being written. Every step has a time limit. */
#ifndef ZW_PROXY_CONN_H
#define ZW_PROXY_CONN_H

#include "proxy/px.h"

/**
 * Takes a connection that was accepted at @listener from local port @port inside.
 * Ownership: the connection itself; it is in px->conns until it is gone.
 */
void px_conn_new(struct px *px, enum px_listener listener, int take_fd, uint16_t port);

/** The broker told who has this port: whoever waits for it goes on. */
void px_conns_who(struct px *px, uint16_t port);
/** A row is written, or is not. */
void px_conns_committed(struct px *px, uint64_t seq, bool is_kept, struct px_number number);
/** An allow was taken back: closes what is open to @target for @program ("" = any). */
void px_conns_cut(struct px *px, struct zw_span target, struct zw_span program);
/** The user ends the connection with this row; nothing when it is over already. */
void px_conns_close(struct px *px, uint64_t seq);
/** The rules have changed: what waits for an answer may have one now. */
void px_conns_rejudge(struct px *px);
/** Ends all of them; rows that are open are closed. */
void px_conns_end(struct px *px);

#endif
