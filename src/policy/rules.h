/* SPDX-License-Identifier: MIT
 * How rules lie in memory, for the files of this folder alone.
 *
 * Every rule hangs in one hash table under the bytes it matches: a name, a suffix, a masked
 * address, a path. A decision asks the table a few times - once for each label of a name, once for
 * each length of prefix in use - however many rules there are. */
#ifndef ZW_POLICY_RULES_H
#define ZW_POLICY_RULES_H

#include "src/policy/pattern.h"
#include "src/policy/policy.h"

/** What the bytes of a key are. */
enum pol_key_type {
	POL_KEY_NAME,
	POL_KEY_SUBDOMAINS,
	POL_KEY_ANY_HOST, /* no bytes */
	POL_KEY_NET,	  /* family, bits, masked address */
	POL_KEY_PATH,
	POL_KEY_ABSTRACT,
	POL_KEY_PRIVATE_NAME, /* of network.allowPrivate; these have no struct pol_rule */
	POL_KEY_PRIVATE_SUBDOMAINS,
	POL_KEY_PRIVATE_NET,
};

#define POL_KEY_NET_LEN 18

/** Ports that a rule is about. */
enum pol_ports { POL_PORTS_ONE, POL_PORTS_WEB, POL_PORTS_ALL };

struct pol_entry {
	struct pol_entry *next; /* in its bucket */
	struct pol_rule rule;	/* strings owned; none for POL_KEY_PRIVATE_* */
	enum pol_ports ports;
	uint16_t port;
	enum pol_key_type type;
	uint32_t hash;
	size_t key_len;
	char key[]; /* owned */
};

struct pol_glob {
	uint16_t index; /* into classes */
	bool is_abstract;
	char *text; /* owned */
};

struct policy {
	enum pol_mode mode;
	enum pol_resolvers resolvers;
	struct pol_entry **buckets; /* owned; n_buckets is a power of two, or 0 */
	size_t n_buckets;
	size_t n_entries;
	/* How many entries are networks with this many bits: lengths that nobody uses cost nothing. */
	uint32_t n_v4[33];
	uint32_t n_v6[129];
	struct pol_class **classes; /* owned, each of them too: their addresses are handed out */
	size_t n_classes;
	struct pol_glob *globs; /* owned */
	size_t n_globs;
};

/** First entry with this key, or NULL; pol_entry_next() has the others with the same key. */
const struct pol_entry *pol_entry_find(const struct policy *p, enum pol_key_type type,
				       const void *key, size_t len);
const struct pol_entry *pol_entry_next(const struct pol_entry *e);

/** The key of a network: family, bits, and the address with its other bits cleared. */
void pol_net_key(const struct pol_addr *a, unsigned bits, uint8_t out[POL_KEY_NET_LEN]);

#endif
