# SPDX-License-Identifier: BSD-2-Clause
# Owns the build of tests/bench. Benchmarks, never part of make check.

# make tests/bench/bench_link; the tables of docs/CONGESTION.md.
EXTRA_PROGRAMS += tests/bench/bench_link
tests_bench_bench_link_LDADD = tests/lib/libtest.la $(GMC_SIM_LIBS)

# make tests/bench/bench_crypto; what one core seals, tags and hashes.
EXTRA_PROGRAMS += tests/bench/bench_crypto
tests_bench_bench_crypto_LDADD = $(GMC_CRYPTO_LIBS)

# make tests/bench/bench_fec; what one core makes of parity and of what a group lost.
EXTRA_PROGRAMS += tests/bench/bench_fec
tests_bench_bench_fec_LDADD = $(GMC_FEC_LIBS)

# make tests/bench/bench_tls; the peer of the daemon benchmark: TLS 1.3 streams.
EXTRA_PROGRAMS += tests/bench/bench_tls
tests_bench_bench_tls_LDADD = $(OPENSSL_SSL_LIBS) $(OPENSSL_LIBS)

# make bench: real daemons on loopback beside TLS streams, memory, and the limits of one core.
bench: all tests/bench/bench_tls tests/bench/bench_crypto
	GMC_BUILDDIR=$(abs_builddir) python3 $(srcdir)/tests/bench/bench_daemons.py
.PHONY: bench
EXTRA_DIST += tests/bench/bench_daemons.py tests/bench/ballast.py

# make bench-sim: the simulator's tables of figures beside their limits; QUICK=--quick for 100 MB.
bench-sim: sim-wan/sim-wan bench-sim-speed
	GMC_SRCDIR=$(abs_top_srcdir) GMC_BUILDDIR=$(abs_builddir) \
		sh $(srcdir)/tests/bench/bench_sim.sh $(QUICK)
.PHONY: bench-sim
EXTRA_DIST += tests/bench/bench_sim.sh tests/bench/flat.conf tests/bench/regions.conf tests/bench/tree3.conf \
	tests/bench/shared.conf

# make bench-sim-speed: the simulator's engine and forwarding, with ns-3 beside it when installed.
EXTRA_PROGRAMS += tests/bench/bench_engine tests/bench/bench_forward
tests_bench_bench_engine_LDADD = $(GMC_SIM_LIBS)
tests_bench_bench_forward_LDADD = $(GMC_SIM_LIBS)
bench-sim-speed: tests/bench/bench_engine tests/bench/bench_forward
	GMC_SRCDIR=$(abs_top_srcdir) GMC_BUILDDIR=$(abs_builddir) \
	    sh $(srcdir)/tests/bench/bench_sim_speed.sh
.PHONY: bench-sim-speed
EXTRA_DIST += tests/bench/bench_sim_speed.sh tests/bench/bench_forward_ns3.cc

# make bench-wan: real daemons over an emulated WAN beside their limits and others; see the head of
# bench_wan.py for parts and selections. Root.
bench-wan: all
	GMC_BUILDDIR=$(abs_builddir) python3 $(srcdir)/tests/bench/bench_wan.py
.PHONY: bench-wan
EXTRA_DIST += tests/bench/bench_wan.py tests/bench/parts.py tests/bench/wan_peers.py tests/bench/wan_share.py \
	tests/bench/wan_stage.py tests/bench/wan_torrent.py

# make bench-messages: messages through daemons beside plain ZeroMQ and an emulated link's delay; five
# minutes. Root for the link.
EXTRA_PROGRAMS += tests/bench/message_load
tests_bench_message_load_CPPFLAGS = $(AM_CPPFLAGS) -D_GNU_SOURCE $(LIBZMQ_CFLAGS)
tests_bench_message_load_LDADD = $(GMC_CLIENT_LIBS) $(LIBZMQ_LIBS)
bench-messages: all tests/bench/message_load
	GMC_BUILDDIR=$(abs_builddir) python3 $(srcdir)/tests/bench/bench_messages.py
.PHONY: bench-messages
EXTRA_DIST += tests/bench/bench_messages.py

