/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * verb - one row describes one verb of emberctl. The command line, the help, the man page and the
 * completions read the row; nobody else spells a verb, an argument or an option.
 *
 * Owns:     nothing; rows are static.
 * Threads:  pure functions. Blocking: only run().
 */
#include <stdbool.h>
#include "client/exit.h"

#define EM_VERB_WORDS_MAX 8u /* arguments of a verb, and options of a verb */

/* What a shell may offer in this place. */
enum em_complete { EM_COMPLETE_NONE, EM_COMPLETE_DRIVE, EM_COMPLETE_FIELD, EM_COMPLETE_FILE };

struct em_arg {
	const char *name; /* "DRIVE"; NULL ends a list */
	enum em_complete complete;
	const char *help;
};

struct em_option {
	const char *name;    /* "--from"; NULL ends a list */
	const char *metavar; /* "TIME"; NULL = the option is a switch */
	enum em_complete complete;
	const char *help;
};

struct em_client;

struct em_verb {
	const char *name;	   /* NULL ends the table */
	const struct em_arg *args; /* all of them required */
	const struct em_option *options;
	const char *summary; /* one line, no full stop */
	const char *help;    /* sentences; an empty line between paragraphs */
	const char *example;
	enum em_exit (*run)(struct em_client *client);
};

extern const struct em_verb em_verbs[];

/* Options that stand before or after any verb; indexed by this enum. */
enum em_common {
	EM_COMMON_JSON,
	EM_COMMON_SOCKET,
	EM_COMMON_URL,
	EM_COMMON_TIMEOUT,
	EM_COMMON_HELP,
	EM_COMMON_VERSION,
	EM_COMMON_COUNT,
};
extern const struct em_option em_common_options[EM_COMMON_COUNT + 1];

const struct em_verb *em_verb_find(const char *name); /* NULL: none */
unsigned em_verb_arg_count(const struct em_verb *verb);

enum em_exit em_verb_drives(struct em_client *client);
enum em_exit em_verb_show(struct em_client *client);
enum em_exit em_verb_history(struct em_client *client);
enum em_exit em_verb_health(struct em_client *client);
enum em_exit em_verb_version(struct em_client *client);
