/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * http - GET requests to emberd, over its unix socket or a URL.
 *
 * Redirects, proxies and other protocols than http and https are not followed: the answer comes
 * from the address named, or not at all.
 *
 * Owns:     a curl handle (connections are reused); answers belong to the caller.
 * Threads:  one caller. Blocking: at most target.timeout_ms per request.
 * Errors:   -ENOENT no socket file, -EACCES not allowed to connect, -ECONNREFUSED nobody listens,
 *           -ETIMEDOUT no answer in time, -EMSGSIZE the answer is too long, -EHOSTUNREACH the name
 *           or network failed, -EPROTO no HTTP came back, -EINVAL a bad URL, -ENOMEM.
 * Limits:   an answer has at most EM_HTTP_ANSWER_MAX bytes.
 */
#include <stddef.h>

#define EM_HTTP_SOCKET	   "/run/ember/emberd.sock"
#define EM_HTTP_ANSWER_MAX ((size_t)64 << 20)
#define EM_HTTP_TIMEOUT_MS 15000u

struct em_http_target {
	const char *socket; /* used when url is NULL */
	const char *url;    /* http://127.0.0.1:9980 */
	unsigned timeout_ms;
};

struct em_http_answer {
	long status;
	char *body; /* NUL-terminated, to be freed; never NULL after success */
	size_t len;
};

struct em_http;

/* The target's strings are borrowed and must live as long. -EINVAL: no such address can be. */
int em_http_new(struct em_http **ret, const struct em_http_target *target);
struct em_http *em_http_free(struct em_http *http);

/* path: "/v1/drives", already escaped, with its query. */
int em_http_get(struct em_http *http, const char *path, struct em_http_answer *ret);

/* What went wrong and what to do next, in one or two sentences. */
void em_http_explain(const struct em_http *http, int err, char *buf, size_t size);

/* Escapes all but unreserved characters for a path segment or query value; NULL: no memory. */
char *em_http_escape(const char *text);
