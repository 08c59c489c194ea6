# SPDX-License-Identifier: BSD-2-Clause
# Owns the build and the unit tests of libgmcast/core: the protocol's state machines.

noinst_LTLIBRARIES += libgmcast/core/libcore.la
libgmcast_core_libcore_la_CPPFLAGS = $(PURE_CPPFLAGS)
libgmcast_core_libcore_la_CFLAGS = $(PURE_CFLAGS)
libgmcast_core_libcore_la_SOURCES =

# scripts/check-purity holds these objects to its list of allowed names.
PURE_LIBS += libgmcast/core/libcore.la

EXTRA_DIST += libgmcast/core/.includes

# A test is two lines:
#   check_PROGRAMS += tests/unit/test_x
#   tests_unit_test_x_LDADD = $(GMC_CORE_LIBS) $(TEST_LIBS)

# The Merkle tree.
libgmcast_core_libcore_la_SOURCES += libgmcast/core/merkle.c libgmcast/core/merkle.h
check_PROGRAMS += tests/unit/test_merkle
tests_unit_test_merkle_LDADD = $(GMC_CORE_LIBS) $(TEST_LIBS)

# The manifest.
libgmcast_core_libcore_la_SOURCES += libgmcast/core/manifest.c libgmcast/core/manifest.h
check_PROGRAMS += tests/unit/test_manifest
tests_unit_test_manifest_SOURCES = tests/unit/test_manifest.c tests/unit/toy_crypto.h
tests_unit_test_manifest_LDADD = $(GMC_CORE_LIBS) $(TEST_LIBS)
FUZZ_TARGETS += tests/fuzz/fuzz_page
tests_fuzz_fuzz_page_LDADD = $(FUZZ_MAIN) $(GMC_CORE_LIBS)

# Choosing a tree.
libgmcast_core_libcore_la_SOURCES += libgmcast/core/tree.c libgmcast/core/tree.h \
	libgmcast/core/tree_binary.c libgmcast/core/tree_binomial.c libgmcast/core/tree_bulk.c \
	libgmcast/core/tree_bulk.h libgmcast/core/tree_bulk_late.c libgmcast/core/tree_chain.c \
	libgmcast/core/tree_eco.c libgmcast/core/tree_eco.h libgmcast/core/tree_flat.c \
	libgmcast/core/tree_sparse.c libgmcast/core/tree_sparse.h \
	libgmcast/core/probe_plan.c libgmcast/core/probe_plan.h \
	libgmcast/core/tree_order.c libgmcast/core/tree_order.h libgmcast/core/tree_predict.c \
	libgmcast/core/tree_predict.h libgmcast/core/tree_shapes.h \
	libgmcast/core/tree_ways.c libgmcast/core/tree_ways.h
