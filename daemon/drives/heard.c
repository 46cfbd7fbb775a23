/* SPDX-License-Identifier: Apache-2.0 */
/* What the broker tells: drives, the end of their list, events, and that it is there or not. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/drives/drives_impl.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/text.h"

/* Away for longer than a restart of the broker takes: the drives are no longer watched. */
#define UNWATCHED_US (10 * EM_US_PER_SEC)

void em_drives_log(const struct em_drive *drive, int priority, const char *what, const char *why)
{
	struct em_log_fields fields = { .drive = drive->id, .device = drive->device };

	em_log(priority, &fields, "%s (%s, serial %s): %s%s%s", drive->device, drive->model,
	       drive->serial, what, *why ? ": " : "", why);
}

/* A drive in trouble may forget its name; that is no new drive, and no history begins with it. */
static bool has_identity(const struct em_ipc_drive *message)
{
	char serial[64];

	em_text_clean(serial, sizeof(serial), message->serial, strlen(message->serial));
	if (serial[0])
		return true;
	em_warning("%s gives no serial number: it is not watched", message->device);
	return false;
}

/* A discovery controller tells where drives are and is none. */
static bool is_discovery(const struct em_ipc_drive *message)
{
	return strcmp(message->controller_type, "discovery") == 0 ||
	       strcmp(message->subsystem_nqn, "nqn.2014-08.org.nvmexpress.discovery") == 0;
}

static bool is_wanted(const struct em_drives *drives, const struct em_ipc_drive *message)
{
	if (drives->pcie_only && strcmp(message->transport, "pcie") != 0)
		return false;
	return !is_discovery(message) && has_identity(message);
}

static void heard_gone(struct em_entry *entry, const struct em_ipc_drive *message)
{
	em_drive_path_gone(entry->drive, message->drive, EM_WHY_GONE, em_monotonic_us(),
			   em_realtime_us());
	if (!em_drive_state_is_gone(entry->drive->state))
		return;
	entry->seen = false;
	em_drives_log(entry->drive, LOG_WARNING, "removed", entry->drive->state_detail);
}

static void heard_present(struct em_entry *entry, const struct em_ipc_drive *message)
{
	em_drive_present(entry->drive, message, em_monotonic_us(), em_realtime_us());
	if (!entry->seen)
		em_drives_log(entry->drive, LOG_NOTICE, "watched", "");
	entry->seen = true;
	if (entry->drives->unwatched_told)
		em_drive_unwatched(entry->drive, EM_WHY_UNREACHABLE, em_realtime_us());
}

static void heard_drive(struct em_drives *drives, const struct em_ipc_drive *message)
{
	struct em_entry *entry = em_entry_by_handle(drives, message->drive);

	if (message->change == EM_DRIVE_GONE) {
		if (!entry)
			return;
		heard_gone(entry, message);
	} else if (entry) {
		if (!em_entry_is(entry, message)) {
			em_link_reset(drives->link, "it gave two drives the same handle");
			return;
		}
		em_drive_update(entry->drive, message, em_monotonic_us(), em_realtime_us());
	} else {
		entry = is_wanted(drives, message) ? em_entry_for(drives, message) : NULL;
		if (!entry)
			return;
		heard_present(entry, message);
	}
	em_entry_settle(entry);
	em_drives_publish_soon(drives);
	em_entry_pursue(entry);
}

/* What the broker did not name is not there. */
static void close_list(struct em_entry *entry)
{
	bool was_gone = em_drive_state_is_gone(entry->drive->state);

	em_drive_drop_untold(entry->drive, EM_WHY_GONE, em_realtime_us());
	if (!was_gone && em_drive_state_is_gone(entry->drive->state))
		em_drives_log(entry->drive, LOG_WARNING, "removed", entry->drive->state_detail);
	em_entry_settle(entry);
}

/*
 * The broker has told all it has. Only now it counts as connected: a socket accepts connections for
 * a broker that does not run.
 */
