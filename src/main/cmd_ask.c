/* SPDX-License-Identifier: MIT
 * `zwatch ask`: the questions of running sessions, from another terminal of the same user. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/words.h"
#include "src/ev/ev.h"
#include "src/ipc/chan.h"
#include "src/main/cmd.h"
#include "src/model/model.h"

#define SESSIONS_MAX 32
#define WAIT_MS	     5000
#define LINE_MAX_B   512

/** One question, as its session tells it. Strings owned. */
struct question {
	uint64_t id;
	enum pol_kind kind;
	enum pol_risk risk;
	bool is_missed;
	uint64_t age_ms;
	uint32_t n_waiting;
	char *title, *wants, *consequence, *safer, *word, *target, *answers, *before, *near,
		*command, *cwd, *who;
};

/** One running session. */
struct peer {
	struct zev_loop *loop;
	struct zw_chan *chan;
	uint64_t number;
	char *agent, *project;
	struct question *list;
	size_t n;
	bool is_listed, is_over, is_answered, is_taken;
	char *text; /* of the answer */
};

struct peers {
	struct zev_loop *loop;
	struct peer peer[SESSIONS_MAX];
	size_t n;
};

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

static void on_msg(struct zw_chan *chan, enum zw_msg_id id, const union zw_msg_any *msg, int *fds,
		   void *arg)
{
	struct peer *p = arg;

	(void)chan;
	(void)fds;
	if (id == ZW_ID_ctl_session) {
		p->number = msg->ctl_session.number;
		p->agent = zw_span_dup(msg->ctl_session.agent);
		p->project = zw_span_dup(msg->ctl_session.project);
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

/* Until *flag, the end of the session, or five seconds. */
static bool wait_for(struct peer *p, const bool *flag)
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
	if (wait_for(p, &p->is_listed))
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
		for (struct dirent *e; all->n < SESSIONS_MAX && (e = readdir(dir)) != NULL;) {
			int fd = zw_ends_with(e->d_name, ".sock")
					 ? connect_to(dirfd(dir), e->d_name)
					 : -1;

			if (fd >= 0)
				peer_add(all, fd);
		}
	closedir(dir);
}

static void peers_fini(struct peers *all)
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

/* -- commands ----------------------------------------------------------------------------------- */

static int list(struct peers *all)
{
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++) {
		const struct peer *p = &all->peer[i];

		for (size_t k = 0; k < p->n; k++) {
			const struct question *q = &p->list[k];

			dprintf(1, "%llu:%llu  %-8s  %-4s  %-40s  %s  x%u  %s\n",
				(unsigned long long)p->number, (unsigned long long)q->id,
				zw_risk_word(q->risk), q->kind == POL_KIND_SITE ? "net" : "unix",
				q->target, q->who, q->n_waiting, q->is_missed ? "missed" : "held");
			n++;
		}
	}
	if (all->n == 0)
		dprintf(2, "zwatch: no session runs\n");
	return n > 0 ? ZW_EXIT_OK : ZW_EXIT_NOTHING;
}

static void print_fact(const char *label, const char *text)
{
	if (*text != '\0')
		dprintf(1, "%-9s %s\n", label, text);
}

static void show(const struct peer *p, const struct question *q)
{
	dprintf(1, "%llu:%llu  %s  %s\n", (unsigned long long)p->number, (unsigned long long)q->id,
		zw_risk_word(q->risk), q->title);
	dprintf(1, "%s %s.\nIf you allow it: %s\n", q->who, q->wants, q->consequence);
	print_fact("command", q->command);
	print_fact("folder", q->cwd);
	print_fact("target", q->target);
	print_fact("answers", q->answers);
	print_fact("before", q->before);
	print_fact("rule", q->near);
	print_fact("safer", q->safer);
}

/* "7" when one session has it, "42:7" always. Prints what is wrong. */
static struct question *find(struct peers *all, const char *word, struct peer **ret_peer)
{
	struct question *found = NULL;
	uint64_t session = 0, id = 0;
	const char *colon = word != NULL ? strchr(word, ':') : NULL;
	const char *digits = colon != NULL ? colon + 1 : word != NULL ? word : "";
	bool is_number = zw_parse_u64(digits, strlen(digits), UINT64_MAX, &id) == 0 &&
			 (colon == NULL ||
			  zw_parse_u64(word, (size_t)(colon - word), UINT64_MAX, &session) == 0);
	size_t n = 0;

	for (size_t i = 0; is_number && i < all->n; i++)
		for (size_t k = 0; k < all->peer[i].n; k++) {
			if (all->peer[i].list[k].id != id ||
			    (colon != NULL && all->peer[i].number != session))
				continue;
			found = &all->peer[i].list[k];
			*ret_peer = &all->peer[i];
			n++;
		}
	if (n == 1)
		return found;
	dprintf(2,
		n > 1 ? "zwatch: more than one session has question %s: write SESSION:NUMBER\n"
		      : "zwatch: there is no question %s. zwatch ask lists them\n",
		digits);
	return NULL;
}

