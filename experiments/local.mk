# SPDX-License-Identifier: BSD-2-Clause
# Owns the build of the experiments: published case studies and sweeps over the simulator. Built with
# --disable-daemons too; not installed.

EXTRA_DIST += experiments/.includes

# What is left behind, and the page; gmcast-interconnect reproduce makes the same.
noinst_LTLIBRARIES += experiments/libreport.la
experiments_libreport_la_SOURCES = \
	experiments/file.c experiments/file.h \
	experiments/overview.c \
	experiments/report.c experiments/report.h

noinst_PROGRAMS += experiments/experiments
experiments_experiments_CPPFLAGS = $(HOST_CPPFLAGS) $(JANSSON_CFLAGS)
experiments_experiments_LDADD = experiments/libreport.la interconnect/libinterconnect.la $(GMC_SIM_LIBS)
experiments_experiments_SOURCES = \
	experiments/case1.c experiments/case1.h experiments/case1_path.c experiments/case1_report.c \
	experiments/case2.c experiments/case2.h experiments/case2_report.c \
	experiments/experiment.h \
	experiments/jobs.c experiments/jobs.h \
	experiments/main.c \
	experiments/map.c \
	experiments/relay.c \
	experiments/san.c experiments/san.h \
	experiments/shapes.c \
	experiments/sweeps.c \
	experiments/transfer.c experiments/transfer.h

# make experiments [QUICK=1] [TOPOLOGY=map.gml]: everything into experiments-out/, the overview in its
# index.html.
experiments: experiments/experiments
	experiments/experiments --out experiments-out $(if $(filter-out 0 no,$(QUICK)),--quick) \
	    $(if $(TOPOLOGY),--topology '$(TOPOLOGY)')
.PHONY: experiments

check_PROGRAMS += tests/unit/test_ex_san
tests_unit_test_ex_san_SOURCES = tests/unit/test_ex_san.c experiments/san.c experiments/san.h
tests_unit_test_ex_san_LDADD = interconnect/libinterconnect.la $(GMC_SIM_LIBS) $(TEST_LIBS)

dist_check_SCRIPTS += tests/experiments/test_experiments.sh
TESTS += tests/experiments/test_experiments.sh
