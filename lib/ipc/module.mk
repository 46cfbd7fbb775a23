# SPDX-License-Identifier: Apache-2.0
noinst_LIBRARIES += lib/ipc/libember-ipc.a
lib_ipc_libember_ipc_a_SOURCES = \
	lib/ipc/names.c \
	lib/ipc/proto.c \
	lib/ipc/proto.h \
	lib/ipc/socket.c

if TESTS_WANTED
check_PROGRAMS += tests/unit/ipc/test_proto
TESTS += tests/unit/ipc/test_proto
tests_unit_ipc_test_proto_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_ipc_test_proto_LDADD = lib/ipc/libember-ipc.a $(CHECK_LIBS)
endif
