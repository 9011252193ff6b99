/* SPDX-License-Identifier: MIT
 * Inside of a connection: shared by conn.c (its life), conn_head.c (what the client says) and
 * conn_reply.c (what it is told). */
#ifndef ZW_PROXY_CONN_I_H
#define ZW_PROXY_CONN_I_H

#include "proxy/conn.h"
#include "proxy/doh.h"
#include "proxy/http1.h"
#include "proxy/relay.h"

enum px_state {
	PX_STATE_WHO,
	PX_STATE_HEAD,
	PX_STATE_ASK,
	PX_STATE_COMMIT,
	PX_STATE_DIAL,
	PX_STATE_RELAY,
	PX_STATE_DOH, /* answered here, in the place of a public name server */
	PX_STATE_NUMBER,
	PX_STATE_REPLY,
	PX_STATE_GONE,
};

/** Ways to refuse. */
enum px_refusal {
	PX_REFUSE_DENIED,
	PX_REFUSE_FAILED,
	PX_REFUSE_TIMEOUT,
	PX_REFUSE_LIMIT, /* too many at once */
	PX_REFUSE_RATE,	 /* too many, too much: later perhaps */
	PX_REFUSE_BAD,	 /* the request itself is at fault */
};

/** What is looked at in the client's bytes on their way up. */
enum px_up {
	PX_UP_RAW,   /* nothing more */
	PX_UP_FIRST, /* the first byte: TLS or not */
	PX_UP_HELLO, /* a TLS hello, collected */
	PX_UP_HEAD,  /* the head of a plain HTTP request inside a tunnel or redirected connection */
	PX_UP_BODY,  /* the body of one HTTP request */
	PX_UP_UPGRADE, /* nothing passes until the server has agreed to another protocol */
};

struct px_conn {
	TAILQ_ENTRY(px_conn) link;
	struct px *px;
	/* Small where they can be: thousands of these may be silent. */
	enum px_listener listener : 8;
	enum px_state state : 8;
	enum px_up up : 8;
	unsigned via : 8;	    /* ZW_VIA_* */
	unsigned socks_version : 8; /* 0 = no SOCKS */
	enum px_way way : 8;
	enum px_refusal refusal : 8;
	unsigned did : 8, by : 8;
	uint16_t local_port;
	uint16_t port; /* of the target */
	bool is_host_counted, is_program_counted, is_half_closed, has_method, saw_end;
	bool is_upgrade;  /* the request asks for another protocol (WebSocket) */
	uint8_t n_status; /* of the server's answer to that, as far as it is here */
	uint8_t status[15];
	bool is_relaying; /* the relay has both descriptors */
	int fd;		  /* client, owned until the relay has it */
	struct zev_io *io;
	struct px_who *who; /* a reference */
	struct px_timeout timeout;
	const char *over_limit; /* static, NULL = within */
	size_t scanned;		/* by the HTTP parser */
	struct zw_buf in;	/* received, not consumed */
	struct zw_buf out;	/* REPLY: to be written; before: the head for the origin */
	struct pol_host *host;	/* owned; NULL until known; in a relay no longer than its name */
	char *asked;		/* as spelt by the client, owned */
	struct px_waiter waiter;
	struct px_dial *dial;
	struct px_doh *doh;
	struct px_body body;
	struct px_relay relay;
	/* for the record */
	uint64_t seq;		 /* of a row that is open, 0 = none */
	uint64_t reply_seq;	 /* of the row that a refusal names */
	struct px_number number; /* of it */
	int error;		 /* of the refusal */
	uint32_t rule;
	char *reason, *note, *address; /* owned, NULL = "" */
	int64_t since_ms; /* ASK: when the question began, 0 = none; RELAY: when something last moved */
	uint64_t waited_ms, counted_b;
	uint64_t quotas; /* a bit for each that it counts on */
	uint64_t charged_up_b, charged_down_b;
};

/* conn.c */

/** Where to is known now: judges it. */
void px_conn_target(struct px_conn *c, const struct pol_host *host, uint16_t port,
		    struct zw_span asked);
/** Refuses: a row, then the words of the client's protocol. @reason, @note: copied. */
void px_conn_deny(struct px_conn *c, unsigned did, unsigned by, uint32_t rule, const char *reason,
		  const char *note);
/** Writes what is in c->out to the client, and closes when it has been read, or after a while. */
void px_conn_reply(struct px_conn *c);
/** Says so in the words of the client's protocol, or breaks off where it has none. The row is there. */
void px_conn_refuse(struct px_conn *c, enum px_refusal how, int error);
/** The request itself is at fault: a row, then 400 or its like. */
void px_conn_bad(struct px_conn *c, unsigned by, int error, const char *why);
/** Gone, at the end of this turn. */
void px_conn_close(struct px_conn *c);
/** Its row as it stands. */
struct px_row px_conn_row(const struct px_conn *c);

/** Ends it; a row that is open gets @how. */
void px_conn_over(struct px_conn *c, const char *how);

/* conn_doh.c */

/** Answers in the place of the name server that this is meant for. Returns 0, or < 0: it cannot. */
int px_conn_doh_start(struct px_conn *c);
/** Whose name server it is; static, "" = none that is known. */
const char *px_conn_doh_reason(const struct px_conn *c);

/* conn_up.c */

/** The relay's on_up: looks at what the client sends to the server. */
int px_conn_up(void *arg, const uint8_t *p, size_t len);
/** The relay has begun: what the client sent while it waited, and the wait for a hello. */
int px_conn_up_start(struct px_conn *c);

/* conn.c, for conn_up.c */

/** Restarts the limit for silence. */
void px_conn_idle_start(struct px_conn *c);
/** Ends a relay that @did etc. already describe. */
void px_conn_refused(struct px_conn *c);
/** Sets one of the owned strings. */
void px_conn_set(char **to, const char *s);

/* conn_head.c */

/** Reads what the client has said so far in state HEAD. */
void px_conn_head(struct px_conn *c);

/* conn_reply.c */

/** The far end is there: 200 of CONNECT, the reply of SOCKS; appended to @out. */
void px_conn_granted(struct px_conn *c, struct zw_buf *out);
/** Writes c->refusal to @out; returns false when the protocol has no words for it (reset). */
bool px_conn_refusal(const struct px_conn *c, struct zw_buf *out);
/** 403, for plain HTTP inside a connection. */
void px_conn_http_refusal(const struct px_conn *c, struct zw_buf *out);
#endif
