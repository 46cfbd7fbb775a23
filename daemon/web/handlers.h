/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * handlers - what the routes of routes.c call. Each makes the whole reply from the call.
 *
 * Threads:  any. Blocking: those whose route says that it waits, up to their deadline; the
 *           others never.
 */
#include "daemon/web/route.h"

/* For all that a handler waits for: the pool has few threads for all who ask. */
#define EM_WAIT_US (800 * UINT64_C(1000))
/* For what a drive is asked: longer than the broker's own patience with it. */
#define EM_DRIVE_WAIT_US (20 * UINT64_C(1000000))

em_handler em_handle_index, em_handle_health, em_handle_drives, em_handle_drive, em_handle_page,
	em_handle_namespaces, em_handle_capacitor, em_handle_security, em_handle_history,
	em_handle_metrics, em_handle_openapi;
em_handler em_handle_drive_health;
em_handler em_handle_events, em_handle_changes;
em_handler em_handle_command;
em_handler em_handle_refresh, em_handle_retire, em_handle_unretire, em_handle_self_test;
em_handler em_handle_tokens, em_handle_token_create, em_handle_token_revoke;

/* The drive of the call's {id}; NULL: reply is the problem (404, 409). */
const struct em_drive_snap *em_call_drive(const struct em_call *call, struct em_reply *reply);
/* Likewise of any text that names one. */
const struct em_drive_snap *em_call_find_drive(const struct em_call *call, const char *name,
					       struct em_reply *reply);
/* Gives the order and waits for what becomes of it. False: reply is the problem. */
bool em_call_give(const struct em_call *call, struct em_order *order,
		  const struct em_drive_snap *drive, uint64_t wait_us, struct em_reply *reply);
/* 503 with Retry-After. */
void em_reply_unavailable(struct em_reply *reply, const struct em_call *call, const char *why);
