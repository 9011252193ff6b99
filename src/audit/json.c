/* SPDX-License-Identifier: MIT */
#include "src/audit/json.h"

#include <assert.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/utf8.h"
#include "src/base/vis.h"

void aud_json_init(struct aud_json *j, struct zw_buf *out)
{
	*j = (struct aud_json){.out = out};
}

static void put(struct aud_json *j, const void *p, size_t len)
{
	if (j->error == 0)
		j->error = zw_buf_add(j->out, p, len);
}

static void put_escape(struct aud_json *j, uint32_t cp)
{
	char text[16];
	int n;

	if (cp == '"' || cp == '\\')
		n = snprintf(text, sizeof(text), "\\%c", (char)cp);
	else if (cp == '\n')
		n = snprintf(text, sizeof(text), "\\n");
	else if (cp == '\t')
		n = snprintf(text, sizeof(text), "\\t");
	else if (cp < 0x10000)
		n = snprintf(text, sizeof(text), "\\u%04x", cp);
	else
		n = snprintf(text, sizeof(text), "\\u%04x\\u%04x", 0xd800 + ((cp - 0x10000) >> 10),
			     0xdc00 + ((cp - 0x10000) & 0x3ff));
	put(j, text, (size_t)n);
}

static void put_string(struct aud_json *j, struct zw_span s)
{
	const uint8_t *p = (const uint8_t *)s.p;

	put(j, "\"", 1);
	for (size_t i = 0; i < s.len && j->error == 0;) {
		uint32_t cp = 0;
		int n = zw_utf8_decode(p + i, s.len - i, &cp);

		if (n < 0)
			put(j, "\xef\xbf\xbd", 3);
		else if (cp == '"' || cp == '\\' || !zw_vis_is_safe(cp))
			put_escape(j, cp);
		else
			put(j, p + i, (size_t)n);
		i += n > 0 ? (size_t)n : 1;
	}
	put(j, "\"", 1);
}

/* The comma and the name before a value. */
static void lead(struct aud_json *j, const char *name)
{
	bool *has_item = &j->has_item[j->depth];

	if (*has_item)
		put(j, ",", 1);
	*has_item = j->depth > 0;
	if (name != NULL) {
		put_string(j, zw_span(name));
		put(j, ":", 1);
	}
}

void aud_json_begin(struct aud_json *j, const char *name, char bracket)
{
	lead(j, name);
	put(j, &bracket, 1);
	j->depth++;
	assert(j->depth < ZW_JSON_DEPTH_MAX);
	j->has_item[j->depth] = false;
}

void aud_json_end(struct aud_json *j, char bracket)
{
	assert(j->depth > 0);
	j->depth--;
	put(j, &bracket, 1);
}

void aud_json_int(struct aud_json *j, const char *name, int64_t value)
{
	char text[32];
	int n = snprintf(text, sizeof(text), "%lld", (long long)value);

	lead(j, name);
	put(j, text, (size_t)n);
}

void aud_json_null(struct aud_json *j, const char *name)
{
	lead(j, name);
	put(j, "null", 4);
}

void aud_json_bool(struct aud_json *j, const char *name, bool value)
{
	lead(j, name);
	put(j, value ? "true" : "false", value ? 4 : 5);
}

void aud_json_str(struct aud_json *j, const char *name, struct zw_span value)
{
	lead(j, name);
	put_string(j, value);
}

void aud_json_time(struct aud_json *j, const char *name, int64_t t_us)
{
	time_t s = (time_t)(t_us / 1000000);
	int64_t us = t_us % 1000000;
	char day[64], text[96];
	struct tm tm;

	if (us < 0) { /* before 1970 the fraction still counts forward */
		us += 1000000;
		s--;
	}
	if (gmtime_r(&s, &tm) == NULL ||
	    strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm) == 0) {
		aud_json_null(j, name);
		return;
	}
	snprintf(text, sizeof(text), "%s.%06lldZ", day, (long long)us);
	aud_json_str(j, name, zw_span(text));
}
