/* SPDX-License-Identifier: MIT
 * The life of a question between the helper that holds a call and the user who answers:
 * HELD, OPEN, then ANSWERED, MISSED or GONE. Only here does a question end. */
#include <grp.h>
#include <pwd.h>

#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/words.h"
#include "src/super/super_i.h"

#define TEXT_MAX 1024

static struct sup_ask *ask_find(struct sup *s, uint64_t id)
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

static void text(char **field, const char *t)
{
	mdl_set(field, zw_span(t), TEXT_MAX);
}

/* "owner root:docker, mode 0660" */
static void set_owner(struct mdl_ask *a, const struct zw_msg_ask *m)
{
	const struct passwd *pw = getpwuid(m->owner_uid);
	const struct group *gr = getgrgid(m->owner_gid);
	zw_autofree char *t =
		zw_xasprintf("owner %s:%s, mode %04o", pw != NULL ? pw->pw_name : "?",
			     gr != NULL ? gr->gr_name : "?", (unsigned)m->mode_bits & 07777u);
	text(&a->owner, t);
}

/* "dockerd(1187), running as root"; an unprivileged zwatch is not told which program of root's. */
static void set_answers(struct mdl_ask *a, const struct zw_msg_ask *m)
{
	const struct passwd *pw = getpwuid(m->listener_uid);
	const char *user = m->listener_uid == getuid() ? "you" : pw != NULL ? pw->pw_name : "?";
	zw_autofree char *exe = zw_span_dup(m->listener_exe);
	zw_autofree char *t = NULL;

	if (m->listener_pid != 0)
		t = zw_xasprintf("%s(%u), running as %s", *exe != '\0' ? zw_basename(exe) : "?",
				 m->listener_pid, user);
	else if (m->listener_uid == getuid())
		t = zw_xasprintf("a process running as you");
	else
		t = zw_xasprintf("a process of %s; the system does not tell which", user);
	text(&a->answers, t);
}

static void fill_socket(struct sup *s, struct mdl_ask *a, const struct zw_msg_ask *m)
{
	zw_autofree char *name = zw_span_dup(m->class_name);
	const struct cfg_class *c = cfg_catalogue_class(sup_catalogue(s), name);
	zw_autofree char *target = zw_span_dup(m->target);
	zw_autofree char *wants = zw_xasprintf("wants to %s", c->wants);

	text(&a->class_name, c->c.name);
	text(&a->title, zw_basename(target));
	text(&a->wants, wants);
	text(&a->consequence, c->allow);
	text(&a->safer, c->safer);
	text(&a->word, c->word);
	set_owner(a, m);
	set_answers(a, m);
}

static void fill_site(struct mdl_ask *a, const struct zw_msg_ask *m)
{
	zw_autofree char *target = zw_span_dup(m->target);
	zw_autofree char *wants = zw_xasprintf("wants %s", target);

	text(&a->title, target);
	text(&a->wants, wants);
	text(&a->consequence, "it can send data there and run code it gets back. "
			      "zwatch sees sizes, not content.");
}

/* What this session already decided about the same target. */
static void set_before(struct sup *s, struct mdl_ask *a)
{
	unsigned n_allow = 0, n_deny = 0;
	const struct mdl_ask *b;

	TAILQ_FOREACH (b, &s->model.asks, link) {
		if (b == a || strcmp(b->target, a->target) != 0)
			continue;
		n_deny += b->state == MDL_ASK_MISSED;
		if (b->state == MDL_ASK_ANSWERED)
			b->is_allowed ? n_allow++ : n_deny++;
	}
	zw_autofree char *t =
		n_allow + n_deny == 0
			? zw_xstrdup("not asked before in this session")
			: zw_xasprintf("in this session: allowed %u times, denied %u times",
				       n_allow, n_deny);
	text(&a->before, t);
}

static int64_t hold_ms(const struct sup *s, enum pol_kind kind)
{
	return kind == POL_KIND_SITE ? s->config->hold_site_ms : s->config->hold_socket_ms;
}

