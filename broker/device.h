/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * device - the lane's side of one controller: its node, opened at the first job and kept.
 *
 * Kept, because the descriptor is bound to the controller and the name is not: after a swap
 * /dev/nvme0 can be another drive, while an old descriptor answers ENODEV. Opening compares the
 * serial that was announced with the one in sysfs. The node is closed as soon as the controller
 * is gone, so that its number becomes free again; opening again after EAGAIN is the next job's.
 *
 * Owns:     the descriptor. Threads: created on the loop, then the lane's thread alone, then freed
 *           by whoever holds it last. Blocking: run and free may hang in the kernel.
 */
#include "broker/job.h"

struct em_device;

/* name: nvme0; sysfs: its directory; serial: as announced. -ENOMEM. */
int em_device_new(const char *name, const char *sysfs, const char *serial, struct em_device **ret);
struct em_device *em_device_free(struct em_device *device);
EM_DEFINE_CLEANUP(struct em_device, em_device_free)

/* Fills job->outcome and job->data. A reset in progress becomes EM_ANSWER_BUSY. */
void em_device_run(struct em_device *device, struct em_job *job);
