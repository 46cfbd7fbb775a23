/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * openapi - the OpenAPI 3.1 document, made from the route table and the field tables.
 *
 * Owns:     returned text is the caller's to free. Threads: any. Blocking: never.
 */
#include <stddef.h>

/* NULL: no memory. docs/openapi.json is this text. */
char *em_openapi_text(const char *version, size_t *ret_len);

/* What a status means that is the same for every route; NULL: there is none. */
const char *em_openapi_status_help(unsigned status);

/* Every key of every JSON reply, "schema.key" a line, sorted: docs/names/json.txt. */
char *em_openapi_names(size_t *ret_len);
