/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * json - page bytes into JSON by their rows. No key of a page is spelled here but the few of the
 * drive summary.
 *
 * Owns:     every function returns a new reference, NULL when memory is short.
 * Threads:  any. Blocking: never.
 */
#include <jansson.h>
#include "daemon/drives/snapshot.h"

struct em_call;

/* SMART keys that a drive's summary repeats, in order; ends with NULL. */
extern const char *const em_summary_keys[];

/* What stands under an EM_BITS key's list. */
#define EM_BITS_SUFFIX "_bits"

json_t *em_json_time(int64_t realtime_us); /* null for 0 */
/* Decoded values of a page; null everywhere when data is NULL. */
json_t *em_json_values(const struct em_page *page, const struct em_blob *data,
		       const struct em_nvme_ctx *ctx);
json_t *em_json_age(const struct em_page_read *read, const struct em_call *call);
/* Seconds; null: the page is not read. */
json_t *em_json_interval(const struct em_page_read *read);
/* Why the last attempt did not give a reading, as a sentence; null when there is nothing to say. */
json_t *em_json_status_detail(const struct em_page_read *read);
json_t *em_json_page(const struct em_drive_snap *drive, const struct em_page *page,
		     const struct em_page_read *read, const struct em_call *call);
json_t *em_json_summary(const struct em_drive_snap *drive, const struct em_call *call);
