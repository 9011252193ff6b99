/* SPDX-License-Identifier: MIT
 * zwatch-broker: descriptors 3 (zwatch) and 4 (log). */
#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/broker/broker.h"
#include "sandbox/role_lock.h"
#include "src/base/err.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/ipc/chan.h"

struct life {
	struct zev_loop *loop;
	int error;
};

/*
 * What is done for the agent is done with the user's rights alone: root's power to pass over file
 * permissions would open sockets that the agent itself could not. Looking into other processes stays,
 * to name who listens.
 */
static int drop_capabilities(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &head, data) < 0)
		return -errno;
	data[0].effective &= 1u << CAP_SYS_PTRACE;
	data[0].permitted &= 1u << CAP_SYS_PTRACE;
	data[0].inheritable = 0;
	data[1] = (struct __user_cap_data_struct){0};
	return syscall(SYS_capset, &head, data) < 0 ? -errno : 0;
}

/* Each held call takes a few descriptors, each relay two. */
static void raise_limits(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) == 0) {
		lim.rlim_cur = lim.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &lim);
	}
}

static int on_broker_setup(void *arg)
{
	(void)arg;
	int r = sb_role_lock(SB_ROLE_BROKER, NULL);
	if (r == 1)
		zw_info("sanitized build: system calls are not filtered");
	return r < 0 ? r : 0;
}

static void on_broker_end(int error, void *arg)
{
	struct life *life = arg;

	life->error = error;
	zev_stop(life->loop);
}

static const struct broker_ops ops = {.on_setup = on_broker_setup, .on_end = on_broker_end};

int main(void)
{
	struct life life = {0};

	zw_log_init("zwatch-broker", ZW_FD_LOG, ZW_LOG_INFO);
	(void)signal(SIGPIPE, SIG_IGN);
	raise_limits();
	int r = drop_capabilities();
	if (r < 0) {
		zw_error("cannot give up capabilities: %s", zw_strerror(r));
		return 1;
	}
	life.loop = zev_loop_new();
	struct broker *b = broker_new(life.loop, ZW_FD_CONTROL, &brk_sys_real, &ops, &life);
	r = zev_run(life.loop);
	if (r == 0)
		r = life.error;
	broker_free(b);
	zev_loop_free(life.loop);
	if (r < 0)
		zw_error("ended: %s", zw_strerror(r));
	return r < 0 ? 1 : 0;
}
