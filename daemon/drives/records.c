/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/drives/records.h"

#include <string.h>

#include "daemon/drives/history.h"
#include "lib/base/clock.h"
#include "lib/base/le.h"

/* Scaled numbers may pass 128 bits: then the exact digits are kept as text. */
static void cell_of(const struct em_field *field, const struct em_value *value, char *text,
		    struct em_store_cell *ret)
{
	em_u128 max = ~(em_u128)0;

	memset(ret, 0, sizeof(*ret));
	switch (value->kind) {
	case EM_V_ABSENT:
		ret->kind = EM_CELL_NULL;
		return;
	case EM_V_UINT:
		if (field->scale > 1 && value->number > max / field->scale)
			break;
		ret->kind = EM_CELL_UINT;
		ret->number = value->number * (field->scale ? field->scale : 1);
		return;
	case EM_V_BOOL:
		ret->kind = EM_CELL_UINT;
		ret->number = value->number;
		return;
	case EM_V_INT:
		ret->kind = EM_CELL_INT;
		ret->integer = value->integer;
		return;
	case EM_V_NAME:
	case EM_V_TEXT:
		break;
	}
	ret->kind = EM_CELL_TEXT;
	ret->text = em_value_text(field, value, text);
}

static int table_of(const struct em_page *page)
{
	unsigned count;
	const struct em_store_table *tables = em_history_tables(&count);

	for (unsigned i = 0; page->table && i < count; i++) {
		if (strcmp(tables[i].name, page->table) == 0)
			return (int)i;
	}
	return -1;
}

static void put_row(struct em_store *store, const struct em_drive *drive,
		    const struct em_drive_news *news, unsigned table)
{
	const struct em_page *page = em_pages[news->page];
	const struct em_blob *data = news->read->data;
	struct em_store_cell cells[EM_HISTORY_COLUMNS_MAX];
	char texts[EM_HISTORY_COLUMNS_MAX][EM_VALUE_TEXT_SIZE];
	unsigned count = 0;

	for (unsigned i = 0; i < page->field_count && count < EM_HISTORY_COLUMNS_MAX; i++) {
		struct em_value value;

		if (page->fields[i].flags & EM_NO_HISTORY)
			continue;
		em_field_get(&page->fields[i], data->data, data->len, &drive->ctx, &value);
		cell_of(&page->fields[i], &value, texts[count], &cells[count]);
		count++;
	}
	em_store_put_row(store, table, drive->id, news->nsid, news->read->read_us, cells);
}

void em_record_page(struct em_store *store, const struct em_drive *drive,
		    const struct em_drive_news *news)
{
	int table = table_of(em_pages[news->page]);

	if (table >= 0)
		put_row(store, drive, news, (unsigned)table);
	em_store_put_page(store, drive->id, em_pages[news->page]->key, news->nsid,
			  news->read->read_us, news->read->data->data, news->read->data->len);
}

static size_t put_nsids(const struct em_drive *drive, bool attached, uint8_t *data)
{
	size_t len = 0;

	for (unsigned i = 0; i < drive->namespace_count; i++) {
		if (drive->namespaces[i].attached != attached)
			continue;
		em_put_le32(data + len, drive->namespaces[i].nsid);
		len += 4;
	}
	return len;
}

void em_record_list(struct em_store *store, const struct em_drive *drive)
{
	uint8_t data[4 * (EM_NAMESPACES_MAX + 1)] = { 0 };
	size_t len = put_nsids(drive, true, data);

	if (len < 4 * (size_t)drive->namespace_count) {
		len += 4; /* the zero between them */
		len += put_nsids(drive, false, data + len);
	}
	em_store_put_page(store, drive->id, EM_CAPABILITY_LIST, 0, drive->list.read.read_us, data,
			  len);
}

#define COPY(to, from) snprintf((to), sizeof(to), "%.*s", (int)sizeof(to) - 1, (from))

void em_record_drive(struct em_store *store, const struct em_drive *drive, int64_t now_us)
{
	struct em_store_drive row = { .first_seen_us = drive->first_seen_us,
				      .last_seen_us = drive->last_answer_us ? drive->last_answer_us
									    : now_us,
				      .state_since_us = drive->state_since_us };

	memcpy(row.identity, drive->identity, drive->identity_len);
	row.identity_len = drive->identity_len;
	if (row.identity_len + 2 <= sizeof(row.identity)) {
		row.identity[row.identity_len++] = 0;
		row.identity[row.identity_len++] = (uint8_t)drive->ordinal;
	}
	COPY(row.id, drive->id);
	COPY(row.device, drive->device);
	COPY(row.serial, drive->serial);
	COPY(row.model, drive->model);
	COPY(row.firmware, drive->firmware);
	COPY(row.subsystem_nqn, drive->subsystem_nqn);
	COPY(row.address, drive->address);
	COPY(row.transport, drive->transport);
	COPY(row.cntlid, drive->cntlid);
	COPY(row.state, em_drive_state_name(drive->state));
	em_store_put_drive(store, &row);
}

enum em_drive_state em_record_state(const struct em_store_drive *stored)
{
	for (unsigned i = 0; i < EM_STATE_COUNT; i++) {
		if (strcmp(stored->state, em_drive_state_name(i)) == 0)
			return i;
	}
	return EM_STATE_REMOVED;
}

struct em_drive *em_record_restore(const struct em_store_drive *stored)
{
	struct em_drive *drive;

	if (stored->identity_len < 2)
		return NULL;
	drive = em_drive_new(stored->identity, stored->identity_len - 2,
			     stored->identity[stored->identity_len - 1]);
	if (!drive)
		return NULL;
	/* The id in the file is the name that people and history know it by. */
	COPY(drive->id, stored->id);
	COPY(drive->device, stored->device);
	COPY(drive->serial, stored->serial);
	COPY(drive->model, stored->model);
	COPY(drive->firmware, stored->firmware);
	COPY(drive->subsystem_nqn, stored->subsystem_nqn);
	COPY(drive->address, stored->address);
	COPY(drive->transport, stored->transport);
	COPY(drive->cntlid, stored->cntlid);
	drive->first_seen_us = stored->first_seen_us;
	drive->last_answer_us = stored->last_seen_us;
	drive->state_since_us = stored->state_since_us;
	drive->was_unresponsive = em_record_state(stored) == EM_STATE_UNRESPONSIVE;
	if (em_record_state(stored) == EM_STATE_RETIRED) {
		drive->state = EM_STATE_RETIRED;
		strcpy(drive->state_detail, "taken away on purpose");
	} else {
		/* One that was there until we ended has been removed since now, for all we know. */
		if (em_record_state(stored) != EM_STATE_REMOVED)
			drive->state_since_us = em_realtime_us();
		drive->state = EM_STATE_REMOVED;
		strcpy(drive->state_detail, "not seen since emberd was started");
	}
	drive->changed = true;
	return drive;
}
