# SPDX-License-Identifier: BSD-2-Clause
# Owns the build of gatewayd: libgatewayd.la (everything but main) and the daemon itself.

EXTRA_DIST += gatewayd/.includes

if WITH_DAEMONS
noinst_LTLIBRARIES += gatewayd/libgatewayd.la
gatewayd_libgatewayd_la_CPPFLAGS = $(HOST_CPPFLAGS) $(LIBEVENT_CFLAGS) $(LIBZMQ_CFLAGS) \
	$(LIBCONFUSE_CFLAGS) $(OPENSSL_SSL_CFLAGS) $(OPENSSL_CFLAGS) $(JANSSON_CFLAGS)
# ns_initparse and ns_parserr of the C library's resolver are still apart.
gatewayd_libgatewayd_la_LIBADD = -lresolv -lpthread
gatewayd_libgatewayd_la_SOURCES = \
	gatewayd/addr.c gatewayd/addr.h \
	gatewayd/cert.c gatewayd/cert.h \
	gatewayd/conf.c gatewayd/conf.h gatewayd/conf_check.c gatewayd/conf_table.c \
	gatewayd/ctl_zmq.c gatewayd/ctl_zmq.h \
	gatewayd/doctor.c gatewayd/doctor.h gatewayd/doctor_live.c \
	gatewayd/drain.c \
	gatewayd/drive.c gatewayd/drive.h gatewayd/drive_int.h gatewayd/replay.c \
	gatewayd/fabric.c gatewayd/fabric.h gatewayd/fabric_int.h gatewayd/fabric_open.c \
	gatewayd/fabric_place.c \
	gatewayd/frame.c gatewayd/frame.h \
	gatewayd/gatewayd.c gatewayd/gatewayd.h gatewayd/gatewayd_int.h gatewayd/local.c \
	gatewayd/local_nodes.c \
	gatewayd/identity.c gatewayd/identity.h \
	gatewayd/upkeep.c \
	gatewayd/group.c gatewayd/group.h gatewayd/group_test.c gatewayd/group_test.h \
	gatewayd/hearing.c gatewayd/hearing.h \
	gatewayd/log.c gatewayd/log.h \
	gatewayd/mcast.c gatewayd/mcast.h gatewayd/multicast.c \
	gatewayd/messages.c gatewayd/messages.h gatewayd/messages_int.h \
	gatewayd/messages_pub.c gatewayd/messages_relay.c gatewayd/messages_sub.c \
	gatewayd/traffic.c gatewayd/traffic.h \
	gatewayd/nodes.c gatewayd/nodes.h gatewayd/token.c gatewayd/token.h \
	gatewayd/peer.c gatewayd/peer.h gatewayd/peer_int.h gatewayd/peer_conn.c \
	gatewayd/peer_dial.c \
	gatewayd/policy.c gatewayd/policy.h \
	gatewayd/priv.c gatewayd/priv.h \
	gatewayd/program.c gatewayd/program.h \
	gatewayd/race.c gatewayd/race.h \
	gatewayd/record.c gatewayd/record.h \
	gatewayd/resolve.c gatewayd/resolve.h \
	gatewayd/store.c gatewayd/store.h gatewayd/store_int.h gatewayd/store_chan.c \
	gatewayd/store_finish.c gatewayd/store_path.c gatewayd/store_source.c \
	gatewayd/store_state.c gatewayd/store_stored.c gatewayd/store_target.c gatewayd/store_walk.c \
	gatewayd/workers.c gatewayd/workers.h \
	gatewayd/text.h \
	gatewayd/tls.c gatewayd/tls.h \
	gatewayd/tree.c gatewayd/tree.h \
	gatewayd/udp.c gatewayd/udp.h \
	gatewayd/zmq_watch.c gatewayd/zmq_watch.h

check_PROGRAMS += tests/unit/test_gwd_conf tests/unit/test_gwd_udp tests/unit/test_gwd_tls \
	tests/unit/test_gwd_store tests/unit/test_gwd_store_refuse tests/unit/test_gwd_store_leftovers \
	tests/unit/test_gwd_store_clock tests/unit/test_gwd_workers tests/unit/test_gwd_zmq \
	tests/unit/test_gwd_race tests/unit/test_gwd_nodes tests/unit/test_gwd_mcast tests/unit/test_gwd_log \
	tests/unit/test_gwd_group
