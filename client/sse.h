/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * sse - reads a text/event-stream, in pieces as they come.
 *
 * Owns:     the line and the event that are not complete yet.
 * Threads:  one caller. Blocking: never.
 * Limits:   a line, and the data of an event, have at most EM_SSE_MAX bytes; a longer one makes
 *           feeding fail.
 */
#include <stdbool.h>
#include <stddef.h>
#include "lib/base/buf.h"

#define EM_SSE_MAX     ((size_t)256 << 10)
#define EM_SSE_ID_SIZE 64

/* data: NUL-terminated. True = go on. */
typedef bool em_sse_fn(void *userdata, const char *data, size_t len);

struct em_sse {
	struct em_buf line, data;
	char id[EM_SSE_ID_SIZE];      /* of the last event that is complete; "" = none yet */
	char next_id[EM_SSE_ID_SIZE]; /* becomes it with the end of the event */
	unsigned retry_ms;	      /* what the other side asks for; 0 = nothing */
	bool after_cr;		      /* a LF that follows belongs to that CR */
	em_sse_fn *fn;
	void *userdata;
};

void em_sse_init(struct em_sse *sse, em_sse_fn *fn, void *userdata);
void em_sse_done(struct em_sse *sse);

/* Forgets what is not complete: a new connection begins. The id stays. */
void em_sse_restart(struct em_sse *sse);

/* False: fn wants no more, or a limit is reached. */
bool em_sse_feed(struct em_sse *sse, const char *bytes, size_t len);
