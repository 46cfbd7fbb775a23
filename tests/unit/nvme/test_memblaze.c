/* SPDX-License-Identifier: Apache-2.0 */
/* Log CAh in its layouts, item by item, and what is made of the capacitor. */
#include <check.h>
#include <string.h>

#include "lib/base/cleanup.h"
#include "lib/nvme/capacitor.h"
#include "lib/nvme/items.h"
#include "lib/nvme/page.h"
#include "tests/unit/runner.h"

static uint8_t page[512], smart[512];
static const struct em_nvme_ctx ctx = { .known = true, .ver = EM_VER(1, 4) };

static void setup(void)
{
	memset(page, 0, sizeof(page));
	memset(smart, 0, sizeof(smart));
	smart[3] = 100; /* a reading */
}

/* Layouts 0 and 2: 12 bytes, normalised at 3, raw at 5. Layout 3: 10 bytes, 1, 2. */
static void put(unsigned slot, uint8_t id, uint8_t normalised, const char *raw)
{
	unsigned stride = page[511] == 3 ? 10 : 12, norm_at = page[511] == 3 ? 1 : 3;

	page[slot * stride] = id;
	page[slot * stride + norm_at] = normalised;
	memcpy(page + slot * stride + (page[511] == 3 ? 2 : 5), raw, 6);
}

static const char *get(const char *key)
{
	static char text[EM_VALUE_TEXT_SIZE];
	const struct em_field *field = em_page_field(em_pages[EM_PAGE_MEMBLAZE], key);
	struct em_value value;

	ck_assert_ptr_nonnull(field);
	em_field_get(field, page, sizeof(page), &ctx, &value);
	return value.kind == EM_V_ABSENT ? "null" : em_value_text(field, &value, text);
}

static void check_items(unsigned layout, uint8_t id, const char *const expected[][2])
{
	page[511] = (uint8_t)layout;
	put(7, id, 88, "\x01\x02\x03\x04\x05\x06");
	for (unsigned i = 0; expected[i][0]; i++)
		ck_assert_msg(!strcmp(get(expected[i][0]), expected[i][1]), "%u %02x: %s is %s",
			      layout, id, expected[i][0], get(expected[i][0]));
}

#define ITEM(layout, id, ...)                                                                      \
	do {                                                                                       \
		setup();                                                                           \
		check_items(layout, id, (const char *const[][2]){ __VA_ARGS__, { NULL, NULL } });  \
	} while (0)

/* Raw bytes 01 02 03 04 05 06: as one number, as three, as u8 and u32, as u32. */
#define WHOLE	   "6618611909121"
#define FIRST	   "513"
#define SECOND	   "1027"
#define THIRD	   "1541"
#define FIRST_C	   "240"
#define SECOND_C   "754"
#define THIRD_C	   "1268"
#define BYTE	   "1"
#define AFTER_BYTE "84148994"
#define WORD	   "67305985"
#define UNITS	   "222083763238990774272" /* WHOLE of 32 MiB */

START_TEST(items_of_all_layouts)
{
	static const uint8_t layouts[] = { 0, 2, 3 };

	for (unsigned i = 0; i < sizeof(layouts); i++) {
		unsigned l = layouts[i];

		ITEM(l, 0xab, { "program_fails", WHOLE }, { "erase_fails", "null" });
		ITEM(l, 0xac, { "erase_fails", WHOLE });
		ITEM(l, 0xad, { "wear_leveling_percent", "88" }, { "erase_cycles_min", FIRST },
		     { "erase_cycles_max", SECOND }, { "erase_cycles_avg", THIRD });
		ITEM(l, 0xc7, { "pcie_crc_errors", WHOLE });
		ITEM(l, 0xf4, { "nand_bytes_written", UNITS });
		ITEM(l, 0xf5, { "host_bytes_written", UNITS });
		ITEM(l, 0xea, { "thermal_throttle", BYTE },
		     { "thermal_throttle_events", AFTER_BYTE });
	}
}
END_TEST

