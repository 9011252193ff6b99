/* SPDX-License-Identifier: MIT
 * The real zwatch-resolver against real name servers on loopback, started by resolver.sh.
 *
 *   res_driver BIN UPSTREAMS TIMEOUT_MS NAME[/TYPE]=EXPECTED...
 *
 * EXPECTED: status word [addresses] [+cnames] [=records], joined by `,`; `fails` is either way of it;
 * `~TEXT` must be in the detail of a failure; `<MS` or `>MS` bounds the time. TYPE: a number of DNS.
 * ZW_ANCHORS: file of trust anchors. Or `burst=N`: N names n0.zw.test … at once. */
#include <arpa/inet.h>
#include <stdio.h>

#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/words.h"
#include "tests/net/super.h"

/* A record as text: numbers of two bytes before a name, or whatever is printable. */
static void record_describe(struct zw_buf *b, unsigned type, const uint8_t *p, size_t len)
{
	size_t at = 0, n_numbers = type == 15 ? 1 : type == 33 ? 3 : 0;

	zw_buf_addf(b, ",=");
	for (size_t i = 0; i < n_numbers; i++, at += 2)
		zw_buf_addf(b, "%u ", (unsigned)p[at] << 8 | p[at + 1]);
	if (type == 12 || type == 15 || type == 33) {
		for (; at < len && p[at] != 0; at += 1 + (size_t)p[at])
			zw_buf_addf(b, "%.*s.", p[at], p + at + 1);
		return;
	}
	for (; at < len; at++)
		zw_buf_addf(b, "%c", p[at] > 0x20 && p[at] < 0x7f ? p[at] : '_');
}

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Sorted: servers turn them round. */
static void records_describe(struct zw_buf *out, unsigned type, const uint8_t *p, size_t len)
{
	static char texts[64][300];
	size_t n_texts = 0;

	for (size_t i = 0; i + 2 <= len && n_texts < ZW_N_ELEMENTS(texts);) {
		size_t n = (size_t)p[i] << 8 | p[i + 1];
		struct zw_buf b;

		zw_buf_init(&b, 8192);
		record_describe(&b, type, p + i + 2, n);
		zw_span_cpy(texts[n_texts++], sizeof(texts[0]), zw_span_n(zw_buf_head(&b), b.len));
		zw_buf_fini(&b);
		i += 2 + n;
	}
	qsort(texts, n_texts, sizeof(texts[0]), compare);
	for (size_t i = 0; i < n_texts; i++)
		zw_buf_addf(out, "%s", texts[i]);
}

static void describe(const struct zw_msg_res_answer *a, unsigned type, char *out, size_t size)
{
	struct zw_buf b;

	zw_buf_init(&b, 8192);
	if (a == NULL)
		zw_buf_addf(&b, "no answer at all");
	else {
		zw_buf_addf(&b, "%s", zw_res_status_word(a->status));
		for (size_t i = 0; i + 17 <= a->addrs.len; i += 17) {
			char text[64] = "?";

			inet_ntop(a->addrs.p[i] == 6 ? AF_INET6 : AF_INET, a->addrs.p + i + 1, text,
				  sizeof(text));
			zw_buf_addf(&b, ",%s", text);
		}
		for (size_t i = 0; i < a->cnames.len;
		     i += strnlen(a->cnames.p + i, a->cnames.len - i) + 1)
			zw_buf_addf(&b, ",+%.*s", (int)(a->cnames.len - i), a->cnames.p + i);
		records_describe(&b, type, (const uint8_t *)a->records.p, a->records.len);
	}
	zw_buf_add(&b, "", 1);
	zw_strlcpy(out, (char *)zw_buf_head(&b), size);
	zw_buf_fini(&b);
}

static bool is_failure(unsigned status)
{
	return status == ZW_RES_STATUS_FAILED || status == ZW_RES_STATUS_TIMEOUT;
}

/* Many names at once: every one is answered, by whichever way it goes. */
static bool burst(struct tsuper *t, unsigned n)
{
	unsigned n_good = 0;

	t->n_answers = t->n_ok = 0;
	zw_chan_cork(t->resolver, true);
	for (unsigned i = 0; i < n; i++) {
		char name[64];

		snprintf(name, sizeof(name), "n%u.zw.test", i);
		zw_send(t->resolver, res_query, .query = 1000 + i, .name = zw_span(name));
	}
	zw_chan_cork(t->resolver, false);
	for (int64_t end = zw_mono_ms() + 15000; t->n_answers < n && zw_mono_ms() < end;)
		tsuper_idle(t, 1);
	n_good = t->n_ok;
	printf("%s %u names at once: %u answered, %u well\n", n_good == n ? "ok  " : "FAIL", n,
	       t->n_answers, n_good);
	return n_good == n;
}

static bool one(struct tsuper *t, const char *arg)
{
	char name[300], want[1024], got[8192];
	const char *eq = strchr(arg, '=');
	int64_t min_ms = 0, max_ms = INT64_MAX;

	zw_span_cpy(name, sizeof(name), zw_span_n(arg, (size_t)(eq - arg)));
	zw_strlcpy(want, eq + 1, sizeof(want));
	char *slash = strchr(name, '/');
	unsigned type = slash != NULL ? (unsigned)atoi(slash + 1) : 0;
	if (slash != NULL)
		*slash = '\0';
	const char *why = "";
	char *tilde = strchr(want, '~');
	if (tilde != NULL) {
		*tilde = '\0';
		why = tilde + 1;
	}
	char *bound = strpbrk(want, "<>");
	if (bound != NULL) {
		*(*bound == '<' ? &max_ms : &min_ms) = atoi(bound + 1);
		*bound = '\0';
	}
	int64_t t0 = zw_mono_ms();
	const struct zw_msg_res_answer *a = tsuper_lookup(t, name, type, 15000);
	int64_t ms = zw_mono_ms() - t0;
	describe(a, type, got, sizeof(got));
	zw_autofree char *detail = a != NULL ? zw_span_dup(a->detail) : zw_xstrdup("");
	bool is_wanted = strcmp(want, "fails") == 0 ? a != NULL && is_failure(a->status)
						    : strcmp(got, want) == 0;
	bool is_good = is_wanted && strstr(detail, why) != NULL && ms >= min_ms && ms <= max_ms;
	printf("%s %s: %s in %lld ms (%s)%s%s\n", is_good ? "ok  " : "FAIL", name, got,
	       (long long)ms, detail, is_good ? "" : ", wanted ", is_good ? "" : eq + 1);
	return is_good;
}

int main(int argc, char **argv)
{
	static struct tsuper t;
	bool is_good = true;

	setvbuf(stdout, NULL, _IOLBF, 0);
	tsuper_init(&t);
	t.anchors = getenv("ZW_ANCHORS");
	int64_t t0 = zw_mono_ms();
	tsuper_resolver_start(&t, argv[1], argv[2], (unsigned)atoi(argv[3]));
	if (!tsuper_wait(&t, &t.is_resolver_ready, 10000)) {
		printf("FAIL the resolver is not ready\n");
		return 1;
	}
	printf("     ready in %lld ms\n", (long long)(zw_mono_ms() - t0));
	for (int i = 4; i < argc; i++)
		is_good &= zw_starts_with(argv[i], "burst=")
				   ? burst(&t, (unsigned)atoi(argv[i] + 6))
				   : one(&t, argv[i]);
	is_good &= tsuper_fini(&t);
	return is_good ? 0 : 1;
}
