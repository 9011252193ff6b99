/* SPDX-License-Identifier: MIT
 * `zwatch demo`: a session anybody can try, with no account and no network. The project, a
 * "docker.sock" with a harmless listener behind it, and the agent are zwatch's own; sandbox, broker,
 * question and record are the real ones. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/prefix.h"
#include "src/base/str.h"
#include "src/main/cmd.h"
#include "src/super/helper.h"

struct stage {
	char folder[64]; /* in /tmp; holds everything */
	char *project, *socket;
	pid_t listener;
};

static int listen_at(const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	zw_autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	zw_strlcpy(addr.sun_path, path, sizeof(addr.sun_path));
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0 || listen(fd, 16) < 0)
		return -errno;
	return zw_steal_fd(&fd);
}

/* The stand-in for dockerd: says OK to whatever is asked. Ends with zwatch. */
static void listener_serve(int fd)
{
	static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
				     "Content-Length: 3\r\nConnection: close\r\n\r\nOK\n";

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_IGN);
	for (;;) {
		char request[4096];
		zw_autoclose int client = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
		struct pollfd pfd = {.fd = client, .events = POLLIN};

		if (client < 0)
			continue;
		if (poll(&pfd, 1, 2000) > 0 && read(client, request, sizeof(request)) > 0)
			zw_write_all(client, answer, sizeof(answer) - 1);
	}
}

static int stage_build(struct stage *s)
{
	zw_strlcpy(s->folder, "/tmp/demo-XXXXXX", sizeof(s->folder));
	if (mkdtemp(s->folder) == NULL)
		return -errno;
	s->project = zw_xasprintf("%s/shop", s->folder);
	s->socket = zw_xasprintf("%s/docker.sock", s->folder);
	if (mkdir(s->project, 0700) < 0)
		return -errno;
	zw_autoclose int fd = listen_at(s->socket);
	if (fd < 0)
		return fd;
	s->listener = fork();
	if (s->listener == 0) {
		listener_serve(fd);
		_exit(0);
	}
	return s->listener < 0 ? -errno : 0;
}

static void stage_clear(struct stage *s)
{
	static const char *const made[] = {"shop/own.sock", "shop/notes.txt", "shop",
					   "docker.sock"};

	if (s->listener > 0) {
		kill(s->listener, SIGKILL);
		waitpid(s->listener, NULL, 0);
	}
	for (size_t i = 0; i < ZW_N_ELEMENTS(made); i++) {
		zw_autofree char *path = zw_xasprintf("%s/%s", s->folder, made[i]);
		remove(path);
	}
	rmdir(s->folder);
	free(s->project);
	free(s->socket);
}

static int session(struct stage *s, const struct cli *given)
{
	zw_autofree char *docker_host = zw_xasprintf("unix://%s", s->socket);
	zw_autofree char *agent = sup_program_path("zwatch-demo");
	char *rest[] = {agent, s->socket, NULL, NULL};
	struct cli cli = *given;
	struct start st;

	cli.command = CLI_CMD_run;
	cli.word = "demo";
	cli.rest = rest;
	cli.n_rest = 3;
	cli.values[cli.n_values < CLI_VALUES_MAX ? cli.n_values++ : 0] =
		(struct cli_value){CLI_OPT_RO, agent};
	/* By this variable the catalogue knows the socket as Docker's, wherever it lies. */
	setenv("DOCKER_HOST", docker_host, 1);
	if (chdir(s->project) < 0)
		return ZW_EXIT_INTERNAL;
	start_init(&st);
	int r = start_config(&st, &cli);
	start_print_report(&st, 2, false);
	cmd_prefix_set(st.cfg);
	rest[2] = (char *)(uintptr_t)zw_prefix_name();
	if (r >= 0)
		st.cfg->ui_review = false; /* nothing of the play is worth keeping */
	int status = r < 0 ? ZW_EXIT_CONFIG : cmd_session(&st, &cli);
	start_fini(&st);
	return status;
}

int cmd_demo(const struct cli *cli)
{
	struct stage s = {.listener = 0};
	int r = stage_build(&s);
	if (r < 0)
		dprintf(2, "zwatch: the demonstration cannot be set up in /tmp: %s\n",
			zw_strerror(r));
	int status = r < 0 ? ZW_EXIT_INTERNAL : session(&s, cli);
	if (chdir("/") < 0)
		status = ZW_EXIT_INTERNAL;
	stage_clear(&s);
	return status;
}
