/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/store/store.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "daemon/store/internal.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"

/* Outlives the store that could not be opened. */
static _Thread_local char open_message[EM_DB_MESSAGE_SIZE];

struct em_store *em_store_free(struct em_store *store)
{
	em_db_close(store->db);
	em_queue_done(&store->queue);
	pthread_cond_destroy(&store->wake);
	pthread_cond_destroy(&store->progress);
	pthread_mutex_destroy(&store->lock);
	free(store);
	return NULL;
}
EM_DEFINE_CLEANUP(struct em_store, em_store_free)

static struct em_store *store_new(const struct em_store_config *config)
{
	struct em_store *store = calloc(1, sizeof(*store));
	pthread_condattr_t attributes;

	if (!store)
		return NULL;
	pthread_mutex_init(&store->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&store->wake, &attributes);
	pthread_cond_init(&store->progress, &attributes);
	pthread_condattr_destroy(&attributes);
	em_queue_init(&store->queue, EM_STORE_QUEUE_MAX);
	em_retention_init(&store->retention, config->raw_keep_us, config->events_keep_us);
	store->settled_fn = config->events_settled;
	store->settled_userdata = config->userdata;
	store->about = (struct em_db_description){
		.path = store->path,
		.tables = config->tables,
		.table_count = config->table_count,
		.migrations = em_sql_migrations,
	};
	store->ok = true;
	return store;
}

static int check_config(struct em_store *store, const struct em_store_config *config)
{
	int len = snprintf(store->path, sizeof(store->path), "%s/%s", config->directory,
			   EM_STORE_FILE);
	struct stat st;
	int r = 0;

	if (len >= (int)sizeof(store->path) - 64) /* room for the suffixes of copies */
		r = -ENAMETOOLONG;
	else if (stat(config->directory, &st) < 0)
		r = -errno;
	else if (!S_ISDIR(st.st_mode))
		r = -ENOTDIR;
	if (r < 0) {
		snprintf(open_message, sizeof(open_message),
			 "%s: %s; make it a directory that emberd may write, or choose another "
			 "one with [store] directory=",
			 config->directory, strerror(-r));
		return r;
	}
	r = em_db_check_tables(config->tables, config->table_count);
	if (r < 0)
		snprintf(open_message, sizeof(open_message),
			 "a history table has a name that SQL cannot have");
	return r;
}

static int start_thread(struct em_store *store)
{
	sigset_t all, before;
	int r;

	/* Signals are the loop's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = -pthread_create(&store->thread, NULL, em_store_writer_main, store);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

int em_store_open(struct em_store **ret, const struct em_store_config *config,
		  const char **ret_message)
{
	em_cleanup(em_store_freep) struct em_store *store = store_new(config);
	int r;

	if (ret_message)
		*ret_message = open_message;
	snprintf(open_message, sizeof(open_message), "no memory");
	if (!store)
		return -ENOMEM;
	r = check_config(store, config);
	if (r < 0)
		return r;
	r = em_store_writer_open(store);
	/* What can get better by itself does not keep the drives from being watched. */
	if (r == -EPROTONOSUPPORT || r == -ENOMEM) {
		snprintf(open_message, sizeof(open_message), "%s", store->detail);
		return r;
	}
	r = start_thread(store);
	if (r < 0) {
		snprintf(open_message, sizeof(open_message), "thread: %s", strerror(-r));
		return r;
	}
	*ret = em_steal(store);
	return 0;
}

static uint64_t count_waiting(const struct em_queue *queue)
{
	const struct em_queue_batch *waiting = &queue->waiting;
	uint64_t count = waiting->row_count + waiting->page_count + waiting->event_count +
			 waiting->capability_count + waiting->test_run_count;

	if (queue->drives_waiting)
		for (const struct em_queue_drive *d = waiting->drives; d; d = d->next)
			count += d->waiting;
	return count;
}

/* Waits for the writer until the grace is over, and for a write that is out a second more. */
static bool wait_for_end(struct em_store *store, uint64_t until_us)
{
	store->stopping = true;
	store->stop_at_us = until_us;
	pthread_cond_broadcast(&store->wake);
	while (!store->done && em_monotonic_us() < until_us + EM_US_PER_SEC)
		em_store_wait(store, &store->progress, until_us + EM_US_PER_SEC);
	if (store->done)
		return true;
	/* It is inside a write to a disk that does not answer: it keeps what it uses. */
	store->abandoned = true;
	while (store->showing)
		em_store_wait(store, &store->progress, em_monotonic_us() + EM_US_PER_SEC);
	return false;
}

