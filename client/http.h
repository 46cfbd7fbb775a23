/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * http - requests to emberd, over its unix socket or a URL.
 *
 * Redirects, proxies and other protocols than http and https are not followed: the answer comes
 * from the address named, or not at all. A token is sent over https alone.
 *
 * Owns:     a curl handle (connections are reused); answers belong to the caller.
 * Threads:  one caller. Blocking: at most target.timeout_ms per request; a stream as long as
 *           something comes at least every EM_HTTP_SILENCE_S.
 * Errors:   -ENOENT no socket file, -EACCES not allowed to connect, -ECONNREFUSED nobody listens,
 *           -ETIMEDOUT no answer in time, -EMSGSIZE the answer is too long, -EDESTADDRREQ the
 * host's name is not known, -EHOSTUNREACH the network failed, -EKEYREJECTED the certificate is not
 * trusted, -ENOKEY the file of the trusted one cannot be used, -EPROTO no HTTP or no TLS came back,
 * -EINVAL a bad URL, -ECANCELED the stream's reader wants no more, -ENOMEM. Limits:   an answer has
 * at most EM_HTTP_ANSWER_MAX bytes; a stream has no end.
 */
#include <stdbool.h>
#include <stddef.h>

#define EM_HTTP_SOCKET	   "/run/ember/emberd.sock"
#define EM_HTTP_ANSWER_MAX ((size_t)64 << 20)
#define EM_HTTP_TIMEOUT_MS 15000u
#define EM_HTTP_SILENCE_S  45 /* emberd sends a sign of life every 15 s */

struct em_http_target {
	const char *socket; /* used when url is NULL */
	const char *url;    /* https://host:9443 */
	const char *cacert; /* a PEM file to trust; NULL = what the system trusts */
	const char *token;  /* NULL = none */
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

/* path: "/v1/drives", already escaped, with its query. body: JSON, or NULL. */
int em_http_request(struct em_http *http, const char *method, const char *path, const char *body,
		    struct em_http_answer *ret);
int em_http_get(struct em_http *http, const char *path, struct em_http_answer *ret);

/* Takes what came; true = go on. */
typedef bool em_http_data_fn(void *userdata, const char *data, size_t len);
/*
 * GET of a text/event-stream. Its bytes go to fn while the status is 200; else the body stands in
 * *ret. 0 when the other side ended the stream. last_event_id: NULL = none.
 */
int em_http_stream(struct em_http *http, const char *path, const char *last_event_id,
		   em_http_data_fn *fn, void *userdata, struct em_http_answer *ret);

/* What went wrong and what to do next, in one or two sentences. */
void em_http_explain(const struct em_http *http, int err, char *buf, size_t size);

/* Escapes all but unreserved characters for a path segment or query value; NULL: no memory. */
char *em_http_escape(const char *text);
