/* SPDX-License-Identifier: MIT
 * What the page at the end of a session consists of, and the page as lines. */
#include "ui/review.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "src/base/mem.h"
#include "src/base/str.h"
#include "ui/draw.h"

#define LINE_MAX_B 256
#define WIDTH_MIN  20

const char *ui_next_word(const struct ui_review_row *r, enum ui_next next)
{
	return next == UI_NEXT_ALWAYS  ? "always"
	       : next == UI_NEXT_NEVER ? "never"
	       : r->is_asked	       ? "ask"
				       : "as is";
}

bool ui_next_is_there(const struct ui_review_row *r, enum ui_next next)
{
	return next == UI_NEXT_AS_IS || (next == UI_NEXT_ALWAYS && r->can_always) ||
	       (next == UI_NEXT_NEVER && r->can_never);
}

const char *ui_review_sentence(const struct ui_review_row *r)
{
	return r->next == UI_NEXT_ALWAYS ? r->always : r->next == UI_NEXT_NEVER ? r->never : NULL;
}

size_t ui_review_count(const struct ui_review *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		n += r->rows[i].next != UI_NEXT_AS_IS;
	return n;
}

/* -- as lines ------------------------------------------------------------------------------------ */

/* Whole words on each line, as far as the terminal tells how long lines are. */
static void say(int fd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say(int fd, const char *fmt, ...)
{
	struct winsize size = {.ws_col = 80};
	struct zw_span part;
	va_list ap;
	char *text;

	va_start(ap, fmt);
	int n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	if (ioctl(fd, TIOCGWINSZ, &size) < 0 || size.ws_col < WIDTH_MIN)
		size.ws_col = 80;
	const char *rest = text;
	while (draw_wrap_next(&rest, size.ws_col - 1, &part))
		dprintf(fd, "%.*s\n", (int)part.len, part.p);
	free(text);
}

static void say_row(int fd, size_t number, const struct ui_review_row *r)
{
	char choices[64] = "";

	for (int i = UI_NEXT_ALWAYS; i < UI_NEXT_MAX; i++)
		if (ui_next_is_there(r, (enum ui_next)i))
			snprintf(choices + strlen(choices), sizeof(choices) - strlen(choices),
				 "%s %s", *choices == '\0' ? ". Or:" : " or",
				 ui_next_word(r, (enum ui_next)i));
	say(fd, "%zu %s %s, %s, %u %s%s. So far: %s. Next time: %s%s.", number, r->kind, r->what,
	    r->program, r->n_times, r->n_times == 1 ? "time" : "times",
	    r->is_new ? ", new in this project" : "", r->said, ui_next_word(r, r->next), choices);
}

/* What was typed before the question is no answer to it. False at the end of input. */
static bool ask_line(int fd, const char *prompt, char line[LINE_MAX_B])
{
	size_t n = 0;
	ssize_t got;
	char c = '\0';

	struct pollfd p = {.fd = fd, .events = POLLIN};

	tcflush(fd, TCIFLUSH);
	dprintf(fd, "%s ", prompt);
	if (poll(&p, 1, UI_REVIEW_IDLE_MS) <= 0) {
		dprintf(fd, "\n");
		return false;
	}
	while ((got = read(fd, &c, 1)) == 1 && c != '\n')
		if (n + 1 < LINE_MAX_B)
			line[n++] = c;
	line[n] = '\0';
	return got == 1;
}

/* "3 always". Returns NULL, or what is wrong with it. */
static const char *choose(struct ui_review *r, const char *line, size_t *ret_row)
{
	size_t len = strspn(line, "0123456789");
	const char *word = line + len + strspn(line + len, " ");
	uint64_t number = 0;

	if (len == 0 || zw_parse_u64(line, len, r->n, &number) < 0 || number == 0)
		return "That is no line of the list.";
	for (int i = UI_NEXT_AS_IS; i < UI_NEXT_MAX; i++) {
		struct ui_review_row *row = &r->rows[number - 1];

		if (strcmp(word, ui_next_word(row, (enum ui_next)i)) != 0 ||
		    !ui_next_is_there(row, (enum ui_next)i))
			continue;
		row->next = (enum ui_next)i;
		*ret_row = number - 1;
		return NULL;
	}
	return "That is not one of its choices.";
}

/* Says in full what is kept, and takes one word for it. True: the page is over. */
static bool save(int fd, struct ui_review *r)
{
	char line[LINE_MAX_B];

	for (size_t i = 0; i < r->n; i++)
		if (ui_review_sentence(&r->rows[i]) != NULL)
			say(fd, "%s", ui_review_sentence(&r->rows[i]));
	if (!ask_line(fd, "Type yes and Enter to save. Enter alone goes back:", line))
		return true;
	if (strcmp(line, "yes") != 0)
		return false;
	const char *why = r->save(r->arg);
	if (why != NULL)
		say(fd, "%s", why);
	return why == NULL;
}

void ui_review_plain(int fd, struct ui_review *r)
{
	char line[LINE_MAX_B];
	const char *text;
	size_t row = 0;

	say(fd, "%s. Now is a good time to decide. Nothing is saved unless you choose it.",
	    r->title);
	for (size_t i = 0; i < r->n; i++)
		say_row(fd, i + 1, &r->rows[i]);
	say(fd, "Type a number and one of its words to choose, as in: 1 never. Then: save.");
	while (ask_line(fd, "Enter alone leaves all as they are:", line) && *line != '\0') {
		if (strcmp(line, "save") == 0) {
			if (ui_review_count(r) == 0 || save(fd, r))
				return;
		} else if (strcmp(line, "list") == 0) {
			for (size_t i = 0; i < r->n; i++)
				say_row(fd, i + 1, &r->rows[i]);
		} else if (strcmp(line, "try") == 0) {
			text = r->rows[row].next != UI_NEXT_AS_IS ? r->try_row(r->arg, row) : NULL;
			say(fd, "%s", text != NULL ? text : "There is nothing to try.");
		} else if ((text = choose(r, line, &row)) != NULL) {
			say(fd, "%s Nothing was changed.", text);
		} else {
			text = ui_review_sentence(&r->rows[row]);
			say(fd, "%s", text != NULL ? text : "It stays as it is.");
			say(fd, "Then: save. Or try: what past sessions say of it. Or list.");
		}
	}
	say(fd, "Nothing was saved.");
}
