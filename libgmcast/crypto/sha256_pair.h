/* SPDX-License-Identifier: BSD-2-Clause */
/* SHA-256 of two messages at once (FIPS 180-4), with the SHA extensions of x86-64.
 *
 * A round waits for the one before it, so one message leaves the unit idle for half of the time;
 * the blocks of an object are independent of each other, and two of them fill it. libcrypto has no
 * call for this. */
#ifndef GMC_CRYPTO_SHA256_PAIR_H
#define GMC_CRYPTO_SHA256_PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether this processor can; looks at it anew each time, a thousand cycles. */
bool gmc_sha256_pair_usable(void);
/* out[i] = SHA-256 of the len bytes at data[i]. Only where it is usable. Thread-safe. */
void gmc_sha256_pair(const uint8_t *const data[2], size_t len, uint8_t *const out[2]);

#endif
