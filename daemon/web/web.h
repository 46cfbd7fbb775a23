/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * web - the HTTP side of emberd: routes, JSON, metrics, OpenAPI.
 *
 * Owns:     its listeners and their threads (libmicrohttpd, epoll). Borrows hub and store, which
 *           must outlive it.
 * Threads:  start and stop on the loop thread; handlers run on web's own threads and touch only
 *           snapshots and store readers.
 * Blocking: stop waits for running handlers (bounded by their deadlines).
 * Limits:   connections, header and URL sizes, a deadline per connection: constants in web.c.
 */
#include <sys/types.h>
#include "daemon/drives/event_log.h"
#include "daemon/drives/orders.h"
#include "daemon/drives/snapshot.h"
#include "daemon/jobs/jobs.h"
#include "daemon/store/store.h"

struct em_web_config {
	struct em_event_log *events; /* NULL: events are answered with 503 */
	struct em_orders *orders;    /* NULL: likewise what is asked of the loop */
	struct em_jobs *jobs;	     /* NULL: none */
	/* The network: TLS, bearer tokens, GET only. listen NULL or "" = none. */
	const char *https_listen;      /* "0.0.0.0:9443", "[::]:9443" */
	const char *certificate, *key; /* PEM files */
	const char *tokens; /* file of the salted hashes; NULL = no tokens. One that cannot be read
			     * is told by the log and by health, and nobody gets in. */
	const char *admin_group; /* may change things over the unix socket; NULL = uid 0 only */
	const char *socket;	 /* unix socket to listen on; NULL = none */
	const char *listen;	 /* "127.0.0.1:9980" or "[::1]:9980"; NULL or "" = none */
	const char *version;	 /* PACKAGE_VERSION */
};

struct em_web;

/*
 * -EINVAL: listen is no loopback address and port; else the error of bind. *ret_message says it for
 * people. store may be NULL: history then answers 503.
 */
int em_web_start(struct em_web **ret, const struct em_web_config *config, struct em_hub *hub,
		 struct em_store *store, const char **ret_message);
/*
 * Reads certificate and key again; connections that are open go on with the old ones. On failure
 * the old ones stay in use and *ret_message says why.
 */
int em_web_reload_certificate(struct em_web *web, const char **ret_message);
struct em_web *em_web_stop(struct em_web *web);
