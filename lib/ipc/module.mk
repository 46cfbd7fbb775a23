# SPDX-License-Identifier: Apache-2.0
noinst_LIBRARIES += lib/ipc/libember-ipc.a
lib_ipc_libember_ipc_a_SOURCES = \
	lib/ipc/names.c \
	lib/ipc/proto.c \
	lib/ipc/proto.h \
	lib/ipc/socket.c
