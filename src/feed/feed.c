/* SPDX-License-Identifier: MIT */
#include "src/feed/feed.h"

#include "src/base/err.h"
#include "src/base/mem.h"

struct feed {
	struct policy *now;	 /* owned, in force */
	struct policy *building; /* owned, between pol_begin and pol_end; NULL outside */
	uint64_t n_changes;
};

struct feed *feed_new(void)
{
	struct feed *f = zw_xnew(struct feed);

	f->now = pol_new();
	pol_set_mode(f->now, POL_MODE_STRICT);
	return f;
}

void feed_free(struct feed *f)
{
	if (f == NULL)
		return;
	pol_free(f->now);
	pol_free(f->building);
	free(f);
}

static int begin(struct feed *f, const struct zw_msg_pol_begin *m)
{
	if (m->mode >= POL_MODE_MAX)
		return ZW_E_SYNTAX;
	pol_free(f->building);
	f->building = pol_new();
	pol_set_mode(f->building, (enum pol_mode)m->mode);
	pol_set_resolvers(f->building, m->resolvers <= POL_RESOLVERS_FILTERED
					       ? (enum pol_resolvers)m->resolvers
					       : POL_RESOLVERS_BLOCKED);
	return 1;
}

static int end(struct feed *f)
{
	if (f->building == NULL)
		return ZW_E_DIRECTION;
	pol_free(f->now);
	f->now = zw_steal(&f->building);
	f->n_changes++;
	return 1;
}

static int rule(struct feed *f, const struct zw_msg_pol_rule *m)
{
	zw_autofree char *pattern = zw_span_dup(m->pattern);
	zw_autofree char *program = zw_span_dup(m->program);
	zw_autofree char *origin = zw_span_dup(m->origin);
	zw_autofree char *reason = zw_span_dup(m->reason);

	if (m->kind >= POL_KIND_MAX || m->action >= POL_ACTION_MAX || m->layer >= POL_LAYER_MAX)
		return ZW_E_SYNTAX;
	struct pol_rule r = {.id = m->rule,
			     .kind = (enum pol_kind)m->kind,
			     .action = (enum pol_action)m->action,
			     .layer = (enum pol_layer)m->layer,
			     .flags = m->flags,
			     .pattern = pattern,
			     .program = program,
			     .origin = origin,
			     .reason = reason};
	int error = pol_rule_add(f->building != NULL ? f->building : f->now, &r);
	if (error < 0)
		return error;
	f->n_changes++;
	return 1;
}

static int class(struct feed *f, const struct zw_msg_pol_class *m)
{
	struct pol_class c = {.risk = (enum pol_risk)m->risk,
			      .treat = (enum pol_treat)m->treat,
			      .way = (enum pol_way)m->way};

	if (f->building == NULL)
		return ZW_E_DIRECTION;
	if (m->risk >= POL_RISK_MAX || m->treat >= POL_TREAT_MAX || m->way >= POL_WAY_MAX)
		return ZW_E_SYNTAX;
	zw_span_cpy(c.name, sizeof(c.name), m->name);
	int index = pol_class_add(f->building, &c);
	return index < 0 ? index : index == m->index ? 1 : ZW_E_SYNTAX;
}

static int pattern(struct feed *f, const struct zw_msg_pol_pattern *m)
{
	zw_autofree char *glob = zw_span_dup(m->glob);

	if (f->building == NULL)
		return ZW_E_DIRECTION;
	int error = pol_pattern_add(f->building, m->class_index, m->is_abstract != 0, glob);
	return error < 0 ? error : 1;
}

int feed_on_msg(struct feed *f, enum zw_msg_id id, const union zw_msg_any *msg)
{
	if (id == ZW_ID_pol_begin)
		return begin(f, &msg->pol_begin);
	if (id == ZW_ID_pol_rule)
		return rule(f, &msg->pol_rule);
	if (id == ZW_ID_pol_class)
		return class(f, &msg->pol_class);
	if (id == ZW_ID_pol_pattern)
		return pattern(f, &msg->pol_pattern);
	if (id == ZW_ID_pol_end)
		return end(f);
	return 0;
}

struct policy *feed_policy(struct feed *f)
{
	return f->now;
}

uint64_t feed_generation(const struct feed *f)
{
	return f->n_changes;
}

void feed_send_rule(struct zw_chan *chan, const struct pol_rule *r)
{
	zw_send(chan, pol_rule, .rule = r->id, .kind = (uint8_t)r->kind,
		.action = (uint8_t)r->action, .layer = (uint8_t)r->layer,
		.flags = (uint8_t)r->flags, .pattern = zw_span(r->pattern),
		.program = zw_span(r->program), .origin = zw_span(r->origin),
		.reason = zw_span(r->reason));
}
