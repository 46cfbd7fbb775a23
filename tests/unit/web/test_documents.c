/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include "fixture.h"
#include "tests/unit/runner.h"

static struct em_snapshot *fleet;

static void setup(void)
{
	fleet = make_fleet();
}

static void teardown(void)
{
	fleet = em_snapshot_unref(fleet);
}

START_TEST(smart_of_a_well_drive)
{
	json_t *root = ask_json(fleet, "/v1/drives/nvme0/smart", 200);

	ck_text(root, "drive", "00000000000000a0");
	ck_text(root, "serial", "SN-A-0001");
	ck_text(root, "page", "smart");
	ck_text(root, "state", "ok");
	ck_text(root, "status", "ok");
	ck_null(root, "status_detail");
	ck_text(root, "read_at", "2026-10-25T00:29:58.766Z");
	ck_text(root, "attempted_at", "2026-10-25T00:29:58.766Z");
	ck_assert(json_real_value(at(root, "age_seconds")) == 1.234);
	ck_assert(json_is_true(at(root, "valid")));
	ck_int(root, "values.temperature_celsius", 39);
	ck_int(root, "values.critical_warning", 2);
	ck_assert_uint_eq(json_array_size(at(root, "values.critical_warning_bits")), 1);
	ck_text(root, "values.critical_warning_bits.0", "temperature_out_of_range");
	ck_text(root, "values.data_units_read", "136887354");
	ck_text(root, "values.bytes_read", "70086325248000");
	ck_text(root, "values.data_units_written", "340282366920938463463374607431768211455");
	/* Beyond 128 bits, and still exact. */
	ck_text(root, "values.bytes_written", "174224571863520493293247799005065324264960000");
	ck_text(root, "values.host_read_commands", "1152921504606846976");
	ck_text(root, "values.media_errors", "0");
	ck_int(root, "values.temperature_sensor_1_celsius", 37);
	ck_null(root, "values.temperature_sensor_2_celsius");
	json_decref(root);
}
END_TEST

/* The name may soon be another drive's, but whoever asks by it is told where the old one is. */
START_TEST(name_of_a_gone_drive)
{
	json_t *root;

	fleet->drives[2]->controller_count = 0;
	fleet->drives[2]->state = EM_STATE_REMOVED;
	root = ask_json(fleet, "/v1/drives/nvme2", 404);
	ck_assert_ptr_nonnull(strstr(json_string_value(at(root, "detail")), "SN-B-0003"));
	ck_assert_ptr_nonnull(strstr(json_string_value(at(root, "detail")), "removed"));
	json_decref(root);
	strcpy(fleet->drives[3]->device, "nvme2");
	root = ask_json(fleet, "/v1/drives/nvme2", 200);
	ck_text(root, "serial", "SN0000000001-3?");
	json_decref(root);
}
END_TEST

START_TEST(fields_newer_than_the_drive_are_null)
{
	json_t *root;

	fleet->drives[0]->ctx.ver = EM_VER(1, 1);
	root = ask_json(fleet, "/v1/drives/nvme0/smart", 200);
	ck_null(root, "values.warning_temp_time_minutes");
	ck_null(root, "values.temperature_sensor_1_celsius");
	ck_int(root, "values.temperature_celsius", 39);
	json_decref(root);
}
END_TEST

static void expect_all_null(json_t *values)
{
	const char *key;
	json_t *value;

	ck_assert_uint_gt(json_object_size(values), 0);
	json_object_foreach(values, key, value)
		ck_assert_msg(json_is_null(value), "%s is not null", key);
}

