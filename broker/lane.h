/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * lane - runs jobs for one drive, one at a time, off the event loop.
 *
 * The loop keeps the queue and hands its thread one job; the thread hands it back through the
 * mailbox. When a job takes longer than our patience, the loop answers it with TIMEOUT (BUSY while
 * the kernel resets the controller) and takes no other job until that one has come back.
 *
 * Owns:     its thread (started at the first job), its device, every job between em_lane_submit()
 *           and the answer. em_lanes owns the mailbox that all lanes share.
 * Threads:  all functions are called on the loop's thread, callbacks too but for run and close.
 * Blocking: never. A thread that is stuck in the kernel is never joined; see em_lanes_idle().
 * Errors:   0 or -errno. -ENOBUFS: queue full. -ETIMEDOUT: a job is out longer than our patience.
 *           -EBUSY: the same, while the kernel resets the controller. -EAGAIN, -ENOMEM: no thread.
 * Limits:   EM_LANE_QUEUE_MAX jobs wait.
 */
#include <systemd/sd-event.h>

#include "broker/job.h"
#include "broker/sysfs.h"

#define EM_LANE_QUEUE_MAX 8u

struct em_lane;
struct em_lanes;

struct em_lane_ops {
	/* On the lane's thread. May take for ever. */
	void (*run)(void *device, struct em_job *job);
	/* The last call for this device, on the lane's thread, or the loop's if there is none. */
	void (*close)(void *device);
	/* A fresh look at what the kernel does with the controller. */
	enum em_link (*link)(void *self);
	/* job->outcome is the answer; the job stays the lane's. Called once for each job. */
	void (*answer)(void *self, struct em_job *job);
	/* A job answered long ago came back: the drive answers again. Not called when it is gone.
	 */
	void (*unstuck)(void *self, const struct em_job *job);
};

int em_lanes_new(sd_event *event, const struct em_lane_ops *ops, uint64_t patience_us,
		 struct em_lanes **ret);
/* Only when em_lanes_idle(). */
struct em_lanes *em_lanes_free(struct em_lanes *lanes);
EM_DEFINE_CLEANUP(struct em_lanes, em_lanes_free)
void em_lanes_set_patience(struct em_lanes *lanes, uint64_t patience_us);
/* True when no lane is left: all were retired and their threads have ended. */
bool em_lanes_idle(const struct em_lanes *lanes);
/* Ends the event loop as soon as no lane is left. */
void em_lanes_finish(struct em_lanes *lanes);

/* Takes the device over, also on failure. */
int em_lane_new(struct em_lanes *lanes, void *self, void *device, struct em_lane **ret);
/* Takes *job and sets it to NULL on success; on failure the caller keeps it. */
int em_lane_submit(struct em_lane *lane, struct em_job **job);
/*
 * The drive is gone: answers everything with GONE and forgets self. The lane frees itself when its
 * thread has come back, which may be never.
 */
void em_lane_retire(struct em_lane *lane);
