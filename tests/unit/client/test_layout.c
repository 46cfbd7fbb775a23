/* SPDX-License-Identifier: Apache-2.0 */
#include "client/layout.h"
#include "tests/unit/runner.h"
#include <check.h>

/* The first stays; the second may be cut to 8; the third goes first. */
static const struct em_column columns[] = {
	{ .title = "a" },
	{ .title = "b", .rank = 1, .shortest = 8 },
	{ .title = "c", .rank = 2 },
};

static void check_layout(unsigned width, unsigned a, unsigned b, unsigned c)
{
	unsigned widths[] = { 10, 20, 10 };

	em_layout(columns, 3, width, widths);
	ck_assert_uint_eq(widths[0], a);
	ck_assert_uint_eq(widths[1], b);
	ck_assert_uint_eq(widths[2], c);
}

START_TEST(wide_enough_is_left_alone)
{
	check_layout(44, 10, 20, 10);
	check_layout(0, 10, 20, 10);
}
END_TEST

START_TEST(cuts_before_it_leaves_out)
{
	check_layout(43, 10, 19, 10);
	check_layout(32, 10, 8, 10);
}
END_TEST

START_TEST(leaves_out_the_highest_rank_and_cuts_no_more_than_needed)
{
	check_layout(31, 10, 19, 0);
	check_layout(20, 10, 8, 0);
	check_layout(19, 10, 0, 0);
}
END_TEST

START_TEST(the_widest_is_cut_first)
{
	static const struct em_column both[] = {
		{ .title = "a", .rank = 2, .shortest = 5 },
		{ .title = "b", .rank = 3, .shortest = 5 },
	};
	unsigned widths[] = { 30, 10 };

	em_layout(both, 2, 22, widths);
	ck_assert_uint_eq(widths[0], 10);
	ck_assert_uint_eq(widths[1], 10);
}
END_TEST

START_TEST(the_most_important_is_cut_last)
{
	static const struct em_column both[] = {
		{ .title = "a", .rank = 1, .shortest = 5 },
		{ .title = "b", .rank = 2, .shortest = 5 },
	};
	unsigned widths[] = { 30, 10 };

	em_layout(both, 2, 37, widths);
	ck_assert_uint_eq(widths[0], 30);
	ck_assert_uint_eq(widths[1], 5);
	em_layout(both, 2, 30, widths);
	ck_assert_uint_eq(widths[0], 23);
	ck_assert_uint_eq(widths[1], 5);
}
END_TEST

START_TEST(rank_zero_stays_whole)
{
	check_layout(5, 10, 0, 0);
}
END_TEST

START_TEST(a_column_already_short_is_not_widened)
{
	unsigned widths[] = { 10, 4, 10 };

	em_layout(columns, 3, 16, widths);
	ck_assert_uint_eq(widths[1], 4);
	ck_assert_uint_eq(widths[2], 0);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("layout");

	tcase_add_test(tcase, wide_enough_is_left_alone);
	tcase_add_test(tcase, cuts_before_it_leaves_out);
	tcase_add_test(tcase, leaves_out_the_highest_rank_and_cuts_no_more_than_needed);
	tcase_add_test(tcase, the_widest_is_cut_first);
	tcase_add_test(tcase, the_most_important_is_cut_last);
	tcase_add_test(tcase, rank_zero_stays_whole);
	tcase_add_test(tcase, a_column_already_short_is_not_widened);
	return run_tests(tcase);
}
