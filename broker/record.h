/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * record - the drives of this host as a scenario of the simulator, in one file.
 *
 * Asks every drive at once, with the broker's patience for each; nothing but operations of the
 * class read. The file is there whole or not at all, for its owner alone.
 *
 * Threads: the loop's, and a lane for each drive. Blocking: until all have answered.
 */
#include <systemd/sd-event.h>

#include "broker/options.h"

/* Tells the person on stderr. Returns an exit status; does not return when a thread is stuck. */
int em_record(sd_event *event, const struct em_options *options);
