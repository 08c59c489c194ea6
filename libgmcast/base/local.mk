# SPDX-License-Identifier: BSD-2-Clause
# Owns the build and the unit tests of libgmcast/base: what every other folder stands on.

noinst_LTLIBRARIES += libgmcast/base/libbase.la
libgmcast_base_libbase_la_CPPFLAGS = $(PURE_CPPFLAGS)
libgmcast_base_libbase_la_CFLAGS = $(PURE_CFLAGS)
libgmcast_base_libbase_la_SOURCES = \
	libgmcast/base/assert.c libgmcast/base/assert.h \
	libgmcast/base/bytes.c libgmcast/base/bytes.h \
	libgmcast/base/heap.c libgmcast/base/heap.h \
	libgmcast/base/interval.c libgmcast/base/interval.h \
	libgmcast/base/list.h \
	libgmcast/base/map.c libgmcast/base/map.h \
	libgmcast/base/pool.c libgmcast/base/pool.h \
	libgmcast/base/prng.c libgmcast/base/prng.h \
	libgmcast/base/status.c libgmcast/base/status.h \
	libgmcast/base/time.c libgmcast/base/time.h \
	libgmcast/base/trace.c libgmcast/base/trace.h libgmcast/base/trace_events.h

# scripts/check-purity holds these objects to its list of allowed names.
PURE_LIBS += libgmcast/base/libbase.la

EXTRA_DIST += libgmcast/base/.includes

check_PROGRAMS += tests/unit/test_status
tests_unit_test_status_LDADD = $(GMC_BASE_LIBS) $(TEST_LIBS)
