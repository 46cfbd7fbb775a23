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
	lib/base/ini.c \
	lib/base/ini.h \
	lib/base/le.h \
	lib/base/log.c \
	lib/base/log.h \
	lib/base/manual.c \
	lib/base/manual.h \
	lib/base/new_file.c \
	lib/base/new_file.h \
	lib/base/parse.c \
	lib/base/parse.h \
	lib/base/text.c \
	lib/base/text.h \
	lib/base/u128.c \
	lib/base/u128.h

if TESTS_WANTED
base_test_ldadd = lib/base/libember-base.a $(LIBSYSTEMD_LIBS) $(CHECK_LIBS)
base_tests = \
	tests/unit/base/test_buf \
	tests/unit/base/test_clock \
	tests/unit/base/test_ini \
	tests/unit/base/test_log \
	tests/unit/base/test_manual \
	tests/unit/base/test_parse \
	tests/unit/base/test_text \
	tests/unit/base/test_u128
check_PROGRAMS += $(base_tests)
TESTS += $(base_tests)
tests_unit_base_test_buf_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_base_test_buf_LDADD = $(base_test_ldadd)
tests_unit_base_test_clock_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_base_test_clock_LDADD = $(base_test_ldadd)
tests_unit_base_test_ini_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_base_test_ini_LDADD = $(base_test_ldadd)
tests_unit_base_test_log_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_base_test_log_LDADD = $(base_test_ldadd)
tests_unit_base_test_manual_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_base_test_manual_LDADD = $(base_test_ldadd)
tests_unit_base_test_parse_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_base_test_parse_LDADD = $(base_test_ldadd)
tests_unit_base_test_text_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_base_test_text_LDADD = $(base_test_ldadd)
tests_unit_base_test_u128_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_base_test_u128_LDADD = $(base_test_ldadd)
endif
