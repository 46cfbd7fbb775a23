/* SPDX-License-Identifier: Apache-2.0 */
/* Who is to blame for a status in the error log. */
#include <check.h>

#include "lib/base/cleanup.h"
#include "lib/nvme/error_cause.h"
#include "tests/unit/runner.h"

static const struct {
	uint16_t word;
	enum em_error_cause cause;
} rows[] = {
	{ 0x001, EM_CAUSE_HOST },    /* invalid opcode */
	{ 0x002, EM_CAUSE_HOST },    /* invalid field */
	{ 0x109, EM_CAUSE_HOST },    /* invalid log page */
	{ 0x007, EM_CAUSE_HOST },    /* abort requested */
	{ 0x008, EM_CAUSE_HOST },    /* queue deleted */
	{ 0x371, EM_CAUSE_HOST },    /* aborted by the kernel */
	{ 0x00b, EM_CAUSE_HOST },    /* invalid namespace or format */
	{ 0x10a, EM_CAUSE_HOST },    /* invalid format */
	{ 0x084, EM_CAUSE_HOST },    /* format in progress */
	{ 0x100, EM_CAUSE_HOST },    /* invalid completion queue */
	{ 0x11d, EM_CAUSE_HOST },    /* self-test in progress, and not 01dh */
	{ 0x285, EM_CAUSE_HOST },    /* compare failure */
	{ 0x287, EM_CAUSE_HOST },    /* deallocated block */
	{ 0x006, EM_CAUSE_DEVICE },  /* internal error */
	{ 0x01c, EM_CAUSE_DEVICE },  /* sanitize failed */
	{ 0x280, EM_CAUSE_DEVICE },  /* write fault */
	{ 0x281, EM_CAUSE_DEVICE },  /* unrecovered read error */
	{ 0x282, EM_CAUSE_DEVICE },  /* guard */
	{ 0x283, EM_CAUSE_DEVICE },  /* application tag */
	{ 0x284, EM_CAUSE_DEVICE },  /* reference tag */
	{ 0x288, EM_CAUSE_DEVICE },  /* storage tag */
	{ 0x2ff, EM_CAUSE_DEVICE },  /* media, unknown */
	{ 0x300, EM_CAUSE_DEVICE },  /* internal path */
	{ 0x286, EM_CAUSE_LOCKED },  /* access denied */
	{ 0x000, EM_CAUSE_UNCLEAR }, /* success in an error log */
	{ 0x004, EM_CAUSE_UNCLEAR }, /* data transfer */
	{ 0x0c5, EM_CAUSE_UNCLEAR }, /* generic, of the vendor */
	{ 0x1f0, EM_CAUSE_UNCLEAR }, /* command specific, of the vendor */
	{ 0x3ee, EM_CAUSE_UNCLEAR }, /* path, unknown */
	{ 0x500, EM_CAUSE_UNCLEAR }, /* reserved type */
	{ 0x7ff, EM_CAUSE_UNCLEAR }, /* vendor's type */
};

START_TEST(each_status)
{
	for (size_t i = 0; i < EM_COUNT(rows); i++)
		ck_assert_msg(em_error_judge(rows[i].word) == rows[i].cause, "%03x is %s",
			      rows[i].word, em_error_cause_name(em_error_judge(rows[i].word)));
}
END_TEST

/* More, Do Not Retry and the retry delay travel in the same word. */
START_TEST(other_bits_make_no_difference)
{
	for (size_t i = 0; i < EM_COUNT(rows); i++)
		for (uint16_t more = 0; more < 0x10; more++)
			ck_assert_int_eq(em_error_judge((uint16_t)(rows[i].word | more << 11)),
					 rows[i].cause);
}
END_TEST

START_TEST(names)
{
	ck_assert_str_eq(em_error_cause_name(EM_CAUSE_HOST), "host");
	ck_assert_str_eq(em_error_cause_name(EM_CAUSE_DEVICE), "device");
	ck_assert_str_eq(em_error_cause_name(EM_CAUSE_LOCKED), "locked");
	ck_assert_str_eq(em_error_cause_name(EM_CAUSE_UNCLEAR), "unclear");
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("error_cause");

	tcase_add_test(tcase, each_status);
	tcase_add_test(tcase, other_bits_make_no_difference);
	tcase_add_test(tcase, names);
	return run_tests(tcase);
}
