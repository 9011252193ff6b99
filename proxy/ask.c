/* SPDX-License-Identifier: MIT */
#include "proxy/ask.h"

#include "src/base/io.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/base/words.h"
#include "src/policy/policy.h"
#include "src/policy/script.h"

#define OPEN_MAX 512 /* questions; beyond, the sandbox floods and is denied */
#define ONCE_MAX 512

struct px_question {
	struct zw_map_node node;
	TAILQ_ENTRY(px_question) link;
	struct px_asks *all;
	uint64_t id;
	char *key; /* owned */
	size_t key_len;
	unsigned n_waiting;
	TAILQ_HEAD(waiters, px_waiter) waiters;
	struct px_timeout hold;
};

/* An answer that is good for a few seconds more. */
struct once {
	struct zw_map_node node;
	TAILQ_ENTRY(once) by_time;
	int64_t until_ms;
	char *key, *note; /* owned */
	struct px_answer answer;
};

struct px_asks {
	struct zw_chan *chan;
	struct px_wheel *wheel;
	bool can_ask;
	uint64_t hold_ms, last_id;
	struct zw_map by_key;
	TAILQ_HEAD(, px_question) questions;
	struct zw_map onces;
	TAILQ_HEAD(, once) by_time;
};

struct px_asks *px_asks_new(struct zw_chan *chan, struct px_wheel *wheel, bool can_ask,
			    uint64_t hold_ms)
{
	struct px_asks *a = zw_xnew(struct px_asks);

	a->chan = chan;
	a->wheel = wheel;
	a->can_ask = can_ask;
	a->hold_ms = hold_ms;
	zw_map_init(&a->by_key);
	zw_map_init(&a->onces);
	TAILQ_INIT(&a->questions);
	TAILQ_INIT(&a->by_time);
	return a;
}

/* -- once --------------------------------------------------------------------------------------- */

static void once_drop(struct px_asks *a, struct once *o)
{
	zw_map_remove(&a->onces, &o->node);
	TAILQ_REMOVE(&a->by_time, o, by_time);
	free(o->key);
	free(o->note);
	free(o);
}

static void onces_expire(struct px_asks *a)
{
	int64_t now_ms = zw_mono_ms();
	struct once *o;

	while ((o = TAILQ_FIRST(&a->by_time)) != NULL && o->until_ms <= now_ms)
		once_drop(a, o);
}

static void once_put(struct px_asks *a, const struct px_question *q, const struct px_answer *answer)
{
	struct zw_map_node *n = zw_map_find(&a->onces, q->key, q->key_len);

	onces_expire(a);
	n = zw_map_find(&a->onces, q->key, q->key_len);
	if (n != NULL)
		once_drop(a, zw_map_entry(n, struct once, node));
	if (a->onces.n >= ONCE_MAX)
		once_drop(a, TAILQ_FIRST(&a->by_time));
	struct once *o = zw_xnew(struct once);
	o->until_ms = zw_mono_ms() + PX_ONCE_MS;
	o->key = zw_xmemdup0(q->key, q->key_len);
	o->note = zw_xstrdup(answer->note);
	o->answer = *answer;
	o->answer.note = o->note;
	zw_map_add(&a->onces, &o->node, o->key, q->key_len);
	TAILQ_INSERT_TAIL(&a->by_time, o, by_time);
}

/* -- questions ---------------------------------------------------------------------------------- */

static void question_free(struct px_question *q)
{
	struct px_asks *a = q->all;

	px_timeout_clear(a->wheel, &q->hold);
	zw_map_remove(&a->by_key, &q->node);
	TAILQ_REMOVE(&a->questions, q, link);
	free(q->key);
	free(q);
}

static void waiter_remove(struct px_waiter *w)
{
	TAILQ_REMOVE(&w->question->waiters, w, link);
	w->question->n_waiting--;
	w->question = NULL;
}

/* Ends a question: everyone who waits hears it. A waiter's callback may ask anew, never join this
 * one, which is out of the map. */
