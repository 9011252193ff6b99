/* SPDX-License-Identifier: MIT
 * `zwatch help TOPIC`: the text of the man pages, which is built in. */
#include <signal.h>

#include "data_doc.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/main/cmd.h"

/* "config" and "zwatch-config" are the same page. */
static int topic_find(const char *word)
{
	zw_autofree char *full = zw_xasprintf("zwatch-%s", word);

	for (size_t i = 0; i < ZW_N_ELEMENTS(zw_data_docs); i++)
		if (strcmp(zw_data_docs[i].name, word) == 0 ||
		    strcmp(zw_data_docs[i].name, full) == 0)
			return (int)i;
	return -1;
}

/* Pages through $PAGER, like man(1). Returns false when there is none to be started. */
static bool page(const unsigned char *text, size_t len)
{
	const char *pager = getenv("PAGER");
	FILE *out;

	if (!isatty(STDOUT_FILENO))
		return false;
	signal(SIGPIPE, SIG_IGN); /* a pager that is left early is no failure */
	out = popen(pager != NULL && *pager != '\0' ? pager : "less -R", "we");
	if (out == NULL)
		return false;
	fwrite(text, 1, len, out);
	return pclose(out) == 0;
}

static int no_topic(const char *word)
{
	const char *names[ZW_N_ELEMENTS(zw_data_docs) + 1] = {NULL};
	const char *near;

	for (size_t i = 0; i < ZW_N_ELEMENTS(zw_data_docs); i++)
		names[i] = zw_starts_with(zw_data_docs[i].name, "zwatch-")
				   ? zw_data_docs[i].name + strlen("zwatch-")
				   : zw_data_docs[i].name;
	near = zw_nearest(word, names);
	dprintf(2, "zwatch: there is no help on '%s'.", word);
	if (near != NULL)
		dprintf(2, " Did you mean '%s'?", near);
	dprintf(2, "\n        topics:");
	for (size_t i = 0; names[i] != NULL; i++)
		dprintf(2, " %s", names[i]);
	dprintf(2, "\n");
	return ZW_EXIT_USAGE;
}

int cmd_help(const struct cli *cli)
{
	int i = topic_find(cli->rest[0]);

	if (i < 0)
		return no_topic(cli->rest[0]);
	if (page(zw_data_docs[i].bytes, zw_data_docs[i].len))
		return ZW_EXIT_OK;
	return zw_write_all(STDOUT_FILENO, zw_data_docs[i].bytes, zw_data_docs[i].len) == 0
		       ? ZW_EXIT_OK
		       : ZW_EXIT_INTERNAL;
}
