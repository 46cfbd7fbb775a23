/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/store/db.h"
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "daemon/store/sql-text.h"
#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"

#define BUSY_MS		100
#define CHECK_BUDGET_US (300 * EM_US_PER_MS)
#define CHECK_OPS	1000
#define COLUMNS_MAX	1000u
#define BROKEN_MAX	8u
#define NAMES_KEPT	64

struct em_db_place {
	dev_t device;
	ino_t inode;
};

struct em_db {
	sqlite3 *handle;
	const struct em_db_description *about;
	struct em_db_place file, wal; /* what we have open */
	sqlite3_stmt *begin, *commit, *rollback, *drive_put, *name_put, *name_trim, *page_put;
	sqlite3_stmt *event_put, *capability_put, *capability_remove, *test_run_put;
	sqlite3_stmt **row_insert; /* one per table */
};

static const char *const own_tables[] = { "drive", "device_name", "page",
					  "event", "capability",  "selftest_run" };
static const char *const own_columns[] = { "drive", "nsid", "at" };

static bool is_among(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static bool is_usable_table(const struct em_store_table *table)
{
	if (!em_sql_is_identifier(table->name) || strncmp(table->name, "sqlite_", 7) == 0 ||
	    is_among(table->name, own_tables, EM_COUNT(own_tables)))
		return false;
	if (table->column_count == 0 || table->column_count > COLUMNS_MAX)
		return false;
	for (unsigned i = 0; i < table->column_count; i++)
		if (!em_sql_is_identifier(table->columns[i]) ||
		    is_among(table->columns[i], own_columns, EM_COUNT(own_columns)) ||
		    is_among(table->columns[i], table->columns, i))
			return false;
	return true;
}

int em_db_check_tables(const struct em_store_table *tables, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (!is_usable_table(&tables[i]))
			return -EINVAL;
	return 0;
}

/* "path: why". A path that leaves no room for the reason is shown by its end. */
__attribute__((format(printf, 3, 4))) static void
say(const char *path, char message[EM_DB_MESSAGE_SIZE], const char *format, ...)
{
	char why[EM_DB_MESSAGE_SIZE - 32];
	size_t len = strlen(path), room;
	va_list ap;

	va_start(ap, format);
	vsnprintf(why, sizeof(why), format, ap);
	va_end(ap);
	room = EM_DB_MESSAGE_SIZE - sizeof(": ") - strlen(why);
	if (len <= room)
		snprintf(message, EM_DB_MESSAGE_SIZE, "%s: %s", path, why);
	else
		snprintf(message, EM_DB_MESSAGE_SIZE, "...%s: %s", path + len - room + 3, why);
}

void em_db_explain(int err, const char *path, char message[EM_DB_MESSAGE_SIZE])
{
	const char *why;

	switch (err) {
	case -EAGAIN:
		why = "another program has it locked; end that program";
		break;
	case -ENOSPC:
		why = "its disk is full; make room";
		break;
	case -EROFS:
		why = "it is read-only; mount its file system writable, check its owner and mode";
		break;
	case -EACCES:
		why = "it cannot be opened; check its directory, owner and mode";
		break;
	case -EIO:
		why = "it cannot be read or written; look into the kernel's log for its disk";
		break;
	case -EUCLEAN:
		why = "it is no valid database";
		break;
	default:
		why = strerror(-err);
	}
	say(path, message, "%s", why);
}

static int count_versions(const struct em_sql_migration *migrations)
{
	int count = 0;

	while (migrations[count].name)
		count++;
	return count;
}

/* Looks before anything is changed: a file that is not ours, or newer than us, stays as it is. */
static int read_version(struct em_db *db, int64_t *ret, char *message)
{
	const char *path = db->about->path;
	int latest = count_versions(db->about->migrations);
	int64_t version = 0, objects = 0;
	int r = em_sql_number(db->handle, em_sql_version_get, &version);

	if (r == 0 && version == 0)
		r = em_sql_number(db->handle, em_sql_object_count, &objects);
	if (r < 0)
		return r;
	if (objects > 0) {
		say(path, message, "this is no database of Ember; move it away");
		return -EPROTONOSUPPORT;
	}
	if (version > latest || version < 0) {
		say(path, message,
		    "its schema %lld is newer than %d, the newest that this Ember knows; "
		    "install a newer Ember, or move the file away",
		    (long long)version, latest);
		return -EPROTONOSUPPORT;
	}
	*ret = version;
	return 0;
}

static int is_past(void *deadline)
{
	return em_monotonic_us() > *(uint64_t *)deadline;
}

/* A big file is not read to its end at start: what the check misses is found when it is met. */
static int quick_check(sqlite3 *handle)
{
	em_cleanup(em_sql_finalizep) sqlite3_stmt *statement = NULL;
	uint64_t deadline = em_monotonic_us() + CHECK_BUDGET_US;
	const char *answer;
	int r = em_sql_prepare(handle, em_sql_quick_check, NULL, NULL, &statement);

	if (r < 0)
		return r;
	sqlite3_progress_handler(handle, CHECK_OPS, is_past, &deadline);
	r = em_sql_errno(sqlite3_step(statement));
	sqlite3_progress_handler(handle, 0, NULL, NULL);
	if (r == -ETIMEDOUT)
		return 0;
	if (r < 0)
		return r;
	answer = (const char *)sqlite3_column_text(statement, 0);
	return answer && strcmp(answer, "ok") == 0 ? 0 : -EUCLEAN;
}

static int sync_file(const char *path)
{
	em_cleanup(em_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 || fsync(fd) < 0 ? -errno : 0;
}

static int copy_to(struct em_db *db, const char *path)
{
	em_cleanup(em_sql_finalizep) sqlite3_stmt *statement = NULL;
	int r = em_sql_prepare(db->handle, em_sql_copy_to, NULL, NULL, &statement);

	if (r < 0)
		return r;
	sqlite3_bind_text(statement, 1, path, -1, SQLITE_STATIC);
	r = em_sql_errno_of(db->handle, sqlite3_step(statement));
	return r < 0 ? r : sync_file(path);
}

/* The copy stands beside the file, ember.db.version-1; half of one would only fill the disk. */
static int keep_copy(struct em_db *db, int64_t version)
{
	char path[PATH_MAX], part[PATH_MAX + 8];
	int r;

	if (snprintf(path, sizeof(path), "%s.version-%lld", db->about->path, (long long)version) >=
	    (int)sizeof(path))
		return -ENAMETOOLONG;
	snprintf(part, sizeof(part), "%s.part", path);
	if (unlink(part) < 0 && errno != ENOENT)
		return -errno;
	r = copy_to(db, part);
	if (r == 0 && rename(part, path) < 0)
		r = -errno;
	if (r < 0)
		unlink(part);
	else
		em_notice("%s gets a new schema; the file as it was is %s", db->about->path, path);
	return r;
}

static int run_migration(sqlite3 *handle, const struct em_sql_migration *migration, int64_t version)
{
	const struct em_sql_marker number = { .name = "version",
					      .kind = EM_SQL_NUMBER,
					      .number = version };
	int r = em_sql_exec(handle, em_sql_begin, NULL, 0);

	if (r == 0)
		r = em_sql_exec(handle, migration->text, NULL, 0);
	if (r == 0)
		r = em_sql_exec(handle, em_sql_version_set, &number, 1);
	if (r == 0)
		r = em_sql_exec(handle, em_sql_commit, NULL, 0);
	if (r < 0 && !sqlite3_get_autocommit(handle))
		em_sql_exec(handle, em_sql_rollback, NULL, 0);
	return r;
}

static int migrate(struct em_db *db, int64_t version)
{
	const struct em_sql_migration *migrations = db->about->migrations;
	int r = 0;

	if (version > 0 && migrations[version].name)
		r = keep_copy(db, version);
	for (; r == 0 && migrations[version].name; version++)
		r = run_migration(db->handle, &migrations[version], version + 1);
	return r;
}

/* Sets present[i] for each column that the table in the file has. */
static int find_columns(sqlite3 *handle, const struct em_store_table *table, bool *present)
{
	em_cleanup(em_sql_finalizep) sqlite3_stmt *statement = NULL;
	int r = em_sql_prepare(handle, em_sql_reading_columns, NULL, NULL, &statement);
	int code;

	if (r < 0)
		return r;
	sqlite3_bind_text(statement, 1, table->name, -1, SQLITE_STATIC);
	while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(statement, 0);

		for (unsigned i = 0; name && i < table->column_count; i++)
			if (strcmp(table->columns[i], name) == 0)
				present[i] = true;
	}
	return em_sql_errno(code);
}

static int extend_table(sqlite3 *handle, const struct em_store_table *table)
{
	bool present[COLUMNS_MAX] = { false };
	struct em_sql_marker markers[] = {
		{ .name = "table", .names = &table->name, .count = 1 },
		{ .name = "column", .count = 1 },
	};
	int r = em_sql_exec(handle, em_sql_reading_create, markers, 1);

	if (r == 0)
		r = find_columns(handle, table, present);
	for (unsigned i = 0; r == 0 && i < table->column_count; i++) {
		markers[1].names = &table->columns[i];
		if (!present[i])
			r = em_sql_exec(handle, em_sql_reading_add_column, markers,
					EM_COUNT(markers));
	}
	return r;
}

static int extend_tables(struct em_db *db)
{
	int r = em_sql_exec(db->handle, em_sql_begin, NULL, 0);

	for (unsigned i = 0; r == 0 && i < db->about->table_count; i++)
		r = extend_table(db->handle, &db->about->tables[i]);
	if (r == 0)
		r = em_sql_exec(db->handle, em_sql_commit, NULL, 0);
	if (r < 0 && !sqlite3_get_autocommit(db->handle))
		em_sql_exec(db->handle, em_sql_rollback, NULL, 0);
	return r;
}

static int prepare_insert(sqlite3 *handle, const struct em_store_table *table, sqlite3_stmt **ret)
{
	const struct em_sql_marker markers[] = {
		{ .name = "table", .names = &table->name, .count = 1 },
		{ .name = "columns", .names = table->columns, .count = table->column_count },
		{ .name = "slots", .kind = EM_SQL_SLOTS, .count = table->column_count },
	};
	em_cleanup(em_freep) char *text = NULL;
	int r = em_sql_expand(&text, em_sql_reading_insert, markers, EM_COUNT(markers));

	if (r < 0)
		return r;
	return em_sql_errno(sqlite3_prepare_v2(handle, text, -1, ret, NULL));
}

static int prepare_statements(struct em_db *db)
{
	const struct {
		const char *text;
		sqlite3_stmt **statement;
	} plain[] = {
		{ em_sql_begin, &db->begin },
		{ em_sql_commit, &db->commit },
		{ em_sql_rollback, &db->rollback },
		{ em_sql_drive_put, &db->drive_put },
		{ em_sql_device_name_put, &db->name_put },
		{ em_sql_device_name_trim, &db->name_trim },
		{ em_sql_page_put, &db->page_put },
		{ em_sql_event_put, &db->event_put },
		{ em_sql_capability_put, &db->capability_put },
		{ em_sql_capability_remove, &db->capability_remove },
		{ em_sql_selftest_run_put, &db->test_run_put },
	};
	const struct em_db_description *about = db->about;
	int r = 0;

	db->row_insert = calloc(about->table_count + 1, sizeof(*db->row_insert));
	if (!db->row_insert)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < EM_COUNT(plain); i++)
		r = em_sql_prepare(db->handle, plain[i].text, NULL, NULL, plain[i].statement);
	for (unsigned i = 0; r == 0 && i < about->table_count; i++)
		r = prepare_insert(db->handle, &about->tables[i], &db->row_insert[i]);
	return r;
}

