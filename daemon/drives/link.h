/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * link - emberd's connection to the broker: connects, reconnects, sends and receives messages.
 *
 * Owns:     the socket, a retry timer, the receive buffer.
 * Threads:  loop thread only; callbacks run there.
 * Blocking: never.
 * Errors:   em_link_send() -ENOTCONN without a connection, -EAGAIN when the broker does not read.
 */
#include <systemd/sd-event.h>
#include "lib/ipc/proto.h"

struct em_link;

struct em_link_callbacks {
	void (*connected)(void *userdata);
	/*
	 * The message and what it points to are valid during the call only. A reply's data is
	 * there also when it came as memfd, unless it is more than EM_COMMAND_DATA_MAX.
	 */
	void (*message)(void *userdata, const struct em_ipc_message *message);
	/* why is for people. Follows connected(), or a first attempt that failed. */
	void (*disconnected)(void *userdata, const char *why);
};

/*
 * Tries at once and, while there is no connection that a message has come over, every 250 ms to
 * 5 s.
 */
int em_link_new(struct em_link **ret, sd_event *event, const char *path,
		const struct em_link_callbacks *callbacks, void *userdata);
struct em_link *em_link_free(struct em_link *link);
int em_link_send(struct em_link *link, const struct em_ipc_message *message);
/* Monotonic time of the last message; 0 = none yet. */
uint64_t em_link_heard_us(const struct em_link *link);
/* Gives up the connection, as if it had been lost, and connects anew. */
void em_link_reset(struct em_link *link, const char *why);
