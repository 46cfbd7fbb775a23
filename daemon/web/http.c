/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/web/http.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "daemon/web/listen.h"
#include "daemon/web/peer.h"
#include "daemon/web/route.h"
#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/parse.h"
#include "lib/base/text.h"

/*
 * Both listeners at their limits stay below the usual 1,024 descriptors, with room for the
 * database. TCP comes from this host only, so a limit per address would say nothing.
 */
#define UNIX_CONNECTIONS   128u
#define TCP_CONNECTIONS    640u
#define SPARE_CONNECTIONS  40u /* of each: between the guard's limit and libmicrohttpd's */
#define THREADS            4u
#define THREAD_STACK_BYTES ((size_t)512 << 10)
#define HEAD_BYTES         ((size_t)24 << 10) /* request line and headers, and the reply's head */
#define IDLE_SECONDS       30u
#define BUSY_RETRY_S       1u

struct em_listener {
	struct em_shared *shared;
	struct MHD_Daemon *daemon;
	struct em_guard_group connections;
	uint16_t tcp_port; /* 0: unix */
};

/* What is known of a connection, whatever it asks. */
struct connection {
	struct em_guarded *guarded;
	enum em_role role;
};

/* One request. While it waits in the pool its connection is suspended, and the pool has it. */
struct exchange {
	struct em_job job;
	struct em_listener *listener;
	struct MHD_Connection *connection;
	struct em_call call;
	struct em_reply reply;
	struct em_buf body; /* fails at EM_BODY_MAX */
	bool head_seen, answered;
	char uri[]; /* as it came */
};

/* A reply's body on its way out. */
struct body {
	struct em_shared *shared;
	char *data;
	size_t len;
};

static void log_line(void *userdata, const char *format, va_list ap)
	__attribute__((format(printf, 2, 0)));

static void log_line(void *userdata, const char *format, va_list ap)
{
	char raw[256], line[256];

	(void)userdata;
	vsnprintf(raw, sizeof(raw), format, ap);
	raw[strcspn(raw, "\n")] = '\0';
	em_debug("http: %s", em_text_clean(line, sizeof(line), raw, strlen(raw)));
}

static void *start_exchange(void *userdata, const char *uri, struct MHD_Connection *connection)
{
	size_t len = strlen(uri);
	struct exchange *exchange = calloc(1, sizeof(*exchange) + len + 1);

	if (!exchange)
		return NULL;
	exchange->listener = userdata;
	exchange->connection = connection;
	exchange->call.context = &exchange->listener->shared->context;
	em_buf_init(&exchange->body, EM_BODY_MAX);
	memcpy(exchange->uri, uri, len + 1);
	return exchange;
}

static struct connection *context_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static struct em_guarded *guarded_of(struct MHD_Connection *connection)
{
	struct connection *context = context_of(connection);

	return context ? context->guarded : NULL;
}

static enum em_role role_of(struct MHD_Connection *connection)
{
	struct connection *context = context_of(connection);

	return context ? context->role : EM_ROLE_NONE;
}

static void end_exchange(void *userdata, struct MHD_Connection *connection,
			 void **userdata_exchange, enum MHD_RequestTerminationCode code)
{
	struct em_listener *listener = userdata;
	struct exchange *exchange = *userdata_exchange;

	(void)code;
	if (exchange) {
		em_reply_done(&exchange->reply);
		em_buf_done(&exchange->body);
	}
	free(exchange);
	*userdata_exchange = NULL;
	em_guard_await(listener->shared->guard, guarded_of(connection), EM_GUARD_REQUEST_US);
}

static struct connection *open_connection(struct em_listener *listener, int fd)
{
	struct em_shared *shared = listener->shared;
	struct connection *context = calloc(1, sizeof(*context));

	if (!context)
		return NULL;
	context->guarded = em_guard_add(shared->guard, &listener->connections, fd,
					EM_GUARD_REQUEST_US);
	context->role = listener->tcp_port
				? EM_ROLE_VIEWER
				: em_peer_role(fd, shared->has_admins ? &shared->admins : NULL);
	return context;
}

