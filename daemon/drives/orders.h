/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * orders - what a person asks of emberd about a drive, carried from an HTTP thread to the loop.
 *
 * Owns:     its event source and descriptor; an order belongs to its giver, who waits.
 * Threads:  new and free on the loop thread; give from any other, which waits for the loop.
 * Blocking: give, at most until its deadline.
 * Limits:   EM_ORDERS_MAX wait at once (-EBUSY).
 */
#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>
#include "daemon/drives/snapshot.h"

#define EM_ORDERS_MAX 64u

enum em_order_kind {
	EM_ORDER_REFRESH,  /* read everything in the plan now */
	EM_ORDER_RETIRE,   /* a removed drive was taken away on purpose */
	EM_ORDER_UNRETIRE, /* it was not: it is removed again */
};

struct em_order {
	enum em_order_kind kind;
	char drive_id[EM_DRIVE_ID_SIZE];
	bool refused; /* REFRESH: ask again what was refused before, too */
	/* The answer: 0, -ENOENT no such drive, -EBUSY its state does not allow it. */
	int result;
	char message[200]; /* for people, when result is not 0 */
};

typedef void em_order_fn(void *userdata, struct em_order *order); /* on the loop; sets result */

struct em_orders;
int em_orders_new(struct em_orders **ret, sd_event *event, em_order_fn *fn, void *userdata);
/* Whoever waits gets -ESHUTDOWN. */
struct em_orders *em_orders_free(struct em_orders *orders);
/*
 * The order's result, or -ETIMEDOUT (monotonic deadline_us; it was not and will not be carried
 * out), -EBUSY too many wait (without a message), -ESHUTDOWN.
 */
int em_orders_give(struct em_orders *orders, struct em_order *order, uint64_t deadline_us);
