/* SPDX-License-Identifier: MIT
 * `zwatch db`, `history rm` and `log rm`: words are read here, the store is written by zwatch-audit. */
#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/config/config.h"
#include "src/main/about.h"
#include "src/main/cmd.h"
#include "src/super/helper.h"

#define ARGS_MAX   260
#define FIXED_ARGS 4

/* Arguments for zwatch-audit; numbers live in `text`. */
struct args {
	char *argv[ARGS_MAX + 1];
	int n;
	char text[4][32];
	int n_text;
};

static void add(struct args *a, const char *word)
{
	if (a->n < ARGS_MAX)
		a->argv[a->n] = (char *)(uintptr_t)word;
	a->n++; /* more than there is room for: run() refuses */
}

static void add_number(struct args *a, int64_t n)
{
	char *text = a->text[a->n_text++];

	snprintf(text, sizeof(a->text[0]), "%lld", (long long)n);
	add(a, text);
}

/* In the place of this program: its status and its terminal are ours. */
static int run(struct start *st, struct args *a, const char *word, int n, char **rest)
{
	zw_autofree char *program = sup_program_path("zwatch-audit");
	zw_autofree char *store = cmd_store_path(st);
	struct args full = {.n = 0};

	if (a->n > ARGS_MAX || n > ARGS_MAX - FIXED_ARGS - a->n) {
		dprintf(2, "zwatch: too many at once: at most %d; nothing was done\n",
			ARGS_MAX - FIXED_ARGS - 1);
		return ZW_EXIT_USAGE;
	}
	add(&full, "zwatch-audit");
	add(&full, "db");
	add(&full, store);
	add(&full, word);
	for (int i = 0; i < a->n; i++)
		add(&full, a->argv[i]);
	for (int i = 0; i < n; i++)
		add(&full, rest[i]);
	execv(program, full.argv);
	dprintf(2, "zwatch: %s cannot be run: %s\n        fix: install zwatch again\n", program,
		zw_strerror(-errno));
	return ZW_EXIT_INTERNAL;
}

static const char *consent(const struct cli *cli)
{
	if (cli_has(cli, CLI_OPT_DRY_RUN))
		return "dry";
	return cli_has(cli, CLI_OPT_YES) ? "yes" : "ask";
}

/* A session's number; what else stands there is said to be wrong. */
static bool is_number(const char *word, const char *what)
{
	uint64_t n = 0;

	if (zw_parse_u64(word, strlen(word), INT32_MAX, &n) == 0 && n > 0)
		return true;
	dprintf(2, "zwatch: '%s' is no number of %s\n", word, what);
	return false;
}

static int db_verify(struct start *st, const struct cli *cli)
{
	const char *head = cli_get(cli, CLI_OPT_HEAD);
	struct args a = {.n = 0};

	if (cli->n_rest > 1 && !is_number(cli->rest[1], "a session"))
		return ZW_EXIT_USAGE;
	if (head != NULL && cli->n_rest < 2) {
		dprintf(2,
			"zwatch: a head belongs to a session: zwatch db verify NUMBER --head %s\n",
			head);
		return ZW_EXIT_USAGE;
	}
	if (cli->n_rest > 1)
		add(&a, cli->rest[1]);
	if (head != NULL)
		add(&a, head);
	return run(st, &a, "verify", 0, NULL);
}

static int db_prune(struct start *st, const struct cli *cli)
{
	const char *keep = cli_get(cli, CLI_OPT_KEEP), *size = cli_get(cli, CLI_OPT_MAX_SIZE);
	int64_t keep_ms = st->cfg->history_keep_ms, max_b = st->cfg->history_max_b;
	struct args a = {.n = 0};

	if (keep != NULL && cfg_parse_duration(keep, &keep_ms) < 0) {
		dprintf(2, "zwatch: '%s' is no length of time: 30d, 12h\n", keep);
		return ZW_EXIT_USAGE;
	}
	if (size != NULL && cfg_parse_size(size, &max_b) < 0) {
		dprintf(2, "zwatch: '%s' is no size: 200M, 1G\n", size);
		return ZW_EXIT_USAGE;
	}
	add(&a, consent(cli));
	add_number(&a, keep_ms);
	add_number(&a, max_b);
	return run(st, &a, "prune", 0, NULL);
}

static int db_backup(struct start *st, const struct cli *cli)
{
	struct args a = {.n = 0};

	if (cli->n_rest != 2) {
		dprintf(2, "zwatch: a backup needs a file: zwatch db backup FILE\n");
		return ZW_EXIT_USAGE;
	}
	add(&a, cli->rest[1]);
	return run(st, &a, "backup", 0, NULL);
}

