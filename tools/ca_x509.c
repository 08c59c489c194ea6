/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns what stands in our CA's certificates and revocation lists. */
#include "tools/ca_x509.h"

#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

/* Certificates begin in the past by this much, for hosts whose clocks are not quite right. */
#define CLOCK_SLACK_SECONDS 3600

bool ca_fail(struct ca_error *error, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    return false;
}

/* Says what was tried and what OpenSSL says about it. */
static void *fail_openssl(struct ca_error *error, const char *what)
{
    char text[256];
    unsigned long code = ERR_peek_last_error();

    ERR_error_string_n(code, text, sizeof text);
    ca_fail(error, "%s: %s", what, code != 0 ? text : "OpenSSL gives no reason");
    ERR_clear_error();
    return NULL;
}

bool ca_algorithm_from_name(const char *name, enum ca_algorithm *algorithm)
{
    if (strcmp(name, "p256") == 0)
        *algorithm = CA_P256;
    else if (strcmp(name, "ed25519") == 0)
        *algorithm = CA_ED25519;
    else
        return false;
    return true;
}

bool ca_domain_name(const char *text, char out[CA_NAME_MAX + 1], struct ca_error *error)
{
    size_t len = strlen(text);
    size_t label = 0;

    if (len == 0 || len > CA_NAME_MAX)
        return ca_fail(error, "a domain name has 1 to %d characters, not %zu", CA_NAME_MAX, len);
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c == '.' ? label == 0 : !isalnum(c) && (c != '-' || label == 0))
            return ca_fail(error,
                           "\"%.64s\" is not a DNS name: letters, digits and '-' in parts "
                           "between dots, e.g. data.example.org",
                           text);
        label = c == '.' ? 0 : label + 1;
        if (label > 63)
            return ca_fail(error, "a part of \"%.64s...\" is longer than 63 characters", text);
        out[i] = (char)tolower(c);
    }
    if (label == 0 || text[len - 1] == '-')
        return ca_fail(error, "\"%.64s\" must end in a letter or a digit", text);
    out[len] = '\0';
    return true;
}

EVP_PKEY *ca_key_new(enum ca_algorithm algorithm, struct ca_error *error)
{
    EVP_PKEY *key =
        algorithm == CA_P256 ? EVP_EC_gen("P-256") : EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");

    return key != NULL ? key : fail_openssl(error, "cannot make a key");
}

static const EVP_MD *digest_for(const EVP_PKEY *key)
{
    /* Ed25519 hashes by itself and takes no digest. */
    return EVP_PKEY_is_a(key, "ED25519") || EVP_PKEY_is_a(key, "ED448") ? NULL : EVP_sha256();
}

/* 128 random bits: unguessable, and no two alike without keeping a counter. */
static bool set_serial(X509 *cert)
{
    unsigned char bytes[16];
    BIGNUM *number;
    bool ok;

    if (RAND_bytes(bytes, sizeof bytes) != 1)
        return false;
    bytes[0] = (unsigned char)((bytes[0] & 0x7f) | 0x40);
    number = BN_bin2bn(bytes, sizeof bytes, NULL);
    ok = number != NULL && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(cert)) != NULL;
    BN_free(number);
    return ok;
}

static bool set_name(X509 *cert, const char *name)
{
    X509_NAME *subject = X509_get_subject_name(cert);
    char common[65]; /* RFC 5280: ub-common-name is 64; the names that count are in the SAN */

    snprintf(common, sizeof common, "%s", name);
    return X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, (const unsigned char *)common,
                                      -1, -1, 0) == 1;
}

