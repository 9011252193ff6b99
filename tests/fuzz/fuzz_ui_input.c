/* SPDX-License-Identifier: MIT
 * The keyboard's tokeniser: any bytes in any pieces. What comes out is what went in, and the pieces
 * change nothing about what is a prefix, a paste or a report. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "src/base/mem.h"
#include "ui/input.h"

struct seen {
	uint8_t *bytes;
	size_t len;
	int n[UI_TOKEN_REPLY + 1];
};

static void on_token(const struct ui_token *t, void *arg)
{
	struct seen *s = arg;

	assert(t->len > 0);
	memcpy(s->bytes + s->len, t->bytes, t->len);
	s->len += t->len;
	s->n[t->kind]++;
	for (size_t off = 0; t->kind == UI_TOKEN_TEXT && off < t->len;) {
		struct ui_key key;
		size_t n = ui_input_text_key(t->bytes + off, t->len - off, &key);

		assert(n > 0 && off + n <= t->len);
		off += n;
	}
}

static void run(struct seen *s, const uint8_t *data, size_t len, size_t piece)
{
	struct ui_input in = {.wants_osc = (len & 1) != 0};

	for (size_t off = 0; off < len; off += piece)
		ui_input_feed(&in, data + off, len - off < piece ? len - off : piece, on_token, s);
	ui_input_timeout(&in, on_token, s);
	/* Only the begin of an end mark may still be held, and only in a paste. */
	assert(ui_input_is_pasting(&in) || s->len == len);
	assert(s->len + in.n == len);
	assert(memcmp(s->bytes, data, s->len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	zw_autofree uint8_t *a = zw_xmalloc(len + 1), *b = zw_xmalloc(len + 1);
	struct seen whole = {.bytes = a}, parts = {.bytes = b};

	if (len == 0)
		return 0;
	run(&whole, data, len, len);
	run(&parts, data, len, 1 + data[0] % 7);
	/* But which of two end marks ends a paste is seen only when both come at once. */
	const uint8_t *mark = memmem(data, len, "\033[201~", 6);
	if (mark != NULL &&
	    memmem(mark + 1, len - (size_t)(mark + 1 - data), "\033[201~", 6) != NULL)
		return 0;
	for (int kind = UI_TOKEN_KEY; kind <= UI_TOKEN_REPLY; kind++)
		assert(kind == UI_TOKEN_PASTE || whole.n[kind] == parts.n[kind]);
	return 0;
}
