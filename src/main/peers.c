/* SPDX-License-Identifier: MIT */
#include "src/main/peers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/ev/ev.h"
#include "src/ipc/chan.h"
#include "src/main/cmd.h"
#include "src/model/model.h"

#define WAIT_MS 5000

/* -- talking ------------------------------------------------------------------------------------ */

static void take_ask(struct peer *p, const struct zw_msg_ctl_ask *m)
{
	p->list = zw_xrealloc(p->list, p->n + 1, sizeof(*p->list));
	p->list[p->n++] = (struct question){
		.id = m->ask,
		.kind = m->kind == POL_KIND_SOCKET ? POL_KIND_SOCKET : POL_KIND_SITE,
		.risk = m->risk < POL_RISK_MAX ? (enum pol_risk)m->risk : POL_RISK_CRITICAL,
		.is_missed = m->state == MDL_ASK_MISSED,
		.age_ms = m->age_ms,
		.n_waiting = m->n_waiting,
		.title = zw_span_dup(m->title),
		.wants = zw_span_dup(m->wants),
		.consequence = zw_span_dup(m->consequence),
		.safer = zw_span_dup(m->safer),
		.word = zw_span_dup(m->word),
		.target = zw_span_dup(m->target),
		.answers = zw_span_dup(m->answers),
		.before = zw_span_dup(m->before),
		.near = zw_span_dup(m->near),
		.command = zw_span_dup(m->command),
		.cwd = zw_span_dup(m->cwd),
		.who = zw_span_dup(m->who),
	};
}

static void take_session(struct peer *p, const struct zw_msg_ctl_session *m)
{
	if (p->agent != NULL)
		return; /* told once */
	p->number = m->number;
	p->pid = m->pid;
	p->n_waiting = m->n_waiting;
	p->n_live = m->n_live;
	p->age_ms = m->age_ms;
	p->n_allow = m->n_allow;
	p->n_deny = m->n_deny;
	p->mode = m->mode < POL_MODE_MAX ? (enum pol_mode)m->mode : POL_MODE_STRICT;
	p->is_frozen = m->is_frozen != 0;
	p->agent = zw_span_dup(m->agent);
	p->project = zw_span_dup(m->project);
}

static void on_msg(struct zw_chan *chan, enum zw_msg_id id, const union zw_msg_any *msg, int *fds,
		   void *arg)
{
	struct peer *p = arg;

	(void)chan;
	(void)fds;
	if (id == ZW_ID_ctl_session) {
		take_session(p, &msg->ctl_session);
	} else if (id == ZW_ID_ctl_ask) {
		take_ask(p, &msg->ctl_ask);
	} else if (id == ZW_ID_ctl_end) {
		p->is_listed = true;
		zev_stop(p->loop);
	} else if (id == ZW_ID_ctl_answered) {
		p->is_answered = true;
		p->is_taken = msg->ctl_answered.is_taken != 0;
		p->text = zw_span_dup(msg->ctl_answered.text);
		zev_stop(p->loop);
	}
}

static void on_end(struct zw_chan *chan, int error, void *arg)
{
	struct peer *p = arg;

	(void)chan;
	(void)error;
	p->is_over = true;
	zev_stop(p->loop);
}

static const struct zw_chan_ops ops = {.on_msg = on_msg, .on_end = on_end};

static void on_late(void *arg)
{
	zev_stop(arg);
}

bool peer_wait(struct peer *p, const bool *flag)
{
	struct zev_timer *t = zev_timer_new(p->loop, on_late, p->loop);
	int64_t end_ms = zw_mono_ms() + WAIT_MS;

	while (!*flag && !p->is_over && !zw_chan_is_over(p->chan) && zw_mono_ms() < end_ms) {
		zev_timer_start(t, end_ms - zw_mono_ms() > 0 ? end_ms - zw_mono_ms() : 1);
		zev_run(p->loop);
	}
	zev_timer_free(t);
	return *flag;
}

