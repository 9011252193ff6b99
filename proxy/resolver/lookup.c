/* SPDX-License-Identifier: MIT */
#include "proxy/resolver/lookup.h"

#include <stdbool.h>
#include <sys/queue.h>

#include "proxy/resolver/cache.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/base/words.h"

#define CACHE_MAX   4096
#define OPEN_MAX    1024 /* names being looked up */
#define WAITING_MAX 4096 /* queries that wait for one name */
/* Of them below one domain: the servers of a dead one must not hold up the names of all others. */
#define OPEN_DOMAIN_MAX 48

/* A server that has not answered after this gets company by the next one. */
#define HEDGE_MS 800
/* With addresses of one family here, the other may take so much longer (RFC 8305, section 3, is
 * stricter: there the application dials meanwhile). */
#define OTHER_FAMILY_MS 300
/* A server that failed is asked last for so long. */
#define BAD_MS 5000
/* All failed: once more after this, since a connection that broke or a backoff heals in a second. */
static const int64_t round_pause_ms[] = {300, 1100};

enum { HALF_A, HALF_AAAA, N_HALVES };

struct lookup;

/* One server asked for both types. Lives until both have been answered, even without a lookup. */
struct attempt {
	LIST_ENTRY(attempt) of_lookup;
	struct lookup *lookup; /* NULL once nobody wants it */
	size_t source;
	unsigned n_pending, n_halves;
	struct half {
		struct attempt *attempt;
		enum res_type type;
		bool is_done;
		struct res_result result;
	} halves[N_HALVES];
};

/* A domain with lookups that are open. */
struct domain {
	struct zw_map_node node;
	unsigned n;
	char name[RES_NAME_MAX + 1];
};

struct lookup {
	struct zw_map_node node;
	struct domain *domain;
	LIST_ENTRY(lookup) open;
	struct res_lookups *all;
	enum res_type type;
	const char *zone; /* of the servers that are asked; borrowed from a source */
	char name[RES_NAME_MAX + 1];
	char key[RES_NAME_MAX + 3];
	uint64_t *queries; /* owned */
	size_t n_queries;
	LIST_HEAD(, attempt) attempts;
	bool asked[RES_UPSTREAMS_MAX]; /* in this round */
	unsigned n_running, n_rounds;
	bool is_over;
	const struct attempt *half_ready;   /* has addresses of one family */
	const char *failed_at, *failed_why; /* the last server that failed */
	unsigned failed_how;
	struct zev_timer *deadline, *step; /* owned; step: hedge or pause of a round */
	struct zev_timer *other_family;
};

struct res_lookups {
	struct zev_loop *loop;
	struct res_source sources[RES_UPSTREAMS_MAX];
	int64_t bad_until_ms[RES_UPSTREAMS_MAX];
	size_t n_sources;
	unsigned timeout_ms;
	void (*on_answer)(void *arg, uint64_t query, const struct res_result *result,
			  const char *detail);
	void *arg;
	struct zw_map by_name, domains;
	LIST_HEAD(, lookup) open;
	struct res_cache *cache;
};

static void step(struct lookup *l);

/* The last two labels of a name, or three where the second is as short as those of registries are
 * (co.uk). */
static const char *domain_of(const char *name)
{
	const char *at = name + strlen(name);
	unsigned n_labels = 0;

	while (at > name) {
		const char *end = at;

		while (at > name && at[-1] != '.')
			at--;
		if (++n_labels >= 3 || (n_labels == 2 && end - at > 3) || at == name)
			return at;
		at--;
	}
	return name;
}

static struct domain *domain_find(struct res_lookups *all, const char *name)
{
	const char *key = domain_of(name);
	struct zw_map_node *n = zw_map_find(&all->domains, key, strlen(key));

	return n != NULL ? zw_map_entry(n, struct domain, node) : NULL;
}

static struct domain *domain_enter(struct res_lookups *all, const char *name)
{
	struct domain *d = domain_find(all, name);

	if (d == NULL) {
		d = zw_xnew(struct domain);
		zw_strlcpy(d->name, domain_of(name), sizeof(d->name));
		zw_map_add(&all->domains, &d->node, d->name, strlen(d->name));
	}
	d->n++;
	return d;
}

