/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/web/http.h"

#include <errno.h>
#include <gnutls/abstract.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "daemon/web/encoding.h"
#include "daemon/web/listen.h"
#include "daemon/web/peer.h"
#include "daemon/web/request.h"
#include "daemon/web/respond.h"
#include "daemon/web/route.h"
#include "daemon/web/tls.h"
#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/parse.h"
#include "lib/base/text.h"

#define SPARE_CONNECTIONS  40u /* of each: between the guard's limit and libmicrohttpd's */
#define THREADS		   4u
#define THREAD_STACK_BYTES ((size_t)512 << 10)
#define HEAD_BYTES	   ((size_t)24 << 10) /* request line and headers, and the reply's head */
#define IDLE_SECONDS	   30u
#define BUSY_RETRY_S	   1u
#define BLANKS		   " \t\v\f"

/*
 * Strict means two checks in 0.9.75, which check_head() makes too: the library would send the head
 * of its refusal twice, or nothing.
 */
#define STRICTNESS (MHD_VERSION > 0x00097500 ? 1 : 0)

/*
 * All listeners at their limits stay below the usual 1,024 descriptors, with room for the database.
 * Who connects is known over the unix socket by the user, over the network by the address, and
 * over loopback not at all.
 */
static const struct {
	unsigned connections, per_address; /* 0 = no limit */
} limits[] = {
	[EM_LISTENER_UNIX] = { 128, 48 },
	[EM_LISTENER_LOOPBACK] = { 400, 0 },
	[EM_LISTENER_NETWORK] = { 360, 64 },
};

struct em_listener {
	struct em_shared *shared;
	enum em_listener_kind kind;
	uint16_t port;
	struct MHD_Daemon *daemon;
	struct em_guard_group connections;
	atomic_size_t reply_bytes;
};

/* What is known of a connection, whatever it asks. */
struct connection {
	uint64_t address;
	struct em_guarded *guarded;
	struct em_tls_certificate *certificate; /* the network's */
	enum em_role role;			/* of a local user */
};

/* One request. While it waits in the pool its connection is suspended, and the pool has it. */
struct exchange {
	struct em_job job;
	struct em_listener *listener;
	struct em_stream_client client;
	struct em_call call;
	struct em_reply reply;
	struct em_buf body; /* fails at EM_BODY_MAX */
	bool head_seen, answered;
	bool is_http_1_0;
	bool accepts_gzip;
	char uri[]; /* as it came */
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

/* ---- connections ------------------------------------------------------------------------- */

static struct connection *context_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

/* The same for all connections of one client, as far as that can be known. */
static uint64_t address_of(struct em_listener *listener, struct MHD_Connection *connection, int fd)
{
	const union MHD_ConnectionInfo *info;

	if (listener->kind == EM_LISTENER_UNIX)
		return em_peer_key(fd);
	info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	return info && info->client_addr ? em_address_key(info->client_addr) : 0;
}

static struct em_tls_certificate *certify(struct em_listener *listener,
					  struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info;

	if (listener->kind != EM_LISTENER_NETWORK)
		return NULL;
	info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	return info ? em_tls_use(listener->shared->tls, info->tls_session) : NULL;
}

static enum em_role local_role(struct em_listener *listener, int fd)
{
	struct em_shared *shared = listener->shared;

	switch (listener->kind) {
	case EM_LISTENER_UNIX:
		return em_peer_role(fd, shared->has_admins ? &shared->admins : NULL);
	case EM_LISTENER_LOOPBACK:
		return EM_ROLE_VIEWER;
	case EM_LISTENER_NETWORK:
		break;
	}
	return EM_ROLE_NONE;
}

static struct connection *open_connection(struct em_listener *listener,
					  struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct connection *context = info ? calloc(1, sizeof(*context)) : NULL;
	int fd = info ? info->connect_fd : -1;

	if (!context)
		return NULL;
	context->address = address_of(listener, connection, fd);
	/* A TLS handshake is part of the time that a request has. */
	context->guarded = em_guard_add(listener->shared->guard, &listener->connections, fd,
					context->address, EM_GUARD_REQUEST_US);
	context->role = local_role(listener, fd);
	context->certificate = certify(listener, connection);
	return context;
}

static void close_connection(struct em_listener *listener, struct connection *context)
{
	if (!context)
		return;
	em_guard_remove(listener->shared->guard, context->guarded);
	em_tls_unuse(context->certificate);
	free(context);
}

static void on_connection(void *userdata, struct MHD_Connection *connection, void **context,
			  enum MHD_ConnectionNotificationCode code)
{
	struct em_listener *listener = userdata;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		close_connection(listener, *context);
		*context = NULL;
	} else {
		*context = open_connection(listener, connection);
	}
}

static enum MHD_Result accept_peer(void *userdata, const struct sockaddr *address, socklen_t len)
{
	const struct em_listener *listener = userdata;

