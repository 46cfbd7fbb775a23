/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/store/store.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include "tests/unit/runner.h"
#include "tests/unit/store/fixture.h"

static int count_points(void *userdata, int64_t at_us, const char *value)
{
	(void)at_us;
	(void)value;
	++*(unsigned *)userdata;
	return 0;
}

static long count_rows(void)
{
	char buf[128];

	return strtol(look("SELECT count(*) FROM smart", buf), NULL, 10);
}

START_TEST(closing_writes_what_waits)
{
	struct em_store *store = open_store();

	for (int at = 0; at < 1000; at++)
		put(store, at, 1);
	em_store_close(store, GRACE_US);
	ck_assert_int_eq(count_rows(), 1000);
	ck_assert_uint_eq(count_files("ember.db-wal"), 0);
}
END_TEST

START_TEST(status_counts)
{
	struct em_store *store = open_store();
	struct em_store_drive drive = { .id = DRIVE, .device = "nvme0" };
	struct em_store_status status = status_of(store);

	ck_assert(status.ok);
	ck_assert_str_eq(status.detail, "");
	put(store, 1, 1);
	ck_assert_int_eq(em_store_put_page(store, DRIVE, "smart", 0, 1, "x", 1), 0);
	ck_assert_int_eq(em_store_put_drive(store, &drive), 0);
	wait_written(store);
	status = status_of(store);
	ck_assert(status.ok);
	ck_assert_uint_eq(status.written, 3);
	ck_assert_uint_eq(status.dropped, 0);
	em_store_close(store, GRACE_US);
}
END_TEST

START_TEST(bad_arguments_are_refused)
{
	const struct em_store_table bad = { "a;b", FIELD("x"), 1 };
	struct em_store_config config = { .directory = dir, .tables = &bad, .table_count = 1 };
	const struct em_store_cell cell = { .kind = EM_CELL_NULL };
	struct em_store *store = NULL;
	const char *message = NULL;

	ck_assert_int_eq(em_store_open(&store, &config, &message), -EINVAL);
	ck_assert_ptr_nonnull(message);
	config.directory = "/nonexistent/ember";
	ck_assert_int_eq(em_store_open(&store, &config, &message), -ENOENT);
	ck_assert_msg(strstr(message, "/nonexistent/ember"), "%s", message);
	ck_assert_ptr_null(store);
	store = open_store();
	ck_assert_int_eq(em_store_put_row(store, 2, DRIVE, 0, 1, &cell), -EINVAL);
	ck_assert_int_eq(em_store_put_row(store, 1, NULL, 0, 1, &cell), -EINVAL);
	em_store_close(store, GRACE_US);
	ck_assert_ptr_null(em_store_close(NULL, 0));
}
END_TEST

START_TEST(a_newer_file_is_refused)
{
	struct em_store_config config = { .directory = dir };
	struct em_store *store = NULL;
	const char *message = NULL;
	char buf[128];

	em_store_close(open_store(), GRACE_US);
	change("PRAGMA user_version = 99");
	ck_assert_int_eq(em_store_open(&store, &config, &message), -EPROTONOSUPPORT);
	ck_assert_msg(strstr(message, "99"), "%s", message);
	ck_assert_uint_eq(count_files("ember.db"), 1);
	ck_assert_str_eq(look("PRAGMA user_version", buf), "99");
}
END_TEST

START_TEST(a_broken_file_is_set_aside_at_start)
{
	struct em_store *store;
	char junk[5000];

	memset(junk, 'j', sizeof(junk));
	write_file(db_path, junk, sizeof(junk), 0);
	store = open_store();
	put(store, 1, 1);
	wait_written(store);
	ck_assert(status_of(store).ok);
	em_store_close(store, GRACE_US);
	ck_assert_uint_eq(count_files("ember.db.broken-"), 1);
	ck_assert_int_eq(count_rows(), 1);
}
END_TEST