check_PROGRAMS += tests/unit/test_tree
tests_unit_test_tree_LDADD = $(GMC_CORE_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_tree_ways
tests_unit_test_tree_ways_LDADD = $(GMC_CORE_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_tree_bulk
tests_unit_test_tree_bulk_LDADD = $(GMC_CORE_LIBS) $(TEST_LIBS)
EXTRA_DIST += tests/vectors/interconnect/wan_top_tree.csv

# Congestion control.
libgmcast_core_libcore_la_SOURCES += libgmcast/core/cc.h libgmcast/core/cc_background.c \
	libgmcast/core/cc_filter.c \
	libgmcast/core/cc_filter.h libgmcast/core/cc_fixed.c libgmcast/core/cc_loss.c \
	libgmcast/core/cc_loss.h libgmcast/core/cc_model.c libgmcast/core/cc_model.h \
	libgmcast/core/cc_model_judge.c libgmcast/core/cc_model_minimum.c \
	libgmcast/core/cc_model_start.c \
	libgmcast/core/cc_round.c libgmcast/core/cc_round.h
check_PROGRAMS += tests/unit/test_cc_background
tests_unit_test_cc_background_LDADD = tests/lib/libtest.la $(GMC_SIM_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_cc_parts
tests_unit_test_cc_parts_LDADD = $(GMC_CORE_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_cc_model
tests_unit_test_cc_model_LDADD = tests/lib/libtest.la $(GMC_SIM_LIBS) $(TEST_LIBS)

# The link to a neighbour.
libgmcast_core_libcore_la_SOURCES += libgmcast/core/ackrange.c libgmcast/core/ackrange.h \
	libgmcast/core/ecn.c libgmcast/core/ecn.h \
	libgmcast/core/gate.c libgmcast/core/gate.h libgmcast/core/link.c libgmcast/core/link.h \
	libgmcast/core/link_impl.h libgmcast/core/link_path.c libgmcast/core/link_reach.c \
	libgmcast/core/link_recv.c libgmcast/core/link_send.c libgmcast/core/link_timer.c libgmcast/core/loss.c \
	libgmcast/core/loss.h libgmcast/core/pace.c libgmcast/core/pace.h \
	libgmcast/core/stream.c libgmcast/core/stream.h
check_PROGRAMS += tests/unit/test_ackrange
tests_unit_test_ackrange_LDADD = $(TEST_LIBS) $(GMC_CORE_LIBS)
check_PROGRAMS += tests/unit/test_ecn
tests_unit_test_ecn_LDADD = $(TEST_LIBS) $(GMC_SIM_LIBS)
check_PROGRAMS += tests/unit/test_gate
tests_unit_test_gate_LDADD = $(TEST_LIBS) $(GMC_CORE_LIBS)
check_PROGRAMS += tests/unit/test_link
tests_unit_test_link_LDADD = $(TEST_LIBS) $(GMC_CORE_LIBS)
tests_unit_test_link_SOURCES = tests/unit/test_link.c tests/unit/link_wire.h
check_PROGRAMS += tests/unit/test_link_end
tests_unit_test_link_end_LDADD = $(TEST_LIBS) $(GMC_CORE_LIBS)
tests_unit_test_link_end_SOURCES = tests/unit/test_link_end.c tests/unit/link_wire.h
check_PROGRAMS += tests/unit/test_link_path
tests_unit_test_link_path_LDADD = $(TEST_LIBS) $(GMC_CORE_LIBS)
tests_unit_test_link_path_SOURCES = tests/unit/test_link_path.c tests/unit/link_wire.h
check_PROGRAMS += tests/unit/test_link_reach
tests_unit_test_link_reach_LDADD = $(TEST_LIBS) $(GMC_CORE_LIBS)
tests_unit_test_link_reach_SOURCES = tests/unit/test_link_reach.c tests/unit/link_wire.h
check_PROGRAMS += tests/unit/test_loss
tests_unit_test_loss_LDADD = $(TEST_LIBS) $(GMC_CORE_LIBS)
check_PROGRAMS += tests/unit/test_pace
tests_unit_test_pace_LDADD = $(TEST_LIBS) $(GMC_CORE_LIBS)
check_PROGRAMS += tests/unit/test_stream
tests_unit_test_stream_LDADD = $(TEST_LIBS) $(GMC_CORE_LIBS)
FUZZ_TARGETS += tests/fuzz/fuzz_head tests/fuzz/fuzz_link
tests_fuzz_fuzz_head_LDADD = $(FUZZ_MAIN) $(GMC_CORE_LIBS)
tests_fuzz_fuzz_link_LDADD = $(FUZZ_MAIN) tests/lib/libtest.la $(GMC_CORE_LIBS)

# Latencies: a round of probes, and the pairs that are known.
libgmcast_core_libcore_la_SOURCES += libgmcast/core/latency_cache.c libgmcast/core/probe.c \
	libgmcast/core/probe.h libgmcast/core/probe_impl.h libgmcast/core/probe_train.c \
	libgmcast/core/train.c libgmcast/core/train.h
check_PROGRAMS += tests/unit/test_probe
tests_unit_test_probe_SOURCES = tests/unit/test_probe.c tests/unit/toy_crypto.h
tests_unit_test_probe_LDADD = $(GMC_CORE_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_train
tests_unit_test_train_LDADD = $(GMC_CORE_LIBS) $(TEST_LIBS)

# The composition and the machines that only it uses.
libgmcast_core_libcore_la_SOURCES += libgmcast/core/cache.c libgmcast/core/cache.h \
	libgmcast/core/gateway.c libgmcast/core/gateway.h libgmcast/core/gateway_channel.c \
	libgmcast/core/gateway_deaf.c libgmcast/core/gateway_domain.c libgmcast/core/gateway_doubt.c \
	libgmcast/core/gateway_stopped.c libgmcast/core/gateway_suspect.c \
	libgmcast/core/gateway_have.c libgmcast/core/gateway_state.h \
	libgmcast/core/gateway_impl.h libgmcast/core/gateway_info.c libgmcast/core/gateway_link.c \
	libgmcast/core/gateway_measure.c libgmcast/core/gateway_msg.c \
	libgmcast/core/gateway_neighbour.c libgmcast/core/gateway_node.c libgmcast/core/gateway_page.c \
	libgmcast/core/gateway_graph.c libgmcast/core/gateway_graph_impl.h \
	libgmcast/core/gateway_measured.c libgmcast/core/gateway_replace.c \
	libgmcast/core/gateway_pass.c libgmcast/core/gateway_place.c libgmcast/core/gateway_probe.c \
	libgmcast/core/gateway_record.c libgmcast/core/gateway_resume.c libgmcast/core/gateway_roll.c \
	libgmcast/core/gateway_rx.c libgmcast/core/gateway_serve.c libgmcast/core/gateway_source.c \
	libgmcast/core/gateway_source_call.c libgmcast/core/gateway_source_impl.h \
	libgmcast/core/gateway_source_member.c libgmcast/core/gateway_source_setup.c \
	libgmcast/core/gateway_store.c libgmcast/core/gateway_stripe.c libgmcast/core/gateway_subnet.c \
	libgmcast/core/gateway_target.c libgmcast/core/gateway_target_impl.h \
	libgmcast/core/gateway_target_parent.c libgmcast/core/gateway_target_record.c \
	libgmcast/core/gateway_target_store.c libgmcast/core/gateway_target_tell.c \
	libgmcast/core/gateway_tree.c libgmcast/core/gateway_trial.c libgmcast/core/gateway_tx.c \
	libgmcast/core/gateway_uplink.c libgmcast/core/gateway_wait.c libgmcast/core/gateway_near.c libgmcast/core/io.h \
	libgmcast/core/overlay.c libgmcast/core/overlay.h libgmcast/core/pages.c libgmcast/core/pages.h \
	libgmcast/core/stripe.h libgmcast/core/tx.c libgmcast/core/tx.h

check_PROGRAMS += tests/unit/test_pages
tests_unit_test_pages_LDADD = $(GMC_CORE_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_roll
tests_unit_test_roll_LDADD = $(GMC_CORE_LIBS) $(TEST_LIBS)

# The blocks that are stored.
libgmcast_core_libcore_la_SOURCES += libgmcast/core/inside.c libgmcast/core/inside.h
check_PROGRAMS += tests/unit/test_inside
tests_unit_test_inside_LDADD = $(GMC_CORE_LIBS) $(TEST_LIBS)

libgmcast_core_libcore_la_SOURCES += libgmcast/core/have.c libgmcast/core/have.h
check_PROGRAMS += tests/unit/test_have
tests_unit_test_have_SOURCES = tests/unit/test_have.c tests/unit/toy_crypto.h
tests_unit_test_have_LDADD = $(GMC_CORE_LIBS) $(TEST_LIBS)
FUZZ_TARGETS += tests/fuzz/fuzz_have
tests_fuzz_fuzz_have_LDADD = $(FUZZ_MAIN) $(GMC_CORE_LIBS)
check_PROGRAMS += tests/unit/test_cache tests/unit/test_gateway tests/unit/test_overlay \
	tests/unit/test_tx
tests_unit_test_cache_LDADD = $(TEST_LIBS) $(GMC_CORE_LIBS)
tests_unit_test_gateway_LDADD = $(TEST_LIBS) $(GMC_CORE_LIBS)
tests_unit_test_overlay_LDADD = $(TEST_LIBS) $(GMC_CORE_LIBS)
tests_unit_test_tx_LDADD = $(TEST_LIBS) $(GMC_CORE_LIBS)
FUZZ_TARGETS += tests/fuzz/fuzz_cache tests/fuzz/fuzz_gateway tests/fuzz/fuzz_tx
tests_fuzz_fuzz_cache_LDADD = $(FUZZ_MAIN) $(GMC_CORE_LIBS)
tests_fuzz_fuzz_gateway_SOURCES = tests/fuzz/fuzz_gateway.c tests/fuzz/pump.c tests/fuzz/pump.h
tests_fuzz_fuzz_gateway_LDADD = $(FUZZ_MAIN) $(GMC_CORE_LIBS)
tests_fuzz_fuzz_tx_LDADD = $(FUZZ_MAIN) $(GMC_CORE_LIBS)
check_PROGRAMS += tests/unit/test_gateway_have
tests_unit_test_gateway_have_SOURCES = tests/unit/test_gateway_have.c tests/unit/toy_crypto.h
tests_unit_test_gateway_have_LDADD = $(GMC_CORE_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_gateway_measured
tests_unit_test_gateway_measured_LDADD = $(GMC_CORE_LIBS) $(TEST_LIBS)


# The listing.
libgmcast_core_libcore_la_SOURCES += libgmcast/core/listing.h libgmcast/core/listing_check.c \
	libgmcast/core/listing_entry.c libgmcast/core/listing_impl.h libgmcast/core/listing_names.c \
	libgmcast/core/listing_read.c libgmcast/core/listing_write.c
check_PROGRAMS += tests/unit/test_listing
tests_unit_test_listing_LDADD = $(GMC_CORE_LIBS) $(TEST_LIBS)
FUZZ_TARGETS += tests/fuzz/fuzz_listing
tests_fuzz_fuzz_listing_LDADD = $(FUZZ_MAIN) $(GMC_CORE_LIBS)

check_PROGRAMS += tests/unit/test_stripes
tests_unit_test_stripes_LDADD = tests/lib/libtest.la $(TEST_LIBS) $(GMC_CORE_LIBS)
check_PROGRAMS += tests/unit/test_uplink
tests_unit_test_uplink_LDADD = tests/lib/libtest.la $(TEST_LIBS) $(GMC_CORE_LIBS)

# Allocations of the data path, counted.
check_PROGRAMS += tests/unit/test_alloc
tests_unit_test_alloc_LDADD = $(TEST_LIBS) $(GMC_CORE_LIBS)
tests_unit_test_alloc_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc \
	-Wl,--wrap=gmc_gateway_on_datagram,--wrap=gmc_gateway_next_output
FUZZ_TARGETS += tests/fuzz/fuzz_saved
tests_fuzz_fuzz_saved_LDADD = $(FUZZ_MAIN) $(GMC_CORE_LIBS)
check_PROGRAMS += tests/unit/test_probe_plan
tests_unit_test_probe_plan_LDADD = $(GMC_CORE_LIBS) $(TEST_LIBS)

# Message channels.
libgmcast_core_libcore_la_SOURCES += libgmcast/core/gateway_home.c libgmcast/core/gateway_inbox.c \
	libgmcast/core/gateway_message.c libgmcast/core/gateway_message_open.c \
	libgmcast/core/gateway_message_pace.c libgmcast/core/gateway_message_tx.c \
	libgmcast/core/gateway_proof.c libgmcast/core/message_ring.c \
	libgmcast/core/message_ring.h libgmcast/core/message_rx.c libgmcast/core/message_rx.h
check_PROGRAMS += tests/unit/test_message_ring tests/unit/test_message_rx
tests_unit_test_message_ring_LDADD = $(GMC_CORE_LIBS) $(TEST_LIBS)
tests_unit_test_message_rx_LDADD = $(GMC_CORE_LIBS) $(TEST_LIBS)
FUZZ_TARGETS += tests/fuzz/fuzz_message_rx
tests_fuzz_fuzz_message_rx_LDADD = $(FUZZ_MAIN) $(GMC_CORE_LIBS)

# Groups: the nodes of a domain all at once.
libgmcast_core_libcore_la_SOURCES += libgmcast/core/backoff.c libgmcast/core/backoff.h \
	libgmcast/core/gateway_group.c libgmcast/core/gateway_group_impl.h libgmcast/core/gateway_group_listen.c \
	libgmcast/core/gateway_group_rate.c libgmcast/core/gateway_group_send.c \
	libgmcast/core/gateway_group_window.c \
	libgmcast/core/gateway_hear.c libgmcast/core/gateway_hear_impl.h \
	libgmcast/core/gateway_hear_window.c libgmcast/core/gateway_hearing.c \
	libgmcast/core/group.c libgmcast/core/group.h \
	libgmcast/core/group_rate.c libgmcast/core/group_rate.h \
	libgmcast/core/group_rx.c libgmcast/core/group_rx.h \
	libgmcast/core/group_tx.c libgmcast/core/group_tx.h
check_PROGRAMS += tests/unit/test_backoff
tests_unit_test_backoff_LDADD = $(GMC_CORE_LIBS) $(TEST_LIBS) -lm
check_PROGRAMS += tests/unit/test_group tests/unit/test_group_rate
tests_unit_test_group_LDADD = $(GMC_CORE_LIBS) $(TEST_LIBS)
tests_unit_test_group_rate_LDADD = $(GMC_CORE_LIBS) $(TEST_LIBS)

# Inside a domain: who receives what, and from whom.
FUZZ_RECEIVER = tests/fuzz/pump.c tests/fuzz/pump.h tests/fuzz/receiver.c tests/fuzz/receiver.h
FUZZ_TARGETS += tests/fuzz/fuzz_hear tests/fuzz/fuzz_neighbour tests/fuzz/fuzz_nodes
tests_fuzz_fuzz_hear_SOURCES = tests/fuzz/fuzz_hear.c $(FUZZ_RECEIVER)
tests_fuzz_fuzz_hear_LDADD = $(FUZZ_MAIN) $(GMC_CORE_LIBS)
tests_fuzz_fuzz_neighbour_SOURCES = tests/fuzz/fuzz_neighbour.c $(FUZZ_RECEIVER)
tests_fuzz_fuzz_neighbour_LDADD = $(FUZZ_MAIN) $(GMC_CORE_LIBS)
tests_fuzz_fuzz_nodes_SOURCES = tests/fuzz/fuzz_nodes.c $(FUZZ_RECEIVER)
tests_fuzz_fuzz_nodes_LDADD = $(FUZZ_MAIN) $(GMC_CORE_LIBS)

# What uplinks were seen to carry.
libgmcast_core_libcore_la_SOURCES += libgmcast/core/uplink.c libgmcast/core/uplink.h
check_PROGRAMS += tests/unit/test_uplink_law
tests_unit_test_uplink_law_LDADD = $(GMC_CORE_LIBS) $(TEST_LIBS)

libgmcast_core_libcore_la_SOURCES += libgmcast/core/peak.c libgmcast/core/peak.h
check_PROGRAMS += tests/unit/test_peak
tests_unit_test_peak_LDADD = $(GMC_CORE_LIBS) $(TEST_LIBS)
