/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * store - history in SQLite: one writer thread, many readers.
 *
 * The caller describes its tables by column names (from the field tables); the store creates what
 * is missing, and adds columns that a newer Ember knows. 128-bit numbers are kept exactly: an
 * integer where it fits into 63 bits, else decimal text. Times are microseconds since 1970, UTC.
 *
 * Owns:     the writer thread, the database connection, the queue. Rows put are copied. Borrows
 *           the description of the tables, which must outlive it and a write that close gave up
 *           (em_history_tables() does); readers are closed before the store.
 * Threads:  put functions and status from any thread; a reader belongs to the thread that opened
 *           it.
 * Blocking: put never blocks on the disk. open and close do. Readers wait at most their deadline.
 * Errors:   0 or -errno; a database that cannot be written does not fail put(): rows wait in the
 *           queue, the oldest are dropped above EM_STORE_QUEUE_MAX and counted, and status() says
 *           so. A put that fails is counted, too, and losses are logged: a caller need not look. A
 *           broken file is set aside (name + ".broken-<time>"; the ninth is removed) and a new one
 *           is made; a file of a newer schema is refused by open with -EPROTONOSUPPORT and left
 *           alone.
 * Limits:   EM_STORE_QUEUE_MAX rows wait, and as many may be on their way to the disk; pages and
 *           drives as queue.h says; raw rows are kept for raw_keep_us, pruned in small steps.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/base/u128.h"

#define EM_STORE_QUEUE_MAX 65536u

/* A history table: key columns drive, nsid, at are the store's own; columns are the caller's. */
struct em_store_table {
	const char *name;	    /* [a-z_]+ */
	const char *const *columns; /* [a-z0-9_]+ */
	unsigned column_count;
};

struct em_store_cell {
	enum { EM_CELL_NULL, EM_CELL_UINT, EM_CELL_INT, EM_CELL_REAL, EM_CELL_TEXT } kind;
	em_u128 number;	  /* EM_CELL_UINT */
	int64_t integer;  /* EM_CELL_INT */
	double real;	  /* EM_CELL_REAL */
	const char *text; /* EM_CELL_TEXT, and EM_CELL_UINT beyond 128 bits as digits */
};

/*
 * Something that happened. Ids ascend, are never given twice and outlast restarts: each is the real
 * time in microseconds, or one more than the last where that is greater. Texts are clean; "" and 0
 * mean that it does not apply.
 */
struct em_event {
	int64_t id, at_us;
	char kind[32]; /* a name of EM_EVENT_KINDS, daemon/drives/event_log.h */
	char drive[17], device[32], serial[64];
	uint32_t nsid;
	char subject[64]; /* what of the drive: "slot 2", "temperature" */
	char old_value[128], new_value[128];
	char summary[256]; /* one sentence for people */
};

/* A page that drives of this model and firmware refuse. */
struct em_store_capability {
	char model[64], firmware[32], page[32];
	uint16_t nvme_status;
	int64_t at_us;
};

/* The last run that a schedule called for of a drive's self-test. */
struct em_store_test_run {
	char drive[17], test[16], calendar[128];
	int64_t slot_us; /* when it called for it */
};

/*
 * Events with ids up to id were committed, or a write has failed and they wait in memory with the
 * rest: they may be shown. On the writer thread, without locks; must not block. Never again after
 * em_store_close().
 */
typedef void em_store_settled_fn(void *userdata, int64_t id);

struct em_store_config {
	const char *directory; /* exists; ember.db is made in it */
	const struct em_store_table *tables;
	unsigned table_count;
	uint64_t raw_keep_us;		     /* 0 = for ever */
	uint64_t events_keep_us;	     /* 0 = for ever */
	em_store_settled_fn *events_settled; /* NULL ok */
	void *userdata;
};

/* What is kept of a drive between two starts. Texts are clean; identity is the raw key. */
struct em_store_drive {
	char id[17];
	uint8_t identity[600]; /* raw NQN, NUL, raw serial, and an ordinal */
	unsigned identity_len;
	char device[32], serial[64], model[64], firmware[32], subsystem_nqn[256], address[64];
	char transport[32], cntlid[16];
	char state[16];
	int64_t first_seen_us, last_seen_us, state_since_us;
};

struct em_store;

/* On failure *ret_message (may be NULL) is a static or store-owned sentence for people. */
int em_store_open(struct em_store **ret, const struct em_store_config *config,
		  const char **ret_message);
/*
 * Writes what is queued for at most grace_us, stops the thread, closes. A write that is out then
 * gets a second more and is left to itself. What could not be written is logged.
 */
struct em_store *em_store_close(struct em_store *store, uint64_t grace_us);

/* One row of a history table (index into config.tables). cells has that table's column_count. */
int em_store_put_row(struct em_store *store, unsigned table, const char *drive_id, uint32_t nsid,
		     int64_t at_us, const struct em_store_cell *cells);
