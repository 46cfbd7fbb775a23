/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "daemon/drives/history.h"
#include "daemon/drives/snapshot.h"
#include "tests/unit/runner.h"

static struct em_drive_snap *drive(const char *id, const char *serial, const char *device)
{
	struct em_drive_snap *snap = em_drive_snap_new();

	strcpy(snap->id, id);
	strcpy(snap->serial, serial);
	strcpy(snap->device, device);
	return snap;
}

static struct em_snapshot *three(void)
{
	struct em_snapshot *snap = em_snapshot_new(3);

	snap->drives[0] = drive("00aa000000000000", "SN1", "nvme0");
	snap->drives[1] = drive("00ab000000000000", "SN10", "nvme1");
	snap->drives[2] = drive("ffff000000000000", "SN10", "nvme10");
	return snap;
}

START_TEST(finds_exact_before_prefix)
{
	struct em_snapshot *snap = three();

	ck_assert_int_eq(em_snapshot_find(snap, "SN1"), 0);
	ck_assert_int_eq(em_snapshot_find(snap, "nvme1"), 1);
	ck_assert_int_eq(em_snapshot_find(snap, "nvme10"), 2);
	ck_assert_int_eq(em_snapshot_find(snap, "ff"), 2);
	ck_assert_int_eq(em_snapshot_find(snap, "00ab"), 1);
	em_snapshot_unref(snap);
}
END_TEST

START_TEST(ambiguous_and_unknown_are_errors)
{
	struct em_snapshot *snap = three();

	ck_assert_int_eq(em_snapshot_find(snap, "SN10"), -ENOTUNIQ);
	ck_assert_int_eq(em_snapshot_find(snap, "00a"), -ENOTUNIQ);
	ck_assert_int_eq(em_snapshot_find(snap, "SN"), -ENOTUNIQ);
	ck_assert_int_eq(em_snapshot_find(snap, "nvme"), -ENOENT);
	ck_assert_int_eq(em_snapshot_find(snap, ""), -ENOENT);
	em_snapshot_unref(snap);
}
END_TEST

/* The old name of a removed drive belongs to whoever has it now. */
START_TEST(removed_drive_loses_its_name)
{
	struct em_snapshot *snap = three();

	snap->drives[1]->state = EM_STATE_REMOVED;
	ck_assert_int_eq(em_snapshot_find(snap, "nvme1"), -ENOENT);
	em_snapshot_unref(snap);
}
END_TEST

START_TEST(age_uses_the_monotonic_clock_where_it_can)
{
	struct em_page_read page = { .read_us = 1000000, .read_mono_us = 500 };

	ck_assert_int_eq(em_page_read_age_us(&page, 1500, 0), -1);
	page.data = em_blob_new("x", 1);
	ck_assert_int_eq(em_page_read_age_us(&page, 1500, 0), 1000);
	page.read_mono_us = 0;
	ck_assert_int_eq(em_page_read_age_us(&page, 1500, 1000700), 700);
	/* A real clock that was set back gives no negative age. */
	ck_assert_int_eq(em_page_read_age_us(&page, 1500, 10), 0);
	em_blob_unref(page.data);
}
END_TEST

START_TEST(hub_keeps_a_reader_safe)
{
	struct em_hub *hub = em_hub_new();
	struct em_snapshot *held;

	held = em_hub_get(hub);
	ck_assert_uint_eq(held->count, 0);
	em_snapshot_unref(held);
	em_hub_publish(hub, three());
	held = em_hub_get(hub);
	em_hub_publish(hub, em_snapshot_new(0));
	ck_assert_str_eq(held->drives[2]->device, "nvme10");
	em_snapshot_unref(held);
	em_hub_free(hub);
}
END_TEST

START_TEST(history_has_the_fields_once)
{
	unsigned count;
	const struct em_store_table *tables = em_history_tables(&count);
	const struct em_page *page;
	const struct em_field *field;

	ck_assert_uint_gt(count, 0);
	for (unsigned i = 0; i < count; i++)
		ck_assert_uint_lt(tables[i].column_count, EM_HISTORY_COLUMNS_MAX);
	ck_assert_int_eq(em_history_find("temperature_celsius", &page, &field), 0);
	ck_assert_str_eq(page->key, "smart");
	ck_assert_str_eq(field->key, "temperature_celsius");
	ck_assert_int_eq(em_history_find("data_units_read", NULL, NULL), -ENOENT);
	ck_assert_int_eq(em_history_find("no_such_field", NULL, NULL), -ENOENT);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("snapshot");

	tcase_add_test(tc, finds_exact_before_prefix);
	tcase_add_test(tc, ambiguous_and_unknown_are_errors);
	tcase_add_test(tc, removed_drive_loses_its_name);
	tcase_add_test(tc, age_uses_the_monotonic_clock_where_it_can);
	tcase_add_test(tc, hub_keeps_a_reader_safe);
	tcase_add_test(tc, history_has_the_fields_once);
	return run_tests(tc);
}
