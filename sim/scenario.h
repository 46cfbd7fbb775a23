/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * scenario - reads a scenario file (sim/README.md) into a server's drives and plans.
 *
 * Errors: -EINVAL and others; the message, with file and line, goes to stderr.
 */
#include "sim/server.h"

int sim_scenario_load(struct sim_server *srv, const char *path);
