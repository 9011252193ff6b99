/* SPDX-License-Identifier: MIT
 * bind(): looked at and recorded, then carried out by the kernel itself. It re-reads the address, which
 * the caller may have changed; so nothing is decided here. Where a socket may be made is Landlock's
 * to decide, on what the kernel then finds. */
#include <errno.h>
#include <sys/socket.h>

#include "sandbox/broker/req.h"
#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/base/words.h"

#define LEVEL_LANDLOCK 3

static bool is_below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	return strncmp(path, dir, len) == 0 && path[len] == '/';
}

/* Whether Landlock has a rule for it. */
static bool may_be_made(const struct broker *b, const char *path)
{
	for (size_t i = 0; i < b->socket_dirs_len;
	     i += strnlen(b->socket_dirs + i, b->socket_dirs_len - i) + 1)
		if (is_below(path, b->socket_dirs + i))
			return true;
	return false;
}

/* The place of the new socket: what is not there yet. */
static bool work_look(struct brk_job *job)
{
	struct brk_req *r = brk_req_of(job);
	char missing[BRK_PATH_MAX];
	zw_autoclose int fd = brk_walk(r->b->sys, &r->place, r->addr.name, missing);

	r->job_result = fd < 0 ? fd : 0;
	if (fd == -ENOENT && missing[0] != '\0')
		zw_strlcpy(r->found->path, missing, sizeof(r->found->path));
	else if (fd < 0 || brk_walk_name(&r->place, fd, r->found->path) < 0)
		zw_strlcpy(r->found->path, r->addr.name, sizeof(r->found->path));
	return true;
}

static enum brk_state go_on(struct brk_req *r)
{
	int error = r->b->sys->notif_continue(r->b->listener_fd, r->id);

	if (error == 0 || error == -ENOENT)
		return BRK_DONE;
	return brk_req_fault(r, "letting the call go on", error);
}

/* What the rules say of it; a deny is about connecting, and does not hold a bind up. */
static const char *judge(struct brk_req *r)
{
	struct pol_socket s = {.program = brk_req_exe(r)};
	const struct pol_class *class = NULL;
	struct pol_decision d;

	if (r->addr.kind == BRK_ADDR_ABSTRACT) {
		s.abstract = r->addr.name;
		s.abstract_len = r->addr.name_len;
	} else {
		s.path = r->found->path;
		s.path_len = strlen(r->found->path);
	}
	pol_decide_socket(feed_policy(r->b->feed), &s, &d, &class);
	r->v.risk = class != NULL ? class->risk : POL_RISK_LOW;
	zw_strlcpy(r->v.class_name, class != NULL ? class->name : "", sizeof(r->v.class_name));
	r->v.by = d.by == ZW_BY_RULE ? ZW_BY_RULE : ZW_BY_INSIDE;
	r->v.rule = d.by == ZW_BY_RULE ? d.rule : 0;
	return r->v.by == ZW_BY_RULE && d.verdict == POL_DENY
		       ? "a rule denies connecting to it outside; this one is the agent's own"
		       : "";
}

/* Returns whether it lies where sockets may not be made. */
static bool record(struct brk_req *r)
{
	bool is_file = r->addr.kind == BRK_ADDR_PATH;
	const char *reason = judge(r);
	bool is_denied = is_file && r->job_result == -ENOENT && !may_be_made(r->b, r->found->path);

	if (is_file && r->job_result == 0)
		brk_req_record(r, ZW_DID_FAIL, ZW_OP_BIND, ZW_BY_NATIVE,
			       "something is there already");
	else if (is_file && r->job_result != -ENOENT)
		brk_req_record(r, ZW_DID_FAIL, ZW_OP_BIND, ZW_BY_NATIVE,
			       zw_strerror(r->job_result));
	else if (is_denied)
		brk_req_record(r, ZW_DID_DENY, ZW_OP_BIND, ZW_BY_NATIVE,
			       "no place where the sandbox lets sockets be made");
	else
		brk_req_record(r, ZW_DID_AUTO, ZW_OP_BIND, r->v.by, reason);
	return is_denied;
}

/* Back from the worker. */
enum brk_state brk_bind_look(struct brk_req *r)
{
	if (r->next != BRK_BIND_LOOK) {
		r->found = zw_xmalloc(sizeof(*r->found));
		brk_found_init(r->found);
		return brk_req_work(r, r->b->lookers, work_look, BRK_BIND_LOOK);
	}
	if (r->job_result == -EIO)
		return brk_req_fault(r, "looking where it is bound", r->job_result);
	/* Without Landlock nobody else says no. One who changes the address in time gets past that. */
	if (record(r) && r->b->level < LEVEL_LANDLOCK)
		return brk_req_answer(r, EACCES);
	return go_on(r);
}

enum brk_state brk_bind(struct brk_req *r)
{
	if (r->domain != AF_UNIX || r->raw_len == sizeof(sa_family_t))
		return go_on(r); /* not a name of its own choice */
	if (r->addr.kind == BRK_ADDR_PATH)
		return BRK_BIND_LOOK;
	r->job_result = -ENOENT;
	(void)record(r);
	return go_on(r);
}
