/* SPDX-License-Identifier: Apache-2.0 */
/* A drive that answers and says nothing: when that is no longer well. */
#include <check.h>

#include "daemon/drives/drive_impl.h"
#include "tests/unit/drives/drive_fixture.h"
#include "tests/unit/runner.h"

#define INTERNAL_ERROR 0x0006
#define INVALID_LOG    0x4109
#define INVALID_OPCODE 0x4001
#define V1_4	       EM_VER(1, 4)

/* Every command that is due now ends with this status. */
static void refuse_all(uint16_t status)
{
	unsigned count = 0;

	while (ask()) {
		ck_assert_uint_lt(count++, 100);
		answer(EM_ANSWER_STATUS, status, NULL, 0);
	}
}

static bool asks_smart(void)
{
	return asked.op == EM_OP_GET_LOG && asked.page == 2;
}

/* The next poll of the health page is answered like this. */
static void poll_smart(enum em_answer how, uint16_t status, const void *data, uint32_t len)
{
	now += 60 * SECOND;
	ck_assert(ask());
	ck_assert(asks_smart());
	answer(how, status, data, len);
}

START_TEST(errors_alone_are_no_sign_of_health)
{
	serve(V1_4, 0);
	for (unsigned i = 1; i < EM_MISSES_MAX; i++) {
		now += 60 * SECOND;
		refuse_all(INTERNAL_ERROR);
		ck_assert_int_eq(drive->state, EM_STATE_OK);
	}
	now += 60 * SECOND;
	refuse_all(INTERNAL_ERROR);
	ck_assert_int_eq(drive->state, EM_STATE_UNRESPONSIVE);
	ck_assert_ptr_nonnull(strstr(drive->state_detail, "smart"));
	ck_assert_ptr_nonnull(strstr(drive->state_detail, "internal error"));
	ck_assert_ptr_nonnull(drive->pages[EM_PAGE_SMART].read.data);
	/* Nor does it look well because it still tells its firmware. */
	now += 3600 * SECOND;
	while (ask()) {
		if (asks_smart())
			answer(EM_ANSWER_STATUS, INTERNAL_ERROR, NULL, 0);
		else if (asked.op == EM_OP_IDENTIFY && asked.page == 1)
			answer(EM_ANSWER_DONE, 0, identify(V1_4, 0), 4096);
		else
			answer(EM_ANSWER_DONE, 0, smart(0), asked.len);
		ck_assert_int_eq(drive->state, EM_STATE_UNRESPONSIVE);
	}
	poll_smart(EM_ANSWER_DONE, 0, smart(0), 512);
	ck_assert_int_eq(drive->state, EM_STATE_OK);
	ck_assert_str_eq(drive->state_detail, "");
}
END_TEST

START_TEST(one_reading_in_between_is_enough)
{
	serve(V1_4, 0);
	for (unsigned i = 0; i < 4 * EM_MISSES_MAX; i++) {
		poll_smart(EM_ANSWER_STATUS, INTERNAL_ERROR, NULL, 0);
		poll_smart(EM_ANSWER_STATUS, INTERNAL_ERROR, NULL, 0);
		ck_assert_int_eq(drive->state, EM_STATE_OK);
		poll_smart(EM_ANSWER_DONE, 0, smart(0), 512);
	}
}
END_TEST

START_TEST(bytes_that_are_no_reading_count_too)
{
	static uint8_t ones[512], zeros[512];

	memset(ones, 0xff, sizeof(ones));
	serve(V1_4, 0);
	poll_smart(EM_ANSWER_DONE, 0, ones, 512);
	poll_smart(EM_ANSWER_DONE, 0, smart(0), 100);
	ck_assert_int_eq(drive->state, EM_STATE_OK);
	poll_smart(EM_ANSWER_DONE, 0, zeros, 512);
	ck_assert_int_eq(drive->state, EM_STATE_UNRESPONSIVE);
}
END_TEST

/* Remote targets: whoever never gave a health page has none, and is there all the same. */
START_TEST(health_page_that_never_was_is_not_missed)
{
	static uint8_t zeros[512];

	while (ask()) {
		if (asks_smart())
			answer(EM_ANSWER_DONE, 0, zeros, 512);
		else if (asked.op == EM_OP_IDENTIFY && asked.page == 1)
			answer(EM_ANSWER_DONE, 0, identify(V1_4, 0), 4096);
		else
			answer(EM_ANSWER_STATUS, INVALID_OPCODE, NULL, 0);
	}
	for (unsigned i = 0; i < 2 * EM_MISSES_MAX; i++)
		poll_smart(EM_ANSWER_DONE, 0, zeros, 512);
	ck_assert_int_eq(drive->state, EM_STATE_OK);
	poll_smart(EM_ANSWER_STATUS, INVALID_LOG, NULL, 0);
	ck_assert_int_eq(drive->state, EM_STATE_OK);
	ck_assert_int_eq(drive->pages[EM_PAGE_SMART].read.status, EM_READ_REFUSED);
}
END_TEST