/* Closing without folding a -wal into the file; but one that we made ourselves goes. */
static void keep_wal(struct em_db *db)
{
	char wal[PATH_MAX + 8];

	snprintf(wal, sizeof(wal), "%s-wal", db->about->path);
	if (access(wal, F_OK) == 0)
		sqlite3_db_config(db->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
}

enum place_state { PLACE_GONE, PLACE_EMPTY, PLACE_FULL };

static enum place_state find_place(const struct em_db *db, const char *suffix,
				   struct em_db_place *ret)
{
	char path[PATH_MAX + 8];
	struct stat st;

	snprintf(path, sizeof(path), "%s%s", db->about->path, suffix);
	if (stat(path, &st) < 0) {
		*ret = (struct em_db_place){ 0 };
		return errno == ENOENT ? PLACE_GONE : PLACE_FULL;
	}
	*ret = (struct em_db_place){ st.st_dev, st.st_ino };
	return st.st_size > 0 ? PLACE_FULL : PLACE_EMPTY;
}

static int open_handle(struct em_db *db)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
		    SQLITE_OPEN_EXRESCODE;
	int r = em_sql_errno(sqlite3_open_v2(db->about->path, &db->handle, flags, NULL));

	if (r < 0)
		return r;
	keep_wal(db); /* until the version is known */
	sqlite3_busy_timeout(db->handle, BUSY_MS);
	return find_place(db, "", &db->file) == PLACE_GONE ? -ENOENT : 0;
}

