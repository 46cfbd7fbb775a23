/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"

#define CAP_MIN 256

void em_buf_init(struct em_buf *buf, size_t max)
{
	*buf = (struct em_buf){ .max = max };
}

void em_buf_done(struct em_buf *buf)
{
	free(buf->data);
	em_buf_init(buf, buf->max);
}

/* Makes room; false (and sticky) when there is none. */
static bool grow(struct em_buf *buf, size_t more)
{
	size_t cap = buf->cap ? buf->cap : CAP_MIN;
	char *data;

	if (more > buf->max - buf->len || buf->max == SIZE_MAX) {
		buf->err = -E2BIG;
		return false;
	}
	while (cap <= buf->len + more)
		cap = cap > buf->max / 2 ? buf->max + 1 : cap * 2;
	if (cap > buf->max)
		cap = buf->max + 1;
	data = realloc(buf->data, cap);
	if (!data) {
		buf->err = -ENOMEM;
		return false;
	}
	buf->data = data;
	buf->cap = cap;
	return true;
}

/* Is there room for more bytes and the closing NUL? cap is at most one more than max. */
static inline bool reserve(struct em_buf *buf, size_t more)
{
	if (buf->err)
		return false;
	return more < buf->cap - buf->len || grow(buf, more);
}

void em_buf_add(struct em_buf *buf, const void *data, size_t len)
{
	if (!reserve(buf, len))
		return;
	if (len > 0)
		memcpy(buf->data + buf->len, data, len);
	buf->len += len;
	buf->data[buf->len] = '\0';
}

char *em_buf_room(struct em_buf *buf, size_t len)
{
	return reserve(buf, len) ? buf->data + buf->len : NULL;
}

void em_buf_added(struct em_buf *buf, size_t len)
{
	buf->len += len;
	buf->data[buf->len] = '\0';
}

void em_buf_adds(struct em_buf *buf, const char *text)
{
	em_buf_add(buf, text, strlen(text));
}

void em_buf_addc(struct em_buf *buf, char c)
{
	if (!reserve(buf, 1))
		return;
	buf->data[buf->len++] = c;
	buf->data[buf->len] = '\0';
}

void em_buf_addf(struct em_buf *buf, const char *format, ...)
{
	va_list args, again;
	int len;

	va_start(args, format);
	va_copy(again, args);
	len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (len < 0) {
		if (!buf->err)
			buf->err = -ENOMEM;
	} else if (reserve(buf, (size_t)len)) {
		vsnprintf(buf->data + buf->len, (size_t)len + 1, format, again);
		buf->len += (size_t)len;
	}
	va_end(again);
}

char *em_buf_steal(struct em_buf *buf, size_t *ret_len)
{
	char *data;

	if (!reserve(buf, 0))
		return NULL;
	data = buf->data;
	data[buf->len] = '\0';
	if (ret_len)
		*ret_len = buf->len;
	em_buf_init(buf, buf->max);
	return data;
}
