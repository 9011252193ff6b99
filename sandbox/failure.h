/* SPDX-License-Identifier: MIT
 * What went wrong between "start the agent" and the agent running. One struct, filled where it
 * happens, turned into sentences by stage.def. Nothing runs after a failure. */
#ifndef ZW_SANDBOX_FAILURE_H
#define ZW_SANDBOX_FAILURE_H

#include <stddef.h>
#include <stdint.h>

enum sb_stage {
#define SB_STAGE(name, what, hint) SB_STAGE_##name,
#include "sandbox/stage.def"
#undef SB_STAGE
	SB_STAGE_MAX
};

#define SB_DETAIL_MAX 256

struct sb_failure {
	enum sb_stage stage;
	int error; /* errno, 0 = none */
	char detail
		[SB_DETAIL_MAX]; /* path, name of the self-test, bwrap's message; not yet vis'ed */
};

/** Fills *@f; printf-like detail, "" for none. Returns -@error, or -EPROTO when that is 0. */
int sb_fail(struct sb_failure *f, enum sb_stage stage, int error, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/** What failed, as one line ("the program cannot be started: foo: No such file or directory").
 * Made printable. Returns the length written, as zw_vis(). */
size_t sb_failure_text(const struct sb_failure *f, char *dst, size_t size);

/** What may help, one or more sentences; "" when nothing is known. Static storage. */
const char *sb_failure_hint(const struct sb_failure *f);

/** Exit status that zwatch ends with: 127 program not found, 126 not startable, else 3. */
int sb_failure_exit(const struct sb_failure *f);

#endif
