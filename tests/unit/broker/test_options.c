/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "broker/options.h"
#include "lib/base/cleanup.h"
#include "lib/base/clock.h"
#include "tests/unit/runner.h"

static char dir[] = "/tmp/ember-options-XXXXXX";
static char path[64];
static char error[EM_CONF_ERROR_SIZE];
static struct em_options options;

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/broker.conf", dir);
}

static void teardown(void)
{
	unlink(path);
	rmdir(dir);
}

static void write_file(const char *text)
{
	em_cleanup(em_fclosep) FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	ck_assert_int_eq(fchmod(fileno(file), 0644), 0);
}

static int parse(char *option, char *value)
{
	char *argv[] = { "ember-broker", "--config", path, option, value, NULL };

	return em_options_parse(&options, option ? 5 : 3, argv);
}

START_TEST(options_win_over_the_file)
{
	write_file("[broker]\npatience = 250ms\nclient_user = 4711\n");
	ck_assert_int_eq(parse(NULL, NULL), 0);
	ck_assert_msg(em_options_load(&options, error) == 0, "%s", error);
	ck_assert_uint_eq(options.patience_us, 250 * EM_US_PER_MS);
	ck_assert_uint_eq(options.client_uid, 4711);
	ck_assert_uint_eq(options.client_gid, (gid_t)-1);
	optind = 1;
	ck_assert_int_eq(parse("--patience", "3s"), 0);
	ck_assert_int_eq(em_options_load(&options, error), 0);
	ck_assert_uint_eq(options.patience_us, 3 * EM_US_PER_SEC);
	ck_assert_uint_eq(options.client_uid, 4711);
}
END_TEST

START_TEST(users_are_found_by_name)
{
	write_file("[broker]\nclient_user = root\n");
	ck_assert_int_eq(parse(NULL, NULL), 0);
	ck_assert_int_eq(em_options_load(&options, error), 0);
	ck_assert_uint_eq(options.client_uid, 0);
	ck_assert_uint_eq(options.client_gid, 0);
	ck_assert_uint_eq(options.patience_us, 10 * EM_US_PER_SEC);
}
END_TEST

static const struct {
	const char *text, *expected;
	int err;
} bad[] = {
	{ "[broker]\npatience = 99ms\n", ":2: [broker] patience", -EINVAL },
	{ "[broker]\npatience = 11min\n", ":2: [broker] patience", -EINVAL },
	{ "[broker]\npatience = soon\n", ":2: [broker] patience", -EINVAL },
	{ "[broker]\nclient_user = no such user\n", "no such user", -ESRCH },
	{ "[broker]\npatients = 1s\n", ":2: [broker] patients", -EINVAL },
	{ "[broker]\npatience = 1s\n\npatience = 1s\n", ":4: [broker] patience: stands twice",
	  -EINVAL },
	{ "[daemon]\npatience = 1s\n", ":1: [daemon]", -EINVAL },
	{ "\n[broken]\n", ":2: [broken] the only section", -EINVAL },
};

START_TEST(a_bad_file_changes_nothing_and_is_named)
{
	struct em_options before;

	write_file(bad[_i].text);
	ck_assert_int_eq(parse(NULL, NULL), 0);
	before = options;
	ck_assert_int_eq(em_options_load(&options, error), bad[_i].err);
	ck_assert_msg(strstr(error, bad[_i].expected) != NULL, "%s", error);
	ck_assert_mem_eq(&before, &options, sizeof(options));
}
END_TEST

START_TEST(a_file_that_was_named_has_to_exist)
{
	ck_assert_int_eq(parse(NULL, NULL), 0);
	ck_assert_int_eq(em_options_load(&options, error), -ENOENT);
}
END_TEST

START_TEST(a_bad_option_is_refused)
{
	write_file("");
	ck_assert_int_eq(parse("--log-level", "loud"), -EINVAL);
	optind = 1;
	ck_assert_int_eq(parse("--client-user", "root"), 0);
	ck_assert_int_eq(em_options_load(&options, error), 0);
	optind = 1;
	ck_assert_int_eq(parse("--patience", "1ms"), 0);
	ck_assert_int_eq(em_options_load(&options, error), -EINVAL);
	ck_assert_ptr_nonnull(strstr(error, "--patience"));
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("options");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, options_win_over_the_file);
	tcase_add_test(tc, users_are_found_by_name);
	tcase_add_loop_test(tc, a_bad_file_changes_nothing_and_is_named, 0, (int)EM_COUNT(bad));
	tcase_add_test(tc, a_file_that_was_named_has_to_exist);
	tcase_add_test(tc, a_bad_option_is_refused);
	return run_tests(tc);
}
