/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/drives/drives.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/drives/drive.h"
#include "daemon/drives/link.h"
#include "daemon/drives/records.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/text.h"

/* Away for longer than a restart of the broker takes: the drives are no longer watched. */
#define UNWATCHED_US (10 * EM_US_PER_SEC)
/* However busy the loop is, readers do not wait longer than this for what is new. */
#define PUBLISH_LATEST_US (200 * EM_US_PER_MS)
#define ORDINAL_MAX UINT8_MAX
#define UNREACHABLE "ember-broker is not reachable"

struct entry {
	struct em_drives *drives;
	struct em_drive *drive;
	sd_event_source *timer;
	struct em_drive_snap *snap; /* as published last; NULL = never */
	bool seen;                  /* since the broker began to tell its drives */
};

struct em_drives {
	sd_event *event;
	sd_event_source *publish, *unwatched;
	struct em_link *link;
	struct em_hub *hub;
	struct em_store *store;
	struct em_event_log *events;
	struct em_orders *orders;
	struct em_poll_intervals intervals;
	struct em_poll_override *overrides;
	unsigned override_count;
	struct entry *entries[EM_DRIVES_MAX];
	unsigned count;
	bool connected, full_told, twins_told, unwatched_told;
	uint32_t last_request_id;
	uint64_t requests, answer_timeout_us;
	uint64_t unpublished_us; /* since when something new waits to be published; 0 = nothing */
};

static const struct em_poll_intervals *intervals_of(const struct em_drives *drives,
						    const struct em_drive *drive)
{
	for (unsigned i = 0; i < drives->override_count; i++) {
		if (strcmp(drives->overrides[i].serial, drive->serial) == 0)
			return &drives->overrides[i].intervals;
	}
	return &drives->intervals;
}

/* ---- publishing -------------------------------------------------------------------------- */

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

static void refresh(struct entry *entry)
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
	if (!entry->drive->identity_changed || !entry->drives->store)
		return;
	entry->drive->identity_changed = false;
	em_record_drive(entry->drives->store, entry->drive, em_realtime_us());
}

static void publish(struct em_drives *drives)
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
	em_hub_publish(drives->hub, snapshot);
}

static int on_publish(sd_event_source *source, void *userdata)
{
	struct em_drives *drives = userdata;

	(void)source;
	if (drives->unpublished_us != 0)
		publish(drives);
	return 0;
}

/* Published when the loop has nothing better to do, which may be never in a storm of messages. */
static void changed(struct em_drives *drives)
{
	uint64_t now = em_monotonic_us();

	if (drives->unpublished_us == 0) {
		drives->unpublished_us = now;
		sd_event_source_set_enabled(drives->publish, SD_EVENT_ONESHOT);
	} else if (now - drives->unpublished_us >= PUBLISH_LATEST_US) {
		publish(drives);
	}
}

/* ---- asking ------------------------------------------------------------------------------ */

static void pursue(struct entry *entry);

static void heard_reply(struct em_drives *drives, const struct em_ipc_reply *reply);

/* The broker answers each request within its own patience. */
static bool answer_is_late(const struct entry *entry, uint64_t now)
{
	const struct em_drive *drive = entry->drive;

	return drive->asked != EM_ASK_NOTHING &&
	       now - drive->sent_us >= entry->drives->answer_timeout_us;
}

/* Whoever lost the answer, the drive gave none: it must not stay as good as it was. */
static void count_lost_answer(struct entry *entry)
{
	struct em_ipc_reply reply = { .id = entry->drive->request_id,
				      .drive = entry->drive->handle,
				      .answer = EM_ANSWER_TIMEOUT,
				      .data_fd = -1 };

	if (entry->drive->asked != EM_ASK_NOTHING)
		heard_reply(entry->drives, &reply);
}

/* One that answers others has lost this request; one that says nothing at all is not working. */
static void miss_answer(struct entry *entry)
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

static int on_due(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct entry *entry = userdata;

	(void)source;
	(void)usec;
	if (answer_is_late(entry, em_monotonic_us()))
		miss_answer(entry);
	else
		pursue(entry);
	return 0;
}

