/* SPDX-License-Identifier: MIT
 * Names and the addresses out of 198.18.0.0/15 that stand for them inside the sandbox. An address
 * says nothing but a name: nothing was looked up when it was handed out. Pure but for memory. */
#ifndef ZW_PROXY_FAKE_H
#define ZW_PROXY_FAKE_H

#include <stddef.h>

#include "src/policy/host.h"

/* Of 131,072 addresses; the rest stays free, so that an address that is in somebody's hands is not
 * the next one to be given away. */
#define PX_FAKE_MAX 100000

struct px_fake;

/** @max  names kept, at most PX_FAKE_MAX. Ownership: px_fake_free(), NULL is ok. */
struct px_fake *px_fake_new(size_t max);
void px_fake_free(struct px_fake *f);

/**
 * The address of a name, the same one each time; a new name gets the next free address, in the
 * place of the name that was used longest ago when all are given.
 */
void px_fake_addr(struct px_fake *f, const char *name, struct pol_addr *ret);

/** The name behind an address, or NULL. Borrowed, until the next px_fake_addr(). */
const char *px_fake_name(struct px_fake *f, const struct pol_addr *addr);

size_t px_fake_n(const struct px_fake *f);

#endif
