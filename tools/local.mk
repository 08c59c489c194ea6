# SPDX-License-Identifier: BSD-2-Clause
# Owns the build of the command-line tools, one source file per subcommand.

EXTRA_DIST += tools/.includes

if WITH_DAEMONS
# bin_PROGRAMS += tools/gmcast
# tools_gmcast_SOURCES = tools/gmcast.c
# tools_gmcast_LDADD = $(GMC_CLIENT_LIBS) $(LIBZMQ_LIBS)
endif
