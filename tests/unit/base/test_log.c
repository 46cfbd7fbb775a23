/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/log.h"
#include "tests/unit/runner.h"

static int level = LOG_INFO;
static bool plain;

/* What em_log() writes to stderr with this message, which may hold anything. */
static const char *logged(int priority, const char *message)
{
	static char text[8192];
	int saved = dup(STDERR_FILENO), pipefd[2];
	ssize_t n;

	ck_assert_int_eq(pipe(pipefd), 0);
	ck_assert_int_eq(fcntl(pipefd[0], F_SETFL, O_NONBLOCK), 0);
	dup2(pipefd[1], STDERR_FILENO);
	em_log_init("ember-test", LOG_INFO);
	em_log_set_level(level);
	if (plain)
		em_log_plain();
	em_log(priority, &(struct em_log_fields){ .device = "nvme0" }, "%s", message);
	n = read(pipefd[0], text, sizeof(text) - 1);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(pipefd[0]);
	close(pipefd[1]);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

START_TEST(a_line_has_its_priority_and_name)
{
	unsetenv("JOURNAL_STREAM");
	ck_assert_str_eq(logged(LOG_WARNING, "hello"), "<4>ember-test: hello\n");
}
END_TEST

START_TEST(an_answer_to_a_command_has_no_priority)
{
	unsetenv("JOURNAL_STREAM");
	plain = true;
	ck_assert_str_eq(logged(LOG_ERR, "hello"), "ember-test: hello\n");
	plain = false;
}
END_TEST

/* A stale $JOURNAL_STREAM of a parent names another file than our stderr. */
START_TEST(another_journal_stream_does_not_count)
{
	char stream[64];
	struct stat st;
	int pipefd[2];

	setenv("JOURNAL_STREAM", "1:1", 1);
	ck_assert_str_eq(logged(LOG_INFO, "x"), "<6>ember-test: x\n");
	ck_assert_int_eq(pipe(pipefd), 0);
	ck_assert_int_eq(fstat(pipefd[0], &st), 0);
	snprintf(stream, sizeof(stream), "%llu:1", (unsigned long long)st.st_dev);
	close(pipefd[0]);
	close(pipefd[1]);
	setenv("JOURNAL_STREAM", stream, 1); /* all pipes share a device: the inode decides */
	ck_assert_str_eq(logged(LOG_INFO, "x"), "<6>ember-test: x\n");
	setenv("JOURNAL_STREAM", "nonsense", 1);
	ck_assert_str_eq(logged(LOG_INFO, "x"), "<6>ember-test: x\n");
}
END_TEST

START_TEST(lines_above_the_level_are_left_out)
{
	ck_assert_str_eq(logged(LOG_DEBUG, "hidden"), "");
	level = LOG_DEBUG;
	ck_assert_str_eq(logged(LOG_DEBUG, "shown"), "<7>ember-test: shown\n");
	level = LOG_ERR;
	ck_assert_str_eq(logged(LOG_WARNING, "hidden"), "");
	level = LOG_INFO;
}
END_TEST

START_TEST(one_message_stays_one_line)
{
	char longer[5000];

	ck_assert_str_eq(logged(LOG_ERR, "a\n<0>b\x1b[2J"), "<3>ember-test: a <0>b [2J\n");
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	ck_assert_uint_lt(strlen(logged(LOG_ERR, longer)), 2200);
}
END_TEST

START_TEST(levels_have_names)
{
	int found = 77;

	for (int i = LOG_ERR; i <= LOG_DEBUG; i++) {
		ck_assert_ptr_nonnull(strstr(EM_LOG_LEVELS, em_log_level_name(i)));
		ck_assert_int_eq(em_log_level_find(em_log_level_name(i), &found), 0);
		ck_assert_int_eq(found, i);
	}
	ck_assert_int_eq(em_log_level_find("crit", &found), -EINVAL);
	ck_assert_int_eq(em_log_level_find("", &found), -EINVAL);
	ck_assert_int_eq(found, LOG_DEBUG);
	ck_assert_ptr_null(em_log_level_name(LOG_CRIT));
	ck_assert_ptr_null(em_log_level_name(LOG_DEBUG + 1));
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("log");

	tcase_add_test(tcase, a_line_has_its_priority_and_name);
	tcase_add_test(tcase, an_answer_to_a_command_has_no_priority);
	tcase_add_test(tcase, another_journal_stream_does_not_count);
	tcase_add_test(tcase, lines_above_the_level_are_left_out);
	tcase_add_test(tcase, one_message_stays_one_line);
	tcase_add_test(tcase, levels_have_names);
	return run_tests(tcase);
}
