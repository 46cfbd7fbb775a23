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

/* How many bytes follow the first one of a character; -1: none begins with it. */
static int followers_of(uint8_t first)
{
	if (first < 0x80)
		return is_printable(first) ? 0 : -1;
	if (first >= 0xc2 && first <= 0xdf)
		return 1;
	if (first >= 0xe0 && first <= 0xef)
		return 2;
	return first >= 0xf0 && first <= 0xf4 ? 3 : -1;
}

/* Not a C1 control, a long form of a shorter one, half of a pair, or past the last. */
static bool is_second(uint8_t first, uint8_t second)
{
	switch (first) {
	case 0xc2:
		return second >= 0xa0;
	case 0xe0:
		return second >= 0xa0;
	case 0xed:
		return second <= 0x9f;
	case 0xf0:
		return second >= 0x90;
	case 0xf4:
		return second <= 0x8f;
	default:
		return true;
	}
}

/* The bytes of the printable character that text begins with; 0: none does. */
static size_t character_len(const uint8_t *text)
{
	int followers = followers_of(text[0]);

	for (int i = 1; i <= followers; i++)
		if ((text[i] & 0xc0) != 0x80 || (i == 1 && !is_second(text[0], text[1])))
			return 0;
	return (size_t)(followers + 1);
}

char *em_text_mend(char *text)
{
	for (char *at = text; *at;) {
		size_t len = character_len((const uint8_t *)at);

		if (len == 0)
			*at = '?';
		at += len ? len : 1;
	}
	return text;
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
