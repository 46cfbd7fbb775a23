/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/drives/drives_impl.h"
#include "daemon/drives/records.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"

/* ---- orders ------------------------------------------------------------------------------ */

static int refuse(struct em_order *order, int error, const char *why)
{
	snprintf(order->message, sizeof(order->message), "%s", why);
	return error;
}

static int order_refresh(struct em_entry *entry, struct em_order *order)
{
	if (entry->drive->handle == 0)
		return refuse(order, -EBUSY, "The drive is not there: nothing can be read.");
	if (!entry->drives->connected)
		return refuse(order, -EBUSY, "ember-broker is not reachable: nothing can be read.");
	em_drive_refresh(entry->drive, order->refused, em_monotonic_us());
	em_entry_pursue(entry);
	return 0;
}

static int order_retire(struct em_entry *entry, struct em_order *order)
{
	if (entry->drive->state == EM_STATE_RETIRED)
		return 0;
	if (entry->drive->state != EM_STATE_REMOVED)
		return refuse(order, -EBUSY, "Only a drive that is removed can be retired.");
	em_drive_retire(entry->drive, true, em_realtime_us());
	return 0;
}

static int order_unretire(struct em_entry *entry, struct em_order *order)
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
	struct em_entry *entry = em_entry_by_id(drives, order->drive_id);

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
	case EM_ORDER_COMMAND:
		order->result = em_entry_order_command(entry, order);
		break;
	case EM_ORDER_SELF_TEST:
		order->result = em_entry_order_self_test(entry, order);
		break;
	}
	if (order->result == EM_ORDER_LATER) {
		em_entry_wake(entry);
		return;
	}
	em_entry_settle(entry);
	em_drives_publish(drives);
}

struct em_orders *em_drives_orders(struct em_drives *drives)
{
	return drives->orders;
}

/* ---- life -------------------------------------------------------------------------------- */

/* What events tell next is compared with what was known when the last start ended. */
static void remember_told(struct em_entry *entry)
{
	entry->told = em_drive_snapshot(entry->drive);
	if (entry->told)
		entry->told->state = entry->stored_state;
}

static int restore_drive(void *userdata, const struct em_store_drive *stored)
{
	struct em_drives *drives = userdata;
	struct em_drive *drive;
	struct em_entry *entry;

	if (drives->count == EM_DRIVES_MAX ||
	    (drives->pcie_only && strcmp(stored->transport, "pcie") != 0))
		return 0;
	drive = em_record_restore(stored);
	if (!drive)
		return 0;
	entry = em_entry_add(drives, drive);
	if (!entry)
		em_drive_free(drive);
	else
		entry->stored_state = em_record_state(stored);
	return 0;
}

static int restore_page(void *userdata, const char *drive_id, const char *page, uint32_t nsid,
			int64_t at_us, const uint8_t *data, size_t len)
{
	struct em_entry *entry = em_entry_by_id(userdata, drive_id);

	if (!entry)
		return 0;
	if (strcmp(page, EM_CAPABILITY_LIST) == 0)
		em_drive_restore_list(entry->drive, at_us, data, len);
	else
		em_drive_restore_page(entry->drive, page, nsid, at_us, data, len);
	return 0;
}

static int restore_capability(void *userdata, const struct em_store_capability *refused)
{
	return em_capabilities_put(userdata, refused);
}

/* Before the first reader, and before anything is asked. */
static void restore(struct em_drives *drives)
{
	em_store_load_drives(drives->store, restore_drive, drives);
	em_store_load_pages(drives->store, restore_page, drives);
	em_store_load_capabilities(drives->store, restore_capability, drives->capabilities);
	for (unsigned i = 0; i < drives->count; i++)
		remember_told(drives->entries[i]);
	em_drives_publish(drives);
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
	drives->removed_keep_us = config->removed_keep_us;
	return 0;
}

int em_drives_reconfigure(struct em_drives *drives, const struct em_drives_config *config)
{
	int r = set_config(drives, config);

	for (unsigned i = 0; r == 0 && i < drives->count; i++) {
		struct em_entry *entry = drives->entries[i];

		em_drive_set_intervals(entry->drive, em_drives_intervals(drives, entry->drive),
				       em_monotonic_us());
		em_entry_pursue(entry);
	}
	return r;
}

static int add_sources(struct em_drives *drives)
{
	int r = sd_event_add_defer(drives->event, &drives->publish, em_drives_on_publish, drives);

	if (r < 0)
		return r;
	/* After all that is ready now: one snapshot for many answers. */
	sd_event_source_set_priority(drives->publish, SD_EVENT_PRIORITY_IDLE);
	r = sd_event_add_time(drives->event, &drives->unwatched, CLOCK_BOOTTIME, 0, 0,
			      em_drives_on_unwatched, drives);
	if (r < 0)
		return r;
	sd_event_source_set_enabled(drives->unwatched, SD_EVENT_OFF);
	em_drives_watch_for_broker(drives);
	return 0;
}

int em_drives_new(struct em_drives **ret, sd_event *event, const struct em_drives_config *config,
		  struct em_hub *hub, struct em_store *store, struct em_event_log *events)
{
	struct em_drives *drives = calloc(1, sizeof(*drives));
	int r;

	if (!drives)
		return -ENOMEM;
	drives->event = sd_event_ref(event);
	drives->hub = hub;
	drives->store = store;
	drives->events = events;
	drives->pcie_only = config->pcie_only;
	drives->capabilities = em_capabilities_new();
	if (!drives->capabilities) {
		em_drives_free(drives);
		return -ENOMEM;
	}
	r = set_config(drives, config);
	if (r == 0)
		r = add_sources(drives);
	if (r == 0)
		r = em_orders_new(&drives->orders, event, on_order, drives);
	if (r >= 0 && store)
		restore(drives);
	if (r >= 0)
		r = em_link_new(&drives->link, event, config->broker_socket, &em_drives_callbacks,
				drives);
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
		em_entry_free(drives->entries[i]);
	sd_event_source_unref(drives->publish);
	sd_event_source_unref(drives->unwatched);
	em_capabilities_free(drives->capabilities);
	free(drives->overrides);
	sd_event_unref(drives->event);
	free(drives);
	return NULL;
}
