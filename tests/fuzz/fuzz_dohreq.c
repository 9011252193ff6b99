/* SPDX-License-Identifier: MIT
 * Requests of DNS over HTTPS. Input: method, target, content type and body, each behind a line end.
 * Invariants: a status is one of a few; 200 comes with a message that fits; a question out of a name
 * is one that the own codec takes and reads as that name. */
#include <assert.h>

#include "proxy/dohreq.h"
#include "src/base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct zw_span line_take(const uint8_t **p, size_t *len)
{
	const uint8_t *end = *len > 0 ? memchr(*p, '\n', *len) : NULL;
	size_t n = end != NULL ? (size_t)(end - *p) : *len;
	struct zw_span s = zw_span_n(*p, n);

	n += end != NULL;
	*p += n;
	*len -= n;
	return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct px_dohreq_question question;
	struct px_dohreq r = {.accept = zw_span("")};
	struct px_dns_query q;

	if (size == 0)
		return 0;
	r.method = line_take(&data, &size);
	r.target = line_take(&data, &size);
	r.content_type = line_take(&data, &size);
	r.body = zw_span_n(data, size);
	int status = px_dohreq_parse(&r, &question);
	assert(status == 200 || status == 400 || status == 404 || status == 405 || status == 413 ||
	       status == 415);
	if (status != 200)
		return 0;
	assert(question.len >= 12 && question.len <= sizeof(question.wire));
	int e = px_dns_query_parse(question.wire, question.len, &q);
	if (question.is_json) {
		struct zw_buf out;

		assert(e == 0 && q.rcode != PX_DNS_FORMERR);
		zw_buf_init(&out, 4096);
		struct pol_addr addr = {.family = POL_FAMILY_V4, .b = {198, 18, 0, 1}};
		(void)px_doh_json_write(&q, PX_DNS_NOERROR, &addr, 1, "a \"quoted\" word", &out);
		zw_buf_fini(&out);
	}
	return 0;
}
