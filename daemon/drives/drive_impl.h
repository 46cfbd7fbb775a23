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
struct em_namespace_task *em_drive_namespace(struct em_drive *drive, uint32_t nsid);
/* Every drive has this page. */
bool em_drive_must_have(enum em_page_id page);
/* False: Identify says that the drive has no such page. */
bool em_drive_announces(const struct em_drive *drive, enum em_page_id page);
/* Drives before NVMe 1.1 have no list of active namespaces: 1..NN is all there is. */
bool em_drive_has_list(const struct em_drive *drive);
unsigned em_drive_namespaces_max(const struct em_drive *drive);
