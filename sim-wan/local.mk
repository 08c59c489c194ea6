# SPDX-License-Identifier: BSD-2-Clause
# Owns the build of the WAN simulator: libsim.la (everything but main) and the command. It is built
# with --disable-daemons too.

EXTRA_DIST += sim-wan/.includes

noinst_LTLIBRARIES += sim-wan/libsim.la
sim_wan_libsim_la_CPPFLAGS = $(HOST_CPPFLAGS) $(OPENSSL_CFLAGS) $(JANSSON_CFLAGS)
sim_wan_libsim_la_CFLAGS = $(AM_CFLAGS) $(EXACT_CFLAGS)
sim_wan_libsim_la_SOURCES =

# bin_PROGRAMS += sim-wan/sim-wan
# sim_wan_sim_wan_SOURCES = sim-wan/main.c
# sim_wan_sim_wan_LDADD = $(GMC_SIM_LIBS)

# A test is two lines:
#   check_PROGRAMS += tests/unit/test_sim_x
#   tests_unit_test_sim_x_LDADD = $(GMC_SIM_LIBS) $(TEST_LIBS)
