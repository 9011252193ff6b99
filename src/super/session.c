/* SPDX-License-Identifier: MIT
 * One session from start to end. The start is a straight line with a time limit on every wait; the
 * middle is the loop; the end gives each helper its last words. */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/config/config.h"
#include "src/config/standins.h"
#include "src/super/super_i.h"

#define BROKER_READY_MS 20000
#define STORE_READY_MS	6000
#define AUDIT_CLOSE_MS	5000
#define LAST_EVENTS_MS	300
#define PROXY_END_MS	3000

/* With history.required the agent stands still while nothing is kept of what it does. */
static void hold(struct sup *s, bool is_held)
{
	bool was_held = (s->want_frozen & SUP_FROZEN_FOR_HISTORY) != 0;

	if (!s->config->is_required || is_held == was_held)
		return;
	sup_freeze_for_history(s, is_held);
	sup_warn(s,
		 is_held ? "the agent is frozen until the history can be written (history.required)"
			 : "the agent goes on: the history is written again");
}

static void hex(struct zw_span bytes, char *dst, size_t size)
{
	*dst = '\0';
	for (size_t i = 0; i < bytes.len && 2 * i + 2 < size; i++)
		snprintf(dst + 2 * i, 3, "%02x", (uint8_t)bytes.p[i]);
}

static void on_opened(struct sup *s, const struct zw_msg_aud_opened *m)
{
	s->audit.is_ready = m->status == 0;
	s->model.number = m->session;
	sup_cast_number(s);
	sup_known_read(s);
	if (m->status != 0) {
		zw_autofree char *text = zw_span_dup(m->text);
		sup_warn(s,
			 "cannot write history: %s. The session goes on; nothing is kept, "
			 "and nothing dangerous can be allowed",
			 text);
	}
	hold(s, m->status != 0);
	sup_changed(s, MDL_CHANGED_STATUS);
}

static void on_msg(struct sup_helper *h, enum zw_msg_id id, const union zw_msg_any *msg, int *fds,
		   void *arg)
{
	struct sup *s = arg;

	(void)fds;
	switch ((int)id) {
	case ZW_ID_brk_ready:
	case ZW_ID_px_ready:
	case ZW_ID_res_ready:
		h->is_ready = true;
		zev_stop(s->loop);
		break;
	case ZW_ID_ask:
		sup_on_ask(s, h, &msg->ask);
		break;
	case ZW_ID_ask_more:
		sup_on_ask_more(s, h, &msg->ask_more);
		break;
	case ZW_ID_ask_gone:
		sup_on_ask_gone(s, h, &msg->ask_gone);
		break;
	case ZW_ID_sock_event:
		sup_on_sock_event(s, h, &msg->sock_event);
		break;
	case ZW_ID_conn_event:
		sup_on_conn_event(s, h, &msg->conn_event);
		break;
	case ZW_ID_px_ca:
		sup_on_px_ca(s, &msg->px_ca);
		break;
	case ZW_ID_serving:
		sup_on_serving(s, &msg->serving);
		break;
	case ZW_ID_px_want_inside:
		sup_on_want_inside(s, msg->px_want_inside.seq);
		break;
	case ZW_ID_tcp_who:
		sup_on_tcp_who(s, &msg->tcp_who);
		break;
	case ZW_ID_res_query:
		sup_on_res_query(s, &msg->res_query);
		break;
	case ZW_ID_res_answer:
		sup_on_res_answer(s, &msg->res_answer);
		break;
	case ZW_ID_committed:
		sup_on_committed(s, &msg->committed);
		break;
	case ZW_ID_aud_opened:
		on_opened(s, &msg->aud_opened);
		break;
	case ZW_ID_aud_problem: {
		zw_autofree char *text = zw_span_dup(msg->aud_problem.text);
		sup_warn(s, "%s (%llu rows not kept)", text,
			 (unsigned long long)msg->aud_problem.n_lost);
		hold(s, !msg->aud_problem.is_over);
		break;
	}
	case ZW_ID_aud_closed:
		s->is_closed = true;
		s->result->is_prune_due = msg->aud_closed.is_prune_due != 0;
		hex(msg->aud_closed.head, s->result->head, sizeof(s->result->head));
		zev_stop(s->loop);
		break;
	case ZW_ID_locked:
		break;
	default:
		sup_on_pane_msg(s, id, msg);
		break;
	}
}

