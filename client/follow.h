/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * follow - prints events as they happen, and takes a lost connection up where it broke off.
 *
 * Threads:  one caller. Blocking: until interrupted, or emberd refuses for good.
 * Errors:   as api; a connection that breaks is none.
 */
#include "client/client.h"

#define EM_FOLLOW_DEVICE_WIDTH 8u /* room for names that are not known yet */

/* path: the route with its filters. after: the id of the last event that is known; NULL = none. */
enum em_exit em_follow(struct em_client *client, const char *path, const char *after);
