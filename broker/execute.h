/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * execute - one admin command through libnvme, and what came of it.
 *
 * Threads: a lane's thread. Blocking: for as long as the drive and the kernel like.
 */
#include <stdint.h>

#include "lib/ipc/proto.h"

struct nvme_passthru_cmd;

/* Two kinds of failure that must not share a number: the drive's status and the host's errno. */
struct em_outcome {
	enum em_answer answer; /* DONE, STATUS, GONE, HOST_ERROR; BUSY after em_device_run() */
	uint16_t status;       /* STATUS: the whole word */
	int err;	       /* HOST_ERROR: positive errno */
	uint32_t result;       /* completion dword 0 */
};

void em_execute(int fd, struct nvme_passthru_cmd *cmd, struct em_outcome *ret);

/* A system call failed with err. */
struct em_outcome em_outcome_of_errno(int err);
