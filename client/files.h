/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * files - small files and directories of the system, as sysfs and procfs have them.
 *
 * Threads: any. Blocking: on the file system.
 */
#include <dirent.h>
#include <stdbool.h>

/* The first line without its end, cut to size - 1; false, and buf is anything: it cannot be read.
 */
bool em_first_line(const char *path, char *buf, int size);

/* For em_cleanup(). */
void em_closedirp(DIR **dir);
