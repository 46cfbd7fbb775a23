/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * u128 - the 128-bit counters of NVMe, exact in decimal.
 *
 * Threads: pure functions. Blocking: never.
 */
#include <stddef.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 em_u128;

/* Room for 2^128 times 2^32 in decimal, with the closing NUL. */
#define EM_U128_DEC_SIZE 64

/*
 * Writes value * scale in decimal (never rounded, also beyond 128 bits) and returns its length.
 * A scale of 0 counts as 1.
 */
size_t em_u128_dec(char buf[EM_U128_DEC_SIZE], em_u128 value, uint32_t scale);

/* The nearest double, for arithmetic that may round (metrics, forecasts). */
double em_u128_double(em_u128 value);
