/* SPDX-License-Identifier: MIT
 * The tree of the sandbox's processes, and how all of it stands still.
 *
 * A control group does it best: nobody inside can wake another, and no shell takes its child for a
 * job that was suspended. A session with limits was started in one. Else pid 1 is asked to send
 * SIGSTOP to all there are: in one call, which nothing that is forked meanwhile escapes, while lists
 * of children leave some out as others come and go. What stands still is moved into a group, made
 * when it is first needed, in a part of the tree of groups that is the user's own; where there is
 * none, it stays with the signal. */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/prefix.h"
#include "src/super/super_i.h"

#define STOP_MS	       2000
#define STAT_MAX_B     4096
#define PROCESSES_MAX  100000
#define CHILDREN_MAX_B (1u << 20) /* the numbers of one's children */

/* Processes of the sandbox, as far as they were found; the first is pid 1. */
struct pids {
	pid_t *list; /* owned */
	size_t n;
};

static void pids_add(struct pids *p, pid_t pid)
{
	/* At 1, 2, 4, 8 ... it is full. */
	if ((p->n & (p->n - 1)) == 0)
		p->list = zw_xrealloc(p->list, p->n > 0 ? p->n * 2 : 1, sizeof(*p->list));
	p->list[p->n++] = pid;
}

static void children_add(struct pids *p, pid_t pid, const char *thread)
{
	zw_autofree char *path = zw_xasprintf("/proc/%d/task/%s/children", pid, thread);
	zw_autofree char *list = NULL;
	size_t len;

	if (zw_read_file(path, CHILDREN_MAX_B, &list, &len) < 0)
		return;
	for (char *c = list, *end; p->n < PROCESSES_MAX; c = end) {
		long child = strtol(c, &end, 10);

		if (end == c)
			break;
		pids_add(p, (pid_t)child);
	}
}

/* A child is listed with the thread that made it. */
static void process_add(struct pids *p, pid_t pid)
{
	zw_autofree char *path = zw_xasprintf("/proc/%d/task", pid);
	DIR *dir = opendir(path);

	if (dir == NULL)
		return;
	for (struct dirent *e; (e = readdir(dir)) != NULL;)
		if (e->d_name[0] != '.')
			children_add(p, pid, e->d_name);
	closedir(dir);
}

size_t sup_tree(pid_t init_pid, size_t max, pid_t **ret)
{
	struct pids p = {NULL, 0};

	pids_add(&p, init_pid);
	for (size_t i = 0; i < p.n && p.n < max; i++)
		process_add(&p, p.list[i]);
	*ret = p.list;
	return p.n < max ? p.n : max;
}

static char state_of(pid_t pid)
{
	zw_autofree char *path = zw_xasprintf("/proc/%d/stat", (int)pid);
	zw_autofree char *text = NULL;
	size_t len;

	if (zw_read_file(path, STAT_MAX_B, &text, &len) < 0)
		return 'X';
	/* A name may hold brackets. */
	const char *end = strrchr(text, ')');
	return end != NULL && end + 2 < text + len ? end[2] : 'X';
}

/* Those that stand still already, by job control: they are not to go on at the end. */
static void stopped_before(struct sup *s)
{
	pid_t *list;
	size_t n = sup_tree(s->sandbox.init_pid, PROCESSES_MAX, &list);

	s->n_stopped = 0;
	for (size_t i = 1; i < n && s->n_stopped < ZW_N_ELEMENTS(s->stopped); i++)
		if (state_of(list[i]) == 'T')
			s->stopped[s->n_stopped++] = list[i];
	free(list);
}

static bool was_stopped(const struct sup *s, pid_t pid)
{
	for (size_t i = 0; i < s->n_stopped; i++)
		if (s->stopped[i] == pid)
			return true;
	return false;
}

/* Whether none of them runs. What waits in the kernel for an answer (D) stops when it has it. */
static bool is_still(const struct sup *s)
{
	bool is_running = false;
	pid_t *list;
	size_t n = sup_tree(s->sandbox.init_pid, PROCESSES_MAX, &list);

	for (size_t i = 1; i < n && !is_running; i++)
		is_running = strchr("RS", state_of(list[i])) != NULL;
	free(list);
	return !is_running;
}

