# SPDX-License-Identifier: BSD-2-Clause
# Owns the build of tests/swarm. Seeded campaigns and their oracles.
