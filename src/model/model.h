/* SPDX-License-Identifier: MIT
 * The running session as data: what zwatch knows and the dashboard shows. Written by src/super from
 * messages, read by ui. Pure memory, no I/O, no clock.
 *
 * Every foreign string is made printable (zw_vis) when it comes in, so that nothing in here can
 * harm a terminal. Lists are bounded: the oldest finished row makes room. */
#ifndef ZW_MODEL_MODEL_H
#define ZW_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "src/base/str.h"
#include "src/policy/policy.h"

#define MDL_CONNS_MAX 2000
#define MDL_SOCKS_MAX 2000
#define MDL_ASKS_MAX  500

/** What changed since the UI last looked; or-ed. */
enum mdl_changed {
	MDL_CHANGED_CONNS = 1 << 0,
	MDL_CHANGED_SOCKS = 1 << 1,
	MDL_CHANGED_ASKS = 1 << 2,
	MDL_CHANGED_STATUS = 1 << 3, /* mode, counts, warnings, title */
	MDL_CHANGED_TASKS = 1 << 4,
};

#define MDL_RATE_N 60

/** Bytes of each second of the last minute. */
struct mdl_rate {
	int64_t newest_s; /* of the last bytes; monotonic clock */
	uint32_t up[MDL_RATE_N],
		down[MDL_RATE_N]; /* by second, modulo; 4 GB and more count as that */
};

/** A program of the agent's tree. Strings owned, printable. */
struct mdl_proc {
	uint32_t pid;
	char *exe;     /* "/usr/bin/curl"; "" = unknown */
	char *command; /* arguments with blanks between, cut at 2048 */
	char *cwd;     /* with ~ for the home folder */
	char *chain;   /* "claude(4502) > bash(4688)": the ancestors, agent first */
};

/** One connection to a site, or one refused. */
struct mdl_conn {
	TAILQ_ENTRY(mdl_conn) link; /* newest first */
	uint64_t id;		    /* (source << 56) | seq of its conn_event */
	unsigned did, via, by;	    /* ZW_DID_*, ZW_VIA_*, ZW_BY_* */
	char *host, *address, *reason, *end;
	uint16_t port;
	uint32_t rule;
	uint64_t up_b, down_b;
	int64_t opened_us, closed_us; /* wall clock; closed 0 = live */
	uint32_t n_times;
	bool is_new; /* no session before this one has met it in this project, as far as known */
	struct mdl_rate rate;
	struct mdl_proc proc;
};

/** One Unix socket by target and program, with what was decided last. */
struct mdl_sock {
	TAILQ_ENTRY(mdl_sock) link; /* newest first */
	uint64_t id;		    /* of its newest event */
	uint64_t line;		    /* of this line; stays */
	unsigned did, op, by;
	enum pol_risk risk;
	char *target, *asked, *class_name, *reason;
	char *raw_target; /* its bytes, not for the screen */
	uint32_t rule;
	uint32_t n_times;  /* of all events of this line */
	uint32_t n_newest; /* of the event with this id */
	uint64_t up_b, down_b;
	int64_t t_us;
	bool is_new; /* as of a connection */
	struct mdl_proc proc;
};

enum mdl_ask_state {
	MDL_ASK_HELD, /* waits, its clock runs */
	MDL_ASK_OPEN, /* on screen, its clock stands */
	MDL_ASK_ANSWERED,
	MDL_ASK_MISSED, /* time over: denied once; a late answer counts for this session */
	MDL_ASK_GONE,	/* the program gave up or ended */
	MDL_ASK_LOOK,	/* zwatch compares it with saved rules; nobody is shown it */
};

/** One question: who + what. Strings owned, printable; texts of the class are filled in by super. */
struct mdl_ask {
	TAILQ_ENTRY(mdl_ask) link; /* oldest first */
	uint64_t id;		   /* zwatch's own number */
	enum mdl_ask_state state;
	enum pol_kind kind;
	enum pol_risk risk;
	char *class_name;  /* "docker"; "" for a site or an unknown socket */
	char *title;	   /* short name: "docker.sock", "a.new.site:443" */
	char *wants;	   /* "wants to talk to the Docker daemon" */
	char *consequence; /* "the agent gets root on this machine. ..." */
	char *safer;	   /* may be "" */
	char *word;	   /* to type for HIGH session/always and for CRITICAL; "docker" */
	char *target;	   /* real path, @name or host:port: what is judged */
	char *asked;	   /* the program's spelling; "" = the same */
	char *owner;	   /* "owner root:docker, mode 0660"; "" for a site */
	char *answers;	   /* "dockerd(1187), running as root"; "" for a site */
	char *before;	   /* what happened before with this target in this session */
	char *near;	   /* why a saved rule narrowly did not apply; "" */
	char *script;	   /* what an interpreter runs; "" = none, or not a file */
	char *below;	   /* site: "*.example.org:443", which an answer may be for as well; "" */
	bool is_new;	   /* as of a connection */
	bool is_interpreter;
	bool is_identified;	  /* the hashes below have been looked for */
	char *hash, *script_hash; /* of the program's file; "" = could not be told */
	uint32_t n_denied;	  /* equal questions that were denied in this session */
	struct mdl_proc proc;
	bool is_allowed; /* ANSWERED: how */
	uint32_t n_waiting;
	int64_t since_ms; /* monotonic; when it came */
	int64_t left_ms; /* of the hold time at since_ms or when the clock was stopped; 0 = no limit */
	int64_t clock_ms; /* monotonic; when left_ms was true (state HELD) */
};

