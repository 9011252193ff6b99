/* SPDX-License-Identifier: MIT
 * Unix connects, from the address to the verdict. */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "sandbox/broker/req.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/base/words.h"
#include "src/policy/script.h"

/* Longest time that the loop itself waits for a listener; then a worker takes over. */
#define INLINE_MS     2
#define SLICE_MS      200
#define SLICE_BUSY_MS 20
#define PINS_MAX      512
#define OPENS_MAX     512 /* relays at once; each has buffers */
#define RELAY_ROOM_B  (1 << 20)
#define LEVEL_DIRECT  3 /* of the sandbox: Landlock is there */

/* -- sockets of the sandbox itself ---------------------------------------------------------------- */

static struct brk_pin *pin_find(struct broker *b, uint64_t dev, uint64_t ino)
{
	uint64_t key[2] = {dev, ino};
	struct zw_map_node *node = zw_map_find(&b->pins, key, sizeof(key));

	return node != NULL ? zw_map_entry(node, struct brk_pin, node) : NULL;
}

static void pin_drop(struct broker *b, struct brk_pin *p)
{
	zw_map_remove(&b->pins, &p->node);
	TAILQ_REMOVE(&b->pin_list, p, link);
	b->n_pins--;
	zw_close(&p->fd);
	free(p->path);
	free(p);
}

/* A file that a socket of the sandbox was bound to is that socket's for as long as the file exists,
 * and it exists while it is pinned. So this needs no second look. */
static void pin_add(struct broker *b, const struct brk_found *f)
{
	if (f->pin_fd < 0 || pin_find(b, f->dev, f->ino) != NULL)
		return;
	int fd = fcntl(f->pin_fd, F_DUPFD_CLOEXEC, 5);
	if (fd < 0)
		return;
	struct brk_pin *p = zw_xnew(struct brk_pin);
	p->key.dev = f->dev;
	p->key.ino = f->ino;
	p->fd = fd;
	p->path = zw_xstrdup(f->path);
	if (b->n_pins >= PINS_MAX)
		pin_drop(b, TAILQ_FIRST(&b->pin_list));
	zw_map_add(&b->pins, &p->node, &p->key, sizeof(p->key));
	TAILQ_INSERT_TAIL(&b->pin_list, p, link);
	b->n_pins++;
}

void brk_unix_fini(struct broker *b)
{
	struct brk_open *o;

	while (!TAILQ_EMPTY(&b->pin_list))
		pin_drop(b, TAILQ_FIRST(&b->pin_list));
	while ((o = LIST_FIRST(&b->opens)) != NULL)
		brk_open_close(o);
}

enum brk_state brk_unix_resolve(struct brk_req *r)
{
	struct stat st;
	zw_autoclose int fd = brk_walk_quick(r->b->sys, &r->place, r->addr.name);

	if (fd < 0 || fstat(fd, &st) < 0)
		return BRK_LOOKUP;
	struct brk_pin *p = pin_find(r->b, st.st_dev, st.st_ino);
	if (p == NULL)
		return BRK_LOOKUP;
	TAILQ_REMOVE(&r->b->pin_list, p, link);
	TAILQ_INSERT_TAIL(&r->b->pin_list, p, link);
	r->found = zw_xmalloc(sizeof(*r->found));
	brk_found_init(r->found);
	r->found->where = BRK_INSIDE;
	r->found->pin_fd = zw_steal_fd(&fd);
	r->found->dev = st.st_dev;
	r->found->ino = st.st_ino;
	zw_strlcpy(r->found->path, p->path, sizeof(r->found->path));
	return BRK_OWN;
}

static bool work_lookup(struct brk_job *job)
{
	struct brk_req *r = brk_req_of(job);
	struct broker *b = r->b;

	r->job_result = brk_look_up(&b->lookout, &r->place, &r->addr, r->found);
	ssize_t n = b->sys->proc_link(r->tid, "exe", r->exe, sizeof(r->exe));
	if (n < 0)
		r->exe[0] = '\0';
	if (r->found->where == BRK_HOST) {
		/* A rule may be about this program: not to know it is not to know the rule. */
		if (r->job_result == 0 && n < 0)
			r->job_result = (int)n;
		r->who = zw_xnew(struct brk_who);
		brk_who_read(b->sys, r->tid, b->init_pid, r->who);
	}
	return true;
}