START_TEST(items_of_layouts_0_and_2)
{
	for (unsigned l = 0; l <= 2; l += 2) {
		ITEM(l, 0xb8, { "end_to_end_errors", WHOLE });
		ITEM(l, 0xe2, { "timed_workload_wear_millipercent", WHOLE });
		ITEM(l, 0xe3, { "timed_workload_host_reads_percent", WHOLE });
		ITEM(l, 0xe4, { "timed_workload_minutes", WHOLE });
		ITEM(l, 0xf3, { "pll_lock_losses", WHOLE });
		ITEM(l, 0xf6, { "system_area_life_left", WHOLE },
		     { "dram_correctable_errors", "null" });
		ITEM(l, 0xe7, { "temperature_lifetime_max_celsius", FIRST_C },
		     { "temperature_lifetime_min_celsius", SECOND_C },
		     { "host_zeroed_sectors", "null" });
		ITEM(l, 0xe8, { "power_max_watts", FIRST }, { "power_min_watts", SECOND },
		     { "power_watts", THIRD });
		ITEM(l, 0xaf, { "temperature_boot_max_celsius", FIRST_C },
		     { "temperature_boot_min_celsius", SECOND_C },
		     { "temperature_celsius", THIRD_C });
		ITEM(l, 0xeb, { "thermal_throttle_time", AFTER_BYTE });
	}
}
END_TEST

START_TEST(items_of_layout_0)
{
	ITEM(0, 0xf0, { "retry_buffer_overflows", WHOLE },
	     { "lifetime_write_amplification", "null" });
	ITEM(0, 0xfa, { "nand_bytes_read", UNITS }, { "dram_correctable_errors", "null" },
	     { "write_throttle", "null" });
	ITEM(0, 0xec, { "capacitor_health_percent", "88" }, { "capacitor_raw", WHOLE },
	     { "capacitor_capacitance", "null" });
	ITEM(0, 0xf2, { "read_fails", WHOLE });
	ITEM(0, 0xed, { "flash_media_errors", WHOLE }, { "free_superblocks", "null" });
}
END_TEST

START_TEST(items_of_layout_2)
{
	ITEM(2, 0xf0, { "lifetime_write_amplification", WHOLE },
	     { "retry_buffer_overflows", "null" });
	ITEM(2, 0xf9, { "firmware_update_count", WHOLE });
	ITEM(2, 0xfa, { "dram_correctable_errors", WHOLE }, { "nand_bytes_read", "null" });
	ITEM(2, 0xfb, { "dram_uncorrectable_errors", WHOLE });
	ITEM(2, 0xfc, { "xor_recoveries_passed", WHOLE });
	ITEM(2, 0xfd, { "xor_recoveries_failed", WHOLE });
	ITEM(2, 0xfe, { "xor_recoveries", WHOLE });
	ITEM(2, 0xe5, { "inflight_reads", WHOLE }, { "host_trimmed_sectors", "null" });
	ITEM(2, 0xe6, { "inflight_writes", WHOLE });
	ITEM(2, 0xf8, { "nand_bytes_read", UNITS });
	ITEM(2, 0xec, { "capacitor_capacitance", FIRST },
	     { "capacitor_nominal_capacitance", SECOND },
	     { "capacitor_threshold_capacitance", THIRD }, { "capacitor_health_percent", "null" });
	ITEM(2, 0xed, { "free_superblocks", WHOLE }, { "flash_media_errors", "null" });
}
END_TEST

START_TEST(items_of_layout_3)
{
	ITEM(3, 0xdf, { "external_end_to_end_errors_0", FIRST },
	     { "external_end_to_end_errors_1", SECOND }, { "external_end_to_end_errors_2", THIRD });
	ITEM(3, 0xd9, { "internal_end_to_end_errors_0", FIRST },
	     { "internal_end_to_end_errors_1", SECOND }, { "internal_end_to_end_errors_2", THIRD });
	ITEM(3, 0xd0, { "reallocated_sectors", WHOLE });
	ITEM(3, 0xd1, { "uncorrectable_sectors", WHOLE });
	ITEM(3, 0xd2, { "nand_uncorrectable_detections", WHOLE });
	ITEM(3, 0xd3, { "nand_xor_corrections", WHOLE });
	ITEM(3, 0xd4, { "garbage_collections", WHOLE });
	ITEM(3, 0xd5, { "dram_uncorrectable_errors", WHOLE });
	ITEM(3, 0xd6, { "sram_uncorrectable_errors", WHOLE });
	ITEM(3, 0xd7, { "raid_recovery_failures", WHOLE });
	ITEM(3, 0xd8, { "inflight_commands", FIRST }, { "inflight_admin_commands", THIRD });
	ITEM(3, 0xda, { "die_failures", WHOLE });
	ITEM(3, 0xdb, { "wear_leveling_runs", WHOLE });
	ITEM(3, 0xdc, { "read_disturbs", WHOLE });
	ITEM(3, 0xdd, { "data_retentions", WHOLE });
	ITEM(3, 0xde, { "capacitor_health_percent", "88" }, { "capacitor_raw", WHOLE });
	ITEM(3, 0xf6, { "dram_correctable_errors", WORD }, { "system_area_life_left", "null" });
	ITEM(3, 0xf7, { "dram_correctable_address", WORD });
	ITEM(3, 0xf8, { "sram_correctable_errors", WORD }, { "nand_bytes_read", "null" });
	ITEM(3, 0xf9, { "sram_correctable_address", WORD }, { "firmware_update_count", "null" });
	ITEM(3, 0xfa, { "write_throttle", FIRST }, { "write_throttle_total", SECOND });
	ITEM(3, 0xe1, { "block_paddings", WHOLE });
	ITEM(3, 0xe5, { "host_trimmed_sectors", WHOLE }, { "inflight_reads", "null" });
	ITEM(3, 0xe7, { "host_zeroed_sectors", WHOLE },
	     { "temperature_lifetime_max_celsius", "null" });
	ITEM(3, 0xe9, { "firmware_updates_without_reset", FIRST },
	     { "firmware_updates_with_reset", SECOND }, { "firmware_updates_failed", THIRD });
}
END_TEST