START_TEST(no_reading_is_not_a_value)
{
	json_t *root = ask_json(fleet, "/v1/drives/nvme2/smart", 200);

	ck_text(root, "status", "no-reading");
	ck_text(root, "status_detail", em_page_state_text(EM_PAGE_ALL_ONES));
	ck_assert(json_is_false(at(root, "valid")));
	ck_null(root, "read_at");
	ck_null(root, "age_seconds");
	ck_text(root, "attempted_at", "2026-10-25T00:29:58.000Z");
	expect_all_null(at(root, "values"));
	ck_null(root, "values.critical_warning_bits");
	json_decref(root);

	root = ask_json(fleet, "/v1/drives/nvme2/selftest", 200);
	ck_text(root, "status", "refused");
	ck_assert(json_is_string(at(root, "status_detail")));
	ck_null(root, "values.results");
	ck_null(root, "values.unused_entries");
	expect_all_null(at(root, "values"));
	json_decref(root);

	root = ask_json(fleet, "/v1/drives/nvme2/identify", 200);
	ck_text(root, "status", "never-read");
	ck_null(root, "attempted_at");
	expect_all_null(at(root, "values"));
	json_decref(root);
}
END_TEST

START_TEST(a_hung_drive_shows_old_values_and_their_age)
{
	json_t *root = ask_json(fleet, "/v1/drives/nvme1/smart", 200);

	ck_text(root, "state", "unresponsive");
	ck_text(root, "status", "timeout");
	ck_text(root, "attempted_at", "2026-10-25T00:29:58.000Z");
	ck_text(root, "read_at", "2026-10-24T23:30:00.000Z");
	ck_assert(json_real_value(at(root, "age_seconds")) == 3600);
	ck_assert(json_is_true(at(root, "valid")));
	ck_int(root, "values.temperature_celsius", 39);
	json_decref(root);
}
END_TEST

START_TEST(slots_and_results)
{
	json_t *root = ask_json(fleet, "/v1/drives/nvme0/firmware", 200);

	ck_int(root, "values.active_slot", 1);
	ck_int(root, "values.next_reset_slot", 1);
	ck_assert_uint_eq(json_array_size(at(root, "values.slots")), 3);
	ck_int(root, "values.slots.0.slot", 1);
	ck_text(root, "values.slots.0.revision", "GPNA4B3Q");
	ck_assert(json_is_true(at(root, "values.slots.0.read_only")));
	ck_int(root, "values.slots.2.slot", 3);
	ck_null(root, "values.slots.2.revision");
	ck_assert(json_is_false(at(root, "values.slots.2.read_only")));
	json_decref(root);

	root = ask_json(fleet, "/v1/drives/nvme0/selftest", 200);
	ck_assert(json_is_false(at(root, "values.in_progress")));
	ck_null(root, "values.percent");
	ck_assert_uint_eq(json_array_size(at(root, "values.results")), 1);
	ck_text(root, "values.results.0.test", "extended");
	ck_int(root, "values.results.0.result_code", 7);
	ck_text(root, "values.results.0.power_on_hours", "1772");
	ck_text(root, "values.results.0.failing_lba", "0");
	ck_null(root, "values.results.0.sct");
	ck_int(root, "values.unused_entries", 19);
	json_decref(root);
}
END_TEST

START_TEST(list_of_drives)
{
	json_t *root = ask_json(fleet, "/v1/drives", 200);

	ck_text(root, "at", "2026-10-25T00:30:00.000Z");
	ck_assert_uint_eq(json_array_size(at(root, "drives")), 4);
	ck_text(root, "drives.0.device", "nvme0");
	ck_null(root, "drives.0.state_detail");
	ck_null(root, "drives.0.subsystem_nqn");
	ck_null(root, "drives.0.capacity_bytes");
	ck_int(root, "drives.0.smart.temperature_celsius", 39);
	ck_text(root, "drives.0.smart.power_on_hours", "1772");
	ck_text(root, "drives.0.smart.critical_warning_bits.0", "temperature_out_of_range");
	ck_text(root, "drives.1.state", "unresponsive");
	ck_text(root, "drives.1.state_detail", "three commands were not answered");
	ck_assert(json_real_value(at(root, "drives.1.smart.age_seconds")) == 3600);
	ck_assert(json_real_value(at(root, "drives.1.smart.interval_seconds")) == 60);
	ck_assert(json_is_false(at(root, "drives.2.smart.valid")));
	ck_null(root, "drives.2.smart.temperature_celsius");
	ck_null(root, "drives.2.smart.critical_warning_bits");
	ck_text(root, "drives.3.model", MODEL_HOSTILE);
	ck_text(root, "drives.3.serial", "SN0000000001-3?");
	json_decref(root);
}
END_TEST

