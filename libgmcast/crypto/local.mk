# SPDX-License-Identifier: BSD-2-Clause
# Owns the build and the unit tests of libgmcast/crypto: the crypto table, the replay window and the implementations.

noinst_LTLIBRARIES += libgmcast/crypto/libcrypto_gmc.la
libgmcast_crypto_libcrypto_gmc_la_CPPFLAGS = $(PURE_CPPFLAGS) $(OPENSSL_CFLAGS) $(IPSEC_MB_CFLAGS)
libgmcast_crypto_libcrypto_gmc_la_LIBADD = $(IPSEC_MB_LIBS)
libgmcast_crypto_libcrypto_gmc_la_CFLAGS = $(PURE_CFLAGS)
libgmcast_crypto_libcrypto_gmc_la_SOURCES = \
	libgmcast/crypto/crypto.h \
	libgmcast/crypto/cheap.c libgmcast/crypto/cheap.h \
	libgmcast/crypto/gcm_mb.c libgmcast/crypto/gcm_mb.h \
	libgmcast/crypto/openssl.c libgmcast/crypto/openssl.h libgmcast/crypto/openssl_impl.h \
	libgmcast/crypto/openssl_sign.c \
	libgmcast/crypto/sha256_pair.c libgmcast/crypto/sha256_pair.h

EXTRA_DIST += libgmcast/crypto/.includes

# A test is two lines:
#   check_PROGRAMS += tests/unit/test_x
#   tests_unit_test_x_LDADD = $(GMC_CRYPTO_LIBS) $(TEST_LIBS)

# The replay window.
libgmcast_crypto_libcrypto_gmc_la_SOURCES += libgmcast/crypto/replay.c libgmcast/crypto/replay.h

# Both implementations.
check_PROGRAMS += tests/unit/test_crypto
tests_unit_test_crypto_SOURCES = tests/unit/test_crypto.c tests/unit/test_crypto_vectors.c \
	tests/unit/test_crypto_vectors.h
tests_unit_test_crypto_LDADD = $(GMC_CRYPTO_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/unit/test_replay
tests_unit_test_replay_LDADD = $(GMC_CRYPTO_LIBS) $(TEST_LIBS)
