/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked, and when: announcements, the memory of refusals, quicker looks. */
#include <check.h>

#include "tests/unit/drives/drive_fixture.h"
#include "tests/unit/runner.h"

#define SELF_TEST_OACS 0x10
#define SECURITY_OACS  0x01

static uint8_t bytes[4096 * 4];
static struct em_capabilities *capabilities;
static uint16_t log_status[256]; /* what the drive answers to a log; 0 = it has it */
static unsigned asked_logs[256], error_bytes, armings, discoveries;
static uint8_t lpa, sanicap, sanitize_state, effects_self_test, effects_security, security;
static uint16_t discovery_status;
static uint64_t error_count;
static const char *revision;

static void begin(void)
{
	memset(log_status, 0, sizeof(log_status));
	lpa = sanicap = sanitize_state = security = 0;
	discovery_status = 0;
	effects_self_test = effects_security = 1;
	error_count = 5;
	revision = "FW000001";
	capabilities = em_capabilities_new();
	start();
	drive->capabilities = capabilities;
}

static void end(void)
{
	stop();
	capabilities = em_capabilities_free(capabilities);
}

/* LPA at 261, ELPE at 262, SANICAP at 328 of Identify Controller. */
static const uint8_t *whole_identify(void)
{
	memcpy(bytes, identify(EM_VER(1, 4), SELF_TEST_OACS | security), 4096);
	memcpy(bytes + 64, revision, 8);
	bytes[261] = lpa;
	bytes[262] = 63;
	bytes[328] = sanicap;
	return bytes;
}

static const uint8_t *log_page(uint8_t code)
{
	memset(bytes, 0, sizeof(bytes));
	if (code == 2) {
		memcpy(bytes, smart(0), 512);
		em_put_le64(bytes + 176, error_count); /* number of error-log entries */
	} else if (code == 3) {
		bytes[0] = 1;
		memcpy(bytes + 8, revision, 8);
	} else if (code == 5) {
		bytes[4 * 0x02] = 1;
		bytes[4 * 0x14] = effects_self_test;
		bytes[4 * 0x82] = effects_security;
	} else if (code == 0x81) {
		bytes[2] = sanitize_state;
	}
	return bytes;
}

static void answer_log(void)
{
	asked_logs[asked.page]++;
	if (asked.page == 1)
		error_bytes = asked.len;
	if (log_status[asked.page])
		answer(EM_ANSWER_STATUS, log_status[asked.page], NULL, 0);
	else
		answer(EM_ANSWER_DONE, 0, log_page(asked.page), asked.len);
}

/* Protocol 1, ComID 1, of no namespace. */
static void answer_discovery(void)
{
	discoveries++;
	ck_assert_uint_eq(asked.page, 1);
	ck_assert_uint_eq(asked.lsi, 1);
	ck_assert_uint_eq(asked.nsid, 0);
	ck_assert_uint_eq(asked.len, 2048);
	memset(bytes, 0, 2048);
	bytes[3] = 44;
	if (discovery_status)
		answer(EM_ANSWER_STATUS, discovery_status, NULL, 0);
	else
		answer(EM_ANSWER_DONE, 0, bytes, asked.len);
}

/* Serves until nothing is due; how many commands that took. */
static unsigned turn(void)
{
	unsigned count = 0;

	memset(asked_logs, 0, sizeof(asked_logs));
	armings = discoveries = 0;
	for (; ask(); count++) {
		ck_assert_uint_lt(count, 100);
		armings += asked.op == EM_OP_ARM_EVENTS;
		if (asked.op == EM_OP_GET_LOG || asked.op == EM_OP_ACKNOWLEDGE_EVENT)
			answer_log();
		else if (asked.op == EM_OP_SECURITY_RECEIVE)
			answer_discovery();
		else if (asked.op == EM_OP_IDENTIFY && asked.page == 1)
			answer(EM_ANSWER_DONE, 0, whole_identify(), 4096);
		else
			answer(EM_ANSWER_DONE, 0, memset(page, 0, sizeof(page)), asked.len);
	}
	return count;
}

