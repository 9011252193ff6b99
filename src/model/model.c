/* SPDX-License-Identifier: MIT */
#include "src/model/model.h"

#include "src/base/mask.h"
#include "src/base/mem.h"
#include "src/base/vis.h"

#define COMMAND_MAX    2048
#define PATH_SHOWN_MAX 4096

static char *empty(void)
{
	return zw_xstrdup("");
}

static void proc_init(struct mdl_proc *p)
{
	*p = (struct mdl_proc){
		.exe = empty(), .command = empty(), .cwd = empty(), .chain = empty()};
}

static void proc_fini(struct mdl_proc *p)
{
	free(p->exe);
	free(p->command);
	free(p->cwd);
	free(p->chain);
}

static void conn_free(struct mdl_conn *c)
{
	free(c->host);
	free(c->address);
	free(c->reason);
	free(c->end);
	proc_fini(&c->proc);
	free(c);
}

static void sock_free(struct mdl_sock *k)
{
	free(k->target);
	free(k->raw_target);
	free(k->asked);
	free(k->class_name);
	free(k->reason);
	proc_fini(&k->proc);
	free(k);
}

static void ask_free(struct mdl_ask *a)
{
	char *const strings[] = {a->class_name, a->title,   a->wants,  a->consequence,
				 a->safer,	a->word,    a->target, a->asked,
				 a->owner,	a->answers, a->before, a->near,
				 a->script,	a->below,   a->hash,   a->script_hash};

	for (size_t i = 0; i < ZW_N_ELEMENTS(strings); i++)
		free(strings[i]);
	proc_fini(&a->proc);
	free(a);
}

void mdl_session_init(struct mdl_session *s, const char *home)
{
	*s = (struct mdl_session){.agent = empty(),
				  .project = empty(),
				  .title = empty(),
				  .pane_gone = empty(),
				  .warning = empty(),
				  .home = zw_xstrdup(home != NULL ? home : "")};
	TAILQ_INIT(&s->conns);
	TAILQ_INIT(&s->socks);
	TAILQ_INIT(&s->asks);
}

void mdl_session_fini(struct mdl_session *s)
{
	struct mdl_conn *c;
	struct mdl_sock *k;
	struct mdl_ask *a;

	while ((c = TAILQ_FIRST(&s->conns)) != NULL) {
		TAILQ_REMOVE(&s->conns, c, link);
		conn_free(c);
	}
	while ((k = TAILQ_FIRST(&s->socks)) != NULL) {
		TAILQ_REMOVE(&s->socks, k, link);
		sock_free(k);
	}
	while ((a = TAILQ_FIRST(&s->asks)) != NULL) {
		TAILQ_REMOVE(&s->asks, a, link);
		ask_free(a);
	}
	free(s->tasks);
	free(s->agent);
	free(s->project);
	free(s->title);
	free(s->pane_gone);
	free(s->warning);
	free(s->home);
}

void mdl_set(char **field, struct zw_span text, size_t max)
{
	size_t need = text.len * 4;

	free(*field);
	*field = zw_vis_dup(text.p, text.len, need < max ? need : max);
}

void mdl_set_path(const struct mdl_session *s, char **field, struct zw_span path)
{
	size_t n = strlen(s->home);

	if (n > 1 && path.len >= n && memcmp(path.p, s->home, n) == 0 &&
	    (path.len == n || path.p[n] == '/')) {
		zw_autofree char *rest = NULL;

		mdl_set(&rest, zw_span_n(path.p + n, path.len - n), PATH_SHOWN_MAX);
		free(*field);
		*field = zw_xasprintf("~%s", rest);
		return;
	}
	mdl_set(field, path, PATH_SHOWN_MAX);
}

/* Arguments with blanks between, secrets masked; one that is empty or holds blanks stands in quotes. */
static char *command_text(struct zw_span argv)
{
	char masked[ZW_MASK_MAX + 1];
	size_t n = zw_mask(masked, sizeof(masked), argv.p != NULL ? argv.p : "", argv.len);
	size_t cap = n * 5 + 16, used = 0;
	zw_autofree char *all = zw_xmalloc(cap);

	for (size_t i = 0; i < n;) {
		size_t len = strnlen(masked + i, n - i);
		zw_autofree char *arg = zw_vis_dup(masked + i, len, len * 4);
		const char *quote = len == 0 || strpbrk(arg, " '\"") != NULL ? "'" : "";

		used += (size_t)snprintf(all + used, cap - used, "%s%s%s%s", used > 0 ? " " : "",
					 quote, arg, quote);
		if (used >= cap)
			used = cap - 1;
		i += len + 1;
	}
	all[used] = '\0';
	return zw_xmemdup0(all, used < COMMAND_MAX ? used : COMMAND_MAX);
}

