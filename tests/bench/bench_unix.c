/* SPDX-License-Identifier: MIT
 * Unix connects and bytes, to be run outside and inside a sandbox (bench_unix.sh):
 *
 *   bench_unix own         a listener of its own: connect p50 and p99, connects/s from 64 threads
 *   bench_unix host PATH   a listener elsewhere: connect p50 and p99, GB/s
 *   bench_unix serve PATH  that listener */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS_N  3000
#define HOST_N	  1000
#define THREADS_N 64
#define EACH_N	  200
#define BULK_B	  (2048ll << 20)
#define CHUNK_B	  (256u << 10)

static struct sockaddr_un address = {.sun_family = AF_UNIX};
static atomic_int n_failed;

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void *drain(void *arg)
{
	int fd = (int)(intptr_t)arg;
	char *p = malloc(CHUNK_B);

	while (p && recv(fd, p, CHUNK_B, 0) > 0)
		;
	free(p);
	close(fd);
	return NULL;
}

static void *serve(void *arg)
{
	int fd = (int)(intptr_t)arg;

	for (;;) {
		pthread_t thread;
		int c = accept(fd, NULL, NULL);

		if (c < 0) { /* no descriptors left: let those who hold some run */
			usleep(1000);
			continue;
		}
		if (pthread_create(&thread, NULL, drain, (void *)(intptr_t)c) != 0)
			close(c);
		else
			pthread_detach(thread);
	}
	return NULL;
}

static int listen_at(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	unlink(address.sun_path);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, 4096) < 0) {
		perror(address.sun_path);
		exit(1);
	}
	return fd;
}

static int connect_once(int64_t *ret_ns)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	int64_t start_ns = now_ns();

	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		close(fd);
		return -1;
	}
	*ret_ns = now_ns() - start_ns;
	return fd;
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static void measure_connects(const char *what, int n)
{
	int64_t *took = calloc((size_t)n, sizeof(*took));

	for (int i = 0; i < n; i++) {
		int fd = connect_once(&took[i]);

		if (fd < 0) {
			perror("connect");
			exit(1);
		}
		close(fd);
	}
	qsort(took, (size_t)n, sizeof(*took), by_value);
	printf("%s p50 %lld us, p99 %lld us\n", what, (long long)took[n / 2] / 1000,
	       (long long)took[n - n / 100 - 1] / 1000);
	free(took);
}

static void *storm(void *arg)
{
	int64_t ns;

	(void)arg;
	for (int i = 0; i < EACH_N; i++) {
		int fd = connect_once(&ns);

		if (fd < 0)
			n_failed++;
		else
			close(fd);
	}
	return NULL;
}

static void measure_storm(void)
{
	pthread_t threads[THREADS_N];
	int64_t start_ns = now_ns();

	for (int i = 0; i < THREADS_N; i++)
		pthread_create(&threads[i], NULL, storm, NULL);
	for (int i = 0; i < THREADS_N; i++)
		pthread_join(threads[i], NULL);
	double seconds = (double)(now_ns() - start_ns) / 1e9;
	printf("64 threads %.0f connects/s, %d failed\n", THREADS_N * EACH_N / seconds, n_failed);
}

static void measure_bytes(void)
{
	int64_t ns, start_ns, left = BULK_B;
	char *p = calloc(1, CHUNK_B);
	int fd = connect_once(&ns);

	start_ns = now_ns();
	while (p && left > 0) {
		ssize_t n = send(fd, p, CHUNK_B, MSG_NOSIGNAL);

		if (n <= 0) {
			perror("send");
			exit(1);
		}
		left -= n;
	}
	/* The other end closes when it has read all. */
	shutdown(fd, SHUT_WR);
	(void)recv(fd, p, 1, 0);
	printf("bytes %.2f GB/s\n", (double)BULK_B / (double)(now_ns() - start_ns));
	free(p);
}

int main(int argc, char **argv)
{
	const char *path = argc > 2 ? argv[2] : "bench.sock";
	pthread_t server;

	if (argc < 2)
		return 2;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (strcmp(argv[1], "serve") == 0)
		serve((void *)(intptr_t)listen_at());
	if (strcmp(argv[1], "own") == 0) {
		pthread_create(&server, NULL, serve, (void *)(intptr_t)listen_at());
		measure_connects("own", ROUNDS_N);
		measure_storm();
		unlink(path);
		return 0;
	}
	measure_connects("host", HOST_N);
	measure_bytes();
	return 0;
}
