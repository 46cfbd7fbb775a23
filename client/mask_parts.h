/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * mask_parts - what looks like an identifier, and the bytes of hex dumps: what mask.c is made of.
 *
 * Threads: pure functions. Blocking: never.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "client/mask.h"

/* Characters of an NQN, UUID, or of 16 or 32 hexadecimal digits that begin here; 0: none does. */
size_t em_mask_looks_like(const char *text, size_t at, size_t end, enum em_masked *ret_kind);

/*
 * Bytes that stand one after another as pairs of digits: with blanks, colons, dashes or commas
 * between them, and over the lines of a dump (offset before, characters behind).
 */
struct em_dump_run {
	char *bytes;
	uint32_t *places; /* of the first digit of each */
	size_t count, room, end;
	bool is_dump; /* its lines begin with offsets */
};

/* Room for what a text of len characters can hold; false: no memory. */
bool em_dump_run_init(struct em_dump_run *run, size_t len);
void em_dump_run_done(struct em_dump_run *run);
/* The run that begins at this place; none: count 0. end: where to go on, always behind at. */
void em_dump_run_read(struct em_dump_run *run, const char *text, size_t at, size_t len);
/* Other bytes from number first on; what a line shows of them as characters is dotted. */
void em_dump_fill(const struct em_dump_run *run, char *text, size_t len, size_t first,
		  const char *bytes, size_t count);
