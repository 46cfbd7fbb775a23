/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * bay - where in the machine a drive stands, and the block device by which ledctl knows it.
 *
 * Reads directories below a root, "" for the real one. Text of files is cut to the buffer.
 * Threads: any. Blocking: as sysfs.
 * Errors:  -ENOENT the machine does not tell.
 */
#include <stddef.h>

#define EM_BAY_SIZE 64

/* The slot whose address is that of the PCI function ("0000:01:00.0"). */
int em_bay_find(const char *root, const char *address, char *buf, size_t size);

/* "nvme0n1": a block device of the controller "nvme0", also when several paths lead to it. */
int em_bay_block(const char *root, const char *device, char *buf, size_t size);
