/* SPDX-License-Identifier: MIT
 * cgroup v2 in short: a group that has processes cannot give controllers to groups below it, so a
 * session's group is made beside the one that zwatch is in, where that is allowed (a user manager's
 * slice). In a group of one's own with nobody else in it (systemd-run -p Delegate=yes) zwatch moves
 * one down first. Moving a process needs the right to write to the nearest group above both. */
#include "sandbox/limits.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/vmchild.h"
#include "src/base/buf.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/str.h"

#define MOUNT	      "/sys/fs/cgroup"
#define PREFIX	      "zwatch-"
#define CPU_PERIOD_US 100000
#define END_MS	      2000
#define SMALL_B	      65536

#ifndef CGROUP2_SUPER_MAGIC
#define CGROUP2_SUPER_MAGIC 0x63677270
#endif

static const struct {
	enum sb_limit limit;
	const char *controller, *name;
} controllers[] = {
	{SB_LIMIT_MEMORY, "memory", "memory"},
	{SB_LIMIT_PROCESSES, "pids", "processes"},
	{SB_LIMIT_CPU, "cpu", "CPU"},
};

unsigned sb_limits_wanted(const struct sb_limits *l)
{
	return (l->memory_b != 0 ? SB_LIMIT_MEMORY : 0u) |
	       (l->processes != 0 ? SB_LIMIT_PROCESSES : 0u) |
	       (l->cpu_percent != 0 ? SB_LIMIT_CPU : 0u);
}

/* -- files of a group ------------------------------------------------------------------------------ */

