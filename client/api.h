/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * api - documents of the REST API, and what to make of errors.
 *
 * Owns:     a document owns its text and its JSON.
 * Threads:  one caller. Blocking: as http.
 * Errors:   complained about here, once; the exit status comes back.
 */
#include <jansson.h>
#include "client/client.h"

struct em_doc {
	json_t *root; /* an object */
	char *text;   /* as it came */
	size_t len;
};

enum em_exit em_api_get(struct em_client *client, const char *path, struct em_doc *ret);
void em_doc_done(struct em_doc *doc);

/* "/v1/drives/{drive}{tail}", drive escaped; NULL: no memory. To be freed. */
char *em_api_drive_path(const char *drive, const char *tail);

/* The member, or NULL when it is missing, null, or of another type. object may be NULL. */
const char *em_json_text(const json_t *object, const char *key);
bool em_json_number(const json_t *object, const char *key, double *ret);
bool em_json_true(const json_t *object, const char *key);
