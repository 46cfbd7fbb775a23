/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * manual - text for manual pages and for comments of configuration files, out of tables.
 *
 * Threads: pure functions. Blocking: never. Errors: those of the buffer.
 */
#include "lib/base/buf.h"

#define EM_MANUAL_WIDTH 96u

/* man(7): a backslash or a hyphen is escaped, a leading dot or quote defused. */
void em_manual_roff(struct em_buf *out, const char *text);
/* The text in lines of at most EM_MANUAL_WIDTH characters that begin with "# ". */
void em_manual_comment(struct em_buf *out, const char *text);
