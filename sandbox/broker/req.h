/* SPDX-License-Identifier: MIT
 * One held call on its way to an answer, and what all of them share.
 *
 * Each state is a function that returns the next one (req.c has the table). States that wait for
 * somebody (a worker, zwatch, the user) return WAITS and are entered again by an event. */
#ifndef ZW_SANDBOX_BROKER_REQ_H
#define ZW_SANDBOX_BROKER_REQ_H

#include <sys/queue.h>
#include <sys/socket.h>

#include "sandbox/broker/addr.h"
#include "sandbox/broker/broker.h"
#include "sandbox/broker/guard.h"
#include "sandbox/broker/lookup.h"
#include "sandbox/broker/pool.h"
#include "sandbox/broker/ports.h"
#include "sandbox/broker/prompt.h"
#include "sandbox/broker/record.h"
#include "sandbox/broker/relay.h"
#include "src/base/map.h"
#include "src/feed/feed.h"

enum brk_state {
	BRK_COPY, /* take the arguments over */
	BRK_COPIED,
	BRK_PIN,      /* descriptors of the caller's process, root, folder and socket */
	BRK_VALID,    /* the caller still waits, so what was opened is its own */
	BRK_ROUTE,    /* by family */
	BRK_RESOLVE,  /* Unix: the quick look */
	BRK_LOOKUP,   /* Unix: the slow look, on a worker */
	BRK_DECIDE,   /* by policy */
	BRK_ASK,      /* put to the user */
	BRK_RECHECK,  /* the other end is looked at again, on a worker */
	BRK_COMMIT,   /* the grant is put on record */
	BRK_OPEN,     /* the host socket is connected, on a worker */
	BRK_OWN,      /* connect to a socket of the sandbox */
	BRK_INET,     /* internet addresses */
	BRK_REDIRECT, /* to the proxy */
	BRK_PORT,     /* a port of the host that nobody inside serves */
	BRK_DATAGRAM, /* socket() and socketpair() of datagram kind */
	BRK_BIND,     /* bind(): for the record */
	BRK_BIND_LOOK,
	BRK_LISTEN, /* a server inside */
	BRK_REPLY,
	BRK_WAITS, /* not a state: an event continues it */
	BRK_DONE,
	BRK_STATE_MAX,
};

/** How it was decided, in the broker's own memory. */
struct brk_verdict {
	enum pol_verdict verdict;
	unsigned by;
	uint32_t rule;
	char reason[512], note[512];
	char class_name[64];
	enum pol_risk risk;
	enum pol_way way;
	bool is_look; /* as in struct pol_decision */
	enum pol_verdict otherwise;
};

/** Why a connect to loopback goes to the host; as in tcp_who. */
enum brk_host_by {
	BRK_HOST_NOT,
	BRK_HOST_BY_RULE,
	BRK_HOST_BY_USER,
	BRK_HOST_BY_SAVED, /* r->v.rule */
};

struct brk_open;

struct brk_req {
	struct broker *b;
	TAILQ_ENTRY(brk_req) link;
	enum brk_state state, next; /* next: where an event continues */
	uint64_t id;
	pid_t tid;
	int nr;
	uint64_t args[6];
	int64_t start_ms;
	uint8_t raw[BRK_ADDR_MAX];
	size_t raw_len;
	struct brk_place place; /* descriptors owned here */
	int sock_fd;		/* duplicate of the caller's socket */
	int domain, type;
	struct brk_addr addr;
	char exe[BRK_PATH_MAX];	 /* "" = could not be told */
	struct brk_found *found; /* owned; NULL before the slow look */
	struct brk_who *who;	 /* owned; NULL until needed */
	struct brk_verdict v;
	uint64_t generation; /* of the policy that v is by */
	int64_t waited_ms;
	bool is_asked;
	struct brk_wait wait; /* in a prompt */
	struct brk_job job;
	int job_result;
	struct brk_guard guard;
	struct brk_event *event; /* owned; the grant on record */
	struct zw_map_node commit_node;
	struct zev_timer *commit_timer;
	uint8_t to[BRK_ADDR_MAX]; /* where an internet socket is sent */
	size_t to_len;
	unsigned is_host_local; /* enum brk_host_by */
	int host_fd;		/* the host's side of a relay */
	struct ucred peer;	/* who answered, once connected */
	bool is_connected;	/* the caller's own socket */
	struct brk_open *open;	/* relay that this call began; NULL */
	int error;		/* errno of the answer, 0 = done */
};

TAILQ_HEAD(brk_req_list, brk_req);

/** A socket of the sandbox that was found before; its file stays pinned. */
struct brk_pin {
	struct zw_map_node node;
	TAILQ_ENTRY(brk_pin) link; /* least recently used first */
	struct {
		uint64_t dev, ino;
	} key;
	int fd; /* owned */
	char *path;
};

/** An open relay, for its last event. */
struct brk_open {
	LIST_ENTRY(brk_open) link;
	struct broker *b;
	struct brk_relay *relay;
	struct brk_event *event; /* owned */
};

