/* SPDX-License-Identifier: MIT
 * Starting a sandbox, in two steps with the broker between them:
 *
 *   sb_launch()   bwrap, zwatch-init, network; returns while zwatch-init waits, the filter in
 *                 force, its listener handed out. Nothing of the agent runs yet.
 *   ...           the caller starts the broker, which serves the listener.
 *   sb_go()       zwatch-init tests the sandbox from inside and becomes the agent.
 *
 * Any failure kills the sandbox. Every wait has a limit. */
#ifndef ZW_SANDBOX_LAUNCH_H
#define ZW_SANDBOX_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "sandbox/landlock.h"
#include "sandbox/netns.h"
#include "sandbox/plan.h"

/* What hangs is told from a machine that is busy: under emulation with others beside it 10 s were too few. */
#define SB_LAUNCH_TIMEOUT_MS 30000
#define SB_GO_TIMEOUT_MS     15000

struct sb_session {
	pid_t bwrap_pid; /* our child; 0 = none or reaped */
	int bwrap_pidfd; /* readable when the sandbox has ended */
	pid_t init_pid;	 /* pid 1 of the sandbox, as seen here */
	pid_t agent_pid; /* the agent, as seen here */
	int init_pidfd;
	int ctl;      /* to zwatch-init's agent stage; closed after sb_go() */
	int messages; /* memfd with what bwrap and zwatch-init printed */
	int listener; /* seccomp listener */
	int canary;   /* listens outside; nothing from inside may get there. Closed after sb_go() */
	int pty;      /* master of the agent's terminal, -1 = none */
	int net[SB_NET_MAX];
	pid_t bars_pid;	   /* our child that removes the bars (sandbox/bars.h) after us; 0 = none */
	int bars_fd;	   /* its end is the sign for that */
	char *socket_dirs; /* owned; where sockets may be made, NUL behind each */
	size_t socket_dirs_len;
	struct sb_group group; /* its control group, when limits are set */
	unsigned
		limits_wanted; /* enum sb_limit or-ed; those that group.has does not have are per process */
	enum sb_level level;
	int landlock_abi;      /* 0 = none */
	int status;	       /* exit status, once bwrap_pid is 0 again */
	bool is_wait_killable; /* a signal does not interrupt a waiting call */
};

/**
 * Starts a sandbox up to the point where only the agent's exec is missing.
 * Call it from the main thread: the sandbox ends with the thread that made it.
 *
 * @ret       filled on success. All descriptors are owned by the session, close-on-exec; the
 *            caller may take any of them with zw_steal_fd()
 * Returns    0, or < 0 with *ret_failure filled; then nothing runs
 */
int sb_launch(const struct sb_plan *p, struct sb_session *ret, struct sb_failure *ret_failure);

/**
 * Lets the agent run, after the self-test inside. The listener must be served by now, by another
 * process or thread.
 *
 * Returns  0: the agent runs. < 0 with *ret_failure filled; the sandbox has been killed
 */
int sb_go(struct sb_session *s, struct sb_failure *ret_failure);

/**
 * Whether the sandbox has ended; does not block.
 * Returns  1 and *ret_status (0 to 255, 128+N by signal N); 0 while it runs; -errno
 */
int sb_session_ended(struct sb_session *s, int *ret_status);

/** Signal to the agent's process group; from the terminal's side. Returns 0 or -errno. */
int sb_session_signal(const struct sb_session *s, int sig);
/** Asks pid 1 to send SIGSTOP to all that is inside, in one call. Returns 0 or -errno. */
int sb_session_stop_all(const struct sb_session *s);

/** Kills every process of the sandbox and waits for its end (bounded). Descriptors stay. */
void sb_session_kill(struct sb_session *s);

/** Kills what still runs and closes every descriptor. Fine on a session that was never started if
 * it was set up by sb_session_init(). */
void sb_session_fini(struct sb_session *s);

/** An empty session: no process, all descriptors -1. */
void sb_session_init(struct sb_session *s);

#endif
