/* SPDX-License-Identifier: MIT */
#include "tests/support/ui_model.h"

#include <string.h>

#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/base/utf8.h"
#include "src/base/words.h"

#define START_US INT64_C(1796042400000000) /* 2026-11-30 12:40:00 UTC */

static void set(char **field, const char *text)
{
	mdl_set(field, zw_span(text), 4096);
}

/* @argv and @chain with bars where the kernel has NUL. */
static void proc(const struct mdl_session *s, struct mdl_proc *p, uint32_t pid, const char *exe,
		 const char *argv, const char *chain)
{
	char a[256], c[256];
	size_t a_len = zw_strlcpy(a, argv, sizeof(a)), c_len = zw_strlcpy(c, chain, sizeof(c));

	for (char *x = a; *x != '\0'; x++)
		*x = *x == '|' ? '\0' : *x;
	for (size_t i = 0; i < c_len; i++)
		c[i] = c[i] == '|' ? '\0' : c[i];
	for (size_t i = 0; i < a_len; i++)
		a[i] = argv[i] == '|' ? '\0' : argv[i];
	mdl_proc_set(s, p, pid, zw_span(exe), zw_span_n(a, a_len), zw_span("/home/u/src/shop"),
		     zw_span_n(c, c_len));
}

struct conn {
	const char *host;
	uint16_t port;
	unsigned did, by;
	uint32_t rule, pid;
	const char *exe;
	uint64_t up_b, down_b;
	int opened_s, closed_s; /* 0 = live */
	bool is_new;
};

static void add_conns(struct mdl_session *s)
{
	/* oldest first */
	static const struct conn conns[] = {
		{"localhost", 5432, ZW_DID_FAIL, ZW_BY_NATIVE, 0, 4720, "/usr/bin/node", 0, 0, 1, 1,
		 false},
		{"registry.pkgs.test", 443, ZW_DID_ALLOW, ZW_BY_RULE, 7, 4718, "/usr/bin/node",
		 2867, 1992294, 2, 9, false},
		{"api.anthropic.com", 443, ZW_DID_ALLOW, ZW_BY_RULE, 1, 4502, "/usr/bin/claude",
		 9830, 72704, 3, 12, false},
		{"registry.pkgs.test", 443, ZW_DID_ALLOW, ZW_BY_RULE, 7, 4719, "/usr/bin/node",
		 3174, 2306867, 5, 14, false},
		{"sentry.example.net", 443, ZW_DID_DENY, ZW_BY_RULE, 9, 4720, "/usr/bin/node", 0, 0,
		 20, 20, true},
		{"codeload.github.com", 443, ZW_DID_ALLOW, ZW_BY_USER, 0, 4733, "/usr/bin/git",
		 2048, 1153433, 25, 0, true},
		{"registry.pkgs.test", 443, ZW_DID_ALLOW, ZW_BY_RULE, 7, 4720, "/usr/bin/node",
		 1228, 860160, 31, 0, false},
		{"api.anthropic.com", 443, ZW_DID_ALLOW, ZW_BY_RULE, 1, 4502, "/usr/bin/claude",
		 90214, 421888, 40, 0, false},
	};

	for (size_t i = 0; i < ZW_N_ELEMENTS(conns); i++) {
		bool is_new;
		struct mdl_conn *c = mdl_conn_get(s, i + 1, &is_new);

		set(&c->host, conns[i].host);
		c->port = conns[i].port;
		c->did = conns[i].did;
		c->by = conns[i].by;
		c->rule = conns[i].rule;
		c->up_b = conns[i].up_b;
		c->down_b = conns[i].down_b;
		c->opened_us = START_US + conns[i].opened_s * INT64_C(1000000);
		c->closed_us = conns[i].closed_s != 0
				       ? START_US + conns[i].closed_s * INT64_C(1000000)
				       : 0;
		c->is_new = conns[i].is_new;
		c->n_times = 1;
		for (int t = 0; t < 20 && conns[i].closed_s == 0; t++)
			mdl_rate_add(&c->rate, UI_MODEL_NOW_MS / 1000 - 30 + t, 40,
				     (uint64_t)(t * 3000));
		proc(s, &c->proc, conns[i].pid, conns[i].exe, "prog|--flag",
		     "4502 claude|4688 bash");
	}
}

struct sock {
	const char *target;
	unsigned did, by;
	enum pol_risk risk;
	uint32_t rule, pid, n_times;
	const char *exe;
	int t_s;
};

