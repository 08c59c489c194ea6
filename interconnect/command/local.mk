# SPDX-License-Identifier: BSD-2-Clause
# Owns the build of gmcast-interconnect. It stands on the simulator's library too: processes over
# cores and machines, pictures. Built with --disable-daemons too.

EXTRA_DIST += interconnect/command/.includes

# All but main.
noinst_LTLIBRARIES += interconnect/command/libcommand.la
interconnect_command_libcommand_la_CPPFLAGS = $(HOST_CPPFLAGS) $(JANSSON_CFLAGS)
interconnect_command_libcommand_la_SOURCES = \
	interconnect/command/advise.c \
	interconnect/command/bars.c interconnect/command/bars.h \
	interconnect/command/columns.c interconnect/command/columns.h \
	interconnect/command/command.h \
	interconnect/command/curves.c interconnect/command/curves.h \
	interconnect/command/file.c interconnect/command/file.h \
	interconnect/command/golden.c interconnect/command/golden.h \
	interconnect/command/graph.c \
	interconnect/command/limits.c interconnect/command/limits.h \
	interconnect/command/list.c \
	interconnect/command/options.c interconnect/command/options.h \
	interconnect/command/outcome.c interconnect/command/outcome.h \
	interconnect/command/points.c interconnect/command/points.h \
	interconnect/command/records.c interconnect/command/records.h \
	interconnect/command/reproduce.c \
	interconnect/command/run.c \
	interconnect/command/schedule.c interconnect/command/schedule.h \
	interconnect/command/schedule_ldr.c \
	interconnect/command/studies.c interconnect/command/studies.h \
	interconnect/command/studies_clusters.c \
	interconnect/command/studies_cubes.c \
	interconnect/command/studies_ldr.c \
	interconnect/command/studies_qos.c \
	interconnect/command/studies_star.c \
	interconnect/command/studies_torus.c \
	interconnect/command/studies_wan.c \
	interconnect/command/study.c interconnect/command/study.h \
	interconnect/command/topology.c interconnect/command/topology.h \
	interconnect/command/wan.c \
	interconnect/command/words.c \
	interconnect/command/write.c

bin_PROGRAMS += interconnect/gmcast-interconnect
interconnect_gmcast_interconnect_CPPFLAGS = $(HOST_CPPFLAGS) $(MPI_CFLAGS)
interconnect_gmcast_interconnect_SOURCES = interconnect/command/main.c sim-wan/run/pool_mpi.c
interconnect_gmcast_interconnect_LDADD = interconnect/command/libcommand.la \
	experiments/libreport.la interconnect/libinterconnect.la $(GMC_SIM_LIBS) $(MPI_LIBS) -lm

# make reproduce [QUICK=1]: everything into interconnect-out/, the overview in its index.html.
reproduce: interconnect/gmcast-interconnect
	interconnect/gmcast-interconnect reproduce --out interconnect-out $(if $(QUICK),--quick)
.PHONY: reproduce

check_PROGRAMS += tests/unit/test_ic_wan
tests_unit_test_ic_wan_SOURCES = tests/unit/test_ic_wan.c tests/unit/ic_table.c \
	tests/unit/ic_table.h
tests_unit_test_ic_wan_LDADD = interconnect/command/libcommand.la interconnect/libinterconnect.la \
	$(GMC_SIM_LIBS) $(TEST_LIBS)

dist_check_SCRIPTS += tests/interconnect/test_command.sh
TESTS += tests/interconnect/test_command.sh
