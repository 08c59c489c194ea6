# SPDX-License-Identifier: BSD-2-Clause
# Owns the installation of the manuals and the texts for people.

dist_man_MANS += docs/gmcast.1 docs/gmcast-interconnect.1 \
	docs/sim-wan.1 docs/sim-wan-run.1 docs/sim-wan-emulate.1
dist_doc_DATA += README.md
if WITH_DAEMONS
dist_man_MANS += docs/gatewayd.8 docs/gmcast-noded.8 docs/gatewayd.conf.5 docs/gmcast-replay.1
endif

EXTRA_DIST += docs/CONGESTION.md docs/EXPERIMENTS.md docs/FIGURES.md
