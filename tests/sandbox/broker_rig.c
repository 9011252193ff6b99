/* SPDX-License-Identifier: MIT */
#include "tests/sandbox/broker_rig.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/broker/broker.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/ipc/chan.h"

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

static void die(const char *what)
{
	fprintf(stderr, "rig: %s: %d\n", what, errno);
	_exit(3);
}

struct rig *rig_new(void)
{
	struct rig *r = zw_xnew(struct rig);

	snprintf(r->dir, sizeof(r->dir), "/tmp/zwbrk.XXXXXX");
	if (mkdtemp(r->dir) == NULL)
		die("mkdtemp");
	snprintf(r->hidden, sizeof(r->hidden), "%s/hidden", r->dir);
	mkdir(r->hidden, 0755);
	r->ctl = r->transparent_fd = r->http_fd = -1;
	return r;
}

/* -- inside ------------------------------------------------------------------------------------ */

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		die(path);
	close(fd);
}

static void enter_namespaces(const struct rig *r)
{
	char map[64];
	unsigned uid = getuid(), gid = getgid();

	if (unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWPID) < 0)
		_exit(77);
	put("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "%u %u 1", uid, uid);
	put("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "%u %u 1", gid, gid);
	put("/proc/self/gid_map", map);
	pid_t pid = fork(); /* the new pid namespace begins with a child */
	if (pid > 0) {
		int status;

		waitpid(pid, &status, 0);
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("hidden", r->hidden, "tmpfs", 0, NULL) < 0 ||
	    mount("proc", "/proc", "proc", 0, NULL) < 0)
		_exit(77);
}

static void loopback_up(void)
{
	struct ifreq ifr = {0};
	struct sockaddr_in in = {.sin_family = AF_INET};
	zw_autoclose int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	zw_strlcpy(ifr.ifr_name, "lo", sizeof(ifr.ifr_name));
	ifr.ifr_flags = IFF_UP | IFF_LOOPBACK;
	if (ioctl(fd, SIOCSIFFLAGS, &ifr) < 0)
		_exit(77);
	zw_strlcpy(ifr.ifr_name, "lo:1", sizeof(ifr.ifr_name));
	in.sin_addr.s_addr = htonl(RIG_HOST_ADDR);
	memcpy(&ifr.ifr_addr, &in, sizeof(in));
	if (ioctl(fd, SIOCSIFADDR, &ifr) < 0)
		_exit(77);
}

static int tcp_listen(uint16_t port)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	in.sin_addr.s_addr = htonl(RIG_HOST_ADDR);
	if (bind(fd, (struct sockaddr *)&in, sizeof(in)) < 0 || listen(fd, 64) < 0)
		die("listen");
	return fd;
}

static int install_filter(void)
{
#define LOAD(what)     BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, what))
#define IF(v, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (v), (yes), (no))
	struct sock_filter code[] = {
		LOAD(nr),
		IF(SYS_connect, 10, 0),
		IF(SYS_bind, 9, 0),
		IF(SYS_socket, 2, 0),
		IF(SYS_socketpair, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		LOAD(args[0]),
		IF(AF_UNIX, 0, 5),
		LOAD(args[1]),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf),
		IF(SOCK_DGRAM, 1, 0),
		IF(SOCK_RAW, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {ZW_N_ELEMENTS(code), code};
	unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			  flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &prog);
	if (fd < 0)
		fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);
	if (fd < 0)
		_exit(77);
	return (int)fd;
}

static void send_fds(int ctl, const int *fds, size_t n)
{
	union {
		char space[CMSG_SPACE(sizeof(int) * 8)];
		struct cmsghdr align;
	} control = {{0}};
	char byte = 0;
	struct iovec iov = {&byte, 1};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = control.space,
			   .msg_controllen = CMSG_SPACE(sizeof(int) * n)};
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);

	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(int) * n);
	memcpy(CMSG_DATA(h), fds, sizeof(int) * n);
	if (sendmsg(ctl, &m, 0) < 0)
		die("sendmsg");
}

static void agent_main(struct rig *r, int (*agent)(struct rig *r))
{
	int fds[4];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (r->before != NULL)
		r->before(r);
	enter_namespaces(r);
	loopback_up();
	fds[1] = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	fds[2] = tcp_listen(RIG_TRANSPARENT_PORT);
	fds[3] = tcp_listen(RIG_HTTP_PORT);
	fds[0] = install_filter();
	send_fds(r->ctl, fds, 4);
	for (int i = 0; i < 4; i++)
		close(fds[i]);
	rig_wait_step(r->ctl);
	int32_t result = agent(r);
	char word[5] = {'r'};
	memcpy(word + 1, &result, sizeof(result));
	if (send(r->ctl, word, sizeof(word), 0) < 0)
		die("result");
	rig_wait_step(r->ctl); /* stays, so that its sockets do, until the test is over */
	_exit(0);
}

