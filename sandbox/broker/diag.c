/* SPDX-License-Identifier: MIT */
#include "sandbox/broker/diag.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <unistd.h>

#include "src/base/mem.h"

#ifndef UDIAG_SHOW_UID
#define UDIAG_SHOW_UID 0x40
#endif
#define DUMPS_MAX 4

static void take_attr(struct rtattr *a, struct brk_diag_sock *s)
{
	size_t len = RTA_PAYLOAD(a);

	if (a->rta_type == UNIX_DIAG_NAME && len <= sizeof(s->name)) {
		memcpy(s->name, RTA_DATA(a), len);
		s->name_len = len;
	} else if (a->rta_type == UNIX_DIAG_VFS && len >= sizeof(struct unix_diag_vfs)) {
		struct unix_diag_vfs vfs;

		memcpy(&vfs, RTA_DATA(a), sizeof(vfs));
		s->vfs_ino = vfs.udiag_vfs_ino;
		s->vfs_dev = vfs.udiag_vfs_dev;
		s->has_vfs = true;
	} else if (a->rta_type == UNIX_DIAG_UID && len >= sizeof(s->uid)) {
		memcpy(&s->uid, RTA_DATA(a), sizeof(s->uid));
		s->has_uid = true;
	}
}

static int parse_sock(const uint8_t *p, size_t len, struct brk_diag_sock *ret)
{
	struct unix_diag_msg m;
	struct brk_diag_sock s = {0};

	if (len < sizeof(m))
		return -EBADMSG;
	memcpy(&m, p, sizeof(m));
	s.sk_ino = m.udiag_ino;
	s.type = m.udiag_type;
	s.is_listening = m.udiag_state == TCP_LISTEN;
	size_t at = NLMSG_ALIGN(sizeof(m));
	while (at + sizeof(struct rtattr) <= len) {
		_Alignas(struct rtattr) uint8_t copy[256];
		struct rtattr head;

		memcpy(&head, p + at, sizeof(head));
		if (head.rta_len < sizeof(head) || head.rta_len > len - at)
			return -EBADMSG;
		if (head.rta_len <= sizeof(copy)) {
			memcpy(copy, p + at, head.rta_len);
			take_attr((struct rtattr *)(void *)copy, &s);
		}
		at += RTA_ALIGN(head.rta_len);
	}
	*ret = s;
	return 0;
}

static int parse_error(const uint8_t *p, size_t len)
{
	int error = 0;

	if (len >= sizeof(error))
		memcpy(&error, p, sizeof(error));
	return error < 0 ? error : -EBADMSG;
}

int brk_diag_parse(const uint8_t *buf, size_t len, uint32_t seq,
		   bool (*each)(const struct brk_diag_sock *s, void *arg), void *arg)
{
	size_t at = 0;
	struct nlmsghdr h;

	while (at + sizeof(h) <= len) {
		memcpy(&h, buf + at, sizeof(h));
		if (h.nlmsg_len < sizeof(h) || h.nlmsg_len > len - at)
			return -EBADMSG;
		const uint8_t *body = buf + at + NLMSG_HDRLEN;
		size_t body_len = h.nlmsg_len - NLMSG_HDRLEN;
		at += NLMSG_ALIGN(h.nlmsg_len);
		if (h.nlmsg_seq != seq)
			continue;
		if (h.nlmsg_type == NLMSG_DONE)
			return h.nlmsg_flags & NLM_F_DUMP_INTR ? -EINTR : 0;
		if (h.nlmsg_type == NLMSG_ERROR)
			return parse_error(body, body_len);
		struct brk_diag_sock s;
		int r = parse_sock(body, body_len, &s);
		if (r < 0)
			return r;
		if (!each(&s, arg))
			return 0;
	}
	return 1;
}

bool brk_diag_is(const struct brk_diag_sock *s, const struct brk_diag_want *want)
{
	if (want->is_abstract)
		return s->name_len == want->name_len + 1 && s->name[0] == '\0' &&
		       memcmp(s->name + 1, want->name, want->name_len) == 0;
	uint32_t dev = (uint32_t)(major(want->dev) << 20 | minor(want->dev));
	return s->has_vfs && s->vfs_ino == (uint32_t)want->ino && s->vfs_dev == dev;
}

struct search {
	const struct brk_diag_want *want;
	struct brk_diag_sock *ret;
	bool is_found;
};

static bool look(const struct brk_diag_sock *s, void *arg)
{
	struct search *q = arg;

	if (brk_diag_is(s, q->want) && (!q->is_found || s->is_listening)) {
		*q->ret = *s;
		q->is_found = true;
	}
	return true; /* to the end: what is left unread would answer the next question */
}

static int ask(const struct brk_sys *sys, int fd, uint32_t seq)
{
	struct {
		struct nlmsghdr h;
		struct unix_diag_req r;
	} q = {.h = {.nlmsg_len = sizeof(q),
		     .nlmsg_type = SOCK_DIAG_BY_FAMILY,
		     .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		     .nlmsg_seq = seq},
	       .r = {.sdiag_family = AF_UNIX,
		     .udiag_states = 1u << TCP_LISTEN | 1u << TCP_CLOSE,
		     .udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_VFS | UDIAG_SHOW_UID}};

	return sys->diag_send(fd, &q, sizeof(q));
}

int brk_diag_find(const struct brk_sys *sys, int fd, const struct brk_diag_want *want,
		  struct brk_diag_sock *ret)
{
	static _Atomic uint32_t last_seq;
	zw_autofree uint8_t *buf = zw_xmalloc(32768);
	struct brk_diag_sock found = {0};
	struct search q = {.want = want, .ret = &found};
	int r = -EINTR;

	for (int i = 0; i < DUMPS_MAX && r == -EINTR; i++) {
		uint32_t seq = ++last_seq;

		q.is_found = false;
		r = ask(sys, fd, seq);
		if (r < 0)
			return r;
		do {
			ssize_t n = sys->diag_recv(fd, buf, 32768);
			r = n < 0    ? (int)n
			    : n == 0 ? -EPIPE
				     : brk_diag_parse(buf, (size_t)n, seq, look, &q);
		} while (r == 1);
	}
	/* Four interrupted dumps: a hit is a hit; a miss is not known to be one. */
	if (r < 0 && !(r == -EINTR && q.is_found))
		return r;
	if (!q.is_found)
		return 0;
	*ret = found;
	return 1;
}

int brk_diag_prepare(int fd)
{
	struct timeval tv = {.tv_sec = 2};

	return setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)) < 0 ? -errno : 0;
}

int brk_diag_open(void)
{
	zw_autoclose int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

	if (fd < 0)
		return -errno;
	int r = brk_diag_prepare(fd);
	return r < 0 ? r : zw_steal_fd(&fd);
}
