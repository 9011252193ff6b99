/* SPDX-License-Identifier: MIT
 * What the agent did with its terminal besides printing, for the record. A program may do it without
 * end: the first of a kind is written at once, those behind it as a count. */
#include "src/super/super_i.h"

#include "src/base/io.h"
#include "src/base/mem.h"

#define BETWEEN_MS  10000 /* rows of one kind */
#define TEXT_MAX_B  200	  /* of a notice, as the agent wrote it */
#define PLACE_MAX_B 160	  /* of a link: its scheme and host */

static const char *const words[SUP_NOTED_MAX] = {
	[SUP_NOTED_CLIP_READ] = "the agent wanted to read the clipboard; refused",
	[SUP_NOTED_CLIP_SET] = "the agent wanted to set the clipboard; refused",
	[SUP_NOTED_CLIP_DONE] = "the agent set the clipboard",
	[SUP_NOTED_NOTICE] = "notice of the agent",
	[SUP_NOTED_LINK] = "link of the agent's output copied by the user",
};

static void write_row(struct sup *s, enum sup_noted_kind kind)
{
	struct sup_noted *n = &s->noted[kind];
	char times[32] = "";

	if (n->n > 1)
		snprintf(times, sizeof(times), " (%u times)", n->n);
	zw_autofree char *line =
		zw_xasprintf("%s%s%s%s", words[kind], times, n->text != NULL ? ": " : "",
			     n->text != NULL ? n->text : "");
	n->n = 0;
	n->ms = zw_mono_ms();
	free(zw_steal(&n->text));
	sup_record(s, "terminal", line);
}

void sup_noted(struct sup *s, enum sup_noted_kind kind, unsigned n_times, struct zw_span text)
{
	struct sup_noted *n = &s->noted[kind];

	n->n = n->n < UINT32_MAX - n_times ? n->n + n_times : UINT32_MAX;
	if (text.len > 0)
		mdl_set(&n->text, text, TEXT_MAX_B);
	if (n->ms == 0 || zw_mono_ms() - n->ms >= BETWEEN_MS)
		write_row(s, kind);
}

void sup_noted_link(struct sup *s, const char *uri)
{
	const char *at = strstr(uri, "://");
	size_t scheme = strcspn(uri, ":");

	if (at == NULL || (size_t)(at - uri) != scheme) {
		sup_noted(s, SUP_NOTED_LINK, 1, zw_span_n(uri, scheme < 32 ? scheme : 32));
		return;
	}
	/* No path, no query, no user: where it leads is enough, and all that is kept of any address. */
	const char *host = at + 3;
	size_t len = strcspn(host, "/?#");
	const char *user = memrchr(host, '@', len);
	if (user != NULL) {
		len -= (size_t)(user + 1 - host);
		host = user + 1;
	}
	zw_autofree char *place = zw_xasprintf("%.*s%.*s", (int)(scheme < 32 ? scheme + 3 : 0), uri,
					       (int)(len < PLACE_MAX_B ? len : PLACE_MAX_B), host);
	sup_noted(s, SUP_NOTED_LINK, 1, zw_span(place));
}

void sup_noted_end(struct sup *s)
{
	for (int i = 0; i < SUP_NOTED_MAX; i++) {
		if (s->noted[i].n > 0)
			write_row(s, (enum sup_noted_kind)i);
		free(zw_steal(&s->noted[i].text));
	}
}
