/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/drives/orders.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>

#include "lib/base/cleanup.h"
#include "lib/base/clock.h"

/* On the stack of a giver, who waits until it is out of the list. */
struct waiting {
	struct waiting *next;
	struct em_order *order;
	enum { WAITS, TAKEN, DONE } stage;
	int result;
};

struct em_orders {
	sd_event_source *io;
	int fd; /* eventfd: there is something in the list */
	em_order_fn *fn;
	void *userdata;
	pthread_mutex_t lock;
	pthread_cond_t done; /* some order was, or a giver has left */
	struct waiting *first;
	unsigned givers; /* inside em_orders_give() with an order of theirs */
	bool closed;
};

static struct waiting *take_first(struct em_orders *orders)
{
	struct waiting *waiting;

	pthread_mutex_lock(&orders->lock);
	waiting = orders->first;
	if (waiting) {
		orders->first = waiting->next;
		waiting->stage = TAKEN;
	}
	pthread_mutex_unlock(&orders->lock);
	return waiting;
}

static void finish(struct em_orders *orders, struct waiting *waiting, int result)
{
	pthread_mutex_lock(&orders->lock);
	waiting->result = result;
	waiting->stage = DONE;
	pthread_cond_broadcast(&orders->done);
	pthread_mutex_unlock(&orders->lock);
}

static int on_orders(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct em_orders *orders = userdata;
	struct waiting *waiting;
	eventfd_t count;

	(void)source;
	(void)revents;
	eventfd_read(fd, &count);
	while ((waiting = take_first(orders)) != NULL) {
		orders->fn(orders->userdata, waiting->order);
		finish(orders, waiting, waiting->order->result);
	}
	return 0;
}

static void init_locks(struct em_orders *orders)
{
	pthread_condattr_t attributes;

	pthread_mutex_init(&orders->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&orders->done, &attributes);
	pthread_condattr_destroy(&attributes);
}

int em_orders_new(struct em_orders **ret, sd_event *event, em_order_fn *fn, void *userdata)
{
	struct em_orders *orders = calloc(1, sizeof(*orders));
	int r;

	if (!orders)
		return -ENOMEM;
	init_locks(orders);
	orders->fn = fn;
	orders->userdata = userdata;
	orders->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = orders->fd < 0
		    ? -errno
		    : sd_event_add_io(event, &orders->io, orders->fd, EPOLLIN, on_orders, orders);
	if (r < 0) {
		em_orders_free(orders);
		return r;
	}
	*ret = orders;
	return 0;
}

struct em_orders *em_orders_free(struct em_orders *orders)
{
	struct waiting *waiting;

	if (!orders)
		return NULL;
	pthread_mutex_lock(&orders->lock);
	orders->closed = true;
	pthread_mutex_unlock(&orders->lock);
	while ((waiting = take_first(orders)) != NULL)
		finish(orders, waiting, -ESHUTDOWN);
	pthread_mutex_lock(&orders->lock);
	while (orders->givers > 0)
		pthread_cond_wait(&orders->done, &orders->lock);
	pthread_mutex_unlock(&orders->lock);
	sd_event_source_disable_unref(orders->io);
	em_closep(&orders->fd);
	pthread_cond_destroy(&orders->done);
	pthread_mutex_destroy(&orders->lock);
	free(orders);
	return NULL;
}

/* ---- on the giver's thread; under the lock ----------------------------------------------- */

static int enter(struct em_orders *orders, struct waiting *waiting)
{
	struct waiting **last = &orders->first;

	if (orders->closed)
		return -ESHUTDOWN;
	if (orders->givers == EM_ORDERS_MAX)
		return -EBUSY;
	while (*last)
		last = &(*last)->next;
	*last = waiting;
	orders->givers++;
	/* Fails only when the counter is full, and then the loop is told already. */
	eventfd_write(orders->fd, 1);
	return 0;
}

static void withdraw(struct em_orders *orders, struct waiting *waiting)
{
	for (struct waiting **at = &orders->first; *at; at = &(*at)->next) {
		if (*at == waiting) {
			*at = waiting->next;
			break;
		}
	}
	waiting->stage = DONE;
	waiting->result = -ETIMEDOUT;
}

/* Deadlines count sleep of the machine, condition variables cannot: so it is asked again. */
static void wait_a_while(struct em_orders *orders, uint64_t deadline_us)
{
	uint64_t now = em_monotonic_us(), left = deadline_us > now ? deadline_us - now : 0;
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	left += (uint64_t)until.tv_nsec / 1000;
	until.tv_sec += (time_t)(left / EM_US_PER_SEC);
	until.tv_nsec = (long)(left % EM_US_PER_SEC) * 1000;
	pthread_cond_timedwait(&orders->done, &orders->lock, &until);
}

static void wait_for(struct em_orders *orders, struct waiting *waiting, uint64_t deadline_us)
{
	while (waiting->stage == WAITS) {
		wait_a_while(orders, deadline_us);
		if (waiting->stage == WAITS && em_monotonic_us() >= deadline_us)
			withdraw(orders, waiting);
	}
	/* The loop is at it and never blocks. */
	while (waiting->stage == TAKEN)
		pthread_cond_wait(&orders->done, &orders->lock);
}

int em_orders_give(struct em_orders *orders, struct em_order *order, uint64_t deadline_us)
{
	struct waiting waiting = { .order = order };
	int r;

	order->result = 0;
	order->message[0] = 0;
	pthread_mutex_lock(&orders->lock);
	r = enter(orders, &waiting);
	if (r == 0) {
		wait_for(orders, &waiting, deadline_us);
		r = waiting.result;
		orders->givers--;
		pthread_cond_broadcast(&orders->done);
	}
	pthread_mutex_unlock(&orders->lock);
	return r;
}
