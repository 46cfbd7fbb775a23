/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/store/db.h"
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include "tests/unit/runner.h"
#include "tests/unit/store/fixture.h"

#define LATEST	   "3"
#define SHIPPED	   3 /* migrations */
#define ONE_BEYOND "4"

/* A later Ember's migrations: the shipped ones, and one more. */
static struct em_sql_migration migrations[SHIPPED + 2];
static struct em_db_description description;
static char message[EM_DB_MESSAGE_SIZE];

static void start(void)
{
	make_dir();
	for (unsigned i = 0; i < SHIPPED; i++)
		migrations[i] = em_sql_migrations[i];
	ck_assert_ptr_null(em_sql_migrations[SHIPPED].name);
	migrations[SHIPPED] = (struct em_sql_migration){
		"0004-more", "CREATE TABLE more (a INTEGER) STRICT; INSERT INTO more VALUES (7);"
	};
	migrations[SHIPPED + 1] = (struct em_sql_migration){ NULL, NULL };
	description =
		(struct em_db_description){ db_path, tables, EM_COUNT(tables), em_sql_migrations };
	message[0] = '\0';
}

static int open_and_close(void)
{
	struct em_db *db = NULL;
	int r = em_db_open(&db, &description, message);

	em_db_close(db);
	return r;
}

START_TEST(every_migration_runs_once_and_from_nothing)
{
	char buf[128];

	description.migrations = migrations;
	ck_assert_int_eq(open_and_close(), 0);
	ck_assert_int_eq(open_and_close(), 0);
	ck_assert_str_eq(look("SELECT count(*) FROM more", buf), "1");
	ck_assert_str_eq(look("PRAGMA user_version", buf), ONE_BEYOND);
	ck_assert_str_eq(look("PRAGMA journal_mode", buf), "wal");
	/* Nothing was there to be copied. */
	ck_assert_uint_eq(count_files("ember.db.version"), 0);
}
END_TEST

START_TEST(every_commit_reaches_the_disk)
{
	struct em_db *db = NULL;
	char buf[128];

	ck_assert_int_eq(em_db_open(&db, &description, message), 0);
	ck_assert_str_eq(outside_get(em_db_handle(db), "PRAGMA synchronous", buf), "2");
	ck_assert_str_eq(outside_get(em_db_handle(db), "PRAGMA foreign_keys", buf), "1");
	em_db_close(db);
}
END_TEST

START_TEST(an_upgrade_keeps_a_copy)
{
	char buf[128];

	ck_assert_int_eq(open_and_close(), 0);
	change("INSERT INTO smart (drive, nsid, at, bytes) VALUES ('d', 0, 1, 42)");
	description.migrations = migrations;
	ck_assert_int_eq(open_and_close(), 0);
	ck_assert_str_eq(look("SELECT bytes FROM smart", buf), "42");
	ck_assert_str_eq(look("SELECT a FROM more", buf), "7");
	strcat(db_path, ".version-" LATEST);
	ck_assert_str_eq(look("SELECT bytes FROM smart", buf), "42");
	ck_assert_str_eq(look("PRAGMA user_version", buf), LATEST);
	ck_assert_str_eq(look("SELECT count(*) FROM sqlite_schema WHERE name = 'more'", buf), "0");
}
END_TEST

START_TEST(a_copy_that_finds_no_room_leaves_nothing)
{
	struct rlimit limit;
	char buf[128];
	rlim_t all;

	ck_assert_int_eq(open_and_close(), 0);
	change("WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 20000)"
	       "INSERT INTO smart (drive, nsid, at) SELECT 'd', 0, i FROM n");
	description.migrations = migrations;
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &limit);
	all = limit.rlim_cur;
	limit.rlim_cur = 100000;
	setrlimit(RLIMIT_FSIZE, &limit);
	ck_assert_int_eq(open_and_close(), -ENOSPC);
	limit.rlim_cur = all;
	setrlimit(RLIMIT_FSIZE, &limit);
	ck_assert_uint_eq(count_files("ember.db.version"), 0);
	ck_assert_str_eq(look("PRAGMA user_version", buf), LATEST);
	ck_assert_int_eq(open_and_close(), 0);
	ck_assert_uint_eq(count_files("ember.db.version"), 1);
}
END_TEST

