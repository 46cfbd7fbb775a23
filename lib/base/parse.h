/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * parse - strict readings of text from people, files and clients: the whole text or an error.
 *
 * Errors: -EINVAL not of that form, -ERANGE outside the limits given. *ret is untouched on error.
 * Threads: pure functions. Blocking: never.
 */
#include <stdbool.h>
#include <stdint.h>

/* Of a hexadecimal digit of either case; -1: it is none. */
int em_hex_digit(char c);

/* Decimal, or hexadecimal after 0x. No sign, no blanks. */
int em_parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *ret);

/*
 * A span of time: a number with us, ms, s, min, h or d behind it, or several ("1min 30s"). A bare
 * number counts as seconds. Fractions are refused: write the smaller unit.
 */
int em_parse_duration_us(const char *text, uint64_t min_us, uint64_t max_us, uint64_t *ret_us);

/* yes, true, on, 1 / no, false, off, 0. */
int em_parse_bool(const char *text, bool *ret);

/* A span as people write it: "10ms", "1min 30s", "1h". buf of 64 bytes suffices. */
const char *em_duration_format(char *buf, unsigned size, uint64_t span_us);
