/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * schema - the JSON Schemas of all replies: pages from their field tables, the few objects that the
 * handlers make by hand from tables in schema.c, to which a test holds the handlers.
 *
 * Owns:     every function returns a new reference, NULL when memory is short.
 * Threads:  any. Blocking: never.
 */
#include <jansson.h>
#include <stdbool.h>
#include "lib/nvme/page.h"

#define EM_SCHEMA_NAME_SIZE 64

/* All schemas by name. */
json_t *em_schemas(void);
/* {"$ref": …} to one of them. */
json_t *em_schema_reference(const char *name);
/* {"type": type}, or also null. */
json_t *em_schema_of_type(const char *type, bool null);
struct em_name_set;
struct em_route;
json_t *em_schema_of_names(const struct em_name_set *set);
/* The name of the schema of a route's success; NULL when it is no JSON of ours. */
const char *em_schema_of_route(const struct em_route *route, char buf[EM_SCHEMA_NAME_SIZE]);
