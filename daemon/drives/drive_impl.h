/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* drive_impl - what the files of struct em_drive share among themselves; for no one else. */
#include "daemon/drives/drive.h"

void em_drive_set_state(struct em_drive *drive, enum em_drive_state state, const char *detail,
			int64_t real_us);
void em_drive_clear_request(struct em_drive *drive);
/* Takes version, firmware, serial and model from valid Identify Controller bytes. */
void em_drive_learn_identify(struct em_drive *drive, const struct em_blob *data, uint64_t now_us);

struct em_listed {
	uint32_t nsid;
	bool attached;
};
/* Namespaces as the lists say: new ones are due now, vanished ones are dropped. -ENOMEM. */
int em_drive_take_namespaces(struct em_drive *drive, const struct em_listed *listed, unsigned count,
			     uint64_t now_us);
/*
 * Reads an Identify list of namespaces; how many, or -EBADMSG. *ret_end (may be NULL): behind the
 * zero that ends it, or len.
 */
int em_drive_parse_list(const uint8_t *data, size_t len, uint32_t nsids[EM_NAMESPACES_MAX],
			size_t *ret_end);
/* Both lists ascend; how many. Those beyond the limit are left out. */
unsigned em_drive_merge_lists(const uint32_t *attached, unsigned attached_count,
			      const uint32_t *allocated, unsigned allocated_count,
			      struct em_listed ret[EM_NAMESPACES_MAX]);
struct em_namespace_task *em_drive_namespace(struct em_drive *drive, uint32_t nsid);
/* The next list to be asked is that of all namespaces that exist. */
bool em_drive_wants_allocated(const struct em_drive *drive);

/*
 * The name by which a refusal of the page is remembered. One that every drive should have is the
 * drive's own matter: without it the drive is not watched, whatever its sisters do.
 */
void em_drive_name_capability(const struct em_drive *drive, enum em_page_id page,
			      char name[EM_CAPABILITY_SIZE]);
/* Every drive has this page. */
bool em_drive_must_have(enum em_page_id page);
/* Of the last attempt to read such a page: whether it left us without. */
void em_drive_count_failure(struct em_page_task *task, enum em_page_id page);
/* Such a page that was asked EM_MISSES_MAX times without a reading; EM_PAGE_COUNT: none. */
enum em_page_id em_drive_failing_page(const struct em_drive *drive);
/* Another start, or another controller: what failed before has its chance again. */
void em_drive_forgive(struct em_drive *drive);
/* False: Identify says that the drive has no such page. */
bool em_drive_announces(const struct em_drive *drive, enum em_page_id page);
/* Drives before NVMe 1.1 have no list of active namespaces: 1..NN is all there is. */
bool em_drive_has_list(const struct em_drive *drive);
unsigned em_drive_namespaces_max(const struct em_drive *drive);
enum em_read_status em_drive_status_of(const struct em_ipc_reply *reply);
bool em_read_is_answer(enum em_read_status status);
bool em_read_is_miss(enum em_read_status status);
/* The drive did not get as far as an answer: what was asked still has to be asked. */
bool em_read_is_open(enum em_read_status status);
/* Of the request that is out, once its answer was taken: the drive's state, and when to go on. */
void em_drive_judge(struct em_drive *drive, enum em_read_status status, uint64_t now_us,
		    int64_t real_us);
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
