/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/store/queue.h"
#include <errno.h>
#include "tests/unit/runner.h"
#include "tests/unit/store/fixture.h"

static struct em_queue queue;

static void start(void)
{
	em_queue_init(&queue, 3);
}

static void stop(void)
{
	em_queue_done(&queue);
}

static void put_at(int64_t at_us)
{
	const struct em_store_cell cell = { .kind = EM_CELL_INT, .integer = -at_us };

	ck_assert_int_eq(em_queue_put_row(&queue, 0, DRIVE, 1, at_us, &cell, 1), 0);
}

static void check_rows(const struct em_queue_row *row, int64_t first, int64_t last)
{
	for (int64_t at = first; at <= last; at++, row = row->next) {
		ck_assert_ptr_nonnull(row);
		ck_assert_int_eq(row->at_us, at);
	}
	ck_assert_ptr_null(row);
}

START_TEST(cells_come_back_as_they_were_put)
{
	const em_u128 big = (em_u128)1 << 96 | 12;
	const struct em_store_cell cells[] = {
		{ .kind = EM_CELL_NULL },
		{ .kind = EM_CELL_UINT, .number = INT64_MAX },
		{ .kind = EM_CELL_UINT, .number = (em_u128)INT64_MAX + 1 },
		{ .kind = EM_CELL_UINT, .number = big },
		{ .kind = EM_CELL_UINT, .text = "9999999999999999999999999999999999999999999" },
		{ .kind = EM_CELL_INT, .integer = -40 },
		{ .kind = EM_CELL_REAL, .real = 0.1 },
		{ .kind = EM_CELL_TEXT, .text = "" },
		{ .kind = EM_CELL_TEXT, .text = NULL },
	};
	static const struct {
		enum em_cell_tag tag;
		const char *text;
		int64_t integer;
	} expected[] = {
		{ EM_TAG_NULL, "", 0 },
		{ EM_TAG_INT, "", INT64_MAX },
		{ EM_TAG_TEXT, "9223372036854775808", 0 },
		{ EM_TAG_TEXT, "79228162514264337593543950348", 0 },
		{ EM_TAG_TEXT, "9999999999999999999999999999999999999999999", 0 },
		{ EM_TAG_INT, "", -40 },
		{ EM_TAG_REAL, "", 0 },
		{ EM_TAG_TEXT, "", 0 },
		{ EM_TAG_NULL, "", 0 },
	};
	struct em_queue_cell cell;
	size_t at = 0;

	ck_assert_int_eq(em_queue_put_row(&queue, 0, DRIVE, 0, 1, cells, EM_COUNT(cells)), 0);
	for (size_t i = 0; i < EM_COUNT(expected); i++) {
		ck_assert(em_queue_row_cell(queue.waiting.rows, &at, &cell));
		ck_assert_int_eq(cell.tag, expected[i].tag);
		ck_assert_int_eq(cell.integer, expected[i].integer);
		ck_assert_uint_eq(cell.text_len, strlen(expected[i].text));
		ck_assert_int_eq(
			memcmp(cell.text ? cell.text : "", expected[i].text, cell.text_len), 0);
	}
	ck_assert(!em_queue_row_cell(queue.waiting.rows, &at, &cell));
}
END_TEST

START_TEST(the_oldest_row_makes_room)
{
	for (int64_t at = 1; at <= 5; at++)
		put_at(at);
	ck_assert_uint_eq(queue.dropped, 2);
	check_rows(queue.waiting.rows, 3, 5);
}
END_TEST

START_TEST(returned_rows_stand_before_newer_ones)
{
	struct em_queue_batch batch;

	put_at(1);
	put_at(2);
	ck_assert_int_eq(em_queue_take(&queue, &batch), 0);
	ck_assert(em_queue_is_empty(&queue));
	put_at(3);
	em_queue_return(&queue, &batch);
	check_rows(queue.waiting.rows, 1, 3);
	put_at(4);
	check_rows(queue.waiting.rows, 2, 4);
	ck_assert_uint_eq(queue.dropped, 1);
	ck_assert_ptr_null(batch.rows);
}
END_TEST

