/* SPDX-License-Identifier: BSD-2-Clause */
/* Published answers that the OpenSSL implementation has to give. */
#ifndef TESTS_UNIT_TEST_CRYPTO_VECTORS_H
#define TESTS_UNIT_TEST_CRYPTO_VECTORS_H

void test_vectors_gcm(void **state);
void test_vectors_gmac(void **state);
void test_vectors_sha256(void **state);
void test_vectors_hkdf(void **state);
void test_vectors_ed25519(void **state);

#endif