/** A process of the sandbox, as it was at the last look. Text is printable. */
struct mdl_task {
	uint32_t pid, parent;  /* of the host; parent 0: the sandbox's pid 1 */
	int depth;	       /* in the tree */
	char state;	       /* as the kernel's: R S D T Z */
	uint32_t cpu_permille; /* of one processor, since the look before */
	int64_t cpu_ms;	       /* in all */
	uint64_t memory_b;     /* resident */
	uint64_t started;      /* kernel's ticks: with the pid, who it is */
	char name[64], command[256];
};

struct mdl_session {
	uint64_t number; /* of the store; 0 = not yet known or not kept */
	char *agent;	 /* "claude" */
	char *project;	 /* "~/src/shop" */
	char *title;	 /* window title of the agent, filtered; "" */
	enum pol_mode mode;
	unsigned level;	    /* of the sandbox (sandbox/landlock.h), 0 = not known yet */
	int64_t started_ms; /* monotonic */
	bool is_private;    /* sums alone are kept of it */
	bool is_recorded;   /* the agent's screen is */
	bool is_frozen;	    /* all of its processes stand still */
	bool is_dangerous;  /* --allow-dangerous-sockets is in force: red for the whole session */
	char *pane_gone;    /* how zwatch-pane ended, and no other runs; "" = one does */
	char *warning;	    /* dead helper, store problem ...; "" = none. The newest one */
	uint64_t n_allow, n_deny, n_auto, n_ask, n_miss, n_live;
	uint64_t up_b, down_b;
	TAILQ_HEAD(mdl_conn_list, mdl_conn) conns;
	TAILQ_HEAD(mdl_sock_list, mdl_sock) socks;
	TAILQ_HEAD(mdl_ask_list, mdl_ask) asks;
	size_t n_conns, n_socks, n_asks;
	uint64_t last_line;
	uint64_t n_dropped; /* rows that made room: pointers to them are no good any more */
	struct mdl_rate rate;
	struct mdl_task *tasks; /* owned; children behind their parents */
	size_t n_tasks;
	bool is_tasks_cut; /* there are more */
	char *home;	   /* for ~; "" = none */
};

void mdl_session_init(struct mdl_session *s, const char *home);
void mdl_session_fini(struct mdl_session *s);

/** Replaces an owned string by the printable form of @text, at most @max bytes. */
void mdl_set(char **field, struct zw_span text, size_t max);
/** As mdl_set for a path, with the home folder shown as ~. */
void mdl_set_path(const struct mdl_session *s, char **field, struct zw_span path);

/** Fills @p from a message's fields (as ZW_F_PROC), replacing what it held. */
void mdl_proc_set(const struct mdl_session *s, struct mdl_proc *p, uint32_t pid, struct zw_span exe,
		  struct zw_span argv, struct zw_span cwd, struct zw_span chain);
/** "curl" of "/usr/bin/curl"; "?" when unknown. Borrowed. */
const char *mdl_proc_name(const struct mdl_proc *p);

/** Finds by id or makes a new row at the front (strings ""). Never NULL. */
struct mdl_conn *mdl_conn_get(struct mdl_session *s, uint64_t id, bool *ret_is_new);
/** Same target, program and decision: one row, else a new one. Never NULL. */
struct mdl_sock *mdl_sock_get(struct mdl_session *s, struct zw_span target, uint32_t pid,
			      unsigned did, unsigned op, bool *ret_is_new);
/** Counts bytes that came in this second. */
void mdl_rate_add(struct mdl_rate *r, int64_t now_s, uint64_t up_b, uint64_t down_b);
/** Bytes of the second @ago_s before @now_s; 0 when that is too long ago. */
void mdl_rate_at(const struct mdl_rate *r, int64_t now_s, int ago_s, uint32_t *ret_up,
		 uint32_t *ret_down);

/** A new question at the end of the list. Never NULL. */
struct mdl_ask *mdl_ask_new(struct mdl_session *s, uint64_t id);
/** NULL when there is none with this id. */
struct mdl_ask *mdl_ask_find(struct mdl_session *s, uint64_t id);
/** The oldest that waits (HELD or OPEN), CRITICAL and HIGH before sites; NULL = none. */
struct mdl_ask *mdl_ask_first(struct mdl_session *s);
/** How many wait for an answer (HELD or OPEN). */
size_t mdl_asks_waiting(const struct mdl_session *s);
/** Time left to hold at @now_ms; INT64_MAX = no limit, never below 0. */
int64_t mdl_ask_left_ms(const struct mdl_ask *a, int64_t now_ms);

#endif
