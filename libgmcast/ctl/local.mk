# SPDX-License-Identifier: BSD-2-Clause
# Owns the build and the unit tests of libgmcast/ctl: request codec and dispatch of the control API.

noinst_LTLIBRARIES += libgmcast/ctl/libctl.la
libgmcast_ctl_libctl_la_CPPFLAGS = $(PURE_CPPFLAGS)
libgmcast_ctl_libctl_la_CFLAGS = $(PURE_CFLAGS)
libgmcast_ctl_libctl_la_SOURCES = \
	libgmcast/ctl/ctl.c libgmcast/ctl/ctl.h \
	libgmcast/ctl/ctl_find.c \
	libgmcast/ctl/ctl_internal.h \
	libgmcast/ctl/ctl_reply.c \
	libgmcast/ctl/ctl_report.c \
	libgmcast/ctl/findings.c libgmcast/ctl/findings.h

EXTRA_DIST += libgmcast/ctl/.includes

# A test is two lines:
#   check_PROGRAMS += tests/unit/test_x
#   tests_unit_test_x_LDADD = $(GMC_CTL_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/unit/test_ctl
tests_unit_test_ctl_LDADD = $(GMC_CTL_LIBS) $(TEST_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_requests
tests_fuzz_fuzz_requests_LDADD = $(FUZZ_MAIN) $(GMC_CTL_LIBS)
