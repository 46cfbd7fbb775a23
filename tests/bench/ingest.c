/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ingest - puts rows of SMART into a history, by Ember's store or by SQLite alone.
 *
 *   ingest store DIRECTORY ROWS             seconds for so many rows, all on the disk at the end
 *   ingest sqlite DIRECTORY ROWS            the same rows, one prepared INSERT, 1,000 a transaction
 *   ingest fill DIRECTORY DRIVE STEP ROWS   rows of one drive, STEP seconds apart, up to now
 *
 * Both write the same table, with all its columns, under the same journal and sync modes.
 */
#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "daemon/drives/history.h"
#include "daemon/store/store.h"
#include "lib/base/buf.h"
#include "lib/base/clock.h"

#define DRIVES	       24
#define BURST	       16384u /* far below EM_STORE_QUEUE_MAX: nothing is dropped */
#define TRANSACTION    1000
#define CLOSE_GRACE_US (60 * EM_US_PER_SEC)

static const struct em_store_table *tables;
static unsigned table_count, table;

static void die(const char *what)
{
	fprintf(stderr, "ingest: %s\n", what);
	exit(1);
}

/* A value as a SMART page has them: a few small, some that grow, some of 64 bits. */
static uint64_t value_of(unsigned row, unsigned column)
{
	switch (column % 4) {
	case 0:
		return 30 + row % 17;
	case 1:
		return UINT64_C(1000000) * column + row;
	case 2:
		return UINT64_C(40000000000000) + UINT64_C(512000) * row;
	default:
		return column;
	}
}

static struct em_store *open_store(const char *directory)
{
	struct em_store_config config = { .directory = directory };
	const char *message = "the store does not open";
	struct em_store *store = NULL;

	config.tables = tables;
	config.table_count = table_count;
	if (em_store_open(&store, &config, &message) < 0)
		die(message);
	return store;
}

static void put_row(struct em_store *store, const char *drive, int64_t at_us, unsigned row)
{
	struct em_store_cell cells[EM_HISTORY_COLUMNS_MAX] = { 0 };

	for (unsigned c = 0; c < tables[table].column_count; c++) {
		cells[c].kind = EM_CELL_UINT;
		cells[c].number = value_of(row, c);
	}
	if (em_store_put_row(store, table, drive, 0, at_us, cells) < 0)
		die("a row was refused");
}

static void wait_empty(struct em_store *store)
{
	struct em_store_status status;

	do {
		nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
		em_store_get_status(store, &status);
		if (!status.ok || status.dropped)
			die("rows were lost");
	} while (status.queued);
}

static void name_of(char buf[17], unsigned row)
{
	snprintf(buf, 17, "%016x", 0xb0b0 + row % DRIVES);
}

static void by_store(const char *directory, unsigned rows)
{
	struct em_store *store = open_store(directory);
	int64_t now = em_realtime_us();
	char drive[17];

	wait_empty(store);
	for (unsigned row = 0; row < rows; row++) {
		name_of(drive, row);
		put_row(store, drive, now + row, row);
		if (row % BURST == BURST - 1)
			wait_empty(store);
	}
	wait_empty(store);
	em_store_close(store, CLOSE_GRACE_US);
}

static void sql(sqlite3 *db, const char *text)
{
	if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK)
		die(sqlite3_errmsg(db));
}

static sqlite3_stmt *prepare(sqlite3 *db)
{
	sqlite3_stmt *statement = NULL;
	struct em_buf text;

	em_buf_init(&text, 65536);
	em_buf_addf(&text, "INSERT INTO %s (drive, nsid, at", tables[table].name);
	for (unsigned c = 0; c < tables[table].column_count; c++)
		em_buf_addf(&text, ", %s", tables[table].columns[c]);
	em_buf_adds(&text, ") VALUES (?, 0, ?");
	for (unsigned c = 0; c < tables[table].column_count; c++)
		em_buf_adds(&text, ", ?");
	em_buf_adds(&text, ")");
	if (sqlite3_prepare_v2(db, text.data, -1, &statement, NULL) != SQLITE_OK)
		die(sqlite3_errmsg(db));
	em_buf_done(&text);
	return statement;
}

static void insert(sqlite3_stmt *statement, unsigned row, int64_t at_us)
{
	char drive[17];

	name_of(drive, row);
	sqlite3_bind_text(statement, 1, drive, -1, SQLITE_TRANSIENT);
	sqlite3_bind_int64(statement, 2, at_us);
	for (unsigned c = 0; c < tables[table].column_count; c++)
		sqlite3_bind_int64(statement, (int)c + 3, (int64_t)value_of(row, c));
	if (sqlite3_step(statement) != SQLITE_DONE)
		die("an INSERT failed");
	sqlite3_reset(statement);
}

static void by_sqlite(const char *directory, unsigned rows)
{
	int64_t now = em_realtime_us();
	char path[4096];
	sqlite3 *db;
	sqlite3_stmt *statement;

	snprintf(path, sizeof(path), "%s/ember.db", directory);
	if (sqlite3_open(path, &db) != SQLITE_OK)
		die("the database does not open");
	sql(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
	statement = prepare(db);
	for (unsigned row = 0; row < rows; row++) {
		if (row % TRANSACTION == 0)
			sql(db, "BEGIN");
		insert(statement, row, now + row);
		if (row % TRANSACTION == TRANSACTION - 1 || row == rows - 1)
			sql(db, "COMMIT");
	}
	sqlite3_finalize(statement);
	sqlite3_close(db);
}

static void fill(const char *directory, const char *drive, unsigned step_s, unsigned rows)
{
	struct em_store *store = open_store(directory);
	int64_t now = em_realtime_us();

	for (unsigned row = 0; row < rows; row++) {
		put_row(store, drive, now - (int64_t)(rows - row) * step_s * (int64_t)EM_US_PER_SEC,
			row);
		if (row % BURST == BURST - 1)
			wait_empty(store);
	}
	wait_empty(store);
	em_store_close(store, CLOSE_GRACE_US);
}

int main(int argc, char **argv)
{
	uint64_t begin;

	if (argc < 4)
		return 2;
	tables = em_history_tables(&table_count);
	for (table = 0; table < table_count; table++)
		if (strstr(tables[table].name, "smart"))
			break;
	if (table == table_count)
		die("there is no table of SMART");
	/* The table exists before either begins. */
	em_store_close(open_store(argv[2]), CLOSE_GRACE_US);
	begin = em_monotonic_us();
	if (strcmp(argv[1], "store") == 0)
		by_store(argv[2], (unsigned)atoi(argv[3]));
	else if (strcmp(argv[1], "sqlite") == 0)
		by_sqlite(argv[2], (unsigned)atoi(argv[3]));
	else if (strcmp(argv[1], "fill") == 0 && argc == 6)
		fill(argv[2], argv[3], (unsigned)atoi(argv[4]), (unsigned)atoi(argv[5]));
	else
		return 2;
	printf("%.6f\n", (double)(em_monotonic_us() - begin) / (double)EM_US_PER_SEC);
	return 0;
}
