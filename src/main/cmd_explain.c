/* SPDX-License-Identifier: MIT
 * `zwatch explain`: the walk of a decision, step by step, without anything being tried. The deciding
 * functions are those of broker and proxy; the rules are those a session here would have. */
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>

#include "src/audit/json.h"
#include "src/audit/query.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/sha256.h"
#include "src/base/vis.h"
#include "src/base/words.h"
#include "src/main/cmd.h"

#define PROGRAM_MAX_B (512u << 20)

/** What is explained. Strings owned. */
struct walk {
	struct start *st;
	const struct cli *cli;
	struct policy *policy;
	struct cfg_saved saved;
	char *program, *hash; /* of --as; "" = not told */
	int64_t now_s;
	bool is_json;
	struct zw_buf out; /* with is_json */
	struct aud_json json;
};

static int status_of(const struct walk *w, enum pol_verdict v)
{
	if (!cli_has(w->cli, CLI_OPT_EXIT_CODE))
		return ZW_EXIT_OK;
	return v == POL_ALLOW ? 0 : v == POL_ASK ? 5 : 1;
}

static const char *verdict_word(enum pol_verdict v)
{
	return v == POL_ALLOW ? "allow" : v == POL_ASK ? "ask" : "deny";
}

/* A fact: a line with a label, or a member. */
static void fact(struct walk *w, const char *label, const char *name, const char *text)
{
	if (*text == '\0')
		return;
	if (w->is_json)
		aud_json_str(&w->json, name, zw_span(text));
	else
		dprintf(1, "%-14s %s\n", label, text);
}

static void list_begin(struct walk *w, const char *name)
{
	if (w->is_json)
		aud_json_begin(&w->json, name, '[');
}

static void list_item(struct walk *w, const char *label, const char *text, const char *more)
{
	if (w->is_json)
		aud_json_str(&w->json, NULL, zw_span(text));
	else if (*more != '\0')
		dprintf(1, "%-8s %-40s %s\n", label, text, more);
	else
		dprintf(1, "%-*s %s\n", *label != '\0' ? 8 : 14, label, text);
}

static void list_end(struct walk *w)
{
	if (w->is_json)
		aud_json_end(&w->json, ']');
}

static void head(struct walk *w, enum pol_verdict v, enum pol_risk risk, const char *target,
		 const char *title)
{
	if (!w->is_json) {
		dprintf(1, "%-6s %s  %s%s%s%s\n", verdict_word(v), zw_risk_word(risk), target,
			*title != '\0' ? "  (" : "", title, *title != '\0' ? ")" : "");
		return;
	}
	aud_json_str(&w->json, "verdict", zw_span(verdict_word(v)));
	aud_json_str(&w->json, "risk", zw_span(zw_risk_word(risk)));
	aud_json_str(&w->json, "target", zw_span(target));
	if (*title != '\0')
		aud_json_str(&w->json, "title", zw_span(title));
}