/* Each helper's death is named, and what it means is said. */
static void on_dead(struct sup_helper *h, const char *how, void *arg)
{
	struct sup *s = arg;
	static const struct {
		enum zw_role role;
		const char *means;
	} meanings[] = {
		{ROLE_PROXY, "open connections are cut; it starts anew with the next one"},
		{ROLE_RESOLVER, "it starts anew, and is asked again what is open"},
		{ROLE_BROKER, "no connection and no socket can be opened in this session any more"},
		{ROLE_AUDIT, "nothing is recorded from now on, and nothing new is granted"},
	};

	if (s->is_closing || s->is_making_ca) {
		zev_stop(s->loop);
		return;
	}
	/* The broker leaves by itself when nothing is left inside that it could serve. */
	if (h->role == ROLE_BROKER && h->is_done)
		return;
	for (size_t i = 0; i < ZW_N_ELEMENTS(meanings); i++)
		if (meanings[i].role == h->role)
			sup_warn(s, "%s %s: %s", zw_role_name(h->role), how, meanings[i].means);
	if (h->role == ROLE_AUDIT)
		hold(s, true);
	if (h->role == ROLE_PANE)
		sup_pane_dead(s, how);
	if (h->role == ROLE_PROXY || h->role == ROLE_BROKER)
		sup_asks_drop(s, h);
	if (h->role == ROLE_PROXY)
		sup_proxy_dead(s);
	if (h->role == ROLE_RESOLVER)
		sup_resolver_dead(s);
}

static const struct sup_helper_ops helper_ops = {.on_msg = on_msg, .on_dead = on_dead};

static void helpers_reap(struct sup *s)
{
	struct sup_helper *const all[] = {&s->audit, &s->broker, &s->pane, &s->proxy, &s->resolver};

	for (size_t i = 0; i < ZW_N_ELEMENTS(all); i++) {
		int status;
		pid_t pid = all[i]->pid;

		if (pid > 0 && waitpid(pid, &status, WNOHANG) == pid)
			sup_helper_reaped(all[i], pid, status);
	}
}

/* What the terminal sends to all that run in it is the agent's too, where it has the terminal itself. */
static bool is_agents(const struct sup *s, int signo)
{
	return s->face == NULL && (signo == SIGINT || signo == SIGQUIT);
}

static void on_signal(int signo, void *arg)
{
	struct sup *s = arg;

	if (signo == SIGCHLD) {
		helpers_reap(s);
	} else if (signo == SIGWINCH) {
		if (s->is_face_open)
			s->face->resized(s->face->arg);
	} else if (signo == SIGTSTP || signo == SIGCONT) {
		if (s->is_face_open)
			s->face->job(s->face->arg, signo == SIGCONT);
	} else if (is_agents(s, signo)) {
		/* Its answer is the answer. */
	} else {
		s->end_signal = signo;
		sb_session_kill(&s->sandbox);
		zev_stop(s->loop);
	}
}

static void on_patience_over(void *arg)
{
	struct sup *s = arg;

	zev_stop(s->loop);
}

bool sup_wait_for(struct sup *s, const bool *flag, const struct sup_helper *h, int64_t limit_ms)
{
	int64_t end_ms = zw_mono_ms() + limit_ms;

	while (!*flag && h->chan != NULL && s->end_signal == 0) {
		int64_t left_ms = end_ms - zw_mono_ms();

		if (left_ms <= 0)
			break;
		zev_timer_start(s->patience, left_ms);
		zev_run(s->loop);
	}
	zev_timer_stop(s->patience);
	return *flag;
}

