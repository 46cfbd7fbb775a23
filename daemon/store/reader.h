/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* reader - what the queries of reader.c, events.c and load.c share: a connection with a deadline.
 */
#include "daemon/store/internal.h"

struct em_store_reader {
	struct em_store *store;
	sqlite3 *handle;
	unsigned generation; /* of the file that handle reads */
	uint64_t deadline_us;
};
EM_DEFINE_CLEANUP(struct em_store_reader, em_store_reader_close)

/*
 * Before a query: from now on it ends at deadline_us (monotonic, 0 = never). Opened at the first
 * use, and again when the writer has a new file. Errors are those of em_store_reader_errno().
 */
int em_store_reader_begin(struct em_store_reader *reader, uint64_t deadline_us);

/*
 * To a reader a locked, broken or missing file is all the same: not now, -EAGAIN. The writer is
 * told of a broken one.
 */
int em_store_reader_errno(struct em_store_reader *reader, int r);

/* Copies a text of the row, cut to size; NULL becomes "". */
void em_store_column_text(char *dst, size_t size, sqlite3_stmt *statement, int column);

/* A row of the queries event_last and event_range...: columns in the order of struct em_event. */
void em_store_event_row(struct em_event *ret, sqlite3_stmt *statement);
