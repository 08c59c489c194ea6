# SPDX-License-Identifier: BSD-2-Clause
# Owns the build of tests/unit. Unit tests: each folder lists its own in its local.mk; here only what belongs to none of them.
