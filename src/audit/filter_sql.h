/* SPDX-License-Identifier: MIT
 * The functions that a filter's SQL calls: zw_glob, zw_has, zw_below, zw_regex, zw_text,
 * zw_basename. All take any bytes; NULL gives NULL. */
#ifndef ZW_AUDIT_FILTER_SQL_H
#define ZW_AUDIT_FILTER_SQL_H

#include <sqlite3.h>

/** Makes them known to @db. Returns an SQLite code. */
int aud_filter_functions(sqlite3 *db);

#endif
