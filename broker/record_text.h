/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * record_text - a recorded drive as a section of the simulator's scenario language.
 *
 * Threads: one. Blocking: never. Errors: the buffer's.
 */
#include "broker/recorded.h"
#include "lib/base/buf.h"

/* leader: a drive that stands in the file already, of which this is one more controller; NULL. */
void em_record_text(struct em_buf *out, const struct em_recorded *recorded,
		    const struct em_recorded *leader, bool masked);
/* Two controllers of one drive, with the same namespaces. */
bool em_record_are_sisters(const struct em_recorded *a, const struct em_recorded *b);
/* "no answer within the patience", "status 0x4109", ...; buf of 128 bytes suffices. */
const char *em_record_outcome(const struct em_outcome *outcome, char *buf, size_t size);
