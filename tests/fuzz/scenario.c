/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scenario files of the simulator. Input: the file.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "sim/scenario.h"
#include "tests/fuzz/fuzz.h"

/* Thousands of copies, or a file that includes itself, are only slow. */
static bool is_slow(const uint8_t *data, size_t size)
{
	return size && (memmem(data, size, "repeat", 6) || memmem(data, size, "file", 4));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char path[FUZZ_PATH_SIZE];
	struct sim_server srv = {
		.epoll = -1,
		.dev_listen.fd = -1,
		.event_listen.fd = -1,
		.control_listen.fd = -1,
		.signal_watch.fd = -1,
	};

	if (is_slow(data, size))
		return -1;
	if (!path[0])
		fuzz_path(path, "scenario.conf");
	fuzz_write(path, data, size);
	if (sim_scenario_load(&srv, path) == 0)
		for (unsigned i = 0; i < srv.host_count; i++)
			fuzz_check(srv.hosts[i].drive);
	sim_server_done(&srv);
	return 0;
}
