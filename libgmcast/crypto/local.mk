# SPDX-License-Identifier: BSD-2-Clause
# Owns the build and the unit tests of libgmcast/crypto: the crypto table, the replay window and the implementations.

noinst_LTLIBRARIES += libgmcast/crypto/libcrypto_gmc.la
libgmcast_crypto_libcrypto_gmc_la_CPPFLAGS = $(PURE_CPPFLAGS) $(OPENSSL_CFLAGS)
libgmcast_crypto_libcrypto_gmc_la_CFLAGS = $(PURE_CFLAGS)
libgmcast_crypto_libcrypto_gmc_la_SOURCES =

EXTRA_DIST += libgmcast/crypto/.includes

# A test is two lines:
#   check_PROGRAMS += tests/unit/test_x
#   tests_unit_test_x_LDADD = $(GMC_CRYPTO_LIBS) $(TEST_LIBS)

# The replay window.
libgmcast_crypto_libcrypto_gmc_la_SOURCES += libgmcast/crypto/replay.c libgmcast/crypto/replay.h
