/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * history - which page fields have a history, and in which table and column.
 *
 * A column per field that is not marked EM_NO_HISTORY, for each page that names a table.
 * Threads: any, after em_history_tables() was called once. Blocking: never.
 */
#include "daemon/store/store.h"
#include "lib/nvme/page.h"

/* More than any page has: what does not fit would be left out, so a test counts. */
#define EM_HISTORY_COLUMNS_MAX 128u

/* Static lifetime; built at the first call, on the loop thread. */
const struct em_store_table *em_history_tables(unsigned *ret_count);

/* The page whose table has this column and the field's row; -ENOENT. ret_* may be NULL. */
int em_history_find(const char *field_key, const struct em_page **ret_page,
		    const struct em_field **ret_field);
