/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * options - the one table of emberd's options: section, key, type, range, default, help. The
 * parser, the commented default file and the man page read the row.
 *
 * Owns:     nothing; rows are static. Threads: pure functions. Blocking: never.
 * Errors:   0 or -errno; a refused value gets a sentence that says what would be right.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/base/buf.h"

enum em_option_type {
	EM_OPTION_PATH,	     /* absolute; char[size] in struct em_config */
	EM_OPTION_LISTEN,    /* empty, or a loopback address and port; char[size] */
	EM_OPTION_NETWORK,   /* empty, or any address and port; char[size] */
	EM_OPTION_NAME,	     /* empty, or a name of a user or group; char[size] */
	EM_OPTION_DURATION,  /* min..max microseconds; uint64_t */
	EM_OPTION_LEVEL,     /* a syslog priority by name; int */
	EM_OPTION_TRANSPORT, /* all, or pcie: bool, true = only these */
	EM_OPTION_CALENDAR,  /* empty, or a calendar event of systemd.time(7); char[size] */
	EM_OPTION_BOOL,	     /* yes or no; bool */
};

struct em_option {
	const char *section, *key;
	enum em_option_type type;
	size_t offset, size; /* in struct em_config */
	uint64_t min, max;   /* EM_OPTION_DURATION */
	const char *value;   /* default, as it would be written */
	const char *help;
	bool restart; /* read at start only; all others follow a reload */
};

struct em_option_section {
	const char *name;
	const char *help;
	bool per_drive; /* its keys may also stand in [drive SERIAL] */
};

extern const struct em_option em_options[];
extern const unsigned em_option_count;
extern const struct em_option_section em_option_sections[];
extern const unsigned em_option_section_count;

/* NULL when there is none. */
const struct em_option_section *em_option_section_find(const char *name);
const struct em_option *em_option_find(const char *section, const char *key);

/*
 * Checks text against the row and writes the value at target, where the row's offset leads.
 * -EINVAL, and reason says what would be right.
 */
#define EM_OPTION_REASON_SIZE 200
int em_option_parse(const struct em_option *option, const char *text, void *target,
		    char reason[EM_OPTION_REASON_SIZE]);

/* The value at target as it would be written; the opposite of em_option_parse(). */
#define EM_OPTION_VALUE_SIZE 4352
void em_option_format(const struct em_option *option, const void *target,
		      char buf[EM_OPTION_VALUE_SIZE]);

/* The file that shows every option, commented, with its default. */
void em_options_print_file(struct em_buf *out);
/* emberd.conf(5). */
void em_options_print_man(struct em_buf *out);
/* A line for each, with its default: the names that people's files rely on. */
void em_options_print_names(struct em_buf *out);
