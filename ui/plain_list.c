/* SPDX-License-Identifier: MIT
 * Plain mode: lists, as lines with numbers. */
#include <string.h>

#include "src/base/mem.h"
#include "src/base/prefix.h"
#include "src/base/words.h"
#include "ui/cmd.h"
#include "ui/fmt.h"
#include "ui/plain.h"

#define CONNS_SHOWN 15

/* -- questions ------------------------------------------------------------------------------------ */

void plain_waiting_open(struct plain *p)
{
	const struct mdl_ask *a;
	char age[UI_FMT_MAX];
	size_t n = 0;

	TAILQ_FOREACH (a, &p->model->asks, link)
		n += a->state == MDL_ASK_HELD || a->state == MDL_ASK_MISSED;
	if (n == 0) {
		plain_say(p, "Nothing waits for an answer.");
		return;
	}
	plain_take(p, PLAIN_WAITING);
	plain_say(p, "%zu wait for an answer.", n);
	TAILQ_FOREACH (a, &p->model->asks, link) {
		if (a->state != MDL_ASK_HELD && a->state != MDL_ASK_MISSED)
			continue;
		plain_say(p, "%s question %ju: %s%s, %s, %s %u, %u times, %s since.",
			  zw_risk_word(a->risk), (uintmax_t)a->id, a->is_new ? "new, " : "",
			  a->state == MDL_ASK_MISSED ? "missed" : "held", a->title,
			  mdl_proc_name(&a->proc), a->proc.pid, a->n_waiting,
			  ui_fmt_span(age, p->now_ms - a->since_ms));
	}
	plain_say(p,
		  "A number opens a question. \"deny all\" denies all that wait, once. \"allow\" "
		  "and numbers allows these once, low risk only.");
	plain_prompt(p, "Then Enter. Enter alone goes back:");
}

static unsigned give(struct plain *p, struct mdl_ask *a, enum pol_verdict verdict, const char *key)
{
	struct ui_answer answer = {.ask = a->id,
				   .verdict = verdict,
				   .scope = ZW_SCOPE_ONCE,
				   .note = "",
				   .key = key,
				   .shown = "(in the list of questions)"};

	plain_forget(p, a->id);
	return p->host.answer(p->host.arg, &answer) == NULL;
}

static void deny_all(struct plain *p)
{
	struct mdl_ask *a, *next;
	unsigned n = 0;

	for (a = TAILQ_FIRST(&p->model->asks); a != NULL; a = next) {
		next = TAILQ_NEXT(a, link);
		if (a->state == MDL_ASK_HELD)
			n += give(p, a, POL_DENY, "deny all");
	}
	plain_say(p, "Denied once: %u.", n);
}

/* Each one that is named has to be of low risk, else none is allowed. */
/* As for the keys of a question: what was typed before the list could be read allows nothing. */
static bool is_early(const struct plain *p)
{
	return !p->config.is_second_key &&
	       (p->prompt_ms < 0 || p->line_ms - p->prompt_ms < p->config.arm_ms ||
		p->line_quiet_ms < p->config.quiet_ms);
}

static void allow_these(struct plain *p, const char *numbers)
{
	struct mdl_ask *list[PLAIN_ROWS_MAX];
	size_t n = 0;
	unsigned n_allowed = 0;

	if (is_early(p)) {
		plain_say(p, "Too early: allowing is asleep. Nothing was allowed.");
		return;
	}
	while (*(numbers += strspn(numbers, " ,")) != '\0') {
		size_t len = strspn(numbers, "0123456789");
		uint64_t id = 0;
		struct mdl_ask *a = len > 0 && zw_parse_u64(numbers, len, UINT64_MAX, &id) == 0
					    ? mdl_ask_find(p->model, id)
					    : NULL;

		if (a == NULL || a->state != MDL_ASK_HELD || a->risk >= POL_RISK_HIGH ||
		    n == PLAIN_ROWS_MAX) {
			plain_say(p,
				  "Nothing was allowed: each has to be a question that is held and "
				  "of low risk.");
			return;
		}
		list[n++] = a;
		numbers += len;
	}
	for (size_t i = 0; i < n; i++)
		n_allowed += give(p, list[i], POL_ALLOW, "allow these");
	plain_say(p, "Allowed once: %u.", n_allowed);
}

void plain_waiting_line(struct plain *p)
{
	uint64_t id = 0;

	if (p->is_pasted) {
		plain_say(p, "That came in one piece, as a paste does. Nothing was done.");
	} else if (strcmp(p->line, "deny all") == 0) {
		deny_all(p);
	} else if (zw_starts_with(p->line, "allow ")) {
		allow_these(p, p->line + 6);
	} else if (p->len > 0 && zw_parse_u64(p->line, p->len, UINT64_MAX, &id) == 0) {
		plain_ask_open(p, id);
		if (p->with == PLAIN_ASK)
			return;
	} else if (p->len > 0) {
		plain_say(p, "That is none of them. Nothing was done.");
	}
	plain_give_back(p);
}

/* -- sockets and sites ---------------------------------------------------------------------------- */

