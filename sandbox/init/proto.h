/* SPDX-License-Identifier: MIT
 * What zwatch and zwatch-init say to each other. Both are of one build, so these are plain structs.
 *
 * zwatch-init gets one argument, the number of a memfd with `struct sb_conf` and what follows it,
 * and behind it the agent's argv. It speaks over a seqpacket socket, in this order:
 *   HELLO    from pid 1; its pid comes by SCM_CREDENTIALS
 *   bytes    from zwatch: the stand-ins to make in private folders (sandbox/standins.h); at least one NUL
 *   READY    from the stage that becomes the agent; with the seccomp listener and, if wanted, the
 *            master of its terminal by SCM_RIGHTS
 *   GO       from zwatch
 *   PASSED   all self-tests held
 *   GO       from zwatch, when they held seen from outside too; then the socket closes by exec
 *   FAILED   instead of any of them
 */
#ifndef ZW_SANDBOX_INIT_PROTO_H
#define ZW_SANDBOX_INIT_PROTO_H

#include <signal.h>
#include <stdint.h>

#include "sandbox/failure.h"
#include "sandbox/limits.h"

/** From outside to pid 1: SIGSTOP for all that is inside. */
#define SB_SIGNAL_STOP_ALL SIGUSR1

#define SB_CONF_MAGIC 0x7a776901u /* "zwi", version */

/** Head of the memfd; behind it, in this order and without gaps: filter, environment, socket
 * folders, canary, runtime folder, start folder. */
struct sb_conf {
	uint32_t magic;
	int32_t ctl;	  /* seqpacket to zwatch */
	int32_t stdio[3]; /* passed through; -1 with a terminal */
	uint32_t want_pty;
	uint16_t rows, cols;
	uint32_t landlock_abi;	/* 0 = do without */
	uint32_t filter_b;	/* bytes of struct sock_filter[] */
	uint32_t env_b;		/* "NAME=value", NUL behind each */
	uint32_t socket_dirs_b; /* paths, NUL behind each */
	uint32_t canary_b;  /* abstract name with its NUL: a socket of the host's, to be refused */
	uint32_t runtime_b; /* path with its NUL: a private folder */
	uint32_t cwd_b;	    /* path with its NUL */
	uint32_t rlimits;   /* enum sb_limit or-ed: what no control group bounds */
	uint32_t unused;    /* 0 */
	struct sb_limits limits;
};

_Static_assert(sizeof(struct sb_conf) % 8 == 0, "the filter behind it must be aligned");

enum sb_note_kind { SB_NOTE_HELLO = 1, SB_NOTE_READY, SB_NOTE_GO, SB_NOTE_PASSED, SB_NOTE_FAILED };

/** Bytes of the message with the stand-ins. What does not fit gets none. */
#define SB_STANDINS_MAX 32768

/** Flags of READY. */
#define SB_NOTE_WAIT_KILLABLE 1u

struct sb_note {
	uint32_t kind;	/* enum sb_note_kind */
	uint32_t stage; /* FAILED: enum sb_stage */
	int32_t error;	/* FAILED: errno */
	uint32_t flags;
	char detail[SB_DETAIL_MAX];
};

#endif
