/* SPDX-License-Identifier: MIT */
#include "src/base/mask.h"

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>
#include <strings.h>

#include "src/base/err.h"
#include "src/base/mem.h"

/* Names longer than this are no names. */
#define NAME_MAX_B 64
#define NAME_WORDS 8
/* A random string is at least this long; shorter ones occur in ordinary words. */
#define RANDOM_MIN     20
#define RANDOM_HEX_MIN 24
/* Credentials in front of a host end within this; it bounds the work on text made to be slow. */
#define URL_WINDOW 512

/* The text and, byte for byte, what of it is to be hidden: every rule only marks, so that none
 * depends on what another has done. */
struct text {
	const char *p;
	size_t len;
	bool hide[ZW_MASK_MAX];
};

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
	return is_lower(c) || is_upper(c) || is_digit(c);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_quote(char c)
{
	return c == '"' || c == '\'' || c == '`';
}

static bool is_name(char c)
{
	return is_alnum(c) || c == '_' || c == '-' || c == '.';
}

/* Ends an argument, or a word of a text. */
static bool is_gap(char c)
{
	return c == '\0' || is_blank(c);
}

static void mark(struct text *t, size_t from, size_t to)
{
	if (from < to)
		memset(t->hide + from, true, to - from);
}

static bool at_arg(const struct text *t, size_t i)
{
	return i == 0 || t->p[i - 1] == '\0';
}

static bool at_word(const struct text *t, size_t i)
{
	return i == 0 || is_gap(t->p[i - 1]) || is_quote(t->p[i - 1]);
}

static size_t word_end(const struct text *t, size_t i)
{
	while (i < t->len && !is_gap(t->p[i]) && !is_quote(t->p[i]))
		i++;
	return i;
}

static size_t arg_end(const struct text *t, size_t i)
{
	while (i < t->len && t->p[i] != '\0')
		i++;
	return i;
}

static size_t quoted_end(const struct text *t, size_t i)
{
	char quote = t->p[i++];

	while (i < t->len && t->p[i] != '\0' && t->p[i] != quote)
		i += t->p[i] == '\\' && i + 1 < t->len && t->p[i + 1] != '\0' ? 2 : 1;
	return i < t->len ? i : t->len;
}

/* Hides the value at @i: the whole argument when a whole one is meant, else a quoted string or a
 * word that also ends at @stops. */
static void mark_value(struct text *t, size_t i, bool is_whole_arg, const char *stops)
{
	size_t end = i;

	if (i >= t->len || t->p[i] == '\0')
		return;
	if (is_whole_arg)
		end = arg_end(t, i);
	else if (is_quote(t->p[i]))
		end = quoted_end(t, i++);
	else if (t->p[i] == '\\' && i + 1 < t->len && is_quote(t->p[i + 1]))
		end = word_end(t, i += 2);
	else
		while (end < t->len && !is_gap(t->p[end]) && !is_quote(t->p[end]) &&
		       strchr(stops, t->p[end]) == NULL)
			end++;
	mark(t, i, end);
}

static bool in_list(const char *word, const char *const *list)
{
	for (; *list != NULL; list++)
		if ((*list)[0] == word[0] && strcmp(word, *list) == 0)
			return true;
	return false;
}

#define SECRET_WORD(w)
#define KEY_WORD(w)
#define HARMLESS_TAIL(w)
#define SCHEME(w, min)
#define TOKEN_PREFIX(w)
#define PROGRAM_FLAG(program, flag)

#undef SECRET_WORD
#define SECRET_WORD(w) w,
static const char *const secret_words[] = {
#include "src/base/secret.def"
	NULL};
#undef SECRET_WORD
#define SECRET_WORD(w)

#undef KEY_WORD
#define KEY_WORD(w) w,
static const char *const key_words[] = {
#include "src/base/secret.def"
	NULL};
#undef KEY_WORD
#define KEY_WORD(w)

#undef HARMLESS_TAIL
#define HARMLESS_TAIL(w) w,
static const char *const harmless_tails[] = {
#include "src/base/secret.def"
	NULL};
