# SPDX-License-Identifier: BSD-2-Clause
# Owns the build and the unit tests of libgmcast/fec: the erasure code's table and its implementation.

noinst_LTLIBRARIES += libgmcast/fec/libfec.la
libgmcast_fec_libfec_la_CPPFLAGS = $(PURE_CPPFLAGS) $(ISAL_CFLAGS)
libgmcast_fec_libfec_la_LIBADD = $(ISAL_LIBS)
libgmcast_fec_libfec_la_CFLAGS = $(PURE_CFLAGS)
libgmcast_fec_libfec_la_SOURCES = \
	libgmcast/fec/cauchy.c libgmcast/fec/cauchy.h \
	libgmcast/fec/code.c libgmcast/fec/code.h \
	libgmcast/fec/fec.h \
	libgmcast/fec/gf256.c libgmcast/fec/gf256.h \
	libgmcast/fec/isal.c libgmcast/fec/kernel.h libgmcast/fec/plain.c

EXTRA_DIST += libgmcast/fec/.includes

check_PROGRAMS += tests/unit/test_fec
tests_unit_test_fec_LDADD = $(GMC_FEC_LIBS) $(TEST_LIBS)
