/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include "tests/unit/runner.h"
#include "tests/unit/store/fixture.h"

static struct em_store *store;
static struct em_store_reader *reader;

/* What a query gave: "at=value at=value". */
struct answer {
	char text[1024];
	unsigned count;
	int stop_after;	     /* 0: never */
	uint64_t spin_until; /* 0: not */
};

static void start(void)
{
	make_dir();
	store = open_store();
	ck_assert_int_eq(em_store_reader_open(store, &reader), 0);
}

static void stop(void)
{
	em_store_reader_close(reader);
	em_store_close(store, GRACE_US);
	remove_dir();
}

static int collect(void *userdata, int64_t at_us, const char *value)
{
	struct answer *answer = userdata;
	size_t len = strlen(answer->text);

	snprintf(answer->text + len, sizeof(answer->text) - len, "%s%lld=%s", len ? " " : "",
		 (long long)at_us, value ? value : "null");
	while (answer->spin_until && em_monotonic_us() < answer->spin_until)
		;
	if (answer->stop_after && (int)++answer->count >= answer->stop_after)
		return -ECANCELED;
	return 0;
}

static struct em_store_range whole(void)
{
	return (struct em_store_range){ .table = "smart",
					.column = "temperature",
					.drive_id = DRIVE,
					.to_us = INT64_MAX,
					.limit = 100,
					.deadline_us = em_monotonic_us() + WAIT_US };
}

static void check(const struct em_store_range *range, int expected_return, const char *expected)
{
	struct answer answer = { 0 };

	ck_assert_int_eq(em_store_history(reader, range, collect, &answer), expected_return);
	ck_assert_str_eq(answer.text, expected);
}

static void put_cell(struct em_store_cell cell, int64_t at_us)
{
	const struct em_store_cell cells[2] = { cell, { .kind = EM_CELL_NULL } };

	ck_assert_int_eq(em_store_put_row(store, 0, DRIVE, 0, at_us, cells), 0);
}

START_TEST(numbers_come_back_exact)
{
	const em_u128 one = 1;
	struct em_store_range range = whole();

	put(store, 1, (one << 53) + 1);
	put(store, 2, INT64_MAX);
	put(store, 3, (one << 63));
	put(store, 4, (one << 96) + 12);
	put(store, 5, ~(em_u128)0);
	put_cell((struct em_store_cell){ .kind = EM_CELL_UINT,
					 .text = "174224571863520493293247799005065324265472000" },
		 6);
	put_cell((struct em_store_cell){ .kind = EM_CELL_INT, .integer = -40 }, 7);
	put_cell((struct em_store_cell){ .kind = EM_CELL_REAL, .real = 0.1 }, 8);
	put_cell((struct em_store_cell){ .kind = EM_CELL_TEXT, .text = "0042" }, 9);
	put_cell((struct em_store_cell){ .kind = EM_CELL_NULL }, 10);
	wait_written(store);
	check(&range, 0,
	      "1=9007199254740993 2=9223372036854775807 3=9223372036854775808 "
	      "4=79228162514264337593543950348 5=340282366920938463463374607431768211455 "
	      "6=174224571863520493293247799005065324265472000 7=-40 8=0.10000000000000001 "
	      "9=0042 10=null");
	/* Numbers that fit are numbers for people's own SQL, too. */
	{
		char buf[128];

		look("SELECT group_concat(typeof(temperature)) FROM smart WHERE at <= 3", buf);
		ck_assert_str_eq(buf, "integer,integer,text");
	}
}
END_TEST

START_TEST(the_range_includes_its_start_only)
{
	struct em_store_range range = whole();

	for (int at = 10; at <= 50; at += 10)
		put(store, at, (em_u128)at + 1);
	wait_written(store);
	range.from_us = 20;
	range.to_us = 40;
	check(&range, 0, "20=21 30=31");
	range.from_us = 21;
	range.to_us = 41;
	check(&range, 0, "30=31 40=41");
	range.from_us = 40;
	range.to_us = 20;
	check(&range, 0, "");
	range.from_us = INT64_MIN;
	range.to_us = 11;
	check(&range, 0, "10=11");
	range.nsid = 1;
	check(&range, 0, "");
	range.nsid = 0;
	range.drive_id = "fedcba9876543210";
	check(&range, 0, "");
}
END_TEST

