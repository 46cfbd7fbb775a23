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
	ck_assert_uint_eq(status_of(store).dropped, 1);
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

/* The writer only adds at the end and would never see it. */
START_TEST(a_broken_page_that_only_a_reader_meets_is_told)
{
	struct em_store *store = open_store();
	struct em_store_reader *reader = NULL;
	const struct em_store_range range = {
		.table = "smart", .column = "bytes", .drive_id = DRIVE, .to_us = 9000, .limit = 9000
	};
	unsigned points = 0;
	char junk[4096];
	struct stat st;

	memset(junk, 'j', sizeof(junk));
	for (int64_t at = 0; at < 5000; at++)
		put(store, at, 1);
	wait_written(store);
	change("PRAGMA wal_checkpoint(TRUNCATE)");
	ck_assert_int_eq(stat(db_path, &st), 0);
	write_file(db_path, junk, sizeof(junk), st.st_size / 2 / 4096 * 4096);
	ck_assert_int_eq(em_store_reader_open(store, &reader), 0);
	ck_assert_int_eq(em_store_history(reader, &range, count_points, &points), -EAGAIN);
	wait_until(count_files("ember.db.broken-") > 0);
	put(store, 7000, 7);
	wait_written(store);
	ck_assert(status_of(store).ok);
	points = 0;
	ck_assert_int_eq(em_store_history(reader, &range, count_points, &points), 0);
	ck_assert_uint_eq(points, 1);
	em_store_reader_close(reader);
	em_store_close(store, GRACE_US);
}
END_TEST

START_TEST(a_wal_that_was_taken_away_loses_nothing)
{
	struct em_store *store = open_store();
	char wal[PATH_MAX + 32], buf[128];

	snprintf(wal, sizeof(wal), "%s-wal", db_path);
	put(store, 1, 1);
	wait_written(store);
	ck_assert_int_eq(unlink(wal), 0);
	put(store, 2, 2);
	wait_written(store);
	ck_assert_str_eq(look("SELECT group_concat(at) FROM smart", buf), "1,2");
	em_store_close(store, GRACE_US);
}
END_TEST

/* A reader of an older state holds back the way home: what only the -wal has is not given up. */
START_TEST(a_wal_that_was_taken_away_waits_for_readers)
{
	struct em_store *store = open_store();
	sqlite3 *db = outside_open();
	char wal[PATH_MAX + 32], buf[128];

	snprintf(wal, sizeof(wal), "%s-wal", db_path);
	put(store, 1, 1);
	wait_written(store);
	outside_exec(db, "BEGIN; SELECT * FROM smart");
	put(store, 2, 2);
	wait_written(store);
	ck_assert_int_eq(unlink(wal), 0);
	put(store, 3, 3);
	wait_until(!status_of(store).ok);
	ck_assert_msg(strstr(status_of(store).detail, "-wal"), "%s", status_of(store).detail);
	outside_exec(db, "COMMIT");
	sqlite3_close(db);
	wait_written(store);
	ck_assert_str_eq(look("SELECT group_concat(at) FROM smart", buf), "1,2,3");
	ck_assert_uint_eq(status_of(store).dropped, 0);
	em_store_close(store, GRACE_US);
}
END_TEST

