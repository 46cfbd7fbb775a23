/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/cleanup.h"
#include "lib/base/le.h"
#include "lib/nvme/page.h"
#include "tests/unit/runner.h"

static uint8_t page[16384];
static struct em_nvme_ctx ctx; /* an NVMe 1.4 drive with three firmware slots, unless changed */

static void start(void)
{
	memset(page, 0, sizeof(page));
	ctx = (struct em_nvme_ctx){ .known = true, .ver = EM_VER(1, 4), .frmw = 0x17 };
}

/* Lines of "00000010: 00 01 ...", as the cases have them. */
static void load(const char *name)
{
	char path[512], line[256];
	FILE *file;

	start();
	snprintf(path, sizeof(path), "%s/tests/cases/given/%s", EM_TOP_SRCDIR, name);
	file = fopen(path, "r");
	ck_assert_msg(file != NULL, "%s", path);
	while (fgets(line, sizeof(line), file)) {
		char *at = NULL;
		unsigned long offset = strtoul(line, &at, 16);

		ck_assert_int_eq(*at++, ':');
		for (unsigned i = 0; i < 16 && strspn(at, " ") == 1; i++) {
			ck_assert_uint_lt(offset, sizeof(page));
			page[offset++] = (uint8_t)strtoul(at, &at, 16);
		}
	}
	fclose(file);
}

/* The text of one value; "null" when absent. */
static const char *text_of(const struct em_field *field, const uint8_t *bytes, size_t len)
{
	static char buf[EM_VALUE_TEXT_SIZE];
	struct em_value value;

	em_field_get(field, bytes, len, &ctx, &value);
	return value.kind == EM_V_ABSENT ? "null" : em_value_text(field, &value, buf);
}

static void check_value(enum em_page_id id, const char *key, const char *expected)
{
	const struct em_field *field = em_page_field(em_pages[id], key);
	const char *text;

	ck_assert_msg(field != NULL, "%s", key);
	text = text_of(field, page, em_page_size(em_pages[id], &ctx));
	ck_assert_msg(!strcmp(text, expected), "%s is %s, not %s", key, text, expected);
}

static void check_group_entry(const struct em_group *group, unsigned index, const char *key,
			      const char *expected)
{
	const struct em_field *field = NULL;
	const char *text;

	for (unsigned i = 0; i < group->field_count; i++)
		if (!strcmp(group->fields[i].key, key))
			field = &group->fields[i];
	ck_assert_msg(field != NULL, "%s", key);
	text = text_of(field, page + group->offset + index * group->stride, group->stride);
	ck_assert_msg(!strcmp(text, expected), "%s of %u is %s, not %s", key, index, text,
		      expected);
}

static void check_entry(enum em_page_id id, unsigned index, const char *key, const char *expected)
{
	check_group_entry(&em_pages[id]->groups[0], index, key, expected);
}

static bool entry_is_unused(enum em_page_id id, unsigned index)
{
	const struct em_group *group = &em_pages[id]->groups[0];

	return group->unused(page + group->offset + index * group->stride);
}

struct expected {
	const char *key, *text;
};

static void check_values(enum em_page_id id, const struct expected *expected, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check_value(id, expected[i].key, expected[i].text);
}

START_TEST(smart_of_a_working_drive)
{
	static const struct expected expected[] = {
		{ "critical_warning", "0" },
		{ "temperature_celsius", "39" },
		{ "available_spare_percent", "100" },
		{ "available_spare_threshold_percent", "10" },
		{ "percentage_used", "1" },
		{ "data_units_read", "136887354" },
		{ "bytes_read", "70086325248000" },
		{ "bytes_written", "28353071104000" },
		{ "host_read_commands", "481052202" },
		{ "host_write_commands", "797697497" },
		{ "controller_busy_time_minutes", "1239" },
		{ "warning_temp_time_minutes", "0" },
		{ "temperature_sensor_1_celsius", "null" },
		{ "thermal_mgmt_temp1_transitions", "0" },
	};

	load("R01.hex");
	check_values(EM_PAGE_SMART, expected, EM_COUNT(expected));
}
END_TEST

START_TEST(smart_without_a_temperature)
{
	load("R02b.hex");
	check_value(EM_PAGE_SMART, "temperature_celsius", "null");
	check_value(EM_PAGE_SMART, "available_spare_percent", "100");
}
END_TEST

