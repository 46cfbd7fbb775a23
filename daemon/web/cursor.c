/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/web/cursor.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include "lib/base/le.h"
#include "lib/base/text.h"

#define CHECK_BYTES 8u

/* Over question and place: a cursor with a digit changed is none. */
static void make_check(uint8_t check[CHECK_BYTES], uint64_t question, const void *place, size_t len)
{
	uint8_t bytes[8];

	em_put_le64(bytes, question);
	em_put_le64(check, em_hash(em_hash(EM_HASH_START, bytes, sizeof(bytes)), place, len));
}

const char *em_cursor_format(char buf[EM_CURSOR_SIZE], uint64_t question, const void *place,
			     size_t len)
{
	uint8_t check[CHECK_BYTES];

	assert(len <= EM_CURSOR_PLACE_MAX);
	make_check(check, question, place, len);
	em_text_hex(buf, check, sizeof(check));
	em_text_hex(buf + 2 * sizeof(check), place, len);
	return buf;
}

static int hex_value(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *found = c ? strchr(digits, c) : NULL;

	return found ? (int)(found - digits) : -EINVAL;
}

static int hex_read(uint8_t *dst, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		int high = hex_value(text[2 * i]), low = hex_value(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return -EINVAL;
		dst[i] = (uint8_t)(high << 4 | low);
	}
	return 0;
}

int em_cursor_parse(const char *text, uint64_t question, void *place, size_t size, size_t *ret_len)
{
	uint8_t check[CHECK_BYTES], said[CHECK_BYTES], bytes[EM_CURSOR_PLACE_MAX];
	size_t digits = strlen(text), len;

	if (digits % 2 || digits < 2 * CHECK_BYTES)
		return -EINVAL;
	len = digits / 2 - CHECK_BYTES;
	if (len > size || len > sizeof(bytes) || hex_read(said, text, CHECK_BYTES) < 0 ||
	    hex_read(bytes, text + 2 * CHECK_BYTES, len) < 0)
		return -EINVAL;
	make_check(check, question, bytes, len);
	if (memcmp(check, said, CHECK_BYTES))
		return -EINVAL;
	memcpy(place, bytes, len);
	*ret_len = len;
	return 0;
}