void cmd_db_prune_behind(struct start *st)
{
	struct args a = {.n = 0};
	pid_t pid = fork();

	if (pid > 0)
		waitpid(pid, NULL, 0);
	if (pid != 0)
		return;
	/* Twice, so that it is nobody's child and keeps no terminal open. */
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (setsid() < 0 || fork() != 0 || null_fd < 0)
		_exit(0);
	for (int fd = 0; fd <= 2; fd++)
		if (dup2(null_fd, fd) < 0)
			_exit(0);
	add(&a, "yes");
	add_number(&a, st->cfg->history_keep_ms);
	add_number(&a, st->cfg->history_max_b);
	_exit(run(st, &a, "prune", 0, NULL));
}

int cmd_db(struct start *st, const struct cli *cli)
{
	static const char *const words[] = {"info",  "check",  "verify", "vacuum",
					    "prune", "backup", NULL};
	const char *word = cli->n_rest > 0 ? cli->rest[0] : "info";
	const char *near;
	struct args a = {.n = 0};

	if (strcmp(word, "verify") == 0)
		return db_verify(st, cli);
	if (strcmp(word, "prune") == 0)
		return db_prune(st, cli);
	if (strcmp(word, "backup") == 0)
		return db_backup(st, cli);
	if (strcmp(word, "info") == 0 && cli_has(cli, CLI_OPT_JSON))
		add(&a, "json");
	for (size_t i = 0; words[i] != NULL; i++)
		if (strcmp(words[i], word) == 0)
			return run(st, &a, word, 0, NULL);
	near = zw_nearest(word, words);
	dprintf(2, "zwatch: '%s' is nothing that zwatch db does.", word);
	dprintf(2, near != NULL ? " Did you mean '%s'?\n" : "\n", near);
	return ZW_EXIT_USAGE;
}

int cmd_history_rm(struct start *st, const struct cli *cli)
{
	struct args a = {.n = 0};

	if (cli->n_rest < 2) {
		dprintf(2, "zwatch: which sessions? zwatch history rm NUMBER...\n");
		return ZW_EXIT_USAGE;
	}
	for (int i = 1; i < cli->n_rest; i++)
		if (!is_number(cli->rest[i], "a session"))
			return ZW_EXIT_USAGE;
	add(&a, consent(cli));
	return run(st, &a, "rm", cli->n_rest - 1, cli->rest + 1);
}

/* `history note ID TEXT` and `history tag ID TAG...`: in the place of what was there. */
int cmd_history_words(struct start *st, const struct cli *cli, bool is_note)
{
	struct args a = {.n = 0};
	static struct about about;
	static char text[ZW_MASK_MAX];

	if (cli->n_rest < 2 || !is_number(cli->rest[1], "a session"))
		return ZW_EXIT_USAGE;
	add(&a, cli->rest[1]);
	if (is_note) {
		const char *note = cli->n_rest > 2 ? cli->rest[2] : "";

		if (cli->n_rest > 3 || strlen(note) > ABOUT_NOTE_MAX) {
			dprintf(2, "zwatch: a note is one text of at most %d bytes, in quotes\n",
				ABOUT_NOTE_MAX);
			return ZW_EXIT_USAGE;
		}
		int status = about_read(cli, st->cfg, &about); /* what to mask */
		if (status != 0)
			return status;
		zw_mask(text, sizeof(text), note, strlen(note));
		add(&a, text);
		return run(st, &a, "note", 0, NULL);
	}
	/* One argument may hold several, as a line that was typed does. */
	size_t used = 0;
	for (int i = 2; i < cli->n_rest && used < sizeof(text); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s ", cli->rest[i]);
	char *rest = used < sizeof(text) ? text : NULL, *tag;
	for (int n = 0; (tag = strsep(&rest, " ")) != NULL;) {
		if (*tag == '\0')
			continue;
		if (n++ == ABOUT_TAGS_MAX || !about_is_tag(tag)) {
			dprintf(2,
				"zwatch: '%s': at most %d tags, of at most %d bytes each, without"
				" brackets, quotes, * and ?\n",
				tag, ABOUT_TAGS_MAX, ABOUT_TAG_MAX);
			return ZW_EXIT_USAGE;
		}
		add(&a, tag);
	}
	return run(st, &a, "tags", 0, NULL);
}

int cmd_log_rm(struct start *st, const struct cli *cli)
{
	struct args a = {.n = 0};

	if (cli->n_rest != 3 || !is_number(cli->rest[1], "a session") ||
	    !is_number(cli->rest[2], "an event")) {
		dprintf(2, "zwatch: one event of one session: zwatch log rm SESSION EVENT\n");
		return ZW_EXIT_USAGE;
	}
	add(&a, consent(cli));
	return run(st, &a, "rm-event", 2, cli->rest + 1);
}
