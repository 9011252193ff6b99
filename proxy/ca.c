/* SPDX-License-Identifier: MIT */
#include "proxy/ca.h"

#include <arpa/inet.h>
#include <gnutls/crypto.h>
#include <gnutls/x509.h>
#include <time.h>

#include "src/base/err.h"
#include "src/base/mem.h"

#define LIFE_S	  (30 * 24 * 3600) /* no session is longer */
#define EARLIER_S 3600		   /* clocks are not all the same */

struct px_ca {
	gnutls_x509_crt_t crt;
	gnutls_x509_privkey_t key, leaf_key;
};

/* Common to authority and hosts. */
static int crt_begin(gnutls_x509_crt_t crt, gnutls_x509_privkey_t key, const char *name)
{
	unsigned char serial[16];
	time_t now = time(NULL);
	int r = gnutls_rnd(GNUTLS_RND_NONCE, serial, sizeof(serial));

	serial[0] = (serial[0] & 0x3f) | 0x40; /* positive, of full length */
	r = r < 0 ? r : gnutls_x509_crt_set_version(crt, 3);
	r = r < 0 ? r : gnutls_x509_crt_set_serial(crt, serial, sizeof(serial));
	r = r < 0 ? r : gnutls_x509_crt_set_activation_time(crt, now - EARLIER_S);
	r = r < 0 ? r : gnutls_x509_crt_set_expiration_time(crt, now + LIFE_S);
	r = r < 0 ? r
		  : gnutls_x509_crt_set_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, name,
						  (unsigned)strlen(name));
	return r < 0 ? r : gnutls_x509_crt_set_key(crt, key);
}

static int key_make(gnutls_x509_privkey_t *ret)
{
	int r = gnutls_x509_privkey_init(ret);

	return r < 0 ? r
		     : gnutls_x509_privkey_generate(
			       *ret, GNUTLS_PK_ECDSA,
			       GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
}

static int export(gnutls_x509_crt_t crt, gnutls_x509_privkey_t key, struct zw_buf *cert_pem,
		  struct zw_buf *key_der)
{
	unsigned char out[PX_CA_CERT_MAX];
	size_t len = sizeof(out);
	int r = gnutls_x509_crt_export(crt, GNUTLS_X509_FMT_PEM, out, &len);

	if (r < 0 || zw_buf_add(cert_pem, out, len) < 0)
		return ZW_E_UNSUPPORTED;
	len = PX_CA_KEY_MAX;
	r = gnutls_x509_privkey_export(key, GNUTLS_X509_FMT_DER, out, &len);
	if (r == 0)
		r = zw_buf_add(key_der, out, len);
	gnutls_memset(out, 0, sizeof(out));
	return r < 0 ? ZW_E_UNSUPPORTED : 0;
}

int px_ca_make(struct zw_buf *ret_cert_pem, struct zw_buf *ret_key_der)
{
	gnutls_x509_crt_t crt = NULL;
	gnutls_x509_privkey_t key = NULL;
	int r = key_make(&key);

	r = r < 0 ? r : gnutls_x509_crt_init(&crt);
	r = r < 0 ? r : crt_begin(crt, key, "zwatch, this session alone");
	r = r < 0 ? r : gnutls_x509_crt_set_basic_constraints(crt, 1, 0);
	r = r < 0 ? r : gnutls_x509_crt_set_key_usage(crt, GNUTLS_KEY_KEY_CERT_SIGN);
	r = r < 0 ? r : gnutls_x509_crt_sign2(crt, crt, key, GNUTLS_DIG_SHA256, 0);
	r = r < 0 ? ZW_E_UNSUPPORTED : export(crt, key, ret_cert_pem, ret_key_der);
	if (crt != NULL)
		gnutls_x509_crt_deinit(crt);
	if (key != NULL)
		gnutls_x509_privkey_deinit(key);
	return r;
}

struct px_ca *px_ca_new(struct zw_span cert_pem, struct zw_span key_der)
{
	struct px_ca *ca = zw_xnew(struct px_ca);
	const gnutls_datum_t cert = {(unsigned char *)(uintptr_t)cert_pem.p,
				     (unsigned)cert_pem.len};
	const gnutls_datum_t key = {(unsigned char *)(uintptr_t)key_der.p, (unsigned)key_der.len};
	int r = gnutls_x509_crt_init(&ca->crt);

	r = r < 0 ? r : gnutls_x509_crt_import(ca->crt, &cert, GNUTLS_X509_FMT_PEM);
	r = r < 0 ? r : gnutls_x509_privkey_init(&ca->key);
	r = r < 0 ? r : gnutls_x509_privkey_import(ca->key, &key, GNUTLS_X509_FMT_DER);
	r = r < 0 ? r : key_make(&ca->leaf_key);
	if (r < 0) {
		px_ca_free(ca);
		return NULL;
	}
	return ca;
}

void px_ca_free(struct px_ca *ca)
{
	if (ca == NULL)
		return;
	if (ca->crt != NULL)
		gnutls_x509_crt_deinit(ca->crt);
	if (ca->key != NULL)
		gnutls_x509_privkey_deinit(ca->key);
	if (ca->leaf_key != NULL)
		gnutls_x509_privkey_deinit(ca->leaf_key);
	free(ca);
}

static int san_add(gnutls_x509_crt_t crt, const struct pol_host *host)
{
	if (host == NULL)
		return 0;
	if (host->addr.family == POL_FAMILY_NONE)
		return gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_DNSNAME, host->name,
							    (unsigned)strlen(host->name),
							    GNUTLS_FSAN_APPEND);
	return gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_IPADDRESS, host->addr.b,
						    host->addr.family == POL_FAMILY_V4 ? 4 : 16,
						    GNUTLS_FSAN_APPEND);
}

static int leaf_crt(struct px_ca *ca, const struct pol_host *host, const struct pol_host *other,
		    gnutls_x509_crt_t crt)
{
	/* A common name has 64 bytes at most, and nobody reads it. */
	int r = crt_begin(crt, ca->leaf_key, "answered by zwatch");

	r = r < 0 ? r : san_add(crt, host);
	r = r < 0 ? r : san_add(crt, other);
	r = r < 0 ? r : gnutls_x509_crt_set_basic_constraints(crt, 0, -1);
	r = r < 0 ? r : gnutls_x509_crt_set_key_usage(crt, GNUTLS_KEY_DIGITAL_SIGNATURE);
	r = r < 0 ? r : gnutls_x509_crt_set_key_purpose_oid(crt, GNUTLS_KP_TLS_WWW_SERVER, 0);
	return r < 0 ? r : gnutls_x509_crt_sign2(crt, ca->crt, ca->key, GNUTLS_DIG_SHA256, 0);
}

gnutls_certificate_credentials_t px_ca_credentials(struct px_ca *ca, const struct pol_host *host,
						   const struct pol_host *other)
{
	gnutls_certificate_credentials_t cred = NULL;
	gnutls_x509_crt_t crt = NULL;
	int r = gnutls_x509_crt_init(&crt);

	r = r < 0 ? r : leaf_crt(ca, host, other, crt);
	r = r < 0 ? r : gnutls_certificate_allocate_credentials(&cred);
	r = r < 0 ? r : gnutls_certificate_set_x509_key(cred, &crt, 1, ca->leaf_key);
	if (crt != NULL)
		gnutls_x509_crt_deinit(crt);
	if (r >= 0)
		return cred;
	if (cred != NULL)
		gnutls_certificate_free_credentials(cred);
	return NULL;
}
