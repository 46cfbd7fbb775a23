/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* drive_impl - what the files of struct em_drive share among themselves; for no one else. */
#include "daemon/drives/drive.h"

void em_drive_set_state(struct em_drive *drive, enum em_drive_state state, const char *detail,
			int64_t real_us);
void em_drive_clear_request(struct em_drive *drive);
/* Takes version, firmware, serial and model from valid Identify Controller bytes. */
void em_drive_learn_identify(struct em_drive *drive, const struct em_blob *data, uint64_t now_us);
/* Namespaces as the list says: new ones are due now, vanished ones are dropped. -ENOMEM. */
int em_drive_take_namespaces(struct em_drive *drive, const uint32_t *nsids, unsigned count,
			     uint64_t now_us);
/* Reads an Identify list of namespaces; how many, or -EBADMSG. */
int em_drive_parse_list(const uint8_t *data, size_t len, uint32_t nsids[EM_NAMESPACES_MAX]);
struct em_namespace_task *em_drive_namespace(struct em_drive *drive, uint32_t nsid);
/*
 * The name by which a refusal of the page is remembered. One that every drive should have is the
 * drive's own matter: without it the drive is not watched, whatever its sisters do.
 */
void em_drive_name_capability(const struct em_drive *drive, enum em_page_id page,
			      char name[EM_CAPABILITY_SIZE]);
/* Every drive has this page. */
bool em_drive_must_have(enum em_page_id page);
/* False: Identify says that the drive has no such page. */
bool em_drive_announces(const struct em_drive *drive, enum em_page_id page);
/* Drives before NVMe 1.1 have no list of active namespaces: 1..NN is all there is. */
bool em_drive_has_list(const struct em_drive *drive);
unsigned em_drive_namespaces_max(const struct em_drive *drive);
/* A task that is planned is due then at the latest. */
void em_drive_hasten(struct em_page_task *task, uint64_t due_us);
/* Serial, NVMe version and namespaces come from pages; name and address from the first path. */
void em_drive_show_first_path(struct em_drive *drive);

/* sysfs states in which the kernel holds back or refuses commands for a while. */
bool em_drive_kernel_is_busy(const char *state);
struct em_path *em_drive_path(struct em_drive *drive, uint32_t handle);
int em_drive_add_path(struct em_drive *drive, const struct em_ipc_drive *message); /* -ENOSPC */
void em_drive_remove_path(struct em_drive *drive, uint32_t handle);
void em_drive_describe_path(struct em_path *path, const struct em_ipc_drive *message);
void em_drive_sort_paths(struct em_drive *drive);
/* Another one than the one that is asked could be asked. */
bool em_drive_has_other_path(const struct em_drive *drive);
/* Asks through another one when the one that is asked is gone or of no use. No request is out. */
void em_drive_choose_path(struct em_drive *drive, uint64_t now_us, int64_t real_us);