static void question_end(struct px_question *q, const struct px_answer *answer)
{
	struct waiters waiters;
	struct px_waiter *w;

	TAILQ_INIT(&waiters);
	while ((w = TAILQ_FIRST(&q->waiters)) != NULL) {
		waiter_remove(w);
		TAILQ_INSERT_TAIL(&waiters, w, link);
	}
	question_free(q);
	while ((w = TAILQ_FIRST(&waiters)) != NULL) {
		TAILQ_REMOVE(&waiters, w, link);
		w->on_answer(w->arg, answer);
	}
}

void px_asks_free(struct px_asks *a)
{
	struct px_question *q;
	struct px_waiter *w;
	struct once *o;

	if (a == NULL)
		return;
	while ((q = TAILQ_FIRST(&a->questions)) != NULL) {
		while ((w = TAILQ_FIRST(&q->waiters)) != NULL)
			waiter_remove(w);
		question_free(q);
	}
	while ((o = TAILQ_FIRST(&a->by_time)) != NULL)
		once_drop(a, o);
	zw_map_fini(&a->by_key);
	zw_map_fini(&a->onces);
	free(a);
}

static void on_hold(void *arg)
{
	struct px_question *q = arg;

	zw_send(q->all->chan, ask_gone, .ask = q->id);
	question_end(q, &(struct px_answer){.did = ZW_DID_MISS,
					    .by = ZW_BY_TIMEOUT,
					    .reason = "nobody answered the question in time",
					    .note = ""});
}

static struct px_question *question_new(struct px_asks *a, char *take_key, size_t key_len)
{
	struct px_question *q = zw_xnew(struct px_question);

	q->all = a;
	q->id = ++a->last_id;
	q->key = take_key;
	q->key_len = key_len;
	TAILQ_INIT(&q->waiters);
	zw_map_add(&a->by_key, &q->node, q->key, key_len);
	TAILQ_INSERT_TAIL(&a->questions, q, link);
	if (a->hold_ms > 0)
		px_timeout_set(a->wheel, &q->hold, (int64_t)a->hold_ms, on_hold, q);
	return q;
}

static void question_send(struct px_asks *a, const struct px_question *q, const char *target,
			  const char *asked, const struct px_who *who,
			  const struct pol_decision *why)
{
	zw_send(a->chan, ask, .ask = q->id, .kind = POL_KIND_SITE, .risk = POL_RISK_LOW,
		.target = zw_span(target), .asked = zw_span(asked), .is_look = why->is_look,
		.otherwise = (uint8_t)(why->is_look ? why->otherwise : POL_ASK),
		.exe_id = who->exe_id, .pid = who->pid, .exe = zw_span(who->exe), .argv = who->argv,
		.cwd = who->cwd, .chain = who->chain);
}

static int refuse(struct px_answer *ret, unsigned by, const char *reason)
{
	*ret = (struct px_answer){.did = ZW_DID_DENY, .by = by, .reason = reason, .note = ""};
	return 0;
}

static void join(struct px_question *q, struct px_waiter *w,
		 void (*on_answer)(void *arg, const struct px_answer *answer), void *arg)
{
	w->question = q;
	w->on_answer = on_answer;
	w->arg = arg;
	TAILQ_INSERT_TAIL(&q->waiters, w, link);
	q->n_waiting++;
}

/* A rule for one program says nothing of another that lies under its name, nor of another script. */
static char *key_of(const char *target, const struct px_who *who)
{
	char script[4096];

	pol_script_of(who->exe, who->argv, who->cwd.p != NULL ? who->cwd.p : "", script,
		      sizeof(script));
	return zw_xasprintf("%s\n%llx %s\n%s", target, (unsigned long long)who->exe_id, who->exe,
			    script);
}

int px_ask(struct px_asks *a, const char *target, const char *asked, const struct px_who *who,
	   const struct pol_decision *why, struct px_waiter *w,
	   void (*on_answer)(void *arg, const struct px_answer *answer), void *arg,
	   struct px_answer *ret_answer)
{
	char *key = key_of(target, who);
	size_t len = strlen(key);
	struct zw_map_node *n;

