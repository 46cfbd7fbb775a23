/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * bundle - texts that leave the host in one tar archive, and a MANIFEST of what is in it and what
 * is not, and why.
 *
 * Everything waits in memory until it is written: only when the last document has been learned from
 * can the first one be masked.
 *
 * Owns:     its texts; the mask is borrowed.
 * Threads:  one. Blocking: as the stream, when it is written.
 * Errors:   what does not fit is named in the MANIFEST. Writing: 0 or -errno.
 * Limits:   EM_BUNDLE_MAX bytes of texts, EM_BUNDLE_TEXT_MAX in one.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "client/mask.h"

#define EM_BUNDLE_MAX	   ((size_t)256 << 20)
#define EM_BUNDLE_TEXT_MAX ((size_t)16 << 20)

struct em_bundle_entry {
	char *name, *source, *text, *reason; /* text or reason */
	size_t len;
	bool is_json;
};

struct em_bundle {
	struct em_mask *mask; /* NULL: nothing is masked */
	struct em_bundle_entry *entries;
	size_t count, bytes;
	bool failed; /* no memory */
};

/* The text is copied. source: the request or program that it came from. */
void em_bundle_text(struct em_bundle *bundle, const char *name, const char *source,
		    const char *text, size_t len);
/* The mask learns from it. */
void em_bundle_json(struct em_bundle *bundle, const char *name, const char *source,
		    const json_t *document);
/* It could not be had. */
void em_bundle_miss(struct em_bundle *bundle, const char *name, const char *source,
		    const char *reason);

/* Once: masks what is there and writes it, behind the MANIFEST, which begins with title. */
int em_bundle_write(struct em_bundle *bundle, FILE *out, const char *title, uint64_t time_s);
/* How many could not be had. */
size_t em_bundle_missing(const struct em_bundle *bundle);
void em_bundle_done(struct em_bundle *bundle);