/* SIGSTOP for all of them, by pid 1. Returns whether they were seen to stand still. */
static bool stop_all(struct sup *s)
{
	int64_t until_ms = zw_mono_ms() + STOP_MS;

	stopped_before(s);
	if (sb_session_stop_all(&s->sandbox) < 0)
		return false;
	while (!is_still(s) && zw_mono_ms() < until_ms)
		poll(NULL, 0, 1);
	return is_still(s);
}

static void continue_all(struct sup *s)
{
	pid_t *list;
	size_t n = sup_tree(s->sandbox.init_pid, PROCESSES_MAX, &list);

	for (size_t i = 1; i < n; i++)
		if (!was_stopped(s, list[i]))
			kill(list[i], SIGCONT);
	free(list);
}

/* What stands still is moved into a frozen group, where it may go on: it does when that is thawed. */
static bool to_group(struct sup *s)
{
	struct sb_group *g = &s->sandbox.group;
	pid_t *list;
	int r = g->path != NULL ? 0 : sb_group_make_bare(g);

	if (r < 0 || sb_group_freeze(g, true) < 0)
		return false;
	size_t n = sup_tree(s->sandbox.init_pid, PROCESSES_MAX, &list);
	for (size_t i = 1; i < n && (r == 0 || r == -ESRCH); i++)
		r = sb_group_add(g, list[i]);
	free(list);
	if (r < 0 && r != -ESRCH) {
		(void)sb_group_freeze(g, false);
		return false;
	}
	continue_all(s);
	return true;
}

static const char *freeze(struct sup *s)
{
	/* With limits everything was started in the group. */
	bool is_whole = s->sandbox.group.has != 0 && sb_group_freeze(&s->sandbox.group, true) == 0;
	bool is_all = is_whole || stop_all(s);

	s->is_signalled = !is_whole && !(is_all && to_group(s));
	s->model.is_frozen = true;
	if (!is_all)
		sup_warn(s,
			 "not all of the agent's processes were seen to stop: some may still "
			 "run. %s x ends them all",
			 zw_prefix_name());
	sup_record(s, "mode",
		   !is_all	     ? "frozen, by SIGSTOP, perhaps not all of it"
		   : s->is_signalled ? "frozen, by SIGSTOP"
				     : "frozen, by the control group");
	return !is_all		 ? "The agent was told to stop, and not all of it was seen to."
	       : s->is_signalled ? "The agent is frozen, each process by SIGSTOP."
				 : "The agent is frozen, by its control group.";
}

static const char *thaw(struct sup *s)
{
	if (s->is_signalled)
		continue_all(s);
	else
		(void)sb_group_freeze(&s->sandbox.group, false);
	s->model.is_frozen = false;
	sup_record(s, "mode", "thawed");
	return "The agent goes on.";
}

/* @bit of those that want it frozen is set or taken. */
static const char *want(struct sup *s, unsigned bit, bool is_frozen)
{
	s->want_frozen = is_frozen ? s->want_frozen | bit : s->want_frozen & ~bit;
	if (s->sandbox.init_pid <= 0 || s->is_agent_over)
		return "The agent is over.";
	if ((s->want_frozen != 0) != s->model.is_frozen) {
		const char *text = s->want_frozen != 0 ? freeze(s) : thaw(s);

		sup_changed(s, MDL_CHANGED_STATUS);
		return text;
	}
	return s->want_frozen == 0 ? "The agent goes on."
	       : !is_frozen ? "The agent stays frozen until the history can be written again."
			    : "The agent is frozen.";
}

const char *sup_freeze(struct sup *s, bool is_frozen)
{
	return want(s, SUP_FROZEN_BY_USER, is_frozen);
}

void sup_freeze_for_history(struct sup *s, bool is_frozen)
{
	(void)want(s, SUP_FROZEN_FOR_HISTORY, is_frozen);
}

void sup_thaw_all(struct sup *s)
{
	s->want_frozen = 0;
	(void)want(s, 0, false);
}
