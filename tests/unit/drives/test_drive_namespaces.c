/* SPDX-License-Identifier: Apache-2.0 */
/* Namespaces that are attached, that only exist, that come and go, and lists that lie. */
#include <check.h>

#include "daemon/drives/drive_impl.h"
#include "tests/unit/drives/drive_fixture.h"
#include "tests/unit/runner.h"

#define MANAGEMENT 0x08
#define V1_4	   EM_VER(1, 4)

/* What the drive answers; 0 ends a list. */
static uint32_t attached[EM_NAMESPACES_MAX + 1], existing[EM_NAMESPACES_MAX + 1];
static uint16_t existing_status;
static unsigned lists, existing_lists, pages_attached, pages_existing;
static uint8_t list[4096];

static void begin(void)
{
	memset(attached, 0, sizeof(attached));
	memset(existing, 0, sizeof(existing));
	existing_status = 0;
	start();
}

static void answer_list(const uint32_t *nsids)
{
	memset(list, 0, sizeof(list));
	for (unsigned i = 0; i < EM_NAMESPACES_MAX && nsids[i]; i++)
		em_put_le32(list + 4 * (size_t)i, nsids[i]);
	answer(EM_ANSWER_DONE, 0, list, sizeof(list));
}

static void answer_identify(uint32_t ver, uint16_t oacs)
{
	switch (asked.page) {
	case 0x01:
		answer(EM_ANSWER_DONE, 0, identify(ver, oacs), 4096);
		return;
	case 0x02:
		lists++;
		answer_list(attached);
		return;
	case 0x10:
		existing_lists++;
		if (existing_status)
			answer(EM_ANSWER_STATUS, existing_status, NULL, 0);
		else
			answer_list(existing);
		return;
	default:
		pages_attached += asked.page == 0x00;
		pages_existing += asked.page == 0x11;
		memset(page, 0, sizeof(page));
		em_put_le32(page, asked.nsid);
		answer(EM_ANSWER_DONE, 0, page, 4096);
	}
}

static bool step(uint32_t ver, uint16_t oacs)
{
	if (!ask())
		return false;
	if (asked.op == EM_OP_IDENTIFY)
		answer_identify(ver, oacs);
	else if (asked.op == EM_OP_ARM_EVENTS)
		answer(EM_ANSWER_DONE, 0, NULL, 0);
	else
		answer(EM_ANSWER_DONE, 0, smart(0), asked.len);
	return true;
}

/* Until nothing is due. */
static void turn(uint32_t ver, uint16_t oacs)
{
	unsigned count = 0;

	lists = existing_lists = pages_attached = pages_existing = 0;
	while (step(ver, oacs))
		ck_assert_uint_lt(count++, 4096);
}

static void expect_namespace(unsigned i, uint32_t nsid, bool is_attached)
{
	ck_assert_uint_lt(i, drive->namespace_count);
	ck_assert_uint_eq(drive->namespaces[i].nsid, nsid);
	ck_assert_int_eq(drive->namespaces[i].attached, is_attached);
	ck_assert_ptr_nonnull(drive->namespaces[i].page.read.data);
	ck_assert_uint_eq(em_le32(drive->namespaces[i].page.read.data->data), nsid);
}

static void hear_namespaces(void)
{
	struct em_ipc_event event = { .drive = 7, .kind = EM_EVENT_NAMESPACES };

	now += 2 * EM_LIST_PAUSE_US;
	em_drive_event(drive, &event, now);
}

START_TEST(those_that_are_not_attached_are_seen)
{
	attached[0] = 2;
	memcpy(existing, (uint32_t[]){ 1, 2, 9 }, 12);
	turn(V1_4, MANAGEMENT);
	ck_assert_uint_eq(drive->namespace_count, 3);
	expect_namespace(0, 1, false);
	expect_namespace(1, 2, true);
	expect_namespace(2, 9, false);
	ck_assert_uint_eq(pages_attached, 1);
	ck_assert_uint_eq(pages_existing, 2);
	/* Each interval anew. */
	existing[2] = 0;
	now += 3600 * SECOND;
	turn(V1_4, MANAGEMENT);
	ck_assert_uint_eq(drive->namespace_count, 2);
	ck_assert_uint_eq(existing_lists, 1);
	ck_assert_uint_eq(lists, 1);
}
END_TEST