#undef HARMLESS_TAIL
#define HARMLESS_TAIL(w)

#undef SCHEME
#define SCHEME(w, min) {w, min},
static const struct {
	const char *word;
	size_t min;
} schemes[] = {
#include "src/base/secret.def"
};
#undef SCHEME
#define SCHEME(w, min)

#undef TOKEN_PREFIX
#define TOKEN_PREFIX(w) w,
static const char *const token_prefixes[] = {
#include "src/base/secret.def"
};
#undef TOKEN_PREFIX
#define TOKEN_PREFIX(w)

#undef PROGRAM_FLAG
#define PROGRAM_FLAG(program, flag) {program, flag, sizeof(program) - 1},
static const struct {
	const char *program, *flag;
	size_t program_len;
} program_flags[] = {
#include "src/base/secret.def"
};

/* Splits a name into its words, in lower case; digits at a word's end do not count. */
static size_t split_name(const char *p, size_t len, char words[NAME_WORDS][NAME_MAX_B])
{
	size_t n = 0, used = 0;

	for (size_t i = 0; i <= len; i++) {
		bool is_cut = i == len || !is_alnum(p[i]) ||
			      (i > 0 && is_upper(p[i]) && is_lower(p[i - 1]));

		if (is_cut && used > 0) {
			while (used > 1 && is_digit(words[n][used - 1]))
				used--;
			words[n][used] = '\0';
			used = 0;
			if (++n == NAME_WORDS)
				return n;
		}
		if (i < len && is_alnum(p[i]))
			words[n][used++] = (char)(is_upper(p[i]) ? p[i] - 'A' + 'a' : p[i]);
	}
	return n;
}

static bool is_secret_name(const char *p, size_t len)
{
	char words[NAME_WORDS][NAME_MAX_B];

	if (len >= NAME_MAX_B) { /* the end of a name says what it is */
		p += len - (NAME_MAX_B - 1);
		len = NAME_MAX_B - 1;
	}
	size_t n = split_name(p, len, words);
	if (n == 0 || in_list(words[n - 1], harmless_tails))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (in_list(words[i], secret_words))
			return true;
		if (i > 0 && strcmp(words[i], "key") == 0 && in_list(words[i - 1], key_words))
			return true;
	}
	return false;
}

/* What stands behind a secret name: =value, : value, "name": "value", or for a flag the next word. */
static void mark_behind_name(struct text *t, size_t name, size_t end)
{
	size_t i = end;
	bool is_flag = t->p[name] == '-' || (name > 0 && t->p[name - 1] == '-');
	bool is_arg = at_arg(t, name);

	if (is_flag && i < t->len && is_gap(t->p[i])) {
		bool is_whole = is_arg && t->p[i] == '\0';

		i++;
		while (i < t->len && !is_whole && is_blank(t->p[i]))
			i++;
		if (i < t->len && t->p[i] != '-')
			mark_value(t, i, is_whole, "");
		return;
	}
	while (i < t->len && (is_quote(t->p[i]) || t->p[i] == '\\' || t->p[i] == ']'))
		i++;
	while (i < t->len && (t->p[i] == ' ' || t->p[i] == '\t'))
		i++;
	if (i >= t->len || (t->p[i] != '=' && t->p[i] != ':'))
		return;
	bool is_colon = t->p[i++] == ':';
	if (is_colon && name > 0 && (t->p[name - 1] == '/' || t->p[name - 1] == '@'))
		return; /* host:port */
	size_t value = i;
	while (i < t->len && (t->p[i] == ' ' || t->p[i] == '\t' || t->p[i] == '>'))
		i++;
	if (!is_colon && is_arg && i == value)
		mark_value(t, i, true, "");
	else if (!is_colon || (i < t->len && (is_quote(t->p[i]) || t->p[i] == '\\')))
		mark_value(t, i, false, "&;");
	else /* a header, or a line of YAML: to the end of the line */
		for (size_t j = i;
		     j < t->len && t->p[j] != '\0' && t->p[j] != '\n' && !is_quote(t->p[j]); j++)
			mark(t, j, j + 1);
}

