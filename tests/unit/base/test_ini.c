/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/ini.h"
#include <check.h>
#include <string.h>
#include "lib/base/cleanup.h"
#include "tests/unit/runner.h"

static char text[EM_INI_LINE_MAX + 64];

static const char *parse(const char *line, size_t len, struct em_ini_line *ret)
{
	memcpy(text, line, len);
	text[len] = '\0';
	return em_ini_parse(text, len, ret);
}

static const struct {
	const char *line;
	enum em_ini_kind kind;
	const char *name, *value;
} good[] = {
	{ "", EM_INI_EMPTY, NULL, NULL },
	{ " \t\r\n", EM_INI_EMPTY, NULL, NULL },
	{ "  # a = b", EM_INI_EMPTY, NULL, NULL },
	{ "#[a", EM_INI_EMPTY, NULL, NULL },
	{ "[poll]\r\n", EM_INI_SECTION, "poll", NULL },
	{ " [drive A B ] \n", EM_INI_SECTION, "drive A B ", NULL },
	{ "[]", EM_INI_SECTION, "", NULL },
	{ "a=b\r\n", EM_INI_KEY, "a", "b" },
	{ "\ta b\t=  c d \n", EM_INI_KEY, "a b", "c d" },
	{ "a==b=c", EM_INI_KEY, "a", "=b=c" },
	{ "a=", EM_INI_KEY, "a", "" },
	{ "caf\xc3\xa9=1", EM_INI_KEY, "caf\xc3\xa9", "1" },
};

START_TEST(what_a_line_says)
{
	struct em_ini_line line = { .kind = (enum em_ini_kind)77 };
	const char *problem = parse(good[_i].line, strlen(good[_i].line), &line);

	ck_assert_msg(!problem, "%s: %s", good[_i].line, problem);
	ck_assert_int_eq(line.kind, good[_i].kind);
	ck_assert_pstr_eq(line.name, good[_i].name);
	ck_assert_pstr_eq(line.value, good[_i].value);
}
END_TEST

static const struct {
	const char *line, *problem;
} bad[] = {
	{ "[a", "a section is [NAME]" },
	{ "[", "a section is [NAME]" },
	{ "[a] b", "a section is [NAME]" },
	{ "[a] # b", "a comment needs a line of its own" },
	{ "[a#b]", "can contain #" },
	{ "[a]b]", "a section is [NAME]" },
	{ "[[a]]", "a section is [NAME]" },
	{ "a", "write [SECTION], KEY=VALUE" },
	{ "=a", "write [SECTION], KEY=VALUE" },
	{ " = a", "write [SECTION], KEY=VALUE" },
	{ "; a", "write [SECTION], KEY=VALUE" },
	{ "a: b", "write [SECTION], KEY=VALUE" },
	{ "a=b # c", "can contain #" },
	{ "a=b#c", "can contain #" },
	{ "\xef\xbb\xbf[a]", "byte order mark" },
	{ "\xef\xbb\xbf# a", "byte order mark" },
};

START_TEST(what_is_not_plainly_one_of_ours)
{
	struct em_ini_line line = { .name = text };
	const char *problem = parse(bad[_i].line, strlen(bad[_i].line), &line);

	ck_assert_msg(problem && strstr(problem, bad[_i].problem), "%s: %s", bad[_i].line,
		      problem ? problem : "taken");
	ck_assert_ptr_eq(line.name, text);
}
END_TEST

START_TEST(bytes_and_bounds)
{
	struct em_ini_line line;
	char most[EM_INI_LINE_MAX + 1];

	ck_assert_pstr_ne(strstr(parse("a=\0b", 4, &line), "NUL byte"), NULL);
	ck_assert_pstr_ne(strstr(parse("\0", 1, &line), "NUL byte"), NULL);
	memset(most, '#', sizeof(most));
	ck_assert_ptr_null(parse(most, EM_INI_LINE_MAX, &line));
	ck_assert_pstr_ne(strstr(parse(most, EM_INI_LINE_MAX + 1, &line), "too long"), NULL);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("ini");

	tcase_add_loop_test(tcase, what_a_line_says, 0, (int)EM_COUNT(good));
	tcase_add_loop_test(tcase, what_is_not_plainly_one_of_ours, 0, (int)EM_COUNT(bad));
	tcase_add_test(tcase, bytes_and_bounds);
	return run_tests(tcase);
}
