/* SPDX-License-Identifier: MIT */
#include "ui/clip.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/utf8.h"
#include "src/base/vis.h"
#include "ui/fmt.h"

/* Until then a tool that cannot reach its clipboard has said so. */
#define TOOL_FAILS_MS 500

struct tool {
	const char *env;     /* only where this is set */
	const char *name;    /* shown, and looked for in PATH */
	const char *argv[5]; /* reads the text from its standard input */
};

static const struct tool tools[] = {
	{"TMUX", "tmux", {"tmux", "load-buffer", "-w", "-", NULL}},
	{"WAYLAND_DISPLAY", "wl-copy", {"wl-copy", NULL}},
	{"DISPLAY", "xclip", {"xclip", "-selection", "clipboard", NULL}},
};

static bool is_set(const char *name)
{
	const char *v = getenv(name);

	return v != NULL && *v != '\0';
}

/* Path of a program; only absolute folders count. Ownership: caller; NULL = none. */
static char *program_path(const char *name)
{
	const char *path = getenv("PATH");

	while (path != NULL && *path != '\0') {
		size_t len = strcspn(path, ":");
		zw_autofree char *full = zw_xasprintf("%.*s/%s", (int)len, path, name);

		if (*path == '/' && access(full, X_OK) == 0)
			return zw_steal(&full);
		path += len + (path[len] == ':');
	}
	return NULL;
}

/* A tool that serves the clipboard goes into the background by itself; one that cannot says so by its
 * status, and soon. What still runs then is taken to work. */
static bool has_failed(pid_t tool)
{
	struct pollfd p = {.fd = (int)syscall(SYS_pidfd_open, tool, 0), .events = POLLIN};
	int status = 0;

	return p.fd >= 0 && poll(&p, 1, TOOL_FAILS_MS) > 0 && waitpid(tool, &status, 0) == tool &&
	       status != 0;
}

/* A grandchild, so that nobody has to wait for a tool that stays to serve the clipboard. Returns
 * whether it took the text, as far as that is waited for: the agent's text makes nobody wait. */
static bool run(const char *path, const struct tool *tool, int fd_text, bool is_waited)
{
	int status = 0, fd_null = open("/dev/null", O_RDWR | O_CLOEXEC);
	pid_t pid = fork();

	if (pid == 0) {
		pid_t child = fork();

		if (child != 0)
			_exit(child < 0 || (is_waited && has_failed(child)));
		setsid();
		dup2(fd_text, 0);
		dup2(fd_null, 1);
		dup2(fd_null, 2);
		execv(path, (char *const *)(uintptr_t)tool->argv);
		_exit(127);
	}
	if (fd_null >= 0)
		close(fd_null);
	while (pid > 0 && waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return pid > 0 && status == 0;
}

static int text_fd(const char *text, size_t len)
{
	zw_autoclose int fd = memfd_create("zwatch-copy", MFD_CLOEXEC);

	if (fd < 0 || zw_write_all(fd, text, len) < 0 || lseek(fd, 0, SEEK_SET) < 0)
		return -1;
	return zw_steal_fd(&fd);
}

/* Returns the name of the tool that took it; NULL = none is there. */
static const char *give_to_tool(const char *text, size_t len, bool is_waited)
{
	for (size_t i = 0; i < ZW_N_ELEMENTS(tools); i++) {
		zw_autofree char *path = is_set(tools[i].env) ? program_path(tools[i].name) : NULL;

		if (path == NULL)
			continue;
		zw_autoclose int fd = text_fd(text, len);
		if (fd >= 0 && run(path, &tools[i], fd, is_waited))
			return tools[i].name;
	}
	return NULL;
}

/* Returns the path; NULL = it cannot be written. Ownership: caller. */
static char *give_to_file(const char *text, size_t len)
{
	const char *dir = is_set("XDG_RUNTIME_DIR") ? getenv("XDG_RUNTIME_DIR")
			  : is_set("TMPDIR")	    ? getenv("TMPDIR")
						    : "/tmp";
	zw_autofree char *path = zw_xasprintf("%s/zwatch-copy-XXXXXX", dir);
	zw_autoclose int fd = mkostemp(path, O_CLOEXEC);

	if (fd < 0 || zw_write_all(fd, text, len) < 0)
		return NULL;
	return zw_steal(&path);
}

static size_t count_chars(const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += ((uint8_t)text[i] & 0xc0) != 0x80;
	return n;
}

void clip_copy(struct ui_term *t, const char *text, size_t len, bool is_cut, char *ret_said,
	       size_t size)
{
	const char *cut = is_cut ? ", the first megabyte" : "";
	char n[UI_FMT_MAX];

	term_copy(t, text, len);
	const char *tool = give_to_tool(text, len, true);
	zw_autofree char *path =
		tool == NULL && !term_has_clipboard(t) ? give_to_file(text, len) : NULL;
	ui_fmt_count(n, count_chars(text, len));
	if (path != NULL)
		snprintf(ret_said, size, "copied %s characters%s to %s", n, cut, path);
	else if (tool != NULL)
		snprintf(ret_said, size, "copied %s characters%s (%s)", n, cut, tool);
	else
		snprintf(ret_said, size, "copied %s characters%s", n, cut);
}

/* Returns the length of what is left of @text, in @out. */
static size_t plain_text(const uint8_t *text, size_t len, char *out)
{
	size_t used = 0;

	for (size_t i = 0; i < len;) {
		uint32_t cp;
		int n = zw_utf8_decode(text + i, len - i, &cp);

		if (n > 0 && (zw_vis_is_safe(cp) || cp == '\n' || cp == '\t')) {
			memcpy(out + used, text + i, (size_t)n);
			used += (size_t)n;
		}
		i += n > 0 ? (size_t)n : 1;
	}
	return used;
}

void clip_agent(struct ui_term *t, const void *text, size_t len, char *ret_said, size_t size)
{
	zw_autofree char *plain = zw_xmalloc(len + 1);
	size_t plain_len = plain_text(text, len, plain);
	char n[UI_FMT_MAX];

	ui_fmt_count(n, count_chars(plain, plain_len));
	snprintf(ret_said, size, "The agent set the clipboard (%s characters).", n);
	if (plain_len == 0)
		return;
	term_copy(t, plain, plain_len);
	give_to_tool(plain, plain_len, false);
}
