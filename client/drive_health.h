/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * drive_health - the verdicts on drives: all as a table, one with its reasons. The exit status is
 * a monitoring check's.
 *
 * Threads: one caller. Blocking: as http and the output stream.
 */
#include <jansson.h>
#include "client/client.h"

/* A table of all drives, without a document. Retired drives do not count for the exit status. */
enum em_exit em_drive_health_all(struct em_client *client);

/* The drive of the first argument: document and reasons. */
enum em_exit em_drive_health_one(struct em_client *client);

/* How "degraded" is meant; NULL is as unknown. */
enum em_tone em_drive_health_tone(const char *health);
