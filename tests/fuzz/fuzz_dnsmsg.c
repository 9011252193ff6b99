/* SPDX-License-Identifier: MIT
 * DNS. Invariants: a reply fits and carries the question; a name that was read is written back as
 * the same bytes, letter case aside. */
#include <assert.h>

#include "proxy/dnsmsg.h"
#include "src/base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_name(const uint8_t *data, size_t size, size_t off)
{
	char name[POL_HOST_MAX + 1], again[POL_HOST_MAX + 1];
	uint8_t wire[12 + PX_DNS_NAME_WIRE_MAX] = {0};
	size_t end = 0;
	int n;

	if (px_dns_name_read(data, size, off, name, &end) != 0)
		return;
	assert(end > off && end <= size && strlen(name) <= POL_HOST_MAX);
	n = px_dns_name_write(name, wire + 12);
	assert(n > 0 && px_dns_name_read(wire, 12 + (size_t)n, 12, again, &end) == 0);
	assert(end == 12 + (size_t)n && strcmp(name, again) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct pol_addr v6 = {POL_FAMILY_V6, {0x20, 1}};
	uint8_t out[PX_DNS_REPLY_MAX];
	struct px_dns_query q;
	struct zw_span msg;

	for (size_t off = 0; off < size && off < 64; off++)
		check_name(data, size, off);
	if (px_dns_frame(data, size, &msg) > 0)
		assert(msg.len > 0 && msg.len <= PX_DNS_QUERY_MAX);
	if (size > 4) {
		uint8_t big[PX_DNS_RECORDS_MAX];
		struct px_dns_query any = {.type = PX_DNS_TXT, .has_edns = data[0] & 1};
		size_t max = data[1] & 1 ? sizeof(big) : PX_DNS_REPLY_MAX;

		assert(px_dns_records_write(&any, data, size, 60, big, max) <= max);
		struct pol_addr addr;
		char text[POL_HOST_MAX + 1];
		zw_span_cpy(text, sizeof(text), zw_span_n(data, size));
		if (px_dns_reverse_addr(text, &addr))
			assert(addr.family != POL_FAMILY_NONE);
	}
	if (px_dns_query_parse(data, size, &q) < 0)
		return 0;
	assert(q.question_len_b <= sizeof(q.question));
	size_t n = px_dns_reply_write(&q, q.rcode, &v6, 1, out);
	assert(n >= 12 && n <= sizeof(out));
	assert(memcmp(out, data, 2) == 0 && out[2] & 0x80);
	assert(memcmp(out + 12, data + 12, q.question_len_b) == 0);
	if (q.rcode == PX_DNS_NOERROR) {
		struct px_dns_query back;

		/* the question alone, asked again, is the same question */
		assert(q.question_len_b > 4);
		out[2] &= 0x7f;
		out[3] = out[6] = out[7] = out[10] = out[11] = 0;
		assert(px_dns_query_parse(out, 12 + q.question_len_b, &back) == 0);
		assert(back.rcode == PX_DNS_NOERROR && pol_host_eq(&q.host, &back.host));
	}
	return 0;
}
