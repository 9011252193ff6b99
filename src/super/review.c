/* SPDX-License-Identifier: MIT
 * What a session leaves to decide: the questions that it asked, and what was new in it. */
#include "src/base/mem.h"
#include "src/base/words.h"
#include "src/super/super_i.h"

#define ROWS_MAX 200

static struct sup_review_row *row_new(struct sup_review *r)
{
	struct sup_review_row *row;

	if (r->n == ROWS_MAX)
		return NULL;
	r->list = zw_xrealloc(r->list, r->n + 1, sizeof(*r->list));
	row = &r->list[r->n++];
	*row = (struct sup_review_row){.n_times = 0};
	pol_saved_init(&row->rule);
	return row;
}

static struct sup_review_row *row_find(const struct sup_review *r, const struct pol_saved *rule)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->list[i].rule.kind == rule->kind &&
		    strcmp(r->list[i].rule.target, rule->target) == 0 &&
		    strcmp(r->list[i].rule.program, rule->program) == 0)
			return &r->list[i];
	return NULL;
}

static void said(struct sup_review_row *row, char *take_text)
{
	free(row->said);
	row->said = take_text;
}

/* What became of a question, and what it may become. */
static void answer(struct sup *s, struct sup_review_row *row, const struct sup_ask *q,
		   const struct mdl_ask *a)
{
	bool is_kept = q->saved != 0 && cfg_saved_find(&s->saved, q->saved) != NULL;
	const struct pol_saved *r = &row->rule;
	/* Only what tells the program again can be kept. */
	bool is_whole = (*r->program == '\0' || *r->program_hash != '\0') &&
			(*r->script == '\0' || *r->script_hash != '\0');

	row->can_always = row->can_never = false;
	row->is_asked = true;
	if (a->state == MDL_ASK_MISSED) {
		said(row, zw_xstrdup("nobody answered"));
	} else if (!q->is_by_user) {
		said(row, zw_xasprintf("%s by rule", a->is_allowed ? "allowed" : "denied"));
		row->is_asked = false;
		return;
	} else if (q->saved != 0) {
		said(row, is_kept ? zw_xasprintf("always, rule %u", q->saved)
				  : zw_xstrdup("always, taken back"));
		row->is_asked = !is_kept;
	} else {
		said(row, zw_xasprintf("%s %s", a->is_allowed ? "allow" : "deny",
				       zw_scope_word(q->scope)));
	}
	row->can_never = !is_kept;
	row->can_always = !is_kept && a->risk < POL_RISK_HIGH && is_whole &&
			  a->state == MDL_ASK_ANSWERED && a->is_allowed;
}

static void add_ask(struct sup *s, struct sup_review *ret, const struct sup_ask *q,
		    const struct mdl_ask *a)
{
	struct pol_saved rule;

	sup_rule_of(s, q->id, false, false, false, &rule);
	struct sup_review_row *row = row_find(ret, &rule);
	if (row == NULL && (row = row_new(ret)) != NULL) {
		row->title = zw_xstrdup(a->kind == POL_KIND_SITE ? a->title : a->target);
		row->program = zw_xstrdup(mdl_proc_name(&a->proc));
	}
	if (row != NULL) {
		pol_saved_fini(&row->rule); /* the newest one knows the file as it was last */
		row->rule = rule;
		row->n_times += a->n_waiting > 0 ? a->n_waiting : 1;
		row->is_new = row->is_new || a->is_new;
		answer(s, row, q, a);
	} else {
		pol_saved_fini(&rule);
	}
}

static bool is_listed(const struct sup_review *r, enum pol_kind kind, const char *target)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->list[i].rule.kind == kind && strcmp(r->list[i].rule.target, target) == 0)
			return true;
	return false;
}

/* New, and nobody was asked: by a rule it is as it is; else it can be refused from now on. */
static void add_new(struct sup *s, struct sup_review *ret, enum pol_kind kind, const char *target,
		    const char *title, const struct mdl_proc *p, unsigned did, unsigned by,
		    uint32_t rule, uint32_t n)
{
	struct sup_review_row *row;

	if (is_listed(ret, kind, target) || (row = row_new(ret)) == NULL)
		return;
	row->title = zw_xstrdup(title);
	row->program = zw_xstrdup(mdl_proc_name(p));
	row->n_times = n > 0 ? n : 1;
	row->is_new = true;
	row->can_never = did == ZW_DID_ALLOW && by == ZW_BY_MODE;
	row->rule.kind = kind;
	free(row->rule.target);
	row->rule.target = zw_xstrdup(target);
	free(row->rule.project);
	row->rule.project = zw_xstrdup(s->config->project);
	const char *verb = did == ZW_DID_ALLOW ? "allowed" : "refused";
	said(row, by == ZW_BY_RULE && rule != 0 && rule < POL_RULE_PASSING
			  ? zw_xasprintf("%s by rule %u", verb, rule)
			  : zw_xasprintf("%s by %s", verb, zw_by_word(by)));
}

static void add_all_new(struct sup *s, struct sup_review *ret)
{
	const struct mdl_conn *c;
	const struct mdl_sock *k;

	TAILQ_FOREACH (c, &s->model.conns, link) {
		bool is_v6 = strchr(c->host, ':') != NULL;
		zw_autofree char *site = zw_xasprintf("%s%s%s:%u", is_v6 ? "[" : "", c->host,
						      is_v6 ? "]" : "", c->port);

		if (c->is_new && (c->did == ZW_DID_ALLOW || c->did == ZW_DID_DENY))
			add_new(s, ret, POL_KIND_SITE, site, site, &c->proc, c->did, c->by, c->rule,
				c->n_times);
	}
	TAILQ_FOREACH (k, &s->model.socks, link)
		if (k->is_new && (k->did == ZW_DID_ALLOW || k->did == ZW_DID_DENY))
			add_new(s, ret, POL_KIND_SOCKET, k->raw_target, k->target, &k->proc, k->did,
				k->by, k->rule, k->n_times);
}

void sup_review_make(struct sup *s, struct sup_review *ret)
{
	const struct sup_ask *q;

	TAILQ_FOREACH (q, &s->asks, link) {
		const struct mdl_ask *a = mdl_ask_find(&s->model, q->id);

		if (a != NULL && q->is_shown &&
		    (a->state == MDL_ASK_ANSWERED || a->state == MDL_ASK_MISSED))
			add_ask(s, ret, q, a);
	}
	add_all_new(s, ret);
}

void sup_review_fini(struct sup_review *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->list[i].title);
		free(r->list[i].program);
		free(r->list[i].said);
		pol_saved_fini(&r->list[i].rule);
	}
	free(r->list);
	*r = (struct sup_review){.n = 0};
}
