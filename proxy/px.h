/* SPDX-License-Identifier: MIT
 * Inside of zwatch-proxy: what its files share. */
#ifndef ZW_PROXY_PX_H
#define ZW_PROXY_PX_H

#include <sys/queue.h>

#include "proxy/ask.h"
#include "proxy/decide.h"
#include "proxy/dial.h"
#include "proxy/fake.h"
#include "proxy/limits.h"
#include "proxy/record.h"
#include "proxy/wheel.h"
#include "proxy/who.h"
#include "src/feed/feed.h"
#include "src/ipc/chan.h"

struct px_conn;

/** The listeners, in the order of px_setup's descriptors. */
enum px_listener { PX_HTTP, PX_SOCKS, PX_TRANSPARENT, PX_DNS_UDP, PX_DNS_TCP, PX_N_LISTENERS };

/** Time limits in milliseconds, 0 = none. */
struct px_times {
	unsigned header_ms, tls_hello_ms, idle_ms, half_close_ms;
};

/** The proxy. */
struct px {
	struct zev_loop *loop;
	struct zw_chan *chan; /* borrowed */
	struct feed *feed;    /* borrowed */
	struct px_wheel *wheel;
	struct px_whos *whos;
	struct px_asks *asks;
	struct px_dials *dials;
	struct px_record *record;
	struct px_fake *fake;
	struct px_ca *ca; /* NULL = no name server is answered for */
	struct px_limits limits;
	struct px_via via;
	struct px_ports local_ports;
	struct px_times times;
	struct px_tls_rules tls;
	unsigned header_b, header_fields;
	unsigned hard_max;	     /* connections that the descriptors allow */
	uint8_t *buf;		     /* PX_READ_B, shared by everything that reads */
	TAILQ_HEAD(, px_conn) conns; /* youngest first */
	unsigned n_nameless;	     /* of them, in state WHO */
	unsigned n_unnumbered;	     /* of them, in state NUMBER */
	struct px_timeout counting;  /* of rows that are open */
	struct px_conn *count_from;  /* where the next round goes on */
};

#endif
