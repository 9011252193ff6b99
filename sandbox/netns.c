/* SPDX-License-Identifier: MIT
 * The child that joins the sandbox's network and makes the sockets. Facts behind it: bwrap's pid 1
 * sits in a second user namespace, so nobody inside has power over the network namespace; its owner,
 * which NS_GET_USERNS finds, is joined from outside. */
#include "sandbox/netns.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/nsfs.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "sandbox/syscalls.h"
#include "src/base/mem.h"

#define LO_INDEX	1 /* of every network namespace */
#define BACKLOG		4096
#define JOIN_TIMEOUT_MS 10000

/** The child's answer; descriptors come with it on success. */
struct answer {
	uint32_t stage; /* enum sb_stage, NONE = all made */
	int32_t error;
	uint32_t sock; /* enum sb_net_sock that failed */
};

/* -- loopback ----------------------------------------------------------------------------------- */

/** One rtnetlink request and the room for its attributes. */
struct rt_request {
	struct nlmsghdr head;
	union {
		struct ifaddrmsg addr;
		struct rtmsg route;
	} body;
	char attrs[64];
};

static void attr_add_u32(struct rt_request *r, unsigned short type, uint32_t value)
{
	struct rtattr *a = (struct rtattr *)((char *)r + NLMSG_ALIGN(r->head.nlmsg_len));

	a->rta_type = type;
	a->rta_len = RTA_LENGTH(sizeof(value));
	memcpy(RTA_DATA(a), &value, sizeof(value));
	r->head.nlmsg_len = NLMSG_ALIGN(r->head.nlmsg_len) + RTA_SPACE(sizeof(value));
}

static int rt_talk(int fd, const struct rt_request *r)
{
	struct {
		struct nlmsghdr head;
		struct nlmsgerr err;
		char rest[512];
	} reply;

	if (send(fd, r, r->head.nlmsg_len, 0) < 0)
		return -errno;
	ssize_t n = recv(fd, &reply, sizeof(reply), 0);
	if (n < 0)
		return -errno;
	if ((size_t)n < NLMSG_LENGTH(sizeof(reply.err)) || reply.head.nlmsg_type != NLMSG_ERROR)
		return -EPROTO;
	return reply.err.error == -EEXIST ? 0 : reply.err.error;
}

static int lo_add_address(int fd)
{
	struct rt_request r = {
		.head = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct ifaddrmsg)),
			 .nlmsg_type = RTM_NEWADDR,
			 .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL},
		.body.addr = {.ifa_family = AF_INET,
			      .ifa_prefixlen = 32,
			      .ifa_scope = RT_SCOPE_UNIVERSE,
			      .ifa_index = LO_INDEX},
	};

	attr_add_u32(&r, IFA_LOCAL, htonl(SB_NET_ADDR));
	attr_add_u32(&r, IFA_ADDRESS, htonl(SB_NET_ADDR));
	return rt_talk(fd, &r);
}

/** Every fake address is the sandbox's own: a connect to one is answered inside. */
static int lo_add_route(int fd)
{
	struct rt_request r = {
		.head = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct rtmsg)),
			 .nlmsg_type = RTM_NEWROUTE,
			 .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL},
		.body.route = {.rtm_family = AF_INET,
			       .rtm_dst_len = SB_NET_FAKE_BITS,
			       .rtm_table = RT_TABLE_LOCAL,
			       .rtm_protocol = RTPROT_STATIC,
			       .rtm_scope = RT_SCOPE_HOST,
			       .rtm_type = RTN_LOCAL},
	};

	attr_add_u32(&r, RTA_DST, htonl(SB_NET_FAKE));
	attr_add_u32(&r, RTA_OIF, LO_INDEX);
	return rt_talk(fd, &r);
}

static int lo_setup(void)
{
	zw_autoclose int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	int r;

	if (fd < 0)
		return -errno;
	r = lo_add_address(fd);
	return r < 0 ? r : lo_add_route(fd);
}

/* -- sockets ------------------------------------------------------------------------------------ */

static const struct {
	int type;
	uint32_t addr;
	uint16_t port;
	const char *name;
} sockets[SB_NET_MAX] = {
	[SB_NET_HTTP] = {SOCK_STREAM, SB_NET_ADDR, SB_NET_HTTP_PORT, "HTTP proxy"},
	[SB_NET_SOCKS] = {SOCK_STREAM, SB_NET_ADDR, SB_NET_SOCKS_PORT, "SOCKS5 proxy"},
	[SB_NET_TRANSPARENT] = {SOCK_STREAM, SB_NET_ADDR, SB_NET_TRANSPARENT_PORT, "transparent"},
	[SB_NET_DNS_UDP] = {SOCK_DGRAM, SB_NET_DNS_ADDR, 53, "DNS over UDP"},
	[SB_NET_DNS_TCP] = {SOCK_STREAM, SB_NET_DNS_ADDR, 53, "DNS over TCP"},
	[SB_NET_DIAG] = {SOCK_RAW, 0, 0, "socket list"},
};