void plain_conns_say(struct plain *p)
{
	char up[UI_FMT_MAX], down[UI_FMT_MAX];
	const struct mdl_conn *c;
	size_t n = 0;

	if (TAILQ_EMPTY(&p->model->conns))
		plain_say(p, "No connection yet.");
	TAILQ_FOREACH (c, &p->model->conns, link) {
		const char *state = c->did != ZW_DID_ALLOW ? zw_did_word(c->did)
				    : c->closed_us == 0	   ? "live"
							   : "done";

		if (++n > CONNS_SHOWN)
			break;
		plain_say(p, "%s%s: %s port %u, %s %u, up %s, down %s%s%s.", state,
			  c->is_new ? ", new" : "", c->host, c->port, mdl_proc_name(&c->proc),
			  c->proc.pid, ui_fmt_bytes(up, c->up_b), ui_fmt_bytes(down, c->down_b),
			  *c->reason != '\0' ? ", " : "", c->reason);
	}
	if (p->model->n_conns > CONNS_SHOWN)
		plain_say(p, "%zu older ones: zwatch log, in another terminal.",
			  p->model->n_conns - CONNS_SHOWN);
}

void plain_socks_open(struct plain *p)
{
	const struct mdl_sock *k;

	if (TAILQ_EMPTY(&p->model->socks)) {
		plain_say(p, "No socket yet.");
		return;
	}
	plain_take(p, PLAIN_SOCKS);
	p->n_rows = 0;
	TAILQ_FOREACH (k, &p->model->socks, link) {
		if (p->n_rows == CONNS_SHOWN)
			break;
		p->row[p->n_rows++] = k->id;
		plain_say(p, "%zu %s%s: %s, %s %u, %u times, by %s.", p->n_rows,
			  zw_did_word(k->did), k->is_new ? ", new" : "", k->target,
			  mdl_proc_name(&k->proc), k->proc.pid, k->n_times, zw_by_word(k->by));
	}
	plain_prompt(p, "A number and Enter ends what that row has open. Enter alone goes back:");
}

void plain_socks_line(struct plain *p)
{
	const struct mdl_sock *k;
	uint64_t n = 0;

	if (p->len > 0 && zw_parse_u64(p->line, p->len, p->n_rows, &n) == 0 && n > 0) {
		TAILQ_FOREACH (k, &p->model->socks, link)
			if (k->id == p->row[n - 1])
				break;
		if (k == NULL || k->did != ZW_DID_ALLOW) {
			plain_say(p, "Nothing is open there.");
		} else {
			p->host.close_sock(p->host.arg, k);
			plain_say(p, "Ended: what %s %u had open to %s.", mdl_proc_name(&k->proc),
				  k->proc.pid, k->target);
		}
	}
	plain_give_back(p);
}

/* -- the session ---------------------------------------------------------------------------------- */

void plain_status_say(struct plain *p)
{
	const struct mdl_session *m = p->model;
	char up[UI_FMT_MAX], down[UI_FMT_MAX], length[UI_FMT_MAX];

	plain_say(p, "Session %ju, %s in %s, mode %s%s%s.", (uintmax_t)m->number, m->agent,
		  m->project, zw_mode_word(m->mode),
		  m->is_private	   ? ", private: only sums are kept"
		  : m->is_recorded ? ", screen recorded"
				   : "",
		  m->is_dangerous ? ", DANGEROUS sockets are open without a question" : "");
	plain_say(p, "%zu waiting, %ju live, allowed %ju, refused %ju, asked %ju, missed %ju.",
		  mdl_asks_waiting(m), (uintmax_t)m->n_live, (uintmax_t)m->n_allow,
		  (uintmax_t)m->n_deny, (uintmax_t)m->n_ask, (uintmax_t)m->n_miss);
	plain_say(p, "Up %s, down %s, %s so far.", ui_fmt_bytes(up, m->up_b),
		  ui_fmt_bytes(down, m->down_b), ui_fmt_span(length, p->now_ms - m->started_ms));
	if (*m->warning != '\0')
		plain_say(p, "Warning: %s.", m->warning);
}

void plain_help_say(struct plain *p)
{
	static const enum ui_cmd cmds[] = {UI_CMD_ANSWER,      UI_CMD_WAITING, UI_CMD_FOCUS_CONNS,
					   UI_CMD_FOCUS_SOCKS, UI_CMD_MODE,    UI_CMD_UNDO,
					   UI_CMD_FREEZE,      UI_CMD_STOP,    UI_CMD_SUSPEND};

	plain_say(p, "All you type goes to the agent, except after %s. Then:", zw_prefix_spoken());
	plain_say(p, "1 this session");
	for (size_t i = 0; i < ZW_N_ELEMENTS(cmds); i++)
		plain_say(p, "%.*s %s", (int)strcspn(ui_cmd_keys(cmds[i]), " "),
			  ui_cmd_keys(cmds[i]), ui_cmd_help(cmds[i]));
	plain_say(p, "%s again sends it to the agent.", zw_prefix_spoken());
}
