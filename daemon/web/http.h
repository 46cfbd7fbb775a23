/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * http - libmicrohttpd between a listening socket and the routes.
 *
 * Owns:     one listener: its socket and threads. Borrows context and shared.
 * Threads:  start and stop on one thread. Blocking: stop waits for running handlers.
 * Limits:   see the constants in http.c; EM_REPLIES_MAX bytes of replies are on their way at once
 *           over one listener, so that slow readers at one leave the others alone; what is small
 *           goes in any case. A request's body has at most EM_BODY_MAX bytes, and only the unix
 *           socket takes any.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "daemon/web/call.h"
#include "daemon/web/guard.h"
#include "daemon/web/pool.h"

struct em_streams;
struct em_tls;

#define EM_REPLIES_MAX ((size_t)48 << 20)
#define EM_BODY_MAX    ((size_t)64 << 10)

/* What the listeners have together. */
struct em_shared {
	struct em_context context;
	struct em_guard *guard;
	struct em_pool *pool; /* ended before a listener is stopped, like streams */
	struct em_streams *streams;
	struct em_tls *tls; /* NULL: nothing is listened on for the network */
	bool has_admins;
	gid_t admins; /* members may change things over the unix socket */
};

enum em_listener_kind {
	EM_LISTENER_UNIX,
	EM_LISTENER_LOOPBACK,
	EM_LISTENER_NETWORK, /* with TLS and tokens */
};

struct em_listener;

/* Takes fd, also when it fails. port: of TCP. -EIO: libmicrohttpd would not start. */
int em_listener_start(struct em_listener **ret, struct em_shared *shared,
		      enum em_listener_kind kind, int fd, uint16_t port);
struct em_listener *em_listener_stop(struct em_listener *listener);
