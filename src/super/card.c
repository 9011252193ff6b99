/* SPDX-License-Identifier: MIT
 * What stands on a question's card: the words of the class, and what is known of who asks. */
#include <grp.h>
#include <pwd.h>

#include "src/base/mem.h"
#include "src/policy/script.h"
#include "src/super/super_i.h"

#define TEXT_MAX 1024

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

/* "*.example.org:443" of "www.example.org:443", in the form of a rule. */
static void set_below(struct mdl_ask *a, const char *target)
{
	char below[POL_HOST_MAX + 3];
	struct pol_host host;
	uint16_t port;

	if (pol_target_site(target, &host, &port) < 0 ||
	    !pol_site_below(&host, below, sizeof(below)))
		return;
	zw_autofree char *t = zw_xasprintf("%s:%u", below, port);
	text(&a->below, t);
}

/* A service of this machine, on a port that nobody inside listens on. */
static void fill_host_port(struct mdl_ask *a, const struct zw_msg_ask *m, const char *target)
{
	zw_autofree char *wants = zw_xasprintf("wants %s of this machine", target);

	text(&a->wants, wants);
	text(&a->consequence,
	     "it can do there what every program of yours can: services on loopback "
	     "often ask for no password. zwatch sees sizes, not content.");
	text(&a->safer, "start what the agent needs inside: nobody listens on that port there");
	set_answers(a, m);
}

/* A server inside that has begun to listen: nothing waits, and what is refused is only the offer. */
static void fill_publish(struct mdl_ask *a, const char *port)
{
	zw_autofree char *title = zw_xasprintf("127.0.0.1:%s", port);
	zw_autofree char *wants = zw_xasprintf("serves port %s inside", port);
	zw_autofree char *then =
		zw_xasprintf("http://%s of this machine leads to it, for every program and user "
			     "here, your browser too. What it answers comes from inside the "
			     "sandbox. Programs inside reach it either way.",
			     title);

	text(&a->title, title);
	text(&a->wants, wants);
	text(&a->consequence, then);
}

static void fill_site(struct sup *s, struct mdl_ask *a, const struct zw_msg_ask *m)
{
	zw_autofree char *target = zw_span_dup(m->target);
	zw_autofree char *class_name = zw_span_dup(m->class_name);
	zw_autofree char *wants = zw_xasprintf("wants %s", target);

	text(&a->title, target);
	text(&a->class_name, class_name);
	if (strcmp(class_name, POL_CLASS_HOST_PORT) == 0) {
		fill_host_port(a, m, target);
		return;
	}
	if (strcmp(class_name, POL_CLASS_PUBLISH) == 0) {
		fill_publish(a, target + strcspn(target, ":") + 1);
		return;
	}
	text(&a->wants, wants);
	set_below(a, target);
	struct pol_host host;
	uint16_t port;
	bool is_inside = pol_target_site(target, &host, &port) == 0 && sup_is_inside(s, &host);
	text(&a->consequence, is_inside ? "this site is inside your own network. it can send data "
					  "there and run code it gets back. zwatch sees sizes, not "
					  "content."
					: "it can send data there and run code it gets back. "
					  "zwatch sees sizes, not content.");
}

/* What this session already decided about the same target; of the same program, for the offer to
 * refuse it from now on. */
void sup_card_before(struct sup *s, struct mdl_ask *a)
{
	unsigned n_allow = 0, n_deny = 0;
	const struct mdl_ask *b;

	a->n_denied = 0;
	TAILQ_FOREACH (b, &s->model.asks, link) {
		if (b == a || strcmp(b->target, a->target) != 0)
			continue;
		bool is_denied = b->state == MDL_ASK_MISSED ||
				 (b->state == MDL_ASK_ANSWERED && !b->is_allowed);
		n_deny += is_denied;
		n_allow += b->state == MDL_ASK_ANSWERED && b->is_allowed;
		a->n_denied += is_denied && strcmp(b->proc.exe, a->proc.exe) == 0;
	}
	const char *first = a->is_new ? "NEW in this project; " : "";
	zw_autofree char *t =
		n_allow + n_deny == 0
			? zw_xasprintf("%snot asked before in this session", first)
			: zw_xasprintf("%sin this session: allowed %u times, denied %u times",
				       first, n_allow, n_deny);
	text(&a->before, t);
}

void sup_card_fill(struct sup *s, struct mdl_ask *a, const struct sup_ask *q,
		   const struct zw_msg_ask *m)
{
	a->kind = m->kind == POL_KIND_SOCKET ? POL_KIND_SOCKET : POL_KIND_SITE;
	a->risk = m->risk < POL_RISK_MAX ? (enum pol_risk)m->risk : POL_RISK_CRITICAL;
	mdl_set(&a->target, m->target, 4096);
	if (m->asked.len != m->target.len ||
	    (m->asked.len > 0 && memcmp(m->asked.p, m->target.p, m->asked.len) != 0))
		mdl_set(&a->asked, m->asked, 4096);
	mdl_proc_set(&s->model, &a->proc, m->pid, m->exe, m->argv, m->cwd, m->chain);
	mdl_set_path(&s->model, &a->script, zw_span(q->script));
	if (a->kind == POL_KIND_SOCKET)
		fill_socket(s, a, m);
	else
		fill_site(s, a, m);
	a->is_new = sup_is_new_ask(s, q, a->kind);
	sup_card_before(s, a);
}
