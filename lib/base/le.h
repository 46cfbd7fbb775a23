/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* le - little-endian reads and writes on byte buffers; never a struct cast onto bytes from outside.
 */
#include <stdint.h>
#include "lib/base/u128.h"

static inline uint16_t em_le16(const void *p)
{
	const uint8_t *b = p;

	return (uint16_t)(b[0] | b[1] << 8);
}

static inline uint32_t em_le32(const void *p)
{
	return (uint32_t)em_le16(p) | (uint32_t)em_le16((const uint8_t *)p + 2) << 16;
}

static inline uint64_t em_le64(const void *p)
{
	return (uint64_t)em_le32(p) | (uint64_t)em_le32((const uint8_t *)p + 4) << 32;
}

/* Any width from 1 to 16 bytes. */
static inline em_u128 em_le_n(const void *p, unsigned len)
{
	const uint8_t *b = p;
	em_u128 v = 0;

	while (len-- > 0)
		v = v << 8 | b[len];
	return v;
}

static inline void em_put_le16(void *p, uint16_t v)
{
	uint8_t *b = p;

	b[0] = (uint8_t)v;
	b[1] = (uint8_t)(v >> 8);
}

static inline void em_put_le32(void *p, uint32_t v)
{
	em_put_le16(p, (uint16_t)v);
	em_put_le16((uint8_t *)p + 2, (uint16_t)(v >> 16));
}

static inline void em_put_le64(void *p, uint64_t v)
{
	em_put_le32(p, (uint32_t)v);
	em_put_le32((uint8_t *)p + 4, (uint32_t)(v >> 32));
}
