/* SPDX-License-Identifier: MIT
 * Plan and layout to bwrap's arguments. */
#include "sandbox/plan.h"

#include <stdio.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/str.h"

void sb_layout_fini(struct sb_layout *l)
{
	for (size_t i = 0; i < l->n_places; i++)
		free(l->places[i].path);
	free(l->places);
	for (size_t i = 0; i < l->n_tops; i++) {
		free(l->tops[i].name);
		free(l->tops[i].target);
	}
	free(l->tops);
	for (size_t i = 0; i < l->n_bars; i++) {
		free((char *)(uintptr_t)l->bars[i].path);
		free((char *)(uintptr_t)l->bars[i].content);
	}
	free(l->bars);
	free(l->cwd);
	free(l->project);
	free(l->runtime_dir);
	free(l->resolv_conf);
	free(l->nsswitch);
	memset(l, 0, sizeof(*l));
}

void sb_layout_add(struct sb_layout *l, const char *path, enum sb_place_kind kind, bool is_dir)
{
	l->places = zw_xrealloc(l->places, l->n_places + 1, sizeof(*l->places));
	l->places[l->n_places++] =
		(struct sb_place){.path = zw_xstrdup(path), .kind = kind, .is_dir = is_dir};
}

static bool is_below(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return strncmp(path, folder, len) == 0 && path[len] == '/';
}

/** The nearest place of the first @n in which @path lies, or NULL. */
static const struct sb_place *place_around(const struct sb_place *places, size_t n,
					   const char *path)
{
	while (n-- > 0) {
		if (is_below(path, places[n].path))
			return &places[n];
	}
	return NULL;
}

/* A parent is a prefix of its children, so plain byte order puts it first. */
static int by_path(const void *a, const void *b)
{
	const struct sb_place *x = a, *y = b;

	return strcmp(x->path, y->path);
}

#define HAS(kinds, kind) (((kinds) >> (kind)) & 1u)

/** What a path is for which all of @kinds (bits) were asked for, in a place of kind @around.
 * Returns false for "as what is around it". */
static bool settle(unsigned kinds, const enum sb_place_kind *around, enum sb_place_kind *ret)
{
	bool is_emptied = around && (*around == SB_PLACE_HIDDEN || *around == SB_PLACE_FRESH);
	bool is_writable = around && *around == SB_PLACE_WRITABLE;
	bool is_shown = HAS(kinds, SB_PLACE_SHOWN);

	*ret = SB_PLACE_LINK;
	if (HAS(kinds, SB_PLACE_LINK))
		return is_writable;
	*ret = SB_PLACE_READ_ONLY;
	if (HAS(kinds, SB_PLACE_HIDDEN) && !is_shown) {
		*ret = SB_PLACE_HIDDEN;
		return !is_emptied;
	}
	if (HAS(kinds, SB_PLACE_FRESH) && !is_shown) {
		*ret = SB_PLACE_FRESH;
		return true;
	}
	if (HAS(kinds, SB_PLACE_READ_ONLY))
		return is_emptied || is_writable;
	if (HAS(kinds, SB_PLACE_WRITABLE)) {
		*ret = SB_PLACE_WRITABLE;
		return true;
	}
	if (is_shown && (is_emptied || kinds >> SB_PLACE_FRESH))
		return is_emptied || is_writable;
	return HAS(kinds, SB_PLACE_GUARDED) && is_writable;
}

/** One place for each path. */
static void order_settle(struct sb_layout *l)
{
	size_t n_kept = 0;

	for (size_t i = 0, end; i < l->n_places; i = end) {
		struct sb_place p = l->places[i];
		unsigned kinds = 0;

		for (end = i; end < l->n_places && strcmp(l->places[end].path, p.path) == 0; end++)
			kinds |= 1u << l->places[end].kind;
		const struct sb_place *around = place_around(l->places, n_kept, p.path);
		bool is_kept = settle(kinds, around ? &around->kind : NULL, &p.kind);
		for (size_t k = i + is_kept; k < end; k++)
			free(l->places[k].path);
		if (is_kept)
			l->places[n_kept++] = p;
	}
	l->n_places = n_kept;
}

static void pin_folders(struct sb_layout *l, const char *path, size_t from)
{
	for (const char *end = strchr(path + from + 1, '/'); end; end = strchr(end + 1, '/')) {
		zw_autofree char *folder = zw_xasprintf("%.*s", (int)(end - path), path);

		sb_layout_add(l, folder, SB_PLACE_WRITABLE, true);
	}
}

/** The folders between a writable place and what must not change in it. */
static void order_pin(struct sb_layout *l)
{
	size_t n = l->n_places;

	for (size_t i = 0; i < n; i++) {
		const struct sb_place *p = &l->places[i];
		const struct sb_place *around = place_around(l->places, i, p->path);

		if (around && around->kind == SB_PLACE_WRITABLE &&
		    (p->kind == SB_PLACE_READ_ONLY || p->kind == SB_PLACE_HIDDEN ||
		     p->kind == SB_PLACE_LINK))
			pin_folders(l, p->path, strlen(around->path));
	}
}