START_TEST(layouts_that_are_not_known_have_no_value)
{
	const struct em_page *memblaze = em_pages[EM_PAGE_MEMBLAZE];

	for (unsigned layout = 0; layout < 256; layout++) {
		if (layout == 0 || layout == 2 || layout == 3)
			continue;
		memset(page, 0xad, sizeof(page));
		page[511] = (uint8_t)layout;
		for (unsigned i = 0; i < memblaze->field_count; i++)
			if (memblaze->fields[i].places)
				ck_assert_str_eq(get(memblaze->fields[i].key), "null");
	}
	page[511] = 0;
	ck_assert_str_eq(get("layout"), "0");
}
END_TEST

START_TEST(kelvin_of_zero_is_no_temperature)
{
	setup();
	put(0, 0xaf, 100, "\x00\x00\x00\x00\x37\x01");
	ck_assert_str_eq(get("temperature_boot_max_celsius"), "null");
	ck_assert_str_eq(get("temperature_celsius"), "38");
}
END_TEST

START_TEST(places_of_items_do_not_matter)
{
	setup();
	put(41, 0xab, 100, "\x05\0\0\0\0\0"); /* the last slot before the layout */
	ck_assert_str_eq(get("program_fails"), "5");
	put(40, 0xab, 100, "\x04\0\0\0\0\0"); /* of two the first counts */
	ck_assert_str_eq(get("program_fails"), "4");
}
END_TEST

START_TEST(unknown_items_stay_as_they_are)
{
	const struct em_group *group = em_pages[EM_PAGE_MEMBLAZE]->groups;
	uint8_t scratch[EM_ENTRY_SCRATCH];
	const uint8_t *entry;

	setup();
	page[511] = 3;
	put(0, 0xab, 100, "\x01\0\0\0\0\0");
	put(50, 0xb8, 77, "\x01\x02\x03\x04\x05\x06"); /* known in 0 and 2 only */
	ck_assert_ptr_null(em_group_entry(group, page, sizeof(page), 0, scratch));
	ck_assert_ptr_null(em_group_entry(group, page, sizeof(page), 1, scratch));
	ck_assert_ptr_null(em_group_entry(group, page, sizeof(page), 51, scratch));
	ck_assert_ptr_null(em_group_entry(group, page, 511, 50, scratch));
	entry = em_group_entry(group, page, sizeof(page), 50, scratch);
	ck_assert_ptr_nonnull(entry);
	ck_assert_mem_eq(entry, "\xb8\x4d\x01\x02\x03\x04\x05\x06", 8);
}
END_TEST

static struct em_capacitor judge(void)
{
	return em_capacitor_judge(smart, sizeof(smart), page, sizeof(page), &ctx);
}

START_TEST(capacitor_by_percentage)
{
	static const struct {
		uint8_t layout, id, normalised;
		enum em_capacitor_state state;
	} cases[] = {
		{ 0, 0xec, 100, EM_CAPACITOR_OK },	{ 0, 0xec, 11, EM_CAPACITOR_OK },
		{ 0, 0xec, 10, EM_CAPACITOR_LOW },	{ 0, 0xec, 1, EM_CAPACITOR_LOW },
		{ 0, 0xec, 0, EM_CAPACITOR_FAILED },	{ 3, 0xde, 99, EM_CAPACITOR_OK },
		{ 3, 0xde, 3, EM_CAPACITOR_LOW },	{ 3, 0xde, 255, EM_CAPACITOR_UNKNOWN },
		{ 0, 0xde, 100, EM_CAPACITOR_UNKNOWN }, { 3, 0xec, 100, EM_CAPACITOR_UNKNOWN },
	};

	for (unsigned i = 0; i < EM_COUNT(cases); i++) {
		struct em_capacitor capacitor;

		setup();
		page[511] = cases[i].layout;
		put(3, cases[i].id, cases[i].normalised, "\0\0\0\0\0\0");
		capacitor = judge();
		ck_assert_int_eq(capacitor.state, cases[i].state);
		ck_assert_int_eq(capacitor.has_percent, capacitor.state != EM_CAPACITOR_UNKNOWN);
		if (!capacitor.has_percent)
			continue;
		ck_assert_uint_eq(capacitor.health_percent, cases[i].normalised);
		ck_assert_int_eq(capacitor.source, EM_CAPACITOR_BY_PERCENTAGE);
		ck_assert_int_eq(capacitor.trust, EM_TRUST_DERIVED);
	}
}
END_TEST

