/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "daemon/store/internal.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/text.h"

#define RETRY_US      (500 * EM_US_PER_MS)
#define LAST_RETRY_US (50 * EM_US_PER_MS) /* while closing */
#define SET_ASIDE_US  (60 * EM_US_PER_SEC)
#define PRUNE_US      (60 * EM_US_PER_SEC)
#define PRUNE_MORE_US (20 * EM_US_PER_MS)

void em_store_wait(struct em_store *store, pthread_cond_t *condition, uint64_t until_us)
{
	uint64_t now = em_monotonic_us(), span = until_us > now ? until_us - now : 0;
	struct timespec at;

	if (span > UINT64_C(3600) * EM_US_PER_SEC)
		span = UINT64_C(3600) * EM_US_PER_SEC;
	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_sec += (time_t)(span / EM_US_PER_SEC);
	at.tv_nsec += (long)(span % EM_US_PER_SEC) * 1000;
	if (at.tv_nsec >= 1000000000) {
		at.tv_nsec -= 1000000000;
		at.tv_sec++;
	}
	pthread_cond_timedwait(condition, &store->lock, &at);
}

/* False when the store was closed: then there is nobody to show anything to. */
static bool set_showing(struct em_store *store, bool showing)
{
	pthread_mutex_lock(&store->lock);
	store->showing = showing && !store->abandoned;
	showing = store->showing;
	pthread_cond_broadcast(&store->progress);
	pthread_mutex_unlock(&store->lock);
	return showing;
}

static void show_events(struct em_store *store, int64_t id)
{
	if (id <= store->event_settled)
		return;
	store->event_settled = id;
	if (!store->settled_fn || !set_showing(store, true))
		return;
	store->settled_fn(store->settled_userdata, id);
	set_showing(store, false);
}

/* Events cannot get to the disk now: those that wait may be shown. */
static void note_failure(struct em_store *store)
{
	int64_t id;

	pthread_mutex_lock(&store->lock);
	store->failures++;
	id = store->queue.last_event_id;
	pthread_cond_broadcast(&store->progress);
	pthread_mutex_unlock(&store->lock);
	store->retry_at_us = em_monotonic_us() + RETRY_US;
	show_events(store, id);
}

/* With the lock: how many were lost that the log does not know of. */
static uint64_t end_losing(struct em_store *store)
{
	uint64_t lost = em_store_count_lost(store);
	uint64_t news = lost - store->lost_told;

	store->lost_told = lost;
	store->losing = false;
	return news;
}

/* Only a change is logged. */
static void report(struct em_store *store, int r, const char *message)
{
	uint64_t lost = 0;
	bool was_ok;

	pthread_mutex_lock(&store->lock);
	was_ok = store->ok;
	store->ok = r == 0;
	snprintf(store->detail, sizeof(store->detail), "%s", r == 0 ? "" : message);
	em_text_mend(store->detail);
	if (r == 0)
		lost = end_losing(store);
	pthread_mutex_unlock(&store->lock);
	if (was_ok && r < 0)
		em_warning("history waits in memory: %s", message);
	else if (!was_ok && r == 0)
		em_notice("history is written again: %s", store->path);
	if (lost > 0)
		em_error("%llu rows of history were lost", (unsigned long long)lost);
}

static void report_failure(struct em_store *store, int r)
{
	char message[EM_DB_MESSAGE_SIZE];

	em_db_explain(r, store->path, message);
	report(store, r, message);
	note_failure(store);
}

/* A file that breaks again at once points at the disk; moving files about does not help it. */
static int set_aside(struct em_store *store)
{
	uint64_t now = em_monotonic_us();
	char name[PATH_MAX];
	int r;

	if (store->set_aside_at_us && now - store->set_aside_at_us < SET_ASIDE_US)
		return -EUCLEAN;
	store->set_aside_at_us = now;
	r = em_db_set_aside(store->path, name);
	if (r < 0)
		return r;
	if (r > 0)
		em_error("%s was broken and is removed, since enough broken ones are kept; a new "
			 "one is made",
			 store->path);
	else
		em_error("%s was broken; it is %s now and a new one is made", store->path, name);
	return 0;
}

static void use_db(struct em_store *store, struct em_db *db)
{
	bool nothing_waits;

	store->db = db;
	pthread_mutex_lock(&store->lock);
	/* The file may be a new one: it gets what is known of the drives. */
	if (store->generation++ > 0)
		em_queue_repeat_drives(&store->queue);
	nothing_waits = em_queue_is_empty(&store->queue);
	pthread_mutex_unlock(&store->lock);
	/* Else the first write tells whether all is well again. */
	if (nothing_waits)
		report(store, 0, NULL);
}

