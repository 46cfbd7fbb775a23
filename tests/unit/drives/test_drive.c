/* SPDX-License-Identifier: Apache-2.0 */
/* The state machine of one drive, with a broker and clocks made of arguments. */
#include <check.h>
#include <errno.h>

#include "tests/unit/drives/drive_fixture.h"
#include "tests/unit/runner.h"

START_TEST(first_contact_reads_all_that_is_announced)
{
	serve(EM_VER(1, 4), 0x10);
	ck_assert(drive->ctx.known);
	ck_assert_uint_eq(drive->namespace_count, 2);
	ck_assert_uint_eq(drive->namespaces[1].nsid, 9);
	ck_assert_int_eq(drive->pages[EM_PAGE_SELFTEST].read.status, EM_READ_OK);
	ck_assert_int_eq(drive->state, EM_STATE_OK);
	ck_assert_str_eq(drive->state_detail, "");
	ck_assert_str_eq(drive->firmware, "FW000001");
}
END_TEST

START_TEST(identify_comes_first)
{
	ck_assert(ask());
	ck_assert_int_eq(asked.op, EM_OP_IDENTIFY);
	ck_assert_uint_eq(asked.page, 1);
	ck_assert_uint_eq(asked.nsid, 0);
	/* One request at a time. */
	ck_assert(!ask());
	ck_assert_uint_eq(em_drive_due_us(drive), NEVER);
}
END_TEST

START_TEST(unannounced_page_is_never_asked)
{
	while (ask()) {
		ck_assert(!(asked.op == EM_OP_GET_LOG && asked.page == 6));
		if (asked.op == EM_OP_IDENTIFY && asked.page == 1)
			answer(EM_ANSWER_DONE, 0, identify(EM_VER(1, 4), 0), 4096);
		else
			answer(EM_ANSWER_DONE, 0, smart(0), asked.len);
	}
	ck_assert_int_eq(drive->pages[EM_PAGE_SELFTEST].read.status, EM_READ_UNSUPPORTED);
}
END_TEST

START_TEST(old_drive_gets_no_list_command)
{
	while (ask()) {
		ck_assert(!(asked.op == EM_OP_IDENTIFY && asked.page == 2));
		if (asked.op == EM_OP_IDENTIFY && asked.page == 1)
			answer(EM_ANSWER_DONE, 0, identify(EM_VER(1, 0), 0), 4096);
		else
			answer(EM_ANSWER_DONE, 0, smart(0), asked.len);
	}
	ck_assert_uint_eq(drive->namespace_count, 2);
}
END_TEST

START_TEST(steady_poll_is_one_command)
{
	serve(EM_VER(1, 4), 0x10);
	now += 60 * SECOND;
	ck_assert_uint_eq(serve(EM_VER(1, 4), 0x10), 1);
	ck_assert_uint_eq(asked.nsid, 0xffffffffu);
	ck_assert_uint_eq(em_drive_due_us(drive), now + 60 * SECOND);
}
END_TEST

START_TEST(refused_page_is_not_asked_again)
{
	unsigned firmware_logs = 0;

	for (int hour = 0; hour < 3; hour++) {
		while (ask()) {
			if (asked.op == EM_OP_GET_LOG && asked.page == 3) {
				firmware_logs++;
				answer(EM_ANSWER_STATUS, 0x4109, NULL, 0);
			} else if (asked.op == EM_OP_IDENTIFY && asked.page == 1) {
				answer(EM_ANSWER_DONE, 0, identify(EM_VER(1, 4), 0), 4096);
			} else {
				answer(EM_ANSWER_DONE, 0, smart(0), asked.len);
			}
		}
		now += 3600 * SECOND;
	}
	ck_assert_uint_eq(firmware_logs, 1);
	ck_assert_int_eq(drive->pages[EM_PAGE_FIRMWARE].read.status, EM_READ_REFUSED);
	ck_assert_int_eq(drive->state, EM_STATE_OK);
}
END_TEST