static int group_write(const char *group, const char *file, const char *text)
{
	zw_autofree char *path = zw_xasprintf("%s/%s", group, file);
	zw_autoclose int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

/* Controllers that groups below @group may use. */
static unsigned group_gives(const char *group)
{
	zw_autofree char *path = zw_xasprintf("%s/cgroup.subtree_control", group);
	zw_autofree char *text = NULL;
	unsigned has = 0;
	size_t len;

	if (zw_read_file(path, SMALL_B, &text, &len) < 0)
		return 0;
	for (char *save = NULL, *word = strtok_r(text, " \n", &save); word != NULL;
	     word = strtok_r(NULL, " \n", &save))
		for (size_t i = 0; i < ZW_N_ELEMENTS(controllers); i++)
			if (strcmp(word, controllers[i].controller) == 0)
				has |= controllers[i].limit;
	return has;
}

/* The group that this process is in, NULL = not known. @mount: where groups are. */
static char *group_own(const char *mount)
{
	zw_autofree char *text = NULL;
	struct statfs fs;
	size_t len;

	if (statfs(mount, &fs) < 0 || (unsigned long)fs.f_type != CGROUP2_SUPER_MAGIC ||
	    zw_read_file("/proc/self/cgroup", SMALL_B, &text, &len) < 0)
		return NULL;
	char *at = strncmp(text, "0::/", 4) == 0 ? text : strstr(text, "\n0::/");
	if (at == NULL)
		return NULL;
	at = strchr(at, '/');
	at[strcspn(at, "\n")] = '\0';
	return zw_xasprintf("%s%s", mount, strcmp(at, "/") == 0 ? "" : at);
}

struct move {
	int fd, error;
};

static int move_main(void *arg)
{
	struct move *m = arg;

	m->error = write(m->fd, "0", 1) < 0 ? errno : 0;
	return 0;
}

/* Whether a process of ours may be moved there. */
static int move_try(int procs_fd)
{
	struct move m = {procs_fd, ECHILD};
	pid_t pid = sb_vmchild(move_main, &m, SIGCHLD);

	if (pid < 0)
		return pid;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return -m.error;
}

/* Whether the zwatch that made it still runs: its group may be empty for a moment. */
static bool is_in_use(const char *name)
{
	const char *pid = name + strlen(PREFIX);
	long n = strtol(zw_starts_with(pid, "main-") ? pid + strlen("main-") : pid, NULL, 10);

	return n > 0 && (kill((pid_t)n, 0) == 0 || errno == EPERM);
}

/* What an earlier zwatch left when it was killed. A group that has processes cannot be removed. */
static void sweep(const char *parent)
{
	DIR *dir = opendir(parent);

	if (dir == NULL)
		return;
	for (struct dirent *e; (e = readdir(dir)) != NULL;)
		if (zw_starts_with(e->d_name, PREFIX) && !is_in_use(e->d_name))
			(void)unlinkat(dirfd(dir), e->d_name, AT_REMOVEDIR);
	closedir(dir);
}

/* -- making one ------------------------------------------------------------------------------------ */

static void why_set(struct sb_group *g, const char *why)
{
	free(g->why);
	g->why = zw_xstrdup(why);
}

static void names_add(struct zw_buf *b, unsigned limits)
{
	bool is_first = true;

	for (size_t i = 0; i < ZW_N_ELEMENTS(controllers); i++) {
		if (!(limits & controllers[i].limit))
			continue;
		zw_buf_addf(b, "%s%s", is_first ? "" : ", ", controllers[i].name);
		is_first = false;
	}
}

/* Makes the group below @parent. Returns whether it stands and processes can be moved into it. */
static bool make_below(const char *parent, struct sb_group *g)
{
	static unsigned n;
	int r;

	sweep(parent);
	g->path = zw_xasprintf("%s/%s%d-%u", parent, PREFIX, (int)getpid(), n++);
	if (mkdir(g->path, 0755) < 0) {
		free(zw_steal(&g->path));
		return false;
	}
	zw_autofree char *procs = zw_xasprintf("%s/cgroup.procs", g->path);
	g->procs_fd = open(procs, O_WRONLY | O_CLOEXEC);
	r = g->procs_fd < 0 ? -errno : move_try(g->procs_fd);
	if (r == 0)
		return true;
	zw_close(&g->procs_fd);
	rmdir(g->path);
	free(zw_steal(&g->path));
	return false;
}

/* Alone in a group of our own: this process goes one down, so that the group may give controllers. */
static bool make_room(const char *own)
{
	zw_autofree char *leaf = zw_xasprintf("%s/%smain-%d", own, PREFIX, (int)getpid());
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	if (mkdir(leaf, 0755) < 0)
		return false;
	if (group_write(leaf, "cgroup.procs", pid) < 0) {
		rmdir(leaf);
		return false;
	}
	/* One by one: what is not there must not keep the others away. */
	for (size_t i = 0; i < ZW_N_ELEMENTS(controllers); i++) {
		zw_autofree char *text = zw_xasprintf("+%s", controllers[i].controller);

		(void)group_write(own, "cgroup.subtree_control", text);
	}
	return true;
}

static bool make_somewhere(struct sb_group *g)
{
	zw_autofree char *own = group_own(MOUNT);
	zw_autofree char *parent = NULL;

	if (own == NULL) {
		why_set(g, "there is no cgroup v2 here");
		return false;
	}
	parent = zw_xasprintf("%.*s", (int)(strrchr(own, '/') - own), own);
	if (strlen(parent) >= strlen(MOUNT) && group_gives(parent) != 0 && make_below(parent, g))
		return true;
	if (group_gives(own) != 0 && make_below(own, g))
		return true;
	if (make_room(own) && group_gives(own) != 0 && make_below(own, g))
		return true;
	zw_autofree char *why = zw_xasprintf("%s is not the user's own",
					     *parent != '\0' ? own + strlen(MOUNT) : "/");
	why_set(g, why);
	return false;
}

static unsigned limits_apply(const struct sb_limits *l, const struct sb_group *g)
{
	char text[64];
	unsigned has = 0;

	if (l->memory_b != 0) {
		snprintf(text, sizeof(text), "%llu", (unsigned long long)l->memory_b);
		if (group_write(g->path, "memory.max", text) == 0)
			has |= SB_LIMIT_MEMORY;
		/* What is over the limit must not live on in swap; a kernel without swap has no such
		 * file. */
		(void)group_write(g->path, "memory.swap.max", "0");
	}
	if (l->processes != 0) {
		/* bwrap and pid 1 are not the agent's. */
		snprintf(text, sizeof(text), "%u", l->processes + 2);
		if (group_write(g->path, "pids.max", text) == 0)
			has |= SB_LIMIT_PROCESSES;
	}
	if (l->cpu_percent != 0) {
		snprintf(text, sizeof(text), "%llu %d",
			 (unsigned long long)l->cpu_percent * (CPU_PERIOD_US / 100), CPU_PERIOD_US);
		if (group_write(g->path, "cpu.max", text) == 0)
			has |= SB_LIMIT_CPU;
	}
	return has;
}

void sb_group_make(const struct sb_limits *l, struct sb_group *ret)
{
	unsigned wanted = sb_limits_wanted(l);

	*ret = (struct sb_group){.procs_fd = -1};
	if (wanted == 0 || !make_somewhere(ret))
		return;
	ret->has = limits_apply(l, ret);
	if ((wanted & ~ret->has) != 0) {
		struct zw_buf b;

		zw_buf_init(&b, 256);
		zw_buf_addf(&b, "no controller for ");
		names_add(&b, wanted & ~ret->has);
		free(ret->why);
		ret->why = zw_xmemdup0(zw_buf_head(&b), b.len);
		zw_buf_fini(&b);
	}
	if (ret->has == 0)
		sb_group_fini(ret);
}

unsigned sb_limits_possible(char **ret_why)
{
	static const struct sb_limits some = {UINT64_C(1) << 40, 30000, 100};
	struct sb_group g;
	unsigned has;

	sb_group_make(&some, &g);
	has = g.has;
	*ret_why = zw_steal(&g.why);
	sb_group_fini(&g);
	return has;
}

int sb_group_make_bare(struct sb_group *ret)
{
	static const char *const mounts[] = {MOUNT, MOUNT "/unified"};

	free(ret->why);
	*ret = (struct sb_group){.procs_fd = -1};
	for (size_t i = 0; i < ZW_N_ELEMENTS(mounts); i++) {
		zw_autofree char *own = group_own(mounts[i]);

		if (own == NULL)
			continue;
		zw_autofree char *above = zw_xasprintf("%.*s", (int)(strrchr(own, '/') - own), own);
		if (make_below(own, ret) ||
		    (strlen(own) > strlen(mounts[i]) && make_below(above, ret))) {
			zw_close(&ret->procs_fd);
			return 0;
		}
	}
	return -EACCES;
}

/* -- its life -------------------------------------------------------------------------------------- */

int sb_group_add(const struct sb_group *g, pid_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", (int)pid);
	return group_write(g->path, "cgroup.procs", text);
}

int sb_group_freeze(const struct sb_group *g, bool is_frozen)
{
	return group_write(g->path, "cgroup.freeze", is_frozen ? "1" : "0");
}

static uint64_t event_count(const struct sb_group *g, const char *file, const char *name)
{
	zw_autofree char *path = zw_xasprintf("%s/%s", g->path, file);
	zw_autofree char *text = NULL;
	size_t len, n = strlen(name);

	if (zw_read_file(path, SMALL_B, &text, &len) < 0)
		return 0;
	for (char *line = text; line != NULL; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, n) == 0 && line[n] == ' ')
			return strtoull(line + n, NULL, 10);
	}
	return 0;
}

void sb_group_events(const struct sb_group *g, struct sb_group_events *ret)
{
	*ret = (struct sb_group_events){0};
	if (g->path == NULL)
		return;
	ret->n_forks_refused = event_count(g, "pids.events", "max");
	ret->n_killed = event_count(g, "memory.events", "oom_kill");
}

void sb_group_fini(struct sb_group *g)
{
	int64_t until_ms = zw_mono_ms() + END_MS;

	zw_close(&g->procs_fd);
	if (g->path != NULL) {
		/* Before Linux 5.14 there is no such file; pid 1 has taken them along by then. */
		(void)group_write(g->path, "cgroup.kill", "1");
		while (rmdir(g->path) < 0 && errno == EBUSY && zw_mono_ms() < until_ms)
			poll(NULL, 0, 5);
	}
	free(zw_steal(&g->path));
	free(zw_steal(&g->why));
	g->has = 0;
}
