/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/drives/snapshot.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/cleanup.h"

#define EM_X(id, name) [EM_STATE_##id] = name,
static const char *const state_names[EM_STATE_COUNT] = { EM_DRIVE_STATES(EM_X) };
#undef EM_X

#define EM_X(id, name) [EM_READ_##id] = name,
static const char *const status_names[EM_READ_COUNT] = { EM_READ_STATUSES(EM_X) };
#undef EM_X

const char *em_drive_state_name(enum em_drive_state state)
{
	return (unsigned)state < EM_STATE_COUNT ? state_names[state] : "unknown";
}

bool em_drive_state_is_gone(enum em_drive_state state)
{
	return state == EM_STATE_REMOVED || state == EM_STATE_RETIRED;
}

const char *em_read_status_name(enum em_read_status status)
{
	return (unsigned)status < EM_READ_COUNT ? status_names[status] : "unknown";
}

static void take(int *refs)
{
	__atomic_add_fetch(refs, 1, __ATOMIC_RELAXED);
}

static bool drop(int *refs)
{
	return __atomic_sub_fetch(refs, 1, __ATOMIC_ACQ_REL) == 0;
}

struct em_blob *em_blob_new(const void *data, size_t len)
{
	struct em_blob *blob = malloc(sizeof(*blob) + len);

	if (!blob)
		return NULL;
	blob->refs = 1;
	blob->len = (uint32_t)len;
	if (len > 0)
		memcpy(blob->data, data, len);
	return blob;
}

struct em_blob *em_blob_ref(struct em_blob *blob)
{
	if (blob)
		take(&blob->refs);
	return blob;
}

struct em_blob *em_blob_unref(struct em_blob *blob)
{
	if (blob && drop(&blob->refs))
		free(blob);
	return NULL;
}

struct em_drive_snap *em_drive_snap_new(void)
{
	struct em_drive_snap *snap = calloc(1, sizeof(*snap));

	if (snap)
		snap->refs = 1;
	return snap;
}

struct em_drive_snap *em_drive_snap_ref(struct em_drive_snap *snap)
{
	take(&snap->refs);
	return snap;
}

struct em_drive_snap *em_drive_snap_unref(struct em_drive_snap *snap)
{
	if (!snap || !drop(&snap->refs))
		return NULL;
	for (unsigned i = 0; i < EM_PAGE_CTRL_COUNT; i++)
		em_blob_unref(snap->pages[i].data);
	for (unsigned i = 0; i < snap->namespace_count; i++)
		em_blob_unref(snap->namespaces[i].page.data);
	free(snap->namespaces);
	free(snap->controllers);
	free(snap);
	return NULL;
}

struct em_snapshot *em_snapshot_new(unsigned count)
{
	struct em_snapshot *snap = calloc(1, sizeof(*snap) + count * sizeof(snap->drives[0]));

	if (!snap)
		return NULL;
	snap->refs = 1;
	snap->count = count;
	return snap;
}

struct em_snapshot *em_snapshot_ref(struct em_snapshot *snap)
{
	take(&snap->refs);
	return snap;
}

struct em_snapshot *em_snapshot_unref(struct em_snapshot *snap)
{
	if (!snap || !drop(&snap->refs))
		return NULL;
	for (unsigned i = 0; i < snap->count; i++)
		em_drive_snap_unref(snap->drives[i]);
	free(snap);
	return NULL;
}

struct em_capacitor em_drive_snap_capacitor(const struct em_drive_snap *drive)
{
	const struct em_blob *smart = drive->pages[EM_PAGE_SMART].data;
	const struct em_blob *memblaze = drive->pages[EM_PAGE_MEMBLAZE].data;

	return em_capacitor_judge(smart ? smart->data : NULL, smart ? smart->len : 0,
				  memblaze ? memblaze->data : NULL, memblaze ? memblaze->len : 0,
				  &drive->ctx);
}

const struct em_page_read *em_drive_snap_capacitor_read(const struct em_drive_snap *drive,
							const struct em_capacitor *capacitor)
{
	switch (capacitor->source) {
	case EM_CAPACITOR_BY_WARNING:
		return &drive->pages[EM_PAGE_SMART];
	case EM_CAPACITOR_BY_CAPACITANCE:
	case EM_CAPACITOR_BY_PERCENTAGE:
		return &drive->pages[EM_PAGE_MEMBLAZE];
	case EM_CAPACITOR_BY_NOTHING:
	case EM_CAPACITOR_SOURCE_COUNT:
		break;
	}
	return NULL;
}

bool em_drive_snap_tcg(const struct em_drive_snap *drive, struct em_tcg *ret)
{
	const struct em_blob *data = drive->pages[EM_PAGE_SECURITY].data;

	em_tcg_decode(data ? data->data : NULL, data ? data->len : 0, ret);
	return data != NULL;
}

struct em_crypto_erase em_drive_snap_crypto_erase(const struct em_drive_snap *drive)
{
	const struct em_blob *identify = drive->pages[EM_PAGE_IDENTIFY_CTRL].data;
	struct em_tcg tcg;
	bool valid = em_drive_snap_tcg(drive, &tcg);

	return em_crypto_erase_judge(identify ? identify->data : NULL, identify ? identify->len : 0,
				     &drive->ctx, valid ? &tcg : NULL);
}

