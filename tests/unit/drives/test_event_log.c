/* SPDX-License-Identifier: Apache-2.0 */
/* Events between the loop, a store that is slow, and those who wait. */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "daemon/drives/event_log.h"
#include "lib/base/cleanup.h"
#include "lib/base/clock.h"
#include "tests/unit/runner.h"

static struct em_event_log *event_log;
static int put_result;
static unsigned put_count;
static int64_t put_id;
static atomic_uint called;

/* The store, as far as the log knows it. */
int em_store_put_event(struct em_store *store, const struct em_event *event)
{
	ck_assert_ptr_nonnull(store);
	put_count++;
	put_id = event->id;
	return put_result;
}

static struct em_store *const some_store = (struct em_store *)&put_result;

static void start(void)
{
	put_result = 0;
	put_count = 0;
	atomic_store(&called, 0);
	event_log = em_event_log_new();
}

static void stop(void)
{
	event_log = em_event_log_free(event_log);
}

static int64_t add(struct em_store *store, const char *summary)
{
	struct em_event event = { 0 };

	strcpy(event.summary, summary);
	em_event_log_add(event_log, store, EM_EVENT_KIND_DRIVE_RENAMED, &event);
	return event.id;
}

static void count_call(void *userdata)
{
	(void)userdata;
	atomic_fetch_add(&called, 1);
}

static int64_t newest(void)
{
	int64_t oldest, last;

	em_event_log_bounds(event_log, &oldest, &last);
	return last;
}

START_TEST(each_kind_is_found_by_its_name)
{
	for (unsigned i = 0; i < EM_EVENT_KIND_COUNT; i++) {
		enum em_event_kind_id found = EM_EVENT_KIND_COUNT;

		ck_assert_int_eq(em_event_kind_find(em_event_kind_name(i), &found), 0);
		ck_assert_uint_eq(found, i);
		ck_assert_uint_lt(strlen(em_event_kind_name(i)),
				  sizeof(((struct em_event *)0)->kind));
	}
	ck_assert(em_event_kind_is_change(EM_EVENT_KIND_FIRMWARE_CHANGED));
	ck_assert(!em_event_kind_is_change(EM_EVENT_KIND_DRIVE_STATE));
	ck_assert_int_eq(em_event_kind_find("drive", &(enum em_event_kind_id){ 0 }), -ENOENT);
}
END_TEST

START_TEST(event_is_seen_only_once_it_is_on_the_disk)
{
	struct em_event read[4];
	int64_t first, second;

	ck_assert_int_eq(em_event_log_watch(event_log, count_call, &called), 0);
	first = add(some_store, "one");
	second = add(some_store, "two");
	ck_assert_int_gt(second, first);
	ck_assert_int_eq(put_id, second);
	ck_assert_uint_eq(em_event_log_read(event_log, 0, read, 4), 0);
	ck_assert_int_eq(newest(), 0);
	ck_assert_uint_eq(atomic_load(&called), 0);
	em_event_log_settled(event_log, first);
	ck_assert_uint_eq(em_event_log_read(event_log, 0, read, 4), 1);
	ck_assert_str_eq(read[0].summary, "one");
	ck_assert_str_eq(read[0].kind, "drive-renamed");
	ck_assert_uint_eq(atomic_load(&called), 1);
	em_event_log_settled(event_log, second);
	ck_assert_uint_eq(em_event_log_read(event_log, first, read, 4), 1);
	ck_assert_int_eq(read[0].id, second);
	/* Said again: nothing is new. */
	em_event_log_settled(event_log, second);
	ck_assert_uint_eq(atomic_load(&called), 2);
	em_event_log_unwatch(event_log, &called);
	em_event_log_settled(event_log, add(some_store, "three"));
	ck_assert_uint_eq(atomic_load(&called), 2);
}
END_TEST

/* Nothing to wait for: no store at all, or one that takes no more. */
START_TEST(event_without_a_store_is_seen_at_once)
{
	int64_t id = add(NULL, "alone");

	ck_assert_int_eq(newest(), id);
	put_result = -ENOMEM;
	ck_assert_int_eq(add(some_store, "refused"), newest());
	ck_assert_uint_eq(put_count, 1);
}
END_TEST