static void add_socks(struct mdl_session *s)
{
	static const struct sock socks[] = {
		{"/tmp/esbuild.sock", ZW_DID_AUTO, ZW_BY_INSIDE, POL_RISK_HARMLESS, 0, 4720, 1,
		 "/usr/bin/node", 3},
		{"/tmp/tsx-1000/4711.pipe", ZW_DID_AUTO, ZW_BY_INSIDE, POL_RISK_HARMLESS, 0, 4711,
		 1, "/usr/bin/node", 6},
		{"/run/postgresql/.s.PGSQL.5432", ZW_DID_ALLOW, ZW_BY_RULE, POL_RISK_LOW, 7, 4740,
		 3, "/usr/bin/psql", 9},
		{"/tmp/nx/d.sock", ZW_DID_AUTO, ZW_BY_INSIDE, POL_RISK_HARMLESS, 0, 4720, 31,
		 "/usr/bin/node", 13},
		{"/home/u/src/shop/node_modules/.cache/vite-4720.sock", ZW_DID_AUTO, ZW_BY_INSIDE,
		 POL_RISK_HARMLESS, 0, 4720, 1, "/usr/bin/node", 18},
		{"/run/user/1000/ssh-agent.sock", ZW_DID_DENY, ZW_BY_USER, POL_RISK_HIGH, 0, 4733,
		 1, "/usr/bin/git", 51},
	};

	for (size_t i = 0; i < ZW_N_ELEMENTS(socks); i++) {
		bool is_new;
		struct mdl_sock *k = mdl_sock_get(s, zw_span(socks[i].target), socks[i].pid,
						  socks[i].did, ZW_OP_CONNECT, &is_new);

		k->id = i + 1;
		k->by = socks[i].by;
		k->risk = socks[i].risk;
		k->rule = socks[i].rule;
		k->n_times = socks[i].n_times;
		k->t_us = START_US + socks[i].t_s * INT64_C(1000000);
		proc(s, &k->proc, socks[i].pid, socks[i].exe, "prog|--flag",
		     "4502 claude|4688 bash");
	}
}

static void add_tasks(struct mdl_session *s)
{
	static const struct mdl_task tasks[] = {
		{4502, 2, 0, 'S', 31, 9120, 186u << 20, 100, "claude", "claude"},
		{4688, 4502, 1, 'S', 0, 40, 4u << 20, 200, "bash", "bash -c npm test"},
		{4720, 4688, 2, 'R', 984, 61200, 412u << 20, 300, "node",
		 "node node_modules/.bin/vitest run"},
		{4733, 4502, 1, 'S', 4, 310, 18u << 20, 400, "git", "git fetch --depth 1 origin"},
		{4790, 4502, 1, 'T', 0, 12, 9u << 20, 500, "esbuild", "esbuild --service --ping"},
	};

	s->n_tasks = ZW_N_ELEMENTS(tasks);
	s->tasks = zw_xcalloc(s->n_tasks, sizeof(*s->tasks));
	memcpy(s->tasks, tasks, sizeof(tasks));
}

void ui_model_fill(struct mdl_session *s)
{
	mdl_session_init(s, "/home/u");
	set(&s->agent, "claude");
	set(&s->project, "~/src/shop");
	s->number = 42;
	s->mode = POL_MODE_GUARD;
	s->started_ms = UI_MODEL_NOW_MS - 761000;
	s->n_allow = 31;
	s->n_deny = 3;
	s->n_auto = 14;
	s->n_live = 3;
	s->up_b = 94208;
	s->down_b = 4299161;
	for (int i = 0; i < 40; i++)
		mdl_rate_add(&s->rate, UI_MODEL_NOW_MS / 1000 - 40 + i, 900,
			     i % 7 == 3 ? 0 : (uint64_t)(i * i * 60));
	add_conns(s);
	add_socks(s);
	add_tasks(s);
}

static struct mdl_ask *ask(struct mdl_session *s, uint64_t id, enum pol_kind kind,
			   enum pol_risk risk, int held_s, int hold_s)
{
	struct mdl_ask *a = mdl_ask_new(s, id);

	a->kind = kind;
	a->risk = risk;
	a->since_ms = a->clock_ms = UI_MODEL_NOW_MS - held_s * 1000;
	a->left_ms = hold_s * 1000;
	return a;
}

