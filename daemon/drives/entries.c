/* SPDX-License-Identifier: Apache-2.0 */
/* The drives that there are, and which of them a node belongs to. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/drives/drives_impl.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/text.h"

const struct em_poll_intervals *em_drives_intervals(const struct em_drives *drives,
						    const struct em_drive *drive)
{
	for (unsigned i = 0; i < drives->override_count; i++) {
		if (strcmp(drives->overrides[i].serial, drive->serial) == 0)
			return &drives->overrides[i].intervals;
	}
	return &drives->intervals;
}

struct em_entry *em_entry_add(struct em_drives *drives, struct em_drive *drive)
{
	struct em_entry *entry = calloc(1, sizeof(*entry));

	if (!entry)
		return NULL;
	entry->drives = drives;
	entry->drive = drive;
	if (sd_event_add_time(drives->event, &entry->timer, CLOCK_BOOTTIME, 0, 1, em_entry_on_due,
			      entry) < 0) {
		free(entry);
		return NULL;
	}
	sd_event_source_set_enabled(entry->timer, SD_EVENT_OFF);
	drive->capabilities = drives->capabilities;
	em_drive_set_intervals(drive, em_drives_intervals(drives, drive), em_monotonic_us());
	drives->entries[drives->count++] = entry;
	return entry;
}

void em_entry_free(struct em_entry *entry)
{
	sd_event_source_disable_unref(entry->timer);
	em_drive_snap_unref(entry->snap);
	em_drive_snap_unref(entry->told);
	em_drive_free(entry->drive);
	free(entry);
}

/* The drive that has been away for longest; NULL when all are there. */
static struct em_entry **longest_removed(struct em_drives *drives)
{
	struct em_entry **found = NULL;

	for (unsigned i = 0; i < drives->count; i++) {
		const struct em_drive *drive = drives->entries[i]->drive;

		if (drive->handle != 0 || !em_drive_state_is_gone(drive->state))
			continue;
		if (!found || drive->state_since_us < (*found)->drive->state_since_us)
			found = &drives->entries[i];
	}
	return found;
}

/* Drives that were here once must not keep out one that is here now. */
static bool make_room(struct em_drives *drives)
{
	struct em_entry **oldest;

	if (drives->count < EM_DRIVES_MAX)
		return true;
	oldest = longest_removed(drives);
	if (!oldest)
		return false;
	em_entry_free(*oldest);
	*oldest = drives->entries[--drives->count];
	return true;
}

struct em_entry *em_entry_by_handle(struct em_drives *drives, uint32_t handle)
{
	for (unsigned i = 0; i < drives->count; i++) {
		if (em_drive_has_path(drives->entries[i]->drive, handle))
			return drives->entries[i];
	}
	return NULL;
}

struct em_entry *em_entry_by_id(struct em_drives *drives, const char *id)
{
	for (unsigned i = 0; i < drives->count; i++) {
		if (strcmp(drives->entries[i]->drive->id, id) == 0)
			return drives->entries[i];
	}
	return NULL;
}

struct identity {
	uint8_t bytes[2 * EM_IPC_STRING_MAX]; /* raw NQN, NUL, raw serial */
	unsigned len;
};

static struct identity identity_of(const struct em_ipc_drive *message)
{
	size_t nqn = strlen(message->subsystem_nqn), serial = strlen(message->serial);
	struct identity identity = { .len = (unsigned)(nqn + 1 + serial) };

	memcpy(identity.bytes, message->subsystem_nqn, nqn + 1);
	memcpy(identity.bytes + nqn + 1, message->serial, serial);
	return identity;
}

static bool is_identity_of(const struct identity *identity, const struct em_drive *drive)
{
	return drive->identity_len == identity->len &&
	       memcmp(drive->identity, identity->bytes, identity->len) == 0;
}

/*
 * The entry that this node belongs to: of the same NQN and serial, and either one that this can be
 * another controller of, or one that is not there, at the same address if there is a choice.
 * *ret_ordinal is the next free one for a new drive of that identity.
 */
static struct em_entry *by_identity(struct em_drives *drives, const struct identity *identity,
				    const struct em_ipc_drive *message, unsigned *ret_ordinal)
{
	struct em_entry *found = NULL;

	*ret_ordinal = 0;
	for (unsigned i = 0; i < drives->count; i++) {
		struct em_entry *entry = drives->entries[i];
		const struct em_drive *drive = entry->drive;

		if (!is_identity_of(identity, drive))
			continue;
		if (drive->ordinal >= *ret_ordinal)
			*ret_ordinal = drive->ordinal + 1;
		if (em_drive_takes_path(drive, message->cntlid))
			return entry;
		if (drive->handle != 0)
			continue;
		if (!found || strcmp(drive->address, message->address) == 0)
			found = entry;
	}
	return found;
}

/* The id of a drive holds so many ordinals; more drives of one identity would share ids. */
static bool may_be_added(struct em_drives *drives, const struct em_ipc_drive *message,
			 unsigned ordinal)
{
	if (ordinal > EM_ORDINAL_MAX) {
		if (!drives->twins_told)
			em_warning("more than %u drives give the serial number of %s: it and "
				   "others are not watched",
				   EM_ORDINAL_MAX + 1, message->device);
		drives->twins_told = true;
		return false;
	}
	if (make_room(drives))
		return true;
	if (!drives->full_told)
		em_warning("more than %u drives: %s and others are not watched", EM_DRIVES_MAX,
			   message->device);
	drives->full_told = true;
	return false;
}

struct em_entry *em_entry_for(struct em_drives *drives, const struct em_ipc_drive *message)
{
	struct identity identity = identity_of(message);
	struct em_drive *drive;
	struct em_entry *entry;
	unsigned ordinal;

	entry = by_identity(drives, &identity, message, &ordinal);
	if (entry || !may_be_added(drives, message, ordinal))
		return entry;
	drive = em_drive_new(identity.bytes, identity.len, ordinal);
	if (!drive)
		return NULL;
	/* Intervals may be set by serial, so the serial comes first. */
	em_text_clean(drive->serial, sizeof(drive->serial), message->serial,
		      strlen(message->serial));
	entry = em_entry_add(drives, drive);
	if (!entry)
		em_drive_free(drive);
	return entry;
}

bool em_entry_is(const struct em_entry *entry, const struct em_ipc_drive *message)
{
	struct identity identity = identity_of(message);

	return is_identity_of(&identity, entry->drive);
}
