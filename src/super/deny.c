/* SPDX-License-Identifier: MIT
 * What the user refuses from a list, without having been asked: a rule, and the end of what is open. */
#include "src/base/mem.h"
#include "src/base/prefix.h"
#include "src/base/vis.h"
#include "src/base/words.h"
#include "src/super/super_i.h"

static const char *say(struct sup *s, char *take_text)
{
	free(s->deny_text);
	s->deny_text = take_text;
	return s->deny_text;
}

void sup_deny_fini(struct sup *s)
{
	free(zw_steal(&s->deny_text));
	free(zw_steal(&s->rule_text));
}

static void set(char **field, const char *text)
{
	free(*field);
	*field = zw_xstrdup(text);
}

/* In rules.json, for this project. Returns its number, or 0 with a sentence. */
static uint32_t keep_always(struct sup *s, const struct sup_deny *d)
{
	zw_autofree char *why = NULL;
	struct pol_saved r;
	uint32_t id = 0;

	pol_saved_init(&r);
	r.kind = d->kind;
	r.action = POL_ACTION_DENY;
	r.made_s = sup_now_s(s);
	r.session = (int64_t)s->model.number;
	set(&r.target, d->target);
	set(&r.program, d->program);
	set(&r.project, s->config->project != NULL ? s->config->project : "");
	if (sup_saved_add(s, &r, &why) < 0)
		say(s, zw_xasprintf("Not saved: %.300s. Nothing was changed.", why));
	else
		id = r.id;
	pol_saved_fini(&r);
	return id;
}

static uint32_t keep_session(struct sup *s, const struct sup_deny *d)
{
	const struct pol_rule rule = {.kind = d->kind,
				      .action = POL_ACTION_DENY,
				      .pattern = d->target,
				      .program = d->program,
				      .reason = ""};
	const char *why = NULL;

	if (pol_rule_check(&rule, &why) < 0) {
		say(s, zw_xasprintf("No rule can be made of it: %s. Nothing was changed.", why));
		return 0;
	}
	return sup_rule_add(s, &rule, false);
}

const char *sup_deny(struct sup *s, const struct sup_deny *d)
{
	struct sup_helper *h = d->kind == POL_KIND_SOCKET ? &s->broker : &s->proxy;
	zw_autofree char *title = zw_vis_dup(d->target, strlen(d->target), 400);
	zw_autofree char *program = zw_vis_dup(d->program, strlen(d->program), 400);
	uint32_t id = d->is_always ? keep_always(s, d) : keep_session(s, d);

	if (id == 0)
		return s->deny_text;
	struct sup_allow *undo = sup_allow_new(s, d->kind, d->target, d->program, title);
	undo->is_deny = true;
	undo->rule = d->is_always ? 0 : id;
	undo->saved = d->is_always ? id : 0;
	if (h->chan != NULL)
		zw_send(h->chan, cut, .target = zw_span(d->target), .program = zw_span(d->program));
	zw_autofree char *number = d->is_always ? zw_xasprintf(" (rule %u)", id) : zw_xstrdup("");
	char *text = zw_xasprintf("From now on denied%s: %s%s%s. Undo: %s u", number, title,
				  *program != '\0' ? " by " : "", program, zw_prefix_name());
	sup_record(s, "mode", text);
	return say(s, text);
}

/* -- what a rule says --------------------------------------------------------------------------- */

static const char *rule_say(struct sup *s, const struct pol_rule *r)
{
	zw_autofree char *pattern = zw_vis_dup(r->pattern, strlen(r->pattern), 400);
	const char *program = r->program != NULL ? r->program : "";
	zw_autofree char *by = zw_vis_dup(program, strlen(program), 400);

	free(s->rule_text);
	s->rule_text =
		zw_xasprintf("%s %s%s%s, from %s", r->action == POL_ACTION_ALLOW ? "allow" : "deny",
			     pattern, *by != '\0' ? " by " : "", by, r->origin);
	return s->rule_text;
}

static const char *saved_say(struct sup *s, const struct pol_saved *saved)
{
	zw_autofree char *origin =
		zw_xasprintf("rules.json, used %ju times", (uintmax_t)saved->n_used);
	struct pol_rule rule;

	pol_saved_rule(saved, origin, &rule);
	return rule_say(s, &rule);
}

const char *sup_rule_text(struct sup *s, uint32_t id)
{
	const struct pol_saved *saved = cfg_saved_find(&s->saved, id);
	const struct sup_rule *r;

	if (id == 0)
		return NULL;
	if (saved != NULL)
		return saved_say(s, saved);
	TAILQ_FOREACH (r, &s->answers, link)
		if (r->rule.id == id)
			return rule_say(s, &r->rule);
	for (size_t i = 0; i < s->config->n_rules; i++)
		if (s->config->rules[i].id == id)
			return rule_say(s, &s->config->rules[i]);
	return NULL;
}