START_TEST(a_file_that_was_cut_is_made_again)
{
	struct em_store *store = open_store();
	char buf[128];

	put(store, 1, 1);
	wait_written(store);
	ck_assert_int_eq(truncate(db_path, 0), 0);
	put(store, 2, 2);
	wait_written(store);
	ck_assert_str_eq(look("SELECT group_concat(at) FROM smart", buf), "2");
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

static int64_t settled[16];
static unsigned settled_count;

/* On the writer's thread; the tests look after a flush or a wait. */
static void note_settled(void *userdata, int64_t id)
{
	ck_assert_ptr_eq(userdata, dir);
	if (settled_count < EM_COUNT(settled))
		settled[settled_count] = id;
	__atomic_add_fetch(&settled_count, 1, __ATOMIC_SEQ_CST);
}

static unsigned count_settled(void)
{
	return __atomic_load_n(&settled_count, __ATOMIC_SEQ_CST);
}

static struct em_store *open_with_events(void)
{
	const struct em_store_config config = { .directory = dir,
						.tables = tables,
						.table_count = EM_COUNT(tables),
						.events_settled = note_settled,
						.userdata = dir };
	struct em_store *store = NULL;

	settled_count = 0;
	ck_assert_int_eq(em_store_open(&store, &config, NULL), 0);
	return store;
}

static int put_event(struct em_store *store, int64_t id)
{
	const struct em_event event = { .id = id, .at_us = id, .kind = "drive-state" };

	return em_store_put_event(store, &event);
}

static int flush(struct em_store *store)
{
	return em_store_flush(store, em_monotonic_us() + WAIT_US);
}

static int saved_stderr;

static void catch_log(void)
{
	char path[PATH_MAX + 16];
	int fd;

	snprintf(path, sizeof(path), "%s/log", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	saved_stderr = dup(STDERR_FILENO);
	dup2(fd, STDERR_FILENO);
	close(fd);
}

static unsigned count_in_log(const char *word)
{
	char path[PATH_MAX + 16], line[1024];
	unsigned count = 0;
	FILE *log;

	snprintf(path, sizeof(path), "%s/log", dir);
	log = fopen(path, "r");
	ck_assert_ptr_nonnull(log);
	while (fgets(line, sizeof(line), log))
		count += strstr(line, word) != NULL;
	fclose(log);
	return count;
}

START_TEST(every_outage_tells_what_it_cost)
{
	struct em_store *store = open_with_events();
	sqlite3 *db = outside_open();
	unsigned begun[2], ended[2];

	catch_log();
	for (int64_t id = 1, round = 0; round < 2; round++) {
		ck_assert_int_eq(flush(store), 0);
		outside_exec(db, "BEGIN EXCLUSIVE");
		for (unsigned i = 0; i < EM_STORE_EVENTS_MAX + 3; i++)
			ck_assert_int_eq(put_event(store, id++), 0);
		wait_until(status_of(store).dropped == 3 * ((uint64_t)round + 1));
		outside_exec(db, "ROLLBACK");
		wait_until(status_of(store).ok);
		wait_written(store);
		wait_until(count_in_log("3 rows of history were lost") > round);
		begun[round] = count_in_log("history are lost");
		ended[round] = count_in_log("3 rows of history were lost");
	}
	dup2(saved_stderr, STDERR_FILENO);
	for (unsigned round = 0; round < 2; round++) {
		ck_assert_uint_eq(begun[round], round + 1);
		ck_assert_uint_eq(ended[round], round + 1);
	}
	sqlite3_close(db);
	em_store_close(store, GRACE_US);
}
END_TEST

/* However often the batch that it is in has to be tried. */
START_TEST(a_row_that_cannot_be_stored_is_lost_once)
{
	struct em_store *store = open_store();
	sqlite3 *db = outside_open();
	char buf[128];

	outside_exec(db, "CREATE TRIGGER no BEFORE INSERT ON smart WHEN new.at = 1"
			 " BEGIN SELECT raise(ABORT, 'no'); END; BEGIN EXCLUSIVE");
	put(store, 1, 1);
	put(store, 2, 2);
	ck_assert_int_eq(em_store_put_page(store, DRIVE, "smart", 0, 1, "x", 1), 0);
	wait_until(!status_of(store).ok);
	/* The rest of the batch fails once more. */
	outside_exec(db, "ALTER TABLE page RENAME TO away; COMMIT");
	wait_until(!strstr(status_of(store).detail, "locked"));
	outside_exec(db, "ALTER TABLE away RENAME TO page");
	sqlite3_close(db);
	wait_written(store);
	ck_assert_uint_eq(status_of(store).dropped, 1);
	ck_assert_uint_eq(status_of(store).written, 2);
	ck_assert_str_eq(look("SELECT group_concat(at) FROM smart", buf), "2");
	em_store_close(store, GRACE_US);
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

START_TEST(events_settle_in_order_and_after_their_commit)
{
	struct em_store *store = open_with_events();
	char buf[128], sql[128];

	for (int64_t id = 1; id <= 5; id++) {
		ck_assert_int_eq(put_event(store, id), 0);
		wait_until(count_settled() == (unsigned)id);
		ck_assert_int_eq(settled[id - 1], id);
		snprintf(sql, sizeof(sql), "SELECT kind FROM event WHERE id = %d", (int)id);
		ck_assert_str_eq(look(sql, buf), "drive-state");
	}
	/* Rows alone settle nothing. */
	put(store, 1, 1);
	ck_assert_int_eq(flush(store), 0);
	ck_assert_uint_eq(count_settled(), 5);
	ck_assert_uint_eq(status_of(store).written, 6);
	em_store_close(store, GRACE_US);
}
END_TEST

START_TEST(event_ids_are_never_given_twice)
{
	struct em_store *store = open_with_events();
	char buf[128];

	ck_assert_int_eq(put_event(store, 7), 0);
	ck_assert_int_eq(put_event(store, 7), -EINVAL);
	ck_assert_int_eq(put_event(store, 6), -EINVAL);
	ck_assert_int_eq(put_event(store, 0), -EINVAL);
	ck_assert_int_eq(flush(store), 0);
	ck_assert_int_eq(put_event(store, 7), -EINVAL);
	em_store_close(store, GRACE_US);
	/* Even by somebody who does not know of the last run: what was shown stays. */
	change("UPDATE event SET summary = 'first'");
	store = open_with_events();
	ck_assert_int_eq(put_event(store, 7), 0);
	ck_assert_int_eq(flush(store), 0);
	ck_assert_str_eq(look("SELECT summary FROM event", buf), "first");
	ck_assert_uint_eq(status_of(store).dropped, 0);
	em_store_close(store, GRACE_US);
}
END_TEST

START_TEST(events_settle_when_a_write_fails)
{
	struct em_store *store = open_with_events();
	sqlite3 *db = outside_open();
	char buf[128];

	ck_assert_int_eq(put_event(store, 1), 0);
	ck_assert_int_eq(flush(store), 0);
	outside_exec(db, "BEGIN EXCLUSIVE");
	ck_assert_int_eq(put_event(store, 2), 0);
	ck_assert_int_eq(put_event(store, 3), 0);
	ck_assert_int_eq(flush(store), -EAGAIN);
	wait_until(count_settled() >= 2 && settled[count_settled() - 1] == 3);
	ck_assert_uint_eq(status_of(store).queued, 2);
	ck_assert_int_eq(em_store_flush(store, em_monotonic_us()), -ETIMEDOUT);
	outside_exec(db, "ROLLBACK");
	sqlite3_close(db);
	wait_written(store);
	ck_assert_int_eq(flush(store), 0);
	ck_assert_int_eq(settled[count_settled() - 1], 3);
	ck_assert_str_eq(look("SELECT group_concat(id) FROM event", buf), "1,2,3");
	em_store_close(store, GRACE_US);
}
END_TEST

START_TEST(events_settle_without_a_database)
{
	struct em_store *store;
	sqlite3 *db;

	em_store_close(open_store(), GRACE_US);
	db = outside_open();
	outside_exec(db, "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;"
			 "INSERT INTO smart (drive, nsid, at) VALUES ('x', 0, 1); COMMIT");
	store = open_with_events();
	ck_assert_int_eq(put_event(store, 4), 0);
	wait_until(count_settled() == 1);
	ck_assert_int_eq(settled[0], 4);
	sqlite3_close(db);
	wait_written(store);
	em_store_close(store, GRACE_US);
}
END_TEST

START_TEST(too_many_waiting_events_drop_the_oldest)
{
	struct em_store *store = open_with_events();
	sqlite3 *db = outside_open();
	char buf[128];

	ck_assert_int_eq(flush(store), 0);
	outside_exec(db, "BEGIN EXCLUSIVE");
	for (int64_t id = 1; id <= EM_STORE_EVENTS_MAX + 3; id++)
		ck_assert_int_eq(put_event(store, id), 0);
	wait_until(status_of(store).dropped == 3);
	outside_exec(db, "ROLLBACK");
	sqlite3_close(db);
	wait_written(store);
	em_store_close(store, GRACE_US);
	ck_assert_str_eq(
		look("SELECT min(id) || ' ' || max(id) || ' ' || count(*) FROM event", buf),
		"4 8195 8192");
}
END_TEST

START_TEST(flush_waits_for_all_kinds)
{
	const struct em_store_capability capability = { .model = "M", .page = "errors" };
	const struct em_store_drive drive = { .id = DRIVE, .device = "nvme0", .state = "retired" };
	struct em_store *store = open_store();
	char buf[128];

	ck_assert_int_eq(flush(store), 0);
	for (int64_t i = 1; i <= 20; i++) {
		put(store, i, 1);
		ck_assert_int_eq(em_store_put_drive(store, &drive), 0);
		ck_assert_int_eq(em_store_put_capability(store, &capability, false), 0);
		ck_assert_int_eq(put_event(store, i), 0);
		ck_assert_int_eq(flush(store), 0);
		ck_assert_int_eq(strtol(look("SELECT count(*) FROM event", buf), NULL, 10), i);
		ck_assert_int_eq(count_rows(), i);
	}
	ck_assert_str_eq(look("SELECT state FROM drive", buf), "retired");
	em_store_close(store, GRACE_US);
}
END_TEST

/* In a child, as fill_disk(). */
static int flush_full_disk(void)
{
	const struct em_store_config config = { .directory = dir,
						.tables = tables,
						.table_count = EM_COUNT(tables) };
	struct em_store_drive drive = { .id = DRIVE, .device = "nvme0", .state = "retired" };
	struct em_store *store = NULL;

	signal(SIGXFSZ, SIG_IGN);
	if (em_store_open(&store, &config, NULL) < 0 || flush(store) != 0)
		return 1;
	limit_files(0);
	if (em_store_put_drive(store, &drive) < 0 || flush(store) != -EAGAIN)
		return 2;
	/* In the middle of the pause before the next attempt, too. */
	if (flush(store) != -EAGAIN || !status_of(store).detail[0])
		return 3;
	limit_files(RLIM_INFINITY);
	if (!wait_for_ok(store, true) || flush(store) != 0)
		return 4;
	em_store_close(store, GRACE_US);
	return 0;
}

START_TEST(flush_tells_of_a_full_disk)
{
	pid_t pid = fork();
	char buf[128];
	int status = -1;

	if (pid == 0)
		_exit(flush_full_disk());
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_str_eq(look("SELECT state FROM drive", buf), "retired");
}
END_TEST

/* A disk that takes nothing, and does not say so, while the gate is shut. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static bool stuck;
static sqlite3_syscall_ptr real_write;

static ssize_t write_through_gate(int fd, const void *data, size_t len, off_t at)
{
	__atomic_store_n(&stuck, true, __ATOMIC_SEQ_CST);
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	return ((ssize_t(*)(int, const void *, size_t, off_t))real_write)(fd, data, len, at);
}

/* Which of them SQLite uses depends on how it was built. */
static void build_gate(void)
{
	static const char *const names[] = { "pwrite", "pwrite64", "write" };
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

	for (size_t i = 0; i < EM_COUNT(names) && !real_write; i++) {
		real_write = vfs->xGetSystemCall(vfs, names[i]);
		if (real_write)
			vfs->xSetSystemCall(vfs, names[i], (sqlite3_syscall_ptr)write_through_gate);
	}
	ck_assert_ptr_nonnull((void *)real_write);
}

START_TEST(closing_leaves_a_stuck_write_alone)
{
	struct em_store *store = open_with_events();
	unsigned shown;

	ck_assert_int_eq(flush(store), 0);
	build_gate();
	pthread_mutex_lock(&gate);
	stuck = false;
	ck_assert_int_eq(put_event(store, 1), 0);
	wait_until(__atomic_load_n(&stuck, __ATOMIC_SEQ_CST));
	ck_assert_ptr_null(em_store_close(store, 0));
	/* Whoever is told of events may be gone by now. */
	shown = count_settled();
	pthread_mutex_unlock(&gate);
	wait_until(count_files("ember.db-wal") == 0); /* the writer has ended */
	ck_assert_uint_eq(count_settled(), shown);
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
	tcase_add_test(tcase, a_broken_page_that_only_a_reader_meets_is_told);
	tcase_add_test(tcase, a_wal_that_was_taken_away_loses_nothing);
	tcase_add_test(tcase, a_wal_that_was_taken_away_waits_for_readers);
	tcase_add_test(tcase, a_file_that_was_cut_is_made_again);
	tcase_add_test(tcase, a_file_that_was_taken_away_is_made_again);
	tcase_add_test(tcase, a_locked_file_is_waited_for);
	tcase_add_test(tcase, a_file_locked_at_start_is_waited_for);
	tcase_add_test(tcase, closing_gives_up_after_its_grace);
	tcase_add_test(tcase, closing_leaves_a_stuck_write_alone);
	tcase_add_test(tcase, a_full_queue_drops_the_oldest_and_counts);
	tcase_add_test(tcase, every_outage_tells_what_it_cost);
	tcase_add_test(tcase, a_row_that_cannot_be_stored_is_lost_once);
	tcase_add_test(tcase, a_disk_that_takes_no_more_is_waited_for);
	tcase_add_test(tcase, old_readings_are_taken_away);
	tcase_add_test(tcase, events_settle_in_order_and_after_their_commit);
	tcase_add_test(tcase, event_ids_are_never_given_twice);
	tcase_add_test(tcase, events_settle_when_a_write_fails);
	tcase_add_test(tcase, events_settle_without_a_database);
	tcase_add_test(tcase, too_many_waiting_events_drop_the_oldest);
	tcase_add_test(tcase, flush_waits_for_all_kinds);
	tcase_add_test(tcase, flush_tells_of_a_full_disk);
	tcase_add_test(tcase, what_a_reader_saw_survives_sigkill);
	tcase_add_test(tcase, many_threads_may_put_and_read);
	return run_tests(tcase);
}
