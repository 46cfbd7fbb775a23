/* SPDX-License-Identifier: Apache-2.0 */
/* A drive with several controllers: through which one it is asked. */
#include <check.h>

#include "tests/unit/drives/drive_fixture.h"
#include "tests/unit/runner.h"

static struct em_ipc_drive controller(uint32_t handle, const char *device, const char *cntlid,
				      const char *state)
{
	struct em_ipc_drive message = node(state);

	message.drive = handle;
	strcpy(message.device, device);
	strcpy(message.cntlid, cntlid);
	return message;
}

static void tell(uint32_t handle, const char *device, const char *cntlid, const char *state)
{
	struct em_ipc_drive message = controller(handle, device, cntlid, state);

	if (em_drive_has_path(drive, handle))
		em_drive_update(drive, &message, now, (int64_t)now);
	else
		em_drive_present(drive, &message, now, (int64_t)now);
}

static void start_two(void)
{
	start();
	tell(7, "nvme1", "1", "live");
	tell(8, "nvme0", "2", "live");
	serve(EM_VER(1, 4), 0);
}

static void miss(unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		ck_assert(ask());
		answer(EM_ANSWER_TIMEOUT, 0, NULL, 0);
		now += EM_RETRY_US;
	}
}

START_TEST(two_controllers_are_one_drive)
{
	struct em_drive_snap *snap = em_drive_snapshot(drive);

	ck_assert_uint_eq(snap->controller_count, 2);
	ck_assert_str_eq(snap->controllers[0].device, "nvme0");
	ck_assert_str_eq(snap->controllers[1].device, "nvme1");
	ck_assert(!snap->controllers[0].active);
	ck_assert(snap->controllers[1].active);
	/* Named by the first one, whichever is asked. */
	ck_assert_str_eq(snap->device, "nvme0");
	ck_assert_str_eq(snap->cntlid, "2");
	em_drive_snap_unref(snap);
	now += 60 * SECOND;
	ck_assert_uint_eq(serve(EM_VER(1, 4), 0), 1);
	ck_assert_uint_eq(asked.drive, 7);
}
END_TEST

START_TEST(only_another_id_is_another_controller)
{
	ck_assert(em_drive_takes_path(drive, "3"));
	ck_assert(!em_drive_takes_path(drive, "1"));
	ck_assert(!em_drive_takes_path(drive, "2"));
	ck_assert(!em_drive_takes_path(drive, ""));
	em_drive_gone(drive, "gone", (int64_t)now);
	/* What is not there has no other controller: it may come back as itself. */
	ck_assert(!em_drive_takes_path(drive, "3"));
}
END_TEST

START_TEST(other_one_takes_over_when_the_first_goes)
{
	bool armed = false;

	now += 60 * SECOND;
	ck_assert(ask());
	em_drive_path_gone(drive, 7, "gone", now, (int64_t)now);
	ck_assert_int_eq(drive->state, EM_STATE_OK);
	/* The answer of the one that went comes too late. */
	ck_assert(!answer(EM_ANSWER_DONE, 0, smart(4), 512).fresh);
	while (ask()) {
		ck_assert_uint_eq(asked.drive, 8);
		armed |= asked.op == EM_OP_ARM_EVENTS;
		answer(EM_ANSWER_DONE, 0, smart(0), asked.len);
	}
	ck_assert(armed);
	em_drive_path_gone(drive, 8, "gone", now, (int64_t)now);
	ck_assert_int_eq(drive->state, EM_STATE_REMOVED);
}
END_TEST

START_TEST(reset_of_one_is_no_state_of_the_drive)
{
	tell(7, "nvme1", "1", "resetting");
	ck_assert_int_eq(drive->state, EM_STATE_OK);
	ck_assert_uint_eq(drive->handle, 8);
	/* Both: then it is busy, and whichever is back first is asked. */
	tell(8, "nvme0", "2", "connecting");
	ck_assert_int_eq(drive->state, EM_STATE_BUSY);
	tell(7, "nvme1", "1", "live");
	ck_assert_int_eq(drive->state, EM_STATE_OK);
	ck_assert_uint_eq(drive->handle, 7);
}
END_TEST

START_TEST(one_that_does_not_answer_is_left)
{
	now += 60 * SECOND;
	miss(3);
	ck_assert_int_eq(drive->state, EM_STATE_OK);
	ck_assert_uint_eq(drive->handle, 8);
	/* And not gone back to before something has happened to it. */
	miss(3);
	ck_assert_int_eq(drive->state, EM_STATE_UNRESPONSIVE);
	ck_assert_uint_eq(drive->handle, 8);
	tell(7, "nvme1", "1", "resetting");
	tell(7, "nvme1", "1", "live");
	ck_assert_uint_eq(drive->handle, 7);
	serve(EM_VER(1, 4), 0);
	ck_assert_int_eq(drive->state, EM_STATE_OK);
}
END_TEST

START_TEST(event_of_the_other_is_cleared_once_it_is_asked)
{
	struct em_ipc_event event = { .drive = 8, .kind = EM_EVENT_AEN, .aen = 0x020101 };
	unsigned acknowledged = 0;

	em_drive_event(drive, &event, now);
	/* The values are looked at, through the one that is asked. */
	ck_assert_uint_eq(serve(EM_VER(1, 4), 0), 1);
	ck_assert_int_eq(asked.op, EM_OP_GET_LOG);
	ck_assert_uint_eq(asked.drive, 7);
	em_drive_path_gone(drive, 7, "gone", now, (int64_t)now);
	while (ask()) {
		acknowledged += asked.op == EM_OP_ACKNOWLEDGE_EVENT;
		answer(EM_ANSWER_DONE, 0, smart(0), asked.len);
	}
	ck_assert_uint_eq(acknowledged, 2);
}
END_TEST

START_TEST(what_a_new_broker_does_not_tell_is_gone)
{
	em_drive_disconnected(drive);
	ck_assert_uint_eq(em_drive_due_us(drive), NEVER);
	tell(21, "nvme0", "2", "live");
	ck_assert_uint_eq(drive->path_count, 2);
	em_drive_drop_untold(drive, "gone", (int64_t)now);
	ck_assert_uint_eq(drive->path_count, 1);
	ck_assert_uint_eq(drive->handle, 21);
	ck_assert_int_eq(drive->state, EM_STATE_OK);
	em_drive_disconnected(drive);
	em_drive_drop_untold(drive, "gone", (int64_t)now);
	ck_assert_int_eq(drive->state, EM_STATE_REMOVED);
}
END_TEST

START_TEST(controllers_are_limited)
{
	char name[16];

	for (unsigned i = 2; i < 100; i++) {
		snprintf(name, sizeof(name), "nvme%u", i);
		if (em_drive_takes_path(drive, name))
			tell(100 + i, name, name, "live");
	}
	ck_assert_uint_eq(drive->path_count, EM_CONTROLLERS_MAX);
	tell(300, "nvme300", "300", "live");
	ck_assert_uint_eq(drive->path_count, EM_CONTROLLERS_MAX);
	ck_assert(!em_drive_has_path(drive, 300));
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		two_controllers_are_one_drive,
		only_another_id_is_another_controller,
		other_one_takes_over_when_the_first_goes,
		reset_of_one_is_no_state_of_the_drive,
		one_that_does_not_answer_is_left,
		event_of_the_other_is_cleared_once_it_is_asked,
		what_a_new_broker_does_not_tell_is_gone,
		controllers_are_limited,
	};
	TCase *tc = tcase_create("drive_path");

	tcase_add_checked_fixture(tc, start_two, stop);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(tc, tests[i]);
	return run_tests(tc);
}
