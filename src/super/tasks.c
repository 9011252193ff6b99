/* SPDX-License-Identifier: MIT
 * The processes of the sandbox, as zwatch sees them from outside, and signals to one of them. What is
 * told of them comes from the kernel but for names and arguments, which are theirs to choose.
 *
 * A signal goes to a process and never to a number: a pidfd is opened first, then the chain of parents
 * is followed up to the sandbox's pid 1, then the pidfd is asked whether its process still lives. If it
 * does, what was looked at in between was that process. Orphans are children of the sandbox's pid 1, so
 * the chain leads there for whatever runs inside, and for nothing else. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>

#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/prefix.h"
#include "src/base/vis.h"
#include "src/super/super_i.h"

#define LOOK_MS	     1000
#define TASKS_MAX    1000
#define STAT_MAX_B   4096
#define PARENTS_MAX  4096
#define COMMAND_READ 512

/* What /proc/PID/stat tells. */
struct stat_line {
	char name[64]; /* printable */
	char state;
	uint32_t parent;
	uint64_t user_ticks, system_ticks, started, resident_pages;
};

static int stat_read(pid_t pid, struct stat_line *ret)
{
	zw_autofree char *path = zw_xasprintf("/proc/%d/stat", pid);
	zw_autofree char *text = NULL;
	unsigned long parent, user, system;
	unsigned long long started;
	long pages;
	size_t len;
	int r = zw_read_file(path, STAT_MAX_B, &text, &len);

	if (r < 0)
		return r;
	/* The name is the program's to choose and may hold brackets: the last one is the kernel's. */
	char *open = strchr(text, '('), *close = strrchr(text, ')');
	if (open == NULL || close == NULL || close < open)
		return -EINVAL;
	zw_vis(ret->name, sizeof(ret->name), open + 1, (size_t)(close - open - 1));
	if (sscanf(close + 1,
		   " %c %lu %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %*d %*d %*d %*d %*d %*d "
		   "%llu %*u %ld",
		   &ret->state, &parent, &user, &system, &started, &pages) != 6)
		return -EINVAL;
	ret->parent = (uint32_t)parent;
	ret->user_ticks = user;
	ret->system_ticks = system;
	ret->started = started;
	ret->resident_pages = pages > 0 ? (uint64_t)pages : 0;
	return 0;
}

static void command_read(pid_t pid, const char *name, char *out, size_t size)
{
	zw_autofree char *path = zw_xasprintf("/proc/%d/cmdline", pid);
	char raw[COMMAND_READ];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, raw, sizeof(raw)) : -1;

	zw_close(&fd);
	while (n > 0 && raw[n - 1] == '\0')
		n--;
	for (ssize_t i = 0; i < n; i++)
		raw[i] = raw[i] != '\0' ? raw[i] : ' ';
	if (n > 0)
		zw_vis(out, size, raw, (size_t)n);
	else
		snprintf(out, size, "[%s]", name);
}

/* -- the look ------------------------------------------------------------------------------------ */

static const struct mdl_task *before(const struct mdl_session *m, const struct mdl_task *t)
{
	for (size_t i = 0; i < m->n_tasks; i++)
		if (m->tasks[i].pid == t->pid && m->tasks[i].started == t->started)
			return &m->tasks[i];
	return NULL;
}

static bool task_read(struct sup *s, pid_t pid, int64_t passed_ms, struct mdl_task *t)
{
	static long tick_hz, page_b;
	struct stat_line line;

	if (tick_hz == 0) {
		tick_hz = sysconf(_SC_CLK_TCK);
		page_b = sysconf(_SC_PAGESIZE);
	}
	if (stat_read(pid, &line) < 0)
		return false;
	*t = (struct mdl_task){.pid = (uint32_t)pid,
			       .parent = line.parent,
			       .state = line.state,
			       .started = line.started,
			       .memory_b = line.resident_pages * (uint64_t)page_b,
			       .cpu_ms = (int64_t)((line.user_ticks + line.system_ticks) * 1000 /
						   (uint64_t)tick_hz)};
	zw_strlcpy(t->name, line.name, sizeof(t->name));
	command_read(pid, line.name, t->command, sizeof(t->command));
	const struct mdl_task *old = before(&s->model, t);
	if (old != NULL && passed_ms > 0 && t->cpu_ms > old->cpu_ms)
		t->cpu_permille = (uint32_t)((t->cpu_ms - old->cpu_ms) * 1000 / passed_ms);
	return true;
}

