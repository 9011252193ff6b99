/* SPDX-License-Identifier: MIT
 * What a project file asks for beyond what it is given, and what the user granted of it.
 *
 * A wish is nothing until the user has granted it, for this very content of the file and this very
 * folder. Only what is low can be granted; the rest is shown, and asked about when it is used. */
#ifndef ZW_CONFIG_WISH_H
#define ZW_CONFIG_WISH_H

#include "src/base/sha256.h"
#include "src/config/catalogue.h"
#include "src/config/config.h"

#define CFG_TRUST_FILE "trust.json"
#define CFG_WISHES_MAX 64

/** One wish; owned. */
struct cfg_wish {
	char *text; /* "net *.x.example:443", "unix /run/x.sock", "write ~/.npm": as kept and shown */
	char *target; /* pattern of a site, or absolute path */
	enum cfg_wish_kind { CFG_WISH_NET, CFG_WISH_UNIX, CFG_WISH_WRITE } kind;
	unsigned line;
	enum pol_risk risk;
	bool can_grant;
	bool is_granted;
	const char *means; /* what it means, or why it is not possible; static */
};

struct cfg_wishes {
	struct cfg_wish *list; /* owned */
	size_t n;
	char *why;			/* in the project's words; "" = none */
	char *root, *file;		/* real paths of the project and of the file */
	char sha256[ZW_SHA256_HEX + 1]; /* of the file */
};

/**
 * Reads `wish` of the project file that @cfg has kept. Errors go to @report. No file, or no wish in it:
 * none.
 *
 * @catalogue  called only where a socket is wished for
 * Ownership   *ret by cfg_wishes_fini()
 */
void cfg_wishes_read(const struct cfg *cfg, const struct cfg_places *places,
		     const struct cfg_catalogue *(*catalogue)(void *arg), void *arg,
		     struct cfg_wishes *ret, struct cfg_report *report);
void cfg_wishes_fini(struct cfg_wishes *w);

/** Puts what is_granted into the settings, as POL_LAYER_WISH. */
void cfg_wishes_apply(struct cfg *cfg, const struct cfg_places *places, const struct cfg_wishes *w,
		      struct cfg_report *report);

/* -- what was granted: trust.json in the state folder ------------------------------------------- */

struct cfg_trust_entry {
	char *root, *file, *sha256; /* owned */
	int64_t at_s;
	bool is_never; /* not to be shown again, nothing granted */
	char **wishes; /* texts; owned */
	size_t n;
};

struct cfg_trust {
	struct cfg_trust_entry *list; /* owned; oldest first */
	size_t n;
};

/** Reads it; a missing file is an empty one. Returns 0 or ZW_E_CONFIG, with nothing in *ret. */
int cfg_trust_load(const char *path, struct cfg_trust *ret, struct cfg_report *report);
/** The same from a text. */
int cfg_trust_parse(const char *text, size_t len, const char *shown, struct cfg_trust *ret,
		    struct cfg_report *report);
void cfg_trust_fini(struct cfg_trust *t);
/** For this very file, or NULL. Borrowed. */
const struct cfg_trust_entry *cfg_trust_find(const struct cfg_trust *t, const struct cfg_wishes *w);
/** The last one for a file at this place, whatever was in it; or NULL. Borrowed. */
const struct cfg_trust_entry *cfg_trust_last(const struct cfg_trust *t, const struct cfg_wishes *w);
/** Marks what was granted. */
void cfg_trust_mark(const struct cfg_trust_entry *e, struct cfg_wishes *w);
/** Adds, or replaces, what @w says is granted. Returns 0 or -errno. */
int cfg_trust_keep(const char *path, struct cfg_trust *t, const struct cfg_wishes *w, bool is_never,
		   int64_t now_s);
/** Drops all that was granted to a project. Returns how many entries, or -errno. */
int cfg_trust_forget(const char *path, struct cfg_trust *t, const char *root);

#endif
