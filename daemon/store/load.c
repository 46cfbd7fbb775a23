/* SPDX-License-Identifier: Apache-2.0 */
/* load - what is read at start: drives, pages, capabilities, runs of tests and the newest events.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "daemon/store/reader.h"
#include "daemon/store/sql-text.h"

typedef int row_fn(void *userdata, sqlite3_stmt *statement);

/* Runs one query, calling back per row. limit is its ?1, if it has one. */
static int load(struct em_store *store, const char *text, int64_t limit, row_fn *fn, void *userdata)
{
	em_cleanup(em_store_reader_closep) struct em_store_reader *reader = NULL;
	em_cleanup(em_sql_finalizep) sqlite3_stmt *statement = NULL;
	int code = SQLITE_OK, r;

	r = em_store_reader_open(store, &reader);
	if (r == 0)
		r = em_store_reader_begin(reader, 0);
	if (r == 0)
		r = em_store_reader_errno(
			reader, em_sql_prepare(reader->handle, text, NULL, NULL, &statement));
	if (r == 0 && sqlite3_bind_parameter_count(statement) > 0)
		sqlite3_bind_int64(statement, 1, limit);
	while (r == 0 && (code = sqlite3_step(statement)) == SQLITE_ROW)
		r = fn(userdata, statement);
	return r != 0 ? r : em_store_reader_errno(reader, em_sql_errno(code));
}

static void copy_identity(struct em_store_drive *drive, sqlite3_stmt *statement, int column)
{
	const void *data = sqlite3_column_blob(statement, column);
	size_t len = (size_t)sqlite3_column_bytes(statement, column);

	if (!data || len > sizeof(drive->identity))
		len = 0;
	if (len > 0)
		memcpy(drive->identity, data, len);
	drive->identity_len = (unsigned)len;
}

struct drive_sink {
	struct em_store *store;
	em_store_drive_fn *fn;
	void *userdata;
};

/* A new file in place of this one is to know the drives that are gone for long, too. */
static void remember(struct em_store *store, const struct em_store_drive *drive)
{
	pthread_mutex_lock(&store->lock);
	em_queue_remember_drive(&store->queue, drive);
	pthread_mutex_unlock(&store->lock);
}

static int give_drive(void *userdata, sqlite3_stmt *statement)
{
	const struct drive_sink *sink = userdata;
	struct em_store_drive drive = { 0 };
	int column = 0;

	em_store_column_text(drive.id, sizeof(drive.id), statement, column++);
	copy_identity(&drive, statement, column++);
	em_store_column_text(drive.device, sizeof(drive.device), statement, column++);
	em_store_column_text(drive.serial, sizeof(drive.serial), statement, column++);
	em_store_column_text(drive.model, sizeof(drive.model), statement, column++);
	em_store_column_text(drive.firmware, sizeof(drive.firmware), statement, column++);
	em_store_column_text(drive.subsystem_nqn, sizeof(drive.subsystem_nqn), statement, column++);
	em_store_column_text(drive.address, sizeof(drive.address), statement, column++);
	em_store_column_text(drive.transport, sizeof(drive.transport), statement, column++);
	em_store_column_text(drive.cntlid, sizeof(drive.cntlid), statement, column++);
	em_store_column_text(drive.state, sizeof(drive.state), statement, column++);
	drive.first_seen_us = sqlite3_column_int64(statement, column++);
	drive.last_seen_us = sqlite3_column_int64(statement, column++);
	drive.state_since_us = sqlite3_column_int64(statement, column++);
	remember(sink->store, &drive);
	return sink->fn(sink->userdata, &drive);
}

int em_store_load_drives(struct em_store *store, em_store_drive_fn *fn, void *userdata)
{
	struct drive_sink sink = { store, fn, userdata };

	return load(store, em_sql_drive_all, 0, give_drive, &sink);
}

struct page_sink {
	em_store_page_fn *fn;
	void *userdata;
};

static int give_page(void *userdata, sqlite3_stmt *statement)
{
	const struct page_sink *sink = userdata;
	const char *drive = (const char *)sqlite3_column_text(statement, 0);
	const char *page = (const char *)sqlite3_column_text(statement, 1);
	const uint8_t *data = sqlite3_column_blob(statement, 4);

	if (!drive || !page)
		return -ENOMEM;
	return sink->fn(sink->userdata, drive, page, (uint32_t)sqlite3_column_int64(statement, 2),
			sqlite3_column_int64(statement, 3), data,
			(size_t)sqlite3_column_bytes(statement, 4));
}

int em_store_load_pages(struct em_store *store, em_store_page_fn *fn, void *userdata)
{
	struct page_sink sink = { fn, userdata };

	return load(store, em_sql_page_all, 0, give_page, &sink);
}

struct capability_sink {
	em_store_capability_fn *fn;
	void *userdata;
};

static int give_capability(void *userdata, sqlite3_stmt *statement)
{
	const struct capability_sink *sink = userdata;
	struct em_store_capability capability = { 0 };

	em_store_column_text(capability.model, sizeof(capability.model), statement, 0);
	em_store_column_text(capability.firmware, sizeof(capability.firmware), statement, 1);
	em_store_column_text(capability.page, sizeof(capability.page), statement, 2);
	capability.nvme_status = (uint16_t)sqlite3_column_int(statement, 3);
	capability.at_us = sqlite3_column_int64(statement, 4);
	return sink->fn(sink->userdata, &capability);
}

int em_store_load_capabilities(struct em_store *store, em_store_capability_fn *fn, void *userdata)
{
	struct capability_sink sink = { fn, userdata };

	return load(store, em_sql_capability_all, 0, give_capability, &sink);
}

struct test_run_sink {
	em_store_test_run_fn *fn;
	void *userdata;
};

static int give_test_run(void *userdata, sqlite3_stmt *statement)
{
	const struct test_run_sink *sink = userdata;
	struct em_store_test_run run = { 0 };

	em_store_column_text(run.drive, sizeof(run.drive), statement, 0);
	em_store_column_text(run.test, sizeof(run.test), statement, 1);
	em_store_column_text(run.calendar, sizeof(run.calendar), statement, 2);
	run.slot_us = sqlite3_column_int64(statement, 3);
	return sink->fn(sink->userdata, &run);
}

int em_store_load_test_runs(struct em_store *store, em_store_test_run_fn *fn, void *userdata)
{
	struct test_run_sink sink = { fn, userdata };

	return load(store, em_sql_selftest_run_all, 0, give_test_run, &sink);
}

struct event_sink {
	em_store_event_fn *fn;
	void *userdata;
};

static int give_event(void *userdata, sqlite3_stmt *statement)
{
	const struct event_sink *sink = userdata;
	struct em_event event;

	em_store_event_row(&event, statement);
	return sink->fn(sink->userdata, &event);
}

int em_store_load_events(struct em_store *store, unsigned count, em_store_event_fn *fn,
			 void *userdata)
{
	struct event_sink sink = { fn, userdata };

	return load(store, em_sql_event_last, count, give_event, &sink);
}