static void sort(struct sb_layout *l)
{
	if (l->n_places > 0)
		qsort(l->places, l->n_places, sizeof(*l->places), by_path);
}

void sb_layout_order(struct sb_layout *l)
{
	sort(l);
	order_settle(l);
	order_pin(l);
	sort(l);
	order_settle(l);
}

bool sb_layout_is_writable(const struct sb_layout *l, const char *path)
{
	const struct sb_place *around = place_around(l->places, l->n_places, path);

	for (size_t i = 0; i < l->n_places; i++) {
		if (strcmp(l->places[i].path, path) == 0)
			around = &l->places[i];
	}
	return around && around->kind == SB_PLACE_WRITABLE;
}

const struct sb_place *sb_layout_around(const struct sb_layout *l, const char *path)
{
	for (size_t i = 0; i < l->n_places; i++) {
		if (strcmp(l->places[i].path, path) == 0)
			return NULL;
	}
	return place_around(l->places, l->n_places, path);
}

static bool add_bar(struct sb_layout *l, const char *path, const struct sb_bar *like)
{
	for (size_t i = 0; i < l->n_bars; i++) {
		if (strcmp(l->bars[i].path, path) == 0)
			return false;
	}
	l->bars = zw_xrealloc(l->bars, l->n_bars + 1, sizeof(*l->bars));
	l->bars[l->n_bars++] =
		(struct sb_bar){.path = zw_xstrdup(path),
				.content = like->content ? zw_xstrdup(like->content) : NULL,
				.is_way = like->is_way,
				.reads_empty = like->reads_empty};
	return true;
}

void sb_layout_way(struct sb_layout *l, const char *path)
{
	if (add_bar(l, path, &(struct sb_bar){.is_way = true}))
		sb_layout_add(l, path, SB_PLACE_WRITABLE, true);
}

void sb_layout_bar(struct sb_layout *l, const char *path, const struct sb_bar *like)
{
	if (add_bar(l, path, like))
		sb_layout_add(l, path, like->is_private ? SB_PLACE_FRESH : SB_PLACE_READ_ONLY,
			      !like->content && !like->reads_empty);
}

size_t sb_layout_n_empty(const struct sb_layout *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n_places; i++)
		n += l->places[i].kind == SB_PLACE_HIDDEN && !l->places[i].is_dir;
	return n;
}

/* -- arguments --------------------------------------------------------------------------------- */

/** The list being written; the first error sticks. */
struct args {
	struct zw_buf *buf; /* borrowed */
	int error;
};

static void add(struct args *a, const char *arg)
{
	if (a->error == 0)
		a->error = zw_buf_add(a->buf, arg, strlen(arg) + 1);
}

static void add2(struct args *a, const char *option, const char *value)
{
	add(a, option);
	add(a, value);
}

static void add_number(struct args *a, const char *option, unsigned long long number)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", number);
	add2(a, option, text);
}

static void add_bind(struct args *a, const char *option, const char *path)
{
	add2(a, option, path);
	add(a, path);
}

static void add_data(struct args *a, int fd, const char *path)
{
	add_number(a, "--ro-bind-data", (unsigned)fd);
	add(a, path);
}

static void add_fresh(struct args *a, const struct sb_layout *l, size_t i)
{
	const char *path = l->places[i].path;
	const struct sb_place *around = place_around(l->places, i, path);
	bool is_shared = strcmp(path, "/tmp") == 0 || strcmp(path, "/var/tmp") == 0;

	add2(a, "--perms", is_shared ? "1777" : strcmp(path, "/run") == 0 ? "0755" : "0700");
	/* Inside another fresh folder it needs no mount of its own. */
	add2(a, around && around->kind == SB_PLACE_FRESH ? "--dir" : "--tmpfs", path);
}

static bool is_read_as_empty(const struct sb_layout *l, const char *path)
{
	for (size_t i = 0; i < l->n_bars; i++) {
		if (l->bars[i].reads_empty && strcmp(l->bars[i].path, path) == 0)
			return true;
	}
	return false;
}

/* What is written to the null device is nowhere. */
static void add_read_only(struct args *a, const struct sb_layout *l, const char *path)
{
	if (is_read_as_empty(l, path)) {
		add2(a, "--dev-bind", "/dev/null");
		add(a, path);
	} else {
		add_bind(a, "--ro-bind", path);
	}
}

static void add_places(struct args *a, const struct sb_layout *l, const struct sb_plan_fds *fds)
{
	size_t n_empty = 0;

	for (size_t i = 0; i < l->n_places; i++) {
		const struct sb_place *p = &l->places[i];

		switch (p->kind) {
		case SB_PLACE_WRITABLE:
			add_bind(a, "--bind", p->path);
			break;
		case SB_PLACE_GUARDED: /* settled before; if not, rather too strict */
		case SB_PLACE_SHOWN:
		case SB_PLACE_READ_ONLY:
			add_read_only(a, l, p->path);
			break;
		case SB_PLACE_LINK: /* not bwrap's: it would follow it */
			break;
		case SB_PLACE_FRESH:
			add_fresh(a, l, i);
			break;
		case SB_PLACE_HIDDEN:
			if (p->is_dir) {
				add2(a, "--perms", "0700");
				add2(a, "--tmpfs", p->path);
			} else {
				add_data(a, fds->empty[n_empty++], p->path);
			}
			break;
		}
	}
}