/* A file as the first Ember left it. */
START_TEST(a_file_of_version_1_is_brought_forward)
{
	const struct em_event event = { .id = 9, .at_us = 9, .kind = "drive-removed" };
	struct em_db *db = NULL;
	char buf[128];

	change(em_sql_migrations[0].text);
	change("PRAGMA user_version = 1; PRAGMA journal_mode = WAL;"
	       "CREATE TABLE smart (drive TEXT NOT NULL, nsid INTEGER NOT NULL, at INTEGER NOT "
	       "NULL,"
	       " bytes ANY, PRIMARY KEY (drive, nsid, at)) STRICT, WITHOUT ROWID;"
	       "INSERT INTO smart VALUES ('d', 0, 1, '340282366920938463463374607431768211455');"
	       "INSERT INTO page VALUES ('d', 'smart', 0, 1, x'00ff')");
	ck_assert_msg(em_db_open(&db, &description, message) == 0, "%s", message);
	ck_assert_int_eq(em_db_put_event(db, &event), 0);
	em_db_close(db);
	ck_assert_str_eq(look("PRAGMA user_version", buf), LATEST);
	ck_assert_str_eq(look("SELECT bytes FROM smart", buf),
			 "340282366920938463463374607431768211455");
	ck_assert_str_eq(look("SELECT hex(data) FROM page", buf), "00FF");
	ck_assert_str_eq(look("SELECT kind FROM event", buf), "drive-removed");
	ck_assert_str_eq(look("SELECT count(*) FROM capability", buf), "0");
	ck_assert_str_eq(look("SELECT count(*) FROM selftest_run", buf), "0");
	strcat(db_path, ".version-1");
	ck_assert_str_eq(look("PRAGMA user_version", buf), "1");
	ck_assert_str_eq(look("SELECT hex(data) FROM page", buf), "00FF");
}
END_TEST

START_TEST(a_migration_that_fails_changes_nothing)
{
	char buf[128];

	ck_assert_int_eq(open_and_close(), 0);
	migrations[SHIPPED].text =
		"CREATE TABLE more (a INTEGER) STRICT; INSERT INTO none VALUES (1);";
	description.migrations = migrations;
	ck_assert_int_lt(open_and_close(), 0);
	ck_assert_str_eq(look("PRAGMA user_version", buf), LATEST);
	ck_assert_str_eq(look("SELECT count(*) FROM sqlite_schema WHERE name = 'more'", buf), "0");
	description.migrations = em_sql_migrations;
	ck_assert_int_eq(open_and_close(), 0);
}
END_TEST

static void read_file(const char *path, char **ret, size_t *ret_len)
{
	FILE *file = fopen(path, "r");

	ck_assert_ptr_nonnull(file);
	*ret = malloc(1 << 20);
	*ret_len = fread(*ret, 1, 1 << 20, file);
	fclose(file);
}

static void check_refused(const char *word)
{
	em_cleanup(em_freep) char *before = NULL, *after = NULL;
	size_t before_len, after_len;

	read_file(db_path, &before, &before_len);
	ck_assert_int_eq(open_and_close(), -EPROTONOSUPPORT);
	ck_assert_msg(strstr(message, word), "%s", message);
	read_file(db_path, &after, &after_len);
	ck_assert_uint_eq(before_len, after_len);
	ck_assert_mem_eq(before, after, before_len);
	ck_assert_uint_eq(count_files("ember.db"), 1);
}

START_TEST(a_newer_file_is_left_alone)
{
	ck_assert_int_eq(open_and_close(), 0);
	change("PRAGMA user_version = 99");
	check_refused("newer Ember");
}
END_TEST

