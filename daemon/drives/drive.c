/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/drives/drive.h"

#include <inttypes.h>
#include <string.h>

#include "daemon/drives/drive_impl.h"
#include "lib/base/text.h"

struct em_drive *em_drive_new(const void *identity, size_t len, unsigned ordinal)
{
	struct em_drive *drive;
	uint64_t hash;

	if (len > sizeof(drive->identity))
		return NULL;
	drive = calloc(1, sizeof(*drive));
	if (!drive)
		return NULL;
	memcpy(drive->identity, identity, len);
	drive->identity_len = (unsigned)len;
	drive->ordinal = ordinal;
	hash = em_hash(EM_HASH_START, identity, len);
	if (ordinal > 0)
		hash = em_hash(hash, &(uint8_t){ (uint8_t)ordinal }, 1);
	snprintf(drive->id, sizeof(drive->id), "%016" PRIx64, hash);
	drive->state = EM_STATE_REMOVED;
	return drive;
}

struct em_drive *em_drive_free(struct em_drive *drive)
{
	if (!drive)
		return NULL;
	for (unsigned i = 0; i < EM_PAGE_CTRL_COUNT; i++)
		em_blob_unref(drive->pages[i].read.data);
	em_blob_unref(drive->allocated.read.data);
	for (unsigned i = 0; i < drive->namespace_count; i++)
		em_blob_unref(drive->namespaces[i].page.read.data);
	free(drive->namespaces);
	free(drive);
	return NULL;
}

void em_drive_set_state(struct em_drive *drive, enum em_drive_state state, const char *detail,
			int64_t real_us)
{
	if (drive->state != state) {
		drive->notable = true;
		drive->state = state;
		drive->state_since_us = real_us;
		drive->identity_changed = true;
		drive->changed = true;
	}
	if (strcmp(drive->state_detail, detail) != 0) {
		snprintf(drive->state_detail, sizeof(drive->state_detail), "%s", detail);
		drive->changed = true;
	}
}

/* Sets a text from raw bytes; true when it differs from before. */
static bool set_text(char *text, size_t size, const void *raw, size_t len)
{
	char clean[256];

	em_text_clean(clean, size < sizeof(clean) ? size : sizeof(clean), raw, len);
	if (strcmp(text, clean) == 0)
		return false;
	strcpy(text, clean);
	return true;
}

#define SET(drive, member, raw) set_text((drive)->member, sizeof((drive)->member), raw, strlen(raw))

void em_drive_hasten(struct em_page_task *task, uint64_t due_us)
{
	if (task->due_us != UINT64_MAX && task->due_us > due_us)
		task->due_us = due_us;
}

/* What an older firmware refused, a newer one may have. */
static void forget_refusals(struct em_drive *drive, uint64_t now_us)
{
	for (unsigned i = 0; i < EM_PAGE_CTRL_COUNT; i++) {
		struct em_page_task *task = &drive->pages[i];

		if (task->read.status == EM_READ_REFUSED ||
		    task->read.status == EM_READ_UNSUPPORTED)
			task->due_us = now_us;
	}
	em_drive_hasten(&drive->pages[EM_PAGE_EFFECTS], now_us);
	if (drive->list.read.status == EM_READ_REFUSED ||
	    drive->allocated.read.status == EM_READ_REFUSED)
		drive->list.due_us = drive->allocated.due_us = now_us;
	for (unsigned i = 0; i < drive->namespace_count; i++) {
		if (drive->namespaces[i].page.read.status == EM_READ_REFUSED)
			drive->namespaces[i].page.due_us = now_us;
	}
}

void em_drive_show_first_path(struct em_drive *drive)
{
	const struct em_path *path = &drive->paths[0];
	bool changed = false;

	for (unsigned i = 0; path->handle == 0 && i < drive->path_count; i++)
		path = &drive->paths[i];
	changed |= SET(drive, device, path->device);
	changed |= SET(drive, address, path->address);
	changed |= SET(drive, transport, path->transport);
	changed |= SET(drive, cntlid, path->cntlid);
	if (changed)
		drive->changed = drive->notable = drive->identity_changed = true;
}

