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
 * request for the longest is shut down: a client that asks at once and takes its reply is always
 * younger. But a quarter of the places is for those who come, and who are not known yet: when they
 * have no more than that, it is the one of those known that asks nothing for the longest, or else
 * the one whose reply is on its way for the longest. So neither keeps out the other, when honest
 * clients share an address with others. Where there is a limit for one address, it is kept in the
 * same way among those of that address.
 *
 * Owns:     a thread that sleeps while there is no connection. Borrows the descriptors: remove a
 *           connection before its descriptor is closed.
 * Threads:  all functions from any thread. Blocking: free waits for the thread.
 * Limits:   those of the groups.
 */
#include <stdbool.h>
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
	unsigned address_max;			      /* 0 = no limit for one address */
	struct em_guard_list asking, known, answered; /* those that are not shut down */
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
/* Has it shown who it is? That of one which was never told is not known. guarded may be NULL. */
void em_guard_set_known(struct em_guard *guard, struct em_guarded *guarded, bool known);
void em_guard_remove(struct em_guard *guard, struct em_guarded *guarded);
