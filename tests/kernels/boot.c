/* SPDX-License-Identifier: MIT
 * Pid 1 of the machine that tests/kernels/run.sh boots, alone in its initramfs: loads the modules that
 * /modules lists, lays a folder in memory over the root of the machine outside (9p, read-only), runs
 * /stage/guest.sh there, which comes from outside too, and switches off. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void off(void)
{
	sync();
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

static void must(int result, const char *what)
{
	if (result >= 0)
		return;
	printf("boot: %s: %m\n", what);
	off();
}

static void modules_load(void)
{
	char name[256];
	FILE *list = fopen("/modules", "r");

	while (list != NULL && fgets(name, sizeof(name), list) != NULL) {
		name[strcspn(name, "\n")] = '\0';
		int fd = open(name, O_RDONLY | O_CLOEXEC);

		must(fd, name);
		must((int)syscall(SYS_finit_module, fd, "", 0), name);
		close(fd);
	}
	if (list != NULL)
		fclose(list);
}

static void root_make(void)
{
	static const char *const dirs[] = {"/outside", "/stage", "/memory", "/newroot"};
	static const char share[] = "trans=virtio,version=9p2000.L,cache=loose,msize=512000";

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		mkdir(dirs[i], 0755);
	must(mount("outside", "/outside", "9p", MS_RDONLY, share), "root of the machine outside");
	must(mount("stage", "/stage", "9p", MS_RDONLY, share), "folder of the test");
	must(mount("memory", "/memory", "tmpfs", 0, "mode=755"), "tmpfs");
	mkdir("/memory/upper", 0755);
	mkdir("/memory/work", 0755);
	must(mount("root", "/newroot", "overlay", 0,
		   "lowerdir=/outside,upperdir=/memory/upper,workdir=/memory/work"),
	     "overlay");
	mkdir("/newroot/stage", 0755);
	must(mount("/stage", "/newroot/stage", NULL, MS_MOVE, NULL),
	     "moving the folder of the test");
	must(chdir("/newroot"), "chdir");
	/* bwrap cannot pivot away from an initramfs, so the root becomes a mount of its own. */
	must(mount(".", "/", NULL, MS_MOVE, NULL), "moving the root");
	must(chroot("."), "chroot");
	must(chdir("/"), "chdir");
}

static void run(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		setsid();
		execl("/bin/bash", "bash", "/stage/guest.sh", NULL);
		printf("boot: bash: %m\n");
		_exit(127);
	}
	while (pid > 0 && wait(&status) != pid)
		;
}

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	modules_load();
	root_make();
	setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
	run();
	off();
}
