# SPDX-License-Identifier: BSD-2-Clause
# Owns the build of gatewayd: libgatewayd.la (everything but main) and the daemon itself.

EXTRA_DIST += gatewayd/.includes

if WITH_DAEMONS
noinst_LTLIBRARIES += gatewayd/libgatewayd.la
gatewayd_libgatewayd_la_CPPFLAGS = $(HOST_CPPFLAGS) $(LIBEVENT_CFLAGS) $(LIBZMQ_CFLAGS) \
	$(LIBCONFUSE_CFLAGS) $(OPENSSL_SSL_CFLAGS) $(OPENSSL_CFLAGS) $(JANSSON_CFLAGS)
gatewayd_libgatewayd_la_SOURCES =

# sbin_PROGRAMS += gatewayd/gatewayd
# gatewayd_gatewayd_SOURCES = gatewayd/main.c
# gatewayd_gatewayd_LDADD = $(GMC_GATEWAYD_LIBS)
endif

# A test is two lines (inside the condition):
#   check_PROGRAMS += tests/unit/test_gwd_x
#   tests_unit_test_gwd_x_LDADD = $(GMC_GATEWAYD_LIBS) $(TEST_LIBS)