static void heard_sync(struct em_drives *drives)
{
	if (drives->connected)
		return; /* told twice */
	em_info("connected to ember-broker");
	drives->connected = true;
	drives->listing = false;
	drives->unwatched_told = false;
	sd_event_source_set_enabled(drives->unwatched, SD_EVENT_OFF);
	em_drives_tell_broker(drives, true, "");
	for (unsigned i = 0; i < drives->count; i++)
		close_list(drives->entries[i]);
	for (unsigned i = 0; i < drives->count; i++)
		em_entry_pursue(drives->entries[i]);
	em_drives_publish_soon(drives);
}

static void heard_event(struct em_drives *drives, const struct em_ipc_event *event)
{
	struct em_entry *entry = em_entry_by_handle(drives, event->drive);

	if (!entry)
		return;
	em_drive_event(entry->drive, event, em_monotonic_us());
	em_drives_publish_soon(drives);
	em_entry_pursue(entry);
}

static void on_message(void *userdata, const struct em_ipc_message *message)
{
	struct em_drives *drives = userdata;

	switch (message->kind) {
	case EM_IPC_DRIVE:
		heard_drive(drives, &message->drive);
		return;
	case EM_IPC_SYNC:
		heard_sync(drives);
		return;
	case EM_IPC_REPLY:
		em_drives_heard_reply(drives, &message->reply);
		return;
	case EM_IPC_EVENT:
		heard_event(drives, &message->event);
		return;
	case EM_IPC_REQUEST:
		return; /* not for us */
	}
}

void em_drives_watch_for_broker(struct em_drives *drives)
{
	int enabled = SD_EVENT_OFF;

	sd_event_source_get_enabled(drives->unwatched, &enabled);
	if (enabled != SD_EVENT_OFF)
		return;
	sd_event_source_set_time(drives->unwatched, em_monotonic_us() + UNWATCHED_US);
	sd_event_source_set_enabled(drives->unwatched, SD_EVENT_ONESHOT);
}

static void on_connected(void *userdata)
{
	struct em_drives *drives = userdata;

	drives->listing = true;
	/* Handles of an earlier broker mean nothing now. */
	for (unsigned i = 0; i < drives->count; i++) {
		drives->entries[i]->seen = false;
		em_drive_disconnected(drives->entries[i]->drive);
	}
	em_drives_publish_soon(drives);
}

static void on_disconnected(void *userdata, const char *why)
{
	struct em_drives *drives = userdata;

	if (drives->connected) {
		em_warning("lost ember-broker (%s): nothing is polled until it is back", why);
		em_drives_tell_broker(drives, false, why);
	}
	drives->connected = false;
	drives->listing = false;
	for (unsigned i = 0; i < drives->count; i++) {
		em_drive_forget_request(drives->entries[i]->drive);
		em_entry_rest(drives->entries[i]);
	}
	em_drives_watch_for_broker(drives);
	em_drives_publish_soon(drives);
}

const struct em_link_callbacks em_drives_callbacks = { on_connected, on_message, on_disconnected };

static void tell_unwatched(struct em_drives *drives)
{
	drives->unwatched_told = true;
	em_error("ember-broker is not reachable; see systemctl status ember-broker.socket "
		 "ember-broker.service");
	for (unsigned i = 0; i < drives->count; i++) {
		em_drive_unwatched(drives->entries[i]->drive, EM_WHY_UNREACHABLE, em_realtime_us());
		em_entry_settle(drives->entries[i]);
	}
	em_drives_publish_soon(drives);
}

int em_drives_on_unwatched(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct em_drives *drives = userdata;

	(void)source;
	(void)usec;
	if (drives->connected)
		return 0;
	if (!drives->unwatched_told)
		tell_unwatched(drives);
	em_link_reset(drives->link, "it does not tell its drives");
	return 0;
}
