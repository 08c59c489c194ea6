/* SPDX-License-Identifier: BSD-2-Clause */
/* TLS as gateways use it. */
#include "gatewayd/tls.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "gatewayd/cert.h"
#include "gatewayd/identity.h"

#define EXPORTER_LABEL "EXPORTER-gmcast-link-v1"

struct gwd_tls {
    SSL_CTX *ctx;
    X509_STORE *store;
    int64_t seconds_left;
    bool pinned; /* by key, see gatewayd/identity.h */
    uint8_t gateway[GWD_KEY_HASH_BYTES];
};

/* A certificate that nobody but its owner signed, of somebody who may be a node; and whatever is
 * found wrong with it after that, such as that there is no revocation list of its issuer. */
static bool is_taken(struct gwd_tls_verdict *verdict, const X509_STORE_CTX *ctx)
{
    if (X509_STORE_CTX_get_error(ctx) == X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT)
        verdict->is_self_issued = verdict->take_self_issued;
    return verdict->is_self_issued;
}

/* Keeps the first reason; the answer is OpenSSL's own. */
static int on_verify(int ok, X509_STORE_CTX *ctx)
{
    SSL *ssl = X509_STORE_CTX_get_ex_data(ctx, SSL_get_ex_data_X509_STORE_CTX_idx());
    struct gwd_tls_verdict *verdict = ssl != NULL ? SSL_get_app_data(ssl) : NULL;
    X509 *leaf = X509_STORE_CTX_get0_cert(ctx);
    if (!ok && verdict != NULL && verdict->error == NULL && is_taken(verdict, ctx))
        return 1;
    if (ok || verdict == NULL || verdict->error != NULL)
        return ok;
    verdict->error = X509_verify_cert_error_string(X509_STORE_CTX_get_error(ctx));
    if (leaf != NULL)
        gwd_cert_names(leaf, verdict->names, sizeof verdict->names);
    return ok;
}

/* The key decides, once the handshake has shown whose it is. */
static int take_any(int ok, X509_STORE_CTX *ctx)
{
    (void)ok, (void)ctx;
    return 1;
}

static bool use_certificate(struct gwd_tls *tls, const struct gwd_conf *conf, char *reason,
                            size_t size)
{
    struct gwd_identity identity;
    bool ok = gwd_identity_load(conf, &identity, reason, size);
    tls->pinned = identity.pinned;
    memcpy(tls->gateway, identity.gateway, sizeof tls->gateway);
    if (ok) {
        X509 *leaf = sk_X509_shift(identity.chain);
        tls->seconds_left = gwd_cert_seconds_left(leaf);
        ok = SSL_CTX_use_cert_and_key(tls->ctx, leaf, identity.key, identity.chain, 1) == 1;
        if (!ok)
            (void)snprintf(reason, size, "%s and %s cannot be used together", conf->tls.certificate,
                           conf->tls.key);
        X509_free(leaf);
    }
    gwd_identity_fini(&identity);
    ERR_clear_error();
    return ok;
}

struct gwd_tls *gwd_tls_new(const struct gwd_conf *conf, char *reason, size_t size)
{
    struct gwd_tls *tls = calloc(1, sizeof *tls);
    (void)snprintf(reason, size, "out of memory");
    if (tls == NULL)
        return NULL;
    tls->ctx = SSL_CTX_new(TLS_method());
    tls->store = gwd_identity_is_own(conf)
                     ? X509_STORE_new()
                     : gwd_cert_load_store(conf->tls.ca, conf->tls.crl, reason, size);
    if (tls->ctx == NULL || tls->store == NULL || !use_certificate(tls, conf, reason, size)) {
        gwd_tls_free(tls);
        return NULL;
    }
    (void)SSL_CTX_set_min_proto_version(tls->ctx, TLS1_3_VERSION);
    (void)SSL_CTX_set_purpose(tls->ctx, X509_PURPOSE_ANY);
    SSL_CTX_set1_cert_store(tls->ctx, tls->store);
    SSL_CTX_set_verify(tls->ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                       tls->pinned ? take_any : on_verify);
    /* No resumption: each session proves the certificate again, so revocation takes effect. */
    (void)SSL_CTX_set_num_tickets(tls->ctx, 0);
    (void)SSL_CTX_set_session_cache_mode(tls->ctx, SSL_SESS_CACHE_OFF);
    (void)SSL_CTX_set_options(tls->ctx, SSL_OP_IGNORE_UNEXPECTED_EOF);
    (void)SSL_CTX_set_mode(tls->ctx, SSL_MODE_RELEASE_BUFFERS); /* idle sessions stay small */
    return tls;
}