START_TEST(a_newer_file_keeps_its_wal)
{
	sqlite3 *db;
	char buf[128];

	ck_assert_int_eq(open_and_close(), 0);
	db = outside_open();
	sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	outside_exec(db, "PRAGMA user_version = 99");
	sqlite3_close(db);
	ck_assert_uint_eq(count_files("ember.db-wal"), 1);
	ck_assert_int_eq(open_and_close(), -EPROTONOSUPPORT);
	ck_assert_uint_eq(count_files("ember.db-wal"), 1);
	ck_assert_str_eq(look("PRAGMA user_version", buf), "99");
}
END_TEST

START_TEST(a_file_of_another_program_is_left_alone)
{
	change("CREATE TABLE theirs (a)");
	check_refused("no database of Ember");
}
END_TEST

START_TEST(new_columns_are_added)
{
	const struct em_store_table wider[] = {
		{ "smart", FIELD("spare", "temperature", "bytes"), 3 },
		{ "namespace", FIELD("used"), 1 },
		{ "extra", FIELD("a"), 1 },
	};
	char buf[128];

	ck_assert_int_eq(open_and_close(), 0);
	change("INSERT INTO smart (drive, nsid, at, bytes) VALUES ('d', 0, 1, 42)");
	description.tables = wider;
	description.table_count = EM_COUNT(wider);
	ck_assert_int_eq(open_and_close(), 0);
	ck_assert_str_eq(look("SELECT typeof(spare) || bytes FROM smart", buf), "null42");
	ck_assert_str_eq(look("SELECT count(a) FROM extra", buf), "0");
	/* An older Ember with fewer columns goes on with the file. */
	description.tables = tables;
	description.table_count = EM_COUNT(tables);
	ck_assert_int_eq(open_and_close(), 0);
}
END_TEST

START_TEST(unusable_names_are_refused)
{
	const struct em_store_table bad[] = {
		{ "page", FIELD("a"), 1 },     { "event", FIELD("a"), 1 },
		{ "sqlite_x", FIELD("a"), 1 }, { "a b", FIELD("a"), 1 },
		{ "t", FIELD("at"), 1 },       { "t", FIELD("a", "b", "a"), 3 },
		{ "t", FIELD("a\")"), 1 },     { "t", NULL, 0 },
	};

	for (size_t i = 0; i < EM_COUNT(bad); i++)
		ck_assert_int_eq(em_db_check_tables(&bad[i], 1), -EINVAL);
	ck_assert_int_eq(em_db_check_tables(tables, EM_COUNT(tables)), 0);
}
END_TEST

START_TEST(broken_files_are_recognised)
{
	char junk[8192];
	char *data = NULL;
	size_t len;

	memset(junk, 0x5a, sizeof(junk));
	ck_assert_int_eq(open_and_close(), 0);
	read_file(db_path, &data, &len);
	free(data);
	/* All but the first page. */
	for (size_t at = 4096; at < len; at += 4096)
		write_file(db_path, junk, 4096, (off_t)at);
	ck_assert_int_eq(open_and_close(), -EUCLEAN);
	write_file(db_path, junk, sizeof(junk), 0);
	ck_assert_int_eq(open_and_close(), -EUCLEAN);
	ck_assert_msg(strstr(message, db_path), "%s", message);
}
END_TEST

START_TEST(few_broken_files_are_kept)
{
	char name[PATH_MAX], wal[PATH_MAX + 32];

	snprintf(wal, sizeof(wal), "%s-wal", db_path);
	for (unsigned i = 0; i < 12; i++) {
		int64_t before;

		write_file(db_path, "x", 1, 0);
		write_file(wal, "x", 1, 0);
		ck_assert_int_eq(em_db_set_aside(db_path, name), i < 8 ? 0 : 1);
		before = em_realtime_us() / 1000;
		ck_assert_int_ne(access(db_path, F_OK), 0);
		ck_assert_int_ne(access(wal, F_OK), 0);
		wait_until(em_realtime_us() / 1000 != before); /* names differ by the millisecond */
	}
	ck_assert_uint_eq(count_files("ember.db.broken"), 16); /* 8, each with its -wal */
}
END_TEST

