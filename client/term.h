/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * term - what the output can take: width, colour, UTF-8; and text made fit for it.
 *
 * Threads: any, after setlocale(). Blocking: never.
 */
#include <stdbool.h>
#include <stddef.h>

struct em_term {
	unsigned width;	 /* columns; 0 = no limit (a pipe or file) */
	unsigned height; /* lines; 0 = no limit */
	bool tty, color, utf8;
	bool cursor; /* obeys when told where to write */
};

/* $COLUMNS overrules the terminal's width; $NO_COLOR and TERM=dumb switch colours off. */
void em_term_detect(struct em_term *ret, int fd);

/*
 * A copy with everything that a terminal might obey shown as '?': control characters, C1 controls,
 * text direction marks, broken UTF-8, and all that is not ASCII unless utf8. NULL: no memory.
 */
char *em_term_clean(const char *text, bool utf8);

/* Columns that cleaned text takes. */
unsigned em_term_columns(const char *text);

/* Bytes of cleaned text that fit into this many columns. */
size_t em_term_fit(const char *text, unsigned columns);

/*
 * Bytes of cleaned text that go into one line: up to the last blank that fits, or all that fit. At
 * least one.
 */
size_t em_term_line(const char *text, unsigned columns);
