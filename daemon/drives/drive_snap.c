/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "daemon/drives/drive_impl.h"

static void copy_page(struct em_page_read *to, const struct em_page_read *from)
{
	*to = *from;
	to->data = em_blob_ref(from->data);
	if (from->status == EM_READ_UNSUPPORTED)
		to->interval_us = 0; /* as long as it is not announced */
}

static void copy_texts(struct em_drive_snap *snap, const struct em_drive *drive)
{
	memcpy(snap->id, drive->id, sizeof(snap->id));
	memcpy(snap->device, drive->device, sizeof(snap->device));
	memcpy(snap->serial, drive->serial, sizeof(snap->serial));
	memcpy(snap->model, drive->model, sizeof(snap->model));
	memcpy(snap->firmware, drive->firmware, sizeof(snap->firmware));
	memcpy(snap->subsystem_nqn, drive->subsystem_nqn, sizeof(snap->subsystem_nqn));
	memcpy(snap->address, drive->address, sizeof(snap->address));
	memcpy(snap->transport, drive->transport, sizeof(snap->transport));
	memcpy(snap->cntlid, drive->cntlid, sizeof(snap->cntlid));
	memcpy(snap->state_detail, drive->state_detail, sizeof(snap->state_detail));
}

static bool copy_controllers(struct em_drive_snap *snap, const struct em_drive *drive)
{
	snap->controllers =
		calloc(drive->path_count ? drive->path_count : 1, sizeof(*snap->controllers));
	if (!snap->controllers)
		return false;
	for (unsigned i = 0; i < drive->path_count; i++) {
		const struct em_path *path = &drive->paths[i];
		struct em_controller_snap *to = &snap->controllers[i];

		memcpy(to->device, path->device, sizeof(to->device));
		memcpy(to->address, path->address, sizeof(to->address));
		memcpy(to->transport, path->transport, sizeof(to->transport));
		memcpy(to->cntlid, path->cntlid, sizeof(to->cntlid));
		memcpy(to->state, path->state, sizeof(to->state));
		to->link = path->link;
		to->numa_node = path->numa_node;
		to->active = path->handle != 0 && path->handle == drive->handle;
	}
	snap->controller_count = drive->path_count;
	return true;
}

/* A restored Identify still tells the version that old pages are read by. */
static void copy_ctx(struct em_drive_snap *snap, const struct em_drive *drive)
{
	const struct em_blob *identify = drive->pages[EM_PAGE_IDENTIFY_CTRL].read.data;

	snap->ctx = drive->ctx;
	if (!snap->ctx.known && identify)
		em_nvme_ctx_from_identify(identify->data, identify->len, &snap->ctx);
}

struct em_drive_snap *em_drive_snapshot(const struct em_drive *drive)
{
	struct em_drive_snap *snap = em_drive_snap_new();

	if (!snap)
		return NULL;
	if (drive->namespace_count > 0) {
		snap->namespaces = calloc(drive->namespace_count, sizeof(*snap->namespaces));
		if (!snap->namespaces)
			return em_drive_snap_unref(snap);
	}
	if (!copy_controllers(snap, drive))
		return em_drive_snap_unref(snap);
	copy_texts(snap, drive);
	copy_ctx(snap, drive);
	snap->sanitize_stalled_us = drive->intervals.sanitize_stalled_us;
	snap->state = drive->state;
	snap->state_since_us = drive->state_since_us;
	snap->last_answer_us = drive->last_answer_us;
	snap->commands = drive->commands;
	snap->events = drive->events;
	snap->misses = drive->misses;
	snap->last_duration_us = drive->last_duration_us;
	memcpy(snap->errors, drive->errors, sizeof(snap->errors));
	for (unsigned i = 0; i < EM_PAGE_CTRL_COUNT; i++)
		copy_page(&snap->pages[i], &drive->pages[i].read);
	copy_page(&snap->namespace_list, &drive->list.read);
	for (unsigned i = 0; i < drive->namespace_count; i++) {
		snap->namespaces[i].nsid = drive->namespaces[i].nsid;
		snap->namespaces[i].attached = drive->namespaces[i].attached;
		copy_page(&snap->namespaces[i].page, &drive->namespaces[i].page.read);
	}
	snap->namespace_count = drive->namespace_count;
	em_drive_snap_settle(snap);
	return snap;
}
