# SPDX-License-Identifier: BSD-2-Clause
# Owns the build of tests/daemons. Tests that run the real daemons.

# They are skipped where the daemons are not built.
dist_check_SCRIPTS += tests/daemons/test_cli.sh
TESTS += tests/daemons/test_cli.sh
EXTRA_DIST += tests/daemons/lib.py
