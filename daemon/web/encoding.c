/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/web/encoding.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>
#include "lib/base/text.h"

#define HASH_BYTES  32
#define ETAG_BYTES  16
#define GZIP_WINDOW (15 + 16) /* zlib's word for a gzip header */
#define GZIP_MEMORY 8
#define BLANKS	    " \t"

bool em_etag(char ret[EM_ETAG_SIZE], const void *data, size_t len)
{
	uint8_t hash[HASH_BYTES];
	char text[2 * ETAG_BYTES + 1];

	if (gnutls_hash_fast(GNUTLS_DIG_SHA256, data, len, hash) < 0)
		return false;
	snprintf(ret, EM_ETAG_SIZE, "\"%s\"", em_text_hex(text, hash, ETAG_BYTES));
	return true;
}

bool em_etag_matches(const char *header, const char *etag)
{
	size_t tag_len = strlen(etag);
	const char *at = header + strspn(header, BLANKS);

	if (at[0] == '*' && at[1 + strspn(at + 1, BLANKS)] == '\0')
		return true;
	while (*at) {
		size_t len;

		at += strspn(at, BLANKS ",");
		if (!strncmp(at, "W/", 2))
			at += 2;
		if (*at != '"')
			return false;
		len = strcspn(at + 1, "\"") + 2;
		if (len == tag_len && !strncmp(at, etag, len))
			return true;
		at += strnlen(at, len);
		at += strspn(at, BLANKS);
	}
	return false;
}

/* A weight of 0, in whatever number of digits. */
static bool is_refused(const char *params, size_t len)
{
	const char *end = params + len;

	for (; params < end; params++) {
		const char *at = params + 1;

		if (*params != ';')
			continue;
		at += strspn(at, BLANKS);
		if (end - at < 3 || strncasecmp(at, "q=", 2))
			continue;
		at += 2;
		while (at < end && (*at == '0' || *at == '.'))
			at++;
		return at == end || strchr(BLANKS ";", *at);
	}
	return false;
}

/* Looks for a member of a list like "a, b;q=0.5"; 1 it is there, 0 it is refused, -1 neither. */
static int find_member(const char *list, const char *name)
{
	size_t name_len = strlen(name);

	while (*list) {
		size_t len, own;

		list += strspn(list, BLANKS ",");
		len = strcspn(list, ",");
		own = strcspn(list, BLANKS ";,");
		if (own == name_len && !strncasecmp(list, name, own))
			return !is_refused(list + own, len - own);
		list += len;
	}
	return -1;
}

bool em_accepts_gzip(const char *header)
{
	int named = find_member(header, "gzip");

	return named == 1 || (named < 0 && find_member(header, "*") == 1);
}

bool em_accepts_type(const char *header, const char *type)
{
	return find_member(header, type) == 1;
}

static bool compress_body(z_stream *stream, const struct em_reply *reply, char *data, size_t size)
{
	stream->next_in = (Bytef *)reply->body;
	stream->avail_in = (uInt)reply->len;
	stream->next_out = (Bytef *)data;
	stream->avail_out = (uInt)size;
	return deflate(stream, Z_FINISH) == Z_STREAM_END;
}

void em_reply_gzip(struct em_reply *reply)
{
	z_stream stream = { 0 };
	char *data;
	bool done;

	if (!reply->body || reply->len < EM_GZIP_MIN || reply->len > EM_GZIP_MAX)
		return;
	/* The least effort gives nearly all of the gain: the texts repeat themselves. */
	if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return;
	/* What does not get smaller does not fit, and is left. */
	data = malloc(reply->len);
	done = data && compress_body(&stream, reply, data, reply->len);
	deflateEnd(&stream);
	if (!done) {
		free(data);
		return;
	}
	free(reply->body);
	reply->body = data;
	reply->len = stream.total_out;
	reply->gzip = true;
	if (reply->etag[0])
		strcpy(reply->etag + strlen(reply->etag) - 1, "-gzip\"");
}
