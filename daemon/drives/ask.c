/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of a drive and when, and what becomes of answers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/drives/drives_impl.h"
#include "daemon/drives/records.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"

/* The broker answers each request within its own patience. */
static bool answer_is_late(const struct em_entry *entry, uint64_t now)
{
	const struct em_drive *drive = entry->drive;

	return drive->asked != EM_ASK_NOTHING &&
	       now - drive->sent_us >= entry->drives->answer_timeout_us;
}

/* Whoever lost the answer, the drive gave none: it must not stay as good as it was. */
static void count_lost_answer(struct em_entry *entry)
{
	struct em_ipc_reply reply = { .id = entry->drive->request_id,
				      .drive = entry->drive->handle,
				      .answer = EM_ANSWER_TIMEOUT,
				      .data_fd = -1 };

	if (entry->drive->asked != EM_ASK_NOTHING)
		em_drives_heard_reply(entry->drives, &reply);
}

/* One that answers others has lost this request; one that says nothing at all is not working. */
static void miss_answer(struct em_entry *entry)
{
	struct em_drives *drives = entry->drives;
	bool silent = em_link_heard_us(drives->link) <= entry->drive->sent_us;

	if (!silent) {
		count_lost_answer(entry);
		return;
	}
	for (unsigned i = 0; i < drives->count; i++)
		count_lost_answer(drives->entries[i]);
	em_link_reset(drives->link, "it does not answer");
}

int em_entry_on_due(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct em_entry *entry = userdata;

	(void)source;
	(void)usec;
	if (answer_is_late(entry, em_monotonic_us()))
		miss_answer(entry);
	else
		em_entry_pursue(entry);
	return 0;
}

static uint64_t accuracy_us(const struct em_drive *drive)
{
	uint64_t interval = drive->intervals.page_us[EM_PAGE_SMART];

	return interval < EM_US_PER_SEC ? 1 : 50 * EM_US_PER_MS;
}

static void set_timer(struct em_entry *entry, uint64_t due)
{
	if (due == UINT64_MAX) {
		sd_event_source_set_enabled(entry->timer, SD_EVENT_OFF);
		return;
	}
	sd_event_source_set_time_accuracy(entry->timer, accuracy_us(entry->drive));
	sd_event_source_set_time(entry->timer, due);
	sd_event_source_set_enabled(entry->timer, SD_EVENT_ONESHOT);
}

static int send_request(struct em_drives *drives, struct em_drive *drive,
			const struct em_ipc_request *request)
{
	struct em_ipc_message message = { .kind = EM_IPC_REQUEST, .request = *request };
	int r;

	drives->last_request_id++;
	if (drives->last_request_id == 0)
		drives->last_request_id++;
	message.request.id = drives->last_request_id;
	r = em_link_send(drives->link, &message);
	if (r < 0)
		return r;
	drives->requests++;
	em_drive_sent(drive, message.request.id, em_monotonic_us());
	return 0;
}

void em_entry_pursue(struct em_entry *entry)
{
	struct em_drives *drives = entry->drives;
	uint64_t now = em_monotonic_us();
	struct em_ipc_request request;

	em_entry_check_command(entry);
	if (!drives->connected) {
		set_timer(entry, UINT64_MAX);
		return;
	}
	if (em_drive_next(entry->drive, now, em_realtime_us(), &request) &&
	    send_request(drives, entry->drive, &request) < 0) {
		/* The broker does not read or is gone: the plan stands, we look again soon. */
		em_drive_forget_request(entry->drive);
		entry->drive->hold_us = now + 100 * EM_US_PER_MS;
	}
	if (entry->drive->changed)
		em_drives_publish_soon(drives);
	if (entry->drive->asked != EM_ASK_NOTHING)
		set_timer(entry, entry->drive->sent_us + drives->answer_timeout_us);
	else
		set_timer(entry, em_drive_due_us(entry->drive));
}

void em_entry_wake(struct em_entry *entry)
{
	set_timer(entry, 0);
}

void em_entry_rest(struct em_entry *entry)
{
	em_entry_check_command(entry);
	set_timer(entry, UINT64_MAX);
}

