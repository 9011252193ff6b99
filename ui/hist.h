/* SPDX-License-Identifier: MIT
 * The parts of the history view: hist_rows.c has what is read from the store, hist_text.c pages of
 * text (one event, what another zwatch prints), hist_type.c what is typed, view_history.c the screens
 * and keys. Nothing here waits: what takes long is done in pieces, or by a process of its own. */
#ifndef ZW_UI_HIST_H
#define ZW_UI_HIST_H

#include <sys/types.h>

#include "src/audit/print.h"
#include "src/audit/query.h"
#include "src/audit/scan.h"
#include "ui/core.h"

#define HIST_PAGE_N 200
/* Rows of events that are kept at once; beyond it the far end is dropped and read again. */
#define HIST_EVENTS_MAX 20000
#define HIST_LINES_MAX	4096
#define HIST_RECALL_N	20

enum hist_level { HIST_SESSIONS, HIST_EVENTS, HIST_TEXT };

/* What the line at the top is typed for. */
enum hist_typing { HIST_NOT_TYPING, HIST_FILTER, HIST_EXPORT, HIST_NOTE, HIST_TAGS, HIST_COLUMNS };

#define HIST_COLS_MAX 20
/* Sessions that are read at once to sort them; events: HIST_EVENTS_MAX. */
#define HIST_SORT_MAX 5000

/* Columns that the user chose; n 0 = the usual ones. */
struct hist_choice {
	int col[HIST_COLS_MAX], n;
};

/* Column that the rows are sorted by; -1 = the newest first. */
struct hist_sort {
	int col;
	bool is_up;
};

/* Columns that fit, and where they stand. */
struct hist_layout {
	int col[HIST_COLS_MAX], at[HIST_COLS_MAX], width[HIST_COLS_MAX], n;
};

struct hist_sessions {
	struct aud_session_page *page; /* owned, newest first */
	size_t n_pages;
	const struct aud_session **row; /* owned; into the pages */
	size_t n;
	bool has_more, is_sorted;
};

struct hist_events {
	struct aud_event_page *page; /* owned, newest first */
	size_t n_pages;
	const struct aud_event **row; /* owned; into the pages */
	size_t n;
	bool has_newer, has_older, is_sorted;
};

/* Another zwatch whose output becomes a page of text. */
struct hist_child {
	pid_t pid; /* 0 = none */
	int fd;
	int64_t from_ms;
	int n_lines;  /* of the page before it */
	bool is_open; /* the last line is not whole yet */
};

/* The time line of the session that is shown. */
#define HIST_LINE_PARTS 240
struct hist_line {
	struct aud_scan *scan;	/* owned; NULL = filled */
	struct aud_filter *all; /* owned; what the scan looks for */
	int64_t from_us, to_us; /* to_us 0 = there is none */
	size_t n_rows;
	uint32_t n[HIST_LINE_PARTS];
	uint8_t mark[HIST_LINE_PARTS];
};

struct view_history {
	struct view view;
	char *path;		 /* of the store; owned */
	struct aud_query *query; /* owned; NULL: it could not be opened */
	int error;
	enum hist_level level, bottom; /* bottom: Esc leaves the view there */
	enum hist_level below;	       /* where a page of text was opened */
	struct hist_choice choice[2];  /* HIST_SESSIONS, HIST_EVENTS */
	struct hist_sort sort[2];
	struct ui_list list[2]; /* HIST_SESSIONS, HIST_EVENTS */

	struct hist_sessions sessions;
	struct hist_events events;
	struct aud_session_page now; /* the session whose events are shown */
	struct hist_line line_of;
	struct aud_totals totals;
	int64_t version, looked_ms; /* of the store, when it was last looked for news */

	struct aud_filter *filter; /* owned; NULL = all */
	struct aud_scan *scan;	   /* owned; a search that is not over */
	bool is_count;		   /* it counts for what is being typed, by `counted` */
	struct aud_filter *counted;
	int64_t n_counted;
	size_t wanted; /* rows that it is to find for now */
	int64_t scan_ms, scan_from_ms;

	enum hist_typing typing;
	char typed[AUD_FILTER_LEN_MAX + 1], kept[AUD_FILTER_LEN_MAX + 1]; /* kept: the filter */
	size_t typed_len;
	char *recall[HIST_RECALL_N]; /* owned, newest first */
	int recalled;		     /* -1 = none */
	char said[200];		     /* of what is typed, or of the search */
	bool is_bad;		     /* it says what is wrong */
	bool is_copying, is_ruling;  /* the next key says what */
	bool is_trying;		     /* is_ruling: the rule is only tried */
	int64_t marked[2];	     /* sessions to compare; 0 = none */

	char title[120];
	int scroll, n_lines;
	char *line[HIST_LINES_MAX]; /* owned */
	bool has_labels;
	struct hist_child child;
};

/* -- hist_rows.c ------------------------------------------------------------------------------- */

/** Frees all rows. */
void hist_rows_fini(struct view_history *v);
void hist_load_sessions(struct view_history *v);
/** Reads the events of a session from its newest, or from its oldest. */
void hist_load_events(struct view_history *v, int64_t session, bool from_oldest);
/** Reads on where the selection nears an end. */
void hist_load_near(struct view_history *v);
/** Begins or ends counting what the typed filter matches; takes @f, NULL ends it. */
void hist_count(struct view_history *v, struct aud_filter *f);
/** Ends a search under way. False: there was none. */
bool hist_stop(struct view_history *v);
/** A piece of what takes long; and when the next is due, ms, -1 = never. */
void hist_work(struct view_history *v);
int64_t hist_due_ms(const struct view_history *v, int64_t now_ms);
uint64_t hist_session_key(size_t row, void *arg);
uint64_t hist_event_key(size_t row, void *arg);
/** The selected row; NULL = there is none. */
const struct aud_session *hist_session(const struct view_history *v);
const struct aud_event *hist_event(const struct view_history *v);

