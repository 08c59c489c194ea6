# SPDX-License-Identifier: BSD-2-Clause
# Owns the build of gmcast-noded, which is libgatewayd.la with a role of its own.

EXTRA_DIST += noded/.includes

if WITH_DAEMONS
sbin_PROGRAMS += noded/gmcast-noded
noded_gmcast_noded_CPPFLAGS = $(HOST_CPPFLAGS) -DNODED_CONF_FILE='"$(sysconfdir)/gmcast/noded.conf"'
noded_gmcast_noded_SOURCES = noded/main.c
noded_gmcast_noded_LDADD = $(GMC_GATEWAYD_LIBS)
noded/gmcast_noded-main.$(OBJEXT): Makefile # another sysconfdir: the path in it
endif
