# SPDX-License-Identifier: Apache-2.0
noinst_LIBRARIES += daemon/drives/libember-drives.a
daemon_drives_libember_drives_a_CPPFLAGS = $(AM_CPPFLAGS) $(LIBSYSTEMD_CFLAGS)
daemon_drives_libember_drives_a_SOURCES = \
	daemon/drives/ask.c daemon/drives/changes.c daemon/drives/changes.h \
	daemon/drives/changes_impl.h daemon/drives/changes_page.c \
	daemon/drives/commands.c \
	daemon/drives/capabilities.c daemon/drives/capabilities.h \
	daemon/drives/drive.c daemon/drives/drive.h daemon/drives/drive_impl.h \
	daemon/drives/drive_judge.c \
	daemon/drives/drive_namespaces.c \
	daemon/drives/drive_path.c daemon/drives/drive_plan.c daemon/drives/drive_reply.c \
	daemon/drives/drive_restore.c daemon/drives/drive_snap.c \
	daemon/drives/drives.c daemon/drives/drives.h daemon/drives/drives_impl.h \
	daemon/drives/entries.c daemon/drives/heard.c daemon/drives/publish.c \
	daemon/drives/event_log.c daemon/drives/event_log.h \
	daemon/drives/history.c daemon/drives/history.h \
	daemon/drives/link.c daemon/drives/link.h \
	daemon/drives/orders.c daemon/drives/orders.h \
	daemon/drives/records.c daemon/drives/records.h \
	daemon/drives/self_tests.c \
	daemon/drives/snapshot.c daemon/drives/snapshot.h

if TESTS_WANTED
drives_tests = tests/unit/drives/test_capabilities \
	tests/unit/drives/test_changes \
	tests/unit/drives/test_drive \
	tests/unit/drives/test_drive_judge \
	tests/unit/drives/test_drive_namespaces \
	tests/unit/drives/test_drive_path \
	tests/unit/drives/test_drive_plan \
	tests/unit/drives/test_event_log \
	tests/unit/drives/test_orders \
	tests/unit/drives/test_snapshot
check_PROGRAMS += $(drives_tests)
TESTS += $(drives_tests)
drives_test_libs = daemon/drives/libember-drives.a lib/ipc/libember-ipc.a \
	lib/health/libember-health.a lib/nvme/libember-nvme.a lib/base/libember-base.a $(LIBSYSTEMD_LIBS) $(CHECK_LIBS)
tests_unit_drives_test_capabilities_CPPFLAGS = $(AM_CPPFLAGS) $(LIBSYSTEMD_CFLAGS) $(CHECK_CFLAGS)
tests_unit_drives_test_capabilities_SOURCES = tests/unit/drives/test_capabilities.c
tests_unit_drives_test_capabilities_LDADD = $(drives_test_libs)
tests_unit_drives_test_changes_CPPFLAGS = $(AM_CPPFLAGS) $(LIBSYSTEMD_CFLAGS) $(CHECK_CFLAGS)
tests_unit_drives_test_changes_SOURCES = tests/unit/drives/test_changes.c
tests_unit_drives_test_changes_LDADD = daemon/drives/libember-drives.a \
	daemon/store/libember-store.a $(drives_test_libs) $(SQLITE_LIBS) -lpthread
tests_unit_drives_test_drive_judge_CPPFLAGS = $(AM_CPPFLAGS) $(LIBSYSTEMD_CFLAGS) $(CHECK_CFLAGS)
tests_unit_drives_test_drive_judge_SOURCES = tests/unit/drives/test_drive_judge.c tests/unit/drives/drive_fixture.h
tests_unit_drives_test_drive_judge_LDADD = $(drives_test_libs)
tests_unit_drives_test_drive_namespaces_CPPFLAGS = $(AM_CPPFLAGS) $(LIBSYSTEMD_CFLAGS) $(CHECK_CFLAGS)
tests_unit_drives_test_drive_namespaces_SOURCES = tests/unit/drives/test_drive_namespaces.c tests/unit/drives/drive_fixture.h
tests_unit_drives_test_drive_namespaces_LDADD = $(drives_test_libs)
tests_unit_drives_test_drive_path_CPPFLAGS = $(AM_CPPFLAGS) $(LIBSYSTEMD_CFLAGS) $(CHECK_CFLAGS)
tests_unit_drives_test_drive_path_SOURCES = tests/unit/drives/test_drive_path.c tests/unit/drives/drive_fixture.h
tests_unit_drives_test_drive_path_LDADD = $(drives_test_libs)
tests_unit_drives_test_drive_plan_CPPFLAGS = $(AM_CPPFLAGS) $(LIBSYSTEMD_CFLAGS) $(CHECK_CFLAGS)
tests_unit_drives_test_drive_plan_SOURCES = tests/unit/drives/test_drive_plan.c tests/unit/drives/drive_fixture.h
tests_unit_drives_test_drive_plan_LDADD = $(drives_test_libs)
tests_unit_drives_test_drive_CPPFLAGS = $(AM_CPPFLAGS) $(LIBSYSTEMD_CFLAGS) $(CHECK_CFLAGS)
tests_unit_drives_test_drive_SOURCES = tests/unit/drives/test_drive.c \
	tests/unit/drives/drive_fixture.h
tests_unit_drives_test_drive_LDADD = $(drives_test_libs)
tests_unit_drives_test_event_log_CPPFLAGS = $(AM_CPPFLAGS) $(LIBSYSTEMD_CFLAGS) $(CHECK_CFLAGS)
tests_unit_drives_test_event_log_SOURCES = tests/unit/drives/test_event_log.c
tests_unit_drives_test_event_log_LDADD = $(drives_test_libs)
tests_unit_drives_test_orders_CPPFLAGS = $(AM_CPPFLAGS) $(LIBSYSTEMD_CFLAGS) $(CHECK_CFLAGS)
tests_unit_drives_test_orders_SOURCES = tests/unit/drives/test_orders.c
tests_unit_drives_test_orders_LDADD = $(drives_test_libs)
tests_unit_drives_test_snapshot_CPPFLAGS = $(AM_CPPFLAGS) $(LIBSYSTEMD_CFLAGS) $(CHECK_CFLAGS)
tests_unit_drives_test_snapshot_SOURCES = tests/unit/drives/test_snapshot.c
tests_unit_drives_test_snapshot_LDADD = $(drives_test_libs)
endif