static int prepare_file(struct em_db *db, char *message)
{
	int64_t version = 0;
	int r = open_handle(db);

	if (r == 0)
		r = read_version(db, &version, message);
	if (r < 0)
		return r;
	sqlite3_db_config(db->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
	r = quick_check(db->handle);
	if (r == 0)
		r = em_sql_exec(db->handle, em_sql_connection_setup, NULL, 0);
	if (r == 0)
		r = migrate(db, version);
	if (r == 0)
		r = extend_tables(db);
	if (r == 0)
		r = prepare_statements(db);
	if (r == 0)
		find_place(db, "-wal", &db->wal);
	return r;
}

int em_db_open(struct em_db **ret, const struct em_db_description *description,
	       char message[EM_DB_MESSAGE_SIZE])
{
	em_cleanup(em_db_closep) struct em_db *db = calloc(1, sizeof(*db));
	int r;

	if (!db)
		return -ENOMEM;
	db->about = description;
	message[0] = '\0';
	r = prepare_file(db, message);
	if (r < 0) {
		if (!message[0])
			em_db_explain(r, description->path, message);
		return r;
	}
	*ret = em_steal(db);
	return 0;
}

struct em_db *em_db_close(struct em_db *db)
{
	sqlite3_stmt *statement;

	if (!db)
		return NULL;
	while (db->handle && (statement = sqlite3_next_stmt(db->handle, NULL)))
		sqlite3_finalize(statement);
	sqlite3_close(db->handle);
	free(db->row_insert);
	free(db);
	return NULL;
}

sqlite3 *em_db_handle(struct em_db *db)
{
	return db->handle;
}

static bool is_other(const struct em_db_place *a, const struct em_db_place *b)
{
	return a->device != b->device || a->inode != b->inode;
}

/* A database is never empty: it was cut. */
static bool lost_file(const struct em_db *db)
{
	struct em_db_place now;

	return find_place(db, "", &now) != PLACE_FULL || is_other(&now, &db->file);
}

bool em_db_was_replaced(const struct em_db *db)
{
	struct em_db_place now;

	if (lost_file(db))
		return true;
	find_place(db, "-wal", &now);
	return is_other(&now, &db->wal);
}

int em_db_abandon(struct em_db *db)
{
	int code = SQLITE_OK;

	if (lost_file(db))
		sqlite3_db_config(db->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	else
		code = sqlite3_wal_checkpoint_v2(db->handle, NULL, SQLITE_CHECKPOINT_FULL, NULL,
						 NULL);
	if (em_sql_errno(code) == -EAGAIN)
		return -EAGAIN;
	em_db_close(db);
	return code == SQLITE_OK ? 0 : 1;
}

static size_t count_broken(const char *path)
{
	char pattern[PATH_MAX];
	glob_t found;
	size_t count = 0;

	snprintf(pattern, sizeof(pattern), "%s.broken-*Z", path);
	if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0) {
		count = found.gl_pathc;
		globfree(&found);
	}
	return count;
}

static int move_or_remove(const char *path, const char *to, const char *suffix, bool keep)
{
	char from_name[PATH_MAX + 8], to_name[PATH_MAX + 8];

	snprintf(from_name, sizeof(from_name), "%s%s", path, suffix);
	snprintf(to_name, sizeof(to_name), "%s%s", to, suffix);
	if ((keep ? rename(from_name, to_name) : unlink(from_name)) < 0 && errno != ENOENT)
		return -errno;
	return 0;
}

int em_db_set_aside(const char *path, char *ret_name)
{
	/* The file goes last: a -wal must never meet a file that is not its own. */
	static const char *const suffixes[] = { "-wal", "-shm", "" };
	bool keep = count_broken(path) < BROKEN_MAX;
	char when[EM_TIME_SIZE];
	int r = 0;

	em_time_format(when, em_realtime_us());
	if (snprintf(ret_name, PATH_MAX, "%s.broken-%s", path, when) >= PATH_MAX)
		return -ENAMETOOLONG;
	for (size_t i = 0; r == 0 && i < EM_COUNT(suffixes); i++)
		r = move_or_remove(path, ret_name, suffixes[i], keep);
	return r == 0 && !keep ? 1 : r;
}

static int run(sqlite3_stmt *statement)
{
	int r = em_sql_errno_of(sqlite3_db_handle(statement), sqlite3_step(statement));

	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
	return r;
}

int em_db_begin(struct em_db *db)
{
	return run(db->begin);
}

int em_db_commit(struct em_db *db)
{
	return run(db->commit);
}

void em_db_rollback(struct em_db *db)
{
	/* Some errors have rolled back already. */
	if (!sqlite3_get_autocommit(db->handle))
		run(db->rollback);
}

static void bind_cell(sqlite3_stmt *statement, int slot, const struct em_queue_cell *cell)
{
	switch (cell->tag) {
	case EM_TAG_NULL:
		sqlite3_bind_null(statement, slot);
		break;
	case EM_TAG_INT:
		sqlite3_bind_int64(statement, slot, cell->integer);
		break;
	case EM_TAG_REAL:
		sqlite3_bind_double(statement, slot, cell->real);
		break;
	case EM_TAG_TEXT:
		sqlite3_bind_text(statement, slot, cell->text, (int)cell->text_len, SQLITE_STATIC);
		break;
	}
}

int em_db_put_row(struct em_db *db, const struct em_queue_row *row)
{
	sqlite3_stmt *insert = db->row_insert[row->table];
	struct em_queue_cell cell;
	size_t at = 0;
	int slot = 1;

	sqlite3_bind_text(insert, slot++, row->drive, -1, SQLITE_STATIC);
	sqlite3_bind_int64(insert, slot++, row->nsid);
	sqlite3_bind_int64(insert, slot++, row->at_us);
	while (em_queue_row_cell(row, &at, &cell))
		bind_cell(insert, slot++, &cell);
	return run(insert);
}

int em_db_put_page(struct em_db *db, const struct em_queue_page *page)
{
	sqlite3_stmt *put = db->page_put;

	sqlite3_bind_text(put, 1, page->drive, -1, SQLITE_STATIC);
	sqlite3_bind_text(put, 2, page->page, -1, SQLITE_STATIC);
	sqlite3_bind_int64(put, 3, page->nsid);
	sqlite3_bind_int64(put, 4, page->at_us);
	sqlite3_bind_blob(put, 5, page->data, (int)page->len, SQLITE_STATIC);
	return run(put);
}

static int put_name(struct em_db *db, const struct em_store_drive *drive)
{
	int r;

	sqlite3_bind_text(db->name_put, 1, drive->id, -1, SQLITE_STATIC);
	sqlite3_bind_text(db->name_put, 2, drive->device, -1, SQLITE_STATIC);
	sqlite3_bind_int64(db->name_put, 3, drive->last_seen_us);
	r = run(db->name_put);
	if (r < 0 || sqlite3_changes(db->handle) == 0)
		return r;
	sqlite3_bind_text(db->name_trim, 1, drive->id, -1, SQLITE_STATIC);
	sqlite3_bind_int(db->name_trim, 2, NAMES_KEPT);
	return run(db->name_trim);
}

int em_db_put_drive(struct em_db *db, const struct em_store_drive *drive)
{
	const char *const texts[] = {
		drive->device,	  drive->serial,	drive->model,
		drive->firmware,  drive->subsystem_nqn, drive->address,
		drive->transport, drive->cntlid,	drive->state,
	};
	const int64_t times[] = { drive->first_seen_us, drive->last_seen_us,
				  drive->state_since_us };
	sqlite3_stmt *put = db->drive_put;
	int slot = 1, r;

	sqlite3_bind_text(put, slot++, drive->id, -1, SQLITE_STATIC);
	sqlite3_bind_blob(put, slot++, drive->identity, (int)drive->identity_len, SQLITE_STATIC);
	for (size_t i = 0; i < EM_COUNT(texts); i++)
		sqlite3_bind_text(put, slot++, texts[i], -1, SQLITE_STATIC);
	for (size_t i = 0; i < EM_COUNT(times); i++)
		sqlite3_bind_int64(put, slot++, times[i]);
	r = run(put);
	return r < 0 ? r : put_name(db, drive);
}

int em_db_put_event(struct em_db *db, const struct em_event *event)
{
	sqlite3_stmt *put = db->event_put;
	int slot = 1;

	sqlite3_bind_int64(put, slot++, event->id);
	sqlite3_bind_int64(put, slot++, event->at_us);
	sqlite3_bind_text(put, slot++, event->kind, -1, SQLITE_STATIC);
	sqlite3_bind_text(put, slot++, event->drive, -1, SQLITE_STATIC);
	sqlite3_bind_text(put, slot++, event->device, -1, SQLITE_STATIC);
	sqlite3_bind_text(put, slot++, event->serial, -1, SQLITE_STATIC);
	sqlite3_bind_int64(put, slot++, event->nsid);
	sqlite3_bind_text(put, slot++, event->subject, -1, SQLITE_STATIC);
	sqlite3_bind_text(put, slot++, event->old_value, -1, SQLITE_STATIC);
	sqlite3_bind_text(put, slot++, event->new_value, -1, SQLITE_STATIC);
	sqlite3_bind_text(put, slot++, event->summary, -1, SQLITE_STATIC);
	return run(put);
}

int em_db_put_test_run(struct em_db *db, const struct em_store_test_run *item)
{
	sqlite3_bind_text(db->test_run_put, 1, item->drive, -1, SQLITE_STATIC);
	sqlite3_bind_text(db->test_run_put, 2, item->test, -1, SQLITE_STATIC);
	sqlite3_bind_text(db->test_run_put, 3, item->calendar, -1, SQLITE_STATIC);
	sqlite3_bind_int64(db->test_run_put, 4, item->slot_us);
	return run(db->test_run_put);
}

int em_db_put_capability(struct em_db *db, const struct em_queue_capability *item)
{
	const struct em_store_capability *capability = &item->capability;
	sqlite3_stmt *statement = item->remove ? db->capability_remove : db->capability_put;

	sqlite3_bind_text(statement, 1, capability->model, -1, SQLITE_STATIC);
	sqlite3_bind_text(statement, 2, capability->firmware, -1, SQLITE_STATIC);
	sqlite3_bind_text(statement, 3, capability->page, -1, SQLITE_STATIC);
	if (!item->remove) {
		sqlite3_bind_int(statement, 4, capability->nvme_status);
		sqlite3_bind_int64(statement, 5, capability->at_us);
	}
	return run(statement);
}
