/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include "tests/unit/runner.h"
#include "tests/unit/store/fixture.h"

static int take_drive(void *userdata, const struct em_store_drive *drive)
{
	memcpy(userdata, drive, sizeof(*drive));
	return 0;
}

struct pages {
	char text[256];
	uint8_t last[600];
	size_t len;
};

static int take_page(void *userdata, const char *drive_id, const char *page, uint32_t nsid,
		     int64_t at_us, const uint8_t *data, size_t len)
{
	struct pages *pages = userdata;
	size_t used = strlen(pages->text);

	snprintf(pages->text + used, sizeof(pages->text) - used, "%s/%s/%u@%lld+%zu ", drive_id,
		 page, nsid, (long long)at_us, len);
	ck_assert_uint_le(len, sizeof(pages->last));
	if (len > 0)
		memcpy(pages->last, data, len);
	pages->len = len;
	return strcmp(page, "stop") == 0 ? -ECANCELED : 0;
}

START_TEST(drives_and_pages_outlive_a_restart)
{
	struct em_store *store = open_store();
	struct em_store_drive drive = {
		.id = DRIVE,
		.identity = "nqn\0 S\xff",
		.identity_len = 9,
		.device = "nvme0",
		.serial = "S?",
		.model = "M",
		.firmware = "F",
		.subsystem_nqn = "nqn",
		.address = "0000:01:00.0",
		.transport = "pcie",
		.cntlid = "1",
		.state = "ok",
		.first_seen_us = 1,
		.last_seen_us = 2,
		.state_since_us = 3,
	};
	struct em_store_drive loaded;
	struct pages pages = { 0 };
	uint8_t bytes[512];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)i;
	ck_assert_int_eq(em_store_put_drive(store, &drive), 0);
	ck_assert_int_eq(em_store_put_page(store, DRIVE, "smart", 0, 5, "old", 3), 0);
	ck_assert_int_eq(em_store_put_page(store, DRIVE, "namespace", 2, 6, NULL, 0), 0);
	ck_assert_int_eq(em_store_put_page(store, DRIVE, "smart", 0, 7, bytes, sizeof(bytes)), 0);
	em_store_close(store, GRACE_US);

	store = open_store();
	memset(&loaded, 0, sizeof(loaded));
	ck_assert_int_eq(em_store_load_drives(store, take_drive, &loaded), 0);
	ck_assert_mem_eq(&loaded, &drive, sizeof(drive));
	ck_assert_int_eq(em_store_load_pages(store, take_page, &pages), 0);
	ck_assert_str_eq(pages.text, DRIVE "/namespace/2@6+0 " DRIVE "/smart/0@7+512 ");
	ck_assert_uint_eq(pages.len, sizeof(bytes));
	ck_assert_mem_eq(pages.last, bytes, sizeof(bytes));
	ck_assert_int_eq(em_store_put_page(store, DRIVE, "stop", 0, 8, "x", 1), 0);
	wait_written(store);
	ck_assert_int_eq(em_store_load_pages(store, take_page, &pages), -ECANCELED);
	em_store_close(store, GRACE_US);
}
END_TEST

START_TEST(a_new_file_knows_the_drives_of_the_last_one)
{
	const struct em_store_drive gone = { .id = DRIVE, .serial = "S1", .state = "retired" };
	struct em_store *store = open_store();
	struct em_store_drive loaded;
	char buf[128];

	ck_assert_int_eq(em_store_put_drive(store, &gone), 0);
	em_store_close(store, GRACE_US);
	store = open_store();
	ck_assert_int_eq(em_store_load_drives(store, take_drive, &loaded), 0);
	ck_assert_int_eq(unlink(db_path), 0);
	put(store, 1, 1);
	wait_written(store);
	ck_assert_str_eq(look("SELECT serial || state FROM drive", buf), "S1retired");
	em_store_close(store, GRACE_US);
}
END_TEST

static int add_test_run(void *userdata, const struct em_store_test_run *run)
{
	char *text = userdata;

	sprintf(text + strlen(text), "%s/%s/%s@%lld ", run->drive, run->test, run->calendar,
		(long long)run->slot_us);
	return 0;
}

START_TEST(runs_of_tests_outlive_a_restart)
{
	struct em_store_test_run one = { "d1", "short", "daily", 7 };
	struct em_store_test_run two = { "d1", "extended", "weekly", 8 };
	struct em_store *store = open_store();
	char text[256] = "";

	ck_assert_int_eq(em_store_put_test_run(store, &one), 0);
	ck_assert_int_eq(em_store_put_test_run(store, &two), 0);
	wait_written(store);
	one.slot_us = 9;
	ck_assert_int_eq(em_store_put_test_run(store, &one), 0);
	em_store_close(store, GRACE_US);

	store = open_store();
	ck_assert_int_eq(em_store_load_test_runs(store, add_test_run, text), 0);
	ck_assert_str_eq(text, "d1/extended/weekly@8 d1/short/daily@9 ");
	one.test[0] = '\0';
	ck_assert_int_eq(em_store_put_test_run(store, &one), -EINVAL);
	em_store_close(store, GRACE_US);
}
END_TEST

static int add_capability(void *userdata, const struct em_store_capability *capability)
{
	char *text = userdata;

	sprintf(text + strlen(text), "%s/%s/%s=%x@%lld ", capability->model, capability->firmware,
		capability->page, capability->nvme_status, (long long)capability->at_us);
	return 0;
}

