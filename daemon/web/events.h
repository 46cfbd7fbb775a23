/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * events - an event as JSON, lists of events, and who of a stream wants which.
 *
 * The newest events are in memory (event_log), older ones in the store. A list is made of both, so
 * that it also has those that wait for a disk which cannot be written.
 *
 * Threads:  any. Blocking: the list, up to its deadline.
 */
#include <jansson.h>
#include "daemon/web/call.h"

#define EM_EVENT_KINDS_ALL ((UINT64_C(1) << EM_EVENT_KIND_COUNT) - 1)
_Static_assert(EM_EVENT_KIND_COUNT < 64, "a kind is a bit");

/* The data of a stream's event and the entry of a list; NULL: no memory. */
json_t *em_json_event(const struct em_event *event);
bool em_event_wanted(const struct em_event_filter *filter, const struct em_event *event);
/* Bits of the kinds that are changes. */
uint64_t em_event_changes(void);
