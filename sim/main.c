/* SPDX-License-Identifier: Apache-2.0 */
/* ember-sim - runs a command among simulated NVMe drives. See sim/README.md. */
#include <stdio.h>
#include <string.h>

#include "lib/base/clock.h"
#include "sim/scenario.h"
#include "sim/server.h"

static int usage(FILE *to, int status)
{
	fputs("usage: ember-sim --scenario FILE [--control PATH] -- COMMAND...\n"
	      "       ember-sim control [--control PATH] WORDS...\n"
	      "\n"
	      "Runs COMMAND (and everything it starts) with the drives of the scenario. The exit\n"
	      "status is the command's; 125 when ember-sim itself fails. Words and scenario files\n"
	      "are described in sim/README.md.\n",
	      to);
	return status;
}

int main(int argc, char **argv)
{
	struct sim_server srv = {
		.epoll = -1,
		.dev_listen.fd = -1,
		.event_listen.fd = -1,
		.control_listen.fd = -1,
		.signal_watch.fd = -1,
		.admin_timeout_us = 60 * EM_US_PER_SEC,
	};
	const char *scenario = NULL;
	int i = 1, status;

	if (argc > 1 && strcmp(argv[1], "control") == 0)
		return sim_control_client(argc - 2, argv + 2);
	for (; i < argc && argv[i][0] == '-'; i++) {
		if (strcmp(argv[i], "--help") == 0)
			return usage(stdout, 0);
		if (strcmp(argv[i], "--") == 0) {
			i++;
			break;
		}
		if (i + 1 < argc && strcmp(argv[i], "--scenario") == 0)
			scenario = argv[++i];
		else if (i + 1 < argc && strcmp(argv[i], "--control") == 0)
			snprintf(srv.control_path, sizeof(srv.control_path), "%s", argv[++i]);
		else
			return usage(stderr, 2);
	}
	if (!scenario || i >= argc)
		return usage(stderr, 2);
	status = sim_scenario_load(&srv, scenario) < 0 ? 125 : sim_server_run(&srv, argv + i);
	sim_server_done(&srv);
	return status;
}
