/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * changes - what happened to a drive between two snapshots of it, as events.
 *
 * What was not known before is no change: the first reading of a page tells nothing, but for
 * warnings, which are told at first sight.
 *
 * Owns:     nothing. Threads: pure functions. Blocking: never.
 */
#include "daemon/drives/event_log.h"
#include "daemon/drives/snapshot.h"

/* The event is complete but for id, time and kind. */
typedef void em_change_fn(void *userdata, enum em_event_kind_id kind, struct em_event *event);

/* before NULL: the drive was never seen. */
void em_changes(const struct em_drive_snap *before, const struct em_drive_snap *after,
		em_change_fn *fn, void *userdata);
