/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * discover - which NVMe controllers this host has, and what the kernel tells about them.
 *
 * Uevents say when to look; sysfs, read fresh, says what is there. Since uevents can be lost (a
 * full netlink buffer, no udev) the whole is compared now and then.
 *
 * Owns:     the drives; the strings in them are sysfs's. A drive whose directory was made anew, or
 *           with another serial or NQN, is another drive with another handle, whatever its name.
 * Threads:  the loop's; callbacks too. Blocking: sysfs reads only, never a device node.
 * Errors:   0 or -errno.
 * Limits:   EM_DRIVES_MAX drives; more are ignored with a line in the journal.
 */
#include <systemd/sd-event.h>

#include "broker/sysfs.h"
#include "lib/base/cleanup.h"
#include "lib/ipc/proto.h"

#define EM_DRIVES_MAX 4096u

struct em_discover;

struct em_drive {
	struct em_ipc_drive info;
	char *sysfs; /* its directory */
	ino_t inode; /* of that directory, 0 when unknown: tells incarnations apart */
	void *lane;  /* the owner's */
	bool seen;
	struct em_drive *next;
};

struct em_discover_ops {
	void (*appeared)(void *self, struct em_drive *drive);
	void (*changed)(void *self, struct em_drive *drive);
	/* The drive is freed after this. */
	void (*gone)(void *self, struct em_drive *drive);
	void (*event)(void *self, struct em_drive *drive, enum em_event_kind kind, uint32_t aen);
};

/* Listens first and looks then; appeared() is called from in here. */
int em_discover_new(sd_event *event, const struct em_discover_ops *ops, void *self,
		    struct em_discover **ret);
struct em_discover *em_discover_free(struct em_discover *discover);
EM_DEFINE_CLEANUP(struct em_discover, em_discover_free)

/* NULL when there is none. */
struct em_drive *em_discover_find(struct em_discover *discover, uint32_t handle);
struct em_drive *em_discover_first(struct em_discover *discover);
unsigned em_discover_count(const struct em_discover *discover);

/*
 * Something was odd about a drive (`state` changes without an uevent, for one): compare all with
 * sysfs in a moment, and tell what changed.
 */
void em_discover_compare_soon(struct em_discover *discover);
