/* SPDX-License-Identifier: MIT */
#include "sandbox/broker/who.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"

#define PARENTS_MAX 16

/* First and last number of a line; the last one is that of the innermost namespace. */
static int numbers(const char *text, const char *key, uint32_t *ret_first, uint32_t *ret_last)
{
	const char *p = strstr(text, key);
	char *end;
	int n = 0;

	if (p == NULL)
		return ZW_E_SYNTAX;
	p += strlen(key);
	for (;;) {
		while (*p == ' ' || *p == '\t')
			p++;
		unsigned long v = strtoul(p, &end, 10);
		if (*p == '-' || end == p)
			break;
		if (n++ == 0)
			*ret_first = (uint32_t)v;
		*ret_last = (uint32_t)v;
		p = end;
	}
	return n > 0 ? 0 : ZW_E_SYNTAX;
}

int brk_status_parse(const char *text, struct brk_status *ret)
{
	struct brk_status s = {0};
	uint32_t unused;

	/* The first line is the name, which the task chose; the kernel escapes a newline in it. */
	if (numbers(text, "\nTgid:", &s.tgid, &unused) < 0 ||
	    numbers(text, "\nPPid:", &s.ppid, &unused) < 0 ||
	    numbers(text, "\nNStgid:", &unused, &s.ns_tgid) < 0 ||
	    numbers(text, "\nNSpid:", &unused, &s.ns_pid) < 0)
		return ZW_E_SYNTAX;
	*ret = s;
	return 0;
}

int brk_status_read(const struct brk_sys *sys, pid_t tid, struct brk_status *ret)
{
	char text[4096];
	ssize_t n = sys->proc_read(tid, "status", text, sizeof(text));

	return n < 0 ? (int)n : brk_status_parse(text, ret);
}

static void chain_add(const struct brk_sys *sys, pid_t pid, struct brk_who *w)
{
	char comm[64] = "", entry[96];
	ssize_t n = sys->proc_read(pid, "comm", comm, sizeof(comm));

	if (n > 0 && comm[n - 1] == '\n')
		comm[n - 1] = '\0';
	int len = snprintf(entry, sizeof(entry), "%d %s", (int)pid, comm);
	if (len < 0 || w->chain_len + (size_t)len + 1 > sizeof(w->chain))
		return;
	if (w->chain_len > 0)
		w->chain[w->chain_len++] = '\0';
	memcpy(w->chain + w->chain_len, entry, (size_t)len);
	w->chain_len += (size_t)len;
}

/* The file itself, wherever it lies. */
static uint64_t exe_id_read(pid_t tid)
{
	char path[40];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)tid);
	return stat(path, &st) == 0 ? zw_file_id(&st) : 0;
}

int brk_who_read(const struct brk_sys *sys, pid_t tid, pid_t init_pid, struct brk_who *w)
{
	struct brk_status s;
	int r = brk_status_read(sys, tid, &s);

	memset(w, 0, sizeof(*w));
	if (sys->proc_link(tid, "exe", w->exe, sizeof(w->exe)) < 0)
		w->exe[0] = '\0';
	w->exe_id = exe_id_read(tid);
	if (r < 0)
		return r == ZW_E_SYNTAX ? -EBADMSG : r;
	w->pid = s.tgid;
	if (sys->proc_link(tid, "cwd", w->cwd, sizeof(w->cwd)) < 0)
		w->cwd[0] = '\0';
	ssize_t n = sys->proc_read(tid, "cmdline", w->argv, sizeof(w->argv));
	w->argv_len = n > 0 ? (size_t)n : 0;
	if (w->argv_len > 0 && w->argv[w->argv_len - 1] == '\0')
		w->argv_len--;
	pid_t pid = (pid_t)s.ppid;
	for (int i = 0; i < PARENTS_MAX && pid > 1 && pid != init_pid; i++) {
		chain_add(sys, pid, w);
		if (brk_status_read(sys, pid, &s) < 0)
			break;
		pid = (pid_t)s.ppid;
	}
	return 0;
}
