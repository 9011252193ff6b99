/* SPDX-License-Identifier: MIT
 * zwatch-demo: the scripted agent of `zwatch demo`. It runs inside the sandbox and does what an agent
 * does: writes a file, talks to a program of its own, reaches for docker.sock and for a site. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "sandbox/netns.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/base/vis.h"

#define TYPE_PAUSE_US 9000
#define STEP_PAUSE_US 600000
#define SITE	      "example.com:443"

#define BOLD  "\033[1m"
#define DIM   "\033[2m"
#define PLAIN "\033[0m"

/* An agent's words come in pieces, also here. */
static void say(const char *text)
{
	for (const char *p = text; *p != '\0'; p++) {
		fputc(*p, stdout);
		fflush(stdout);
		if (*p != ' ')
			usleep(TYPE_PAUSE_US);
	}
	fputc('\n', stdout);
	fflush(stdout);
}

static void step(const char *what)
{
	usleep(STEP_PAUSE_US);
	printf("\n" BOLD "* %s" PLAIN "\n", what);
	fflush(stdout);
	usleep(STEP_PAUSE_US / 2);
}

static void result(const char *text)
{
	zw_autofree char *shown = zw_vis_dup(text, strcspn(text, "\r\n"), 300);

	printf("  " DIM "-> %s" PLAIN "\n", shown);
	fflush(stdout);
}

static int unix_socket(const char *path, struct sockaddr_un *ret_addr)
{
	*ret_addr = (struct sockaddr_un){.sun_family = AF_UNIX};
	zw_strlcpy(ret_addr->sun_path, path, sizeof(ret_addr->sun_path));
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static void write_file(void)
{
	step("Write(notes.txt)");
	FILE *f = fopen("notes.txt", "we");
	if (f == NULL) {
		result(strerror(errno));
		return;
	}
	fputs("zwatch demo was here\n", f);
	fclose(f);
	result("wrote 1 line, in the project folder");
}

/* Both ends inside: no question, only a line in the list. */
static void own_socket(void)
{
	struct sockaddr_un addr;
	char hello[32] = "";

	step("Start a little server of my own on ./own.sock and talk to it");
	remove("own.sock");
	zw_autoclose int server = unix_socket("own.sock", &addr);
	if (server < 0 || bind(server, (struct sockaddr *)&addr, sizeof(addr)) < 0 ||
	    listen(server, 4) < 0) {
		result(strerror(errno));
		return;
	}
	pid_t pid = fork();
	if (pid == 0) {
		int client = accept(server, NULL, NULL);
		zw_write_all(client, "hello from inside", 17);
		_exit(0);
	}
	zw_autoclose int fd = unix_socket("own.sock", &addr);
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0 &&
	    read(fd, hello, sizeof(hello) - 1) > 0)
		result(hello);
	else
		result(strerror(errno));
	waitpid(pid, NULL, 0);
}

/* zwatch's key, as zwatch says it. */
static const char *prefix = "";

static void say_key(const char *text, const char *key)
{
	zw_autofree char *line = zw_xasprintf("%s %s %s", text, prefix, key);

	say(line);
}

static void docker_socket(const char *path)
{
	static const char request[] = "GET /_ping HTTP/1.1\r\nHost: docker\r\n\r\n";
	struct sockaddr_un addr;
	char answer[512] = "";

	step("Bash(docker compose up -d db)");
	say_key("  This needs docker.sock. zwatch holds the call: answer with", "a");
	zw_autoclose int fd = unix_socket(path, &addr);
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0) {
		zw_autofree char *text = zw_xasprintf("docker.sock: %s", strerror(errno));
		result(text);
		say("  I was refused, so I leave Docker alone.");
		return;
	}
	zw_write_all(fd, request, sizeof(request) - 1);
	if (read(fd, answer, sizeof(answer) - 1) <= 0)
		zw_strlcpy(answer, "no answer", sizeof(answer));
	result(answer);
	say("  Docker answered: with it I could now mount your whole disk.");
}

static void site(void)
{
	static const char request[] = "CONNECT " SITE " HTTP/1.1\r\nHost: " SITE "\r\n\r\n";
	struct sockaddr_in addr = {.sin_family = AF_INET,
				   .sin_port = htons(SB_NET_HTTP_PORT),
				   .sin_addr.s_addr = htonl(SB_NET_ADDR)};
	char answer[1024] = "";

	step("Fetch(https://example.com/)");
	say_key("  A site that is new to you. zwatch asks again:", "a");
	zw_autoclose int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0) {
		result(strerror(errno));
		return;
	}
	zw_write_all(fd, request, sizeof(request) - 1);
	if (read(fd, answer, sizeof(answer) - 1) <= 0)
		zw_strlcpy(answer, "the connection was closed", sizeof(answer));
	result(answer);
	if (strstr(answer, " 200 ") != NULL)
		say("  I may talk to it now.");
	else if (strstr(answer, " 403 ") != NULL)
		say("  I was refused, with a reason I can read.");
	else
		say("  I was allowed; the site itself could not be reached from this machine.");
}

int main(int argc, char **argv)
{
	int c;

	if (argc != 3) {
		fprintf(stderr, "zwatch-demo: is what zwatch demo runs; start zwatch demo\n");
		return 2;
	}
	prefix = argv[2];
	signal(SIGPIPE, SIG_IGN);
	say("Hello. I am a scripted agent. Nothing here is real but the sandbox.");
	do {
		write_file();
		own_socket();
		docker_socket(argv[1]);
		site();
		printf("\n" BOLD "Done." PLAIN
		       " What was recorded: %s h now, zwatch history later.\n"
		       "Enter ends the demonstration, r Enter runs it again. ",
		       prefix);
		fflush(stdout);
		while ((c = getchar()) == ' ')
			continue;
	} while (c == 'r' && getchar() != EOF);
	return 0;
}
