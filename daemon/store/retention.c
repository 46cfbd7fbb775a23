/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/store/retention.h"
#include <errno.h>
#include <string.h>
#include "daemon/store/sql-text.h"
#include "lib/base/clock.h"

#define CLOCK_SLACK_US	((int64_t)(60 * EM_US_PER_SEC))
#define CLOCK_AGREES_US ((int64_t)EM_RETENTION_STEADY_US)

static void start_walk(struct em_retention *retention)
{
	retention->table = 0;
	retention->drive[0] = '\0';
	retention->nsid = -1;
}

void em_retention_init(struct em_retention *retention, uint64_t keep_us, uint64_t events_keep_us)
{
	*retention = (struct em_retention){ .keep_us = keep_us, .events_keep_us = events_keep_us };
	start_walk(retention);
}

bool em_retention_is_wanted(const struct em_retention *retention)
{
	return retention->keep_us > 0 || retention->events_keep_us > 0;
}

bool em_retention_trusts_clock(struct em_retention *retention, uint64_t mono_us, int64_t real_us,
			       int64_t newest_us)
{
	int64_t offset = real_us - (int64_t)mono_us;
	int64_t moved = offset - retention->clock_offset_us;

	if (!retention->has_clock) {
		bool agrees = newest_us > 0 && newest_us <= real_us &&
			      real_us - newest_us <= CLOCK_AGREES_US;

		retention->has_clock = true;
		retention->steady_since_us = mono_us;
		retention->steady_us = agrees ? 0 : EM_RETENTION_STEADY_US;
	} else if (moved > CLOCK_SLACK_US || moved < -CLOCK_SLACK_US) {
		retention->steady_since_us = mono_us;
		retention->steady_us = EM_RETENTION_STEADY_US;
	}
	retention->clock_offset_us = offset;
	return mono_us - retention->steady_since_us >= retention->steady_us;
}

/*
 * 1: the next series is in drive and nsid; 0: there is none (or one with a key that no Ember wrote,
 * where the walk ends).
 */
static int next_series(sqlite3 *db, const char *table, char drive[EM_RETENTION_KEY_SIZE],
		       int64_t *nsid)
{
	em_cleanup(em_sql_finalizep) sqlite3_stmt *statement = NULL;
	const char *text;
	int code, r;

	r = em_sql_prepare(db, em_sql_series_next, table, NULL, &statement);
	if (r < 0)
		return r;
	sqlite3_bind_text(statement, 1, drive, -1, SQLITE_TRANSIENT);
	sqlite3_bind_int64(statement, 2, *nsid);
	code = sqlite3_step(statement);
	if (code != SQLITE_ROW)
		return em_sql_errno(code);
	text = (const char *)sqlite3_column_text(statement, 0);
	if (!text)
		return -ENOMEM;
	if (strlen(text) >= EM_RETENTION_KEY_SIZE)
		return 0;
	strcpy(drive, text);
	*nsid = sqlite3_column_int64(statement, 1);
	return 1;
}

/* 0 in *ret when there is none. */
static int newest_reading(sqlite3 *db, const char *table, const char *drive, int64_t nsid,
			  int64_t real_us, int64_t *ret)
{
	em_cleanup(em_sql_finalizep) sqlite3_stmt *statement = NULL;
	int code, r;

	r = em_sql_prepare(db, em_sql_series_newest, table, NULL, &statement);
	if (r < 0)
		return r;
	sqlite3_bind_text(statement, 1, drive, -1, SQLITE_STATIC);
	sqlite3_bind_int64(statement, 2, nsid);
	sqlite3_bind_int64(statement, 3, real_us);
	code = sqlite3_step(statement);
	*ret = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
	return em_sql_errno(code);
}

static int newest_event(sqlite3 *db, int64_t real_us, int64_t *ret)
{
	em_cleanup(em_sql_finalizep) sqlite3_stmt *statement = NULL;
	int code, r;

	r = em_sql_prepare(db, em_sql_event_newest, NULL, NULL, &statement);
	if (r < 0)
		return r;
	sqlite3_bind_int64(statement, 1, real_us);
	code = sqlite3_step(statement);
	if (code != SQLITE_ROW)
		return em_sql_errno(code);
	*ret = sqlite3_column_int64(statement, 0);
	return 0;
}

