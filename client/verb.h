/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * verb - one row describes one verb of emberctl. The command line, the help, the man page, the
 * completions and docs/names/cli.txt read the row; nobody else spells a verb, an argument or an
 * option.
 *
 * A verb of two words ("token create") belongs to the group that its first word names.
 *
 * Owns:     nothing; rows are static.
 * Threads:  pure functions. Blocking: only run().
 */
#include <stdbool.h>
#include <stddef.h>
#include "client/exit.h"

#define EM_VERB_WORDS_MAX 8u /* arguments of a verb, and options of a verb */

/* What a shell may offer in this place, and the word with which it asks for it. */
#define EM_COMPLETIONS(X)                                                                          \
	X(NONE, "none")                                                                            \
	X(DRIVE, "drive")                                                                          \
	X(FIELD, "field")                                                                          \
	X(FILE, "file")                                                                            \
	X(KIND, "kind")                                                                            \
	X(TOKEN, "token")

#define EM_X(id, word) EM_COMPLETE_##id,
enum em_complete { EM_COMPLETIONS(EM_X) };
#undef EM_X

/* Under which heading the help lists a verb, in this order. */
#define EM_SECTIONS(X)                                                                             \
	X(LOOK, "See drives")                                                                      \
	X(TIME, "Follow them over time")                                                           \
	X(ACT, "Act on a drive")                                                                   \
	X(EMBER, "Ember itself")

#define EM_X(id, title) EM_SECTION_##id,
enum em_section { EM_SECTIONS(EM_X) EM_SECTION_COUNT };
#undef EM_X

struct em_arg {
	const char *name; /* "DRIVE"; NULL ends a list */
	enum em_complete complete;
	const char *help;
	bool optional; /* only the last ones of a list */
};

struct em_option {
	const char *name;    /* "--from"; NULL ends a list */
	const char *metavar; /* "TIME"; NULL = the option is a switch */
	enum em_complete complete;
	const char *help;
};

struct em_client;

struct em_verb {
	const char *name; /* one or two words; NULL ends the table */
	enum em_section section;
	const struct em_arg *args;
	const struct em_option *options;
	const char *summary; /* one line, no full stop */
	const char *help;    /* sentences; an empty line between paragraphs */
	const char *example;
	enum em_exit (*run)(struct em_client *client);
};

extern const struct em_verb em_verbs[];

struct em_verb_group {
	const char *name; /* NULL ends the table */
	const char *summary;
};

extern const struct em_verb_group em_verb_groups[];

/* Options that stand before or after any verb; indexed by this enum. */
enum em_common {
	EM_COMMON_JSON,
	EM_COMMON_SOCKET,
	EM_COMMON_URL,
	EM_COMMON_CACERT,
	EM_COMMON_TOKEN_FILE,
	EM_COMMON_TIMEOUT,
	EM_COMMON_HELP,
	EM_COMMON_VERSION,
	EM_COMMON_COUNT,
};
extern const struct em_option em_common_options[EM_COMMON_COUNT + 1];

/* Variables that emberctl reads, and files: for the help and the man page. NULL ends a list. */
struct em_named {
	const char *name, *help;
};
extern const struct em_named em_variables[];
extern const struct em_named em_files[];

/* A whole name, "drives" or "token create"; NULL: none. */
const struct em_verb *em_verb_find(const char *name);
const struct em_verb_group *em_verb_group_find(const char *name);
/* The last word of the verb when it is of that group, else NULL. group NULL: a verb of one word. */
const char *em_verb_word(const struct em_verb *verb, const struct em_verb_group *group);
unsigned em_verb_arg_count(const struct em_verb *verb);
unsigned em_verb_arg_required(const struct em_verb *verb);

const char *em_section_title(enum em_section section);
const char *em_complete_name(enum em_complete complete);

enum em_exit em_verb_capacitor(struct em_client *client);
enum em_exit em_verb_changes(struct em_client *client);
enum em_exit em_verb_diagnose(struct em_client *client);
enum em_exit em_verb_doctor(struct em_client *client);
enum em_exit em_verb_drives(struct em_client *client);
enum em_exit em_verb_effects(struct em_client *client);
enum em_exit em_verb_errors(struct em_client *client);
enum em_exit em_verb_events(struct em_client *client);
enum em_exit em_verb_health(struct em_client *client);
enum em_exit em_verb_history(struct em_client *client);
enum em_exit em_verb_locate(struct em_client *client);
enum em_exit em_verb_memblaze(struct em_client *client);
enum em_exit em_verb_raw_feature(struct em_client *client);
enum em_exit em_verb_raw_identify(struct em_client *client);
enum em_exit em_verb_raw_log(struct em_client *client);
enum em_exit em_verb_refresh(struct em_client *client);
enum em_exit em_verb_retire(struct em_client *client);
enum em_exit em_verb_sanitize(struct em_client *client);
enum em_exit em_verb_security(struct em_client *client);
enum em_exit em_verb_selftest(struct em_client *client);
enum em_exit em_verb_show(struct em_client *client);
enum em_exit em_verb_telemetry(struct em_client *client);
enum em_exit em_verb_token_create(struct em_client *client);
enum em_exit em_verb_token_list(struct em_client *client);
enum em_exit em_verb_token_revoke(struct em_client *client);
enum em_exit em_verb_version(struct em_client *client);
enum em_exit em_verb_watch(struct em_client *client);
