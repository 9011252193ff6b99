/* SPDX-License-Identifier: MIT
 * `zwatch why`, inside the sandbox: what was refused last, and what can be done about it. */
#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include "sandbox/netns.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/config/json.h"
#include "src/main/cmd.h"

#define TEXT_MAX_B 65536

static int ask(char **ret, size_t *ret_len)
{
	static const char name[] = SB_NET_WHY_NAME;
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	zw_autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	memcpy(sa.sun_path + 1, name, sizeof(name) - 1);
	if (connect(fd, (const struct sockaddr *)&sa,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + sizeof(name))) < 0)
		return -errno;
	return zw_read_fd(fd, TEXT_MAX_B, ret, ret_len);
}

static void print_time(const struct cfg_json *r)
{
	const struct cfg_json *t = cfg_json_get(r, "time_us");
	time_t when = t != NULL ? (time_t)(t->number / 1000000) : 0;
	char text[32] = "";
	struct tm tm;

	if (localtime_r(&when, &tm) != NULL)
		strftime(text, sizeof(text), "%H:%M:%S", &tm);
	dprintf(1, "  %s", text);
}

static void print_by(const struct cfg_json *r)
{
	const char *by = cfg_json_text(r, "by", "");
	const struct cfg_json *rule = cfg_json_get(r, "rule");

	if (strcmp(by, "user") == 0)
		dprintf(1, "  by the user");
	else if (rule != NULL)
		dprintf(1, "  by rule %lld", (long long)rule->number);
	else
		dprintf(1, "  by %s", by);
}

static void print_line(const char *label, const struct cfg_json *r, const char *key)
{
	const char *text = cfg_json_text(r, key, "");

	if (*text != '\0')
		dprintf(1, "%-8s %s\n", label, text);
}

static void print_refusal(const struct cfg_json *r)
{
	const struct cfg_json *event = cfg_json_get(r, "event"), *n = cfg_json_get(r, "count");

	dprintf(1, "refused  %s", cfg_json_text(r, "target", "?"));
	print_time(r);
	print_by(r);
	if (event != NULL)
		dprintf(1, "  event %s", event->str);
	if (n != NULL && n->number > 1)
		dprintf(1, "  %lld times", (long long)n->number);
	dprintf(1, "\n");
	print_line("reason", r, "reason");
	print_line("note", r, "note");
	print_line("retry", r, "retry");
}

int cmd_why(const struct cli *cli)
{
	struct cfg_json_doc *doc = NULL;
	struct cfg_json_error error;
	zw_autofree char *text = NULL;
	size_t len = 0;
	int r = ask(&text, &len);

	if (r < 0) {
		dprintf(2,
			"zwatch: zwatch why is for inside the sandbox, and nobody answers here: "
			"%s\n",
			zw_strerror(r));
		return ZW_EXIT_USAGE;
	}
	if (cfg_json_parse(text, len, &doc, &error) < 0) {
		dprintf(2, "zwatch: what answered is not zwatch: %s\n", error.text);
		return ZW_EXIT_INTERNAL;
	}
	const struct cfg_json *list = cfg_json_get(cfg_json_root(doc), "refused");
	const struct cfg_json *last = list != NULL ? list->child : NULL;
	if (cli_has(cli, CLI_OPT_JSON))
		zw_write_all(1, text, len);
	else if (last != NULL)
		print_refusal(last);
	else
		dprintf(1, "nothing was refused\n");
	cfg_json_free(doc);
	return last != NULL ? ZW_EXIT_OK : ZW_EXIT_NOTHING;
}
