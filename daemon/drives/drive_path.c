/* SPDX-License-Identifier: Apache-2.0 */
/* The controllers through which a drive can be asked, and which one of them is asked. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/drives/drive_impl.h"
#include "lib/base/parse.h"
#include "lib/base/text.h"

struct em_path *em_drive_path(struct em_drive *drive, uint32_t handle)
{
	for (unsigned i = 0; handle != 0 && i < drive->path_count; i++) {
		if (drive->paths[i].handle == handle)
			return &drive->paths[i];
	}
	return NULL;
}

bool em_drive_has_path(const struct em_drive *drive, uint32_t handle)
{
	for (unsigned i = 0; handle != 0 && i < drive->path_count; i++) {
		if (drive->paths[i].handle == handle)
			return true;
	}
	return false;
}

/* Two controllers of one drive differ in their id; what has none may be anything. */
bool em_drive_takes_path(const struct em_drive *drive, const char *cntlid)
{
	unsigned live = 0;

	for (unsigned i = 0; i < drive->path_count; i++) {
		const struct em_path *path = &drive->paths[i];

		if (path->handle == 0)
			continue;
		live++;
		if (!*cntlid || !path->cntlid[0] || strcmp(path->cntlid, cntlid) == 0)
			return false;
	}
	return live > 0 && live < EM_CONTROLLERS_MAX;
}

bool em_drive_kernel_is_busy(const char *state)
{
	return strcmp(state, "resetting") == 0 || strcmp(state, "connecting") == 0 ||
	       strcmp(state, "new") == 0;
}

static bool is_usable(const struct em_path *path)
{
	return path->handle != 0 && !path->failed && !em_drive_kernel_is_busy(path->state) &&
	       strncmp(path->state, "dead", 4) != 0 && strncmp(path->state, "deleting", 8) != 0;
}

static void clean(char *text, size_t size, const char *raw)
{
	em_text_clean(text, size, raw, strlen(raw));
}

/* "16.0 GT/s PCIe"; 0 for "Unknown", which stands there while the link is down. */
static double read_speed(const char *text)
{
	enum { FASTEST_GTS = 1024 };
	char *end;
	double speed = strtod(text, &end);

	return end != text && strncmp(end, " GT/s", 5) == 0 && speed > 0 && speed < FASTEST_GTS
		       ? speed
		       : 0;
}

/* 0: there is none, or it is not known. */
static unsigned read_width(const char *text)
{
	enum { WIDEST = 32 };
	uint64_t width = 0;

	return em_parse_u64(text, 1, WIDEST, &width) < 0 ? 0 : (unsigned)width;
}

static int read_node(const char *text)
{
	enum { LAST_NODE = 65535 };
	uint64_t node = 0;

	return em_parse_u64(text, 0, LAST_NODE, &node) < 0 ? EM_NUMA_UNKNOWN : (int)node;
}

void em_drive_describe_path(struct em_path *path, const struct em_ipc_drive *message)
{
	path->handle = message->drive;
	clean(path->device, sizeof(path->device), message->device);
	clean(path->address, sizeof(path->address), message->address);
	clean(path->transport, sizeof(path->transport), message->transport);
	clean(path->cntlid, sizeof(path->cntlid), message->cntlid);
	clean(path->state, sizeof(path->state), message->state);
	path->link = (struct em_pcie_link){
		.speed_gts = read_speed(message->link_speed),
		.speed_max_gts = read_speed(message->link_speed_max),
		.width = read_width(message->link_width),
		.width_max = read_width(message->link_width_max),
	};
	path->numa_node = read_node(message->numa_node);
	if (is_usable(path))
		return;
	path->event_waits = false; /* events end with the controller's run */
}

static int by_device(const void *a, const void *b)
{
	return strverscmp(((const struct em_path *)a)->device, ((const struct em_path *)b)->device);
}

void em_drive_sort_paths(struct em_drive *drive)
{
	qsort(drive->paths, drive->path_count, sizeof(drive->paths[0]), by_device);
}

