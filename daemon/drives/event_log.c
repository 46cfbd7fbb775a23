/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/drives/event_log.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/cleanup.h"
#include "lib/base/clock.h"

static const struct {
	const char *name;
	bool change;
} kinds[EM_EVENT_KIND_COUNT] = {
#define EM_X(id, name, change) [EM_EVENT_KIND_##id] = { name, change },
	EM_EVENT_KINDS(EM_X)
#undef EM_X
};

struct watcher {
	em_event_log_fn *fn; /* NULL = the place is free */
	void *userdata;
	unsigned running; /* calls that have not come back */
};

struct em_event_log {
	pthread_mutex_t lock;
	pthread_cond_t idle; /* some watcher's call came back */
	struct watcher watchers[EM_EVENT_WATCHERS_MAX];
	int64_t last_id;    /* given last */
	int64_t visible_id; /* all events up to this one may be shown */
	uint64_t counts[EM_EVENT_KIND_COUNT];
	uint64_t added; /* ever; the next one goes to added % EM_EVENT_LOG_MAX */
	struct em_event events[EM_EVENT_LOG_MAX]; /* ids ascend from the oldest on */
};

const char *em_event_kind_name(enum em_event_kind_id kind)
{
	return (unsigned)kind < EM_EVENT_KIND_COUNT ? kinds[kind].name : "unknown";
}

bool em_event_kind_is_change(enum em_event_kind_id kind)
{
	return (unsigned)kind < EM_EVENT_KIND_COUNT && kinds[kind].change;
}

int em_event_kind_find(const char *name, enum em_event_kind_id *ret)
{
	for (unsigned i = 0; i < EM_EVENT_KIND_COUNT; i++) {
		if (strcmp(kinds[i].name, name) == 0) {
			*ret = i;
			return 0;
		}
	}
	return -ENOENT;
}

struct em_event_log *em_event_log_new(void)
{
	struct em_event_log *log = calloc(1, sizeof(*log));

	if (!log)
		return NULL;
	pthread_mutex_init(&log->lock, NULL);
	pthread_cond_init(&log->idle, NULL);
	return log;
}

struct em_event_log *em_event_log_free(struct em_event_log *log)
{
	if (!log)
		return NULL;
	pthread_cond_destroy(&log->idle);
	pthread_mutex_destroy(&log->lock);
	free(log);
	return NULL;
}

/* ---- the ring; under the lock ------------------------------------------------------------ */

static unsigned held(const struct em_event_log *log)
{
	return log->added < EM_EVENT_LOG_MAX ? (unsigned)log->added : EM_EVENT_LOG_MAX;
}

/* The i-th oldest that is held. */
static const struct em_event *at(const struct em_event_log *log, unsigned i)
{
	return &log->events[(log->added - held(log) + i) % EM_EVENT_LOG_MAX];
}

/* How many of those held have ids up to this one. */
static unsigned up_to(const struct em_event_log *log, int64_t id)
{
	unsigned low = 0, high = held(log);

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (at(log, middle)->id <= id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void append(struct em_event_log *log, const struct em_event *event)
{
	log->events[log->added % EM_EVENT_LOG_MAX] = *event;
	log->added++;
	log->last_id = event->id;
}

/* ---- those who wait ---------------------------------------------------------------------- */

static void tell_watchers(struct em_event_log *log)
{
	pthread_mutex_lock(&log->lock);
	for (unsigned i = 0; i < EM_EVENT_WATCHERS_MAX; i++) {
		struct watcher *watcher = &log->watchers[i];
		em_event_log_fn *fn = watcher->fn;
		void *userdata = watcher->userdata;

		if (!fn)
			continue;
		watcher->running++;
		pthread_mutex_unlock(&log->lock);
		fn(userdata);
		pthread_mutex_lock(&log->lock);
		watcher->running--;
		pthread_cond_broadcast(&log->idle);
	}
	pthread_mutex_unlock(&log->lock);
}

int em_event_log_watch(struct em_event_log *log, em_event_log_fn *fn, void *userdata)
{
	int r = -EBUSY;

	pthread_mutex_lock(&log->lock);
	for (unsigned i = 0; r < 0 && i < EM_EVENT_WATCHERS_MAX; i++) {
		struct watcher *watcher = &log->watchers[i];

		/* One that was given up may still be called for the last time. */
		if (watcher->fn || watcher->running > 0)
			continue;
		watcher->fn = fn;
		watcher->userdata = userdata;
		r = 0;
	}
	pthread_mutex_unlock(&log->lock);
	return r;
}

void em_event_log_unwatch(struct em_event_log *log, void *userdata)
{
	pthread_mutex_lock(&log->lock);
	for (unsigned i = 0; i < EM_EVENT_WATCHERS_MAX; i++) {
		struct watcher *watcher = &log->watchers[i];

		if (!watcher->fn || watcher->userdata != userdata)
			continue;
		watcher->fn = NULL;
		while (watcher->running > 0)
			pthread_cond_wait(&log->idle, &log->lock);
	}
	pthread_mutex_unlock(&log->lock);
}

/* ---- events ------------------------------------------------------------------------------ */

void em_event_log_restore(struct em_event_log *log, const struct em_event *event)
{
	pthread_mutex_lock(&log->lock);
	if (event->id > log->last_id) {
		append(log, event);
		log->visible_id = event->id;
	}
	pthread_mutex_unlock(&log->lock);
}

int em_event_log_add(struct em_event_log *log, struct em_store *store, enum em_event_kind_id kind,
		     struct em_event *event)
{
	int r = 0;

	event->at_us = em_realtime_us();
	snprintf(event->kind, sizeof(event->kind), "%s", em_event_kind_name(kind));
	pthread_mutex_lock(&log->lock);
	/* A clock that was set back must not make ids that were given before. */
	event->id = event->at_us > log->last_id ? event->at_us : log->last_id + 1;
	append(log, event);
	log->counts[kind]++;
	pthread_mutex_unlock(&log->lock);
	if (store)
		r = em_store_put_event(store, event);
	if (!store || r < 0)
		em_event_log_settled(log, event->id);
	return r;
}

void em_event_log_settled(void *userdata, int64_t id)
{
	struct em_event_log *log = userdata;
	bool more;

	pthread_mutex_lock(&log->lock);
	more = id > log->visible_id;
	if (more)
		log->visible_id = id;
	pthread_mutex_unlock(&log->lock);
	if (more)
		tell_watchers(log);
}

void em_event_log_counts(struct em_event_log *log, uint64_t ret[EM_EVENT_KIND_COUNT])
{
	pthread_mutex_lock(&log->lock);
	memcpy(ret, log->counts, sizeof(log->counts));
	pthread_mutex_unlock(&log->lock);
}

void em_event_log_bounds(struct em_event_log *log, int64_t *ret_oldest, int64_t *ret_newest)
{
	unsigned visible;

	pthread_mutex_lock(&log->lock);
	visible = up_to(log, log->visible_id);
	*ret_oldest = visible ? at(log, 0)->id : 0;
	*ret_newest = visible ? at(log, visible - 1)->id : 0;
	pthread_mutex_unlock(&log->lock);
}

unsigned em_event_log_read(struct em_event_log *log, int64_t after, struct em_event *ret,
			   unsigned max)
{
	unsigned count = 0, visible;

	pthread_mutex_lock(&log->lock);
	visible = up_to(log, log->visible_id);
	for (unsigned i = up_to(log, after); i < visible && count < max; i++)
		ret[count++] = *at(log, i);
	pthread_mutex_unlock(&log->lock);
	return count;
}
