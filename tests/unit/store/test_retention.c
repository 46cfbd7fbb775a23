/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/store/retention.h"
#include "daemon/store/db.h"
#include "tests/unit/runner.h"
#include "tests/unit/store/fixture.h"

#define HOUR (3600 * (int64_t)EM_US_PER_SEC)
#define DAY  (24 * HOUR)
#define NOW  (INT64_C(1792888200) * (int64_t)EM_US_PER_SEC)

static struct em_retention retention;
static struct em_db *db;

static void start(void)
{
	static struct em_db_description description;
	char message[EM_DB_MESSAGE_SIZE];

	make_dir();
	description =
		(struct em_db_description){ db_path, tables, EM_COUNT(tables), em_sql_migrations };
	ck_assert_int_eq(em_db_open(&db, &description, message), 0);
	em_retention_init(&retention, (uint64_t)(30 * DAY), (uint64_t)(10 * DAY));
}

static void stop(void)
{
	em_db_close(db);
	remove_dir();
}

START_TEST(an_agreeing_clock_is_trusted_at_once)
{
	ck_assert(em_retention_trusts_clock(&retention, 5, NOW, NOW - HOUR));
	ck_assert(em_retention_trusts_clock(&retention, 5 + (uint64_t)HOUR, NOW + HOUR, 0));
}
END_TEST

START_TEST(a_clock_without_witness_has_to_stay_steady)
{
	ck_assert(!em_retention_trusts_clock(&retention, 5, NOW, 0));
	ck_assert(!em_retention_trusts_clock(&retention, 5 + (uint64_t)HOUR, NOW + HOUR, NOW));
	ck_assert(em_retention_trusts_clock(&retention, 5 + (uint64_t)DAY, NOW + DAY, 0));
}
END_TEST

START_TEST(a_clock_far_from_the_newest_reading_is_not_trusted)
{
	/* At boot the clock stands 10 years ahead. */
	ck_assert(!em_retention_trusts_clock(&retention, 5, NOW + 3650 * DAY, NOW));
}
END_TEST

START_TEST(a_step_of_the_clock_ends_the_trust)
{
	uint64_t mono = 5;

	ck_assert(em_retention_trusts_clock(&retention, mono, NOW, NOW));
	/* Slewing is no step. */
	ck_assert(em_retention_trusts_clock(&retention, mono + 1, NOW + 30 * 1000000, 0));
	ck_assert(!em_retention_trusts_clock(&retention, mono + 2, NOW + 3650 * DAY, 0));
	ck_assert(!em_retention_trusts_clock(&retention, mono + 3, NOW - HOUR, 0));
	mono += (uint64_t)DAY;
	ck_assert(!em_retention_trusts_clock(&retention, mono, NOW + DAY - HOUR - 2 * 60000000, 0));
	ck_assert(em_retention_trusts_clock(&retention, mono + (uint64_t)DAY,
					    NOW + 2 * DAY - HOUR - 2 * 60000000, 0));
}
END_TEST

static void add(const char *table, const char *drive, int nsid, int64_t at)
{
	char sql[256];

	snprintf(sql, sizeof(sql), "INSERT INTO %s (drive, nsid, at) VALUES ('%s', %d, %lld)",
		 table, drive, nsid, (long long)at);
	outside_exec(em_db_handle(db), sql);
}

/* Steps until the walk has come round; returns how many steps took something away. */
static unsigned prune_all(int64_t now)
{
	unsigned steps = 0;
	int r;

	while ((r = em_retention_step(&retention, em_db_handle(db), tables, EM_COUNT(tables),
				      now)) > 0)
		steps++;
	ck_assert_int_eq(r, 0);
	return steps;
}

static const char *left(const char *table, char buf[128])
{
	char sql[256];

	snprintf(sql, sizeof(sql),
		 "SELECT group_concat(drive || nsid || ':' || ((at - %lld) / %lld), ' ') FROM "
		 "(SELECT * FROM %s ORDER BY drive, nsid, at)",
		 (long long)NOW, (long long)DAY, table);
	return outside_get(em_db_handle(db), sql, buf);
}