	if (listener->kind != EM_LISTENER_LOOPBACK)
		return MHD_YES;
	return len && em_is_loopback(address) ? MHD_YES : MHD_NO;
}

/* ---- may it be asked --------------------------------------------------------------------- */

static void too_large(struct exchange *exchange)
{
	em_reply_problem(&exchange->reply, &exchange->call, 413,
			 "A body may have %zu bytes, and only where the API asks for one.",
			 EM_BODY_MAX);
}

/* Only a row that wants a body gets one; what else is wrong is told once it is there. */
static bool takes_body(struct exchange *exchange, const char *method)
{
	struct em_reply unused = { 0 };

	if (exchange->listener->kind != EM_LISTENER_UNIX)
		return false;
	em_route_resolve(&exchange->call, method, exchange->uri, &unused);
	em_reply_done(&unused);
	return exchange->call.route && exchange->call.route->takes_body;
}

/* What came in on_request(), to the handler. */
static bool pass_body(struct exchange *exchange)
{
	if (exchange->body.err == -E2BIG) {
		too_large(exchange);
		return false;
	}
	if (em_buf_failed(&exchange->body)) {
		em_reply_problem(&exchange->reply, &exchange->call, 500, "Memory is short.");
		return false;
	}
	exchange->call.body = exchange->body.data;
	exchange->call.body_len = exchange->body.len;
	return true;
}

/* A request that two readers could understand in two ways is none. */
static bool check_head(struct exchange *exchange)
{
	struct em_header host = em_header_find(exchange->client.connection, MHD_HTTP_HEADER_HOST);

	if (host.count > 1 || (!host.count && !exchange->is_http_1_0)) {
		em_reply_problem(&exchange->reply, &exchange->call, 400,
				 "The header Host must be there, once.");
		return false;
	}
	if (strpbrk(exchange->uri, BLANKS)) {
		em_reply_problem(&exchange->reply, &exchange->call, 400,
				 "The path has a blank in it. Write it as %%20.");
		return false;
	}
	return true;
}

/* Programs, and no web pages of others. Over loopback the page must not even have a name for us. */
static bool check_host(struct exchange *exchange)
{
	struct em_listener *listener = exchange->listener;
	struct MHD_Connection *connection = exchange->client.connection;
	struct em_header host = em_header_find(connection, MHD_HTTP_HEADER_HOST);
	struct em_header origin = em_header_find(connection, MHD_HTTP_HEADER_ORIGIN);
	bool local = listener->kind == EM_LISTENER_LOOPBACK;

	if (local && (!host.count || !em_host_is_ours(host.value, listener->port))) {
		em_reply_problem(&exchange->reply, &exchange->call, 421,
				 "Host must be localhost, 127.0.0.1 or [::1] with the port %u.",
				 listener->port);
		return false;
	}
	if (origin.count &&
	    (!local || origin.count > 1 || !em_origin_is_ours(origin.value, host.value))) {
		em_reply_problem(&exchange->reply, &exchange->call, 403,
				 "Pages of other sites may not ask.");
		return false;
	}
	return true;
}

static bool check_method(struct exchange *exchange, const char *method)
{
	if (!strcmp(method, MHD_HTTP_METHOD_GET) || !strcmp(method, MHD_HTTP_METHOD_HEAD))
		return true;
	em_reply_problem(&exchange->reply, &exchange->call, 405,
			 "Over TCP only GET and HEAD are answered.");
	strcpy(exchange->reply.allow, "GET, HEAD");
	return false;
}

static bool has_token(struct exchange *exchange)
{
	struct em_tokens *tokens = exchange->listener->shared->context.tokens;
	const char *secret = em_request_bearer(exchange->client.connection);

	return tokens && secret &&
	       em_tokens_check(tokens, secret, em_realtime_us(), exchange->client.token) !=
		       EM_ROLE_NONE;
}

/* Whose token it is makes no difference over the network: they may look. */
static bool check_token(struct exchange *exchange)
{
	bool known = has_token(exchange);

	em_guard_set_known(exchange->listener->shared->guard, exchange->client.guarded, known);
	if (known) {
		exchange->call.role = EM_ROLE_VIEWER;
		return true;
	}
	em_reply_problem(&exchange->reply, &exchange->call, 401,
			 "This needs the header \"Authorization: Bearer TOKEN\" with a token that "
			 "is valid. On the host itself, \"emberctl token create NAME\" makes one.");
	return false;
}