static void remember(const char *what, uint16_t status)
{
	struct em_store_capability row = { .model = "P6530DT0384M00",
					   .firmware = "FW000001",
					   .nvme_status = status };

	strcpy(row.page, what);
	ck_assert_int_eq(em_capabilities_put(capabilities, &row), 0);
}

START_TEST(pages_that_are_not_announced_are_not_asked)
{
	turn();
	ck_assert_uint_eq(asked_logs[5] + asked_logs[0x81], 0);
	ck_assert_int_eq(drive->pages[EM_PAGE_SANITIZE].read.status, EM_READ_UNSUPPORTED);
	/* The error log is always there, as long as Identify says. */
	ck_assert_uint_eq(asked_logs[1], 1);
	ck_assert_uint_eq(error_bytes, 64 * 64);
}
END_TEST

START_TEST(announced_pages_are_asked)
{
	lpa = 2;
	sanicap = 1;
	turn();
	ck_assert_uint_eq(asked_logs[5], 1);
	ck_assert_uint_eq(asked_logs[0x81], 1);
	ck_assert_uint_eq(asked_logs[6], 1);
	ck_assert_int_eq(drive->pages[EM_PAGE_EFFECTS].read.status, EM_READ_OK);
}
END_TEST

START_TEST(self_test_log_of_a_drive_without_the_command_is_not_asked)
{
	lpa = 2;
	effects_self_test = 0;
	turn();
	ck_assert_uint_eq(asked_logs[5], 1);
	ck_assert_uint_eq(asked_logs[6], 0);
	/* A newer firmware may have it: its effects log is read before. */
	effects_self_test = 1;
	revision = "FW000002";
	now += 3600 * SECOND;
	turn();
	ck_assert_uint_eq(asked_logs[5], 1);
	ck_assert_uint_eq(asked_logs[6], 1);
}
END_TEST

START_TEST(discovery_is_asked_where_the_command_is)
{
	turn();
	ck_assert_uint_eq(discoveries, 0);
	ck_assert_int_eq(drive->pages[EM_PAGE_SECURITY].read.status, EM_READ_UNSUPPORTED);
	end();
	begin();
	security = SECURITY_OACS;
	turn();
	ck_assert_uint_eq(discoveries, 1);
	ck_assert_int_eq(drive->pages[EM_PAGE_SECURITY].read.status, EM_READ_OK);
	now += 60 * SECOND;
	turn();
	ck_assert_uint_eq(discoveries, 0);
	now += 3600 * SECOND;
	turn();
	ck_assert_uint_eq(discoveries, 1);
	/* Announced, and yet not among its commands. */
	end();
	begin();
	security = SECURITY_OACS;
	lpa = 2;
	effects_security = 0;
	turn();
	ck_assert_uint_eq(asked_logs[5], 1);
	ck_assert_uint_eq(discoveries, 0);
}
END_TEST

/* A start locks a drive. */
START_TEST(discovery_is_asked_at_each_start)
{
	const struct em_ipc_event started = { .drive = 7, .kind = EM_EVENT_CONNECTED };

	security = SECURITY_OACS;
	turn();
	now += 60 * SECOND;
	em_drive_event(drive, &started, now);
	turn();
	ck_assert_uint_eq(discoveries, 1);
}
END_TEST

START_TEST(a_refused_discovery_is_not_asked_again)
{
	security = SECURITY_OACS;
	discovery_status = 0x4002;
	turn();
	ck_assert_uint_eq(discoveries, 1);
	ck_assert_int_eq(drive->pages[EM_PAGE_SECURITY].read.status, EM_READ_REFUSED);
	now += 2 * 3600 * SECOND;
	turn();
	ck_assert_uint_eq(discoveries, 0);
	end();
	begin();
	security = SECURITY_OACS;
	remember("security", 0x4002);
	turn();
	ck_assert_uint_eq(discoveries, 0);
	ck_assert_int_eq(drive->pages[EM_PAGE_SECURITY].read.status, EM_READ_REFUSED);
}
END_TEST

