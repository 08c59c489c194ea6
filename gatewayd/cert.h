/* SPDX-License-Identifier: BSD-2-Clause */
/* Certificates as files and as names: loading with reasons in words, and which domains a
 * certificate speaks for. */
#ifndef GWD_CERT_H
#define GWD_CERT_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All functions that can fail write what is wrong into reason (a sentence part). */

/* Certificate chain: the own one first. NULL on failure. */
STACK_OF(X509) * gwd_cert_load_chain(const char *path, char *reason, size_t size);
EVP_PKEY *gwd_cert_load_key(const char *path, char *reason, size_t size);
/* A store of authorities, with revocation checked when crl is not NULL or "". */
X509_STORE *gwd_cert_load_store(const char *ca, const char *crl, char *reason, size_t size);
/* The certificate names domain as a DNS subjectAltName (exactly; no wildcards). */
bool gwd_cert_has_domain(X509 *cert, const char *domain);
/* Its DNS names for messages: "a.example, b.example"; control characters replaced. */
void gwd_cert_names(X509 *cert, char *out, size_t size);
/* Seconds until it expires, negative after that. */
int64_t gwd_cert_seconds_left(X509 *cert);
/* Of the revocation list in the file that runs out first: seconds since it was made, and until it
 * runs out (negative after that). False when there is none, or it says no end. */
bool gwd_cert_list_times(const char *path, int64_t *age, int64_t *left);
/* Verifies cert against store as a gateway's certificate; NULL, or why not. */
const char *gwd_cert_verify(X509_STORE *store, X509 *cert, STACK_OF(X509) * untrusted);

#endif
