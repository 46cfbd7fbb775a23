/* SPDX-License-Identifier: Apache-2.0 */
#include "client/tar.h"
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "tests/unit/runner.h"

static char *archive;
static size_t size;
static FILE *stream;

static void set_up(void)
{
	stream = open_memstream(&archive, &size);
	ck_assert_ptr_nonnull(stream);
}

static void tear_down(void)
{
	if (stream)
		fclose(stream);
	free(archive);
}

static void finish(void)
{
	ck_assert_int_eq(fclose(stream), 0);
	stream = NULL;
}

/* As pax(1) counts it: the sum's own place is blank. */
static unsigned sum_of(const char *header)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < 512; i++)
		sum += i >= 148 && i < 156 ? ' ' : (unsigned char)header[i];
	return sum;
}

START_TEST(a_file_and_the_end)
{
	ck_assert_int_eq(em_tar_add(stream, "a/b.txt", "hello", 5, 1234567890), 0);
	ck_assert_int_eq(em_tar_add(stream, "empty", NULL, 0, 0), 0);
	ck_assert_int_eq(em_tar_end(stream), 0);
	finish();
	ck_assert_uint_eq(size, 512 * 5);
	ck_assert_str_eq(archive, "a/b.txt");
	ck_assert_str_eq(archive + 100, "0000600");
	ck_assert_str_eq(archive + 124, "00000000005");
	ck_assert_str_eq(archive + 136, "11145401322");
	ck_assert_int_eq(archive[156], '0');
	ck_assert_mem_eq(archive + 257, "ustar\00000", 8);
	ck_assert_uint_eq(strtoul(archive + 148, NULL, 8), sum_of(archive));
	ck_assert_str_eq(archive + 512, "hello");
	ck_assert_str_eq(archive + 1024, "empty");
	for (size_t i = 1536; i < size; i++)
		ck_assert_int_eq(archive[i], 0);
}
END_TEST

START_TEST(whole_blocks_get_no_padding)
{
	char data[1024];

	memset(data, 'x', sizeof(data));
	ck_assert_int_eq(em_tar_add(stream, "x", data, sizeof(data), 0), 0);
	finish();
	ck_assert_uint_eq(size, 512 * 3);
}
END_TEST

START_TEST(names_that_do_not_fit_or_lead_away)
{
	char name[EM_TAR_NAME_MAX + 2];

	memset(name, 'n', sizeof(name));
	name[EM_TAR_NAME_MAX + 1] = '\0';
	ck_assert_int_eq(em_tar_add(stream, name, "", 0, 0), -ENAMETOOLONG);
	name[EM_TAR_NAME_MAX] = '\0';
	ck_assert_int_eq(em_tar_add(stream, name, "", 0, 0), 0);
	ck_assert_int_eq(em_tar_add(stream, "/etc/passwd", "", 0, 0), -EINVAL);
	ck_assert_int_eq(em_tar_add(stream, "a/../../b", "", 0, 0), -EINVAL);
	ck_assert_int_eq(em_tar_add(stream, "", "", 0, 0), -EINVAL);
	finish();
	ck_assert_uint_eq(size, 512);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("tar");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, a_file_and_the_end);
	tcase_add_test(tcase, whole_blocks_get_no_padding);
	tcase_add_test(tcase, names_that_do_not_fit_or_lead_away);
	return run_tests(tcase);
}
