/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include "tests/unit/runner.h"
#include "tests/unit/store/fixture.h"

static struct em_store *store;
static struct em_store_reader *reader;

/* Ids 10, 20 ... 60; at 40 the clock was set back to 5. */
static void start(void)
{
	static const char *const kinds[] = { "a", "ab", "b", "a", "c", "a" };
	static const char *const drives[] = { "d1", "", "d2", "d1", "d1", "d2" };

	make_dir();
	store = open_store();
	for (int64_t i = 0; i < 6; i++) {
		struct em_event event = { .id = (i + 1) * 10, .at_us = (i + 1) * 10 };

		if (i == 3)
			event.at_us = 5;
		strcpy(event.kind, kinds[i]);
		strcpy(event.drive, drives[i]);
		ck_assert_int_eq(em_store_put_event(store, &event), 0);
	}
	wait_written(store);
	ck_assert_int_eq(em_store_reader_open(store, &reader), 0);
}

static void stop(void)
{
	em_store_reader_close(reader);
	em_store_close(store, GRACE_US);
	remove_dir();
}

static int add_id(void *userdata, const struct em_event *event)
{
	char *text = userdata;

	sprintf(text + strlen(text), "%lld ", (long long)event->id);
	return event->id == 666 ? -ECANCELED : 0;
}

/* The ids, and "+" when there are more. */
static const char *ids(const struct em_store_event_range *range)
{
	static char text[256];
	int r;

	text[0] = '\0';
	r = em_store_events(reader, range, add_id, text);
	ck_assert_int_ge(r, 0);
	if (r == 1)
		strcat(text, "+");
	return text;
}

#define check_some(expected, most, ...)                                                            \
	ck_assert_str_eq(ids(&(struct em_store_event_range){ .limit = (most), __VA_ARGS__ }),      \
			 expected)
#define check(expected, ...) check_some(expected, 100, __VA_ARGS__)

START_TEST(everything_in_both_orders)
{
	check("10 20 30 40 50 60 ", );
	check("60 50 40 30 20 10 ", .newest_first = true);
}
END_TEST

START_TEST(bounds_are_kept)
{
	check("30 40 ", .after_id = 20, .before_id = 50);
	check("20 10 ", .before_id = 30, .newest_first = true);
	check("20 30 ", .from_us = 20, .to_us = 50);
	check("10 40 ", .to_us = 11);
	check("", .after_id = 60);
}
END_TEST

START_TEST(a_limit_tells_that_there_are_more)
{
	check_some("10 20 +", 2, );
	check_some("60 50 +", 2, .newest_first = true);
	check_some("50 60 ", 2, .after_id = 40);
	check_some("+", 0, );
}
END_TEST

START_TEST(kinds_are_whole_words)
{
	check("10 40 60 ", .kinds = FIELD("a"), .kind_count = 1);
	check("60 40 30 10 ", .kinds = FIELD("b", "a"), .kind_count = 2, .newest_first = true);
	check("", .kinds = FIELD("x"), .kind_count = 1);
	check("", .kinds = FIELD("x"), .kind_count = 0);
}
END_TEST

START_TEST(a_drive_has_its_own)
{
	check("10 40 50 ", .drive_id = "d1");
	check_some("50 40 +", 2, .drive_id = "d1", .newest_first = true);
	check("40 ", .drive_id = "d1", .kinds = FIELD("a", "b"), .kind_count = 2, .after_id = 10);
	check("20 ", .drive_id = "");
	check("", .drive_id = "d");
}
END_TEST

START_TEST(the_callback_may_stop)
{
	const struct em_event event = { .id = 666, .at_us = 1, .kind = "a" };
	const struct em_store_event_range range = { .limit = 100, .after_id = 60 };
	char text[256] = "";

	ck_assert_int_eq(em_store_put_event(store, &event), 0);
	wait_written(store);
	ck_assert_int_eq(em_store_events(reader, &range, add_id, text), -ECANCELED);
}
END_TEST

START_TEST(a_deadline_ends_the_query)
{
	struct em_store_event_range range = { .limit = 100, .deadline_us = 1 };
	char text[256] = "";

	ck_assert_int_eq(em_store_events(reader, &range, add_id, text), -ETIMEDOUT);
	/* Many events that do not match: it ends in the middle of the walk. */
	change("WITH RECURSIVE n (i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n LIMIT 300000) "
	       "INSERT INTO event SELECT i, i, 'z', '', '', '', 0, '', '', '', '' FROM n");
	range.kinds = FIELD("none");
	range.kind_count = 1;
	range.deadline_us = em_monotonic_us() + EM_US_PER_MS;
	ck_assert_int_eq(em_store_events(reader, &range, add_id, text), -ETIMEDOUT);
	ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(without_a_file_it_is_not_now)
{
	const struct em_store_event_range range = { .limit = 100 };
	struct em_store_reader *other = NULL;
	char text[256] = "";

	ck_assert_int_eq(unlink(db_path), 0);
	ck_assert_int_eq(em_store_reader_open(store, &other), 0);
	ck_assert_int_eq(em_store_events(other, &range, add_id, text), -EAGAIN);
	em_store_reader_close(other);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("events");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, start, stop);
	tcase_add_test(tcase, everything_in_both_orders);
	tcase_add_test(tcase, bounds_are_kept);
	tcase_add_test(tcase, a_limit_tells_that_there_are_more);
	tcase_add_test(tcase, kinds_are_whole_words);
	tcase_add_test(tcase, a_drive_has_its_own);
	tcase_add_test(tcase, the_callback_may_stop);
	tcase_add_test(tcase, a_deadline_ends_the_query);
	tcase_add_test(tcase, without_a_file_it_is_not_now);
	return run_tests(tcase);
}