static bool add_extension(X509 *cert, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX ctx;
    X509_EXTENSION *extension;
    bool ok;

    X509V3_set_ctx_nodb(&ctx);
    X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
    extension = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
    ok = extension != NULL && X509_add_ext(cert, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return ok;
}

/* What both kinds have in common: version, serial, dates, name, key. */
static X509 *cert_new(EVP_PKEY *key, const char *name, int days)
{
    X509 *cert = X509_new();

    if (cert != NULL && X509_set_version(cert, X509_VERSION_3) == 1 && set_serial(cert) &&
        X509_gmtime_adj(X509_getm_notBefore(cert), -CLOCK_SLACK_SECONDS) != NULL &&
        X509_time_adj_ex(X509_getm_notAfter(cert), days, 0, NULL) != NULL && set_name(cert, name) &&
        X509_set_pubkey(cert, key) == 1)
        return cert;
    X509_free(cert);
    return NULL;
}

X509 *ca_root_new(EVP_PKEY *key, const char *name, int days, struct ca_error *error)
{
    X509 *cert = cert_new(key, name, days);

    if (cert != NULL && X509_set_issuer_name(cert, X509_get_subject_name(cert)) == 1 &&
        add_extension(cert, cert, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
        add_extension(cert, cert, NID_key_usage, "critical,keyCertSign,cRLSign") &&
        add_extension(cert, cert, NID_subject_key_identifier, "hash") &&
        X509_sign(cert, key, digest_for(key)) > 0)
        return cert;
    X509_free(cert);
    return fail_openssl(error, "cannot make the CA's certificate");
}

/* The DNS names as one subjectAltName; they were checked, so none holds a comma. */
static bool add_names(X509 *cert, X509 *issuer, const struct ca_leaf_spec *spec)
{
    char value[4096];
    size_t at = 0;

    for (size_t i = 0; i < spec->name_count; i++) {
        int n =
            snprintf(value + at, sizeof value - at, "%sDNS:%s", i > 0 ? "," : "", spec->names[i]);

        if (n < 0 || (size_t)n >= sizeof value - at)
            return false;
        at += (size_t)n;
    }
    return add_extension(cert, issuer, NID_subject_alt_name, value);
}

static bool limit_to_issuer(X509 *cert, const X509 *issuer)
{
    const ASN1_TIME *end = X509_get0_notAfter(issuer);

    if (ca_time(X509_get0_notAfter(cert)) <= ca_time(end))
        return true;
    return X509_set1_notAfter(cert, end) == 1;
}

X509 *ca_leaf_new(const struct ca_issuer *issuer, EVP_PKEY *subject_key,
                  const struct ca_leaf_spec *spec, struct ca_error *error)
{
    X509 *cert;

    if (ca_time(X509_get0_notAfter(issuer->cert)) <= (int64_t)time(NULL)) {
        ca_fail(error, "the CA's own certificate has expired: make a new CA with gmcast ca init");
        return NULL;
    }
    cert = cert_new(subject_key, spec->names[0], spec->days);
    if (cert != NULL && limit_to_issuer(cert, issuer->cert) &&
        X509_set_issuer_name(cert, X509_get_subject_name(issuer->cert)) == 1 &&
        add_extension(cert, issuer->cert, NID_basic_constraints, "critical,CA:FALSE") &&
        add_extension(cert, issuer->cert, NID_key_usage, "critical,digitalSignature") &&
        add_extension(cert, issuer->cert, NID_ext_key_usage, "serverAuth,clientAuth") &&
        add_names(cert, issuer->cert, spec) &&
        add_extension(cert, issuer->cert, NID_subject_key_identifier, "hash") &&
        add_extension(cert, issuer->cert, NID_authority_key_identifier, "keyid") &&
        X509_sign(cert, issuer->key, digest_for(issuer->key)) > 0)
        return cert;
    X509_free(cert);
    return fail_openssl(error, "cannot make the certificate");
}

static bool crl_add(X509_CRL *crl, const struct ca_revoked *entry)
{
    X509_REVOKED *revoked = X509_REVOKED_new();
    BIGNUM *number = NULL;
    ASN1_INTEGER *serial = NULL;
    ASN1_TIME *when = ASN1_TIME_set(NULL, (time_t)entry->when);
    bool ok = BN_hex2bn(&number, entry->serial) > 0;

    serial = ok ? BN_to_ASN1_INTEGER(number, NULL) : NULL;
    ok = revoked != NULL && serial != NULL && when != NULL &&
         X509_REVOKED_set_serialNumber(revoked, serial) == 1 &&
         X509_REVOKED_set_revocationDate(revoked, when) == 1 &&
         X509_CRL_add0_revoked(crl, revoked) == 1;
    if (!ok)
        X509_REVOKED_free(revoked);
    ASN1_TIME_free(when);
    ASN1_INTEGER_free(serial);
    BN_free(number);
    return ok;
}

static bool crl_set_times(X509_CRL *crl, int days)
{
    ASN1_TIME *now = X509_time_adj_ex(NULL, 0, -CLOCK_SLACK_SECONDS, NULL);
    ASN1_TIME *next = X509_time_adj_ex(NULL, days, 0, NULL);
    bool ok = now != NULL && next != NULL && X509_CRL_set1_lastUpdate(crl, now) == 1 &&
              X509_CRL_set1_nextUpdate(crl, next) == 1;

    ASN1_TIME_free(now);
    ASN1_TIME_free(next);
    return ok;
}

/* RFC 5280 section 5.2: a CRL of version 2 carries its number and its issuer's key identifier. */
static bool crl_set_extensions(X509_CRL *crl, const struct ca_issuer *issuer, uint64_t number)
{
    ASN1_INTEGER *value = ASN1_INTEGER_new();
    X509_EXTENSION *identifier;
    X509V3_CTX ctx;
    bool ok;

    X509V3_set_ctx_nodb(&ctx);
    X509V3_set_ctx(&ctx, issuer->cert, NULL, NULL, crl, 0);
    identifier = X509V3_EXT_conf_nid(NULL, &ctx, NID_authority_key_identifier, "keyid");
    ok = value != NULL && identifier != NULL && ASN1_INTEGER_set_uint64(value, number) == 1 &&
         X509_CRL_add_ext(crl, identifier, -1) == 1 &&
         X509_CRL_add1_ext_i2d(crl, NID_crl_number, value, 0, 0) == 1;
    X509_EXTENSION_free(identifier);
    ASN1_INTEGER_free(value);
    return ok;
}

X509_CRL *ca_crl_new(const struct ca_issuer *issuer, const struct ca_revoked *revoked, size_t count,
                     uint64_t number, int days, struct ca_error *error)
{
    X509_CRL *crl = X509_CRL_new();
    bool ok = crl != NULL && X509_CRL_set_version(crl, X509_CRL_VERSION_2) == 1 &&
              X509_CRL_set_issuer_name(crl, X509_get_subject_name(issuer->cert)) == 1 &&
              crl_set_times(crl, days);

    for (size_t i = 0; ok && i < count; i++)
        ok = crl_add(crl, &revoked[i]);
    if (ok && X509_CRL_sort(crl) == 1 && crl_set_extensions(crl, issuer, number) &&
        X509_CRL_sign(crl, issuer->key, digest_for(issuer->key)) > 0)
        return crl;
    X509_CRL_free(crl);
    return fail_openssl(error, "cannot make the revocation list");
}

bool ca_serial_hex(const X509 *cert, char out[CA_SERIAL_HEX_MAX + 1])
{
    BIGNUM *number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(cert), NULL);
    char *hex = number != NULL ? BN_bn2hex(number) : NULL;
    bool ok = hex != NULL && strlen(hex) <= CA_SERIAL_HEX_MAX;

    for (size_t i = 0; ok && (i == 0 || hex[i - 1] != '\0'); i++)
        out[i] = (char)tolower((unsigned char)hex[i]);
    OPENSSL_free(hex);
    BN_free(number);
    return ok;
}

int64_t ca_time(const ASN1_TIME *value)
{
    struct tm tm;

    if (ASN1_TIME_to_tm(value, &tm) != 1)
        return 0;
    return (int64_t)timegm(&tm);
}
