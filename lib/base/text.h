/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * text - text that a drive gives (serial, model, firmware) made fit for people and wire formats.
 *
 * Threads: pure functions. Blocking: never.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Cuts trailing padding (blanks and NULs) from raw, shows each byte outside 20h..7Eh as '?', and
 * writes at most size - 1 characters. Leading blanks stay. Returns dst. (Case R23a.)
 */
char *em_text_clean(char *dst, size_t size, const void *raw, size_t raw_len);

/*
 * In place: each byte that is no part of a printable character in UTF-8 becomes '?', so that what a
 * file held, or what was cut to fit, can stand in a reply and on a terminal. Returns text.
 */
char *em_text_mend(char *text);

/* Lower-case hexadecimal; dst needs 2 * len + 1 bytes. */
char *em_text_hex(char *dst, const void *raw, size_t len);

/* True when every byte has this value (an empty range: false). */
bool em_bytes_all(const void *data, size_t len, uint8_t value);

/* FNV-1a, to be chained: start with EM_HASH_START. Not for anything an attacker gains from. */
#define EM_HASH_START UINT64_C(0xcbf29ce484222325)
uint64_t em_hash(uint64_t hash, const void *data, size_t len);
