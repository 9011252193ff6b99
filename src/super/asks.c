/* SPDX-License-Identifier: MIT
 * The life of a question between the helper that holds a call and the user who answers: looked at
 * by the saved rules, then HELD, OPEN, then ANSWERED, MISSED or GONE. Only here and in answer.c does
 * a question end. */
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/words.h"
#include "src/policy/script.h"
#include "src/super/super_i.h"

#define SCRIPT_MAX_B 4096

struct sup_ask *sup_ask_find(struct sup *s, uint64_t id)
{
	struct sup_ask *a;

	TAILQ_FOREACH (a, &s->asks, link)
		if (a->id == id)
			return a;
	return NULL;
}

static struct sup_ask *ask_of(struct sup *s, const struct sup_helper *h, uint64_t theirs)
{
	struct sup_ask *a;

	TAILQ_FOREACH (a, &s->asks, link)
		if (a->role == h->role && a->n_starts == h->n_starts && a->theirs == theirs)
			return a;
	return NULL;
}

static int64_t hold_ms(const struct sup *s, enum pol_kind kind)
{
	return kind == POL_KIND_SITE ? s->config->hold_site_ms : s->config->hold_socket_ms;
}

void sup_hold_rearm(struct sup *s)
{
	int64_t now_ms = zw_mono_ms(), next_ms = INT64_MAX;
	const struct mdl_ask *a;

	if (s->hold_timer == NULL)
		return;
	TAILQ_FOREACH (a, &s->model.asks, link) {
		int64_t left_ms = mdl_ask_left_ms(a, now_ms);

		if (a->state == MDL_ASK_HELD && left_ms < next_ms)
			next_ms = left_ms;
	}
	if (next_ms == INT64_MAX)
		zev_timer_stop(s->hold_timer);
	else
		zev_timer_start(s->hold_timer, next_ms);
}

void sup_ask_record(struct sup *s, const struct sup_ask *q, const struct mdl_ask *a, unsigned did,
		    unsigned scope, unsigned by, const char *key, const char *shown,
		    int64_t shown_ms)
{
	sup_mark(s, "%s: %.200s, %.40s(%u), by %s%s%s", zw_did_word(did), a->target,
		 mdl_proc_name(&a->proc), a->proc.pid, zw_by_word(by),
		 did == ZW_DID_ALLOW || did == ZW_DID_DENY ? ", " : "",
		 did == ZW_DID_ALLOW || did == ZW_DID_DENY ? zw_scope_word(scope) : "");
	if (s->audit.chan == NULL)
		return;
	zw_send(s->audit.chan, question_event, .question = q->id, .t_us = q->t_us,
		.kind = (uint8_t)a->kind, .risk = (uint8_t)a->risk,
		.class_name = zw_span(a->class_name), .target = zw_span(q->target),
		.did = (uint8_t)did, .scope = (uint8_t)scope, .by = (uint8_t)by,
		.waited_ms = (uint64_t)(zw_mono_ms() - a->since_ms), .shown_ms = (uint64_t)shown_ms,
		.key = zw_span(key), .text = zw_span(shown), .n_waiting = a->n_waiting,
		.pid = a->proc.pid, .exe = zw_span(q->program));
}

static struct sup_helper *helper_of(struct sup *s, const struct sup_ask *q)
{
	struct sup_helper *h = q->role == ROLE_BROKER ? &s->broker : &s->proxy;

	return h->chan != NULL && h->n_starts == q->n_starts ? h : NULL;
}

void sup_ask_tell(struct sup *s, struct sup_ask *q, enum pol_verdict verdict, unsigned scope,
		  unsigned by, uint32_t rule, const char *note)
{
	struct sup_helper *h = q->role != ROLE_SUPER ? helper_of(s, q) : NULL;

	q->is_over = true;
	if (q->role == ROLE_SUPER)
		sup_publish_answered(s, q, verdict, scope, by, rule);
	if (h != NULL)
		zw_send(h->chan, ask_answer, .ask = q->theirs, .verdict = (uint8_t)verdict,
			.scope = (uint8_t)scope, .by = (uint8_t)by, .rule = rule,
			.note = zw_span(note));
}

