/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * event_view - one line per event: `events`, `changes` and `watch`.
 *
 * Threads: any. Blocking: as the writer.
 */
#include <jansson.h>
#include "client/view.h"

/* The columns of the CSV form. */
extern const char *const em_event_paths[];
extern const unsigned em_event_path_count;

/*
 * A line at once. device_width: room for the names of devices, so that lines stand in rows.
 * $COLUMNS and the terminal decide whether there is room for the kind.
 */
void em_event_put(struct em_writer *w, const json_t *event, unsigned device_width);

/* What stands in the lines, for a person at a terminal. */
void em_event_head(struct em_writer *w, unsigned device_width);

/* Room that the names in a list of events need. */
unsigned em_event_device_width(const json_t *events);
