/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * encoding - what makes a reply cheaper to send: entity tags, and gzip.
 *
 * Threads:  pure functions. Blocking: never, but compressing takes its time.
 * Limits:   bodies from EM_GZIP_MIN to EM_GZIP_MAX bytes are compressed.
 */
#include <stdbool.h>
#include <stddef.h>
#include "daemon/web/call.h"

#define EM_GZIP_MIN ((size_t)1 << 10)
#define EM_GZIP_MAX ((size_t)8 << 20)

/* A strong tag of these bytes: text in double quotes. False: it cannot be made. */
bool em_etag(char ret[EM_ETAG_SIZE], const void *data, size_t len);
/* If-None-Match: does one of its tags stand for what has this tag? */
bool em_etag_matches(const char *header, const char *etag);

/* Accept-Encoding: may the reply be gzip? */
bool em_accepts_gzip(const char *header);
/* Accept: does it name this type itself, and not only as one of many? */
bool em_accepts_type(const char *header, const char *type);
/*
 * Compresses the body, when it is worth it and there is memory; else it stays as it is. The tag
 * becomes that of the compressed form.
 */
void em_reply_gzip(struct em_reply *reply);