START_TEST(a_file_that_breaks_is_set_aside_while_running)
{
	struct em_store *store = open_store();
	struct em_store_drive drive = { .id = DRIVE, .device = "nvme0", .serial = "S1" };
	char junk[4096], buf[128];
	struct stat st;

	memset(junk, 'j', sizeof(junk));
	ck_assert_int_eq(em_store_put_drive(store, &drive), 0);
	put(store, 1, 1);
	wait_written(store);
	/* A foreign write makes the store's connection forget the pages it has in memory. */
	change("INSERT INTO smart (drive, nsid, at) VALUES ('x', 0, 1);"
	       "PRAGMA wal_checkpoint(TRUNCATE)");
	ck_assert_int_eq(stat(db_path, &st), 0);
	for (off_t at = 4096; at < st.st_size; at += 4096)
		write_file(db_path, junk, sizeof(junk), at);
	put(store, 2, 2);
	wait_written(store);
	ck_assert(status_of(store).ok);
	ck_assert_uint_eq(status_of(store).dropped, 0);
	ck_assert_uint_ge(count_files("ember.db.broken-"), 1);
	ck_assert_str_eq(look("SELECT group_concat(at) FROM smart", buf), "2");
	/* The new file knows the drive, although nobody put it again. */
	ck_assert_str_eq(look("SELECT serial FROM drive", buf), "S1");
	em_store_close(store, GRACE_US);
}
END_TEST

START_TEST(a_file_that_was_taken_away_is_made_again)
{
	struct em_store *store = open_store();
	char buf[128];

	put(store, 1, 1);
	wait_written(store);
	ck_assert_int_eq(unlink(db_path), 0);
	put(store, 2, 2);
	wait_written(store);
	ck_assert_str_eq(look("SELECT group_concat(at) FROM smart", buf), "2");
	em_store_close(store, GRACE_US);
}
END_TEST

START_TEST(a_locked_file_is_waited_for)
{
	struct em_store *store = open_store();
	sqlite3 *db = outside_open();
	struct em_store_reader *reader = NULL;
	const struct em_store_range range = {
		.table = "smart", .column = "bytes", .drive_id = DRIVE, .to_us = 100, .limit = 10
	};
	unsigned points = 0;

	ck_assert_int_eq(em_store_reader_open(store, &reader), 0);
	put(store, 1, 1);
	wait_written(store);
	outside_exec(db, "BEGIN EXCLUSIVE");
	put(store, 2, 2);
	put(store, 3, 3);
	wait_until(!status_of(store).ok);
	ck_assert_msg(strstr(status_of(store).detail, "locked"), "%s", status_of(store).detail);
	ck_assert_uint_eq(status_of(store).queued, 2);
	ck_assert_int_eq(em_store_history(reader, &range, count_points, &points), 0);
	ck_assert_uint_eq(points, 1);
	outside_exec(db, "ROLLBACK");
	wait_until(status_of(store).ok);
	wait_written(store);
	ck_assert_uint_eq(status_of(store).dropped, 0);
	ck_assert_uint_eq(status_of(store).written, 3);
	sqlite3_close(db);
	em_store_reader_close(reader);
	em_store_close(store, GRACE_US);
	ck_assert_int_eq(count_rows(), 3);
}
END_TEST

START_TEST(a_file_locked_at_start_is_waited_for)
{
	sqlite3 *db;
	struct em_store *store;

	em_store_close(open_store(), GRACE_US);
	db = outside_open();
	outside_exec(db, "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;"
			 "INSERT INTO smart (drive, nsid, at) VALUES ('x', 0, 1); COMMIT");
	store = open_store();
	ck_assert(!status_of(store).ok);
	put(store, 1, 1);
	sqlite3_close(db);
	wait_written(store);
	wait_until(status_of(store).ok);
	em_store_close(store, GRACE_US);
	ck_assert_int_eq(count_rows(), 2);
}
END_TEST