/* A reader found it broken: opening it anew looks it through, but not all the time. */
static bool is_suspect(struct em_store *store)
{
	uint64_t now = em_monotonic_us();
	bool suspect;

	pthread_mutex_lock(&store->lock);
	suspect = store->suspect;
	store->suspect = false;
	pthread_mutex_unlock(&store->lock);
	if (!suspect || (store->suspected_at_us && now - store->suspected_at_us < SET_ASIDE_US))
		return false;
	store->suspected_at_us = now;
	return true;
}

/* What is in a -wal that was taken away is nowhere else: it is held on to until it is at home. */
static int abandon(struct em_store *store)
{
	int r = em_db_abandon(store->db);

	if (r < 0) {
		report(store, r,
		       EM_STORE_FILE
		       "-wal was taken away, and another program is in the way of saving "
		       "what was in it; end that program");
		note_failure(store);
		return r;
	}
	store->db = NULL;
	if (r > 0)
		em_error("%s: its -wal was taken away, and what was in it is lost", store->path);
	else
		em_warning("%s or its -wal was taken away, cut or replaced; it is opened anew",
			   store->path);
	return 0;
}

int em_store_writer_open(struct em_store *store)
{
	char message[EM_DB_MESSAGE_SIZE];
	struct em_db *db = NULL;
	int r = 0;

	if (store->db && em_db_was_replaced(store->db))
		r = abandon(store);
	else if (store->db && is_suspect(store))
		store->db = em_db_close(store->db);
	if (r < 0 || store->db)
		return r;
	r = em_db_open(&db, &store->about, message);
	if (r == -EUCLEAN && set_aside(store) == 0)
		r = em_db_open(&db, &store->about, message);
	if (r < 0) {
		report(store, r, message);
		note_failure(store);
		return r;
	}
	use_db(store, db);
	return 0;
}

/*
 * What can never be written is left out, so that it does not hold up the rest. It counts when the
 * rest is written: a batch may be tried many times.
 */
static int left_out(struct em_store *store, int r, const char *drive, const char *what)
{
	if (r != -EINVAL)
		return r;
	if (store->left_out.count++ == 0) {
		store->left_out.what = what;
		snprintf(store->left_out.drive, sizeof(store->left_out.drive), "%s", drive);
	}
	return 0;
}

static void log_left_out(struct em_store *store)
{
	if (store->left_out.count > 0)
		em_log(LOG_ERR, &(struct em_log_fields){ .drive = store->left_out.drive },
		       "%llu rows cannot be stored and were left out, the first one of %s",
		       (unsigned long long)store->left_out.count, store->left_out.what);
}

static int write_readings(struct em_store *store, const struct em_queue_batch *batch)
{
	int r = 0;

	for (const struct em_queue_row *row = batch->rows; row && r == 0; row = row->next)
		r = left_out(store, em_db_put_row(store->db, row), row->drive,
			     store->about.tables[row->table].name);
	for (const struct em_queue_page *p = batch->pages; p && r == 0; p = p->next)
		r = left_out(store, em_db_put_page(store->db, p), p->drive, "page");
	return r;
}

static int write_items(struct em_store *store, const struct em_queue_batch *batch)
{
	int r = 0;

	for (const struct em_queue_drive *d = batch->drives; d && r == 0; d = d->next)
		r = left_out(store, em_db_put_drive(store->db, &d->drive), d->drive.id, "drive");
	for (const struct em_queue_event *e = batch->events; e && r == 0; e = e->next)
		r = left_out(store, em_db_put_event(store->db, &e->event), e->event.drive, "event");
	for (const struct em_queue_capability *c = batch->capabilities; c && r == 0; c = c->next)
		r = left_out(store, em_db_put_capability(store->db, c), "", "capability");
	for (const struct em_queue_test_run *t = batch->test_runs; t && r == 0; t = t->next)
		r = left_out(store, em_db_put_test_run(store->db, &t->run), t->run.drive,
			     "selftest_run");
	return r == 0 ? write_readings(store, batch) : r;
}

static int write_batch(struct em_store *store, const struct em_queue_batch *batch)
{
	int r = em_db_begin(store->db);

	store->left_out.count = 0;
	if (r == 0)
		r = write_items(store, batch);
	if (r == 0)
		r = em_db_commit(store->db);
	if (r < 0)
		em_db_rollback(store->db);
	return r;
}

static uint64_t count_items(const struct em_queue_batch *batch)
{
	uint64_t count = batch->row_count + batch->page_count + batch->event_count +
			 batch->capability_count + batch->test_run_count;

	for (const struct em_queue_drive *d = batch->drives; d; d = d->next)
		count++;
	return count;
}

