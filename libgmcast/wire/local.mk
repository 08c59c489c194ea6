# SPDX-License-Identifier: BSD-2-Clause
# Owns the build and the unit tests of libgmcast/wire: bytes to messages and back.

noinst_LTLIBRARIES += libgmcast/wire/libwire.la
libgmcast_wire_libwire_la_CPPFLAGS = $(PURE_CPPFLAGS)
libgmcast_wire_libwire_la_CFLAGS = $(PURE_CFLAGS)
libgmcast_wire_libwire_la_SOURCES = \
	libgmcast/wire/ctl_arena.c libgmcast/wire/ctl_arena.h \
	libgmcast/wire/ctl_codec.c libgmcast/wire/ctl_codec.h \
	libgmcast/wire/ctl_codec_reply.c

# scripts/check-purity holds these objects to its list of allowed names.
PURE_LIBS += libgmcast/wire/libwire.la

EXTRA_DIST += libgmcast/wire/.includes

# A test is two lines:
#   check_PROGRAMS += tests/unit/test_x
#   tests_unit_test_x_LDADD = $(GMC_WIRE_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/unit/test_ctl_codec
tests_unit_test_ctl_codec_LDADD = $(GMC_WIRE_LIBS) $(TEST_LIBS)
FUZZ_TARGETS += tests/fuzz/fuzz_ctl
tests_fuzz_fuzz_ctl_LDADD = $(FUZZ_MAIN) $(GMC_WIRE_LIBS)

# The head of link datagrams.
libgmcast_wire_libwire_la_SOURCES += libgmcast/wire/head.c libgmcast/wire/head.h
check_PROGRAMS += tests/unit/test_head
tests_unit_test_head_LDADD = $(GMC_WIRE_LIBS) $(TEST_LIBS)

# Control messages between gateways, and the channel record.
libgmcast_wire_libwire_la_SOURCES += \
	libgmcast/wire/arena.c libgmcast/wire/arena.h \
	libgmcast/wire/codec.c libgmcast/wire/codec.h \
	libgmcast/wire/control.c libgmcast/wire/control.h libgmcast/wire/control_check.c \
	libgmcast/wire/control_encode.c libgmcast/wire/record.c
check_PROGRAMS += tests/unit/test_control
tests_unit_test_control_SOURCES = tests/unit/test_control.c tests/unit/control_samples.c \
	tests/unit/control_samples.h
tests_unit_test_control_LDADD = $(GMC_WIRE_LIBS) $(TEST_LIBS)
EXTRA_DIST += tests/vectors/control.txt
FUZZ_TARGETS += tests/fuzz/fuzz_control
tests_fuzz_fuzz_control_LDADD = $(FUZZ_MAIN) $(GMC_WIRE_LIBS)
FUZZ_TARGETS += tests/fuzz/fuzz_record
tests_fuzz_fuzz_record_LDADD = $(FUZZ_MAIN) $(GMC_WIRE_LIBS)

# Frames between a gateway and local publishers and subscribers.
libgmcast_wire_libwire_la_SOURCES += libgmcast/wire/local.c libgmcast/wire/local.h
check_PROGRAMS += tests/unit/test_local
tests_unit_test_local_LDADD = $(GMC_WIRE_LIBS) $(TEST_LIBS)
FUZZ_TARGETS += tests/fuzz/fuzz_local
tests_fuzz_fuzz_local_LDADD = $(FUZZ_MAIN) $(GMC_WIRE_LIBS)

# The head of packets of message channels.
libgmcast_wire_libwire_la_SOURCES += libgmcast/wire/message.c libgmcast/wire/message.h

# What a gateway tells its group.
libgmcast_wire_libwire_la_SOURCES += libgmcast/wire/group.c libgmcast/wire/group.h
