/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * sql - the texts of schema/, and their markers filled in.
 *
 * A text may name a table or column that is only known at run time by a marker, {table}. Whatever
 * takes its place is checked to be a plain identifier, and is quoted.
 *
 * Threads:  pure functions, but for those that take a connection.
 * Blocking: em_sql_exec as its statements.
 * Errors:   0 or -errno; those of SQLite as em_sql_errno() maps them.
 */
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include "lib/base/cleanup.h"

struct em_sql_migration {
	const char *name, *text;
};

/* The first makes version 1 out of nothing, and so on; ends with name NULL. */
extern const struct em_sql_migration em_sql_migrations[];

struct em_sql_query {
	const char *name, *text;
};

/* All of schema/query, for the test that looks at their plans; ends with name NULL. */
extern const struct em_sql_query em_sql_queries[];

enum em_sql_marker_kind {
	EM_SQL_NAMES, /* count identifiers, with commas between */
	EM_SQL_SLOTS, /* count times "?" */
	EM_SQL_NUMBER /* number */
};

struct em_sql_marker {
	const char *name; /* without braces */
	enum em_sql_marker_kind kind;
	const char *const *names;
	unsigned count;
	int64_t number;
};

static inline sqlite3_stmt *em_sql_finalize(sqlite3_stmt *statement)
{
	sqlite3_finalize(statement);
	return NULL;
}
EM_DEFINE_CLEANUP(sqlite3_stmt, em_sql_finalize)

/* 1 to 64 characters of [a-z0-9_], the first no digit. */
bool em_sql_is_identifier(const char *name);

/* -EINVAL: an unknown marker, or a name that is no identifier. *ret is to be freed. */
int em_sql_expand(char **ret, const char *text, const struct em_sql_marker *markers,
		  unsigned marker_count);

/* Runs all statements of a text; rows are thrown away. */
int em_sql_exec(sqlite3 *db, const char *text, const struct em_sql_marker *markers,
		unsigned marker_count);

/* One statement. table and column stand for {table} and {column} and may be NULL. */
int em_sql_prepare(sqlite3 *db, const char *text, const char *table, const char *column,
		   sqlite3_stmt **ret);

/* The first column of the first row. */
int em_sql_number(sqlite3 *db, const char *text, int64_t *ret);

/*
 * -EAGAIN another has it locked, -ENOSPC, -EROFS, -EACCES, -EIO, -ENOMEM, -ETIMEDOUT interrupted,
 * -EUCLEAN the file is broken, -EINVAL what was given can never be written. 0 for success.
 */
int em_sql_errno(int code);
/* The same with a look at what the system said, when SQLite only says that I/O failed. */
int em_sql_errno_of(sqlite3 *db, int code);
