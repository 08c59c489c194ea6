/* SPDX-License-Identifier: BSD-2-Clause */
/* TLS as gateways use it: version 1.3 only, both sides show certificates, no resumption, keys for
 * the link from the exporter. */
#ifndef GWD_TLS_H
#define GWD_TLS_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/io.h"
#include "gatewayd/conf.h"
#include "gatewayd/token.h"

struct gwd_tls;

/* Why the other side's certificate was refused, kept beside each connection. */
struct gwd_tls_verdict {
    const char *error; /* NULL: not refused */
    char names[256];   /* what the certificate says it is for; not proved */
    /* Taken although no authority stands behind it; whoever relies on it looks at the key. */
    bool take_self_issued; /* as the caller wishes, before the handshake */
    bool is_self_issued;   /* it was such a one */
};

/* Certificate, key, authorities and revocation lists of conf; NULL with a reason. At a node that
 * knows its gateway by its key no authority counts: gwd_tls_is_gateway has to be asked. */
struct gwd_tls *gwd_tls_new(const struct gwd_conf *conf, char *reason, size_t size);
/* The own private key, borrowed. */
EVP_PKEY *gwd_tls_key(const struct gwd_tls *tls);
void gwd_tls_free(struct gwd_tls *tls);
/* A connection; verdict is filled while it shakes hands and has to outlive it. NULL: no memory. */
SSL *gwd_tls_open(struct gwd_tls *tls, bool server, struct gwd_tls_verdict *verdict);
/* Checks the other side of a connection again, against what is loaded now; NULL or why not. */
const char *gwd_tls_recheck(struct gwd_tls *tls, SSL *ssl);
/* Secrets of both directions, after the handshake. */
bool gwd_tls_secrets(SSL *ssl, uint8_t client_to_server[GMC_KEY_BYTES],
                     uint8_t server_to_client[GMC_KEY_BYTES]);
/* The public key of the other side (DER); to be freed with OPENSSL_free. 0 on failure. */
size_t gwd_tls_spki(SSL *ssl, uint8_t **spki);
/* The other side may be our gateway as far as its key goes: it is the one that we are told of, or
 * authorities answer for it. */
bool gwd_tls_is_gateway(const struct gwd_tls *tls, SSL *ssl);
/* The hash of the other side's public key; false: it has none. */
bool gwd_tls_key_hash(SSL *ssl, uint8_t out[GWD_KEY_HASH_BYTES]);
/* The hash of the own public key. */
void gwd_tls_own_key_hash(const struct gwd_tls *tls, uint8_t out[GWD_KEY_HASH_BYTES]);
/* Seconds until the own certificate expires. */
int64_t gwd_tls_seconds_left(const struct gwd_tls *tls);
/* An OpenSSL error code as the alert it stands for, in words; NULL when it is no alert about our
 * certificate. */
const char *gwd_tls_alert_text(unsigned long error);

#endif
