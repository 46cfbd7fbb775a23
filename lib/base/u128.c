/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "lib/base/u128.h"

#define LIMBS  5	  /* 160 bits hold 128 bits times 32 bits */
#define CHUNK  1000000000 /* what one division takes off: nine digits */
#define CHUNKS 6	  /* 54 digits; 2^160 has 49 */

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

size_t em_u128_dec(char buf[EM_U128_DEC_SIZE], em_u128 value, uint32_t scale)
{
	uint32_t limbs[LIMBS], chunks[CHUNKS];
	unsigned top = 0;
	int len;

	multiply(limbs, value, scale ? scale : 1);
	for (unsigned i = 0; i < CHUNKS; i++) {
		chunks[i] = divide(limbs);
		if (chunks[i])
			top = i;
	}
	len = snprintf(buf, EM_U128_DEC_SIZE, "%u", chunks[top]);
	while (top-- > 0)
		len += snprintf(buf + len, EM_U128_DEC_SIZE - (size_t)len, "%09u", chunks[top]);
	return (size_t)len;
}