START_TEST(the_limit_tells_of_more)
{
	struct em_store_range range = whole();

	for (int at = 1; at <= 4; at++)
		put(store, at, (em_u128)at);
	wait_written(store);
	range.limit = 3;
	check(&range, 1, "1=1 2=2 3=3");
	range.limit = 4;
	check(&range, 0, "1=1 2=2 3=3 4=4");
	range.limit = 0;
	check(&range, 1, "");
	range.step_us = 2; /* buckets 0-1, 2-3, 4-5 */
	range.limit = 2;
	check(&range, 1, "1=1 3=3");
	range.limit = 3;
	check(&range, 0, "1=1 3=3 4=4");
}
END_TEST

START_TEST(the_newest_points_are_still_told_oldest_first)
{
	struct em_store_range range = whole();

	for (int at = 1; at <= 6; at++)
		put(store, at, (em_u128)at);
	wait_written(store);
	range.newest = true;
	range.limit = 3;
	check(&range, 1, "4=4 5=5 6=6");
	range.limit = 6;
	check(&range, 0, "1=1 2=2 3=3 4=4 5=5 6=6");
	range.limit = 0;
	check(&range, 1, "");
	range.step_us = 2; /* buckets 0-1, 2-3, 4-5, 6-7 */
	range.limit = 2;
	check(&range, 1, "5=5 6=6");
	range.limit = 4;
	check(&range, 0, "1=1 3=3 5=5 6=6");
	range.from_us = 3;
	range.to_us = 6;
	check(&range, 0, "3=3 5=5");
}
END_TEST

START_TEST(a_step_gives_the_last_reading_of_each)
{
	static const int times[] = { 0, 9, 10, 19, 20, 55, 59, 60, 99 };
	struct em_store_range range = whole();

	for (size_t i = 0; i < EM_COUNT(times); i++)
		put(store, times[i], (em_u128)times[i]);
	wait_written(store);
	range.step_us = 10;
	check(&range, 0, "9=9 19=19 20=20 59=59 60=60 99=99");
	range.step_us = 1;
	check(&range, 0, "0=0 9=9 10=10 19=19 20=20 55=55 59=59 60=60 99=99");
	/* Buckets stand on whole steps, whatever the range; its ends cut the first and the last. */
	range.step_us = 50;
	range.from_us = 10;
	range.to_us = 60;
	check(&range, 0, "20=20 59=59");
	range.step_us = UINT64_MAX;
	check(&range, 0, "59=59");
}
END_TEST

/* Few in a step are walked over, many are jumped over: the answer is the same. */
START_TEST(steps_of_few_and_of_many_readings)
{
	static const int counts[] = { 1, 7, 8, 9, 16, 17, 300, 1, 0, 12 };
	struct em_store_range range = whole();
	int step = 1000, count = (int)EM_COUNT(counts);

	for (int i = 0; i < count; i++)
		for (int n = 0; n < counts[i]; n++)
			put(store, i * step + n, (em_u128)n);
	wait_written(store);
	range.step_us = (uint64_t)step;
	check(&range, 0, "0=0 1006=6 2007=7 3008=8 4015=15 5016=16 6299=299 7000=0 9011=11");
	range.limit = 4;
	check(&range, 1, "0=0 1006=6 2007=7 3008=8");
	range.limit = 9;
	range.from_us = 6100;
	range.to_us = 9006;
	check(&range, 0, "6299=299 7000=0 9005=5");
}
END_TEST

START_TEST(a_clock_change_neither_loses_nor_doubles)
{
	/* 02:30 twice on the day when summer time ends, then 03:30; the clock is UTC below. */
	static const int64_t times[] = { 1792888200, 1792891800, 1792895400 };
	struct em_store_range range = whole();

	for (size_t i = 0; i < EM_COUNT(times); i++)
		put(store, times[i] * 1000000, 40 + i);
	put(store, times[0] * 1000000, 40); /* the same reading, written again */
	wait_written(store);
	range.from_us = INT64_C(1792886400) * 1000000;
	range.to_us = INT64_C(1792893600) * 1000000;
	check(&range, 0, "1792888200000000=40 1792891800000000=41");
	range.step_us = UINT64_C(3600000000);
	check(&range, 0, "1792888200000000=40 1792891800000000=41");
}
END_TEST

