/* SPDX-License-Identifier: Apache-2.0 */
/* Two snapshots of a drive, and the events between them. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "daemon/drives/changes.h"
#include "lib/base/le.h"
#include "tests/unit/runner.h"

static struct em_drive_snap *before, *after;
static struct em_event events[16];
static enum em_event_kind_id kinds[16];
static unsigned count;

static struct em_drive_snap *some_drive(void)
{
	struct em_drive_snap *snap = em_drive_snap_new();

	strcpy(snap->id, "0123456789abcdef");
	strcpy(snap->device, "nvme0");
	strcpy(snap->serial, "SN0");
	strcpy(snap->address, "0000:01:00.0");
	snap->state = EM_STATE_OK;
	snap->ctx = (struct em_nvme_ctx){ .known = true, .ver = EM_VER(1, 4), .frmw = 3 << 1 };
	snap->namespaces = calloc(8, sizeof(*snap->namespaces));
	snap->controllers = calloc(8, sizeof(*snap->controllers));
	return snap;
}

static void start(void)
{
	count = 0;
	memset(events, 0, sizeof(events));
	before = some_drive();
	after = some_drive();
}

static void stop(void)
{
	before = em_drive_snap_unref(before);
	after = em_drive_snap_unref(after);
}

static void take(void *userdata, enum em_event_kind_id kind, struct em_event *event)
{
	ck_assert_ptr_eq(userdata, events);
	ck_assert_uint_lt(count, 16);
	ck_assert_str_eq(event->drive, "0123456789abcdef");
	ck_assert_str_eq(event->serial, "SN0");
	kinds[count] = kind;
	events[count++] = *event;
}

static void changes(void)
{
	count = 0;
	em_changes(before, after, take, events);
}

/* The only event, of this kind and with these values. */
static void expect(enum em_event_kind_id kind, const char *subject, const char *old_value,
		   const char *new_value)
{
	changes();
	ck_assert_uint_eq(count, 1);
	ck_assert_str_eq(em_event_kind_name(kinds[0]), em_event_kind_name(kind));
	ck_assert_str_eq(events[0].subject, subject);
	ck_assert_str_eq(events[0].old_value, old_value);
	ck_assert_str_eq(events[0].new_value, new_value);
	ck_assert_str_ne(events[0].summary, "");
}

static void put(struct em_drive_snap *snap, enum em_page_id id, const uint8_t *data, size_t len)
{
	em_blob_unref(snap->pages[id].data);
	snap->pages[id].data = em_blob_new(data, len);
}

static void path(struct em_drive_snap *snap, const char *device, const char *cntlid)
{
	struct em_controller_snap *controller = &snap->controllers[snap->controller_count++];

	strcpy(controller->device, device);
	strcpy(controller->cntlid, cntlid);
	strcpy(controller->address, "0000:01:00.0");
}

static void namespace(struct em_drive_snap *snap, uint32_t nsid, uint64_t blocks)
{
	struct em_namespace_snap *ns = &snap->namespaces[snap->namespace_count++];
	uint8_t data[4096] = { 0 };

	ns->nsid = nsid;
	ns->attached = true;
	em_put_le64(data, blocks);
	em_put_le64(data + 8, 1000);
	if (blocks > 0)
		ns->page.data = em_blob_new(data, sizeof(data));
	snap->namespace_list.read_us = 1;
}

START_TEST(nothing_is_no_event)
{
	uint8_t smart[512] = { 0, 44, 1, 100 };

	put(before, EM_PAGE_SMART, smart, sizeof(smart));
	put(after, EM_PAGE_SMART, smart, sizeof(smart));
	path(before, "nvme0", "1");
	path(after, "nvme0", "1");
	namespace(before, 1, 5);
	namespace(after, 1, 5);
	changes();
	ck_assert_uint_eq(count, 0);
}
END_TEST