START_TEST(a_step_looks_at_few_series)
{
	char buf[128];

	outside_exec(em_db_handle(db), "BEGIN");
	for (int nsid = 1; nsid <= EM_RETENTION_SERIES + 1; nsid++)
		add("namespace", "a", nsid, NOW);
	add("namespace", "a", EM_RETENTION_SERIES + 1, NOW - 40 * DAY);
	outside_exec(em_db_handle(db), "COMMIT");
	ck_assert_int_eq(
		em_retention_step(&retention, em_db_handle(db), tables, EM_COUNT(tables), NOW), 1);
	outside_get(em_db_handle(db), "SELECT count(*) FROM namespace", buf);
	ck_assert_int_eq(strtol(buf, NULL, 10), EM_RETENTION_SERIES + 2);
	prune_all(NOW);
	outside_get(em_db_handle(db), "SELECT count(*) FROM namespace", buf);
	ck_assert_int_eq(strtol(buf, NULL, 10), EM_RETENTION_SERIES + 1);
}
END_TEST

START_TEST(old_readings_go_series_by_series)
{
	char buf[128];

	for (int day = 0; day <= 40; day += 20) {
		add("smart", "a", 0, NOW - day * DAY);
		add("smart", "b", 0, NOW - day * DAY);
		add("namespace", "a", 1, NOW - day * DAY);
		add("namespace", "a", 2, NOW - day * DAY);
	}
	ck_assert_uint_eq(prune_all(NOW), 4);
	ck_assert_str_eq(left("smart", buf), "a0:-20 a0:0 b0:-20 b0:0");
	ck_assert_str_eq(left("namespace", buf), "a1:-20 a1:0 a2:-20 a2:0");
	ck_assert_uint_eq(prune_all(NOW), 0);
}
END_TEST

START_TEST(a_reading_exactly_at_the_edge_stays)
{
	add("smart", "a", 0, NOW);
	add("smart", "a", 0, NOW - 30 * DAY);
	add("smart", "a", 0, NOW - 30 * DAY - 1);
	ck_assert_uint_eq(prune_all(NOW), 1);
	ck_assert_int_eq(sqlite3_changes(em_db_handle(db)), 0);
	ck_assert_int_eq(sqlite3_total_changes(em_db_handle(db)), 4);
}
END_TEST

START_TEST(a_drive_that_is_long_gone_keeps_its_last_days)
{
	char buf[128];

	add("smart", "a", 0, NOW - 400 * DAY);
	add("smart", "a", 0, NOW - 380 * DAY);
	add("smart", "a", 0, NOW - 420 * DAY);
	ck_assert_uint_eq(prune_all(NOW), 1);
	ck_assert_str_eq(left("smart", buf), "a0:-400 a0:-380");
}
END_TEST

START_TEST(readings_of_a_wrong_clock_take_nothing_with_them)
{
	char buf[128];

	add("smart", "a", 0, 5 * 1000000);	/* 1970, before the time was set */
	add("smart", "a", 0, NOW + 3650 * DAY); /* ten years ahead */
	add("smart", "a", 0, NOW - 20 * DAY);
	add("smart", "b", 0, 5 * 1000000);
	/* The clock is in 1970 now: nothing is old. */
	ck_assert_uint_eq(prune_all(9 * 1000000), 0);
	/* It is right again: only what is old by the right time goes, and the future stays. */
	ck_assert_uint_eq(prune_all(NOW), 1);
	ck_assert_str_eq(left("smart", buf), "a0:-20 a0:3650 b0:-20751");
}
END_TEST

START_TEST(a_step_is_small)
{
	char buf[128];

	outside_exec(em_db_handle(db),
		     "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1200) "
		     "INSERT INTO smart (drive, nsid, at) SELECT 'a', 0, i FROM n");
	add("smart", "a", 0, NOW);
	ck_assert_uint_eq(prune_all(NOW), 3);
	ck_assert_str_eq(left("smart", buf), "a0:0");
}
END_TEST

START_TEST(the_newest_reading_is_found)
{
	int64_t newest = -1;

	ck_assert_int_eq(em_retention_newest(em_db_handle(db), tables, 2, NOW, &newest), 0);
	ck_assert_int_eq(newest, 0);
	add("smart", "a", 0, NOW - 9);
	add("namespace", "b", 7, NOW - 5);
	add("namespace", "b", 7, NOW + 5);
	ck_assert_int_eq(em_retention_newest(em_db_handle(db), tables, 2, NOW, &newest), 0);
	ck_assert_int_eq(newest, NOW - 5);
}
END_TEST

