/* SPDX-License-Identifier: MIT */
#include "src/config/report.h"

#include <string.h>

#include "src/base/mem.h"
#include "src/base/vis.h"

#define TEXT_MAX 1024u

void cfg_report_clear(struct cfg_report *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->list[i].file);
		free(r->list[i].text);
	}
	*r = (struct cfg_report){0};
}

static void add(struct cfg_report *r, int is_error, const char *file, unsigned line,
		const char *fmt, va_list ap) __attribute__((format(printf, 5, 0)));

static void add(struct cfg_report *r, int is_error, const char *file, unsigned line,
		const char *fmt, va_list ap)
{
	char raw[TEXT_MAX];

	r->n_errors += is_error != 0;
	if (r->n == CFG_REPORT_MAX)
		return;
	int len = vsnprintf(raw, sizeof(raw), fmt, ap);
	struct cfg_error *e = &r->list[r->n++];
	*e = (struct cfg_error){
		.is_error = is_error,
		.file = zw_vis_dup(file != NULL ? file : "", file != NULL ? strlen(file) : 0,
				   TEXT_MAX),
		.line = line,
		.text = zw_vis_dup(raw, len < 0 ? 0 : strlen(raw), TEXT_MAX),
	};
}

void cfg_report_error(struct cfg_report *r, const char *file, unsigned line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(r, 1, file, line, fmt, ap);
	va_end(ap);
}

void cfg_report_note(struct cfg_report *r, const char *file, unsigned line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(r, 0, file, line, fmt, ap);
	va_end(ap);
}

char *cfg_error_format(const struct cfg_error *e)
{
	if (e->file[0] == '\0')
		return zw_xstrdup(e->text);
	if (e->line == 0)
		return zw_xasprintf("%s %s", e->text, e->file);
	return zw_xasprintf("%s %s:%u", e->text, e->file, e->line);
}
