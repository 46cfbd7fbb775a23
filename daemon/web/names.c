/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/web/call.h"
#include "daemon/web/openapi.h"
#include "daemon/web/schema.h"

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Properties of a schema and of the schemas inside it, one "schema.key" a line. */
static void add_names(struct em_buf *buf, const char *name, json_t *schema)
{
	json_t *items = json_object_get(schema, "items");
	const char *key;
	json_t *child;

	json_object_foreach(json_object_get(schema, "properties"), key, child)
	{
		char *path = NULL;

		if (asprintf(&path, "%s.%s", name, key) < 0) {
			buf->err = -ENOMEM;
			return;
		}
		em_buf_addf(buf, "%s\n", path);
		add_names(buf, path, child);
		free(path);
	}
	if (items)
		add_names(buf, name, items);
}

/* Takes text; returns its lines in order. */
static char *sort_lines(char *text, size_t len)
{
	char **lines = calloc(len + 1, sizeof(*lines)), *sorted = malloc(len + 1), *save = NULL;
	size_t count = 0, at = 0;

	if (lines && sorted) {
		for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
			lines[count++] = l;
		qsort(lines, count, sizeof(*lines), compare_lines);
		for (size_t i = 0; i < count; i++)
			at += (size_t)sprintf(sorted + at, "%s\n", lines[i]);
		sorted[at] = '\0';
	}
	if (!lines) {
		free(sorted);
		sorted = NULL;
	}
	free(lines);
	free(text);
	return sorted;
}

char *em_openapi_names(size_t *ret_len)
{
	json_t *schemas = em_schemas(), *schema;
	struct em_buf buf;
	const char *name;
	size_t len = 0;
	char *text;

	em_buf_init(&buf, EM_REPLY_MAX);
	json_object_foreach(schemas, name, schema) add_names(&buf, name, schema);
	json_decref(schemas);
	text = em_buf_steal(&buf, &len);
	em_buf_done(&buf);
	if (text)
		text = sort_lines(text, len);
	if (text)
		*ret_len = len;
	return text;
}
