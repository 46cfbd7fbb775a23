/* SPDX-License-Identifier: Apache-2.0 */
#include "client/spark.h"
#include <check.h>
#include <stdio.h>
#include <string.h>
#include "tests/unit/runner.h"

static json_t *points;

/* "m:v" pairs: the minute and the value as JSON. */
static void add(unsigned minute, const char *value)
{
	char text[128];

	snprintf(text, sizeof(text), "{\"at\": \"2026-11-30T21:%02u:00.000Z\", \"value\": %s}",
		 minute, value);
	json_array_append_new(points, json_loads(text, 0, NULL));
}

static void check_spark(unsigned columns, const char *expected)
{
	char buf[EM_SPARK_SIZE];

	ck_assert_str_eq(em_spark(points, columns, true, buf), expected);
}

static void set_up(void)
{
	points = json_array();
}

static void tear_down(void)
{
	json_decref(points);
}

START_TEST(bars_go_from_lowest_to_highest)
{
	char buf[EM_SPARK_SIZE];

	for (unsigned i = 0; i < 8; i++) {
		char value[8];

		snprintf(value, sizeof(value), "%u", i + 30);
		add(i, value);
	}
	check_spark(8, "▁▂▃▄▅▆▇█");
	ck_assert_str_eq(em_spark(points, 8, false, buf), "_.-~=+*#");
	check_spark(4, "▂▄▆█");
	check_spark(100, "▁▂▃▄▅▆▇█");
}
END_TEST

START_TEST(a_peak_is_kept_and_a_gap_is_shown)
{
	for (unsigned i = 0; i < 10; i++)
		add(i, i == 3 ? "90" : "30");
	for (unsigned i = 50; i < 60; i++)
		add(i, "30");
	check_spark(6, "█    ▁");
}
END_TEST

START_TEST(decimal_strings_count_and_absent_values_do_not)
{
	struct em_course course;

	add(0, "null");
	add(1, "\"340282366920938463463374607431768211455\"");
	add(2, "\"5\"");
	add(3, "\"no number\"");
	add(4, "true");
	em_course_read(&course, points);
	ck_assert_uint_eq(course.count, 2);
	ck_assert_ptr_eq(course.lowest, json_array_get(points, 2));
	ck_assert_ptr_eq(course.highest, json_array_get(points, 1));
	ck_assert_ptr_eq(course.last, json_array_get(points, 2));
	check_spark(9, "█▁");
}
END_TEST

START_TEST(nothing_is_nothing)
{
	struct em_course course;

	check_spark(9, "");
	em_course_read(&course, NULL);
	ck_assert_uint_eq(course.count, 0);
	add(0, "7");
	check_spark(9, "▁");
}
END_TEST

START_TEST(every_bar_has_a_height)
{
	add(0, "\"inf\"");
	add(1, "-1.7e308");
	add(2, "\"nan\"");
	add(3, "1.7e308");
	check_spark(8, "▁█");
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("spark");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, bars_go_from_lowest_to_highest);
	tcase_add_test(tcase, a_peak_is_kept_and_a_gap_is_shown);
	tcase_add_test(tcase, decimal_strings_count_and_absent_values_do_not);
	tcase_add_test(tcase, nothing_is_nothing);
	tcase_add_test(tcase, every_bar_has_a_height);
	return run_tests(tcase);
}