/* "4502 claude\0004688 bash" → "claude(4502) > bash(4688)". */
static char *chain_text(struct zw_span chain)
{
	size_t cap = chain.len * 5 + 16, used = 0;
	char *all = zw_xcalloc(cap, 1);

	for (size_t i = 0; i < chain.len && used < cap;) {
		size_t len = strnlen(chain.p + i, chain.len - i);
		zw_autofree char *one = zw_vis_dup(chain.p + i, len, len * 4);
		char *blank = strchr(one, ' ');

		if (blank != NULL) {
			*blank = '\0';
			used += (size_t)snprintf(all + used, cap - used, "%s%s(%s)",
						 used > 0 ? " > " : "", blank + 1, one);
		}
		i += len + 1;
	}
	return all;
}

void mdl_proc_set(const struct mdl_session *s, struct mdl_proc *p, uint32_t pid, struct zw_span exe,
		  struct zw_span argv, struct zw_span cwd, struct zw_span chain)
{
	p->pid = pid;
	mdl_set(&p->exe, exe, PATH_SHOWN_MAX);
	mdl_set_path(s, &p->cwd, cwd);
	free(p->command);
	p->command = command_text(argv);
	free(p->chain);
	p->chain = chain_text(chain);
}

const char *mdl_proc_name(const struct mdl_proc *p)
{
	const char *name = zw_basename(p->exe);

	return *name != '\0' ? name : "?";
}

/* The oldest row that is over makes room; a live connection stays. */
static void conns_trim(struct mdl_session *s)
{
	struct mdl_conn *c = TAILQ_LAST(&s->conns, mdl_conn_list);

	while (s->n_conns >= MDL_CONNS_MAX && c != NULL) {
		struct mdl_conn *newer = TAILQ_PREV(c, mdl_conn_list, link);

		if (c->closed_us != 0 || newer == NULL) {
			TAILQ_REMOVE(&s->conns, c, link);
			s->n_conns--;
			s->n_dropped++;
			conn_free(c);
		}
		c = newer;
	}
}

struct mdl_conn *mdl_conn_get(struct mdl_session *s, uint64_t id, bool *ret_is_new)
{
	struct mdl_conn *c;

	TAILQ_FOREACH (c, &s->conns, link) {
		if (c->id == id) {
			*ret_is_new = false;
			return c;
		}
	}
	conns_trim(s);
	c = zw_xnew(struct mdl_conn);
	c->id = id;
	c->host = empty();
	c->address = empty();
	c->reason = empty();
	c->end = empty();
	proc_init(&c->proc);
	TAILQ_INSERT_HEAD(&s->conns, c, link);
	s->n_conns++;
	*ret_is_new = true;
	return c;
}

struct mdl_sock *mdl_sock_get(struct mdl_session *s, struct zw_span target, uint32_t pid,
			      unsigned did, unsigned op, bool *ret_is_new)
{
	zw_autofree char *shown = NULL;
	struct mdl_sock *k;

	mdl_set(&shown, target, PATH_SHOWN_MAX);
	TAILQ_FOREACH (k, &s->socks, link) {
		if (k->did == did && k->op == op && k->proc.pid == pid &&
		    strcmp(k->target, shown) == 0) {
			TAILQ_REMOVE(&s->socks, k, link);
			TAILQ_INSERT_HEAD(&s->socks, k, link);
			*ret_is_new = false;
			return k;
		}
	}
	if (s->n_socks >= MDL_SOCKS_MAX) {
		k = TAILQ_LAST(&s->socks, mdl_sock_list);
		TAILQ_REMOVE(&s->socks, k, link);
		s->n_socks--;
		s->n_dropped++;
		sock_free(k);
	}
	k = zw_xnew(struct mdl_sock);
	k->line = ++s->last_line;
	k->did = did;
	k->op = op;
	k->target = zw_steal(&shown);
	k->raw_target = zw_span_dup(target);
	k->asked = empty();
	k->class_name = empty();
	k->reason = empty();
	proc_init(&k->proc);
	k->proc.pid = pid;
	TAILQ_INSERT_HEAD(&s->socks, k, link);
	s->n_socks++;
	*ret_is_new = true;
	return k;
}

