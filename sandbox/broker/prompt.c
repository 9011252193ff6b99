/* SPDX-License-Identifier: MIT */
#include "sandbox/broker/prompt.h"

#include <fcntl.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/base/words.h"

#define PROMPTS_MAX 256
#define MEMORY_MAX  256
#define KEY_MAX_B   (3 * BRK_PATH_MAX + 128)

TAILQ_HEAD(wait_list, brk_wait);

struct brk_prompt {
	struct zw_map_node node;
	LIST_ENTRY(brk_prompt) link;
	struct brk_prompts *all;
	uint64_t ask;
	struct wait_list waits;
	uint32_t n_waiting;
	struct zev_timer *hold;
	char key[];
};

struct brk_prompts {
	struct zev_loop *loop;
	const struct brk_prompts_ops *ops;
	void *arg;
	int64_t hold_ms;
	struct zw_map map;
	LIST_HEAD(, brk_prompt) list;
	unsigned n;
	uint64_t last_ask;
};

struct brk_prompts *brk_prompts_new(struct zev_loop *loop, const struct brk_prompts_ops *ops,
				    void *arg)
{
	struct brk_prompts *p = zw_xnew(struct brk_prompts);

	p->loop = loop;
	p->ops = ops;
	p->arg = arg;
	zw_map_init(&p->map);
	LIST_INIT(&p->list);
	return p;
}

static void prompt_free(struct brk_prompt *q)
{
	struct brk_prompts *p = q->all;

	zw_map_remove(&p->map, &q->node);
	LIST_REMOVE(q, link);
	p->n--;
	zev_timer_free(q->hold);
	free(q);
}

void brk_prompts_free(struct brk_prompts *p)
{
	struct brk_prompt *q;

	if (p == NULL)
		return;
	while ((q = LIST_FIRST(&p->list)) != NULL)
		prompt_free(q);
	zw_map_fini(&p->map);
	free(p);
}

void brk_prompts_hold(struct brk_prompts *p, int64_t hold_ms)
{
	p->hold_ms = hold_ms;
}

static size_t make_key(const struct brk_found *f, const char *exe, char *out)
{
	int n;

	if (f->pin_fd >= 0)
		n = snprintf(out, KEY_MAX_B, "f %llx %llx%c%s", (unsigned long long)f->dev,
			     (unsigned long long)f->ino, 0, exe);
	else
		n = snprintf(out, KEY_MAX_B, "a %s%c%s", f->path, 0, exe);
	return n < 0 ? 0 : (size_t)n < KEY_MAX_B ? (size_t)n : KEY_MAX_B - 1;
}

/* Gives everybody their answer. Each may end at once, so nothing of @q is used after. */
static void prompt_end(struct brk_prompt *q, const struct brk_answer *a)
{
	struct brk_prompts *p = q->all;
	struct wait_list waits = TAILQ_HEAD_INITIALIZER(waits);
	struct brk_wait *w;

	TAILQ_CONCAT(&waits, &q->waits, link);
	TAILQ_FOREACH (w, &waits, link)
		w->prompt = NULL;
	prompt_free(q);
	while ((w = TAILQ_FIRST(&waits)) != NULL) {
		TAILQ_REMOVE(&waits, w, link);
		p->ops->answered(w, a, p->arg);
	}
}

static void on_prompt_hold(void *arg)
{
	struct brk_prompt *q = arg;
	struct brk_prompts *p = q->all;
	struct brk_answer a = {.verdict = POL_DENY, .did = ZW_DID_MISS, .by = ZW_BY_TIMEOUT};
	uint64_t ask = q->ask;

	prompt_end(q, &a);
	p->ops->gone(ask, p->arg);
}

static struct brk_prompt *prompt_new(struct brk_prompts *p, const char *key, size_t len)
{
	struct brk_prompt *q = zw_xcalloc(1, sizeof(*q) + len);

	q->all = p;
	q->ask = ++p->last_ask;
	TAILQ_INIT(&q->waits);
	memcpy(q->key, key, len);
	zw_map_add(&p->map, &q->node, q->key, len);
	LIST_INSERT_HEAD(&p->list, q, link);
	p->n++;
	q->hold = zev_timer_new(p->loop, on_prompt_hold, q);
	if (p->hold_ms > 0)
		zev_timer_start(q->hold, p->hold_ms);
	return q;
}

int brk_prompts_wait(struct brk_prompts *p, const struct brk_found *f, const char *exe,
		     struct brk_wait *w)
{
	char key[KEY_MAX_B];
	size_t len = make_key(f, exe, key);
	struct zw_map_node *node = zw_map_find(&p->map, key, len);

