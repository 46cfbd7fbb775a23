/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/text.h"

#define FNV_PRIME UINT64_C(0x100000001b3)

static bool is_padding(uint8_t byte)
{
	return byte == ' ' || byte == '\0';
}

static bool is_printable(uint8_t byte)
{
	return byte >= 0x20 && byte <= 0x7e;
}

char *em_text_clean(char *dst, size_t size, const void *raw, size_t raw_len)
{
	const uint8_t *bytes = raw;
	size_t n = 0;

	if (size == 0)
		return dst;
	while (raw_len > 0 && is_padding(bytes[raw_len - 1]))
		raw_len--;
	for (; n < raw_len && n < size - 1; n++)
		dst[n] = is_printable(bytes[n]) ? (char)bytes[n] : '?';
	dst[n] = '\0';
	return dst;
}

char *em_text_hex(char *dst, const void *raw, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *bytes = raw;

	for (size_t i = 0; i < len; i++) {
		dst[2 * i] = digits[bytes[i] >> 4];
		dst[2 * i + 1] = digits[bytes[i] & 15];
	}
	dst[2 * len] = '\0';
	return dst;
}

bool em_bytes_all(const void *data, size_t len, uint8_t value)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < len; i++)
		if (bytes[i] != value)
			return false;
	return len > 0;
}

uint64_t em_hash(uint64_t hash, const void *data, size_t len)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ bytes[i]) * FNV_PRIME;
	return hash;
}
