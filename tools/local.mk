# SPDX-License-Identifier: BSD-2-Clause
# Owns the build of the command-line tools, one source file per subcommand.

EXTRA_DIST += tools/.includes

# The certificate authority, apart so that its test links it without the command.
noinst_LTLIBRARIES += tools/libca.la
tools_libca_la_CPPFLAGS = $(HOST_CPPFLAGS) $(OPENSSL_CFLAGS)
tools_libca_la_SOURCES = \
	tools/ca_files.c tools/ca_files.h \
	tools/ca_store.c tools/ca_store.h \
	tools/ca_x509.c tools/ca_x509.h

# What people and programs read, without a gateway.
noinst_LTLIBRARIES += tools/libtools.la
tools_libtools_la_CPPFLAGS = $(HOST_CPPFLAGS) $(JANSSON_CFLAGS)
tools_libtools_la_SOURCES = \
	tools/doctor_limits.c tools/doctor_limits.h \
	tools/doctor_links.c tools/doctor_links.h \
	tools/doctor_offline.c tools/doctor_offline.h \
	tools/draw.c tools/draw.h \
	tools/progress.c tools/progress.h \
	tools/report.c tools/report.h \
	tools/text.c tools/text.h \
	tools/trees.h
GMC_TOOLS_LIBS = tools/libtools.la libgmcast/ctl/libctl.la $(GMC_CLIENT_LIBS) $(JANSSON_LIBS) $(LIBZMQ_LIBS)

check_PROGRAMS += \
	tests/unit/test_ca \
	tests/unit/test_doctor \
	tests/unit/test_draw \
	tests/unit/test_progress \
	tests/unit/test_report \
	tests/unit/test_text
tests_unit_test_ca_LDADD = tools/libca.la $(OPENSSL_LIBS) $(TEST_LIBS)
tests_unit_test_doctor_LDADD = $(GMC_TOOLS_LIBS) $(TEST_LIBS)
tests_unit_test_draw_LDADD = $(GMC_TOOLS_LIBS) $(TEST_LIBS)
tests_unit_test_progress_LDADD = $(GMC_TOOLS_LIBS) $(TEST_LIBS)
tests_unit_test_report_LDADD = $(GMC_TOOLS_LIBS) $(TEST_LIBS)
tests_unit_test_text_LDADD = $(GMC_TOOLS_LIBS) $(TEST_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_ca_index tests/fuzz/fuzz_text
tests_fuzz_fuzz_ca_index_LDADD = $(FUZZ_MAIN) tools/libca.la $(OPENSSL_LIBS) $(GMC_BASE_LIBS)
tests_fuzz_fuzz_text_SOURCES = tests/fuzz/fuzz_text.c tools/targets.c tools/targets.h
tests_fuzz_fuzz_text_LDADD = $(FUZZ_MAIN) $(GMC_TOOLS_LIBS)

if WITH_DAEMONS
bin_PROGRAMS += tools/gmcast
tools_gmcast_CPPFLAGS = $(HOST_CPPFLAGS) $(LIBZMQ_CFLAGS) $(JANSSON_CFLAGS) $(OPENSSL_CFLAGS) \
	-DGATEWAYD_FILE='"$(sbindir)/gatewayd"'
tools_gmcast_SOURCES = \
	tools/gmcast.c tools/gmcast.h \
	tools/gmcast_add.c \
	tools/gmcast_ca.c \
	tools/gmcast_cancel.c \
	tools/gmcast_doctor.c \
	tools/gmcast_node.c \
	tools/gmcast_peers.c \
	tools/gmcast_pub.c \
	tools/gmcast_resume.c \
	tools/gmcast_stage.c \
	tools/gmcast_status.c \
	tools/gmcast_sub.c \
	tools/gmcast_tree.c \
	tools/gmcast_watch.c \
	tools/message_file.c tools/message_file.h \
	tools/session.c tools/session.h \
	tools/targets.c tools/targets.h
tools/gmcast-gmcast_doctor.$(OBJEXT): Makefile # another sbindir: the path in it
tools_gmcast_LDADD = tools/libca.la $(GMC_TOOLS_LIBS) $(OPENSSL_LIBS)
endif