void gwd_tls_free(struct gwd_tls *tls)
{
    if (tls == NULL)
        return;
    SSL_CTX_free(tls->ctx);
    X509_STORE_free(tls->store);
    free(tls);
}

SSL *gwd_tls_open(struct gwd_tls *tls, bool server, struct gwd_tls_verdict *verdict)
{
    SSL *ssl = SSL_new(tls->ctx);
    if (ssl == NULL)
        return NULL;
    *verdict = (struct gwd_tls_verdict){.take_self_issued = verdict->take_self_issued};
    (void)SSL_set_app_data(ssl, verdict);
    if (server)
        SSL_set_accept_state(ssl);
    else
        SSL_set_connect_state(ssl);
    return ssl;
}

bool gwd_tls_key_hash(SSL *ssl, uint8_t out[GWD_KEY_HASH_BYTES])
{
    X509 *cert = SSL_get1_peer_certificate(ssl);
    bool ok = cert != NULL && gwd_key_hash(cert, out);
    X509_free(cert);
    return ok;
}

void gwd_tls_own_key_hash(const struct gwd_tls *tls, uint8_t out[GWD_KEY_HASH_BYTES])
{
    GMC_ASSERT(gwd_key_hash(SSL_CTX_get0_certificate(tls->ctx), out));
}

bool gwd_tls_is_gateway(const struct gwd_tls *tls, SSL *ssl)
{
    uint8_t hash[GWD_KEY_HASH_BYTES];
    return !tls->pinned ||
           (gwd_tls_key_hash(ssl, hash) && CRYPTO_memcmp(hash, tls->gateway, sizeof hash) == 0);
}

const char *gwd_tls_recheck(struct gwd_tls *tls, SSL *ssl)
{
    if (tls->pinned)
        return NULL;
    X509 *cert = SSL_get1_peer_certificate(ssl);
    const char *error = "no certificate";
    if (cert != NULL)
        error = gwd_cert_verify(tls->store, cert, SSL_get_peer_cert_chain(ssl));
    X509_free(cert);
    return error;
}

bool gwd_tls_secrets(SSL *ssl, uint8_t client_to_server[GMC_KEY_BYTES],
                     uint8_t server_to_client[GMC_KEY_BYTES])
{
    uint8_t both[2 * GMC_KEY_BYTES];
    if (SSL_export_keying_material(ssl, both, sizeof both, EXPORTER_LABEL, strlen(EXPORTER_LABEL),
                                   NULL, 0, 0) != 1)
        return false;
    memcpy(client_to_server, both, GMC_KEY_BYTES);
    memcpy(server_to_client, both + GMC_KEY_BYTES, GMC_KEY_BYTES);
    OPENSSL_cleanse(both, sizeof both);
    return true;
}

size_t gwd_tls_spki(SSL *ssl, uint8_t **spki)
{
    X509 *cert = SSL_get1_peer_certificate(ssl);
    int len;
    *spki = NULL;
    if (cert == NULL)
        return 0;
    len = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(cert), spki);
    X509_free(cert);
    return len > 0 ? (size_t)len : 0;
}

int64_t gwd_tls_seconds_left(const struct gwd_tls *tls)
{
    return tls->seconds_left;
}

const char *gwd_tls_alert_text(unsigned long error)
{
    static const struct {
        int reason;
        const char *text;
    } alerts[] = {{SSL_R_TLSV1_ALERT_UNKNOWN_CA, "it does not know the authority that issued it"},
                  {SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED, "it has expired"},
                  {SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED, "it is revoked"},
                  {SSL_R_SSLV3_ALERT_BAD_CERTIFICATE, "it is not valid"},
                  {SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE, "its kind is not supported"},
                  {SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN, "it is not acceptable"},
                  {SSL_R_TLSV1_ALERT_ACCESS_DENIED, "access is denied"},
                  {SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED, "none was shown"},
                  {SSL_R_TLSV1_ALERT_DECRYPT_ERROR, "its signature is wrong"}};
    for (size_t i = 0; ERR_GET_LIB(error) == ERR_LIB_SSL && i < sizeof alerts / sizeof *alerts;
         i++) {
        if (ERR_GET_REASON(error) == alerts[i].reason)
            return alerts[i].text;
    }
    return NULL;
}

EVP_PKEY *gwd_tls_key(const struct gwd_tls *tls)
{
    return SSL_CTX_get0_privatekey(tls->ctx);
}
