# SPDX-License-Identifier: BSD-2-Clause
# Owns the build of tests/scenarios. Stories: few gateways, fixed seed, scripted faults, expected trace.