/* Children behind their parents, in the order in which they were found. A number that was used again
 * meanwhile may be there twice, so what comes out is counted as well. */
static void emit(const struct mdl_task *all, size_t n, uint32_t parent, int depth,
		 struct mdl_task *out, size_t *ret_n)
{
	for (size_t i = 0; i < n; i++) {
		if (*ret_n == n)
			return;
		if (all[i].parent != parent)
			continue;
		out[*ret_n] = all[i];
		out[(*ret_n)++].depth = depth;
		emit(all, n, all[i].pid, depth + 1, out, ret_n);
	}
}

static void look(struct sup *s)
{
	zw_autofree pid_t *pids = NULL;
	int64_t now_ms = zw_mono_ms();
	size_t n_pids = sup_tree(s->sandbox.init_pid, TASKS_MAX, &pids), n = 0, n_out = 0;
	zw_autofree struct mdl_task *all = zw_xcalloc(n_pids + 1, sizeof(*all));
	struct mdl_task *out = zw_xcalloc(n_pids + 1, sizeof(*out));

	for (size_t i = 1; i < n_pids; i++)
		n += task_read(s, pids[i], now_ms - s->tasks_ms, &all[n]);
	emit(all, n, (uint32_t)s->sandbox.init_pid, 0, out, &n_out);
	free(s->model.tasks);
	s->model.tasks = out;
	s->model.n_tasks = n_out;
	s->model.is_tasks_cut = n_pids >= TASKS_MAX;
	s->tasks_ms = now_ms;
	sup_changed(s, MDL_CHANGED_TASKS);
}

static void on_timer(void *arg)
{
	struct sup *s = arg;

	if (s->is_agent_over || s->sandbox.init_pid <= 0)
		return;
	look(s);
	zev_timer_start(s->tasks_timer, LOOK_MS);
}

void sup_watch_tasks(struct sup *s, bool is_on)
{
	if (s->tasks_timer == NULL && !is_on)
		return;
	if (s->tasks_timer == NULL)
		s->tasks_timer = zev_timer_new(s->loop, on_timer, s);
	zev_timer_stop(s->tasks_timer);
	if (is_on)
		on_timer(s);
}

void sup_tasks_fini(struct sup *s)
{
	zev_timer_free(zw_steal(&s->tasks_timer));
}

/* -- signals ------------------------------------------------------------------------------------- */

/* Whether the chain of parents of what is called @pid now leads to the sandbox's pid 1. */
static bool is_inside(struct sup *s, pid_t pid, uint64_t started)
{
	struct stat_line line;

	if (pid <= 1 || pid == s->sandbox.init_pid || stat_read(pid, &line) < 0 ||
	    line.started != started)
		return false;
	for (int i = 0; i < PARENTS_MAX; i++) {
		if (line.parent == (uint32_t)s->sandbox.init_pid)
			return true;
		if (line.parent <= 1 || stat_read((pid_t)line.parent, &line) < 0)
			return false;
	}
	return false;
}

const char *sup_task_signal(struct sup *s, uint32_t pid, uint64_t started, int sig)
{
	zw_autoclose int fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);

	if (s->model.is_frozen) {
		static char text[80];

		snprintf(text, sizeof(text), "The whole agent is frozen: %s f thaws it.",
			 zw_prefix_name());
		return text;
	}
	if (fd < 0 || s->is_agent_over || s->sandbox.init_pid <= 0 ||
	    !is_inside(s, (pid_t)pid, started) ||
	    syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0) < 0)
		return "That process is over.";
	if (syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0) < 0)
		return "The system does not let zwatch do that to this process.";
	zw_autofree char *text =
		zw_xasprintf("process %u was sent %s by the user", pid, sigabbrev_np(sig));
	sup_record(s, "mode", text);
	if (s->tasks_timer != NULL)
		look(s);
	return NULL;
}
