/* SPDX-License-Identifier: BSD-2-Clause */
/* Key and certificate of this daemon. */
#include "gatewayd/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gatewayd/cert.h"
#include "gatewayd/store_int.h"
#include "gatewayd/text.h"

#define KEY_FILE "node.key"
#define GATEWAY_FILE "gateway.key"
/* RFC 5280, 4.1.2.5: no well-defined end. Nor does it begin with a clock that may be wrong. */
#define NOT_BEFORE "20000101000000Z"
#define NOT_AFTER "99991231235959Z"

bool gwd_identity_is_own(const struct gwd_conf *conf)
{
    return conf->node_of[0] != '\0' && conf->tls.line == 0;
}

void gwd_identity_fini(struct gwd_identity *identity)
{
    sk_X509_pop_free(identity->chain, X509_free);
    EVP_PKEY_free(identity->key);
    *identity = (struct gwd_identity){0};
}

bool gwd_key_hash(X509 *cert, uint8_t out[GWD_KEY_HASH_BYTES])
{
    uint8_t *spki = NULL;
    int len = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(cert), &spki);
    if (len <= 0)
        return false;
    (void)SHA256(spki, (size_t)len, out);
    OPENSSL_free(spki);
    return true;
}

/* ---- a certificate that says a name ---- */
static bool set_names(X509 *cert, const char *name)
{
    char common[65]; /* RFC 5280: ub-common-name is 64 */
    char value[GMC_DOMAIN_NAME_MAX + 8];
    X509_NAME *subject = X509_get_subject_name(cert);
    gwd_text(common, sizeof common, "%s", name);
    gwd_text(value, sizeof value, "DNS:%s", name);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, value);
    bool ok = extension != NULL && X509_add_ext(cert, extension, -1) == 1 &&
              X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                                         (const unsigned char *)common, -1, -1, 0) == 1 &&
              X509_set_issuer_name(cert, subject) == 1;
    X509_EXTENSION_free(extension);
    return ok;
}

static X509 *issue(EVP_PKEY *key, const char *name)
{
    X509 *cert = X509_new();
    if (cert != NULL && X509_set_version(cert, X509_VERSION_3) == 1 &&
        ASN1_INTEGER_set(X509_get_serialNumber(cert), 1) == 1 &&
        ASN1_TIME_set_string(X509_getm_notBefore(cert), NOT_BEFORE) == 1 &&
        ASN1_TIME_set_string(X509_getm_notAfter(cert), NOT_AFTER) == 1 &&
        X509_set_pubkey(cert, key) == 1 && set_names(cert, name) &&
        X509_sign(cert, key, EVP_sha256()) > 0)
        return cert;
    X509_free(cert);
    return NULL;
}

/* ---- loading ---- */
static void state_path(const struct gwd_conf *conf, const char *name, char out[GMC_PATH_BYTES_MAX])
{
    gwd_text(out, GMC_PATH_BYTES_MAX, "%s/%s", conf->state, name);
}

static bool load_gateway(const struct gwd_conf *conf, uint8_t gateway[GWD_KEY_HASH_BYTES],
                         char *reason, size_t size)
{
    char path[GMC_PATH_BYTES_MAX];
    size_t len = 0;
    state_path(conf, GATEWAY_FILE, path);
    char *text = gwd_read_file(AT_FDCWD, path, &len);
    bool ok = text != NULL && len >= (size_t)2 * GWD_KEY_HASH_BYTES &&
              gwd_unhex(text, gateway, GWD_KEY_HASH_BYTES);
    if (!ok)
        gwd_text(reason, size, "%s: %s; enrol the node again with a token", path,
                 text == NULL ? strerror(errno) : "expected 64 hexadecimal digits");
    free(text);
    return ok;
}

static bool load_own(const struct gwd_conf *conf, struct gwd_identity *identity, char *reason,
                     size_t size)
{
    char path[GMC_PATH_BYTES_MAX];
    X509 *cert = NULL;
    identity->pinned = true;
    state_path(conf, KEY_FILE, path);
    identity->key = gwd_cert_load_key(path, reason, size);
    if (identity->key == NULL || !load_gateway(conf, identity->gateway, reason, size))
        return false;
    identity->chain = sk_X509_new_null();
    cert = issue(identity->key, conf->domain);
    if (identity->chain != NULL && cert != NULL && sk_X509_push(identity->chain, cert) > 0)
        return true;
    X509_free(cert);
    gwd_text(reason, size, "a certificate for the key in %s cannot be made", path);
    return false;
}