static bool read_line(char line[LINE_MAX_B])
{
	size_t n = 0;
	char c;

	while (n + 1 < LINE_MAX_B && read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
		line[n++] = c;
	line[n] = '\0';
	return n > 0;
}

static int give(struct peer *p, const struct question *q, enum pol_verdict verdict, unsigned scope,
		const char *word, const char *note)
{
	p->is_answered = false;
	free(zw_steal(&p->text));
	zw_send(p->chan, ctl_answer, .ask = q->id, .verdict = (uint8_t)verdict,
		.scope = (uint8_t)scope, .word = zw_span(word), .note = zw_span(note));
	if (!wait_for(p, &p->is_answered)) {
		dprintf(2,
			"zwatch: the session ended, or does not answer. Nothing is known to have "
			"changed\n");
		return ZW_EXIT_NOTHING;
	}
	dprintf(p->is_taken ? 1 : 2, "%s\n", p->text);
	return p->is_taken ? ZW_EXIT_OK : ZW_EXIT_NOTHING;
}

static unsigned scope_of(const struct cli *cli)
{
	const char *word = cli_get(cli, CLI_OPT_FOR);

	return word != NULL && strcmp(word, "session") == 0 ? ZW_SCOPE_SESSION : ZW_SCOPE_ONCE;
}

static int allow(struct peers *all, const struct cli *cli)
{
	struct peer *p = NULL;
	const struct question *q = find(all, cli->n_rest > 1 ? cli->rest[1] : NULL, &p);
	char line[LINE_MAX_B] = "";

	if (q == NULL)
		return ZW_EXIT_NOTHING;
	if (q->risk < POL_RISK_HIGH)
		return give(p, q, POL_ALLOW, scope_of(cli), "", "");
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		dprintf(2,
			"zwatch: %s is %s: it is allowed on a terminal only, by typing its word\n",
			q->title, zw_risk_word(q->risk));
		return ZW_EXIT_NOTHING;
	}
	show(p, q);
	dprintf(1, "\nType  %s  and Enter to allow %s. Enter alone goes back: ", q->word,
		scope_of(cli) == ZW_SCOPE_SESSION ? "for this session" : "once");
	if (!read_line(line) || strcmp(line, q->word) != 0) {
		dprintf(1, "Not the same as %s. Nothing was allowed.\n", q->word);
		return ZW_EXIT_NOTHING;
	}
	return give(p, q, POL_ALLOW, scope_of(cli), line, "");
}

static int deny(struct peers *all, const struct cli *cli)
{
	const char *note = cli_get(cli, CLI_OPT_NOTE) != NULL ? cli_get(cli, CLI_OPT_NOTE) : "";
	struct peer *p = NULL;
	int status = ZW_EXIT_NOTHING;

	if (!cli_has(cli, CLI_OPT_ALL)) {
		const struct question *q = find(all, cli->n_rest > 1 ? cli->rest[1] : NULL, &p);

		return q == NULL ? ZW_EXIT_NOTHING : give(p, q, POL_DENY, scope_of(cli), "", note);
	}
	for (size_t i = 0; i < all->n; i++)
		for (size_t k = 0; k < all->peer[i].n; k++)
			if (!all->peer[i].list[k].is_missed &&
			    give(&all->peer[i], &all->peer[i].list[k], POL_DENY, scope_of(cli), "",
				 note) == ZW_EXIT_OK)
				status = ZW_EXIT_OK;
	return status;
}

static int run(struct peers *all, const struct cli *cli)
{
	const char *word = cli->n_rest > 0 ? cli->rest[0] : "list";
	struct peer *p = NULL;

	if (strcmp(word, "list") == 0)
		return list(all);
	if (strcmp(word, "allow") == 0)
		return allow(all, cli);
	if (strcmp(word, "deny") == 0)
		return deny(all, cli);
	if (strcmp(word, "show") == 0) {
		const struct question *q = find(all, cli->n_rest > 1 ? cli->rest[1] : NULL, &p);

		if (q != NULL)
			show(p, q);
		return q != NULL ? ZW_EXIT_OK : ZW_EXIT_NOTHING;
	}
	dprintf(2, "zwatch: zwatch ask what? list, show N, deny N, deny --all or allow N\n");
	return ZW_EXIT_USAGE;
}

char *cmd_control_dir(const struct start *st)
{
	struct stat sb;

	if (stat(st->places.runtime_dir, &sb) == 0 && S_ISDIR(sb.st_mode) &&
	    access(st->places.runtime_dir, W_OK) == 0)
		return zw_xasprintf("%s/zwatch", st->places.runtime_dir);
	return zw_xasprintf("%s/run", st->places.state_dir);
}

int cmd_ask(struct start *st, const struct cli *cli)
{
	zw_autofree char *runtime = zw_xasprintf("%s/zwatch", st->places.runtime_dir);
	zw_autofree char *state = zw_xasprintf("%s/run", st->places.state_dir);
	struct peers all = {.loop = zev_loop_new()};

	folder_read(&all, runtime);
	folder_read(&all, state);
	int status = run(&all, cli);
	peers_fini(&all);
	return status;
}