/* The newest bytes of a page, so that a restart shows the last values with their age. */
int em_store_put_page(struct em_store *store, const char *drive_id, const char *page, uint32_t nsid,
		      int64_t at_us, const void *data, size_t len);
/* Inserts or updates by id; a changed device name also goes into the names' history. */
int em_store_put_drive(struct em_store *store, const struct em_store_drive *drive);

/* Event with its id and time. In memory at most EM_STORE_EVENTS_MAX wait, like rows. */
#define EM_STORE_EVENTS_MAX 8192u
int em_store_put_event(struct em_store *store, const struct em_event *event);
/* Inserts or updates by model, firmware and page; remove: forgets it. */
int em_store_put_capability(struct em_store *store, const struct em_store_capability *capability,
			    bool remove);
/* Inserts or updates by drive and test. In memory at most EM_STORE_TEST_RUNS_MAX wait. */
#define EM_STORE_TEST_RUNS_MAX 8192u
int em_store_put_test_run(struct em_store *store, const struct em_store_test_run *run);
/*
 * Waits until all that was put before is on the disk. 0; -ETIMEDOUT at deadline_us (monotonic);
 * -EAGAIN as soon as a write fails: it waits in memory. Blocks: not for the loop.
 */
int em_store_flush(struct em_store *store, uint64_t deadline_us);

struct em_store_status {
	bool ok;	  /* the last write succeeded, or nothing was written yet */
	char detail[200]; /* why not, for people */
	/* Rows of all kinds: readings, pages, drives, events, capabilities, runs of tests. */
	uint64_t queued;  /* waiting or on their way to the disk */
	uint64_t written; /* since start */
	uint64_t dropped; /* lost since start */
};
void em_store_get_status(struct em_store *store, struct em_store_status *ret);

/*
 * At start, before the loop: calls back for each known drive / last page. Stops on non-zero.
 * -EAGAIN unavailable now, -ENOMEM, else what the callback returned.
 */
typedef int em_store_drive_fn(void *userdata, const struct em_store_drive *drive);
typedef int em_store_page_fn(void *userdata, const char *drive_id, const char *page, uint32_t nsid,
			     int64_t at_us, const uint8_t *data, size_t len);
int em_store_load_drives(struct em_store *store, em_store_drive_fn *fn, void *userdata);
int em_store_load_pages(struct em_store *store, em_store_page_fn *fn, void *userdata);

typedef int em_store_capability_fn(void *userdata, const struct em_store_capability *capability);
int em_store_load_capabilities(struct em_store *store, em_store_capability_fn *fn, void *userdata);
typedef int em_store_test_run_fn(void *userdata, const struct em_store_test_run *run);
int em_store_load_test_runs(struct em_store *store, em_store_test_run_fn *fn, void *userdata);
typedef int em_store_event_fn(void *userdata, const struct em_event *event);
/* The newest `count` events, oldest first. */
int em_store_load_events(struct em_store *store, unsigned count, em_store_event_fn *fn,
			 void *userdata);

/* A read-only connection. */
struct em_store_reader;
int em_store_reader_open(struct em_store *store, struct em_store_reader **ret);
struct em_store_reader *em_store_reader_close(struct em_store_reader *reader);

struct em_store_range {
	const char *table, *column; /* must be among config.tables */
	const char *drive_id;
	uint32_t nsid;
	int64_t from_us, to_us; /* from <= at < to */
	uint64_t step_us;	/* 0 = every reading; else the last reading of each step */
	unsigned limit;
	bool newest; /* above the limit the oldest points are left out, and not the newest */
	uint64_t deadline_us; /* monotonic: give up then */
};

/* Digits, a number or text exactly as stored; NULL = the drive gave none. Oldest first. */
typedef int em_store_point_fn(void *userdata, int64_t at_us, const char *value);
/*
 * 0, or 1 when more points exist than limit. -ENOENT unknown table or column, -ETIMEDOUT the
 * deadline, -EAGAIN busy or unavailable now (answer 503), else what the callback returned.
 */
int em_store_history(struct em_store_reader *reader, const struct em_store_range *range,
		     em_store_point_fn *fn, void *userdata);

struct em_store_event_range {
	int64_t after_id, before_id; /* after < id < before; before 0 = no bound */
	int64_t from_us, to_us;	     /* from <= at < to; to 0 = no bound */
	const char *drive_id;	     /* NULL = of all, and of none */
	const char *const *kinds;    /* NULL = all */
	unsigned kind_count;
	unsigned limit;
	bool newest_first;
	uint64_t deadline_us;
};

/* As em_store_history(): 1 when more exist than limit. */
int em_store_events(struct em_store_reader *reader, const struct em_store_event_range *range,
		    em_store_event_fn *fn, void *userdata);
