/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>

#include "lib/base/parse.h"
#include "tests/unit/runner.h"

#define UNTOUCHED 4711

static int parse_u64(const char *text, uint64_t *ret)
{
	*ret = UNTOUCHED;
	return em_parse_u64(text, 10, UINT64_C(0xfffffffffffffffe), ret);
}

START_TEST(numbers_are_read_whole)
{
	uint64_t v;

	ck_assert_int_eq(parse_u64("10", &v), 0);
	ck_assert_uint_eq(v, 10);
	ck_assert_int_eq(parse_u64("0xFf", &v), 0);
	ck_assert_uint_eq(v, 255);
	ck_assert_int_eq(parse_u64("18446744073709551614", &v), 0);
	ck_assert_uint_eq(v, UINT64_MAX - 1);
}
END_TEST

START_TEST(numbers_of_another_form_are_invalid)
{
	static const char *const bad[] = { "",
					   " 12",
					   "12 ",
					   "+12",
					   "-12",
					   "0x",
					   "12a",
					   "1.5",
					   "0xg",
					   "x12",
					   "99999999999999999999999z" };
	uint64_t v;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_msg(parse_u64(bad[i], &v) == -EINVAL, "%s", bad[i]);
		ck_assert_uint_eq(v, UNTOUCHED);
	}
}
END_TEST

START_TEST(numbers_beyond_the_limits_are_out_of_range)
{
	static const char *const bad[] = { "9", "18446744073709551615", "18446744073709551616",
					   "0x10000000000000000", "999999999999999999999999" };
	uint64_t v;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_msg(parse_u64(bad[i], &v) == -ERANGE, "%s", bad[i]);
		ck_assert_uint_eq(v, UNTOUCHED);
	}
}
END_TEST

static int parse_span(const char *text, uint64_t *ret)
{
	*ret = UNTOUCHED;
	return em_parse_duration_us(text, 1, UINT64_MAX, ret);
}

START_TEST(spans_add_up)
{
	static const struct {
		const char *text;
		uint64_t us;
	} good[] = {
		{ "10ms", 10000 },
		{ "1us", 1 },
		{ "60", 60000000 },
		{ "1min 30s", 90000000 },
		{ "1min30s", 90000000 },
		{ "1h", UINT64_C(3600000000) },
		{ "7d", UINT64_C(604800000000) },
	};
	uint64_t v;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		ck_assert_msg(parse_span(good[i].text, &v) == 0, "%s", good[i].text);
		ck_assert_uint_eq(v, good[i].us);
	}
}
END_TEST

START_TEST(spans_of_another_form_are_invalid)
{
	static const char *const bad[] = { "",	   "s",	    "1m",
					   "1.5s", "-1s",   "1s ",
					   " 1s",  "1s 5",  "1 s",
					   "1sec", "1smin", "0x1s",
					   "1d x", "1,5s",  "99999999999999999999999y" };
	uint64_t v;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_msg(parse_span(bad[i], &v) == -EINVAL, "%s", bad[i]);
		ck_assert_uint_eq(v, UNTOUCHED);
	}
}
END_TEST

START_TEST(spans_beyond_the_limits_are_out_of_range)
{
	static const char *const bad[] = { "0",
					   "0s",
					   "18446744073709551616us",
					   "213503983d",
					   "99999999999999999999",
					   "18446744073709551615us 1us" };
	uint64_t v;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_msg(parse_span(bad[i], &v) == -ERANGE, "%s", bad[i]);
		ck_assert_uint_eq(v, UNTOUCHED);
	}
	ck_assert_int_eq(em_parse_duration_us("8d", 10000, UINT64_C(604800000000), &v), -ERANGE);
}
END_TEST

START_TEST(booleans_have_four_spellings)
{
	bool v = false;

	ck_assert_int_eq(em_parse_bool("yes", &v), 0);
	ck_assert(v);
	ck_assert_int_eq(em_parse_bool("off", &v), 0);
	ck_assert(!v);
	v = true;
	ck_assert_int_eq(em_parse_bool("maybe", &v), -EINVAL);
	ck_assert_int_eq(em_parse_bool("", &v), -EINVAL);
	ck_assert_int_eq(em_parse_bool("True", &v), -EINVAL);
	ck_assert(v);
}
END_TEST

START_TEST(spans_are_written_as_they_are_read)
{
	static const uint64_t spans[] = {
		1, 10000, 90000000, 3600000000, 604800000000, UINT64_MAX
	};
	char buf[64];
	uint64_t v;

	ck_assert_str_eq(em_duration_format(buf, sizeof(buf), 90000000), "1min 30s");
	ck_assert_str_eq(em_duration_format(buf, sizeof(buf), 10000), "10ms");
	ck_assert_str_eq(em_duration_format(buf, sizeof(buf), 0), "0s");
	for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
		em_duration_format(buf, sizeof(buf), spans[i]);
		ck_assert_msg(parse_span(buf, &v) == 0, "%s", buf);
		ck_assert_uint_eq(v, spans[i]);
	}
	ck_assert_str_eq(em_duration_format(buf, 5, 90000000), "1min");
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("parse");

	tcase_add_test(tcase, numbers_are_read_whole);
	tcase_add_test(tcase, numbers_of_another_form_are_invalid);
	tcase_add_test(tcase, numbers_beyond_the_limits_are_out_of_range);
	tcase_add_test(tcase, spans_add_up);
	tcase_add_test(tcase, spans_of_another_form_are_invalid);
	tcase_add_test(tcase, spans_beyond_the_limits_are_out_of_range);
	tcase_add_test(tcase, booleans_have_four_spellings);
	tcase_add_test(tcase, spans_are_written_as_they_are_read);
	return run_tests(tcase);
}