struct broker {
	struct zev_loop *loop;
	struct zw_chan *chan;
	const struct brk_sys *sys;
	const struct broker_ops *ops;
	void *arg;
	struct feed *feed;
	struct brk_recorder *recorder;
	struct brk_prompts *prompts;
	struct brk_memory *memory;
	struct brk_lookout lookout;
	struct brk_pool *lookers, *waiters;
	struct zev_io *listener_io;
	unsigned n_recv_failed;					/* in a row */
	int listener_fd, inside_diag_fd, host_diag_fd, root_fd; /* owned */
	uint64_t netns; /* cookie of the sandbox's network namespace */
	pid_t init_pid;
	uint32_t listen_addr;
	uint16_t http_port, socks_port, transparent_port;
	unsigned level; /* enum sb_level of the sandbox */
	bool can_ask, is_set_up, is_ending;
	int64_t hold_ms;
	char runtime_dir[BRK_PATH_MAX];
	char socket_dirs[16384]; /* where sockets may be made, NUL behind each */
	size_t socket_dirs_len;
	uint16_t local_ports[1024];
	size_t n_local_ports;
	struct brk_ports inside;      /* that servers of the sandbox listen on */
	uint64_t serving[65536];      /* by port: process and program that zwatch was told of */
	struct zev_timer *gone_timer; /* for those that end */
	struct brk_req_list reqs;
	unsigned n_reqs;
	struct zev_timer *watch; /* whether those who wait still live */
	struct zw_map commits;	 /* requests by event number */
	struct zw_map pins;
	TAILQ_HEAD(, brk_pin) pin_list;
	unsigned n_pins;
	LIST_HEAD(, brk_open) opens;
	unsigned n_opens;
};

/** Nothing can be served any more: ends the broker, and with it every held call (ENOSYS). */
void brk_end(struct broker *b, int error);
/** Takes over one notification and runs it as far as it goes. */
void brk_req_start(struct broker *b, const union brk_notif *n);
/** Continues one that waits, at @state. */
void brk_req_continue(struct brk_req *r, enum brk_state state);
/** Ends one without an answer: the caller is gone. */
void brk_req_drop(struct brk_req *r);

/** Answers with @error (errno). Returns BRK_REPLY. */
enum brk_state brk_req_answer(struct brk_req *r, int error);
/**
 * Something that had to be known could not be found out: EACCES, and a record of it.
 * @what  "reading the address"; @error  -errno. Returns BRK_REPLY.
 */
enum brk_state brk_req_fault(struct brk_req *r, const char *what, int error);
/** What was called, as ZW_OP_*. */
unsigned brk_req_op(const struct brk_req *r);
/** Records @did for this request (folded), without an effect. */
void brk_req_record(struct brk_req *r, unsigned did, unsigned op, unsigned by, const char *reason);
/** Record of a refused address: a conn_event. */
void brk_req_record_address(struct brk_req *r, unsigned by, uint32_t rule, const char *reason);
/** Event of this request with everything known. Ownership: caller frees. */
struct brk_event *brk_req_event(struct brk_req *r, unsigned did, unsigned op, unsigned by,
				const char *reason);
/** Path of the caller's program inside, "" when it cannot be told. Borrowed from @r. */
const char *brk_req_exe(struct brk_req *r);
/** Hands it to a worker; @next is entered when @work has returned true. Returns BRK_WAITS. */
enum brk_state brk_req_work(struct brk_req *r, struct brk_pool *pool,
			    bool (*work)(struct brk_job *job), enum brk_state next);
/** The request of a job. */
struct brk_req *brk_req_of(struct brk_job *job);

/* States; the table is in req.c. */
enum brk_state brk_unix_resolve(struct brk_req *r);
enum brk_state brk_unix_lookup(struct brk_req *r);
enum brk_state brk_unix_decide(struct brk_req *r);
enum brk_state brk_unix_ask(struct brk_req *r);
enum brk_state brk_unix_recheck(struct brk_req *r);
enum brk_state brk_unix_commit(struct brk_req *r);
enum brk_state brk_unix_open(struct brk_req *r);
enum brk_state brk_unix_own(struct brk_req *r);
enum brk_state brk_inet_route(struct brk_req *r);
enum brk_state brk_inet_redirect(struct brk_req *r);
enum brk_state brk_serve_port(struct brk_req *r);
enum brk_state brk_datagram(struct brk_req *r);
enum brk_state brk_bind(struct brk_req *r);
enum brk_state brk_bind_look(struct brk_req *r);
enum brk_state brk_serve_listen(struct brk_req *r);

/** What kind of socket it is: fills sock_fd, domain and type. Returns 0 or -errno. */
int brk_req_pin_socket(struct brk_req *r);

/** Connects inside, as it was asked for. */
enum brk_state brk_inet_inside(struct brk_req *r);
/** Sends it to the same port of the host, by way of the proxy. */
enum brk_state brk_inet_to_host(struct brk_req *r, enum brk_host_by by);
/** Looks who serves this port on the host; goes on at BRK_PORT. */
enum brk_state brk_serve_look(struct brk_req *r);
/** Judges that port: fills r->v. */
void brk_serve_judge(struct brk_req *r);
/** A verdict about such a port. */
void brk_serve_answered(struct brk_req *r, const struct brk_answer *a);
/** Looks for servers inside that have gone. */
void brk_serve_on_timer(void *arg);

/** zwatch has put event @seq on record, or could not. */
void brk_unix_committed(struct broker *b, uint64_t seq, bool is_kept);
/** A verdict for one that was asked about. */
void brk_unix_answered(struct brk_req *r, const struct brk_answer *a);
/** The rules have changed: questions that they answer now are answered. */
void brk_unix_rejudge(struct broker *b);
/** Ends one relay, with its last event. */
void brk_open_close(struct brk_open *o);
/** Ends every relay of process @pid to @target, for the user. */
void brk_unix_close(struct broker *b, struct zw_span target, uint32_t pid);
/** Ends all relays; each still tells its counts. */
void brk_unix_fini(struct broker *b);
/** Closes the relays to @target of @program ("" = of any). */
void brk_unix_cut(struct broker *b, struct zw_span target, struct zw_span program);

#endif
