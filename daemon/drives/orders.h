/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * orders - what a person asks of emberd about a drive, carried from an HTTP thread to the loop.
 *
 * An order is carried out while its giver waits. One that asks the drive itself (COMMAND,
 * SELF_TEST) is answered later, by its id; its giver may have left by then.
 *
 * Owns:     its event source and descriptor; an order belongs to its giver, who waits.
 * Threads:  new and free on the loop thread; give from any other, which waits for the loop.
 * Blocking: give, at most until its deadline.
 * Limits:   EM_ORDERS_MAX wait at once, and one of them for a drive (-EBUSY).
 */
#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>
#include "daemon/drives/snapshot.h"

#define EM_ORDERS_MAX 64u

enum em_order_kind {
	EM_ORDER_REFRESH,   /* read everything in the plan now */
	EM_ORDER_RETIRE,    /* a removed drive was taken away on purpose */
	EM_ORDER_UNRETIRE,  /* it was not: it is removed again */
	EM_ORDER_COMMAND,   /* send it one command, which changes nothing that is stored */
	EM_ORDER_SELF_TEST, /* begin a device self-test, or end the one that runs */
};

/* Name, and the code that the command takes. */
#define EM_SELF_TESTS(X)                                                                           \
	X(SHORT, "short", 0x1)                                                                     \
	X(EXTENDED, "extended", 0x2)                                                               \
	X(ABORT, "abort", 0xf)

#define EM_X(id, name, code) EM_SELF_TEST_##id,
enum em_self_test { EM_SELF_TESTS(EM_X) EM_SELF_TEST_COUNT };
#undef EM_X
const char *em_self_test_name(enum em_self_test test);

/* What a COMMAND asks. Each reads. */
#define EM_COMMANDS(X)                                                                             \
	X(IDENTIFY, "identify")                                                                    \
	X(LOG, "log")                                                                              \
	X(FEATURE, "feature")

#define EM_X(id, name) EM_COMMAND_##id,
enum em_command_kind { EM_COMMANDS(EM_X) EM_COMMAND_COUNT };
#undef EM_X
const char *em_command_name(enum em_command_kind kind);

#define EM_COMMAND_DATA_MAX (2u << 20) /* bytes that one may read: a day of Memblaze's D2h */

struct em_command {
	enum em_command_kind kind;
	/*
	 * Any page, and not only those that reading leaves as they are: class arm of the broker's
	 * policy, and an entry of the drive's error log when it has no such page.
	 */
	bool consume;
	uint8_t page;	  /* CNS, log page or feature identifier */
	uint8_t specific; /* LSP of a log page, SEL of a feature */
	uint16_t id;	  /* LSI of a log page, CNTID of Identify */
	uint32_t nsid, len;
	uint64_t offset; /* of a log page */
};

struct em_command_answer {
	struct em_page_read read; /* how it ended, and the bytes */
	bool not_allowed;	  /* the broker's checks do not let it pass */
	uint32_t result;	  /* completion dword 0 */
	uint64_t duration_us;
};

#define EM_ORDER_MESSAGE_SIZE 200

struct em_order {
	enum em_order_kind kind;
	char drive_id[EM_DRIVE_ID_SIZE];
	bool refused;		   /* REFRESH: ask again what was refused before, too */
	struct em_command command; /* COMMAND */
	enum em_self_test test;	   /* SELF_TEST */
	struct em_command_answer
		answer; /* of COMMAND, when result is 0; the giver frees its data */
	uint64_t id;	/* names it to who answers later; set by orders */
	/*
	 * The answer: 0, -ENOENT no such drive, -EBUSY and -EAGAIN its state does not allow it,
	 * -EPERM the broker's policy does not.
	 */
	int result;
	char message[EM_ORDER_MESSAGE_SIZE]; /* for people, when result is not 0 */
};

/* On the loop; sets result. EM_ORDER_LATER: em_orders_answer() will be called with the id. */
typedef void em_order_fn(void *userdata, struct em_order *order);
#define EM_ORDER_LATER 1

struct em_orders;
int em_orders_new(struct em_orders **ret, sd_event *event, em_order_fn *fn, void *userdata);
/* Whoever waits, or comes later, gets -ESHUTDOWN. Blocking: never. NULL ok. */
void em_orders_close(struct em_orders *orders);
/* After em_orders_close(), which it does itself where nobody did; waits for givers to leave. */
struct em_orders *em_orders_free(struct em_orders *orders);
/*
 * The order's result, or -ETIMEDOUT (monotonic deadline_us; it was not and will not be carried
 * out, but for one that asks the drive and is under way), -EBUSY too many wait (without a message),
 * -ESHUTDOWN.
 */
int em_orders_give(struct em_orders *orders, struct em_order *order, uint64_t deadline_us);

/* On the loop. No order waits for a later answer, so one may. */
bool em_orders_may_wait(struct em_orders *orders);
/* Whether this one still waits for its answer. */
bool em_orders_waits(struct em_orders *orders, uint64_t id);
/* Takes a reference to the data. Nothing happens when nobody waits for it. */
void em_orders_answer(struct em_orders *orders, uint64_t id,
		      const struct em_command_answer *answer);
/* The same of an order that has no data. message may be "" when result is 0. */
void em_orders_finish(struct em_orders *orders, uint64_t id, int result, const char *message);
