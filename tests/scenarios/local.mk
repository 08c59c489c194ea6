# SPDX-License-Identifier: BSD-2-Clause
# Owns the build of tests/scenarios. Stories: few gateways, fixed seed, scripted faults, stated outcome.

check_LTLIBRARIES += tests/scenarios/libstory.la
tests_scenarios_libstory_la_SOURCES = tests/scenarios/story.c tests/scenarios/story.h \
	tests/scenarios/lan.c tests/scenarios/lan.h tests/scenarios/talk.c tests/scenarios/talk.h
STORY_LIBS = tests/scenarios/libstory.la $(GMC_SIM_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/scenarios/test_story_wait
tests_scenarios_test_story_wait_LDADD = $(STORY_LIBS)
check_PROGRAMS += tests/scenarios/test_story_small
tests_scenarios_test_story_small_LDADD = $(STORY_LIBS)
check_PROGRAMS += tests/scenarios/test_story_crash
tests_scenarios_test_story_crash_LDADD = $(STORY_LIBS)
check_PROGRAMS += tests/scenarios/test_story_deaf
tests_scenarios_test_story_deaf_LDADD = $(STORY_LIBS)
check_PROGRAMS += tests/scenarios/test_story_faults
tests_scenarios_test_story_faults_LDADD = $(STORY_LIBS)
check_PROGRAMS += tests/scenarios/test_story_forger
tests_scenarios_test_story_forger_LDADD = $(STORY_LIBS)
check_PROGRAMS += tests/scenarios/test_story_group
tests_scenarios_test_story_group_LDADD = $(STORY_LIBS)
check_PROGRAMS += tests/scenarios/test_story_group_cut
tests_scenarios_test_story_group_cut_LDADD = $(STORY_LIBS)
check_PROGRAMS += tests/scenarios/test_story_group_size
tests_scenarios_test_story_group_size_LDADD = $(STORY_LIBS)
check_PROGRAMS += tests/scenarios/test_story_nodes
tests_scenarios_test_story_nodes_LDADD = $(STORY_LIBS)
check_PROGRAMS += tests/scenarios/test_story_far
tests_scenarios_test_story_far_LDADD = $(STORY_LIBS)
check_PROGRAMS += tests/scenarios/test_story_late
tests_scenarios_test_story_late_LDADD = $(STORY_LIBS)
check_PROGRAMS += tests/scenarios/test_story_trees
tests_scenarios_test_story_trees_LDADD = $(STORY_LIBS)
check_PROGRAMS += tests/scenarios/test_story_uplink
tests_scenarios_test_story_uplink_LDADD = $(STORY_LIBS)
check_PROGRAMS += tests/scenarios/test_story_subnet
tests_scenarios_test_story_subnet_LDADD = $(STORY_LIBS)
check_PROGRAMS += tests/scenarios/test_story_tree
tests_scenarios_test_story_tree_LDADD = $(STORY_LIBS)
check_PROGRAMS += tests/scenarios/test_schedules
tests_scenarios_test_schedules_LDADD = interconnect/libinterconnect.la $(GMC_SIM_LIBS) $(TEST_LIBS) \
	-lm
check_PROGRAMS += tests/scenarios/test_schedule_models
tests_scenarios_test_schedule_models_LDADD = interconnect/libinterconnect.la $(GMC_SIM_LIBS) \
	$(TEST_LIBS) -lm
check_PROGRAMS += tests/scenarios/test_measured
tests_scenarios_test_measured_LDADD = $(GMC_SIM_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/scenarios/test_measured_ways
tests_scenarios_test_measured_ways_LDADD = $(GMC_SIM_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/scenarios/test_prediction
tests_scenarios_test_prediction_LDADD = $(GMC_SIM_LIBS) -lm

dist_check_SCRIPTS += tests/scenarios/test_topology.sh
TESTS += tests/scenarios/test_topology.sh
# The command itself.
dist_check_SCRIPTS += tests/scenarios/test_sim_run.sh
TESTS += tests/scenarios/test_sim_run.sh
dist_check_SCRIPTS += tests/scenarios/test_interruptions.py
TESTS += tests/scenarios/test_interruptions.py
check_PROGRAMS += tests/scenarios/test_sim_drive
tests_scenarios_test_sim_drive_LDADD = $(GMC_SIM_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/scenarios/test_story_messages_source
tests_scenarios_test_story_messages_source_LDADD = $(STORY_LIBS)
check_PROGRAMS += tests/scenarios/test_story_messages
tests_scenarios_test_story_messages_LDFLAGS = -Wl,--wrap=gw_hearers_offer
tests_scenarios_test_story_messages_LDADD = $(STORY_LIBS)
