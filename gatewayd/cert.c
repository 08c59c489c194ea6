/* SPDX-License-Identifier: BSD-2-Clause */
/* Certificates as files and as names. */
#include "gatewayd/cert.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static FILE *open_file(const char *path, char *reason, size_t size)
{
    FILE *in = fopen(path, "re");
    if (in == NULL)
        (void)snprintf(reason, size, "%s cannot be read: %s", path, strerror(errno));
    return in;
}

STACK_OF(X509) * gwd_cert_load_chain(const char *path, char *reason, size_t size)
{
    FILE *in = open_file(path, reason, size);
    STACK_OF(X509) *chain = in != NULL ? sk_X509_new_null() : NULL;
    X509 *cert;
    while (chain != NULL && (cert = PEM_read_X509(in, NULL, NULL, NULL)) != NULL)
        (void)sk_X509_push(chain, cert);
    ERR_clear_error(); /* the end of the file is an error to OpenSSL */
    if (in != NULL)
        (void)fclose(in);
    if (chain != NULL && sk_X509_num(chain) == 0) {
        (void)snprintf(reason, size, "%s holds no certificate in PEM format", path);
        sk_X509_free(chain);
        chain = NULL;
    }
    return chain;
}

EVP_PKEY *gwd_cert_load_key(const char *path, char *reason, size_t size)
{
    FILE *in = open_file(path, reason, size);
    EVP_PKEY *key;
    if (in == NULL)
        return NULL;
    /* An empty passphrase: a daemon cannot be asked for one. */
    key = PEM_read_PrivateKey(in, NULL, NULL, (void *)(uintptr_t) "");
    (void)fclose(in);
    if (key == NULL)
        (void)snprintf(reason, size, "%s holds no private key in PEM format without passphrase",
                       path);
    ERR_clear_error();
    return key;
}

static bool add_authorities(X509_STORE *store, const char *path, char *reason, size_t size)
{
    STACK_OF(X509) *list = gwd_cert_load_chain(path, reason, size);
    bool ok = list != NULL;
    for (int i = 0; ok && i < sk_X509_num(list); i++)
        ok = X509_STORE_add_cert(store, sk_X509_value(list, i)) == 1;
    if (list != NULL && !ok)
        (void)snprintf(reason, size, "%s: an authority's certificate cannot be used", path);
    sk_X509_pop_free(list, X509_free);
    return ok;
}

static bool add_lists(X509_STORE *store, const char *path, char *reason, size_t size)
{
    FILE *in = open_file(path, reason, size);
    int count = 0;
    X509_CRL *crl;
    if (in == NULL)
        return false;
    while ((crl = PEM_read_X509_CRL(in, NULL, NULL, NULL)) != NULL) {
        count += X509_STORE_add_crl(store, crl) == 1;
        X509_CRL_free(crl);
    }
    (void)fclose(in);
    ERR_clear_error();
    if (count == 0)
        (void)snprintf(reason, size, "%s holds no revocation list in PEM format", path);
    else
        (void)X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK);
    return count > 0;
}

X509_STORE *gwd_cert_load_store(const char *ca, const char *crl, char *reason, size_t size)
{
    X509_STORE *store = X509_STORE_new();
    bool ok = store != NULL && add_authorities(store, ca, reason, size);
    if (ok && crl != NULL && crl[0] != '\0')
        ok = add_lists(store, crl, reason, size);
    if (!ok) {
        X509_STORE_free(store);
        return NULL;
    }
    /* Gateways are servers and clients at once; public authorities stop issuing certificates for
     * clients. So any purpose is taken here, and gwd_cert_verify's callers rely on the name. */
    (void)X509_STORE_set_purpose(store, X509_PURPOSE_ANY);
    return store;
}

/* A damaged list is none, and leaves no error behind: it would be taken for one of whichever
 * connection comes next. */
static GENERAL_NAMES *alt_names(X509 *cert)
{
    GENERAL_NAMES *names = X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);
    ERR_clear_error();
    return names;
}

bool gwd_cert_has_domain(X509 *cert, const char *domain)
{
    GENERAL_NAMES *names = alt_names(cert);
    bool found = false;
    for (int i = 0; !found && i < sk_GENERAL_NAME_num(names); i++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
        if (name->type != GEN_DNS)
            continue;
        size_t len = (size_t)ASN1_STRING_length(name->d.dNSName);
        const char *text = (const char *)ASN1_STRING_get0_data(name->d.dNSName);
        /* The length is compared too: a name with a NUL inside is not what it seems. */
        found = len == strlen(domain) && strncasecmp(text, domain, len) == 0;
    }
    GENERAL_NAMES_free(names);
    return found;
}

void gwd_cert_names(X509 *cert, char *out, size_t size)
{
    GENERAL_NAMES *names = alt_names(cert);
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
        if (name->type != GEN_DNS || used + 3 >= size)
            continue;
        int n = snprintf(out + used, size - used, "%s%.*s", used == 0 ? "" : ", ",
                         ASN1_STRING_length(name->d.dNSName),
                         (const char *)ASN1_STRING_get0_data(name->d.dNSName));
        used += n > 0 && (size_t)n < size - used ? (size_t)n : 0;
    }
    out[used] = '\0';
    for (char *p = out; *p != '\0'; p++)
        *p = *p < 0x20 || *p > 0x7e ? '?' : *p;
    if (used == 0)
        (void)snprintf(out, size, "(no DNS name)");
    GENERAL_NAMES_free(names);
}

/* from or to NULL: now. */
static bool seconds_between(const ASN1_TIME *from, const ASN1_TIME *to, int64_t *out)
{
    int days = 0, seconds = 0;
    if (ASN1_TIME_diff(&days, &seconds, from, to) != 1)
        return false;
    *out = (int64_t)days * 86400 + seconds;
    return true;
}

int64_t gwd_cert_seconds_left(X509 *cert)
{
    int64_t left;
    return seconds_between(NULL, X509_get0_notAfter(cert), &left) ? left : -1;
}

bool gwd_cert_list_times(const char *path, int64_t *age, int64_t *left)
{
    char reason[512];
    FILE *in = open_file(path, reason, sizeof reason);
    bool found = false;
    X509_CRL *crl;
    while (in != NULL && (crl = PEM_read_X509_CRL(in, NULL, NULL, NULL)) != NULL) {
        const ASN1_TIME *end = X509_CRL_get0_nextUpdate(crl);
        int64_t since, until;
        if (end != NULL && seconds_between(X509_CRL_get0_lastUpdate(crl), NULL, &since) &&
            seconds_between(NULL, end, &until) && (!found || until < *left)) {
            *age = since;
            *left = until;
            found = true;
        }
        X509_CRL_free(crl);
    }
    if (in != NULL)
        (void)fclose(in);
    ERR_clear_error(); /* the end of the file is an error to OpenSSL */
    return found;
}

const char *gwd_cert_verify(X509_STORE *store, X509 *cert, STACK_OF(X509) * untrusted)
{
    X509_STORE_CTX *ctx = X509_STORE_CTX_new();
    const char *reason = "out of memory";
    if (ctx != NULL && X509_STORE_CTX_init(ctx, store, cert, untrusted) == 1)
        reason = X509_verify_cert(ctx) == 1
                     ? NULL
                     : X509_verify_cert_error_string(X509_STORE_CTX_get_error(ctx));
    X509_STORE_CTX_free(ctx);
    ERR_clear_error();
    return reason;
}