tests_unit_test_gwd_group_LDADD = $(GMC_GATEWAYD_LIBS) $(TEST_LIBS)
tests_unit_test_gwd_log_LDADD = $(GMC_GATEWAYD_LIBS) $(TEST_LIBS)
tests_unit_test_gwd_mcast_LDADD = $(GMC_GATEWAYD_LIBS) $(TEST_LIBS)
tests_unit_test_gwd_nodes_LDADD = $(GMC_GATEWAYD_LIBS) $(TEST_LIBS)
tests_unit_test_gwd_nodes_SOURCES = tests/unit/test_gwd_nodes.c tests/unit/gwd_certs.c \
	tests/unit/gwd_certs.h
tests_unit_test_gwd_zmq_LDADD = $(GMC_GATEWAYD_LIBS) $(TEST_LIBS)
tests_unit_test_gwd_zmq_CPPFLAGS = $(HOST_CPPFLAGS) $(LIBEVENT_CFLAGS) $(LIBZMQ_CFLAGS)
tests_unit_test_gwd_zmq_SOURCES = tests/unit/test_gwd_zmq.c tests/unit/gwd_certs.c \
	tests/unit/gwd_certs.h
tests_unit_test_gwd_workers_LDADD = $(GMC_GATEWAYD_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/unit/test_gwd_doctor
tests_unit_test_gwd_doctor_LDADD = $(GMC_GATEWAYD_LIBS) $(TEST_LIBS)
tests_unit_test_gwd_doctor_SOURCES = tests/unit/test_gwd_doctor.c tests/unit/gwd_certs.c \
	tests/unit/gwd_certs.h
check_PROGRAMS += tests/unit/test_gwd_walk
tests_unit_test_gwd_walk_LDADD = $(GMC_GATEWAYD_LIBS) $(TEST_LIBS)
tests_unit_test_gwd_walk_SOURCES = tests/unit/test_gwd_walk.c tests/unit/gwd_certs.c \
	tests/unit/gwd_certs.h
tests_unit_test_gwd_store_LDADD = $(GMC_GATEWAYD_LIBS) $(TEST_LIBS)
tests_unit_test_gwd_store_SOURCES = tests/unit/test_gwd_store.c tests/unit/gwd_sites.c \
	tests/unit/gwd_sites.h tests/unit/gwd_certs.c tests/unit/gwd_certs.h
tests_unit_test_gwd_store_refuse_LDADD = $(GMC_GATEWAYD_LIBS) $(TEST_LIBS)
tests_unit_test_gwd_store_refuse_SOURCES = tests/unit/test_gwd_store_refuse.c tests/unit/gwd_sites.c \
	tests/unit/gwd_sites.h tests/unit/gwd_certs.c tests/unit/gwd_certs.h
tests_unit_test_gwd_store_leftovers_LDADD = $(GMC_GATEWAYD_LIBS) $(TEST_LIBS)
tests_unit_test_gwd_store_leftovers_SOURCES = tests/unit/test_gwd_store_leftovers.c \
	tests/unit/gwd_sites.c tests/unit/gwd_sites.h tests/unit/gwd_certs.c tests/unit/gwd_certs.h
tests_unit_test_gwd_store_clock_LDADD = $(GMC_GATEWAYD_LIBS) $(TEST_LIBS)
tests_unit_test_gwd_store_clock_LDFLAGS = -Wl,--wrap=statx
tests_unit_test_gwd_store_clock_SOURCES = tests/unit/test_gwd_store_clock.c tests/unit/gwd_sites.c \
	tests/unit/gwd_sites.h tests/unit/gwd_certs.c tests/unit/gwd_certs.h
tests_unit_test_gwd_conf_LDADD = $(GMC_GATEWAYD_LIBS) $(TEST_LIBS)
tests_unit_test_gwd_conf_SOURCES = tests/unit/test_gwd_conf.c tests/unit/gwd_certs.c \
	tests/unit/gwd_certs.h
tests_unit_test_gwd_tls_LDADD = $(GMC_GATEWAYD_LIBS) $(TEST_LIBS)
tests_unit_test_gwd_tls_CPPFLAGS = $(HOST_CPPFLAGS) $(LIBEVENT_CFLAGS) $(OPENSSL_SSL_CFLAGS)
tests_unit_test_gwd_tls_SOURCES = tests/unit/test_gwd_tls.c tests/unit/gwd_certs.c \
	tests/unit/gwd_certs.h
tests_unit_test_gwd_udp_LDADD = $(GMC_GATEWAYD_LIBS) $(TEST_LIBS)
tests_unit_test_gwd_race_LDADD = $(GMC_GATEWAYD_LIBS) $(TEST_LIBS)
tests_unit_test_gwd_race_CPPFLAGS = $(HOST_CPPFLAGS) $(LIBEVENT_CFLAGS)

FUZZ_TARGETS += tests/fuzz/fuzz_gwd_cert tests/fuzz/fuzz_gwd_conf tests/fuzz/fuzz_gwd_frame \
	tests/fuzz/fuzz_gwd_group tests/fuzz/fuzz_gwd_nodes \
	tests/fuzz/fuzz_gwd_replay tests/fuzz/fuzz_gwd_srv tests/fuzz/fuzz_gwd_state
tests_fuzz_fuzz_gwd_cert_CPPFLAGS = $(HOST_CPPFLAGS) $(OPENSSL_SSL_CFLAGS)
tests_fuzz_fuzz_gwd_cert_SOURCES = tests/fuzz/fuzz_gwd_cert.c tests/fuzz/memfile.h
tests_fuzz_fuzz_gwd_cert_LDADD = $(FUZZ_MAIN) $(GMC_GATEWAYD_LIBS)
tests_fuzz_fuzz_gwd_conf_SOURCES = tests/fuzz/fuzz_gwd_conf.c tests/fuzz/memfile.h
tests_fuzz_fuzz_gwd_conf_LDADD = $(FUZZ_MAIN) $(GMC_GATEWAYD_LIBS)
tests_fuzz_fuzz_gwd_nodes_LDADD = $(FUZZ_MAIN) $(GMC_GATEWAYD_LIBS)
tests_fuzz_fuzz_gwd_replay_SOURCES = tests/fuzz/fuzz_gwd_replay.c tests/fuzz/memfile.h
tests_fuzz_fuzz_gwd_replay_LDADD = $(FUZZ_MAIN) $(GMC_GATEWAYD_LIBS)
tests_fuzz_fuzz_gwd_srv_CPPFLAGS = $(HOST_CPPFLAGS) $(LIBEVENT_CFLAGS)
tests_fuzz_fuzz_gwd_srv_LDADD = $(FUZZ_MAIN) $(GMC_GATEWAYD_LIBS)
tests_fuzz_fuzz_gwd_state_LDADD = $(FUZZ_MAIN) $(GMC_GATEWAYD_LIBS)
tests_fuzz_fuzz_gwd_group_LDADD = $(FUZZ_MAIN) $(GMC_GATEWAYD_LIBS)
tests_fuzz_fuzz_gwd_frame_CPPFLAGS = $(HOST_CPPFLAGS) $(LIBEVENT_CFLAGS)
tests_fuzz_fuzz_gwd_frame_LDADD = $(FUZZ_MAIN) $(GMC_GATEWAYD_LIBS)

sbin_PROGRAMS += gatewayd/gatewayd
gatewayd_gatewayd_CPPFLAGS = $(HOST_CPPFLAGS) -DGWD_CONF_FILE='"$(sysconfdir)/gmcast/gatewayd.conf"'
gatewayd_gatewayd_SOURCES = gatewayd/main.c
gatewayd_gatewayd_LDADD = $(GMC_GATEWAYD_LIBS)
gatewayd/gatewayd-main.$(OBJEXT): Makefile # another sysconfdir: the path in it

bin_PROGRAMS += tools/gmcast-replay
tools_gmcast_replay_SOURCES = tools/replay.c
tools_gmcast_replay_LDADD = $(GMC_GATEWAYD_LIBS)
endif

# A test is two lines (inside the condition):
#   check_PROGRAMS += tests/unit/test_gwd_x
#   tests_unit_test_gwd_x_LDADD = $(GMC_GATEWAYD_LIBS) $(TEST_LIBS)