/** Sorts what is read, or (without a sort) puts it back in its order; when it has to be. */
void hist_sort(struct view_history *v);

/* -- hist_cols.c ------------------------------------------------------------------------------- */

const char *hist_folder(const struct view_history *v, char *out, size_t size,
			const struct aud_session *s);
void hist_end_text(char *out, size_t size, const struct aud_session *s);
/** Which columns of a list fit into @width. */
void hist_cols_lay(const struct view_history *v, enum hist_level level, int width,
		   struct hist_layout *ret);
void hist_cols_heads(const struct view_history *v, enum hist_level level,
		     const struct hist_layout *l, const struct draw_ctx *c);
/** @what: a struct aud_session or aud_event. */
void hist_cols_row(const struct view_history *v, enum hist_level level, const struct hist_layout *l,
		   const struct draw_ctx *c, int row, const void *what);
/** Names of those that are shown, and of all that there are. */
void hist_cols_names(const struct view_history *v, enum hist_level level, char *out, size_t size);
void hist_cols_all(enum hist_level level, char *out, size_t size);
/** Chooses by names; none: the usual ones. False: one is no column, which is said. */
bool hist_cols_choose(struct view_history *v, enum hist_level level, const char *words);
/** The next column of those shown; behind the last the newest first again. */
void hist_sort_next(struct view_history *v, enum hist_level level, const struct hist_layout *l);
/** NULL = not sorted. */
const char *hist_sort_name(const struct view_history *v, enum hist_level level);
/** Stable. */
void hist_sort_rows(const struct view_history *v, enum hist_level level, const void **rows,
		    size_t n);

/* -- hist_line.c ------------------------------------------------------------------------------- */

/** Begins anew, for the session that is shown. */
void hist_line_start(struct view_history *v);
void hist_line_stop(struct view_history *v);
bool hist_line_is_filling(const struct view_history *v);
void hist_line_piece(struct view_history *v);
/** Rows that it takes of @rows; 0 = there is no room, or no line. */
int hist_line_rows(const struct view_history *v, int rows);
void hist_line_draw(struct view_history *v, const struct draw_ctx *c);

/* -- hist_text.c ------------------------------------------------------------------------------- */

/** The store holds bytes as they came; a screen gets them printable, NUL as a blank. Returns @out. */
const char *hist_shown(char *out, size_t size, struct zw_span s);
const char *hist_target(char *out, size_t size, const struct aud_event *e);
const char *hist_proc(char *out, size_t size, const struct aud_event *e);
const char *hist_by(char *out, size_t size, const struct aud_event *e);

void hist_lines_clear(struct view_history *v);
/** Opens a page of text; its lines are added after it. */
void hist_text_open(struct view_history *v, const char *title, bool has_labels);
void hist_text_line(struct view_history *v, const char *label, const char *text);
void hist_text_event(struct view_history *v, const struct aud_event *e);
/** The question as it stood on screen. False: the row is none. */
bool hist_text_shown(struct view_history *v, const struct aud_event *e);
void hist_text_draw(struct view_history *v, const struct draw_ctx *c);
/** All lines of the page. Ownership: caller. */
char *hist_text_all(const struct view_history *v);

/**
 * Runs zwatch with @argv (argv[0] is set here) in @folder (NULL = where we are); what it prints is
 * the page of text that is open.
 */
void hist_run(struct view_history *v, const char *folder, char **argv);
void hist_run_stop(struct view_history *v);
/** Reads what has come. */
void hist_run_read(struct view_history *v);

/* -- hist_type.c ------------------------------------------------------------------------------- */

void hist_recall_load(struct view_history *v);
void hist_recall_free(struct view_history *v);
void hist_type_begin(struct view_history *v, enum hist_typing what, const char *text);
bool hist_type_key(struct view_history *v, struct ui_key key);
void hist_type_paste(struct view_history *v, const void *bytes, size_t len);
/** f and F: the target of the row is added to the filter. */
void hist_filter_row(struct view_history *v, bool is_out);
/** Uses the typed line as the filter. */
void hist_filter_apply(struct view_history *v);
/** What was typed for something else than a filter is complete. In view_history.c. */
void hist_typed(struct view_history *v, enum hist_typing what);

/* -- hist_act.c -------------------------------------------------------------------------------- */

/** @what: l line, j JSON, t target. */
void hist_copy(struct view_history *v, char what);
void hist_stats(struct view_history *v);
/** Marks the selected session for a comparison, or no longer. */
void hist_mark(struct view_history *v);
void hist_diff(struct view_history *v);
/** What the screen shows, to a file; its ending says how. */
void hist_export(struct view_history *v, const char *path);
/** Gives the session a note, or other tags. */
void hist_words(struct view_history *v, enum hist_typing what, const char *text);
/** @n '\0': shows what rules the selected row could become; '1' to '4': makes that one, or with
 * is_trying says what it would have done in past sessions. */
void hist_rule(struct view_history *v, char n);

#endif
