/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/web/stream.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <time.h>
#include "daemon/web/events.h"
#include "lib/base/buf.h"
#include "lib/base/cleanup.h"
#include "lib/base/clock.h"

#define BATCH		  32u /* events read at once */
#define ROUNDS		  16u /* batches for one stream before others get their turn */
#define BUFFER_MAX	  ((size_t)256 << 10)
#define BLOCK_BYTES	  4096 /* what libmicrohttpd asks for at once, when it is not chunked */
#define STORE_DEADLINE_US (500 * EM_US_PER_MS)
#define STORE_RETRY_US	  EM_US_PER_SEC
#define NEVER		  UINT64_MAX

struct stream {
	LIST_ENTRY(stream) link;
	struct em_streams *all;
	struct em_stream_client client;
	int fd; /* borrowed of the connection */
	struct em_event_filter filter;
	/*
	 * While it waits, its connection is suspended and all that follows is the thread's; else
	 * it belongs to the one that serves the connection.
	 */
	bool waiting;
	bool ended;
	int64_t position; /* id of the last event that was looked at */
	struct em_buf buf;
	size_t taken;	   /* of buf */
	uint64_t wrote_us; /* when something was last put into buf */
	uint64_t retry_us; /* the store could not be read: not before */
};

struct em_streams {
	struct em_event_log *log;
	struct em_store *store;
	struct em_tokens *tokens;
	struct em_guard *guard;
	pthread_t thread;
	pthread_cond_t wake;
	pthread_mutex_t lock; /* for all that follows, and for each stream's `waiting` */
	bool ending, news;
	bool full; /* somebody found no room: see whether all clients are still there */
	unsigned count;
	LIST_HEAD(, stream) streams;
	struct em_event batch[BATCH]; /* the thread's */
};

EM_DEFINE_CLEANUP(struct em_store_reader, em_store_reader_close)

/* ---- what a stream says ------------------------------------------------------------------ */

static void add_event(struct stream *stream, const struct em_event *event)
{
	em_cleanup(em_freep) char *text = NULL;
	json_t *json;

	stream->position = event->id;
	if (!em_event_wanted(&stream->filter, event))
		return;
	json = em_json_event(event);
	text = json ? json_dumps(json, JSON_COMPACT) : NULL;
	json_decref(json);
	if (!text) {
		stream->ended = true;
		return;
	}
	em_buf_addf(&stream->buf, "id: %lld\nevent: %s\ndata: ", (long long)event->id, event->kind);
	em_buf_adds(&stream->buf, text);
	em_buf_adds(&stream->buf, "\n\n");
}

static int add_stored(void *userdata, const struct em_event *event)
{
	add_event(userdata, event);
	return 0;
}

/* Those before `oldest`, the first that is in memory. True: there may be more at once. */
static bool read_store(struct stream *stream, int64_t oldest, uint64_t now_us)
{
	em_cleanup(em_store_reader_closep) struct em_store_reader *reader = NULL;
	struct em_store_event_range range = {
		.after_id = stream->position,
		.before_id = oldest,
		.drive_id = stream->filter.drive[0] ? stream->filter.drive : NULL,
		.limit = BATCH,
		.deadline_us = em_monotonic_us() + STORE_DEADLINE_US,
	};
	int r;

	if (now_us < stream->retry_us)
		return false;
	stream->retry_us = 0;
	r = em_store_reader_open(stream->all->store, &reader);
	if (r >= 0)
		r = em_store_events(reader, &range, add_stored, stream);
	if (r < 0)
		stream->retry_us = now_us + STORE_RETRY_US;
	else if (r == 0)
		stream->position = oldest - 1;
	return r >= 0;
}

static bool read_memory(struct stream *stream, int64_t oldest)
{
	struct em_streams *all = stream->all;
	unsigned count = em_event_log_read(all->log, stream->position, all->batch, BATCH);
	int64_t oldest_now, newest;

	/* Did any leave memory in between? Then they are the store's by now. */
	em_event_log_bounds(all->log, &oldest_now, &newest);
	if (all->store && oldest_now != oldest && oldest_now > stream->position)
		return true;
	for (unsigned i = 0; i < count; i++)
		add_event(stream, &all->batch[i]);
	return count == BATCH;
}

static bool read_batch(struct stream *stream, uint64_t now_us)
{
	int64_t oldest, newest;

	em_event_log_bounds(stream->all->log, &oldest, &newest);
	if (stream->all->store && stream->position < oldest - 1)
		return read_store(stream, oldest, now_us);
	return read_memory(stream, oldest);
}

