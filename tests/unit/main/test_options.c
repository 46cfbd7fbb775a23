/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/main/options.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "daemon/main/config.h"
#include "lib/base/cleanup.h"
#include "tests/unit/runner.h"

START_TEST(every_row_is_whole)
{
	for (unsigned i = 0; i < em_option_count; i++) {
		const struct em_option *option = &em_options[i];

		ck_assert_ptr_nonnull(em_option_section_find(option->section));
		ck_assert_ptr_eq(em_option_find(option->section, option->key), option);
		ck_assert_uint_le(option->offset + option->size, sizeof(struct em_config));
		ck_assert_msg(option->help[strlen(option->help) - 1] == '.', "%s", option->key);
	}
	ck_assert_ptr_null(em_option_find("http", "level"));
	ck_assert_ptr_null(em_option_section_find("drive"));
}
END_TEST

/* Rows of a section that drives may override must lie in the intervals. */
START_TEST(per_drive_rows_lie_in_the_intervals)
{
	const size_t first = offsetof(struct em_config, drives.intervals);
	unsigned count = 0;

	for (unsigned i = 0; i < em_option_count; i++) {
		if (!em_option_section_find(em_options[i].section)->per_drive)
			continue;
		ck_assert(!em_options[i].restart);
		ck_assert_uint_ge(em_options[i].offset, first);
		ck_assert_uint_le(em_options[i].offset + em_options[i].size,
				  first + sizeof(struct em_poll_intervals));
		count++;
	}
	ck_assert_uint_gt(count, 0);
}
END_TEST

static char *print(void (*printer)(struct em_buf *))
{
	struct em_buf out;
	char *text;

	em_buf_init(&out, 1 << 20);
	printer(&out);
	text = em_buf_steal(&out, NULL);
	ck_assert_ptr_nonnull(text);
	em_buf_done(&out);
	return text;
}

static void load_text(const char *text, struct em_config **ret)
{
	char message[EM_CONFIG_MESSAGE_SIZE], path[] = "/tmp/ember-test-XXXXXX";
	int fd = mkstemp(path);
	int r;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	r = em_config_new(ret, path, true, message);
	unlink(path);
	ck_assert_msg(r == 0, "%s", message);
}

START_TEST(the_default_file_is_valid_and_says_the_defaults)
{
	em_cleanup(em_freep) char *text = print(em_options_print_file);
	struct em_config *defaults = NULL, *config = NULL;
	size_t line_len;

	load_text("", &defaults);
	load_text(text, &config);
	ck_assert_mem_eq(config, defaults, sizeof(*config));
	config = em_config_free(config);
	for (char *line = text; *line; line += line_len + 1) {
		line_len = strcspn(line, "\n");
		ck_assert_uint_le(line_len, 100);
		/* "#key=value" is an option, "# text" is a comment. */
		if (line[0] == '#' && line[1] != ' ')
			line[0] = ' ';
	}
	load_text(text, &config);
	ck_assert_mem_eq(config, defaults, sizeof(*config));
	for (unsigned i = 0; i < em_option_count; i++)
		ck_assert_ptr_nonnull(strstr(text, em_options[i].key));
	em_config_free(config);
	em_config_free(defaults);
}
END_TEST

START_TEST(the_man_page_names_every_option)
{
	em_cleanup(em_freep) char *text = print(em_options_print_man);
	char *options;

	ck_assert_ptr_nonnull(strstr(text, ".SS [poll]\n"));
	ck_assert_ptr_nonnull(strstr(text, "\\fBraw_keep=\\fR30d\n"));
	ck_assert_ptr_nonnull(strstr(text, "From 10ms to 7d."));
	for (unsigned i = 0; i < em_option_count; i++)
		ck_assert_ptr_nonnull(strstr(text, em_options[i].key));
	ck_assert_ptr_nonnull(strstr(text, ".TH EMBERD.CONF 5"));
	options = strstr(text, ".SH OPTIONS\n");
	ck_assert_ptr_nonnull(options);
	*strstr(options, ".SH EXAMPLES\n") = '\0';
	/* Every hyphen is escaped. */
	for (const char *p = strchr(options, '-'); p; p = strchr(p + 1, '-'))
		ck_assert_int_eq(p[-1], '\\');
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("options");

	tcase_add_test(tcase, every_row_is_whole);
	tcase_add_test(tcase, per_drive_rows_lie_in_the_intervals);
	tcase_add_test(tcase, the_default_file_is_valid_and_says_the_defaults);
	tcase_add_test(tcase, the_man_page_names_every_option);
	return run_tests(tcase);
}
