/* SPDX-License-Identifier: MIT
 * Sockets that are asked for when they are made. Unix datagram sockets: one that exists reaches any path by sendto(), which is never asked about;
 * so none is made. A pair is emulated by SEQPACKET, which keeps message boundaries and ignores
 * addresses. */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/broker/req.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/base/words.h"

#define TYPE_MASK 0xf

static enum brk_state refuse_socket(struct brk_req *r)
{
	zw_strlcpy(r->addr.name, "socket(AF_UNIX, SOCK_DGRAM)", sizeof(r->addr.name));
	brk_req_record(r, ZW_DID_DENY, ZW_OP_DATAGRAM, ZW_BY_CATALOGUE,
		       "a datagram socket could reach any other without being asked about");
	return brk_req_answer(r, EACCES);
}

/* Packets of one's own making, and ICMP: no name, no rule. The error is the kernel's for such a user. */
static enum brk_state refuse_raw(struct brk_req *r, int domain, bool is_raw)
{
	snprintf(r->addr.name, sizeof(r->addr.name), "socket(AF_INET%s, %s)",
		 domain == AF_INET6 ? "6" : "", is_raw ? "SOCK_RAW" : "ICMP");
	brk_req_record(r, ZW_DID_DENY, ZW_OP_DATAGRAM, ZW_BY_ADDRESS,
		       "raw packets and ICMP are not carried");
	return brk_req_answer(r, is_raw ? EPERM : EACCES);
}

static bool is_written(struct brk_req *r, const int fds[2])
{
	ssize_t len = 2 * (ssize_t)sizeof(int);

	return r->b->sys->vm_write(r->tid, r->args[3], fds, (size_t)len) == len;
}

/* Puts both ends into the caller and tells it their numbers. Returns 0 or -errno. */
static int hand_out(struct brk_req *r, const int pair[2], unsigned type)
{
	const struct brk_sys *sys = r->b->sys;
	unsigned cloexec = type & SOCK_CLOEXEC ? O_CLOEXEC : 0;
	int fds[2] = {-1, -1};

	/* An array that cannot be written is found out before anything is made. */
	if (!is_written(r, fds))
		return -EFAULT;
	for (int i = 0; i < 2; i++) {
		fds[i] = sys->notif_addfd(r->b->listener_fd, r->id, pair[i], -1, cloexec);
		if (fds[i] < 0)
			return fds[i];
	}
	return is_written(r, fds) ? 0 : -EFAULT;
}

/* Fetches the page in which the numbers go; what came of it shows when they are written. */
static bool work_touch(struct brk_job *job)
{
	static const int none[2] = {-1, -1};

	(void)is_written(brk_req_of(job), none);
	return true;
}

static enum brk_state make_pair(struct brk_req *r)
{
	unsigned type = (unsigned)r->args[1];
	int protocol = (int)(uint32_t)r->args[2];
	int pair[2];

	if (type & ~(unsigned)(TYPE_MASK | SOCK_CLOEXEC | SOCK_NONBLOCK))
		return brk_req_answer(r, EINVAL);
	if (protocol != 0 && protocol != PF_UNIX)
		return brk_req_answer(r, EPROTONOSUPPORT);
	if (r->next != BRK_DATAGRAM &&
	    r->b->sys->vm_is_there(r->tid, r->args[3], 2 * sizeof(int)) != 1)
		return brk_req_work(r, r->b->lookers, work_touch, BRK_DATAGRAM);
	int error = r->b->sys->notif_valid(r->b->listener_fd, r->id);
	if (error < 0)
		return error == -ENOENT
			       ? brk_req_answer(r, EACCES)
			       : brk_req_fault(r, "checking that the call still waits", error);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | (int)(type & SOCK_NONBLOCK), 0,
		       pair) < 0)
		return brk_req_fault(r, "making a pair of sockets", -errno);
	error = hand_out(r, pair, type);
	close(pair[0]);
	close(pair[1]);
	if (error == 0 || error == -EFAULT || error == -EMFILE)
		return brk_req_answer(r, -error);
	return brk_req_fault(r, "handing out a pair of sockets", error);
}

enum brk_state brk_datagram(struct brk_req *r)
{
	unsigned kind = (unsigned)r->args[1] & TYPE_MASK;
	int domain = (int)(uint32_t)r->args[0];
	bool is_datagram = domain == AF_UNIX && (kind == SOCK_DGRAM || kind == SOCK_RAW);

	if (r->nr == SYS_socketpair && is_datagram)
		return make_pair(r);
	if (r->nr == SYS_socket && is_datagram)
		return refuse_socket(r);
	if (r->nr == SYS_socket && (domain == AF_INET || domain == AF_INET6))
		return refuse_raw(r, domain, kind == SOCK_RAW);
	return brk_req_fault(r, "knowing this call", -ENOSYS);
}
