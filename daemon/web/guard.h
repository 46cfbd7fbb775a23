/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * guard - a deadline for each connection that no trickle of bytes can move.
 *
 * libmicrohttpd's timeout begins anew with every byte. Here a connection has EM_GUARD_REQUEST_US to
 * send a whole request head, and then EM_GUARD_REPLY_US to take the reply; after that its socket
 * is shut down, and libmicrohttpd closes it.
 *
 * Crowds must not keep others out either. Above a listener's limit the connection that has sent no
 * request for the longest is shut down, and where each has sent one, the one whose reply is on its
 * way for the longest: a client that asks at once and takes its reply is always younger. Where
 * there is a limit for one address, it is kept in the same way among those of that address.
 *
 * Owns:     a thread that sleeps while there is no connection. Borrows the descriptors: remove a
 *           connection before its descriptor is closed.
 * Threads:  all functions from any thread. Blocking: free waits for the thread.
 * Limits:   those of the groups.
 */
#include <stdint.h>
#include <sys/queue.h>

#define EM_GUARD_REQUEST_US UINT64_C(15000000)
#define EM_GUARD_REPLY_US   UINT64_C(120000000)

struct em_guard;
struct em_guarded;

/* In the order in which they came into it. */
TAILQ_HEAD(em_guard_list, em_guarded);

/* The connections of one listener; zeroed but for the limits. */
struct em_guard_group {
	unsigned max;
	unsigned address_max; /* 0 = no limit for one address */
	unsigned open;	      /* not shut down yet; each is in one of the lists */
	struct em_guard_list asking, answered;
};
void em_guard_group_init(struct em_guard_group *group, unsigned max, unsigned address_max);

int em_guard_new(struct em_guard **ret);
struct em_guard *em_guard_free(struct em_guard *guard);

/*
 * Has span_us to send a request. address: where it comes from, in the eyes of address_max.
 * NULL: no memory; the connection then has no deadline of ours.
 */
struct em_guarded *em_guard_add(struct em_guard *guard, struct em_guard_group *group, int fd,
				uint64_t address, uint64_t span_us);
/* A request is awaited again, or there was one and its reply has to be taken; in span_us from now.
 * guarded may be NULL. */
void em_guard_await(struct em_guard *guard, struct em_guarded *guarded, uint64_t span_us);
void em_guard_reply(struct em_guard *guard, struct em_guarded *guarded, uint64_t span_us);
void em_guard_remove(struct em_guard *guard, struct em_guarded *guarded);
