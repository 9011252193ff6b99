/* SPDX-License-Identifier: MIT
 * Rows of the lists of connections and sockets: which of the model's, in which order, and as text. */
#ifndef ZW_UI_ROWS_H
#define ZW_UI_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/audit/query.h"
#include "src/model/model.h"

/** One line of the connection or socket list: a question that waits, or a row of the model. */
struct ui_row {
	const struct mdl_ask *ask;
	const struct mdl_conn *conn;
	const struct mdl_sock *sock;
};

struct ui_rows {
	struct ui_row *row; /* owned */
	size_t n, cap;
	size_t n_all; /* without a filter; questions not counted */
};

/** What a list is sorted by. What waits stands first whatever it is. */
enum ui_sort { UI_SORT_NEWEST, UI_SORT_NAME, UI_SORT_PROGRAM, UI_SORT_AMOUNT, UI_SORT_MAX };

/** "newest" "name" "program" "bytes"; static. */
const char *ui_sort_word(enum ui_sort sort);

/**
 * Fills @rows with what @filter (NULL = all) leaves.
 *
 * @kind  SITE: connections, SOCKET: sockets
 */
void ui_rows_fill(struct ui_rows *rows, const struct mdl_session *s, enum pol_kind kind,
		  const struct aud_filter *filter, enum ui_sort sort);
/** Key of a row for struct ui_list; @arg is the rows. */
uint64_t ui_row_key(size_t row, void *arg);
/** The row with this key, as it is in the model now; all NULL when it is there no more. */
struct ui_row ui_row_find(const struct mdl_session *s, uint64_t key);

bool ui_conn_is_live(const struct mdl_conn *c);
/** "rule 7", "you", "mode", "no such file". */
void ui_why_text(char *out, size_t size, unsigned by, uint32_t rule, const char *reason);
/** "registry.example:443", "[2001:db8::1]:443". */
void ui_site_text(char *out, size_t size, const struct mdl_conn *c);
/** What the row is about: site, or path of the socket. */
void ui_row_target(char *out, size_t size, const struct ui_row *r);
const struct mdl_proc *ui_row_proc(const struct ui_row *r);

/** A part of the row to be copied. Ownership: caller frees. NULL: it has no such part. */
enum ui_row_part {
	UI_ROW_TARGET,
	UI_ROW_ADDRESS,
	UI_ROW_PROCESS, /* with the arguments */
	UI_ROW_LINE,
	UI_ROW_JSON, /* members as of `zwatch log --json` */
	UI_ROW_RULE, /* command that denies it */
};
char *ui_row_text(const struct ui_row *r, enum ui_row_part part);

/** A term that this row fits, to be added to a filter: host="...", path="...", proc="...". Ownership:
 * caller frees. */
char *ui_row_term(const struct ui_row *r, bool is_program);

#endif
