# SPDX-License-Identifier: BSD-2-Clause
# Owns the build of tests/bench. Benchmarks, never part of make check.
