/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * pool - threads for work that may wait on the disk, so that those of the listeners never do: a
 * scrape must not stand in line behind histories.
 *
 * Owns:     its threads; jobs belong to the one who puts them, until they are run.
 * Threads:  put from any thread; new and free on one. Blocking: free waits for what runs.
 * Limits:   EM_POOL_THREADS at work, EM_POOL_WAITING_MAX waiting.
 */
#include <stdbool.h>
#include <sys/queue.h>

#define EM_POOL_THREADS	    2u
#define EM_POOL_WAITING_MAX 64u

struct em_job {
	STAILQ_ENTRY(em_job) link;
	/* Called once. ending: the pool goes away, make it short. The job may be freed in it. */
	void (*run)(struct em_job *job, bool ending);
};

struct em_pool;

int em_pool_new(struct em_pool **ret);
/* False: too many wait already, or the pool is ending; the job is not run then. */
bool em_pool_put(struct em_pool *pool, struct em_job *job);
/* Every job that was put is run before it returns; none can be put any more. */
void em_pool_end(struct em_pool *pool);
/* After em_pool_end(). */
struct em_pool *em_pool_free(struct em_pool *pool);
