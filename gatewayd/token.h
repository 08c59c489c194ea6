/* SPDX-License-Identifier: BSD-2-Clause */
/* The token with which a node enrols at its gateway: a secret that the gateway gave out for it, and
 * the hash of the gateway's public key, by which the node knows the gateway.
 *
 * As text: "gmn1-", the secret and the hash as 96 hexadecimal digits.
 */
#ifndef GWD_TOKEN_H
#define GWD_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GWD_SECRET_BYTES 16u /* nobody guesses 128 random bits */
#define GWD_KEY_HASH_BYTES 32u
#define GWD_TOKEN_TEXT_MAX (5 + 2 * (GWD_SECRET_BYTES + GWD_KEY_HASH_BYTES) + 1)

struct gwd_token {
    uint8_t secret[GWD_SECRET_BYTES];
    uint8_t gateway[GWD_KEY_HASH_BYTES]; /* SHA-256 of its SubjectPublicKeyInfo (DER) */
};

void gwd_token_text(const struct gwd_token *token, char out[GWD_TOKEN_TEXT_MAX]);
/* White space around it is left out; false when text is none. */
bool gwd_token_parse(const char *text, struct gwd_token *token);

/* Bytes as lower-case hexadecimal digits, with a zero behind them, and back: exactly 2 * len digits
 * have to stand there; what follows them is not looked at. */
void gwd_hex(const uint8_t *bytes, size_t len, char *out);
bool gwd_unhex(const char *text, uint8_t *bytes, size_t len);

#endif
