/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/manual.h"
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "lib/base/cleanup.h"
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

static void print_word(struct em_buf *buf)
{
	em_buf_adds(buf, "word\n");
}

static void print_too_much(struct em_buf *buf)
{
	for (size_t i = 0; i < 2u << 20; i++)
		em_buf_addc(buf, 'a');
}

/* What the program writes to stdout goes to a file. */
static int run_main(const char *name, char *text, size_t size)
{
	static const struct em_manual_document documents[] = {
		{ "word", print_word },
		{ "too-much", print_too_much },
	};
	char *argv[] = { "program", (char *)name, NULL };
	FILE *file = tmpfile();
	int status, kept = dup(STDOUT_FILENO);
	ssize_t n;

	ck_assert_ptr_nonnull(file);
	fflush(stdout);
	ck_assert_int_ge(dup2(fileno(file), STDOUT_FILENO), 0);
	status = em_manual_main(name ? 2 : 1, argv, documents, EM_COUNT(documents));
	ck_assert_int_ge(dup2(kept, STDOUT_FILENO), 0);
	close(kept);
	n = pread(fileno(file), text, size - 1, 0);
	text[n < 0 ? 0 : n] = '\0';
	fclose(file);
	return status;
}

START_TEST(one_document_is_printed)
{
	char text[64];

	ck_assert_int_eq(run_main("word", text, sizeof(text)), 0);
	ck_assert_str_eq(text, "word\n");
	ck_assert_int_eq(run_main("words", text, sizeof(text)), 2);
	ck_assert_str_eq(text, "");
	ck_assert_int_eq(run_main(NULL, text, sizeof(text)), 2);
	ck_assert_int_eq(run_main("too-much", text, sizeof(text)), 1);
	ck_assert_str_eq(text, "");
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("manual");

	tcase_add_checked_fixture(tcase, start, stop);
	tcase_add_test(tcase, roff_takes_text_as_it_is);
	tcase_add_test(tcase, comments_are_wrapped);
	tcase_add_test(tcase, one_document_is_printed);
	return run_tests(tcase);
}
