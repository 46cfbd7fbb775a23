/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * audit - the journal's line for every operation that is not a read, and for every refusal.
 *
 * Threads: any. Blocking: as em_log().
 */
#include <sys/types.h>

#include "broker/policy.h"
#include "lib/ipc/proto.h"

struct em_audit {
	pid_t pid;
	uid_t uid;
	const char *device, *serial; /* NULL: no such drive */
	enum em_op op;
	uint8_t page;
	enum em_answer answer;
	const char *detail; /* NULL or why */
};

/* True when an answer to this operation has to be written down. */
bool em_audit_wanted(enum em_op op, enum em_answer answer);
/* One line, when it is wanted. */
void em_audit_write(const struct em_audit *audit);