static void take_attributes(struct em_drive *drive, const struct em_ipc_drive *message,
			    uint64_t now_us)
{
	bool changed = SET(drive, subsystem_nqn, message->subsystem_nqn);

	/* Identify is the truth of these once it was read: sysfs can be old (firmware). */
	if (!drive->ctx.known) {
		changed |= SET(drive, serial, message->serial);
		changed |= SET(drive, model, message->model);
		if (SET(drive, firmware, message->firmware)) {
			changed = true;
			forget_refusals(drive, now_us);
		}
	}
	if (changed)
		drive->changed = drive->notable = drive->identity_changed = true;
	em_drive_show_first_path(drive);
}

/* A text of the Identify page into one of ours; true when it changed. Blank says nothing. */
static bool learn_text(char *text, size_t size, const char *key, const struct em_blob *data,
		       const struct em_nvme_ctx *ctx)
{
	struct em_value value;

	em_field_get(em_page_field(em_pages[EM_PAGE_IDENTIFY_CTRL], key), data->data, data->len,
		     ctx, &value);
	if (value.kind != EM_V_TEXT || !value.text[0] || strcmp(text, value.text) == 0)
		return false;
	em_text_clean(text, size, value.text, strlen(value.text));
	return true;
}

void em_drive_learn_identify(struct em_drive *drive, const struct em_blob *data, uint64_t now_us)
{
	em_nvme_ctx_from_identify(data->data, data->len, &drive->ctx);
	/* Who a drive is does not change while its node is there; its firmware does. */
	if (!drive->serial[0] || !drive->model[0]) {
		learn_text(drive->serial, sizeof(drive->serial), "serial", data, &drive->ctx);
		learn_text(drive->model, sizeof(drive->model), "model", data, &drive->ctx);
		drive->identity_changed = true;
	}
	if (learn_text(drive->firmware, sizeof(drive->firmware), "firmware", data, &drive->ctx)) {
		drive->identity_changed = true;
		forget_refusals(drive, now_us);
	}
}

/*
 * What was refused stays refused until the firmware is another. Only a page that every drive has
 * gets another chance at each start of the controller: without it the drive is not watched.
 */
static void make_due(struct em_page_task *task, bool always, uint64_t now_us)
{
	if (always || task->read.status != EM_READ_REFUSED)
		task->due_us = now_us;
}

static void make_all_due(struct em_drive *drive, uint64_t now_us)
{
	for (unsigned i = 0; i < EM_PAGE_CTRL_COUNT; i++)
		make_due(&drive->pages[i], em_drive_must_have(i), now_us);
	make_due(&drive->list, false, now_us);
	make_due(&drive->allocated, false, now_us);
	drive->allocated_known = false;
	for (unsigned i = 0; i < drive->namespace_count; i++)
		make_due(&drive->namespaces[i].page, false, now_us);
}

/* What was not there a moment ago: whatever was known of commands may be old. */
static void begin(struct em_drive *drive, const struct em_ipc_drive *message, uint64_t now_us,
		  int64_t real_us)
{
	drive->handle = message->drive;
	em_drive_forget_request(drive);
	/* Only a new node is a new start; the same one told anew has still missed what it missed.
	 */
	if (em_drive_state_is_gone(drive->state))
		em_drive_forgive(drive);
	drive->hold_us = 0;
	drive->arm = true;
	make_all_due(drive, now_us);
	/* One that was unresponsive stays so until it answers. */
	if (drive->was_unresponsive)
		em_drive_set_state(drive, EM_STATE_UNRESPONSIVE,
				   "no answer yet since emberd was started", real_us);
	else if (drive->state != EM_STATE_UNRESPONSIVE)
		em_drive_set_state(drive, EM_STATE_OK, "waiting for its first answer", real_us);
	drive->was_unresponsive = false;
}

void em_drive_present(struct em_drive *drive, const struct em_ipc_drive *message, uint64_t now_us,
		      int64_t real_us)
{
	if (em_drive_add_path(drive, message) < 0)
		return; /* more ways to it than we count */
	if (drive->first_seen_us == 0)
		drive->first_seen_us = real_us;
	if (drive->handle == 0)
		begin(drive, message, now_us, real_us);
	em_drive_update(drive, message, now_us, real_us);
	drive->changed = true;
}

/* The end of a reset is no answer: a drive that gave none before has to give one now. */
static void left_reset(struct em_drive *drive, const char *state, int64_t real_us)
{
	if (strcmp(state, "live") != 0)
		return; /* dead, or on its way out: what the next command meets will tell */
	if (drive->misses >= EM_MISSES_MAX || em_drive_failing_page(drive) != EM_PAGE_COUNT)
		em_drive_set_state(drive, EM_STATE_UNRESPONSIVE, "no answer yet after a reset",
				   real_us);
	else
		em_drive_set_state(drive, EM_STATE_OK, "", real_us);
}