START_TEST(a_drive_without_management_is_not_asked_for_them)
{
	static const struct {
		uint32_t ver;
		uint16_t oacs;
	} drives[] = { { V1_4, 0xffff & ~MANAGEMENT & ~0x10 }, { EM_VER(1, 1), MANAGEMENT } };

	attached[0] = 1;
	for (unsigned i = 0; i < EM_COUNT(drives); i++) {
		turn(drives[i].ver, drives[i].oacs);
		ck_assert_uint_eq(existing_lists, 0);
		ck_assert_uint_eq(drive->namespace_count, 1);
		stop();
		start();
	}
}
END_TEST

START_TEST(attaching_and_detaching_keep_the_namespace)
{
	existing[0] = 5;
	turn(V1_4, MANAGEMENT);
	expect_namespace(0, 5, false);
	attached[0] = 5;
	hear_namespaces();
	turn(V1_4, MANAGEMENT);
	expect_namespace(0, 5, true);
	attached[0] = 0;
	hear_namespaces();
	turn(V1_4, MANAGEMENT);
	ck_assert_uint_eq(drive->namespace_count, 1);
	expect_namespace(0, 5, false);
}
END_TEST

/* Between the two lists nobody may see that it is still there, and not attached. */
START_TEST(deleted_is_never_seen_as_detached)
{
	attached[0] = existing[0] = 5;
	turn(V1_4, MANAGEMENT);
	drive->notable = false;
	attached[0] = existing[0] = 0;
	hear_namespaces();
	ck_assert(step(V1_4, MANAGEMENT));
	ck_assert_uint_eq(asked.page, 0x10);
	ck_assert(!drive->notable);
	expect_namespace(0, 5, true);
	ck_assert(step(V1_4, MANAGEMENT));
	ck_assert_uint_eq(asked.page, 0x02);
	ck_assert_uint_eq(drive->namespace_count, 0);
}
END_TEST

START_TEST(change_between_the_lists_asks_for_both)
{
	attached[0] = existing[0] = 5;
	turn(V1_4, MANAGEMENT);
	hear_namespaces();
	ck_assert(step(V1_4, MANAGEMENT));
	ck_assert_uint_eq(asked.page, 0x10);
	hear_namespaces();
	ck_assert(step(V1_4, MANAGEMENT));
	ck_assert_uint_eq(asked.page, 0x10);
}
END_TEST

START_TEST(list_that_is_refused_is_not_asked_again)
{
	attached[0] = 3;
	existing_status = 0x4002;
	turn(V1_4, MANAGEMENT);
	ck_assert_uint_eq(existing_lists, 1);
	expect_namespace(0, 3, true);
	now += 3600 * SECOND;
	turn(V1_4, MANAGEMENT);
	ck_assert_uint_eq(existing_lists, 0);
	ck_assert_uint_eq(lists, 1);
	/* A person wants it asked again. */
	existing_status = 0;
	memcpy(existing, (uint32_t[]){ 3, 4 }, 8);
	em_drive_refresh(drive, true, now);
	turn(V1_4, MANAGEMENT);
	ck_assert_uint_eq(existing_lists, 1);
	expect_namespace(1, 4, false);
}
END_TEST

START_TEST(refusal_of_sisters_is_remembered)
{
	struct em_store_capability row = { .model = "P6530DT0384M00",
					   .firmware = "FW000001",
					   .page = EM_CAPABILITY_ALLOCATED,
					   .nvme_status = 0x4002 };
	struct em_capabilities *capabilities = em_capabilities_new();

	ck_assert_int_eq(em_capabilities_put(capabilities, &row), 0);
	drive->capabilities = capabilities;
	attached[0] = existing[0] = 1;
	turn(V1_4, MANAGEMENT);
	ck_assert_uint_eq(existing_lists, 0);
	ck_assert(!em_drive_has(drive, EM_CAPABILITY_ALLOCATED));
	/* One of them does have it. */
	em_capabilities_forget(capabilities, row.model, row.firmware, row.page);
	em_drive_ask_remembered(drive, EM_CAPABILITY_ALLOCATED, now);
	turn(V1_4, MANAGEMENT);
	ck_assert_uint_eq(existing_lists, 1);
	ck_assert(em_drive_has(drive, EM_CAPABILITY_ALLOCATED));
	em_capabilities_free(capabilities);
}
END_TEST