START_TEST(capabilities_outlive_a_restart_and_are_forgotten)
{
	struct em_store_capability one = { "M", "1", "errors", 0x4109, 7 };
	struct em_store_capability two = { "M", "2", "effects", 0x4002, 8 };
	struct em_store *store = open_store();
	char text[256] = "";

	ck_assert_int_eq(em_store_put_capability(store, &one, false), 0);
	ck_assert_int_eq(em_store_put_capability(store, &two, false), 0);
	one.at_us = 9;
	ck_assert_int_eq(em_store_put_capability(store, &one, false), 0);
	em_store_close(store, GRACE_US);

	store = open_store();
	ck_assert_int_eq(em_store_load_capabilities(store, add_capability, text), 0);
	ck_assert_str_eq(text, "M/1/errors=4109@9 M/2/effects=4002@8 ");
	ck_assert_int_eq(em_store_put_capability(store, &one, true), 0);
	ck_assert_int_eq(em_store_put_capability(store, &two, true), 0);
	ck_assert_int_eq(em_store_put_capability(store, &two, false), 0);
	wait_written(store);
	text[0] = '\0';
	ck_assert_int_eq(em_store_load_capabilities(store, add_capability, text), 0);
	ck_assert_str_eq(text, "M/2/effects=4002@8 ");
	one.page[0] = '\0';
	ck_assert_int_eq(em_store_put_capability(store, &one, false), -EINVAL);
	em_store_close(store, GRACE_US);
}
END_TEST

struct events {
	struct em_event last;
	char ids[256];
};

static int add_event(void *userdata, const struct em_event *event)
{
	struct events *events = userdata;

	sprintf(events->ids + strlen(events->ids), "%lld ", (long long)event->id);
	events->last = *event;
	return 0;
}

START_TEST(events_come_back_as_they_were_put)
{
	struct em_event event = {
		.id = INT64_C(1764000000000001),
		.at_us = INT64_C(1764000000000000),
		.kind = "namespace-changed",
		.drive = DRIVE,
		.device = "nvme0",
		.serial = "S1",
		.nsid = UINT32_MAX,
		.subject = "namespace 4294967295",
		.new_value = "it's \"512\"",
	};
	struct events events = { 0 };
	struct em_store *store = open_store();

	memset(event.old_value, 'o', sizeof(event.old_value) - 1);
	memset(event.summary, 's', sizeof(event.summary) - 1);
	for (int64_t id = 1; id <= 5; id++)
		ck_assert_int_eq(
			em_store_put_event(store, &(struct em_event){ .id = id, .kind = "broker" }),
			0);
	ck_assert_int_eq(em_store_put_event(store, &event), 0);
	em_store_close(store, GRACE_US);

	store = open_store();
	ck_assert_int_eq(em_store_load_events(store, 3, add_event, &events), 0);
	ck_assert_str_eq(events.ids, "4 5 1764000000000001 ");
	ck_assert_mem_eq(&events.last, &event, sizeof(event));
	ck_assert_int_eq(em_store_load_events(store, 0, add_event, &events), 0);
	ck_assert_str_eq(events.ids, "4 5 1764000000000001 ");
	em_store_close(store, GRACE_US);
}
END_TEST

static int take_event(void *userdata, const struct em_event *event)
{
	memcpy(userdata, event, sizeof(*event));
	return 0;
}

/* A disk may turn a bit, and whoever may write the file anything: replies stay text. */
START_TEST(bytes_that_are_no_text_are_mended)
{
	const struct em_store_drive drive = { .id = DRIVE, .identity_len = 2, .device = "nvme0" };
	const struct em_event event = { .id = 1, .at_us = 1, .kind = "a" };
	struct em_store *store = open_store();
	struct em_store_drive loaded;
	struct em_event last;

	ck_assert_int_eq(em_store_put_drive(store, &drive), 0);
	ck_assert_int_eq(em_store_put_event(store, &event), 0);
	wait_written(store);
	change("UPDATE drive SET model = CAST(x'41ff1b5b6d' AS TEXT)");
	change("UPDATE event SET summary = CAST(x'c3a4c29b' AS TEXT), kind = CAST(x'e2' AS TEXT)");
	ck_assert_int_eq(em_store_load_drives(store, take_drive, &loaded), 0);
	ck_assert_str_eq(loaded.model, "A??[m");
	ck_assert_int_eq(em_store_load_events(store, 1, take_event, &last), 0);
	ck_assert_str_eq(last.summary, "\xc3\xa4??");
	ck_assert_str_eq(last.kind, "?");
	em_store_close(store, GRACE_US);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("load");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, make_dir, remove_dir);
	tcase_add_test(tcase, drives_and_pages_outlive_a_restart);
	tcase_add_test(tcase, a_new_file_knows_the_drives_of_the_last_one);
	tcase_add_test(tcase, runs_of_tests_outlive_a_restart);
	tcase_add_test(tcase, capabilities_outlive_a_restart_and_are_forgotten);
	tcase_add_test(tcase, events_come_back_as_they_were_put);
	tcase_add_test(tcase, bytes_that_are_no_text_are_mended);
	return run_tests(tcase);
}
