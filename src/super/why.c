/* SPDX-License-Identifier: MIT
 * `zwatch why`: a listener in the sandbox's own network that tells the last refusals and takes
 * nothing. Whoever connects gets one JSON text; not a byte is read. */
#include <errno.h>
#include <sys/socket.h>

#include "src/base/mem.h"
#include "src/base/words.h"
#include "src/super/super_i.h"

#define TEXT_MAX_B 32768

void sup_refused(struct sup *s, const struct sup_refusal *r)
{
	struct sup_refusal *slot = &s->refusals[s->n_refusals % SUP_REFUSALS_MAX];

	/* The same again: one line, counted. */
	if (s->n_refusals > 0) {
		struct sup_refusal *last = &s->refusals[(s->n_refusals - 1) % SUP_REFUSALS_MAX];

		if (strcmp(last->target, r->target) == 0 && last->by == r->by &&
		    strcmp(last->note, r->note) == 0) {
			last->t_us = r->t_us;
			last->event = r->event;
			last->n += r->n;
			return;
		}
	}
	*slot = *r;
	s->n_refusals++;
}

/* Printable UTF-8 already (zw_vis); quotes and backslashes remain. */
static void put(struct zw_buf *b, const char *key, const char *text)
{
	if (*text == '\0')
		return;
	zw_buf_addf(b, ", \"%s\": \"", key);
	for (; *text != '\0'; text++)
		zw_buf_addf(b, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
	zw_buf_addf(b, "\"");
}

static const char *retry_of(const struct sup_refusal *r)
{
	if (r->by == ZW_BY_TIMEOUT)
		return "nobody answered in time; the user can answer a later try";
	if (r->by == ZW_BY_NO_TERMINAL)
		return "nobody can be asked in this session; go on without it";
	if (r->by == ZW_BY_LIMIT)
		return "a limit was reached; try again later, more slowly";
	if (r->by == ZW_BY_FAULT)
		return "zwatch could not decide; one more try is reasonable";
	return "will be refused again until the user changes it; do not work around it";
}

static void put_refusal(struct zw_buf *b, const struct sup_refusal *r)
{
	zw_buf_addf(b, "{\"event\": %llu, \"time_us\": %lld, \"kind\": \"%s\", \"count\": %u",
		    (unsigned long long)r->event, (long long)r->t_us,
		    r->kind == POL_KIND_SOCKET ? "unix" : "net", r->n);
	put(b, "target", r->target);
	put(b, "program", r->program);
	put(b, "by", zw_by_word(r->by));
	if (r->rule != 0)
		zw_buf_addf(b, ", \"rule\": %u", r->rule);
	put(b, "reason", r->reason);
	put(b, "note", r->note);
	put(b, "retry", retry_of(r));
	zw_buf_addf(b, "}");
}

char *sup_why_text(const struct sup *s)
{
	size_t n = s->n_refusals < SUP_REFUSALS_MAX ? s->n_refusals : SUP_REFUSALS_MAX;
	struct zw_buf b;

	zw_buf_init(&b, TEXT_MAX_B);
	zw_buf_addf(&b, "{\"schema\": 1, \"refused\": [");
	for (size_t i = 0; i < n; i++) {
		zw_buf_addf(&b, i > 0 ? ",\n " : "\n ");
		put_refusal(&b, &s->refusals[(s->n_refusals - 1 - i) % SUP_REFUSALS_MAX]);
	}
	zw_buf_addf(&b, "]}\n");
	char *text = zw_xmemdup0(zw_buf_head(&b), b.len);
	zw_buf_fini(&b);
	return text;
}

static void on_caller(int fd, unsigned what, void *arg)
{
	struct sup *s = arg;

	(void)what;
	zw_autoclose int caller = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (caller < 0)
		return;
	zw_autofree char *text = sup_why_text(s);
	/* It fits into the socket's buffer; whoever does not take it goes without. */
	(void)send(caller, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void sup_why_start(struct sup *s)
{
	int fd = s->sandbox.net[SB_NET_WHY];

	if (fd >= 0)
		s->why_io = zev_io_new(s->loop, fd, ZEV_READ, on_caller, s);
}

void sup_why_fini(struct sup *s)
{
	zev_io_free(zw_steal(&s->why_io));
}