/* ---- answers ----------------------------------------------------------------------------- */

static void record(struct em_store *store, const struct em_drive *drive,
		   const struct em_drive_news *news)
{
	if (news->fresh)
		em_record_page(store, drive, news);
	if (news->list)
		em_record_list(store, drive);
}

static bool are_sisters(const struct em_drive *a, const struct em_drive *b)
{
	return strcmp(a->model, b->model) == 0 && strcmp(a->firmware, b->firmware) == 0;
}

/* A page that a sister has is refused for a reason of the one drive's own. */
static bool a_sister_has(const struct em_entry *entry, const struct em_drive_news *news)
{
	const struct em_drives *drives = entry->drives;

	for (unsigned i = 0; i < drives->count; i++) {
		struct em_drive *drive = drives->entries[i]->drive;

		if (drive->handle != 0 && are_sisters(drive, entry->drive) &&
		    em_drive_has(drive, news->capability))
			return true;
	}
	return false;
}

static void ask_sisters(const struct em_entry *entry, const char *capability)
{
	struct em_drives *drives = entry->drives;

	for (unsigned i = 0; i < drives->count; i++) {
		if (!are_sisters(drives->entries[i]->drive, entry->drive))
			continue;
		em_drive_ask_remembered(drives->entries[i]->drive, capability, em_monotonic_us());
		if (drives->entries[i] != entry)
			em_entry_pursue(drives->entries[i]);
	}
}

/* What was refused need not be asked of sisters; what was not, may be. */
static void learn(struct em_entry *entry, const struct em_drive_news *news)
{
	struct em_drives *drives = entry->drives;
	const struct em_drive *drive = entry->drive;
	struct em_store_capability row = { .nvme_status = news->nvme_status,
					   .at_us = em_realtime_us() };
	bool refused = news->status == EM_READ_REFUSED;
	bool known;

	if (!news->capability[0] || !drive->ctx.known || (!refused && news->status != EM_READ_OK))
		return;
	known = em_capabilities_find(drives->capabilities, drive->model, drive->firmware,
				     news->capability) != NULL;
	if (refused ? a_sister_has(entry, news) : !known)
		return;
	memcpy(row.model, drive->model, sizeof(row.model));
	memcpy(row.firmware, drive->firmware, sizeof(row.firmware));
	snprintf(row.page, sizeof(row.page), "%s", news->capability);
	if (refused)
		em_capabilities_put(drives->capabilities, &row);
	else
		em_capabilities_forget(drives->capabilities, row.model, row.firmware, row.page);
	if (drives->store)
		em_store_put_capability(drives->store, &row, !refused);
	if (!refused)
		ask_sisters(entry, news->capability);
}

void em_drives_heard_reply(struct em_drives *drives, const struct em_ipc_reply *reply)
{
	struct em_entry *entry = em_entry_by_handle(drives, reply->drive);
	enum em_drive_state before;
	struct em_drive_news news;
	bool is_command;

	if (!entry)
		return;
	before = entry->drive->state;
	is_command = entry->drive->asked == EM_ASK_COMMAND && reply->id == entry->drive->request_id;
	news = em_drive_reply(entry->drive, reply, em_monotonic_us(), em_realtime_us());
	/* Not before: an answer may call for the next command. */
	if (is_command)
		em_entry_answer_command(entry, reply);
	learn(entry, &news);
	if (drives->store)
		record(drives->store, entry->drive, &news);
	if (entry->drive->state != before)
		em_drives_log(entry->drive,
			      entry->drive->state == EM_STATE_OK ? LOG_NOTICE : LOG_WARNING,
			      em_drive_state_name(entry->drive->state), entry->drive->state_detail);
	/* Intervals may be set by the serial that Identify gave. */
	if (news.fresh && news.page == EM_PAGE_IDENTIFY_CTRL)
		em_drive_set_intervals(entry->drive, em_drives_intervals(drives, entry->drive),
				       em_monotonic_us());
	em_entry_settle(entry);
	em_drives_publish_soon(drives);
	em_entry_pursue(entry);
}
