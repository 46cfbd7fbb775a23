/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * new_file - a file that is there whole or not at all, and never in the place of another.
 *
 * It grows without a name (under a temporary one beside its own, where the file system wants one),
 * readable by its owner alone, and gets its name at the end.
 *
 * Owns:     path and the open file; em_new_file_done() takes away what was not kept.
 * Threads:  one. Blocking: on the disk.
 * Errors:   0 or -errno; -EEXIST: something has that name.
 */
#include <stdio.h>

struct em_new_file {
	FILE *file;		/* to be written to */
	char *path, *temporary; /* temporary: NULL = it has no name yet */
};

int em_new_file_open(struct em_new_file *ret, const char *path);
/* Whole and on the disk, under its name. */
int em_new_file_keep(struct em_new_file *file);
void em_new_file_done(struct em_new_file *file);
