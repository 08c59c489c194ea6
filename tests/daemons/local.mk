# SPDX-License-Identifier: BSD-2-Clause
# Owns the build of tests/daemons. Tests that run the real daemons.
