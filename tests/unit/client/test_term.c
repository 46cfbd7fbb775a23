/* SPDX-License-Identifier: Apache-2.0 */
#include "client/term.h"
#include <check.h>
#include <locale.h>
#include <stdlib.h>
#include "lib/base/cleanup.h"
#include "tests/unit/runner.h"

static void check_clean(const char *text, bool utf8, const char *expected)
{
	em_cleanup(em_freep) char *clean = em_term_clean(text, utf8);

	ck_assert_str_eq(clean, expected);
}

START_TEST(what_a_terminal_obeys_is_shown_as_a_question_mark)
{
	check_clean("a\033[2Jb", true, "a?[2Jb");
	check_clean("a\r\n\tb\x07\x7f", true, "a???b??");
	check_clean("C1 \xc2\x9b"
		    "2J",
		    true, "C1 ?2J");
	check_clean("turned \xe2\x80\xae", true, "turned ?");
}
END_TEST

START_TEST(broken_utf8_does_not_survive)
{
	check_clean("\xff\xc3", true, "??");
	check_clean("\xe2\x82", true, "??");
}
END_TEST

START_TEST(good_utf8_stays_where_the_locale_has_it)
{
	check_clean("38 °C", true, "38 °C");
	check_clean("38 °C", false, "38 ??C");
}
END_TEST

START_TEST(columns_are_not_bytes)
{
	ck_assert_uint_eq(em_term_columns("38 °C"), 5);
	ck_assert_uint_eq(em_term_columns("漢字"), 4);
	ck_assert_uint_eq(em_term_fit("漢字", 3), 3);
	ck_assert_uint_eq(em_term_fit("abc", 2), 2);
	ck_assert_uint_eq(em_term_fit("abc", 9), 3);
}
END_TEST

START_TEST(columns_variable_overrules)
{
	struct em_term term;

	setenv("COLUMNS", "60", 1);
	em_term_detect(&term, -1);
	ck_assert_uint_eq(term.width, 60);
	setenv("COLUMNS", "wide", 1);
	em_term_detect(&term, -1);
	ck_assert_uint_eq(term.width, 0);
	ck_assert(!term.color);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("term");

	if (!setlocale(LC_ALL, "C.UTF-8"))
		return 77;
	tcase_add_test(tcase, what_a_terminal_obeys_is_shown_as_a_question_mark);
	tcase_add_test(tcase, broken_utf8_does_not_survive);
	tcase_add_test(tcase, good_utf8_stays_where_the_locale_has_it);
	tcase_add_test(tcase, columns_are_not_bytes);
	tcase_add_test(tcase, columns_variable_overrules);
	return run_tests(tcase);
}