/* -- outside ----------------------------------------------------------------------------------- */

static bool take_fds(int ctl, int fds[4])
{
	union {
		char space[CMSG_SPACE(sizeof(int) * 8)];
		struct cmsghdr align;
	} control;
	char byte;
	struct iovec iov = {&byte, 1};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = control.space,
			   .msg_controllen = sizeof(control.space)};

	if (recvmsg(ctl, &m, MSG_CMSG_CLOEXEC) <= 0)
		return false;
	memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(int) * 4);
	return true;
}

static int setup_in_fork(void *arg)
{
	(void)arg;
	return 0;
}

static void end_in_fork(int error, void *arg)
{
	(void)error;
	zev_stop(arg);
}

static void broker_in_fork(int fd, const struct brk_sys *sys)
{
	static const struct broker_ops ops = {.on_setup = setup_in_fork, .on_end = end_in_fork};
	struct zev_loop *loop = zev_loop_new();

	signal(SIGPIPE, SIG_IGN);
	struct broker *b = broker_new(loop, fd, sys, &ops, loop);
	zev_run(loop);
	broker_free(b);
	zev_loop_free(loop);
	_exit(0);
}

static void broker_start(struct rig *r, int fd)
{
	const char *path = getenv("ZW_BROKER");

	r->broker = fork();
	if (r->broker > 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (r->sys != NULL)
		broker_in_fork(fd, r->sys);
	if (dup2(fd, 3) < 0 || dup2(2, 4) < 0)
		die("dup2");
	close_range(5, ~0u, 0);
	execl(path, "zwatch-broker", (char *)NULL);
	die("exec of ZW_BROKER");
}

static void take_row(struct rig *r, const struct zw_msg_sock_event *m)
{
	struct rig_row *row = NULL;

	for (size_t i = 0; i < r->n_rows; i++)
		if (r->rows[i].seq == m->seq)
			row = &r->rows[i];
	if (row == NULL && r->n_rows < RIG_ROWS_MAX)
		row = &r->rows[r->n_rows++];
	if (row != NULL) {
		row->seq = m->seq;
		row->want_commit |= m->want_commit;
		row->phase = m->phase;
		row->did = m->did;
		row->op = m->op;
		row->by = m->by;
		row->n_times = m->n_times;
		row->up_b = m->up_b;
		row->down_b = m->down_b;
		row->waited_ms = m->waited_ms;
		row->rule = m->rule;
		row->pid = m->pid;
		row->listener_pid = m->listener_pid;
		row->listener_uid = m->listener_uid;
		zw_span_cpy(row->asked, sizeof(row->asked), m->asked);
		zw_span_cpy(row->class_name, sizeof(row->class_name), m->class_name);
		zw_span_cpy(row->cwd, sizeof(row->cwd), m->cwd);
		zw_span_cpy(row->argv, sizeof(row->argv), m->argv);
		zw_span_cpy(row->chain, sizeof(row->chain), m->chain);
		zw_span_cpy(row->target, sizeof(row->target), m->target);
		zw_span_cpy(row->reason, sizeof(row->reason), m->reason);
		zw_span_cpy(row->exe, sizeof(row->exe), m->exe);
	}
	if (m->want_commit && r->commit != RIG_SILENT)
		zw_send(r->chan, committed, .seq = m->seq, .is_kept = r->commit == RIG_KEEP);
}

static void take_conn(struct rig *r, const struct zw_msg_conn_event *m)
{
	struct rig_row *row = &r->rows[r->n_rows < RIG_ROWS_MAX ? r->n_rows++ : RIG_ROWS_MAX - 1];

	*row = (struct rig_row){.is_conn = true,
				.seq = m->seq,
				.did = m->did,
				.op = m->via,
				.by = m->by,
				.n_times = m->n_times};
	zw_span_cpy(row->target, sizeof(row->target), m->host);
	zw_span_cpy(row->exe, sizeof(row->exe), m->exe);
}

void rig_answer(struct rig *r, size_t i, enum pol_verdict verdict, unsigned scope)
{
	zw_send(r->chan, ask_answer, .ask = r->asks[i].ask, .verdict = (uint8_t)verdict,
		.scope = (uint8_t)scope, .by = ZW_BY_USER);
}

static void take_ask(struct rig *r, const struct zw_msg_ask *m)
{
	size_t i = r->n_asks < ZW_N_ELEMENTS(r->asks) ? r->n_asks++ : r->n_asks - 1;
	struct rig_ask *a = &r->asks[i];

	*a = (struct rig_ask){.ask = m->ask,
			      .risk = m->risk,
			      .listener_pid = m->listener_pid,
			      .listener_uid = m->listener_uid,
			      .pid = m->pid,
			      .n_waiting = 1};
	zw_span_cpy(a->target, sizeof(a->target), m->target);
	zw_span_cpy(a->asked, sizeof(a->asked), m->asked);
	zw_span_cpy(a->class_name, sizeof(a->class_name), m->class_name);
	if (r->answer != RIG_LEAVE)
		rig_answer(r, i, r->answer == RIG_ALLOW ? POL_ALLOW : POL_DENY, r->scope);
}

static struct rig_ask *ask_of(struct rig *r, uint64_t ask)
{
	for (size_t i = 0; i < r->n_asks; i++)
		if (r->asks[i].ask == ask)
			return &r->asks[i];
	return &r->asks[0];
}

static void take_who(struct rig *r, const struct zw_msg_tcp_who *m)
{
	struct rig_who *w = &r->whos[r->n_whos < 63 ? r->n_whos++ : 63];

	*w = (struct rig_who){.local_port = m->local_port,
			      .port = m->port,
			      .is_host_local = m->is_host_local,
			      .family = m->family,
			      .pid = m->pid};
	memcpy(w->addr, m->addr.p, m->addr.len);
}

static void on_msg(struct zw_chan *chan, enum zw_msg_id id, const union zw_msg_any *msg, int *fds,
		   void *arg)
{
	struct rig *r = arg;

	(void)chan;
	(void)fds;
	if (id == ZW_ID_sock_event)
		take_row(r, &msg->sock_event);
	else if (id == ZW_ID_conn_event)
		take_conn(r, &msg->conn_event);
	else if (id == ZW_ID_ask)
		take_ask(r, &msg->ask);
	else if (id == ZW_ID_ask_more)
		ask_of(r, msg->ask_more.ask)->n_waiting = msg->ask_more.n_waiting;
	else if (id == ZW_ID_ask_gone)
		ask_of(r, msg->ask_gone.ask)->is_gone = true;
	else if (id == ZW_ID_tcp_who)
		take_who(r, &msg->tcp_who);
	else if (id == ZW_ID_brk_ready)
		r->is_ready = true;
}

static void on_end(struct zw_chan *chan, int error, void *arg)
{
	struct rig *r = arg;

	(void)chan;
	r->end_error = error;
}

static void on_ctl(int fd, unsigned what, void *arg)
{
	struct rig *r = arg;
	char word[5] = {0};

	(void)what;
	/* Single bytes are steps; a test takes those itself. */
	if (recv(fd, word, sizeof(word), MSG_PEEK | MSG_DONTWAIT) == 1)
		return;
	if (recv(fd, word, sizeof(word), MSG_DONTWAIT) != sizeof(word)) {
		zev_io_set(r->ctl_io, 0);
		return;
	}
	memcpy(&r->result, word + 1, sizeof(int32_t));
	r->has_result = true;
}

static void send_policy(struct rig *r)
{
	static const struct {
		const char *name, *glob;
		enum pol_risk risk;
		enum pol_treat treat;
		enum pol_way way;
		bool is_abstract;
	} classes[] = {
		{"docker", "/tmp/zwbrk.*/**/docker.sock", POL_RISK_CRITICAL, 0, POL_WAY_RELAY,
		 false},
		{"x11", "/tmp/.zwbrk-X*", POL_RISK_HIGH, 0, POL_WAY_RELAY, true},
		{"direct", "/tmp/zwbrk.*/direct.sock", POL_RISK_LOW, 0, POL_WAY_DIRECT, false},
		{"nscd", "/tmp/zwbrk.*/nscd", POL_RISK_LOW, POL_TREAT_NOT_THERE, POL_WAY_RELAY,
		 false},
	};

	zw_send(r->chan, pol_begin, .generation = 1, .mode = POL_MODE_GUARD);
	for (size_t i = 0; i < ZW_N_ELEMENTS(classes); i++) {
		zw_send(r->chan, pol_class, .index = (uint16_t)i, .name = zw_span(classes[i].name),
			.risk = (uint8_t)classes[i].risk, .treat = (uint8_t)classes[i].treat,
			.way = (uint8_t)classes[i].way);
		zw_send(r->chan, pol_pattern, .class_index = (uint16_t)i,
			.is_abstract = classes[i].is_abstract, .glob = zw_span(classes[i].glob));
	}
	zw_autofree char *allowed = zw_xasprintf("%s/allowed.sock", r->dir);
	zw_send(r->chan, pol_rule, .rule = 7, .kind = POL_KIND_SOCKET, .action = POL_ACTION_ALLOW,
		.layer = POL_LAYER_USER, .pattern = zw_span(allowed));
	if (r->allow[0] != '\0')
		zw_send(r->chan, pol_rule, .rule = 8, .kind = POL_KIND_SOCKET,
			.action = POL_ACTION_ALLOW, .layer = POL_LAYER_USER,
			.flags = POL_RULE_DANGEROUS_OK, .pattern = zw_span(r->allow));
	zw_send(r->chan, pol_end, .generation = 1);
}

static bool is_ready(struct rig *r)
{
	return r->is_ready || r->end_error != 0;
}

static void send_setup(struct rig *r, const int fds[2])
{
	uint8_t port[2] = {(uint8_t)(r->local_port >> 8), (uint8_t)r->local_port};
	struct zw_msg_brk_setup m = {.init_pid = (uint32_t)r->agent,
				     .listen_addr = RIG_HOST_ADDR,
				     .http_port = RIG_HTTP_PORT,
				     .socks_port = RIG_SOCKS_PORT,
				     .transparent_port = RIG_TRANSPARENT_PORT,
				     .can_ask = !r->cannot_ask,
				     .level = 3,
				     .hold_ms = (uint64_t)r->hold_ms,
				     .runtime_dir = zw_span("/run/zwatch-test"),
				     .local_ports = zw_span_n(port, r->local_port != 0 ? 2 : 0),
				     .socket_dirs = zw_span_n(r->dir, strlen(r->dir) + 1)};

	zw_chan_send_fds(r->chan, ZW_ID_brk_setup, &m, fds, 2);
}

static void on_tick(void *arg)
{
	struct rig *r = arg;

	if (r->until(r) || zw_mono_ms() > r->until_ms)
		zev_stop(r->loop);
	else
		zev_timer_start(r->tick, 3);
}

/* Limits are for faults: where all is slow they are as much longer. Short ones only let time pass. */
static int64_t scaled(int64_t limit_ms)
{
	const char *slow = getenv("ZW_SLOW");
	int64_t times = slow != NULL ? atoi(slow) : 1;

	return limit_ms >= 5000 && times > 1 ? limit_ms * times : limit_ms;
}

bool rig_run(struct rig *r, bool (*until)(struct rig *r), int64_t limit_ms)
{
	r->until = until;
	r->until_ms = zw_mono_ms() + scaled(limit_ms);
	zev_timer_start(r->tick, 0);
	zev_run(r->loop);
	return until(r);
}

void rig_start(struct rig *r, int (*agent)(struct rig *r))
{
	static const struct zw_chan_ops ops = {.on_msg = on_msg, .on_end = on_end};
	int ctl[2], chan[2], fds[4];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ctl) < 0 ||
	    zw_chan_pair(chan) < 0)
		die("socketpair");
	r->agent = fork();
	if (r->agent == 0) {
		close(ctl[0]);
		close(chan[0]);
		close(chan[1]);
		r->ctl = ctl[1];
		agent_main(r, agent);
	}
	close(ctl[1]);
	r->ctl = ctl[0];
	if (!take_fds(r->ctl, fds)) {
		int status = 0;

		waitpid(r->agent, &status, 0);
		exit(WIFEXITED(status) && WEXITSTATUS(status) == 77 ? 77 : 1);
	}
	broker_start(r, chan[1]);
	close(chan[1]);
	r->loop = zev_loop_new();
	r->tick = zev_timer_new(r->loop, on_tick, r);
	r->chan = zw_chan_new(r->loop, chan[0], ROLE_SUPER, ROLE_BROKER, &ops, r);
	r->ctl_io = zev_io_new(r->loop, r->ctl, ZEV_READ, on_ctl, r);
	send_policy(r);
	send_setup(r, fds);
	close(fds[0]);
	close(fds[1]);
	r->transparent_fd = fds[2];
	r->http_fd = fds[3];
	if (!rig_run(r, is_ready, 5000) || !r->is_ready) {
		fprintf(stderr, "rig: the broker did not get ready (%d)\n", r->end_error);
		exit(1);
	}
	rig_step(r->ctl);
}

