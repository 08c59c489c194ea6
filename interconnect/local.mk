# SPDX-License-Identifier: BSD-2-Clause
# Owns the build of the interconnect models: libinterconnect.la, one folder per family. It stands on
# base alone, and is built with --disable-daemons too.

EXTRA_DIST += interconnect/.includes

noinst_LTLIBRARIES += interconnect/libinterconnect.la
interconnect_libinterconnect_la_CPPFLAGS = $(HOST_CPPFLAGS)
interconnect_libinterconnect_la_CFLAGS = $(AM_CFLAGS) $(EXACT_CFLAGS)

# What families share.
interconnect_libinterconnect_la_SOURCES = \
	interconnect/advise.c interconnect/advise.h \
	interconnect/csv.c interconnect/csv.h \
	interconnect/error.c interconnect/error.h \
	interconnect/families.c interconnect/families.h \
	interconnect/family.c interconnect/family.h \
	interconnect/golden.c interconnect/golden.h \
	interconnect/golden_point.c interconnect/golden_point.h \
	interconnect/memo.c interconnect/memo.h \
	interconnect/runs.c interconnect/runs.h \
	interconnect/multicast.c interconnect/multicast.h \
	interconnect/place.c interconnect/place.h \
	interconnect/random.h \
	interconnect/saturation.c interconnect/saturation.h \
	interconnect/schedule.c interconnect/schedule.h \
	interconnect/stats.c interconnect/stats.h \
	interconnect/sweep.c interconnect/sweep.h \
	interconnect/text.c interconnect/text.h \
	interconnect/traffic.c interconnect/traffic.h