static int fail(struct sup *s, int status, const char *what, const char *why, const char *fix)
{
	struct sup_result *r = s->result;

	mdl_set(&r->what, zw_span(what), 1024);
	mdl_set(&r->why, zw_span(why), 1024);
	mdl_set(&r->fix, zw_span(fix), 1024);
	r->exit_status = status;
	return -1;
}

static int fail_sandbox(struct sup *s, const struct sb_failure *f)
{
	char what[1024];

	sb_failure_text(f, what, sizeof(what));
	return fail(s, sb_failure_exit(f), what, "", sb_failure_hint(f));
}

static void signals_start(struct sup *s)
{
	/* The last two only where zwatch has the terminal: else the shell's way is the right one. */
	static const int numbers[] = {SIGCHLD, SIGTERM,	 SIGHUP,  SIGINT,
				      SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT};
	size_t n = ZW_N_ELEMENTS(numbers) - (s->face == NULL ? 2 : 0);

	_Static_assert(ZW_N_ELEMENTS(numbers) == ZW_N_ELEMENTS(s->signals), "one each");
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < n; i++)
		s->signals[i] = zev_signal_new(s->loop, numbers[i], on_signal, s);
}

static size_t argv_blob(char *const *argv, char *out, size_t size)
{
	size_t used = 0;

	for (; *argv != NULL; argv++) {
		size_t n = strlen(*argv) + 1;

		if (used + n > size)
			break;
		memcpy(out + used, *argv, n);
		used += n;
	}
	return used > 0 ? used - 1 : 0;
}

static int audit_start(struct sup *s)
{
	const struct sup_config *c = s->config;
	char argv[4096];
	int r = sup_helper_start(&s->audit, c->log_fd);

	if (r < 0)
		return r;
	zw_send(s->audit.chan, aud_open, .path = zw_span(c->store_path),
		.is_private = c->is_private, .t_us = zw_now_us(), .agent = zw_span(c->agent),
		.argv = zw_span_n(argv, argv_blob(c->plan->argv, argv, sizeof(argv))),
		.cwd = zw_span(c->plan->cwd), .project = zw_span(c->project),
		.mode = (uint8_t)c->mode, .level = (uint8_t)s->sandbox.level,
		.version = zw_span(ZW_VERSION), .uid = (uint32_t)c->plan->uid,
		.keep_ms = c->keep_ms, .max_b = c->max_b, .command_lines = c->command_lines,
		.is_durable = c->is_durable, .name = c->name, .tags = c->tags, .note = c->note,
		.redact = c->redact);
	return 0;
}

static int fail_helper(struct sup *s, const char *who, int error)
{
	zw_autofree char *what = zw_xasprintf("%s cannot be started", who);

	return fail(s, 125, what, zw_strerror(error), "install zwatch again, or build it anew");
}

static void broker_setup(struct sup *s)
{
	const struct sup_net *net = &s->config->net;
	uint8_t ports[2048];
	size_t n = net->n_local_ports < 1024 ? net->n_local_ports : 1024;
	int fds[2] = {s->sandbox.listener, s->sandbox.net[SB_NET_DIAG]};

	for (size_t i = 0; i < n; i++) {
		ports[2 * i] = (uint8_t)(net->local_ports[i] >> 8);
		ports[2 * i + 1] = (uint8_t)net->local_ports[i];
	}
	/* zwatch keeps the clock of questions, so the broker holds without limit. */
	struct zw_msg_brk_setup m = {.init_pid = (uint32_t)s->sandbox.init_pid,
				     .listen_addr = SB_NET_ADDR,
				     .http_port = SB_NET_HTTP_PORT,
				     .socks_port = SB_NET_SOCKS_PORT,
				     .transparent_port = SB_NET_TRANSPARENT_PORT,
				     .can_ask = s->config->can_ask,
				     .level = (uint8_t)s->sandbox.level,
				     .hold_ms = 0,
				     .runtime_dir = zw_span(s->config->runtime_dir),
				     .local_ports = zw_span_n(ports, 2 * n),
				     .socket_dirs = zw_span_n(s->sandbox.socket_dirs,
							      s->sandbox.socket_dirs_len < 16384
								      ? s->sandbox.socket_dirs_len
								      : 16384)};
	zw_chan_send_fds(s->broker.chan, ZW_ID_brk_setup, &m, fds, 2);
	/* With no copy left here, calls get ENOSYS when the broker dies instead of waiting for ever. */
	zw_close(&s->sandbox.listener);
}

