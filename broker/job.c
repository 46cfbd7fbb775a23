/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/job.h"

#include <errno.h>

int em_job_new(const struct em_job *draft, struct em_job **ret)
{
	em_cleanup(em_job_freep) struct em_job *job = malloc(sizeof(*job));

	if (!job)
		return -ENOMEM;
	*job = *draft;
	job->data = NULL;
	job->next = NULL;
	job->held = NULL;
	if (job->request.len > 0) {
		job->data = calloc(1, job->request.len);
		if (!job->data)
			return -ENOMEM;
	}
	*ret = em_steal(job);
	return 0;
}

void em_job_hold(struct em_job *job, size_t *held)
{
	job->held = held;
	*held += job->request.len;
}

struct em_job *em_job_free(struct em_job *job)
{
	if (!job)
		return NULL;
	if (job->held)
		*job->held -= job->request.len;
	free(job->data);
	free(job);
	return NULL;
}
