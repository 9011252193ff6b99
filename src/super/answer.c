/* SPDX-License-Identifier: MIT
 * What an answer does: the verdict for those who wait, a rule for as long as the user said, and the
 * way back. */
#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/words.h"
#include "src/super/super_i.h"

#define ALLOWS_MAX 200

static const char *say(struct sup *s, char *take_text)
{
	free(s->answer_text);
	s->answer_text = take_text;
	return s->answer_text;
}

/* -- what can be taken back --------------------------------------------------------------------- */

static void allow_free(struct sup *s, struct sup_allow *a)
{
	TAILQ_REMOVE(&s->allows, a, link);
	s->n_allows--;
	free(a->target);
	free(a->program);
	free(a->title);
	free(a);
}

struct sup_allow *sup_allow_new(struct sup *s, enum pol_kind kind, const char *target,
				const char *program, const char *title)
{
	struct sup_allow *a = zw_xnew(struct sup_allow);

	a->kind = kind;
	a->target = zw_xstrdup(target);
	a->program = zw_xstrdup(program);
	a->title = zw_xstrdup(title);
	TAILQ_INSERT_TAIL(&s->allows, a, link);
	if (++s->n_allows > ALLOWS_MAX)
		allow_free(s, TAILQ_FIRST(&s->allows));
	return a;
}

static struct sup_allow *allow_add(struct sup *s, const struct sup_ask *q, const struct mdl_ask *m)
{
	struct sup_allow *a = sup_allow_new(s, m->kind, q->target, q->program, m->title);
	const struct cfg_class *c = m->kind == POL_KIND_SOCKET
					    ? cfg_catalogue_class(sup_catalogue(s), m->class_name)
					    : NULL;

	a->published = q->role == ROLE_SUPER ? (uint16_t)q->theirs : 0;
	a->is_direct = c != NULL && c->c.way == POL_WAY_DIRECT;
	return a;
}

void sup_allows_fini(struct sup *s)
{
	while (!TAILQ_EMPTY(&s->allows))
		allow_free(s, TAILQ_FIRST(&s->allows));
	free(zw_steal(&s->answer_text));
	free(zw_steal(&s->undo_text));
	sup_deny_fini(s);
}

static const char *undo_say(struct sup *s, char *take_text)
{
	free(s->undo_text);
	s->undo_text = take_text;
	return s->undo_text;
}

const char *sup_undo(struct sup *s)
{
	struct sup_allow *a = TAILQ_LAST(&s->allows, sup_allow_list);
	zw_autofree char *why = NULL;

	if (a == NULL)
		return undo_say(s,
				zw_xstrdup("Nothing was allowed or denied in this session yet."));
	if (a->saved != 0 && sup_saved_remove(s, a->saved, &why) < 0)
		return undo_say(s, zw_xasprintf("Rule %u stays, rules.json cannot be written: %s",
						a->saved, why));
	if (a->rule != 0)
		sup_rule_remove(s, a->rule);
	if (a->kept != 0)
		cfg_saved_remove(&s->kept, a->kept);
	sup_policy_send(s, &s->broker);
	sup_policy_send(s, &s->proxy);
	if (a->published != 0)
		sup_publish_undo(s, a->published, a->program);
	struct sup_helper *h = a->kind == POL_KIND_SOCKET ? &s->broker : &s->proxy;
	if (h->chan != NULL && a->published == 0 && !a->is_deny)
		zw_send(h->chan, cut, .target = zw_span(a->target), .program = zw_span(a->program));
	char *text =
		a->is_deny
			? zw_xasprintf("Taken back: the deny of %.200s. It is as it was before.",
				       a->title)
			: zw_xasprintf("Taken back: %.200s. zwatch asks again; %s", a->title,
				       a->is_direct
					       ? "a connection that is open cannot be taken back."
					       : "what was open is closed.");
	sup_record(s, "mode", text);
	allow_free(s, a);
	return undo_say(s, text);
}

/* -- rules of an answer ------------------------------------------------------------------------- */

static void set(char **field, const char *text)
{
	free(*field);
	*field = zw_xstrdup(text);
}

