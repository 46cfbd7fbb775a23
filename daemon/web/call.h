/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * call - one request on its way to a handler, and the reply on its way back. Nothing in here knows
 * of libmicrohttpd, so that tests can make calls without a socket.
 *
 * Owns:     a reply owns its body; a call borrows all but its own text.
 * Threads:  a call and its reply belong to one thread. Blocking: never.
 * Limits:   EM_REPLY_MAX bytes for one body.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "daemon/drives/event_log.h"
#include "daemon/drives/orders.h"
#include "daemon/drives/snapshot.h"
#include "daemon/jobs/jobs.h"
#include "daemon/store/store.h"
#include "lib/base/buf.h"

#define EM_REPLY_MAX	 ((size_t)32 << 20)
#define EM_PARAMS_MAX	 8
#define EM_ARG_SIZE	 384
#define EM_PATH_ARG_SIZE 128
#define EM_INSTANCE_SIZE 256
#define EM_ETAG_SIZE	 48

#define EM_TYPE_JSON	"application/json"
#define EM_TYPE_PROBLEM "application/problem+json"
#define EM_TYPE_TEXT	"text/plain; charset=utf-8"
#define EM_TYPE_EVENTS	"text/event-stream"
#define EM_TYPE_METRICS "text/plain; version=0.0.4; charset=utf-8"

struct em_metrics;
struct em_route;
struct em_tokens;

/* Who asks. Each role may do what those before it may. */
enum em_role { EM_ROLE_NONE, EM_ROLE_VIEWER, EM_ROLE_OPERATOR, EM_ROLE_ADMIN };

/* A socket that is listened on, as health tells it. */
#define EM_LISTENERS_MAX 3u
struct em_listener_info {
	const char *kind;  /* "unix", "tcp", "https" */
	char address[108]; /* path, or address and port */
};

/* What every handler may look at. Immutable after start, but for what is atomic. */
struct em_context {
	struct em_hub *hub;
	struct em_store *store;	     /* NULL: nothing is kept */
	struct em_event_log *events; /* NULL: none */
	struct em_orders *orders;    /* NULL: none */
	struct em_jobs *jobs;	     /* NULL: none */
	struct em_tokens *tokens;    /* NULL: none */
	const char *tokens_trouble;  /* why there are none, though there should be; NULL */
	const char *version;
	int64_t started_us; /* real time */
	uint64_t started_mono_us;
	struct em_metrics *metrics;
	char *openapi; /* the document as text */
	size_t openapi_len;
	unsigned listener_count;
	struct em_listener_info listeners[EM_LISTENERS_MAX];
	_Atomic int64_t certificate_expires_us; /* real time; 0 = no certificate is in use */
};

/* A parameter, read as its row says. */
struct em_arg {
	bool given;    /* by the client, or by the row's default */
	bool fallback; /* by the row's default */
	char text[EM_ARG_SIZE];
	uint64_t number; /* EM_PARAM_UINT; EM_PARAM_DURATION in microseconds */
	int64_t time_us; /* EM_PARAM_TIME */
};

struct em_call {
	const struct em_context *context;
	const struct em_snapshot *snap;
	const struct em_route *route;
	int64_t now_us;
	uint64_t now_mono_us;
	char instance[EM_INSTANCE_SIZE]; /* the path as asked for, made fit for JSON */
	char id[EM_PATH_ARG_SIZE];	 /* {id} or {token} of the path; "" = the route has none */
	struct em_arg args[EM_PARAMS_MAX]; /* in the order of the route's rows */
	enum em_role role;
	const char *body; /* of a POST, as it came; NULL = none */
	size_t body_len;
	int64_t last_event_id; /* header Last-Event-ID; -1 = not sent */
	bool wants_events;     /* header Accept names text/event-stream */
};

/* Which events of a stream are sent; em_event_wanted() judges. */
struct em_event_filter {
	char drive[EM_DRIVE_ID_SIZE]; /* "" = of all, and of none */
	uint64_t kinds;		      /* bit of each enum em_event_kind_id */
};

struct em_reply {
	unsigned status;
	const char *type;
	char allow[64];			 /* "" = no Allow header */
	unsigned retry_after_s;		 /* 0 = no Retry-After header */
	char location[EM_INSTANCE_SIZE]; /* "" = no Location header */
	bool events; /* not a body but the stream of events after events_after */
	int64_t events_after;
	struct em_event_filter events_filter;
	/* The transport's, see encoding.h. */
	char etag[EM_ETAG_SIZE]; /* "" = no ETag header */
	bool gzip;		 /* what the body is compressed with */
	char *body;		 /* malloc'ed; NULL = fixed */
	const char *fixed;	 /* a constant; NULL = empty */
	size_t len;
};

void em_reply_done(struct em_reply *reply);

/* Takes root, which may be NULL: no memory, then the reply is a 500, which needs none. */
void em_reply_json(struct em_reply *reply, json_t *root);
/* 200 becomes another status of success; a 500 stays one. */
void em_reply_success(struct em_reply *reply, unsigned status);
/* 204, without a body. */
void em_reply_nothing(struct em_reply *reply);
/* Takes what buf holds; a failed buffer makes a 500. */
void em_reply_text(struct em_reply *reply, struct em_buf *buf, const char *type);
/* The one form of an error. The text says what to do next. */
void em_reply_problem(struct em_reply *reply, const struct em_call *call, unsigned status,
		      const char *format, ...) __attribute__((format(printf, 4, 5)));
/* "Not Found" */
const char *em_http_reason(unsigned status);