START_TEST(capacitor_by_capacitance)
{
	struct em_capacitor capacitor;

	setup();
	page[511] = 2;
	put(27, 0xec, 3, "\x9c\x04\xb0\x04\x48\x03"); /* 1180 of 1200, 840 needed */
	capacitor = judge();
	ck_assert_int_eq(capacitor.state, EM_CAPACITOR_OK);
	ck_assert_int_eq(capacitor.source, EM_CAPACITOR_BY_CAPACITANCE);
	ck_assert_uint_eq(capacitor.health_percent, 98);
	ck_assert_uint_eq(capacitor.capacitance, 1180);
	ck_assert_uint_eq(capacitor.nominal_capacitance, 1200);
	ck_assert_uint_eq(capacitor.threshold_capacitance, 840);
	put(27, 0xec, 100, "\x48\x03\xb0\x04\x48\x03"); /* just what is needed */
	ck_assert_int_eq(judge().state, EM_CAPACITOR_FAILED);
	put(27, 0xec, 100, "\x49\x03\xb0\x04\x48\x03");
	ck_assert_int_eq(judge().state, EM_CAPACITOR_OK);
	put(27, 0xec, 100, "\x48\x03\0\0\x48\x03"); /* nominal 0: not filled in */
	capacitor = judge();
	ck_assert_int_eq(capacitor.state, EM_CAPACITOR_UNKNOWN);
	ck_assert(!capacitor.has_percent && !capacitor.has_capacitance);
}
END_TEST

START_TEST(capacitor_by_the_warning_of_smart)
{
	struct em_capacitor capacitor;

	setup();
	smart[0] = 0x10;
	capacitor = judge();
	ck_assert_int_eq(capacitor.state, EM_CAPACITOR_FAILED);
	ck_assert_int_eq(capacitor.source, EM_CAPACITOR_BY_WARNING);
	ck_assert(!capacitor.has_percent);
	put(0, 0xec, 98, "\0\0\0\0\0\0"); /* whatever the page says */
	capacitor = judge();
	ck_assert_int_eq(capacitor.state, EM_CAPACITOR_FAILED);
	ck_assert_uint_eq(capacitor.health_percent, 98);
	smart[0] = 0x0f;
	ck_assert_int_eq(judge().state, EM_CAPACITOR_OK);
}
END_TEST

START_TEST(nothing_said_is_unknown)
{
	setup();
	ck_assert_int_eq(judge().state, EM_CAPACITOR_UNKNOWN);
	ck_assert_int_eq(em_capacitor_judge(smart, sizeof(smart), NULL, 0, &ctx).state,
			 EM_CAPACITOR_UNKNOWN);
	ck_assert_int_eq(em_capacitor_judge(NULL, 0, NULL, 0, &ctx).state, EM_CAPACITOR_UNKNOWN);
	ck_assert_str_eq(em_capacitor_state_name(judge().state), "unknown");
	ck_assert_str_eq(em_capacitor_source_name(judge().source), "none");
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("memblaze");

	tcase_add_test(tcase, items_of_all_layouts);
	tcase_add_test(tcase, items_of_layouts_0_and_2);
	tcase_add_test(tcase, items_of_layout_0);
	tcase_add_test(tcase, items_of_layout_2);
	tcase_add_test(tcase, items_of_layout_3);
	tcase_add_test(tcase, layouts_that_are_not_known_have_no_value);
	tcase_add_test(tcase, kelvin_of_zero_is_no_temperature);
	tcase_add_test(tcase, places_of_items_do_not_matter);
	tcase_add_test(tcase, unknown_items_stay_as_they_are);
	tcase_add_test(tcase, capacitor_by_percentage);
	tcase_add_test(tcase, capacitor_by_capacitance);
	tcase_add_test(tcase, capacitor_by_the_warning_of_smart);
	tcase_add_test(tcase, nothing_said_is_unknown);
	return run_tests(tcase);
}
