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
void cfg_ports_add(struct cfg_ports *ports, uint16_t port);
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
};

/** "FILE:LINE", or the option. Ownership: caller frees. */
char *cfg_where_origin(const struct cfg_where *w);
void cfg_take_site(const struct cfg_where *w, enum pol_action action, const char *text);
void cfg_take_socket(const struct cfg_where *w, const char *text, bool is_direct);
void cfg_take_path(const struct cfg_where *w, struct cfg_items *items, const char *text);
void cfg_take_port(const struct cfg_where *w, struct cfg_ports *ports, int64_t port);

#endif
