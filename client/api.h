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

/* Why something failed, for people. */
struct em_reason {
	char text[1024];
};

/*
 * Any request. body: JSON or NULL. A DELETE that is answered without a body leaves root NULL.
 * Silent: *ret_reason says what went wrong.
 */
enum em_exit em_api_try(struct em_client *client, const char *method, const char *path,
			const char *body, struct em_doc *ret, struct em_reason *ret_reason);

/* The same, and complains. */
enum em_exit em_api_request(struct em_client *client, const char *method, const char *path,
			    const char *body, struct em_doc *ret);
enum em_exit em_api_get(struct em_client *client, const char *path, struct em_doc *ret);

/*
 * A list in pages, followed by its cursors until there are max entries (0 = all). One page stays as
 * it came; several are put together. path has its query already, if any.
 */
enum em_exit em_api_try_list(struct em_client *client, const char *path, const char *list,
			     size_t max, struct em_doc *ret, struct em_reason *ret_reason);
enum em_exit em_api_get_list(struct em_client *client, const char *path, const char *list,
			     size_t max, struct em_doc *ret);

void em_doc_done(struct em_doc *doc);

/* What an answer other than 2xx says; the exit status for it. */
enum em_exit em_api_problem(const struct em_http_answer *answer, struct em_reason *ret_reason);

/* "/v1/drives/{drive}{tail}", drive escaped; NULL: no memory. To be freed. */
char *em_api_drive_path(const char *drive, const char *tail);

/* The member, or NULL when it is missing, null, or of another type. object may be NULL. */
const char *em_json_text(const json_t *object, const char *key);
bool em_json_number(const json_t *object, const char *key, double *ret);
bool em_json_true(const json_t *object, const char *key);
