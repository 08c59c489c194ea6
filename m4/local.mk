# SPDX-License-Identifier: BSD-2-Clause
# Owns the distribution of our configure macros.

EXTRA_DIST += m4/gmc_flags.m4
