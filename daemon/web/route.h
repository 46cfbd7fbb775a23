/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * route - the route table: one row says what may be asked and what comes back. Matching, checking
 * of parameters, 404, 405, authorisation, OpenAPI and the index page read the row.
 *
 * Owns:     nothing; rows are static.
 * Threads:  pure functions over static rows. Blocking: never (handlers: at most their deadline).
 * Limits:   EM_PARAMS_MAX parameters of a route, EM_ARG_SIZE bytes of a value.
 */
#include "daemon/web/call.h"

enum em_param_type {
	EM_PARAM_NAME,     /* [a-z0-9_]+, what it may be is the handler's to say */
	EM_PARAM_TIME,     /* as em_time_parse() reads it */
	EM_PARAM_DURATION, /* min and max in microseconds */
	EM_PARAM_UINT,
};

struct em_param {
	const char *name;
	enum em_param_type type;
	bool required;
	uint64_t min, max;
	const char *fallback; /* used when it is not given; NULL = none */
	const char *help;
};

/* What a reply looks like; openapi.c has the schema of each. */
enum em_shape {
	EM_SHAPE_TEXT,
	EM_SHAPE_METRICS,
	EM_SHAPE_OPENAPI,
	EM_SHAPE_HEALTH,
	EM_SHAPE_DRIVES,
	EM_SHAPE_DRIVE,
	EM_SHAPE_PAGE, /* of .page */
	EM_SHAPE_NAMESPACES,
	EM_SHAPE_HISTORY,
};

typedef void em_handler(struct em_call *call, struct em_reply *reply);

struct em_route {
	const char *method; /* GET also answers HEAD */
	const char *path;   /* "{id}" stands for one segment: a drive */
	enum em_role role;
	const struct em_param *params;
	unsigned param_count;
	enum em_shape shape;
	enum em_page_id page; /* EM_SHAPE_PAGE */
	em_handler *handle;
	bool takes_body; /* a JSON object; else a body is answered with 413 */
	bool stable; /* the body depends on data only and not on the time: it gets an ETag */
	bool waits; /* the handler reads the disk: it gets a thread of the pool */
	const char *op_id;
	const char *summary;
};

extern const struct em_route em_routes[];
extern const unsigned em_route_count;

/* Places of the parameters of the history route in em_call.args. */
enum {
	EM_HISTORY_FIELD,
	EM_HISTORY_FROM,
	EM_HISTORY_TO,
	EM_HISTORY_STEP,
	EM_HISTORY_LIMIT,
	EM_HISTORY_NSID,
	EM_HISTORY_PARAM_COUNT
};

/*
 * Finds the route of method and uri (as in the request line: undecoded, with its query), reads its
 * parameters and checks them. call has context, snap and the clocks. False: reply is the problem
 * to answer with (400, 404, 405).
 */
bool em_route_resolve(struct em_call *call, const char *method, const char *uri,
		      struct em_reply *reply);

/* May this role ask for that route? The roles of peers come with authentication. */
bool em_route_allows(const struct em_route *route, enum em_role role);

/* Undoes %XX. -EINVAL: not valid, or %00; -E2BIG: does not fit. A '+' stays a '+'. */
int em_uri_decode(char *dst, size_t size, const char *src, size_t len);
