# SPDX-License-Identifier: BSD-2-Clause
# Owns the checks that make runs and the targets lint and ci.

EXTRA_DIST += scripts/install-deps
