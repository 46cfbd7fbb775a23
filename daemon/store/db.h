/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * db - the writer's connection: opening, checking, migrating and extending the file; writing items.
 *
 * Owns:     the connection and its prepared statements. Borrows the description.
 * Threads:  one at a time. Blocking: on the disk; on another program's lock at most BUSY_MS (db.c).
 * Errors:   as em_sql_errno(); -EUCLEAN the file is broken, -EPROTONOSUPPORT it is of a newer
 *           schema or of another program and was left alone.
 * Limits:   BROKEN_MAX broken files (db.c) are kept.
 */
#include "daemon/store/queue.h"
#include "daemon/store/sql.h"
#include "daemon/store/store.h"

#define EM_DB_MESSAGE_SIZE 200

struct em_db_description {
	const char *path;
	const struct em_store_table *tables;
	unsigned table_count;
	const struct em_sql_migration *migrations;
};

struct em_db;

/* -EINVAL: names that the store cannot use for tables and columns. */
int em_db_check_tables(const struct em_store_table *tables, unsigned count);

/* On failure message says what is wrong, for people. */
int em_db_open(struct em_db **ret, const struct em_db_description *description,
	       char message[EM_DB_MESSAGE_SIZE]);
struct em_db *em_db_close(struct em_db *db);
EM_DEFINE_CLEANUP(struct em_db, em_db_close)

/*
 * Renames the file and its -wal and -shm; ret_name gets the new name (PATH_MAX bytes). 1: there are
 * BROKEN_MAX broken files already, and these three were removed.
 */
int em_db_set_aside(const char *path, char *ret_name);

sqlite3 *em_db_handle(struct em_db *db);
/*
 * The path names another file by now, none, or one that was cut to nothing; or the -wal does, which
 * then no other connection sees.
 */
bool em_db_was_replaced(const struct em_db *db);
/*
 * Closes one that was replaced. What only its -wal has goes home before, but never into another
 * file. -EAGAIN: a reader or a writer is in the way of that, and it stays open; 1: it could not,
 * and is lost.
 */
int em_db_abandon(struct em_db *db);

int em_db_begin(struct em_db *db);
int em_db_commit(struct em_db *db);
void em_db_rollback(struct em_db *db);

int em_db_put_row(struct em_db *db, const struct em_queue_row *row);
int em_db_put_page(struct em_db *db, const struct em_queue_page *page);
int em_db_put_drive(struct em_db *db, const struct em_store_drive *drive);
int em_db_put_event(struct em_db *db, const struct em_event *event);
int em_db_put_test_run(struct em_db *db, const struct em_store_test_run *item);
int em_db_put_capability(struct em_db *db, const struct em_queue_capability *item);

/* What an error of this file means, for people. */
void em_db_explain(int err, const char *path, char message[EM_DB_MESSAGE_SIZE]);
