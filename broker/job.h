/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * job - one request on its way to a drive and back.
 *
 * Owns:    its data. While a lane's thread runs the job, outcome and data are that thread's; the
 *          rest is written before and only read then.
 * Errors:  -ENOMEM.
 */
#include <stdbool.h>
#include <sys/types.h>

#include "broker/execute.h"
#include "broker/operations.h"
#include "lib/base/cleanup.h"

struct em_job {
	struct em_ipc_request request;
	const struct em_operation *operation;
	uint64_t peer; /* where the answer goes, if it is still there */
	pid_t peer_pid;
	uid_t peer_uid;
	uint64_t queued_us;
	uint8_t *data; /* request.len bytes */
	size_t *held;  /* NULL, or where those bytes count until the job is freed */
	struct em_outcome outcome;
	bool answered; /* loop: the client has its answer; what comes now is late */
	struct em_job *next;
};

/* A copy of the draft with room for its data: only after the checks have bounded request.len. */
int em_job_new(const struct em_job *draft, struct em_job **ret);
/* Counts the job's bytes in *held, which has to outlive the job. */
void em_job_hold(struct em_job *job, size_t *held);
struct em_job *em_job_free(struct em_job *job);
EM_DEFINE_CLEANUP(struct em_job, em_job_free)
