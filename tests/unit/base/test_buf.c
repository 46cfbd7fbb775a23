/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/cleanup.h"
#include "tests/unit/runner.h"

START_TEST(pieces_are_joined)
{
	em_cleanup(em_freep) char *text = NULL;
	struct em_buf buf;
	size_t len = 0;

	em_buf_init(&buf, 1 << 20);
	em_buf_adds(&buf, "a");
	em_buf_addc(&buf, 'b');
	em_buf_add(&buf, "c\0d", 3);
	em_buf_addf(&buf, "%s-%d", "e", 7);
	ck_assert(!em_buf_failed(&buf));
	text = em_buf_steal(&buf, &len);
	ck_assert_uint_eq(len, 8);
	ck_assert_mem_eq(text, "abc\0de-7", 9);
	ck_assert_ptr_null(buf.data);
}
END_TEST

START_TEST(it_grows_up_to_its_ceiling_and_fails_for_good_above)
{
	struct em_buf buf;

	em_buf_init(&buf, 1000);
	for (int i = 0; i < 1000; i++)
		em_buf_addc(&buf, 'x');
	ck_assert(!em_buf_failed(&buf));
	ck_assert_uint_eq(buf.len, 1000);
	ck_assert_uint_eq(strlen(buf.data), 1000);
	em_buf_addf(&buf, "%d", 1);
	ck_assert_int_eq(buf.err, -E2BIG);
	em_buf_add(&buf, "", 0);
	ck_assert_uint_eq(buf.len, 1000);
	ck_assert_ptr_null(em_buf_steal(&buf, NULL));
	em_buf_done(&buf);
}
END_TEST

START_TEST(room_is_filled_in_place_up_to_the_same_ceiling)
{
	struct em_buf buf;
	char *room;

	em_buf_init(&buf, 400);
	em_buf_adds(&buf, "a");
	room = em_buf_room(&buf, 399);
	ck_assert_ptr_nonnull(room);
	memset(room, 'x', 300);
	em_buf_added(&buf, 300);
	em_buf_adds(&buf, "b");
	ck_assert_uint_eq(strspn(buf.data + 1, "x"), 300);
	ck_assert_str_eq(buf.data + 301, "b");
	ck_assert_uint_eq(buf.len, 302);
	ck_assert_ptr_null(em_buf_room(&buf, 99));
	ck_assert_int_eq(buf.err, -E2BIG);
	em_buf_done(&buf);
}
END_TEST

START_TEST(nothing_added_is_an_empty_text)
{
	em_cleanup(em_freep) char *text = NULL;
	struct em_buf buf;

	em_buf_init(&buf, 10);
	text = em_buf_steal(&buf, NULL);
	ck_assert_str_eq(text, "");
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("buf");

	tcase_add_test(tcase, pieces_are_joined);
	tcase_add_test(tcase, it_grows_up_to_its_ceiling_and_fails_for_good_above);
	tcase_add_test(tcase, room_is_filled_in_place_up_to_the_same_ceiling);
	tcase_add_test(tcase, nothing_added_is_an_empty_text);
	return run_tests(tcase);
}
