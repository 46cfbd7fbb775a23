/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * handlers - what the routes of routes.c call. Each makes the whole reply from the call.
 *
 * Threads:  any. Blocking: those whose route says that it waits, up to their deadline; the
 *           others never.
 */
#include "daemon/web/route.h"

em_handler em_handle_index, em_handle_health, em_handle_drives, em_handle_drive, em_handle_page,
	em_handle_namespaces, em_handle_history, em_handle_metrics, em_handle_openapi;

/* The drive of the call's {id}; NULL: reply is the problem (404, 409). */
const struct em_drive_snap *em_call_drive(const struct em_call *call, struct em_reply *reply);
