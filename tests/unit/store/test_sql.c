/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include "daemon/store/db.h"
#include "tests/unit/runner.h"
#include "tests/unit/store/fixture.h"

START_TEST(only_plain_identifiers_pass)
{
	static const char *const bad[] = { "",	 "a b", "a\"",	    "A",  "1a",
					   "a;", "a-b", "\xc3\xa4", "a\n" };
	char long_name[66];

	for (size_t i = 0; i < EM_COUNT(bad); i++)
		ck_assert_msg(!em_sql_is_identifier(bad[i]), "%s", bad[i]);
	memset(long_name, 'a', 65);
	long_name[65] = '\0';
	ck_assert(!em_sql_is_identifier(long_name));
	ck_assert(!em_sql_is_identifier(NULL));
	ck_assert(em_sql_is_identifier("_ok_9"));
}
END_TEST

static int expand(const char *text, const char *name, char **ret)
{
	const char *const names[] = { name, "b" };
	const struct em_sql_marker markers[] = {
		{ .name = "table", .names = names, .count = 1 },
		{ .name = "columns", .names = names, .count = 2 },
		{ .name = "slots", .kind = EM_SQL_SLOTS, .count = 3 },
		{ .name = "version", .kind = EM_SQL_NUMBER, .number = -7 },
	};

	return em_sql_expand(ret, text, markers, EM_COUNT(markers));
}

START_TEST(markers_are_filled_in)
{
	em_cleanup(em_freep) char *text = NULL;

	ck_assert_int_eq(expand("{table}|{columns}|{slots}|{version}.", "order", &text), 0);
	ck_assert_str_eq(text, "\"order\"|\"order\", \"b\"|?, ?, ?|-7.");
}
END_TEST

START_TEST(bad_names_and_markers_are_refused)
{
	char *text = NULL;

	ck_assert_int_eq(expand("{table}", "a\" --", &text), -EINVAL);
	ck_assert_int_eq(expand("{other}", "a", &text), -EINVAL);
	ck_assert_int_eq(expand("{table", "a", &text), 0);
	free(text);
	text = NULL;
	ck_assert_int_eq(expand("{", "a", &text), -EINVAL);
	ck_assert_ptr_null(text);
}
END_TEST

static struct em_db *open_db(void)
{
	static struct em_db_description description;
	char message[EM_DB_MESSAGE_SIZE];
	struct em_db *db = NULL;

	description =
		(struct em_db_description){ db_path, tables, EM_COUNT(tables), em_sql_migrations };
	ck_assert_msg(em_db_open(&db, &description, message) == 0, "%s", message);
	return db;
}

/* True when a step of the plan reads a reading table from end to end. */
static bool scans_readings(sqlite3 *db, const char *sql)
{
	em_cleanup(em_freep) char *text = NULL;
	sqlite3_stmt *statement = NULL;
	bool scans = false;

	ck_assert_int_gt(asprintf(&text, "EXPLAIN QUERY PLAN %s", sql), 0);
	ck_assert_msg(sqlite3_prepare_v2(db, text, -1, &statement, NULL) == SQLITE_OK, "%s: %s",
		      text, sqlite3_errmsg(db));
	while (sqlite3_step(statement) == SQLITE_ROW) {
		const char *detail = (const char *)sqlite3_column_text(statement, 3);

		if (strncmp(detail, "SCAN smart", 10) == 0 ||
		    strncmp(detail, "SCAN reading", 12) == 0 || strcmp(detail, "SCAN event") == 0)
			scans = true;
	}
	sqlite3_finalize(statement);
	return scans;
}

START_TEST(no_query_scans_a_reading_table)
{
	const char *table = "smart", *column = "temperature";
	const struct em_sql_marker markers[] = {
		{ .name = "table", .names = &table, .count = 1 },
		{ .name = "column", .names = &column, .count = 1 },
		{ .name = "columns", .names = columns, .count = 2 },
		{ .name = "slots", .kind = EM_SQL_SLOTS, .count = 2 },
		{ .name = "version", .kind = EM_SQL_NUMBER },
	};
	struct em_db *db = open_db();
	unsigned checked = 0;

	for (const struct em_sql_query *q = em_sql_queries; q->name; q++) {
		em_cleanup(em_freep) char *text = NULL;

		ck_assert_int_eq(em_sql_expand(&text, q->text, markers, EM_COUNT(markers)), 0);
		/* Adding a column that is there would fail; the other one stops at its limit. */
		if (strcmp(q->name, "reading_add_column") == 0 ||
		    strcmp(q->name, "event_last") == 0)
			continue;
		ck_assert_msg(!scans_readings(em_db_handle(db), text), "%s", q->name);
		checked++;
	}
	ck_assert_uint_gt(checked, 20);
	/* And the check sees one when there is one. */
	ck_assert(scans_readings(em_db_handle(db), "SELECT drive FROM smart WHERE at < 5"));
	ck_assert(scans_readings(em_db_handle(db), "SELECT id FROM event WHERE at_us < 5"));
	em_db_close(db);
}
END_TEST

START_TEST(codes_become_errors)
{
	ck_assert_int_eq(em_sql_errno(SQLITE_DONE), 0);
	ck_assert_int_eq(em_sql_errno(SQLITE_BUSY_SNAPSHOT), -EAGAIN);
	ck_assert_int_eq(em_sql_errno(SQLITE_FULL), -ENOSPC);
	ck_assert_int_eq(em_sql_errno(SQLITE_NOTADB), -EUCLEAN);
	ck_assert_int_eq(em_sql_errno(SQLITE_CORRUPT_VTAB), -EUCLEAN);
	ck_assert_int_eq(em_sql_errno(SQLITE_IOERR_FSYNC), -EIO);
	ck_assert_int_eq(em_sql_errno(SQLITE_READONLY_DBMOVED), -EROFS);
	ck_assert_int_eq(em_sql_errno(SQLITE_CONSTRAINT_NOTNULL), -EINVAL);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("sql");

	tcase_add_checked_fixture(tcase, make_dir, remove_dir);
	tcase_add_test(tcase, only_plain_identifiers_pass);
	tcase_add_test(tcase, markers_are_filled_in);
	tcase_add_test(tcase, bad_names_and_markers_are_refused);
	tcase_add_test(tcase, no_query_scans_a_reading_table);
	tcase_add_test(tcase, codes_become_errors);
	return run_tests(tcase);
}
