/* SPDX-License-Identifier: MIT
 * The control socket: `zwatch ask`, `ps`, `mode` and `stop` in another terminal of the same user.
 *
 * It lies in a folder of mode 0700 outside the sandbox, as a file of mode 0600. The broker opens
 * nothing below that folder; a peer of another user, of another user namespace (whatever runs in a
 * sandbox), or one of zwatch's own helpers is sent away. What comes from it is decoded like what
 * comes from a helper, and a bad frame ends it. */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/base/words.h"
#include "src/super/super_i.h"

#define CLIENTS_MAX 16
#define BACKLOG	    8

/** One zwatch ask. */
struct sup_client {
	LIST_ENTRY(sup_client) link;
	struct sup *s;
	struct zw_chan *chan;
};

static void client_free(struct sup_client *c)
{
	LIST_REMOVE(c, link);
	c->s->n_clients--;
	zw_chan_free(c->chan);
	free(c);
}

/* -- who it is ---------------------------------------------------------------------------------- */

static bool is_same_userns(pid_t pid)
{
	struct stat ours, theirs;
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
	return stat("/proc/self/ns/user", &ours) == 0 && stat(path, &theirs) == 0 &&
	       ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

static bool is_helper(const struct sup *s, pid_t pid)
{
	const struct sup_helper *const all[] = {&s->audit, &s->broker, &s->pane, &s->proxy,
						&s->resolver};

	for (size_t i = 0; i < ZW_N_ELEMENTS(all); i++)
		if (all[i]->pid > 0 && all[i]->pid == pid)
			return true;
	return false;
}

static bool is_welcome(const struct sup *s, int fd)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
		return false;
	if (cred.uid == geteuid() && cred.pid > 0 && !is_helper(s, cred.pid) &&
	    is_same_userns(cred.pid))
		return true;
	zw_warn("control socket: process %d of user %u was sent away", (int)cred.pid,
		(unsigned)cred.uid);
	return false;
}

/* -- what it asks ------------------------------------------------------------------------------- */

static void send_ask(struct zw_chan *chan, const struct mdl_ask *a)
{
	const struct mdl_proc *p = &a->proc;
	zw_autofree char *who = zw_xasprintf("%s%s%s(%u)", p->chain, *p->chain != '\0' ? " > " : "",
					     mdl_proc_name(p), p->pid);

	zw_send(chan, ctl_ask, .ask = a->id, .kind = (uint8_t)a->kind, .risk = (uint8_t)a->risk,
		.state = (uint8_t)a->state, .age_ms = (uint64_t)(zw_mono_ms() - a->since_ms),
		.n_waiting = a->n_waiting, .title = zw_span(a->title), .wants = zw_span(a->wants),
		.consequence = zw_span(a->consequence), .safer = zw_span(a->safer),
		.word = zw_span(*a->word != '\0' ? a->word : "allow"), .target = zw_span(a->target),
		.answers = zw_span(a->answers), .before = zw_span(a->before),
		.near = zw_span(a->near), .command = zw_span(p->command), .cwd = zw_span(p->cwd),
		.who = zw_span(who), .pid = p->pid);
}

static void list(struct sup_client *c)
{
	const struct sup *s = c->s;
	const struct mdl_ask *a;

	zw_send(c->chan, ctl_session, .number = s->model.number, .pid = (uint32_t)getpid(),
		.agent = zw_span(s->model.agent), .project = zw_span(s->model.project),
		.mode = (uint8_t)s->model.mode,
		.age_ms = (uint64_t)(zw_mono_ms() - s->model.started_ms),
		.n_waiting = (uint32_t)mdl_asks_waiting(&s->model),
		.n_live = (uint32_t)s->model.n_live, .n_allow = s->model.n_allow,
		.n_deny = s->model.n_deny, .is_frozen = s->model.is_frozen);
	TAILQ_FOREACH (a, &s->model.asks, link)
		if (a->state == MDL_ASK_HELD || a->state == MDL_ASK_OPEN ||
		    a->state == MDL_ASK_MISSED)
			send_ask(c->chan, a);
	zw_send(c->chan, ctl_end, .unused = 0);
}

static const char *why_not(const struct mdl_ask *a, const struct zw_msg_ctl_answer *m)
{
	if (a == NULL || a->state == MDL_ASK_LOOK)
		return "There is no such question.";
	if (m->verdict == POL_ALLOW && a->risk >= POL_RISK_HIGH &&
	    !zw_span_eq(m->word, *a->word != '\0' ? a->word : "allow"))
		return "Not the word. Nothing was allowed.";
	if (m->verdict == POL_ALLOW && a->state == MDL_ASK_GONE)
		return "The program gave up or ended. Nothing was allowed.";
	return NULL;
}

static void say_done(struct sup_client *c, const char *text)
{
	if (c->s->face != NULL && c->s->is_face_open)
		c->s->face->message(c->s->face->arg, text);
	zw_send(c->chan, ctl_answered, .is_taken = 1, .text = zw_span(text));
}

