/* SPDX-License-Identifier: BSD-2-Clause */
/* Certificates and revocation lists of a small CA, made with OpenSSL; no files here.
 *
 * Functions that fail return NULL or false and leave words in error. What they return is owned by
 * the caller and freed with OpenSSL's own functions.
 */
#ifndef GMC_TOOLS_CA_X509_H
#define GMC_TOOLS_CA_X509_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/evp.h>
#include <openssl/x509.h>

#define CA_ERROR_MAX 640
#define CA_NAME_MAX 253      /* a DNS name, RFC 1035 */
#define CA_SERIAL_HEX_MAX 40 /* 20 octets, RFC 5280 section 4.1.2.2 */
#define CA_DAY_SECONDS 86400

struct ca_error {
    char text[CA_ERROR_MAX];
};
/* Always false, so that a failing function can return it. */
bool ca_fail(struct ca_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

enum ca_algorithm { CA_P256, CA_ED25519 };
bool ca_algorithm_from_name(const char *name, enum ca_algorithm *algorithm);

/* Lower-case letters, digits, '-' and '.', labels of at most 63 characters: writes the name in
 * lower case to out. False with the reason when it is none. */
bool ca_domain_name(const char *text, char out[CA_NAME_MAX + 1], struct ca_error *error);

EVP_PKEY *ca_key_new(enum ca_algorithm algorithm, struct ca_error *error);

/* A self-signed CA certificate, valid for `days` from now. */
X509 *ca_root_new(EVP_PKEY *key, const char *name, int days, struct ca_error *error);

struct ca_issuer {
    X509 *cert;
    EVP_PKEY *key;
};

struct ca_leaf_spec {
    const char *const *names; /* DNS names; the first is the domain */
    size_t name_count;
    int days;
};

/* A certificate for a gateway: both a TLS server and a TLS client, because either side may dial.
 * Its end is never after the issuer's. */
X509 *ca_leaf_new(const struct ca_issuer *issuer, EVP_PKEY *subject_key,
                  const struct ca_leaf_spec *spec, struct ca_error *error);

struct ca_revoked {
    const char *serial; /* hexadecimal */
    int64_t when;       /* seconds since 1970 */
};
X509_CRL *ca_crl_new(const struct ca_issuer *issuer, const struct ca_revoked *revoked, size_t count,
                     uint64_t number, int days, struct ca_error *error);

/* The serial number in lower-case hexadecimal. */
bool ca_serial_hex(const X509 *cert, char out[CA_SERIAL_HEX_MAX + 1]);
/* Seconds since 1970. */
int64_t ca_time(const ASN1_TIME *time);

#endif
