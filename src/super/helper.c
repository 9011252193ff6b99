/* SPDX-License-Identifier: MIT */
#include "src/super/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include "src/base/err.h"
#include "src/base/mem.h"

/* Descriptors above all fixed ones, so that the moves of the child never overwrite each other. */
#define FD_FREE_FROM 10

void sup_helper_init(struct sup_helper *h, enum zw_role role, struct zev_loop *loop,
		     const struct sup_helper_ops *ops, void *arg)
{
	zw_autofree char *path = sup_program_path(zw_role_name(role));

	*h = (struct sup_helper){.role = role, .loop = loop, .ops = ops, .arg = arg};
	h->program_fd = open(path, O_PATH | O_CLOEXEC);
	if (h->program_fd < 0)
		h->program_error = -errno;
}

void sup_helper_fini(struct sup_helper *h)
{
	zw_close(&h->program_fd);
}

char *sup_program_path(const char *name)
{
	const char *folder = getenv("ZWATCH_LIBEXEC");
	/* Beside this program, where an install of it into any place has them, where the build
	 * was told they would be. */
	static const char *const places[] = {".", ZW_LIBEXEC_FROM_BIN};
	char self[4096];

	if (folder != NULL && *folder == '/')
		return zw_xasprintf("%s/%s", folder, name);
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n > 0) {
		self[n] = '\0';
		char *slash = strrchr(self, '/');

		if (slash != NULL)
			*slash = '\0';
		for (size_t i = 0; slash != NULL && i < sizeof(places) / sizeof(places[0]); i++) {
			zw_autofree char *path = zw_xasprintf("%s/%s/%s", self, places[i], name);
			zw_autofree char *real = realpath(path, NULL);

			if (real != NULL && access(real, X_OK) == 0)
				return zw_steal(&real);
		}
	}
	return zw_xasprintf("%s/%s", ZW_LIBEXEC_DIR, name);
}

/* Tells the owner once that the helper is no more, and makes sure that it is not. */
static void dead(struct sup_helper *h, const char *how)
{
	if (h->pid > 0) {
		kill(h->pid, SIGKILL);
		waitpid(h->pid, NULL, 0);
	}
	zw_chan_free(zw_steal(&h->chan));
	h->pid = 0;
	h->is_ready = false;
	h->ops->on_dead(h, how, h->arg);
}

static void on_helper_msg(struct zw_chan *chan, enum zw_msg_id id, const union zw_msg_any *msg,
			  int *fds, void *arg)
{
	struct sup_helper *h = arg;

	(void)chan;
	if (!h->has_hello) {
		if (id != ZW_ID_hello || msg->hello.version != ZW_MSG_VERSION) {
			dead(h, zw_strerror(ZW_E_VERSION));
			return;
		}
		h->has_hello = true;
		return;
	}
	h->ops->on_msg(h, id, msg, fds, h->arg);
}