bool gwd_identity_load(const struct gwd_conf *conf, struct gwd_identity *identity, char *reason,
                       size_t size)
{
    bool ok;
    *identity = (struct gwd_identity){0};
    if (gwd_identity_is_own(conf)) {
        ok = load_own(conf, identity, reason, size);
    } else {
        identity->chain = gwd_cert_load_chain(conf->tls.certificate, reason, size);
        if (identity->chain != NULL)
            identity->key = gwd_cert_load_key(conf->tls.key, reason, size);
        ok = identity->key != NULL;
    }
    if (!ok)
        gwd_identity_fini(identity);
    ERR_clear_error();
    return ok;
}

/* ---- the first start ---- */
bool gwd_identity_token(const struct gwd_conf *conf, struct gwd_token *token, char *reason,
                        size_t size)
{
    size_t len = 0;
    char *text = gwd_read_file(AT_FDCWD, conf->token, &len);
    bool ok = text != NULL && gwd_token_parse(text, token);
    if (!ok)
        gwd_text(reason, size, "%s: %s", conf->token,
                 text == NULL ? strerror(errno)
                              : "holds no token; expected what gmcast node add wrote, gmn1-...");
    if (text != NULL)
        OPENSSL_cleanse(text, len);
    free(text);
    return ok;
}

static bool have(const struct gwd_conf *conf, const char *name)
{
    char path[GMC_PATH_BYTES_MAX];
    state_path(conf, name, path);
    return access(path, F_OK) == 0;
}

bool gwd_identity_is_prepared(const struct gwd_conf *conf)
{
    return have(conf, KEY_FILE) && have(conf, GATEWAY_FILE);
}

/* Durable before it has its name, and only the daemon's user may read it. */
static bool put(const struct gwd_conf *conf, const char *name, const char *text, size_t len,
                uid_t uid, gid_t gid, char *reason, size_t size)
{
    int fd = open(conf->state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = fd >= 0 && gwd_replace_file(fd, name, text, len) &&
              (uid == (uid_t)-1 || fchownat(fd, name, uid, gid, AT_SYMLINK_NOFOLLOW) == 0);
    if (!ok)
        gwd_text(reason, size, "%s/%s cannot be written: %s", conf->state, name, strerror(errno));
    if (fd >= 0)
        (void)close(fd);
    return ok;
}

static bool make_key(const struct gwd_conf *conf, uid_t uid, gid_t gid, char *reason, size_t size)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    BIO *out = key != NULL ? BIO_new(BIO_s_secmem()) : NULL;
    char *text = NULL;
    long len = 0;
    bool ok = out != NULL && PEM_write_bio_PrivateKey(out, key, NULL, NULL, 0, NULL, NULL) == 1 &&
              (len = BIO_get_mem_data(out, &text)) > 0;
    if (!ok)
        gwd_text(reason, size, "a key cannot be made");
    ok = ok && put(conf, KEY_FILE, text, (size_t)len, uid, gid, reason, size);
    (void)BIO_free(out);
    EVP_PKEY_free(key);
    return ok;
}

bool gwd_identity_prepare(const struct gwd_conf *conf, uid_t uid, gid_t gid,
                          struct gwd_token *token, bool *has_token, char *reason, size_t size)
{
    char text[2 * GWD_KEY_HASH_BYTES + 2];
    *has_token = false;
    /* The file may be gone once the node has enrolled. */
    if (conf->token[0] != '\0' &&
        (access(conf->token, F_OK) == 0 || !gwd_identity_is_prepared(conf))) {
        if (!gwd_identity_token(conf, token, reason, size))
            return false;
        *has_token = true;
    }
    if (!have(conf, KEY_FILE) && !make_key(conf, uid, gid, reason, size))
        return false;
    if (!*has_token)
        return true;
    gwd_hex(token->gateway, sizeof token->gateway, text);
    strcat(text, "\n");
    return put(conf, GATEWAY_FILE, text, strlen(text), uid, gid, reason, size);
}
