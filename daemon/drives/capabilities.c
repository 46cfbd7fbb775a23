/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/drives/capabilities.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct em_capabilities {
	struct em_store_capability *rows;
	unsigned count, room;
};

struct em_capabilities *em_capabilities_new(void)
{
	return calloc(1, sizeof(struct em_capabilities));
}

struct em_capabilities *em_capabilities_free(struct em_capabilities *all)
{
	if (all)
		free(all->rows);
	free(all);
	return NULL;
}

static struct em_store_capability *find(const struct em_capabilities *all, const char *model,
					const char *firmware, const char *page)
{
	for (unsigned i = 0; all && i < all->count; i++) {
		struct em_store_capability *row = &all->rows[i];

		if (strcmp(row->page, page) == 0 && strcmp(row->model, model) == 0 &&
		    strcmp(row->firmware, firmware) == 0)
			return row;
	}
	return NULL;
}

const struct em_store_capability *em_capabilities_find(const struct em_capabilities *all,
						       const char *model, const char *firmware,
						       const char *page)
{
	return find(all, model, firmware, page);
}

static int grow(struct em_capabilities *all)
{
	unsigned room = all->room ? 2 * all->room : 16;
	struct em_store_capability *rows;

	if (all->count < all->room)
		return 0;
	if (all->count >= EM_CAPABILITIES_MAX)
		return -ENOSPC;
	rows = reallocarray(all->rows, room, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	all->rows = rows;
	all->room = room;
	return 0;
}

int em_capabilities_put(struct em_capabilities *all, const struct em_store_capability *refused)
{
	struct em_store_capability *row =
		find(all, refused->model, refused->firmware, refused->page);
	int r;

	if (row) {
		*row = *refused;
		return 0;
	}
	r = grow(all);
	if (r == 0)
		all->rows[all->count++] = *refused;
	return r;
}

void em_capabilities_forget(struct em_capabilities *all, const char *model, const char *firmware,
			    const char *page)
{
	struct em_store_capability *row = find(all, model, firmware, page);

	if (row)
		*row = all->rows[--all->count];
}