static void add_namespaces(struct args *a, const struct sb_plan *p)
{
	static const char *const fixed[] = {
		"--unshare-user",    "--unshare-pid",
		"--unshare-ipc",     "--unshare-net",
		"--unshare-uts",     "--disable-userns",
		"--die-with-parent", "--as-pid-1",
		"--cap-drop",	     "ALL",
	};

	for (size_t i = 0; i < ZW_N_ELEMENTS(fixed); i++)
		add(a, fixed[i]);
	add_number(a, "--uid", p->uid);
	add_number(a, "--gid", p->gid);
}

static bool is_place(const struct sb_layout *l, const char *path)
{
	for (size_t i = 0; i < l->n_places; i++) {
		if (strcmp(l->places[i].path, path) == 0)
			return true;
	}
	return false;
}

static void add_tops(struct args *a, const struct sb_layout *l)
{
	for (size_t i = 0; i < l->n_tops; i++) {
		zw_autofree char *path = zw_xasprintf("/%s", l->tops[i].name);

		if (l->tops[i].target) {
			add2(a, "--symlink", l->tops[i].target);
			add(a, path);
		} else if (!is_place(l, path)) {
			add_bind(a, "--ro-bind", path);
		}
	}
}

int sb_plan_args(const struct sb_plan *p, const struct sb_layout *l, const struct sb_plan_fds *fds,
		 struct zw_buf *ret)
{
	struct args a = {ret, 0};

	add_namespaces(&a, p);
	add_tops(&a, l);
	add2(&a, "--dev", "/dev");
	add2(&a, "--proc", "/proc");
	/* Root owns /proc/sys by its number, capabilities or not: kernel.core_pattern would be a
	 * way out. Others are refused by the kernel, and keep /proc/self/comm and its like writable. */
	if (p->uid == 0)
		add2(&a, "--remount-ro", "/proc");
	add_places(&a, l, fds);
	if (l->resolv_conf && fds->resolv_conf >= 0)
		add_data(&a, fds->resolv_conf, l->resolv_conf);
	if (l->nsswitch && fds->nsswitch >= 0)
		add_data(&a, fds->nsswitch, l->nsswitch);
	for (size_t i = 0; p->texts != NULL && p->texts[i].path != NULL; i++) {
		add2(&a, "--perms", "0444");
		add_data(&a, fds->texts[i], p->texts[i].path);
	}
	/* Last, since a place may lie inside a hidden folder and its mount point must be made. */
	for (size_t i = 0; i < l->n_places; i++) {
		if (l->places[i].kind == SB_PLACE_HIDDEN && l->places[i].is_dir)
			add2(&a, "--remount-ro", l->places[i].path);
	}
	add2(&a, "--remount-ro", "/");
	return a.error;
}

int sb_plan_socket_dirs(const struct sb_plan *p, const struct sb_layout *l, struct zw_buf *ret)
{
	struct args a = {ret, 0};

	for (size_t i = 0; i < l->n_places; i++) {
		const struct sb_place *place = &l->places[i];
		const struct sb_place *around = place_around(l->places, i, place->path);

		/* A rule covers all that lies below. /run itself stays without. */
		if (place->kind == SB_PLACE_FRESH && strcmp(place->path, "/run") != 0 &&
		    !(around && around->kind == SB_PLACE_FRESH &&
		      strcmp(around->path, "/run") != 0))
			add(&a, place->path);
	}
	if (p->project_holds_sockets)
		add(&a, l->project);
	return a.error;
}

/* -- nsswitch.conf ----------------------------------------------------------------------------- */

int sb_nsswitch_rewrite(const char *text, size_t len, struct zw_buf *ret)
{
	static const char hosts[] = "hosts: files dns\n";

	for (size_t i = 0; i < len;) {
		const char *line = text + i;
		const char *end = memchr(line, '\n', len - i);
		size_t line_len = end ? (size_t)(end - line) + 1 : len - i;
		size_t blank = 0;
		int error;

		while (blank < line_len && (line[blank] == ' ' || line[blank] == '\t'))
			blank++;
		if (line_len - blank >= 5 && memcmp(line + blank, "hosts", 5) == 0)
			error = 0;
		else
			error = zw_buf_add(ret, line, line_len);
		if (error < 0)
			return error;
		i += line_len;
	}
	if (len > 0 && text[len - 1] != '\n' && zw_buf_add(ret, "\n", 1) < 0)
		return ZW_E_TOOBIG;
	return zw_buf_add(ret, hosts, sizeof(hosts) - 1);
}