START_TEST(states_that_come_and_go)
{
	static const struct {
		enum em_drive_state before, after;
		enum em_event_kind_id kind;
	} rows[] = {
		{ EM_STATE_OK, EM_STATE_BUSY, EM_EVENT_KIND_DRIVE_STATE },
		{ EM_STATE_BUSY, EM_STATE_UNRESPONSIVE, EM_EVENT_KIND_DRIVE_STATE },
		{ EM_STATE_UNRESPONSIVE, EM_STATE_REMOVED, EM_EVENT_KIND_DRIVE_REMOVED },
		{ EM_STATE_REMOVED, EM_STATE_RETIRED, EM_EVENT_KIND_DRIVE_RETIRED },
		{ EM_STATE_RETIRED, EM_STATE_REMOVED, EM_EVENT_KIND_DRIVE_RETIRED },
		{ EM_STATE_RETIRED, EM_STATE_OK, EM_EVENT_KIND_DRIVE_RETURNED },
		{ EM_STATE_REMOVED, EM_STATE_OK, EM_EVENT_KIND_DRIVE_RETURNED },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		before->state = rows[i].before;
		after->state = rows[i].after;
		expect(rows[i].kind, "", em_drive_state_name(rows[i].before),
		       em_drive_state_name(rows[i].after));
	}
}
END_TEST

START_TEST(new_drive_appears)
{
	struct em_drive_snap *known = before;

	before = NULL;
	expect(EM_EVENT_KIND_DRIVE_APPEARED, "", "", "nvme0");
	before = known;
}
END_TEST

/* Case R33: back after a while under another name and in another slot. */
START_TEST(back_elsewhere)
{
	before->state = EM_STATE_REMOVED;
	strcpy(after->device, "nvme7");
	strcpy(after->address, "0000:02:00.0");
	changes();
	ck_assert_uint_eq(count, 3);
	ck_assert_int_eq(kinds[0], EM_EVENT_KIND_DRIVE_RETURNED);
	ck_assert_int_eq(kinds[1], EM_EVENT_KIND_DRIVE_RENAMED);
	ck_assert_str_eq(events[1].old_value, "nvme0");
	ck_assert_str_eq(events[1].new_value, "nvme7");
	ck_assert_str_eq(events[1].device, "nvme7");
	ck_assert_int_eq(kinds[2], EM_EVENT_KIND_DRIVE_MOVED);
	ck_assert_str_eq(events[2].new_value, "0000:02:00.0");
	/* While it is away it has no name that could change. */
	after->state = EM_STATE_REMOVED;
	changes();
	ck_assert_uint_eq(count, 0);
}
END_TEST

START_TEST(paths_come_and_go)
{
	path(before, "nvme0", "1");
	path(after, "nvme0", "1");
	path(after, "nvme1", "2");
	expect(EM_EVENT_KIND_PATH_ADDED, "controller 2", "", "nvme1");
	path(before, "nvme1", "2");
	after->controller_count = 1;
	expect(EM_EVENT_KIND_PATH_REMOVED, "controller 2", "nvme1", "");
	/* The first one went: the drive goes by the name of the other, which is not new. */
	after->controller_count = 0;
	path(after, "nvme1", "2");
	strcpy(after->device, "nvme1");
	expect(EM_EVENT_KIND_PATH_REMOVED, "controller 1", "nvme0", "");
	/* Of an earlier start only one name is known. */
	before->controller_count = 0;
	path(after, "nvme0", "1");
	changes();
	ck_assert_uint_eq(count, 0);
}
END_TEST

START_TEST(firmware_by_identify_alone)
{
	uint8_t identify[4096] = { 0x5f, 0x1c };

	memcpy(identify + 64, "FW000001", 8);
	put(before, EM_PAGE_IDENTIFY_CTRL, identify, sizeof(identify));
	strcpy(before->firmware, "FW000001");
	strcpy(after->firmware, "old sysfs");
	changes();
	ck_assert_uint_eq(count, 0);
	memcpy(identify + 64, "FW000002", 8);
	put(after, EM_PAGE_IDENTIFY_CTRL, identify, sizeof(identify));
	expect(EM_EVENT_KIND_FIRMWARE_CHANGED, "", "FW000001", "FW000002");
}
END_TEST