static void domain_leave(struct res_lookups *all, struct domain *d)
{
	if (--d->n > 0)
		return;
	zw_map_remove(&all->domains, &d->node);
	free(d);
}

static bool domain_is_full(struct res_lookups *all, const char *name)
{
	const struct domain *d = domain_find(all, name);

	return d != NULL && d->n >= OPEN_DOMAIN_MAX;
}

static void attempt_detach(struct attempt *a)
{
	LIST_REMOVE(a, of_lookup);
	a->lookup = NULL;
	if (a->n_pending == 0)
		free(a);
}

/* The timers may be the caller: freed at the end of the turn. */
static void on_lookup_dead(void *arg)
{
	struct lookup *l = arg;

	zev_timer_free(l->deadline);
	zev_timer_free(l->step);
	zev_timer_free(l->other_family);
	free(l->queries);
	free(l);
}

static void lookup_close(struct lookup *l)
{
	struct attempt *a;

	l->is_over = true;
	while ((a = LIST_FIRST(&l->attempts)) != NULL)
		attempt_detach(a);
	zev_timer_stop(l->deadline);
	zev_timer_stop(l->step);
	zev_timer_stop(l->other_family);
	zw_map_remove(&l->all->by_name, &l->node);
	domain_leave(l->all, l->domain);
	LIST_REMOVE(l, open);
	zev_defer(l->all->loop, on_lookup_dead, l);
}

static void finish(struct lookup *l, const struct res_result *r, const char *detail)
{
	struct res_lookups *all = l->all;

	if (l->is_over)
		return;
	res_cache_put(all->cache, l->name, l->type, r, zw_mono_ms());
	lookup_close(l);
	for (size_t i = 0; i < l->n_queries; i++)
		all->on_answer(all->arg, l->queries[i], r, detail);
}

static void finish_failed(struct lookup *l, unsigned status)
{
	struct res_result *r = zw_xnew(struct res_result);
	char detail[256] = "";

	r->status = status;
	if (l->failed_at != NULL)
		snprintf(detail, sizeof(detail), "%s: %s", l->failed_at,
			 l->failed_how == ZW_RES_STATUS_TIMEOUT ? "no answer in time"
			 : l->failed_why != NULL		? l->failed_why
								: "not reached, or not proven");
	finish(l, r, detail);
	free(r);
}

/* -- servers ------------------------------------------------------------------------------------ */

static void attempt_failed(struct attempt *a, unsigned how, const char *why)
{
	struct lookup *l = a->lookup;
	struct res_lookups *all = l->all;

	all->bad_until_ms[a->source] = zw_mono_ms() + BAD_MS;
	l->failed_at = all->sources[a->source].text;
	l->failed_how = how;
	l->failed_why = why;
	l->n_running--;
	attempt_detach(a);
	step(l);
}

static void attempt_concluded(struct attempt *a)
{
	struct lookup *l = a->lookup;
	struct res_result *r = zw_xnew(struct res_result);

	/* A half that is not there yet counts as failed: the other one is good for now. */
	for (size_t i = 0; i < a->n_halves; i++)
		if (!a->halves[i].is_done)
			a->halves[i].result.status = ZW_RES_STATUS_TIMEOUT;
	if (a->n_halves == N_HALVES)
		res_answer_merge(&a->halves[HALF_A].result, &a->halves[HALF_AAAA].result, r);
	else
		*r = a->halves[0].result;
	if (r->status == ZW_RES_STATUS_FAILED || r->status == ZW_RES_STATUS_TIMEOUT) {
		attempt_failed(a, r->status, r->why);
	} else {
		l->all->bad_until_ms[a->source] = 0;
		finish(l, r, "");
	}
	free(r);
}

static void on_other_family(void *arg)
{
	struct lookup *l = arg;
	struct attempt *a;

	LIST_FOREACH (a, &l->attempts, of_lookup)
		if (a == l->half_ready) {
			attempt_concluded(a);
			return;
		}
}

