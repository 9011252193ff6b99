/* SPDX-License-Identifier: MIT
 * zwatch-init CONF ARGV...: started by bwrap as pid 1. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox/init/init.h"

#define STACK_B (8u * 1024 * 1024) /* execvp() of a script copies the arguments' addresses there */

void init_fail(int ctl, enum sb_stage stage, int error, const char *detail)
{
	struct sb_note note = {.kind = SB_NOTE_FAILED, .stage = stage, .error = error};
	size_t len = strnlen(detail, sizeof(note.detail) - 1);

	memcpy(note.detail, detail, len);
	send(ctl, &note, sizeof(note), MSG_NOSIGNAL);
	_exit(125);
}

static void say_hello(int ctl)
{
	const struct sb_note hello = {.kind = SB_NOTE_HELLO};

	if (send(ctl, &hello, sizeof(hello), MSG_NOSIGNAL) < 0)
		_exit(125);
}

struct stage {
	const struct init_conf *conf;
	char **argv;
};

static int stage_main(void *arg)
{
	const struct stage *s = arg;

	init_stage(s->conf, s->argv);
}

int main(int argc, char **argv)
{
	struct init_conf conf;

	if (argc < 3 || getpid() != 1) {
		fputs("zwatch-init is started by zwatch\n", stderr);
		return 125;
	}
	/* First of all: from here on nothing that runs beside it can look into it. */
	prctl(PR_SET_DUMPABLE, 0);
	int error = init_conf_load(atoi(argv[1]), &conf);
	if (error < 0) {
		fputs("zwatch-init: instructions not understood\n", stderr);
		return 125;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		init_fail(conf.head.ctl, SB_STAGE_INIT_FILTER, errno, "no_new_privs");
	say_hello(conf.head.ctl);
	/* On one memory with pid 1 until its exec: a fork's copies would cost more than all the
	 * rest, and nothing of the agent's runs before. Descriptors, filters and Landlock are each
	 * one's own. */
	struct stage stage = {&conf, argv + 2};
	char *stack = mmap(NULL, STACK_B, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (stack == MAP_FAILED)
		init_fail(conf.head.ctl, SB_STAGE_INIT_FORK, errno, "stack");
	int agent = clone(stage_main, stack + STACK_B, CLONE_VM | SIGCHLD, &stage);
	if (agent < 0)
		init_fail(conf.head.ctl, SB_STAGE_INIT_FORK, errno, "");
	init_reap(agent);
}