/* It is not asked again, so nothing more would be learned by waiting. */
START_TEST(refused_identify_is_not_well)
{
	struct em_ipc_event event = { .drive = 7, .kind = EM_EVENT_CONNECTED };

	refuse_all(INVALID_OPCODE);
	ck_assert_int_eq(drive->state, EM_STATE_UNRESPONSIVE);
	ck_assert_ptr_nonnull(strstr(drive->state_detail, "identify"));
	em_drive_event(drive, &event, now);
	serve(V1_4, 0);
	ck_assert_int_eq(drive->state, EM_STATE_OK);
}
END_TEST

/* Known by an earlier reading, but no longer told: not left to the next hour. */
START_TEST(identify_that_fails_is_asked_with_the_polls)
{
	serve(V1_4, 0);
	now += 3600 * SECOND;
	for (unsigned i = 0; i < EM_MISSES_MAX; i++) {
		while (ask()) {
			if (asked.op == EM_OP_IDENTIFY && asked.page == 1)
				answer(EM_ANSWER_STATUS, INTERNAL_ERROR, NULL, 0);
			else
				answer(EM_ANSWER_DONE, 0, smart(0), asked.len);
		}
		now += 60 * SECOND;
	}
	ck_assert_int_eq(drive->state, EM_STATE_UNRESPONSIVE);
	serve(V1_4, 0);
	ck_assert_int_eq(drive->state, EM_STATE_OK);
}
END_TEST

START_TEST(reset_does_not_make_it_well)
{
	struct em_ipc_drive resetting = node("resetting"), live = node("live");

	serve(V1_4, 0);
	for (unsigned i = 0; i < EM_MISSES_MAX; i++)
		poll_smart(EM_ANSWER_STATUS, INTERNAL_ERROR, NULL, 0);
	em_drive_update(drive, &resetting, now, (int64_t)now);
	ck_assert_int_eq(drive->state, EM_STATE_BUSY);
	em_drive_update(drive, &live, now, (int64_t)now);
	ck_assert_int_eq(drive->state, EM_STATE_UNRESPONSIVE);
	/* A new node is a new start. */
	em_drive_gone(drive, "its device node is gone", (int64_t)now);
	em_drive_present(drive, &live, now, (int64_t)now);
	ck_assert_int_eq(drive->state, EM_STATE_OK);
}
END_TEST

/* The system call knows it before the node goes; no three misses are needed. */
START_TEST(kernel_that_says_gone_is_believed_at_once)
{
	serve(V1_4, 0);
	poll_smart(EM_ANSWER_GONE, 0, NULL, 0);
	ck_assert_int_eq(drive->state, EM_STATE_REMOVED);
	ck_assert_str_ne(drive->state_detail, "");
	ck_assert_ptr_nonnull(drive->pages[EM_PAGE_SMART].read.data);
	ck_assert_uint_eq(em_drive_due_us(drive), now + EM_RETRY_US);
	/* It was mistaken. */
	now += EM_RETRY_US;
	serve(V1_4, 0);
	ck_assert_int_eq(drive->state, EM_STATE_OK);
}
END_TEST

START_TEST(busy_once_is_asked_again_soon)
{
	serve(V1_4, 0);
	poll_smart(EM_ANSWER_BUSY, 0, NULL, 0);
	ck_assert_int_eq(drive->state, EM_STATE_BUSY);
	ck_assert_uint_eq(drive->misses, 0);
	ck_assert_uint_eq(em_drive_due_us(drive), now + EM_BUSY_RETRY_US);
	now += EM_BUSY_RETRY_US;
	ck_assert_uint_eq(serve(V1_4, 0), 1);
	ck_assert_int_eq(drive->state, EM_STATE_OK);
}
END_TEST

START_TEST(another_controller_may_know_better)
{
	struct em_ipc_drive first = node("live"), second = node("live");

	strcpy(first.cntlid, "1");
	strcpy(second.cntlid, "2");
	strcpy(second.device, "nvme1");
	second.drive = 8;
	em_drive_update(drive, &first, now, (int64_t)now);
	em_drive_present(drive, &second, now, (int64_t)now);
	serve(V1_4, 0);
	ck_assert_uint_eq(drive->handle, 7);
	for (unsigned i = 0; i < EM_MISSES_MAX; i++)
		poll_smart(EM_ANSWER_STATUS, INTERNAL_ERROR, NULL, 0);
	ck_assert_uint_eq(drive->handle, 8);
	ck_assert_int_eq(drive->state, EM_STATE_OK);
	for (unsigned i = 0; i < EM_MISSES_MAX; i++) {
		refuse_all(INTERNAL_ERROR);
		now += 60 * SECOND;
	}
	ck_assert_int_eq(drive->state, EM_STATE_UNRESPONSIVE);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		errors_alone_are_no_sign_of_health,
		one_reading_in_between_is_enough,
		bytes_that_are_no_reading_count_too,
		health_page_that_never_was_is_not_missed,
		refused_identify_is_not_well,
		identify_that_fails_is_asked_with_the_polls,
		reset_does_not_make_it_well,
		another_controller_may_know_better,
		kernel_that_says_gone_is_believed_at_once,
		busy_once_is_asked_again_soon,
	};
	TCase *tc = tcase_create("drive_judge");

	tcase_add_checked_fixture(tc, start, stop);
	for (size_t i = 0; i < EM_COUNT(tests); i++)
		tcase_add_test(tc, tests[i]);
	return run_tests(tc);
}