check_PROGRAMS += tests/unit/test_ic_advise
tests_unit_test_ic_advise_LDADD = $(GMC_INTERCONNECT_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_ic_family
tests_unit_test_ic_family_LDADD = $(GMC_INTERCONNECT_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_ic_golden
tests_unit_test_ic_golden_SOURCES = tests/unit/test_ic_golden.c tests/unit/ic_table.c \
	tests/unit/ic_table.h
tests_unit_test_ic_golden_LDADD = $(GMC_INTERCONNECT_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_ic_place
tests_unit_test_ic_place_LDADD = $(GMC_INTERCONNECT_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_ic_multicast
tests_unit_test_ic_multicast_SOURCES = tests/unit/test_ic_multicast.c tests/unit/ic_table.h
tests_unit_test_ic_multicast_LDADD = $(GMC_INTERCONNECT_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_ic_stats
tests_unit_test_ic_stats_SOURCES = tests/unit/test_ic_stats.c tests/unit/ic_table.h
tests_unit_test_ic_stats_LDADD = $(GMC_INTERCONNECT_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_ic_runs
tests_unit_test_ic_runs_LDADD = $(GMC_INTERCONNECT_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/unit/test_ic_sweep
tests_unit_test_ic_sweep_LDADD = $(GMC_INTERCONNECT_LIBS) $(TEST_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_ic_csv
tests_fuzz_fuzz_ic_csv_LDADD = $(FUZZ_MAIN) $(GMC_INTERCONNECT_LIBS)
FUZZ_TARGETS += tests/fuzz/fuzz_ic_network
tests_fuzz_fuzz_ic_network_LDADD = $(FUZZ_MAIN) $(GMC_INTERCONNECT_LIBS)
FUZZ_TARGETS += tests/fuzz/fuzz_ic_sweep
tests_fuzz_fuzz_ic_sweep_LDADD = $(FUZZ_MAIN) $(GMC_INTERCONNECT_LIBS)

# fattree
interconnect_libinterconnect_la_SOURCES += \
	interconnect/fattree/family.c \
	interconnect/fattree/golden.c \
	interconnect/fattree/javadi.c interconnect/fattree/javadi.h \
	interconnect/fattree/network.c interconnect/fattree/network.h \
	interconnect/fattree/tree.c interconnect/fattree/tree.h

check_PROGRAMS += tests/unit/test_ic_javadi
tests_unit_test_ic_javadi_SOURCES = tests/unit/test_ic_javadi.c tests/unit/ic_table.h
tests_unit_test_ic_javadi_LDADD = $(GMC_INTERCONNECT_LIBS) $(TEST_LIBS)

# hypercube
interconnect_libinterconnect_la_SOURCES += \
	interconnect/hypercube/family.c \
	interconnect/hypercube/golden.c \
	interconnect/hypercube/network.c interconnect/hypercube/network.h \
	interconnect/hypercube/pcube.c interconnect/hypercube/pcube.h \
	interconnect/hypercube/pcube_ways.c interconnect/hypercube/pcube_ways.h

check_PROGRAMS += tests/unit/test_ic_pcube
tests_unit_test_ic_pcube_SOURCES = tests/unit/test_ic_pcube.c tests/unit/ic_table.h
tests_unit_test_ic_pcube_LDADD = $(GMC_INTERCONNECT_LIBS) $(TEST_LIBS)

# qos
interconnect_libinterconnect_la_SOURCES += \
	interconnect/qos/counts.c interconnect/qos/counts.h \
	interconnect/qos/cube.c \
	interconnect/qos/deadline.c interconnect/qos/deadline.h \
	interconnect/qos/delays.c interconnect/qos/delays.h \
	interconnect/qos/lattice.c interconnect/qos/lattice.h \
	interconnect/qos/engine.c interconnect/qos/engine.h \
	interconnect/qos/family.c \
	interconnect/qos/golden.c \
	interconnect/qos/model.c interconnect/qos/model.h \
	interconnect/qos/quad.h \
	interconnect/qos/router.c \
	interconnect/qos/saturation.c \
	interconnect/qos/scaled.c interconnect/qos/scaled.h \
	interconnect/qos/sharing.c interconnect/qos/sharing.h \
	interconnect/qos/simulate.c interconnect/qos/simulate.h \
	interconnect/qos/traffic.c interconnect/qos/traffic.h \
	interconnect/qos/transform.c interconnect/qos/transform.h \
	interconnect/qos/waves.c interconnect/qos/waves.h

check_PROGRAMS += tests/unit/test_ic_qos
tests_unit_test_ic_qos_SOURCES = tests/unit/test_ic_qos.c tests/unit/ic_table.h
tests_unit_test_ic_qos_LDADD = $(GMC_INTERCONNECT_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_ic_qos_sim
tests_unit_test_ic_qos_sim_SOURCES = tests/unit/test_ic_qos_sim.c tests/unit/ic_table.c \
	tests/unit/ic_table.h
tests_unit_test_ic_qos_sim_LDADD = $(GMC_INTERCONNECT_LIBS) $(TEST_LIBS)

# make check-qos: all reference simulations of the QoS router beside ours, and the speed of ours.
check-qos: tests/unit/test_ic_qos_sim
	GMC_SRCDIR=$(abs_top_srcdir) GMC_IC_WHOLE=1 tests/unit/test_ic_qos_sim
.PHONY: check-qos

# star
interconnect_libinterconnect_la_SOURCES += \
	interconnect/star/family.c \
	interconnect/star/golden.c \
	interconnect/star/latency.c interconnect/star/latency.h \
	interconnect/star/multicast.c interconnect/star/multicast.h \
	interconnect/star/simulate.c interconnect/star/simulate.h

check_PROGRAMS += tests/unit/test_ic_star
tests_unit_test_ic_star_SOURCES = tests/unit/test_ic_star.c tests/unit/ic_table.h
tests_unit_test_ic_star_LDADD = $(GMC_INTERCONNECT_LIBS) $(TEST_LIBS)

# torus
interconnect_libinterconnect_la_SOURCES += \
	interconnect/torus/family.c \
	interconnect/torus/golden.c \
	interconnect/torus/latency.c interconnect/torus/latency.h \
	interconnect/torus/links.c interconnect/torus/links.h \
	interconnect/torus/multicast.c interconnect/torus/multicast.h \
	interconnect/torus/names.c interconnect/torus/names.h \
	interconnect/torus/simulate.c interconnect/torus/simulate.h \
	interconnect/torus/torus.c interconnect/torus/torus.h

check_PROGRAMS += tests/unit/test_ic_torus
tests_unit_test_ic_torus_SOURCES = tests/unit/test_ic_torus.c tests/unit/ic_table.h
tests_unit_test_ic_torus_LDADD = $(GMC_INTERCONNECT_LIBS) $(TEST_LIBS)

# wan
interconnect_libinterconnect_la_SOURCES += \
	interconnect/wan/cases.c interconnect/wan/cases.h \
	interconnect/wan/family.c \
	interconnect/wan/golden.c

# flows
interconnect_libinterconnect_la_SOURCES += \
	interconnect/flows/arcs.h \
	interconnect/flows/spread.c interconnect/flows/spread.h \
	interconnect/flows/sums.c interconnect/flows/sums.h \
	interconnect/flows/walk.c interconnect/flows/walk.h

check_PROGRAMS += tests/unit/test_ic_flows
tests_unit_test_ic_flows_SOURCES = tests/unit/test_ic_flows.c tests/unit/ic_table.h
tests_unit_test_ic_flows_LDADD = $(GMC_INTERCONNECT_LIBS) $(TEST_LIBS)

# graph
interconnect_libinterconnect_la_SOURCES += \
	interconnect/graph/distances.c interconnect/graph/distances.h \
	interconnect/graph/edges.c interconnect/graph/edges.h \
	interconnect/graph/graph.c interconnect/graph/graph.h \
	interconnect/graph/reach.c interconnect/graph/reach.h

check_PROGRAMS += tests/unit/test_ic_graph
tests_unit_test_ic_graph_LDADD = $(GMC_INTERCONNECT_LIBS) $(TEST_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_ic_edges
tests_fuzz_fuzz_ic_edges_LDADD = $(FUZZ_MAIN) $(GMC_INTERCONNECT_LIBS)

# ldr
interconnect_libinterconnect_la_SOURCES += \
	interconnect/ldr/build.c interconnect/ldr/build.h \
	interconnect/ldr/calendar.c interconnect/ldr/calendar.h \
	interconnect/ldr/family.c \
	interconnect/ldr/flows.c interconnect/ldr/flows.h \
	interconnect/ldr/generate.c interconnect/ldr/generate.h \
	interconnect/ldr/golden.c \
	interconnect/ldr/improve.c interconnect/ldr/improve.h \
	interconnect/ldr/lift.c interconnect/ldr/lift.h \
	interconnect/ldr/model.c interconnect/ldr/model.h \
	interconnect/ldr/multicast.c interconnect/ldr/multicast.h \
	interconnect/ldr/network.c interconnect/ldr/network.h \
	interconnect/ldr/packets.c interconnect/ldr/packets.h \
	interconnect/ldr/packets_ahead.c interconnect/ldr/packets_credit.c \
	interconnect/ldr/packets_input.c interconnect/ldr/packets_internal.h \
	interconnect/ldr/packets_lists.h \
	interconnect/ldr/packets_place.c interconnect/ldr/packets_place.h \
	interconnect/ldr/packets_tree.c \
	interconnect/ldr/params.c interconnect/ldr/params.h \
	interconnect/ldr/routes.c interconnect/ldr/routes.h \
	interconnect/ldr/timing.c interconnect/ldr/timing.h \
	interconnect/ldr/ways.c interconnect/ldr/ways.h

check_PROGRAMS += tests/unit/test_ic_ldr
tests_unit_test_ic_ldr_SOURCES = tests/unit/test_ic_ldr.c tests/unit/ic_table.c \
	tests/unit/ic_table.h
tests_unit_test_ic_ldr_LDADD = $(GMC_INTERCONNECT_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_ic_packets
tests_unit_test_ic_packets_SOURCES = tests/unit/test_ic_packets.c tests/unit/ic_table.c \
	tests/unit/ic_table.h
tests_unit_test_ic_packets_LDADD = $(GMC_INTERCONNECT_LIBS) $(TEST_LIBS)

# updown
interconnect_libinterconnect_la_SOURCES += \
	interconnect/updown/cube.c interconnect/updown/cube.h \
	interconnect/updown/family.c \
	interconnect/updown/model.c interconnect/updown/model.h \
	interconnect/updown/network.c interconnect/updown/network.h \
	interconnect/updown/pairs.c interconnect/updown/pairs.h

check_PROGRAMS += tests/unit/test_ic_updown
tests_unit_test_ic_updown_SOURCES = tests/unit/test_ic_updown.c tests/unit/ic_table.h
tests_unit_test_ic_updown_LDADD = $(GMC_INTERCONNECT_LIBS) $(TEST_LIBS)

# wormhole
interconnect_libinterconnect_la_SOURCES += \
	interconnect/wormhole/arrivals.c interconnect/wormhole/arrivals.h \
	interconnect/wormhole/engine.c interconnect/wormhole/engine.h \
	interconnect/wormhole/network.c interconnect/wormhole/network.h \
	interconnect/wormhole/options.c interconnect/wormhole/options.h \
	interconnect/wormhole/run.c interconnect/wormhole/run.h

check_PROGRAMS += tests/unit/test_ic_wormhole
tests_unit_test_ic_wormhole_SOURCES = tests/unit/test_ic_wormhole.c tests/unit/ic_table.c \
	tests/unit/ic_table.h
tests_unit_test_ic_wormhole_LDADD = $(GMC_INTERCONNECT_LIBS) $(TEST_LIBS)

# make check-interconnect: every row of the tables of reference simulations; two minutes.
check-interconnect: tests/unit/test_ic_wormhole
	GMC_SRCDIR=$(abs_srcdir) GMC_IC_ALL=1 tests/unit/test_ic_wormhole
.PHONY: check-interconnect
