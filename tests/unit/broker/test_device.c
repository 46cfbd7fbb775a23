/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <libnvme.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker/device.h"
#include "tests/unit/runner.h"

/* /dev/null is the node, a directory of ours is sysfs, and this is the kernel. */
static int reply_ret, reply_errno, commands;

int nvme_submit_admin_passthru(int fd, struct nvme_passthru_cmd *cmd, __u32 *result)
{
	(void)fd;
	(void)cmd;
	commands++;
	*result = 7;
	errno = reply_errno;
	return reply_ret;
}

static char dir[] = "/tmp/ember-device-XXXXXX";

static void put(const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fprintf(file, "%s\n", text);
	fclose(file);
}

static void drop(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	remove(path);
}

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	put("serial", "S1");
	reply_ret = reply_errno = commands = 0;
}

static void teardown(void)
{
	drop("serial");
	drop("state");
	rmdir(dir);
}

static struct em_outcome run_on(const char *node)
{
	em_cleanup(em_device_freep) struct em_device *device = NULL;
	struct em_job job = {
		.request = { .op = EM_OP_GET_FEATURE, .page = 1 },
		.operation = em_operation_find(EM_OP_GET_FEATURE),
	};

	ck_assert_int_eq(em_device_new(node, dir, "S1", &device), 0);
	em_device_run(device, &job);
	return job.outcome;
}

START_TEST(a_command_is_carried_out)
{
	struct em_outcome outcome = run_on("null");

	ck_assert_int_eq(outcome.answer, EM_ANSWER_DONE);
	ck_assert_uint_eq(outcome.result, 7);
	ck_assert_int_eq(commands, 1);
}
END_TEST

START_TEST(a_node_that_is_not_there_is_a_drive_gone)
{
	ck_assert_int_eq(run_on("no-such-node").answer, EM_ANSWER_GONE);
	ck_assert_int_eq(commands, 0);
}
END_TEST

START_TEST(another_drive_under_the_name_gets_no_command)
{
	put("serial", "S2");
	ck_assert_int_eq(run_on("null").answer, EM_ANSWER_GONE);
	ck_assert_int_eq(commands, 0);
}
END_TEST

/* What the kernel answers while it resets a controller, and what else that may mean. */
static const struct {
	int ret, err;
	const char *state;
	enum em_answer answer;
} cases[] = {
	{ -1, EAGAIN, "resetting", EM_ANSWER_BUSY },
	{ -1, EINTR, "connecting", EM_ANSWER_BUSY },
	{ 0x370, 0, "resetting", EM_ANSWER_BUSY },
	{ 0x4370, 0, "resetting", EM_ANSWER_BUSY },
	{ 0x371, 0, "resetting", EM_ANSWER_BUSY },
	{ -1, EAGAIN, "live", EM_ANSWER_HOST_ERROR },
	{ 0x370, 0, "live", EM_ANSWER_STATUS },
	{ -1, EAGAIN, "dead", EM_ANSWER_GONE },
	{ 0x370, 0, "deleting", EM_ANSWER_GONE },
	/* The drive's own words stay its own. */
	{ 0x002, 0, "resetting", EM_ANSWER_STATUS },
	{ -1, EPERM, "resetting", EM_ANSWER_HOST_ERROR },
	{ -1, ENODEV, "live", EM_ANSWER_GONE },
	{ -1, ENXIO, "live", EM_ANSWER_GONE },
	{ 0, 0, "resetting", EM_ANSWER_DONE },
};

START_TEST(a_reset_is_told_from_trouble)
{
	put("state", cases[_i].state);
	reply_ret = cases[_i].ret;
	reply_errno = cases[_i].err;
	ck_assert_int_eq(run_on("null").answer, cases[_i].answer);
}
END_TEST

START_TEST(the_node_is_opened_anew_after_it_was_gone)
{
	em_cleanup(em_device_freep) struct em_device *device = NULL;
	struct em_job job = {
		.request = { .op = EM_OP_GET_FEATURE, .page = 1 },
		.operation = em_operation_find(EM_OP_GET_FEATURE),
	};

	ck_assert_int_eq(em_device_new("null", dir, "S1", &device), 0);
	reply_ret = -1;
	reply_errno = ENODEV;
	em_device_run(device, &job);
	/* Were it kept open, the serial would not be looked at again. */
	put("serial", "S2");
	reply_ret = 0;
	em_device_run(device, &job);
	ck_assert_int_eq(job.outcome.answer, EM_ANSWER_GONE);
	ck_assert_int_eq(commands, 1);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("device");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_command_is_carried_out);
	tcase_add_test(tc, a_node_that_is_not_there_is_a_drive_gone);
	tcase_add_test(tc, another_drive_under_the_name_gets_no_command);
	tcase_add_loop_test(tc, a_reset_is_told_from_trouble, 0, (int)EM_COUNT(cases));
	tcase_add_test(tc, the_node_is_opened_anew_after_it_was_gone);
	return run_tests(tc);
}