enum brk_state brk_unix_lookup(struct brk_req *r)
{
	r->found = zw_xmalloc(sizeof(*r->found));
	brk_found_init(r->found);
	return brk_req_work(r, r->b->lookers, work_lookup, BRK_DECIDE);
}

/* -- the verdict ---------------------------------------------------------------------------------- */

static bool is_below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	return len > 1 && strncmp(path, dir, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

static struct pol_socket socket_of(const struct brk_req *r)
{
	struct pol_socket s = {.program = r->exe};

	if (r->addr.kind == BRK_ADDR_ABSTRACT) {
		s.abstract = r->addr.name;
		s.abstract_len = r->addr.name_len;
		return s;
	}
	s.path = r->found->path;
	s.path_len = strlen(r->found->path);
	if (r->found->alias[0] != '\0') {
		s.alias = r->found->alias;
		s.alias_len = strlen(r->found->alias);
	}
	return s;
}

static void refuse_own(struct brk_verdict *v)
{
	v->verdict = POL_DENY;
	v->by = ZW_BY_CATALOGUE;
	v->rule = 0;
	zw_strlcpy(v->reason, "a socket of zwatch itself", sizeof(v->reason));
}

static void keep_answer(struct brk_verdict *v, const struct brk_answer *kept)
{
	v->verdict = kept->verdict;
	v->by = kept->by;
	v->rule = kept->rule;
	zw_strlcpy(v->note, kept->note, sizeof(v->note));
}

/* A deny in the rules, then an answer of this session, then the rest of the rules. */
static void judge(struct brk_req *r)
{
	struct broker *b = r->b;
	struct pol_socket s = socket_of(r);
	struct pol_decision d;
	const struct pol_class *class = NULL;
	const struct brk_answer *kept = brk_memory_find(b->memory, r->found, r->exe);

	pol_decide_socket(feed_policy(b->feed), &s, &d, &class);
	r->generation = feed_generation(b->feed);
	r->v.verdict = d.verdict;
	r->v.by = d.by;
	r->v.rule = d.rule;
	r->v.risk = class != NULL ? class->risk : POL_RISK_LOW;
	/* What a direct one hands in could open files outside where no Landlock stops it. */
	bool is_direct_rule = d.verdict == POL_ALLOW && (d.flags & POL_RULE_DIRECT);
	r->v.way = is_direct_rule ? POL_WAY_DIRECT : class != NULL ? class->way : POL_WAY_RELAY;
	if (b->level < LEVEL_DIRECT)
		r->v.way = POL_WAY_RELAY;
	zw_strlcpy(r->v.class_name, class != NULL ? class->name : "", sizeof(r->v.class_name));
	zw_strlcpy(r->v.reason, d.reason != NULL ? d.reason : "", sizeof(r->v.reason));
	r->v.is_look = d.is_look;
	r->v.otherwise = d.is_look ? d.otherwise : POL_ASK;
	if (d.verdict == POL_ALLOW && r->found->is_moved)
		r->v.verdict = d.verdict = POL_ASK;
	if (is_below(r->found->path, b->runtime_dir))
		refuse_own(&r->v);
	else if (kept != NULL && d.verdict != POL_DENY &&
		 (d.verdict == POL_ASK || kept->verdict == POL_DENY))
		keep_answer(&r->v, kept);
}

static enum brk_state refuse(struct brk_req *r, unsigned did, unsigned by, const char *reason)
{
	brk_req_record(r, did, brk_req_op(r), by, reason);
	return brk_req_answer(r, EACCES);
}

static enum brk_state act(struct brk_req *r)
{
	if (r->v.verdict == POL_ALLOW)
		return r->is_asked ? BRK_RECHECK : BRK_COMMIT;
	if (r->v.verdict == POL_NOT_THERE) {
		brk_req_record(r, ZW_DID_DENY, brk_req_op(r), r->v.by, r->v.reason);
		return brk_req_answer(r, r->addr.kind == BRK_ADDR_ABSTRACT ? ECONNREFUSED : ENOENT);
	}
	if (r->v.verdict == POL_ASK)
		return BRK_ASK;
	return refuse(r, ZW_DID_DENY, r->v.by, r->v.reason);
}

static enum brk_state not_there(struct brk_req *r)
{
	const char *text = r->found->error == ENOENT	     ? "nothing is there"
			   : r->found->error == ECONNREFUSED ? "nobody listens"
			   : r->found->error == EACCES	     ? "no permission"
							     : zw_strerror(-r->found->error);

	brk_req_record(r, ZW_DID_FAIL, brk_req_op(r), ZW_BY_NATIVE, text);
	return brk_req_answer(r, r->found->error);
}

static bool is_connected_already(const struct brk_req *r)
{
	struct sockaddr_un un;
	socklen_t len = sizeof(un);

	return getpeername(r->sock_fd, (struct sockaddr *)&un, &len) == 0;
}

enum brk_state brk_unix_decide(struct brk_req *r)
{
	int error = r->job_result;

	if (error < 0)
		return brk_req_fault(r, "looking who listens", error);
	error = r->b->sys->notif_valid(r->b->listener_fd, r->id);
	if (error < 0) /* all that was read may be of another task with the same number */
		return error == -ENOENT
			       ? brk_req_answer(r, EACCES)
			       : brk_req_fault(r, "checking that the call still waits", error);
	if (r->found->where == BRK_NOWHERE)
		return not_there(r);
	if (r->found->where == BRK_INSIDE) {
		pin_add(r->b, r->found);
		return BRK_OWN;
	}
	if (is_connected_already(r))
		return brk_req_answer(r, EISCONN);
	judge(r);
	return act(r);
}

/* A rule for one program says nothing of another that lies under its name, nor of another script. */
static void program_key(const struct brk_req *r, char *out, size_t size)
{
	char script[BRK_PATH_MAX];

	pol_script_of(r->exe, zw_span_n(r->who->argv, r->who->argv_len), r->who->cwd, script,
		      sizeof(script));
	snprintf(out, size, "%llx %s%c%s", (unsigned long long)r->who->exe_id, r->exe, 1, script);
}

enum brk_state brk_unix_ask(struct brk_req *r)
{
	char who[2 * BRK_PATH_MAX + 32];

	/* To a question about a saved rule zwatch itself has the answer. */
	if (!r->b->can_ask && !r->v.is_look)
		return refuse(r, ZW_DID_DENY, ZW_BY_NO_TERMINAL, "nobody is there to answer");
	r->is_asked = true;
	r->next = BRK_ASK;
	/* The socket's folder and root are not needed any more, the pin is. */
	zw_close(&r->place.root_fd);
	zw_close(&r->place.cwd_fd);
	program_key(r, who, sizeof(who));
	if (brk_prompts_wait(r->b->prompts, r->found, who, &r->wait) < 0)
		return refuse(r, ZW_DID_DENY, ZW_BY_LIMIT, "too many questions are open");
	return BRK_WAITS;
}

void brk_unix_answered(struct brk_req *r, const struct brk_answer *a)
{
	r->waited_ms = zw_mono_ms() - r->start_ms;
	r->v.verdict = a->verdict == POL_ALLOW ? POL_ALLOW : POL_DENY;
	r->v.by = a->by;
	r->v.rule = a->rule;
	zw_strlcpy(r->v.note, a->note, sizeof(r->v.note));
	if (r->v.verdict == POL_ALLOW) {
		brk_req_continue(r, BRK_RECHECK);
		return;
	}
	brk_req_continue(r, refuse(r, a->did, a->by,
				   a->by == ZW_BY_TIMEOUT	? "nobody answered in time"
				   : a->by == ZW_BY_NO_TERMINAL ? "nobody is there to answer"
				   : a->by == ZW_BY_MODE	? r->v.reason
								: ""));
}

void brk_unix_rejudge(struct broker *b)
{
	struct brk_req *r = TAILQ_FIRST(&b->reqs);

	while (r != NULL) {
		struct brk_req *next = TAILQ_NEXT(r, link);

		if (r->wait.prompt != NULL && r->domain == AF_UNIX)
			judge(r);
		else if (r->wait.prompt != NULL)
			brk_serve_judge(r);
		if (r->wait.prompt != NULL && r->v.verdict != POL_ASK) {
			struct brk_answer a = {.verdict = r->v.verdict,
					       .did = ZW_DID_DENY,
					       .by = r->v.by,
					       .rule = r->v.rule};
			brk_prompts_settle(b->prompts, &r->wait, &a);
			next = TAILQ_FIRST(
				&b->reqs); /* others of the same question have ended, too */
		}
		r = next;
	}
}

static bool work_recheck(struct brk_job *job)
{
	struct brk_req *r = brk_req_of(job);

	r->job_result = brk_look_again(&r->b->lookout, &r->addr, r->found);
	return true;
}

/* Rules may have changed while the question stood: a deny holds at once. */
static bool is_denied_meanwhile(struct brk_req *r)
{
	struct pol_socket s = socket_of(r);
	struct pol_decision d;

	if (r->generation == feed_generation(r->b->feed))
		return false;
	pol_decide_socket(feed_policy(r->b->feed), &s, &d, NULL);
	r->generation = feed_generation(r->b->feed);
	return d.verdict == POL_DENY;
}

enum brk_state brk_unix_recheck(struct brk_req *r)
{
	return brk_req_work(r, r->b->lookers, work_recheck, BRK_COMMIT);
}

#define COMMIT_LIMIT_MS 10000

static void on_commit_late(void *arg)
{
	struct brk_req *r = arg;

	brk_unix_committed(r->b, r->event->seq, false);
}

/* The grant is on record before it takes effect. */
enum brk_state brk_unix_commit(struct brk_req *r)
{
	struct broker *b = r->b;

	if (r->is_asked && r->job_result == ZW_E_DENIED)
		return refuse(r, ZW_DID_DENY, ZW_BY_FAULT,
			      "the other end changed while you were reading");
	if (r->is_asked && r->job_result < 0)
		return brk_req_fault(r, "looking again who listens", r->job_result);
	if (is_denied_meanwhile(r))
		return refuse(r, ZW_DID_DENY, ZW_BY_RULE, "a rule was added meanwhile");
	r->event = brk_req_event(r, ZW_DID_ALLOW, brk_req_op(r), r->v.by, r->v.reason);
	brk_record(b->recorder, r->event, true, 0);
	zw_map_add(&b->commits, &r->commit_node, &r->event->seq, sizeof(r->event->seq));
	r->commit_timer = zev_timer_new(b->loop, on_commit_late, r);
	zev_timer_start(r->commit_timer, COMMIT_LIMIT_MS);
	return BRK_WAITS;
}

static enum brk_state take_back(struct brk_req *r, unsigned did, unsigned by, const char *reason,
				int error)
{
	r->event->did = did;
	r->event->by = by;
	zw_strlcpy(r->event->reason, reason, sizeof(r->event->reason));
	brk_record(r->b->recorder, r->event, false, 2);
	return brk_req_answer(r, error);
}

void brk_unix_committed(struct broker *b, uint64_t seq, bool is_kept)
{
	struct zw_map_node *node = zw_map_find(&b->commits, &seq, sizeof(seq));

	if (node == NULL)
		return;
	struct brk_req *r = zw_map_entry(node, struct brk_req, commit_node);
	zw_map_remove(&b->commits, node);
	zev_timer_free(r->commit_timer);
	r->commit_timer = NULL;
	if (is_kept)
		brk_req_continue(r, BRK_OPEN);
	else
		brk_req_continue(r, take_back(r, ZW_DID_DENY, ZW_BY_FAULT,
					      "it could not be put on record", EACCES));
}

/* -- carrying it out ------------------------------------------------------------------------------ */

/* Address of what is pinned, or of the abstract name. Returns its length. */
static size_t target_addr(const struct brk_req *r, struct sockaddr_un *un)
{
	size_t head = offsetof(struct sockaddr_un, sun_path);

	memset(un, 0, sizeof(*un));
	un->sun_family = AF_UNIX;
	if (r->addr.kind == BRK_ADDR_ABSTRACT) {
		memcpy(un->sun_path + 1, r->addr.name, r->addr.name_len);
		return head + 1 + r->addr.name_len;
	}
	brk_fd_path(r->found->pin_fd, un->sun_path, sizeof(un->sun_path));
	return head + strlen(un->sun_path) + 1;
}

static bool work_own(struct brk_job *job)
{
	struct brk_req *r = brk_req_of(job);
	struct sockaddr_un un;
	size_t len = target_addr(r, &un);
	int slice_ms = brk_pool_is_busy(r->b->waiters) ? SLICE_BUSY_MS : SLICE_MS;

	if (r->b->sys->notif_valid(r->b->listener_fd, r->id) < 0)
		r->job_result = -EACCES;
	else
		r->job_result = brk_guard_connect(&r->guard, r->sock_fd, &un, len, slice_ms);
	return r->job_result != BRK_GUARD_AGAIN;
}

static enum brk_state own_result(struct brk_req *r, int result)
{
	r->is_connected = result == 0;
	if (result == 0 || result == -EAGAIN || result == -EISCONN)
		brk_req_record(r, ZW_DID_AUTO, brk_req_op(r), ZW_BY_INSIDE, "");
	else
		brk_req_record(r, ZW_DID_FAIL, brk_req_op(r), ZW_BY_NATIVE, zw_strerror(result));
	return brk_req_answer(r, result < 0 ? -result : 0);
}

enum brk_state brk_unix_own(struct brk_req *r)
{
	struct sockaddr_un un;
	size_t len = target_addr(r, &un);

	if (r->guard.is_started) /* back from the worker */
		return own_result(r, r->job_result);
	int result = brk_guard_connect(&r->guard, r->sock_fd, &un, len, INLINE_MS);
	if (result == BRK_GUARD_AGAIN)
		return brk_req_work(r, r->b->waiters, work_own, BRK_OWN);
	r->guard.is_started = true;
	return own_result(r, result);
}

/*
 * Who is behind the connection, by what the kernel noted when it began to listen. The user has to be
 * the one that was shown: whoever made the socket, or whom its file belongs to (a daemon that gave up
 * root in between). The process may be another than was shown, for several can hold one socket; but
 * then the one that was shown must still be among them, or its program must.
 */
static int check_peer(struct brk_req *r, int fd)
{
	const struct brk_listener *l = &r->found->listener;
	socklen_t len = sizeof(r->peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &r->peer, &len) < 0)
		return -errno;
	bool is_maker = l->uid == BRK_UID_UNKNOWN || r->peer.uid == l->uid;
	bool is_owner = r->found->pin_fd >= 0 && r->peer.uid == r->found->owner_uid;
	if (!is_maker && !is_owner)
		return ZW_E_DENIED;
	if (l->pid == 0 || (uint32_t)r->peer.pid == l->pid || brk_listener_holds(r->b->sys, l))
		return 0;
	struct brk_listener peer = {.sk_ino = l->sk_ino, .pid = (uint32_t)r->peer.pid};
	zw_strlcpy(peer.exe, l->exe, sizeof(peer.exe));
	return brk_listener_holds(r->b->sys, &peer) ? 0 : ZW_E_DENIED;
}

