/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * guard - a deadline for each connection that no trickle of bytes can move.
 *
 * libmicrohttpd's timeout begins anew with every byte. Here a connection has EM_GUARD_REQUEST_US to
 * send a whole request head, and then EM_GUARD_REPLY_US to take the reply; after that its socket
 * is shut down, and libmicrohttpd closes it.
 *
 * Owns:     a thread that sleeps while there is no connection. Borrows the descriptors: remove a
 *           connection before its descriptor is closed.
 * Threads:  all functions from any thread. Blocking: free waits for the thread.
 * Limits:   as many connections as the listeners let in.
 */
#include <stdint.h>

#define EM_GUARD_REQUEST_US UINT64_C(15000000)
#define EM_GUARD_REPLY_US   UINT64_C(120000000)

struct em_guard;
struct em_guarded;

int em_guard_new(struct em_guard **ret);
struct em_guard *em_guard_free(struct em_guard *guard);

/* NULL: no memory; the connection then has no deadline of ours. */
struct em_guarded *em_guard_add(struct em_guard *guard, int fd, uint64_t span_us);
/* Gives it span_us from now; guarded may be NULL. */
void em_guard_set(struct em_guard *guard, struct em_guarded *guarded, uint64_t span_us);
void em_guard_remove(struct em_guard *guard, struct em_guarded *guarded);
