/* SPDX-License-Identifier: MIT
 * What is typed in the history view: the filter with its completion, live count and the last 20, and
 * the words for an export, a note, tags. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/utf8.h"
#include "src/base/vis.h"
#include "src/base/words.h"
#include "ui/hist.h"

#define RECALL_FILE  "filters"
#define RECALL_MAX_B ((AUD_FILTER_LEN_MAX + 1) * HIST_RECALL_N)

/* -- the last 20 ------------------------------------------------------------------------------- */

static char *recall_path(const struct view_history *v)
{
	const char *name = zw_basename(v->path);

	return zw_xasprintf("%.*s%s", (int)(name - v->path), v->path, RECALL_FILE);
}

void hist_recall_free(struct view_history *v)
{
	for (int i = 0; i < HIST_RECALL_N; i++)
		free(zw_steal(&v->recall[i]));
}

static void recall_add(struct view_history *v, const char *text)
{
	int at = 0;

	while (at < HIST_RECALL_N - 1 && v->recall[at] != NULL && strcmp(v->recall[at], text) != 0)
		at++;
	free(v->recall[at]);
	memmove(v->recall + 1, v->recall, (size_t)at * sizeof(*v->recall));
	v->recall[0] = zw_xstrdup(text);
}

void hist_recall_load(struct view_history *v)
{
	zw_autofree char *path = recall_path(v);
	zw_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	static char text[RECALL_MAX_B + 1];
	ssize_t n = fd >= 0 ? read(fd, text, RECALL_MAX_B) : 0;

	v->recalled = -1;
	if (n <= 0)
		return;
	text[n] = '\0';
	for (char *line = text; *line != '\0';) {
		size_t len = strcspn(line, "\n");
		bool is_last = line[len] == '\0';

		line[len] = '\0';
		if (len > 0 && len <= AUD_FILTER_LEN_MAX)
			recall_add(v, line); /* the oldest stands first */
		line += len + (is_last ? 0 : 1);
	}
}

/* A file that cannot be written is no reason to say anything: the list is a comfort. */
static void recall_keep(struct view_history *v)
{
	zw_autofree char *path = recall_path(v);
	zw_autofree char *part = zw_xasprintf("%s.new", path);
	struct zw_buf out;

	zw_buf_init(&out, RECALL_MAX_B);
	for (int i = HIST_RECALL_N - 1; i >= 0; i--)
		if (v->recall[i] != NULL)
			zw_buf_addf(&out, "%s\n", v->recall[i]);
	zw_autoclose int fd =
		open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	bool is_good = fd >= 0 && zw_write_all(fd, zw_buf_head(&out), out.len) == 0;
	if (is_good)
		is_good = rename(part, path) == 0;
	if (!is_good && fd >= 0)
		unlink(part);
	zw_buf_fini(&out);
}

static void recall_step(struct view_history *v, int step);

/* -- the line ---------------------------------------------------------------------------------- */

static void typed_set(struct view_history *v, const char *text)
{
	zw_strlcpy(v->typed, text, sizeof(v->typed));
	v->typed_len = strlen(v->typed);
}

static void typed_add(struct view_history *v, uint32_t cp)
{
	char bytes[4];

	if (cp < ' ' || !zw_vis_is_safe(cp))
		return;
	size_t n = (size_t)zw_utf8_encode(bytes, cp);
	if (v->typed_len + n >= sizeof(v->typed))
		return;
	memcpy(v->typed + v->typed_len, bytes, n);
	v->typed_len += n;
	v->typed[v->typed_len] = '\0';
}

static void typed_shorten(struct view_history *v)
{
	while (v->typed_len > 0 && ((uint8_t)v->typed[--v->typed_len] & 0xc0) == 0x80)
		;
	v->typed[v->typed_len] = '\0';
}

/* What is typed, read and not yet used. Returns whether it is a filter. */
static bool filter_check(struct view_history *v, struct aud_filter **ret)
{
	struct aud_filter_error error;
	struct aud_filter *f = NULL;

	v->said[0] = '\0';
	v->is_bad = false;
	if (aud_filter_parse(v->typed, zw_now_us(), &f, &error) < 0) {
		zw_strlcpy(v->said, error.text, sizeof(v->said));
		v->is_bad = true;
		return false;
	}
	*ret = f;
	return true;
}