static void on_reply(void *arg, const struct res_reply *reply)
{
	struct half *h = arg;
	struct attempt *a = h->attempt;
	struct lookup *l = a->lookup;

	a->n_pending--;
	if (l == NULL) {
		if (a->n_pending == 0)
			free(a);
		return;
	}
	h->is_done = true;
	res_answer_read(reply, l->name, h->type, &h->result);
	if (a->n_pending == 0) {
		attempt_concluded(a);
	} else if (h->result.n_addrs > 0 && l->half_ready == NULL) {
		l->half_ready = a;
		zev_timer_start(l->other_family, OTHER_FAMILY_MS);
	}
}

static void attempt_start(struct lookup *l, size_t source)
{
	struct attempt *a = zw_xnew(struct attempt);
	const struct res_source *s = &l->all->sources[source];
	static const enum res_type types[N_HALVES] = {RES_TYPE_A, RES_TYPE_AAAA};

	a->lookup = l;
	a->source = source;
	LIST_INSERT_HEAD(&l->attempts, a, of_lookup);
	l->n_running++;
	a->n_halves = l->type == RES_TYPE_ADDR ? N_HALVES : 1;
	for (size_t i = 0; i < a->n_halves; i++) {
		struct half *h = &a->halves[i];

		h->attempt = a;
		h->type = l->type == RES_TYPE_ADDR ? types[i] : l->type;
		a->n_pending++;
		if (s->ask == NULL || s->ask(s->server, l->name, h->type, on_reply, h) < 0) {
			a->n_pending--;
			h->is_done = true;
			h->result.status = ZW_RES_STATUS_FAILED;
		}
	}
	if (a->n_pending == 0)
		attempt_failed(a, ZW_RES_STATUS_FAILED, NULL);
}

/* The next server of this round: good ones in their order, then those that failed lately. */
static int source_next(const struct lookup *l)
{
	int64_t now_ms = zw_mono_ms();

	for (int want_bad = 0; want_bad <= 1; want_bad++)
		for (size_t i = 0; i < l->all->n_sources; i++)
			if (!l->asked[i] && strcmp(l->all->sources[i].zone, l->zone) == 0 &&
			    (l->all->bad_until_ms[i] > now_ms) == (want_bad != 0))
				return (int)i;
	return -1;
}

/* Asks the next server, or ends the round when all have failed. */
static void step(struct lookup *l)
{
	int source = source_next(l);

	if (l->is_over)
		return;
	if (source >= 0) {
		l->asked[source] = true;
		zev_timer_start(l->step, HEDGE_MS);
		attempt_start(l, (size_t)source);
	} else if (l->n_running == 0) {
		if (l->n_rounds >= ZW_N_ELEMENTS(round_pause_ms)) {
			finish_failed(l, l->failed_how != 0 ? l->failed_how : ZW_RES_STATUS_FAILED);
			return;
		}
		memset(l->asked, 0, sizeof(l->asked));
		zev_timer_start(l->step, round_pause_ms[l->n_rounds++]);
	}
}

/* Who has not answered by now is asked last for a while, by other lookups too. */
static void mark_slow(struct lookup *l)
{
	struct attempt *a;

	LIST_FOREACH (a, &l->attempts, of_lookup) {
		l->all->bad_until_ms[a->source] = zw_mono_ms() + BAD_MS;
		l->failed_at = l->all->sources[a->source].text;
		l->failed_how = ZW_RES_STATUS_TIMEOUT;
		l->failed_why = NULL;
	}
}

static void on_step(void *arg)
{
	mark_slow(arg);
	step(arg);
}

static void on_deadline(void *arg)
{
	mark_slow(arg);
	finish_failed(arg, ZW_RES_STATUS_TIMEOUT);
}

/* -- the outside -------------------------------------------------------------------------------- */

struct res_lookups *res_lookups_new(struct zev_loop *loop, const struct res_source *sources,
				    size_t n_sources, unsigned timeout_ms,
				    void (*on_answer)(void *arg, uint64_t query,
						      const struct res_result *result,
						      const char *detail),
				    void *arg)
{
	struct res_lookups *l = zw_xnew(struct res_lookups);

	l->loop = loop;
	l->n_sources = n_sources < RES_UPSTREAMS_MAX ? n_sources : RES_UPSTREAMS_MAX;
	memcpy(l->sources, sources, l->n_sources * sizeof(sources[0]));
	l->timeout_ms = timeout_ms;
	l->on_answer = on_answer;
	l->arg = arg;
	zw_map_init(&l->by_name);
	zw_map_init(&l->domains);
	LIST_INIT(&l->open);
	l->cache = res_cache_new(CACHE_MAX);
	return l;
}

