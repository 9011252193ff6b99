/* SPDX-License-Identifier: MIT
 * Servers inside, offered on the host's 127.0.0.1: by the settings, or since the user said so. zwatch
 * makes the listener, zwatch-proxy accepts and carries. A listener lives as long as the server
 * behind it, so a port that nobody serves is free on the host. */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <sys/socket.h>

#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/tcp_table.h"
#include "src/base/words.h"
#include "src/super/super_i.h"

/* Above, the kernel gives ports out by itself (ip_local_port_range): nobody means to be found there. */
#define PORT_ASK_MAX   32767
#define TABLE_MAX_B    (4u << 20)
#define BACKLOG	       128
#define ASKED_MAX      1000
#define ANSWER_PENDING (-1)

/* -- who has the port on the host ------------------------------------------------------------------ */

struct holder {
	uint16_t port;
	uint64_t ino; /* 0 = not found */
};

static bool is_holder(const struct zw_tcp_listener *l, void *arg)
{
	struct holder *h = arg;

	if (l->port != h->port)
		return true;
	h->ino = l->ino;
	return false;
}

/* Number of the socket that listens on @port of the host, 0 = not found. */
static uint64_t holder_socket(uint16_t port)
{
	static const char *const tables[] = {"/proc/self/net/tcp", "/proc/self/net/tcp6"};
	struct holder h = {.port = port};

	for (size_t i = 0; i < ZW_N_ELEMENTS(tables) && h.ino == 0; i++) {
		zw_autofree char *text = NULL;
		size_t len;

		if (zw_read_file(tables[i], TABLE_MAX_B, &text, &len) == 0)
			zw_tcp_table(text, is_holder, &h);
	}
	return h.ino;
}

static bool has_socket(const char *pid, uint64_t ino)
{
	zw_autofree char *path = zw_xasprintf("/proc/%s/fd", pid);
	zw_autofree char *want = zw_xasprintf("socket:[%" PRIu64 "]", ino);
	DIR *dir = opendir(path);
	bool is_found = false;

	if (dir == NULL)
		return false;
	for (struct dirent *e; !is_found && (e = readdir(dir)) != NULL;) {
		char to[64];
		ssize_t n = readlinkat(dirfd(dir), e->d_name, to, sizeof(to) - 1);

		if (n <= 0)
			continue;
		to[n] = '\0';
		is_found = strcmp(to, want) == 0;
	}
	closedir(dir);
	return is_found;
}

/* "node(4711)"; "another program" when the system does not tell. */
static char *holder_name(uint16_t port)
{
	uint64_t ino = holder_socket(port);
	DIR *dir = ino != 0 ? opendir("/proc") : NULL;
	char *name = NULL;

	for (struct dirent *e; dir != NULL && name == NULL && (e = readdir(dir)) != NULL;) {
		if (e->d_name[0] < '1' || e->d_name[0] > '9' || !has_socket(e->d_name, ino))
			continue;
		zw_autofree char *path = zw_xasprintf("/proc/%s/comm", e->d_name);
		zw_autofree char *comm = NULL;
		size_t len;

		if (zw_read_file(path, 64, &comm, &len) < 0)
			continue;
		comm[strcspn(comm, "\n")] = '\0';
		name = zw_xasprintf("%s(%s)", comm, e->d_name);
	}
	if (dir != NULL)
		closedir(dir);
	return name != NULL ? name : zw_xstrdup("another program");
}

/* -- ports ----------------------------------------------------------------------------------------- */

static struct sup_port *port_find(struct sup *s, uint16_t number)
{
	struct sup_port *p;

	TAILQ_FOREACH (p, &s->ports, link)
		if (p->port == number)
			return p;
	return NULL;
}

static void note(struct sup *s, const char *text)
{
	sup_record(s, "port", text);
	if (s->is_face_open)
		s->face->message(s->face->arg, text);
}

static int host_listen(uint16_t port)
{
	const struct sockaddr_in sa = {.sin_family = AF_INET,
				       .sin_port = htons(port),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const int on = 1;
	zw_autoclose int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (const struct sockaddr *)&sa, sizeof(sa)) < 0 || listen(fd, BACKLOG) < 0)
		return -errno;
	return zw_steal_fd(&fd);
}

static void hand_over(struct sup *s, struct sup_port *p)
{
	struct zw_msg_px_publish m = {.port = p->port, .by = (uint8_t)p->by, .rule = p->rule};

	if (s->proxy.chan != NULL)
		zw_chan_send_fds(s->proxy.chan, ZW_ID_px_publish, &m, &p->fd, 1);
}

static char *because(unsigned by, uint32_t rule)
{
	if (by == ZW_BY_USER)
		return zw_xstrdup("by your answer");
	if (rule != 0)
		return zw_xasprintf("by your rule %u", rule);
	return zw_xstrdup("by network.publishPorts");
}

