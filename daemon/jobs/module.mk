# SPDX-License-Identifier: Apache-2.0
noinst_LIBRARIES += daemon/jobs/libember-jobs.a
daemon_jobs_libember_jobs_a_CPPFLAGS = $(AM_CPPFLAGS) $(LIBSYSTEMD_CFLAGS)
daemon_jobs_libember_jobs_a_SOURCES = \
	daemon/jobs/calendar.c daemon/jobs/calendar.h \
	daemon/jobs/jobs.c daemon/jobs/jobs.h