static int face_open(struct sup *s)
{
	if (s->face == NULL)
		return 0;
	int r = s->face->open(s, s->loop, &s->model, s->face->arg);
	if (r < 0)
		return fail(s, 125, "the dashboard cannot use this terminal", zw_strerror(r),
			    "set TERM to what the terminal is, or start with --ui none");
	s->is_face_open = true;
	return 0;
}

/* Shown for the whole session and recorded with it. What is weaker than usual is said, too. */
static void level_note(struct sup *s)
{
	s->model.level = (unsigned)s->sandbox.level;
	if (s->sandbox.level < SB_LEVEL_FULL)
		sup_warn(
			s,
			"this sandbox is weaker (level %d): %s. zwatch check says how to have more",
			s->sandbox.level, sb_level_text(s->sandbox.level));
}

/* While bwrap builds the sandbox the other processor is free for what the agent waits for. */
static void on_bwrap_started(void *arg)
{
	struct sup *s = arg;
	int r = sup_helper_start(&s->broker, s->config->log_fd);

	if (r < 0) {
		fail_helper(s, "zwatch-broker", r);
		return;
	}
	sup_policy_send(s, &s->broker);
	s->is_prepared = true;
}

static void on_standins_wanted(void *arg, struct zw_buf *ret)
{
	cfg_standins_find(sup_catalogue(arg), ret);
}

/* What nobody inside waits for: a grant waits for the store by itself, output for pane and screen. A
 * session that cannot have one of them is over before it could ask for anything. */
static int start_rest(struct sup *s)
{
	int r = s->audit.chan == NULL ? audit_start(s) : 0;

	if (r < 0)
		return fail_helper(s, "zwatch-audit", r);
	if (s->face != NULL)
		sup_pane_start(s);
	sup_net_start(s);
	sup_why_start(s);
	sup_control_start(s);
	sup_limits_start(s);
	return face_open(s);
}

/* With history.required the agent runs only when the store is open. */
static int store_wait(struct sup *s)
{
	int r = audit_start(s);

	if (r < 0)
		return fail_helper(s, "zwatch-audit", r);
	if (sup_wait_for(s, &s->audit.is_ready, &s->audit, STORE_READY_MS))
		return 0;
	return fail(s, 6, "the history cannot be written, and the settings require it",
		    s->model.warning, "make it writable, or set history.required to false");
}

static int start(struct sup *s)
{
	struct sb_failure failure = {0};

	if (s->face != NULL) {
		s->face->pane_size(s->face->arg, &s->rows, &s->cols);
		s->config->plan->want_pty = true;
		s->config->plan->rows = (unsigned short)s->rows;
		s->config->plan->cols = (unsigned short)s->cols;
	}
	int r = sup_trust_start(s);
	if (r < 0)
		return fail(s, 125,
			    "no certificate authority can be made for network.dns.doh: filter",
			    zw_strerror(r), "look into zwatch.log beside the history");
	s->config->plan->meanwhile = on_bwrap_started;
	s->config->plan->meanwhile_arg = s;
	s->config->plan->standins = on_standins_wanted;
	if (sb_launch(s->config->plan, &s->sandbox, &failure) < 0)
		return fail_sandbox(s, &failure);
	s->has_sandbox = true;
	if (!s->is_prepared)
		return -1;
	level_note(s);
	broker_setup(s);
	sup_agent_start(s);
	if (!sup_wait_for(s, &s->broker.is_ready, &s->broker, BROKER_READY_MS))
		return fail(s, 125, "zwatch-broker did not get ready", s->model.warning,
			    "look into zwatch.log beside the history");
	if (s->config->is_required && store_wait(s) < 0)
		return -1;
	if (sb_go(&s->sandbox, &failure) < 0)
		return fail_sandbox(s, &failure);
	s->go_us = zw_now_us();
	sup_unsent_start(s);
	return start_rest(s);
}