START_TEST(smart_beyond_a_hundred_percent)
{
	load("R05.hex");
	check_value(EM_PAGE_SMART, "percentage_used", "104");
	check_value(EM_PAGE_SMART, "power_on_hours", "9602");
	check_value(EM_PAGE_SMART, "temperature_sensor_2_celsius", "58");
	page[5] = 255;
	check_value(EM_PAGE_SMART, "percentage_used", "255");
}
END_TEST

START_TEST(smart_of_an_old_version_has_no_newer_fields)
{
	load("R09.hex");
	ctx.ver = 0;
	check_value(EM_PAGE_SMART, "bytes_written", "16579274242048000");
	check_value(EM_PAGE_SMART, "warning_temp_time_minutes", "null");
	check_value(EM_PAGE_SMART, "temperature_sensor_1_celsius", "null");
	check_value(EM_PAGE_SMART, "endurance_group_critical_warning", "0");
	ctx.ver = EM_VER(1, 2);
	check_value(EM_PAGE_SMART, "critical_comp_time_minutes", "0");
	check_value(EM_PAGE_SMART, "thermal_mgmt_temp2_time_seconds", "null");
	ctx.ver = EM_VER(1, 3);
	check_value(EM_PAGE_SMART, "thermal_mgmt_temp2_time_seconds", "0");
}
END_TEST

START_TEST(smart_counters_and_sensors_at_their_limits)
{
	load("R08.hex");
	memset(page + 48, 0xff, 16);
	em_put_le16(page + 214, 0xffff);
	check_value(EM_PAGE_SMART, "data_units_written", "340282366920938463463374607431768211455");
	check_value(EM_PAGE_SMART, "bytes_written",
		    "174224571863520493293247799005065324264960000");
	check_value(EM_PAGE_SMART, "temperature_sensor_8_celsius", "null");
	check_value(EM_PAGE_SMART, "critical_warning", "16");
}
END_TEST

START_TEST(firmware_slots)
{
	const struct em_group *group = &em_pages[EM_PAGE_FIRMWARE]->groups[0];
	struct em_value read_only;

	load("R20.hex");
	check_value(EM_PAGE_FIRMWARE, "active_slot", "1");
	check_value(EM_PAGE_FIRMWARE, "next_reset_slot", "1");
	ck_assert_uint_eq(em_group_present(group, &ctx), 3);
	check_entry(EM_PAGE_FIRMWARE, 0, "revision", "GPNA4B3Q");
	check_entry(EM_PAGE_FIRMWARE, 1, "revision", "null");
	group->extra_get(&ctx, 0, &read_only);
	ck_assert(read_only.kind == EM_V_BOOL && read_only.number == 1);
	group->extra_get(&ctx, 1, &read_only);
	ck_assert(read_only.kind == EM_V_BOOL && read_only.number == 0);
}
END_TEST

START_TEST(firmware_slots_that_the_drive_does_not_tell)
{
	const struct em_group *group = &em_pages[EM_PAGE_FIRMWARE]->groups[0];
	struct em_value read_only;

	load("R20.hex");
	page[0] = 0x88; /* reserved bits alone: no slot is named */
	check_value(EM_PAGE_FIRMWARE, "active_slot", "null");
	check_value(EM_PAGE_FIRMWARE, "next_reset_slot", "null");
	page[0] = 0x77;
	check_value(EM_PAGE_FIRMWARE, "active_slot", "7");
	check_value(EM_PAGE_FIRMWARE, "next_reset_slot", "7");
	ctx.frmw = 0x0e;
	ck_assert_uint_eq(em_group_present(group, &ctx), 7);
	ctx.frmw = 0;
	ck_assert_uint_eq(em_group_present(group, &ctx), 7);
	ctx.known = false;
	ck_assert_uint_eq(em_group_present(group, &ctx), 7);
	group->extra_get(&ctx, 0, &read_only);
	ck_assert_int_eq(read_only.kind, EM_V_ABSENT);
}
END_TEST

