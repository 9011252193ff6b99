/* SPDX-License-Identifier: MIT
 * Replies of servers outside. Invariants: what is kept lies within its bounds and is well-formed; a
 * result never has an address or a record that does not stand at the end of the chain. */
#include <assert.h>

#include "proxy/dnsmsg.h"
#include "proxy/resolver/wire.h"
#include "src/base/mem.h"
#include "src/base/words.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_reply(const struct res_reply *r)
{
	assert(r->error == 0 && r->n_rrs <= RES_RRS_MAX && r->data_len <= sizeof(r->data));
	for (size_t i = 0; i < r->n_rrs; i++) {
		const struct res_rr *rr = &r->rrs[i];
		uint8_t out[1024 + RES_DATA_MAX];

		assert(strlen(rr->owner) <= RES_NAME_MAX && strlen(rr->target) <= RES_NAME_MAX);
		assert(rr->data_off + rr->data_len <= r->data_len);
		/* Data that was rebuilt is read again as the same. */
		if (rr->data_len == 0 || rr->type == RES_TYPE_A || rr->type == RES_TYPE_AAAA)
			continue;
		uint8_t msg[12 + RES_DATA_MAX] = {0};
		memcpy(msg + 12, r->data + rr->data_off, rr->data_len);
		int n = res_wire_data(msg, 12 + rr->data_len, 12, rr->data_len, rr->type, out,
				      sizeof(out));
		assert(n == (int)rr->data_len && memcmp(out, msg + 12, rr->data_len) == 0);
	}
}

static void check_result(const struct res_result *r)
{
	size_t at = 0;

	assert(r->n_addrs <= RES_ADDRS_MAX && r->cnames_len_b < RES_CNAMES_MAX_B);
	assert(r->records_len_b <= sizeof(r->records));
	while (at < r->records_len_b)
		at += 2 + ((size_t)r->records[at] << 8 | r->records[at + 1]);
	assert(at == r->records_len_b);
	if (r->n_addrs > 0 || r->records_len_b > 0)
		assert(r->status == ZW_RES_STATUS_OK && r->ttl_s >= 5 && r->ttl_s <= 3600);
}

/* The question that the message itself says it answers, so that most inputs get past it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct res_reply reply;
	static struct res_result a, b, both;
	char name[POL_HOST_MAX + 1];
	size_t end = 0;

	if (size < 13 || px_dns_name_read(data, size, 12, name, &end) < 0 || size - end < 4)
		return 0;
	enum res_type type = (enum res_type)(data[end] << 8 | data[end + 1]);
	if (res_wire_reply(data, size, name, type, data[0], &reply) < 0)
		return 0;
	check_reply(&reply);
	res_answer_read(&reply, name, type, &a);
	check_result(&a);
	res_answer_read(&reply, name, RES_TYPE_AAAA, &b);
	res_answer_merge(&a, &b, &both);
	assert(both.n_addrs <= RES_ADDRS_MAX);
	uint8_t query[RES_WIRE_QUERY_MAX];
	if (name[0] != '\0') {
		int n = res_wire_query(name, type, query);
		struct px_dns_query q;

		/* What is asked outside is what the server inside would take. */
		assert(n > 0 && n % 128 == 0 && px_dns_query_parse(query, (size_t)n, &q) == 0);
		assert(q.rcode == PX_DNS_NOERROR || q.rcode == PX_DNS_REFUSED);
		assert(q.type == (uint16_t)type);
	}
	return 0;
}
