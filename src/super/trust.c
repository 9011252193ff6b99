/* SPDX-License-Identifier: MIT
 * `network.dns.doh`: filter. The session's certificate authority, made before the sandbox is, and the
 * files through which programs inside know its certificate. */
#include <errno.h>
#include <stdlib.h>

#include "src/base/buf.h"
#include "src/base/io.h"
#include "src/base/mem.h"
#include "src/super/super_i.h"

#define MAKE_MS	 3000
#define BUNDLE_B (8u * 1024 * 1024)

/* Where systems keep the certificates that they trust, as one file. */
static const char *const bundles[] = {
	"/etc/ssl/certs/ca-certificates.crt",
	"/etc/pki/tls/certs/ca-bundle.crt",
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
	"/etc/ssl/ca-bundle.pem",
	"/etc/ssl/cert.pem",
};

void sup_on_px_ca(struct sup *s, const struct zw_msg_px_ca *m)
{
	if (s->ca_cert.len > 0)
		return;
	(void)zw_buf_add(&s->ca_cert, m->cert.p, m->cert.len);
	(void)zw_buf_add(&s->ca_key, m->key.p, m->key.len);
}

static void file_add(struct zw_buf *b, const char *path)
{
	zw_autofree char *text = NULL;
	size_t len = 0;

	if (zw_read_file(path, BUNDLE_B, &text, &len) == 0 && zw_buf_add(b, text, len) == 0)
		(void)zw_buf_add(b, "\n", 1);
}

/* A variable often names the system's own file, which is taken anyway. */
static bool is_bundle(const char *path)
{
	zw_autofree char *real = realpath(path, NULL);

	for (size_t i = 0; real != NULL && i < ZW_N_ELEMENTS(bundles); i++) {
		zw_autofree char *other = realpath(bundles[i], NULL);

		if (other != NULL && strcmp(real, other) == 0)
			return true;
	}
	return false;
}

/* Files that the user's own variables name. */
static void own_add(const struct sup *s, struct zw_buf *b)
{
	const char *at = s->config->net.trust_files;

	while (*at != '\0') {
		size_t len = strcspn(at, "\n");
		zw_autofree char *path = zw_xmemdup0(at, len);

		if (len > 0 && !is_bundle(path))
			file_add(b, path);
		at += len + (at[len] == '\n');
	}
}

static void text_add(struct sup *s, char *take_path, struct zw_buf *b)
{
	struct sb_text *t = &s->trust[s->n_trust++];

	*t = (struct sb_text){take_path, zw_xmemdup0(zw_buf_head(b), b->len), b->len};
	zw_buf_fini(b);
}

static bool is_there(const struct sup *s, const char *path)
{
	for (size_t i = 0; i < s->n_trust; i++)
		if (strcmp(s->trust[i].path, path) == 0)
			return true;
	return false;
}

/* The authority alone, for variables that add to what a program trusts; all of it, for those that
 * replace; and the system's own files with it. */
static void texts_make(struct sup *s)
{
	struct zw_buf b;
	bool has_system = false;

	zw_buf_init(&b, BUNDLE_B);
	(void)zw_buf_add(&b, zw_buf_head(&s->ca_cert), s->ca_cert.len);
	own_add(s, &b);
	text_add(s, zw_xstrdup(SUP_TRUST_CA), &b);
	for (size_t i = 0; i < ZW_N_ELEMENTS(bundles); i++) {
		char *real = realpath(bundles[i], NULL);

		if (real == NULL || is_there(s, real)) {
			free(real);
			continue;
		}
		zw_buf_init(&b, BUNDLE_B);
		file_add(&b, real);
		(void)zw_buf_add(&b, zw_buf_head(&s->ca_cert), s->ca_cert.len);
		if (!has_system) {
			struct zw_buf all;

			zw_buf_init(&all, BUNDLE_B);
			(void)zw_buf_add(&all, zw_buf_head(&b), b.len);
			own_add(s, &all);
			text_add(s, zw_xstrdup(SUP_TRUST_BUNDLE), &all);
			has_system = true;
		}
		text_add(s, real, &b);
	}
	if (!has_system) {
		zw_buf_init(&b, BUNDLE_B);
		(void)zw_buf_add(&b, zw_buf_head(&s->ca_cert), s->ca_cert.len);
		own_add(s, &b);
		text_add(s, zw_xstrdup(SUP_TRUST_BUNDLE), &b);
	}
}

int sup_trust_start(struct sup *s)
{
	bool never = false;

	if (s->config->net.doh == 0)
		return 0;
	zw_buf_init(&s->ca_cert, 2048);
	zw_buf_init(&s->ca_key, 512);
	int r = sup_helper_start(&s->proxy, s->config->log_fd);
	if (r < 0)
		return r;
	s->is_making_ca = true;
	zw_send(s->proxy.chan, px_ca_make, .unused = 0);
	sup_wait_for(s, &never, &s->proxy, MAKE_MS);
	s->is_making_ca = false;
	if (s->proxy.chan != NULL)
		sup_helper_stop(&s->proxy);
	if (s->ca_key.len == 0)
		return -EPROTO;
	texts_make(s);
	s->config->plan->texts = s->trust;
	return 0;
}

void sup_trust_fini(struct sup *s)
{
	for (size_t i = 0; i < s->n_trust; i++) {
		free((char *)(uintptr_t)s->trust[i].path);
		free((char *)(uintptr_t)s->trust[i].content);
	}
	if (s->ca_key.data != NULL)
		explicit_bzero(s->ca_key.data, s->ca_key.cap);
	zw_buf_fini(&s->ca_cert);
	zw_buf_fini(&s->ca_key);
}