/* Its status, when it ended by itself within the time that an exit takes; else it is made to end. */
static int status_take(pid_t pid)
{
	int status = 0;

	for (int i = 0; i < 50; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return status;
		usleep(1000);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return status;
}

static void on_helper_end(struct zw_chan *chan, int error, void *arg)
{
	struct sup_helper *h = arg;

	(void)chan;
	/* A closed channel is how a death looks from here; the status says what it died of. */
	if (error == ZW_E_EOF && h->pid > 0) {
		sup_helper_reaped(h, h->pid, status_take(h->pid));
		return;
	}
	zw_autofree char *how = zw_xasprintf("sent what it may not: %s", zw_strerror(error));
	dead(h, how);
}

static const struct zw_chan_ops chan_ops = {.on_msg = on_helper_msg, .on_end = on_helper_end};

/* What a helper gets of the environment. Nothing that names code to load (LD_*, OPENSSL_CONF and the
 * like): an empty or relative entry there means the folder one is in, which the agent can write. */
static bool env_is_passed(const char *pair)
{
	static const char *const names[] = {
		"LANG=",	  "LC_",	   "TZ=",
		"HOME=",	  "XDG_",	   "SSL_CERT_DIR=",
		"SSL_CERT_FILE=", "ASAN_OPTIONS=", "LSAN_OPTIONS=",
		"UBSAN_OPTIONS=",
	};

	for (size_t i = 0; i < ZW_N_ELEMENTS(names); i++)
		if (zw_starts_with(pair, names[i]))
			return true;
	return false;
}

/* Ownership: the list is the caller's, the strings are not. */
static char **env_make(void)
{
	size_t n = 0, k = 0;

	while (environ[n] != NULL)
		n++;
	char **list = zw_xcalloc(n + 1, sizeof(*list));
	for (size_t i = 0; i < n; i++)
		if (env_is_passed(environ[i]))
			list[k++] = environ[i];
	return list;
}

static int spawn(const struct sup_helper *h, int control_fd, int log_fd, pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t all, none;
	char *argv[] = {(char *)(uintptr_t)zw_role_name(h->role), NULL};
	zw_autofree char **env = env_make();
	char path[32];

	/* By descriptor, which was opened before the agent ran: behind the name could be another
	 * program by now. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", h->program_fd);
	/* In place of closing in the child, which would close the program too. */
	close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addchdir_np(&actions, "/");
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&actions, log_fd >= 0 ? log_fd : 0, 1);
	posix_spawn_file_actions_adddup2(&actions, log_fd >= 0 ? log_fd : 0, 2);
	posix_spawn_file_actions_adddup2(&actions, control_fd, ZW_FD_CONTROL);
	posix_spawn_file_actions_adddup2(&actions, 2, ZW_FD_LOG);
	posix_spawnattr_init(&attr);
	sigfillset(&all);
	sigemptyset(&none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setsigmask(&attr, &none);
	/* Its own session: what the user types for the agent is no signal for a helper. */
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
						POSIX_SPAWN_SETSID);
	int r = posix_spawn(ret_pid, path, &actions, &attr, argv, env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return -r;
}

int sup_helper_start(struct sup_helper *h, int log_fd)
{
	int pair[2];

	if (h->program_fd < 0)
		return h->program_error;
	int r = zw_chan_pair(pair);
	if (r < 0)
		return r;
	zw_autoclose int ours = pair[0];
	zw_autoclose int theirs = fcntl(pair[1], F_DUPFD_CLOEXEC, FD_FREE_FROM);
	zw_autoclose int log = log_fd >= 0 ? fcntl(log_fd, F_DUPFD_CLOEXEC, FD_FREE_FROM) : -1;
	close(pair[1]);
	if (theirs < 0)
		return -EMFILE;
	r = spawn(h, theirs, log, &h->pid);
	if (r < 0) {
		h->pid = 0;
		return r;
	}
	h->has_hello = h->is_ready = h->is_done = false;
	h->n_starts++;
	h->chan = zw_chan_new(h->loop, zw_steal_fd(&ours), ROLE_SUPER, h->role, &chan_ops, h);
	return 0;
}

bool sup_helper_reaped(struct sup_helper *h, pid_t pid, int wait_status)
{
	zw_autofree char *how = NULL;

	if (h->pid <= 0 || h->pid != pid)
		return false;
	if (WIFSIGNALED(wait_status))
		how = zw_xasprintf("killed by signal %d (%s)", WTERMSIG(wait_status),
				   strsignal(WTERMSIG(wait_status)));
	else
		how = zw_xasprintf("ended with status %d", WEXITSTATUS(wait_status));
	h->is_done = WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0;
	h->pid = 0;
	dead(h, how);
	return true;
}

void sup_helper_stop(struct sup_helper *h)
{
	zw_chan_free(zw_steal(&h->chan));
	h->pid = 0;
	h->is_ready = false;
}