START_TEST(capacity_comes_from_identify)
{
	uint8_t page[4096] = { 0x86, 0x80 };
	json_t *root;

	page[280 + 5] = 7; /* TNVMCAP: 7 x 2^40 */
	give_page(&fleet->drives[0]->pages[EM_PAGE_IDENTIFY_CTRL], page, sizeof(page), 4096, 1000);
	root = ask_json(fleet, "/v1/drives/nvme0", 200);
	ck_text(root, "capacity_bytes", "7696581394432");
	json_decref(root);
}
END_TEST

START_TEST(controllers_are_the_ways_to_a_drive)
{
	struct em_drive_snap *drive = fleet->drives[0];
	json_t *root;

	drive->controllers = calloc(2, sizeof(*drive->controllers));
	drive->controller_count = 2;
	strcpy(drive->controllers[0].device, "nvme0");
	strcpy(drive->controllers[0].state, "live");
	strcpy(drive->controllers[0].cntlid, "7");
	strcpy(drive->controllers[1].device, "nvme5");
	drive->controllers[1].active = true;
	drive->controllers[1].link = (struct em_pcie_link){ 8, 16, 2, 4 };
	drive->controllers[1].numa_node = 1;
	drive->controllers[0].numa_node = EM_NUMA_UNKNOWN;
	root = ask_json(fleet, "/v1/drives/nvme0", 200);
	ck_assert_uint_eq(json_array_size(at(root, "controllers")), 2);
	ck_text(root, "controllers.0.device", "nvme0");
	ck_text(root, "controllers.0.state", "live");
	ck_text(root, "controllers.0.controller_id", "7");
	ck_null(root, "controllers.0.address");
	ck_assert(json_is_false(at(root, "controllers.0.active")));
	ck_null(root, "controllers.1.state");
	ck_assert(json_is_true(at(root, "controllers.1.active")));
	ck_null(root, "controllers.0.link_speed_gts");
	ck_null(root, "controllers.0.numa_node");
	ck_assert(json_real_value(at(root, "controllers.1.link_speed_gts")) == 8.0);
	ck_assert(json_real_value(at(root, "controllers.1.link_speed_max_gts")) == 16.0);
	ck_assert_int_eq(json_integer_value(at(root, "controllers.1.link_width")), 2);
	ck_assert_int_eq(json_integer_value(at(root, "controllers.1.link_width_max")), 4);
	ck_assert_int_eq(json_integer_value(at(root, "controllers.1.numa_node")), 1);
	json_decref(root);
}
END_TEST

/* Drives that come and go between two parts of the list neither repeat nor hide others. */
START_TEST(list_in_parts)
{
	struct em_drive_snap *fewer[3];
	struct em_snapshot *later;
	char uri[512];
	json_t *root;

	root = ask_json(fleet, "/v1/drives?limit=2", 200);
	ck_assert_uint_eq(json_array_size(at(root, "drives")), 2);
	ck_text(root, "drives.1.device", "nvme1");
	snprintf(uri, sizeof(uri), "/v1/drives?limit=2&cursor=%s",
		 json_string_value(at(root, "next_cursor")));
	json_decref(root);
	fewer[0] = em_drive_snap_ref(fleet->drives[0]);
	fewer[1] = em_drive_snap_ref(fleet->drives[2]);
	fewer[2] = em_drive_snap_ref(fleet->drives[3]);
	later = make_snapshot(fewer, 3);
	root = ask_json(later, uri, 200);
	ck_assert_uint_eq(json_array_size(at(root, "drives")), 2);
	ck_text(root, "drives.0.device", "nvme2");
	ck_text(root, "drives.1.device", "nvme10");
	ck_null(root, "next_cursor");
	json_decref(root);
	em_snapshot_unref(later);
	snprintf(uri + strlen(uri), sizeof(uri) - strlen(uri), "&state=ok");
	json_decref(ask_json(fleet, uri, 400));
	root = ask_json(fleet, "/v1/drives?state=unresponsive,removed", 200);
	ck_assert_uint_eq(json_array_size(at(root, "drives")), 1);
	json_decref(root);
}
END_TEST

