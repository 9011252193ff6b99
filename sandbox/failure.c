/* SPDX-License-Identifier: MIT
 * Failures of the start, as sentences. */
#include "sandbox/failure.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/vis.h"

static const struct {
	const char *what, *hint;
} stages[] = {
#define SB_STAGE(name, what, hint) [SB_STAGE_##name] = {what, hint},
#include "sandbox/stage.def"
#undef SB_STAGE
};

int sb_fail(struct sb_failure *f, enum sb_stage stage, int error, const char *fmt, ...)
{
	va_list ap;

	f->stage = stage;
	f->error = error;
	va_start(ap, fmt);
	vsnprintf(f->detail, sizeof(f->detail), fmt, ap);
	va_end(ap);
	return error > 0 ? -error : -EPROTO;
}

size_t sb_failure_text(const struct sb_failure *f, char *dst, size_t size)
{
	const char *what = f->stage < SB_STAGE_MAX ? stages[f->stage].what : "unknown failure";
	char line[SB_DETAIL_MAX + 256];
	size_t len = strnlen(f->detail, sizeof(f->detail));

	/* bwrap's message ends in a newline, which would show as an escape. */
	while (len > 0 && f->detail[len - 1] == '\n')
		len--;
	snprintf(line, sizeof(line), "%s%s%.*s%s%s", what, len ? ": " : "", (int)len, f->detail,
		 f->error > 0 ? ": " : "", f->error > 0 ? strerror(f->error) : "");
	return zw_vis(dst, size, line, strlen(line));
}

const char *sb_failure_hint(const struct sb_failure *f)
{
	return f->stage < SB_STAGE_MAX ? stages[f->stage].hint : "";
}

int sb_failure_exit(const struct sb_failure *f)
{
	if (f->stage != SB_STAGE_EXEC)
		return 3;
	return f->error == ENOENT ? 127 : 126;
}
