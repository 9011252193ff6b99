/* SPDX-License-Identifier: MIT */
#include "sandbox/mntns.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "sandbox/vmchild.h"
#include "src/base/mem.h"

struct work {
	pid_t pid;
	int (*fn)(void *arg);
	void *arg;
	int result;
};

static int join(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	zw_autoclose int mnt = open(path, O_RDONLY | O_CLOEXEC);
	if (mnt < 0)
		return -errno;
	zw_autoclose int user = ioctl(mnt, NS_GET_USERNS);
	if (user < 0)
		return -errno;
	return setns(user, CLONE_NEWUSER) < 0 || setns(mnt, CLONE_NEWNS) < 0 ? -errno : 0;
}

static int child_main(void *arg)
{
	struct work *w = arg;

	w->result = join(w->pid);
	if (w->result == 0)
		w->result = w->fn(w->arg);
	return 0;
}

int sb_mntns_run(pid_t pid, int (*fn)(void *arg), void *arg)
{
	struct work w = {.pid = pid, .fn = fn, .arg = arg, .result = -ECHILD};
	/* No signal at its end, and waited for as a clone: nobody else's wait() meets it. */
	pid_t child = sb_vmchild(child_main, &w, CLONE_FILES);

	if (child < 0)
		return child;
	while (waitpid(child, NULL, __WCLONE) < 0 && errno == EINTR)
		;
	return w.result;
}
