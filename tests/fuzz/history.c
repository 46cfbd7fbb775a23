/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/history.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "daemon/drives/event_log.h"
#include "daemon/drives/history.h"
#include "lib/base/clock.h"
#include "tests/fuzz/drive.h"
#include "tests/fuzz/fuzz.h"

#define DRIVE	  "00000000000000a0"
#define ROWS	  200
#define STEP_US	  (60 * (int64_t)EM_US_PER_SEC)
#define BEGIN_US  (FUZZ_NOW_US - ROWS * STEP_US)
#define GAP	  7		      /* each so many-th reading has no values */
#define LARGE	  ((em_u128)1 << 100) /* more than 64 bits hold */
#define GRACE_US  (10 * EM_US_PER_SEC)
#define FILES_MAX 3

static char directory[FUZZ_PATH_SIZE];
static struct em_store *store;

static void close_store(void)
{
	static const char *const files[FILES_MAX] = { "ember.db", "ember.db-wal", "ember.db-shm" };
	char path[FUZZ_PATH_SIZE + 16];

	store = em_store_close(store, GRACE_US);
	for (unsigned i = 0; i < FILES_MAX; i++) {
		snprintf(path, sizeof(path), "%s/%s", directory, files[i]);
		unlink(path);
	}
	rmdir(directory);
}

static enum em_json_type type_of(const char *column)
{
	const struct em_field *field;

	fuzz_check(em_history_find(column, NULL, &field) == 0);
	return em_field_json_type(field);
}

/* What the drive said in the reading of that number; kept as digits. */
static em_u128 value_of(unsigned number, enum em_json_type type)
{
	return number + (type == EM_JSON_DECIMAL_STRING ? LARGE : 0);
}

static void put_row(const struct em_store_table *table, unsigned index, unsigned number)
{
	struct em_store_cell cells[EM_HISTORY_COLUMNS_MAX] = { 0 };
	int64_t at_us = BEGIN_US + number * STEP_US;

	for (unsigned c = 0; number % GAP && c < table->column_count; c++) {
		cells[c].kind = EM_CELL_UINT;
		cells[c].number = value_of(number, type_of(table->columns[c]));
	}
	fuzz_check(em_store_put_row(store, index, DRIVE, 0, at_us, cells) == 0);
}

static void put_event(unsigned number)
{
	int64_t id = BEGIN_US + number * STEP_US + 1;
	struct em_event event = { .id = id, .at_us = id, .device = "nvme0", .summary = "It was." };

	strcpy(event.drive, number % GAP ? DRIVE : "");
	snprintf(event.kind, sizeof(event.kind), "%s",
		 em_event_kind_name((enum em_event_kind_id)(number % EM_EVENT_KIND_COUNT)));
	fuzz_check(em_store_put_event(store, &event) == 0);
}

struct em_store *fuzz_store(void)
{
	struct em_store_config config = { .directory = directory };

	if (store)
		return store;
	fuzz_path(directory, "store");
	fuzz_check(mkdir(directory, 0700) == 0);
	config.tables = em_history_tables(&config.table_count);
	fuzz_check(em_store_open(&store, &config, NULL) == 0);
	atexit(close_store);
	for (unsigned t = 0; t < config.table_count; t++)
		for (unsigned i = 0; i < ROWS; i++)
			put_row(&config.tables[t], t, i);
	for (unsigned i = 0; i < ROWS - 1; i++)
		put_event(i);
	fuzz_check(em_store_flush(store, em_monotonic_us() + GRACE_US) == 0);
	return store;
}

/* Booleans and names lose the number that they were made of. */
static void check_value(const json_t *value, unsigned number, enum em_json_type type)
{
	char digits[EM_U128_DEC_SIZE];

	if (number % GAP == 0) {
		fuzz_check(json_is_null(value));
	} else if (type == EM_JSON_INTEGER) {
		fuzz_check(json_is_integer(value) && json_integer_value(value) == number);
	} else if (type == EM_JSON_DECIMAL_STRING) {
		em_u128_dec(digits, value_of(number, type), 1);
		fuzz_check(json_is_string(value) && !strcmp(json_string_value(value), digits));
	}
}

static int64_t time_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	int64_t at_us;

	fuzz_check(text && em_time_parse(text, FUZZ_NOW_US, &at_us) == 0);
	return at_us;
}

void fuzz_check_history(const json_t *root)
{
	const json_t *points = json_object_get(root, "points"), *point;
	int64_t before_us = INT64_MIN, from_us, to_us;
	enum em_json_type type;
	size_t i;

	if (!points)
		return;
	/* They are shown in milliseconds. */
	from_us = time_of(root, "from");
	to_us = time_of(root, "to") + EM_US_PER_MS;
	type = type_of(json_string_value(json_object_get(root, "field")));
	json_array_foreach(points, i, point)
	{
		int64_t at_us = time_of(point, "at");

		fuzz_check(at_us > before_us && at_us >= from_us && at_us < to_us);
		fuzz_check(at_us >= BEGIN_US && (at_us - BEGIN_US) % STEP_US == 0);
		check_value(json_object_get(point, "value"),
			    (unsigned)((at_us - BEGIN_US) / STEP_US), type);
		before_us = at_us;
	}
}

static int64_t event_id(const json_t *event)
{
	const char *text = json_string_value(json_object_get(event, "id"));

	fuzz_check(text);
	return strtoll(text, NULL, 10);
}

/* *direction: 1 up, -1 down, 0 not known yet. *last: the id before. */
static void check_order(const json_t *root, int *direction, int64_t *last)
{
	const json_t *event;
	size_t i;

	json_array_foreach(json_object_get(root, "events"), i, event)
	{
		int64_t id = event_id(event);
		int step = id > *last ? 1 : id < *last ? -1 : 0;

		fuzz_check(id > 0 && step != 0);
		if (*last && !*direction)
			*direction = step;
		fuzz_check(!*last || step == *direction);
		*last = id;
	}
}

void fuzz_check_events(const json_t *first, const json_t *second)
{
	int64_t last = 0;
	int direction = 0;

	check_order(first, &direction, &last);
	check_order(second, &direction, &last);
}