bool rig_has_ask(struct rig *r)
{
	return r->n_asks > 0;
}

bool rig_has_result(struct rig *r)
{
	return r->has_result;
}

bool rig_never(struct rig *r)
{
	(void)r;
	return false;
}

int rig_result(struct rig *r)
{
	if (!rig_run(r, rig_has_result, 20000)) {
		fprintf(stderr, "rig: the agent did not come to an end\n");
		return -999;
	}
	return r->result;
}

void rig_free(struct rig *r)
{
	char command[128];

	if (r->loop != NULL) {
		kill(r->agent, SIGKILL);
		kill(r->broker, SIGKILL);
		waitpid(r->agent, NULL, 0);
		waitpid(r->broker, NULL, 0);
		zev_io_free(r->ctl_io);
		zev_timer_free(r->tick);
		zw_chan_free(r->chan);
		zev_loop_free(r->loop);
	}
	zw_close(&r->ctl);
	zw_close(&r->transparent_fd);
	zw_close(&r->http_fd);
	snprintf(command, sizeof(command), "rm -rf %s", r->dir);
	if (system(command) != 0)
		fprintf(stderr, "rig: %s stays\n", r->dir);
	free(r);
}

const struct rig_row *rig_row(const struct rig *r, unsigned did, const char *target_end)
{
	for (size_t i = 0; i < r->n_rows; i++)
		if (r->rows[i].did == did && zw_ends_with(r->rows[i].target, target_end) &&
		    (r->rows[i].is_conn || r->rows[i].op != ZW_OP_BIND))
			return &r->rows[i];
	return NULL;
}

