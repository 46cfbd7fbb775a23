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
	EM_PARAM_NAME,	   /* [a-z0-9_]+, what it may be is the handler's to say */
	EM_PARAM_TIME,	   /* as em_time_parse() reads it */
	EM_PARAM_DURATION, /* min and max in microseconds */
	EM_PARAM_UINT,
	EM_PARAM_BOOL,	  /* number 0 or 1 */
	EM_PARAM_CHOICE,  /* one of the names; number is its place */
	EM_PARAM_CHOICES, /* some of the names, with commas between; number has their bits */
	EM_PARAM_DRIVE,	  /* like {id} */
	EM_PARAM_CURSOR,  /* next_cursor of an earlier reply */
	EM_PARAM_LABEL,	  /* 1 to max printable characters, no blank at either end */
};

/* The names of a closed set. */
struct em_name_set {
	const char *(*name)(unsigned index);
	unsigned count;
};
extern const struct em_name_set em_set_states, em_set_statuses, em_set_pages, em_set_kinds,
	em_set_changes, em_set_roles, em_set_token_roles, em_set_orders, em_set_health,
	em_set_listeners, em_set_commands, em_set_self_tests, em_set_capacitor,
	em_set_capacitor_sources, em_set_sscs, em_set_erase_reasons, em_set_removals, em_set_trust,
	em_set_verdicts, em_set_severities;

struct em_param {
	const char *name;
	enum em_param_type type;
	bool required;
	bool in_body; /* a member (text) of the JSON object that is the body; else of the query */
	uint64_t min, max;
	const struct em_name_set *set; /* EM_PARAM_CHOICE, EM_PARAM_CHOICES; at most 64 names */
	const char *fallback;	       /* used when it is not given; NULL = none */
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
	EM_SHAPE_CAPACITOR,
	EM_SHAPE_SECURITY,
	EM_SHAPE_DRIVE_HEALTH,
	EM_SHAPE_HISTORY,
	EM_SHAPE_EVENTS, /* or, when asked for, the stream of them */
	EM_SHAPE_REFRESH,
	EM_SHAPE_COMMAND,
	EM_SHAPE_SELF_TEST,
	EM_SHAPE_SUMMARY,
	EM_SHAPE_TOKENS,
	EM_SHAPE_TOKEN, /* with its secret */
	EM_SHAPE_NONE,	/* no body */
};

typedef void em_handler(struct em_call *call, struct em_reply *reply);

struct em_route {
	const char *method; /* GET also answers HEAD */
	const char *path;   /* "{id}" stands for one segment: a drive; "{token}": an id of one */
	enum em_role role;
	const struct em_param *params;
	unsigned param_count;
	enum em_shape shape;
	enum em_page_id page; /* EM_SHAPE_PAGE */
	em_handler *handle;
	unsigned status; /* of success; 0 = 200 */
	bool conflicts;	 /* may be answered with 409 for other reasons than an ambiguous {id} */
	bool takes_body; /* a JSON object; else a body is answered with 413 */
	bool stable;	 /* the body depends on data only and not on the time: it gets an ETag */
	bool waits;	 /* the handler reads the disk: it gets a thread of the pool */
	const char *op_id;
	const char *summary;
};

extern const struct em_route em_routes[];
extern const unsigned em_route_count;

/* Places of the parameters in em_call.args. */
enum { EM_DRIVES_STATE, EM_DRIVES_LIMIT, EM_DRIVES_CURSOR, EM_DRIVES_PARAM_COUNT };
enum {
	EM_EVENTS_SINCE,
	EM_EVENTS_UNTIL,
	EM_EVENTS_DRIVE,
	EM_EVENTS_KIND,
	EM_EVENTS_AFTER,
	EM_EVENTS_ORDER,
	EM_EVENTS_LIMIT,
	EM_EVENTS_CURSOR,
	EM_EVENTS_PARAM_COUNT
};
enum { EM_ORDER_NEWEST, EM_ORDER_OLDEST }; /* of EM_EVENTS_ORDER */
enum { EM_REFRESH_REFUSED, EM_REFRESH_PARAM_COUNT };
enum {
	EM_COMMAND_ARG_KIND,
	EM_COMMAND_ARG_PAGE,
	EM_COMMAND_ARG_NSID,
	EM_COMMAND_ARG_LSP,
	EM_COMMAND_ARG_LSI,
	EM_COMMAND_ARG_OFFSET,
	EM_COMMAND_ARG_LENGTH,
	EM_COMMAND_ARG_CONSUME,
	EM_COMMAND_ARG_COUNT
};
enum { EM_SELF_TEST_ARG_TEST, EM_SELF_TEST_PARAM_COUNT };
enum { EM_TOKEN_NAME, EM_TOKEN_ROLE, EM_TOKEN_EXPIRES_IN, EM_TOKEN_PARAM_COUNT };
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

/* Reads the query (without '?') into the arguments of the rows that do not stand in the body. */
bool em_route_read_query(struct em_call *call, const char *query, struct em_reply *reply);
/*
 * Reads call->body into the arguments of the rows that stand in the body. False: reply is the
 * problem to answer with (400). Handlers of routes that take a body begin with it.
 */
bool em_route_read_body(struct em_call *call, struct em_reply *reply);

/* May this role ask for that route? */
bool em_route_allows(const struct em_route *route, enum em_role role);

/* The name of the part of the path in braces: "id", "token"; NULL = none. */
const char *em_route_path_param(const struct em_route *route);

/*
 * Every status that the route may be answered with, ascending, success first; how many. HTTP that
 * is none is answered before there is a route, see openapi.c.
 */
#define EM_STATUSES_MAX 16u
unsigned em_route_statuses(const struct em_route *route, unsigned ret[EM_STATUSES_MAX]);

/* Undoes %XX. -EINVAL: not valid, or %00; -E2BIG: does not fit. A '+' stays a '+'. */
int em_uri_decode(char *dst, size_t size, const char *src, size_t len);
