/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/drives/history.h"

#include <errno.h>
#include <string.h>

static const char *columns[EM_PAGE_COUNT][EM_HISTORY_COLUMNS_MAX];
static struct em_store_table tables[EM_PAGE_COUNT];
static unsigned table_count;

static void add_table(const struct em_page *page)
{
	struct em_store_table *table = &tables[table_count];

	table->name = page->table;
	table->columns = columns[table_count];
	for (unsigned i = 0; i < page->field_count && table->column_count < EM_HISTORY_COLUMNS_MAX;
	     i++) {
		if (!(page->fields[i].flags & EM_NO_HISTORY))
			columns[table_count][table->column_count++] = page->fields[i].key;
	}
	table_count++;
}

const struct em_store_table *em_history_tables(unsigned *ret_count)
{
	if (table_count == 0) {
		for (unsigned i = 0; i < EM_PAGE_COUNT; i++) {
			if (em_pages[i]->table)
				add_table(em_pages[i]);
		}
	}
	*ret_count = table_count;
	return tables;
}

int em_history_find(const char *field_key, const struct em_page **ret_page,
		    const struct em_field **ret_field)
{
	for (unsigned i = 0; i < EM_PAGE_COUNT; i++) {
		const struct em_field *field;

		if (!em_pages[i]->table)
			continue;
		field = em_page_field(em_pages[i], field_key);
		if (!field || field->flags & EM_NO_HISTORY)
			continue;
		if (ret_page)
			*ret_page = em_pages[i];
		if (ret_field)
			*ret_field = field;
		return 0;
	}
	return -ENOENT;
}
