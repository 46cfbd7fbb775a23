/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <ctype.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/web/openapi.h"
#include "daemon/web/reference.h"
#include "fixture.h"
#include "lib/base/cleanup.h"
#include "tests/unit/runner.h"

#include "config.h"

static json_t *document;

static void setup(void)
{
	size_t len = 0;
	char *text = em_openapi_text(PACKAGE_VERSION, &len);

	ck_assert_ptr_nonnull(text);
	document = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	ck_assert_ptr_nonnull(document);
	free(text);
}

static void teardown(void)
{
	json_decref(document);
}

static char *read_file(const char *path)
{
	em_cleanup(em_fclosep) FILE *file = fopen(path, "r");
	char *text = calloc(1, 1 << 20);

	ck_assert_msg(file != NULL, "%s is missing: make update-contract", path);
	ck_assert_uint_lt(fread(text, 1, (1 << 20) - 1, file), (1 << 20) - 1);
	return text;
}

START_TEST(document_is_the_one_in_docs)
{
	size_t len = 0;
	char *text = em_openapi_text(PACKAGE_VERSION, &len);
	char *golden = read_file(TEST_SOURCES "/docs/openapi.json");

	ck_assert_msg(!strcmp(text, golden), "docs/openapi.json differs: if the change is meant, "
					     "make update-contract");
	free(text);
	free(golden);
}
END_TEST

START_TEST(reference_is_the_one_in_docs)
{
	size_t len = 0;
	char *text = em_reference_text(&len);
	char *golden = read_file(TEST_SOURCES "/docs/api.md");

	ck_assert_msg(!strcmp(text, golden),
		      "docs/api.md differs: if the change is meant, make update-contract");
	free(text);
	free(golden);
}
END_TEST

START_TEST(names_are_the_ones_in_docs)
{
	size_t len = 0;
	char *text = em_openapi_names(&len);
	char *golden = read_file(TEST_SOURCES "/docs/names/json.txt");

	ck_assert_uint_eq(strlen(text), len);
	ck_assert_msg(!strcmp(text, golden),
		      "docs/names/json.txt differs. Programs of others read these names: add, but "
		      "do not rename or remove. Then make update-contract");
	free(text);
	free(golden);
}
END_TEST

static bool is_type(json_t *value, const char *type)
{
	if (!strcmp(type, "null"))
		return json_is_null(value);
	if (!strcmp(type, "string"))
		return json_is_string(value);
	if (!strcmp(type, "integer"))
		return json_is_integer(value);
	if (!strcmp(type, "number"))
		return json_is_number(value);
	if (!strcmp(type, "boolean"))
		return json_is_boolean(value);
	if (!strcmp(type, "array"))
		return json_is_array(value);
	return !strcmp(type, "object") && json_is_object(value);
}

static bool has_type(json_t *value, json_t *type)
{
	size_t i;
	json_t *one;

	if (json_is_string(type))
		return is_type(value, json_string_value(type));
	json_array_foreach(type, i, one) if (is_type(value, json_string_value(one))) return true;
	return false;
}

static void check_value(json_t *value, json_t *schema, const char *where);

