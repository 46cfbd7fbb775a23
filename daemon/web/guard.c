/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/web/guard.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <time.h>
#include "lib/base/clock.h"

/* How late a deadline may be kept; the price of not sorting connections. */
#define ROUND_MS 250

#define NEWCOMERS_SHARE 4 /* a quarter */

struct em_guarded {
	LIST_ENTRY(em_guarded) link;
	TAILQ_ENTRY(em_guarded) list_link;
	struct em_guard_list *list; /* of its group; NULL = shut down */
	struct em_guard_group *group;
	int fd;
	bool known;
	uint64_t address;
	uint64_t deadline_us;
};

struct em_guard {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t thread;
	bool stop;
	LIST_HEAD(, em_guarded) all;
};

void em_guard_group_init(struct em_guard_group *group, unsigned max, unsigned address_max)
{
	*group = (struct em_guard_group){ .max = max, .address_max = address_max };
	TAILQ_INIT(&group->asking);
	TAILQ_INIT(&group->known);
	TAILQ_INIT(&group->answered);
}

/* To its end; NULL: out of any. */
static void move_to(struct em_guarded *g, struct em_guard_list *list)
{
	if (g->list)
		TAILQ_REMOVE(g->list, g, list_link);
	if (list)
		TAILQ_INSERT_TAIL(list, g, list_link);
	g->list = list;
}

static void shut(struct em_guarded *g)
{
	shutdown(g->fd, SHUT_RDWR);
	move_to(g, NULL);
}

static void shut_expired(struct em_guard *guard)
{
	uint64_t now = em_monotonic_us();
	struct em_guarded *g;

	LIST_FOREACH(g, &guard->all, link)
	{
		if (g->list && g->deadline_us <= now)
			shut(g);
	}
}

static void wait_round(struct em_guard *guard)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += ROUND_MS * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_nsec -= 1000000000L;
		until.tv_sec++;
	}
	pthread_cond_timedwait(&guard->wake, &guard->lock, &until);
}

static void *run(void *userdata)
{
	struct em_guard *guard = userdata;

	pthread_mutex_lock(&guard->lock);
	while (!guard->stop) {
		if (LIST_EMPTY(&guard->all)) {
			pthread_cond_wait(&guard->wake, &guard->lock);
			continue;
		}
		shut_expired(guard);
		wait_round(guard);
	}
	pthread_mutex_unlock(&guard->lock);
	return NULL;
}

int em_guard_new(struct em_guard **ret)
{
	struct em_guard *guard = calloc(1, sizeof(*guard));
	pthread_condattr_t attr;
	int r;

	if (!guard)
		return -ENOMEM;
	LIST_INIT(&guard->all);
	pthread_mutex_init(&guard->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&guard->wake, &attr);
	pthread_condattr_destroy(&attr);
	r = pthread_create(&guard->thread, NULL, run, guard);
	if (r) {
		pthread_cond_destroy(&guard->wake);
		pthread_mutex_destroy(&guard->lock);
		free(guard);
		return -r;
	}
	*ret = guard;
	return 0;
}

struct em_guard *em_guard_free(struct em_guard *guard)
{
	struct em_guarded *g;

	if (!guard)
		return NULL;
	pthread_mutex_lock(&guard->lock);
	guard->stop = true;
	pthread_cond_signal(&guard->wake);
	pthread_mutex_unlock(&guard->lock);
	pthread_join(guard->thread, NULL);
	while ((g = LIST_FIRST(&guard->all))) {
		LIST_REMOVE(g, link);
		free(g);
	}
	pthread_cond_destroy(&guard->wake);
	pthread_mutex_destroy(&guard->lock);
	free(guard);
	return NULL;
}

/* The first of a list, or the first of that address; NULL = none. */
static struct em_guarded *find_oldest(struct em_guard_list *list, const uint64_t *address)
{
	struct em_guarded *g;

	TAILQ_FOREACH(g, list, list_link)
	{
		if (!address || g->address == *address)
			return g;
	}
	return NULL;
}

/* Of a list, or of that address in it. */
static unsigned count(const struct em_guard_list *list, const uint64_t *address)
{
	const struct em_guarded *g;
	unsigned n = 0;

	TAILQ_FOREACH(g, list, list_link)
	{
		n += !address || g->address == *address;
	}
	return n;
}

/* Leaves less than max, of all or of that address. */
static void make_room(struct em_guard_group *group, unsigned max, const uint64_t *address)
{
	unsigned asking = count(&group->asking, address);
	struct em_guarded *g = NULL;

	if (asking + count(&group->known, address) + count(&group->answered, address) < max)
		return;
	if (asking <= max / NEWCOMERS_SHARE)
		g = find_oldest(&group->known, address);
	if (!g && asking <= max / NEWCOMERS_SHARE)
		g = find_oldest(&group->answered, address);
	if (!g)
		g = find_oldest(&group->asking, address);
	if (g)
		shut(g);
}

struct em_guarded *em_guard_add(struct em_guard *guard, struct em_guard_group *group, int fd,
				uint64_t address, uint64_t span_us)
{
	struct em_guarded *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->group = group;
	g->fd = fd;
	g->address = address;
	g->deadline_us = em_monotonic_us() + span_us;
	pthread_mutex_lock(&guard->lock);
	if (LIST_EMPTY(&guard->all))
		pthread_cond_signal(&guard->wake);
	LIST_INSERT_HEAD(&guard->all, g, link);
	if (group->address_max)
		make_room(group, group->address_max, &address);
	make_room(group, group->max, NULL);
	move_to(g, &group->asking);
	pthread_mutex_unlock(&guard->lock);
	return g;
}

static struct em_guard_list *waiting_list(const struct em_guarded *g)
{
	return g->known ? &g->group->known : &g->group->asking;
}

static void set_stage(struct em_guard *guard, struct em_guarded *g, uint64_t span_us, bool asking)
{
	if (!g)
		return;
	pthread_mutex_lock(&guard->lock);
	if (g->list) {
		g->deadline_us = em_monotonic_us() + span_us;
		move_to(g, asking ? waiting_list(g) : &g->group->answered);
	}
	pthread_mutex_unlock(&guard->lock);
}

void em_guard_await(struct em_guard *guard, struct em_guarded *guarded, uint64_t span_us)
{
	set_stage(guard, guarded, span_us, true);
}

void em_guard_reply(struct em_guard *guard, struct em_guarded *guarded, uint64_t span_us)
{
	set_stage(guard, guarded, span_us, false);
}

void em_guard_set_known(struct em_guard *guard, struct em_guarded *guarded, bool known)
{
	if (!guarded)
		return;
	pthread_mutex_lock(&guard->lock);
	if (guarded->known != known) {
		guarded->known = known;
		if (guarded->list && guarded->list != &guarded->group->answered)
			move_to(guarded, waiting_list(guarded));
	}
	pthread_mutex_unlock(&guard->lock);
}

void em_guard_remove(struct em_guard *guard, struct em_guarded *guarded)
{
	if (!guarded)
		return;
	pthread_mutex_lock(&guard->lock);
	move_to(guarded, NULL);
	LIST_REMOVE(guarded, link);
	pthread_mutex_unlock(&guard->lock);
	free(guarded);
}