START_TEST(refused_namespace_is_not_asked_again)
{
	struct em_ipc_event event = { .drive = 7, .kind = EM_EVENT_NAMESPACES };
	unsigned asks = 0;

	serve(EM_VER(1, 4), 0);
	for (int hour = 0; hour < 4; hour++) {
		now += 3600 * SECOND;
		if (hour == 3)
			em_drive_event(drive, &event, now);
		while (ask()) {
			if (asked.op == EM_OP_IDENTIFY && asked.page == 0 && asked.nsid == 9) {
				asks++;
				answer(EM_ANSWER_STATUS, 0x4002, NULL, 0);
			} else if (asked.op == EM_OP_IDENTIFY && asked.page == 2) {
				memset(page, 0, sizeof(page));
				page[0] = 1;
				page[4] = 9;
				answer(EM_ANSWER_DONE, 0, page, 4096);
			} else {
				answer(EM_ANSWER_DONE, 0,
				       asked.op == EM_OP_IDENTIFY ? identify(EM_VER(1, 4), 0)
								  : smart(0),
				       asked.len);
			}
		}
		/* Once; and once more when the kernel says that something changed. */
		ck_assert_uint_eq(asks, hour < 3 ? 1 : 2);
	}
}
END_TEST

/* A drive that once refused what every drive has must not go unwatched for ever. */
START_TEST(page_that_every_drive_has_gets_another_chance)
{
	struct em_ipc_event event = { .drive = 7, .kind = EM_EVENT_CONNECTED };

	while (ask())
		answer(EM_ANSWER_STATUS, 0x4001, NULL, 0);
	now += 24 * 3600 * SECOND;
	ck_assert(!ask());
	em_drive_event(drive, &event, now);
	serve(EM_VER(1, 4), 0);
	ck_assert_int_eq(drive->pages[EM_PAGE_SMART].read.status, EM_READ_OK);
	ck_assert_int_eq(drive->pages[EM_PAGE_FIRMWARE].read.status, EM_READ_OK);
}
END_TEST

START_TEST(new_firmware_is_asked_anew)
{
	serve(EM_VER(1, 4), 0);
	drive->pages[EM_PAGE_FIRMWARE].read.status = EM_READ_REFUSED;
	drive->pages[EM_PAGE_FIRMWARE].due_us = NEVER;
	now += 3600 * SECOND;
	while (ask() && !(asked.op == EM_OP_IDENTIFY && asked.page == 1))
		answer(EM_ANSWER_DONE, 0, smart(0), asked.len);
	identify(EM_VER(1, 4), 0);
	memcpy(page + 64, "FW000002", 8);
	answer(EM_ANSWER_DONE, 0, page, 4096);
	ck_assert_str_eq(drive->firmware, "FW000002");
	ck_assert_uint_eq(drive->pages[EM_PAGE_FIRMWARE].due_us, now);
}
END_TEST

START_TEST(three_misses_make_unresponsive_and_keep_the_values)
{
	int64_t read_us;

	serve(EM_VER(1, 4), 0);
	read_us = drive->pages[EM_PAGE_SMART].read.read_us;
	now += 60 * SECOND;
	ck_assert(ask());
	answer(EM_ANSWER_TIMEOUT, 0, NULL, 0);
	ck_assert_int_eq(drive->state, EM_STATE_OK);
	ck_assert(!ask());
	for (int miss = 0; miss < 2; miss++) {
		now += EM_RETRY_US;
		ck_assert(ask());
		answer(EM_ANSWER_STUCK, 0, NULL, 0);
	}
	ck_assert_int_eq(drive->state, EM_STATE_UNRESPONSIVE);
	ck_assert_ptr_nonnull(drive->pages[EM_PAGE_SMART].read.data);
	ck_assert_int_eq(drive->pages[EM_PAGE_SMART].read.read_us, read_us);
	ck_assert_int_eq(drive->pages[EM_PAGE_SMART].read.status, EM_READ_STUCK);
}
END_TEST

