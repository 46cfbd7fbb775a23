/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "daemon/web/pool.h"
#include "tests/unit/runner.h"

static sem_t begun, go_on;
static atomic_uint runs, endings;

static void run(struct em_job *job, bool ending)
{
	(void)job;
	sem_post(&begun);
	if (!ending)
		sem_wait(&go_on);
	endings += ending;
	runs++;
}

static void put_all(struct em_pool *pool, struct em_job *jobs, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		jobs[i].run = run;
		ck_assert(em_pool_put(pool, &jobs[i]));
	}
}

START_TEST(what_waits_is_bounded_and_runs_once)
{
	struct em_job busy[EM_POOL_THREADS], jobs[EM_POOL_WAITING_MAX], one_more = { .run = run };
	struct em_pool *pool = NULL;

	runs = endings = 0;
	sem_init(&begun, 0, 0);
	sem_init(&go_on, 0, 0);
	ck_assert_int_eq(em_pool_new(&pool), 0);
	put_all(pool, busy, EM_POOL_THREADS);
	for (unsigned i = 0; i < EM_POOL_THREADS; i++)
		sem_wait(&begun);
	put_all(pool, jobs, EM_POOL_WAITING_MAX);
	ck_assert(!em_pool_put(pool, &one_more));
	for (unsigned i = 0; i < EM_POOL_THREADS + EM_POOL_WAITING_MAX; i++)
		sem_post(&go_on);
	em_pool_end(pool);
	ck_assert_uint_eq(runs, EM_POOL_THREADS + EM_POOL_WAITING_MAX);
	ck_assert(!em_pool_put(pool, &one_more));
	em_pool_free(pool);
}
END_TEST

static void *end(void *pool)
{
	em_pool_end(pool);
	return NULL;
}

START_TEST(what_waits_at_the_end_is_told)
{
	struct em_job busy[EM_POOL_THREADS], jobs[EM_POOL_WAITING_MAX];
	struct em_pool *pool = NULL;
	unsigned count = 0;
	pthread_t thread;

	runs = endings = 0;
	sem_init(&begun, 0, 0);
	sem_init(&go_on, 0, 0);
	ck_assert_int_eq(em_pool_new(&pool), 0);
	put_all(pool, busy, EM_POOL_THREADS);
	for (unsigned i = 0; i < EM_POOL_THREADS; i++)
		sem_wait(&begun);
	put_all(pool, jobs, 1);
	ck_assert_int_eq(pthread_create(&thread, NULL, end, pool), 0);
	/* One is refused as soon as the end has begun. */
	do {
		jobs[++count].run = run;
		poll(NULL, 0, 10);
	} while (count + 1 < EM_POOL_WAITING_MAX && em_pool_put(pool, &jobs[count]));
	for (unsigned i = 0; i < EM_POOL_THREADS; i++)
		sem_post(&go_on);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(runs, EM_POOL_THREADS + count);
	ck_assert_uint_eq(endings, count);
	em_pool_free(pool);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("all");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, what_waits_is_bounded_and_runs_once);
	tcase_add_test(tc, what_waits_at_the_end_is_told);
	return run_tests(tc);
}
