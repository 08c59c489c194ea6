# SPDX-License-Identifier: BSD-2-Clause
# Owns the build of messages over libfabric: libfab.la. Without libfabric there is no provider.

EXTRA_DIST += fabric/.includes

if WITH_DAEMONS
noinst_LTLIBRARIES += fabric/libfab.la
fabric_libfab_la_CPPFLAGS = $(HOST_CPPFLAGS) $(LIBFABRIC_CFLAGS)
fabric_libfab_la_SOURCES = \
	fabric/batch.c fabric/batch.h \
	fabric/fabric.c fabric/fabric.h \
	fabric/ofi.h fabric/wire.h
if WITH_LIBFABRIC
fabric_libfab_la_SOURCES += fabric/ofi.c fabric/ofi_library.c fabric/ofi_library.h
else
fabric_libfab_la_SOURCES += fabric/none.c
endif

check_PROGRAMS += tests/unit/test_fabric
tests_unit_test_fabric_LDADD = $(GMC_FABRIC_LIBS) $(TEST_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_fabric
tests_fuzz_fuzz_fabric_LDADD = $(FUZZ_MAIN) $(GMC_FABRIC_LIBS)
endif
