/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <string.h>

#include "lib/base/text.h"
#include "tests/unit/runner.h"

static const char *clean(const char *raw, size_t len)
{
	static char buf[64];

	return em_text_clean(buf, sizeof(buf), raw, len);
}

START_TEST(only_trailing_padding_is_cut)
{
	ck_assert_str_eq(clean("S123      ", 10), "S123");
	ck_assert_str_eq(clean("S123\0\0 \0", 8), "S123");
	ck_assert_str_eq(clean("  S1 2  ", 8), "  S1 2");
	ck_assert_str_eq(clean("        ", 8), "");
	ck_assert_str_eq(clean("", 0), "");
}
END_TEST

START_TEST(bytes_outside_printable_ascii_become_question_marks)
{
	ck_assert_str_eq(clean("a\nb\0c\x7f", 6), "a?b?c?");
	ck_assert_str_eq(clean("\x80\xff\xc0\xa7~ ", 6), "????~");
}
END_TEST

START_TEST(the_buffer_is_never_overrun)
{
	char buf[4] = "xyz";

	ck_assert_str_eq(em_text_clean(buf, sizeof(buf), "abcdef", 6), "abc");
	ck_assert_str_eq(em_text_clean(buf, 0, "Z", 1), "abc");
}
END_TEST

static const char *mend(const char *raw)
{
	static char buf[64];

	return em_text_mend(strcpy(buf, raw));
}

START_TEST(what_is_no_character_is_mended)
{
	ck_assert_str_eq(mend(""), "");
	ck_assert_str_eq(mend("a b ~ "), "a b ~ ");
	ck_assert_str_eq(
		mend("\xc2\xa0\xc3\xa4\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xf0\x90\x80\x80\xf4\x8f\xbf"
		     "\xbf"),
		"\xc2\xa0\xc3\xa4\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf");
	ck_assert_str_eq(mend("a\x1b[2J\n\x7f\t"), "a?[2J???");
	ck_assert_str_eq(mend("\xc2\x9b\xff\x80x"), "????x");
	ck_assert_str_eq(mend("\xc0\xaf \xe0\x80\xaf \xf0\x80\x80\xaf"), "?? ??? ????");
	ck_assert_str_eq(mend("\xed\xa0\x80 \xf4\x90\x80\x80"), "??? ????");
}
END_TEST

/* Whatever is missing at the end, nothing behind it is read. */
START_TEST(what_was_cut_is_mended)
{
	ck_assert_str_eq(mend("a\xc3"), "a?");
	ck_assert_str_eq(mend("a\xe2\x82"), "a??");
	ck_assert_str_eq(mend("a\xf0\x9f\x98"), "a???");
	ck_assert_str_eq(mend("\xc3z\xc3\xa4"), "?z\xc3\xa4");
}
END_TEST

START_TEST(hexadecimal)
{
	char buf[9];

	ck_assert_str_eq(em_text_hex(buf, "\x00\x1c\x5f\xff", 4), "001c5fff");
}
END_TEST

START_TEST(all_bytes_of_one_value)
{
	ck_assert(em_bytes_all("\xff\xff", 2, 0xff));
	ck_assert(!em_bytes_all("\xff\xfe", 2, 0xff));
	ck_assert(!em_bytes_all("", 0, 0));
}
END_TEST

/* Values from the publication of FNV-1a, 64 bits. */
START_TEST(hash_is_fnv_1a_and_chains)
{
	uint64_t chained = em_hash(em_hash(EM_HASH_START, "foo", 3), "bar", 3);

	ck_assert_uint_eq(em_hash(EM_HASH_START, "a", 1), UINT64_C(0xaf63dc4c8601ec8c));
	ck_assert_uint_eq(chained, UINT64_C(0x85944171f73967e8));
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("text");

	tcase_add_test(tcase, only_trailing_padding_is_cut);
	tcase_add_test(tcase, bytes_outside_printable_ascii_become_question_marks);
	tcase_add_test(tcase, the_buffer_is_never_overrun);
	tcase_add_test(tcase, what_is_no_character_is_mended);
	tcase_add_test(tcase, what_was_cut_is_mended);
	tcase_add_test(tcase, hexadecimal);
	tcase_add_test(tcase, all_bytes_of_one_value);
	tcase_add_test(tcase, hash_is_fnv_1a_and_chains);
	return run_tests(tcase);
}
