/* SPDX-License-Identifier: MIT
 * Writes the monotonic clock, in nanoseconds, into the file named, and ends: the first thing that a
 * program inside can do. Static, so that no loader adds to it. */
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct timespec ts;
	char text[32];

	clock_gettime(CLOCK_MONOTONIC, &ts);
	int fd = argc > 1 ? open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
	int n = snprintf(text, sizeof(text), "%lld",
			 (long long)ts.tv_sec * 1000000000 + ts.tv_nsec);
	return fd < 0 || write(fd, text, (size_t)n) != n;
}
