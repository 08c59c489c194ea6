# SPDX-License-Identifier: BSD-2-Clause
# Owns the build and the unit tests of libgmcast/wire: bytes to messages and back.

noinst_LTLIBRARIES += libgmcast/wire/libwire.la
libgmcast_wire_libwire_la_CPPFLAGS = $(PURE_CPPFLAGS)
libgmcast_wire_libwire_la_CFLAGS = $(PURE_CFLAGS)
libgmcast_wire_libwire_la_SOURCES =

# scripts/check-purity holds these objects to its list of allowed names.
PURE_LIBS += libgmcast/wire/libwire.la

EXTRA_DIST += libgmcast/wire/.includes

# A test is two lines:
#   check_PROGRAMS += tests/unit/test_x
#   tests_unit_test_x_LDADD = $(GMC_WIRE_LIBS) $(TEST_LIBS)
