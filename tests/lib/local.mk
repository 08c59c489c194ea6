# SPDX-License-Identifier: BSD-2-Clause
# Owns what tests of several folders share: libtest.la, in TEST_LIBS.

check_LTLIBRARIES += tests/lib/libtest.la
tests_lib_libtest_la_SOURCES = tests/lib/unit.h

EXTRA_DIST += tests/.includes
