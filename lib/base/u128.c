/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "lib/base/u128.h"

#define LIMBS	     5		/* 160 bits hold 128 bits times 32 bits */
#define CHUNK	     1000000000 /* what one division takes off */
#define CHUNK_DIGITS 9
#define CHUNKS	     6 /* 54 digits; 2^160 has 49 */

/* limbs = value * scale, lowest 32 bits first. */
static void multiply(uint32_t limbs[LIMBS], em_u128 value, uint32_t scale)
{
	uint64_t carry = 0;

	for (unsigned i = 0; i < LIMBS; i++) {
		carry += (uint64_t)(uint32_t)value * scale;
		limbs[i] = (uint32_t)carry;
		carry >>= 32;
		value >>= 32;
	}
}

/* Divides limbs by CHUNK in place and returns the rest. */
static uint32_t divide(uint32_t limbs[LIMBS])
{
	uint64_t rest = 0;

	for (unsigned i = LIMBS; i-- > 0;) {
		rest = rest << 32 | limbs[i];
		limbs[i] = (uint32_t)(rest / CHUNK);
		rest %= CHUNK;
	}
	return (uint32_t)rest;
}

/* The digits of value, at least width of them, so that they end before end; returns their begin. */
static char *put_digits(char *end, uint64_t value, unsigned width)
{
	char *at = end;

	for (; value > 0 || width > 0; value /= 10) {
		*--at = (char)('0' + value % 10);
		width -= width > 0;
	}
	return at;
}

static char *put_large(char *end, em_u128 value, uint32_t scale)
{
	uint32_t limbs[LIMBS], chunks[CHUNKS];
	unsigned top = 0;

	multiply(limbs, value, scale);
	for (unsigned i = 0; i < CHUNKS; i++) {
		chunks[i] = divide(limbs);
		if (chunks[i])
			top = i;
	}
	for (unsigned i = 0; i < top; i++)
		end = put_digits(end, chunks[i], CHUNK_DIGITS);
	return put_digits(end, chunks[top], 1);
}

size_t em_u128_dec(char buf[EM_U128_DEC_SIZE], em_u128 value, uint32_t scale)
{
	char digits[EM_U128_DEC_SIZE], *end = digits + sizeof(digits), *at;
	size_t len;

	if (scale == 0)
		scale = 1;
	if (value <= UINT32_MAX || (value <= UINT64_MAX && scale == 1))
		at = put_digits(end, (uint64_t)value * scale, 1);
	else
		at = put_large(end, value, scale);
	len = (size_t)(end - at);
	memcpy(buf, at, len);
	buf[len] = '\0';
	return len;
}
