/* SPDX-License-Identifier: MIT
 * Numbers and times as lists show them. */
#ifndef ZW_UI_FMT_H
#define ZW_UI_FMT_H

#include <stdint.h>

#define UI_FMT_MAX 24

/** "512", "1.2K", "88.1K", "412K", "4.1M": at most 5 columns below 1000 P. Returns @out. */
const char *ui_fmt_bytes(char out[UI_FMT_MAX], uint64_t n);
/** "512", "4,031", "1,234,567". */
const char *ui_fmt_count(char out[UI_FMT_MAX], uint64_t n);
/** "0:38", "12:41", "1:02:03". */
const char *ui_fmt_span(char out[UI_FMT_MAX], int64_t ms);
/** Local time of a wall clock in microseconds: "12:41:07". */
const char *ui_fmt_clock(char out[UI_FMT_MAX], int64_t us);
/** "today 12:28", "yesterday 21:15", "11-28 10:11", "2025-11-28", seen from @now_us. */
const char *ui_fmt_day(char out[UI_FMT_MAX], int64_t us, int64_t now_us);

#endif