/* The agent is over: what the helpers still have to say is taken, then the store is closed. */
static void finish(struct sup *s, bool has_run)
{
	bool never = false;

	sb_session_kill(&s->sandbox);
	sup_limits_fini(s);
	if (has_run && s->broker.chan != NULL)
		sup_wait_for(s, &never, &s->broker, LAST_EVENTS_MS);
	const char *how = !has_run ? "not started" : s->end_signal != 0 ? "stopped" : "exited";
	s->is_closing = true;
	s->result->is_cut_short = s->end_signal != 0;
	s->end_signal = 0;
	if (has_run)
		sup_review_make(s, &s->result->review);
	sup_asks_fini(s);
	sup_unsent_end(s);
	sup_noted_end(s);
	sup_uses_write(s);
	sup_helper_stop(&s->broker);
	/* Connections that are still open get their last row: it leaves when it has told them all. */
	if (s->proxy.chan != NULL) {
		zw_send(s->proxy.chan, px_end, .unused = 0);
		sup_wait_for(s, &never, &s->proxy, PROXY_END_MS);
	}
	sup_helper_stop(&s->proxy);
	sup_helper_stop(&s->resolver);
	sup_helper_stop(&s->pane);
	if (s->audit.chan != NULL) {
		zw_send(s->audit.chan, aud_close, .t_us = zw_now_us(),
			.exit_status = (uint32_t)s->result->exit_status, .how = zw_span(how));
		if (!sup_wait_for(s, &s->is_closed, &s->audit, AUDIT_CLOSE_MS))
			sup_warn(s, "the history store did not close in time");
	}
	sup_helper_stop(&s->audit);
}

static void fini(struct sup *s)
{
	sup_net_fini(s);
	sup_trust_fini(s);
	sup_ports_fini(s);
	sup_agent_fini(s);
	free(s->cast_path);
	sb_session_fini(&s->sandbox);
	sup_rules_fini(s);
	sup_allows_fini(s);
	sup_control_fini(s);
	sup_why_fini(s);
	sup_saved_fini(s);
	sup_known_fini(s);
	struct sup_helper *const all[] = {&s->audit, &s->broker, &s->pane, &s->proxy, &s->resolver};
	for (size_t i = 0; i < ZW_N_ELEMENTS(all); i++)
		sup_helper_fini(all[i]);
	for (size_t i = 0; i < ZW_N_ELEMENTS(s->signals); i++)
		zev_signal_free(s->signals[i]);
	zev_timer_free(s->patience);
	zev_loop_free(s->loop);
	mdl_session_fini(&s->model);
}

