/* SPDX-License-Identifier: MIT
 * `network.upstreamProxy`: the proxy that zwatch itself goes out through, and the login for it. */
#ifndef ZW_MAIN_WAY_OUT_H
#define ZW_MAIN_WAY_OUT_H

#include "src/config/config.h"

/** Never NULL but for why; owned, start_way_out_fini(). */
struct start_way_out {
	char *url;   /* "" = none, http://HOST:PORT, socks5://HOST:PORT */
	char *login; /* "user:password" or "" */
	char *why;   /* of an error: one sentence */
};

/**
 * Takes the setting; for `env` the first of HTTPS_PROXY, https_proxy, ALL_PROXY, all_proxy in @env.
 * Reads the file of the login, which nobody but its owner (the user or root) may read.
 *
 * Returns  0, or ZW_E_CONFIG with ret->why
 */
int start_way_out(const struct cfg *cfg, char *const *env, struct start_way_out *ret);
void start_way_out_fini(struct start_way_out *w);
#define start_auto_way_out __attribute__((cleanup(start_way_out_fini)))

#endif
