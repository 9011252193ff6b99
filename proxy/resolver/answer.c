/* SPDX-License-Identifier: MIT */
#include "proxy/resolver/answer.h"

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/words.h"

#define RCODE_NXDOMAIN 3

/* Bounds of a time to live: no record pins a name for a day, none makes every connection ask. */
#define TTL_MIN_S	   5
#define TTL_MAX_S	   3600
#define TTL_NEGATIVE_MAX_S 60

static uint32_t clamp(uint32_t v, uint32_t low, uint32_t high)
{
	return v < low ? low : v > high ? high : v;
}

static void lower_ttl(uint32_t *ttl_s, uint32_t other_s)
{
	if (other_s < *ttl_s)
		*ttl_s = other_s;
}

static const struct res_rr *cname_of(const struct res_reply *reply, const char *owner)
{
	for (size_t i = 0; i < reply->n_rrs; i++)
		if (reply->rrs[i].type == RES_TYPE_CNAME && strcmp(reply->rrs[i].owner, owner) == 0)
			return &reply->rrs[i];
	return NULL;
}

/* The name at the end of the chain, or NULL: too long, a loop included. */
static const char *chain_follow(const struct res_reply *reply, const char *name,
				struct res_result *ret)
{
	const struct res_rr *rr;
	unsigned n_hops = 0;

	while ((rr = cname_of(reply, name)) != NULL) {
		size_t len = strlen(rr->target) + 1;

		if (++n_hops > RES_CNAMES_MAX || ret->cnames_len_b + len > RES_CNAMES_MAX_B)
			return NULL;
		memcpy(ret->cnames + ret->cnames_len_b, rr->target, len);
		ret->cnames_len_b += len;
		lower_ttl(&ret->ttl_s, rr->ttl_s);
		name = rr->target;
	}
	return name;
}

bool res_type_is_known(unsigned type)
{
	switch (type) {
	case RES_TYPE_ADDR:
	case RES_TYPE_PTR:
	case RES_TYPE_MX:
	case RES_TYPE_TXT:
	case RES_TYPE_SRV:
	case RES_TYPE_CAA:
		return true;
	default:
		return false;
	}
}

/* Puts a record at the end of the chain into the result, if there is room. */
static void record_add(const struct res_reply *reply, const struct res_rr *rr,
		       struct res_result *ret)
{
	uint8_t *at = ret->records + ret->records_len_b;

	if (rr->data_len + 2 > sizeof(ret->records) - ret->records_len_b)
		return;
	at[0] = (uint8_t)(rr->data_len >> 8);
	at[1] = (uint8_t)rr->data_len;
	memcpy(at + 2, reply->data + rr->data_off, rr->data_len);
	ret->records_len_b += rr->data_len + 2;
}

static void result_fail(struct res_result *ret)
{
	ret->status = ZW_RES_STATUS_FAILED;
	ret->ttl_s = 0;
	ret->n_addrs = ret->cnames_len_b = ret->records_len_b = 0;
}

void res_answer_read(const struct res_reply *reply, const char *name, enum res_type type,
		     struct res_result *ret)
{
	*ret = (struct res_result){.status = ZW_RES_STATUS_OK, .ttl_s = TTL_MAX_S};
	if (reply->error != 0 || (reply->rcode != 0 && reply->rcode != RCODE_NXDOMAIN)) {
		result_fail(ret);
		ret->why = reply->error != 0 ? reply->why : "the server says it failed";
		if (reply->error == ZW_E_TIMEOUT)
			ret->status = ZW_RES_STATUS_TIMEOUT;
		return;
	}
	const char *end = chain_follow(reply, name, ret);
	if (end == NULL) {
		result_fail(ret);
		ret->why = "the chain of aliases has no end";
		return;
	}
	for (size_t i = 0; i < reply->n_rrs && ret->n_addrs < RES_ADDRS_MAX; i++) {
		const struct res_rr *rr = &reply->rrs[i];

		if (rr->type != type || strcmp(rr->owner, end) != 0)
			continue;
		if (type == RES_TYPE_A || type == RES_TYPE_AAAA)
			ret->addrs[ret->n_addrs++] = rr->addr;
		else
			record_add(reply, rr, ret);
		lower_ttl(&ret->ttl_s, rr->ttl_s);
	}
	if (ret->n_addrs == 0 && ret->records_len_b == 0) {
		ret->status = reply->rcode == RCODE_NXDOMAIN ? ZW_RES_STATUS_NO_NAME
							     : ZW_RES_STATUS_NO_DATA;
		lower_ttl(&ret->ttl_s, clamp(reply->negative_ttl_s, TTL_MIN_S, TTL_NEGATIVE_MAX_S));
	}
	/* The names of the chain are separated, not ended, by NUL. */
	if (ret->cnames_len_b > 0)
		ret->cnames_len_b--;
	ret->ttl_s = clamp(ret->ttl_s, TTL_MIN_S, TTL_MAX_S);
}

static void add_addrs(struct res_result *to, const struct res_result *from)
{
	for (size_t i = 0; i < from->n_addrs && to->n_addrs < RES_ADDRS_MAX; i++)
		to->addrs[to->n_addrs++] = from->addrs[i];
	if (from->n_addrs > 0)
		lower_ttl(&to->ttl_s, from->ttl_s);
}

static bool has_failed(const struct res_result *r)
{
	return r->status == ZW_RES_STATUS_FAILED || r->status == ZW_RES_STATUS_TIMEOUT;
}

void res_answer_merge(const struct res_result *a, const struct res_result *aaaa,
		      struct res_result *ret)
{
	/* Both chains are the same in every sane zone; the longer one is reported. */
	const struct res_result *longer = aaaa->cnames_len_b > a->cnames_len_b ? aaaa : a;

	if (a->n_addrs == 0 && aaaa->n_addrs == 0) {
		*ret = has_failed(a) ? *a : has_failed(aaaa) ? *aaaa : *a;
		if (ret->status == ZW_RES_STATUS_NO_NAME && aaaa->status == ZW_RES_STATUS_NO_DATA)
			ret->status = ZW_RES_STATUS_NO_DATA;
		return;
	}
	struct res_result r = {.status = ZW_RES_STATUS_OK, .ttl_s = TTL_MAX_S};
	add_addrs(&r, a);
	add_addrs(&r, aaaa);
	/* Half an answer is good for this connection, not for the next hour. */
	if (has_failed(a) || has_failed(aaaa))
		lower_ttl(&r.ttl_s, TTL_MIN_S);
	r.cnames_len_b = longer->cnames_len_b;
	memcpy(r.cnames, longer->cnames, longer->cnames_len_b);
	*ret = r;
}
