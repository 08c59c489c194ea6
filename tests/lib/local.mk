# SPDX-License-Identifier: BSD-2-Clause
# Owns what tests of several folders share: libtest.la, in TEST_LIBS.

check_LTLIBRARIES += tests/lib/libtest.la
tests_lib_libtest_la_SOURCES = tests/lib/unit.h

EXTRA_DIST += tests/.includes

# A bottleneck for congestion controls alone; with rivals its users need libsim too.
tests_lib_libtest_la_SOURCES += tests/lib/ccwire.c tests/lib/ccwire.h

# Two links back to back, over a wire in virtual time.
tests_lib_libtest_la_SOURCES += tests/lib/linkpair.c tests/lib/linkpair.h \
	tests/lib/testcrypto.c tests/lib/testcrypto.h

# Whole gateways in virtual time, without wires.
tests_lib_libtest_la_SOURCES += tests/lib/toynet.c tests/lib/toynet.h