static void update_active(struct em_drive *drive, const char *state, int64_t real_us)
{
	if (em_drive_kernel_is_busy(state)) {
		em_drive_set_state(drive, EM_STATE_BUSY, "the kernel is resetting the controller",
				   real_us);
	} else if (drive->state == EM_STATE_BUSY) {
		drive->hold_us = 0;
		left_reset(drive, state, real_us);
	}
}

void em_drive_update(struct em_drive *drive, const struct em_ipc_drive *message, uint64_t now_us,
		     int64_t real_us)
{
	struct em_path *path = em_drive_path(drive, message->drive);

	if (!path)
		return;
	if (strcmp(path->state, message->state) != 0)
		path->failed = false; /* what happened to it may have helped */
	em_drive_describe_path(path, message);
	em_drive_sort_paths(drive);
	take_attributes(drive, message, now_us);
	em_drive_choose_path(drive, now_us, real_us);
	if (message->drive == drive->handle)
		update_active(drive, message->state, real_us);
	drive->changed = true;
}

void em_drive_path_gone(struct em_drive *drive, uint32_t handle, const char *why, uint64_t now_us,
			int64_t real_us)
{
	em_drive_remove_path(drive, handle);
	if (drive->path_count == 0) {
		em_drive_gone(drive, why, real_us);
		return;
	}
	if (drive->handle == handle) {
		em_drive_forget_request(drive);
		drive->handle = 0;
	}
	em_drive_show_first_path(drive);
	em_drive_choose_path(drive, now_us, real_us);
}

void em_drive_gone(struct em_drive *drive, const char *why, int64_t real_us)
{
	drive->handle = 0;
	drive->path_count = 0;
	em_drive_forget_request(drive);
	em_drive_set_state(drive, EM_STATE_REMOVED, why, real_us);
	drive->changed = true;
}

void em_drive_refresh(struct em_drive *drive, bool refused, uint64_t now_us)
{
	for (unsigned i = 0; i < EM_PAGE_CTRL_COUNT; i++) {
		make_due(&drive->pages[i], refused, now_us);
		drive->pages[i].insist |= refused;
	}
	make_due(&drive->list, refused, now_us);
	make_due(&drive->allocated, refused, now_us);
	drive->list.insist |= refused;
	drive->allocated.insist |= refused;
	drive->allocated_known = false;
	for (unsigned i = 0; i < drive->namespace_count; i++)
		make_due(&drive->namespaces[i].page, refused, now_us);
	if (refused)
		drive->arm = drive->insist_arm = true;
	drive->hold_us = 0;
	drive->changed = true;
}

/* The drive has it, whatever its bytes were worth. */
static bool is_given(enum em_read_status status)
{
	return status == EM_READ_OK || status == EM_READ_NO_READING || status == EM_READ_SHORT;
}

/* NULL: it is nothing that is read (events are armed). */
static struct em_page_task *task_named(struct em_drive *drive, const char *capability)
{
	for (unsigned i = 0; i < EM_PAGE_CTRL_COUNT; i++) {
		if (strcmp(em_pages[i]->key, capability) == 0)
			return &drive->pages[i];
	}
	if (strcmp(EM_CAPABILITY_LIST, capability) == 0)
		return &drive->list;
	return strcmp(EM_CAPABILITY_ALLOCATED, capability) == 0 ? &drive->allocated : NULL;
}

bool em_drive_has(struct em_drive *drive, const char *capability)
{
	struct em_page_task *task = task_named(drive, capability);

	/* Before it is asked anew, what it gave to an earlier start counts. */
	return task && (is_given(task->read.status) ||
			(task->read.status == EM_READ_NEVER && task->read.read_us > 0));
}

void em_drive_ask_remembered(struct em_drive *drive, const char *capability, uint64_t now_us)
{
	struct em_page_task *task = task_named(drive, capability);

	if (!task || !task->remembered)
		return;
	task->due_us = now_us;
	if (task == &drive->allocated)
		em_drive_hasten(&drive->list, now_us);
}

