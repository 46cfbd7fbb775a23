/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * record_mask - identifiers of drives out of a recording: each becomes another of the same length,
 * the same one wherever it stands, so that what belonged together still does.
 *
 * Serial numbers, NQNs (but the one that all discovery controllers share), EUI64, NGUID and the
 * GUID of the FRU, in their fields of Identify and in what Linux tells; serial numbers of four
 * characters and more and NQNs also wherever else they stand in a page.
 *
 * Owns:    what it saw. Threads: one. Blocking: never.
 * Errors:  -ENOMEM; then the recording may not be shown.
 */
#include "broker/recorded.h"

struct em_record_mask;

struct em_record_mask *em_record_mask_new(void);
struct em_record_mask *em_record_mask_free(struct em_record_mask *mask);
EM_DEFINE_CLEANUP(struct em_record_mask, em_record_mask_free)

/* In place. */
int em_record_mask_drive(struct em_record_mask *mask, struct em_recorded *recorded);
