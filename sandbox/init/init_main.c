/* SPDX-License-Identifier: MIT
 * zwatch-init CONF ARGV...: started by bwrap as pid 1. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox/init/init.h"

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

int main(int argc, char **argv)
{
	struct init_conf conf;

	if (argc < 3 || getpid() != 1) {
		static const char text[] = "zwatch-init is started by zwatch\n";

		return write(2, text, sizeof(text) - 1) < 0 ? 125 : 125;
	}
	/* First of all: from here on nothing that runs beside it can look into it. */
	prctl(PR_SET_DUMPABLE, 0);
	int error = init_conf_load(atoi(argv[1]), &conf);
	if (error < 0) {
		static const char text[] = "zwatch-init: instructions not understood\n";

		_exit(write(2, text, sizeof(text) - 1) < 0 ? 125 : 125);
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		init_fail(conf.head.ctl, SB_STAGE_INIT_FILTER, errno, "no_new_privs");
	say_hello(conf.head.ctl);
	pid_t agent = fork();
	if (agent < 0)
		init_fail(conf.head.ctl, SB_STAGE_INIT_FORK, errno, "");
	if (agent == 0)
		init_stage(&conf, argv + 2);
	init_reap(agent);
}