static void remove_at(struct em_drive *drive, unsigned i)
{
	drive->path_count--;
	memmove(&drive->paths[i], &drive->paths[i + 1],
		(drive->path_count - i) * sizeof(drive->paths[0]));
	drive->notable = drive->changed = true;
}

/* The place of this controller: of an earlier connection, or a free one. NULL: all are taken. */
static struct em_path *place_for(struct em_drive *drive, const struct em_ipc_drive *message)
{
	struct em_path *path = em_drive_path(drive, message->drive), *old = NULL;

	for (unsigned i = 0; !path && i < drive->path_count; i++) {
		if (drive->paths[i].handle != 0)
			continue;
		old = &drive->paths[i];
		if (strcmp(old->cntlid, message->cntlid) == 0)
			path = old;
	}
	if (!path && drive->path_count < EM_CONTROLLERS_MAX)
		return &drive->paths[drive->path_count++];
	return path ? path : old;
}

int em_drive_add_path(struct em_drive *drive, const struct em_ipc_drive *message)
{
	struct em_path *path = place_for(drive, message);

	if (!path)
		return -ENOSPC;
	memset(path, 0, sizeof(*path));
	em_drive_describe_path(path, message);
	em_drive_sort_paths(drive);
	drive->notable = drive->changed = true;
	return 0;
}

void em_drive_remove_path(struct em_drive *drive, uint32_t handle)
{
	struct em_path *path = em_drive_path(drive, handle);

	if (path)
		remove_at(drive, (unsigned)(path - drive->paths));
}

bool em_drive_has_other_path(const struct em_drive *drive)
{
	for (unsigned i = 0; i < drive->path_count; i++) {
		if (drive->paths[i].handle != drive->handle && is_usable(&drive->paths[i]))
			return true;
	}
	return false;
}

static struct em_path *best_path(struct em_drive *drive)
{
	struct em_path *any = NULL;

	for (unsigned i = 0; i < drive->path_count; i++) {
		if (is_usable(&drive->paths[i]))
			return &drive->paths[i];
		if (!any && drive->paths[i].handle != 0)
			any = &drive->paths[i];
	}
	return any;
}

static void take_over(struct em_drive *drive, struct em_path *path, uint64_t now_us,
		      int64_t real_us)
{
	em_drive_forget_request(drive);
	drive->handle = path->handle;
	em_drive_forgive(drive);
	drive->hold_us = 0;
	drive->arm = true;
	if (path->event_waits)
		drive->acknowledge[0] = drive->acknowledge[1] = true;
	path->event_waits = false;
	if (drive->pages[EM_PAGE_SMART].due_us != UINT64_MAX)
		drive->pages[EM_PAGE_SMART].due_us = now_us;
	if (em_drive_kernel_is_busy(path->state))
		em_drive_set_state(drive, EM_STATE_BUSY, "the kernel is resetting the controller",
				   real_us);
	else if (drive->state == EM_STATE_BUSY)
		em_drive_set_state(drive, EM_STATE_OK, "", real_us);
	drive->notable = drive->changed = true;
}

void em_drive_choose_path(struct em_drive *drive, uint64_t now_us, int64_t real_us)
{
	struct em_path *active = em_drive_path(drive, drive->handle);
	struct em_path *best = best_path(drive);

	if (!best || best == active || (active && !is_usable(best)) ||
	    (active && is_usable(active)))
		return;
	take_over(drive, best, now_us, real_us);
}

void em_drive_disconnected(struct em_drive *drive)
{
	em_drive_forget_request(drive);
	drive->handle = 0;
	for (unsigned i = 0; i < drive->path_count; i++)
		drive->paths[i].handle = 0;
}

void em_drive_drop_untold(struct em_drive *drive, const char *why, int64_t real_us)
{
	for (unsigned i = drive->path_count; i-- > 0;) {
		if (drive->paths[i].handle == 0)
			remove_at(drive, i);
	}
	if (drive->path_count > 0) {
		em_drive_show_first_path(drive);
		return;
	}
	drive->was_unresponsive = false;
	if (em_drive_state_is_gone(drive->state))
		drive->identity_changed = drive->notable = true; /* now it is known */
	else
		em_drive_gone(drive, why, real_us);
}
