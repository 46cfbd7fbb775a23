/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * options - the broker's options: command line over broker.conf over defaults.
 *
 * Threads: the loop's. Blocking: as reading small files and the user database.
 * Errors:  em_options_parse() tells the person itself, on stderr.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "broker/conf.h"

struct em_options {
	const char *socket, *config, *policy; /* policy and config: never NULL */
	bool config_given, policy_given;      /* then the file has to exist */
	bool print_policy;		      /* and nothing else */
	const char *record;		      /* NULL, or the file: and nothing else */
	bool mask;
	const char *client_user_option, *patience_option;
	char client_user[64];
	uid_t client_uid;
	gid_t client_gid; /* (gid_t)-1: unknown */
	uint64_t patience_us;
	int log_level;
};

/* The one table of broker.conf: the parser, the commented file and the man page read the row. */
struct em_broker_option {
	const char *key, *value; /* value: the default */
	const char *help;
	const char *(*set)(struct em_options *config,
			   const char *text); /* NULL, or what is wrong */
};
extern const struct em_broker_option em_broker_options[];
extern const unsigned em_broker_option_count;

/* 0: go on. 1: done (--help, --version). -EINVAL: said why. */
int em_options_parse(struct em_options *config, int argc, char **argv);

/*
 * Reads broker.conf, then lays the options over it; *config is untouched on failure. Errors as
 * em_conf_read(), -EINVAL for an option, -ESRCH for an unknown user.
 */
int em_options_load(struct em_options *config, char error[EM_CONF_ERROR_SIZE]);
