/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emberd's configuration. Input: emberd.conf; behind a line "%%" a drop-in.
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "daemon/main/config.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "tests/fuzz/fuzz.h"

#define INTERVAL_MIN_US (10 * EM_US_PER_MS)
#define INTERVAL_MAX_US (7 * 24 * 3600 * EM_US_PER_SEC)

static char main_file[FUZZ_PATH_SIZE], drop_in[FUZZ_PATH_SIZE], drop_ins[FUZZ_PATH_SIZE];

static void remove_drop_ins(void)
{
	unlink(drop_in);
	rmdir(drop_ins);
}

static void make_paths(void)
{
	fuzz_path(main_file, "emberd.conf");
	fuzz_path(drop_ins, "emberd.conf.d");
	fuzz_path(drop_in, "emberd.conf.d/10-more.conf");
	fuzz_check(mkdir(drop_ins, 0700) == 0);
	atexit(remove_drop_ins);
}

static void check_intervals(const struct em_poll_intervals *intervals)
{
	for (unsigned i = 0; i < EM_PAGE_COUNT; i++)
		fuzz_check(intervals->page_us[i] >= INTERVAL_MIN_US &&
			   intervals->page_us[i] <= INTERVAL_MAX_US);
}

static void check_config(const struct em_config *config)
{
	fuzz_check(config->http_socket[0] == '/' && config->drives.broker_socket[0] == '/');
	fuzz_check(config->log_level >= LOG_ERR && config->log_level <= LOG_DEBUG);
	check_intervals(&config->drives.intervals);
	for (unsigned i = 0; i < config->drives.override_count; i++) {
		fuzz_check(config->drives.overrides[i].serial[0]);
		check_intervals(&config->drives.overrides[i].intervals);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *more = size ? memmem(data, size, "\n%%\n", 4) : NULL;
	size_t len = more ? (size_t)(more - data) + 1 : size;
	char message[EM_CONFIG_MESSAGE_SIZE] = "";
	struct em_config *config = NULL;
	int r;

	if (!main_file[0])
		make_paths();
	fuzz_write(main_file, data, len);
	if (more)
		fuzz_write(drop_in, more + 4, size - len - 3);
	else
		unlink(drop_in);
	r = em_config_new(&config, main_file, true, message);
	fuzz_check(memchr(message, '\0', sizeof(message)));
	if (r == 0)
		check_config(config);
	else
		fuzz_check(!config && strncmp(message, main_file, strlen(main_file)) == 0);
	em_config_free(config);
	return 0;
}