START_TEST(names_have_a_history)
{
	struct em_store_drive drive = { .id = DRIVE, .device = "nvme0", .last_seen_us = 100 };
	struct em_db *db = NULL;
	char buf[128];

	ck_assert_int_eq(em_db_open(&db, &description, message), 0);
	ck_assert_int_eq(em_db_put_drive(db, &drive), 0);
	ck_assert_int_eq(em_db_put_drive(db, &drive), 0);
	strcpy(drive.device, "nvme3");
	drive.last_seen_us = 50; /* the clock was set back */
	ck_assert_int_eq(em_db_put_drive(db, &drive), 0);
	strcpy(drive.device, ""); /* gone: no name */
	ck_assert_int_eq(em_db_put_drive(db, &drive), 0);
	ck_assert_int_eq(em_db_put_drive(db, &drive), 0);
	ck_assert_str_eq(look("SELECT group_concat(device || '@' || since_us) FROM "
			      "(SELECT * FROM device_name ORDER BY seq)",
			      buf),
			 "nvme0@100,nvme3@50");
	for (unsigned i = 0; i < 200; i++) {
		snprintf(drive.device, sizeof(drive.device), "nvme%u", i);
		ck_assert_int_eq(em_db_put_drive(db, &drive), 0);
	}
	ck_assert_str_eq(look("SELECT count(*) || max(device = 'nvme199') FROM device_name", buf),
			 "641");
	em_db_close(db);
}
END_TEST

START_TEST(first_seen_stays)
{
	struct em_store_drive drive = { .id = DRIVE, .first_seen_us = 100, .last_seen_us = 100 };
	struct em_db *db = NULL;
	char buf[128];

	ck_assert_int_eq(em_db_open(&db, &description, message), 0);
	ck_assert_int_eq(em_db_put_drive(db, &drive), 0);
	drive.first_seen_us = drive.last_seen_us = 900;
	strcpy(drive.state, "removed");
	ck_assert_int_eq(em_db_put_drive(db, &drive), 0);
	ck_assert_str_eq(
		look("SELECT first_seen_us || ' ' || last_seen_us || state FROM drive", buf),
		"100 900removed");
	em_db_close(db);
}
END_TEST

START_TEST(a_long_path_leaves_room_for_the_reason)
{
	char path[400];

	em_db_explain(-ENOSPC, "/var/lib/ember/ember.db", message);
	ck_assert_str_eq(message, "/var/lib/ember/ember.db: its disk is full; make room");
	memset(path, 'x', sizeof(path));
	strcpy(path + sizeof(path) - 10, "/ember.db");
	em_db_explain(-ENOSPC, path, message);
	ck_assert_uint_eq(strlen(message), sizeof(message) - 1);
	ck_assert_int_eq(strncmp(message, "...xxx", 6), 0);
	ck_assert_ptr_nonnull(strstr(message, "xxx/ember.db: its disk is full; make room"));
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("db");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, start, remove_dir);
	tcase_add_test(tcase, every_migration_runs_once_and_from_nothing);
	tcase_add_test(tcase, every_commit_reaches_the_disk);
	tcase_add_test(tcase, an_upgrade_keeps_a_copy);
	tcase_add_test(tcase, a_copy_that_finds_no_room_leaves_nothing);
	tcase_add_test(tcase, a_file_of_version_1_is_brought_forward);
	tcase_add_test(tcase, a_migration_that_fails_changes_nothing);
	tcase_add_test(tcase, a_newer_file_is_left_alone);
	tcase_add_test(tcase, a_newer_file_keeps_its_wal);
	tcase_add_test(tcase, a_file_of_another_program_is_left_alone);
	tcase_add_test(tcase, new_columns_are_added);
	tcase_add_test(tcase, unusable_names_are_refused);
	tcase_add_test(tcase, broken_files_are_recognised);
	tcase_add_test(tcase, few_broken_files_are_kept);
	tcase_add_test(tcase, names_have_a_history);
	tcase_add_test(tcase, first_seen_stays);
	tcase_add_test(tcase, a_long_path_leaves_room_for_the_reason);
	return run_tests(tcase);
}
