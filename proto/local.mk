# SPDX-License-Identifier: BSD-2-Clause
# Owns the generated protobuf-c code: proto/x.proto becomes proto/x.pb-c.[ch] in the build tree.
# Only libgmcast/wire includes them, as "proto/x.pb-c.h".

# A new message file is one more name here.
PROTO_FILES = proto/control.proto proto/ctl.proto proto/record.proto

EXTRA_DIST += $(PROTO_FILES)
BUILT_SOURCES += $(PROTO_FILES:.proto=.pb-c.h)
CLEANFILES += $(PROTO_FILES:.proto=.pb-c.h) $(PROTO_FILES:.proto=.pb-c.c)

noinst_LTLIBRARIES += proto/libproto.la
proto_libproto_la_SOURCES =
nodist_proto_libproto_la_SOURCES = $(PROTO_FILES:.proto=.pb-c.c)
proto_libproto_la_CPPFLAGS = $(PURE_CPPFLAGS)
# Generated code does not meet our warnings and is not ours to change.
proto_libproto_la_CFLAGS = $(BASE_CFLAGS) -w

proto/%.pb-c.c proto/%.pb-c.h: $(top_srcdir)/proto/%.proto
	$(AM_V_GEN)$(MKDIR_P) proto && \
	$(PROTOC_C) --proto_path=$(top_srcdir) --c_out=. proto/$*.proto
