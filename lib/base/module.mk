# SPDX-License-Identifier: Apache-2.0
# Programs that log link with $(LIBSYSTEMD_LIBS).
noinst_LIBRARIES += lib/base/libember-base.a
lib_base_libember_base_a_CPPFLAGS = $(AM_CPPFLAGS) $(LIBSYSTEMD_CFLAGS)
lib_base_libember_base_a_SOURCES = \
	lib/base/buf.c \
	lib/base/buf.h \
	lib/base/cleanup.h \
	lib/base/clock.c \
	lib/base/clock.h \
	lib/base/le.h \
	lib/base/log.c \
	lib/base/log.h \
	lib/base/parse.c \
	lib/base/parse.h \
	lib/base/text.c \
	lib/base/text.h \
	lib/base/u128.c \
	lib/base/u128.h