static void init(struct sup *s, const struct sup_config *config, const struct sup_face *face)
{
	s->config = config;
	s->face = face;
	s->loop = zev_loop_new();
	s->pty_fd = -1;
	s->started_us = zw_now_us();
	s->go_us = INT64_MAX;
	s->unsent_fds[0] = s->unsent_fds[1] = -1;
	TAILQ_INIT(&s->asks);
	TAILQ_INIT(&s->answers);
	TAILQ_INIT(&s->allows);
	LIST_INIT(&s->clients);
	cfg_saved_init(&s->saved);
	cfg_saved_init(&s->kept);
	zw_map_init(&s->known);
	s->saved_fd = s->control_fd = s->control_dir_fd = -1;
	if (config->saved != NULL) {
		s->saved = *config->saved;
		cfg_saved_init(config->saved);
	}
	TAILQ_INIT(&s->ports);
	TAILQ_INIT(&s->offers);
	sb_session_init(&s->sandbox);
	mdl_session_init(&s->model, config->home);
	mdl_set(&s->model.agent, zw_span(config->agent), 64);
	mdl_set_path(&s->model, &s->model.project, zw_span(config->project));
	s->model.mode = config->mode;
	s->model.is_dangerous = config->is_dangerous;
	s->model.is_private = config->is_private;
	s->model.started_ms = zw_mono_ms();
	for (size_t i = 0; i < config->n_rules; i++)
		if (config->rules[i].id > s->last_rule)
			s->last_rule = config->rules[i].id;
	/* Below it are the numbers of saved rules. */
	if (s->last_rule < CFG_RULE_FIRST)
		s->last_rule = CFG_RULE_FIRST;
	sup_saved_start(s);
	s->patience = zev_timer_new(s->loop, on_patience_over, s);
	sup_helper_init(&s->audit, ROLE_AUDIT, s->loop, &helper_ops, s);
	sup_helper_init(&s->broker, ROLE_BROKER, s->loop, &helper_ops, s);
	sup_helper_init(&s->pane, ROLE_PANE, s->loop, &helper_ops, s);
	sup_helper_init(&s->proxy, ROLE_PROXY, s->loop, &helper_ops, s);
	sup_helper_init(&s->resolver, ROLE_RESOLVER, s->loop, &helper_ops, s);
	/* libc loads some of its libraries when they are needed. An empty entry of LD_LIBRARY_PATH
	 * stands for the folder one is in, which must not be the agent's. */
	if (chdir("/") < 0)
		zw_fatal("no /");
	signals_start(s);
}

/* The loop also stops for reasons of the start; the session is over when agent or zwatch must end. */
static void run(struct sup *s)
{
	while (s->end_signal == 0) {
		if (s->is_agent_over &&
		    (s->is_pane_over || s->pane.chan == NULL || !zev_timer_is_running(s->patience)))
			break;
		if (zev_run(s->loop) < 0)
			break;
	}
	zev_timer_stop(s->patience);
	s->result->exit_status = s->end_signal != 0 ? 128 + s->end_signal : s->agent_status;
}

int sup_run(const struct sup_config *config, const struct sup_face *face, struct sup_result *ret)
{
	struct sup s = {0};

	*ret = (struct sup_result){.what = zw_xstrdup(""),
				   .why = zw_xstrdup(""),
				   .fix = zw_xstrdup(""),
				   .warning = zw_xstrdup(""),
				   .cast_path = zw_xstrdup("")};
	s.result = ret;
	init(&s, config, face);
	bool has_run = start(&s) == 0;
	if (has_run)
		run(&s);
	finish(&s, has_run);
	if (s.is_face_open)
		face->close(face->arg);
	s.is_face_open = false;
	ret->session = s.model.number;
	ret->length_ms = zw_mono_ms() - s.model.started_ms;
	ret->n_allow = s.model.n_allow;
	ret->n_deny = s.model.n_deny;
	ret->n_ask = s.model.n_ask;
	ret->n_miss = s.model.n_miss;
	for (size_t i = 0; i < s.saved.n; i++)
		ret->n_kept +=
			ret->session != 0 && s.saved.list[i].session == (int64_t)ret->session;
	mdl_set(&ret->warning, zw_span(s.model.warning), 1024);
	mdl_set(&ret->cast_path, zw_span(s.cast_path), 4096);
	fini(&s);
	return ret->exit_status;
}

void sup_result_fini(struct sup_result *r)
{
	free(r->what);
	free(r->why);
	free(r->fix);
	free(r->warning);
	free(r->cast_path);
	sup_review_fini(&r->review);
}