START_TEST(unstuck_drive_is_asked_at_once)
{
	struct em_ipc_event event = { .drive = 7, .kind = EM_EVENT_UNSTUCK };

	three_misses_make_unresponsive_and_keep_the_values_fn(0);
	em_drive_event(drive, &event, now);
	ck_assert_uint_gt(serve(EM_VER(1, 4), 0), 0);
	ck_assert_int_eq(drive->state, EM_STATE_OK);
}
END_TEST

START_TEST(reset_is_busy_and_no_miss)
{
	struct em_ipc_drive message = node("resetting");

	serve(EM_VER(1, 4), 0);
	em_drive_update(drive, &message, now, (int64_t)now);
	ck_assert_int_eq(drive->state, EM_STATE_BUSY);
	for (int i = 0; i < 10; i++) {
		now += 60 * SECOND;
		ck_assert(ask());
		answer(EM_ANSWER_BUSY, 0, NULL, 0);
	}
	ck_assert_int_eq(drive->state, EM_STATE_BUSY);
	ck_assert_uint_eq(drive->misses, 0);
	message = node("live");
	em_drive_update(drive, &message, now, (int64_t)now);
	ck_assert_int_eq(drive->state, EM_STATE_OK);
}
END_TEST

/* Case R36: one EAGAIN is no reason for anything. */
START_TEST(one_miss_is_forgiven)
{
	serve(EM_VER(1, 4), 0);
	for (int i = 0; i < 5; i++) {
		now += 60 * SECOND;
		ck_assert(ask());
		answer(EM_ANSWER_HOST_ERROR, 0, NULL, 0);
		now += EM_RETRY_US;
		serve(EM_VER(1, 4), 0);
	}
	ck_assert_int_eq(drive->state, EM_STATE_OK);
}
END_TEST

START_TEST(event_is_acknowledged_at_once)
{
	struct em_ipc_event event = { .drive = 7, .kind = EM_EVENT_AEN, .aen = 0x020101 };
	struct em_drive_news news;

	serve(EM_VER(1, 4), 0);
	em_drive_event(drive, &event, now);
	ck_assert(ask());
	ck_assert_int_eq(asked.op, EM_OP_ACKNOWLEDGE_EVENT);
	ck_assert_uint_eq(asked.page, 2);
	news = answer(EM_ANSWER_DONE, 0, smart(2), asked.len);
	ck_assert(news.fresh);
	ck_assert_int_eq(news.page, EM_PAGE_SMART);
	/* The acknowledging read was the poll. */
	ck_assert(!ask());
}
END_TEST

/* The kernel tells each event once: a warning that changed unheard must not block the next. */
START_TEST(lost_event_is_mended)
{
	serve(EM_VER(1, 4), 0);
	now += 60 * SECOND;
	ck_assert(ask());
	answer(EM_ANSWER_DONE, 0, smart(4), asked.len);
	ck_assert(ask());
	ck_assert_int_eq(asked.op, EM_OP_ACKNOWLEDGE_EVENT);
	answer(EM_ANSWER_DONE, 0, smart(4), asked.len);
	ck_assert(!ask());
}
END_TEST

START_TEST(restart_of_the_controller_arms_again)
{
	struct em_ipc_event event = { .drive = 7, .kind = EM_EVENT_CONNECTED };
	bool armed = false;

	serve(EM_VER(1, 4), 0);
	em_drive_event(drive, &event, now);
	while (ask()) {
		armed |= asked.op == EM_OP_ARM_EVENTS;
		answer(EM_ANSWER_STATUS, 0x0002, NULL, 0);
	}
	ck_assert(armed);
}
END_TEST

