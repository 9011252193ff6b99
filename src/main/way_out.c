/* SPDX-License-Identifier: MIT */
#include "src/main/way_out.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/base/str.h"

#define LOGIN_MAX 1024u

static int fail(struct start_way_out *w, char *take_why)
{
	free(w->why);
	w->why = take_why;
	return ZW_E_CONFIG;
}

static const char *env_get(char *const *env, const char *name)
{
	size_t len = strlen(name);

	for (; *env != NULL; env++)
		if (strncmp(*env, name, len) == 0 && (*env)[len] == '=' && (*env)[len + 1] != '\0')
			return *env + len + 1;
	return NULL;
}

static int hex(char c)
{
	return c >= '0' && c <= '9'		    ? c - '0'
	       : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
						    : -1;
}

/* %XX of a URL's user part. */
static char *unescape(const char *s, size_t len)
{
	char *out = zw_xcalloc(1, len + 1);
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		int high = i + 2 < len && s[i] == '%' ? hex(s[i + 1]) : -1;
		int low = high >= 0 ? hex(s[i + 2]) : -1;

		out[n++] = low >= 0 ? (char)(high << 4 | low) : s[i];
		i += low >= 0 ? 2 : 0;
	}
	return out;
}

/* HOST:PORT, with or without "/" behind it. @scheme: what zwatch calls it. */
static int url_set(struct start_way_out *w, const char *scheme, const char *at, unsigned port)
{
	struct pol_host host;
	size_t len = strcspn(at, "/?#");
	const char *colon = at[0] == '[' ? memchr(at, ']', len) : at;
	uint64_t n = port;

	colon = colon != NULL ? memchr(colon, ':', len - (size_t)(colon - at)) : NULL;
	size_t host_len = colon != NULL ? (size_t)(colon - at) : len;
	if (pol_host_parse(at, host_len, &host) < 0 ||
	    (colon != NULL &&
	     (zw_parse_u64(colon + 1, (size_t)(at + len - colon - 1), 65535, &n) < 0 || n == 0)))
		return fail(w, zw_xstrdup("no HOST:PORT can be read in it"));
	free(w->url);
	w->url = zw_xasprintf(host.addr.family == POL_FAMILY_V6 ? "%s://[%s]:%u" : "%s://%s:%u",
			      scheme, host.name, (unsigned)n);
	return 0;
}

/* A variable as other programs read it: the scheme may be missing, a login may be in it. */
static int take_url(struct start_way_out *w, const char *url)
{
	static const struct {
		const char *prefix, *scheme;
		unsigned port;
	} schemes[] = {
		{"http://", "http", 80},
		{"socks5://", "socks5", 1080},
		{"socks5h://", "socks5", 1080},
		{"socks://", "socks5", 1080},
	};
	const char *scheme = "http", *at = url;
	unsigned port = 80;

	for (size_t i = 0; i < ZW_N_ELEMENTS(schemes); i++) {
		if (!zw_starts_with(url, schemes[i].prefix))
			continue;
		scheme = schemes[i].scheme;
		port = schemes[i].port;
		at = url + strlen(schemes[i].prefix);
	}
	if (at == url && strstr(url, "://") != NULL)
		return fail(w,
			    zw_xasprintf("a proxy is reached by http:// or socks5://, not by %.*s",
					 (int)(strstr(url, "://") + 3 - url), url));
	size_t len = strcspn(at, "/?#");
	const char *sign = memrchr(at, '@', len);
	if (sign != NULL) {
		free(w->login);
		w->login = unescape(at, (size_t)(sign - at));
		at = sign + 1;
	}
	return url_set(w, scheme, at, port);
}

static int take_env(struct start_way_out *w, char *const *env)
{
	static const char *const names[] = {"HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"};

	for (size_t i = 0; i < ZW_N_ELEMENTS(names); i++) {
		const char *value = env_get(env, names[i]);

		if (value == NULL)
			continue;
		if (take_url(w, value) == 0)
			return 0;
		zw_autofree char *why = zw_steal(&w->why);
		return fail(w, zw_xasprintf("it is \"env\", and of %s: %s", names[i], why));
	}
	return 0;
}

static int take_login(struct start_way_out *w, const char *path)
{
	struct stat st;
	char *text = NULL;
	size_t len;
	zw_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 || fstat(fd, &st) < 0)
		return fail(w, zw_xasprintf("the file of its login cannot be read: %s", path));
	if (!S_ISREG(st.st_mode) || (st.st_uid != getuid() && st.st_uid != 0) ||
	    (st.st_mode & (S_IRWXG | S_IRWXO)) != 0)
		return fail(w, zw_xasprintf("others may read its login; do: chmod 600 %s", path));
	if (zw_read_fd(fd, LOGIN_MAX, &text, &len) < 0)
		return fail(w, zw_xasprintf("the file of its login cannot be read: %s", path));
	text[strcspn(text, "\r\n")] = '\0';
	free(w->login);
	w->login = text;
	if (strchr(text, ':') == NULL || strlen(text) > LOGIN_MAX - 1)
		return fail(w, zw_xasprintf("%s does not begin with the line user:password", path));
	return 0;
}

int start_way_out(const struct cfg *cfg, char *const *env, struct start_way_out *ret)
{
	int r = 0;

	*ret = (struct start_way_out){.url = zw_xstrdup(""), .login = zw_xstrdup("")};
	if (strcmp(cfg->upstream_proxy, "env") == 0)
		r = take_env(ret, env);
	else if (cfg->upstream_proxy[0] != '\0')
		r = take_url(ret, cfg->upstream_proxy);
	if (r == 0 && ret->url[0] != '\0' && cfg->upstream_proxy_credentials[0] != '\0')
		r = take_login(ret, cfg->upstream_proxy_credentials);
	return r;
}

void start_way_out_fini(struct start_way_out *w)
{
	free(w->url);
	free(w->login);
	free(w->why);
}