static void set_site(struct pol_saved *r, const struct sup_ask *q, const struct mdl_ask *a)
{
	const char *port = strrchr(q->target, ':');

	if (q->role == ROLE_SUPER)
		pol_saved_set_site(r, q->target);
	else if (strcmp(a->class_name, POL_CLASS_HOST_PORT) == 0 && port != NULL) {
		zw_autofree char *named = zw_xasprintf("%s%s", SUP_HOST_NAME, port);

		set(&r->target, named);
	} else
		set(&r->target, q->target);
}

static void rule_of(struct sup *s, const struct sup_ask *q, const struct mdl_ask *a,
		    struct pol_saved *r)
{
	pol_saved_init(r);
	r->kind = a->kind;
	r->action = POL_ACTION_ALLOW;
	r->risk = a->risk;
	r->made_s = sup_now_s(s);
	r->session = (int64_t)s->model.number;
	if (a->kind == POL_KIND_SOCKET)
		set(&r->target, q->target);
	else
		set_site(r, q, a);
	set(&r->program, q->program);
	set(&r->program_hash, q->ident.is_started ? q->ident.file[0].hash : "");
	set(&r->script, q->script);
	set(&r->script_hash, q->ident.is_started ? q->ident.file[1].hash : "");
	r->has_listener = a->kind == POL_KIND_SOCKET;
	r->listener_uid = q->listener_uid;
	set(&r->listener_exe, r->has_listener ? q->listener_exe : "");
}

/* One script of an interpreter: broker and proxy know programs only, so they ask each time. */
static uint32_t keep_script(struct sup *s, const struct sup_ask *q, const struct mdl_ask *a)
{
	struct pol_saved r;

	rule_of(s, q, a, &r);
	set(&r.project, s->config->project != NULL ? s->config->project : "");
	r.id = ++s->last_rule;
	uint32_t id = cfg_saved_add(&s->kept, &r)->id;
	sup_saved_changed(s);
	return id;
}

/* For the rest of the session. Returns the scope that the helper is told. */
static unsigned keep_session(struct sup *s, struct sup_ask *q, const struct mdl_ask *a,
			     const struct sup_reply *reply, struct sup_allow *undo)
{
	const struct pol_rule rule = {.kind = a->kind,
				      .action = reply->verdict == POL_ALLOW ? POL_ACTION_ALLOW
									    : POL_ACTION_DENY,
				      .pattern = q->target,
				      .program = q->program,
				      .reason = reply->note};

	if (undo != NULL && *q->script != '\0') {
		undo->kept = keep_script(s, q, a);
		return ZW_SCOPE_ONCE;
	}
	/* A socket whose call still waits is pinned by the broker, by inode and listener: stronger
	 * than any rule by path. */
	uint32_t id = sup_rule_add(s, &rule, a->kind == POL_KIND_SOCKET && !q->is_over);
	if (undo != NULL)
		undo->rule = id;
	return ZW_SCOPE_SESSION;
}

/* What of @r the user has made wider. */
static void widen(struct sup *s, const struct mdl_ask *a, bool is_everywhere, bool is_any_program,
		  bool is_whole_domain, struct pol_saved *r)
{
	if (!is_everywhere)
		set(&r->project, s->config->project);
	if (is_any_program) {
		set(&r->program, "");
		set(&r->program_hash, "");
		set(&r->script, "");
		set(&r->script_hash, "");
	}
	if (is_whole_domain && *a->below != '\0')
		set(&r->target, a->below);
}

int sup_rule_of(struct sup *s, uint64_t ask, bool is_everywhere, bool is_any_program,
		bool is_whole_domain, struct pol_saved *ret)
{
	const struct sup_ask *q = sup_ask_find(s, ask);
	const struct mdl_ask *a = mdl_ask_find(&s->model, ask);

	if (q == NULL || a == NULL)
		return ZW_E_NOT_FOUND;
	rule_of(s, q, a, ret);
	widen(s, a, is_everywhere, is_any_program, is_whole_domain, ret);
	return 0;
}

