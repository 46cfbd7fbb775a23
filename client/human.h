/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * human - values as people read them: bytes as TB, hours as days, ages, grouped digits.
 *
 * Each writes into buf and returns it. EM_HUMAN_SIZE bytes suffice.
 * Threads: pure functions. Blocking: never.
 */
#include <stdbool.h>
#include <stddef.h>

#define EM_HUMAN_SIZE 128

/* "3840755982336" -> "3.84 TB". Decimal units, as drives are sold. */
const char *em_human_bytes(char *buf, size_t size, const char *digits);

/* "1234567" -> "1,234,567"; other text is copied. */
const char *em_human_digits(char *buf, size_t size, const char *digits);

/* digits with a unit as in the field tables ("celsius", "hours", ...). */
const char *em_human_unit(char *buf, size_t size, const char *digits, const char *unit, bool utf8);

/* The unit alone, as people write it: "celsius" -> "°C". Units without a sign stay words. */
const char *em_human_unit_sign(const char *unit, bool utf8);

/* 90 -> "90 s", 300 -> "5 min", 7200 -> "2 h", 864000 -> "10 days". */
const char *em_human_span(char *buf, size_t size, double seconds);

/* The same with "ago"; below a second "now". */
const char *em_human_age(char *buf, size_t size, double seconds);
