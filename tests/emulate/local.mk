# SPDX-License-Identifier: BSD-2-Clause
# Owns the build of tests/emulate. Tests of the emulator; skipped where it cannot run.

noinst_PROGRAMS += tests/emulate/wire_probe
tests_emulate_wire_probe_SOURCES = tests/emulate/wire_probe.c

EMULATE_TESTS = tests/emulate/test_emulate.py
dist_check_SCRIPTS += $(EMULATE_TESTS)
TESTS += $(EMULATE_TESTS)
EXTRA_DIST += tests/emulate/emu.py
