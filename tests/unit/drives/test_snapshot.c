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

#define SECOND INT64_C(1000000)

static void give(struct em_drive_snap *snap, enum em_page_id id, const uint8_t *data, size_t len)
{
	struct em_page_read *read = &snap->pages[id];

	em_blob_unref(read->data);
	read->data = em_blob_new(data, len);
	read->status = EM_READ_OK;
	read->read_us = read->attempted_us = 100 * SECOND;
	read->read_mono_us = 100 * SECOND;
	read->interval_us = 60 * SECOND;
}

/* The same, whether the pages were judged when the snapshot was built or not. */
static void expect(struct em_drive_snap *snap, int64_t now_us, enum em_verdict verdict)
{
	struct em_health health;

	snap->judged = false;
	em_drive_snap_health(snap, (uint64_t)now_us, now_us, &health);
	ck_assert_int_eq(health.verdict, verdict);
	ck_assert_int_eq(em_drive_snap_verdict(snap, (uint64_t)now_us, now_us), verdict);
	em_drive_snap_settle(snap);
	ck_assert_int_eq(em_drive_snap_verdict(snap, (uint64_t)now_us, now_us), verdict);
}

START_TEST(verdict_by_pages_state_and_age)
{
	struct em_drive_snap *snap = drive("00aa000000000000", "SN1", "nvme0");
	uint8_t smart[512] = { 0, 0x37, 0x01, 100, 10 }, memblaze[512] = { 0xec, 0, 0, 5 };

	expect(snap, 0, EM_VERDICT_UNKNOWN);
	give(snap, EM_PAGE_SMART, smart, sizeof(smart));
	expect(snap, 110 * SECOND, EM_VERDICT_OK);
	expect(snap, 281 * SECOND, EM_VERDICT_UNKNOWN);
	snap->state = EM_STATE_BUSY;
	expect(snap, 110 * SECOND, EM_VERDICT_OK);
	for (unsigned state = EM_STATE_UNRESPONSIVE; state < EM_STATE_COUNT; state++) {
		snap->state = state;
		expect(snap, 110 * SECOND, EM_VERDICT_UNKNOWN);
	}
	snap->state = EM_STATE_OK;
	/* A page of the capacitor that is asked for, and has not come. */
	snap->pages[EM_PAGE_MEMBLAZE].interval_us = 60 * SECOND;
	expect(snap, 110 * SECOND, EM_VERDICT_UNKNOWN);
	snap->pages[EM_PAGE_MEMBLAZE].status = EM_READ_REFUSED;
	expect(snap, 110 * SECOND, EM_VERDICT_OK);
	snap->pages[EM_PAGE_MEMBLAZE].status = EM_READ_UNSUPPORTED;
	expect(snap, 110 * SECOND, EM_VERDICT_OK);
	give(snap, EM_PAGE_MEMBLAZE, memblaze, sizeof(memblaze));
	expect(snap, 110 * SECOND, EM_VERDICT_DEGRADED);
	smart[0] = 0x08;
	give(snap, EM_PAGE_SMART, smart, sizeof(smart));
	expect(snap, 110 * SECOND, EM_VERDICT_FAILING);
	expect(snap, 281 * SECOND, EM_VERDICT_UNKNOWN);
	em_drive_snap_unref(snap);
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
	tcase_add_test(tc, verdict_by_pages_state_and_age);
	return run_tests(tc);
}
