/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an earlier start knew. Old bytes can be shown and compared with new ones, but nothing is
 * planned by them: Identify is read again before anything optional is asked.
 */
#include <string.h>

#include "daemon/drives/drive_impl.h"

static void restore(struct em_page_read *read, const struct em_page *page, int64_t at_us,
		    const void *data, size_t len)
{
	if (read->data || em_page_check(page, data, len) != EM_PAGE_VALID)
		return;
	read->data = em_blob_new(data, len);
	read->read_us = at_us;
}

/* Their nsids come in ascending order. */
static void restore_namespace(struct em_drive *drive, uint32_t nsid, int64_t at_us,
			      const void *data, size_t len)
{
	struct em_namespace_task *tasks;
	unsigned count = drive->namespace_count;

	if (nsid == 0 || nsid == UINT32_MAX || count == EM_NAMESPACES_MAX ||
	    (count > 0 && drive->namespaces[count - 1].nsid >= nsid))
		return;
	tasks = reallocarray(drive->namespaces, count + 1, sizeof(*tasks));
	if (!tasks)
		return;
	memset(&tasks[count], 0, sizeof(*tasks));
	tasks[count].nsid = nsid;
	tasks[count].attached = true;
	tasks[count].page.read.interval_us = drive->list.read.interval_us;
	restore(&tasks[count].page.read, em_pages[EM_PAGE_IDENTIFY_NS], at_us, data, len);
	drive->namespaces = tasks;
	drive->namespace_count++;
}

void em_drive_restore_page(struct em_drive *drive, const char *page, uint32_t nsid, int64_t at_us,
			   const void *data, size_t len)
{
	const struct em_page *described = em_page_find(page);

	drive->changed = true;
	if (described && described == em_pages[EM_PAGE_IDENTIFY_NS]) {
		restore_namespace(drive, nsid, at_us, data, len);
		return;
	}
	for (unsigned i = 0; described && nsid == 0 && i < EM_PAGE_CTRL_COUNT; i++) {
		if (em_pages[i] == described)
			restore(&drive->pages[i].read, described, at_us, data, len);
	}
}

void em_drive_restore_list(struct em_drive *drive, int64_t at_us, const void *data, size_t len)
{
	uint32_t attached[EM_NAMESPACES_MAX], others[EM_NAMESPACES_MAX];
	struct em_listed listed[EM_NAMESPACES_MAX];
	size_t end = len;
	int count = em_drive_parse_list(data, len, attached, &end);
	int other_count = em_drive_parse_list((const uint8_t *)data + end, len - end, others, NULL);

	if (count < 0 || other_count < 0)
		return;
	count = (int)em_drive_merge_lists(attached, (unsigned)count, others, (unsigned)other_count,
					  listed);
	if (em_drive_take_namespaces(drive, listed, (unsigned)count, 0) < 0)
		return;
	drive->list.read.read_us = at_us;
	drive->changed = true;
}
