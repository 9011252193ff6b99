/* SPDX-License-Identifier: MIT
 * The plan of a sandbox: everything that decides how it looks, and the pure function that turns it
 * into bwrap's arguments.
 *
 * The root is a folder of the sandbox's own with the host's top folders in it. Were it the host's own,
 * Landlock's leave for all below it would hold for the host's whole tree, in which a descriptor that
 * was handed in may lie.
 *
 * Files inside: the system read-only, own /proc, /dev (with devpts), /tmp, /var/tmp and /run; the
 * home read-only; the project and the writable paths as they are.
 *
 * Precedence. Of two paths the deeper one wins, wherever they stand in their lists: so a hidden
 * folder inside a writable project is hidden, and a writable one inside that is writable again. On
 * the same path the first of these that was asked for wins: hidden and private, unless it is shown
 * too; read-only; writable; shown, which is read-only and undoes hidden and private; guarded,
 * which is read-only inside a writable place and nothing elsewhere. Links are followed first.
 *
 * What must not change inside a writable place is a mount of its own, and so is every folder on the
 * way to it, and every link that leads there: a mount point can be neither renamed nor removed, so
 * nothing else can be put in its place. The price: files cannot be moved (only copied) across such a folder's edge. */
#ifndef ZW_SANDBOX_PLAN_H
#define ZW_SANDBOX_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "sandbox/failure.h"
#include "sandbox/limits.h"
#include "src/base/buf.h"

/** A guarded path that, when it is missing, is kept from being made by something that stands in its
 * place for the time of the session (sandbox/bars.h). */
struct sb_bar {
	const char *path;
	const char *
		content; /* of an empty file's kind: what means the same as no file; NULL = folder */
	bool is_way;	 /* only a folder on the way to one, writable; of a layout */
	bool reads_empty; /* inside a file that cannot be written and reads as empty, in the place of
			     a folder; content is NULL. git sees neither */
	bool is_private;  /* the folder is an empty one of the sandbox's own inside: what the agent
			     writes there is gone afterwards */
};

/** A file that looks like this inside, whatever lies there outside. */
struct sb_text {
	const char *path; /* absolute; its folder is there, or below a private one */
	const char *content;
	size_t len;
};

struct sb_plan {
	char *const *argv;   /* the agent; NULL-terminated, argv[0] is looked up in env's PATH */
	char *const *env;    /* "NAME=value", NULL-terminated; the agent gets these and no others */
	const char *cwd;     /* absolute; where the agent starts */
	const char *project; /* absolute; writable */
	const char *home;    /* absolute */
	uid_t uid;	     /* the user's own, as outside */
	gid_t gid;

	/* Absolute paths, NULL-terminated; NULL = none. What does not exist is left out. */
	const char *const *writable;
	const char *const *read_only; /* inside a writable one */
	const char *const *shown;     /* read-only inside a hidden or private one */
	const char *const *guarded;   /* read-only where they lie inside a writable one */
	const struct sb_text *texts;  /* .path NULL at the end; NULL = none */
	const struct sb_bar *bars;    /* what must not come to be there, .path NULL at the end */
	const char *const *hidden;    /* folder: empty; file: empty and read-only */
	const char *const *fresh;     /* private: an empty, writable folder of this sandbox */

	bool project_holds_sockets; /* false: filesystem.allowSockets is "private" */

	struct sb_limits limits;

	bool want_pty; /* true: a terminal of rows x cols; false: stdio is passed through */
	unsigned short rows, cols;
	int stdio[3]; /* borrowed; used without want_pty */

	const char *bwrap; /* path of the program */
	const char *init;  /* path of zwatch-init */

	/* Called by sb_launch() once bwrap runs, to use the time that it takes; NULL = nothing to do. */
	void (*meanwhile)(void *arg);
	void *meanwhile_arg;

	/* Appends the paths of host sockets that get a stand-in (sandbox/standins.h), NUL behind each.
	 * Called behind `meanwhile`, with its argument; NULL = none. */
	void (*standins)(void *arg, struct zw_buf *ret);
};

