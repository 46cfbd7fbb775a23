/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/jobs/calendar.h"
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "tests/unit/runner.h"

#define SEC ((int64_t)EM_US_PER_SEC)
/* 2026-12-03 10:00:00 UTC, a Thursday */
#define THEN (INT64_C(1796292000) * SEC)

START_TEST(what_systemd_prints_is_read)
{
	int64_t next = 0;

	ck_assert_int_eq(em_calendar_read("  Original form: daily\n"
					  "    Next elapse: Thu 2026-12-03 10:00:00 UTC\n"
					  "       From now: 3h 21min ago\n",
					  &next),
			 0);
	ck_assert_int_eq(next, THEN);
	/* Elsewhere than in UTC the host's own time comes first. */
	ck_assert_int_eq(em_calendar_read("    Next elapse: Thu 2026-12-03 11:00:00 CET\n"
					  "       (in UTC): Thu 2026-12-03 10:00:00 UTC\n",
					  &next),
			 0);
	ck_assert_int_eq(next, THEN);
	ck_assert_int_eq(em_calendar_read("    Next elapse: never\n", &next), 0);
	ck_assert_int_eq(next, EM_CALENDAR_NEVER);
}
END_TEST

START_TEST(anything_else_is_refused)
{
	static const char *const bad[] = {
		"",
		"Next elapse: ",
		"Next elapse: Thu",
		"Next elapse: Thu 2026-12-03 11:00:00 CET\n",
		"Next elapse: Thu 2026-13-03 10:00:00 UTC\n",
		"Next elapse: Thu 1969-12-03 10:00:00 UTC\n",
	};
	int64_t next = 42;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(em_calendar_read(bad[i], &next) == -EBADMSG, "%s", bad[i]);
	ck_assert_int_eq(next, 42);
}
END_TEST

struct answer {
	sd_event *event;
	struct em_calendar *calendar;
	unsigned count;
	int r;
	int64_t next;
	char message[EM_CALENDAR_MESSAGE_SIZE];
};

static void on_answer(void *userdata, int r, int64_t next_us, const char *message)
{
	struct answer *answer = userdata;

	answer->count++;
	answer->r = r;
	answer->next = next_us;
	strcpy(answer->message, message);
	answer->calendar = em_calendar_free(answer->calendar);
	sd_event_exit(answer->event, 0);
}

static void ask(const char *text, struct answer *answer)
{
	*answer = (struct answer){ 0 };
	ck_assert_int_ge(sd_event_new(&answer->event), 0);
	ck_assert_int_eq(
		em_calendar_ask(&answer->calendar, answer->event, text, THEN, on_answer, answer),
		0);
	ck_assert_int_ge(sd_event_loop(answer->event), 0);
	sd_event_unref(answer->event);
	ck_assert_uint_eq(answer->count, 1);
}

/* In any time zone of the host. */
START_TEST(systemd_tells_when_it_is_next)
{
	struct answer answer;

	setenv("TZ", _i ? "Europe/Berlin" : "UTC", 1);
	ask("*:*:0/2", &answer);
	ck_assert_int_eq(answer.r, 0);
	ck_assert_int_eq(answer.next, THEN + 2 * SEC);
	ask("*-*-* 12:00", &answer);
	ck_assert_int_eq(answer.next, THEN + (_i ? 1 : 2) * 3600 * SEC);
	ask("2020-01-01", &answer);
	ck_assert_int_eq(answer.r, 0);
	ck_assert_int_eq(answer.next, EM_CALENDAR_NEVER);
}
END_TEST

START_TEST(what_systemd_does_not_understand)
{
	char message[EM_CALENDAR_MESSAGE_SIZE];
	struct answer answer;

	ask("every now and then", &answer);
	ck_assert_int_eq(answer.r, -EINVAL);
	ck_assert_ptr_nonnull(strstr(answer.message, "every now and then"));
	/* Never an option of the program. */
	ask("--version", &answer);
	ck_assert_int_eq(answer.r, -EINVAL);
	ck_assert_int_eq(em_calendar_check("every now and then", message), -EINVAL);
	ck_assert_ptr_nonnull(strstr(message, "every now and then"));
	ck_assert_int_eq(em_calendar_check("Mon..Fri *-*-1..7 03:00", message), 0);
}
END_TEST

START_TEST(nobody_has_to_wait_for_an_answer)
{
	struct answer answer = { 0 };

	ck_assert_int_ge(sd_event_new(&answer.event), 0);
	ck_assert_int_eq(
		em_calendar_ask(&answer.calendar, answer.event, "daily", THEN, on_answer, &answer),
		0);
	ck_assert_ptr_null(em_calendar_free(answer.calendar));
	sd_event_unref(answer.event);
	ck_assert_uint_eq(answer.count, 0);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("calendar");

	tcase_add_test(tc, what_systemd_prints_is_read);
	tcase_add_test(tc, anything_else_is_refused);
	tcase_add_loop_test(tc, systemd_tells_when_it_is_next, 0, 2);
	tcase_add_test(tc, what_systemd_does_not_understand);
	tcase_add_test(tc, nobody_has_to_wait_for_an_answer);
	return run_tests(tc);
}
