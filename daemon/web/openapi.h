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

/* Every key of every JSON reply, "schema.key" a line, sorted: docs/names/json.txt. */
char *em_openapi_names(size_t *ret_len);
