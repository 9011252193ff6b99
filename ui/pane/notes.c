/* SPDX-License-Identifier: MIT */
#include "ui/pane/notes.h"

#include "src/base/mem.h"
#include "src/base/words.h"

#define CLIP_MAX_B 49152 /* as pane_clip has it: all that an OSC can carry */

static void on_title(void *arg, const char *title)
{
	struct pane_notes *n = arg;

	free(n->title);
	n->title = zw_xstrdup(title);
}

static void on_bell(void *arg)
{
	struct pane_notes *n = arg;

	n->n_bells++;
}

static void on_note(void *arg, const char *title, const char *text)
{
	struct pane_notes *n = arg;

	if (n->n_texts == PANE_NOTES_MAX) {
		n->n_more++;
		return;
	}
	n->text[n->n_texts++] =
		*title != '\0' ? zw_xasprintf("%s: %s", title, text) : zw_xstrdup(text);
}

static void on_progress(void *arg, unsigned state, unsigned percent)
{
	struct pane_notes *n = arg;

	n->has_progress = true;
	n->progress = state << 8 | percent;
}

static void on_clipboard(void *arg, bool is_read, size_t len_b, struct zw_span text)
{
	struct pane_notes *n = arg;

	if (text.p != NULL && text.len <= CLIP_MAX_B) {
		free(n->clip);
		n->clip = zw_xmemdup0(text.p, text.len);
		n->clip_len_b = text.len;
		return;
	}
	if (is_read) {
		n->n_clip_reads++;
		return;
	}
	n->n_clip_sets++;
	n->clipboard_len_b = len_b;
}

const struct pane_vt_events pane_notes_events = {
	.on_title = on_title,
	.on_bell = on_bell,
	.on_note = on_note,
	.on_progress = on_progress,
	.on_clipboard = on_clipboard,
};

bool pane_notes_is_empty(const struct pane_notes *n)
{
	return n->title == NULL && n->n_texts == 0 && n->n_bells == 0 && n->n_clip_reads == 0 &&
	       n->n_clip_sets == 0 && n->clip == NULL && !n->has_progress;
}

void pane_notes_send(struct pane_notes *n, struct zw_chan *chan)
{
	if (n->title != NULL)
		zw_send(chan, pane_title, .title = zw_span(n->title));
	if (n->n_bells > 0)
		zw_send(chan, pane_note, .kind = ZW_NOTE_KIND_BELL, .value = n->n_bells);
	for (size_t i = 0; i < n->n_texts; i++)
		zw_send(chan, pane_note, .kind = ZW_NOTE_KIND_NOTIFY,
			.times = 1 + (i + 1 == n->n_texts ? n->n_more : 0),
			.text = zw_span(n->text[i]));
	if (n->n_clip_sets > 0)
		zw_send(chan, pane_note, .kind = ZW_NOTE_KIND_CLIPBOARD,
			.value = (uint32_t)n->clipboard_len_b, .times = n->n_clip_sets,
			.text = zw_span("set"));
	if (n->n_clip_reads > 0)
		zw_send(chan, pane_note, .kind = ZW_NOTE_KIND_CLIPBOARD, .times = n->n_clip_reads,
			.text = zw_span("read"));
	if (n->clip != NULL)
		zw_send(chan, pane_clip, .text = zw_span_n(n->clip, n->clip_len_b));
	if (n->has_progress)
		zw_send(chan, pane_note, .kind = ZW_NOTE_KIND_PROGRESS, .value = n->progress);
	pane_notes_clear(n);
}

void pane_notes_clear(struct pane_notes *n)
{
	free(n->title);
	free(n->clip);
	while (n->n_texts > 0)
		free(n->text[--n->n_texts]);
	*n = (struct pane_notes){0};
}
