# SPDX-License-Identifier: BSD-2-Clause
# Owns the build of the client API: libclient.la for our own tools and tests, and the installed
# libgmcast.la with its headers and its pkg-config file.

noinst_LTLIBRARIES += libgmcast/client/libclient.la
libgmcast_client_libclient_la_CPPFLAGS = $(PURE_CPPFLAGS) $(LIBZMQ_CFLAGS)
libgmcast_client_libclient_la_CFLAGS = $(PURE_CFLAGS)
libgmcast_client_libclient_la_SOURCES = libgmcast/client/client.c

EXTRA_DIST += libgmcast/client/.includes

# Each header in include/gmcast compiles alone and includes nothing of ours but its neighbours.
gmcastincludedir = $(includedir)/gmcast
gmcastinclude_HEADERS = \
	libgmcast/include/gmcast/client.h \
	libgmcast/include/gmcast/control.h

# ZeroMQ comes with the daemons; without them the API takes other transports.
if WITH_DAEMONS
libgmcast_client_libclient_la_CPPFLAGS += -D_GNU_SOURCE
libgmcast_client_libclient_la_SOURCES += libgmcast/client/client_zmq.c libgmcast/client/messages.c
gmcastinclude_HEADERS += libgmcast/include/gmcast/client_zmq.h libgmcast/include/gmcast/messages.h
endif

# current:revision:age by the rules of libtool's manual, changed only in a release.
lib_LTLIBRARIES += libgmcast.la
libgmcast_la_SOURCES =
libgmcast_la_LIBADD = $(GMC_CLIENT_LIBS) $(LIBZMQ_LIBS)
libgmcast_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -export-symbols-regex '^gmc_(client|status|publisher|subscriber)_'

pkgconfig_DATA = libgmcast/libgmcast.pc

check_PROGRAMS += tests/unit/test_client
tests_unit_test_client_LDADD = $(GMC_CLIENT_LIBS) $(LIBZMQ_LIBS) $(TEST_LIBS)
if WITH_DAEMONS
check_PROGRAMS += tests/unit/test_client_messages
tests_unit_test_client_messages_CPPFLAGS = $(HOST_CPPFLAGS) $(LIBZMQ_CFLAGS)
tests_unit_test_client_messages_LDADD = $(GMC_CLIENT_LIBS) $(LIBZMQ_LIBS) $(TEST_LIBS) -lpthread
endif
