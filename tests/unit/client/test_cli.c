/* SPDX-License-Identifier: Apache-2.0 */
#include "client/client.h"
#include <check.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include "client/nearest.h"
#include "tests/unit/runner.h"

static struct em_client client;
static char *complaint;
static size_t complaint_len;

#define PARSE(...) parse((char *[]){ (char *)"emberctl", __VA_ARGS__, NULL })

static enum em_exit parse(char **argv)
{
	enum em_exit code;
	int argc = 0;

	while (argv[argc])
		argc++;
	free(complaint);
	client = (struct em_client){ .err = open_memstream(&complaint, &complaint_len) };
	code = em_cli_parse(&client, argc, argv);
	fclose(client.err);
	return code;
}

static void refuses(enum em_exit code, const char *hint)
{
	ck_assert_int_eq(code, EM_EXIT_USAGE);
	ck_assert_msg(strstr(complaint, hint), "no `%s` in: %s", hint, complaint);
}

START_TEST(options_stand_anywhere_and_take_both_forms)
{
	ck_assert_int_eq(PARSE("--json", "history", "nvme0", "--from", "-7d", "--step=1h",
			       "media_errors", "--socket", "/tmp/s"),
			 EM_EXIT_OK);
	ck_assert_str_eq(client.verb->name, "history");
	ck_assert_str_eq(client.args[0], "nvme0");
	ck_assert_str_eq(client.args[1], "media_errors");
	ck_assert_str_eq(em_client_option(&client, "--from"), "-7d");
	ck_assert_str_eq(em_client_option(&client, "--step"), "1h");
	ck_assert_ptr_null(em_client_option(&client, "--to"));
	ck_assert_ptr_nonnull(client.common[EM_COMMON_JSON]);
	ck_assert_str_eq(client.common[EM_COMMON_SOCKET], "/tmp/s");
}
END_TEST

START_TEST(the_last_arguments_may_be_left_out)
{
	ck_assert_int_eq(PARSE("history", "nvme0"), EM_EXIT_OK);
	ck_assert_uint_eq(client.arg_count, 1);
	ck_assert_ptr_null(client.args[1]);
}
END_TEST

START_TEST(a_verb_may_have_two_words)
{
	ck_assert_int_eq(PARSE("token", "--expires", "90d", "create", "--json", "x"),
			 EM_EXIT_USAGE);
	ck_assert_int_eq(PARSE("token", "--json", "create", "x", "--expires", "90d"), EM_EXIT_OK);
	ck_assert_str_eq(client.verb->name, "token create");
	ck_assert_str_eq(client.args[0], "x");
	ck_assert_str_eq(em_client_option(&client, "--expires"), "90d");
	refuses(PARSE("token"), "create, list, revoke");
	refuses(PARSE("token", "crate"), "Did you mean `token create`?");
	refuses(PARSE("token", "drives"), "emberctl token --help");
	refuses(PARSE("create"), "emberctl --help");
	refuses(PARSE("tokn"), "`token`");
	ck_assert_int_eq(PARSE("token", "--help"), EM_EXIT_OK);
}
END_TEST

START_TEST(one_form_at_a_time)
{
	refuses(PARSE("drives", "--json", "--csv"), "not both");
	refuses(PARSE("show", "nvme0", "--csv"), "unknown option --csv");
}
END_TEST

START_TEST(two_dashes_end_the_options)
{
	ck_assert_int_eq(PARSE("show", "--", "--odd-serial"), EM_EXIT_OK);
	ck_assert_str_eq(client.args[0], "--odd-serial");
}
END_TEST

START_TEST(slips_are_told_with_the_way_out)
{
	refuses(PARSE("drvies"), "`drives`");
	refuses(PARSE("frobnicate"), "emberctl --help");
	refuses(PARSE("drives", "--jsno"), "--json");
	refuses(PARSE("drives", "--from", "1"), "unknown option --from");
	refuses(PARSE("drives", "--json=yes"), "takes no value");
	refuses(PARSE("drives", "--json", "--json"), "twice");
	refuses(PARSE("history", "nvme0", "media_errors", "--from"), "--from TIME");
	refuses(PARSE("history", "nvme0", "media_errors", "--from", "--to"), "--from TIME");
	refuses(PARSE("history"), "DRIVE is missing");
	refuses(PARSE("show", "nvme0", "nvme1"), "`nvme1` is too much");
	refuses(PARSE("show", ""), "DRIVE is empty");
}
END_TEST

START_TEST(hostile_words_do_not_reach_the_terminal)
{
	refuses(PARSE("x\033[2J"), "x?[2J");
}
END_TEST

START_TEST(help_needs_no_arguments)
{
	ck_assert_int_eq(PARSE("show", "--help"), EM_EXIT_OK);
	ck_assert_ptr_nonnull(client.common[EM_COMMON_HELP]);
	ck_assert_int_eq(PARSE("-h"), EM_EXIT_OK);
	ck_assert_ptr_nonnull(client.common[EM_COMMON_HELP]);
}
END_TEST

START_TEST(distances)
{
	ck_assert_uint_eq(em_edit_distance("drives", "drives"), 0);
	ck_assert_uint_eq(em_edit_distance("drvies", "drives"), 1);
	ck_assert_uint_eq(em_edit_distance("drive", "drives"), 1);
	ck_assert_uint_eq(em_edit_distance("", "abc"), 3);
}
END_TEST

START_TEST(verb_rows_are_whole)
{
	for (const struct em_verb *verb = em_verbs; verb->name; verb++) {
		unsigned options = 0;

		ck_assert(verb->summary && verb->help && verb->example && verb->run);
		ck_assert_int_eq(strncmp(verb->example, "emberctl ", 9), 0);
		ck_assert_ptr_nonnull(strstr(verb->example, verb->name));
		ck_assert_uint_lt(verb->section, EM_SECTION_COUNT);
		ck_assert_uint_le(em_verb_arg_count(verb), EM_VERB_WORDS_MAX);
		for (const struct em_arg *a = verb->args; a->name && a[1].name; a++)
			ck_assert(!a->optional || a[1].optional);
		while (verb->options[options].name)
			options++;
		ck_assert_uint_le(options, EM_VERB_WORDS_MAX);
	}
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("cli");

	setlocale(LC_ALL, "C");
	tcase_add_test(tcase, options_stand_anywhere_and_take_both_forms);
	tcase_add_test(tcase, the_last_arguments_may_be_left_out);
	tcase_add_test(tcase, a_verb_may_have_two_words);
	tcase_add_test(tcase, one_form_at_a_time);
	tcase_add_test(tcase, two_dashes_end_the_options);
	tcase_add_test(tcase, slips_are_told_with_the_way_out);
	tcase_add_test(tcase, hostile_words_do_not_reach_the_terminal);
	tcase_add_test(tcase, help_needs_no_arguments);
	tcase_add_test(tcase, distances);
	tcase_add_test(tcase, verb_rows_are_whole);
	return run_tests(tcase);
}