static void publish(struct sup *s, struct sup_port *p, unsigned by, uint32_t rule)
{
	zw_autofree char *text = NULL, *why = because(by, rule);

	if (p->fd >= 0)
		return;
	p->by = by;
	p->rule = rule;
	p->fd = host_listen(p->port);
	if (p->fd == -EADDRINUSE) {
		zw_autofree char *holder = holder_name(p->port);

		sup_warn(s,
			 "port %u of the server inside cannot be offered: 127.0.0.1:%u is taken by "
			 "%s. End that, then start the server inside again",
			 p->port, p->port, holder);
		return;
	}
	if (p->fd < 0) {
		sup_warn(s, "port %u of the server inside cannot be offered on 127.0.0.1: %s",
			 p->port, zw_strerror(p->fd));
		return;
	}
	if (s->proxy.chan == NULL)
		sup_proxy_start(s); /* hands all over */
	else
		hand_over(s, p);
	sup_saved_used(s, rule, 1);
	text = zw_xasprintf("127.0.0.1:%u leads to %s(%u) inside, %s", p->port,
			    zw_basename(p->program), p->pid, why);
	note(s, text);
}

static void port_free(struct sup *s, struct sup_port *p)
{
	TAILQ_REMOVE(&s->ports, p, link);
	zw_close(&p->fd);
	free(p->program);
	free(p);
}

static void withdraw(struct sup *s, struct sup_port *p, bool is_cut, const char *why)
{
	zw_autofree char *text = NULL;

	if (p->fd < 0)
		return;
	text = zw_xasprintf("127.0.0.1:%u is closed: %s", p->port, why);
	if (s->proxy.chan != NULL)
		zw_send(s->proxy.chan, px_unpublish, .port = p->port, .is_cut = is_cut);
	zw_close(&p->fd);
	note(s, text);
}

static void gone(struct sup *s, uint16_t number)
{
	struct sup_port *p = port_find(s, number);

	if (p == NULL)
		return;
	withdraw(s, p, false, "the server inside has gone");
	sup_own_ask_gone(s, number);
	port_free(s, p);
}

void sup_ports_handed(struct sup *s)
{
	struct sup_port *p;

	TAILQ_FOREACH (p, &s->ports, link)
		if (p->fd >= 0)
			hand_over(s, p);
}

static void offer_free(struct sup *s, struct sup_offer *o)
{
	TAILQ_REMOVE(&s->offers, o, link);
	s->n_offers--;
	free(o->program);
	free(o);
}

void sup_ports_fini(struct sup *s)
{
	struct sup_offer *o;

	while (!TAILQ_EMPTY(&s->ports))
		port_free(s, TAILQ_FIRST(&s->ports));
	while ((o = TAILQ_FIRST(&s->offers)) != NULL)
		offer_free(s, o);
}

/* -- the question ---------------------------------------------------------------------------------- */

static struct sup_offer *offer_find(struct sup *s, uint16_t port, const char *program)
{
	struct sup_offer *o;

	TAILQ_FOREACH (o, &s->offers, link)
		if (o->port == port && strcmp(o->program, program) == 0)
			return o;
	return NULL;
}

static bool can_ask(const struct sup *s, const struct sup_port *p)
{
	return s->config->can_ask && s->model.mode != POL_MODE_STRICT && p->port <= PORT_ASK_MAX;
}

static void ask(struct sup *s, const struct sup_port *p, const struct zw_msg_serving *m)
{
	zw_autofree char *target = zw_xasprintf(POL_PUBLISH "%u", p->port);
	struct sup_offer *o;
	/* No target of a site: a rule about one is not about this. */
	const struct zw_msg_ask q = {.ask = p->port,
				     .otherwise = can_ask(s, p) ? POL_ASK : POL_DENY,
				     .exe_id = m->exe_id,
				     .kind = POL_KIND_SITE,
				     .risk = POL_RISK_LOW,
				     .class_name = zw_span(POL_CLASS_PUBLISH),
				     .target = zw_span(target),
				     .asked = zw_span(target),
				     .pid = m->pid,
				     .exe = m->exe,
				     .argv = m->argv,
				     .cwd = m->cwd,
				     .chain = m->chain};

	if (s->n_offers >= ASKED_MAX)
		return;
	o = zw_xnew(struct sup_offer);
	o->port = p->port;
	o->program = zw_xstrdup(p->program);
	o->answer = ANSWER_PENDING;
	TAILQ_INSERT_TAIL(&s->offers, o, link);
	s->n_offers++;
	sup_own_ask(s, &q);
}

static bool is_listed(const struct sup *s, uint16_t port)
{
	const struct sup_net *net = &s->config->net;

	for (size_t i = 0; i < net->n_publish_ports; i++)
		if (net->publish_ports[i] == port)
			return true;
	return false;
}