static void on_connection(void *userdata, struct MHD_Connection *connection, void **context,
			  enum MHD_ConnectionNotificationCode code)
{
	struct em_listener *listener = userdata;
	const union MHD_ConnectionInfo *info;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (*context)
			em_guard_remove(listener->shared->guard,
					((struct connection *)*context)->guarded);
		free(*context);
		*context = NULL;
		return;
	}
	info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	if (info)
		*context = open_connection(listener, info->connect_fd);
}

static enum MHD_Result accept_peer(void *userdata, const struct sockaddr *address, socklen_t len)
{
	const struct em_listener *listener = userdata;

	if (!listener->tcp_port)
		return MHD_YES;
	return len && em_is_loopback(address) ? MHD_YES : MHD_NO;
}

static void free_body(void *userdata)
{
	struct body *body = userdata;

	atomic_fetch_sub(&body->shared->reply_bytes, body->len);
	free(body->data);
	free(body);
}

/* Takes the reply's body; NULL when it may not be sent (the reply keeps its body then). */
static struct MHD_Response *make_response(struct em_shared *shared, struct em_reply *reply)
{
	struct MHD_Response *response;
	struct body *body;

	if (!reply->body)
		return MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
	body = malloc(sizeof(*body));
	if (!body)
		return NULL;
	*body = (struct body){ shared, reply->body, reply->len };
	if (atomic_fetch_add(&shared->reply_bytes, body->len) + body->len > EM_REPLIES_MAX) {
		atomic_fetch_sub(&shared->reply_bytes, body->len);
		free(body);
		return NULL;
	}
	response = MHD_create_response_from_buffer_with_free_callback_cls(body->len, body->data,
									  free_body, body);
	if (!response) {
		atomic_fetch_sub(&shared->reply_bytes, body->len);
		free(body);
		return NULL;
	}
	reply->body = NULL;
	return response;
}

static void add_headers(struct MHD_Response *response, const struct em_reply *reply)
{
	char seconds[16];

	if (reply->type)
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, reply->type);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
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

/* Takes what the reply owns. */
static enum MHD_Result send_reply(struct em_listener *listener, struct MHD_Connection *connection,
				  const struct em_call *call, struct em_reply *reply)
{
	struct MHD_Response *response = make_response(listener->shared, reply);
	enum MHD_Result r;

	if (!response) {
		em_reply_problem(reply, call, 503,
				 "Too much is being sent to slow readers. Try again later.");
		reply->retry_after_s = BUSY_RETRY_S;
		response = make_response(listener->shared, reply);
	}
	if (!response) {
		em_reply_done(reply);
		return MHD_NO;
	}
	add_headers(response, reply);
	r = MHD_queue_response(connection, reply->status, response);
	MHD_destroy_response(response);
	em_reply_done(reply);
	return r;
}

struct single {
	const char *name, *value;
	unsigned count;
};

static enum MHD_Result count_header(void *userdata, enum MHD_ValueKind kind, const char *name,
				    const char *value)
{
	struct single *single = userdata;

	(void)kind;
	if (strcasecmp(name, single->name))
		return MHD_YES;
	single->value = value ? value : "";
	single->count++;
	return MHD_YES;
}

static struct single find_header(struct MHD_Connection *connection, const char *name)
{
	struct single single = { .name = name };

	MHD_get_connection_values(connection, MHD_HEADER_KIND, count_header, &single);
	return single;
}

static bool has_body(struct MHD_Connection *connection)
{
	struct single length = find_header(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);

	if (find_header(connection, MHD_HTTP_HEADER_TRANSFER_ENCODING).count)
		return true;
	return length.count > 1 ||
	       (length.count && strspn(length.value, "0") != strlen(length.value));
}

/* Of a length that is told once and not too much, or in chunks, which are counted as they come. */
static bool body_may_come(struct MHD_Connection *connection)
{
	struct single length = find_header(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);
	struct single coding = find_header(connection, MHD_HTTP_HEADER_TRANSFER_ENCODING);
	uint64_t bytes;

	if (coding.count)
		return coding.count == 1 && !length.count && !strcasecmp(coding.value, "chunked");
	return length.count == 1 && em_parse_u64(length.value, 0, EM_BODY_MAX, &bytes) == 0;
}

/* Only a row that wants a body gets one; what else is wrong is told once it is there. */
static bool takes_body(struct exchange *exchange, const char *method)
{
	struct em_reply unused = { 0 };

	if (exchange->listener->tcp_port)
		return false;
	em_route_resolve(&exchange->call, method, exchange->uri, &unused);
	em_reply_done(&unused);
	return exchange->call.route && exchange->call.route->takes_body;
}

