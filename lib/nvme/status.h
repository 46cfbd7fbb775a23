/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * status - NVMe completion status by (SCT, SC): a name, a sentence, and what to do next.
 *
 * Compare (SCT, SC), never the 16-bit word: More and Do Not Retry travel in it too (case R26).
 * Threads: pure functions. Blocking: never.
 * Source: NVMe Base 2.0 section 3.3.3.2; facts/platform.md for the kernel's own 0x370 and 0x371.
 */
#include <stdbool.h>
#include <stdint.h>

/* A status word as Linux returns it: SC [7:0], SCT [10:8], CRD [12:11], More [13], DNR [14]. */
#define EM_STATUS_CODE(word) ((uint16_t)((word)&0x07ff))
#define EM_STATUS_MORE(word) (((word)&0x2000) != 0)
#define EM_STATUS_DNR(word)  (((word)&0x4000) != 0)

enum em_retry {
	EM_RETRY_NO,	   /* the same command will fail again */
	EM_RETRY_LATER,	   /* the drive or the kernel is busy: look again at the next poll */
	EM_RETRY_REFUSED,  /* the drive does not have this: never ask again */
	EM_RETRY_ACCEPTED, /* not a failure: done, a reset is pending (firmware commit) */
};

struct em_status {
	uint16_t code; /* SCT << 8 | SC */
	enum em_retry retry;
	const char *name; /* "invalid_field", stable, for JSON */
	const char *text; /* for people */
};

/* Always a row: unknown codes get one that says so, by type. */
const struct em_status *em_status_find(uint16_t word);

/* The row's class, with DNR turning EM_RETRY_LATER into EM_RETRY_NO (accepted and refused stay). */
enum em_retry em_status_retry(uint16_t word);
