/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * records - between a drive and the rows that the store keeps of it.
 *
 * Threads: loop thread only. Blocking: never (the store queues).
 */
#include "daemon/drives/drive.h"

/* A fresh reading: its row in the page's history table, and its bytes. */
void em_record_page(struct em_store *store, const struct em_drive *drive,
		    const struct em_drive_news *news);
/* The lists of its namespaces, as the page EM_CAPABILITY_LIST; see em_drive_restore_list(). */
void em_record_list(struct em_store *store, const struct em_drive *drive);
void em_record_drive(struct em_store *store, const struct em_drive *drive, int64_t now_us);
/* A drive of an earlier start, `removed` until it is seen. NULL: no memory, or no drive of ours. */
struct em_drive *em_record_restore(const struct em_store_drive *stored);
/* The state it was in then. */
enum em_drive_state em_record_state(const struct em_store_drive *stored);