/* Over TCP only programs of this host, and no web pages of others. */
static bool check_host(struct em_listener *listener, struct MHD_Connection *connection,
		       struct em_call *call, struct em_reply *reply)
{
	struct single host = find_header(connection, MHD_HTTP_HEADER_HOST);
	struct single origin = find_header(connection, MHD_HTTP_HEADER_ORIGIN);

	if (host.count != 1 || !em_host_is_ours(host.value, listener->tcp_port)) {
		em_reply_problem(reply, call, 421,
				 "Host must be localhost, 127.0.0.1 or [::1] with the port %u.",
				 listener->tcp_port);
		return false;
	}
	if (origin.count > 1 || (origin.count && !em_origin_is_ours(origin.value, host.value))) {
		em_reply_problem(reply, call, 403, "Pages of other sites may not ask.");
		return false;
	}
	return true;
}

static void too_large(struct exchange *exchange)
{
	em_reply_problem(&exchange->reply, &exchange->call, 413,
			 "A body may have %zu bytes, and only where the API asks for one.",
			 EM_BODY_MAX);
}

/* What came in on_request(), to the handler. */
static bool pass_body(struct exchange *exchange)
{
	if (exchange->body.err == -E2BIG) {
		too_large(exchange);
		return false;
	}
	if (em_buf_failed(&exchange->body)) {
		em_reply_problem(&exchange->reply, &exchange->call, 503, "Memory is short.");
		return false;
	}
	exchange->call.body = exchange->body.data;
	exchange->call.body_len = exchange->body.len;
	return true;
}

static bool read_last_event_id(struct exchange *exchange)
{
	struct single id = find_header(exchange->connection, "Last-Event-ID");
	uint64_t number;

	exchange->call.last_event_id = -1;
	if (!id.count)
		return true;
	if (id.count == 1 && em_parse_u64(id.value, 0, INT64_MAX, &number) == 0) {
		exchange->call.last_event_id = (int64_t)number;
		return true;
	}
	em_reply_problem(&exchange->reply, &exchange->call, 400,
			 "Last-Event-ID must be the id of an event, once.");
	return false;
}

static bool check_method(const char *method, const struct em_call *call, struct em_reply *reply)
{
	if (!strcmp(method, MHD_HTTP_METHOD_GET) || !strcmp(method, MHD_HTTP_METHOD_HEAD))
		return true;
	em_reply_problem(reply, call, 405, "Over TCP only GET and HEAD are answered.");
	strcpy(reply->allow, "GET, HEAD");
	return false;
}

/* True: call->route may be asked for what the call says; false: the reply is the problem. */
static bool admit(struct exchange *exchange, const char *method)
{
	struct em_listener *listener = exchange->listener;
	struct em_call *call = &exchange->call;
	struct em_reply *reply = &exchange->reply;

	if (!pass_body(exchange))
		return false;
	if (listener->tcp_port && (!check_host(listener, exchange->connection, call, reply) ||
				   !check_method(method, call, reply)))
		return false;
	if (!em_route_resolve(call, method, exchange->uri, reply) || !read_last_event_id(exchange))
		return false;
	call->role = role_of(exchange->connection);
	if (em_route_allows(call->route, call->role))
		return true;
	em_reply_problem(reply, call, 403,
			 "This is for root, and for members of the group that emberd's option "
			 "[http] admin_group names.");
	return false;
}

static void handle(struct exchange *exchange)
{
	struct em_call *call = &exchange->call;
	struct em_snapshot *snap = em_hub_get(exchange->listener->shared->context.hub);

	call->snap = snap;
	call->route->handle(call, &exchange->reply);
	call->snap = NULL;
	em_snapshot_unref(snap);
}

static void answer_busy(struct exchange *exchange)
{
	em_reply_problem(&exchange->reply, &exchange->call, 503,
			 "Too many histories are being read. Try again later.");
	exchange->reply.retry_after_s = BUSY_RETRY_S;
}