/* Sets the timer to the question whose time is over first. */
static void hold_rearm(struct sup *s)
{
	int64_t now_ms = zw_mono_ms(), next_ms = INT64_MAX;
	const struct mdl_ask *a;

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

static void record(struct sup *s, const struct sup_ask *q, const struct mdl_ask *a, unsigned did,
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

/* The verdict reaches the waiting call. */
static void tell(struct sup *s, struct sup_ask *q, enum pol_verdict verdict, unsigned scope,
		 unsigned by, const char *note)
{
	struct sup_helper *h = helper_of(s, q);

	q->is_over = true;
	if (h != NULL)
		zw_send(h->chan, ask_answer, .ask = q->theirs, .verdict = (uint8_t)verdict,
			.scope = (uint8_t)scope, .by = (uint8_t)by, .note = zw_span(note));
}

static void on_hold_timer(void *arg)
{
	struct sup *s = arg;
	int64_t now_ms = zw_mono_ms();
	struct mdl_ask *a;

	TAILQ_FOREACH (a, &s->model.asks, link) {
		struct sup_ask *q = ask_find(s, a->id);

		if (a->state != MDL_ASK_HELD || mdl_ask_left_ms(a, now_ms) > 0 || q == NULL)
			continue;
		a->state = MDL_ASK_MISSED;
		s->model.n_miss++;
		tell(s, q, POL_DENY, ZW_SCOPE_ONCE, ZW_BY_TIMEOUT, "");
		record(s, q, a, ZW_DID_MISS, ZW_SCOPE_ONCE, ZW_BY_TIMEOUT, "", "", 0);
	}
	sup_changed(s, MDL_CHANGED_ASKS | MDL_CHANGED_STATUS);
	hold_rearm(s);
}

static void ask_free(struct sup *s, struct sup_ask *q)
{
	TAILQ_REMOVE(&s->asks, q, link);
	free(q->target);
	free(q->program);
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

void sup_on_ask(struct sup *s, struct sup_helper *h, const struct zw_msg_ask *m)
{
	struct sup_ask *q = zw_xnew(struct sup_ask);
	struct mdl_ask *a;

	q->id = ++s->last_ask;
	q->role = h->role;
	q->n_starts = h->n_starts;
	q->theirs = m->ask;
	q->target = zw_span_dup(m->target);
	q->program = zw_span_dup(m->exe);
	q->t_us = zw_now_us();
	TAILQ_INSERT_TAIL(&s->asks, q, link);
	a = mdl_ask_new(&s->model, q->id);
	asks_trim(s);
	a->kind = m->kind == POL_KIND_SOCKET ? POL_KIND_SOCKET : POL_KIND_SITE;
	a->risk = m->risk < POL_RISK_MAX ? (enum pol_risk)m->risk : POL_RISK_CRITICAL;
	mdl_set(&a->target, m->target, 4096);
	if (m->asked.len != m->target.len ||
	    (m->asked.len > 0 && memcmp(m->asked.p, m->target.p, m->asked.len) != 0))
		mdl_set(&a->asked, m->asked, 4096);
	mdl_proc_set(&s->model, &a->proc, m->pid, m->exe, m->argv, m->cwd, m->chain);
	if (a->kind == POL_KIND_SOCKET)
		fill_socket(s, a, m);
	else
		fill_site(a, m);
	set_before(s, a);
	sup_mark(s, "ask: %.200s, %.40s(%u)", a->target, mdl_proc_name(&a->proc), a->proc.pid);
	a->since_ms = a->clock_ms = zw_mono_ms();
	a->left_ms = hold_ms(s, a->kind);
	s->model.n_ask++;
	if (s->hold_timer == NULL)
		s->hold_timer = zev_timer_new(s->loop, on_hold_timer, s);
	hold_rearm(s);
	sup_changed(s, MDL_CHANGED_ASKS | MDL_CHANGED_STATUS);
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
	record(s, q, a, ZW_DID_GONE, ZW_SCOPE_ONCE, ZW_BY_NATIVE, "", "", 0);
}

void sup_on_ask_gone(struct sup *s, struct sup_helper *h, const struct zw_msg_ask_gone *m)
{
	struct sup_ask *q = ask_of(s, h, m->ask);

	if (q == NULL)
		return;
	gone(s, q);
	hold_rearm(s);
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
	zev_timer_free(s->hold_timer);
	s->hold_timer = NULL;
}

void sup_ask_open(struct sup *s, uint64_t ask, bool is_open)
{
	struct mdl_ask *a = mdl_ask_find(&s->model, ask);
	int64_t now_ms = zw_mono_ms();

	if (a == NULL)
		return;
	if (is_open && a->state == MDL_ASK_HELD) {
		if (a->left_ms > 0)
			a->left_ms =
				mdl_ask_left_ms(a, now_ms) > 0 ? mdl_ask_left_ms(a, now_ms) : 1;
		a->state = MDL_ASK_OPEN;
	} else if (!is_open && a->state == MDL_ASK_OPEN) {
		a->clock_ms = now_ms;
		a->state = MDL_ASK_HELD;
	}
	hold_rearm(s);
	sup_changed(s, MDL_CHANGED_ASKS);
}

void sup_answer(struct sup *s, uint64_t ask, enum pol_verdict verdict, unsigned scope,
		const char *note, const char *key, const char *shown, int64_t shown_ms)
{
	struct sup_ask *q = ask_find(s, ask);
	struct mdl_ask *a = mdl_ask_find(&s->model, ask);

	if (q == NULL || a == NULL || a->state == MDL_ASK_ANSWERED)
		return;
	bool is_late = q->is_over;
	if (verdict != POL_ALLOW)
		verdict = POL_DENY;
	if (is_late && verdict == POL_ALLOW)
		scope = ZW_SCOPE_SESSION;
	record(s, q, a, verdict == POL_ALLOW ? ZW_DID_ALLOW : ZW_DID_DENY, scope, ZW_BY_USER, key,
	       shown, shown_ms);
	a->state = MDL_ASK_ANSWERED;
	a->is_allowed = verdict == POL_ALLOW;
	if (scope == ZW_SCOPE_SESSION) {
		const struct pol_rule rule = {.kind = a->kind,
					      .action = verdict == POL_ALLOW ? POL_ACTION_ALLOW
									     : POL_ACTION_DENY,
					      .pattern = q->target,
					      .program = q->program,
					      .reason = note};
		/* A socket whose call still waits is pinned by the broker, by inode and listener:
		 * stronger than any rule by path. */
		sup_rule_add(s, &rule, a->kind == POL_KIND_SOCKET && !is_late);
	}
	if (!is_late)
		tell(s, q, verdict, scope, ZW_BY_USER, note);
	else if (s->face != NULL && verdict == POL_ALLOW)
		s->face->message(s->face->arg,
				 "That request is over. From now on this session allows it.");
	hold_rearm(s);
	sup_changed(s, MDL_CHANGED_ASKS | MDL_CHANGED_STATUS);
}