START_TEST(steady_polls_are_short)
{
	lpa = 2;
	sanicap = 1;
	turn();
	for (int i = 0; i < 50; i++) {
		now += 60 * SECOND;
		ck_assert_uint_le(turn(), 3);
	}
}
END_TEST

START_TEST(error_log_is_read_when_it_grew)
{
	turn();
	now += 60 * SECOND;
	turn();
	ck_assert_uint_eq(asked_logs[1], 0);
	error_count++;
	now += 60 * SECOND;
	ck_assert_uint_eq(turn(), 2);
	ck_assert_uint_eq(asked_logs[1], 1);
}
END_TEST

START_TEST(error_event_reads_the_error_log)
{
	struct em_ipc_event event = { .drive = 7, .kind = EM_EVENT_AEN, .aen = 0x010000 };

	turn();
	em_drive_event(drive, &event, now);
	turn();
	/* Once to clear the event, once to keep what it says. */
	ck_assert_uint_eq(asked_logs[1], 2);
}
END_TEST

START_TEST(sanitize_that_runs_is_watched)
{
	sanicap = 1;
	sanitize_state = 2;
	turn();
	ck_assert_uint_eq(drive->pages[EM_PAGE_SANITIZE].due_us, now + EM_PROGRESS_US);
	now += EM_PROGRESS_US;
	sanitize_state = 1;
	turn();
	ck_assert_uint_eq(drive->pages[EM_PAGE_SANITIZE].due_us, now + 3600 * SECOND);
}
END_TEST

START_TEST(what_sisters_refuse_is_not_asked)
{
	remember("firmware", 0x4109);
	remember(EM_CAPABILITY_LIST, 0x4002);
	remember(EM_CAPABILITY_ARM, 0x4002);
	turn();
	ck_assert_uint_eq(asked_logs[3], 0);
	ck_assert_uint_eq(armings, 0);
	ck_assert_int_eq(drive->pages[EM_PAGE_FIRMWARE].read.status, EM_READ_REFUSED);
	ck_assert_uint_eq(drive->pages[EM_PAGE_FIRMWARE].read.nvme_status, 0x4109);
	ck_assert_int_eq(drive->list.read.status, EM_READ_REFUSED);
	/* One of them has it after all: then this one may, too. */
	em_capabilities_forget(capabilities, drive->model, drive->firmware, "firmware");
	em_drive_ask_remembered(drive, "firmware", now);
	turn();
	ck_assert_uint_eq(asked_logs[3], 1);
}
END_TEST

/* Without that page nothing is watched: only the drive's own refusal counts, for the next start. */
START_TEST(page_that_every_drive_has_is_asked_unless_this_one_refused_it)
{
	char own[64];

	remember("smart", 0x4109);
	turn();
	ck_assert_uint_eq(asked_logs[2], 1);
	stop();
	start();
	drive->capabilities = capabilities;
	snprintf(own, sizeof(own), "smart@%s", drive->id);
	remember(own, 0x4109);
	turn();
	ck_assert_uint_eq(asked_logs[2], 0);
	ck_assert_int_eq(drive->pages[EM_PAGE_SMART].read.status, EM_READ_REFUSED);
}
END_TEST

/* Its own refusal is not doubted because a sister has the page. */
START_TEST(own_refusal_stands)
{
	log_status[3] = 0x4109;
	turn();
	em_drive_ask_remembered(drive, "firmware", now);
	now += 24 * 3600 * SECOND;
	turn();
	ck_assert_uint_eq(asked_logs[3], 0);
}
END_TEST

START_TEST(another_firmware_is_asked)
{
	remember("firmware", 0x4109);
	turn();
	ck_assert_uint_eq(asked_logs[3], 0);
	revision = "FW000002";
	now += 3600 * SECOND;
	turn();
	ck_assert_uint_eq(asked_logs[3], 1);
}
END_TEST

