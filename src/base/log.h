/* SPDX-License-Identifier: MIT
 * The log of one process. Modules return errors; the edge (a *_main.c or the loop) logs them once.
 * Every line is made printable first, so that hostile bytes cannot forge one. */
#ifndef ZW_BASE_LOG_H
#define ZW_BASE_LOG_H

#include <stdarg.h>

enum zw_log_level { ZW_LOG_ERROR, ZW_LOG_WARN, ZW_LOG_INFO, ZW_LOG_DEBUG };

/**
 * Sends the log of this process to @fd (borrowed; -1 = nowhere), each line headed by @name.
 * Lines above @level are dropped.
 */
void zw_log_init(const char *name, int fd, enum zw_log_level level);

void zw_log(enum zw_log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void zw_vlog(enum zw_log_level level, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));

#define zw_error(...) zw_log(ZW_LOG_ERROR, __VA_ARGS__)
#define zw_warn(...)  zw_log(ZW_LOG_WARN, __VA_ARGS__)
#define zw_info(...)  zw_log(ZW_LOG_INFO, __VA_ARGS__)
#define zw_debug(...) zw_log(ZW_LOG_DEBUG, __VA_ARGS__)

#endif