START_TEST(closing_gives_up_after_its_grace)
{
	struct em_store *store = open_store();
	sqlite3 *db = outside_open();
	uint64_t start;

	outside_exec(db, "BEGIN EXCLUSIVE");
	put(store, 1, 1);
	start = em_monotonic_us();
	em_store_close(store, 300 * EM_US_PER_MS);
	ck_assert_uint_lt(em_monotonic_us() - start, 5 * EM_US_PER_SEC);
	outside_exec(db, "ROLLBACK");
	sqlite3_close(db);
	ck_assert_int_eq(count_rows(), 0);
}
END_TEST

START_TEST(a_full_queue_drops_the_oldest_and_counts)
{
	struct em_store *store = open_store();
	sqlite3 *db = outside_open();
	char buf[128];

	wait_written(store);
	outside_exec(db, "BEGIN EXCLUSIVE");
	for (int64_t at = 0; at < EM_STORE_QUEUE_MAX + 10; at++)
		put(store, at, 1);
	wait_until(status_of(store).dropped == 10);
	ck_assert_uint_eq(status_of(store).queued, EM_STORE_QUEUE_MAX);
	outside_exec(db, "ROLLBACK");
	sqlite3_close(db);
	wait_written(store);
	ck_assert_uint_eq(status_of(store).dropped, 10);
	em_store_close(store, GRACE_US);
	ck_assert_int_eq(count_rows(), EM_STORE_QUEUE_MAX);
	ck_assert_str_eq(look("SELECT min(at) FROM smart", buf), "10");
}
END_TEST

static void limit_files(rlim_t most)
{
	struct rlimit limit;

	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = most < limit.rlim_max ? most : limit.rlim_max;
	setrlimit(RLIMIT_FSIZE, &limit);
}

static bool wait_for_ok(struct em_store *store, bool ok)
{
	uint64_t deadline = em_monotonic_us() + WAIT_US;
	struct em_store_status status;

	do {
		usleep(1000);
		status = status_of(store);
	} while ((status.ok != ok || (ok && status.queued)) && em_monotonic_us() < deadline);
	return status.ok == ok && status.dropped == 0 && !status.detail[0] == ok;
}

/* In a child: the limit would meet the files of the test framework, too. */
static int fill_disk(void)
{
	const struct em_store_config config = { .directory = dir,
						.tables = tables,
						.table_count = EM_COUNT(tables) };
	const struct em_store_cell cells[2] = {
		{ .kind = EM_CELL_UINT, .number = (em_u128)1 << 100 },
		{ .kind = EM_CELL_NULL },
	};
	struct em_store *store = NULL;

	signal(SIGXFSZ, SIG_IGN);
	if (em_store_open(&store, &config, NULL) < 0 || !wait_for_ok(store, true))
		return 1;
	limit_files(4096);
	for (int64_t at = 1; at <= 2000; at++)
		em_store_put_row(store, 0, DRIVE, 0, at, cells);
	if (!wait_for_ok(store, false))
		return 2;
	limit_files(RLIM_INFINITY);
	if (!wait_for_ok(store, true))
		return 3;
	em_store_close(store, GRACE_US);
	return 0;
}

START_TEST(a_disk_that_takes_no_more_is_waited_for)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0)
		_exit(fill_disk());
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(count_rows(), 2000);
	ck_assert_uint_eq(count_files("ember.db.broken-"), 0);
}
END_TEST

START_TEST(old_readings_are_taken_away)
{
	const int64_t hour = 3600 * (int64_t)EM_US_PER_SEC, now = em_realtime_us();
	struct em_store *store = open_store();

	put(store, now - 3 * hour, 1);
	put(store, now - 2 * hour, 1);
	put(store, now, 1);
	em_store_close(store, GRACE_US);
	ck_assert_int_eq(count_rows(), 3);
	store = open_tables(tables, EM_COUNT(tables), (uint64_t)hour);
	wait_until(count_rows() == 1);
	em_store_close(store, GRACE_US);
}
END_TEST

static int take_drive(void *userdata, const struct em_store_drive *drive)
{
	memcpy(userdata, drive, sizeof(*drive));
	return 0;
}

struct pages {
	char text[256];
	uint8_t last[600];
	size_t len;
};

