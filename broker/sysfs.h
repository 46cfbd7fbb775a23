/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * sysfs - attributes of a controller, read fresh each time; names from device paths.
 *
 * Threads: any. Blocking: sysfs reads of a controller are answered from kernel memory.
 */
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "lib/ipc/proto.h"

/* What the attribute `state` means for a command. */
enum em_link {
	EM_LINK_LIVE,
	EM_LINK_BUSY,	 /* the kernel starts or resets the controller: later */
	EM_LINK_ENDING,	 /* it is being removed, or the kernel gave up on it */
	EM_LINK_GONE,	 /* the directory is no more */
	EM_LINK_UNKNOWN, /* no such attribute, or a word we do not know */
};

/*
 * Reads one attribute as a string, cutting one trailing newline; bytes that do not fit are cut.
 * Returns its length or -errno; on error buf is "".
 */
ssize_t em_sysfs_read(const char *dir, const char *attribute, char *buf, size_t size);
enum em_link em_sysfs_link(const char *dir);
enum em_link em_sysfs_link_of(const char *state);

/*
 * Fills the strings of *drive from the controller's directory; absent ones become "". False: the
 * kernel has not identified the controller yet, and the strings are none of its own.
 */
bool em_sysfs_describe(const char *dir, struct em_ipc_drive *drive);

/* nvme12 is a controller; nvme12n1, nvme-subsys0 and nvme0c0n1 are not. */
bool em_sysfs_is_controller(const char *name);

/*
 * The controller or subsystem that a block device's path runs through:
 * /devices/…/nvme/nvme0/nvme0n1 gives "nvme0", /devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1
 * gives "nvme-subsys0". False when there is none.
 */
bool em_sysfs_owner(const char *devpath, char *owner, size_t size);
