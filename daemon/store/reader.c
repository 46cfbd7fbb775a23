/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "daemon/store/reader.h"
#include "daemon/store/sql-text.h"
#include "lib/base/buf.h"
#include "lib/base/clock.h"

#define BUSY_MS	     100
#define PROGRESS_OPS 1000
#define STEP_MAX_US  (UINT64_C(1) << 60)
/* Going from row to row costs a fraction of a seek; so many rows of one step are worth one. */
#define WALK_MAX 8u

int em_store_reader_errno(struct em_store_reader *reader, int r)
{
	if (r == -EUCLEAN) {
		pthread_mutex_lock(&reader->store->lock);
		reader->store->suspect = true;
		pthread_cond_signal(&reader->store->wake);
		pthread_mutex_unlock(&reader->store->lock);
	}
	return r == 0 || r == -ETIMEDOUT || r == -ENOMEM ? r : -EAGAIN;
}

static int is_past(void *userdata)
{
	const struct em_store_reader *reader = userdata;

	return reader->deadline_us && em_monotonic_us() >= reader->deadline_us;
}

int em_store_reader_open(struct em_store *store, struct em_store_reader **ret)
{
	struct em_store_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return -ENOMEM;
	reader->store = store;
	*ret = reader;
	return 0;
}

struct em_store_reader *em_store_reader_close(struct em_store_reader *reader)
{
	if (!reader)
		return NULL;
	sqlite3_close(reader->handle);
	free(reader);
	return NULL;
}

static int connect_reader(struct em_store_reader *reader)
{
	int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
	unsigned generation;
	int r;

	pthread_mutex_lock(&reader->store->lock);
	generation = reader->store->generation;
	pthread_mutex_unlock(&reader->store->lock);
	if (reader->handle && reader->generation == generation)
		return 0;
	sqlite3_close(em_steal(reader->handle));
	r = em_sql_errno(sqlite3_open_v2(reader->store->path, &reader->handle, flags, NULL));
	if (r == 0) {
		sqlite3_busy_timeout(reader->handle, BUSY_MS);
		sqlite3_progress_handler(reader->handle, PROGRESS_OPS, is_past, reader);
		r = em_sql_exec(reader->handle, em_sql_reader_setup, NULL, 0);
	}
	if (r < 0) {
		sqlite3_close(em_steal(reader->handle));
		return r;
	}
	reader->generation = generation;
	return 0;
}

int em_store_reader_begin(struct em_store_reader *reader, uint64_t deadline_us)
{
	reader->deadline_us = deadline_us;
	if (is_past(reader))
		return -ETIMEDOUT;
	return em_store_reader_errno(reader, connect_reader(reader));
}

static bool is_known(const struct em_store *store, const struct em_store_range *range)
{
	for (unsigned i = 0; i < store->about.table_count; i++) {
		const struct em_store_table *table = &store->about.tables[i];

		if (strcmp(table->name, range->table) != 0)
			continue;
		for (unsigned c = 0; c < table->column_count; c++)
			if (strcmp(table->columns[c], range->column) == 0)
				return true;
	}
	return false;
}

static const char *range_text(const struct em_store_range *range)
{
	if (range->newest)
		return range->step_us ? em_sql_reading_steps_newest : em_sql_reading_range_newest;
	return em_sql_reading_range;
}

static uint64_t range_step(const struct em_store_range *range)
{
	return range->step_us < STEP_MAX_US ? range->step_us : STEP_MAX_US;
}

/* ?1 to ?4 of every query of readings. */
static void bind_range(sqlite3_stmt *statement, const struct em_store_range *range, int64_t from,
		       int64_t to)
{
	sqlite3_reset(statement);
	sqlite3_bind_text(statement, 1, range->drive_id, -1, SQLITE_STATIC);
	sqlite3_bind_int64(statement, 2, range->nsid);
	sqlite3_bind_int64(statement, 3, from > 0 ? from : 0);
	sqlite3_bind_int64(statement, 4, to);
}

static int prepare_range(struct em_store_reader *reader, const struct em_store_range *range,
			 sqlite3_stmt **ret)
{
	int r = em_sql_prepare(reader->handle, range_text(range), range->table, range->column, ret);

	if (r < 0)
		return r;
	bind_range(*ret, range, range->from_us, range->to_us);
	/* One more than wanted, to know whether there are more. */
	sqlite3_bind_int64(*ret, 5, (int64_t)range->limit + 1);
	if (range->step_us && range->newest)
		sqlite3_bind_int64(*ret, 6, (int64_t)range_step(range));
	return 0;
}

/* Numbers as digits; buf serves those with a fraction, which SQLite would cut to 15 digits. */
static const char *point_text(sqlite3_stmt *statement, char buf[32])
{
	if (sqlite3_column_type(statement, 1) != SQLITE_FLOAT)
		return (const char *)sqlite3_column_text(statement, 1);
	snprintf(buf, 32, "%.17g", sqlite3_column_double(statement, 1));
	return buf;
}

/* The row's place among those of the range: the query counts when it is not the order of rows. */
static int64_t row_place(sqlite3_stmt *statement, bool newest, unsigned count)
{
	return newest ? sqlite3_column_int64(statement, 2) : (int64_t)count;
}