/* Puts what is new into the buffer of a stream that waits. True: it wants another turn. */
static bool fill(struct stream *stream, uint64_t now_us)
{
	struct em_streams *all = stream->all;
	const char *token = stream->client.token;
	bool more = true;

	if (*token && !em_tokens_is_valid(all->tokens, token, em_realtime_us())) {
		stream->ended = true;
		return false;
	}
	for (unsigned i = 0; more && !stream->buf.len && i < ROUNDS; i++)
		more = read_batch(stream, now_us);
	if (!stream->buf.len && now_us - stream->wrote_us >= EM_STREAM_ALIVE_US)
		em_buf_adds(&stream->buf, ": alive\n\n");
	if (em_buf_failed(&stream->buf))
		stream->ended = true;
	if (stream->buf.len)
		stream->wrote_us = now_us;
	return more && !stream->buf.len;
}

/* ---- the thread -------------------------------------------------------------------------- */

/* With the lock held. */
static uint64_t next_turn_us(struct em_streams *all)
{
	uint64_t next = NEVER;
	struct stream *stream;

	LIST_FOREACH(stream, &all->streams, link)
	{
		uint64_t own = stream->wrote_us + EM_STREAM_ALIVE_US;

		if (!stream->waiting)
			continue;
		if (stream->retry_us && stream->retry_us < own)
			own = stream->retry_us;
		if (own < next)
			next = own;
	}
	return next;
}

/* With the lock held. Returns at the time, or when there is news. */
static void wait_until(struct em_streams *all, uint64_t until_us)
{
	uint64_t now = em_monotonic_us();
	struct timespec until;

	if (until_us == NEVER) {
		pthread_cond_wait(&all->wake, &all->lock);
		return;
	}
	if (until_us <= now)
		return;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until_us -= now;
	until.tv_sec += (time_t)(until_us / EM_US_PER_SEC);
	until.tv_nsec += (long)(until_us % EM_US_PER_SEC) * 1000;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_nsec -= 1000000000L;
		until.tv_sec++;
	}
	pthread_cond_timedwait(&all->wake, &all->lock, &until);
}

/* A connection that is suspended is not watched by libmicrohttpd, so a client may long be gone. */
static void end_abandoned(struct stream *const *waiting, unsigned count)
{
	struct pollfd fds[EM_STREAMS_MAX];

	for (unsigned i = 0; i < count; i++)
		fds[i] = (struct pollfd){ .fd = waiting[i]->fd, .events = POLLRDHUP };
	if (poll(fds, count, 0) <= 0)
		return;
	for (unsigned i = 0; i < count; i++)
		waiting[i]->ended |= fds[i].revents != 0;
}

/* With the lock held: its connection goes on. */
static void resume(struct stream *stream)
{
	stream->waiting = false;
	MHD_resume_connection(stream->client.connection);
}

/* With the lock held, but not while it works: a stream that waits cannot go away meanwhile. */
static void serve(struct em_streams *all)
{
	struct stream *waiting[EM_STREAMS_MAX], *stream;
	uint64_t now = em_monotonic_us();
	unsigned count = 0;
	bool more = false, full = all->full;

	LIST_FOREACH(stream, &all->streams, link)
	if (stream->waiting)
		waiting[count++] = stream;
	all->news = all->full = false;
	pthread_mutex_unlock(&all->lock);
	if (full)
		end_abandoned(waiting, count);
	for (unsigned i = 0; i < count; i++)
		more |= fill(waiting[i], now);
	pthread_mutex_lock(&all->lock);
	for (unsigned i = 0; i < count; i++)
		if (waiting[i]->buf.len || waiting[i]->ended)
			resume(waiting[i]);
	all->news |= more;
}

static void *run(void *userdata)
{
	struct em_streams *all = userdata;
	struct stream *stream;

	pthread_mutex_lock(&all->lock);
	while (!all->ending) {
		uint64_t next = next_turn_us(all);

		if (!all->news && next > em_monotonic_us())
			wait_until(all, next);
		else
			serve(all);
	}
	LIST_FOREACH(stream, &all->streams, link)
	if (stream->waiting)
		resume(stream);
	pthread_mutex_unlock(&all->lock);
	return NULL;
}

/* Events became visible, or a token was revoked: on any thread, and quick. */
static void on_news(void *userdata)
{
	struct em_streams *all = userdata;

	pthread_mutex_lock(&all->lock);
	all->news = true;
	pthread_cond_signal(&all->wake);
	pthread_mutex_unlock(&all->lock);
}

/* ---- start and end ----------------------------------------------------------------------- */

static int start(struct em_streams *all)
{
	int r = all->log ? em_event_log_watch(all->log, on_news, all) : 0;

	if (r < 0)
		return r;
	r = pthread_create(&all->thread, NULL, run, all);
	if (r && all->log)
		em_event_log_unwatch(all->log, all);
	if (r == 0 && all->tokens)
		em_tokens_watch(all->tokens, on_news, all);
	return -r;
}

