/* SPDX-License-Identifier: MIT
 * From an allowed destination to a connected socket: looks the name up (through zwatch, in another
 * process), sorts the addresses out, and dials them. What is dialled is the address that was
 * checked: there is no second lookup that could answer something else.
 *
 * Several addresses are tried as RFC 8305 has it, simply: the next one after 250 ms or at a failure. */
#ifndef ZW_PROXY_DIAL_H
#define ZW_PROXY_DIAL_H

#include "proxy/decide.h"
#include "proxy/via.h"
#include "proxy/wheel.h"
#include "src/feed/feed.h"
#include "src/ipc/chan.h"

struct px_dials;
struct px_dial;

/** How it ended. Strings are borrowed for the call. */
struct px_dialled {
	int error;	     /* 0; ZW_E_DENIED: @by and @reason say why; ZW_E_NOT_FOUND (name),
	                          ZW_E_TIMEOUT, -errno of the last address */
	int take_fd;	     /* connected, non-blocking; the callback owns it; -1 on error */
	const char *address; /* that was dialled or refused, or "" */
	unsigned by;	     /* of a refusal */
	uint32_t rule;
	const char *reason; /* of a refusal or failure; or what was noticed on the way, or "" */
};

/** @via   the proxy that all but the host's loopback is reached through; borrowed. @feed  whose policy judges addresses and CNAMEs. Ownership: px_dials_free() after all dials. */
struct px_dials *px_dials_new(struct zev_loop *loop, struct zw_chan *chan, struct px_wheel *wheel,
			      struct feed *feed, const struct px_via *via, unsigned resolve_ms,
			      unsigned connect_ms);
void px_dials_free(struct px_dials *d);

/**
 * Starts. @host and @program are borrowed and must outlive the dial.
 *
 * @on_end  called once, never from within; the dial is gone by then
 */
struct px_dial *px_dial_start(struct px_dials *d, const struct pol_host *host, uint16_t port,
			      enum px_way way, const char *program,
			      void (*on_end)(void *arg, const struct px_dialled *end), void *arg);
/** Whether it has ended already, and on_end is to come at the end of this turn. */
bool px_dial_is_over(const struct px_dial *d);
/** Nobody wants it any more. NULL is ok. */
void px_dial_cancel(struct px_dial *d);

/** What the resolver said. */
void px_dials_answer(struct px_dials *d, const struct zw_msg_res_answer *m);

#endif