void em_drive_retire(struct em_drive *drive, bool retired, int64_t real_us)
{
	if (retired)
		em_drive_set_state(drive, EM_STATE_RETIRED, "taken away on purpose", real_us);
	else
		em_drive_set_state(drive, EM_STATE_REMOVED, "not taken away on purpose", real_us);
}

void em_drive_unwatched(struct em_drive *drive, const char *why, int64_t real_us)
{
	if (drive->state == EM_STATE_OK || drive->state == EM_STATE_BUSY)
		em_drive_set_state(drive, EM_STATE_UNRESPONSIVE, why, real_us);
}

void em_drive_clear_request(struct em_drive *drive)
{
	drive->asked = EM_ASK_NOTHING;
	drive->request_id = 0;
}

void em_drive_forget_request(struct em_drive *drive)
{
	if (drive->asked == EM_ASK_ACKNOWLEDGE)
		drive->acknowledge[drive->asked_page == EM_PAGE_SMART] = true;
	if (drive->asked == EM_ASK_ARM)
		drive->arm = true;
	em_drive_clear_request(drive);
}

/* NVME_AEN: type [2:0], log page [23:16]. Reading that log clears the event (facts of NVMe 5.2). */
static void heard_aen(struct em_drive *drive, uint32_t aen, uint64_t now_us)
{
	enum { TYPE_ERROR = 0, TYPE_SMART = 1 };
	uint32_t type = aen & 7;

	if (type == TYPE_ERROR) {
		drive->acknowledge[0] = true;
		em_drive_hasten(&drive->pages[EM_PAGE_ERRORS], now_us);
	}
	if (type == TYPE_SMART)
		drive->acknowledge[1] = true;
	drive->pages[EM_PAGE_SMART].due_us = now_us;
}

/* A storm of these must not become a storm of commands. */
static void heard_namespaces(struct em_drive *drive, uint64_t now_us)
{
	uint64_t due = drive->list.read.read_mono_us + EM_LIST_PAUSE_US;

	if (due < now_us)
		due = now_us;
	drive->allocated_known = false; /* what it said may be old by now */
	if (drive->list.read.status != EM_READ_REFUSED && due < drive->list.due_us)
		drive->list.due_us = due;
	for (unsigned i = 0; i < drive->namespace_count; i++) {
		if (due < drive->namespaces[i].page.due_us)
			drive->namespaces[i].page.due_us = due;
	}
}

static void heard_connected(struct em_drive *drive, uint64_t now_us)
{
	/* The kernel has set feature 0Bh anew, and the firmware may be another. */
	drive->arm = true;
	drive->hold_us = 0;
	make_all_due(drive, now_us);
	for (unsigned i = 0; i < EM_PAGE_CTRL_COUNT; i++)
		drive->pages[i].insist |= em_drive_must_have(i);
}

/* Of a controller that is not asked now. */
static void heard_of_other(struct em_drive *drive, struct em_path *path,
			   const struct em_ipc_event *event, uint64_t now_us)
{
	path->failed = path->failed && event->kind == EM_EVENT_AEN;
	if (event->kind == EM_EVENT_AEN) {
		path->event_waits = true;
		em_drive_hasten(&drive->pages[EM_PAGE_SMART], now_us);
	} else if (event->kind == EM_EVENT_NAMESPACES) {
		heard_namespaces(drive, now_us);
	} else if (event->kind == EM_EVENT_CONNECTED) {
		path->event_waits = false;
		/* It runs the firmware of the drive, which may be another now. */
		em_drive_hasten(&drive->pages[EM_PAGE_IDENTIFY_CTRL], now_us);
	}
}

void em_drive_event(struct em_drive *drive, const struct em_ipc_event *event, uint64_t now_us)
{
	struct em_path *path = em_drive_path(drive, event->drive);

	drive->events++;
	drive->changed = true;
	if (path && path->handle != drive->handle) {
		heard_of_other(drive, path, event, now_us);
		return;
	}
	switch (event->kind) {
	case EM_EVENT_AEN:
		heard_aen(drive, event->aen, now_us);
		return;
	case EM_EVENT_CONNECTED:
		heard_connected(drive, now_us);
		return;
	case EM_EVENT_NAMESPACES:
		heard_namespaces(drive, now_us);
		return;
	case EM_EVENT_UNSTUCK:
		drive->hold_us = 0;
		drive->arm = true;
		drive->pages[EM_PAGE_SMART].due_us = now_us;
		return;
	}
}