START_TEST(a_failed_self_test)
{
	load("R18.hex");
	check_value(EM_PAGE_SELFTEST, "in_progress", "false");
	check_value(EM_PAGE_SELFTEST, "running_test", "null");
	page[1] = 42; /* left behind by a test that ended */
	check_value(EM_PAGE_SELFTEST, "percent", "null");
	check_entry(EM_PAGE_SELFTEST, 0, "test", "extended");
	check_entry(EM_PAGE_SELFTEST, 0, "result_code", "7");
	check_entry(EM_PAGE_SELFTEST, 0, "result", "failed_segment");
	check_entry(EM_PAGE_SELFTEST, 0, "segment", "7");
	check_entry(EM_PAGE_SELFTEST, 0, "power_on_hours", "1772");
	check_entry(EM_PAGE_SELFTEST, 0, "nsid", "1");
	check_entry(EM_PAGE_SELFTEST, 0, "failing_lba", "0");
	check_entry(EM_PAGE_SELFTEST, 0, "sct", "null");
	check_entry(EM_PAGE_SELFTEST, 0, "sc", "null");
	ck_assert(!entry_is_unused(EM_PAGE_SELFTEST, 0));
	for (unsigned i = 1; i < 20; i++)
		ck_assert(entry_is_unused(EM_PAGE_SELFTEST, i));
}
END_TEST

START_TEST(each_valid_bit_opens_its_own_value)
{
	static const char *const keys[] = { "nsid", "failing_lba", "sct", "sc" };

	load("R18.hex");
	for (unsigned valid = 0; valid < 16; valid++) {
		page[4 + 2] = (uint8_t)valid;
		page[4 + 24] = 2;
		page[4 + 25] = 0x81;
		for (unsigned bit = 0; bit < 4; bit++) {
			static const char *const values[] = { "1", "0", "2", "129" };

			check_entry(EM_PAGE_SELFTEST, 0, keys[bit],
				    valid >> bit & 1 ? values[bit] : "null");
		}
	}
	page[4] = 0x26; /* extended, failed, segment not known */
	check_entry(EM_PAGE_SELFTEST, 0, "segment", "null");
}
END_TEST

START_TEST(a_running_self_test)
{
	start();
	page[0] = 0x01;
	page[1] = 0x80 | 37;
	check_value(EM_PAGE_SELFTEST, "in_progress", "true");
	check_value(EM_PAGE_SELFTEST, "running_test", "short");
	check_value(EM_PAGE_SELFTEST, "percent", "37");
	page[0] = 0x02;
	page[1] = 0;
	check_value(EM_PAGE_SELFTEST, "running_test", "extended");
	check_value(EM_PAGE_SELFTEST, "percent", "0");
	page[0] = 0xfe;
	check_value(EM_PAGE_SELFTEST, "running_test", "vendor");
	page[0] = 0x08;
	check_value(EM_PAGE_SELFTEST, "in_progress", "true");
}
END_TEST

START_TEST(a_self_test_log_of_zeros_has_no_result)
{
	start();
	for (unsigned i = 0; i < 20; i++)
		ck_assert(entry_is_unused(EM_PAGE_SELFTEST, i));
	page[4] = 0x10; /* a short test that passed */
	ck_assert(!entry_is_unused(EM_PAGE_SELFTEST, 0));
	page[4] = 0x05; /* a failure stays a failure, whatever test it was */
	ck_assert(!entry_is_unused(EM_PAGE_SELFTEST, 0));
	check_entry(EM_PAGE_SELFTEST, 0, "test", "reserved_0");
}
END_TEST

START_TEST(the_last_test_that_came_to_its_end)
{
	start();
	check_value(EM_PAGE_SELFTEST, "last_passed", "null");
	page[4] = 0x1f;	     /* an entry that is not used */
	page[4 + 28] = 0x21; /* aborted */
	check_value(EM_PAGE_SELFTEST, "last_passed", "null");
	page[4 + 2 * 28] = 0x10;
	page[4 + 3 * 28] = 0x17;
	check_value(EM_PAGE_SELFTEST, "last_passed", "true");
	for (uint8_t result = 5; result <= 7; result++) {
		page[4] = 0x20 | result;
		check_value(EM_PAGE_SELFTEST, "last_passed", "false");
	}
	page[4] = 0x28; /* nobody knows why it ended */
	check_value(EM_PAGE_SELFTEST, "last_passed", "true");
}
END_TEST

static void put_error(unsigned index, uint64_t count, uint16_t status)
{
	uint8_t *entry = page + index * 64;

	em_put_le64(entry, count);
	em_put_le16(entry + 8, 3);
	em_put_le16(entry + 10, 0x0221);
	em_put_le16(entry + 12, (uint16_t)(status << 1 | 1));
	em_put_le16(entry + 14, 0xffff);
	em_put_le64(entry + 16, UINT64_C(0x123456789abcd));
	em_put_le32(entry + 24, 1);
}