static void on_hold_timer(void *arg)
{
	struct sup *s = arg;
	int64_t now_ms = zw_mono_ms();
	struct mdl_ask *a;

	TAILQ_FOREACH (a, &s->model.asks, link) {
		struct sup_ask *q = sup_ask_find(s, a->id);

		if (a->state != MDL_ASK_HELD || mdl_ask_left_ms(a, now_ms) > 0 || q == NULL)
			continue;
		a->state = MDL_ASK_MISSED;
		s->model.n_miss++;
		sup_ask_tell(s, q, POL_DENY, ZW_SCOPE_ONCE, ZW_BY_TIMEOUT, 0, "");
		sup_ask_record(s, q, a, ZW_DID_MISS, ZW_SCOPE_ONCE, ZW_BY_TIMEOUT, "", "", 0);
	}
	sup_changed(s, MDL_CHANGED_ASKS | MDL_CHANGED_STATUS);
	sup_hold_rearm(s);
}

static void ask_free(struct sup *s, struct sup_ask *q)
{
	TAILQ_REMOVE(&s->asks, q, link);
	sup_ident_fini(&q->ident);
	free(q->target);
	free(q->program);
	free(q->script);
	free(q->listener_exe);
	free(q);
}

/* Those that are over and that the model has let go, since nobody can answer them any more. Both
 * lists are in the order of asking. */
static void asks_trim(struct sup *s)
{
	const struct mdl_ask *a = TAILQ_FIRST(&s->model.asks);
	struct sup_ask *q = TAILQ_FIRST(&s->asks), *next;

	for (; q != NULL; q = next) {
		next = TAILQ_NEXT(q, link);
		while (a != NULL && a->id < q->id)
			a = TAILQ_NEXT(a, link);
		if (q->is_over && (a == NULL || a->id != q->id))
			ask_free(s, q);
	}
}

/* -- the look of saved rules -------------------------------------------------------------------- */

static void try_fill(struct sup *s, const struct sup_ask *q, const struct mdl_ask *a,
		     struct pol_host *host, struct pol_try *t)
{
	bool is_done = sup_ident_is_done(&q->ident);

	*t = (struct pol_try){.kind = a->kind,
			      .risk = a->risk,
			      .program = q->program,
			      .program_hash = is_done ? q->ident.file[0].hash : NULL,
			      .script = q->script,
			      .script_hash = is_done ? q->ident.file[1].hash : NULL,
			      .project = s->config->project != NULL ? s->config->project : "",
			      .listener_uid = q->listener_uid,
			      .listener_exe = q->listener_exe,
			      .now_s = sup_now_s(s),
			      .seen_s = s->saved.seen_s};
	if (a->kind == POL_KIND_SOCKET)
		t->socket = q->target;
	else if (q->role == ROLE_SUPER)
		t->publish = q->target;
	else if (pol_target_site(q->target, host, &t->port) == 0)
		t->host = host;
	/* The broker judges a port of the host by the name, so rules have that. */
	if (t->host != NULL && strcmp(a->class_name, POL_CLASS_HOST_PORT) == 0)
		*host = (struct pol_host){.name = SUP_HOST_NAME};
}

static void by_rule(struct sup *s, struct sup_ask *q, struct mdl_ask *a, uint32_t rule)
{
	a->state = MDL_ASK_ANSWERED;
	a->is_allowed = true;
	if (q->is_shown)
		sup_ask_record(s, q, a, ZW_DID_ALLOW, ZW_SCOPE_ONCE, ZW_BY_RULE, "", "", 0);
	sup_ask_tell(s, q, POL_ALLOW, ZW_SCOPE_ONCE, ZW_BY_RULE, rule, "");
}

static void deny_now(struct sup *s, struct sup_ask *q, struct mdl_ask *a, unsigned by)
{
	a->state = MDL_ASK_ANSWERED;
	sup_ask_tell(s, q, POL_DENY, ZW_SCOPE_ONCE, by, 0, "");
}

static bool is_strict(const struct sup *s, const struct sup_ask *q)
{
	for (size_t i = 0; i < s->n_strict; i++)
		if (strcmp(s->strict[i], q->program) == 0)
			return true;
	return false;
}

static void card_show(struct sup *s, struct sup_ask *q, struct mdl_ask *a)
{
	q->is_shown = true;
	a->state = MDL_ASK_HELD;
	sup_mark(s, "ask: %.200s, %.40s(%u)", a->target, mdl_proc_name(&a->proc), a->proc.pid);
	a->since_ms = a->clock_ms = zw_mono_ms();
	a->left_ms = hold_ms(s, a->kind);
	s->model.n_ask++;
	if (s->hold_timer == NULL)
		s->hold_timer = zev_timer_new(s->loop, on_hold_timer, s);
	sup_hold_rearm(s);
	sup_changed(s, MDL_CHANGED_ASKS | MDL_CHANGED_STATUS);
}

