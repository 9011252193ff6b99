/* SPDX-License-Identifier: MIT */
#include "src/base/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "src/base/vis.h"

#define LINE_MAX_B 1024

static const char *log_name = "zwatch";
static int log_fd = STDERR_FILENO;
static enum zw_log_level log_level = ZW_LOG_WARN;

void zw_log_init(const char *name, int fd, enum zw_log_level level)
{
	log_name = name;
	log_fd = fd;
	log_level = level;
	/* A program that was started by its descriptor has a number for a name until here. */
	prctl(PR_SET_NAME, name);
}

void zw_vlog(enum zw_log_level level, const char *fmt, va_list ap)
{
	static const char *const words[] = {"error", "warning", "info", "debug"};
	char raw[LINE_MAX_B];
	char clean[4 * LINE_MAX_B + 1];
	char line[sizeof(clean) + 64];
	int keep = errno;

	if (log_fd < 0 || level > log_level)
		return;
	vsnprintf(raw, sizeof(raw), fmt, ap);
	zw_vis(clean, sizeof(clean), raw, strnlen(raw, sizeof(raw)));
	int n = snprintf(line, sizeof(line), "%s: %s: %s\n", log_name, words[level], clean);
	/* A log that cannot be written must not stop the work it tells of. */
	if (write(log_fd, line, (size_t)n) < 0)
		log_fd = log_fd == STDERR_FILENO ? log_fd : -1;
	errno = keep;
}

void zw_log(enum zw_log_level level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	zw_vlog(level, fmt, ap);
	va_end(ap);
}
