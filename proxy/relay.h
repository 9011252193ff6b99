/* SPDX-License-Identifier: MIT
 * Bytes between a client and the far end, both ways, until both have ended. Plain events and one
 * buffer for all relays: a read goes out at once, and only what the other side does not take is
 * kept, at most PX_PENDING_MAX; then nothing more is read. An idle relay holds no buffer.
 *
 * Where nobody looks at the bytes and many come at once, they go through a pipe (splice) and are not
 * copied. There is one pipe for all relays, and it is empty whenever a callback is over: what the
 * other side does not take becomes pending as ever. When it cannot be emptied, it is given up. */
#ifndef ZW_PROXY_RELAY_H
#define ZW_PROXY_RELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buf.h"
#include "src/ev/ev.h"

#define PX_READ_B      (256u * 1024) /* taken in one read */
#define PX_PENDING_MAX (256u * 1024) /* kept for one side that is slow */
#define PX_SPLICE_B    (64u * 1024)  /* of one read: from there on the next ones are spliced */

/** How a relay ended. */
enum px_relay_end {
	PX_END_CLIENT, /* the client ended first */
	PX_END_SERVER,
	PX_END_RESET,  /* one side broke off */
	PX_END_FILTER, /* the filter said so */
	PX_END_QUOTA,  /* no more bytes may pass */
};

struct px_relay;

/** One end. */
struct px_side {
	struct px_relay *relay;
	struct zev_io *io;
	struct zw_buf pending; /* to be written to it */
	int fd;		       /* owned */
	bool has_ended;	       /* nothing more will come from it */
	bool is_shut;	       /* it was told that nothing more will come */
	bool is_bulk;	       /* its last read was a big one */
};

/** Part of a connection; fields are private but for the counts. */
struct px_relay {
	struct px_side client, server;
	bool is_complete; /* the client's request is: its end is not passed on, the server's is the end */
	bool is_deaf; /* nothing more is read of the client */
	bool is_over;
	bool ended_first_is_client, has_end;
	uint64_t up_b, down_b; /* sent on to the server; read from the server */
	uint8_t *buf;	       /* PX_READ_B, borrowed, shared by all */
	/* Looks at what the client sent before it goes on. It calls px_relay_send_up() with what may.
	 * Returns 0, or < 0: the relay ends with PX_END_FILTER. NULL = all goes on. */
	int (*on_up)(void *arg, const uint8_t *p, size_t len);
	/* Sees what the server sent before it goes on; NULL = nobody looks. */
	void (*on_down)(void *arg, const uint8_t *p, size_t len);
	/* Bytes have moved, and are counted by now, or one side has ended. */
	void (*on_activity)(void *arg);
	void (*on_end)(void *arg, enum px_relay_end how);
	void *arg;
};

/** Opens the pipe, before a process locks itself down. Without one, or when it is small, all is copied. */
void px_relay_pipe_open(void);
void px_relay_pipe_close(void);

/** Starts. Takes both descriptors; @buf of PX_READ_B is borrowed. Callbacks are set by the caller. */
void px_relay_start(struct px_relay *r, struct zev_loop *loop, int take_client_fd,
		    int take_server_fd, uint8_t *buf);
/** After bytes were handed in by px_relay_send_*(): goes on. @client_ended: it sends nothing more. */
void px_relay_kick(struct px_relay *r, bool client_ended);
/** Ends it, as if one of the ends had: on_end comes from within. */
void px_relay_end(struct px_relay *r, enum px_relay_end how);
/** Closes both ends. After it the struct may go. on_end is not called. */
void px_relay_fini(struct px_relay *r);

/** Sends to the server, or keeps. Bytes beyond PX_PENDING_MAX: ZW_E_TOOBIG (only a filter's fault). */
int px_relay_send_up(struct px_relay *r, const uint8_t *p, size_t len);
/** Sends to the client, behind what is pending there. */
int px_relay_send_down(struct px_relay *r, const uint8_t *p, size_t len);

/**
 * The client's request is complete.
 *
 * @want_deaf  read nothing more of it: it has sent more, which is not for this server
 */
void px_relay_complete(struct px_relay *r, bool want_deaf);

#endif
