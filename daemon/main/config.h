/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * config - emberd's configuration, out of FILE and FILE.d/ *.conf.
 *
 * Files are read in the order of their names, the main file first; a later file wins. Anything that
 * is not exactly understood is an error: an unknown section or key, a key twice in one file, a bad
 * value. A running emberd keeps its old configuration then.
 *
 * Owns:     a config owns all it holds.
 * Threads:  one at a time (libeconf keeps the place of its last error in a global).
 * Blocking: on the disk.
 * Errors:   -errno, and message is "file:line: what is wrong and what to do".
 * Limits:   files of 1 MiB, lines of 1000 characters, EM_DRIVES_MAX drives.
 */
#include <limits.h>
#include <stdbool.h>
#include "daemon/drives/drives.h"
#include "daemon/jobs/jobs.h"
#include "lib/base/buf.h"

#define EM_CONFIG_MESSAGE_SIZE 1024

struct em_option;

struct em_config {
	char http_socket[108];
	char http_listen[64];  /* "" = none */
	char admin_group[33];  /* "" = none */
	char https_listen[64]; /* "" = none */
	char https_certificate[PATH_MAX], https_key[PATH_MAX];
	char store_directory[PATH_MAX];
	uint64_t raw_keep_us, events_keep_us;
	int log_level;			/* LOG_ERR .. LOG_DEBUG */
	struct em_drives_config drives; /* overrides included */
	struct em_jobs_config jobs;
};

/*
 * file NULL: only the defaults. A main file that does not exist counts as empty unless must_exist,
 * for one that was named on the command line. A link to nothing is an error in either case.
 */
int em_config_new(struct em_config **ret, const char *file, bool must_exist,
		  char message[EM_CONFIG_MESSAGE_SIZE]);
struct em_config *em_config_free(struct em_config *config);

/*
 * One option from the command line, under the same checks; not for the per-drive ones. name is how
 * it was written there: the message begins with it.
 */
int em_config_set(struct em_config *config, const char *section, const char *key, const char *value,
		  const char *name, char message[EM_CONFIG_MESSAGE_SIZE]);

/* True when both have the same value of this option. */
bool em_config_same(const struct em_config *a, const struct em_config *b,
		    const struct em_option *option);

/* A file that says the same: every option, and what drives have of their own. */
void em_config_print(const struct em_config *config, struct em_buf *out);
