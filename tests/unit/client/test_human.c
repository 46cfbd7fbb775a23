/* SPDX-License-Identifier: Apache-2.0 */
#include "client/human.h"
#include "tests/unit/runner.h"
#include <check.h>

START_TEST(bytes)
{
	char buf[EM_HUMAN_SIZE];

	ck_assert_str_eq(em_human_bytes(buf, sizeof(buf), "0"), "0 B");
	ck_assert_str_eq(em_human_bytes(buf, sizeof(buf), "4096"), "4,096 B");
	ck_assert_str_eq(em_human_bytes(buf, sizeof(buf), "3840755982336"), "3.84 TB");
	ck_assert_str_eq(em_human_bytes(buf, sizeof(buf), "999500000000"), "1.00 TB");
	ck_assert_str_eq(em_human_bytes(buf, sizeof(buf), "99949999999"), "99.9 GB");
	ck_assert_str_eq(em_human_bytes(buf, sizeof(buf), "99950000000"), "100 GB");
	ck_assert_str_eq(em_human_bytes(buf, sizeof(buf), "not a number"), "not a number");
}
END_TEST

START_TEST(digits_beyond_64_bits)
{
	char buf[EM_HUMAN_SIZE];

	ck_assert_str_eq(
		em_human_digits(buf, sizeof(buf), "340282366920938463463374607431768211455"),
		"340,282,366,920,938,463,463,374,607,431,768,211,455");
	ck_assert_str_eq(em_human_digits(buf, sizeof(buf), "999"), "999");
	ck_assert_str_eq(em_human_digits(buf, sizeof(buf), "-1234"), "-1234");
}
END_TEST

START_TEST(units)
{
	char buf[EM_HUMAN_SIZE];

	ck_assert_str_eq(em_human_unit(buf, sizeof(buf), "38", "celsius", true), "38 °C");
	ck_assert_str_eq(em_human_unit(buf, sizeof(buf), "-5", "celsius", false), "-5 C");
	ck_assert_str_eq(em_human_unit(buf, sizeof(buf), "47", "hours", true), "47 h");
	ck_assert_str_eq(em_human_unit(buf, sizeof(buf), "5123", "hours", true),
			 "5,123 h (213 days)");
	ck_assert_str_eq(em_human_unit(buf, sizeof(buf), "26298", "hours", true),
			 "26,298 h (3.0 years)");
	ck_assert_str_eq(em_human_unit(buf, sizeof(buf), "2880", "minutes", true),
			 "2,880 min (2 days)");
	ck_assert_str_eq(em_human_unit(buf, sizeof(buf), "12", "", true), "12");
	ck_assert_str_eq(em_human_unit(buf, sizeof(buf), "12", "blocks", true), "12 blocks");
}
END_TEST

START_TEST(ages)
{
	char buf[EM_HUMAN_SIZE];

	ck_assert_str_eq(em_human_age(buf, sizeof(buf), 0.2), "now");
	ck_assert_str_eq(em_human_age(buf, sizeof(buf), 12.3), "12 s ago");
	ck_assert_str_eq(em_human_age(buf, sizeof(buf), 300), "5 min ago");
	ck_assert_str_eq(em_human_age(buf, sizeof(buf), 7300), "2 h ago");
	ck_assert_str_eq(em_human_age(buf, sizeof(buf), 864000), "10 days ago");
	ck_assert_str_eq(em_human_span(buf, sizeof(buf), 0.25), "250 ms");
	ck_assert_str_eq(em_human_span(buf, sizeof(buf), 3600), "1 h");
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("human");

	tcase_add_test(tcase, bytes);
	tcase_add_test(tcase, digits_beyond_64_bits);
	tcase_add_test(tcase, units);
	tcase_add_test(tcase, ages);
	return run_tests(tcase);
}
