/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "broker/policy.h"
#include "tests/unit/runner.h"

static char dir[] = "/tmp/ember-policy-XXXXXX";
static char path[64];
static char error[EM_CONF_ERROR_SIZE];

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/policy.conf", dir);
	error[0] = '\0';
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

static struct em_policy *load(const char *text)
{
	struct em_policy *policy = NULL;

	write_file(text);
	ck_assert_msg(em_policy_load(path, "web1", &policy, error) == 0, "%s", error);
	return policy;
}

static void check_bad(const char *text, const char *expected)
{
	struct em_policy *policy = NULL;

	write_file(text);
	ck_assert_int_eq(em_policy_load(path, "web1", &policy, error), -EINVAL);
	ck_assert_ptr_null(policy);
	ck_assert_ptr_nonnull(strstr(error, path));
	ck_assert_msg(strstr(error, expected) != NULL, "\"%s\" is not in: %s", expected, error);
}

START_TEST(without_a_file_harmless_classes_are_allowed)
{
	em_cleanup(em_policy_freep) struct em_policy *policy = NULL;

	ck_assert_int_eq(em_policy_default(&policy), 0);
	for (int cls = 0; cls < EM_CLASS_COUNT; cls++)
		ck_assert_int_eq(em_policy_judge(policy, cls, "S1"),
				 cls <= EM_CLASS_TEST ? EM_VERDICT_ALLOW : EM_VERDICT_CONFIRM);
}
END_TEST

START_TEST(a_missing_file_is_told_apart)
{
	struct em_policy *policy = NULL;

	ck_assert_int_eq(em_policy_load(path, "web1", &policy, error), -ENOENT);
	ck_assert_ptr_null(policy);
}
END_TEST

/* Else a link that lost its file would silently allow what the file denied. */
START_TEST(a_link_to_nothing_is_no_missing_file)
{
	struct em_policy *policy = NULL;

	ck_assert_int_eq(symlink("gone.conf", path), 0);
	ck_assert_int_eq(em_policy_load(path, "web1", &policy, error), -ENOLINK);
	ck_assert_ptr_null(policy);
	ck_assert_ptr_nonnull(strstr(error, path));
}
END_TEST

START_TEST(the_drive_wins_over_the_host_over_the_default)
{
	em_cleanup(em_policy_freep) struct em_policy *policy =
		load("[default]\nread = deny\narm = deny\ntest=deny\n"
		     "[host WEB1]\nread = confirm\narm=confirm\n"
		     "[host web2]\ntest=allow\n"
		     "[drive S1]\nread = allow\n");

	ck_assert_int_eq(em_policy_judge(policy, EM_CLASS_READ, "S1"), EM_VERDICT_ALLOW);
	ck_assert_int_eq(em_policy_judge(policy, EM_CLASS_READ, "S2"), EM_VERDICT_CONFIRM);
	ck_assert_int_eq(em_policy_judge(policy, EM_CLASS_ARM, "S1"), EM_VERDICT_CONFIRM);
	ck_assert_int_eq(em_policy_judge(policy, EM_CLASS_TEST, "S1"), EM_VERDICT_DENY);
	ck_assert_int_eq(em_policy_judge(policy, EM_CLASS_ERASE, "S1"), EM_VERDICT_CONFIRM);
}
END_TEST

START_TEST(line_ends_of_other_systems_say_the_same)
{
	em_cleanup(em_policy_freep) struct em_policy *policy =
		load("[drive S1]\r\nread = deny\r\n[default]\r\narm=deny\r\n");

	ck_assert_int_eq(em_policy_judge(policy, EM_CLASS_READ, "S1"), EM_VERDICT_DENY);
	ck_assert_int_eq(em_policy_judge(policy, EM_CLASS_READ, "S2"), EM_VERDICT_ALLOW);
	ck_assert_int_eq(em_policy_judge(policy, EM_CLASS_ARM, "S1"), EM_VERDICT_DENY);
}
END_TEST

START_TEST(blanks_around_a_serial_do_not_count)
{
	em_cleanup(em_policy_freep) struct em_policy *policy = load("[drive  A B ]\nread=deny\n");

	ck_assert_int_eq(em_policy_judge(policy, EM_CLASS_READ, "A B"), EM_VERDICT_DENY);
	ck_assert_int_eq(em_policy_judge(policy, EM_CLASS_READ, "  A B      "), EM_VERDICT_DENY);
	ck_assert_int_eq(em_policy_judge(policy, EM_CLASS_READ, "AB"), EM_VERDICT_ALLOW);
}
END_TEST

/* libeconf's list of keys leaves out the second read, and with it the deny. */
START_TEST(sections_that_repeat_a_key_all_count)
{
	em_cleanup(em_policy_freep) struct em_policy *policy =
		load("[drive S1]\nread = confirm\n\n[drive S2]\nread = deny\n");

	ck_assert_int_eq(em_policy_judge(policy, EM_CLASS_READ, "S1"), EM_VERDICT_CONFIRM);
	ck_assert_int_eq(em_policy_judge(policy, EM_CLASS_READ, "S2"), EM_VERDICT_DENY);
}
END_TEST

/* libeconf alone would keep the first and forget the deny. */
START_TEST(a_key_that_stands_twice_is_an_error)
{
	check_bad("[default]\nread = allow\nread = deny\n", ":3: [default] read: stands twice");
	check_bad("[default]\nread = deny\nread =\nread = allow\n", ":3: ");
	check_bad("[default]\nread=allow\n[drive S]\narm=deny\n[default]\nread=deny\n", "twice");
	check_bad("[drive S]\nread=allow\n[drive  S]\nread=deny\n", ":4: [drive  S] read: stands");
	check_bad("[host web1]\nread=deny\n[host WEB1]\nread=deny\n", ":4: [host WEB1] read: st");
	check_bad("[default]\nread = allow\n  deny\n", ":3: ");
}
END_TEST

