/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* fixture - a directory, a store in it, and a connection that looks at the file from outside. */
#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "daemon/store/store.h"
#include "lib/base/cleanup.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"

#define DRIVE	   "0123456789abcdef"
#define WAIT_US	   (30 * EM_US_PER_SEC)
#define GRACE_US   (20 * EM_US_PER_SEC)
#define FIELD(...) ((const char *const[]){ __VA_ARGS__ })

static char dir[PATH_MAX], db_path[PATH_MAX + 16];

static const char *const columns[] = { "temperature", "bytes" };
static const struct em_store_table tables[] = {
	{ "smart", columns, 2 },
	{ "namespace", FIELD("used"), 1 },
};

static void make_dir(void)
{
	strcpy(dir, "/tmp/ember-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(db_path, sizeof(db_path), "%s/ember.db", dir);
	em_log_init("test", LOG_ERR);
}

static void remove_dir(void)
{
	DIR *d = opendir(dir);
	struct dirent *entry;

	while ((entry = readdir(d)))
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(d), entry->d_name, 0);
	closedir(d);
	rmdir(dir);
}

static __attribute__((unused)) unsigned count_files(const char *prefix)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	unsigned count = 0;

	while ((entry = readdir(d)))
		count += strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
	closedir(d);
	return count;
}

static __attribute__((unused)) struct em_store *open_tables(const struct em_store_table *list,
							    unsigned count, uint64_t keep_us)
{
	struct em_store_config config = {
		.directory = dir, .tables = list, .table_count = count, .raw_keep_us = keep_us
	};
	struct em_store *store = NULL;
	const char *message = NULL;
	int r = em_store_open(&store, &config, &message);

	ck_assert_msg(r == 0, "%d %s", r, message);
	return store;
}

static __attribute__((unused)) struct em_store *open_store(void)
{
	return open_tables(tables, EM_COUNT(tables), 0);
}

static __attribute__((unused)) void put(struct em_store *store, int64_t at_us, em_u128 temperature)
{
	const struct em_store_cell cells[2] = {
		{ .kind = EM_CELL_UINT, .number = temperature },
		{ .kind = EM_CELL_NULL },
	};

	ck_assert_int_eq(em_store_put_row(store, 0, DRIVE, 0, at_us, cells), 0);
}

static __attribute__((unused)) struct em_store_status status_of(struct em_store *store)
{
	struct em_store_status status;

	em_store_get_status(store, &status);
	return status;
}

#define wait_until(condition)                                                                      \
	do {                                                                                       \
		uint64_t deadline_ = em_monotonic_us() + WAIT_US;                                  \
		while (!(condition)) {                                                             \
			ck_assert_msg(em_monotonic_us() < deadline_, "never: %s", #condition);     \
			usleep(1000);                                                              \
		}                                                                                  \
	} while (0)

static __attribute__((unused)) void wait_written(struct em_store *store)
{
	wait_until(status_of(store).queued == 0);
}

static __attribute__((unused)) sqlite3 *outside_open(void)
{
	sqlite3 *db = NULL;

	ck_assert_int_eq(sqlite3_open(db_path, &db), SQLITE_OK);
	sqlite3_busy_timeout(db, 5000);
	return db;
}

static __attribute__((unused)) void outside_exec(sqlite3 *db, const char *sql)
{
	char *message = NULL;

	ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &message) == SQLITE_OK, "%s: %s", sql,
		      message);
}

/* The first value of a query as text, in buf; "NULL" for none. */
static __attribute__((unused)) const char *outside_get(sqlite3 *db, const char *sql, char buf[128])
{
	sqlite3_stmt *statement = NULL;
	const char *text;

	ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, "%s: %s", sql,
		      sqlite3_errmsg(db));
	text = sqlite3_step(statement) == SQLITE_ROW
		       ? (const char *)sqlite3_column_text(statement, 0)
		       : NULL;
	snprintf(buf, 128, "%s", text ? text : "NULL");
	sqlite3_finalize(statement);
	return buf;
}

/* The same, with a connection of its own. */
static __attribute__((unused)) const char *look(const char *sql, char buf[128])
{
	sqlite3 *db = outside_open();

	outside_get(db, sql, buf);
	sqlite3_close(db);
	return buf;
}

static __attribute__((unused)) void change(const char *sql)
{
	sqlite3 *db = outside_open();

	outside_exec(db, sql);
	sqlite3_close(db);
}

static __attribute__((unused)) void write_file(const char *path, const void *data, size_t len,
					       off_t at)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pwrite(fd, data, len, at), (ssize_t)len);
	close(fd);
}
