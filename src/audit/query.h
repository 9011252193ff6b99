/* SPDX-License-Identifier: MIT
 * Read-only access to the store, for history, show, log and the screens.
 *
 * A reader never blocks the writer and never changes the store. Everything is fetched in pages by
 * key (session number, event number), never by offset: a page costs the same at the first row and
 * at the millionth, and rows that arrive meanwhile move nothing. A store that does not exist reads
 * as an empty one.
 *
 * Events of all kinds share one count per session: `no`, given in the order in which they became
 * known. It is the number that users see and type. */
#ifndef ZW_AUDIT_QUERY_H
#define ZW_AUDIT_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/audit/filter.h"
#include "src/base/str.h"

/** Rows of one page at most; a larger limit counts as this. */
#define AUD_PAGE_MAX 1000

struct aud_query;
struct aud_arena;

/** What a number holds when it is not known. */
#define AUD_UNKNOWN INT64_C(-1)

/** A session and its sums. Spans are NUL-terminated behind their end; p NULL = not known. */
struct aud_session {
	int64_t id;
	int64_t started_us, ended_us; /* UTC; ended_us AUD_UNKNOWN while it runs */
	struct zw_span agent, name;   /* "claude"; the user's own name for it */
	struct zw_span tags, note;    /* the user's own; blanks between tags */
	struct zw_span argv;	      /* masked, NUL between arguments */
	struct zw_span cwd, project;
	struct zw_span mode;	/* "guard" */
	struct zw_span version; /* of zwatch */
	struct zw_span how;	/* how it ended: "exited", "stopped", "crashed", ... */
	int64_t exit_status;	/* or AUD_UNKNOWN */
	int64_t level;		/* of the sandbox */
	bool is_private;	/* sums only, no events */
	int64_t n_events;	/* rows, of all kinds */
	int64_t n_allow, n_deny, n_auto, n_miss, n_gone, n_fail; /* tries: a storm counts in full */
	int64_t n_ask;						 /* questions */
	int64_t n_new; /* new in this project, or AUD_UNKNOWN */
	int64_t up_b, down_b;
	int64_t last_us; /* time of its last event, or of its start */
};

/** Which columns of an event mean something. */
enum aud_row { AUD_ROW_SOCKET, AUD_ROW_CONN, AUD_ROW_QUESTION, AUD_ROW_MISC, AUD_ROW_MAX };

/** One event. Spans as in struct aud_session; words are those of base/words.def. */
struct aud_event {
	enum aud_row row;
	int64_t session, no;
	int64_t t_us;	     /* UTC: opened, refused or answered */
	int64_t closed_us;   /* SOCKET, CONN: or AUD_UNKNOWN */
	struct zw_span kind; /* "unix" "net" "dns" "question", or MISC's own: "mode" "term" ... */
	struct zw_span did, by;
	struct zw_span op;	/* SOCKET: op; CONN: via; QUESTION: "unix" or "net" */
	struct zw_span target;	/* SOCKET: path or @abstract; CONN: host; QUESTION: as shown */
	struct zw_span asked;	/* SOCKET: as the program spelt it */
	int64_t port;		/* CONN */
	struct zw_span address; /* CONN: dialled */
	struct zw_span class_name, risk;    /* SOCKET, QUESTION */
	int64_t listener_uid, listener_pid; /* SOCKET */
	struct zw_span listener_exe;
	int64_t rule; /* number, or AUD_UNKNOWN */
	struct zw_span reason, note;
	int64_t waited_ms;
	int64_t count; /* SOCKET, CONN: tries in this row; QUESTION: tries that waited */
	int64_t up_b, down_b;
	struct zw_span end; /* CONN: how it ended */
	int64_t pid;
	struct zw_span exe, argv, cwd; /* argv masked, NUL between arguments */
	struct zw_span chain;	    /* "PID NAME" from the agent down to the parent, NUL between */
	struct zw_span scope, key;  /* QUESTION: "once"; the keys that answered */
	int64_t shown_ms, question; /* QUESTION: how long it was on screen; its number */
	struct zw_span text;	    /* QUESTION: what was shown; MISC: what happened */
	bool is_new;		    /* the first of its target in this project */
};

/** A page. Filled by the functions below, released by aud_page_clear(), reusable after it. */
struct aud_session_page {
	struct aud_session *rows; /* owned */
	size_t n_rows;
	bool has_more;
	struct aud_arena *arena; /* owned: what the spans point into */
};
struct aud_event_page {
	struct aud_event *rows; /* owned */
	size_t n_rows;
	bool has_more;
	struct aud_arena *arena; /* owned */
};