START_TEST(an_error)
{
	static const struct {
		const char *key, *text;
	} expected[] = {
		{ "error_count", "18446744073709551615" },
		{ "status", "unrecovered_read_error" },
		{ "status_text", "the media could not be read" },
		{ "cause", "device" },
		{ "sqid", "3" },
		{ "cmdid", "0x0221" },
		{ "sct", "2" },
		{ "sc", "129" },
		{ "dnr", "true" },
		{ "more", "false" },
		{ "retry_delay", "null" },
		{ "phase_tag", "1" },
		{ "parameter_error_location", "null" },
		{ "parameter_error_byte", "null" },
		{ "parameter_error_bit", "null" },
		{ "lba", "320255973501901" },
		{ "nsid", "1" },
		{ "vendor_log_page", "null" },
		{ "transport", "null" },
		{ "transport_specific", "null" },
		{ "command_specific", "0" },
	};

	start();
	put_error(0, UINT64_MAX, 0x4281);
	for (size_t i = 0; i < EM_COUNT(expected); i++)
		check_entry(EM_PAGE_ERRORS, 0, expected[i].key, expected[i].text);
	ck_assert_uint_eq(EM_COUNT(expected), em_pages[EM_PAGE_ERRORS]->groups[0].field_count);
	ck_assert(!entry_is_unused(EM_PAGE_ERRORS, 0));
	ck_assert(entry_is_unused(EM_PAGE_ERRORS, 1));
	ck_assert(entry_is_unused(EM_PAGE_ERRORS, 255));
}
END_TEST

START_TEST(an_error_without_a_command)
{
	start();
	put_error(2, 1, 0x3802); /* invalid field, both retry bits, More */
	memset(page + 128 + 8, 0xff, 4);
	em_put_le16(page + 128 + 14, 0x0328); /* byte 40, bit 3 */
	em_put_le64(page + 128 + 16, UINT64_MAX);
	em_put_le32(page + 128 + 24, 0);
	page[128 + 28] = 0xca;
	page[128 + 29] = 3;
	em_put_le16(page + 128 + 40, 0);
	check_entry(EM_PAGE_ERRORS, 2, "sqid", "null");
	check_entry(EM_PAGE_ERRORS, 2, "cmdid", "null");
	check_entry(EM_PAGE_ERRORS, 2, "status", "invalid_field");
	check_entry(EM_PAGE_ERRORS, 2, "more", "true");
	check_entry(EM_PAGE_ERRORS, 2, "dnr", "false");
	check_entry(EM_PAGE_ERRORS, 2, "retry_delay", "3");
	check_entry(EM_PAGE_ERRORS, 2, "parameter_error_location", "808");
	check_entry(EM_PAGE_ERRORS, 2, "parameter_error_byte", "40");
	check_entry(EM_PAGE_ERRORS, 2, "parameter_error_bit", "3");
	check_entry(EM_PAGE_ERRORS, 2, "lba", "null");
	check_entry(EM_PAGE_ERRORS, 2, "nsid", "null");
	check_entry(EM_PAGE_ERRORS, 2, "vendor_log_page", "202");
	check_entry(EM_PAGE_ERRORS, 2, "transport", "tcp");
	check_entry(EM_PAGE_ERRORS, 2, "transport_specific", "0");
}
END_TEST

START_TEST(the_error_log_is_as_long_as_identify_says)
{
	const struct em_page *errors = em_pages[EM_PAGE_ERRORS];
	const struct em_group *group = &errors->groups[0];

	start();
	ctx.log_offset = true;
	ctx.error_entries = 256;
	ck_assert_uint_eq(em_page_size(errors, &ctx), 16384);
	ctx.error_entries = 1;
	ck_assert_uint_eq(em_page_size(errors, &ctx), 64);
	ck_assert_uint_eq(em_group_present(group, &ctx), 1);
	ctx.error_entries = 200;
	ck_assert_uint_eq(em_page_size(errors, &ctx), 12800);
	ctx.log_offset = false; /* the second part could not be asked for */
	ck_assert_uint_eq(em_page_size(errors, &ctx), 4096);
	ck_assert_uint_eq(em_group_present(group, &ctx), 64);
	ck_assert_uint_eq(em_group_number(group, 0), 1);
	ck_assert_uint_eq(em_page_size(em_pages[EM_PAGE_SMART], &ctx), 512);
	ck_assert_int_eq(em_page_check(errors, page, 12800), EM_PAGE_VALID);
	memset(page, 0xff, 16384);
	ck_assert_int_eq(em_page_check(errors, page, 12800), EM_PAGE_ALL_ONES);
	page[12799] = 0;
	ck_assert_int_eq(em_page_check(errors, page, 12800), EM_PAGE_VALID);
}
END_TEST

