/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * broker - takes each request through drive, policy, checks and lane, and each answer back.
 *
 * Owns:     discovery, lanes, peers, policy. Threads: the loop's. Blocking: never.
 * Errors:   0 or -errno; em_broker_new() and em_broker_reload() say what is wrong.
 * Limits:   EM_BROKER_DATA_MAX bytes are held for answers above EM_IPC_INLINE_MAX, those included
 *           that a drive keeps us waiting for; smaller ones are bounded by the lanes' queues.
 */
#include <systemd/sd-event.h>

#include "broker/options.h"
#include "lib/base/cleanup.h"

#define EM_BROKER_DATA_MAX (64u << 20)

struct em_broker;

/* *options is kept and has to outlive the broker. */
int em_broker_new(sd_event *event, struct em_options *options, struct em_broker **ret);
struct em_broker *em_broker_free(struct em_broker *broker);
EM_DEFINE_CLEANUP(struct em_broker, em_broker_free)

/* Reads policy and patience again; keeps what it has when either file is bad. */
void em_broker_reload(struct em_broker *broker);

/*
 * Lets go of clients and drives and ends the loop, when all threads have come back or soon after.
 * em_broker_is_clean() tells afterwards; false: a thread is stuck in the kernel, so _exit().
 */
void em_broker_stop(struct em_broker *broker);
bool em_broker_is_clean(const struct em_broker *broker);