static int take_page(void *userdata, const char *drive_id, const char *page, uint32_t nsid,
		     int64_t at_us, const uint8_t *data, size_t len)
{
	struct pages *pages = userdata;
	size_t used = strlen(pages->text);

	snprintf(pages->text + used, sizeof(pages->text) - used, "%s/%s/%u@%lld+%zu ", drive_id,
		 page, nsid, (long long)at_us, len);
	ck_assert_uint_le(len, sizeof(pages->last));
	if (len > 0)
		memcpy(pages->last, data, len);
	pages->len = len;
	return strcmp(page, "stop") == 0 ? -ECANCELED : 0;
}

START_TEST(drives_and_pages_outlive_a_restart)
{
	struct em_store *store = open_store();
	struct em_store_drive drive = {
		.id = DRIVE,
		.identity = "nqn\0 S\xff",
		.identity_len = 9,
		.device = "nvme0",
		.serial = "S?",
		.model = "M",
		.firmware = "F",
		.subsystem_nqn = "nqn",
		.address = "0000:01:00.0",
		.transport = "pcie",
		.cntlid = "1",
		.state = "ok",
		.first_seen_us = 1,
		.last_seen_us = 2,
		.state_since_us = 3,
	};
	struct em_store_drive loaded;
	struct pages pages = { 0 };
	uint8_t bytes[512];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)i;
	ck_assert_int_eq(em_store_put_drive(store, &drive), 0);
	ck_assert_int_eq(em_store_put_page(store, DRIVE, "smart", 0, 5, "old", 3), 0);
	ck_assert_int_eq(em_store_put_page(store, DRIVE, "namespace", 2, 6, NULL, 0), 0);
	ck_assert_int_eq(em_store_put_page(store, DRIVE, "smart", 0, 7, bytes, sizeof(bytes)), 0);
	em_store_close(store, GRACE_US);

	store = open_store();
	memset(&loaded, 0, sizeof(loaded));
	ck_assert_int_eq(em_store_load_drives(store, take_drive, &loaded), 0);
	ck_assert_mem_eq(&loaded, &drive, sizeof(drive));
	ck_assert_int_eq(em_store_load_pages(store, take_page, &pages), 0);
	ck_assert_str_eq(pages.text, DRIVE "/namespace/2@6+0 " DRIVE "/smart/0@7+512 ");
	ck_assert_uint_eq(pages.len, sizeof(bytes));
	ck_assert_mem_eq(pages.last, bytes, sizeof(bytes));
	ck_assert_int_eq(em_store_put_page(store, DRIVE, "stop", 0, 8, "x", 1), 0);
	wait_written(store);
	ck_assert_int_eq(em_store_load_pages(store, take_page, &pages), -ECANCELED);
	em_store_close(store, GRACE_US);
}
END_TEST

/* Writes until it is killed. A child must not assert: it shares the pipe of its parent's test. */
static _Noreturn void write_for_ever(void)
{
	const struct em_store_config config = { .directory = dir,
						.tables = tables,
						.table_count = EM_COUNT(tables) };
	struct em_store *store = NULL;

	if (em_store_open(&store, &config, NULL) < 0)
		_exit(1);
	for (int64_t at = 0;; at++) {
		const struct em_store_cell cells[2] = {
			{ .kind = EM_CELL_INT, .integer = at },
			{ .kind = EM_CELL_NULL },
		};

		while (status_of(store).queued > 100)
			usleep(100);
		em_store_put_row(store, 0, DRIVE, 0, at, cells);
	}
}

/* 0 also while the child has not made the table yet. */
static long visible_rows(sqlite3 *db)
{
	sqlite3_stmt *statement = NULL;
	long count = 0;

	if (sqlite3_prepare_v2(db, "SELECT count(*) FROM smart", -1, &statement, NULL) ==
		    SQLITE_OK &&
	    sqlite3_step(statement) == SQLITE_ROW)
		count = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return count;
}