static const char *command_name(unsigned group_index, unsigned opcode)
{
	static struct em_value value;
	const struct em_group *group = &em_pages[EM_PAGE_EFFECTS]->groups[group_index];

	group->extra_get(&ctx, opcode, &value);
	ck_assert_int_eq(value.kind, EM_V_TEXT);
	ck_assert_uint_eq(em_group_number(group, opcode), opcode);
	return value.text;
}

START_TEST(effects_of_commands)
{
	const struct em_group *io = &em_pages[EM_PAGE_EFFECTS]->groups[1];

	start();
	em_put_le32(page + 4 * 0x80, 0x0002000f); /* Format NVM */
	em_put_le32(page + 4 * 0x14, 0x00000001);
	em_put_le32(page + 4 * 0x06, 0xfffffffe); /* everything but supported */
	em_put_le32(page + 1024 + 4, 0x00110003); /* Write, of namespace scope */
	check_entry(EM_PAGE_EFFECTS, 0x80, "changes_data", "true");
	check_entry(EM_PAGE_EFFECTS, 0x80, "changes_namespace_inventory", "true");
	check_entry(EM_PAGE_EFFECTS, 0x80, "changes_controller_capability", "false");
	check_entry(EM_PAGE_EFFECTS, 0x80, "submission", "any_namespace");
	check_entry(EM_PAGE_EFFECTS, 0x80, "scope", "null");
	check_group_entry(io, 1, "submission", "same_namespace");
	check_group_entry(io, 1, "scope", "null");
	ctx.ver = EM_VER(2, 0);
	check_group_entry(io, 1, "scope", "1");
	ck_assert(entry_is_unused(EM_PAGE_EFFECTS, 0x06));
	ck_assert(!entry_is_unused(EM_PAGE_EFFECTS, 0x14));
	ck_assert(em_effects_has_admin(page, 4096, 0x14));
	ck_assert(!em_effects_has_admin(page, 4096, 0x06));
	ck_assert(!em_effects_has_admin(page, 4 * 0x14 + 3, 0x14));
	ck_assert_str_eq(command_name(0, 0x14), "device_self_test");
	ck_assert_str_eq(command_name(1, 0x00), "flush");
	ck_assert_str_eq(command_name(0, 0xc0), "vendor_c0");
	ck_assert_str_eq(command_name(1, 0x80), "vendor_80");
	ck_assert_str_eq(command_name(0, 0x03), "reserved_03");
}
END_TEST

START_TEST(a_sanitize_that_runs)
{
	load("R22a.hex");
	check_value(EM_PAGE_SANITIZE, "state", "in_progress");
	check_value(EM_PAGE_SANITIZE, "percent", "1");
	check_value(EM_PAGE_SANITIZE, "progress_permille", "10");
	check_value(EM_PAGE_SANITIZE, "action", "block_erase");
	check_value(EM_PAGE_SANITIZE, "global_data_erased", "false");
	check_value(EM_PAGE_SANITIZE, "overwrite_estimate_seconds", "null");
	check_value(EM_PAGE_SANITIZE, "crypto_erase_no_deallocate_estimate_seconds", "0");
	em_put_le16(page, 0xffff);
	check_value(EM_PAGE_SANITIZE, "progress_permille", "1000");
	em_put_le32(page + 8, 7200);
	check_value(EM_PAGE_SANITIZE, "overwrite_estimate_seconds", "7200");
	ctx.ver = EM_VER(1, 3);
	check_value(EM_PAGE_SANITIZE, "crypto_erase_no_deallocate_estimate_seconds", "null");
}
END_TEST

