/* SPDX-License-Identifier: MIT */
#include "src/config/standins.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/mem.h"
#include "src/base/str.h"

#define FLAG_LISTENS 0x10000u /* __SO_ACCEPTCON */

const char *cfg_unix_line(const char *line)
{
	unsigned flags;
	int at = 0;

	if (sscanf(line, "%*s %*s %*s %x %*s %*s %*s %n", &flags, &at) != 1 || at == 0 ||
	    line[at] != '/' || !(flags & FLAG_LISTENS))
		return NULL;
	return line + at;
}

static bool is_wanted(const struct cfg_class *c)
{
	return c->c.treat == POL_TREAT_BY_RISK && strcmp(c->c.name, CFG_CLASS_UNKNOWN) != 0;
}

static void add(struct zw_buf *ret, const char *path)
{
	struct stat st;

	if (stat(path, &st) == 0 && S_ISSOCK(st.st_mode))
		(void)zw_buf_add(ret, path, strlen(path) + 1);
}

/* A path with a newline is cut there, and then is none. */
static void add_listening(const struct cfg_catalogue *cat, struct zw_buf *ret)
{
	FILE *f = fopen("/proc/net/unix", "re");
	char line[512];

	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		const char *path = cfg_unix_line(line);

		line[strcspn(line, "\n")] = '\0';
		if (path != NULL && is_wanted(cfg_catalogue_find(cat, path)))
			add(ret, path);
	}
	if (f != NULL)
		fclose(f);
}

void cfg_standins_find(const struct cfg_catalogue *cat, struct zw_buf *ret)
{
	add_listening(cat, ret);
	for (size_t i = 0; i < cat->n_patterns; i++) {
		const struct cfg_pattern *p = &cat->patterns[i];

		if (!p->is_abstract && strpbrk(p->glob, "*?") == NULL &&
		    is_wanted(&cat->classes[p->class_index]))
			add(ret, p->glob);
	}
}