static void add_event_at(int64_t id, int64_t at_us)
{
	const struct em_event event = { .id = id, .at_us = at_us, .kind = "broker" };

	ck_assert_int_eq(em_db_put_event(db, &event), 0);
}

static void add_event(int64_t id)
{
	add_event_at(id, id);
}

START_TEST(old_events_go_but_never_the_newest)
{
	char buf[128];

	add_event(NOW - 11 * DAY);
	add_event(NOW - 10 * DAY - 1);
	ck_assert_uint_eq(prune_all(NOW), 0); /* a day apart: measured from the newest */
	add_event(NOW - 1);
	prune_all(NOW);
	ck_assert_str_eq(outside_get(em_db_handle(db), "SELECT count(*) FROM event", buf), "2");
	add_event(NOW + 1);
	prune_all(NOW + 3650 * DAY);
	add_event(NOW + 3650 * DAY);
	/* The clock is years behind, then right: the event of the future is not touched. */
	ck_assert_uint_eq(prune_all(NOW), 0);
	prune_all(NOW + 3650 * DAY);
	ck_assert_str_eq(outside_get(em_db_handle(db), "SELECT count(*) FROM event", buf), "1");
}
END_TEST

START_TEST(events_go_though_their_ids_are_ahead_of_the_clock)
{
	int64_t future = NOW + 3650 * DAY, newest = 0;
	char buf[128];

	add_event(future); /* the clock stood years ahead, and is right again */
	for (int day = 0; day < 40; day++)
		add_event_at(future + 1 + day, NOW + day * DAY);
	ck_assert_int_eq(em_retention_newest(em_db_handle(db), tables, 2, NOW + 39 * DAY, &newest),
			 0);
	ck_assert_int_eq(newest, NOW + 39 * DAY);
	ck_assert_uint_eq(prune_all(NOW + 39 * DAY), 1);
	ck_assert_str_eq(outside_get(em_db_handle(db), "SELECT count(*) FROM event", buf), "12");
}
END_TEST

START_TEST(events_are_kept_for_ever_when_asked)
{
	char buf[128];

	em_retention_init(&retention, 0, 0);
	ck_assert(!em_retention_is_wanted(&retention));
	em_retention_init(&retention, 0, 1);
	ck_assert(em_retention_is_wanted(&retention));
	em_retention_init(&retention, 1, 0);
	ck_assert(em_retention_is_wanted(&retention));
	add_event(5);
	add_event(NOW);
	prune_all(NOW);
	ck_assert_str_eq(outside_get(em_db_handle(db), "SELECT count(*) FROM event", buf), "2");
}
END_TEST

START_TEST(an_event_is_a_witness_of_the_clock)
{
	int64_t newest = 0;

	add_event(NOW - 3);
	add("smart", "a", 0, NOW - 9);
	ck_assert_int_eq(em_retention_newest(em_db_handle(db), tables, 2, NOW, &newest), 0);
	ck_assert_int_eq(newest, NOW - 3);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("retention");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, start, stop);
	tcase_add_test(tcase, an_agreeing_clock_is_trusted_at_once);
	tcase_add_test(tcase, a_clock_without_witness_has_to_stay_steady);
	tcase_add_test(tcase, a_clock_far_from_the_newest_reading_is_not_trusted);
	tcase_add_test(tcase, a_step_of_the_clock_ends_the_trust);
	tcase_add_test(tcase, a_step_looks_at_few_series);
	tcase_add_test(tcase, old_readings_go_series_by_series);
	tcase_add_test(tcase, a_reading_exactly_at_the_edge_stays);
	tcase_add_test(tcase, a_drive_that_is_long_gone_keeps_its_last_days);
	tcase_add_test(tcase, readings_of_a_wrong_clock_take_nothing_with_them);
	tcase_add_test(tcase, a_step_is_small);
	tcase_add_test(tcase, the_newest_reading_is_found);
	tcase_add_test(tcase, old_events_go_but_never_the_newest);
	tcase_add_test(tcase, events_go_though_their_ids_are_ahead_of_the_clock);
	tcase_add_test(tcase, events_are_kept_for_ever_when_asked);
	tcase_add_test(tcase, an_event_is_a_witness_of_the_clock);
	return run_tests(tcase);
}