struct mdl_ask *ui_model_ask_docker(struct mdl_session *s, uint64_t id)
{
	struct mdl_ask *a = ask(s, id, POL_KIND_SOCKET, POL_RISK_CRITICAL, 38, 600);

	set(&a->class_name, "docker");
	set(&a->title, "docker.sock");
	set(&a->wants, "wants to talk to the Docker daemon");
	set(&a->consequence, "the agent gets root on this machine. It can start a container that "
			     "mounts your whole disk, "
			     "read or change any file and leave the sandbox.");
	set(&a->safer, "run it yourself in another terminal, and allow the agent localhost:5432");
	set(&a->word, "docker");
	set(&a->target, "/run/docker.sock");
	set(&a->asked, "/var/run/docker.sock");
	set(&a->owner, "owner root:docker, mode 0660");
	set(&a->answers, "dockerd(1187), running as root");
	set(&a->before, "denied 9 times in session 39");
	proc(s, &a->proc, 4711, "/usr/bin/docker", "docker|compose|up|-d|db",
	     "4502 claude|4688 bash");
	return a;
}

struct mdl_ask *ui_model_ask_ssh(struct mdl_session *s, uint64_t id)
{
	struct mdl_ask *a = ask(s, id, POL_KIND_SOCKET, POL_RISK_HIGH, 12, 600);

	set(&a->class_name, "ssh-agent");
	set(&a->title, "ssh-agent");
	set(&a->wants, "wants to use your SSH keys");
	set(&a->consequence, "it can log in as you wherever these keys work. It cannot copy the "
			     "keys. It does not have to "
			     "say which server.");
	set(&a->safer, "push it yourself, or load a key with ssh-add -c so that each use asks you");
	set(&a->word, "ssh");
	set(&a->target, "/run/user/1000/ssh-agent.sock");
	set(&a->owner, "owner u:u, mode 0600");
	set(&a->answers, "ssh-agent(2210), running as you");
	proc(s, &a->proc, 4735, "/usr/bin/ssh", "ssh|git@gitlab.example.com",
	     "4502 claude|4730 bash|4733 git");
	return a;
}

struct mdl_ask *ui_model_ask_site(struct mdl_session *s, uint64_t id)
{
	struct mdl_ask *a = ask(s, id, POL_KIND_SITE, POL_RISK_LOW, 9, 120);

	set(&a->title, "files.pythonhosted.org:443");
	set(&a->wants, "wants files.pythonhosted.org:443");
	set(&a->consequence, "it can send data there and run code it gets back.");
	set(&a->target, "files.pythonhosted.org:443");
	set(&a->before, "first time in this session");
	a->n_waiting = 6;
	proc(s, &a->proc, 4760, "/usr/bin/pip", "pip|install|-r|requirements.txt",
	     "4502 claude|4755 bash");
	return a;
}

static const char *const agent_text[] = {
	"",
	"> add a database to the dev setup and make the tests pass",
	"",
	"* I will start Postgres with docker compose, then run the test suite.",
	"",
	"* Bash(npm ci)",
	"    added 412 packages in 9s",
	"",
	"* Bash(docker compose up -d db)",
	"    Running...",
	"",
	"  Starting the database (38s, esc to interrupt)",
	"",
	"----------------------------------------------------------------------",
	"> while you are at it, rename the seed script",
	"----------------------------------------------------------------------",
};

void ui_model_grid(struct pane_grid *grid, int rows, int cols)
{
	memset(grid, 0, sizeof(*grid));
	grid->is_awaited = 1; /* frame_done is counted */
	grid->rows = (uint32_t)rows;
	grid->cols = (uint32_t)cols;
	int first =
		rows < (int)ZW_N_ELEMENTS(agent_text) ? (int)ZW_N_ELEMENTS(agent_text) - rows : 0;
	for (int row = 0; row < rows; row++) {
		const char *text =
			row + first < (int)ZW_N_ELEMENTS(agent_text) ? agent_text[row + first] : "";

		grid->dirty[row] = 1;
		for (int col = 0; col < cols; col++) {
			struct pane_cell *cell = &grid->cell[row][col];

			cell->width = 1;
			cell->cp[0] = *text != '\0' ? (uint32_t)(uint8_t)*text++ : 0;
			if (cell->cp[0] == '*')
				cell->fg = PANE_COLOUR_RGB | 0xd77757;
		}
	}
}