/* An abstract name is looked up by the kernel once more when it connects. It can have another holder
 * only if the one that was judged has gone, and a socket's number does not come back. */
static int check_name(struct brk_req *r)
{
	return r->addr.kind == BRK_ADDR_ABSTRACT
		       ? brk_look_again(&r->b->lookout, &r->addr, r->found)
		       : 0;
}

static bool is_direct(const struct brk_req *r)
{
	return r->v.way == POL_WAY_DIRECT && r->addr.kind == BRK_ADDR_PATH;
}

/* A socket of the broker's own, in the host's network. It waits as the caller's would. */
static int open_host_socket(struct brk_req *r, const struct sockaddr_un *un, size_t len,
			    int slice_ms)
{
	int flags = fcntl(r->sock_fd, F_GETFL);

	if (r->host_fd < 0)
		r->host_fd = socket(AF_UNIX, r->type | SOCK_CLOEXEC, 0);
	if (r->host_fd < 0 || flags < 0)
		return -errno;
	if ((flags & O_NONBLOCK) && zw_set_nonblock(r->host_fd) < 0)
		return -errno;
	return brk_guard_connect(&r->guard, r->host_fd, un, len, slice_ms);
}

static bool work_open(struct brk_job *job)
{
	struct brk_req *r = brk_req_of(job);
	struct sockaddr_un un;
	size_t len = target_addr(r, &un);
	int slice_ms = brk_pool_is_busy(r->b->waiters) ? SLICE_BUSY_MS : SLICE_MS;
	int result = r->b->sys->notif_valid(r->b->listener_fd, r->id);

	if (result == 0 && !r->guard.is_started)
		result = brk_look_again(&r->b->lookout, &r->addr, r->found);
	if (result == 0)
		result = is_direct(r) ? brk_guard_connect(&r->guard, r->sock_fd, &un, len, slice_ms)
				      : open_host_socket(r, &un, len, slice_ms);
	if (result == 0) {
		result = check_peer(r, is_direct(r) ? r->sock_fd : r->host_fd);
		if (result == 0)
			result = check_name(r);
		r->is_connected = is_direct(r);
		if (result < 0 && is_direct(r))
			shutdown(r->sock_fd, SHUT_RDWR);
	}
	r->job_result = result;
	return result != BRK_GUARD_AGAIN;
}

