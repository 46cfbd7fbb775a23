/* SPDX-License-Identifier: Apache-2.0 */
#include "client/sse.h"
#include <check.h>
#include <string.h>
#include "tests/unit/runner.h"

static struct em_sse sse;
static char got[256];
static bool wanted;

static bool on_event(void *userdata, const char *data, size_t len)
{
	ck_assert_ptr_eq(userdata, &sse);
	ck_assert_uint_eq(strlen(data), len);
	strncat(got, "[", sizeof(got) - strlen(got) - 1);
	strncat(got, data, sizeof(got) - strlen(got) - 1);
	strncat(got, "]", sizeof(got) - strlen(got) - 1);
	return wanted;
}

static void set_up(void)
{
	got[0] = '\0';
	wanted = true;
	em_sse_init(&sse, on_event, &sse);
}

static void tear_down(void)
{
	em_sse_done(&sse);
}

static bool feed(const char *text)
{
	return em_sse_feed(&sse, text, strlen(text));
}

START_TEST(events_come_whole_in_whatever_pieces)
{
	static const char text[] = "retry: 1500\n\n: alive\n\nid: 7\nevent: x\ndata: a\ndata:b\n\n"
				   "id: 8\r\ndata: c\r\n\r\nid: 9\rdata: d\r\rdata\n\n";

	for (size_t i = 0; i + 1 < sizeof(text); i++)
		ck_assert(em_sse_feed(&sse, text + i, 1));
	ck_assert_str_eq(got, "[a\nb][c][d]");
	ck_assert_str_eq(sse.id, "9");
	ck_assert_uint_eq(sse.retry_ms, 1500);
}
END_TEST

START_TEST(an_id_counts_with_the_end_of_its_event)
{
	ck_assert(feed("id: 7\ndata: a\n\nid: 8\ndata: b\n"));
	ck_assert_str_eq(sse.id, "7");
	em_sse_restart(&sse);
	ck_assert(feed("data: c\n\n"));
	ck_assert_str_eq(sse.id, "7");
	ck_assert_str_eq(got, "[a][c]");
}
END_TEST

START_TEST(odd_fields_are_passed_over)
{
	ck_assert(feed("retry: soon\nfoo: bar\ndata : x\nid: "
		       "0123456789012345678901234567890123456789012345678901234567890123456789\n"
		       "data: a\n\n"));
	ck_assert_str_eq(got, "[a]");
	ck_assert_str_eq(sse.id, "");
	ck_assert_uint_eq(sse.retry_ms, 0);
}
END_TEST

START_TEST(it_ends_when_the_reader_wants_no_more)
{
	wanted = false;
	ck_assert(!feed("data: a\n\ndata: b\n\n"));
	ck_assert_str_eq(got, "[a]");
}
END_TEST

START_TEST(what_never_ends_is_given_up)
{
	char block[4096];
	size_t fed = 0;

	memset(block, 'x', sizeof(block));
	while (em_sse_feed(&sse, block, sizeof(block)))
		ck_assert_uint_le(fed += sizeof(block), EM_SSE_MAX);
	em_sse_restart(&sse);
	fed = 0;
	while (feed(
		"data: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\n"))
		ck_assert_uint_le(fed += 64, EM_SSE_MAX);
	ck_assert_str_eq(got, "");
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("sse");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, events_come_whole_in_whatever_pieces);
	tcase_add_test(tcase, an_id_counts_with_the_end_of_its_event);
	tcase_add_test(tcase, odd_fields_are_passed_over);
	tcase_add_test(tcase, it_ends_when_the_reader_wants_no_more);
	tcase_add_test(tcase, what_never_ends_is_given_up);
	return run_tests(tcase);
}
