/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/manual.h"
#include <check.h>
#include <string.h>
#include "tests/unit/runner.h"

static struct em_buf out;

static void start(void)
{
	em_buf_init(&out, 4096);
}

static void stop(void)
{
	em_buf_done(&out);
}

START_TEST(roff_takes_text_as_it_is)
{
	em_manual_roff(&out, ".a-b\\c");
	ck_assert_str_eq(out.data, "\\&.a\\-b\\ec");
}
END_TEST

START_TEST(comments_are_wrapped)
{
	char text[301];

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = i % 7 == 6 ? ' ' : 'a';
	text[300] = '\0';
	em_manual_comment(&out, text);
	for (const char *line = out.data; *line; line = strchr(line, '\n') + 1) {
		ck_assert_int_eq(strncmp(line, "# a", 3), 0);
		ck_assert_uint_le(strcspn(line, "\n"), EM_MANUAL_WIDTH);
	}
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("manual");

	tcase_add_checked_fixture(tcase, start, stop);
	tcase_add_test(tcase, roff_takes_text_as_it_is);
	tcase_add_test(tcase, comments_are_wrapped);
	return run_tests(tcase);
}