static void on_open_end(uint64_t up_b, uint64_t down_b, void *arg)
{
	struct brk_open *o = arg;

	o->event->up_b = up_b;
	o->event->down_b = down_b;
	brk_record(o->b->recorder, o->event, false, 2);
	LIST_REMOVE(o, link);
	o->b->n_opens--;
	free(o->event);
	free(o);
}

/* Counted in one row for each connection and direction. */
static void on_open_passed(bool is_from_inside, void *arg)
{
	static const char *const reasons[] = {
		"a descriptor from outside was dropped: the relay carries bytes only",
		"a descriptor of the agent's was dropped: the relay carries bytes only"};
	struct brk_open *o = arg;
	struct brk_fold_key k = {.did = ZW_DID_DENY,
				 .op = ZW_OP_PASSED,
				 .by = ZW_BY_CATALOGUE,
				 .target = o->event->target,
				 .exe = o->event->who.exe,
				 .reason = reasons[is_from_inside]};

	if (brk_fold_count(o->b->recorder, &k))
		return;
	struct brk_event *e = zw_xnew(struct brk_event);
	*e = *o->event;
	e->seq = 0;
	e->t_us = 0;
	e->n_times = 0;
	e->did = k.did;
	e->op = k.op;
	e->by = k.by;
	e->rule = 0;
	e->waited_ms = e->up_b = e->down_b = 0;
	zw_strlcpy(e->reason, k.reason, sizeof(e->reason));
	brk_fold_add(o->b->recorder, &k, e);
}