static void mark_names(struct text *t)
{
	for (size_t i = 0; i < t->len;) {
		size_t end = i;

		while (end < t->len && is_name(t->p[end]))
			end++;
		if (is_secret_name(t->p + i, end - i))
			mark_behind_name(t, i, end);
		i = end > i ? end : i + 1;
	}
}

static void mark_schemes(struct text *t)
{
	for (size_t i = 0; i < t->len; i++) {
		if (i > 0 && is_name(t->p[i - 1]))
			continue;
		for (size_t k = 0; k < ZW_N_ELEMENTS(schemes); k++) {
			size_t n = strlen(schemes[k].word), at = i + n;

			if ((t->p[i] | 0x20) != schemes[k].word[0] || at >= t->len ||
			    strncasecmp(t->p + i, schemes[k].word, n) != 0 || !is_blank(t->p[at]))
				continue;
			while (at < t->len && is_blank(t->p[at]))
				at++;
			if (word_end(t, at) - at >= schemes[k].min)
				mark_value(t, at, false, "");
		}
	}
}

/* user:password@ of what stands at @i, up to @end. Where the password holds a slash the authority
 * seems to end early: then what follows the colon is no port. */
static void mark_userinfo(struct text *t, size_t i, size_t end)
{
	size_t slash = i, at = SIZE_MAX, port;

	while (slash < end && strchr("/?#", t->p[slash]) == NULL)
		slash++;
	for (size_t j = i; j < slash; j++)
		if (t->p[j] == '@')
			at = j;
	for (port = i; port < slash && t->p[port] != ':'; port++)
		;
	bool is_odd = false;
	for (size_t j = port + 1; j < slash; j++)
		is_odd |= !is_digit(t->p[j]);
	if (at == SIZE_MAX && is_odd && t->p[i] != '[')
		for (size_t j = slash; j < end; j++)
			if (t->p[j] == '@')
				at = j;
	if (at != SIZE_MAX)
		mark(t, i, at);
}

static void mark_query(struct text *t, size_t i, size_t end)
{
	while (i < end && t->p[i] != '?' && t->p[i] != '#')
		i++;
	mark(t, i + 1, end);
}

static void mark_urls(struct text *t)
{
	size_t end = 0;
	bool is_word_done = false;

	for (size_t i = 0; i + 3 < t->len; i++) {
		if (t->p[i] != ':' || t->p[i + 1] != '/' || t->p[i + 2] != '/')
			continue;
		size_t from = i + 3;

		if (from >= end) {
			end = word_end(t, from);
			is_word_done = false;
		}
		mark_userinfo(t, from, end - from > URL_WINDOW ? from + URL_WINDOW : end);
		if (!is_word_done) /* the first query hides the rest of the word */
			mark_query(t, from, end);
		is_word_done = true;
	}
}

/* user:password@host without a scheme; not git@host:path, not image:tag@sha256:... */
static void mark_logins(struct text *t)
{
	for (size_t i = 0; i < t->len; i++) {
		size_t colon = SIZE_MAX, at = SIZE_MAX;

		if (!at_word(t, i))
			continue;
		size_t end = word_end(t, i);
		for (size_t j = i; j < end && at == SIZE_MAX && t->p[j] != '/'; j++) {
			if (t->p[j] == ':' && colon == SIZE_MAX)
				colon = j;
			if (t->p[j] == '@')
				at = j;
		}
		if (at == SIZE_MAX || colon == SIZE_MAX || at == colon + 1 || at + 1 >= end ||
		    !is_alnum(t->p[at + 1]))
			continue;
		if (end - at > 8 && memcmp(t->p + at, "@sha256:", 8) == 0)
			continue;
		mark(t, colon + 1, at);
	}
}

static bool is_token(char c)
{
	return is_alnum(c) || c == '_' || c == '-' || c == '.' || c == '=' || c == '+' || c == '/';
}