START_TEST(ids_ascend_after_a_clock_that_went_back)
{
	struct em_event old = { .id = em_realtime_us() + 3600 * (int64_t)EM_US_PER_SEC };

	em_event_log_restore(event_log, &old);
	ck_assert_int_eq(newest(), old.id);
	ck_assert_int_eq(add(NULL, "next"), old.id + 1);
	/* One that is no later than what is known is not restored. */
	old.id -= 10;
	em_event_log_restore(event_log, &old);
	ck_assert_int_eq(newest(), old.id + 11);
}
END_TEST

START_TEST(the_newest_are_kept)
{
	static struct em_event read[EM_EVENT_LOG_MAX + 1];
	int64_t ids[EM_EVENT_LOG_MAX + 10], oldest, last;

	for (unsigned i = 0; i < EM_COUNT(ids); i++)
		ids[i] = add(NULL, "");
	em_event_log_bounds(event_log, &oldest, &last);
	ck_assert_int_eq(oldest, ids[10]);
	ck_assert_int_eq(last, ids[EM_COUNT(ids) - 1]);
	ck_assert_uint_eq(em_event_log_read(event_log, 0, read, EM_COUNT(read)), EM_EVENT_LOG_MAX);
	ck_assert_int_eq(read[0].id, oldest);
	ck_assert_uint_eq(em_event_log_read(event_log, ids[500], read, 3), 3);
	for (unsigned i = 0; i < 3; i++)
		ck_assert_int_eq(read[i].id, ids[501 + i]);
	ck_assert_uint_eq(em_event_log_read(event_log, last, read, 3), 0);
}
END_TEST

START_TEST(watchers_are_limited)
{
	char who[EM_EVENT_WATCHERS_MAX];

	for (unsigned i = 0; i < EM_EVENT_WATCHERS_MAX; i++)
		ck_assert_int_eq(em_event_log_watch(event_log, count_call, &who[i]), 0);
	ck_assert_int_eq(em_event_log_watch(event_log, count_call, &called), -EBUSY);
	add(NULL, "");
	ck_assert_uint_eq(atomic_load(&called), EM_EVENT_WATCHERS_MAX);
	em_event_log_unwatch(event_log, &who[7]);
	ck_assert_int_eq(em_event_log_watch(event_log, count_call, &called), 0);
}
END_TEST

struct slow {
	pthread_barrier_t barrier;
	atomic_bool left;
};

static void slow_call(void *userdata)
{
	struct slow *slow = userdata;

	pthread_barrier_wait(&slow->barrier);
	pthread_barrier_wait(&slow->barrier);
	atomic_store(&slow->left, true);
}

static void *add_one(void *userdata)
{
	(void)userdata;
	add(NULL, "");
	return NULL;
}

static void *unwatch(void *userdata)
{
	struct slow *slow = userdata;

	em_event_log_unwatch(event_log, slow);
	return (void *)(uintptr_t)atomic_load(&slow->left);
}

START_TEST(unwatch_waits_for_the_call_that_runs)
{
	struct slow slow = { .left = false };
	pthread_t adder, leaver;
	void *left_first;

	pthread_barrier_init(&slow.barrier, NULL, 2);
	ck_assert_int_eq(em_event_log_watch(event_log, slow_call, &slow), 0);
	pthread_create(&adder, NULL, add_one, NULL);
	pthread_barrier_wait(&slow.barrier); /* it runs */
	pthread_create(&leaver, NULL, unwatch, &slow);
	pthread_barrier_wait(&slow.barrier);
	pthread_join(leaver, &left_first);
	pthread_join(adder, NULL);
	ck_assert_ptr_nonnull(left_first);
	pthread_barrier_destroy(&slow.barrier);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		each_kind_is_found_by_its_name,
		event_is_seen_only_once_it_is_on_the_disk,
		event_without_a_store_is_seen_at_once,
		ids_ascend_after_a_clock_that_went_back,
		the_newest_are_kept,
		watchers_are_limited,
		unwatch_waits_for_the_call_that_runs,
	};
	TCase *tc = tcase_create("event_log");

	tcase_add_checked_fixture(tc, start, stop);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(tc, tests[i]);
	return run_tests(tc);
}
