# SPDX-License-Identifier: BSD-2-Clause
# Owns the build of the WAN simulator: libsim.la (everything but main) and the command. It is built
# with --disable-daemons too.

EXTRA_DIST += sim-wan/.includes

noinst_LTLIBRARIES += sim-wan/libsim.la
sim_wan_libsim_la_CPPFLAGS = $(HOST_CPPFLAGS) $(OPENSSL_CFLAGS) $(JANSSON_CFLAGS) \
	$(LIBCONFUSE_CFLAGS) $(EXPAT_CFLAGS)
sim_wan_libsim_la_CFLAGS = $(AM_CFLAGS) $(EXACT_CFLAGS)
sim_wan_libsim_la_SOURCES = \
	sim-wan/aqm.c sim-wan/aqm.h \
	sim-wan/clock.c sim-wan/clock.h \
	sim-wan/conf.c sim-wan/conf.h sim-wan/conf_internal.h sim-wan/conf_part.c \
	sim-wan/conf_value.c \
	sim-wan/cpu.h \
	sim-wan/disk.c sim-wan/disk.h sim-wan/disk_internal.h sim-wan/disk_ops.c \
	sim-wan/engine.c sim-wan/engine.h \
	sim-wan/faults.c sim-wan/faults.h \
	sim-wan/host.c sim-wan/host.h sim-wan/host_cpu.c sim-wan/host_internal.h sim-wan/host_out.c \
	sim-wan/lateness.c sim-wan/lateness.h \
	sim-wan/loss_model.c sim-wan/loss_model.h \
	sim-wan/loss_trace.c sim-wan/loss_trace.h \
	sim-wan/mem.c sim-wan/mem.h \
	sim-wan/multicast.c sim-wan/multicast.h \
	sim-wan/net.c sim-wan/net.h sim-wan/net_internal.h \
	sim-wan/object.c sim-wan/object.h \
	sim-wan/oracle.c sim-wan/oracle.h \
	sim-wan/out_file.c sim-wan/out_file.h \
	sim-wan/packet.c sim-wan/packet.h \
	sim-wan/plot/gnuplot.c sim-wan/plot/gnuplot.h \
	sim-wan/plot/map.c sim-wan/plot/map.h \
	sim-wan/plot/plot.c sim-wan/plot/plot.h \
	sim-wan/route.c \
	sim-wan/run/bar.c sim-wan/run/bar.h \
	sim-wan/run/channel.c sim-wan/run/channel.h sim-wan/run/channel_summary.c \
	sim-wan/run/drive.c sim-wan/run/drive.h \
	sim-wan/run/flow.c sim-wan/run/flow.h \
	sim-wan/run/group.c sim-wan/run/group.h \
	sim-wan/run/limit.c sim-wan/run/limit.h \
	sim-wan/run/options.c sim-wan/run/options.h \
	sim-wan/run/plan.c sim-wan/run/plan.h \
	sim-wan/run/plan_channel.c sim-wan/run/plan_fault.c sim-wan/run/plan_internal.h \
	sim-wan/run/plan_table.c sim-wan/run/plan_traffic.c sim-wan/run/plan_transfer.c \
	sim-wan/run/pool.c sim-wan/run/pool.h \
	sim-wan/run/ip_head.c sim-wan/run/ip_head.h \
	sim-wan/run/json.c sim-wan/run/json.h \
	sim-wan/run/record.c sim-wan/run/record.h sim-wan/run/recorders.h \
	sim-wan/run/record_csv.c \
	sim-wan/run/record_file.c sim-wan/run/record_file.h \
	sim-wan/run/record_ns.c \
	sim-wan/run/record_pcap.c \
	sim-wan/run/record_plot.c \
	sim-wan/run/sample.c sim-wan/run/sample.h \
	sim-wan/run/series.c sim-wan/run/series.h \
	sim-wan/run/summary.c \
	sim-wan/run/table.c sim-wan/run/table.h \
	sim-wan/run/warm_up.c sim-wan/run/warm_up.h \
	sim-wan/scenario.c sim-wan/scenario.h \
	sim-wan/session.c sim-wan/session.h \
	sim-wan/store.c sim-wan/store.h sim-wan/store_page.c \
	sim-wan/tcp.c sim-wan/tcp.h sim-wan/tcp_internal.h sim-wan/tcp_send.c \
	sim-wan/text_file.c sim-wan/text_file.h \
	sim-wan/topo/conf.c sim-wan/topo/conf.h \
	sim-wan/topo/draft.c sim-wan/topo/draft.h \
	sim-wan/topo/edges.c sim-wan/topo/edges.h \
	sim-wan/topo/family.c sim-wan/topo/family.h sim-wan/topo/family_internal.h \
	sim-wan/topo/family_random.c sim-wan/topo/family_waxman.c \
	sim-wan/topo/finish.c sim-wan/topo/merge.c \
	sim-wan/topo/graph.c sim-wan/topo/graph.h \
	sim-wan/topo/gml.c sim-wan/topo/gml.h \
	sim-wan/topo/graphml.c sim-wan/topo/graphml.h \
	sim-wan/topo/label.c sim-wan/topo/label.h \
	sim-wan/topo/layout.c sim-wan/topo/layout.h \
	sim-wan/topo/measure.c sim-wan/topo/measure.h \
	sim-wan/topo/names.c sim-wan/topo/names.h \
	sim-wan/topo/place.c sim-wan/topo/place.h \
	sim-wan/topo/read.c sim-wan/topo/read.h \
	sim-wan/topo/index.c sim-wan/topo/index.h \
	sim-wan/topo/speed.c sim-wan/topo/speed.h \
	sim-wan/topo/topo.c sim-wan/topo/topo.h \
	sim-wan/topo/units.c sim-wan/topo/units.h \
	sim-wan/topo/write.c sim-wan/topo/write.h \
	sim-wan/topology.c \
	sim-wan/trace.c sim-wan/trace.h \
	sim-wan/traffic/law.h sim-wan/traffic/law_bbr.c sim-wan/traffic/law_cubic.c \
	sim-wan/traffic/tcp_source.c sim-wan/traffic/tcp_source.h \
	sim-wan/traffic/traffic.c sim-wan/traffic/traffic.h \
	sim-wan/traffic/variate.c sim-wan/traffic/variate.h \
	sim-wan/transit.c sim-wan/transit.h \
	sim-wan/unfinished.c sim-wan/unfinished.h \
	sim-wan/way.c sim-wan/way.h \
	sim-wan/wire.c sim-wan/wire.h \
	sim-wan/world.c sim-wan/world.h