START_TEST(what_a_reader_saw_survives_sigkill)
{
	long expected_rows[3] = { 200, 777, 1500 };

	for (size_t round = 0; round < EM_COUNT(expected_rows); round++) {
		pid_t pid = fork();
		struct em_store *store;
		sqlite3 *db;
		long seen = 0;
		char buf[128];

		if (pid == 0)
			write_for_ever();
		wait_until(access(db_path, F_OK) == 0);
		db = outside_open();
		wait_until((seen = visible_rows(db)) >= expected_rows[round]);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		sqlite3_close(db);
		store = open_store();
		ck_assert(status_of(store).ok);
		em_store_close(store, GRACE_US);
		ck_assert_int_ge(count_rows(), seen);
		ck_assert_str_eq(look("SELECT max(at) + 1 - count(*) FROM smart", buf), "0");
		ck_assert_uint_eq(count_files("ember.db.broken-"), 0);
	}
}
END_TEST

struct crowd {
	struct em_store *store;
	int number;
};

/* Returns NULL when all went well; ck_assert is not for threads. */
static void *crowd_main(void *userdata)
{
	struct crowd *one = userdata;
	struct em_store_reader *reader = NULL;
	struct em_store_drive drive = { .id = DRIVE, .device = "nvme0" };
	const struct em_store_cell cells[2] = { { .kind = EM_CELL_NULL },
						{ .kind = EM_CELL_NULL } };
	const struct em_store_range range = { .table = "smart",
					      .column = "temperature",
					      .drive_id = DRIVE,
					      .to_us = INT64_MAX,
					      .limit = 100,
					      .step_us = 7 };
	unsigned points = 0;
	int bad = em_store_reader_open(one->store, &reader);

	for (int i = 0; i < 200 && !bad; i++) {
		uint32_t nsid = (uint32_t)one->number;

		bad |= em_store_put_row(one->store, 0, DRIVE, 0, i * 10 + one->number, cells);
		bad |= em_store_put_page(one->store, DRIVE, "smart", nsid, i, "x", 1);
		bad |= em_store_put_drive(one->store, &drive);
		bad |= em_store_history(reader, &range, count_points, &points) < 0;
		status_of(one->store);
	}
	em_store_reader_close(reader);
	return bad ? one : NULL;
}

START_TEST(many_threads_may_put_and_read)
{
	struct em_store *store = open_store();
	struct crowd crowd[4];
	pthread_t threads[4];

	for (int i = 0; i < 4; i++) {
		crowd[i] = (struct crowd){ store, i };
		ck_assert_int_eq(pthread_create(&threads[i], NULL, crowd_main, &crowd[i]), 0);
	}
	for (int i = 0; i < 4; i++) {
		void *failed = NULL;

		pthread_join(threads[i], &failed);
		ck_assert_ptr_null(failed);
	}
	em_store_close(store, GRACE_US);
	ck_assert_int_eq(count_rows(), 800);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("store");

	tcase_set_timeout(tcase, 120);
	tcase_add_checked_fixture(tcase, make_dir, remove_dir);
	tcase_add_test(tcase, closing_writes_what_waits);
	tcase_add_test(tcase, status_counts);
	tcase_add_test(tcase, bad_arguments_are_refused);
	tcase_add_test(tcase, a_newer_file_is_refused);
	tcase_add_test(tcase, a_broken_file_is_set_aside_at_start);
	tcase_add_test(tcase, a_file_that_breaks_is_set_aside_while_running);
	tcase_add_test(tcase, a_file_that_was_taken_away_is_made_again);
	tcase_add_test(tcase, a_locked_file_is_waited_for);
	tcase_add_test(tcase, a_file_locked_at_start_is_waited_for);
	tcase_add_test(tcase, closing_gives_up_after_its_grace);
	tcase_add_test(tcase, a_full_queue_drops_the_oldest_and_counts);
	tcase_add_test(tcase, a_disk_that_takes_no_more_is_waited_for);
	tcase_add_test(tcase, old_readings_are_taken_away);
	tcase_add_test(tcase, drives_and_pages_outlive_a_restart);
	tcase_add_test(tcase, what_a_reader_saw_survives_sigkill);
	tcase_add_test(tcase, many_threads_may_put_and_read);
	return run_tests(tcase);
}
