/* SPDX-License-Identifier: MIT
 * One helper process of zwatch: started by fork and exec with fixed descriptors, spoken to over a
 * channel, and named when it dies. */
#ifndef ZW_SUPER_HELPER_H
#define ZW_SUPER_HELPER_H

#include <stdbool.h>
#include <sys/types.h>

#include "src/ipc/chan.h"

struct sup_helper;

struct sup_helper_ops {
	/** A message of this helper, checked (zw_chan_ops.on_msg). */
	void (*on_msg)(struct sup_helper *h, enum zw_msg_id id, const union zw_msg_any *msg,
		       int *fds, void *arg);
	/** It is gone, or had to be killed for what it sent; @how is one sentence. Called once. */
	void (*on_dead)(struct sup_helper *h, const char *how, void *arg);
};

struct sup_helper {
	enum zw_role role;
	pid_t pid;	      /* 0 = none runs */
	struct zw_chan *chan; /* owned; NULL = none runs */
	bool is_ready;	      /* its *_ready or aud_opened has come */
	bool has_hello;
	bool is_done;	   /* it ended by itself, with status 0 */
	unsigned n_starts; /* how often it was started */
	int program_fd;	   /* owned, O_PATH; -1 = not to be had, for program_error */
	int program_error; /* -errno */
	struct zev_loop *loop;
	const struct sup_helper_ops *ops;
	void *arg;
};

/**
 * Prepares the struct; starts nothing. Looks for the program: beside this one in the build tree, in
 * libexec when installed (also below another prefix than the build's), in $ZWATCH_LIBEXEC for tests.
 * To be called before the agent runs, since it could put another one in a place that it may write.
 */
void sup_helper_init(struct sup_helper *h, enum zw_role role, struct zev_loop *loop,
		     const struct sup_helper_ops *ops, void *arg);
void sup_helper_fini(struct sup_helper *h);

/**
 * Starts the program that was found: with a channel, nothing on standard input, output and log to
 * @log_fd, in `/`, and with little of the environment.
 *
 * Returns  0 or -errno (not found, not executable, no more processes)
 */
int sup_helper_start(struct sup_helper *h, int log_fd);

/** A child with this pid ended: true when it was this helper's. Tells on_dead. */
bool sup_helper_reaped(struct sup_helper *h, pid_t pid, int wait_status);

/** Ends it: closes the channel (it leaves by itself) and forgets it, without on_dead. */
void sup_helper_stop(struct sup_helper *h);

/** Absolute path of a program of zwatch by name, as sup_helper_init() finds it. Caller frees. */
char *sup_program_path(const char *name);

#endif
