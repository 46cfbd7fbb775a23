/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * respond - a reply on its way out through libmicrohttpd.
 *
 * Owns:     the bodies that are being sent. Threads: the one that serves the connection.
 * Blocking: never. Limits: EM_REPLIES_MAX bytes of one listener, EM_STREAMS_MAX streams.
 */
#include <microhttpd.h>
#include "daemon/web/http.h"
#include "daemon/web/stream.h"

/* Takes what the reply owns. client: for a stream of events. */
enum MHD_Result em_respond(struct em_shared *shared, const struct em_stream_client *client,
			   const struct em_call *call, struct em_reply *reply);