	onces_expire(a);
	if ((n = zw_map_find(&a->onces, key, len)) != NULL) {
		*ret_answer = zw_map_entry(n, struct once, node)->answer;
		free(key);
		return 0;
	}
	if ((n = zw_map_find(&a->by_key, key, len)) != NULL) {
		struct px_question *q = zw_map_entry(n, struct px_question, node);

		free(key);
		join(q, w, on_answer, arg);
		zw_send(a->chan, ask_more, .ask = q->id, .n_waiting = q->n_waiting);
		return 1;
	}
	bool can_ask = a->can_ask || why->is_look; /* zwatch itself answers by its rules */

	if (!can_ask || a->by_key.n >= OPEN_MAX) {
		free(key);
		return can_ask ? refuse(ret_answer, ZW_BY_LIMIT, "too many questions are open")
			       : refuse(ret_answer, ZW_BY_NO_TERMINAL,
					"no rule allows this site, and there is nobody to ask");
	}
	struct px_question *q = question_new(a, key, len);
	question_send(a, q, target, asked, who, why);
	join(q, w, on_answer, arg);
	return 1;
}

void px_ask_cancel(struct px_asks *a, struct px_waiter *w)
{
	struct px_question *q = w->question;

	if (q == NULL)
		return;
	waiter_remove(w);
	if (q->n_waiting > 0) {
		zw_send(a->chan, ask_more, .ask = q->id, .n_waiting = q->n_waiting);
		return;
	}
	zw_send(a->chan, ask_gone, .ask = q->id);
	question_free(q);
}

static struct px_question *question_of(struct px_asks *a, uint64_t id)
{
	struct px_question *q;

	TAILQ_FOREACH (q, &a->questions, link)
		if (q->id == id)
			return q;
	return NULL;
}

void px_ask_answered(struct px_asks *a, const struct zw_msg_ask_answer *m)
{
	struct px_question *q = question_of(a, m->ask);
	char note[513];

	if (q == NULL)
		return;
	zw_span_cpy(note, sizeof(note), m->note);
	bool is_allowed = m->verdict == POL_ALLOW;
	struct px_answer answer = {
		.is_allowed = is_allowed,
		.did = is_allowed		? ZW_DID_ALLOW
		       : m->by == ZW_BY_TIMEOUT ? ZW_DID_MISS
						: ZW_DID_DENY,
		.by = m->by,
		.rule = m->rule,
		.scope = m->scope,
		.reason = is_allowed		   ? ""
			  : m->by == ZW_BY_USER	   ? "the user said no"
			  : m->by == ZW_BY_TIMEOUT ? "nobody answered the question in time"
			  : m->by == ZW_BY_NO_TERMINAL
				  ? "no rule allows this site, and there is nobody to ask"
			  : m->by == ZW_BY_MODE ? "mode strict: no rule allows this site"
						: "denied",
		.note = note,
	};
	if (m->scope == ZW_SCOPE_ONCE && m->by == ZW_BY_USER)
		once_put(a, q, &answer);
	question_end(q, &answer);
}

void px_ask_rejudge(struct px_asks *a, bool (*judge)(void *arg, struct px_answer *ret))
{
	struct px_question *q, *next;

	for (q = TAILQ_FIRST(&a->questions); q != NULL; q = next) {
		struct px_waiter *w = TAILQ_FIRST(&q->waiters);
		struct px_answer answer;

		next = TAILQ_NEXT(q, link);
		if (w == NULL || !judge(w->arg, &answer))
			continue;
		zw_send(a->chan, ask_gone, .ask = q->id);
		question_end(q, &answer);
		/* The callbacks may have ended any other one. */
		next = TAILQ_FIRST(&a->questions);
		if (next == NULL)
			return;
	}
}

void px_asks_forget(struct px_asks *a)
{
	struct once *o;

	while ((o = TAILQ_FIRST(&a->by_time)) != NULL)
		once_drop(a, o);
}

size_t px_asks_n(const struct px_asks *a)
{
	return a->by_key.n;
}
