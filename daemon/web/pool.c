/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/web/pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

struct em_pool {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t threads[EM_POOL_THREADS];
	unsigned thread_count;
	bool ending;
	unsigned waiting_count;
	STAILQ_HEAD(, em_job) waiting;
};

static void *work(void *userdata)
{
	struct em_pool *pool = userdata;
	struct em_job *job;
	bool ending;

	pthread_mutex_lock(&pool->lock);
	for (;;) {
		job = STAILQ_FIRST(&pool->waiting);
		ending = pool->ending;
		if (!job && ending)
			break;
		if (!job) {
			pthread_cond_wait(&pool->wake, &pool->lock);
			continue;
		}
		STAILQ_REMOVE_HEAD(&pool->waiting, link);
		pool->waiting_count--;
		pthread_mutex_unlock(&pool->lock);
		job->run(job, ending);
		pthread_mutex_lock(&pool->lock);
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

int em_pool_new(struct em_pool **ret)
{
	struct em_pool *pool = calloc(1, sizeof(*pool));
	int r = 0;

	if (!pool)
		return -ENOMEM;
	STAILQ_INIT(&pool->waiting);
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->wake, NULL);
	while (r == 0 && pool->thread_count < EM_POOL_THREADS) {
		r = -pthread_create(&pool->threads[pool->thread_count], NULL, work, pool);
		pool->thread_count += r == 0;
	}
	if (r < 0) {
		em_pool_end(pool);
		em_pool_free(pool);
		return r;
	}
	*ret = pool;
	return 0;
}

bool em_pool_put(struct em_pool *pool, struct em_job *job)
{
	bool taken;

	pthread_mutex_lock(&pool->lock);
	taken = !pool->ending && pool->waiting_count < EM_POOL_WAITING_MAX;
	if (taken) {
		STAILQ_INSERT_TAIL(&pool->waiting, job, link);
		pool->waiting_count++;
		pthread_cond_signal(&pool->wake);
	}
	pthread_mutex_unlock(&pool->lock);
	return taken;
}

void em_pool_end(struct em_pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	pool->ending = true;
	pthread_cond_broadcast(&pool->wake);
	pthread_mutex_unlock(&pool->lock);
	for (; pool->thread_count > 0; pool->thread_count--)
		pthread_join(pool->threads[pool->thread_count - 1], NULL);
}

struct em_pool *em_pool_free(struct em_pool *pool)
{
	if (!pool)
		return NULL;
	pthread_cond_destroy(&pool->wake);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
	return NULL;
}
