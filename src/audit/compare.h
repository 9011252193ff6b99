/* SPDX-License-Identifier: MIT
 * Two sessions side by side: what one reached, used and was refused that the other did not. */
#ifndef ZW_AUDIT_COMPARE_H
#define ZW_AUDIT_COMPARE_H

#include "src/audit/print.h"

/**
 * What is in session @to and not in @from, then the other way round: sites, sockets, programs, and
 * what is decided in another way. As a table or one JSON object.
 * Returns how many differences, or a negative error.
 */
int64_t aud_compare_print(struct aud_query *q, int64_t from, int64_t to, const struct aud_print *p);

#endif