static void mark_tokens(struct text *t)
{
	for (size_t i = 0; i < t->len; i++) {
		if (i > 0 && is_alnum(t->p[i - 1]))
			continue;
		for (size_t k = 0; k < ZW_N_ELEMENTS(token_prefixes); k++) {
			if (token_prefixes[k][0] != t->p[i])
				continue;
			size_t n = strlen(token_prefixes[k]), end = i;

			if (t->len - i < n || memcmp(t->p + i, token_prefixes[k], n) != 0)
				continue;
			while (end < t->len && is_token(t->p[end]))
				end++;
			if (end - i < n + 12)
				continue;
			mark(t, i, end);
			i = end;
			break;
		}
	}
}

/* The keys of a PEM block that stands in an argument. */
static void mark_pem(struct text *t)
{
	static const char begin[] = "PRIVATE KEY-----";
	const char *p = memmem(t->p, t->len, begin, sizeof(begin) - 1);

	if (p != NULL) {
		size_t from = (size_t)(p - t->p) + sizeof(begin) - 1;

		mark(t, from, arg_end(t, from));
	}
}

/* How random a run looks: the mean length of its pieces, where a piece is a capitalised word, a row
 * of capitals, or a number. Words of people and programs come in long pieces. */
struct shape {
	size_t n_alnum, n_pieces, n_marks;
	size_t n_hard; /* longest row of letters without a vowel; digits in between do not end it */
	bool has_lower, has_upper, has_digit, is_hex;
};

static size_t piece_len(const char *p, size_t len)
{
	size_t n = 0;

	if (is_digit(p[0])) {
		while (n < len && is_digit(p[n]))
			n++;
		return n;
	}
	if (is_lower(p[0]) || (len > 1 && is_upper(p[0]) && is_lower(p[1]))) {
		for (n = 1; n < len && is_lower(p[n]);)
			n++;
		return n;
	}
	while (n < len && is_upper(p[n]))
		n++;
	return n > 0 ? n : 1;
}

static void count_char(struct shape *s, char c, size_t *hard)
{
	s->has_lower |= is_lower(c);
	s->has_upper |= is_upper(c);
	s->has_digit |= is_digit(c);
	s->is_hex &= is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
	if (strchr("aeiouyAEIOUY", c) != NULL)
		*hard = 0;
	else if (!is_digit(c) && ++*hard > s->n_hard)
		s->n_hard = *hard;
}

static struct shape shape_of(const char *p, size_t len)
{
	struct shape s = {.is_hex = true};
	size_t hard = 0;

	for (size_t i = 0; i < len;) {
		size_t n = piece_len(p + i, len - i);

		if (!is_alnum(p[i])) {
			s.n_marks++;
			hard = 0;
			i++;
			continue;
		}
		s.n_pieces++;
		s.n_alnum += n;
		for (size_t j = i; j < i + n; j++)
			count_char(&s, p[j], &hard);
		i += n;
	}
	return s;
}

static bool is_random(const char *p, size_t len)
{
	struct shape s = shape_of(p, len);

	if (s.has_lower + s.has_upper + s.has_digit < 2)
		return false;
	if (s.is_hex)
		return s.n_alnum >= RANDOM_HEX_MIN && s.has_digit && s.n_alnum < 5 * s.n_pieces;
	/* Names are joined with marks; random strings hold few of them. */
	if (s.n_alnum < RANDOM_MIN || s.n_marks * 8 > s.n_alnum)
		return false;
	return s.n_alnum < 3 * s.n_pieces || (s.n_hard >= 5 && s.n_alnum < 5 * s.n_pieces);
}

static void mark_random_run(struct text *t, size_t from, size_t to, const char *cuts)
{
	if (is_random(t->p + from, to - from)) {
		mark(t, from, to);
		return;
	}
	if (cuts[0] == '\0')
		return;
	for (size_t i = from; i < to;) {
		size_t end = i;

		while (end < to && strchr(cuts, t->p[end]) == NULL)
			end++;
		if (is_random(t->p + i, end - i))
			mark(t, i, end);
		i = end + 1;
	}
}

static bool is_run(char c)
{
	return is_alnum(c) || c == '_' || c == '-' || c == '+' || c == '~' || c == '%';
}

