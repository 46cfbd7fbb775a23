/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * drive_table - the table of all drives, and the line that sums it up: `drives` and `watch`.
 *
 * Threads: any. Blocking: as the writer.
 */
#include <jansson.h>
#include "client/view.h"

/* before: the list as it was last shown; what differs stands out. NULL = all is plain. */
void em_drive_table(struct em_writer *w, const json_t *drives, const json_t *before);

/* "8 drives: 6 ok, 1 unresponsive, 1 failing" */
void em_drive_sums(const json_t *drives, char buf[EM_VIEW_SIZE]);

/* The same drives, those first that need somebody's eyes; a new list. NULL: no memory. */
json_t *em_drives_worst_first(const json_t *drives);

/* The drive of this id; NULL: none. */
const json_t *em_drive_find(const json_t *drives, const char *id);

/* By what Linux says of a controller: good, passing, bad. */
enum em_tone em_drive_path_tone(const json_t *controller);

/* How many controllers the drive has, and how many of them work. */
unsigned em_drive_paths(const json_t *drive, unsigned *ret_live);