bin_PROGRAMS += sim-wan/sim-wan
sim_wan_sim_wan_CPPFLAGS = $(HOST_CPPFLAGS) $(JANSSON_CFLAGS) $(MPI_CFLAGS)
sim_wan_sim_wan_SOURCES = \
	sim-wan/command.h sim-wan/main.c \
	sim-wan/run/pool_mpi.c sim-wan/run/run.c \
	sim-wan/topo/command.c
sim_wan_sim_wan_LDADD = $(GMC_SIM_LIBS) $(MPI_LIBS)

check_PROGRAMS += tests/unit/test_sim_engine
tests_unit_test_sim_engine_LDADD = $(GMC_SIM_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_sim_lateness
tests_unit_test_sim_lateness_LDADD = $(GMC_SIM_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_sim_packet
tests_unit_test_sim_packet_LDADD = $(GMC_SIM_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_sim_transit
tests_unit_test_sim_transit_LDADD = $(GMC_SIM_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_sim_wire
tests_unit_test_sim_wire_LDADD = $(GMC_SIM_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_sim_loss
tests_unit_test_sim_loss_LDADD = $(GMC_SIM_LIBS) $(TEST_LIBS) -lm
check_PROGRAMS += tests/unit/test_sim_queue
tests_unit_test_sim_queue_LDADD = $(GMC_SIM_LIBS) $(TEST_LIBS) -lm
check_PROGRAMS += tests/unit/test_sim_host
tests_unit_test_sim_host_LDADD = $(GMC_SIM_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_sim_traffic
tests_unit_test_sim_traffic_LDADD = $(GMC_SIM_LIBS) $(TEST_LIBS) -lm
check_PROGRAMS += tests/unit/test_sim_net
tests_unit_test_sim_net_LDADD = $(GMC_SIM_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_sim_session
tests_unit_test_sim_session_LDADD = $(GMC_SIM_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_sim_mem
tests_unit_test_sim_mem_LDADD = $(GMC_SIM_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_sim_disk
tests_unit_test_sim_disk_LDADD = $(GMC_SIM_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_sim_topo
tests_unit_test_sim_topo_LDADD = $(GMC_SIM_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_sim_topo_read
tests_unit_test_sim_topo_read_LDADD = $(GMC_SIM_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_sim_record
tests_unit_test_sim_record_LDADD = $(GMC_SIM_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_sim_topo_measure
tests_unit_test_sim_topo_measure_LDADD = $(GMC_SIM_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_sim_topo_family
tests_unit_test_sim_topo_family_LDADD = $(GMC_SIM_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_sim_conf
tests_unit_test_sim_conf_LDADD = $(GMC_SIM_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_sim_topo_conf
tests_unit_test_sim_topo_conf_LDADD = $(GMC_SIM_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_sim_plan
tests_unit_test_sim_plan_LDADD = $(GMC_SIM_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_sim_limit
tests_unit_test_sim_limit_LDADD = $(GMC_SIM_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_sim_pool
tests_unit_test_sim_pool_LDADD = $(GMC_SIM_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_sim_virtual
tests_unit_test_sim_virtual_LDADD = $(GMC_SIM_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_sim_wide
tests_unit_test_sim_wide_LDADD = $(GMC_SIM_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_sim_clock
tests_unit_test_sim_clock_LDADD = $(GMC_SIM_LIBS) $(TEST_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_sim_object
tests_fuzz_fuzz_sim_object_LDADD = $(FUZZ_MAIN) $(GMC_SIM_LIBS)
FUZZ_TARGETS += tests/fuzz/fuzz_sim_loss_trace
tests_fuzz_fuzz_sim_loss_trace_LDADD = $(FUZZ_MAIN) $(GMC_SIM_LIBS)
FUZZ_TARGETS += tests/fuzz/fuzz_sim_gml
tests_fuzz_fuzz_sim_gml_LDADD = $(FUZZ_MAIN) $(GMC_SIM_LIBS)
FUZZ_TARGETS += tests/fuzz/fuzz_sim_graphml
tests_fuzz_fuzz_sim_graphml_LDADD = $(FUZZ_MAIN) $(GMC_SIM_LIBS)
FUZZ_TARGETS += tests/fuzz/fuzz_sim_edges
tests_fuzz_fuzz_sim_edges_LDADD = $(FUZZ_MAIN) $(GMC_SIM_LIBS)
FUZZ_TARGETS += tests/fuzz/fuzz_sim_family
tests_fuzz_fuzz_sim_family_LDADD = $(FUZZ_MAIN) $(GMC_SIM_LIBS)
FUZZ_TARGETS += tests/fuzz/fuzz_sim_plan
tests_fuzz_fuzz_sim_plan_SOURCES = tests/fuzz/fuzz_sim_plan.c tests/fuzz/memfile.h
tests_fuzz_fuzz_sim_plan_LDADD = $(FUZZ_MAIN) $(GMC_SIM_LIBS)
