/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * queue - what waits for the writer: rows and events in their order, the newest bytes of each page,
 * the drives that changed, what models refuse, and runs of tests. Rows are packed, since many may
 * wait while the disk is out of order.
 *
 * Owns:     its items; drives are remembered after they were written, so that a new file gets them.
 * Threads:  none of its own; the store's mutex guards it.
 * Blocking: never.
 * Errors:   -ENOMEM, -E2BIG, -EINVAL; -ENOBUFS for one drive more than EM_QUEUE_DRIVES_MAX.
 * Limits:   max rows, PAGES_MAX pages of PAGE_BYTES_MAX in all and CAPABILITIES_MAX capabilities
 *           (queue.c), EM_STORE_EVENTS_MAX events, EM_STORE_TEST_RUNS_MAX runs of tests,
 * EM_QUEUE_DRIVES_MAX drives; what has waited longest of its kind makes room and is counted, but
 * for drives. A batch that was taken does not count before it is returned.
 */
#include "daemon/store/store.h"

#define EM_QUEUE_DRIVES_MAX 8192u
#define EM_QUEUE_TEXT_MAX   4096u
#define EM_QUEUE_PAGE_MAX   (1u << 20)
#define EM_QUEUE_DRIVE_ID   17
#define EM_QUEUE_PAGE_NAME  64

/* A cell as it is bound: a tag, then 8 bytes, or a length of 4 bytes and as many bytes of text. */
enum em_cell_tag { EM_TAG_NULL, EM_TAG_INT, EM_TAG_REAL, EM_TAG_TEXT };

struct em_queue_row {
	struct em_queue_row *next;
	int64_t at_us;
	uint32_t nsid;
	unsigned table;
	char drive[EM_QUEUE_DRIVE_ID];
	size_t len;
	uint8_t cells[];
};

struct em_queue_page {
	struct em_queue_page *next;
	uint64_t hash; /* of drive, page and nsid */
	int64_t at_us;
	uint32_t nsid;
	char drive[EM_QUEUE_DRIVE_ID], page[EM_QUEUE_PAGE_NAME];
	size_t len;
	uint8_t data[];
};

struct em_queue_drive {
	struct em_queue_drive *next;
	bool waiting; /* to be written */
	struct em_store_drive drive;
};

struct em_queue_event {
	struct em_queue_event *next;
	struct em_event event;
};

struct em_queue_capability {
	struct em_queue_capability *next;
	bool remove;
	struct em_store_capability capability;
};

struct em_queue_test_run {
	struct em_queue_test_run *next;
	struct em_store_test_run run;
};

/* What the writer takes out at once. */
struct em_queue_batch {
	struct em_queue_row *rows, *last_row;
	struct em_queue_page *pages;
	struct em_queue_drive *drives; /* copies */
	struct em_queue_event *events, *last_event;
	struct em_queue_capability *capabilities;
	struct em_queue_test_run *test_runs;
	uint64_t row_count, page_count, page_bytes, event_count, capability_count, test_run_count;
};

struct em_queue {
	uint64_t max;
	struct em_queue_batch waiting; /* but its drives are the remembered ones */
	unsigned drive_count;
	bool drives_waiting;
	uint64_t dropped;
	int64_t last_event_id; /* of all that were put */
};

void em_queue_init(struct em_queue *queue, uint64_t max);
void em_queue_done(struct em_queue *queue);

int em_queue_put_row(struct em_queue *queue, unsigned table, const char *drive, uint32_t nsid,
		     int64_t at_us, const struct em_store_cell *cells, unsigned cell_count);
int em_queue_put_page(struct em_queue *queue, const char *drive, const char *page, uint32_t nsid,
		      int64_t at_us, const void *data, size_t len);
int em_queue_put_drive(struct em_queue *queue, const struct em_store_drive *drive);
/*
 * One that the file has already, for em_queue_repeat_drives(). Nothing happens when it is known
 * better, or when half of the room is taken: the other half is for those that are put.
 */
int em_queue_remember_drive(struct em_queue *queue, const struct em_store_drive *drive);
/* -EINVAL also for an id that is not greater than the last. */
int em_queue_put_event(struct em_queue *queue, const struct em_event *event);
int em_queue_put_capability(struct em_queue *queue, const struct em_store_capability *capability,
			    bool remove);

int em_queue_put_test_run(struct em_queue *queue, const struct em_store_test_run *run);

bool em_queue_is_empty(const struct em_queue *queue);
/* Marks all remembered drives to be written again: the file is a new one. */
void em_queue_repeat_drives(struct em_queue *queue);

/* Everything that waits, handed over. -ENOMEM: the drives stay behind. */
int em_queue_take(struct em_queue *queue, struct em_queue_batch *ret);
/* Puts a batch back before what came since; a newer page or capability wins. Empties *batch. */
void em_queue_return(struct em_queue *queue, struct em_queue_batch *batch);
void em_queue_batch_done(struct em_queue_batch *batch);

/* Reads the next cell at *at of a row; false at its end. */
struct em_queue_cell {
	enum em_cell_tag tag;
	int64_t integer;
	double real;
	const char *text;
	uint32_t text_len;
};
bool em_queue_row_cell(const struct em_queue_row *row, size_t *at, struct em_queue_cell *ret);