const struct rig_row *rig_row_op(const struct rig *r, unsigned op, unsigned did,
				 const char *target_end)
{
	for (size_t i = 0; i < r->n_rows; i++)
		if (!r->rows[i].is_conn && r->rows[i].op == op && r->rows[i].did == did &&
		    zw_ends_with(r->rows[i].target, target_end))
			return &r->rows[i];
	return NULL;
}

void rig_commit(struct rig *r, uint64_t seq)
{
	zw_send(r->chan, committed, .seq = seq, .is_kept = 1);
}

void rig_close(struct rig *r, const char *target, uint32_t pid)
{
	zw_send(r->chan, brk_close, .target = zw_span(target), .pid = pid);
}

/* -- both sides -------------------------------------------------------------------------------- */

void rig_step(int ctl)
{
	if (send(ctl, "s", 1, MSG_NOSIGNAL) < 0)
		die("step");
}

void rig_wait_step(int ctl)
{
	char byte;

	if (recv(ctl, &byte, 1, 0) <= 0)
		_exit(0);
}

static socklen_t make_un(const char *path, struct sockaddr_un *un)
{
	size_t len = strlen(path);

	memset(un, 0, sizeof(*un));
	un->sun_family = AF_UNIX;
	memcpy(un->sun_path, path, len < sizeof(un->sun_path) ? len : sizeof(un->sun_path));
	if (path[0] == '@')
		un->sun_path[0] = '\0';
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + (path[0] != '@'));
}