START_TEST(a_sanitize_that_does_not_run)
{
	start();
	check_value(EM_PAGE_SANITIZE, "state", "never");
	check_value(EM_PAGE_SANITIZE, "action", "null");
	check_value(EM_PAGE_SANITIZE, "percent", "null");
	em_put_le16(page, 0xffff);
	em_put_le16(page + 2, 0x0119); /* three passes, all erased */
	check_value(EM_PAGE_SANITIZE, "state", "completed");
	check_value(EM_PAGE_SANITIZE, "percent", "null");
	check_value(EM_PAGE_SANITIZE, "progress_permille", "null");
	check_value(EM_PAGE_SANITIZE, "global_data_erased", "true");
	check_value(EM_PAGE_SANITIZE, "overwrite_passes_completed", "3");
	em_put_le16(page + 2, 4);
	check_value(EM_PAGE_SANITIZE, "state", "completed_no_deallocate");
	em_put_le16(page + 2, 3);
	check_value(EM_PAGE_SANITIZE, "state", "failed");
	em_put_le32(page + 4, 0x204);
	check_value(EM_PAGE_SANITIZE, "action", "crypto_erase");
}
END_TEST

START_TEST(identify_text_with_bad_bytes)
{
	load("R23a.hex");
	check_value(EM_PAGE_IDENTIFY_CTRL, "serial", "SN0000000001-3?");
	check_value(EM_PAGE_IDENTIFY_CTRL, "model", "PCIe3 \"1.6TB\" \\NVMe??? Adapter");
	check_value(EM_PAGE_IDENTIFY_CTRL, "firmware", "0101?");
	ck_assert(em_identify_identity_valid(page, 4096));
}
END_TEST

START_TEST(an_identity_needs_serial_and_model)
{
	load("R23a.hex");
	memset(page + 4, ' ', 20);
	ck_assert(!em_identify_identity_valid(page, 4096));
	memset(page + 4, 0xff, 20);
	ck_assert(!em_identify_identity_valid(page, 4096));
	load("R23a.hex");
	memset(page + 24, 0, 40);
	ck_assert(!em_identify_identity_valid(page, 4096));
	load("R23a.hex");
	ck_assert(!em_identify_identity_valid(page, 72));
	memset(page, 0xff, sizeof(page));
	ck_assert(!em_identify_identity_valid(page, 4096));
}
END_TEST

static void put_identify(void)
{
	start();
	em_put_le16(page, 0x1c5f);
	memcpy(page + 4, "S1                  ", 20);
	memcpy(page + 24, "M1", 2);
	em_put_le32(page + 80, 0x10400);
	page[260] = 0x17;
	page[261] = 0x04;
	page[262] = 63;
	page[2048] = 0xc4; /* 25 W in 0.01 W: 2500 */
	page[2049] = 0x09;
	page[2048 + 32] = 0x2c; /* 0.0300 W in 0.0001 W: 300 */
	page[2048 + 33] = 0x01;
	page[2048 + 35] = 0x03;
}

START_TEST(identify_says_what_else_is_needed)
{
	struct em_nvme_ctx got;

	put_identify();
	em_nvme_ctx_from_identify(page, 4096, &got);
	ck_assert(got.known);
	ck_assert_uint_eq(got.ver, EM_VER(1, 4));
	ck_assert_uint_eq(got.frmw, 0x17);
	ck_assert_uint_eq(got.error_entries, 64);
	ck_assert(got.log_offset);
	check_value(EM_PAGE_IDENTIFY_CTRL, "vendor_id", "1c5f");
	check_value(EM_PAGE_IDENTIFY_CTRL, "version", "1.4");
	check_value(EM_PAGE_IDENTIFY_CTRL, "firmware_slots", "3");
	check_value(EM_PAGE_IDENTIFY_CTRL, "unallocated_capacity_bytes", "null");
	page[256] = 0x08;
	check_value(EM_PAGE_IDENTIFY_CTRL, "unallocated_capacity_bytes", "0");
	page[318] = 0x01;
	check_value(EM_PAGE_IDENTIFY_CTRL, "selftest_one_per_subsystem", "null");
	page[256] = 0x10;
	check_value(EM_PAGE_IDENTIFY_CTRL, "selftest_one_per_subsystem", "true");
	page[318] = 0xfe;
	check_value(EM_PAGE_IDENTIFY_CTRL, "selftest_one_per_subsystem", "false");
	check_entry(EM_PAGE_IDENTIFY_CTRL, 0, "max_power_microwatts", "25000000");
	check_entry(EM_PAGE_IDENTIFY_CTRL, 1, "max_power_microwatts", "30000");
	check_entry(EM_PAGE_IDENTIFY_CTRL, 1, "non_operational", "true");
	ck_assert(entry_is_unused(EM_PAGE_IDENTIFY_CTRL, 2));
	em_nvme_ctx_from_identify(page, 4095, &got);
	ck_assert(!got.known);
	memset(page, 0xff, sizeof(page));
	em_nvme_ctx_from_identify(page, 4096, &got);
	ck_assert(!got.known);
}
END_TEST

