/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * request - the headers of a request, as libmicrohttpd has them.
 *
 * Owns:     nothing; values live as long as the request.
 * Threads:  the one that serves the connection. Blocking: never.
 */
#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

/* A header that may come once. */
struct em_header {
	const char *name, *value; /* of the last one; "" = empty */
	unsigned count;
};
struct em_header em_header_find(struct MHD_Connection *connection, const char *name);

/* Does a body follow, of whatever length? */
bool em_request_has_body(struct MHD_Connection *connection);
/* Of a length that is told once and at most max, or in chunks, which are counted as they come. */
bool em_request_body_may_come(struct MHD_Connection *connection, size_t max);
/* The secret behind "Authorization: Bearer"; NULL = there is none, or more than one header. */
const char *em_request_bearer(struct MHD_Connection *connection);
