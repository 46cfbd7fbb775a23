/* SPDX-License-Identifier: Apache-2.0 */
/* events - a range of what happened, for a reader. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "daemon/store/reader.h"
#include "daemon/store/sql-text.h"
#include "lib/base/buf.h"
#include "lib/base/text.h"

#define KINDS_SIZE_MAX 4096u

void em_store_column_text(char *dst, size_t size, sqlite3_stmt *statement, int column)
{
	const char *text = (const char *)sqlite3_column_text(statement, column);

	snprintf(dst, size, "%s", text ? text : "");
	em_text_mend(dst);
}

void em_store_event_row(struct em_event *ret, sqlite3_stmt *statement)
{
	const struct {
		char *text;
		size_t size;
	} texts[] = {
		{ ret->kind, sizeof(ret->kind) },
		{ ret->drive, sizeof(ret->drive) },
		{ ret->device, sizeof(ret->device) },
		{ ret->serial, sizeof(ret->serial) },
	};
	int column = 0;

	memset(ret, 0, sizeof(*ret));
	ret->id = sqlite3_column_int64(statement, column++);
	ret->at_us = sqlite3_column_int64(statement, column++);
	for (size_t i = 0; i < EM_COUNT(texts); i++)
		em_store_column_text(texts[i].text, texts[i].size, statement, column++);
	ret->nsid = (uint32_t)sqlite3_column_int64(statement, column++);
	em_store_column_text(ret->subject, sizeof(ret->subject), statement, column++);
	em_store_column_text(ret->old_value, sizeof(ret->old_value), statement, column++);
	em_store_column_text(ret->new_value, sizeof(ret->new_value), statement, column++);
	em_store_column_text(ret->summary, sizeof(ret->summary), statement, column++);
}

static const char *range_text(const struct em_store_event_range *range)
{
	if (range->drive_id)
		return range->newest_first ? em_sql_event_range_drive_newest
					   : em_sql_event_range_drive;
	return range->newest_first ? em_sql_event_range_newest : em_sql_event_range;
}

/* The kinds with a blank before and behind each, as the queries want them. */
static int bind_kinds(sqlite3_stmt *statement, int slot, const struct em_store_event_range *range)
{
	struct em_buf list;
	int r;

	if (!range->kinds)
		return 0;
	em_buf_init(&list, KINDS_SIZE_MAX);
	em_buf_addc(&list, ' ');
	for (unsigned i = 0; i < range->kind_count; i++)
		em_buf_addf(&list, "%s ", range->kinds[i]);
	r = list.err;
	if (r == 0)
		sqlite3_bind_text(statement, slot, list.data, (int)list.len, SQLITE_TRANSIENT);
	em_buf_done(&list);
	return r;
}

static int prepare(struct em_store_reader *reader, const struct em_store_event_range *range,
		   sqlite3_stmt **ret)
{
	int r = em_sql_prepare(reader->handle, range_text(range), NULL, NULL, ret);

	if (r < 0)
		return em_store_reader_errno(reader, r);
	sqlite3_bind_int64(*ret, 1, range->after_id);
	sqlite3_bind_int64(*ret, 2, range->before_id ? range->before_id : INT64_MAX);
	sqlite3_bind_int64(*ret, 3, range->from_us);
	sqlite3_bind_int64(*ret, 4, range->to_us ? range->to_us : INT64_MAX);
	if (range->drive_id)
		sqlite3_bind_text(*ret, 6, range->drive_id, -1, SQLITE_STATIC);
	return bind_kinds(*ret, 5, range);
}

int em_store_events(struct em_store_reader *reader, const struct em_store_event_range *range,
		    em_store_event_fn *fn, void *userdata)
{
	em_cleanup(em_sql_finalizep) sqlite3_stmt *statement = NULL;
	struct em_event event;
	unsigned count = 0;
	int code, r = em_store_reader_begin(reader, range->deadline_us);

	if (r == 0)
		r = prepare(reader, range, &statement);
	if (r < 0)
		return r;
	while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
		if (count++ == range->limit)
			return 1;
		em_store_event_row(&event, statement);
		r = fn(userdata, &event);
		if (r != 0)
			return r;
	}
	return em_store_reader_errno(reader, em_sql_errno(code));
}
