# SPDX-License-Identifier: BSD-2-Clause
# Owns the build of tests/swarm. Seeded campaigns and their oracles.

noinst_PROGRAMS += tests/swarm/swarm
tests_swarm_swarm_SOURCES = tests/swarm/swarm.c tests/swarm/draw.h tests/swarm/talk.c tests/swarm/talk.h
tests_swarm_swarm_LDADD = $(GMC_SIM_LIBS)

noinst_PROGRAMS += tests/swarm/domains
tests_swarm_domains_SOURCES = tests/swarm/domains.c tests/swarm/draw.h
tests_swarm_domains_LDADD = $(GMC_SIM_LIBS)

# In make check: 120 seeds in shards that run side by side, the canaries, and domains with nodes.
SWARM_SHARDS = tests/swarm/shard-1 tests/swarm/shard-2 tests/swarm/shard-3 tests/swarm/shard-4 \
	tests/swarm/canaries tests/swarm/shard-domains
dist_check_SCRIPTS += $(SWARM_SHARDS)
TESTS += $(SWARM_SHARDS)

# A campaign: make check-swarm SEEDS=1..100000
SEEDS = 1..2000
check-swarm: tests/swarm/swarm tests/swarm/domains
	tests/swarm/swarm --seeds $(SEEDS)
	tests/swarm/domains $(subst .., ,$(SEEDS))
.PHONY: check-swarm
