/* SPDX-License-Identifier: Apache-2.0 */
/* Orders from threads of this test to a loop that it turns by hand. */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "daemon/drives/orders.h"
#include "lib/base/cleanup.h"
#include "lib/base/clock.h"
#include "tests/unit/runner.h"

static sd_event *event;
static struct em_orders *orders;
static unsigned carried_out;
static uint64_t last_id;

static void carry_out(void *userdata, struct em_order *order)
{
	ck_assert_ptr_eq(userdata, &carried_out);
	carried_out++;
	order->result = order->kind == EM_ORDER_RETIRE	  ? -EBUSY
			: order->kind >= EM_ORDER_COMMAND ? EM_ORDER_LATER
							  : 0;
	last_id = order->id;
	strcpy(order->message, order->drive_id);
}

static void start(void)
{
	carried_out = 0;
	ck_assert_int_ge(sd_event_new(&event), 0);
	ck_assert_int_eq(em_orders_new(&orders, event, carry_out, &carried_out), 0);
}

static void stop(void)
{
	orders = em_orders_free(orders);
	event = sd_event_unref(event);
}

struct giver {
	pthread_t thread;
	struct em_order order;
	uint64_t deadline_us;
	int result;
};

static void *give(void *userdata)
{
	struct giver *giver = userdata;

	giver->result = em_orders_give(orders, &giver->order, giver->deadline_us);
	return NULL;
}

static void begin(struct giver *giver, enum em_order_kind kind)
{
	giver->order = (struct em_order){ .kind = kind, .drive_id = "0123456789abcdef" };
	giver->deadline_us = em_monotonic_us() + 20 * EM_US_PER_SEC;
	pthread_create(&giver->thread, NULL, give, giver);
}

static void turn_until(unsigned count)
{
	while (carried_out < count)
		ck_assert_int_gt(sd_event_run(event, 20 * EM_US_PER_SEC), 0);
}

START_TEST(order_gets_its_answer)
{
	struct giver refresh, retire;

	begin(&refresh, EM_ORDER_REFRESH);
	begin(&retire, EM_ORDER_RETIRE);
	turn_until(2);
	pthread_join(refresh.thread, NULL);
	pthread_join(retire.thread, NULL);
	ck_assert_int_eq(refresh.result, 0);
	ck_assert_int_eq(retire.result, -EBUSY);
	ck_assert_str_eq(retire.order.message, "0123456789abcdef");
}
END_TEST

START_TEST(order_that_asks_the_drive_ends_later)
{
	struct giver test;

	begin(&test, EM_ORDER_SELF_TEST);
	turn_until(1);
	ck_assert(!em_orders_may_wait(orders));
	ck_assert(em_orders_waits(orders, last_id));
	em_orders_finish(orders, last_id + 1, 0, "somebody else's");
	ck_assert(em_orders_waits(orders, last_id));
	em_orders_finish(orders, last_id, -EPERM, "the policy");
	pthread_join(test.thread, NULL);
	ck_assert_int_eq(test.result, -EPERM);
	ck_assert_str_eq(test.order.message, "the policy");
	ck_assert(em_orders_may_wait(orders));
	em_orders_finish(orders, last_id, 0, "nobody waits");
}
END_TEST

START_TEST(command_brings_what_the_drive_gave)
{
	struct em_blob *data = em_blob_new("abcd", 4);
	const struct em_command_answer answer = { .read = { .status = EM_READ_OK, .data = data },
						  .result = 7 };
	struct giver command;

	begin(&command, EM_ORDER_COMMAND);
	turn_until(1);
	em_orders_answer(orders, last_id, &answer);
	pthread_join(command.thread, NULL);
	em_blob_unref(data);
	ck_assert_int_eq(command.result, 0);
	ck_assert_uint_eq(command.order.answer.result, 7);
	ck_assert_mem_eq(command.order.answer.read.data->data, "abcd", 4);
	em_blob_unref(command.order.answer.read.data);
}
END_TEST

/* Its giver has left; nobody may write into what was the giver's. */
START_TEST(command_that_comes_too_late_is_dropped)
{
	const struct em_command_answer answer = { .read = { .status = EM_READ_OK } };
	struct giver command;

	begin(&command, EM_ORDER_COMMAND);
	turn_until(1);
	em_orders_close(orders);
	pthread_join(command.thread, NULL);
	ck_assert_int_eq(command.result, -ESHUTDOWN);
	ck_assert(!em_orders_waits(orders, last_id));
	em_orders_answer(orders, last_id, &answer);
}
END_TEST

/* What was said to have failed must not be done afterwards. */
START_TEST(late_order_is_not_carried_out)
{
	struct em_order order = { .kind = EM_ORDER_REFRESH };

	ck_assert_int_eq(em_orders_give(orders, &order, em_monotonic_us() + 10 * EM_US_PER_MS),
			 -ETIMEDOUT);
	ck_assert_int_eq(em_orders_give(orders, &order, 0), -ETIMEDOUT);
	sd_event_run(event, 0);
	sd_event_run(event, 0);
	ck_assert_uint_eq(carried_out, 0);
}
END_TEST

START_TEST(orders_are_limited)
{
	static struct giver givers[EM_ORDERS_MAX + 1];
	unsigned turned_away = 0;

	for (unsigned i = 0; i < EM_COUNT(givers); i++)
		begin(&givers[i], EM_ORDER_REFRESH);
	/* Whoever comes last is sent away at once; the loop has not even looked. */
	while (turned_away == 0) {
		for (unsigned i = 0; i < EM_COUNT(givers) && turned_away == 0; i++)
			turned_away = pthread_tryjoin_np(givers[i].thread, NULL) == 0 ? i + 1 : 0;
	}
	ck_assert_int_eq(givers[turned_away - 1].result, -EBUSY);
	ck_assert_str_eq(givers[turned_away - 1].order.message, "");
	turn_until(EM_ORDERS_MAX);
	for (unsigned i = 0; i < EM_COUNT(givers); i++) {
		if (i == turned_away - 1)
			continue;
		pthread_join(givers[i].thread, NULL);
		ck_assert_int_eq(givers[i].result, 0);
	}
}
END_TEST

START_TEST(end_of_the_loop_frees_who_waits)
{
	struct giver giver;

	begin(&giver, EM_ORDER_REFRESH);
	/* Not looked at, but there: poll() of the loop's own descriptor tells. */
	ck_assert_int_ge(sd_event_prepare(event), 0);
	ck_assert_int_gt(sd_event_wait(event, 20 * EM_US_PER_SEC), 0);
	orders = em_orders_free(orders);
	pthread_join(giver.thread, NULL);
	ck_assert_int_eq(giver.result, -ESHUTDOWN);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		order_gets_its_answer,
		order_that_asks_the_drive_ends_later,
		command_brings_what_the_drive_gave,
		command_that_comes_too_late_is_dropped,
		late_order_is_not_carried_out,
		orders_are_limited,
		end_of_the_loop_frees_who_waits,
	};
	TCase *tc = tcase_create("orders");

	tcase_add_checked_fixture(tc, start, stop);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(tc, tests[i]);
	return run_tests(tc);
}
