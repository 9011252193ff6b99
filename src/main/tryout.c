/* SPDX-License-Identifier: MIT */
#include "src/main/tryout.h"

#include "src/audit/query.h"
#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/words.h"

#define SESSIONS_MAX 500
#define EVENTS_MAX   200000
#define PAGE	     500

static enum pol_risk risk_of(const struct aud_event *e)
{
	enum pol_risk risk = POL_RISK_LOW;
	zw_autofree char *word = zw_span_dup(e->risk);

	if (pol_risk_parse(word, &risk) < 0)
		risk = POL_RISK_LOW;
	return risk;
}

/* What was tried, as the record has it. Returns false for rows of another kind. */
static bool try_of(const struct aud_event *e, const char *project, struct pol_host *host,
		   struct pol_try *t)
{
	*t = (struct pol_try){.risk = risk_of(e),
			      .program = e->exe.p != NULL ? e->exe.p : "",
			      .project = project,
			      .is_past = true};
	if (e->target.p == NULL)
		return false;
	if (e->row == AUD_ROW_SOCKET || (e->row == AUD_ROW_QUESTION && zw_span_eq(e->op, "unix"))) {
		t->kind = POL_KIND_SOCKET;
		t->socket = e->target.p;
		return true;
	}
	t->kind = POL_KIND_SITE;
	if (e->row == AUD_ROW_QUESTION && zw_starts_with(e->target.p, POL_PUBLISH)) {
		t->publish = e->target.p;
		return true;
	}
	t->host = host;
	if (e->row == AUD_ROW_QUESTION)
		return pol_target_site(e->target.p, host, &t->port) == 0;
	t->port = (uint16_t)e->port;
	return e->row == AUD_ROW_CONN && pol_host_parse(e->target.p, e->target.len, host) == 0;
}

static void count(struct tryout *ret, const struct pol_saved *rule, const struct aud_event *e,
		  const char *project)
{
	bool is_question = e->row == AUD_ROW_QUESTION;
	bool is_refused = zw_span_eq(e->did, "deny") || zw_span_eq(e->did, "miss");
	struct pol_host host;
	struct pol_try t;

	ret->n_questions += is_question;
	if ((!is_question && !is_refused) || !try_of(e, project, &host, &t) ||
	    pol_saved_fit(rule, &t) != POL_FIT_YES)
		return;
	ret->n_answers += is_question;
	ret->n_denied += is_question && is_refused;
	ret->n_refused += !is_question;
	if (is_refused && e->session > ret->denied_session)
		ret->denied_session = e->session;
}

static int session_try(struct aud_query *q, const struct aud_session *s,
		       const struct pol_saved *rule, const struct aud_filter *f, struct tryout *ret,
		       size_t *io_events)
{
	struct aud_event_page page = {.rows = NULL};
	int64_t from = 0;
	int r = 0;

	do {
		r = f != NULL ? aud_find(q, f, s->id, AUD_FORWARD,
					 from > 0 ? AUD_EVENT_ID(s->id, from) : 0, PAGE, &page)
			      : aud_events(q, s->id, AUD_FORWARD, from, PAGE, &page);
		for (size_t i = 0; r == 0 && i < page.n_rows; i++) {
			count(ret, rule, &page.rows[i], s->project.p != NULL ? s->project.p : "");
			from = page.rows[i].no;
		}
		*io_events += page.n_rows;
	} while (r == 0 && page.has_more && *io_events < EVENTS_MAX);
	aud_event_page_clear(&page);
	return r;
}

int tryout_run(const char *path, const struct pol_saved *rule, const struct aud_filter *f,
	       struct tryout *ret)
{
	struct aud_session_page page = {.rows = NULL};
	struct aud_query *q = NULL;
	int64_t before = 0;
	size_t n_events = 0;
	int r = aud_query_open(path, &q);

	*ret = (struct tryout){.n_sessions = 0};
	while (r == 0) {
		r = f != NULL ? aud_sessions_find(q, f, before, PAGE, &page)
			      : aud_sessions(q, before, PAGE, &page);
		for (size_t i = 0; r == 0 && i < page.n_rows && ret->n_sessions < SESSIONS_MAX &&
				   n_events < EVENTS_MAX;
		     i++) {
			before = page.rows[i].id;
			ret->n_sessions++;
			r = session_try(q, &page.rows[i], rule, f, ret, &n_events);
		}
		ret->is_cut = ret->n_sessions >= SESSIONS_MAX || n_events >= EVENTS_MAX;
		if (!page.has_more || ret->is_cut)
			break;
	}
	aud_session_page_clear(&page);
	aud_query_free(q);
	return r < 0 ? r : ret->n_sessions == 0 ? ZW_E_NOT_FOUND : 0;
}

char *tryout_text(const struct tryout *t)
{
	zw_autofree char *denied = NULL;

	if (t->n_denied + t->n_refused == 0)
		denied = zw_xstrdup("matches nothing that was denied");
	else
		denied = zw_xasprintf("BUT matches %zu that were denied (session %lld)",
				      t->n_denied > 0 ? t->n_denied : t->n_refused,
				      (long long)t->denied_session);
	return zw_xasprintf("Tried on the last %zu sessions: answers %zu of %zu questions, %s.",
			    t->n_sessions, t->n_answers, t->n_questions, denied);
}