START_TEST(list_that_fails_leaves_the_last_one)
{
	memcpy(existing, (uint32_t[]){ 1, 2 }, 8);
	attached[0] = 1;
	turn(V1_4, MANAGEMENT);
	existing_status = 0x0006;
	now += 3600 * SECOND;
	turn(V1_4, MANAGEMENT);
	ck_assert_uint_eq(existing_lists, 1);
	ck_assert_uint_eq(drive->namespace_count, 2);
	/* One that does not ascend is none. */
	existing_status = 0;
	memcpy(existing, (uint32_t[]){ 2, 1 }, 8);
	now += 3600 * SECOND;
	turn(V1_4, MANAGEMENT);
	ck_assert_int_eq(drive->allocated.read.status, EM_READ_NO_READING);
	ck_assert_uint_eq(drive->namespace_count, 2);
}
END_TEST

START_TEST(none_and_as_many_as_a_list_holds)
{
	turn(V1_4, MANAGEMENT);
	ck_assert_uint_eq(drive->namespace_count, 0);
	ck_assert_int_gt(drive->list.read.read_us, 0);
	for (unsigned i = 0; i < EM_NAMESPACES_MAX; i++) {
		attached[i] = 2 * i + 1;
		existing[i] = i + 1;
	}
	now += 3600 * SECOND;
	turn(V1_4, MANAGEMENT);
	ck_assert_uint_eq(drive->namespace_count, EM_NAMESPACES_MAX);
	expect_namespace(0, 1, true);
	expect_namespace(EM_NAMESPACES_MAX - 1, EM_NAMESPACES_MAX, false);
	attached[0] = existing[0] = 0;
	now += 3600 * SECOND;
	turn(V1_4, MANAGEMENT);
	ck_assert_uint_eq(drive->namespace_count, 0);
}
END_TEST

START_TEST(earlier_start_is_restored)
{
	uint8_t data[4 * 4] = { 0 };

	em_put_le32(data, 2);
	em_put_le32(data + 8, 1);
	em_put_le32(data + 12, 9);
	em_drive_restore_list(drive, 77, data, sizeof(data));
	ck_assert_uint_eq(drive->namespace_count, 3);
	ck_assert(!drive->namespaces[0].attached && drive->namespaces[1].attached);
	ck_assert_uint_eq(drive->namespaces[2].nsid, 9);
	/* Without the others, as long as there were none. */
	em_drive_restore_list(drive, 78, data, 4);
	ck_assert_uint_eq(drive->namespace_count, 1);
	ck_assert(drive->namespaces[0].attached);
	/* Garbage is no list. */
	em_put_le32(data + 12, 1);
	em_drive_restore_list(drive, 79, data, sizeof(data));
	ck_assert_uint_eq(drive->namespace_count, 1);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		those_that_are_not_attached_are_seen,
		a_drive_without_management_is_not_asked_for_them,
		attaching_and_detaching_keep_the_namespace,
		deleted_is_never_seen_as_detached,
		change_between_the_lists_asks_for_both,
		list_that_is_refused_is_not_asked_again,
		refusal_of_sisters_is_remembered,
		list_that_fails_leaves_the_last_one,
		none_and_as_many_as_a_list_holds,
		earlier_start_is_restored,
	};
	TCase *tc = tcase_create("drive_namespaces");

	tcase_add_checked_fixture(tc, begin, stop);
	for (size_t i = 0; i < EM_COUNT(tests); i++)
		tcase_add_test(tc, tests[i]);
	return run_tests(tc);
}
