/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/web/openapi.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/web/route.h"
#include "daemon/web/schema.h"
#include "lib/base/parse.h"

static json_t *param_schema(const struct em_param *param)
{
	char min[64], max[64], range[160];
	json_t *schema = NULL;

	switch (param->type) {
	case EM_PARAM_NAME:
		schema = json_pack("{s:s, s:s}", "type", "string", "pattern", "^[a-z0-9_]+$");
		break;
	case EM_PARAM_TIME:
		schema = em_schema_of_type("string", false);
		break;
	case EM_PARAM_DURATION:
		snprintf(range, sizeof(range), "from %s to %s",
			 em_duration_format(min, sizeof(min), param->min),
			 em_duration_format(max, sizeof(max), param->max));
		schema = json_pack("{s:s, s:s}", "type", "string", "x-range", range);
		break;
	case EM_PARAM_UINT:
		schema = json_pack("{s:s, s:I, s:I}", "type", "integer", "minimum",
				   (json_int_t)param->min, "maximum", (json_int_t)param->max);
		break;
	}
	if (schema && param->fallback)
		json_object_set_new(schema, "default",
				    param->type == EM_PARAM_UINT
					    ? json_integer(strtoll(param->fallback, NULL, 10))
					    : json_string(param->fallback));
	return schema;
}

static json_t *params_json(const struct em_route *route)
{
	json_t *list = json_array();

	if (strstr(route->path, "{id}"))
		json_array_append_new(
			list,
			json_pack("{s:s, s:s, s:b, s:s, s:{s:s}}", "name", "id", "in", "path",
				  "required", 1, "description",
				  "The drive's id, serial or device name, or the beginning of an "
				  "id or serial that no other drive shares.",
				  "schema", "type", "string"));
	for (unsigned i = 0; i < route->param_count; i++) {
		const struct em_param *param = &route->params[i];

		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:b, s:s, s:o}", "name", param->name,
						"in", "query", "required", param->required,
						"description", param->help, "schema",
						param_schema(param)));
	}
	return list;
}

static json_t *reply_schema(const struct em_route *route)
{
	char name[EM_SCHEMA_NAME_SIZE];

	switch (route->shape) {
	case EM_SHAPE_TEXT:
	case EM_SHAPE_METRICS:
		return em_schema_of_type("string", false);
	case EM_SHAPE_OPENAPI:
		return em_schema_of_type("object", false);
	case EM_SHAPE_HEALTH:
		return em_schema_reference("health");
	case EM_SHAPE_DRIVES:
		return em_schema_reference("drives");
	case EM_SHAPE_DRIVE:
		return em_schema_reference("drive");
	case EM_SHAPE_PAGE:
		em_schema_page_name(em_pages[route->page], name);
		return em_schema_reference(name);
	case EM_SHAPE_NAMESPACES:
		return em_schema_reference("namespaces");
	case EM_SHAPE_HISTORY:
		return em_schema_reference("history");
	}
	return NULL;
}

static const char *reply_type(enum em_shape shape)
{
	if (shape == EM_SHAPE_METRICS)
		return EM_TYPE_METRICS;
	return shape == EM_SHAPE_TEXT ? EM_TYPE_TEXT : EM_TYPE_JSON;
}

static const char *role_name(enum em_role role)
{
	switch (role) {
	case EM_ROLE_NONE:
		return "none";
	case EM_ROLE_VIEWER:
		return "viewer";
	case EM_ROLE_OPERATOR:
		return "operator";
	case EM_ROLE_ADMIN:
		return "admin";
	}
	return "none";
}

static json_t *route_json(const struct em_route *route)
{
	return json_pack("{s:s, s:s, s:s, s:o, s:{s:{s:s, s:{s:{s:o}}}, s:{s:s, s:{s:{s:o}}}}}",
			 "operationId", route->op_id, "summary", route->summary, "x-role",
			 role_name(route->role), "parameters", params_json(route), "responses",
			 "200", "description", route->summary, "content", reply_type(route->shape),
			 "schema", reply_schema(route), "default", "description",
			 "What went wrong.", "content", EM_TYPE_PROBLEM, "schema",
			 em_schema_reference("problem"));
}

static json_t *paths_json(void)
{
	json_t *paths = json_object();
	char method[16];

	for (unsigned i = 0; i < em_route_count; i++) {
		const struct em_route *route = &em_routes[i];
		json_t *item = json_object_get(paths, route->path);
		size_t n = 0;

		if (!item) {
			item = json_object();
			json_object_set_new(paths, route->path, item);
		}
		for (; route->method[n] && n < sizeof(method) - 1; n++)
			method[n] = (char)(route->method[n] | 0x20);
		method[n] = '\0';
		if (json_object_set_new(item, method, route_json(route)) < 0) {
			json_decref(paths);
			return NULL;
		}
	}
	return paths;
}

char *em_openapi_text(const char *version, size_t *ret_len)
{
	json_t *root = json_pack(
		"{s:s, s:{s:s, s:s, s:s, s:{s:s, s:s}}, s:o, s:{s:o}}", "openapi", "3.1.0", "info",
		"title", "Ember", "version", version, "description",
		"The state, health and history of NVMe drives. Every value says when it was read; "
		"null means that the drive gives no value. Numbers that may pass 53 bits are "
		"strings of decimal digits.",
		"license", "name", "Apache-2.0", "identifier", "Apache-2.0", "paths", paths_json(),
		"components", "schemas", em_schemas());
	char *text = root ? json_dumps(root, JSON_INDENT(1)) : NULL;

	json_decref(root);
	if (text)
		*ret_len = strlen(text);
	return text;
}

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

	json_object_foreach(json_object_get(schema, "properties"), key, child) {
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
	json_object_foreach(schemas, name, schema)
		add_names(&buf, name, schema);
	json_decref(schemas);
	text = em_buf_steal(&buf, &len);
	em_buf_done(&buf);
	if (text)
		text = sort_lines(text, len);
	if (text)
		*ret_len = len;
	return text;
}
