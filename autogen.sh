#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Owns the creation of configure from a checkout.
set -e
cd "$(dirname "$0")"
mkdir -p build-aux
exec autoreconf --install --force --warnings=all,no-portability,no-obsolete
