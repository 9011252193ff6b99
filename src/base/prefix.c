/* SPDX-License-Identifier: MIT */
#include "src/base/prefix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS_MAX 16

static struct key {
	char kind; /* 'C', 'M', 'F' */
	int c;	   /* character, or number of a function key */
} keys[KEYS_MAX] = {{'C', ']'}};
static size_t n_keys = 1;
static char shown[16] = "Ctrl-]", spoken[32] = "Control right bracket";

static void name_first(void)
{
	const struct key *k = &keys[0];
	const char *mod = k->kind == 'C' ? "Control" : "Alt";

	if (k->kind == 'F') {
		snprintf(shown, sizeof(shown), "F%d", k->c);
		snprintf(spoken, sizeof(spoken), "F%d", k->c);
		return;
	}
	bool is_letter = k->kind == 'C' && k->c >= 'a' && k->c <= 'z';
	snprintf(shown, sizeof(shown), "%s-%c", k->kind == 'C' ? "Ctrl" : "Alt",
		 is_letter ? k->c - 'a' + 'A' : k->c);
	if (k->c == ']' || k->c == '\\')
		snprintf(spoken, sizeof(spoken), "%s %s", mod,
			 k->c == ']' ? "right bracket" : "backslash");
	else
		snprintf(spoken, sizeof(spoken), "%s %c", mod, k->c);
}

void zw_prefix_set(char *const *names, size_t n)
{
	if (n == 0)
		return;
	n_keys = 0;
	for (size_t i = 0; i < n && n_keys < KEYS_MAX; i++) {
		const char *s = names[i];
		bool has_dash = strlen(s) == 3 && s[1] == '-';

		if (has_dash && (s[0] == 'C' || s[0] == 'M'))
			keys[n_keys++] = (struct key){s[0], (unsigned char)s[2]};
		else if (s[0] == 'F')
			keys[n_keys++] = (struct key){'F', atoi(s + 1)};
	}
	if (n_keys == 0)
		keys[n_keys++] = (struct key){'C', ']'};
	name_first();
}

static bool is_key(char kind, int c)
{
	for (size_t i = 0; i < n_keys; i++)
		if (keys[i].kind == kind && keys[i].c == c)
			return true;
	return kind == 'F' && c == 12;
}

bool zw_prefix_is_ctrl(uint32_t c)
{
	return c < 0x80 && is_key('C', (int)c);
}

bool zw_prefix_is_alt(uint32_t c)
{
	return c < 0x80 && is_key('M', (int)c);
}

bool zw_prefix_is_function(int n)
{
	return is_key('F', n);
}

const char *zw_prefix_name(void)
{
	return shown;
}

const char *zw_prefix_spoken(void)
{
	return spoken;
}
