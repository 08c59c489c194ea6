# SPDX-License-Identifier: BSD-2-Clause
# Owns the build of the emulator: what is pure or only reads and writes descriptors is in libsim.la,
# what makes namespaces and processes is in the command.

sim_wan_libsim_la_SOURCES += \
	sim-wan/emulate/forward.c sim-wan/emulate/forward.h \
	sim-wan/emulate/hosts.c sim-wan/emulate/hosts.h \
	sim-wan/emulate/ip.c sim-wan/emulate/ip.h

sim_wan_sim_wan_SOURCES += \
	sim-wan/emulate/command.c \
	sim-wan/emulate/emulate.c sim-wan/emulate/emulate.h \
	sim-wan/emulate/gateways.c sim-wan/emulate/gateways.h \
	sim-wan/emulate/netns.c sim-wan/emulate/netns.h \
	sim-wan/emulate/place.c sim-wan/emulate/place.h \
	sim-wan/emulate/process.c sim-wan/emulate/process.h \
	sim-wan/emulate/summary.c sim-wan/emulate/summary.h \
	sim-wan/emulate/tell.c sim-wan/emulate/tell.h \
	sim-wan/emulate/tun.c sim-wan/emulate/tun.h

check_PROGRAMS += tests/unit/test_emu_hosts
tests_unit_test_emu_hosts_LDADD = $(GMC_SIM_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_emu_ip
tests_unit_test_emu_ip_LDADD = $(GMC_SIM_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_emu_forward
tests_unit_test_emu_forward_LDADD = $(GMC_SIM_LIBS) $(TEST_LIBS)
