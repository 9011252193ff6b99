/* SPDX-License-Identifier: MIT
 * The certificate authority of one session, for what zwatch answers in the place of public name
 * servers (`network.dns.doh`: filter). Made at the start of a session; its key is in memory only, and
 * its certificate is known inside this sandbox alone. */
#ifndef ZW_PROXY_CA_H
#define ZW_PROXY_CA_H

#include <gnutls/gnutls.h>

#include "src/base/buf.h"
#include "src/base/str.h"
#include "src/policy/host.h"

#define PX_CA_CERT_MAX 2048 /* PEM */
#define PX_CA_KEY_MAX  512  /* DER */

/** Makes one. Both buffers are appended to. Returns 0 or ZW_E_UNSUPPORTED. */
int px_ca_make(struct zw_buf *ret_cert_pem, struct zw_buf *ret_key_der);

struct px_ca;

/** Takes up what px_ca_make() made; NULL = it cannot be read. Ownership: px_ca_free(), NULL is ok. */
struct px_ca *px_ca_new(struct zw_span cert_pem, struct zw_span key_der);
void px_ca_free(struct px_ca *ca);

/** A new certificate for this host, and for @other when it is not NULL; NULL = it cannot be made. Ownership: caller,
 * gnutls_certificate_free_credentials(). */
gnutls_certificate_credentials_t px_ca_credentials(struct px_ca *ca, const struct pol_host *host,
						   const struct pol_host *other);

#endif