/* What rules.json says of this port at all: a deny refuses it, allows are looked at by the question. */
static bool has_rule(struct sup *s, const struct sup_port *p, enum pol_action action)
{
	zw_autofree char *target = zw_xasprintf(POL_PUBLISH "%u", p->port);

	for (size_t i = 0; i < s->saved.n; i++) {
		const struct pol_saved *r = &s->saved.list[i];

		if (r->is_publish && r->action == action && strcmp(r->target, target) == 0 &&
		    sup_saved_is_in_force(s, r) &&
		    (*r->program == '\0' || strcmp(r->program, p->program) == 0))
			return true;
	}
	return false;
}

/* Each server is asked about once in a session; an answer for the session holds when it comes back. */
static void offer(struct sup *s, struct sup_port *p, const struct zw_msg_serving *m)
{
	const struct sup_offer *o = offer_find(s, p->port, p->program);

	if (has_rule(s, p, POL_ACTION_DENY))
		return;
	if (is_listed(s, p->port))
		publish(s, p, ZW_BY_RULE, 0);
	else if (o != NULL && o->answer == POL_ALLOW)
		publish(s, p, ZW_BY_USER, 0);
	else if (o == NULL && (can_ask(s, p) || has_rule(s, p, POL_ACTION_ALLOW)))
		ask(s, p, m);
}

void sup_publish_answered(struct sup *s, const struct sup_ask *q, enum pol_verdict verdict,
			  unsigned scope, unsigned by, uint32_t rule)
{
	struct sup_port *p = port_find(s, (uint16_t)q->theirs);
	struct sup_offer *o = offer_find(s, (uint16_t)q->theirs, q->program);

	/* What a rule says is looked at anew each time. */
	if (o != NULL && (by == ZW_BY_RULE || rule != 0))
		offer_free(s, o);
	else if (o != NULL && by == ZW_BY_USER && (verdict == POL_DENY || scope != ZW_SCOPE_ONCE))
		o->answer = (int)verdict;
	if (p != NULL && verdict == POL_ALLOW && strcmp(p->program, q->program) == 0)
		publish(s, p, by, rule);
}

void sup_publish_undo(struct sup *s, uint16_t port, const char *program)
{
	struct sup_port *p = port_find(s, port);
	struct sup_offer *o = offer_find(s, port, program);

	if (o != NULL)
		offer_free(s, o);
	if (p != NULL && strcmp(p->program, program) == 0 && p->by != ZW_BY_RULE)
		withdraw(s, p, true, "you took the answer back");
}

void sup_ports_recheck(struct sup *s)
{
	struct sup_port *p;

	TAILQ_FOREACH (p, &s->ports, link) {
		const struct pol_saved *r =
			p->rule != 0 ? cfg_saved_find(&s->saved, p->rule) : NULL;

		if (p->rule != 0 && (r == NULL || !sup_saved_is_in_force(s, r)))
			withdraw(s, p, true, "its rule is no more");
	}
}

/* -- messages -------------------------------------------------------------------------------------- */

void sup_on_serving(struct sup *s, const struct zw_msg_serving *m)
{
	struct sup_port *p = port_find(s, m->port);

	/* What was said of one program is not said of another that takes its port; a rule is about the
	 * very file, so another one under the same path is looked at anew. */
	bool is_other = p != NULL && (!zw_span_eq(m->exe, p->program) ||
				      (p->rule != 0 && p->exe_id != m->exe_id));
	if (m->is_gone || is_other) {
		gone(s, m->port);
		p = NULL;
	}
	if (m->is_gone)
		return;
	if (p != NULL) {
		p->pid = m->pid;
		p->exe_id = m->exe_id;
		if (p->fd < 0)
			offer(s, p, m);
		return;
	}
	p = zw_xnew(struct sup_port);
	p->port = m->port;
	p->fd = -1;
	p->pid = m->pid;
	p->exe_id = m->exe_id;
	p->program = zw_span_dup(m->exe);
	TAILQ_INSERT_TAIL(&s->ports, p, link);
	offer(s, p, m);
}

void sup_on_want_inside(struct sup *s, uint64_t seq)
{
	struct pollfd end = {s->sandbox.init_pidfd, POLLIN, 0};
	zw_autoclose int fd = -1;

	if (s->sandbox.init_pid <= 0 || s->proxy.chan == NULL)
		return;
	fd = sb_netns_socket(s->sandbox.init_pid);
	/* It lives: so that number was its own when its network was joined. */
	if (fd < 0 || poll(&end, 1, 0) != 0)
		return; /* the proxy gives up by itself */
	const struct zw_msg_px_inside m = {.seq = seq};
	zw_chan_send_fds(s->proxy.chan, ZW_ID_px_inside, &m, &fd, 1);
}