START_TEST(bytes_that_are_no_reading_change_nothing)
{
	struct em_drive_news news;

	serve(EM_VER(1, 4), 0);
	now += 60 * SECOND;
	ck_assert(ask());
	memset(page, 0xff, sizeof(page));
	news = answer(EM_ANSWER_DONE, 0, page, asked.len);
	ck_assert(!news.fresh);
	ck_assert_int_eq(drive->pages[EM_PAGE_SMART].read.status, EM_READ_NO_READING);
	ck_assert_uint_eq(drive->pages[EM_PAGE_SMART].read.data->data[3], 100);
	now += 60 * SECOND;
	ck_assert(ask());
	news = answer(EM_ANSWER_DONE, 0, smart(0), 100);
	ck_assert(!news.fresh);
	ck_assert_int_eq(drive->pages[EM_PAGE_SMART].read.status, EM_READ_SHORT);
}
END_TEST

START_TEST(hostile_namespace_lists_are_refused)
{
	serve(EM_VER(1, 4), 0);
	for (int kind = 0; kind < 3; kind++) {
		now += 3600 * SECOND;
		while (ask() && !(asked.op == EM_OP_IDENTIFY && asked.page == 2))
			answer(EM_ANSWER_DONE, 0,
			       asked.op == EM_OP_IDENTIFY ? identify(EM_VER(1, 4), 0) : smart(0),
			       asked.len);
		memset(page, kind == 0 ? 0xff : 0, sizeof(page));
		if (kind > 0) {
			page[0] = 5;
			page[4] = kind == 1 ? 5 : 4; /* not ascending */
		}
		answer(EM_ANSWER_DONE, 0, page, 4096);
		ck_assert_int_eq(drive->list.read.status, EM_READ_NO_READING);
		ck_assert_uint_eq(drive->namespace_count, 2);
	}
}
END_TEST

START_TEST(late_reply_of_another_connection_is_ignored)
{
	struct em_drive_news news;

	ck_assert(ask());
	em_drive_forget_request(drive);
	news = answer(EM_ANSWER_DONE, 0, identify(EM_VER(1, 4), 0), 4096);
	ck_assert(!news.fresh);
	ck_assert(!drive->ctx.known);
}
END_TEST

START_TEST(gone_and_back_under_another_name_is_the_same)
{
	struct em_ipc_drive message = node("live");
	char id[EM_DRIVE_ID_SIZE];

	serve(EM_VER(1, 4), 0);
	strcpy(id, drive->id);
	em_drive_gone(drive, "its device node is gone", (int64_t)now);
	ck_assert_int_eq(drive->state, EM_STATE_REMOVED);
	ck_assert_uint_eq(em_drive_due_us(drive), NEVER);
	strcpy(message.device, "nvme9");
	em_drive_present(drive, &message, now, (int64_t)now);
	serve(EM_VER(1, 4), 0);
	ck_assert_int_eq(drive->state, EM_STATE_OK);
	ck_assert_str_eq(drive->device, "nvme9");
	ck_assert_str_eq(drive->id, id);
}
END_TEST

START_TEST(intervals_down_to_ten_milliseconds)
{
	struct em_poll_intervals intervals = drive->intervals;

	serve(EM_VER(1, 4), 0);
	intervals.page_us[EM_PAGE_SMART] = 10000;
	em_drive_set_intervals(drive, &intervals, now);
	for (int i = 0; i < 1000; i++) {
		ck_assert_uint_eq(em_drive_due_us(drive), now + 10000);
		now += 10000;
		ck_assert_uint_eq(serve(EM_VER(1, 4), 0), 1);
	}
}
END_TEST

START_TEST(twins_are_two)
{
	struct em_drive *twin = em_drive_new("nqn.test:0\0SN0", 14, 1);

	ck_assert_str_ne(twin->id, drive->id);
	em_drive_free(twin);
}
END_TEST

START_TEST(denied_reading_says_so)
{
	ck_assert(ask());
	answer(EM_ANSWER_DENIED, 0, NULL, 0);
	ck_assert_int_eq(drive->pages[EM_PAGE_IDENTIFY_CTRL].read.status, EM_READ_DENIED);
	ck_assert_str_ne(drive->state_detail, "");
}
END_TEST