	if (node == NULL && p->n >= PROMPTS_MAX)
		return ZW_E_BUSY;
	struct brk_prompt *q = node != NULL ? zw_map_entry(node, struct brk_prompt, node)
					    : prompt_new(p, key, len);
	TAILQ_INSERT_TAIL(&q->waits, w, link);
	w->prompt = q;
	q->n_waiting++;
	if (node == NULL)
		p->ops->ask(w, q->ask, p->arg);
	else
		p->ops->more(q->ask, q->n_waiting, p->arg);
	return 0;
}

bool brk_prompts_is(const struct brk_wait *w, uint64_t ask)
{
	return w->prompt != NULL && w->prompt->ask == ask;
}

void brk_prompts_leave(struct brk_prompts *p, struct brk_wait *w)
{
	struct brk_prompt *q = w->prompt;

	if (q == NULL)
		return;
	TAILQ_REMOVE(&q->waits, w, link);
	w->prompt = NULL;
	if (--q->n_waiting > 0) {
		p->ops->more(q->ask, q->n_waiting, p->arg);
		return;
	}
	uint64_t ask = q->ask;
	prompt_free(q);
	p->ops->gone(ask, p->arg);
}

void brk_prompts_answer(struct brk_prompts *p, uint64_t ask, const struct brk_answer *a)
{
	struct brk_prompt *q;

	LIST_FOREACH (q, &p->list, link)
		if (q->ask == ask)
			break;
	if (q != NULL)
		prompt_end(q, a);
}

void brk_prompts_settle(struct brk_prompts *p, struct brk_wait *w, const struct brk_answer *a)
{
	if (w->prompt == NULL)
		return;
	uint64_t ask = w->prompt->ask;
	prompt_end(w->prompt, a);
	p->ops->gone(ask, p->arg);
}

struct kept {
	TAILQ_ENTRY(kept) link;
	struct brk_found found; /* pin_fd is a duplicate of its own */
	struct brk_answer answer;
	char exe[];
};

struct brk_memory {
	TAILQ_HEAD(, kept) list;
	unsigned n;
};

struct brk_memory *brk_memory_new(void)
{
	struct brk_memory *m = zw_xnew(struct brk_memory);

	TAILQ_INIT(&m->list);
	return m;
}

static void kept_free(struct brk_memory *m, struct kept *k)
{
	TAILQ_REMOVE(&m->list, k, link);
	m->n--;
	brk_found_fini(&k->found);
	free(k);
}

void brk_memory_free(struct brk_memory *m)
{
	if (m == NULL)
		return;
	while (!TAILQ_EMPTY(&m->list))
		kept_free(m, TAILQ_FIRST(&m->list));
	free(m);
}

void brk_memory_add(struct brk_memory *m, const struct brk_found *f, const char *exe,
		    const struct brk_answer *a)
{
	size_t len = strlen(exe) + 1;
	struct kept *k = zw_xcalloc(1, sizeof(*k) + len);

	k->found = *f;
	k->found.pin_fd = f->pin_fd >= 0 ? fcntl(f->pin_fd, F_DUPFD_CLOEXEC, 5) : -1;
	if (f->pin_fd >= 0 && k->found.pin_fd < 0) {
		free(k); /* without its pin the inode number could come back as another file */
		return;
	}
	k->answer = *a;
	memcpy(k->exe, exe, len);
	if (m->n >= MEMORY_MAX)
		kept_free(m, TAILQ_FIRST(&m->list));
	TAILQ_INSERT_TAIL(&m->list, k, link);
	m->n++;
}

void brk_memory_forget(struct brk_memory *m, struct zw_span path, struct zw_span exe)
{
	struct kept *k, *next;

	for (k = TAILQ_FIRST(&m->list); k != NULL; k = next) {
		next = TAILQ_NEXT(k, link);
		if (zw_span_eq(path, k->found.path) && (exe.len == 0 || zw_span_eq(exe, k->exe)))
			kept_free(m, k);
	}
}

static bool is_same_listener(const struct brk_listener *a, const struct brk_listener *b)
{
	return a->uid != BRK_UID_UNKNOWN && a->uid == b->uid && strcmp(a->exe, b->exe) == 0;
}

static bool is_same_socket(const struct brk_found *a, const struct brk_found *b)
{
	bool is_file = a->pin_fd >= 0;

	if (is_file != (b->pin_fd >= 0))
		return false;
	if (is_file && a->dev == b->dev && a->ino == b->ino)
		return true;
	if (strcmp(a->path, b->path) != 0 || !is_same_listener(&a->listener, &b->listener))
		return false;
	return !is_file || (!a->is_visible && !b->is_visible);
}

const struct brk_answer *brk_memory_find(const struct brk_memory *m, const struct brk_found *f,
					 const char *exe)
{
	const struct kept *k, *best = NULL;

	/* The newest counts, but never an allow over a deny. */
	TAILQ_FOREACH (k, &m->list, link)
		if (strcmp(k->exe, exe) == 0 && is_same_socket(&k->found, f) &&
		    (best == NULL || best->answer.verdict != POL_DENY))
			best = k;
	return best != NULL ? &best->answer : NULL;
}
