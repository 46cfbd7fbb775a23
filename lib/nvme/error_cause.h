/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * error_cause - who is to blame for an entry of the error log: one entry, one answer.
 *
 * A drive logs every command that failed. Most of them were asked wrongly, or stopped, by a host:
 * these tell nothing of the drive, however many they are. A status that is not known is unclear and
 * never the host's.
 *
 * Threads: pure functions. Blocking: never.
 */
#include <stdint.h>

enum em_error_cause {
	EM_CAUSE_UNCLEAR, /* vendor's, reserved, or of the path between host and drive */
	EM_CAUSE_HOST,	  /* a wrong question, a stopped command, a state that a host made */
	EM_CAUSE_DEVICE,  /* its media, its data, or itself */
	EM_CAUSE_LOCKED,  /* the range is locked by a key: no media error */
	EM_CAUSE_COUNT,
};

/* word as em_status_find() takes it: of More, Do Not Retry and delay it makes nothing. */
enum em_error_cause em_error_judge(uint16_t word);

const char *em_error_cause_name(enum em_error_cause cause); /* "device" */
