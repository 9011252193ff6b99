/* SPDX-License-Identifier: MIT
 * The real zwatch-resolver against real name servers on loopback, started by resolver.sh.
 *
 *   res_driver BIN UPSTREAMS TIMEOUT_MS NAME=EXPECTED...
 *
 * EXPECTED: status word [addresses] [+cnames], joined by `,`; `<MS` or `>MS` bounds the time. Or
 * `many=N`: N names n0 … at once. */
#include <arpa/inet.h>
#include <stdio.h>

#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/words.h"
#include "tests/net/super.h"

static void describe(const struct zw_msg_res_answer *a, char *out, size_t size)
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
	}
	zw_buf_add(&b, "", 1);
	zw_strlcpy(out, (char *)zw_buf_head(&b), size);
	zw_buf_fini(&b);
}

static bool one(struct tsuper *t, const char *arg)
{
	char name[300], want[1024], got[8192];
	const char *eq = strchr(arg, '=');
	int64_t min_ms = 0, max_ms = INT64_MAX;

	zw_span_cpy(name, sizeof(name), zw_span_n(arg, (size_t)(eq - arg)));
	zw_strlcpy(want, eq + 1, sizeof(want));
	char *bound = strpbrk(want, "<>");
	if (bound != NULL) {
		*(*bound == '<' ? &max_ms : &min_ms) = atoi(bound + 1);
		*bound = '\0';
	}
	int64_t t0 = zw_mono_ms();
	const struct zw_msg_res_answer *a = tsuper_lookup(t, name, 15000);
	int64_t ms = zw_mono_ms() - t0;
	describe(a, got, sizeof(got));
	bool is_good = strcmp(got, want) == 0 && ms >= min_ms && ms <= max_ms;
	printf("%s %s: %s in %lld ms (%.*s)%s%s\n", is_good ? "ok  " : "FAIL", name, got,
	       (long long)ms, a != NULL ? (int)a->detail.len : 0, a != NULL ? a->detail.p : "",
	       is_good ? "" : ", wanted ", is_good ? "" : eq + 1);
	return is_good;
}

int main(int argc, char **argv)
{
	static struct tsuper t;
	bool is_good = true;

	setvbuf(stdout, NULL, _IOLBF, 0);
	tsuper_init(&t);
	int64_t t0 = zw_mono_ms();
	tsuper_resolver_start(&t, argv[1], argv[2], (unsigned)atoi(argv[3]));
	if (!tsuper_wait(&t, &t.is_resolver_ready, 10000)) {
		printf("FAIL the resolver is not ready\n");
		return 1;
	}
	printf("     ready in %lld ms\n", (long long)(zw_mono_ms() - t0));
	for (int i = 4; i < argc; i++)
		is_good &= one(&t, argv[i]);
	is_good &= tsuper_fini(&t);
	return is_good ? 0 : 1;
}
