/* SPDX-License-Identifier: MIT
 * Moves the write-ahead log into the file beside the writer: a thread with a handle of its own, since
 * a checkpoint waits for the disk, and what somebody waits for must not wait for that.
 *
 * SQLite begins a log anew only when all of it is in the file. A pass moves what was there when it
 * began; what was written meanwhile is left for the next one. */
#ifndef ZW_AUDIT_TIDY_H
#define ZW_AUDIT_TIDY_H

#include <stdbool.h>

struct aud_tidy;

/** For the store at @path, which is open. Never NULL. Ownership: aud_tidy_free(), which waits. */
struct aud_tidy *aud_tidy_new(const char *path);
void aud_tidy_free(struct aud_tidy *t);

/** Begins a pass; with one under way nothing. False when there can be no thread. */
bool aud_tidy_start(struct aud_tidy *t);
bool aud_tidy_is_busy(const struct aud_tidy *t);
/** Waits for the pass that is under way. */
void aud_tidy_wait(struct aud_tidy *t);

/** Pages of the log that are in the file, as of the last pass; -1 = it failed, 0 = there was none. */
int aud_tidy_n_done(const struct aud_tidy *t);

#endif
