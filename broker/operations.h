/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * operations - one row for each operation: its timeout, its checks, its handler.
 *
 * Name and class come from lib/ipc/proto.h. A row without a handler is one that the policy already
 * knows and that nobody can carry out yet.
 *
 * Threads: em_operation_find() and checks: any; handlers: a lane's thread.
 * Blocking: handlers, without limit. The timeout is the ioctl's: at its end the kernel resets the
 * controller under everybody's load, so it is the kernel's own (0) unless a command may rightly
 * take longer. Our patience with a drive is the lane's business and never gets here.
 */
#include "broker/execute.h"
#include "lib/ipc/proto.h"

/* data has request->len bytes, zeroed. */
typedef void em_handler_fn(int fd, const struct em_ipc_request *request, uint32_t timeout_ms,
			   uint8_t *data, struct em_outcome *ret);

struct em_operation {
	uint32_t timeout_ms; /* of the ioctl; 0 is the kernel's admin_timeout */
	const char *(*check)(const struct em_ipc_request *request);
	em_handler_fn *run; /* NULL: not supported yet */
};

const struct em_operation *em_operation_find(enum em_op op);