static int connect_to(int dir_fd, const char *name)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	struct ucred cred;
	socklen_t len = sizeof(cred);
	zw_autoclose int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0 || snprintf(sa.sun_path, sizeof(sa.sun_path), "/proc/self/fd/%d/%s", dir_fd,
			       name) >= (int)sizeof(sa.sun_path))
		return -1;
	if (connect(fd, (const struct sockaddr *)&sa, sizeof(sa)) < 0) {
		/* A session that was killed could not take its socket away. */
		if (errno == ECONNREFUSED)
			unlinkat(dir_fd, name, 0);
		return -1;
	}
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0 || cred.uid != geteuid() ||
	    zw_set_nonblock(fd) < 0)
		return -1;
	return zw_steal_fd(&fd);
}

static void peer_add(struct peers *all, int take_fd)
{
	struct peer *p = &all->peer[all->n];

	*p = (struct peer){.loop = all->loop};
	p->chan = zw_chan_new(all->loop, take_fd, ROLE_CLIENT, ROLE_SUPER, &ops, p);
	zw_send(p->chan, ctl_list, .unused = 0);
	if (peer_wait(p, &p->is_listed))
		all->n++;
	else
		zw_chan_free(zw_steal(&p->chan));
}

static void folder_read(struct peers *all, const char *path)
{
	DIR *dir = opendir(path);
	struct stat st;

	if (dir == NULL)
		return;
	if (fstat(dirfd(dir), &st) == 0 && st.st_uid == geteuid() && (st.st_mode & 077) == 0)
		for (struct dirent *e; all->n < PEERS_MAX && (e = readdir(dir)) != NULL;) {
			int fd = zw_ends_with(e->d_name, ".sock")
					 ? connect_to(dirfd(dir), e->d_name)
					 : -1;

			if (fd >= 0)
				peer_add(all, fd);
		}
	closedir(dir);
}

void peers_fini(struct peers *all)
{
	for (size_t i = 0; i < all->n; i++) {
		struct peer *p = &all->peer[i];

		for (size_t k = 0; k < p->n; k++) {
			struct question *q = &p->list[k];
			char *const texts[] = {q->title, q->wants,   q->consequence, q->safer,
					       q->word,	 q->target,  q->answers,     q->before,
					       q->near,	 q->command, q->cwd,	     q->who};

			for (size_t t = 0; t < ZW_N_ELEMENTS(texts); t++)
				free(texts[t]);
		}
		free(p->list);
		free(p->agent);
		free(p->project);
		free(p->text);
		zw_chan_free(p->chan);
	}
	zev_loop_free(all->loop);
}

void peers_open(struct peers *all, const struct start *st)
{
	zw_autofree char *runtime = zw_xasprintf("%s/zwatch", st->places.runtime_dir);
	zw_autofree char *state = zw_xasprintf("%s/run", st->places.state_dir);

	*all = (struct peers){.loop = zev_loop_new()};
	folder_read(all, runtime);
	folder_read(all, state);
}

int peer_answer(struct peer *p)
{
	if (!peer_wait(p, &p->is_answered)) {
		dprintf(2,
			"zwatch: the session ended, or does not answer. Nothing is known to have "
			"changed\n");
		return ZW_EXIT_NOTHING;
	}
	dprintf(p->is_taken ? 1 : 2, "%s\n", p->text);
	return p->is_taken ? ZW_EXIT_OK : ZW_EXIT_NOTHING;
}

struct peer *peers_find(struct peers *all, const char *word)
{
	uint64_t number = 0;
	bool is_number = word != NULL && zw_parse_u64(word, strlen(word), UINT64_MAX, &number) == 0;

	for (size_t i = 0; i < all->n; i++)
		if (is_number && all->peer[i].number == number)
			return &all->peer[i];
	if (word == NULL && all->n == 1)
		return &all->peer[0];
	if (word != NULL)
		dprintf(2, "zwatch: no session %s runs. zwatch ps lists them\n", word);
	else if (all->n == 0)
		dprintf(2, "zwatch: no session runs\n");
	else
		dprintf(2, "zwatch: %zu sessions run: say which. zwatch ps lists them\n", all->n);
	return NULL;
}
