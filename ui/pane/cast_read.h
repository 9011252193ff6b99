/* SPDX-License-Identifier: MIT
 * Reads asciicast v2, one line at a time. The bytes are hostile: an agent chose most of them, and
 * anybody may have written the file. Pure but for the file: no allocation, no line longer than the
 * maximum is held, and a line that is none is passed over and counted. */
#ifndef ZW_UI_PANE_CAST_READ_H
#define ZW_UI_PANE_CAST_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/str.h"

/* Longer than any line that zwatch writes, and than those of other recorders as a rule. */
#define PANE_CAST_LINE_MAX_B (256u << 10)
/* A year: what lies behind it is a mistake. */
#define PANE_CAST_TIME_MAX_US (INT64_C(366) * 86400 * 1000000)

enum pane_cast_kind { PANE_CAST_OTHER, PANE_CAST_OUTPUT, PANE_CAST_SIZE, PANE_CAST_MARK };

struct pane_cast_line {
	enum pane_cast_kind kind; /* OTHER: one to pass over, as typed keys */
	int64_t at_us;		  /* from the start; 0 up to the maximum */
	struct zw_span text;	  /* unescaped; in the buffer that was given. Any bytes */
	unsigned rows, cols;	  /* SIZE; not clamped */
};

struct pane_cast_head {
	unsigned rows, cols; /* not clamped */
	int64_t t_s;	     /* wall clock of the start, 0 = not told */
};

/** The first line. Returns 0 or ZW_E_SYNTAX: no asciicast v2. */
int pane_cast_head_parse(struct zw_span line, struct pane_cast_head *ret);
/**
 * Any other line.
 *
 * @text   room for the text, at least @line's length; ret->text points there
 * Returns 0 or ZW_E_SYNTAX
 */
int pane_cast_line_parse(struct zw_span line, char *text, struct pane_cast_line *ret);

/** A file, read from its begin. */
struct pane_cast_reader {
	int fd;		/* borrowed; its place in the file is the reader's */
	size_t start;	/* the next line begins here */
	size_t len;	/* bytes in buf */
	bool is_end;	/* of the file */
	uint64_t n_bad; /* lines that were too long */
	char buf[PANE_CAST_LINE_MAX_B];
};

void pane_cast_rewind(struct pane_cast_reader *r, int fd);
/** The next whole line, without its end; it lives until the next call. Returns 1; 0 at the end (a
 * line that is still being written is none yet); or -errno. */
int pane_cast_next(struct pane_cast_reader *r, struct zw_span *ret);

#endif
