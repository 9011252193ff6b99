/* SPDX-License-Identifier: MIT */
#include "ui/desktop.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* A grandchild, so that nobody has to wait for it; it gets no descriptor of zwatch's. */
static void start(const char *path, const char *const *argv, const char *search)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (fork() != 0)
			_exit(0);
		setsid();
		int fd_null = open("/dev/null", O_RDWR);
		for (int i = 0; i < 3; i++)
			dup2(fd_null, i);
		close_range(3, ~0u, 0);
		if (search != NULL)
			setenv("PATH", search, 1);
		execv(path, (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

void ui_desktop_show(const struct ui_desktop *d, const char *text)
{
	const char *const argv[] = {
		"notify-send", "-a",	   "zwatch",
		"-u",	       "critical", "-t",
		"20000",       "-h",	   "string:x-canonical-private-synchronous:zwatch",
		"--",	       text,	   NULL};

	if (*d->notify_send != '\0')
		start(d->notify_send, argv, NULL);
}

void ui_desktop_command(const struct ui_desktop *d, const char *text)
{
	const char *const argv[] = {"sh", "-c", d->command, "zwatch", text, NULL};

	if (*d->command != '\0')
		start("/bin/sh", argv, d->path);
}
