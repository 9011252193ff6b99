/* SPDX-License-Identifier: MIT
 * What a rule would have done in past sessions. */
#ifndef ZW_MAIN_TRYOUT_H
#define ZW_MAIN_TRYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "src/audit/filter.h"
#include "src/policy/saved.h"

struct tryout {
	size_t n_sessions, n_questions; /* looked at */
	size_t n_answers;		/* questions that the rule would have answered */
	size_t n_denied;		/* of these: denied by the user, or missed */
	size_t n_refused;		/* other refused tries that it is about */
	int64_t denied_session;		/* newest with one of them, 0 = none */
	bool is_cut;			/* the record is longer than what was looked at */
};

/**
 * Looks through the newest sessions of the store at @path, with @f (NULL = all) at the events that it
 * takes. Hashes, listeners and time do not count:
 * the record does not hold them.
 *
 * Returns  0, ZW_E_NOT_FOUND (no session is kept), or what the store says
 */
int tryout_run(const char *path, const struct pol_saved *rule, const struct aud_filter *f,
	       struct tryout *ret);
/** "Tried on your last 12 sessions: answers 6 of 44 questions, matches nothing that was denied."
 * Ownership: caller frees. */
char *tryout_text(const struct tryout *t);

#endif
