/* SPDX-License-Identifier: MIT */
#include "ui/fmt.h"

#include <stdbool.h>
#include <stdio.h>
#include <time.h>

const char *ui_fmt_bytes(char out[UI_FMT_MAX], uint64_t n)
{
	static const char unit[] = "KMGTPE";
	double v = (double)n;
	int u = -1;

	while (v >= 999.5 && u < 5) {
		v /= 1024;
		u++;
	}
	bool is_whole = v >= 99.95 || (int)(v * 10 + 0.5) % 10 == 0;
	if (u < 0)
		snprintf(out, UI_FMT_MAX, "%d", (int)n);
	else
		snprintf(out, UI_FMT_MAX, is_whole ? "%.0f%c" : "%.1f%c", v, unit[u]);
	return out;
}

const char *ui_fmt_count(char out[UI_FMT_MAX], uint64_t n)
{
	char digits[UI_FMT_MAX];
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n), used = 0;

	for (int i = 0; i < len && used < UI_FMT_MAX - 2; i++) {
		if (i > 0 && (len - i) % 3 == 0)
			out[used++] = ',';
		out[used++] = digits[i];
	}
	out[used] = '\0';
	return out;
}

const char *ui_fmt_span(char out[UI_FMT_MAX], int64_t ms)
{
	long long s = ms > 0 ? ms / 1000 : 0;

	if (s < 3600)
		snprintf(out, UI_FMT_MAX, "%lld:%02lld", s / 60, s % 60);
	else
		snprintf(out, UI_FMT_MAX, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
	return out;
}

static struct tm local(int64_t us)
{
	time_t s = (time_t)(us / 1000000);
	struct tm tm = {0};

	localtime_r(&s, &tm);
	return tm;
}

const char *ui_fmt_clock(char out[UI_FMT_MAX], int64_t us)
{
	struct tm tm = local(us);

	strftime(out, UI_FMT_MAX, "%H:%M:%S", &tm);
	return out;
}

const char *ui_fmt_day(char out[UI_FMT_MAX], int64_t us, int64_t now_us)
{
	struct tm tm = local(us), now = local(now_us),
		  before = local(now_us - INT64_C(86400000000));

	if (tm.tm_year == now.tm_year && tm.tm_yday == now.tm_yday)
		strftime(out, UI_FMT_MAX, "today %H:%M", &tm);
	else if (tm.tm_year == before.tm_year && tm.tm_yday == before.tm_yday)
		strftime(out, UI_FMT_MAX, "yesterday %H:%M", &tm);
	else if (tm.tm_year == now.tm_year)
		strftime(out, UI_FMT_MAX, "%m-%d %H:%M", &tm);
	else
		strftime(out, UI_FMT_MAX, "%Y-%m-%d", &tm);
	return out;
}