START_TEST(the_newest_bytes_of_a_page_win)
{
	struct em_queue_batch batch;

	ck_assert_int_eq(em_queue_put_page(&queue, DRIVE, "smart", 0, 1, "a", 1), 0);
	ck_assert_int_eq(em_queue_put_page(&queue, DRIVE, "smart", 1, 1, "n", 1), 0);
	ck_assert_int_eq(em_queue_put_page(&queue, DRIVE, "smart", 0, 2, "b", 1), 0);
	ck_assert_uint_eq(queue.waiting.page_count, 2);
	ck_assert_int_eq(em_queue_take(&queue, &batch), 0);
	ck_assert_int_eq(em_queue_put_page(&queue, DRIVE, "smart", 0, 3, "c", 1), 0);
	em_queue_return(&queue, &batch);
	ck_assert_uint_eq(queue.waiting.page_count, 2);
	ck_assert_uint_eq(queue.waiting.page_bytes, 2);
	/* What came back has waited longer. */
	ck_assert_int_eq(queue.waiting.pages->data[0], 'n');
	ck_assert_int_eq(queue.waiting.pages->next->data[0], 'c');
	ck_assert_ptr_null(queue.waiting.pages->next->next);
}
END_TEST

START_TEST(pages_have_a_bound_in_bytes)
{
	em_cleanup(em_freep) char *big = calloc(1, EM_QUEUE_PAGE_MAX);
	struct em_queue_batch batch;

	for (uint32_t nsid = 1; nsid <= 64; nsid++)
		ck_assert_int_eq(em_queue_put_page(&queue, DRIVE, "namespace", nsid, 1, big,
						   EM_QUEUE_PAGE_MAX),
				 0);
	ck_assert_uint_eq(queue.dropped, 0);
	ck_assert_int_eq(em_queue_take(&queue, &batch), 0);
	ck_assert_int_eq(em_queue_put_page(&queue, DRIVE, "smart", 0, 1, "x", 1), 0);
	em_queue_return(&queue, &batch);
	ck_assert_uint_eq(queue.dropped, 1);
	ck_assert_uint_eq(queue.waiting.page_count, 64);
	ck_assert_uint_eq(queue.waiting.pages->nsid, 2);
}
END_TEST

/* As when the disk is away and there are a thousand drives: the loop waits for the same lock. */
START_TEST(many_pages_come_back_quickly)
{
	struct em_queue_batch batch;
	char drive[EM_QUEUE_DRIVE_ID];
	uint64_t begin;

	for (unsigned i = 0; i < 5000; i++) {
		snprintf(drive, sizeof(drive), "%016x", i);
		ck_assert_int_eq(em_queue_put_page(&queue, drive, "smart", 0, 1, "x", 1), 0);
	}
	begin = em_monotonic_us();
	for (unsigned i = 0; i < 100; i++) {
		ck_assert_int_eq(em_queue_take(&queue, &batch), 0);
		em_queue_return(&queue, &batch);
	}
	ck_assert_uint_lt(em_monotonic_us() - begin, 2 * EM_US_PER_SEC);
	ck_assert_uint_eq(queue.waiting.page_count, 5000);
}
END_TEST

START_TEST(drives_are_remembered)
{
	struct em_store_drive drive = { .id = DRIVE, .device = "nvme0" };
	struct em_queue_batch batch;

	ck_assert_int_eq(em_queue_put_drive(&queue, &drive), 0);
	ck_assert_int_eq(em_queue_take(&queue, &batch), 0);
	ck_assert_str_eq(batch.drives->drive.device, "nvme0");
	ck_assert(em_queue_is_empty(&queue));
	em_queue_return(&queue, &batch);
	ck_assert(!em_queue_is_empty(&queue));
	ck_assert_int_eq(em_queue_take(&queue, &batch), 0);
	em_queue_batch_done(&batch);
	em_queue_repeat_drives(&queue);
	ck_assert(!em_queue_is_empty(&queue));
}
END_TEST

