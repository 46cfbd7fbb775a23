/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * manual - text for manual pages and for comments of configuration files, out of tables.
 *
 * Threads: pure functions, but for em_manual_main(). Blocking: never. Errors: those of the buffer.
 */
#include <stddef.h>

#include "lib/base/buf.h"

#define EM_MANUAL_WIDTH 96u

/* man(7): a backslash or a hyphen is escaped, a leading dot or quote defused. */
void em_manual_roff(struct em_buf *out, const char *text);
/* The text in lines of at most EM_MANUAL_WIDTH characters that begin with "# ". */
void em_manual_comment(struct em_buf *out, const char *text);

struct em_manual_document {
	const char *name;
	void (*print)(struct em_buf *out);
};

/*
 * All of a program that prints one of several documents, whose name is its only argument. Returns
 * what main() does: 2, with the names on stderr, when it is none of them; 1 when it could not be
 * written.
 */
int em_manual_main(int argc, char **argv, const struct em_manual_document *documents, size_t count);
