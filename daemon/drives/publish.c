/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/drives/drives_impl.h"
#include "daemon/drives/changes.h"
#include "daemon/drives/records.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"

/* However busy the loop is, readers do not wait longer than this for what is new. */
#define PUBLISH_LATEST_US (200 * EM_US_PER_MS)

static int by_device(const void *a, const void *b)
{
	const struct em_drive_snap *x = *(struct em_drive_snap *const *)a;
	const struct em_drive_snap *y = *(struct em_drive_snap *const *)b;
	int gone = em_drive_state_is_gone(x->state) - em_drive_state_is_gone(y->state);

	if (gone != 0)
		return gone;
	return strverscmp(x->device, y->device) != 0 ? strverscmp(x->device, y->device)
						     : strcmp(x->id, y->id);
}

static void refresh(struct em_entry *entry)
{
	struct em_drive_snap *snap;

	if (entry->snap && !entry->drive->changed)
		return;
	snap = em_drive_snapshot(entry->drive);
	if (!snap)
		return; /* no memory: readers keep the last one, and its age grows */
	em_drive_snap_unref(entry->snap);
	entry->snap = snap;
	entry->drive->changed = false;
}

static void tell(struct em_drives *drives, enum em_event_kind_id kind, struct em_event *event)
{
	int r = drives->events ? em_event_log_add(drives->events, drives->store, kind, event) : 0;

	if (r < 0)
		em_warning("an event is not kept (%s): %s", strerror(-r), event->summary);
}

static void on_change(void *userdata, enum em_event_kind_id kind, struct em_event *event)
{
	struct em_entry *entry = userdata;

	tell(entry->drives, kind, event);
}

void em_entry_settle(struct em_entry *entry)
{
	struct em_drive *drive = entry->drive;

	/* While a list is told, what is not named yet is not gone. */
	if (entry->drives->listing || !drive->notable)
		return;
	refresh(entry);
	if (!entry->snap || drive->changed)
		return; /* no memory: later */
	drive->notable = false;
	em_changes(entry->told, entry->snap, on_change, entry);
	em_drive_snap_unref(entry->told);
	entry->told = em_drive_snap_ref(entry->snap);
	if (drive->identity_changed && entry->drives->store)
		em_record_drive(entry->drives->store, drive, em_realtime_us());
	drive->identity_changed = false;
}

void em_drives_tell_broker(struct em_drives *drives, bool connected, const char *why)
{
	struct em_event event = { 0 };

	snprintf(event.old_value, sizeof(event.old_value), connected ? "lost" : "connected");
	snprintf(event.new_value, sizeof(event.new_value), connected ? "connected" : "lost");
	if (connected)
		snprintf(event.summary, sizeof(event.summary), "ember-broker is connected");
	else
		snprintf(event.summary, sizeof(event.summary), "ember-broker is lost: %s", why);
	tell(drives, EM_EVENT_KIND_BROKER, &event);
}

void em_drives_publish(struct em_drives *drives)
{
	struct em_snapshot *snapshot = em_snapshot_new(drives->count);

	drives->unpublished_us = 0;
	if (!snapshot)
		return;
	snapshot->count = 0;
	for (unsigned i = 0; i < drives->count; i++) {
		refresh(drives->entries[i]);
		if (drives->entries[i]->snap)
			snapshot->drives[snapshot->count++] =
				em_drive_snap_ref(drives->entries[i]->snap);
	}
	qsort(snapshot->drives, snapshot->count, sizeof(snapshot->drives[0]), by_device);
	snapshot->taken_us = em_realtime_us();
	snapshot->taken_mono_us = em_monotonic_us();
	snapshot->broker_connected = drives->connected;
	snapshot->broker_requests = drives->requests;
	snapshot->removed_keep_us = drives->removed_keep_us;
	em_hub_publish(drives->hub, snapshot);
}

int em_drives_on_publish(sd_event_source *source, void *userdata)
{
	struct em_drives *drives = userdata;

	(void)source;
	if (drives->unpublished_us != 0)
		em_drives_publish(drives);
	return 0;
}

/* The loop may never have nothing to do, in a storm of messages. */
void em_drives_publish_soon(struct em_drives *drives)
{
	uint64_t now = em_monotonic_us();

	if (drives->unpublished_us == 0) {
		drives->unpublished_us = now;
		sd_event_source_set_enabled(drives->publish, SD_EVENT_ONESHOT);
	} else if (now - drives->unpublished_us >= PUBLISH_LATEST_US) {
		em_drives_publish(drives);
	}
}