/* On a thread of the pool. */
static void run_job(struct em_job *job, bool ending)
{
	struct exchange *exchange = (struct exchange *)job; /* its first member */

	/* The deadline of the handler begins now: it did not wait because of the disk. */
	exchange->call.now_mono_us = em_monotonic_us();
	if (ending)
		answer_busy(exchange);
	else
		handle(exchange);
	exchange->answered = true;
	MHD_resume_connection(exchange->connection);
}

static enum MHD_Result hand_over(struct exchange *exchange)
{
	exchange->job.run = run_job;
	/* First, since the pool may be quicker than we are. */
	MHD_suspend_connection(exchange->connection);
	if (!em_pool_put(exchange->listener->shared->pool, &exchange->job)) {
		answer_busy(exchange);
		exchange->answered = true;
		MHD_resume_connection(exchange->connection);
	}
	return MHD_YES;
}

/* The head is there. A body is bounded before anything else is judged. */
static enum MHD_Result begin_request(struct exchange *exchange, const char *method)
{
	exchange->head_seen = true;
	em_text_clean(exchange->call.instance, sizeof(exchange->call.instance), exchange->uri,
		      strcspn(exchange->uri, "?"));
	if (!has_body(exchange->connection) ||
	    (body_may_come(exchange->connection) && takes_body(exchange, method)))
		return MHD_YES;
	too_large(exchange);
	return send_reply(exchange->listener, exchange->connection, &exchange->call,
			  &exchange->reply);
}

/* libmicrohttpd calls with the head, with the body, at its end, and after a suspension. */
static enum MHD_Result on_request(void *userdata, struct MHD_Connection *connection,
				  const char *url, const char *method, const char *version,
				  const char *upload, size_t *upload_len, void **userdata_exchange)
{
	struct em_listener *listener = userdata;
	struct exchange *exchange = *userdata_exchange;

	(void)url;
	(void)version;
	if (!exchange)
		return MHD_NO;
	if (!exchange->head_seen)
		return begin_request(exchange, method);
	if (*upload_len) {
		/* Past the limit nothing is kept; the guard ends what does not end by itself. */
		em_buf_add(&exchange->body, upload, *upload_len);
		*upload_len = 0;
		return MHD_YES;
	}
	if (!exchange->answered) {
		em_guard_reply(listener->shared->guard, guarded_of(connection), EM_GUARD_REPLY_US);
		exchange->call.now_us = em_realtime_us();
		exchange->call.now_mono_us = em_monotonic_us();
		if (admit(exchange, method)) {
			if (exchange->call.route->waits)
				return hand_over(exchange);
			handle(exchange);
		}
	}
	return send_reply(listener, connection, &exchange->call, &exchange->reply);
}

int em_listener_start(struct em_listener **ret, struct em_shared *shared, int fd,
		      uint16_t tcp_port)
{
	struct em_listener *listener = calloc(1, sizeof(*listener));
	unsigned max = tcp_port ? TCP_CONNECTIONS : UNIX_CONNECTIONS;

	if (!listener) {
		close(fd);
		return -ENOMEM;
	}
	listener->shared = shared;
	listener->tcp_port = tcp_port;
	em_guard_group_init(&listener->connections, max - SPARE_CONNECTIONS);
	listener->daemon = MHD_start_daemon(
		MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ERROR_LOG | MHD_ALLOW_SUSPEND_RESUME, 0, accept_peer, listener,
		on_request, listener, MHD_OPTION_EXTERNAL_LOGGER, log_line, NULL,
		MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_THREAD_POOL_SIZE, THREADS,
		MHD_OPTION_THREAD_STACK_SIZE, THREAD_STACK_BYTES,
		MHD_OPTION_CONNECTION_LIMIT, max,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, HEAD_BYTES,
		MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS,
		MHD_OPTION_STRICT_FOR_CLIENT, 1,
		MHD_OPTION_URI_LOG_CALLBACK, start_exchange, listener,
		MHD_OPTION_NOTIFY_COMPLETED, end_exchange, listener,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, listener,
		MHD_OPTION_END);
	if (!listener->daemon) {
		close(fd);
		free(listener);
		return -EIO;
	}
	*ret = listener;
	return 0;
}

struct em_listener *em_listener_stop(struct em_listener *listener)
{
	if (!listener)
		return NULL;
	MHD_stop_daemon(listener->daemon);
	free(listener);
	return NULL;
}