START_TEST(slots)
{
	uint8_t log[512] = { 0x01 };

	memcpy(log + 8, "FW000001", 8);
	put(before, EM_PAGE_FIRMWARE, log, sizeof(log));
	memcpy(log + 16, "FW000002", 8);
	put(after, EM_PAGE_FIRMWARE, log, sizeof(log));
	expect(EM_EVENT_KIND_SLOT_CHANGED, "slot 2", "", "FW000002");
	put(before, EM_PAGE_FIRMWARE, log, sizeof(log));
	log[0] = 0x21;
	put(after, EM_PAGE_FIRMWARE, log, sizeof(log));
	expect(EM_EVENT_KIND_ACTIVE_SLOT_CHANGED, "next_reset_slot", "", "2");
	put(before, EM_PAGE_FIRMWARE, log, sizeof(log));
	log[0] = 0x02;
	put(after, EM_PAGE_FIRMWARE, log, sizeof(log));
	changes();
	ck_assert_uint_eq(count, 2);
	ck_assert_str_eq(events[0].subject, "active_slot");
	ck_assert_str_eq(events[0].old_value, "1");
	ck_assert_str_eq(events[0].new_value, "2");
	ck_assert_str_eq(events[1].new_value, "");
	/* A slot that this drive does not have is none, whatever its bytes say. */
	put(before, EM_PAGE_FIRMWARE, log, sizeof(log));
	memcpy(log + 8 + 8 * 4, "FW000005", 8);
	put(after, EM_PAGE_FIRMWARE, log, sizeof(log));
	changes();
	ck_assert_uint_eq(count, 0);
}
END_TEST

START_TEST(namespaces)
{
	namespace(before, 1, 5);
	namespace(before, 3, 5);
	namespace(before, 4, 5);
	namespace(after, 1, 5);
	namespace(after, 2, 0);
	namespace(after, 4, 6);
	namespace(after, 9, 0);
	changes();
	ck_assert_uint_eq(count, 4);
	ck_assert_int_eq(kinds[0], EM_EVENT_KIND_NAMESPACE_ADDED);
	ck_assert_uint_eq(events[0].nsid, 2);
	ck_assert_int_eq(kinds[1], EM_EVENT_KIND_NAMESPACE_REMOVED);
	ck_assert_uint_eq(events[1].nsid, 3);
	ck_assert_int_eq(kinds[2], EM_EVENT_KIND_NAMESPACE_CHANGED);
	ck_assert_uint_eq(events[2].nsid, 4);
	ck_assert_str_eq(events[2].subject, "size_blocks");
	ck_assert_str_eq(events[2].old_value, "5");
	ck_assert_str_eq(events[2].new_value, "6");
	ck_assert_int_eq(kinds[3], EM_EVENT_KIND_NAMESPACE_ADDED);
	ck_assert_uint_eq(events[3].nsid, 9);
	/* A list that was never read tells nothing. */
	before->namespace_list.read_us = 0;
	changes();
	ck_assert_uint_eq(count, 0);
}
END_TEST

START_TEST(namespaces_that_are_not_attached)
{
	namespace(before, 1, 5);
	namespace(before, 2, 5);
	namespace(before, 3, 5);
	namespace(after, 1, 5);
	namespace(after, 2, 6);
	namespace(after, 7, 5);
	after->namespaces[0].attached = false;
	before->namespaces[1].attached = false;
	before->namespaces[2].attached = after->namespaces[2].attached = false;
	changes();
	ck_assert_uint_eq(count, 4);
	ck_assert_int_eq(kinds[0], EM_EVENT_KIND_NAMESPACE_CHANGED);
	ck_assert_str_eq(events[0].subject, "attached");
	ck_assert_str_eq(events[0].old_value, "yes");
	ck_assert_str_eq(events[0].new_value, "no");
	ck_assert_int_eq(kinds[1], EM_EVENT_KIND_NAMESPACE_CHANGED);
	ck_assert_str_eq(events[1].subject, "attached, size_blocks");
	ck_assert_str_eq(events[1].old_value, "no, 5");
	ck_assert_str_eq(events[1].new_value, "yes, 6");
	ck_assert_int_eq(kinds[2], EM_EVENT_KIND_NAMESPACE_REMOVED);
	ck_assert_ptr_nonnull(strstr(events[2].summary, "unattached namespace 3 is gone"));
	ck_assert_int_eq(kinds[3], EM_EVENT_KIND_NAMESPACE_ADDED);
	ck_assert_ptr_nonnull(strstr(events[3].summary, "unattached namespace 7 is there"));
}
END_TEST