static uint64_t accuracy_us(const struct em_drive *drive)
{
	uint64_t interval = drive->intervals.page_us[EM_PAGE_SMART];

	return interval < EM_US_PER_SEC ? 1 : 50 * EM_US_PER_MS;
}

static void set_timer(struct entry *entry, uint64_t due)
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

/* Sends what is due now, and sets the timer for what is due later. */
static void pursue(struct entry *entry)
{
	struct em_drives *drives = entry->drives;
	uint64_t now = em_monotonic_us();
	struct em_ipc_request request;

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
		changed(drives);
	if (entry->drive->asked != EM_ASK_NOTHING)
		set_timer(entry, entry->drive->sent_us + drives->answer_timeout_us);
	else
		set_timer(entry, em_drive_due_us(entry->drive));
}

/* ---- the drives that there are ----------------------------------------------------------- */

static struct entry *add_entry(struct em_drives *drives, struct em_drive *drive)
{
	struct entry *entry = calloc(1, sizeof(*entry));

	if (!entry)
		return NULL;
	entry->drives = drives;
	entry->drive = drive;
	if (sd_event_add_time(drives->event, &entry->timer, CLOCK_BOOTTIME, 0, 1, on_due, entry) <
	    0) {
		free(entry);
		return NULL;
	}
	sd_event_source_set_enabled(entry->timer, SD_EVENT_OFF);
	em_drive_set_intervals(drive, intervals_of(drives, drive), em_monotonic_us());
	drives->entries[drives->count++] = entry;
	return entry;
}

static void free_entry(struct entry *entry)
{
	sd_event_source_disable_unref(entry->timer);
	em_drive_snap_unref(entry->snap);
	em_drive_free(entry->drive);
	free(entry);
}

/* The drive that has been away for longest; NULL when all are there. */
static struct entry **longest_removed(struct em_drives *drives)
{
	struct entry **found = NULL;

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
	struct entry **oldest;

	if (drives->count < EM_DRIVES_MAX)
		return true;
	oldest = longest_removed(drives);
	if (!oldest)
		return false;
	free_entry(*oldest);
	*oldest = drives->entries[--drives->count];
	return true;
}

