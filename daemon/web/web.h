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
#include "daemon/drives/snapshot.h"
#include "daemon/store/store.h"

struct em_web_config {
	const char *socket;  /* unix socket to listen on; NULL = none */
	const char *listen;  /* "127.0.0.1:9980" or "[::1]:9980"; NULL or "" = none */
	const char *version; /* PACKAGE_VERSION */
};

struct em_web;

/*
 * -EINVAL: listen is no loopback address and port; else the error of bind. *ret_message says it for
 * people. store may be NULL: history then answers 503.
 */
int em_web_start(struct em_web **ret, const struct em_web_config *config, struct em_hub *hub,
		 struct em_store *store, const char **ret_message);
struct em_web *em_web_stop(struct em_web *web);