/* Beyond the session. Returns the rule's number, or 0 with a sentence. */
static uint32_t keep_always(struct sup *s, struct sup_ask *q, const struct mdl_ask *a,
			    const struct sup_reply *reply)
{
	zw_autofree char *why = NULL;
	struct pol_saved r;
	uint32_t id = 0;

	if (!reply->is_any_program && !sup_ident_is_done(&q->ident)) {
		say(s, zw_xstrdup("The program is still being read. Nothing was allowed."));
		return 0;
	}
	rule_of(s, q, a, &r);
	r.until_s = pol_until_end(reply->until, r.made_s);
	widen(s, a, reply->is_everywhere, reply->is_any_program, reply->is_whole_domain, &r);
	if (*r.program != '\0' && *r.program_hash == '\0')
		why = zw_xstrdup("the program cannot be read, so it could not be told again");
	else if (*r.script != '\0' && *r.script_hash == '\0')
		why = zw_xstrdup("the script cannot be read, so it could not be told again");
	if (why != NULL || sup_saved_add(s, &r, &why) < 0)
		say(s, zw_xasprintf("Not saved: %.300s. Nothing was allowed.", why));
	else
		id = r.id;
	pol_saved_fini(&r);
	return id;
}

static void done(struct sup *s, struct sup_ask *q, struct mdl_ask *a, const struct sup_reply *reply,
		 uint32_t saved)
{
	bool is_allow = reply->verdict == POL_ALLOW, is_late = q->is_over;
	unsigned scope = reply->scope, told = scope;
	struct sup_allow *undo = is_allow ? allow_add(s, q, a) : NULL;

	sup_ask_record(s, q, a, is_allow ? ZW_DID_ALLOW : ZW_DID_DENY, scope, ZW_BY_USER,
		       reply->key, reply->shown, reply->shown_ms);
	a->state = MDL_ASK_ANSWERED;
	a->is_allowed = is_allow;
	q->is_by_user = true;
	q->scope = scope;
	q->saved = saved;
	/* Of a port of the host: the waiting call gets the answer and its note, not the rule. */
	if (!is_late && q->role == ROLE_BROKER && a->kind == POL_KIND_SITE)
		sup_ask_tell(s, q, is_allow ? POL_ALLOW : POL_DENY, scope, ZW_BY_USER, saved,
			     reply->note);
	if (scope == ZW_SCOPE_SESSION && q->role != ROLE_SUPER)
		told = keep_session(s, q, a, reply, undo);
	if (undo != NULL)
		undo->saved = saved;
	if (q->role == ROLE_SUPER || !q->is_over)
		sup_ask_tell(s, q, is_allow ? POL_ALLOW : POL_DENY, told, ZW_BY_USER, saved,
			     reply->note);
	else if (is_late && s->face != NULL && is_allow)
		s->face->message(s->face->arg,
				 "That request is over. From now on this session allows it.");
	sup_hold_rearm(s);
	sup_changed(s, MDL_CHANGED_ASKS | MDL_CHANGED_STATUS);
}

const char *sup_answer(struct sup *s, uint64_t ask, const struct sup_reply *reply)
{
	struct sup_ask *q = sup_ask_find(s, ask);
	struct mdl_ask *a = mdl_ask_find(&s->model, ask);
	struct sup_reply r = *reply;
	uint32_t saved = 0;

	if (q == NULL || a == NULL)
		return say(s, zw_xstrdup("There is no such question any more."));
	if (a->state == MDL_ASK_ANSWERED)
		return say(s, zw_xasprintf("It was answered meanwhile: %s.",
					   a->is_allowed ? "allowed" : "denied"));
	if (r.verdict != POL_ALLOW) {
		r.verdict = POL_DENY;
		if (r.scope == ZW_SCOPE_ALWAYS)
			r.scope = ZW_SCOPE_SESSION;
	}
	if (q->is_over && r.verdict == POL_ALLOW && r.scope == ZW_SCOPE_ONCE)
		r.scope = ZW_SCOPE_SESSION;
	if (r.scope == ZW_SCOPE_ALWAYS) {
		/* The card itself must not be answered by its own new rule. */
		enum mdl_ask_state state = a->state;
		a->state = MDL_ASK_OPEN;
		saved = keep_always(s, q, a, &r);
		a->state = state;
		if (saved == 0)
			return s->answer_text;
	}
	done(s, q, a, &r, saved);
	return NULL;
}
