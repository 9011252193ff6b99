/* SPDX-License-Identifier: MIT
 * The policy on its way to those who decide: settings first, then what the user answered. */
#include "src/base/mem.h"
#include "src/feed/feed.h"
#include "src/super/super_i.h"

const struct cfg_catalogue *sup_catalogue(struct sup *s)
{
	return s->config->catalogue(s->config->catalogue_arg);
}

static void catalogue_send(const struct cfg_catalogue *cat, struct zw_chan *chan)
{
	for (size_t i = 0; i < cat->n_classes; i++) {
		const struct pol_class *c = &cat->classes[i].c;

		zw_send(chan, pol_class, .index = (uint16_t)i, .name = zw_span(c->name),
			.risk = (uint8_t)c->risk, .treat = (uint8_t)c->treat,
			.way = (uint8_t)c->way);
	}
	for (size_t i = 0; i < cat->n_patterns; i++) {
		const struct cfg_pattern *p = &cat->patterns[i];

		zw_send(chan, pol_pattern, .class_index = (uint16_t)p->class_index,
			.is_abstract = p->is_abstract, .glob = zw_span(p->glob));
	}
}

void sup_policy_send(struct sup *s, struct sup_helper *h)
{
	const struct sup_rule *r;

	if (h->chan == NULL)
		return;
	s->generation++;
	zw_chan_cork(h->chan, true);
	zw_send(h->chan, pol_begin, .generation = s->generation, .mode = (uint8_t)s->model.mode,
		.resolvers =
			s->config->net.doh == 0 ? POL_RESOLVERS_BLOCKED : POL_RESOLVERS_FILTERED);
	if (h->role == ROLE_BROKER)
		catalogue_send(sup_catalogue(s), h->chan);
	for (size_t i = 0; i < s->config->n_rules; i++)
		feed_send_rule(h->chan, &s->config->rules[i]);
	TAILQ_FOREACH (r, &s->answers, link)
		if (!r->is_pinned)
			feed_send_rule(h->chan, &r->rule);
	sup_saved_send(s, h);
	zw_send(h->chan, pol_end, .generation = s->generation);
	zw_chan_cork(h->chan, false);
}

static void rule_free(struct sup_rule *r)
{
	free((char *)(uintptr_t)r->rule.pattern);
	free((char *)(uintptr_t)r->rule.program);
	free((char *)(uintptr_t)r->rule.reason);
	free(r);
}

uint32_t sup_rule_add(struct sup *s, const struct pol_rule *rule, bool is_pinned)
{
	struct sup_rule *r = zw_xnew(struct sup_rule);

	r->rule = *rule;
	r->rule.id = ++s->last_rule;
	r->rule.layer = POL_LAYER_ANSWER;
	r->rule.flags = POL_RULE_DANGEROUS_OK;
	r->rule.origin = "your answer in this session";
	r->rule.pattern = zw_xstrdup(rule->pattern);
	r->rule.program = zw_xstrdup(rule->program);
	r->rule.reason = zw_xstrdup(rule->reason);
	r->is_pinned = is_pinned;
	TAILQ_INSERT_TAIL(&s->answers, r, link);
	if (is_pinned)
		return r->rule.id;
	if (s->broker.chan != NULL)
		feed_send_rule(s->broker.chan, &r->rule);
	if (s->proxy.chan != NULL)
		feed_send_rule(s->proxy.chan, &r->rule);
	return r->rule.id;
}

void sup_rule_remove(struct sup *s, uint32_t id)
{
	struct sup_rule *r;

	TAILQ_FOREACH (r, &s->answers, link)
		if (r->rule.id == id)
			break;
	if (r == NULL)
		return;
	TAILQ_REMOVE(&s->answers, r, link);
	rule_free(r);
}

const char *sup_set_mode(struct sup *s, enum pol_mode mode)
{
	zw_autofree char *line =
		zw_xasprintf("%s -> %s", pol_mode_word(s->model.mode), pol_mode_word(mode));

	if (mode == s->model.mode)
		return NULL;
	if (mode < s->config->mode_floor)
		return "The managed policy of this machine does not let a session be that loose.";
	s->model.mode = mode;
	sup_policy_send(s, &s->broker);
	sup_policy_send(s, &s->proxy);
	sup_record(s, "mode", line);
	sup_changed(s, MDL_CHANGED_STATUS);
	return NULL;
}

void sup_rules_fini(struct sup *s)
{
	struct sup_rule *r;

	while ((r = TAILQ_FIRST(&s->answers)) != NULL) {
		TAILQ_REMOVE(&s->answers, r, link);
		rule_free(r);
	}
}
