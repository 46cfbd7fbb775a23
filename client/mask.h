/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * mask - identifiers of drives out of texts, each replaced by the same word wherever it stands.
 *
 * What it has learned it finds in any case of letters, as text, as the hexadecimal digits of that
 * text, and byte by byte in hex dumps (there the place is filled, so that the dump keeps its form).
 * What merely looks like an identifier (NQNs, UUIDs, 16 or 32 hexadecimal digits) is replaced too.
 *
 * A serial number of three characters and less is replaced where it stands by itself.
 *
 * Owns:     copies of what it learned.
 * Threads:  one. Blocking: never.
 * Errors:   sticky: em_mask_failed(), no memory or more than EM_MASK_MAX; then nothing that it
 *           returned may be shown.
 */
#include <jansson.h>
#include <stdbool.h>
#include "lib/base/buf.h"

#define EM_MASK_MAX 262144u /* identifiers */

/* What an identifier is; the word that replaces it says so. */
#define EM_MASKED_KINDS(X)                                                                         \
	X(SERIAL, "serial")                                                                        \
	X(NQN, "nqn")                                                                              \
	X(NAME, "id")                                                                              \
	X(DRIVE, "drive")

#define EM_X(id, name) EM_MASKED_##id,
enum em_masked { EM_MASKED_KINDS(EM_X) EM_MASKED_COUNT };
#undef EM_X

struct em_mask;

struct em_mask *em_mask_new(void);
struct em_mask *em_mask_free(struct em_mask *mask);
bool em_mask_failed(const struct em_mask *mask);

/* One more identifier; blanks around it do not count. EM_MASKED_NAME: EUI64, NGUID, UUID. */
void em_mask_add(struct em_mask *mask, enum em_masked kind, const char *text);
/* Those in a document of the API, by the names of its members. */
void em_mask_learn(struct em_mask *mask, const json_t *document);

/* What is left of the text, behind what out has. */
void em_mask_text(struct em_mask *mask, const char *text, size_t len, struct em_buf *out);