START_TEST(drives_of_the_file_are_remembered_too)
{
	struct em_store_drive drive = { .id = DRIVE, .device = "nvme0" };
	struct em_queue_batch batch;

	ck_assert_int_eq(em_queue_remember_drive(&queue, &drive), 0);
	ck_assert(em_queue_is_empty(&queue));
	em_queue_repeat_drives(&queue);
	ck_assert_int_eq(em_queue_take(&queue, &batch), 0);
	ck_assert_str_eq(batch.drives->drive.device, "nvme0");
	em_queue_batch_done(&batch);
	strcpy(drive.device, "nvme1");
	ck_assert_int_eq(em_queue_put_drive(&queue, &drive), 0);
	strcpy(drive.device, "nvme0");
	ck_assert_int_eq(em_queue_remember_drive(&queue, &drive), 0);
	ck_assert_int_eq(em_queue_take(&queue, &batch), 0);
	ck_assert_str_eq(batch.drives->drive.device, "nvme1");
	em_queue_batch_done(&batch);
}
END_TEST

START_TEST(remembered_drives_leave_room_for_others)
{
	struct em_store_drive drive = { .identity_len = 0 };

	for (unsigned i = 0; i < EM_QUEUE_DRIVES_MAX / 2 + 1; i++) {
		snprintf(drive.id, sizeof(drive.id), "%016x", i);
		ck_assert_int_eq(em_queue_remember_drive(&queue, &drive), 0);
	}
	ck_assert_uint_eq(queue.drive_count, EM_QUEUE_DRIVES_MAX / 2);
	ck_assert_int_eq(em_queue_put_drive(&queue, &drive), 0);
	queue.drive_count = EM_QUEUE_DRIVES_MAX; /* to put them all takes long */
	ck_assert_int_eq(em_queue_put_drive(&queue, &drive), 0);
	strcpy(drive.id, DRIVE);
	ck_assert_int_eq(em_queue_put_drive(&queue, &drive), -ENOBUFS);
}
END_TEST

static void put_event(int64_t id)
{
	const struct em_event event = { .id = id, .kind = "broker" };

	ck_assert_int_eq(em_queue_put_event(&queue, &event), 0);
}

START_TEST(returned_events_stand_before_newer_ones)
{
	struct em_queue_batch batch;
	int64_t id = 1;

	put_event(1);
	put_event(2);
	ck_assert_int_eq(em_queue_take(&queue, &batch), 0);
	ck_assert(em_queue_is_empty(&queue));
	put_event(3);
	em_queue_return(&queue, &batch);
	put_event(4);
	for (struct em_queue_event *e = queue.waiting.events; e; e = e->next)
		ck_assert_int_eq(e->event.id, id++);
	ck_assert_int_eq(id, 5);
	ck_assert_uint_eq(queue.waiting.event_count, 4);
	ck_assert_int_eq(queue.waiting.last_event->event.id, 4);
}
END_TEST

START_TEST(the_newest_word_on_a_capability_wins)
{
	struct em_store_capability capability = { "M", "F", "errors", 1, 1 };
	struct em_queue_batch batch;

	ck_assert_int_eq(em_queue_put_capability(&queue, &capability, false), 0);
	ck_assert_int_eq(em_queue_take(&queue, &batch), 0);
	ck_assert(em_queue_is_empty(&queue));
	ck_assert_int_eq(em_queue_put_capability(&queue, &capability, true), 0);
	em_queue_return(&queue, &batch);
	ck_assert_uint_eq(queue.waiting.capability_count, 1);
	ck_assert(queue.waiting.capabilities->remove);
	for (unsigned i = 0; i < 5000; i++) {
		snprintf(capability.model, sizeof(capability.model), "M%u", i);
		ck_assert_int_eq(em_queue_put_capability(&queue, &capability, false), 0);
	}
	ck_assert_uint_eq(queue.waiting.capability_count, 4096);
	ck_assert_uint_eq(queue.dropped, 5001 - 4096);
}
END_TEST

