# SPDX-License-Identifier: BSD-2-Clause
# Owns the build of tests/daemons. Tests that run the real daemons.

# They are skipped where the daemons are not built.
DAEMON_TESTS = \
	tests/daemons/test_cli.sh \
	tests/daemons/test_demo.sh \
	tests/daemons/test_examples.py \
	tests/daemons/test_bad_clients.py \
	tests/daemons/test_blocked.py \
	tests/daemons/test_doctor.py \
	tests/daemons/test_files.py \
	tests/daemons/test_gatewayd.py \
	tests/daemons/test_paths.py \
	tests/daemons/test_plan.py \
	tests/daemons/test_large.py \
	tests/daemons/test_messages.py \
	tests/daemons/test_node_messages.py \
	tests/daemons/test_store.py \
	tests/daemons/test_transfer.py \
	tests/daemons/test_kill.py \
	tests/daemons/test_nodes.py \
	tests/daemons/test_tree.py \
	tests/daemons/test_enrol.py \
	tests/daemons/test_fabric.py \
	tests/daemons/test_multicast.py \
	tests/daemons/test_subnets.py \
	tests/daemons/test_deliver.py \
	tests/daemons/test_dead_relay.py \
	tests/daemons/test_slow.py \
	tests/daemons/test_refusals.py \
	tests/daemons/test_give_up.py \
	tests/daemons/test_hostile.py \
	tests/daemons/test_store_away.py \
	tests/daemons/test_fast_wires.py \
	tests/daemons/test_cut.py
dist_check_SCRIPTS += $(DAEMON_TESTS)
TESTS += $(DAEMON_TESTS)
EXTRA_DIST += \
	tests/daemons/faults.py \
	tests/daemons/lan.py \
	tests/daemons/lib.py \
	tests/daemons/messages.py \
	tests/daemons/wires.py \
	tests/daemons/zmtp.py

# gatewayd with functions of tests/daemons/hostile.c in front of its own.
if WITH_DAEMONS
noinst_PROGRAMS += tests/daemons/hostile
tests_daemons_hostile_CPPFLAGS = $(gatewayd_gatewayd_CPPFLAGS)
tests_daemons_hostile_SOURCES = tests/daemons/hostile.c gatewayd/main.c
tests_daemons_hostile_LDFLAGS = -Wl,--wrap=gwd_replace_file -Wl,--wrap=gmc_link_send_message \
	-Wl,--wrap=gmc_link_next_packet -Wl,--wrap=gw_target_channel \
	-Wl,--wrap=gmc_listing_parse
tests_daemons_hostile_LDADD = $(GMC_GATEWAYD_LIBS)

# The same of gmcast-noded.
noinst_PROGRAMS += tests/daemons/hostile_node
tests_daemons_hostile_node_CPPFLAGS = $(noded_gmcast_noded_CPPFLAGS)
tests_daemons_hostile_node_SOURCES = tests/daemons/hostile_node.c noded/main.c
tests_daemons_hostile_node_LDFLAGS = -Wl,--wrap=gw_hear -Wl,--wrap=gw_hear_group
tests_daemons_hostile_node_LDADD = $(GMC_GATEWAYD_LIBS)
endif