static void mark_random(struct text *t)
{
	for (size_t i = 0; i < t->len;) {
		size_t end = i, last = i;
		bool has_slash = false;

		while (end < t->len && (is_run(t->p[end]) || t->p[end] == '/')) {
			has_slash |= t->p[end] == '/';
			end++;
		}
		/* Base64 holds slashes, paths too: a path begins with one, or is full of them. */
		if (has_slash && t->p[i] != '/' && (i == 0 || t->p[i - 1] != '.'))
			mark_random_run(t, i, end, "");
		for (size_t j = i; j <= end && end > i; j++)
			if (j == end || t->p[j] == '/') {
				mark_random_run(t, last, j, "-_");
				last = j + 1;
			}
		i = end > i ? end : i + 1;
	}
}

/* The name of the program that stands in a word, without its folders. */
static bool is_program(const struct text *t, size_t from, size_t to, const char *name, size_t n)
{

	return to - from >= n && memcmp(t->p + to - n, name, n) == 0 &&
	       (to - from == n || t->p[to - n - 1] == '/');
}

/* -sSu: letters in one word, the last of which takes the value. */
static bool is_bundle(const struct text *t, size_t from, size_t to, char letter)
{
	if (to - from < 3 || t->p[from] != '-' || t->p[to - 1] != letter)
		return false;
	for (size_t i = from + 1; i < to; i++)
		if (!is_lower(t->p[i]) && !is_upper(t->p[i]))
			return false;
	return true;
}

static void mark_flag(struct text *t, size_t from, size_t to, const char *flag)
{
	size_t n = strlen(flag);
	bool is_short = n == 2;

	if (is_short && is_bundle(t, from, to, flag[1]))
		n = to - from;
	else if (to - from < n || memcmp(t->p + from, flag, n) != 0)
		return;
	if (to - from > n) {
		if (is_short || t->p[from + n] == '=')
			mark_value(t, from + n + (t->p[from + n] == '='), at_arg(t, from), "");
		return;
	}
	bool is_whole = at_arg(t, from) && to < t->len && t->p[to] == '\0';
	for (to++; to < t->len && !is_whole && is_blank(t->p[to]);)
		to++;
	mark_value(t, to, is_whole, "");
}

/* Programs may stand anywhere, in `sh -c` texts too; their flags count up to the next of them. */
static void mark_program_flags(struct text *t)
{
	const char *program = NULL;

	for (size_t i = 0; i < t->len; i++) {
		size_t end = at_word(t, i) ? word_end(t, i) : i;

		if (end == i)
			continue;
		for (size_t k = 0; k < ZW_N_ELEMENTS(program_flags); k++) {
			const char *name = program_flags[k].program;

			if (program != NULL && strcmp(program, name) == 0)
				mark_flag(t, i, end, program_flags[k].flag);
			else if (is_program(t, i, end, name, program_flags[k].program_len))
				program = name;
		}
	}
}

/* -- rules of the settings --------------------------------------------------------------------- */

struct rule {
	char *flag; /* owned; NULL = a pattern */
	regex_t re;
};

/* Of the process: set once from its settings, before anything is masked. */
static struct rule rules[ZW_MASK_RULES_MAX];
static size_t n_rules;

static int check_length(const char *rule, const char **ret_why)
{
	if (*rule != '\0' && strlen(rule) <= ZW_MASK_RULE_MAX_B)
		return 0;
	*ret_why = *rule == '\0' ? "it is empty" : "it is too long";
	return ZW_E_SYNTAX;
}

int zw_mask_check_flag(const char *rule, const char **ret_why)
{
	if (check_length(rule, ret_why) < 0)
		return ZW_E_SYNTAX;
	*ret_why = "a flag begins with - and holds no blank and no =";
	return rule[0] == '-' && strpbrk(rule, " \t\n=") == NULL ? 0 : ZW_E_SYNTAX;
}

/* Back references make matching slow without bound on text that is made for it; what matches nothing
 * would hide nothing but mark everything. */
static bool is_bounded(const char *p)
{
	for (; *p != '\0'; p++)
		if (*p == '\\' && *++p >= '1' && *p <= '9')
			return false;
		else if (*p == '\0')
			return false;
	return true;
}

