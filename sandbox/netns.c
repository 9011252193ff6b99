/* SPDX-License-Identifier: MIT
 * The child that joins the sandbox's network and makes the sockets. Facts behind it: bwrap's pid 1
 * sits in a second user namespace, so nobody inside has power over the network namespace; its
 * owner, which NS_GET_USERNS finds, is joined from outside. */
#include "sandbox/netns.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/nsfs.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "sandbox/vmchild.h"
#include "src/base/mem.h"

#define LO_INDEX    1 /* of every network namespace */
#define BACKLOG	    4096
#define WHY_BACKLOG 16

/* -- loopback ---------------------------------------------------------------------------------- */

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

/* -- sockets ----------------------------------------------------------------------------------- */

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
	[SB_NET_WHY] = {SOCK_STREAM, 0, 0, "zwatch why"},
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

/* An abstract name lives in the network namespace alone: there is nothing to mount. */
static int why_make(void)
{
	static const char name[] = SB_NET_WHY_NAME;
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	memcpy(sa.sun_path + 1, name, sizeof(name) - 1);
	if (bind(fd, (const struct sockaddr *)&sa,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + sizeof(name))) < 0 ||
	    listen(fd, WHY_BACKLOG) < 0) {
		int error = errno;

		close(fd);
		return -error;
	}
	return fd;
}

static int sock_make(enum sb_net_sock which)
{
	if (which == SB_NET_WHY)
		return why_make();
	if (which != SB_NET_DIAG)
		return inet_make(which);
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	return fd < 0 ? -errno : fd;
}

/* -- the child: shares memory and descriptors with zwatch, which waits; only system calls ------ */

struct work {
	pid_t pid;
	int *fds;	     /* of zwatch's; SB_NET_MAX */
	enum sb_stage stage; /* NONE = all made */
	int error;
	enum sb_net_sock sock; /* that failed */
};

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

static void fail_at(struct work *w, enum sb_stage stage, int error)
{
	w->stage = stage;
	w->error = error;
}

static void work(struct work *w)
{
	int r = namespaces_join(w->pid);

	if (r < 0)
		return fail_at(w, SB_STAGE_NETNS_JOIN, -r);
	r = lo_setup();
	if (r < 0)
		return fail_at(w, SB_STAGE_NETNS_ADDRESS, -r);
	for (unsigned i = 0; i < SB_NET_MAX; i++) {
		w->sock = i;
		w->fds[i] = sock_make(i);
		if (w->fds[i] < 0)
			return fail_at(w, SB_STAGE_NETNS_LISTEN, -w->fds[i]);
	}
}

static int child_main(void *arg)
{
	work(arg);
	return 0;
}

struct one_socket {
	pid_t pid;
	int fd; /* or -errno */
};

static int socket_main(void *arg)
{
	struct one_socket *w = arg;
	const int type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
	int r = namespaces_join(w->pid);

	w->fd = r < 0 ? r : socket(AF_INET6, type, 0);
	if (r == 0 && w->fd < 0)
		w->fd = socket(AF_INET, type, 0);
	if (r == 0 && w->fd < 0)
		w->fd = -errno;
	return 0;
}

int sb_netns_socket(pid_t pid)
{
	struct one_socket w = {.pid = pid, .fd = -ECHILD};
	pid_t child = sb_vmchild(socket_main, &w, CLONE_FILES);

	if (child < 0)
		return child;
	while (waitpid(child, NULL, __WCLONE) < 0 && errno == EINTR)
		;
	return w.fd;
}

int sb_netns_open(pid_t pid, int ret[SB_NET_MAX], struct sb_failure *ret_failure)
{
	int fds[SB_NET_MAX];
	struct work w = {.pid = pid, .fds = fds, .stage = SB_STAGE_NONE};

	for (size_t i = 0; i < SB_NET_MAX; i++)
		fds[i] = -1;
	/* No signal at its end, and waited for as a clone: nobody else's wait() meets it. */
	pid_t child = sb_vmchild(child_main, &w, CLONE_FILES);
	if (child < 0)
		return sb_fail(ret_failure, SB_STAGE_RESOURCES, -child, "clone");
	while (waitpid(child, NULL, __WCLONE) < 0 && errno == EINTR)
		;
	if (w.stage == SB_STAGE_NONE) {
		memcpy(ret, fds, sizeof(fds));
		return 0;
	}
	for (size_t i = 0; i < SB_NET_MAX; i++)
		zw_close(&fds[i]);
	return sb_fail(ret_failure, w.stage, w.error, "%s",
		       w.stage == SB_STAGE_NETNS_LISTEN ? sockets[w.sock].name : "");
}