static bool read_headers(struct exchange *exchange)
{
	struct MHD_Connection *connection = exchange->client.connection;
	struct em_header id = em_header_find(connection, "Last-Event-ID");
	struct em_header accept = em_header_find(connection, MHD_HTTP_HEADER_ACCEPT);
	struct em_header coding = em_header_find(connection, MHD_HTTP_HEADER_ACCEPT_ENCODING);
	struct em_call *call = &exchange->call;
	uint64_t number;

	call->last_event_id = -1;
	call->wants_events = accept.count == 1 && em_accepts_type(accept.value, EM_TYPE_EVENTS);
	exchange->accepts_gzip =
		exchange->client.compressible && coding.count == 1 && em_accepts_gzip(coding.value);
	if (!id.count)
		return true;
	if (id.count > 1 || em_parse_u64(id.value, 0, INT64_MAX, &number) < 0) {
		em_reply_problem(&exchange->reply, call, 400,
				 "Last-Event-ID must be the id of an event, once.");
		return false;
	}
	call->last_event_id = (int64_t)number;
	return true;
}

static bool check_role(struct exchange *exchange)
{
	struct em_call *call = &exchange->call;

	if (em_route_allows(call->route, call->role))
		return true;
	em_reply_problem(&exchange->reply, call, 403,
			 "This is for root, and for members of the group that emberd's option "
			 "[http] admin_group names, over the unix socket.");
	return false;
}

/* True: call->route may be asked for what the call says; false: the reply is the problem. */
static bool admit(struct exchange *exchange, const char *method)
{
	if (!pass_body(exchange) || !check_head(exchange))
		return false;
	if (exchange->listener->kind != EM_LISTENER_UNIX &&
	    (!check_host(exchange) || !check_method(exchange, method)))
		return false;
	return em_route_resolve(&exchange->call, method, exchange->uri, &exchange->reply) &&
	       read_headers(exchange) && check_role(exchange);
}

/* ---- requests ---------------------------------------------------------------------------- */

static void *start_exchange(void *userdata, const char *uri, struct MHD_Connection *connection)
{
	size_t len = strlen(uri);
	struct exchange *exchange = calloc(1, sizeof(*exchange) + len + 1);
	struct connection *context = context_of(connection);

	if (!exchange)
		return NULL;
	exchange->listener = userdata;
	exchange->client.connection = connection;
	if (context) {
		exchange->client.guarded = context->guarded;
		exchange->client.address = context->address;
	}
	exchange->client.reply_bytes = &exchange->listener->reply_bytes;
	exchange->client.compressible = exchange->listener->kind == EM_LISTENER_NETWORK;
	exchange->call.context = &exchange->listener->shared->context;
	em_buf_init(&exchange->body, EM_BODY_MAX);
	memcpy(exchange->uri, uri, len + 1);
	return exchange;
}

static void end_exchange(void *userdata, struct MHD_Connection *connection,
			 void **userdata_exchange, enum MHD_RequestTerminationCode code)
{
	struct em_listener *listener = userdata;
	struct exchange *exchange = *userdata_exchange;
	struct connection *context = context_of(connection);

	(void)code;
	if (exchange) {
		em_reply_done(&exchange->reply);
		em_buf_done(&exchange->body);
	}
	free(exchange);
	*userdata_exchange = NULL;
	if (context)
		em_guard_await(listener->shared->guard, context->guarded, EM_GUARD_REQUEST_US);
}

static enum MHD_Result respond(struct exchange *exchange)
{
	return em_respond(exchange->listener->shared, &exchange->client, &exchange->call,
			  &exchange->reply);
}

static void handle(struct exchange *exchange)
{
	struct em_call *call = &exchange->call;
	struct em_reply *reply = &exchange->reply;
	struct em_snapshot *snap = em_hub_get(exchange->listener->shared->context.hub);

	call->snap = snap;
	call->route->handle(call, reply);
	call->snap = NULL;
	em_snapshot_unref(snap);
	if (call->route->stable && reply->status == 200 && reply->body &&
	    !em_etag(reply->etag, reply->body, reply->len))
		reply->etag[0] = '\0';
	if (exchange->accepts_gzip)
		em_reply_gzip(reply);
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
	MHD_resume_connection(exchange->client.connection);
}

static enum MHD_Result hand_over(struct exchange *exchange)
{
	struct MHD_Connection *connection = exchange->client.connection;

	exchange->job.run = run_job;
	/* First, since the pool may be quicker than we are. */
	MHD_suspend_connection(connection);
	if (!em_pool_put(exchange->listener->shared->pool, &exchange->job)) {
		answer_busy(exchange);
		exchange->answered = true;
		MHD_resume_connection(connection);
	}
	return MHD_YES;
}

/* Over the network nothing is answered without a token. */
static bool identify(struct exchange *exchange)
{
	struct connection *context = context_of(exchange->client.connection);

	if (exchange->listener->kind == EM_LISTENER_NETWORK)
		return check_token(exchange);
	exchange->call.role = context ? context->role : EM_ROLE_NONE;
	return true;
}

