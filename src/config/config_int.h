/* SPDX-License-Identifier: MIT
 * What the files of the settings reader share; nobody else includes it. */
#ifndef ZW_CONFIG_CONFIG_INT_H
#define ZW_CONFIG_CONFIG_INT_H

#include "src/config/config.h"

/** Puts every default of keys.def into a zeroed @cfg; keys_set stays false. */
void cfg_read_defaults(struct cfg *cfg, const struct cfg_places *places);

/** Appends copies; forgets all. */
void cfg_items_add(struct cfg_items *items, const char *text, const char *origin);
void cfg_items_clear(struct cfg_items *items);
/** Keeps the list ascending and without doubles. */
void cfg_ports_add(struct cfg_ports *ports, uint16_t port, const char *origin);
/** Appends copies of all texts. */
void cfg_socket_add(struct cfg *cfg, const struct cfg_socket *socket);
/** Replaces the entry of the same name, or appends; takes the strings over. */
void cfg_agent_entry_take(struct cfg *cfg, struct cfg_agent_entry *entry);

/**
 * A value as the lists of the settings and the options of a run take them; each adds to @cfg or
 * says in @report what is wrong, with @what in front: "`allowedDomains`" or "--allow".
 */
struct cfg_where {
	struct cfg *cfg;
	const struct cfg_places *places;
	struct cfg_report *report;
	enum pol_layer layer;
	const char *file; /* of the message: "~/x.json" or "--allow" */
	unsigned line;
	const char *key; /* the setting, as keys.def has it */
};

enum cfg_order {
	CFG_ORDER_NONE,
	CFG_ORDER_RAISES, /* higher is stricter */
	CFG_ORDER_LOWERS, /* lower is stricter */
	CFG_ORDER_LIMITS, /* lower is stricter, and 0 is no limit */
};
/** Whether @a is stricter than @b. */
bool cfg_order_is_stricter(enum cfg_order order, int64_t a, int64_t b);
/**
 * A single value with an order was set to @now, from @before. Returns what it shall be, by what the
 * layer may do, and keeps the hold of a managed policy; notes its origin, says what it overruled.
 *
 * @index  row of keys.def; @name as in messages
 */
int64_t cfg_layer_settle(const struct cfg_where *w, size_t index, const char *name,
			 enum cfg_order order, int64_t before, int64_t now);
/** The row of a setting, by its whole name, which there is. */
size_t cfg_key_index(const char *path);
/** Where the value of a row is. Borrowed. */
const void *cfg_key_member(const struct cfg *cfg, size_t index);
/** Notes who set the value of a row. */
void cfg_origin_set(const struct cfg_where *w, size_t index);
/** Reads the files of the managed policy. */
void cfg_policy_load(struct cfg *cfg, const struct cfg_places *places,
		     const struct cfg_source *source, struct cfg_report *report);
/**
 * Opens what must be a plain file: without waiting for the other end of a fifo. @dir_fd as openat(2).
 * Returns the descriptor or -errno with *ret_why.
 */
int cfg_open_plain(int dir_fd, const char *path, int flags, const char **ret_why);
/** Who keeps this path from being opened whatever the settings say: "zwatch itself"; NULL = nobody. */
const char *cfg_own_path(const struct cfg *cfg, const struct cfg_places *places, const char *path);
/** Whether only @admin can change this; else *ret_why. */
bool cfg_is_admins(int fd, uid_t admin, const char **ret_why);

/** "FILE:LINE", or the option. Ownership: caller frees. */
char *cfg_where_origin(const struct cfg_where *w);
void cfg_take_site(const struct cfg_where *w, enum pol_action action, const char *text);
void cfg_take_socket(const struct cfg_where *w, enum pol_action action, const char *text,
		     bool is_direct);
void cfg_take_path(const struct cfg_where *w, struct cfg_items *items, const char *text);
void cfg_take_port(const struct cfg_where *w, struct cfg_ports *ports, int64_t port);

#endif
