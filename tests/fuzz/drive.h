/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * drive - a controller and a drive with a page, for targets that show what is in pages.
 *
 * Owns:     a snapshot holds copies. Threads: the fuzzer's one.
 */
#include "daemon/drives/event_log.h"
#include "daemon/drives/snapshot.h"

struct fuzz_input;

#define FUZZ_NOW_US	 INT64_C(1792888200000000)
#define FUZZ_NOW_MONO_US UINT64_C(5000000000)

/*
 * Takes a context out of the input: a base Identify Controller page with a few of its bytes
 * changed, or none at all. So it goes on working when the context grows.
 */
void fuzz_ctx(struct fuzz_input *in, struct em_nvme_ctx *ret);
/* A snapshot with one reference: one drive, which has these bytes as that page (NULL: none). */
struct em_snapshot *fuzz_snapshot(enum em_page_id page, const struct em_nvme_ctx *ctx,
				  const uint8_t *data, size_t len);
/* A log with an event of each kind. */
struct em_event_log *fuzz_events(void);