void res_lookups_free(struct res_lookups *l)
{
	struct lookup *one;

	if (l == NULL)
		return;
	while ((one = LIST_FIRST(&l->open)) != NULL)
		lookup_close(one);
	res_cache_free(l->cache);
	zw_map_fini(&l->by_name);
	zw_map_fini(&l->domains);
	free(l);
}

size_t res_lookups_n_open(const struct res_lookups *l)
{
	return l->by_name.n;
}

static void wait_add(struct lookup *l, uint64_t query)
{
	l->queries = zw_xrealloc(l->queries, l->n_queries + 1, sizeof(l->queries[0]));
	l->queries[l->n_queries++] = query;
}

/* The zone of servers that a name belongs to: the longest that it lies in. NULL: there are none. */
static const char *zone_of(const struct res_lookups *all, const char *name)
{
	const char *best = NULL;
	size_t len = strlen(name);

	for (size_t i = 0; i < all->n_sources; i++) {
		const char *zone = all->sources[i].zone;
		size_t z = strlen(zone);

		if ((best != NULL && z <= strlen(best)) || z > len ||
		    strcmp(name + len - z, zone) != 0)
			continue;
		if (z == 0 || z == len || name[len - z - 1] == '.')
			best = zone;
	}
	return best;
}

static void refuse(struct res_lookups *all, uint64_t query, const char *detail)
{
	struct res_result *r = zw_xnew(struct res_result);

	r->status = ZW_RES_STATUS_FAILED;
	all->on_answer(all->arg, query, r, detail);
	free(r);
}

static struct lookup *lookup_new(struct res_lookups *all, const char *name, enum res_type type,
				 const char *zone)
{
	struct lookup *l = zw_xnew(struct lookup);

	l->all = all;
	l->type = type;
	l->zone = zone;
	zw_strlcpy(l->name, name, sizeof(l->name));
	LIST_INIT(&l->attempts);
	l->deadline = zev_timer_new(all->loop, on_deadline, l);
	l->step = zev_timer_new(all->loop, on_step, l);
	l->other_family = zev_timer_new(all->loop, on_other_family, l);
	l->domain = domain_enter(all, name);
	size_t key_len = res_key_write(name, type, l->key);
	zw_map_add(&all->by_name, &l->node, l->key, key_len);
	LIST_INSERT_HEAD(&all->open, l, open);
	return l;
}

/* The caller has made the name canonical; this keeps a mistake there from reaching a library. */
static bool is_host_name(const char *name, size_t len)
{
	return len > 0 && len <= RES_NAME_MAX &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == len;
}

void res_lookup_start(struct res_lookups *all, uint64_t query, const char *name, enum res_type type)
{
	struct res_result *cached = zw_xnew(struct res_result);
	size_t len = strlen(name);

	if (!is_host_name(name, len)) {
		refuse(all, query, "not a host name");
	} else if (res_cache_get(all->cache, name, type, zw_mono_ms(), cached)) {
		all->on_answer(all->arg, query, cached, "");
	} else {
		char key[RES_NAME_MAX + 3];
		size_t key_len = res_key_write(name, type, key);
		const char *zone = zone_of(all, name);
		struct zw_map_node *n = zw_map_find(&all->by_name, key, key_len);
		struct lookup *l = n != NULL ? zw_map_entry(n, struct lookup, node) : NULL;

		if (zone == NULL) {
			refuse(all, query, "no upstream that zwatch can ask is set");
		} else if (l != NULL && l->n_queries < WAITING_MAX) {
			wait_add(l, query);
		} else if (l != NULL || all->by_name.n >= OPEN_MAX) {
			refuse(all, query, "too many lookups at once");
		} else if (domain_is_full(all, name)) {
			refuse(all, query, "too many lookups at once below one domain");
		} else {
			l = lookup_new(all, name, type, zone);
			wait_add(l, query);
			zev_timer_start(l->deadline, all->timeout_ms);
			step(l);
		}
	}
	free(cached);
}