START_TEST(one_drive)
{
	json_t *root = ask_json(fleet, "/v1/drives/nvme1", 200);

	ck_assert_uint_eq(json_array_size(at(root, "pages")), EM_PAGE_CTRL_COUNT);
	ck_text(root, "pages.1.page", "smart");
	ck_text(root, "pages.1.status", "timeout");
	ck_assert(json_real_value(at(root, "pages.1.interval_seconds")) == 60);
	ck_null(root, "pages.0.interval_seconds");
	ck_int(root, "polls.errors_total", 3);
	ck_int(root, "polls.misses", 3);
	ck_assert_uint_eq(json_array_size(at(root, "namespaces")), 0);
	json_decref(root);
}
END_TEST

START_TEST(namespaces)
{
	json_t *root = ask_json(fleet, "/v1/drives/nvme0/namespaces", 200);

	ck_text(root, "list_status", "ok");
	ck_text(root, "list_read_at", "2026-10-25T00:29:58.500Z");
	ck_assert(json_real_value(at(root, "list_age_seconds")) == 1.5);
	ck_int(root, "namespaces.0.nsid", 1);
	ck_assert(json_is_true(at(root, "namespaces.0.valid")));
	ck_text(root, "namespaces.0.values.size_blocks", "1000");
	json_decref(root);

	root = ask_json(fleet, "/v1/drives/nvme2/namespaces", 200);
	ck_text(root, "list_status", "never-read");
	ck_null(root, "list_read_at");
	ck_null(root, "list_age_seconds");
	json_decref(root);
}
END_TEST

START_TEST(health_says_what_is_wrong)
{
	json_t *root = ask_json(fleet, "/v1/health", 200);

	ck_text(root, "status", "degraded");
	ck_text(root, "version", "1.2.3");
	ck_assert(json_real_value(at(root, "uptime_seconds")) == 60);
	/* No database, one hung drive. */
	ck_assert_uint_eq(json_array_size(at(root, "reasons")), 2);
	ck_text(root, "reasons.1", "nvme1 (SN-A-0002) does not answer");
	ck_int(root, "broker.requests_total", 42);
	ck_text(root, "store.status", "degraded");
	ck_int(root, "drives.total", 4);
	ck_int(root, "drives.ok", 3);
	ck_int(root, "drives.unresponsive", 1);
	json_decref(root);

	fleet->broker_connected = false;
	root = ask_json(fleet, "/v1/health", 200);
	ck_assert(json_is_false(at(root, "broker.connected")));
	ck_assert_uint_eq(json_array_size(at(root, "reasons")), 3);
	json_decref(root);
}
END_TEST

static unsigned count_reasons(const struct em_context *context, const char *last)
{
	struct em_reply reply = ask_with(context, fleet, "GET", "/v1/health");
	json_t *root = reply_json(&reply, 200), *list = at(root, "reasons");
	unsigned count = (unsigned)json_array_size(list);

	/* The last but one: what drives do comes behind. */
	if (last)
		ck_assert_str_eq(json_string_value(json_array_get(list, count - 2)), last);
	json_decref(root);
	return count;
}