static void identified(struct sup_ask *q, struct mdl_ask *a)
{
	a->is_identified = true;
	mdl_set(&a->hash, zw_span(q->ident.file[0].hash), ZW_SHA256_HEX);
	mdl_set(&a->script_hash, zw_span(q->ident.file[1].hash), ZW_SHA256_HEX);
	sup_changed(q->s, MDL_CHANGED_ASKS);
}

static void settle(struct sup *s, struct sup_ask *q, struct mdl_ask *a);

static void on_identified(void *arg)
{
	struct sup_ask *q = arg;
	struct mdl_ask *a = mdl_ask_find(&q->s->model, q->id);

	if (a == NULL)
		return;
	identified(q, a);
	if (!q->is_over)
		settle(q->s, q, a);
}

/* Returns whether it is done. */
static bool identify(struct sup *s, struct sup_ask *q, struct mdl_ask *a)
{
	if (q->ident.is_started)
		return sup_ident_is_done(&q->ident);
	if (!sup_ident_start(&q->ident, s, q->pid, q->exe_id, q->script, on_identified, q))
		return false;
	identified(q, a);
	return true;
}

/* A card that is being read stays as it is. */
static void settle(struct sup *s, struct sup_ask *q, struct mdl_ask *a)
{
	const struct pol_saved *rule = NULL;
	struct pol_host host;
	struct pol_try t;

	if (q->is_over || (a->state != MDL_ASK_LOOK && a->state != MDL_ASK_HELD))
		return;
	try_fill(s, q, a, &host, &t);
	enum pol_fit fit = sup_saved_look(s, &t, &rule);
	if (fit == POL_FIT_NEEDS_HASH && identify(s, q, a)) {
		try_fill(s, q, a, &host, &t);
		fit = sup_saved_look(s, &t, &rule);
	}
	if (fit == POL_FIT_YES) {
		by_rule(s, q, a, rule->id);
		sup_changed(s, MDL_CHANGED_ASKS | MDL_CHANGED_STATUS);
		return;
	}
	if (fit == POL_FIT_NEEDS_HASH || q->is_shown)
		return;
	zw_autofree char *why = rule != NULL ? pol_saved_why_not(rule, &t) : NULL;
	if (why != NULL)
		mdl_set(&a->near, zw_span(why), 512);
	if (q->otherwise == POL_DENY)
		deny_now(s, q, a, ZW_BY_MODE);
	else if (!s->config->can_ask)
		deny_now(s, q, a, ZW_BY_NO_TERMINAL);
	else if (is_strict(s, q))
		deny_now(s, q, a, ZW_BY_USER);
	else
		card_show(s, q, a);
}

void sup_asks_settle(struct sup *s)
{
	struct sup_ask *q, *next;

	for (q = TAILQ_FIRST(&s->asks); q != NULL; q = next) {
		struct mdl_ask *a = mdl_ask_find(&s->model, q->id);

		next = TAILQ_NEXT(q, link);
		if (a != NULL && !q->is_over)
			settle(s, q, a);
	}
}

void sup_strict(struct sup *s, uint64_t ask)
{
	const struct sup_ask *first = sup_ask_find(s, ask);
	struct sup_ask *q;

	if (first == NULL || is_strict(s, first))
		return;
	s->strict = zw_xrealloc(s->strict, s->n_strict + 1, sizeof(*s->strict));
	s->strict[s->n_strict++] = zw_xstrdup(first->program);
	TAILQ_FOREACH (q, &s->asks, link) {
		struct mdl_ask *a = mdl_ask_find(&s->model, q->id);

		if (a == NULL || q->is_over || a->state != MDL_ASK_HELD || !is_strict(s, q))
			continue;
		sup_ask_record(s, q, a, ZW_DID_DENY, ZW_SCOPE_SESSION, ZW_BY_USER, "S", "", 0);
		deny_now(s, q, a, ZW_BY_USER);
	}
	sup_hold_rearm(s);
	sup_changed(s, MDL_CHANGED_ASKS | MDL_CHANGED_STATUS);
}

/* -- what the helpers say ----------------------------------------------------------------------- */

