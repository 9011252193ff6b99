/* SPDX-License-Identifier: MIT */
#include "src/main/about.h"

#include <stdio.h>

#include "src/base/mem.h"
#include "src/main/cmd.h"

bool about_is_tag(const char *word)
{
	size_t n = strlen(word);

	for (const char *c = word; *c != '\0'; c++)
		if ((unsigned char)*c <= ' ' || *c == 0x7f || strchr("*?\"()", *c) != NULL)
			return false;
	return n > 0 && n <= ABOUT_TAG_MAX;
}

static int text_read(const struct cli *cli, enum cli_option option, size_t max, struct zw_span *ret)
{
	const char *text = cli_get(cli, option);

	*ret = zw_span(text != NULL ? text : "");
	if (ret->len <= max)
		return 0;
	dprintf(2, "zwatch: --%s is longer than %zu bytes\n", cli_option_word(option), max);
	return ZW_EXIT_USAGE;
}

static int tags_read(const struct cli *cli, struct about *ret)
{
	size_t n = 0, used = 0;

	for (size_t i = 0; i < cli->n_values; i++) {
		const char *tag = cli->values[i].value;

		if (cli->values[i].option != CLI_OPT_TAG)
			continue;
		if (!about_is_tag(tag) || n++ == ABOUT_TAGS_MAX) {
			dprintf(2,
				"zwatch: --tag '%s': at most %d tags, of at most %d bytes each, "
				"without"
				" blanks, brackets, quotes, * and ?\n",
				tag, ABOUT_TAGS_MAX, ABOUT_TAG_MAX);
			return ZW_EXIT_USAGE;
		}
		memcpy(ret->tags_text + used, tag, strlen(tag) + 1);
		used += strlen(tag) + 1;
	}
	ret->tags = zw_span_n(ret->tags_text, used);
	return 0;
}

/* What the settings' own checks have let through has room. */
static void redact_add(struct about *ret, char kind, const struct cfg_items *items)
{
	for (size_t i = 0; i < items->n; i++) {
		size_t n = strlen(items->list[i].text) + 1, used = ret->redact.len;

		if (used + 1 + n > sizeof(ret->redact_text))
			return;
		ret->redact_text[used] = kind;
		memcpy(ret->redact_text + used + 1, items->list[i].text, n);
		ret->redact = zw_span_n(ret->redact_text, used + 1 + n);
	}
}

int about_read(const struct cli *cli, const struct cfg *cfg, struct about *ret)
{
	int status = text_read(cli, CLI_OPT_NAME, ABOUT_NAME_MAX, &ret->name);

	if (status == 0)
		status = text_read(cli, CLI_OPT_NOTE, ABOUT_NOTE_MAX, &ret->note);
	if (status == 0)
		status = tags_read(cli, ret);
	ret->redact = zw_span_n(ret->redact_text, 0);
	redact_add(ret, 'f', &cfg->redact_flags);
	redact_add(ret, 'p', &cfg->redact_patterns);
	zw_mask_rules(ret->redact.p, ret->redact.len);
	return status;
}
