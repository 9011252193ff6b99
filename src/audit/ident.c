/* SPDX-License-Identifier: MIT */
#include "src/audit/ident.h"

#include <errno.h>
#include <sys/stat.h>

#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/str.h"

/* Field 22 of proc(5), stat: counted from behind the name, which may hold blanks and brackets. */
#define FIELD_START 22
#define FIELD_STATE 3

int aud_stat_start(const char *text, int64_t *ret_start)
{
	const char *p = strrchr(text, ')');
	uint64_t start = 0;

	if (p == NULL || p[1] != ' ')
		return ZW_E_SYNTAX;
	p += 2;
	for (int field = FIELD_STATE; field < FIELD_START; field++) {
		p = strchr(p, ' ');
		if (p == NULL)
			return ZW_E_SYNTAX;
		p++;
	}
	if (zw_parse_u64(p, strspn(p, "0123456789"), INT64_MAX, &start) < 0)
		return ZW_E_SYNTAX;
	*ret_start = (int64_t)start;
	return 0;
}

static int get_start(int64_t pid, int64_t *ret)
{
	zw_autofree char *path = zw_xasprintf("/proc/%lld/stat", (long long)pid);
	zw_autofree char *text = NULL;
	size_t len = 0;
	int r = zw_read_file(path, 4096, &text, &len);

	if (r == -ENOENT)
		return -ESRCH;
	return r < 0 ? r : aud_stat_start(text, ret);
}

int aud_ident_get(pid_t pid, struct aud_ident *ret)
{
	struct aud_ident id = {.pid = pid};
	zw_autofree char *ns = zw_xasprintf("/proc/%lld/ns/pid", (long long)pid);
	zw_autofree char *boot = NULL;
	struct stat st;
	size_t len = 0;
	int r = get_start(pid, &id.start);

	if (r < 0)
		return r;
	if (stat(ns, &st) == 0)
		id.pid_ns = (int64_t)st.st_ino;
	if (zw_read_file("/proc/sys/kernel/random/boot_id", 256, &boot, &len) == 0)
		zw_span_cpy(id.boot, sizeof(id.boot), zw_span_n(boot, strcspn(boot, "\n")));
	*ret = id;
	return 0;
}

bool aud_ident_may_live(const struct aud_ident *who)
{
	struct aud_ident self;
	int64_t start = 0;

	if (aud_ident_get(getpid(), &self) < 0 || self.boot[0] == '\0' || who->boot[0] == '\0')
		return true;
	if (strcmp(self.boot, who->boot) != 0)
		return false;
	if (self.pid_ns != who->pid_ns)
		return true;
	int r = get_start(who->pid, &start);
	return r == 0 ? start == who->start : r != -ESRCH;
}