static const struct brk_relay_ops relay_ops = {.on_end = on_open_end, .on_passed = on_open_passed};

void brk_unix_close(struct broker *b, struct zw_span target, uint32_t pid)
{
	struct brk_open *o = LIST_FIRST(&b->opens), *next;

	for (; o != NULL; o = next) {
		next = LIST_NEXT(o, link);
		if (o->event->who.pid != pid || !zw_span_eq(target, o->event->target))
			continue;
		zw_strlcpy(o->event->reason, "closed by the user", sizeof(o->event->reason));
		brk_open_close(o);
	}
}

void brk_open_close(struct brk_open *o)
{
	uint64_t up_b, down_b;

	brk_relay_counts(o->relay, &up_b, &down_b);
	brk_relay_free(o->relay);
	on_open_end(up_b, down_b, o);
}

void brk_unix_cut(struct broker *b, struct zw_span target, struct zw_span program)
{
	struct brk_open *o, *next;

	brk_memory_forget(b->memory, target, program);
	for (o = LIST_FIRST(&b->opens); o != NULL; o = next) {
		next = LIST_NEXT(o, link);
		if (zw_span_eq(target, o->event->target) &&
		    (program.len == 0 || zw_span_eq(program, o->event->who.exe)))
			brk_open_close(o);
	}
}

