/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* internal - the store's own structure, shared by store.c, writer.c and reader.c. */
#include <limits.h>
#include <pthread.h>
#include "daemon/store/db.h"
#include "daemon/store/queue.h"
#include "daemon/store/retention.h"
#include "daemon/store/store.h"

#define EM_STORE_FILE "ember.db"

struct em_store {
	char path[PATH_MAX];
	struct em_db_description about;

	/* Under lock. */
	pthread_mutex_t lock;
	pthread_cond_t wake; /* for the writer: something was put, or stop */
	pthread_cond_t
		progress; /* for close and flush: a write ended one way or the other, or done */
	struct em_queue queue;
	uint64_t in_flight, written, refused;
	uint64_t lost_told; /* of all that were lost, how many the log knows of */
	bool losing;	    /* the log knows that rows are being lost */
	uint64_t puts,
		puts_safe;   /* how many puts there were, and up to which they are on the disk */
	uint64_t failures;   /* attempts to write */
	uint64_t stop_at_us; /* monotonic; when stopping: give up then */
	bool stopping, done;
	bool abandoned; /* closed while the writer is stuck: it frees the store itself */
	bool showing;	/* settled_fn is being called */
	bool suspect;	/* a reader found the file broken */
	bool ok;
	char detail[EM_DB_MESSAGE_SIZE];
	unsigned generation; /* counts the files opened; a reader of an older one opens again */

	/* The writer's alone (and em_store_open's, before the thread runs). */
	pthread_t thread;
	em_store_settled_fn *settled_fn; /* NULL ok */
	void *settled_userdata;
	int64_t event_settled; /* the last id that was told */
	struct em_db *db;
	struct em_retention retention;
	struct {
		uint64_t count;
		const char *what; /* of the first */
		char drive[EM_QUEUE_DRIVE_ID];
	} left_out; /* of the batch that is being written */
	uint64_t retry_at_us, prune_at_us, set_aside_at_us, suspected_at_us;
};

/* Opens the file when it is not open, sets a broken one aside, reports into ok and detail. */
int em_store_writer_open(struct em_store *store);
void *em_store_writer_main(void *store);
/* When nobody else has it any more. */
struct em_store *em_store_free(struct em_store *store);
/* With the lock: what can never come to the disk any more. */
uint64_t em_store_count_lost(const struct em_store *store);
/* With the lock: something was lost, for the first time since a write succeeded: say so. */
bool em_store_starts_losing(struct em_store *store);
void em_store_log_losing(void);
/* Waits on a condition of the store until a moment of em_monotonic_us(). */
void em_store_wait(struct em_store *store, pthread_cond_t *condition, uint64_t until_us);