static void answer(struct sup_client *c, const struct zw_msg_ctl_answer *m)
{
	struct mdl_ask *a = mdl_ask_find(&c->s->model, m->ask);
	zw_autofree char *note = zw_span_dup(m->note);
	bool is_allow = m->verdict == POL_ALLOW;
	const struct sup_reply reply = {.verdict = is_allow ? POL_ALLOW : POL_DENY,
					.scope = m->scope == ZW_SCOPE_SESSION ? ZW_SCOPE_SESSION
									      : ZW_SCOPE_ONCE,
					.note = note,
					.key = is_allow ? "ask allow" : "ask deny",
					.shown = "(in another terminal: zwatch ask)"};
	const char *why = why_not(a, m);
	bool was_late = a != NULL && a->state == MDL_ASK_MISSED;

	if (why == NULL)
		why = sup_answer(c->s, m->ask, &reply);
	if (why != NULL) {
		zw_send(c->chan, ctl_answered, .is_taken = 0, .text = zw_span(why));
		return;
	}
	zw_autofree char *text = zw_xasprintf(
		"%s %s: %s.", is_allow ? "Allowed" : "Denied",
		reply.scope == ZW_SCOPE_SESSION || (was_late && is_allow) ? "for this session"
									  : "once",
		a->title);
	say_done(c, text);
}

static void mode_set(struct sup_client *c, unsigned mode)
{
	const char *why = mode < POL_MODE_MAX ? sup_set_mode(c->s, (enum pol_mode)mode)
					      : "There is no such mode.";

	if (why != NULL) {
		zw_send(c->chan, ctl_answered, .is_taken = 0, .text = zw_span(why));
		return;
	}
	zw_autofree char *text = zw_xasprintf("The mode is %s (zwatch mode, in another terminal).",
					      pol_mode_word((enum pol_mode)mode));
	say_done(c, text);
}

static void stop(struct sup_client *c)
{
	sup_record(c->s, "mode", "stopped from another terminal: zwatch stop");
	say_done(c, "The agent was told to end (zwatch stop, in another terminal).");
	sup_stop_agent(c->s);
}

static void on_msg(struct zw_chan *chan, enum zw_msg_id id, const union zw_msg_any *msg, int *fds,
		   void *arg)
{
	struct sup_client *c = arg;

	(void)chan;
	(void)fds;
	if (id == ZW_ID_ctl_list)
		list(c);
	else if (id == ZW_ID_ctl_answer)
		answer(c, &msg->ctl_answer);
	else if (id == ZW_ID_ctl_mode)
		mode_set(c, msg->ctl_mode.mode);
	else if (id == ZW_ID_ctl_stop)
		stop(c);
	else
		client_free(c);
}

static void on_end(struct zw_chan *chan, int error, void *arg)
{
	(void)chan;
	if (error != ZW_E_EOF)
		zw_warn("control socket: %s", zw_strerror(error));
	client_free(arg);
}

static const struct zw_chan_ops ops = {.on_msg = on_msg, .on_end = on_end};

static void on_caller(int fd, unsigned what, void *arg)
{
	struct sup *s = arg;

	(void)what;
	zw_autoclose int caller = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (caller < 0 || s->n_clients >= CLIENTS_MAX || !is_welcome(s, caller))
		return;
	struct sup_client *c = zw_xnew(struct sup_client);
	c->s = s;
	LIST_INSERT_HEAD(&s->clients, c, link);
	s->n_clients++;
	c->chan = zw_chan_new(s->loop, zw_steal_fd(&caller), ROLE_SUPER, ROLE_CLIENT, &ops, c);
}

/* -- life --------------------------------------------------------------------------------------- */

/* By the folder's descriptor: its path may be longer than a socket address. */
static int bind_in(int dir_fd, const char *name)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	zw_autoclose int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	snprintf(sa.sun_path, sizeof(sa.sun_path), "/proc/self/fd/%d/%s", dir_fd, name);
	unlinkat(dir_fd, name, 0);
	mode_t mask = umask(0177);
	int r = bind(fd, (const struct sockaddr *)&sa, sizeof(sa));
	umask(mask);
	if (r < 0 || listen(fd, BACKLOG) < 0)
		return -errno;
	return zw_steal_fd(&fd);
}

static int folder_open(const char *path)
{
	struct stat st;
	int r = zw_mkdirs(path, 0700);
	zw_autoclose int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return r < 0 ? r : -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_uid != geteuid() || (st.st_mode & 077) != 0)
		return ZW_E_DENIED;
	return zw_steal_fd(&fd);
}

void sup_control_start(struct sup *s)
{
	if (s->config->control_dir == NULL)
		return;
	s->control_dir_fd = folder_open(s->config->control_dir);
	if (s->control_dir_fd < 0) {
		zw_warn("no control socket in %s: %s", s->config->control_dir,
			zw_strerror(s->control_dir_fd));
		return;
	}
	snprintf(s->control_name, sizeof(s->control_name), "%d.sock", (int)getpid());
	s->control_fd = bind_in(s->control_dir_fd, s->control_name);
	if (s->control_fd < 0)
		zw_warn("no control socket: %s", zw_strerror(s->control_fd));
	else
		s->control_io = zev_io_new(s->loop, s->control_fd, ZEV_READ, on_caller, s);
}

void sup_control_fini(struct sup *s)
{
	struct sup_client *c;

	while ((c = LIST_FIRST(&s->clients)) != NULL)
		client_free(c);
	zev_io_free(zw_steal(&s->control_io));
	if (s->control_fd >= 0 && s->control_dir_fd >= 0)
		unlinkat(s->control_dir_fd, s->control_name, 0);
	zw_close(&s->control_fd);
	zw_close(&s->control_dir_fd);
}