static void step(struct walk *w, int n, const char *question, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
static void step(struct walk *w, int n, const char *question, const char *fmt, ...)
{
	zw_autofree char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		zw_fatal("out of memory");
	va_end(ap);
	zw_autofree char *safe = zw_vis_dup(text, strlen(text), 4096);
	if (!w->is_json) {
		dprintf(1, "       %d %-26s %s\n", n, question, safe);
		return;
	}
	aud_json_begin(&w->json, NULL, '{');
	aud_json_str(&w->json, "question", zw_span(question));
	aud_json_str(&w->json, "answer", zw_span(safe));
	aud_json_end(&w->json, '}');
}

/* -- the rules that hold here ------------------------------------------------------------------- */

static void saved_fill(struct walk *w)
{
	for (size_t i = 0; i < w->saved.n; i++) {
		const struct pol_saved *r = &w->saved.list[i];
		zw_autofree char *origin = zw_xasprintf("your rule %u", r->id);
		struct pol_rule rule;

		if ((*r->project != '\0' && strcmp(r->project, w->st->cfg->project_dir) != 0) ||
		    pol_saved_time(r, w->now_s, w->saved.seen_s) != POL_FIT_YES)
			continue;
		if (r->is_publish)
			continue;
		pol_saved_rule(r, origin, &rule);
		(void)pol_rule_add(w->policy, &rule);
	}
}

static void try_fill(const struct walk *w, struct pol_try *t)
{
	t->program = w->program;
	t->program_hash = *w->hash != '\0' ? w->hash : NULL;
	t->script = "";
	t->project = w->st->cfg->project_dir;
	t->now_s = w->now_s;
	t->seen_s = w->saved.seen_s;
}

/* The saved allow that fits best: decides when it fits, else says why it does not. */
static const struct pol_saved *saved_best(const struct walk *w, const struct pol_try *t,
					  enum pol_fit *ret_fit)
{
	const struct pol_saved *best = NULL;

	*ret_fit = POL_FIT_OTHER;
	for (size_t i = 0; i < w->saved.n; i++) {
		const struct pol_saved *r = &w->saved.list[i];
		enum pol_fit fit = pol_saved_fit(r, t);

		if (r->action == POL_ACTION_ALLOW && fit > *ret_fit) {
			*ret_fit = fit;
			best = r;
		}
	}
	return best;
}

/* Replaces a decision that needs zwatch's own look by what the look finds. */
static void look(const struct walk *w, const struct pol_try *t, struct pol_decision *d,
		 char **ret_near)
{
	enum pol_fit fit;
	const struct pol_saved *r = saved_best(w, t, &fit);

	if (r != NULL)
		*ret_near = pol_saved_why_not(r, t);
	if (!d->is_look)
		return;
	d->is_look = false;
	if (fit == POL_FIT_YES) {
		d->verdict = POL_ALLOW;
		d->rule = r->id;
		return;
	}
	d->verdict = d->otherwise;
	d->by = ZW_BY_MODE;
	d->rule = 0;
}

static void steps(struct walk *w, const struct pol_decision *d, const char *near,
		  const char *inside, const char *what)
{
	bool is_rule = d->by == ZW_BY_RULE;
	bool is_deny = is_rule && d->verdict == POL_DENY;
	const char *origin = d->origin != NULL ? d->origin : "";

	step(w, 1, "inside the sandbox?", "%s", inside);
	step(w, 2, "any deny?", is_deny ? "rule %u, %s" : "no", d->rule, origin);
	if (is_deny)
		return;
	if (is_rule && d->verdict == POL_ALLOW)
		step(w, 3, "any allow?", "rule %u, %s", d->rule, origin);
	else
		step(w, 3, "any allow?", "%s", near != NULL ? near : "no rule is about this");
	if (is_rule)
		return;
	step(w, 4, "what is left", "mode %s, %s: %s%s%s", zw_mode_word((unsigned)w->st->cfg->mode),
	     what, verdict_word(d->verdict), *d->reason != '\0' ? ". " : "", d->reason);
}

static void steps_print(struct walk *w, const struct pol_decision *d, const char *near,
			const char *inside, const char *what)
{
	if (w->is_json)
		aud_json_begin(&w->json, "steps", '[');
	steps(w, d, near, inside, what);
	if (w->is_json)
		aud_json_end(&w->json, ']');
}

/* -- targets ------------------------------------------------------------------------------------ */

static int explain_site(struct walk *w, const char *word)
{
	zw_autofree char *ascii = NULL;
	const char *why = "";
	struct pol_decision d;
	struct pol_host host;
	struct pol_try try = {.kind = POL_KIND_SITE, .risk = POL_RISK_LOW, .host = &host};
	zw_autofree char *near = NULL;

	if (cfg_site_to_ascii(word, &ascii, &why) < 0) {
		dprintf(2, "zwatch: '%s' is no site: %s\n", word, why);
		return ZW_EXIT_USAGE;
	}
	zw_autofree char *full = strrchr(ascii, ':') != NULL && ascii[strlen(ascii) - 1] != ']'
					 ? zw_xstrdup(ascii)
					 : zw_xasprintf("%s:443", ascii);
	if (pol_target_site(full, &host, &try.port) < 0) {
		dprintf(2, "zwatch: '%s' names no single site\n", word);
		return ZW_EXIT_USAGE;
	}
	pol_decide_site(w->policy, &host, try.port, w->program, &d);
	try_fill(w, &try);
	look(w, &try, &d, &near);
	head(w, d.verdict, POL_RISK_LOW, full, "");
	steps_print(w, &d, near, "no, a site is outside", "site");
	zw_autofree char *fix = zw_xasprintf("zwatch rules add allow %s --here", full);
	if (d.verdict != POL_ALLOW && d.by != ZW_BY_RULE)
		fact(w, "To be asked no more:", "fix", fix);
	return status_of(w, d.verdict);
}

static void socket_look(const char *path, char **ret_real, struct stat *ret_st, bool *ret_is_there)
{
	*ret_real = *path == '/' ? realpath(path, NULL) : NULL;
	*ret_is_there = *ret_real != NULL && stat(*ret_real, ret_st) == 0;
	if (*ret_real == NULL)
		*ret_real = zw_xstrdup(path);
}

static void socket_advice(struct walk *w, const struct cfg_class *c, const char *real,
			  enum pol_verdict v)
{
	zw_autofree char *shown = zw_vis_dup(real, strlen(real), 4096);

	zw_autofree char *fix = zw_xasprintf("zwatch rules add allow unix:%s --here", shown);

	fact(w, "What it means", "means", c->allow);
	fact(w, "Safer", "safer", c->safer);
	if (v != POL_ALLOW)
		fact(w, "To be asked no more:", "fix",
		     c->c.risk >= POL_RISK_HIGH
			     ? "answer the question with N (refuse) when it comes."
			     : fix);
}

static int explain_socket(struct walk *w, const char *path)
{
	struct stat st = {0};
	struct pol_decision d;
	struct pol_socket s = {.program = w->program};
	struct pol_try try = {.kind = POL_KIND_SOCKET};
	const struct pol_class *class = NULL;
	zw_autofree char *near = NULL, *real = NULL;
	bool is_there;

	socket_look(path, &real, &st, &is_there);
	if (*real == '@') {
		s.abstract = real + 1;
		s.abstract_len = strlen(real + 1);
	} else {
		s.path = real;
		s.path_len = strlen(real);
		s.alias = path;
		s.alias_len = strlen(path);
	}
	pol_decide_socket(w->policy, &s, &d, &class);
	const struct cfg_class *c = cfg_catalogue_class(start_catalogue(w->st),
							class != NULL ? class->name : "unknown");
	try.risk = class != NULL ? class->risk : POL_RISK_LOW;
	try.socket = real;
	try.listener_uid = st.st_uid;
	try.listener_exe = "";
	try_fill(w, &try);
	look(w, &try, &d, &near);
	zw_autofree char *shown = zw_vis_dup(real, strlen(real), 4096);
	head(w, d.verdict, try.risk, shown, c->title);
	steps_print(w, &d, near,
		    *real == '@' || is_there ? "no, it is the host's" : "nothing is there now",
		    zw_risk_word(try.risk));
	socket_advice(w, c, real, d.verdict);
	return status_of(w, d.verdict);
}

/* A class, or the name of a file that leads to one. */
static const struct cfg_class *class_of(struct walk *w, const char *word)
{
	const struct cfg_catalogue *cat = start_catalogue(w->st);

	for (size_t i = 0; i < cat->n_classes; i++)
		if (strcmp(cat->classes[i].c.name, word) == 0)
			return &cat->classes[i];
	for (size_t i = 0; i < cat->n_patterns; i++)
		if (!cat->patterns[i].is_abstract && strchr(word, '/') == NULL &&
		    strcmp(zw_basename(cat->patterns[i].glob), word) == 0)
			return &cat->classes[cat->patterns[i].class_index];
	return NULL;
}

static int explain_class(struct walk *w, const struct cfg_class *c)
{
	const struct cfg_catalogue *cat = start_catalogue(w->st);

	if (w->is_json) {
		aud_json_str(&w->json, "risk", zw_span(zw_risk_word(c->c.risk)));
		aud_json_str(&w->json, "class", zw_span(c->c.name));
		aud_json_str(&w->json, "title", zw_span(c->title));
		aud_json_bool(&w->json, "is_refused", c->c.treat == POL_TREAT_REFUSE);
	} else {
		dprintf(1, "%s  %s: %s\n", zw_risk_word(c->c.risk), c->c.name, c->title);
	}
	fact(w, "What it means", "means", c->allow);
	fact(w, "Safer", "safer", c->safer);
	if (c->c.treat == POL_TREAT_REFUSE && !w->is_json)
		dprintf(1, "Never opened.\n");
	else if (c->c.risk >= POL_RISK_HIGH && c->c.treat != POL_TREAT_REFUSE)
		fact(w, "To type", "word", c->word);
	list_begin(w, "paths");
	for (size_t i = 0; i < cat->n_patterns; i++)
		if (&cat->classes[cat->patterns[i].class_index] == c) {
			zw_autofree char *one =
				zw_xasprintf("%s%s", cat->patterns[i].is_abstract ? "@" : "",
					     cat->patterns[i].glob);
			list_item(w, "", one, "");
		}
	list_end(w);
	return ZW_EXIT_OK;
}

static int explain_preset(struct walk *w, const char *name)
{
	struct cfg_agent *a = NULL;

	if (cfg_agent_find(name, &w->st->places, &a) < 0) {
		dprintf(2, "zwatch: there is no preset '%s'\n", name);
		return ZW_EXIT_NOTHING;
	}
	if (w->is_json) {
		aud_json_str(&w->json, "preset", zw_span(a->name));
		aud_json_str(&w->json, "title", zw_span(a->title));
		aud_json_str(&w->json, "command", zw_span(a->command));
	} else {
		dprintf(1, "%s  %s, runs %s\n", a->name, a->title, a->command);
	}
	list_begin(w, "sites");
	for (size_t i = 0; i < a->n_sites; i++)
		list_item(w, "allow", a->sites[i].site, a->sites[i].source);
	list_end(w);
	list_begin(w, "writable");
	for (size_t i = 0; i < a->writable.n; i++)
		list_item(w, "write", a->writable.list[i].path, "");
	list_end(w);
	list_begin(w, "private");
	for (size_t i = 0; i < a->private_.n; i++)
		list_item(w, "private", a->private_.list[i].path, "");
	list_end(w);
	cfg_agent_free(a);
	return ZW_EXIT_OK;
}

/* -- files -------------------------------------------------------------------------------------- */

enum view { VIEW_WRITE, VIEW_READ, VIEW_PRIVATE, VIEW_HIDDEN };

struct place {
	size_t depth; /* bytes of the folder that decides */
	enum view view;
	char why[512];
};

/* Of two places the deeper one wins, of the same path the stricter one. */
static void place_take(struct place *p, const char *path, const char *dir, enum view view,
		       const char *why)
{
	size_t depth = strlen(dir);

	if (!cfg_path_within(path, dir) || depth < p->depth ||
	    (depth == p->depth && view < p->view))
		return;
	p->depth = depth;
	p->view = view;
	snprintf(p->why, sizeof(p->why), "%s (%.300s)", why, dir);
}

static void place_find(struct walk *w, const char *path, struct place *p)
{
	const struct cfg *cfg = w->st->cfg;
	struct cfg_protected protected_ = {.writable = {.list = NULL}};
	struct cfg_paths hidden = {.list = NULL};
	const struct {
		const struct cfg_items *items;
		enum view view;
		const char *why;
	} lists[] = {{&cfg->allow_write, VIEW_WRITE, "filesystem.allowWrite"},
		     {&cfg->allow_read, VIEW_READ, "filesystem.allowRead"},
		     {&cfg->deny_write, VIEW_READ, "filesystem.denyWrite"},
		     {&cfg->deny_read, VIEW_HIDDEN, "filesystem.denyRead"}};

	place_take(p, path, "/tmp", VIEW_PRIVATE, "private in each session");
	place_take(p, path, "/run", VIEW_PRIVATE, "private in each session");
	place_take(p, path, cfg->project_dir, VIEW_WRITE, "the project");
	for (size_t i = 0; i < ZW_N_ELEMENTS(lists); i++)
		for (size_t k = 0; k < lists[i].items->n; k++)
			place_take(p, path, lists[i].items->list[k].text, lists[i].view,
				   lists[i].why);
	cfg_hidden_paths(&w->st->places, NULL, &hidden);
	for (size_t i = 0; i < hidden.n; i++)
		place_take(p, path, hidden.list[i].path, VIEW_HIDDEN, hidden.list[i].why);
	cfg_protected_paths(&w->st->places, cfg, NULL, &protected_);
	for (size_t i = 0; i < protected_.guarded.n; i++)
		place_take(p, path, protected_.guarded.list[i].path, VIEW_READ,
			   "would run outside later");
	cfg_protected_fini(&protected_);
	cfg_paths_fini(&hidden);
}

static int explain_path(struct walk *w, const char *word)
{
	static const char *const words[] = {"write", "read", "private", "hidden"};
	struct place p = {.view = VIEW_READ, .why = "everything else"};
	zw_autofree char *path = NULL;

	if (cfg_path_expand(&w->st->places, w->st->places.start_dir, word, &path) < 0) {
		dprintf(2, "zwatch: '%s' is no path\n", word);
		return ZW_EXIT_USAGE;
	}
	zw_autofree char *real = realpath(path, NULL);
	place_find(w, real != NULL ? real : path, &p);
	zw_autofree char *shown =
		zw_vis_dup(real != NULL ? real : path, strlen(real != NULL ? real : path), 4096);
	zw_autofree char *why = zw_vis_dup(p.why, strlen(p.why), 1024);
	if (w->is_json) {
		fact(w, "", "view", words[p.view]);
		fact(w, "", "path", shown);
		fact(w, "", "why", why);
	} else {
		dprintf(1, "%-8s %s\n         %s\n", words[p.view], shown, why);
	}
	if (!cli_has(w->cli, CLI_OPT_EXIT_CODE))
		return ZW_EXIT_OK;
	return p.view == VIEW_HIDDEN ? 1 : 0;
}

/* -- an event of the record --------------------------------------------------------------------- */

static int explain_event(struct walk *w, const char *word)
{
	zw_autofree char *store = cmd_store_path(w->st);
	struct aud_event_page page = {.rows = NULL};
	struct aud_query *q = NULL;
	int64_t session = 0;
	uint64_t no = 0;
	int status = ZW_EXIT_NOTHING;

	if (zw_parse_u64(word, strlen(word), INT64_MAX, &no) < 0)
		return ZW_EXIT_USAGE;
	if (aud_query_open(store, &q) == 0 && aud_session_find(q, "last", &session) == 0 &&
	    aud_event_get(q, session, (int64_t)no, &page) == 0) {
		const struct aud_event *e = &page.rows[0];
		zw_autofree char *site =
			e->row == AUD_ROW_CONN
				? zw_xasprintf("%s:%lld", e->target.p, (long long)e->port)
				: NULL;
		bool is_unix = e->row == AUD_ROW_SOCKET || zw_span_eq(e->op, "unix");

		if (e->target.p != NULL && e->row != AUD_ROW_MISC)
			status = is_unix ? explain_socket(w, e->target.p)
					 : explain_site(w, site != NULL ? site : e->target.p);
	} else {
		dprintf(2, "zwatch: the last session has no event %s\n", word);
	}
	aud_event_page_clear(&page);
	aud_query_free(q);
	return status;
}

/* -- the command -------------------------------------------------------------------------------- */

static int take_program(struct walk *w)
{
	const char *word = cli_get(w->cli, CLI_OPT_AS);
	char hash[ZW_SHA256_HEX + 1] = "";
	zw_autofree char *bytes = NULL;
	struct zw_sha256 sum;
	size_t len;

	w->hash = zw_xstrdup("");
	if (word == NULL) {
		w->program = zw_xstrdup("");
		return 0;
	}
	w->program = cmd_program_find(word);
	if (w->program == NULL) {
		dprintf(2, "zwatch: there is no program '%s'\n", word);
		w->program = zw_xstrdup("");
		return ZW_E_NOT_FOUND;
	}
	if (zw_read_file(w->program, PROGRAM_MAX_B, &bytes, &len) < 0)
		return 0;
	zw_sha256_init(&sum);
	zw_sha256_add(&sum, bytes, len);
	zw_sha256_hex(&sum, hash);
	free(w->hash);
	w->hash = zw_xstrdup(hash);
	return 0;
}

static int explain_word(struct walk *w)
{
	const char *word = w->cli->rest[0];
	const struct cfg_class *c;

	if (strcmp(word, "preset") == 0 && w->cli->n_rest > 1)
		return explain_preset(w, w->cli->rest[1]);
	if (zw_starts_with(word, "unix:"))
		return explain_socket(w, word + 5);
	if (zw_starts_with(word, "path:"))
		return explain_path(w, word + 5);
	if (zw_starts_with(word, "event:"))
		return explain_event(w, word + 6);
	if (*word == '/' || *word == '@')
		return explain_socket(w, word);
	c = class_of(w, word);
	return c != NULL ? explain_class(w, c) : explain_site(w, word);
}

/* JSON is printed as a whole, and not when there is nothing to explain. */
static int explain(struct walk *w)
{
	size_t before;

	if (!w->is_json)
		return explain_word(w);
	zw_buf_init(&w->out, 1u << 20);
	aud_json_init(&w->json, &w->out);
	aud_json_begin(&w->json, NULL, '{');
	aud_json_int(&w->json, "schema", 1);
	before = w->out.len;
	int status = explain_word(w);
	aud_json_end(&w->json, '}');
	if (w->out.len > before + 1 && w->json.error == 0)
		dprintf(1, "%.*s\n", (int)w->out.len, (const char *)zw_buf_head(&w->out));
	zw_buf_fini(&w->out);
	return status;
}

int cmd_explain(struct start *st, const struct cli *cli)
{
	struct walk w = {.st = st,
			 .cli = cli,
			 .now_s = zw_now_us() / 1000000,
			 .is_json = cli_has(cli, CLI_OPT_JSON)};
	zw_autofree char *rules = cmd_rules_path(st);

	if (cli->n_rest == 0) {
		dprintf(2, "zwatch: explain what? HOST[:PORT], unix:PATH, path:PATH, event:N, a "
			   "class, "
			   "or preset NAME\n");
		return ZW_EXIT_USAGE;
	}
	start_print_report(st, 2, false);
	if (st->report.n_errors > 0 || cmd_rules_load(rules, &w.saved) < 0)
		return ZW_EXIT_CONFIG;
	w.policy = pol_new();
	cfg_catalogue_fill(start_catalogue(st), w.policy);
	cfg_fill(st->cfg, w.policy);
	saved_fill(&w);
	int status = take_program(&w) < 0 ? ZW_EXIT_USAGE : explain(&w);
	pol_free(w.policy);
	cfg_saved_fini(&w.saved);
	free(w.program);
	free(w.hash);
	return status;
}
