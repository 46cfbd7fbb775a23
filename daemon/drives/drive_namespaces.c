/* SPDX-License-Identifier: Apache-2.0 */
/* The namespaces of a drive, and the lists that name them. */
#include <errno.h>
#include <string.h>

#include "daemon/drives/drive_impl.h"
#include "lib/base/le.h"

struct em_namespace_task *em_drive_namespace(struct em_drive *drive, uint32_t nsid)
{
	for (unsigned i = 0; i < drive->namespace_count; i++) {
		if (drive->namespaces[i].nsid == nsid)
			return &drive->namespaces[i];
	}
	return NULL;
}

int em_drive_take_namespaces(struct em_drive *drive, const struct em_listed *listed, unsigned count,
			     uint64_t now_us)
{
	struct em_namespace_task *tasks = calloc(count ? count : 1, sizeof(*tasks));

	if (!tasks)
		return -ENOMEM;
	for (unsigned i = 0; i < count; i++) {
		struct em_namespace_task *old = em_drive_namespace(drive, listed[i].nsid);

		if (old) {
			tasks[i] = *old;
			tasks[i].attached = listed[i].attached;
			old->page.read.data = NULL;
			continue;
		}
		tasks[i].nsid = listed[i].nsid;
		tasks[i].attached = listed[i].attached;
		tasks[i].page.due_us = now_us;
		tasks[i].page.read.interval_us = drive->list.read.interval_us;
	}
	for (unsigned i = 0; i < drive->namespace_count; i++)
		em_blob_unref(drive->namespaces[i].page.read.data);
	free(drive->namespaces);
	drive->namespaces = tasks;
	drive->namespace_count = count;
	drive->changed = drive->notable = true;
	return 0;
}

int em_drive_parse_list(const uint8_t *data, size_t len, uint32_t nsids[EM_NAMESPACES_MAX],
			size_t *ret_end)
{
	unsigned count = 0;
	size_t end = len;

	while (count < EM_NAMESPACES_MAX && (count + 1) * 4 <= len) {
		uint32_t nsid = em_le32(data + count * 4);

		if (nsid == 0) {
			end = ((size_t)count + 1) * 4;
			break;
		}
		/* Ascending by specification; all ones is no reading. */
		if (nsid == UINT32_MAX || (count > 0 && nsid <= nsids[count - 1]))
			return -EBADMSG;
		nsids[count++] = nsid;
	}
	if (ret_end)
		*ret_end = end;
	return (int)count;
}

unsigned em_drive_merge_lists(const uint32_t *attached, unsigned attached_count,
			      const uint32_t *allocated, unsigned allocated_count,
			      struct em_listed ret[EM_NAMESPACES_MAX])
{
	unsigned i = 0, j = 0, count = 0;

	while (count < EM_NAMESPACES_MAX && (i < attached_count || j < allocated_count)) {
		bool is_attached =
			i < attached_count && (j == allocated_count || attached[i] <= allocated[j]);
		uint32_t nsid = is_attached ? attached[i] : allocated[j];

		ret[count++] = (struct em_listed){ nsid, is_attached };
		i += is_attached;
		j += j < allocated_count && allocated[j] == nsid;
	}
	return count;
}
