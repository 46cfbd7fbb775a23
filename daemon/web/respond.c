/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/web/respond.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/web/encoding.h"
#include "daemon/web/request.h"

#define BUSY_RETRY_S 1u

/* Histories that are read slowly must leave room for a scrape; what is small always has some. */
#define SMALL_BYTES ((size_t)4 << 10)
#define LARGE_BYTES ((size_t)1 << 20)
#define LARGE_MAX   (EM_REPLIES_MAX / 4 * 3)

/* A reply's body on its way out. */
struct body {
	atomic_size_t *sum; /* of what its listener sends */
	char *data;
	size_t len;
};

static void free_body(void *userdata)
{
	struct body *body = userdata;

	atomic_fetch_sub(body->sum, body->len);
	free(body->data);
	free(body);
}

/* Counts it in; false: it is too much beside what is on its way. */
static bool reserve(atomic_size_t *sum, size_t len)
{
	size_t max = len > LARGE_BYTES ? LARGE_MAX : EM_REPLIES_MAX;

	if (atomic_fetch_add(sum, len) + len <= max || len <= SMALL_BYTES)
		return true;
	atomic_fetch_sub(sum, len);
	return false;
}

/* Takes the reply's body; NULL when it may not be sent (the reply keeps its body then). */
static struct MHD_Response *make_body(atomic_size_t *sum, struct em_reply *reply)
{
	struct MHD_Response *response;
	struct body *body;

	if (!reply->body)
		return MHD_create_response_from_buffer(reply->len, (void *)(intptr_t)reply->fixed,
						       MHD_RESPMEM_PERSISTENT);
	if (!reserve(sum, reply->len))
		return NULL;
	body = malloc(sizeof(*body));
	if (!body) {
		atomic_fetch_sub(sum, reply->len);
		return NULL;
	}
	*body = (struct body){ sum, reply->body, reply->len };
	response = MHD_create_response_from_buffer_with_free_callback_cls(body->len, body->data,
									  free_body, body);
	if (!response) {
		atomic_fetch_sub(sum, body->len);
		free(body);
		return NULL;
	}
	reply->body = NULL;
	return response;
}

static struct MHD_Response *make_response(struct em_shared *shared,
					  const struct em_stream_client *client,
					  struct em_reply *reply)
{
	return reply->events ? em_stream_open(shared->streams, client, reply)
			     : make_body(client->reply_bytes, reply);
}

static void add_cache_headers(struct MHD_Response *response, const struct em_reply *reply,
			      bool compressible)
{
	/* What has a tag may be kept, and has to be asked about each time. */
	MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL,
				reply->etag[0] ? "no-cache" : "no-store");
	if (reply->etag[0])
		MHD_add_response_header(response, MHD_HTTP_HEADER_ETAG, reply->etag);
	if (reply->gzip)
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
	if (compressible)
		MHD_add_response_header(response, MHD_HTTP_HEADER_VARY, "Accept-Encoding");
}

static void add_headers(struct MHD_Response *response, const struct em_reply *reply)
{
	char seconds[16];

	if (reply->type)
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, reply->type);
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	if (reply->allow[0])
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, reply->allow);
	if (reply->location[0])
		MHD_add_response_header(response, MHD_HTTP_HEADER_LOCATION, reply->location);
	if (reply->status == MHD_HTTP_UNAUTHORIZED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
	/* What is left of the body is not read. */
	if (reply->status == MHD_HTTP_CONTENT_TOO_LARGE)
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
	if (!reply->retry_after_s)
		return;
	snprintf(seconds, sizeof(seconds), "%u", reply->retry_after_s);
	MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, seconds);
}

static void skip_known(struct MHD_Connection *connection, struct em_reply *reply)
{
	struct em_header known = em_header_find(connection, MHD_HTTP_HEADER_IF_NONE_MATCH);

	if (!reply->etag[0] || known.count != 1 || !em_etag_matches(known.value, reply->etag))
		return;
	free(reply->body);
	reply->body = NULL;
	reply->len = 0;
	reply->status = MHD_HTTP_NOT_MODIFIED;
	reply->type = NULL;
	reply->gzip = false;
}

static void answer_full(const struct em_call *call, struct em_reply *reply)
{
	bool stream = reply->events;

	em_reply_done(reply);
	em_reply_problem(reply, call, 503,
			 stream ? "Too many streams of events are open. Try again later."
				: "Too much is being sent to slow readers. Try again later.");
	reply->retry_after_s = BUSY_RETRY_S;
}

enum MHD_Result em_respond(struct em_shared *shared, const struct em_stream_client *client,
			   const struct em_call *call, struct em_reply *reply)
{
	struct MHD_Response *response;
	enum MHD_Result r;

	skip_known(client->connection, reply);
	response = make_response(shared, client, reply);
	if (!response) {
		answer_full(call, reply);
		response = make_response(shared, client, reply);
	}
	if (!response) {
		em_reply_done(reply);
		return MHD_NO;
	}
	add_cache_headers(response, reply, client->compressible);
	add_headers(response, reply);
	r = MHD_queue_response(client->connection, reply->status, response);
	MHD_destroy_response(response);
	em_reply_done(reply);
	return r;
}
