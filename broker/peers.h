/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * peers - the clients on the socket: who may speak, what they said, what waits for them.
 *
 * Only one uid is let in; any other, root too, is closed at once. A message that is not of our
 * protocol ends its connection, and so does a client that does not read what it asked for.
 *
 * Owns:     the listening socket, connections and their output queues.
 * Threads:  the loop's. Blocking: never.
 * Errors:   0 or -errno; a failed connection is closed here and its client not told.
 * Limits:   EM_PEERS_MAX connections; per connection EM_PEER_QUEUE_MAX messages wait and
 *           EM_PEER_QUEUE_BYTES bytes of data.
 */
#include <sys/types.h>
#include <systemd/sd-event.h>

#include "lib/base/cleanup.h"
#include "lib/ipc/proto.h"

#define EM_PEERS_MAX	    4u
#define EM_PEER_QUEUE_MAX   8192u
#define EM_PEER_QUEUE_BYTES (32u << 20)

struct em_peers;

struct em_peer_id {
	uint64_t id; /* never used again */
	pid_t pid;
	uid_t uid;
};

struct em_peers_ops {
	/* A client came: send it the drives. */
	void (*connected)(void *self, const struct em_peer_id *peer);
	void (*request)(void *self, const struct em_peer_id *peer,
			const struct em_ipc_request *request);
	/* The number of clients changed. */
	void (*changed)(void *self);
};

/* Takes listen_fd over, also on failure. */
int em_peers_new(sd_event *event, int listen_fd, uid_t uid, const struct em_peers_ops *ops,
		 void *self, struct em_peers **ret);
struct em_peers *em_peers_free(struct em_peers *peers);
EM_DEFINE_CLEANUP(struct em_peers, em_peers_free)

unsigned em_peers_count(const struct em_peers *peers);
/* Copies what has to wait. Nothing happens when the client is gone. */
void em_peers_send(struct em_peers *peers, uint64_t id, const struct em_ipc_message *message);
void em_peers_broadcast(struct em_peers *peers, const struct em_ipc_message *message);