static int give_points(struct em_store_reader *reader, sqlite3_stmt *statement,
		       const struct em_store_range *range, em_store_point_fn *fn, void *userdata)
{
	unsigned count = 0;
	bool more = false;
	char buf[32];
	int code, r;

	while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
		if (row_place(statement, range->newest, ++count) > range->limit) {
			more = true;
			continue;
		}
		r = fn(userdata, sqlite3_column_int64(statement, 0), point_text(statement, buf));
		if (r != 0)
			return r;
	}
	r = em_store_reader_errno(reader, em_sql_errno(code));
	return r == 0 && more ? 1 : r;
}

/* A walk over the readings that keeps the last one of each step, oldest first. */
struct walk {
	struct em_store_reader *reader;
	const struct em_store_range *range;
	sqlite3_stmt *rows, *last;
	int64_t step;
	em_store_point_fn *fn;
	void *userdata;
	bool kept; /* at_us and value are the last reading of its step so far */
	int64_t at_us;
	bool null;
	struct em_buf value;
	unsigned given;
};

static int keep(struct walk *walk, sqlite3_stmt *statement)
{
	char buf[32];
	const char *text = point_text(statement, buf);

	walk->kept = true;
	walk->at_us = sqlite3_column_int64(statement, 0);
	walk->null = !text;
	walk->value.len = 0;
	em_buf_adds(&walk->value, text ? text : "");
	return walk->value.err;
}

/* 1: the limit is reached. */
static int give_kept(struct walk *walk)
{
	if (!walk->kept)
		return 0;
	walk->kept = false;
	if (walk->given++ == walk->range->limit)
		return 1;
	return walk->fn(walk->userdata, walk->at_us, walk->null ? NULL : walk->value.data);
}

static int64_t step_end(const struct walk *walk, int64_t at_us)
{
	int64_t number = at_us / walk->step, to = walk->range->to_us;

	return number < to / walk->step ? (number + 1) * walk->step : to;
}

/* Straight to the last reading of the step, and on behind it. */
static int jump(struct walk *walk)
{
	int64_t end = step_end(walk, walk->at_us);
	int code, r = 0;

	bind_range(walk->last, walk->range, walk->at_us, end);
	code = sqlite3_step(walk->last);
	if (code == SQLITE_ROW)
		r = keep(walk, walk->last);
	else if (code != SQLITE_DONE)
		r = em_store_reader_errno(walk->reader, em_sql_errno(code));
	sqlite3_reset(walk->last);
	bind_range(walk->rows, walk->range, end, walk->range->to_us);
	return r;
}

static int take_row(struct walk *walk, unsigned *run)
{
	int64_t at = sqlite3_column_int64(walk->rows, 0);
	int r = 0;

	if (walk->kept && at / walk->step != walk->at_us / walk->step) {
		r = give_kept(walk);
		*run = 0;
	}
	if (r == 0)
		r = keep(walk, walk->rows);
	if (r == 0 && ++*run == WALK_MAX) {
		*run = 0;
		r = jump(walk);
	}
	return r;
}

static int walk_steps(struct walk *walk)
{
	unsigned run = 0;
	int code, r = 0;

	bind_range(walk->rows, walk->range, walk->range->from_us, walk->range->to_us);
	sqlite3_bind_int64(walk->rows, 5, -1);
	while ((code = sqlite3_step(walk->rows)) == SQLITE_ROW) {
		r = take_row(walk, &run);
		if (r != 0)
			return r;
	}
	r = em_store_reader_errno(walk->reader, em_sql_errno(code));
	return r == 0 ? give_kept(walk) : r;
}

static int give_steps(struct em_store_reader *reader, const struct em_store_range *range,
		      em_store_point_fn *fn, void *userdata)
{
	em_cleanup(em_sql_finalizep) sqlite3_stmt *rows = NULL, *last = NULL;
	struct walk walk = { .reader = reader,
			     .range = range,
			     .step = (int64_t)range_step(range),
			     .fn = fn,
			     .userdata = userdata };
	int r = em_sql_prepare(reader->handle, em_sql_reading_range, range->table, range->column,
			       &rows);

	if (r == 0)
		r = em_sql_prepare(reader->handle, em_sql_reading_last, range->table, range->column,
				   &last);
	if (r < 0)
		return em_store_reader_errno(reader, r);
	walk.rows = rows;
	walk.last = last;
	em_buf_init(&walk.value, EM_QUEUE_TEXT_MAX + 64);
	r = walk_steps(&walk);
	em_buf_done(&walk.value);
	return r;
}

int em_store_history(struct em_store_reader *reader, const struct em_store_range *range,
		     em_store_point_fn *fn, void *userdata)
{
	em_cleanup(em_sql_finalizep) sqlite3_stmt *statement = NULL;
	int r;

	if (!is_known(reader->store, range))
		return -ENOENT;
	r = em_store_reader_begin(reader, range->deadline_us);
	if (r == 0 && range->step_us && !range->newest)
		return give_steps(reader, range, fn, userdata);
	if (r == 0)
		r = prepare_range(reader, range, &statement);
	if (r < 0)
		return em_store_reader_errno(reader, r);
	return give_points(reader, statement, range, fn, userdata);
}