/* After each key: what is wrong with it, or how many rows it takes. */
static void filter_look(struct view_history *v)
{
	struct aud_filter *f = NULL;

	hist_count(v, NULL);
	if (!filter_check(v, &f))
		return;
	if (aud_filter_is_empty(f)) {
		aud_filter_free(f);
		zw_strlcpy(v->said, "did:deny  host:*.example  -proc:npm  since:2d",
			   sizeof(v->said));
	} else {
		hist_count(v, f);
		zw_strlcpy(v->said, "ok", sizeof(v->said));
	}
}

static void recall_step(struct view_history *v, int step)
{
	int to = v->recalled + step;

	if (to < -1 || to >= HIST_RECALL_N || (to >= 0 && v->recall[to] == NULL))
		return;
	v->recalled = to;
	typed_set(v, to >= 0 ? v->recall[to] : v->kept);
}

/* -- completion -------------------------------------------------------------------------------- */

/* Words of a field that has few; NULL = any. */
static const char *const *values_of(const char *field, size_t len)
{
	static const struct {
		const char *field, *words[9];
	} list[] = {
		{"did", {"allow", "deny", "ask", "auto", "miss", "gone", "fail"}},
		{"kind", {"net", "unix", "dns", "question", "file", "mode", "terminal"}},
		{"risk", {"harmless", "low", "HIGH", "CRITICAL"}},
		{"mode", {"watch", "guard", "strict"}},
		{"by", {"user", "rule", "mode", "catalogue", "limit", "timeout", "no-terminal"}},
		{"new", {"yes", "no"}},
		{"since", {"1h", "1d", "7d", "30d"}},
	};

	for (size_t i = 0; i < ZW_N_ELEMENTS(list); i++)
		if (strlen(list[i].field) == len && strncmp(field, list[i].field, len) == 0)
			return list[i].words;
	return NULL;
}

/* Completes @part, the end of the line, by a list: as far as all that fit agree, and says which. */
static void complete_by(struct view_history *v, const char *part, const char *const *list,
			const char *tail)
{
	size_t len = strlen(part), common = 0, used = 0, n = 0;
	const char *first = NULL;
	char text[sizeof(v->said)] = "";

	for (; list != NULL && *list != NULL; list++) {
		if (strncasecmp(*list, part, len) != 0)
			continue;
		size_t same = 0;
		while (first != NULL && same < common && (*list)[same] == first[same])
			same++;
		common = first == NULL ? strlen(*list) : same;
		first = first != NULL ? first : *list;
		n++;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s ", *list);
		used = used < sizeof(text) ? used : sizeof(text) - 1;
	}
	if (n == 0)
		return;
	zw_autofree char *line = zw_xasprintf("%.*s%.*s%s", (int)(v->typed_len - len), v->typed,
					      (int)common, first, n == 1 ? tail : "");
	typed_set(v, line);
	filter_look(v);
	if (n > 1) {
		zw_strlcpy(v->said, text, sizeof(v->said));
		v->is_bad = false;
	}
}

static void complete(struct view_history *v)
{
	size_t at = v->typed_len;

	while (at > 0 && strchr(" (-", v->typed[at - 1]) == NULL)
		at--;
	const char *word = v->typed + at;
	size_t field = strcspn(word, ":=~<>");
	if (word[field] == '\0')
		complete_by(v, word, aud_filter_fields(), ":");
	else
		complete_by(v, word + field + 1, values_of(word, field), " ");
}

/* -- keys -------------------------------------------------------------------------------------- */

void hist_type_begin(struct view_history *v, enum hist_typing what, const char *text)
{
	if (v->typing == HIST_NOT_TYPING)
		zw_strlcpy(v->kept, v->filter != NULL ? v->typed : "", sizeof(v->kept));
	v->typing = what;
	v->recalled = -1;
	v->said[0] = '\0';
	typed_set(v, text);
	if (what == HIST_FILTER)
		filter_look(v);
}