START_TEST(health_says_what_keeps_the_network_out)
{
	struct em_context context = { .version = "1.2.3" };
	unsigned without = count_reasons(&context, NULL);

	/* Nobody is to get in, so nothing is missing. */
	context.tokens_trouble = "the file is odd";
	ck_assert_uint_eq(count_reasons(&context, NULL), without);
	context.certificate_expires_us = NOW_US + 1;
	ck_assert_uint_eq(
		count_reasons(&context, "the file is odd: nobody gets in over the network"),
		without + 1);
	context.tokens_trouble = NULL;
	context.certificate_expires_us = NOW_US;
	ck_assert_uint_eq(
		count_reasons(&context, "the certificate for HTTPS has expired: clients refuse it"),
		without + 1);
}
END_TEST

START_TEST(no_drives_is_a_valid_state)
{
	struct em_snapshot *empty = make_snapshot(NULL, 0);
	json_t *root = ask_json(empty, "/v1/drives", 200);

	ck_assert_uint_eq(json_array_size(at(root, "drives")), 0);
	json_decref(root);
	em_snapshot_unref(empty);
}
END_TEST

START_TEST(index_lists_every_route)
{
	struct em_reply reply = ask(fleet, "GET", "/");

	ck_assert_uint_eq(reply.status, 200);
	for (unsigned i = 0; i < em_route_count; i++)
		ck_assert_ptr_nonnull(strstr(reply.body, em_routes[i].path));
	em_reply_done(&reply);
}
END_TEST

START_TEST(health_of_drives)
{
	json_t *root = ask_json(fleet, "/v1/drives/nvme0/health", 200);

	ck_text(root, "health", "failing");
	ck_text(root, "capacitor", "unknown");
	ck_text(root, "reasons.0.rule", "selftest.failed");
	ck_text(root, "reasons.0.detail", "extended");
	ck_text(root, "reasons.0.page", "selftest");
	ck_int(root, "reasons.0.value", 7);
	ck_null(root, "reasons.0.limit");
	ck_text(root, "reasons.1.rule", "critical_warning.temperature_out_of_range");
	ck_text(root, "reasons.1.severity", "degraded");
	ck_text(root, "reasons.2.severity", "info");
	json_decref(root);
	/* Hung, with the readings of an hour ago. */
	root = ask_json(fleet, "/v1/drives/nvme1/health", 200);
	ck_text(root, "health", "unknown");
	ck_text(root, "reasons.0.rule", "drive.unresponsive");
	ck_null(root, "reasons.0.page");
	ck_null(root, "reasons.0.read_at");
	ck_text(root, "reasons.1.rule", "smart.old");
	ck_int(root, "reasons.1.value", 3600);
	ck_int(root, "reasons.1.limit", 180);
	json_decref(root);
	root = ask_json(fleet, "/v1/drives/nvme2/health", 200);
	ck_text(root, "health", "unknown");
	ck_text(root, "reasons.0.rule", "smart.unread");
	json_decref(root);
	root = ask_json(fleet, "/v1/drives/nvme0", 200);
	ck_text(root, "health", "failing");
	ck_text(root, "health_reason", "Its last self-test of this kind failed.");
	json_decref(root);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("all");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, health_of_drives);
	tcase_add_test(tc, smart_of_a_well_drive);
	tcase_add_test(tc, name_of_a_gone_drive);
	tcase_add_test(tc, fields_newer_than_the_drive_are_null);
	tcase_add_test(tc, no_reading_is_not_a_value);
	tcase_add_test(tc, a_hung_drive_shows_old_values_and_their_age);
	tcase_add_test(tc, slots_and_results);
	tcase_add_test(tc, list_of_drives);
	tcase_add_test(tc, capacity_comes_from_identify);
	tcase_add_test(tc, controllers_are_the_ways_to_a_drive);
	tcase_add_test(tc, list_in_parts);
	tcase_add_test(tc, one_drive);
	tcase_add_test(tc, namespaces);
	tcase_add_test(tc, health_says_what_is_wrong);
	tcase_add_test(tc, health_says_what_keeps_the_network_out);
	tcase_add_test(tc, no_drives_is_a_valid_state);
	tcase_add_test(tc, index_lists_every_route);
	return run_tests(tc);
}
