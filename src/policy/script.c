/* SPDX-License-Identifier: MIT */
#include "src/policy/script.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "src/base/mem.h"

#define NAME_MAX_B 32

/* with_value: options whose value is the next argument. code: options behind which code stands, or
 * the name of a module. Blanks around each word. */
static const struct interpreter {
	const char *name, *with_value, *code;
} interpreters[] = {
	{"python", " -W -X -Q --check-hash-based-pycs ", " -c -m "},
	{"pypy", " -W -X ", " -c -m "},
	{"node", " -r --require --import --loader --experimental-loader -C --conditions ",
	 " -e --eval -p --print -pe "},
	{"nodejs", " -r --require --import ", " -e --eval -p --print -pe "},
	{"deno", " --config -c --import-map ", " eval repl "},
	{"bun", " --config -c --preload -r ", " -e --eval -p --print "},
	{"ruby", " -r -I -C -E ", " -e "},
	{"perl", " -I -M -m ", " -e -E "},
	{"php", " -c -d -z ", " -r -B -R -E "},
	{"lua", " -l ", " -e "},
	{"bash", " -o +o -O +O --rcfile --init-file ", " -c "},
	{"sh", " -o +o ", " -c "},
	{"dash", " -o +o ", " -c "},
	{"zsh", " -o +o ", " -c "},
	{"ksh", " -o +o ", " -c "},
	{"fish", " -C -d ", " -c "},
	{"busybox", "", " -c "},
	{"Rscript", "", " -e "},
	{"tclsh", "", ""},
	{"java", " -cp -classpath --class-path -p --module-path ", " -m --module "},
};

/* "python" of "/usr/bin/python3.11" */
static void name_of(const char *exe, char out[NAME_MAX_B])
{
	zw_strlcpy(out, zw_basename(exe), NAME_MAX_B);
	size_t n = strlen(out);

	while (n > 0 &&
	       (isdigit((unsigned char)out[n - 1]) || out[n - 1] == '.' || out[n - 1] == '-'))
		out[--n] = '\0';
}

static const struct interpreter *interpreter_of(const char *exe)
{
	char name[NAME_MAX_B];

	name_of(exe, name);
	for (size_t i = 0; i < ZW_N_ELEMENTS(interpreters); i++)
		if (strcmp(interpreters[i].name, name) == 0)
			return &interpreters[i];
	return NULL;
}

static bool is_among(const char *words, const char *word)
{
	char padded[72];
	int n = snprintf(padded, sizeof(padded), " %s ", word);

	return n > 0 && (size_t)n < sizeof(padded) && strstr(words, padded) != NULL;
}

/* Short options may stand together: sh -ec 'code'. */
static bool is_code(const struct interpreter *in, const char *arg)
{
	if (is_among(in->code, arg))
		return true;
	if (arg[0] != '-' || arg[1] == '-' || arg[1] == '\0')
		return false;
	for (const char *c = arg + 1; isalpha((unsigned char)*c); c++) {
		char one[3] = {'-', *c, '\0'};

		if (is_among(in->code, one))
			return true;
		if (is_among(in->with_value, one))
			break; /* the rest is its value */
	}
	return false;
}

/* Absolute and without /./ and /../, by text. */
static enum pol_script put_path(const char *cwd, const char *path, char *out, size_t size)
{
	zw_autofree char *all =
		path[0] == '/' ? zw_xstrdup(path) : zw_xasprintf("%s/%s", cwd, path);
	size_t n = 0;
	char *save = NULL;

	out[0] = '\0';
	if (path[0] != '/' && cwd[0] != '/')
		return POL_SCRIPT_INLINE;
	for (char *part = strtok_r(all, "/", &save); part != NULL;
	     part = strtok_r(NULL, "/", &save)) {
		size_t len = strlen(part);

		if (strcmp(part, ".") == 0)
			continue;
		if (strcmp(part, "..") == 0) {
			while (n > 0 && out[--n] != '/')
				;
			out[n] = '\0';
			continue;
		}
		if (n + len + 2 > size) {
			out[0] = '\0';
			return POL_SCRIPT_INLINE;
		}
		out[n++] = '/';
		memcpy(out + n, part, len + 1);
		n += len;
	}
	return n > 0 ? POL_SCRIPT_FILE : POL_SCRIPT_INLINE;
}

static const char *next_arg(struct zw_span *rest)
{
	const char *arg = rest->p;
	size_t n = rest->len > 0 ? strnlen(rest->p, rest->len) : 0;

	if (rest->len == 0)
		return NULL;
	if (n == rest->len) {
		rest->len = 0;
	} else {
		rest->p += n + 1;
		rest->len -= n + 1;
	}
	return arg;
}

enum pol_script pol_script_of(const char *exe, struct zw_span argv, const char *cwd, char *out,
			      size_t size)
{
	const struct interpreter *in = interpreter_of(exe);
	zw_autofree char *copy = zw_xmemdup0(argv.len > 0 ? argv.p : "", argv.len);
	struct zw_span rest = zw_span_n(copy, argv.len);
	const char *arg;
	bool is_option = true;

	out[0] = '\0';
	if (in == NULL)
		return POL_SCRIPT_NONE;
	next_arg(&rest);
	while ((arg = next_arg(&rest)) != NULL) {
		if (is_option && strcmp(arg, "--") == 0) {
			is_option = false;
			continue;
		}
		if (is_option && is_code(in, arg))
			return POL_SCRIPT_INLINE;
		if (is_option && is_among(in->with_value, arg)) {
			next_arg(&rest);
			continue;
		}
		if (is_option && (arg[0] == '-' || arg[0] == '+')) {
			if (arg[1] == '\0')
				return POL_SCRIPT_INLINE;
			continue;
		}
		/* deno run FILE, bun run FILE */
		if (strcmp(arg, "run") == 0 &&
		    (strcmp(in->name, "deno") == 0 || strcmp(in->name, "bun") == 0))
			continue;
		return put_path(cwd, arg, out, size);
	}
	return POL_SCRIPT_INLINE;
}