void hist_filter_apply(struct view_history *v)
{
	struct aud_filter *f = NULL;

	hist_count(v, NULL);
	if (!filter_check(v, &f))
		return;
	hist_stop(v);
	aud_scan_free(zw_steal(&v->scan));
	aud_filter_free(v->filter);
	v->filter = NULL;
	if (aud_filter_is_empty(f)) {
		aud_filter_free(f);
	} else {
		v->filter = f;
		recall_add(v, v->typed);
		recall_keep(v);
	}
	v->typing = HIST_NOT_TYPING;
	v->list[HIST_SESSIONS] = v->list[HIST_EVENTS] = (struct ui_list){0};
	if (v->level == HIST_SESSIONS)
		hist_load_sessions(v);
	else if (v->now.n_rows > 0)
		hist_load_events(v, v->now.rows[0].id, false);
}

static void leave(struct view_history *v)
{
	enum hist_typing what = v->typing;

	hist_count(v, NULL);
	typed_set(v, what == HIST_FILTER ? "" : v->kept);
	v->said[0] = '\0';
	v->typing = HIST_NOT_TYPING;
	if (what == HIST_FILTER)
		hist_filter_apply(v); /* nothing of it counts */
}

static void enter(struct view_history *v)
{
	enum hist_typing what = v->typing;

	if (what == HIST_FILTER) {
		hist_filter_apply(v);
		return;
	}
	v->typing = HIST_NOT_TYPING;
	hist_typed(v, what);
	typed_set(v, v->kept);
}

bool hist_type_key(struct view_history *v, struct ui_key key)
{
	if (v->typing == HIST_NOT_TYPING)
		return false;
	if (key.code == UI_KEY_ENTER) {
		enter(v);
		return true;
	}
	if (key.code == UI_KEY_ESC) {
		leave(v);
		return true;
	}
	if (key.code == UI_KEY_TAB && v->typing == HIST_FILTER) {
		complete(v);
		return true;
	}
	if (key.code == UI_KEY_BACKSPACE)
		typed_shorten(v);
	else if (v->typing == HIST_FILTER && (key.code == UI_KEY_UP || key.code == UI_KEY_DOWN))
		recall_step(v, key.code == UI_KEY_UP ? 1 : -1);
	else if (key.mods == UI_MOD_CTRL && key.code == 'u')
		typed_set(v, "");
	else if (key.mods == 0 && key.code < UI_KEY_FIRST)
		typed_add(v, key.code);
	if (v->typing == HIST_FILTER)
		filter_look(v);
	return true;
}

void hist_type_paste(struct view_history *v, const void *bytes, size_t len)
{
	const uint8_t *b = bytes;

	for (size_t i = 0; v->typing != HIST_NOT_TYPING && i < len;) {
		uint32_t cp;
		int n = zw_utf8_decode(b + i, len - i, &cp);

		if (n > 0)
			typed_add(v, cp);
		i += n > 0 ? (size_t)n : 1;
	}
	if (v->typing == HIST_FILTER)
		filter_look(v);
}

void hist_filter_row(struct view_history *v, bool is_out)
{
	const struct aud_event *e = v->level == HIST_EVENTS ? hist_event(v) : NULL;
	char raw[300], quoted[700];
	size_t n = 0;

	if (e == NULL || e->target.len == 0 || e->row == AUD_ROW_MISC)
		return;
	zw_span_cpy(raw, sizeof(raw), e->target);
	for (const char *c = raw; *c != '\0' && n + 3 < sizeof(quoted); c++) {
		if (*c == '"' || *c == '\\')
			quoted[n++] = '\\';
		quoted[n++] = *c;
	}
	quoted[n] = '\0';
	bool is_host = e->row == AUD_ROW_CONN || zw_span_eq(e->op, "net");
	const char *old = v->filter != NULL ? v->typed : "";
	zw_autofree char *text = zw_xasprintf("%s%s%s%s=\"%s\"", old, *old != '\0' ? " " : "",
					      is_out ? "-" : "", is_host ? "host" : "path", quoted);
	typed_set(v, text);
	hist_filter_apply(v);
}
