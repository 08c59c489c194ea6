/* SPDX-License-Identifier: BSD-2-Clause */
/* A cryptography for tests of links: keyed and sensitive to every bit, but protecting nothing. */
#ifndef GMC_TESTS_TESTCRYPTO_H
#define GMC_TESTS_TESTCRYPTO_H

#include "crypto/crypto.h"

struct testcrypto {
    struct gmc_crypto crypto; /* ctx points back here */
    uint64_t seed;            /* of random */
    bool fail;                /* seal and tag fail while set */
};

void testcrypto_init(struct testcrypto *tc, uint64_t seed);

#endif
