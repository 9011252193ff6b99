/* SPDX-License-Identifier: MIT
 * Instructions out of the memfd. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/init/init.h"

static char **split(char *p, size_t len)
{
	size_t n = 0, i = 0;

	for (size_t at = 0; at < len; at++)
		n += p[at] == '\0';
	char **list = calloc(n + 1, sizeof(*list));
	if (!list)
		return NULL;
	for (size_t at = 0; i < n; at += strlen(p + at) + 1)
		list[i++] = p + at;
	return list;
}

static int take_apart(char *p, size_t len, struct init_conf *ret)
{
	const struct sb_conf *h = &ret->head;

	if (len < sizeof(*h))
		return -EPROTO;
	memcpy(&ret->head, p, sizeof(*h));
	uint64_t sum = sizeof(*h) + (uint64_t)h->filter_b + h->env_b + h->socket_dirs_b +
		       h->canary_b + h->runtime_b + h->cwd_b;
	if (h->magic != SB_CONF_MAGIC || sum != len || p[len - 1] != '\0' || h->canary_b == 0 ||
	    h->runtime_b == 0 || h->cwd_b == 0 || h->filter_b % sizeof(struct sock_filter) != 0)
		return -EPROTO;
	p += sizeof(*h);
	/* Aligned: the head is a multiple of eight bytes, and the mapping begins a page. */
	ret->filter = (struct sock_filter *)(void *)p;
	ret->n_filter = h->filter_b / sizeof(struct sock_filter);
	p += h->filter_b;
	ret->env = split(p, h->env_b);
	p += h->env_b;
	ret->socket_dirs = p;
	ret->socket_dirs_len = h->socket_dirs_b;
	ret->canary = p + h->socket_dirs_b;
	ret->runtime_dir = ret->canary + h->canary_b;
	ret->cwd = ret->runtime_dir + h->runtime_b;
	return ret->env ? 0 : -ENOMEM;
}

int init_conf_load(int fd, struct init_conf *ret)
{
	struct stat st;
	char *p;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size <= 0)
		return -EPROTO;
	/* Stays mapped until exec, as the environment points into it. */
	p = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	close(fd);
	return take_apart(p, (size_t)st.st_size, ret);
}