static void rate_count(uint32_t *cell, uint64_t n)
{
	*cell = n < UINT32_MAX - *cell ? *cell + (uint32_t)n : UINT32_MAX;
}

void mdl_rate_add(struct mdl_rate *r, int64_t now_s, uint64_t up_b, uint64_t down_b)
{
	if (now_s - r->newest_s >= MDL_RATE_N)
		memset(r, 0, sizeof(*r));
	else
		for (int64_t t = r->newest_s + 1; t <= now_s; t++)
			r->up[t % MDL_RATE_N] = r->down[t % MDL_RATE_N] = 0;
	if (now_s > r->newest_s)
		r->newest_s = now_s;
	rate_count(&r->up[now_s % MDL_RATE_N], up_b);
	rate_count(&r->down[now_s % MDL_RATE_N], down_b);
}

void mdl_rate_at(const struct mdl_rate *r, int64_t now_s, int ago_s, uint32_t *ret_up,
		 uint32_t *ret_down)
{
	int64_t t = now_s - ago_s;

	*ret_up = *ret_down = 0;
	if (ago_s >= MDL_RATE_N || t < 0 || t > r->newest_s || t <= r->newest_s - MDL_RATE_N)
		return;
	*ret_up = r->up[t % MDL_RATE_N];
	*ret_down = r->down[t % MDL_RATE_N];
}

static bool ask_waits(const struct mdl_ask *a)
{
	return a->state == MDL_ASK_HELD || a->state == MDL_ASK_OPEN;
}

static void asks_trim(struct mdl_session *s)
{
	struct mdl_ask *a = TAILQ_FIRST(&s->asks);

	while (s->n_asks >= MDL_ASKS_MAX && a != NULL) {
		struct mdl_ask *next = TAILQ_NEXT(a, link);

		if (!ask_waits(a) && a->state != MDL_ASK_LOOK) {
			TAILQ_REMOVE(&s->asks, a, link);
			s->n_asks--;
			s->n_dropped++;
			ask_free(a);
		}
		a = next;
	}
}

struct mdl_ask *mdl_ask_new(struct mdl_session *s, uint64_t id)
{
	struct mdl_ask *a = zw_xnew(struct mdl_ask);

	asks_trim(s);
	a->id = id;
	a->n_waiting = 1;
	char **const strings[] = {&a->class_name, &a->title,   &a->wants,  &a->consequence,
				  &a->safer,	  &a->word,    &a->target, &a->asked,
				  &a->owner,	  &a->answers, &a->before, &a->near,
				  &a->script,	  &a->below,   &a->hash,   &a->script_hash};
	for (size_t i = 0; i < ZW_N_ELEMENTS(strings); i++)
		*strings[i] = empty();
	proc_init(&a->proc);
	TAILQ_INSERT_TAIL(&s->asks, a, link);
	s->n_asks++;
	return a;
}

struct mdl_ask *mdl_ask_find(struct mdl_session *s, uint64_t id)
{
	struct mdl_ask *a;

	TAILQ_FOREACH (a, &s->asks, link)
		if (a->id == id)
			return a;
	return NULL;
}

struct mdl_ask *mdl_ask_first(struct mdl_session *s)
{
	struct mdl_ask *a, *first = NULL;

	TAILQ_FOREACH (a, &s->asks, link)
		if (ask_waits(a) && (first == NULL || a->risk > first->risk))
			first = a;
	return first;
}

size_t mdl_asks_waiting(const struct mdl_session *s)
{
	const struct mdl_ask *a;
	size_t n = 0;

	TAILQ_FOREACH (a, &s->asks, link)
		n += ask_waits(a);
	return n;
}

int64_t mdl_ask_left_ms(const struct mdl_ask *a, int64_t now_ms)
{
	if (a->left_ms == 0)
		return INT64_MAX;
	int64_t left = a->state == MDL_ASK_HELD ? a->left_ms - (now_ms - a->clock_ms) : a->left_ms;

	return left > 0 ? left : 0;
}