struct em_store *em_store_close(struct em_store *store, uint64_t grace_us)
{
	pthread_t thread;
	uint64_t lost;
	bool done;

	if (!store)
		return NULL;
	thread = store->thread;
	pthread_mutex_lock(&store->lock);
	done = wait_for_end(store, em_monotonic_us() + grace_us);
	lost = count_waiting(&store->queue) + store->in_flight;
	if (lost > 0)
		em_error("%llu rows of history could not be written before the end: %s",
			 (unsigned long long)lost, store->path);
	pthread_mutex_unlock(&store->lock);
	if (!done) {
		pthread_detach(thread);
		return NULL;
	}
	pthread_join(thread, NULL);
	return em_store_free(store);
}

uint64_t em_store_count_lost(const struct em_store *store)
{
	return store->queue.dropped + store->refused;
}

bool em_store_starts_losing(struct em_store *store)
{
	if (store->losing || em_store_count_lost(store) == store->lost_told)
		return false;
	store->losing = true;
	return true;
}

void em_store_log_losing(void)
{
	em_error("rows of history are lost: too many wait for the disk, or there is no room for "
		 "them in memory");
}

/* With the lock held: lets the writer know, and gives the lock back. */
static int finish_put(struct em_store *store, int r)
{
	bool losing;

	if (r == 0) {
		store->puts++;
		pthread_cond_signal(&store->wake);
	} else {
		store->refused++;
	}
	losing = em_store_starts_losing(store);
	pthread_mutex_unlock(&store->lock);
	if (losing)
		em_store_log_losing();
	return r;
}

int em_store_put_row(struct em_store *store, unsigned table, const char *drive_id, uint32_t nsid,
		     int64_t at_us, const struct em_store_cell *cells)
{
	int r;

	if (table >= store->about.table_count)
		return -EINVAL;
	pthread_mutex_lock(&store->lock);
	r = em_queue_put_row(&store->queue, table, drive_id, nsid, at_us, cells,
			     store->about.tables[table].column_count);
	return finish_put(store, r);
}

int em_store_put_page(struct em_store *store, const char *drive_id, const char *page, uint32_t nsid,
		      int64_t at_us, const void *data, size_t len)
{
	int r;

	pthread_mutex_lock(&store->lock);
	r = em_queue_put_page(&store->queue, drive_id, page, nsid, at_us, data, len);
	return finish_put(store, r);
}

int em_store_put_drive(struct em_store *store, const struct em_store_drive *drive)
{
	int r;

	pthread_mutex_lock(&store->lock);
	r = em_queue_put_drive(&store->queue, drive);
	return finish_put(store, r);
}

int em_store_put_event(struct em_store *store, const struct em_event *event)
{
	int r;

	pthread_mutex_lock(&store->lock);
	r = em_queue_put_event(&store->queue, event);
	return finish_put(store, r);
}

int em_store_put_capability(struct em_store *store, const struct em_store_capability *capability,
			    bool remove)
{
	int r;

	pthread_mutex_lock(&store->lock);
	r = em_queue_put_capability(&store->queue, capability, remove);
	return finish_put(store, r);
}

int em_store_put_test_run(struct em_store *store, const struct em_store_test_run *run)
{
	int r;

	pthread_mutex_lock(&store->lock);
	r = em_queue_put_test_run(&store->queue, run);
	return finish_put(store, r);
}

int em_store_flush(struct em_store *store, uint64_t deadline_us)
{
	uint64_t wanted, failures, lost;
	int r = 1;

	pthread_mutex_lock(&store->lock);
	wanted = store->puts;
	failures = store->failures;
	lost = em_store_count_lost(store);
	while (r == 1) {
		if (em_store_count_lost(store) != lost)
			r = -EAGAIN;
		else if (store->puts_safe >= wanted)
			r = 0;
		else if (store->failures != failures || store->done)
			r = -EAGAIN;
		else if (em_monotonic_us() >= deadline_us)
			r = -ETIMEDOUT;
		else
			em_store_wait(store, &store->progress, deadline_us);
	}
	pthread_mutex_unlock(&store->lock);
	return r;
}

void em_store_get_status(struct em_store *store, struct em_store_status *ret)
{
	pthread_mutex_lock(&store->lock);
	*ret = (struct em_store_status){
		.ok = store->ok,
		.queued = count_waiting(&store->queue) + store->in_flight,
		.written = store->written,
		.dropped = em_store_count_lost(store),
	};
	memcpy(ret->detail, store->detail, sizeof(ret->detail));
	pthread_mutex_unlock(&store->lock);
}