/** How a path looks inside. The first two are wishes, gone after sb_layout_order(). */
enum sb_place_kind {
	SB_PLACE_GUARDED,
	SB_PLACE_SHOWN,
	SB_PLACE_WRITABLE,
	SB_PLACE_READ_ONLY,
	SB_PLACE_FRESH,
	SB_PLACE_HIDDEN,
	SB_PLACE_LINK, /* a symbolic link to one that must not change (sandbox/links.h) */
};

struct sb_place {
	char *path; /* owned; canonical, absolute */
	enum sb_place_kind kind;
	bool is_dir;
};

/** One name in the root folder. */
struct sb_top {
	char *name;   /* owned */
	char *target; /* owned; of a symbolic link, NULL = a folder or file */
};

/** The plan after a look at the real file system (sandbox/survey.h). */
struct sb_layout {
	struct sb_place *places; /* owned; parents before children after sb_layout_order() */
	size_t n_places;
	struct sb_top *tops; /* owned; without what the sandbox has its own of */
	size_t n_tops;
	struct sb_bar *bars; /* owned, with their texts; those that are to be made */
	size_t n_bars;
	char *cwd;	   /* owned; canonical */
	char *project;	   /* owned; canonical */
	char *runtime_dir; /* owned; /run/user/UID */
	char *resolv_conf; /* owned; where the name server's file is mounted, NULL = not needed */
	char *nsswitch;	   /* owned; likewise */
};

#define SB_RESOLV_CONF "nameserver 127.0.0.1\n"
#define SB_ARGS_MAX    (1024 * 1024) /* bytes of options for bwrap */

void sb_layout_fini(struct sb_layout *l);

/** Appends a place. @path is copied. */
void sb_layout_add(struct sb_layout *l, const char *path, enum sb_place_kind kind, bool is_dir);

/**
 * Puts parents before children, settles what equal paths are, drops what makes no difference, and
 * adds the folders on the way to what must not change. Pure; a second time changes nothing.
 * @l->places is canonical already.
 */
void sb_layout_order(struct sb_layout *l);

/** Whether the agent could make something at @path (canonical). @l is ordered. */
bool sb_layout_is_writable(const struct sb_layout *l, const char *path);

/** The place in which @path (canonical) lies; NULL = none, or it is one itself. @l is ordered. */
const struct sb_place *sb_layout_around(const struct sb_layout *l, const char *path);

/** Notes a folder on the way to a bar that is missing as well; as sb_layout_bar(). */
void sb_layout_way(struct sb_layout *l, const char *path);

/** Notes that @path is to be barred as @like is; texts are copied. The place is added too: @l must be ordered
 * again. */
void sb_layout_bar(struct sb_layout *l, const char *path, const struct sb_bar *like);

/** Descriptors that bwrap inherits and names in its arguments. */
struct sb_plan_fds {
	int resolv_conf, nsswitch; /* content of the two files; -1 when the layout wants none */
	const int *texts;	   /* one for each of the plan's */
	const int *empty;	   /* one for each hidden file, each at end of file */
	size_t n_empty;
};

/** Number of hidden files in @l, each of which needs an empty descriptor. */
size_t sb_layout_n_empty(const struct sb_layout *l);

/**
 * Options of bwrap for this plan, NUL behind each, as `bwrap --args FD` reads them. Pure.
 *
 * @l    ordered
 * @ret  empty buffer; appended to
 * Returns  0 or ZW_E_TOOBIG
 */
int sb_plan_args(const struct sb_plan *p, const struct sb_layout *l, const struct sb_plan_fds *fds,
		 struct zw_buf *ret);

/**
 * The system's nsswitch.conf with names looked up in files and DNS only: what asks other services
 * (systemd-resolved, mDNS) cannot work inside. Pure; any bytes are safe.
 *
 * @text  the file; appended to @ret with its `hosts:` lines replaced
 * Returns  0 or ZW_E_TOOBIG
 */
int sb_nsswitch_rewrite(const char *text, size_t len, struct zw_buf *ret);

/**
 * Folders in which the agent may make sockets, NUL behind each. Pure.
 * Returns  0 or ZW_E_TOOBIG
 */
int sb_plan_socket_dirs(const struct sb_plan *p, const struct sb_layout *l, struct zw_buf *ret);

#endif
