# SPDX-License-Identifier: Apache-2.0
noinst_LIBRARIES += lib/health/libember-health.a
lib_health_libember_health_a_SOURCES = \
	lib/health/verdict.c \
	lib/health/verdict.h

if TESTS_WANTED
health_tests = tests/unit/health/test_verdict
check_PROGRAMS += $(health_tests)
TESTS += $(health_tests)
health_test_cppflags = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
health_test_ldadd = lib/health/libember-health.a lib/nvme/libember-nvme.a \
	lib/base/libember-base.a $(CHECK_LIBS)
tests_unit_health_test_verdict_CPPFLAGS = $(health_test_cppflags)
tests_unit_health_test_verdict_LDADD = $(health_test_ldadd)
endif