START_TEST(the_newest_run_of_a_test_wins)
{
	struct em_store_test_run run = { "d", "short", "daily", 1 };
	struct em_queue_batch batch;

	ck_assert_int_eq(em_queue_put_test_run(&queue, &run), 0);
	ck_assert(!em_queue_is_empty(&queue));
	ck_assert_int_eq(em_queue_take(&queue, &batch), 0);
	ck_assert(em_queue_is_empty(&queue));
	run.slot_us = 2;
	ck_assert_int_eq(em_queue_put_test_run(&queue, &run), 0);
	em_queue_return(&queue, &batch);
	ck_assert_uint_eq(queue.waiting.test_run_count, 1);
	ck_assert_int_eq(queue.waiting.test_runs->run.slot_us, 2);
	for (unsigned i = 0; i < EM_STORE_TEST_RUNS_MAX; i++) {
		snprintf(run.drive, sizeof(run.drive), "%u", i);
		ck_assert_int_eq(em_queue_put_test_run(&queue, &run), 0);
	}
	ck_assert_uint_eq(queue.waiting.test_run_count, EM_STORE_TEST_RUNS_MAX);
	ck_assert_uint_eq(queue.dropped, 1);
}
END_TEST

START_TEST(what_cannot_be_kept_is_refused)
{
	const struct em_store_cell cell = { .kind = EM_CELL_NULL };
	char big[EM_QUEUE_TEXT_MAX + 2];
	const struct em_store_cell text = { .kind = EM_CELL_TEXT, .text = big };
	struct em_store_drive drive = { .id = DRIVE, .identity_len = 601 };

	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	ck_assert_int_eq(em_queue_put_row(&queue, 0, "", 0, 0, &cell, 1), -EINVAL);
	ck_assert_int_eq(em_queue_put_row(&queue, 0, DRIVE "0", 0, 0, &cell, 1), -EINVAL);
	ck_assert_int_eq(em_queue_put_row(&queue, 0, DRIVE, 0, 0, &text, 1), -E2BIG);
	ck_assert_int_eq(em_queue_put_page(&queue, DRIVE, big, 0, 0, "", 0), -EINVAL);
	ck_assert_int_eq(em_queue_put_page(&queue, DRIVE, "p", 0, 0, big, EM_QUEUE_PAGE_MAX + 1),
			 -E2BIG);
	ck_assert_int_eq(em_queue_put_drive(&queue, &drive), -EINVAL);
	ck_assert(em_queue_is_empty(&queue));
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("queue");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, make_dir, remove_dir);
	tcase_add_checked_fixture(tcase, start, stop);
	tcase_add_test(tcase, cells_come_back_as_they_were_put);
	tcase_add_test(tcase, the_oldest_row_makes_room);
	tcase_add_test(tcase, returned_rows_stand_before_newer_ones);
	tcase_add_test(tcase, the_newest_bytes_of_a_page_win);
	tcase_add_test(tcase, pages_have_a_bound_in_bytes);
	tcase_add_test(tcase, many_pages_come_back_quickly);
	tcase_add_test(tcase, drives_are_remembered);
	tcase_add_test(tcase, drives_of_the_file_are_remembered_too);
	tcase_add_test(tcase, remembered_drives_leave_room_for_others);
	tcase_add_test(tcase, returned_events_stand_before_newer_ones);
	tcase_add_test(tcase, the_newest_word_on_a_capability_wins);
	tcase_add_test(tcase, the_newest_run_of_a_test_wins);
	tcase_add_test(tcase, what_cannot_be_kept_is_refused);
	return run_tests(tcase);
}
