/* SPDX-License-Identifier: BSD-2-Clause */
/* AES-256-GCM by the Multi-Buffer library (libipsec-mb), where we were built with it and the
 * processor has AES instructions: three times as fast as libcrypto for a datagram, four times for a
 * link tag, because a message is one call and there are no objects to set up. */
#ifndef GMC_CRYPTO_GCM_MB_H
#define GMC_CRYPTO_GCM_MB_H

#include "crypto/crypto.h"

struct gmc_gcm_mb;

/* NULL where it cannot be used, or out of memory. */
struct gmc_gcm_mb *gmc_gcm_mb_new(void);
/* NULL is ignored. All its keys must have been freed before. */
void gmc_gcm_mb_free(struct gmc_gcm_mb *mb);

/* A prepared key; for one thread at a time. NULL when out of memory. */
struct gmc_aead *gmc_gcm_mb_aead_new(const struct gmc_gcm_mb *mb, const uint8_t key[GMC_KEY_BYTES]);
/* Puts what works on these keys into the table, in place of what was there; not aead_new. */
void gmc_gcm_mb_fill(struct gmc_crypto_ops *ops);

#endif