int64_t em_page_read_age_us(const struct em_page_read *page, uint64_t now_mono_us, int64_t now_us)
{
	int64_t age;

	if (!page->data)
		return -1;
	/* The monotonic clock where we have it: a step of the other must not make data young. */
	age = page->read_mono_us ? (int64_t)(now_mono_us - page->read_mono_us)
				 : now_us - page->read_us;
	return age < 0 ? 0 : age;
}

static enum em_presence presence_of(enum em_drive_state state)
{
	switch (state) {
	case EM_STATE_UNRESPONSIVE:
		return EM_UNRESPONSIVE;
	case EM_STATE_REMOVED:
		return EM_REMOVED;
	case EM_STATE_RETIRED:
		return EM_RETIRED;
	case EM_STATE_OK:
	case EM_STATE_BUSY:
	case EM_STATE_COUNT:
		break;
	}
	return EM_PRESENT;
}

/* All but the capacitor. */
static void fill_input(const struct em_drive_snap *drive, uint64_t now_mono_us, int64_t now_us,
		       struct em_health_input *input)
{
	*input = (struct em_health_input){ .presence = presence_of(drive->state),
					   .ctx = drive->ctx,
					   .sanitize_stalled_us = drive->sanitize_stalled_us };
	for (unsigned p = 0; p < EM_PAGE_CTRL_COUNT; p++) {
		const struct em_page_read *read = &drive->pages[p];

		input->pages[p] = (struct em_health_page){
			.data = read->data ? read->data->data : NULL,
			.len = read->data ? read->data->len : 0,
			.expected = read->interval_us && read->status != EM_READ_REFUSED &&
				    read->status != EM_READ_UNSUPPORTED,
			.age_us = em_page_read_age_us(read, now_mono_us, now_us),
			.interval_us = read->interval_us,
			.same_us = read->same_mono_us ? read->read_mono_us - read->same_mono_us : 0,
		};
	}
}

void em_drive_snap_health(const struct em_drive_snap *drive, uint64_t now_mono_us, int64_t now_us,
			  struct em_health *ret)
{
	struct em_health_input input;

	fill_input(drive, now_mono_us, now_us, &input);
	input.capacitor = em_drive_snap_capacitor(drive);
	em_health_judge(&input, ret);
}

void em_drive_snap_settle(struct em_drive_snap *drive)
{
	struct em_health health;

	em_drive_snap_health(drive, 0, 0, &health);
	drive->lasting = em_health_lasting(&health);
	drive->judged = true;
}

enum em_verdict em_drive_snap_verdict(const struct em_drive_snap *drive, uint64_t now_mono_us,
				      int64_t now_us)
{
	struct em_health_input input;
	struct em_health health;

	if (!drive->judged) {
		em_drive_snap_health(drive, now_mono_us, now_us, &health);
		return health.verdict;
	}
	fill_input(drive, now_mono_us, now_us, &input);
	return em_health_verdict(&input, drive->lasting);
}

static bool has_device(const struct em_drive_snap *drive, const char *name)
{
	for (unsigned i = 0; i < drive->controller_count; i++) {
		if (strcmp(drive->controllers[i].device, name) == 0)
			return true;
	}
	return !em_drive_state_is_gone(drive->state) && strcmp(drive->device, name) == 0;
}

static bool exactly(const struct em_drive_snap *drive, const char *text)
{
	return strcmp(drive->id, text) == 0 || strcmp(drive->serial, text) == 0 ||
	       has_device(drive, text);
}

static bool prefixed(const struct em_drive_snap *drive, const char *text)
{
	size_t len = strlen(text);

	return strncmp(drive->id, text, len) == 0 || strncmp(drive->serial, text, len) == 0;
}

static int find_by(const struct em_snapshot *snap, const char *text,
		   bool (*match)(const struct em_drive_snap *, const char *))
{
	int found = -ENOENT;

	for (unsigned i = 0; i < snap->count; i++) {
		if (!match(snap->drives[i], text))
			continue;
		if (found >= 0)
			return -ENOTUNIQ;
		found = (int)i;
	}
	return found;
}

int em_snapshot_find(const struct em_snapshot *snap, const char *text)
{
	int found;

	if (!*text)
		return -ENOENT;
	found = find_by(snap, text, exactly);
	return found == -ENOENT ? find_by(snap, text, prefixed) : found;
}

struct em_hub {
	pthread_mutex_t lock;
	struct em_snapshot *snap;
};

struct em_hub *em_hub_new(void)
{
	struct em_hub *hub = calloc(1, sizeof(*hub));

	if (!hub)
		return NULL;
	hub->snap = em_snapshot_new(0);
	if (!hub->snap) {
		free(hub);
		return NULL;
	}
	pthread_mutex_init(&hub->lock, NULL);
	return hub;
}

struct em_hub *em_hub_free(struct em_hub *hub)
{
	if (!hub)
		return NULL;
	em_snapshot_unref(hub->snap);
	pthread_mutex_destroy(&hub->lock);
	free(hub);
	return NULL;
}

void em_hub_publish(struct em_hub *hub, struct em_snapshot *snap)
{
	struct em_snapshot *old;

	pthread_mutex_lock(&hub->lock);
	old = hub->snap;
	hub->snap = snap;
	pthread_mutex_unlock(&hub->lock);
	em_snapshot_unref(old);
}

struct em_snapshot *em_hub_get(struct em_hub *hub)
{
	struct em_snapshot *snap;

	pthread_mutex_lock(&hub->lock);
	snap = em_snapshot_ref(hub->snap);
	pthread_mutex_unlock(&hub->lock);
	return snap;
}
