# SPDX-License-Identifier: BSD-2-Clause
# Owns the installation of the sample configuration and the units.