static void ask_add(struct sup *s, enum zw_role role, unsigned n_starts, const struct zw_msg_ask *m)
{
	struct sup_ask *q = zw_xnew(struct sup_ask);
	char script[SCRIPT_MAX_B];
	struct mdl_ask *a;

	q->s = s;
	q->id = ++s->last_ask;
	q->role = role;
	q->n_starts = n_starts;
	q->theirs = m->ask;
	q->otherwise = m->otherwise == POL_DENY ? POL_DENY : POL_ASK;
	q->target = zw_span_dup(m->target);
	q->program = zw_span_dup(m->exe);
	q->pid = m->pid;
	q->exe_id = m->exe_id;
	q->listener_uid = m->listener_uid;
	q->listener_exe = zw_span_dup(m->listener_exe);
	q->t_us = zw_now_us();
	zw_autofree char *cwd = zw_span_dup(m->cwd);
	enum pol_script kind = pol_script_of(q->program, m->argv, cwd, script, sizeof(script));
	q->script = zw_xstrdup(script);
	TAILQ_INSERT_TAIL(&s->asks, q, link);
	a = mdl_ask_new(&s->model, q->id);
	a->state = MDL_ASK_LOOK;
	a->is_interpreter = kind != POL_SCRIPT_NONE;
	asks_trim(s);
	sup_card_fill(s, a, q, m);
	settle(s, q, a);
}

void sup_on_ask(struct sup *s, struct sup_helper *h, const struct zw_msg_ask *m)
{
	ask_add(s, h->role, h->n_starts, m);
}

void sup_own_ask(struct sup *s, const struct zw_msg_ask *m)
{
	ask_add(s, ROLE_SUPER, 0, m);
}

void sup_on_ask_more(struct sup *s, struct sup_helper *h, const struct zw_msg_ask_more *m)
{
	struct sup_ask *q = ask_of(s, h, m->ask);
	struct mdl_ask *a = q != NULL ? mdl_ask_find(&s->model, q->id) : NULL;

	if (a == NULL)
		return;
	a->n_waiting = m->n_waiting;
	sup_changed(s, MDL_CHANGED_ASKS);
}

static void gone(struct sup *s, struct sup_ask *q)
{
	struct mdl_ask *a = mdl_ask_find(&s->model, q->id);

	if (q->is_over || a == NULL)
		return;
	q->is_over = true;
	a->state = MDL_ASK_GONE;
	if (q->is_shown)
		sup_ask_record(s, q, a, ZW_DID_GONE, ZW_SCOPE_ONCE, ZW_BY_NATIVE, "", "", 0);
}

void sup_on_ask_gone(struct sup *s, struct sup_helper *h, const struct zw_msg_ask_gone *m)
{
	struct sup_ask *q = ask_of(s, h, m->ask);

	if (q == NULL)
		return;
	gone(s, q);
	sup_hold_rearm(s);
	sup_changed(s, MDL_CHANGED_ASKS | MDL_CHANGED_STATUS);
}

void sup_own_ask_gone(struct sup *s, uint64_t theirs)
{
	struct sup_ask *q;

	TAILQ_FOREACH (q, &s->asks, link)
		if (q->role == ROLE_SUPER && q->theirs == theirs)
			gone(s, q);
	sup_hold_rearm(s);
	sup_changed(s, MDL_CHANGED_ASKS | MDL_CHANGED_STATUS);
}

void sup_asks_drop(struct sup *s, const struct sup_helper *h)
{
	struct sup_ask *q;

	TAILQ_FOREACH (q, &s->asks, link)
		if (q->role == h->role)
			gone(s, q);
	sup_changed(s, MDL_CHANGED_ASKS | MDL_CHANGED_STATUS);
}

void sup_asks_fini(struct sup *s)
{
	struct sup_ask *q;

	while ((q = TAILQ_FIRST(&s->asks)) != NULL) {
		gone(s, q);
		ask_free(s, q);
	}
	for (size_t i = 0; i < s->n_strict; i++)
		free(s->strict[i]);
	free(zw_steal(&s->strict));
	s->n_strict = 0;
	zev_timer_free(s->hold_timer);
	s->hold_timer = NULL;
}

void sup_ask_open(struct sup *s, uint64_t ask, bool is_open)
{
	struct mdl_ask *a = mdl_ask_find(&s->model, ask);
	struct sup_ask *q = sup_ask_find(s, ask);
	int64_t now_ms = zw_mono_ms();

	if (a == NULL || q == NULL)
		return;
	if (is_open && a->state == MDL_ASK_HELD) {
		if (a->left_ms > 0)
			a->left_ms =
				mdl_ask_left_ms(a, now_ms) > 0 ? mdl_ask_left_ms(a, now_ms) : 1;
		a->state = MDL_ASK_OPEN;
		identify(s, q, a); /* "always" wants to know, in some seconds */
	} else if (!is_open && a->state == MDL_ASK_OPEN) {
		a->clock_ms = now_ms;
		a->state = MDL_ASK_HELD;
		settle(s, q, a);
	}
	sup_hold_rearm(s);
	sup_changed(s, MDL_CHANGED_ASKS);
}