static int inet_make(enum sb_net_sock which)
{
	struct sockaddr_in sa = {.sin_family = AF_INET,
				 .sin_port = htons(sockets[which].port),
				 .sin_addr.s_addr = htonl(sockets[which].addr)};
	const int on = 1;
	int fd = socket(AF_INET, sockets[which].type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (const struct sockaddr *)&sa, sizeof(sa)) < 0 ||
	    (sockets[which].type == SOCK_STREAM && listen(fd, BACKLOG) < 0)) {
		int error = errno;

		close(fd);
		return -error;
	}
	return fd;
}

static int sock_make(enum sb_net_sock which)
{
	if (which != SB_NET_DIAG)
		return inet_make(which);
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	return fd < 0 ? -errno : fd;
}

/* -- the child: no allocation, no stdio, only system calls -------------------------------------- */

static int namespaces_join(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	zw_autoclose int net = open(path, O_RDONLY | O_CLOEXEC);
	if (net < 0)
		return -errno;
	zw_autoclose int user = ioctl(net, NS_GET_USERNS);
	if (user < 0)
		return -errno;
	if (setns(user, CLONE_NEWUSER) < 0 || setns(net, CLONE_NEWNET) < 0)
		return -errno;
	return 0;
}

static struct answer child_work(pid_t pid, int fds[SB_NET_MAX])
{
	int r = namespaces_join(pid);

	if (r < 0)
		return (struct answer){SB_STAGE_NETNS_JOIN, -r, 0};
	r = lo_setup();
	if (r < 0)
		return (struct answer){SB_STAGE_NETNS_ADDRESS, -r, 0};
	for (unsigned i = 0; i < SB_NET_MAX; i++) {
		fds[i] = sock_make(i);
		if (fds[i] < 0)
			return (struct answer){SB_STAGE_NETNS_LISTEN, -fds[i], i};
	}
	return (struct answer){SB_STAGE_NONE, 0, 0};
}

static void child_answer(int ctl, const struct answer *answer, const int fds[SB_NET_MAX])
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int) * SB_NET_MAX)];
	} control = {0};
	struct answer copy = *answer;
	struct iovec iov = {&copy, sizeof(copy)};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

	if (answer->stage == SB_STAGE_NONE) {
		msg.msg_control = control.buf;
		msg.msg_controllen = sizeof(control.buf);
		struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * SB_NET_MAX);
		memcpy(CMSG_DATA(c), fds, sizeof(int) * SB_NET_MAX);
	}
	sendmsg(ctl, &msg, MSG_NOSIGNAL);
}

static void __attribute__((noreturn)) child_main(int ctl, pid_t parent)
{
	int fds[SB_NET_MAX];
	struct pollfd pfd = {ctl, POLLIN, 0};
	pid_t pid;

	/* Nothing of zwatch's may stay open here: an end of file elsewhere waits for it. */
	if (dup2(ctl, 3) < 0)
		_exit(1);
	ctl = 3;
	pfd.fd = ctl;
	close_range(4, ~0u, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || poll(&pfd, 1, JOIN_TIMEOUT_MS) != 1 ||
	    recv(ctl, &pid, sizeof(pid), 0) != sizeof(pid))
		_exit(1);
	struct answer answer = child_work(pid, fds);
	child_answer(ctl, &answer, fds);
	_exit(0);
}

/* -- zwatch's side ------------------------------------------------------------------------------- */

int sb_netns_start(struct sb_netns *ret)
{
	int pair[2];
	pid_t parent = getpid();

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	pid_t pid = fork();
	if (pid == 0)
		child_main(pair[1], parent);
	int error = errno;
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		return -error;
	}
	*ret = (struct sb_netns){pid, pair[0]};
	return 0;
}

int sb_netns_join(struct sb_netns *n, pid_t pid)
{
	return send(n->ctl, &pid, sizeof(pid), MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int sb_netns_take(struct sb_netns *n, int ret[SB_NET_MAX], struct sb_failure *ret_failure)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int) * SB_NET_MAX)];
	} control;
	struct answer answer;
	struct iovec iov = {&answer, sizeof(answer)};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control.buf,
			     .msg_controllen = sizeof(control.buf)};
	ssize_t len = recvmsg(n->ctl, &msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	const struct cmsghdr *c = len >= 0 ? CMSG_FIRSTHDR(&msg) : NULL;

	if (len != sizeof(answer))
		return sb_fail(ret_failure, SB_STAGE_NETNS_JOIN, len < 0 ? errno : ECHILD, "%s",
			       "");
	if (answer.stage != SB_STAGE_NONE)
		return sb_fail(ret_failure, (enum sb_stage)answer.stage, answer.error, "%s",
			       answer.stage == SB_STAGE_NETNS_LISTEN && answer.sock < SB_NET_MAX
				       ? sockets[answer.sock].name
				       : "");
	if (!c || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(sizeof(int) * SB_NET_MAX))
		return sb_fail(ret_failure, SB_STAGE_NETNS_LISTEN, EMFILE, "%s", "");
	memcpy(ret, CMSG_DATA(c), sizeof(int) * SB_NET_MAX);
	sb_netns_fini(n);
	return 0;
}

void sb_netns_fini(struct sb_netns *n)
{
	if (n->pid > 0) {
		kill(n->pid, SIGKILL);
		while (waitpid(n->pid, NULL, 0) < 0 && errno == EINTR)
			;
		n->pid = 0;
	}
	zw_close(&n->ctl);
}
