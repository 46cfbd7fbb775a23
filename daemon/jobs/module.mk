# SPDX-License-Identifier: Apache-2.0
noinst_LIBRARIES += daemon/jobs/libember-jobs.a
daemon_jobs_libember_jobs_a_CPPFLAGS = $(AM_CPPFLAGS) $(LIBSYSTEMD_CFLAGS)
daemon_jobs_libember_jobs_a_SOURCES = \
	daemon/jobs/calendar.c daemon/jobs/calendar.h \
	daemon/jobs/jobs.c daemon/jobs/jobs.h

if TESTS_WANTED
check_PROGRAMS += tests/unit/jobs/test_calendar
TESTS += tests/unit/jobs/test_calendar
tests_unit_jobs_test_calendar_SOURCES = tests/unit/jobs/test_calendar.c
tests_unit_jobs_test_calendar_CPPFLAGS = $(AM_CPPFLAGS) $(LIBSYSTEMD_CFLAGS) $(CHECK_CFLAGS)
tests_unit_jobs_test_calendar_LDADD = daemon/jobs/libember-jobs.a \
	daemon/drives/libember-drives.a daemon/store/libember-store.a lib/ipc/libember-ipc.a \
	lib/nvme/libember-nvme.a lib/base/libember-base.a $(LIBSYSTEMD_LIBS) $(SQLITE_LIBS) \
	$(CHECK_LIBS) -lpthread
endif
