/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * cursor - where the next page of a list begins, as text that means nothing to the client.
 *
 * It names the last entry that was given and not a count, so that entries that come and go between
 * two pages neither repeat nor hide others. It also holds what the list was asked for with: a
 * cursor of another question is refused.
 *
 * Owns:     nothing. Threads: pure functions. Blocking: never.
 * Limits:   EM_CURSOR_SIZE.
 */
#include <stddef.h>
#include <stdint.h>

#define EM_CURSOR_PLACE_MAX 72u
#define EM_CURSOR_SIZE	    (2 * EM_CURSOR_PLACE_MAX + 17)

/* question: a hash of what was asked; place: bytes that find the last entry again. */
const char *em_cursor_format(char buf[EM_CURSOR_SIZE], uint64_t question, const void *place,
			     size_t len);
/* -EINVAL: no cursor of this question. len is the exact size of the place, or its greatest. */
int em_cursor_parse(const char *text, uint64_t question, void *place, size_t size, size_t *ret_len);

#define EM_BAD_CURSOR                                                                              \
	"cursor must be the next_cursor of a reply to the same question. Ask again without it."