START_TEST(thresholds_of_zero_are_not_reported)
{
	put_identify();
	check_value(EM_PAGE_IDENTIFY_CTRL, "warning_temp_threshold_celsius", "null");
	em_put_le16(page + 266, 343);
	check_value(EM_PAGE_IDENTIFY_CTRL, "warning_temp_threshold_celsius", "70");
	check_value(EM_PAGE_IDENTIFY_CTRL, "firmware_granularity_bytes", "null");
	page[319] = 0xff;
	check_value(EM_PAGE_IDENTIFY_CTRL, "firmware_granularity_bytes", "null");
	page[319] = 1;
	check_value(EM_PAGE_IDENTIFY_CTRL, "firmware_granularity_bytes", "4096");
}
END_TEST

START_TEST(namespace_sizes_in_bytes)
{
	start();
	em_put_le64(page, 1000);
	em_put_le64(page + 8, 900);
	em_put_le64(page + 16, UINT64_MAX);
	page[25] = 1;	 /* two formats */
	page[26] = 0x61; /* format 1; with so few formats the upper bits do not count */
	em_put_le32(page + 128, 9u << 16);
	em_put_le32(page + 132, 12u << 16 | 8);
	check_value(EM_PAGE_IDENTIFY_NS, "lba_format", "1");
	check_value(EM_PAGE_IDENTIFY_NS, "block_size_bytes", "4096");
	check_value(EM_PAGE_IDENTIFY_NS, "metadata_bytes", "8");
	check_value(EM_PAGE_IDENTIFY_NS, "size_bytes", "4096000");
	check_value(EM_PAGE_IDENTIFY_NS, "capacity_bytes", "3686400");
	check_value(EM_PAGE_IDENTIFY_NS, "utilization_bytes", "75557863725914323415040");
	check_entry(EM_PAGE_IDENTIFY_NS, 0, "block_size_bytes", "512");
	ck_assert(entry_is_unused(EM_PAGE_IDENTIFY_NS, 2));
}
END_TEST

START_TEST(namespace_formats_beyond_sixteen)
{
	start();
	em_put_le64(page, 3);
	page[25] = 63;
	page[26] = 0x6f;
	em_put_le32(page + 128 + 63 * 4, 9u << 16);
	check_value(EM_PAGE_IDENTIFY_NS, "lba_format", "63");
	check_value(EM_PAGE_IDENTIFY_NS, "size_bytes", "1536");
	page[128 + 63 * 4 + 2] = 200; /* no block is 2^200 bytes */
	check_value(EM_PAGE_IDENTIFY_NS, "size_bytes", "null");
	check_value(EM_PAGE_IDENTIFY_NS, "block_size_bytes", "null");
	check_value(EM_PAGE_IDENTIFY_NS, "size_blocks", "3");
}
END_TEST

START_TEST(pages_that_are_no_reading)
{
	static const enum em_page_state zero[EM_PAGE_COUNT] = {
		[EM_PAGE_IDENTIFY_CTRL] = EM_PAGE_ALL_ZERO,
		[EM_PAGE_IDENTIFY_NS] = EM_PAGE_ALL_ZERO,
		[EM_PAGE_SMART] = EM_PAGE_ALL_ZERO,
		[EM_PAGE_FIRMWARE] = EM_PAGE_ALL_ZERO,
		[EM_PAGE_SELFTEST] = EM_PAGE_VALID,
		[EM_PAGE_ERRORS] = EM_PAGE_VALID,
		[EM_PAGE_EFFECTS] = EM_PAGE_ALL_ZERO,
		[EM_PAGE_SANITIZE] = EM_PAGE_VALID,
		[EM_PAGE_MEMBLAZE] = EM_PAGE_ALL_ZERO,
		[EM_PAGE_SECURITY] = EM_PAGE_ALL_ZERO,
	};

	for (unsigned i = 0; i < EM_PAGE_COUNT; i++) {
		const struct em_page *p = em_pages[i];

		memset(page, 0, sizeof(page));
		ck_assert_int_eq(em_page_check(p, page, p->size), zero[i]);
		ck_assert_int_eq(em_page_check(p, page, p->size - 1), EM_PAGE_SHORT);
		ck_assert_int_eq(em_page_check(p, NULL, 0), EM_PAGE_SHORT);
		memset(page, 0xff, p->size);
		ck_assert_int_eq(em_page_check(p, page, p->size), EM_PAGE_ALL_ONES);
		page[p->size - 1] = 0xfe;
		ck_assert_int_eq(em_page_check(p, page, p->size), EM_PAGE_VALID);
	}
	ck_assert_str_eq(em_page_state_text(EM_PAGE_ALL_ONES), "all bytes are FFh");
}
END_TEST

