/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/drives/orders.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>

#include "lib/base/cleanup.h"
#include "lib/base/clock.h"

#define EM_X(id, name) [EM_COMMAND_##id] = name,
static const char *const command_names[] = { EM_COMMANDS(EM_X) };
#undef EM_X

const char *em_command_name(enum em_command_kind kind)
{
	return (unsigned)kind < EM_COMMAND_COUNT ? command_names[kind] : "unknown";
}

/* On the stack of a giver, who waits until it is out of the list. */
struct waiting {
	struct waiting *next;
	struct em_order *order;
	enum { WAITS, TAKEN, LATER, DONE } stage;
	int result;
};

struct em_orders {
	sd_event_source *io;
	int fd; /* eventfd: there is something in the list */
	em_order_fn *fn;
	void *userdata;
	pthread_mutex_t lock;
	pthread_cond_t done; /* some order was, or a giver has left */
	struct waiting *first, *later;
	uint64_t last_id;
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

/* Under the lock. */
static void end(struct em_orders *orders, struct waiting *waiting, int result)
{
	waiting->result = result;
	waiting->stage = DONE;
	pthread_cond_broadcast(&orders->done);
}

static void finish(struct em_orders *orders, struct waiting *waiting, int result)
{
	pthread_mutex_lock(&orders->lock);
	end(orders, waiting, result);
	pthread_mutex_unlock(&orders->lock);
}

static void keep_for_later(struct em_orders *orders, struct waiting *waiting)
{
	pthread_mutex_lock(&orders->lock);
	waiting->stage = LATER;
	orders->later = waiting;
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
		waiting->order->id = ++orders->last_id;
		orders->fn(orders->userdata, waiting->order);
		if (waiting->order->result == EM_ORDER_LATER)
			keep_for_later(orders, waiting);
		else
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

void em_orders_close(struct em_orders *orders)
{
	struct waiting *waiting;

	if (!orders)
		return;
	pthread_mutex_lock(&orders->lock);
	orders->closed = true;
	if (orders->later)
		end(orders, orders->later, -ESHUTDOWN);
	orders->later = NULL;
	pthread_mutex_unlock(&orders->lock);
	while ((waiting = take_first(orders)) != NULL)
		finish(orders, waiting, -ESHUTDOWN);
}

struct em_orders *em_orders_free(struct em_orders *orders)
{
	if (!orders)
		return NULL;
	em_orders_close(orders);
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

bool em_orders_may_wait(struct em_orders *orders)
{
	bool may;

	pthread_mutex_lock(&orders->lock);
	may = !orders->later;
	pthread_mutex_unlock(&orders->lock);
	return may;
}

bool em_orders_waits(struct em_orders *orders, uint64_t id)
{
	bool waits;

	pthread_mutex_lock(&orders->lock);
	waits = orders->later && orders->later->order->id == id;
	pthread_mutex_unlock(&orders->lock);
	return waits;
}

void em_orders_answer(struct em_orders *orders, uint64_t id, const struct em_command_answer *answer)
{
	pthread_mutex_lock(&orders->lock);
	if (orders->later && orders->later->order->id == id) {
		orders->later->order->answer = *answer;
		em_blob_ref(answer->read.data);
		end(orders, orders->later, 0);
		orders->later = NULL;
	}
	pthread_mutex_unlock(&orders->lock);
}

void em_orders_finish(struct em_orders *orders, uint64_t id, int result, const char *message)
{
	pthread_mutex_lock(&orders->lock);
	if (orders->later && orders->later->order->id == id) {
		struct em_order *order = orders->later->order;

		snprintf(order->message, sizeof(order->message), "%s", message);
		end(orders, orders->later, result);
		orders->later = NULL;
	}
	pthread_mutex_unlock(&orders->lock);
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
	while (waiting->stage == LATER) {
		wait_a_while(orders, deadline_us);
		if (waiting->stage != LATER || em_monotonic_us() < deadline_us)
			continue;
		orders->later = NULL;
		end(orders, waiting, -ETIMEDOUT);
	}
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