/* What a broker that lies might send: nothing of it may be read, shown or believed. */
START_TEST(data_that_was_not_asked_for_is_none)
{
	struct em_ipc_reply reply = { .answer = EM_ANSWER_DONE,
				      .data_len = 1u << 20,
				      .data_fd = 9 };

	serve(EM_VER(1, 4), 0);
	now += 60 * SECOND;
	ck_assert(ask());
	reply.id = next_id;
	ck_assert(!em_drive_reply(drive, &reply, now, (int64_t)now).fresh);
	ck_assert_int_eq(drive->pages[EM_PAGE_SMART].read.status, EM_READ_HOST_ERROR);
	ck_assert_int_eq(drive->pages[EM_PAGE_SMART].read.err, EPROTO);
	now += EM_RETRY_US;
	ck_assert(ask());
	ck_assert(!answer(EM_ANSWER_DONE, 0, smart(1), asked.len + 1).fresh);
	ck_assert_uint_eq(drive->pages[EM_PAGE_SMART].read.data->data[0], 0);
}
END_TEST

static void ask_for_list(void)
{
	while (ask() && !(asked.op == EM_OP_IDENTIFY && asked.page == 2))
		answer(EM_ANSWER_DONE, 0,
		       asked.op == EM_OP_IDENTIFY ? identify(EM_VER(1, 4), 0) : smart(0),
		       asked.len);
}

START_TEST(short_namespace_list_deletes_nothing)
{
	serve(EM_VER(1, 4), 0);
	for (uint32_t len = 0; len < 4096; len += 4095) {
		now += 3600 * SECOND;
		ask_for_list();
		memset(page, 0, sizeof(page));
		answer(EM_ANSWER_DONE, 0, len ? page : NULL, len);
		ck_assert_int_eq(drive->list.read.status, EM_READ_SHORT);
		ck_assert_uint_eq(drive->namespace_count, 2);
	}
}
END_TEST

START_TEST(storm_of_namespace_events_is_no_storm_of_commands)
{
	struct em_ipc_event event = { .drive = 7, .kind = EM_EVENT_NAMESPACES };
	unsigned commands;

	serve(EM_VER(1, 4), 0);
	commands = 0;
	for (int i = 0; i < 10000; i++) {
		em_drive_event(drive, &event, now);
		commands += serve(EM_VER(1, 4), 0);
		now += 100;
	}
	/* One second: the list and two namespaces, once. */
	ck_assert_uint_le(commands, 3);
	now += SECOND;
	ck_assert_uint_le(commands + serve(EM_VER(1, 4), 0), 6);
	ck_assert_uint_eq(drive->list.read.read_mono_us, now);
}
END_TEST

START_TEST(event_outlives_a_request_that_was_lost)
{
	struct em_ipc_event event = { .drive = 7, .kind = EM_EVENT_AEN, .aen = 0x020101 };

	serve(EM_VER(1, 4), 0);
	for (int round = 0; round < 2; round++) {
		em_drive_event(drive, &event, now);
		ck_assert(ask());
		ck_assert_int_eq(asked.op, EM_OP_ACKNOWLEDGE_EVENT);
		em_drive_forget_request(drive);
		ck_assert(ask());
		ck_assert_int_eq(asked.op, EM_OP_ACKNOWLEDGE_EVENT);
		ck_assert_uint_eq(asked.page, event.aen >> 16);
		answer(EM_ANSWER_DONE, 0, smart(2), asked.len);
		serve(EM_VER(1, 4), 0);
		event.aen = 0x010000; /* then the same for the error log */
	}
}
END_TEST

START_TEST(arming_outlives_a_request_that_was_lost)
{
	struct em_ipc_event event = { .drive = 7, .kind = EM_EVENT_CONNECTED };

	serve(EM_VER(1, 4), 0);
	em_drive_event(drive, &event, now);
	ck_assert(ask());
	ck_assert_int_eq(asked.op, EM_OP_ARM_EVENTS);
	em_drive_forget_request(drive);
	ck_assert(ask());
	ck_assert_int_eq(asked.op, EM_OP_ARM_EVENTS);
	answer(EM_ANSWER_GONE, 0, NULL, 0);
	now += EM_RETRY_US;
	ck_assert(ask());
	ck_assert_int_eq(asked.op, EM_OP_ARM_EVENTS);
}
END_TEST

