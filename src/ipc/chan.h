/* SPDX-License-Identifier: MIT
 * A channel between zwatch and one helper: a non-blocking SOCK_SEQPACKET socket, one message
 * or many to a packet, with a bounded queue for what the other side has not taken yet.
 *
 * Every received frame passes zw_msg_decode() for this pair of roles before the handler sees it.
 * Any failure (bad frame, queue full, closed) ends the channel with one call of on_end. */
#ifndef ZW_IPC_CHAN_H
#define ZW_IPC_CHAN_H

#include "src/ev/ev.h"
#include "src/ipc/msg.h"

/** Descriptors that every helper is started with. */
enum { ZW_FD_CONTROL = 3, ZW_FD_LOG = 4 };

struct zw_chan;

struct zw_chan_ops {
	/** A message; spans and @fds (n_fds as its row says) live until return: dup or zw_steal_fd
	 * what is kept. */
	void (*on_msg)(struct zw_chan *chan, enum zw_msg_id id, const union zw_msg_any *msg,
		       int *fds, void *arg);
	/** The channel is over: ZW_E_EOF or another error. Not called by zw_chan_free(). */
	void (*on_end)(struct zw_chan *chan, int error, void *arg);
};

/** Socketpair for a channel, both ends CLOEXEC; 0 or -errno. */
int zw_chan_pair(int ret_fds[2]);

/**
 * Starts a channel on @take_fd, which it owns from now on.
 *
 * @self, @peer  roles at this end and at the other, for the check of directions
 * Ownership     caller, zw_chan_free(); allowed inside on_msg and on_end (freed at the turn's end)
 */
struct zw_chan *zw_chan_new(struct zev_loop *loop, int take_fd, enum zw_role self,
			    enum zw_role peer, const struct zw_chan_ops *ops, void *arg);
void zw_chan_free(struct zw_chan *chan);

/**
 * Sends one message, with copies of @n_fds descriptors (borrowed). Queued when the other side is
 * slow; never blocks. Failures end the channel later through on_end, so callers need not check.
 *
 * @msg     struct zw_msg_<name>
 */
void zw_chan_send_fds(struct zw_chan *chan, enum zw_msg_id id, const void *msg, const int *fds,
		      size_t n_fds);

/** zw_send(chan, name, .field = value, ...): typed, without descriptors. */
#define zw_send(chan, name, ...) \
	zw_chan_send_fds((chan), ZW_ID_##name, &(struct zw_msg_##name){__VA_ARGS__}, NULL, 0)

/** While corked, messages gather and go out together, many to a packet. For bulk. */
void zw_chan_cork(struct zw_chan *chan, bool is_corked);

/** From now on what is sent within one turn of the loop goes out at its end, many to a packet. */
void zw_chan_gather(struct zw_chan *chan);

/** Packets queued and not yet taken by the kernel. */
size_t zw_chan_n_queued(const struct zw_chan *chan);

/** Whether the channel has ended. Before a loop is run again: on_end may have come already. */
bool zw_chan_is_over(const struct zw_chan *chan);

/**
 * Writes out the queue, waiting at most @timeout_ms. For the last words before an end.
 * Returns 0 or ZW_E_TIMEOUT, ZW_E_EOF.
 */
int zw_chan_flush(struct zw_chan *chan, int timeout_ms);

#endif
