/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <string.h>
#include "daemon/web/cursor.h"
#include "tests/unit/runner.h"

static const char place[] = "the last entry";

START_TEST(comes_back)
{
	char text[EM_CURSOR_SIZE], read[EM_CURSOR_PLACE_MAX];
	size_t len = 0;

	em_cursor_format(text, 7, place, sizeof(place));
	ck_assert_uint_eq(strspn(text, "0123456789abcdef"), strlen(text));
	ck_assert_int_eq(em_cursor_parse(text, 7, read, sizeof(read), &len), 0);
	ck_assert_uint_eq(len, sizeof(place));
	ck_assert_mem_eq(read, place, len);
	/* Of another question, or too long for who asks. */
	ck_assert_int_eq(em_cursor_parse(text, 8, read, sizeof(read), &len), -EINVAL);
	ck_assert_int_eq(em_cursor_parse(text, 7, read, sizeof(place) - 1, &len), -EINVAL);
}
END_TEST

START_TEST(anything_else_is_refused)
{
	char text[EM_CURSOR_SIZE], changed[2 * EM_CURSOR_SIZE], read[EM_CURSOR_PLACE_MAX];
	size_t len = 99, digits;

	em_cursor_format(text, 7, place, sizeof(place));
	digits = strlen(text);
	for (size_t i = 0; i < digits; i++) {
		strcpy(changed, text);
		changed[i] = text[i] == '0' ? '1' : '0';
		ck_assert_int_eq(em_cursor_parse(changed, 7, read, sizeof(read), &len), -EINVAL);
		changed[i] = 'g';
		ck_assert_int_eq(em_cursor_parse(changed, 7, read, sizeof(read), &len), -EINVAL);
		changed[i] = '\0';
		ck_assert_int_eq(em_cursor_parse(changed, 7, read, sizeof(read), &len), -EINVAL);
	}
	memset(changed, '0', sizeof(changed) - 1);
	changed[sizeof(changed) - 1] = '\0';
	ck_assert_int_eq(em_cursor_parse(changed, 7, read, sizeof(read), &len), -EINVAL);
	ck_assert_uint_eq(len, 99);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, comes_back);
	tcase_add_test(tc, anything_else_is_refused);
	return run_tests(tc);
}