int em_retention_newest(sqlite3 *db, const struct em_store_table *tables, unsigned table_count,
			int64_t real_us, int64_t *ret)
{
	int64_t newest = 0;
	int r = newest_event(db, real_us, &newest);

	if (r < 0)
		return r;
	for (unsigned i = 0; i < table_count; i++) {
		char drive[EM_RETENTION_KEY_SIZE] = "";
		int64_t nsid = -1, at;

		while ((r = next_series(db, tables[i].name, drive, &nsid)) > 0) {
			r = newest_reading(db, tables[i].name, drive, nsid, real_us, &at);
			if (r < 0)
				return r;
			if (at > newest)
				newest = at;
		}
		if (r < 0)
			return r;
	}
	*ret = newest;
	return 0;
}

static int prune(struct em_retention *retention, sqlite3 *db, const char *table, int64_t before_us)
{
	em_cleanup(em_sql_finalizep) sqlite3_stmt *statement = NULL;
	int r = em_sql_prepare(db, em_sql_series_prune, table, NULL, &statement);

	if (r < 0)
		return r;
	sqlite3_bind_text(statement, 1, retention->drive, -1, SQLITE_STATIC);
	sqlite3_bind_int64(statement, 2, retention->nsid);
	sqlite3_bind_int64(statement, 3, before_us);
	sqlite3_bind_int64(statement, 4, EM_RETENTION_ROWS);
	r = em_sql_errno(sqlite3_step(statement));
	return r < 0 ? r : sqlite3_changes(db);
}

/* 1: there may be more. */
static int prune_events(const struct em_retention *retention, sqlite3 *db, int64_t real_us)
{
	em_cleanup(em_sql_finalizep) sqlite3_stmt *statement = NULL;
	int64_t newest = 0;
	int r;

	if (retention->events_keep_us == 0)
		return 0;
	r = newest_event(db, real_us, &newest);
	if (r == 0)
		r = em_sql_prepare(db, em_sql_event_prune, NULL, NULL, &statement);
	if (r < 0)
		return r;
	sqlite3_bind_int64(statement, 1, newest - (int64_t)retention->events_keep_us);
	sqlite3_bind_int64(statement, 2, EM_RETENTION_ROWS);
	sqlite3_bind_int64(statement, 3, real_us);
	r = em_sql_errno(sqlite3_step(statement));
	return r < 0 ? r : sqlite3_changes(db) > 0;
}

static int prune_readings(struct em_retention *retention, sqlite3 *db,
			  const struct em_store_table *tables, unsigned table_count,
			  int64_t real_us)
{
	unsigned seen = 0;

	while (retention->table < table_count) {
		const char *table = tables[retention->table].name;
		int64_t newest;
		int r = next_series(db, table, retention->drive, &retention->nsid);

		if (r < 0)
			return r;
		if (r == 0) {
			retention->table++;
			retention->drive[0] = '\0';
			retention->nsid = -1;
			continue;
		}
		r = newest_reading(db, table, retention->drive, retention->nsid, real_us, &newest);
		if (r == 0 && newest > 0)
			r = prune(retention, db, table, newest - (int64_t)retention->keep_us);
		if (r < 0)
			return r;
		if (r > 0) {
			retention->nsid--; /* the same series once more */
			return 1;
		}
		if (++seen == EM_RETENTION_SERIES)
			return 1;
	}
	return 0;
}

int em_retention_step(struct em_retention *retention, sqlite3 *db,
		      const struct em_store_table *tables, unsigned table_count, int64_t real_us)
{
	int r = 0;

	if (retention->keep_us > 0)
		r = prune_readings(retention, db, tables, table_count, real_us);
	if (r == 0)
		r = prune_events(retention, db, real_us);
	if (r == 0)
		start_walk(retention);
	return r;
}
