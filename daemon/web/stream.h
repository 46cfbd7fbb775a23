/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * stream - events sent as they happen, to those who asked for text/event-stream.
 *
 * A thread writes what is new into the buffer of each stream whose client has taken all before; the
 * connections of those who wait are suspended. What is no longer in memory comes from the store.
 *
 * Owns:     its thread and the streams. Borrows log, store, tokens and guard.
 * Threads:  new, end and free on one thread; open on those that serve connections.
 * Blocking: end waits for a reading of the store, at most its deadline. open does not.
 * Errors:   0 or -errno.
 * Limits:   EM_STREAMS_MAX streams, EM_STREAMS_OF_ONE of one client, as far as clients can be told
 *           apart. A client that takes nothing for EM_STREAM_SPAN_US is shut off.
 */
#include <microhttpd.h>
#include <stdatomic.h>
#include "daemon/web/call.h"
#include "daemon/web/guard.h"
#include "daemon/web/tokens.h"

#define EM_STREAMS_MAX	   48u
#define EM_STREAMS_OF_ONE  24u
#define EM_STREAM_ALIVE_US UINT64_C(15000000)
#define EM_STREAM_SPAN_US  UINT64_C(60000000)

struct em_streams;

/* Whom a reply goes to. */
struct em_stream_client {
	struct MHD_Connection *connection;
	struct em_guarded *guarded;
	atomic_size_t *reply_bytes;   /* that its listener sends now */
	uint64_t address;	      /* the same for all connections of one client */
	char token[EM_TOKEN_ID_SIZE]; /* "" = it needs none; the stream ends when it is revoked */
	bool compressible;	      /* the network's listener: a reply's form may vary */
};

int em_streams_new(struct em_streams **ret, const struct em_context *context,
		   struct em_guard *guard);
/* Every stream ends by itself from now on, and no connection of theirs stays suspended. */
void em_streams_end(struct em_streams *streams);
/* After the last connection. */
struct em_streams *em_streams_free(struct em_streams *streams);

/* The stream that reply asks for; NULL: there are too many, or no memory, or it ends. */
struct MHD_Response *em_stream_open(struct em_streams *streams,
				    const struct em_stream_client *client,
				    const struct em_reply *reply);
