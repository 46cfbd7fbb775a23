/* SPDX-License-Identifier: Apache-2.0 */
/* What the answers of a drive, and their absence, say of its state. */
#include <string.h>

#include "daemon/drives/drive_impl.h"
#include "lib/nvme/status.h"

bool em_read_is_miss(enum em_read_status status)
{
	return status == EM_READ_TIMEOUT || status == EM_READ_STUCK || status == EM_READ_HOST_ERROR;
}

bool em_read_is_open(enum em_read_status status)
{
	return em_read_is_miss(status) || status == EM_READ_BUSY || status == EM_READ_GONE;
}

bool em_read_is_answer(enum em_read_status status)
{
	return status == EM_READ_OK || status == EM_READ_STATUS || status == EM_READ_REFUSED;
}

/* Another controller may still answer for the drive. */
static void give_up(struct em_drive *drive, const char *why, int64_t real_us)
{
	struct em_path *path = em_drive_path(drive, drive->handle);

	if (path)
		path->failed = true;
	if (!em_drive_has_other_path(drive))
		em_drive_set_state(drive, EM_STATE_UNRESPONSIVE, why, real_us);
}

static void count_miss(struct em_drive *drive, enum em_read_status status, int64_t real_us)
{
	drive->misses++;
	if (drive->misses >= EM_MISSES_MAX)
		give_up(drive,
			status == EM_READ_HOST_ERROR
				? "the system call to the drive fails"
				: "a command sent to the drive has not come back",
			real_us);
}

enum em_page_id em_drive_failing_page(const struct em_drive *drive)
{
	unsigned i = 0;

	while (i < EM_PAGE_CTRL_COUNT && drive->pages[i].failures < EM_MISSES_MAX)
		i++;
	return i < EM_PAGE_CTRL_COUNT ? i : EM_PAGE_COUNT;
}

void em_drive_forgive(struct em_drive *drive)
{
	drive->misses = 0;
	for (unsigned i = 0; i < EM_PAGE_CTRL_COUNT; i++)
		drive->pages[i].failures = 0;
}

/*
 * Remote targets have no health page: they refuse it, or give zeros and never anything else. Any
 * other page that is refused is not asked again, so once is enough.
 */
void em_drive_count_failure(struct em_page_task *task, enum em_page_id id)
{
	const struct em_page_read *read = &task->read;

	switch (read->status) {
	case EM_READ_OK:
		task->failures = 0;
		break;
	case EM_READ_REFUSED:
		task->failures = id == EM_PAGE_SMART ? 0 : EM_MISSES_MAX;
		break;
	case EM_READ_NO_READING:
		if (id == EM_PAGE_SMART && read->zeroes && !read->data)
			break;
		task->failures++;
		break;
	case EM_READ_SHORT:
	case EM_READ_STATUS:
		task->failures++;
		break;
	default:
		break; /* no answer of the drive */
	}
}

/* After a miss we look again soon; while a command is still out the broker tells when it is back.
 */
static uint64_t retry_us(const struct em_drive *drive, enum em_read_status status)
{
	uint64_t interval = drive->intervals.page_us[EM_PAGE_SMART];
	uint64_t soon = status == EM_READ_BUSY ? EM_BUSY_RETRY_US : EM_RETRY_US;

	if (status == EM_READ_STUCK && drive->state == EM_STATE_UNRESPONSIVE)
		return interval;
	return interval < soon ? interval : soon;
}

/* An error is an answer, but a drive that answers with nothing else is not well. */
static void judge_answer(struct em_drive *drive, int64_t real_us)
{
	enum em_page_id failing = em_drive_failing_page(drive);
	struct em_path *path = em_drive_path(drive, drive->handle);
	char why[sizeof(drive->state_detail)];

	if (failing == EM_PAGE_COUNT) {
		if (path)
			path->failed = false;
		em_drive_set_state(drive, EM_STATE_OK, "", real_us);
		return;
	}
	snprintf(why, sizeof(why), "it answers, but gives no page %s: %s", em_pages[failing]->key,
		 drive->pages[failing].read.nvme_status
			 ? em_status_find(drive->pages[failing].read.nvme_status)->text
			 : em_read_status_name(drive->pages[failing].read.status));
	give_up(drive, why, real_us);
}

static void count_answer(struct em_drive *drive, int64_t real_us)
{
	drive->misses = 0;
	drive->hold_us = 0;
	drive->last_answer_us = real_us;
	judge_answer(drive, real_us);
}

/* What is wrong with one controller is wrong with the drive only if there is no other. */
static void set_state_of_path(struct em_drive *drive, enum em_drive_state state, const char *detail,
			      int64_t real_us)
{
	if (em_drive_has_other_path(drive))
		em_drive_path(drive, drive->handle)->failed = true;
	else
		em_drive_set_state(drive, state, detail, real_us);
}

void em_drive_judge(struct em_drive *drive, enum em_read_status status, uint64_t now_us,
		    int64_t real_us)
{
	if (em_read_is_answer(status)) {
		count_answer(drive, real_us);
	} else if (em_read_is_miss(status)) {
		count_miss(drive, status, real_us);
		drive->hold_us = now_us + retry_us(drive, status);
	} else if (status == EM_READ_BUSY) {
		drive->hold_us = now_us + retry_us(drive, status);
		if (drive->state == EM_STATE_OK)
			set_state_of_path(drive, EM_STATE_BUSY,
					  "the kernel is busy with the controller", real_us);
	} else if (status == EM_READ_GONE) {
		drive->hold_us = now_us + EM_RETRY_US;
		set_state_of_path(drive, EM_STATE_REMOVED, "the kernel says that it is gone",
				  real_us);
	} else if (drive->asked != EM_ASK_ARM) {
		em_drive_set_state(drive, drive->state,
				   "the broker's policy keeps us from reading it", real_us);
	}
}
