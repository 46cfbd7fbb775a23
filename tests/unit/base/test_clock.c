/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>

#include "lib/base/clock.h"
#include "tests/unit/runner.h"

#define NOW INT64_C(1792888200000000)

static void check_time(const char *text, int64_t expected_us)
{
	int64_t us = -1;

	ck_assert_msg(em_time_parse(text, NOW, &us) == 0, "%s", text);
	ck_assert_msg(us == expected_us, "%s: %lld", text, (long long)us);
}

START_TEST(rfc3339_in_all_its_forms)
{
	check_time("2026-10-25T00:30:00Z", NOW);
	check_time("2026-10-25T02:30:00+02:00", NOW);
	check_time("2026-10-24t17:00-07:30", NOW);
	check_time("2026-10-25 00:30:00.123456789z", NOW + 123456);
	check_time("1970-01-01T00:00:00Z", 0);
	check_time("2024-02-29T23:59:59.9Z", INT64_C(1709251199900000));
	check_time("9999-12-31T23:59:59.999999Z", INT64_C(253402300799999999));
}
END_TEST

START_TEST(seconds_and_relative_times)
{
	check_time("1792888200", NOW);
	check_time("1792888200.5", NOW + 500000);
	check_time("0", 0);
	check_time("now", NOW);
	check_time("-15min", NOW - INT64_C(900000000));
	check_time("-1h 30s", NOW - INT64_C(3630000000));
}
END_TEST

START_TEST(other_forms_are_refused)
{
	static const char *const bad[] = {
		"",
		"yesterday",
		"now ",
		"2026-10-25",
		"2026-10-25T02:30:00",
		"2026-13-01T00:00Z",
		"2026-02-29T00:00Z",
		"2026-04-31T00:00Z",
		"2026-10-25T24:00Z",
		"2026-10-25T00:60Z",
		"2026-10-25T00:00:00.Z",
		"2026-10-25T00:00Z ",
		"2026-10-25T00:00+2:00",
		"2026-10-25T00:00+02:60",
		"26-10-25T00:00Z",
		"-",
		"-15parsecs",
		"--15min",
		"12.",
		"1e9",
		"0x10",
		"2026-1-01T00:00Z",
		"2026-00-10T00:00Z",
		"2026-01-00T00:00Z",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int64_t us = 7;

		ck_assert_msg(em_time_parse(bad[i], NOW, &us) == -EINVAL, "%s", bad[i]);
		ck_assert_int_eq(us, 7);
	}
}
END_TEST

START_TEST(times_that_cannot_be_shown_are_out_of_range)
{
	static const char *const bad[] = {
		"1969-12-31T23:59:59Z",	      "0001-01-01T00:00Z", "253402300800",
		"99999999999999999999999999", "-60000d",	   "9999-12-31T23:59:59-00:01"
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int64_t us = 7;

		ck_assert_msg(em_time_parse(bad[i], NOW, &us) == -ERANGE, "%s", bad[i]);
		ck_assert_int_eq(us, 7);
	}
}
END_TEST

START_TEST(times_are_written_in_utc_with_milliseconds)
{
	char buf[EM_TIME_SIZE];

	ck_assert_str_eq(em_time_format(buf, NOW + 456789), "2026-10-25T00:30:00.456Z");
	ck_assert_str_eq(em_time_format(buf, -1), "1970-01-01T00:00:00.000Z");
	ck_assert_str_eq(em_time_format(buf, INT64_MAX), "9999-12-31T23:59:59.999Z");
}
END_TEST

START_TEST(monotonic_time_never_goes_back)
{
	uint64_t a = em_monotonic_us(), b = em_monotonic_us();

	ck_assert_uint_gt(a, 0);
	ck_assert_uint_ge(b, a);
	ck_assert_int_gt(em_realtime_us(), INT64_C(1700000000000000));
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("clock");

	tcase_add_test(tcase, rfc3339_in_all_its_forms);
	tcase_add_test(tcase, seconds_and_relative_times);
	tcase_add_test(tcase, other_forms_are_refused);
	tcase_add_test(tcase, times_that_cannot_be_shown_are_out_of_range);
	tcase_add_test(tcase, times_are_written_in_utc_with_milliseconds);
	tcase_add_test(tcase, monotonic_time_never_goes_back);
	return run_tests(tcase);
}