static struct entry *by_handle(struct em_drives *drives, uint32_t handle)
{
	for (unsigned i = 0; i < drives->count; i++) {
		if (handle != 0 && drives->entries[i]->drive->handle == handle)
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
 * The entry that this node is: same NQN and serial, not yet seen, and at the same address if there
 * is a choice. *ret_ordinal is the next free one for a new drive of that identity.
 */
static struct entry *by_identity(struct em_drives *drives, const struct identity *identity,
				 const char *address, unsigned *ret_ordinal)
{
	struct entry *found = NULL;

	*ret_ordinal = 0;
	for (unsigned i = 0; i < drives->count; i++) {
		struct entry *entry = drives->entries[i];
		const struct em_drive *drive = entry->drive;

		if (!is_identity_of(identity, drive))
			continue;
		if (drive->ordinal >= *ret_ordinal)
			*ret_ordinal = drive->ordinal + 1;
		if (entry->seen && drive->handle != 0)
			continue;
		if (!found || strcmp(drive->address, address) == 0)
			found = entry;
	}
	return found;
}

/* The id of a drive holds so many ordinals; more drives of one identity would share ids. */
static bool may_be_added(struct em_drives *drives, const struct em_ipc_drive *message,
			 unsigned ordinal)
{
	if (ordinal > ORDINAL_MAX) {
		if (!drives->twins_told)
			em_warning("more than %u drives give the serial number of %s: it and "
				   "others are not watched",
				   ORDINAL_MAX + 1, message->device);
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

static struct entry *entry_for(struct em_drives *drives, const struct em_ipc_drive *message)
{
	struct identity identity = identity_of(message);
	struct em_drive *drive;
	struct entry *entry;
	unsigned ordinal;

	entry = by_identity(drives, &identity, message->address, &ordinal);
	if (entry || !may_be_added(drives, message, ordinal))
		return entry;
	drive = em_drive_new(identity.bytes, identity.len, ordinal);
	if (!drive)
		return NULL;
	/* Intervals may be set by serial, so the serial comes first. */
	em_text_clean(drive->serial, sizeof(drive->serial), message->serial,
		      strlen(message->serial));
	entry = add_entry(drives, drive);
	if (!entry)
		em_drive_free(drive);
	return entry;
}

static void tell(const struct em_drive *drive, int priority, const char *what, const char *why)
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

static bool still_is(const struct entry *entry, const struct em_ipc_drive *message)
{
	struct identity identity = identity_of(message);

	return is_identity_of(&identity, entry->drive);
}

static void heard_drive(struct em_drives *drives, const struct em_ipc_drive *message)
{
	struct entry *entry = by_handle(drives, message->drive);
	uint64_t now = em_monotonic_us();

	if (message->change == EM_DRIVE_GONE) {
		if (!entry)
			return;
		em_drive_gone(entry->drive, "its device node is gone", em_realtime_us());
		entry->seen = false;
		tell(entry->drive, LOG_WARNING, "removed", entry->drive->state_detail);
	} else if (entry) {
		if (!still_is(entry, message)) {
			em_link_reset(drives->link, "it gave two drives the same handle");
			return;
		}
		em_drive_update(entry->drive, message, now, em_realtime_us());
	} else {
		entry = has_identity(message) ? entry_for(drives, message) : NULL;
		if (!entry)
			return;
		em_drive_present(entry->drive, message, now, em_realtime_us());
		if (!entry->seen)
			tell(entry->drive, LOG_NOTICE, "watched", "");
		entry->seen = true;
		if (drives->unwatched_told)
			em_drive_unwatched(entry->drive, UNREACHABLE, em_realtime_us());
	}
	changed(drives);
	pursue(entry);
}

/*
 * The broker has told all it has: what it did not name is not there. Only now it counts as
 * connected: a socket accepts connections for a broker that does not run.
 */
static void heard_sync(struct em_drives *drives)
{
	if (drives->connected)
		return; /* told twice */
	em_info("connected to ember-broker");
	drives->connected = true;
	drives->unwatched_told = false;
	sd_event_source_set_enabled(drives->unwatched, SD_EVENT_OFF);
	for (unsigned i = 0; i < drives->count; i++) {
		struct entry *entry = drives->entries[i];

		if (entry->seen && entry->drive->handle != 0)
			continue;
		if (em_drive_state_is_gone(entry->drive->state))
			continue;
		em_drive_gone(entry->drive, "its device node is gone", em_realtime_us());
		tell(entry->drive, LOG_WARNING, "removed", entry->drive->state_detail);
	}
	for (unsigned i = 0; i < drives->count; i++)
		pursue(drives->entries[i]);
	changed(drives);
}

static void heard_reply(struct em_drives *drives, const struct em_ipc_reply *reply)
{
	struct entry *entry = by_handle(drives, reply->drive);
	enum em_drive_state before;
	struct em_drive_news news;

	if (!entry)
		return;
	before = entry->drive->state;
	news = em_drive_reply(entry->drive, reply, em_monotonic_us(), em_realtime_us());
	if (news.fresh && drives->store)
		em_record_page(drives->store, entry->drive, &news);
	if (entry->drive->state != before)
		tell(entry->drive,
		     entry->drive->state == EM_STATE_OK ? LOG_NOTICE : LOG_WARNING,
		     em_drive_state_name(entry->drive->state), entry->drive->state_detail);
	/* Intervals may be set by the serial that Identify gave. */
	if (news.fresh && news.page == EM_PAGE_IDENTIFY_CTRL)
		em_drive_set_intervals(entry->drive, intervals_of(drives, entry->drive),
				       em_monotonic_us());
	changed(drives);
	pursue(entry);
}

static void heard_event(struct em_drives *drives, const struct em_ipc_event *event)
{
	struct entry *entry = by_handle(drives, event->drive);

	if (!entry)
		return;
	em_drive_event(entry->drive, event, em_monotonic_us());
	changed(drives);
	pursue(entry);
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
		heard_reply(drives, &message->reply);
		return;
	case EM_IPC_EVENT:
		heard_event(drives, &message->event);
		return;
	case EM_IPC_REQUEST:
		return; /* not for us */
	}
}

static void watch_for_broker(struct em_drives *drives)
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

	/* Handles of an earlier broker mean nothing now. */
	for (unsigned i = 0; i < drives->count; i++) {
		drives->entries[i]->seen = false;
		drives->entries[i]->drive->handle = 0;
		em_drive_forget_request(drives->entries[i]->drive);
	}
	changed(drives);
}

static void on_disconnected(void *userdata, const char *why)
{
	struct em_drives *drives = userdata;

	if (drives->connected)
		em_warning("lost ember-broker (%s): nothing is polled until it is back", why);
	drives->connected = false;
	for (unsigned i = 0; i < drives->count; i++) {
		em_drive_forget_request(drives->entries[i]->drive);
		set_timer(drives->entries[i], UINT64_MAX);
	}
	watch_for_broker(drives);
	changed(drives);
}

static void tell_unwatched(struct em_drives *drives)
{
	drives->unwatched_told = true;
	em_error("ember-broker is not reachable; see systemctl status ember-broker.socket "
		 "ember-broker.service");
	for (unsigned i = 0; i < drives->count; i++)
		em_drive_unwatched(drives->entries[i]->drive, UNREACHABLE, em_realtime_us());
	changed(drives);
}

static int on_unwatched(sd_event_source *source, uint64_t usec, void *userdata)
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

/* ---- orders ------------------------------------------------------------------------------ */

static struct entry *by_id(struct em_drives *drives, const char *id)
{
	for (unsigned i = 0; i < drives->count; i++) {
		if (strcmp(drives->entries[i]->drive->id, id) == 0)
			return drives->entries[i];
	}
	return NULL;
}

static int refuse(struct em_order *order, int error, const char *why)
{
	snprintf(order->message, sizeof(order->message), "%s", why);
	return error;
}

static int order_refresh(struct entry *entry, struct em_order *order)
{
	if (entry->drive->handle == 0)
		return refuse(order, -EBUSY, "The drive is not there: nothing can be read.");
	if (!entry->drives->connected)
		return refuse(order, -EBUSY, "ember-broker is not reachable: nothing can be read.");
	em_drive_refresh(entry->drive, order->refused, em_monotonic_us());
	pursue(entry);
	return 0;
}

static int order_retire(struct entry *entry, struct em_order *order)
{
	if (entry->drive->state == EM_STATE_RETIRED)
		return 0;
	if (entry->drive->state != EM_STATE_REMOVED)
		return refuse(order, -EBUSY, "Only a drive that is removed can be retired.");
	em_drive_retire(entry->drive, true, em_realtime_us());
	return 0;
}

static int order_unretire(struct entry *entry, struct em_order *order)
{
	if (entry->drive->state == EM_STATE_REMOVED)
		return 0;
	if (entry->drive->state != EM_STATE_RETIRED)
		return refuse(order, -EBUSY, "The drive is not retired.");
	em_drive_retire(entry->drive, false, em_realtime_us());
	return 0;
}

/* Whoever gave the order looks at the snapshot when it was carried out. */
static void on_order(void *userdata, struct em_order *order)
{
	struct em_drives *drives = userdata;
	struct entry *entry = by_id(drives, order->drive_id);

	if (!entry) {
		order->result = refuse(order, -ENOENT, "No such drive.");
		return;
	}
	switch (order->kind) {
	case EM_ORDER_REFRESH:
		order->result = order_refresh(entry, order);
		break;
	case EM_ORDER_RETIRE:
		order->result = order_retire(entry, order);
		break;
	case EM_ORDER_UNRETIRE:
		order->result = order_unretire(entry, order);
		break;
	}
	publish(drives);
}

struct em_orders *em_drives_orders(struct em_drives *drives)
{
	return drives->orders;
}

/* ---- life -------------------------------------------------------------------------------- */

static int restore_drive(void *userdata, const struct em_store_drive *stored)
{
	struct em_drives *drives = userdata;
	struct em_drive *drive;

	if (drives->count == EM_DRIVES_MAX)
		return 0;
	drive = em_record_restore(stored);
	if (!drive)
		return 0;
	if (!add_entry(drives, drive))
		em_drive_free(drive);
	return 0;
}

static int restore_page(void *userdata, const char *drive_id, const char *page, uint32_t nsid,
			int64_t at_us, const uint8_t *data, size_t len)
{
	struct em_drives *drives = userdata;

	for (unsigned i = 0; i < drives->count; i++) {
		if (strcmp(drives->entries[i]->drive->id, drive_id) == 0)
			em_drive_restore_page(drives->entries[i]->drive, page, nsid, at_us, data,
					      len);
	}
	return 0;
}

static int set_config(struct em_drives *drives, const struct em_drives_config *config)
{
	struct em_poll_override *copy = NULL;

	if (config->override_count > 0) {
		copy = calloc(config->override_count, sizeof(*copy));
		if (!copy)
			return -ENOMEM;
		memcpy(copy, config->overrides, config->override_count * sizeof(*copy));
	}
	free(drives->overrides);
	drives->overrides = copy;
	drives->override_count = config->override_count;
	drives->intervals = config->intervals;
	drives->answer_timeout_us = config->answer_timeout_us;
	return 0;
}

int em_drives_reconfigure(struct em_drives *drives, const struct em_drives_config *config)
{
	int r = set_config(drives, config);

	for (unsigned i = 0; r == 0 && i < drives->count; i++) {
		struct entry *entry = drives->entries[i];

		em_drive_set_intervals(entry->drive, intervals_of(drives, entry->drive),
				       em_monotonic_us());
		pursue(entry);
	}
	return r;
}

static int add_sources(struct em_drives *drives)
{
	int r = sd_event_add_defer(drives->event, &drives->publish, on_publish, drives);

	if (r < 0)
		return r;
	/* After all that is ready now: one snapshot for many answers. */
	sd_event_source_set_priority(drives->publish, SD_EVENT_PRIORITY_IDLE);
	r = sd_event_add_time(drives->event, &drives->unwatched, CLOCK_BOOTTIME, 0, 0, on_unwatched,
			      drives);
	if (r < 0)
		return r;
	sd_event_source_set_enabled(drives->unwatched, SD_EVENT_OFF);
	watch_for_broker(drives);
	return 0;
}

int em_drives_new(struct em_drives **ret, sd_event *event, const struct em_drives_config *config,
		  struct em_hub *hub, struct em_store *store, struct em_event_log *events)
{
	static const struct em_link_callbacks callbacks = { on_connected, on_message,
							    on_disconnected };
	struct em_drives *drives = calloc(1, sizeof(*drives));
	int r;

	if (!drives)
		return -ENOMEM;
	drives->event = sd_event_ref(event);
	drives->hub = hub;
	drives->store = store;
	drives->events = events;
	r = set_config(drives, config);
	if (r == 0)
		r = add_sources(drives);
	if (r == 0)
		r = em_orders_new(&drives->orders, event, on_order, drives);
	if (r >= 0 && store) {
		em_store_load_drives(store, restore_drive, drives);
		em_store_load_pages(store, restore_page, drives);
		publish(drives); /* before the first reader */
	}
	if (r >= 0)
		r = em_link_new(&drives->link, event, config->broker_socket, &callbacks, drives);
	if (r < 0) {
		em_drives_free(drives);
		return r;
	}
	*ret = drives;
	return 0;
}

struct em_drives *em_drives_free(struct em_drives *drives)
{
	if (!drives)
		return NULL;
	em_orders_free(drives->orders);
	em_link_free(drives->link);
	for (unsigned i = 0; i < drives->count; i++)
		free_entry(drives->entries[i]);
	sd_event_source_unref(drives->publish);
	sd_event_source_unref(drives->unwatched);
	free(drives->overrides);
	sd_event_unref(drives->event);
	free(drives);
	return NULL;
}