/* Whether the caller's descriptor closes on exec. */
static unsigned cloexec_of(const struct brk_req *r)
{
	char what[32], text[256];

	snprintf(what, sizeof(what), "fdinfo/%d", (int)(uint32_t)r->args[0]);
	if (r->b->sys->proc_read(r->tid, what, text, sizeof(text)) < 0)
		return 0;
	const char *p = strstr(text, "flags:");
	return p != NULL && (strtoul(p + 6, NULL, 8) & O_CLOEXEC) != 0 ? O_CLOEXEC : 0;
}

/* Puts @fd in the place of the caller's socket. */
static int replace_socket(struct brk_req *r, int fd)
{
	int flags = fcntl(r->sock_fd, F_GETFL);

	if (flags < 0 || ((flags & O_NONBLOCK) && zw_set_nonblock(fd) < 0))
		return -errno;
	int n = r->b->sys->notif_addfd(r->b->listener_fd, r->id, fd, (int)(uint32_t)r->args[0],
				       cloexec_of(r));
	return n < 0 ? n : 0;
}

static int start_relay(struct brk_req *r)
{
	int pair[2];

	if (r->b->n_opens >= OPENS_MAX)
		return -EMFILE;
	if (socketpair(AF_UNIX, r->type | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	/* Bytes pass three queues; longer ones mean fewer changes between three programs. As much as the
	 * system lets anybody have. */
	const int room_b = RELAY_ROOM_B, fds[] = {pair[0], pair[1], r->host_fd};
	for (size_t i = 0; r->type == SOCK_STREAM && i < ZW_N_ELEMENTS(fds); i++)
		(void)setsockopt(fds[i], SOL_SOCKET, SO_SNDBUF, &room_b, sizeof(room_b));
	int error = replace_socket(r, pair[1]);
	close(pair[1]);
	if (error == 0 && (zw_set_nonblock(pair[0]) < 0 || zw_set_nonblock(r->host_fd) < 0))
		error = -errno;
	if (error < 0) {
		close(pair[0]);
		return error;
	}
	struct brk_open *o = zw_xnew(struct brk_open);
	o->b = r->b;
	o->event = zw_steal(&r->event);
	LIST_INSERT_HEAD(&r->b->opens, o, link);
	r->b->n_opens++;
	r->open = o;
	o->relay = brk_relay_new(r->b->loop, r->type, pair[0], zw_steal_fd(&r->host_fd), &relay_ops,
				 o);
	return 0;
}

static int hand_over(struct brk_req *r)
{
	if (is_direct(r))
		return 0;
	if (r->v.way == POL_WAY_DIRECT)
		return replace_socket(r, r->host_fd);
	return start_relay(r);
}

/* Of another user's process nothing is known before; the connection tells its number. */
static void tell_peer(struct brk_req *r)
{
	struct brk_listener *l = &r->event->listener;

	if (l->pid != 0 && l->uid != BRK_UID_UNKNOWN)
		return;
	if (l->uid == BRK_UID_UNKNOWN)
		l->uid = r->peer.uid;
	if (l->pid == 0 && r->peer.pid > 0)
		l->pid = (uint32_t)r->peer.pid;
	if (l->exe[0] == '\0' &&
	    r->b->sys->proc_link((pid_t)l->pid, "exe", l->exe, sizeof(l->exe)) < 0)
		l->exe[0] = '\0';
	brk_record(r->b->recorder, r->event, false, 1);
}

enum brk_state brk_unix_open(struct brk_req *r)
{
	if (r->next != BRK_OPEN)
		return brk_req_work(r, r->b->waiters, work_open, BRK_OPEN);
	int error = r->job_result;
	if (error == ZW_E_DENIED)
		return take_back(r, ZW_DID_DENY, ZW_BY_FAULT,
				 "the other end changed while you were reading", EACCES);
	if (error == -EAGAIN || error == -ECONNREFUSED || error == -EPROTOTYPE || error == -EISCONN)
		return take_back(r, ZW_DID_FAIL, ZW_BY_NATIVE, zw_strerror(error), -error);
	if (error == 0) {
		tell_peer(r);
		error = hand_over(r);
	}
	if (error == -ENOENT)
		return take_back(r, ZW_DID_GONE, r->v.by, "the program has gone", EACCES);
	if (error < 0)
		return take_back(r, ZW_DID_DENY, ZW_BY_FAULT, zw_strerror(error), EACCES);
	return brk_req_answer(r, 0);
}