# make bench-cluster: a gateway and eight nodes on a bridge beside udpcast and uftp; settings in the
# head of bench_cluster.py. Root.
bench-cluster: all
	GMC_BUILDDIR=$(abs_builddir) python3 $(srcdir)/tests/bench/bench_cluster.py
.PHONY: bench-cluster
EXTRA_DIST += tests/bench/bench_cluster.py

# make bench-fabric: nodes reached over libfabric beside plain sockets, on loopback; settings in the
# head of bench_fabric.py.
bench-fabric: all
	GMC_BUILDDIR=$(abs_builddir) python3 $(srcdir)/tests/bench/bench_fabric.py
.PHONY: bench-fabric
EXTRA_DIST += tests/bench/bench_fabric.py

# make bench-emulate: how exact the emulator is, what it carries, and the simulator beside it. Root.
bench-emulate: all
	GMC_BUILDDIR=$(abs_builddir) python3 $(srcdir)/tests/bench/bench_emulate.py
.PHONY: bench-emulate
EXTRA_DIST += tests/bench/bench_emulate.py

# make bench-sim-large: a terabyte to six domains with the real core; minutes.
EXTRA_PROGRAMS += tests/bench/bench_large
tests_bench_bench_large_LDADD = $(GMC_SIM_LIBS)
bench-sim-large:
	@$(MAKE) optimised OPTIMISED=tests/bench/bench_large
	optimised/tests/bench/bench_large
.PHONY: bench-sim-large

# make bench-sim-probe: what bounded probing costs in the quality of trees.
EXTRA_PROGRAMS += tests/bench/bench_probe
tests_bench_bench_probe_LDADD = $(GMC_SIM_LIBS) -lm
bench-sim-probe: tests/bench/bench_probe
	tests/bench/bench_probe
.PHONY: bench-sim-probe

# make bench-sim-wide: 10,000 gateways on one channel, or GATEWAYS=, BYTES= (before or behind make).
# In huge pages where the system gives them: a tenth less time is spent on looking pages up.
EXTRA_PROGRAMS += tests/bench/bench_wide
tests_bench_bench_wide_LDADD = $(GMC_SIM_LIBS)
bench-sim-wide:
	@$(MAKE) optimised OPTIMISED=tests/bench/bench_wide
	GLIBC_TUNABLES=glibc.malloc.hugetlb=1 \
	optimised/tests/bench/bench_wide $${GATEWAYS:-10000} $${BYTES:-1000000000}
.PHONY: bench-sim-wide

# make bench-uplinks: random sets of uplinks, the shape bulk beside the bound and a chain.
EXTRA_PROGRAMS += tests/bench/bench_uplinks
tests_bench_bench_uplinks_LDADD = $(GMC_SIM_LIBS) -lm
# Over all cores: ten minutes of CPU; UPLINKS_BYTES=1000000000 an hour of it. UPLINKS_FLAGS=--measured:
# nobody is told of them, and transfers begin cold.
bench-uplinks: tests/bench/bench_uplinks
	tests/bench/bench_uplinks --sets $${SETS:-50} \
	    --bytes $${UPLINKS_BYTES:-200000000} $${UPLINKS_FLAGS:-}
.PHONY: bench-uplinks

# make bench-plan: predictions of `stage --plan` beside what then happens.
bench-plan: tests/scenarios/test_prediction
	tests/scenarios/test_prediction --bytes 20000000 --bytes 200000000 --bytes 1000000000 --sets 8 \
	    --measured
.PHONY: bench-plan

# make bench-ldr: low-diameter graphs beside their limits, and the comparisons of the source; minutes.
# QUICK=quick leaves the largest networks out.
EXTRA_PROGRAMS += tests/bench/bench_ldr
tests_bench_bench_ldr_LDADD = $(GMC_INTERCONNECT_LIBS)
bench-ldr: tests/bench/bench_ldr
	tests/bench/bench_ldr $(QUICK)
.PHONY: bench-ldr

# make bench-interconnect: curves of the models, the flit engine; one core, half a minute.
EXTRA_PROGRAMS += tests/bench/bench_interconnect
tests_bench_bench_interconnect_LDADD = $(GMC_INTERCONNECT_LIBS)
bench-interconnect: tests/bench/bench_interconnect
	tests/bench/bench_interconnect
.PHONY: bench-interconnect