/* What comes of a batch. Counted before the events are shown: whoever sees one finds it settled. */
static void end_batch(struct em_store *store, struct em_queue_batch *batch, int r, uint64_t puts)
{
	int64_t event_id = batch->events ? batch->last_event->event.id : 0;
	bool losing;

	pthread_mutex_lock(&store->lock);
	if (r == 0) {
		store->written += store->in_flight - store->left_out.count;
		store->refused += store->left_out.count;
		store->lost_told += store->left_out.count;
		store->puts_safe = puts;
		pthread_cond_broadcast(&store->progress);
	} else {
		em_queue_return(&store->queue, batch);
	}
	store->in_flight = 0;
	losing = em_store_starts_losing(store);
	pthread_mutex_unlock(&store->lock);
	em_queue_batch_done(batch);
	if (losing)
		em_store_log_losing();
	if (r < 0)
		return;
	log_left_out(store);
	show_events(store, event_id);
}

static int write_waiting(struct em_store *store)
{
	struct em_queue_batch batch = { 0 };
	uint64_t count, puts;
	int r;

	pthread_mutex_lock(&store->lock);
	r = em_queue_take(&store->queue, &batch);
	puts = store->puts;
	count = count_items(&batch);
	store->in_flight = count;
	pthread_mutex_unlock(&store->lock);
	if (r < 0 || count == 0)
		return r;

	r = write_batch(store, &batch);
	end_batch(store, &batch, r, puts);
	if (r == 0)
		report(store, 0, NULL);
	return r;
}

static bool may_prune(struct em_store *store, int64_t real_us)
{
	const struct em_db_description *about = &store->about;
	int64_t newest = 0;

	if (!store->retention.has_clock &&
	    em_retention_newest(em_db_handle(store->db), about->tables, about->table_count, real_us,
				&newest) < 0)
		return false;
	return em_retention_trusts_clock(&store->retention, em_monotonic_us(), real_us, newest);
}

static int prune(struct em_store *store)
{
	const struct em_db_description *about = &store->about;
	int64_t real_us = em_realtime_us();
	int more, r;

	if (!em_retention_is_wanted(&store->retention) || em_monotonic_us() < store->prune_at_us)
		return 0;
	store->prune_at_us = em_monotonic_us() + PRUNE_US;
	if (!may_prune(store, real_us))
		return 0;
	r = em_db_begin(store->db);
	if (r < 0)
		return r == -EAGAIN ? 0 : r; /* it is not urgent */
	more = em_retention_step(&store->retention, em_db_handle(store->db), about->tables,
				 about->table_count, real_us);
	r = more < 0 ? more : em_db_commit(store->db);
	if (r < 0)
		em_db_rollback(store->db);
	else if (more > 0)
		store->prune_at_us = em_monotonic_us() + PRUNE_MORE_US;
	return r;
}

static void work(struct em_store *store)
{
	int r = em_store_writer_open(store);

	if (r < 0)
		return;
	r = write_waiting(store);
	if (r == 0)
		r = prune(store);
	if (r == 0)
		return;
	report_failure(store, r);
	if (r == -EAGAIN || r == -ENOSPC || r == -ENOMEM)
		return;
	/* The connection may be the trouble: begin with a new one. */
	store->db = em_db_close(store->db);
	if (r == -EUCLEAN && set_aside(store) == 0)
		store->retry_at_us = 0;
}

/* With the lock. True: there is something to do now; false: *ret_until says when to look again. */
static bool is_due(struct em_store *store, uint64_t *ret_until)
{
	uint64_t now = em_monotonic_us();
	uint64_t retry_at = store->retry_at_us;

	if (store->stopping && retry_at > now + LAST_RETRY_US)
		retry_at = now + LAST_RETRY_US;
	store->retry_at_us = retry_at;
	if (retry_at > now) {
		*ret_until = retry_at;
		return false;
	}
	if (!store->db || store->suspect || !em_queue_is_empty(&store->queue))
		return true;
	*ret_until =
		em_retention_is_wanted(&store->retention) ? store->prune_at_us : now + PRUNE_US;
	return *ret_until <= now;
}

static bool is_over(const struct em_store *store)
{
	if (!store->stopping)
		return false;
	return em_queue_is_empty(&store->queue) || em_monotonic_us() >= store->stop_at_us;
}

/* False: stop. */
static bool wait_for_work(struct em_store *store)
{
	uint64_t until = 0;
	bool over;

	pthread_mutex_lock(&store->lock);
	while (!(over = is_over(store)) && !is_due(store, &until)) {
		if (store->stopping && until > store->stop_at_us)
			until = store->stop_at_us;
		em_store_wait(store, &store->wake, until);
	}
	pthread_mutex_unlock(&store->lock);
	return !over;
}

void *em_store_writer_main(void *userdata)
{
	struct em_store *store = userdata;
	bool abandoned;

	while (wait_for_work(store))
		work(store);
	store->db = em_db_close(store->db);
	pthread_mutex_lock(&store->lock);
	store->done = true;
	abandoned = store->abandoned;
	pthread_cond_broadcast(&store->progress);
	pthread_mutex_unlock(&store->lock);
	if (abandoned)
		em_store_free(store);
	return NULL;
}