/* The head is there. A body is bounded before route and method are judged. */
static enum MHD_Result begin_request(struct exchange *exchange, const char *method,
				     const char *version)
{
	struct MHD_Connection *connection = exchange->client.connection;

	exchange->head_seen = true;
	exchange->is_http_1_0 = !strcmp(version, MHD_HTTP_VERSION_1_0);
	em_text_clean(exchange->call.instance, sizeof(exchange->call.instance), exchange->uri,
		      strcspn(exchange->uri, "?"));
	if (!identify(exchange))
		return respond(exchange);
	if (!em_request_has_body(connection) ||
	    (em_request_body_may_come(connection, EM_BODY_MAX) && takes_body(exchange, method)))
		return MHD_YES;
	too_large(exchange);
	return respond(exchange);
}

/* The whole request is there. True: the reply is, too. */
static bool judge(struct exchange *exchange, const char *method)
{
	struct em_shared *shared = exchange->listener->shared;

	em_guard_reply(shared->guard, exchange->client.guarded, EM_GUARD_REPLY_US);
	exchange->call.now_us = em_realtime_us();
	exchange->call.now_mono_us = em_monotonic_us();
	if (!admit(exchange, method))
		return true;
	if (exchange->call.route->waits)
		return false;
	handle(exchange);
	return true;
}

/* libmicrohttpd calls with the head, with the body, at its end, and after a suspension. */
static enum MHD_Result on_request(void *userdata, struct MHD_Connection *connection,
				  const char *url, const char *method, const char *version,
				  const char *upload, size_t *upload_len, void **userdata_exchange)
{
	struct exchange *exchange = *userdata_exchange;

	(void)userdata;
	(void)connection;
	(void)url;
	if (!exchange)
		return MHD_NO;
	if (!exchange->head_seen)
		return begin_request(exchange, method, version);
	if (*upload_len) {
		/* Past the limit nothing is kept; the guard ends what does not end by itself. */
		em_buf_add(&exchange->body, upload, *upload_len);
		*upload_len = 0;
		return MHD_YES;
	}
	if (!exchange->answered && !judge(exchange, method))
		return hand_over(exchange);
	return respond(exchange);
}

/* ---- start and end ----------------------------------------------------------------------- */

/* Each session gets its certificate as it begins; libmicrohttpd wants to know of one by itself. */
static int no_certificate(gnutls_session_t session, const gnutls_datum_t *authorities,
			  int authority_count, const gnutls_pk_algorithm_t *algorithms,
			  int algorithm_count, gnutls_pcert_st **certificate, unsigned *length,
			  gnutls_privkey_t *key)
{
	(void)session;
	(void)authorities;
	(void)authority_count;
	(void)algorithms;
	(void)algorithm_count;
	(void)certificate;
	(void)length;
	(void)key;
	return -1;
}

static struct MHD_Daemon *start_daemon(struct em_listener *listener, int fd)
{
	unsigned flags =
		MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ERROR_LOG | MHD_ALLOW_SUSPEND_RESUME;
	struct MHD_OptionItem tls[] = {
		{ MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)(intptr_t)no_certificate },
		{ MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(intptr_t)EM_TLS_PRIORITIES },
		{ MHD_OPTION_END, 0, NULL },
	};
	struct MHD_OptionItem none[] = { { MHD_OPTION_END, 0, NULL } };
	bool network = listener->kind == EM_LISTENER_NETWORK;

	return MHD_start_daemon(
		flags | (network ? MHD_USE_TLS : 0), 0, accept_peer, listener, on_request, listener,
		MHD_OPTION_EXTERNAL_LOGGER, log_line, NULL, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_THREAD_POOL_SIZE, THREADS, MHD_OPTION_THREAD_STACK_SIZE,
		THREAD_STACK_BYTES, MHD_OPTION_CONNECTION_LIMIT, limits[listener->kind].connections,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, HEAD_BYTES, MHD_OPTION_CONNECTION_TIMEOUT,
		IDLE_SECONDS, MHD_OPTION_STRICT_FOR_CLIENT, STRICTNESS, MHD_OPTION_URI_LOG_CALLBACK,
		start_exchange, listener, MHD_OPTION_NOTIFY_COMPLETED, end_exchange, listener,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, listener, MHD_OPTION_ARRAY,
		network ? tls : none, MHD_OPTION_END);
}

int em_listener_start(struct em_listener **ret, struct em_shared *shared,
		      enum em_listener_kind kind, int fd, uint16_t port)
{
	struct em_listener *listener = calloc(1, sizeof(*listener));

	if (!listener) {
		close(fd);
		return -ENOMEM;
	}
	listener->shared = shared;
	listener->kind = kind;
	listener->port = port;
	em_guard_group_init(&listener->connections, limits[kind].connections - SPARE_CONNECTIONS,
			    limits[kind].per_address);
	listener->daemon = start_daemon(listener, fd);
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