START_TEST(unknown_names_are_told)
{
	struct em_store_range range = whole();

	range.column = "drive";
	check(&range, -ENOENT, "");
	range.column = "temperature\" FROM smart --";
	check(&range, -ENOENT, "");
	range = whole();
	range.table = "drive";
	check(&range, -ENOENT, "");
	range = whole();
	range.column = "used";
	check(&range, -ENOENT, "");
}
END_TEST

START_TEST(the_deadline_ends_a_query)
{
	struct em_store_range range = whole();
	struct answer answer = { 0 };

	for (int at = 0; at < 5000; at++)
		put(store, at, 1);
	wait_written(store);
	range.limit = 5000;
	range.deadline_us = em_monotonic_us();
	check(&range, -ETIMEDOUT, "");
	range.deadline_us = answer.spin_until = em_monotonic_us() + 50 * EM_US_PER_MS;
	ck_assert_int_eq(em_store_history(reader, &range, collect, &answer), -ETIMEDOUT);
	ck_assert_str_ne(answer.text, "");
	/* The connection serves the next one. */
	range.deadline_us = em_monotonic_us() + WAIT_US;
	range.limit = 1;
	check(&range, 1, "0=1");
}
END_TEST

START_TEST(a_callback_can_stop_it)
{
	struct em_store_range range = whole();
	struct answer answer = { .stop_after = 2 };

	for (int at = 1; at <= 3; at++)
		put(store, at, 5);
	wait_written(store);
	ck_assert_int_eq(em_store_history(reader, &range, collect, &answer), -ECANCELED);
	ck_assert_str_eq(answer.text, "1=5 2=5");
}
END_TEST

START_TEST(a_reader_follows_a_new_file)
{
	struct em_store_range range = whole();

	put(store, 1, 1);
	wait_written(store);
	check(&range, 0, "1=1");
	unlink(db_path);
	put(store, 2, 2);
	wait_written(store);
	check(&range, 0, "2=2");
}
END_TEST

START_TEST(a_file_that_cannot_be_read_is_busy)
{
	struct em_store_range range = whole();
	struct em_store_reader *other = NULL;
	struct answer answer = { 0 };

	ck_assert_int_eq(em_store_reader_open(store, &other), 0);
	unlink(db_path);
	ck_assert_int_eq(em_store_history(other, &range, collect, &answer), -EAGAIN);
	em_store_reader_close(other);
}
END_TEST

START_TEST(a_reader_cannot_write_and_does_not_wait_for_the_writer)
{
	struct em_store_range range = whole();
	sqlite3 *db = outside_open();

	put(store, 1, 1);
	wait_written(store);
	outside_exec(db, "BEGIN EXCLUSIVE");
	check(&range, 0, "1=1");
	outside_exec(db, "ROLLBACK");
	sqlite3_close(db);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("reader");

	tcase_set_timeout(tcase, 90);
	tcase_add_checked_fixture(tcase, start, stop);
	tcase_add_test(tcase, numbers_come_back_exact);
	tcase_add_test(tcase, the_range_includes_its_start_only);
	tcase_add_test(tcase, the_limit_tells_of_more);
	tcase_add_test(tcase, the_newest_points_are_still_told_oldest_first);
	tcase_add_test(tcase, a_step_gives_the_last_reading_of_each);
	tcase_add_test(tcase, steps_of_few_and_of_many_readings);
	tcase_add_test(tcase, a_clock_change_neither_loses_nor_doubles);
	tcase_add_test(tcase, unknown_names_are_told);
	tcase_add_test(tcase, the_deadline_ends_a_query);
	tcase_add_test(tcase, a_callback_can_stop_it);
	tcase_add_test(tcase, a_reader_follows_a_new_file);
	tcase_add_test(tcase, a_file_that_cannot_be_read_is_busy);
	tcase_add_test(tcase, a_reader_cannot_write_and_does_not_wait_for_the_writer);
	return run_tests(tcase);
}