static void check_text(json_t *value, json_t *schema, const char *where)
{
	const char *pattern = json_string_value(json_object_get(schema, "pattern"));
	json_t *constant = json_object_get(schema, "const");
	regex_t regex;

	ck_assert_msg(!constant || json_equal(constant, value), "%s is not the constant", where);
	if (!pattern || !json_is_string(value))
		return;
	ck_assert_int_eq(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
	ck_assert_msg(regexec(&regex, json_string_value(value), 0, NULL, 0) == 0,
		      "%s: \"%s\" is not like %s", where, json_string_value(value), pattern);
	regfree(&regex);
}

static void check_object(json_t *value, json_t *schema, const char *where)
{
	json_t *properties = json_object_get(schema, "properties"), *child;
	char path[256];
	const char *key;

	ck_assert_uint_eq(json_object_size(properties),
			  json_array_size(json_object_get(schema, "required")));
	json_object_foreach(properties, key, child)
	{
		snprintf(path, sizeof(path), "%s.%s", where, key);
		ck_assert_msg(json_object_get(value, key) != NULL, "%s is missing", path);
		check_value(json_object_get(value, key), child, path);
	}
	json_object_foreach(value, key, child) ck_assert_msg(
		json_object_get(properties, key) != NULL, "%s.%s is not in the schema", where, key);
}

/* The part of JSON Schema that the document uses. */
static void check_value(json_t *value, json_t *schema, const char *where)
{
	json_t *reference = json_object_get(schema, "$ref"),
	       *names = json_object_get(schema, "enum");
	json_t *items = json_object_get(schema, "items"), *item;
	bool named = false;
	size_t i;

	if (reference) {
		const char *name = strrchr(json_string_value(reference), '/') + 1;
		json_t *target = json_object_get(at(document, "components.schemas"), name);

		ck_assert_msg(target != NULL, "no schema %s", name);
		check_value(value, target, where);
		return;
	}
	ck_assert_msg(has_type(value, json_object_get(schema, "type")), "%s is of another type",
		      where);
	json_array_foreach(names, i, item) named |= json_equal(item, value);
	ck_assert_msg(!names || named, "%s is none of the names", where);
	check_text(value, schema, where);
	if (json_is_object(value) && json_object_get(schema, "properties"))
		check_object(value, schema, where);
	json_array_foreach(value, i, item)
	{
		ck_assert_msg(items != NULL, "%s has no items schema", where);
		check_value(item, items, where);
	}
}

static json_t *operation_of(const struct em_route *route)
{
	char method[16] = "";

	for (size_t i = 0; route->method[i]; i++)
		method[i] = (char)tolower(route->method[i]);
	return json_object_get(json_object_get(at(document, "paths"), route->path), method);
}

/* What a "$ref" stands for, or the object itself. */
static json_t *resolve(json_t *json)
{
	const char *reference = json_string_value(json_object_get(json, "$ref"));
	char path[128];

	if (!reference)
		return json;
	ck_assert_msg(!strncmp(reference, "#/", 2), "%s", reference);
	snprintf(path, sizeof(path), "%s", reference + 2);
	for (char *slash = path; (slash = strchr(slash, '/'));)
		*slash = '.';
	ck_assert_msg(at(document, path) != NULL, "there is no %s", reference);
	return at(document, path);
}

static json_t *reply_of(const struct em_route *route, unsigned status)
{
	char name[16];
	json_t *reply;

	snprintf(name, sizeof(name), "%u", status);
	reply = json_object_get(json_object_get(operation_of(route), "responses"), name);
	ck_assert_msg(reply != NULL, "%s has no %u", route->path, status);
	return resolve(reply);
}

static json_t *schema_of(const struct em_route *route, unsigned status, const char *type)
{
	json_t *content =
		json_object_get(json_object_get(reply_of(route, status), "content"), type);

	ck_assert_msg(content != NULL, "%s %u has no %s", route->path, status, type);
	return json_object_get(content, "schema");
}

/* Fills {id} with a device name. */
static void make_uri(char *uri, size_t size, const char *path, const char *device)
{
	const char *id = strstr(path, "{id}");

	if (id)
		snprintf(uri, size, "%.*s%s%s", (int)(id - path), path, device, id + 4);
	else
		snprintf(uri, size, "%s", path);
}

START_TEST(replies_are_of_their_schemas)
{
	struct em_snapshot *fleet = make_fleet();
	char uri[128];

	for (unsigned i = 0; i < em_route_count; i++) {
		const struct em_route *route = &em_routes[i];

		/* The others need a database, or are no JSON: the scenario tests call them. */
		if (strcmp(route->method, "GET") || route->role > EM_ROLE_VIEWER || route->waits ||
		    route->shape == EM_SHAPE_TEXT || route->shape == EM_SHAPE_METRICS ||
		    route->shape == EM_SHAPE_OPENAPI)
			continue;
		for (unsigned d = 0; d < fleet->count; d++) {
			json_t *root;

			make_uri(uri, sizeof(uri), route->path, fleet->drives[d]->device);
			root = ask_json(fleet, uri, 200);
			check_value(root, schema_of(route, 200, EM_TYPE_JSON), uri);
			json_decref(root);
		}
	}
	em_snapshot_unref(fleet);
}
END_TEST

START_TEST(problems_are_of_their_schema)
{
	struct em_snapshot *fleet = make_fleet();
	json_t *root = ask_json(fleet, "/v1/drives/none", 404);

	check_value(root, schema_of(&em_routes[3], 404, EM_TYPE_PROBLEM), "problem");
	json_decref(root);
	em_snapshot_unref(fleet);
}
END_TEST

static bool has_parameter(json_t *operation, const char *name, const char *in)
{
	json_t *parameter;
	size_t i;

	json_array_foreach(json_object_get(operation, "parameters"), i, parameter)
	{
		if (strcmp(json_string_value(at(parameter, "name")), name))
			continue;
		ck_text(parameter, "in", in);
		ck_assert(json_is_object(at(parameter, "schema")));
		return true;
	}
	return false;
}

static void check_parameters(const struct em_route *route)
{
	json_t *operation = operation_of(route);
	const char *in_path = em_route_path_param(route);
	json_t *body = json_object_get(operation, "requestBody");
	json_t *schema = json_object_get(
		json_object_get(json_object_get(body, "content"), EM_TYPE_JSON), "schema");

	ck_assert(!in_path || has_parameter(operation, in_path, "path"));
	ck_assert(!route->stable || has_parameter(operation, "If-None-Match", "header"));
	ck_assert(!!body == route->takes_body);
	for (unsigned i = 0; i < route->param_count; i++) {
		const char *name = route->params[i].name;

		if (route->params[i].in_body)
			ck_assert(at(at(schema, "properties"), name) != NULL);
		else
			ck_assert_msg(has_parameter(operation, name, "query"), "%s", name);
	}
}

static void check_replies(const struct em_route *route)
{
	unsigned statuses[EM_STATUSES_MAX], count = em_route_statuses(route, statuses);

	ck_assert_uint_eq(json_object_size(at(operation_of(route), "responses")), count);
	for (unsigned i = 0; i < count; i++) {
		json_t *reply = reply_of(route, statuses[i]);

		ck_assert(json_is_string(at(reply, "description")));
		if (i)
			ck_assert_uint_lt(statuses[i - 1], statuses[i]);
		if (statuses[i] >= 400)
			resolve(schema_of(route, statuses[i], EM_TYPE_PROBLEM));
	}
	ck_assert(!route->stable || at(reply_of(route, 200), "headers.ETag"));
}

/* Every row is an operation with all that the row says, and nothing else is one. */
START_TEST(document_has_every_route_whole)
{
	unsigned operations = 0;
	const char *path;
	json_t *item;

	for (unsigned i = 0; i < em_route_count; i++) {
		ck_assert_msg(operation_of(&em_routes[i]) != NULL, "%s", em_routes[i].op_id);
		ck_text(operation_of(&em_routes[i]), "operationId", em_routes[i].op_id);
		check_parameters(&em_routes[i]);
		check_replies(&em_routes[i]);
	}
	json_object_foreach(at(document, "paths"), path, item) operations += json_object_size(item);
	ck_assert_uint_eq(operations, em_route_count);
}
END_TEST

/* Every object is closed and every member of it required, so that what is not written down shows.
 */
static void check_schema(json_t *schema, const char *where)
{
	json_t *properties = json_object_get(schema, "properties"), *child;
	char path[256];
	const char *key;

	if (json_object_get(schema, "$ref")) {
		resolve(schema);
		return;
	}
	ck_assert_msg(json_object_get(schema, "type") != NULL, "%s has no type", where);
	if (json_object_get(schema, "items"))
		check_schema(json_object_get(schema, "items"), where);
	if (!properties)
		return;
	ck_assert_msg(json_is_false(json_object_get(schema, "additionalProperties")), "%s", where);
	ck_assert_uint_eq(json_object_size(properties),
			  json_array_size(json_object_get(schema, "required")));
	json_object_foreach(properties, key, child)
	{
		snprintf(path, sizeof(path), "%s.%s", where, key);
		check_schema(child, path);
	}
}

START_TEST(schemas_are_closed)
{
	const char *name;
	json_t *schema;

	json_object_foreach(at(document, "components.schemas"), name, schema)
		check_schema(schema, name);
}
END_TEST

START_TEST(every_field_is_described)
{
	for (unsigned p = 0; p < EM_PAGE_CTRL_COUNT; p++) {
		char name[64];
		json_t *properties;

		snprintf(name, sizeof(name), "page_%s", em_pages[p]->key);
		properties = at(json_object_get(at(document, "components.schemas"), name),
				"properties.values.properties");
		for (unsigned i = 0; i < em_pages[p]->field_count; i++) {
			const struct em_field *field = &em_pages[p]->fields[i];
			json_t *schema = json_object_get(properties, field->key);

			ck_assert_msg(schema != NULL, "%s", field->key);
			ck_assert_str_eq(json_string_value(json_object_get(schema, "description")),
					 field->help);
		}
	}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("all");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, document_is_the_one_in_docs);
	tcase_add_test(tc, reference_is_the_one_in_docs);
	tcase_add_test(tc, document_has_every_route_whole);
	tcase_add_test(tc, schemas_are_closed);
	tcase_add_test(tc, names_are_the_ones_in_docs);
	tcase_add_test(tc, replies_are_of_their_schemas);
	tcase_add_test(tc, problems_are_of_their_schema);
	tcase_add_test(tc, every_field_is_described);
	return run_tests(tc);
}
