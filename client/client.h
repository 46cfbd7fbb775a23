/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * client - one run of emberctl: what was asked, where emberd is, where the answer goes.
 *
 * Owns:     http, writer and token; words and option values are borrowed from argv and the
 * environment. Threads:  one. Blocking: as http and the output stream.
 */
#include <stdbool.h>
#include <stdio.h>
#include "client/http.h"
#include "client/verb.h"
#include "client/writer.h"

struct em_client {
	FILE *out, *err;
	const struct em_verb_group *group;   /* the first word of a verb of two */
	const struct em_verb *verb;	     /* NULL: none was named */
	const char *args[EM_VERB_WORDS_MAX]; /* in the order of verb->args */
	unsigned arg_count;
	const char *options[EM_VERB_WORDS_MAX]; /* by index in verb->options; NULL = not given */
	const char *common[EM_COMMON_COUNT];	/* a switch that is given: "" */
	struct em_http_target target;
	char *token; /* read from a file; target borrows it */
	struct em_http *http;
	struct em_writer *writer;
};

/* The whole program. */
int em_client_main(int argc, char **argv, FILE *out, FILE *err);

/* Fills verb, args, options and common. Complains on client->err; EM_EXIT_OK or EM_EXIT_USAGE. */
enum em_exit em_cli_parse(struct em_client *client, int argc, char **argv);

/* Value of an option of the verb, by name; NULL = not given, or the verb has none such. */
const char *em_client_option(const struct em_client *client, const char *name);

/* target.c: fills target from options, environment and the token's file. Complains. */
enum em_exit em_target_choose(struct em_client *client);

/* "emberctl: ..." on the error stream, made harmless for a terminal; returns code. */
enum em_exit em_client_complain(const struct em_client *client, enum em_exit code,
				const char *format, ...) __attribute__((format(printf, 3, 4)));

/* help.c: from the verb table. */
void em_help_short(FILE *out);
void em_help_all(FILE *out);
void em_help_group(FILE *out, const struct em_verb_group *group);
void em_help_verb(FILE *out, const struct em_verb *verb);

/* generate.c and complete.c: files made at build; kind is "man", "bash", "zsh", "fish" or "names".
 */
enum em_exit em_generate(struct em_client *client, const char *kind);
void em_complete_bash(FILE *out);
void em_complete_zsh(FILE *out);
void em_complete_fish(FILE *out);
/* Prints the words that a shell offers for an em_complete_name(); quiet without emberd. */
enum em_exit em_complete_words(struct em_client *client, const char *kind);
