# SPDX-License-Identifier: BSD-2-Clause
# Owns the build and the unit tests of libgmcast/base: what every other folder stands on.

noinst_LTLIBRARIES += libgmcast/base/libbase.la
libgmcast_base_libbase_la_CPPFLAGS = $(PURE_CPPFLAGS)
libgmcast_base_libbase_la_CFLAGS = $(PURE_CFLAGS)
libgmcast_base_libbase_la_SOURCES = \
	libgmcast/base/assert.c libgmcast/base/assert.h \
	libgmcast/base/bytes.c libgmcast/base/bytes.h \
	libgmcast/base/comments.c libgmcast/base/comments.h \
	libgmcast/base/heap.c libgmcast/base/heap.h \
	libgmcast/base/interval.c libgmcast/base/interval.h \
	libgmcast/base/list.h \
	libgmcast/base/map.c libgmcast/base/map.h libgmcast/base/near.h \
	libgmcast/base/pool.h \
	libgmcast/base/prng.c libgmcast/base/prng.h \
	libgmcast/base/status.c libgmcast/base/status.h \
	libgmcast/base/time.c libgmcast/base/time.h \
	libgmcast/base/trace.c libgmcast/base/trace.h libgmcast/base/trace_events.h

# scripts/check-purity holds these objects to its list of allowed names.
PURE_LIBS += libgmcast/base/libbase.la

EXTRA_DIST += libgmcast/base/.includes

check_PROGRAMS += \
	tests/unit/test_assert \
	tests/unit/test_bytes \
	tests/unit/test_comments \
	tests/unit/test_heap \
	tests/unit/test_interval \
	tests/unit/test_list \
	tests/unit/test_map \
	tests/unit/test_pool \
	tests/unit/test_near \
	tests/unit/test_prng \
	tests/unit/test_status \
	tests/unit/test_time \
	tests/unit/test_trace
tests_unit_test_assert_LDADD = $(GMC_BASE_LIBS) $(TEST_LIBS)
tests_unit_test_bytes_LDADD = $(GMC_BASE_LIBS) $(TEST_LIBS)
tests_unit_test_comments_LDADD = $(GMC_BASE_LIBS) $(TEST_LIBS)
tests_unit_test_heap_LDADD = $(GMC_BASE_LIBS) $(TEST_LIBS)
tests_unit_test_interval_LDADD = $(GMC_BASE_LIBS) $(TEST_LIBS)
tests_unit_test_list_LDADD = $(GMC_BASE_LIBS) $(TEST_LIBS)
tests_unit_test_map_LDADD = $(GMC_BASE_LIBS) $(TEST_LIBS)
tests_unit_test_pool_LDADD = $(GMC_BASE_LIBS) $(TEST_LIBS)
tests_unit_test_near_LDADD = $(GMC_BASE_LIBS) $(TEST_LIBS)
tests_unit_test_prng_LDADD = $(GMC_BASE_LIBS) $(TEST_LIBS)
tests_unit_test_status_LDADD = $(GMC_BASE_LIBS) $(TEST_LIBS)
tests_unit_test_time_LDADD = $(GMC_BASE_LIBS) $(TEST_LIBS)
tests_unit_test_trace_LDADD = $(GMC_BASE_LIBS) $(TEST_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_interval
tests_fuzz_fuzz_interval_LDADD = $(FUZZ_MAIN) $(GMC_BASE_LIBS)