START_TEST(reset_is_no_answer)
{
	struct em_ipc_drive resetting = node("resetting"), live = node("live"), dead = node("dead");

	three_misses_make_unresponsive_and_keep_the_values_fn(0);
	em_drive_update(drive, &resetting, now, (int64_t)now);
	ck_assert_int_eq(drive->state, EM_STATE_BUSY);
	em_drive_update(drive, &live, now, (int64_t)now);
	ck_assert_int_eq(drive->state, EM_STATE_UNRESPONSIVE);
	serve(EM_VER(1, 4), 0);
	ck_assert_int_eq(drive->state, EM_STATE_OK);
	em_drive_update(drive, &resetting, now, (int64_t)now);
	em_drive_update(drive, &dead, now, (int64_t)now);
	ck_assert_int_ne(drive->state, EM_STATE_OK);
}
END_TEST

/* A broker that comes back again and again is no reason to forget what the drive missed. */
START_TEST(misses_outlive_the_broker)
{
	struct em_ipc_drive message = node("live");

	serve(EM_VER(1, 4), 0);
	for (int i = 0; i < 3; i++) {
		now += 60 * SECOND;
		ck_assert(ask());
		answer(EM_ANSWER_TIMEOUT, 0, NULL, 0);
		drive->handle = 0;
		em_drive_present(drive, &message, now, (int64_t)now);
	}
	ck_assert_int_eq(drive->state, EM_STATE_UNRESPONSIVE);
	em_drive_gone(drive, "its device node is gone", (int64_t)now);
	em_drive_present(drive, &message, now, (int64_t)now);
	ck_assert_uint_eq(drive->misses, 0);
}
END_TEST

START_TEST(identify_without_a_reading_is_asked_again_soon)
{
	while (ask()) {
		memset(page, 0xff, sizeof(page));
		answer(EM_ANSWER_DONE, 0, page, asked.len);
	}
	ck_assert(!drive->ctx.known);
	ck_assert_uint_eq(drive->pages[EM_PAGE_IDENTIFY_CTRL].due_us, now + 60 * SECOND);
	now += 60 * SECOND;
	serve(EM_VER(1, 4), 0);
	ck_assert(drive->ctx.known);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		first_contact_reads_all_that_is_announced,
		identify_comes_first,
		unannounced_page_is_never_asked,
		old_drive_gets_no_list_command,
		steady_poll_is_one_command,
		refused_page_is_not_asked_again,
		new_firmware_is_asked_anew,
		three_misses_make_unresponsive_and_keep_the_values,
		unstuck_drive_is_asked_at_once,
		reset_is_busy_and_no_miss,
		one_miss_is_forgiven,
		event_is_acknowledged_at_once,
		lost_event_is_mended,
		restart_of_the_controller_arms_again,
		bytes_that_are_no_reading_change_nothing,
		hostile_namespace_lists_are_refused,
		late_reply_of_another_connection_is_ignored,
		gone_and_back_under_another_name_is_the_same,
		intervals_down_to_ten_milliseconds,
		twins_are_two,
		denied_reading_says_so,
		data_that_was_not_asked_for_is_none,
		short_namespace_list_deletes_nothing,
		storm_of_namespace_events_is_no_storm_of_commands,
		event_outlives_a_request_that_was_lost,
		arming_outlives_a_request_that_was_lost,
		reset_is_no_answer,
		misses_outlive_the_broker,
		identify_without_a_reading_is_asked_again_soon,
		refused_namespace_is_not_asked_again,
		page_that_every_drive_has_gets_another_chance,
	};
	TCase *tc = tcase_create("drive");

	tcase_add_checked_fixture(tc, start, stop);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(tc, tests[i]);
	return run_tests(tc);
}