START_TEST(bad_content_names_file_and_line)
{
	check_bad("[default]\n\nreed = allow\n", ":3: [default] reed");
	check_bad("[default]\nread = allowed\n", ":2: [default] read: must be");
	check_bad("[default]\nread =\n", ":2: ");
	check_bad("[defaults]\nread = allow\n", ":1: [defaults]");
	check_bad("[default]\nread=allow\n[drives S]\n", ":3: [drives S]");
	check_bad("[drive]\nread = allow\n", "[drive SERIAL]");
	check_bad("read = allow\n", "before any [section]");
	check_bad("[default\nread = allow\n", ":1: ");
	check_bad("[default]\nread allow\n", ":2: ");
	/* Better nothing than a rule for another drive, or half of what somebody wrote. */
	check_bad("[drive A#B]\nread = deny\n", ":1: ");
	check_bad("[drive \xc3\xa9]\nread = deny\n", ":1: [drive \xc3\xa9] a serial is");
	check_bad("[drive A]B]\nread = deny\n", ":1: ");
	check_bad("[default]\nread = allow # deny\n", ":2: only a comment can contain #");
	check_bad("[default]\nread = allow#deny\n", ":2: only a comment can contain #");
	/* What is no line at all is told before what another line means. */
	check_bad("[defaults]\n; no comment\n", ":2: write [SECTION], KEY=VALUE");
	check_bad("\xef\xbb\xbf[default]\n", ":1: a byte order mark");
}
END_TEST

START_TEST(files_that_others_can_change_are_refused)
{
	struct em_policy *policy = NULL;

	write_file("[default]\nread=allow\n");
	ck_assert_int_eq(chmod(path, 0664), 0);
	ck_assert_int_eq(em_policy_load(path, "h", &policy, error), -EPERM);
	ck_assert_int_eq(chmod(path, 0646), 0);
	ck_assert_int_eq(em_policy_load(path, "h", &policy, error), -EPERM);
	ck_assert_int_eq(chmod(path, 0600), 0);
	ck_assert_int_eq(chmod(dir, 0777), 0);
	ck_assert_int_eq(em_policy_load(path, "h", &policy, error), -EPERM);
	ck_assert_int_eq(chmod(dir, 0755), 0);
	ck_assert_int_eq(em_policy_load(dir, "h", &policy, error), -EPERM);
	ck_assert_ptr_null(policy);
}
END_TEST

/* Whoever can move a directory that is further up, or the link, chooses the file. */
START_TEST(the_way_to_the_file_counts)
{
	char inner[96], file[128], link[128];
	struct em_policy *policy = NULL;

	write_file("[default]\nread=allow\n");
	snprintf(inner, sizeof(inner), "%s/inner", dir);
	snprintf(file, sizeof(file), "%s/policy.conf", inner);
	snprintf(link, sizeof(link), "%s/link", inner);
	ck_assert_int_eq(mkdir(inner, 0755), 0);
	ck_assert_int_eq(symlink(path, link), 0);
	ck_assert_int_eq(em_policy_load(link, "h", &policy, error), 0);
	policy = em_policy_free(policy);
	ck_assert_int_eq(chmod(inner, 0777), 0);
	ck_assert_int_eq(em_policy_load(link, "h", &policy, error), -EPERM);
	ck_assert_ptr_nonnull(strstr(error, "below a directory that others can write to"));
	ck_assert_int_eq(chmod(inner, 0755), 0);
	unlink(link);
	ck_assert_int_eq(rename(path, file), 0);
	ck_assert_int_eq(em_policy_load(file, "h", &policy, error), 0);
	policy = em_policy_free(policy);
	ck_assert_int_eq(chmod(dir, 0777), 0);
	ck_assert_int_eq(em_policy_load(file, "h", &policy, error), -EPERM);
	/* Where each can move only what is their own, nobody else moves ours. */
	ck_assert_int_eq(chmod(dir, 01777), 0);
	ck_assert_int_eq(em_policy_load(file, "h", &policy, error), 0);
	em_policy_free(policy);
	unlink(file);
	rmdir(inner);
}
END_TEST

START_TEST(files_of_other_users_are_refused)
{
	struct em_policy *policy = NULL;

	if (geteuid() != 0)
		return;
	write_file("[default]\nread=allow\n");
	ck_assert_int_eq(chown(path, 12345, 0), 0);
	ck_assert_int_eq(em_policy_load(path, "h", &policy, error), -EPERM);
	ck_assert_int_eq(chown(path, 0, 0), 0);
	ck_assert_int_eq(chown(dir, 12345, 0), 0);
	ck_assert_int_eq(em_policy_load(path, "h", &policy, error), -EPERM);
	ck_assert_ptr_null(policy);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("policy");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, without_a_file_harmless_classes_are_allowed);
	tcase_add_test(tc, a_missing_file_is_told_apart);
	tcase_add_test(tc, a_link_to_nothing_is_no_missing_file);
	tcase_add_test(tc, the_drive_wins_over_the_host_over_the_default);
	tcase_add_test(tc, line_ends_of_other_systems_say_the_same);
	tcase_add_test(tc, blanks_around_a_serial_do_not_count);
	tcase_add_test(tc, sections_that_repeat_a_key_all_count);
	tcase_add_test(tc, a_key_that_stands_twice_is_an_error);
	tcase_add_test(tc, bad_content_names_file_and_line);
	tcase_add_test(tc, files_that_others_can_change_are_refused);
	tcase_add_test(tc, the_way_to_the_file_counts);
	tcase_add_test(tc, files_of_other_users_are_refused);
	return run_tests(tc);
}
