/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * ini - one line of a configuration file, taken apart. All files that people write for Ember have
 * the same lines: [SECTION], KEY=VALUE, # and a comment, or nothing.
 *
 * Whoever reads a file looks at each line here first: libeconf is generous (it joins a line without
 * = to the one before, cuts a value at #), and what is generous guesses.
 *
 * Threads: pure functions. Blocking: never.
 */
#include <stddef.h>

#define EM_INI_LINE_MAX 1000

enum em_ini_kind { EM_INI_EMPTY, EM_INI_SECTION, EM_INI_KEY };

struct em_ini_line {
	enum em_ini_kind kind;
	char *name;  /* of the section, as it stands between the brackets, or the key */
	char *value; /* EM_INI_KEY; "" when there is none */
};

/*
 * text has len bytes and a NUL behind them; it is cut to pieces in place, and *ret points into it.
 * NULL, or what is wrong with the line (a static text) and *ret is untouched.
 */
const char *em_ini_parse(char *text, size_t len, struct em_ini_line *ret);

/* Cuts blanks at both ends, in place, and returns where the rest begins. */
char *em_ini_trim(char *text);