void aud_session_page_clear(struct aud_session_page *page);
void aud_event_page_clear(struct aud_event_page *page);

/**
 * Opens the store at @path for reading. Where the folder lets no side files be made, the file is
 * read as it stands (rows of a running session may then be missing).
 *
 * Returns    0, also when there is no such file: then every list is empty
 * Errors     -EACCES and other system errors, -EUCLEAN not a store or damaged
 * Ownership  caller, aud_query_free(); NULL is ok there
 */
int aud_query_open(const char *path, struct aud_query **ret);
void aud_query_free(struct aud_query *q);

/** Schema number of the store, 0 = there is none. Newer than AUD_SCHEMA: readable all the same. */
int aud_query_schema(const struct aud_query *q);

/** Sums over the whole store. */
struct aud_totals {
	int64_t n_sessions, n_events, oldest_us; /* oldest_us AUD_UNKNOWN when empty */
};
int aud_totals(struct aud_query *q, struct aud_totals *ret);

/** A number that differs from the last one when another process has changed the store. */
int64_t aud_query_version(struct aud_query *q);

/**
 * Sessions, newest first, those with a number below @before (0 = from the newest).
 * Returns 0 or a negative error; ret is cleared first.
 */
int aud_sessions(struct aud_query *q, int64_t before, size_t limit, struct aud_session_page *ret);

/**
 * Whether a session runs: one without an end whose zwatch may live. One that was cut off, and that no
 * later session has marked yet, is none.
 * Returns 1, 0 or a negative error
 */
int aud_session_lives(struct aud_query *q);

/** One session. Returns 0 or ZW_E_NOT_FOUND; the page then holds exactly one row. */
int aud_session_get(struct aud_query *q, int64_t id, struct aud_session_page *ret);

/**
 * Number of the session that a user means: "last" (also NULL and ""), or digits.
 * Returns 0, ZW_E_NOT_FOUND (no such session), ZW_E_SYNTAX (neither).
 */
int aud_session_find(struct aud_query *q, const char *word, int64_t *ret_id);

/** Newest session of the zwatch with this process number that began after @since_us. Returns 0 or
 * ZW_E_NOT_FOUND. */
int aud_session_of(struct aud_query *q, int64_t zwatch_pid, int64_t since_us, int64_t *ret_id);

/** Direction of a page of events. */
enum aud_order { AUD_FORWARD, AUD_BACKWARD };

/**
 * Events of one session, merged over all kinds: forward those with a number above @from, backward
 * those below @from (0 = from the newest). Rows stand in the order asked for.
 * Returns 0 or a negative error; ret is cleared first.
 */
int aud_events(struct aud_query *q, int64_t session, enum aud_order order, int64_t from,
	       size_t limit, struct aud_event_page *ret);

/** Number of an event over all sessions: in the order of sessions, and of events in each. */
#define AUD_EVENT_ID(session, no) (((session) << 32) + (no))

/**
 * Events that match a filter, in all sessions or in one (@session 0 = all), from one number on.
 *
 * @from  AUD_EVENT_ID() of the last row seen; 0 = from the first (forward) or newest (backward)
 * Errors as aud_events(); -ECANCELED when aud_query_on_progress() said so; ZW_E_TOOBIG: too many terms
 */
int aud_find(struct aud_query *q, const struct aud_filter *f, int64_t session, enum aud_order order,
	     int64_t from, size_t limit, struct aud_event_page *ret);

/** How many events match, at most @max (0 = all of them). */
int aud_count(struct aud_query *q, const struct aud_filter *f, int64_t session, int64_t max,
	      int64_t *ret);

/** As aud_sessions(), those that match a filter: by themselves, or by one of their events. */
int aud_sessions_find(struct aud_query *q, const struct aud_filter *f, int64_t before, size_t limit,
		      struct aud_session_page *ret);

/**
 * While a statement runs, @fn is asked every few milliseconds whether to go on; true stops it.
 * NULL = no longer.
 */
void aud_query_on_progress(struct aud_query *q, bool (*fn)(void *arg), void *arg);

/** One event. Returns 0 or ZW_E_NOT_FOUND. */
int aud_event_get(struct aud_query *q, int64_t session, int64_t no, struct aud_event_page *ret);

#endif
