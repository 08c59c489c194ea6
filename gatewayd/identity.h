/* SPDX-License-Identifier: BSD-2-Clause */
/* Who this daemon is: key and certificate from the files of the tls section, or, at a node without
 * one, the key that it made itself. Such a node keeps two files in its state directory: node.key
 * (its private key, PEM) and gateway.key (SHA-256 of its gateway's public key, hexadecimal). Its
 * certificate is issued by itself and says its name; what counts is the key. */
#ifndef GWD_IDENTITY_H
#define GWD_IDENTITY_H

#include <openssl/ssl.h>
#include <sys/types.h>

#include "gatewayd/conf.h"
#include "gatewayd/token.h"

struct gwd_identity {
    EVP_PKEY *key;
    STACK_OF(X509) * chain; /* the own certificate first */
    bool pinned;            /* the gateway is known by its key, not by an authority */
    uint8_t gateway[GWD_KEY_HASH_BYTES];
};

/* conf is of a node that has no tls section. */
bool gwd_identity_is_own(const struct gwd_conf *conf);
/* Reads key, certificate, and whom to trust. False with a reason. */
bool gwd_identity_load(const struct gwd_conf *conf, struct gwd_identity *identity, char *reason,
                       size_t size);
void gwd_identity_fini(struct gwd_identity *identity);

/* At the start of a node without a tls section: makes its key if there is none, and notes the
 * gateway that the token names. The files are given to uid and gid unless these are -1. token is
 * written and *has_token set when conf names a file with one. False with a reason. */
bool gwd_identity_prepare(const struct gwd_conf *conf, uid_t uid, gid_t gid,
                          struct gwd_token *token, bool *has_token, char *reason, size_t size);
/* The token in the file that conf names. False with a reason. */
bool gwd_identity_token(const struct gwd_conf *conf, struct gwd_token *token, char *reason,
                        size_t size);
/* There is what gwd_identity_prepare leaves behind. */
bool gwd_identity_is_prepared(const struct gwd_conf *conf);

/* SHA-256 of a SubjectPublicKeyInfo; false without memory. */
bool gwd_key_hash(X509 *cert, uint8_t out[GWD_KEY_HASH_BYTES]);

#endif
