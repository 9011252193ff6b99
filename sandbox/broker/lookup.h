/* SPDX-License-Identifier: MIT
 * What a Unix address stands for: a socket made inside the sandbox, one of the host, or nothing.
 *
 * It may wait for storage and reads much of /proc, so it runs on a worker thread, never on the loop.
 * A socket file is pinned (O_PATH descriptor) from the first look on, so its inode number cannot be
 * given to another file and nothing is ever looked up by name again to act on it. */
#ifndef ZW_SANDBOX_BROKER_LOOKUP_H
#define ZW_SANDBOX_BROKER_LOOKUP_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "sandbox/broker/addr.h"
#include "sandbox/broker/sys.h"
#include "sandbox/broker/walk.h"

enum brk_where {
	BRK_NOWHERE, /* nothing there, nobody listens, or no permission: the kernel's own answer */
	BRK_INSIDE,  /* made by a process of the sandbox */
	BRK_HOST,
};

#define BRK_UID_UNKNOWN UINT32_MAX

/** Who answers on a host socket. */
struct brk_listener {
	uint32_t sk_ino; /* number of the socket, 0 = it lives in another network namespace */
	uint32_t uid;	 /* who made it; BRK_UID_UNKNOWN */
	uint32_t pid;	 /* 0 = not told (another user's) */
	char exe[BRK_PATH_MAX];
};

struct brk_found {
	enum brk_where where;
	int error;  /* NOWHERE: errno that the caller gets */
	int pin_fd; /* owned, O_PATH; -1 for an abstract name */
	uint64_t dev, ino;
	uint32_t owner_uid, owner_gid, mode;
	bool is_visible; /* HOST: the file is there inside, too */
	/* HOST, visible: the path is not the one it was bound to. The agent may have moved it there, so
	 * no rule about that path allows it. */
	bool is_moved;
	/* HOST, not visible: path by which it was looked up, free of links of the sandbox, or "". What
	 * the agent itself spelt is never judged: it can make a link of any name. */
	char alias[BRK_PATH_MAX];
	/* Path as seen inside (INSIDE, NOWHERE), real path of the host (HOST), or "@name". */
	char path[BRK_PATH_MAX];
	struct brk_listener listener; /* HOST */
};

/** A socket and the process that had it open: searching all of /proc for every call would let a
 * storm of calls take all the time there is. Zeroed = empty. */
struct brk_holder {
	uint32_t sk_ino;
	uint32_t pid; /* 0 = nobody that can be seen */
	int64_t seen_ms;
};

struct brk_lookout {
	const struct brk_sys *sys;
	int inside_fd;		       /* NETLINK_SOCK_DIAG made in the sandbox; borrowed */
	int host_fd;		       /* the same of the host; borrowed */
	int root_fd;		       /* O_PATH of the host's root; borrowed */
	pthread_mutex_t lock;	       /* one question at a time on each */
	struct brk_holder holders[16]; /* under the lock */
	unsigned next_holder;
};

/** Finds out; fills @ret also for NOWHERE. Returns 0, or -errno when that could not be found out.
 * Ownership: brk_found_fini(). */
int brk_look_up(struct brk_lookout *l, const struct brk_place *at, const struct brk_addr *addr,
		struct brk_found *ret);

/**
 * Looks at a host socket again, after a person has read about it: the same file with the same owner
 * and mode, under the same path, the same listening socket of the same user.
 *
 * Returns  0, ZW_E_DENIED when something is different, -errno when it cannot be told
 */
int brk_look_again(struct brk_lookout *l, const struct brk_addr *addr, const struct brk_found *f);

/** Whether process @l->pid has the socket open, and is of program @l->exe ("" = any). Looks into /proc
 * and may wait. */
bool brk_listener_holds(const struct brk_sys *sys, const struct brk_listener *l);

/** From the number of a listening socket (sk_ino) to pid and program, as far as the kernel tells. */
void brk_listener_find(struct brk_lookout *l, struct brk_listener *ret);

void brk_found_init(struct brk_found *f);
void brk_found_fini(struct brk_found *f);

#endif