int em_streams_new(struct em_streams **ret, const struct em_context *context,
		   struct em_guard *guard)
{
	struct em_streams *all = calloc(1, sizeof(*all));
	pthread_condattr_t attr;
	int r;

	if (!all)
		return -ENOMEM;
	all->log = context->events;
	all->store = context->store;
	all->tokens = context->tokens;
	all->guard = guard;
	LIST_INIT(&all->streams);
	pthread_mutex_init(&all->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&all->wake, &attr);
	pthread_condattr_destroy(&attr);
	r = start(all);
	if (r < 0) {
		em_streams_free(all);
		return r;
	}
	*ret = all;
	return 0;
}

void em_streams_end(struct em_streams *all)
{
	if (all->tokens)
		em_tokens_watch(all->tokens, NULL, NULL);
	if (all->log)
		em_event_log_unwatch(all->log, all);
	pthread_mutex_lock(&all->lock);
	all->ending = true;
	pthread_cond_signal(&all->wake);
	pthread_mutex_unlock(&all->lock);
	pthread_join(all->thread, NULL);
}

struct em_streams *em_streams_free(struct em_streams *all)
{
	if (!all)
		return NULL;
	pthread_cond_destroy(&all->wake);
	pthread_mutex_destroy(&all->lock);
	free(all);
	return NULL;
}

/* ---- one stream, on the thread that serves its connection -------------------------------- */

/* libmicrohttpd wants more, so all before was taken. */
static ssize_t take(void *userdata, uint64_t at, char *dst, size_t max)
{
	struct stream *stream = userdata;
	struct em_streams *all = stream->all;
	size_t n = stream->buf.len - stream->taken;
	ssize_t r = 0;

	(void)at;
	em_guard_reply(all->guard, stream->client.guarded, EM_STREAM_SPAN_US);
	pthread_mutex_lock(&all->lock);
	if (all->ending || stream->ended) {
		r = MHD_CONTENT_READER_END_OF_STREAM;
	} else if (!n) {
		em_buf_done(&stream->buf);
		stream->taken = 0;
		MHD_suspend_connection(stream->client.connection);
		stream->waiting = true;
		all->news = true;
		pthread_cond_signal(&all->wake);
	}
	pthread_mutex_unlock(&all->lock);
	if (r < 0 || !n)
		return r;
	n = n < max ? n : max;
	memcpy(dst, stream->buf.data + stream->taken, n);
	stream->taken += n;
	return (ssize_t)n;
}

static void close_stream(void *userdata)
{
	struct stream *stream = userdata;
	struct em_streams *all = stream->all;

	pthread_mutex_lock(&all->lock);
	LIST_REMOVE(stream, link);
	all->count--;
	pthread_mutex_unlock(&all->lock);
	em_buf_done(&stream->buf);
	free(stream);
}

/* With the lock held. */
static unsigned count_of(const struct em_streams *all, uint64_t address)
{
	const struct stream *stream;
	unsigned count = 0;

	LIST_FOREACH(stream, &all->streams, link)
	count += stream->client.address == address;
	return count;
}

static bool enlist(struct em_streams *all, struct stream *stream)
{
	bool fits;

	pthread_mutex_lock(&all->lock);
	fits = !all->ending && all->log && all->count < EM_STREAMS_MAX &&
	       count_of(all, stream->client.address) < EM_STREAMS_OF_ONE;
	if (fits) {
		LIST_INSERT_HEAD(&all->streams, stream, link);
		all->count++;
	} else {
		all->news = all->full = true;
		pthread_cond_signal(&all->wake);
	}
	pthread_mutex_unlock(&all->lock);
	return fits;
}

struct MHD_Response *em_stream_open(struct em_streams *all, const struct em_stream_client *client,
				    const struct em_reply *reply)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(client->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct stream *stream = info ? calloc(1, sizeof(*stream)) : NULL;
	struct MHD_Response *response;

	if (!stream)
		return NULL;
	stream->all = all;
	stream->fd = info->connect_fd;
	stream->client = *client;
	stream->filter = reply->events_filter;
	stream->position = reply->events_after;
	stream->wrote_us = em_monotonic_us();
	em_buf_init(&stream->buf, BUFFER_MAX);
	em_buf_adds(&stream->buf, "retry: 3000\n\n");
	if (em_buf_failed(&stream->buf) || !enlist(all, stream)) {
		em_buf_done(&stream->buf);
		free(stream);
		return NULL;
	}
	response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES, take, stream,
						     close_stream);
	if (!response)
		close_stream(stream);
	return response;
}
