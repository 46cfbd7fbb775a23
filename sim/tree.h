/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * tree - the directories below the root: sysfs, /dev stand-ins and udev's database as files.
 *
 * A stand-in for a device node is a Unix socket file that nobody listens on: it needs no privilege,
 * cannot be opened by accident, and the preload library recognises it.
 * Blocking: on the file system. Errors: 0 or -errno.
 */
#include <stdbool.h>
#include "sim/model.h"

#define SIM_PATH_MAX 512
/* Majors as a Debian kernel hands them out. */
#define SIM_MAJOR_CTRL	241
#define SIM_MAJOR_BLOCK 259

/* Makes a root below $TMPDIR (or /dev/shm, /tmp) with the empty trees in it. root: SIM_PATH_MAX
 * bytes. */
int sim_tree_create(char *root);
void sim_tree_destroy(const char *root);
int sim_tree_add(const char *root, const struct sim_drive *drive);
/* disks_stay: another controller of the subsystem still leads to its namespaces. */
void sim_tree_remove(const char *root, const struct sim_drive *drive, bool disks_stay);
int sim_tree_add_namespace(const char *root, const struct sim_drive *drive,
			   const struct sim_namespace *ns);
void sim_tree_remove_namespace(const char *root, const struct sim_drive *drive,
			       const struct sim_namespace *ns);
/* Whether Linux shows it below a PCI function. */
bool sim_is_pcie(const struct sim_drive *drive);
int sim_tree_set_state(const char *root, const struct sim_drive *drive);
/* Rewrites what Linux caches of Identify: serial, model, firmware_rev. */
int sim_tree_set_identity(const char *root, const struct sim_drive *drive);

/* DEVPATH of a controller (ns NULL) or namespace. buf: SIM_PATH_MAX bytes. */
const char *sim_devpath(const struct sim_drive *drive, const struct sim_namespace *ns, char *buf);
/* The node's name. buf: 48 bytes. */
const char *sim_node_name(const struct sim_drive *drive, const struct sim_namespace *ns, char *buf);
unsigned sim_ns_minor(const struct sim_drive *drive, const struct sim_namespace *ns);