int rig_listen(const char *path, int type, int backlog)
{
	struct sockaddr_un un;
	socklen_t len = make_un(path, &un);
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&un, len) < 0 || listen(fd, backlog) < 0)
		die(path);
	return fd;
}

pid_t rig_echo(const char *path, int type, const char *word)
{
	int fd = rig_listen(path, type, 16);
	pid_t pid = fork();

	if (pid > 0) {
		close(fd);
		return pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		char text[4096];
		int c = accept(fd, NULL, NULL);
		ssize_t n;

		while (c >= 0 && (n = recv(c, text, sizeof(text), 0)) > 0)
			if (send(c, word, strlen(word), MSG_NOSIGNAL | MSG_MORE) < 0 ||
			    send(c, text, (size_t)n, MSG_NOSIGNAL) < 0)
				break;
		close(c);
	}
}

int rig_connect(const char *path, int type)
{
	struct sockaddr_un un;
	socklen_t len = make_un(path, &un);
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	if (fd >= 0 && connect(fd, (struct sockaddr *)&un, len) < 0) {
		int error = errno;

		close(fd);
		return -error;
	}
	return fd;
}

bool rig_untouched(int listen_fd)
{
	struct pollfd p = {.fd = listen_fd, .events = POLLIN};

	return poll(&p, 1, 0) == 0;
}
