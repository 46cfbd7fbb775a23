/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * retention - takes away readings older than raw_keep and events older than events_keep, in small
 * steps, and only when the clock can be believed.
 *
 * A clock that jumps far ahead would make everything look old. So nothing is taken away until real
 * time has kept pace with the monotonic clock for EM_RETENTION_STEADY_US, unless it agrees at start
 * with the newest reading; and a series is cut relative to its own newest reading, so that a drive
 * in a drawer keeps its last raw_keep of history, and a reading of 1970 cuts nothing but itself.
 * Events are one series, by id: the newest always stays, so that no id is given twice.
 *
 * Owns:     nothing but its own state. Threads: the writer's. Blocking: on the disk.
 * Errors:   as em_sql_errno(). Limits: EM_RETENTION_ROWS rows and EM_RETENTION_SERIES series per
 * step.
 */
#include "daemon/store/sql.h"
#include "daemon/store/store.h"

#define EM_RETENTION_ROWS      500
#define EM_RETENTION_SERIES    256
#define EM_RETENTION_KEY_SIZE  256
#define EM_RETENTION_STEADY_US UINT64_C(86400000000)

struct em_retention {
	uint64_t keep_us, events_keep_us; /* 0 = for ever */
	bool has_clock;
	int64_t clock_offset_us;  /* real - monotonic, at the last look */
	uint64_t steady_since_us; /* monotonic */
	uint64_t steady_us;	  /* how long it has to be steady */
	unsigned table;		  /* where the walk over all series stands */
	char drive[EM_RETENTION_KEY_SIZE];
	int64_t nsid;
};

void em_retention_init(struct em_retention *retention, uint64_t keep_us, uint64_t events_keep_us);

bool em_retention_is_wanted(const struct em_retention *retention);

/* Looks at the clocks; newest_us is the newest reading that is not in the future, 0 = none. */
bool em_retention_trusts_clock(struct em_retention *retention, uint64_t mono_us, int64_t real_us,
			       int64_t newest_us);

/* The newest reading or event at or before real_us; 0 = none. */
int em_retention_newest(sqlite3 *db, const struct em_store_table *tables, unsigned table_count,
			int64_t real_us, int64_t *ret);

/*
 * One step inside the caller's transaction. 1: there may be more now; 0: the walk has come round;
 * or an error.
 */
int em_retention_step(struct em_retention *retention, sqlite3 *db,
		      const struct em_store_table *tables, unsigned table_count, int64_t real_us);