START_TEST(warnings_are_told_at_first_sight)
{
	uint8_t smart[512] = { 0x02, 44, 1, 100 };

	put(after, EM_PAGE_SMART, smart, sizeof(smart));
	expect(EM_EVENT_KIND_CRITICAL_WARNING, "", "none", "temperature_out_of_range");
	put(before, EM_PAGE_SMART, smart, sizeof(smart));
	smart[0] = 0x03;
	put(after, EM_PAGE_SMART, smart, sizeof(smart));
	expect(EM_EVENT_KIND_CRITICAL_WARNING, "", "temperature_out_of_range",
	       "spare_below_threshold, temperature_out_of_range");
}
END_TEST

START_TEST(errors_are_counted_up)
{
	uint8_t smart[512] = { 0, 44, 1, 100 };

	em_put_le64(smart + 176, 99);
	put(before, EM_PAGE_SMART, smart, sizeof(smart));
	em_put_le64(smart + 176, 100);
	put(after, EM_PAGE_SMART, smart, sizeof(smart));
	expect(EM_EVENT_KIND_ERROR_LOG_GREW, "", "99", "100");
	/* Not a counter that went back. */
	em_put_le64(smart + 176, 98);
	put(after, EM_PAGE_SMART, smart, sizeof(smart));
	changes();
	ck_assert_uint_eq(count, 0);
}
END_TEST

START_TEST(self_test_that_ended)
{
	uint8_t log[564] = { 0x01, 50 };

	for (unsigned i = 0; i < 20; i++)
		log[4 + 28 * i] = 0x0f; /* unused */
	put(before, EM_PAGE_SELFTEST, log, sizeof(log));
	log[1] = 60;
	put(after, EM_PAGE_SELFTEST, log, sizeof(log));
	changes();
	ck_assert_uint_eq(count, 0);
	log[0] = 0;
	log[4] = 0x20; /* extended, passed */
	put(after, EM_PAGE_SELFTEST, log, sizeof(log));
	expect(EM_EVENT_KIND_SELFTEST_ENDED, "extended", "", "passed");
}
END_TEST

START_TEST(self_test_that_began)
{
	uint8_t log[564] = { 0 };

	log[4] = 0x10; /* short, passed */
	put(before, EM_PAGE_SELFTEST, log, sizeof(log));
	log[0] = 2;
	put(after, EM_PAGE_SELFTEST, log, sizeof(log));
	expect(EM_EVENT_KIND_SELFTEST_STARTED, "extended", "", "");
	/* One that runs on begins no second time. */
	put(before, EM_PAGE_SELFTEST, log, sizeof(log));
	log[1] = 50;
	put(after, EM_PAGE_SELFTEST, log, sizeof(log));
	changes();
	ck_assert_uint_eq(count, 0);
}
END_TEST

START_TEST(sanitize_that_began)
{
	uint8_t log[512] = { 0 };

	put(before, EM_PAGE_SANITIZE, log, sizeof(log));
	log[2] = 2;
	put(after, EM_PAGE_SANITIZE, log, sizeof(log));
	expect(EM_EVENT_KIND_SANITIZE_STATE, "", "never", "in_progress");
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		nothing_is_no_event,
		states_that_come_and_go,
		new_drive_appears,
		back_elsewhere,
		paths_come_and_go,
		firmware_by_identify_alone,
		slots,
		namespaces,
		namespaces_that_are_not_attached,
		warnings_are_told_at_first_sight,
		errors_are_counted_up,
		self_test_that_ended,
		self_test_that_began,
		sanitize_that_began,
	};
	TCase *tc = tcase_create("changes");

	tcase_add_checked_fixture(tc, start, stop);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(tc, tests[i]);
	return run_tests(tc);
}