START_TEST(single_facts_by_key)
{
	load("R05.hex");
	ck_assert_uint_eq(em_page_u64(EM_PAGE_SMART, "percentage_used", page, 512, &ctx, 7), 104);
	ck_assert_uint_eq(em_page_u64(EM_PAGE_SMART, "percentage_used", page, 5, &ctx, 7), 7);
	put_identify();
	page[319] = 2;
	ck_assert_uint_eq(em_page_u64(EM_PAGE_IDENTIFY_CTRL, "firmware_granularity_bytes", page,
				      4096, &ctx, 0),
			  8192);
}
END_TEST

static void decode_first_entry(const struct em_group *group, const uint8_t *bytes, size_t len)
{
	for (unsigned i = 0; group->offset < len && i < group->field_count; i++)
		ck_assert_ptr_nonnull(
			text_of(&group->fields[i], bytes + group->offset, len - group->offset));
}

/* Whatever the bytes are, a value is either absent or of the kind that its row promises. */
START_TEST(any_bytes_are_decoded_or_absent)
{
	uint32_t seed = 1;

	start();
	for (unsigned round = 0; round < 300; round++) {
		const struct em_page *p = em_pages[round % EM_PAGE_COUNT];
		size_t len = round % 3 ? p->size : seed % p->size;
		uint8_t *bytes = malloc(len ? len : 1); /* exact, so that overreading is seen */

		ck_assert_ptr_nonnull(bytes);
		for (size_t i = 0; i < len; i++) {
			seed = seed * 1664525 + 1013904223;
			bytes[i] = (uint8_t)(seed >> 24);
		}
		for (unsigned i = 0; i < p->field_count; i++)
			ck_assert_ptr_nonnull(text_of(&p->fields[i], bytes, len));
		for (unsigned i = 0; i < p->group_count; i++)
			decode_first_entry(&p->groups[i], bytes, len);
		free(bytes);
	}
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("page");

	tcase_add_test(tcase, smart_of_a_working_drive);
	tcase_add_test(tcase, smart_without_a_temperature);
	tcase_add_test(tcase, smart_beyond_a_hundred_percent);
	tcase_add_test(tcase, smart_of_an_old_version_has_no_newer_fields);
	tcase_add_test(tcase, smart_counters_and_sensors_at_their_limits);
	tcase_add_test(tcase, firmware_slots);
	tcase_add_test(tcase, firmware_slots_that_the_drive_does_not_tell);
	tcase_add_test(tcase, a_failed_self_test);
	tcase_add_test(tcase, each_valid_bit_opens_its_own_value);
	tcase_add_test(tcase, a_running_self_test);
	tcase_add_test(tcase, a_self_test_log_of_zeros_has_no_result);
	tcase_add_test(tcase, the_last_test_that_came_to_its_end);
	tcase_add_test(tcase, an_error);
	tcase_add_test(tcase, an_error_without_a_command);
	tcase_add_test(tcase, the_error_log_is_as_long_as_identify_says);
	tcase_add_test(tcase, effects_of_commands);
	tcase_add_test(tcase, a_sanitize_that_runs);
	tcase_add_test(tcase, a_sanitize_that_does_not_run);
	tcase_add_test(tcase, identify_text_with_bad_bytes);
	tcase_add_test(tcase, an_identity_needs_serial_and_model);
	tcase_add_test(tcase, identify_says_what_else_is_needed);
	tcase_add_test(tcase, thresholds_of_zero_are_not_reported);
	tcase_add_test(tcase, namespace_sizes_in_bytes);
	tcase_add_test(tcase, namespace_formats_beyond_sixteen);
	tcase_add_test(tcase, pages_that_are_no_reading);
	tcase_add_test(tcase, single_facts_by_key);
	tcase_add_test(tcase, any_bytes_are_decoded_or_absent);
	return run_tests(tcase);
}
