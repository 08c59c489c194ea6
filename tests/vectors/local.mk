# SPDX-License-Identifier: BSD-2-Clause
# Owns the build of tests/vectors. Golden files: wire bytes, crypto answers, tree tables.