START_TEST(refresh_asks_everything_but_what_was_refused)
{
	sanicap = 1;
	log_status[3] = 0x4109;
	remember("sanitize", 0x4109);
	turn();
	em_drive_refresh(drive, false, now);
	turn();
	ck_assert_uint_eq(asked_logs[1], 1);
	ck_assert_uint_eq(asked_logs[2], 1);
	ck_assert_uint_eq(asked_logs[3] + asked_logs[0x81], 0);
	em_drive_refresh(drive, true, now);
	turn();
	ck_assert_uint_eq(asked_logs[3], 1);
	ck_assert_uint_eq(asked_logs[0x81], 1);
	ck_assert_int_eq(drive->pages[EM_PAGE_SANITIZE].read.status, EM_READ_OK);
}
END_TEST

/* Arming goes first, but not for ever: a refresh has to end for a drive that does not answer. */
START_TEST(what_is_urgent_and_unanswered_lets_pages_have_their_turn)
{
	turn();
	drive->arm = true;
	ck_assert(ask());
	ck_assert_int_eq(asked.op, EM_OP_ARM_EVENTS);
	answer(EM_ANSWER_TIMEOUT, 0, NULL, 0);
	em_drive_refresh(drive, false, now);
	ck_assert(ask());
	ck_assert_int_eq(asked.op, EM_OP_IDENTIFY);
	answer(EM_ANSWER_DONE, 0, whole_identify(), 4096);
	ck_assert(ask());
	ck_assert_int_eq(asked.op, EM_OP_ARM_EVENTS);
	answer(EM_ANSWER_TIMEOUT, 0, NULL, 0);
	turn();
	now += 5 * SECOND;
	turn();
	ck_assert_uint_eq(armings, 1);
}
END_TEST

START_TEST(news_tell_what_may_be_remembered)
{
	struct em_drive_news news;

	while (ask() && !(asked.op == EM_OP_GET_LOG && asked.page == 3)) {
		if (asked.op == EM_OP_GET_LOG)
			answer_log();
		else
			answer(EM_ANSWER_DONE, 0, whole_identify(), asked.len);
	}
	news = answer(EM_ANSWER_STATUS, 0x4109, NULL, 0);
	ck_assert_str_eq(news.capability, "firmware");
	ck_assert_int_eq(news.status, EM_READ_REFUSED);
	ck_assert_uint_eq(news.nvme_status, 0x4109);
	ck_assert(!em_drive_has(drive, "firmware"));
	ck_assert(em_drive_has(drive, "smart"));
}
END_TEST

START_TEST(what_an_earlier_start_was_given_counts_until_it_is_refused)
{
	uint8_t log[512] = { 0x01, [8] = 'F' };

	ck_assert(!em_drive_has(drive, "firmware"));
	em_drive_restore_page(drive, "firmware", 0, 1, log, sizeof(log));
	ck_assert(em_drive_has(drive, "firmware"));
	while (ask() && !(asked.op == EM_OP_GET_LOG && asked.page == 3)) {
		if (asked.op == EM_OP_GET_LOG)
			answer_log();
		else
			answer(EM_ANSWER_DONE, 0, whole_identify(), asked.len);
	}
	answer(EM_ANSWER_STATUS, 0x4109, NULL, 0);
	ck_assert(!em_drive_has(drive, "firmware"));
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		pages_that_are_not_announced_are_not_asked,
		announced_pages_are_asked,
		self_test_log_of_a_drive_without_the_command_is_not_asked,
		discovery_is_asked_where_the_command_is,
		discovery_is_asked_at_each_start,
		a_refused_discovery_is_not_asked_again,
		steady_polls_are_short,
		error_log_is_read_when_it_grew,
		error_event_reads_the_error_log,
		sanitize_that_runs_is_watched,
		what_sisters_refuse_is_not_asked,
		page_that_every_drive_has_is_asked_unless_this_one_refused_it,
		own_refusal_stands,
		another_firmware_is_asked,
		refresh_asks_everything_but_what_was_refused,
		what_is_urgent_and_unanswered_lets_pages_have_their_turn,
		news_tell_what_may_be_remembered,
		what_an_earlier_start_was_given_counts_until_it_is_refused,
	};
	TCase *tc = tcase_create("drive_plan");

	tcase_add_checked_fixture(tc, begin, end);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(tc, tests[i]);
	return run_tests(tc);
}
