/* SPDX-License-Identifier: MIT
 * Running sessions of this user, over their control sockets: for zwatch ask, ps, mode and stop. */
#ifndef ZW_MAIN_PEERS_H
#define ZW_MAIN_PEERS_H

#include "src/main/start.h"
#include "src/policy/policy.h"

#define PEERS_MAX 32

struct zev_loop;
struct zw_chan;

/** One question, as its session tells it. Strings owned. */
struct question {
	uint64_t id;
	enum pol_kind kind;
	enum pol_risk risk;
	bool is_missed;
	uint64_t age_ms;
	uint32_t n_waiting;
	char *title, *wants, *consequence, *safer, *word, *target, *answers, *before, *near,
		*command, *cwd, *who;
};

/** One running session. */
struct peer {
	struct zev_loop *loop;
	struct zw_chan *chan;
	uint64_t number;
	uint32_t pid, n_waiting, n_live;
	uint64_t age_ms, n_allow, n_deny;
	enum pol_mode mode;
	bool is_frozen;
	char *agent, *project;
	struct question *list;
	size_t n;
	bool is_listed, is_over, is_answered, is_taken;
	char *text; /* of the answer */
};

struct peers {
	struct zev_loop *loop;
	struct peer peer[PEERS_MAX];
	size_t n;
};

/** Asks every session that runs. Ownership: peers_fini(). */
void peers_open(struct peers *all, const struct start *st);
void peers_fini(struct peers *all);
/** Until *@flag (of @p), the end of the session, or five seconds. Returns *@flag. */
bool peer_wait(struct peer *p, const bool *flag);
/**
 * What was sent has been answered: prints it, on standard error when it was not done.
 * Returns  the exit status
 */
int peer_answer(struct peer *p);
/** The session that a word names: its number, or, with NULL, the only one. Prints what is wrong. */
struct peer *peers_find(struct peers *all, const char *word);

#endif