int zw_mask_check_pattern(const char *rule, const char **ret_why)
{
	regex_t re;

	if (check_length(rule, ret_why) < 0)
		return ZW_E_SYNTAX;
	*ret_why = "back references are not taken";
	if (!is_bounded(rule))
		return ZW_E_SYNTAX;
	*ret_why = "it is no extended regular expression";
	if (regcomp(&re, rule, REG_EXTENDED) != 0)
		return ZW_E_SYNTAX;
	bool is_any = regexec(&re, "", 0, NULL, 0) == 0;
	regfree(&re);
	*ret_why = "it matches where nothing is";
	return is_any ? ZW_E_SYNTAX : 0;
}

static void rules_clear(void)
{
	while (n_rules > 0) {
		struct rule *r = &rules[--n_rules];

		if (r->flag == NULL)
			regfree(&r->re);
		free(r->flag);
		*r = (struct rule){0};
	}
}

void zw_mask_rules(const char *text, size_t len)
{
	const char *why;

	rules_clear();
	for (size_t at = 0; at < len && n_rules < ZW_MASK_RULES_MAX;) {
		zw_autofree char *one = zw_xmemdup0(text + at, strnlen(text + at, len - at));
		struct rule *r = &rules[n_rules];

		at += strlen(one) + 1;
		if (one[0] == 'f' && zw_mask_check_flag(one + 1, &why) == 0) {
			r->flag = zw_xstrdup(one + 1);
			n_rules++;
		} else if (one[0] == 'p' && zw_mask_check_pattern(one + 1, &why) == 0 &&
			   regcomp(&r->re, one + 1, REG_EXTENDED) == 0) {
			n_rules++;
		}
	}
}

static void mark_own_flags(struct text *t, const char *flag)
{
	for (size_t i = 0; i < t->len; i++) {
		size_t end = at_word(t, i) ? word_end(t, i) : i;

		if (end > i)
			mark_flag(t, i, end, flag);
	}
}

/* All matches in @line, which is the text with blanks between its arguments. */
static void mark_matches(struct text *t, const char *line, const regex_t *re)
{
	regmatch_t m;

	for (size_t at = 0;
	     at < t->len && regexec(re, line + at, 1, &m, at > 0 ? REG_NOTBOL : 0) == 0;) {
		mark(t, at + (size_t)m.rm_so, at + (size_t)m.rm_eo);
		at += m.rm_eo > m.rm_so ? (size_t)m.rm_eo : (size_t)m.rm_eo + 1;
	}
}

static void mark_own(struct text *t)
{
	char line[ZW_MASK_MAX + 1];

	if (n_rules == 0)
		return;
	for (size_t i = 0; i < t->len; i++)
		line[i] = t->p[i] != '\0' ? t->p[i] : ' ';
	line[t->len] = '\0';
	for (size_t i = 0; i < n_rules; i++) {
		if (rules[i].flag != NULL)
			mark_own_flags(t, rules[i].flag);
		else
			mark_matches(t, line, &rules[i].re);
	}
}

static size_t write_out(const struct text *t, char *dst, size_t size)
{
	static const char stars[] = "***";
	size_t used = 0;

	for (size_t i = 0; i < t->len && used + 1 < size; i++) {
		if (!t->hide[i]) {
			dst[used++] = t->p[i];
			continue;
		}
		while (i + 1 < t->len && t->hide[i + 1])
			i++;
		for (const char *s = stars; *s != '\0' && used + 1 < size; s++)
			dst[used++] = *s;
	}
	dst[used] = '\0';
	return used;
}

size_t zw_mask(char *dst, size_t size, const char *src, size_t len)
{
	struct text t = {.p = src, .len = len < ZW_MASK_MAX ? len : ZW_MASK_MAX};

	mark_names(&t);
	mark_schemes(&t);
	mark_urls(&t);
	mark_logins(&t);
	mark_tokens(&t);
	mark_pem(&t);
	mark_program_flags(&t);
	mark_random(&t);
	mark_own(&t);
	return write_out(&t, dst, size);
}
