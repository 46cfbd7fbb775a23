# SPDX-License-Identifier: Apache-2.0
noinst_LIBRARIES += daemon/store/libember-store.a
daemon_store_libember_store_a_CPPFLAGS = $(AM_CPPFLAGS) $(SQLITE_CFLAGS)
daemon_store_libember_store_a_SOURCES = \
	daemon/store/db.c \
	daemon/store/db.h \
	daemon/store/events.c \
	daemon/store/internal.h \
	daemon/store/load.c \
	daemon/store/queue.c \
	daemon/store/queue.h \
	daemon/store/reader.c \
	daemon/store/reader.h \
	daemon/store/retention.c \
	daemon/store/retention.h \
	daemon/store/sql.c \
	daemon/store/sql.h \
	daemon/store/store.c \
	daemon/store/store.h \
	daemon/store/writer.c
nodist_daemon_store_libember_store_a_SOURCES = \
	daemon/store/sql-text.c \
	daemon/store/sql-text.h

# The SQL files as C strings. Migrations first and in their order.
ember_sql = \
	schema/0001-base.sql \
	schema/0002-events.sql \
	schema/0003-selftest.sql \
	schema/query/begin.sql \
	schema/query/capability_all.sql \
	schema/query/capability_put.sql \
	schema/query/capability_remove.sql \
	schema/query/commit.sql \
	schema/query/connection_setup.sql \
	schema/query/copy_to.sql \
	schema/query/device_name_put.sql \
	schema/query/device_name_trim.sql \
	schema/query/drive_all.sql \
	schema/query/drive_put.sql \
	schema/query/event_last.sql \
	schema/query/event_newest.sql \
	schema/query/event_prune.sql \
	schema/query/event_put.sql \
	schema/query/event_range.sql \
	schema/query/event_range_drive.sql \
	schema/query/event_range_drive_newest.sql \
	schema/query/event_range_newest.sql \
	schema/query/object_count.sql \
	schema/query/page_all.sql \
	schema/query/page_put.sql \
	schema/query/quick_check.sql \
	schema/query/reader_setup.sql \
	schema/query/reading_add_column.sql \
	schema/query/reading_columns.sql \
	schema/query/reading_create.sql \
	schema/query/reading_insert.sql \
	schema/query/reading_last.sql \
	schema/query/reading_range.sql \
	schema/query/reading_range_newest.sql \
	schema/query/reading_steps_newest.sql \
	schema/query/rollback.sql \
	schema/query/selftest_run_all.sql \
	schema/query/selftest_run_put.sql \
	schema/query/series_newest.sql \
	schema/query/series_next.sql \
	schema/query/series_prune.sql \
	schema/query/version_get.sql \
	schema/query/version_set.sql
EXTRA_DIST += build-aux/embed-sql.sh $(ember_sql)
BUILT_SOURCES += daemon/store/sql-text.h
CLEANFILES += daemon/store/sql-text.c daemon/store/sql-text.h

ember_embed_sql = $(MKDIR_P) daemon/store && $(SHELL) $(top_srcdir)/build-aux/embed-sql.sh
daemon/store/sql-text.h: $(ember_sql) build-aux/embed-sql.sh
	$(AM_V_GEN)$(ember_embed_sql) header $(ember_sql:%=$(top_srcdir)/%) > $@-t && mv $@-t $@
daemon/store/sql-text.c: $(ember_sql) build-aux/embed-sql.sh
	$(AM_V_GEN)$(ember_embed_sql) source $(ember_sql:%=$(top_srcdir)/%) > $@-t && mv $@-t $@
$(daemon_store_libember_store_a_OBJECTS): daemon/store/sql-text.h

if TESTS_WANTED
ember_store_tests = \
	tests/unit/store/test_db \
	tests/unit/store/test_events \
	tests/unit/store/test_load \
	tests/unit/store/test_queue \
	tests/unit/store/test_reader \
	tests/unit/store/test_retention \
	tests/unit/store/test_sql \
	tests/unit/store/test_store
check_PROGRAMS += $(ember_store_tests)
TESTS += $(ember_store_tests)

ember_store_test_cppflags = $(AM_CPPFLAGS) $(SQLITE_CFLAGS) $(CHECK_CFLAGS)
ember_store_test_libs = daemon/store/libember-store.a lib/base/libember-base.a \
	$(SQLITE_LIBS) $(LIBSYSTEMD_LIBS) $(CHECK_LIBS) -lpthread
tests_unit_store_test_db_SOURCES = tests/unit/store/test_db.c tests/unit/store/fixture.h
tests_unit_store_test_db_CPPFLAGS = $(ember_store_test_cppflags)
tests_unit_store_test_db_LDADD = $(ember_store_test_libs)
tests_unit_store_test_events_SOURCES = tests/unit/store/test_events.c tests/unit/store/fixture.h
tests_unit_store_test_events_CPPFLAGS = $(ember_store_test_cppflags)
tests_unit_store_test_events_LDADD = $(ember_store_test_libs)
tests_unit_store_test_load_SOURCES = tests/unit/store/test_load.c tests/unit/store/fixture.h
tests_unit_store_test_load_CPPFLAGS = $(ember_store_test_cppflags)
tests_unit_store_test_load_LDADD = $(ember_store_test_libs)
tests_unit_store_test_queue_SOURCES = tests/unit/store/test_queue.c
tests_unit_store_test_queue_CPPFLAGS = $(ember_store_test_cppflags)
tests_unit_store_test_queue_LDADD = $(ember_store_test_libs)
tests_unit_store_test_reader_SOURCES = tests/unit/store/test_reader.c
tests_unit_store_test_reader_CPPFLAGS = $(ember_store_test_cppflags)
tests_unit_store_test_reader_LDADD = $(ember_store_test_libs)
tests_unit_store_test_retention_SOURCES = tests/unit/store/test_retention.c
tests_unit_store_test_retention_CPPFLAGS = $(ember_store_test_cppflags)
tests_unit_store_test_retention_LDADD = $(ember_store_test_libs)
tests_unit_store_test_sql_SOURCES = tests/unit/store/test_sql.c
tests_unit_store_test_sql_CPPFLAGS = $(ember_store_test_cppflags)
tests_unit_store_test_sql_LDADD = $(ember_store_test_libs)
tests_unit_store_test_store_SOURCES = tests/unit/store/test_store.c
tests_unit_store_test_store_CPPFLAGS = $(ember_store_test_cppflags)
tests_unit_store_test_store_LDADD = $(ember_store_test_libs)
endif
