/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * buf - a growing byte buffer with a ceiling.
 *
 * Errors: sticky. After the first failure (no memory, ceiling reached) additions do nothing and
 * em_buf_failed() is true: check once, at the end.
 * Limits: never above the max given to em_buf_init().
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct em_buf {
	char *data; /* NUL-terminated whenever it is not NULL */
	size_t len, cap, max;
	int err; /* 0, -ENOMEM or -E2BIG */
};

void em_buf_init(struct em_buf *buf, size_t max);
void em_buf_done(struct em_buf *buf);
static inline bool em_buf_failed(const struct em_buf *buf)
{
	return buf->err != 0;
}
void em_buf_add(struct em_buf *buf, const void *data, size_t len);
/*
 * Room for len bytes more, to be filled from the returned place on (data + len of now) and then
 * counted with em_buf_added(); NULL when the buffer failed.
 */
char *em_buf_room(struct em_buf *buf, size_t len);
/* So many of the bytes that em_buf_room() gave were written. */
void em_buf_added(struct em_buf *buf, size_t len);
void em_buf_adds(struct em_buf *buf, const char *text);
void em_buf_addc(struct em_buf *buf, char c);
void em_buf_addf(struct em_buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The bytes become the caller's, to be freed; NULL when the buffer failed. */
char *em_buf_steal(struct em_buf *buf, size_t *ret_len);
