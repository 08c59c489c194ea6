# SPDX-License-Identifier: BSD-2-Clause
# Owns the build of the command-line tools, one source file per subcommand.

EXTRA_DIST += tools/.includes

# The certificate authority, apart so that its test links it without the command.
noinst_LTLIBRARIES += tools/libca.la
tools_libca_la_CPPFLAGS = $(HOST_CPPFLAGS) $(OPENSSL_CFLAGS)
tools_libca_la_SOURCES = \
	tools/ca_files.c tools/ca_files.h \
	tools/ca_store.c tools/ca_store.h \
	tools/ca_x509.c tools/ca_x509.h

check_PROGRAMS += tests/unit/test_ca
tests_unit_test_ca_LDADD = tools/libca.la $(OPENSSL_LIBS) $(TEST_LIBS)

if WITH_DAEMONS
bin_PROGRAMS += tools/gmcast
tools_gmcast_CPPFLAGS = $(HOST_CPPFLAGS) $(LIBZMQ_CFLAGS) $(JANSSON_CFLAGS) $(OPENSSL_CFLAGS)
tools_gmcast_SOURCES = \
	tools/gmcast.c tools/gmcast.h \
	tools/gmcast_ca.c
tools_gmcast_LDADD = tools/libca.la $(GMC_CLIENT_LIBS) $(LIBZMQ_LIBS) $(JANSSON_LIBS) $(OPENSSL_LIBS)
endif
