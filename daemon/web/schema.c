/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/web/schema.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "daemon/web/json.h"
#include "daemon/web/schema_objects.h"
#include "lib/base/cleanup.h"

#define SCHEMA_PREFIX "#/components/schemas/"

#define DECIMAL_PATTERN "^-?[0-9]+$"

/* "type": one, or one and null. */
static json_t *type_json(const char *type, bool null)
{
	return null ? json_pack("[s, s]", type, "null") : json_string(type);
}

json_t *em_schema_of_type(const char *type, bool null)
{
	return json_pack("{s:o}", "type", type_json(type, null));
}

json_t *em_schema_reference(const char *name)
{
	char text[128];

	snprintf(text, sizeof(text), SCHEMA_PREFIX "%s", name);
	return json_pack("{s:s}", "$ref", text);
}

/* An object without members yet; put_schema() adds. */
static json_t *object_schema(void)
{
	return json_pack("{s:s, s:b, s:[], s:{}}", "type", "object", "additionalProperties", 0,
			 "required", "properties");
}

/* Takes schema. */
static int put_schema(json_t *object, const char *name, json_t *schema, const char *help)
{
	if (schema && help && *help && !json_object_get(schema, "description") &&
	    json_object_set_new(schema, "description", json_string(help)) < 0) {
		json_decref(schema);
		return -1;
	}
	if (json_object_set_new(json_object_get(object, "properties"), name, schema) < 0)
		return -1;
	return json_array_append_new(json_object_get(object, "required"), json_string(name));
}

json_t *em_schema_of_names(const struct em_name_set *set)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < set->count; i++)
		json_array_append_new(list, json_string(set->name(i)));
	return json_pack("{s:s, s:o}", "type", "string", "enum", list);
}

/* null is one of the names where it may stand. */
static json_t *name_schema(const struct em_member *member)
{
	json_t *schema = em_schema_of_names(member->set);

	if (member->null && !member->list) {
		json_object_set_new(schema, "type", type_json("string", true));
		json_array_append_new(json_object_get(schema, "enum"), json_null());
	}
	return schema;
}

static json_t *member_schema(const struct em_member *member)
{
	switch (member->kind) {
	case EM_M_STRING:
		if (member->constant)
			return json_pack("{s:s, s:s}", "type", "string", "const", member->constant);
		return em_schema_of_type("string", member->null);
	case EM_M_INTEGER:
		return em_schema_of_type("integer", member->null);
	case EM_M_NUMBER:
		return em_schema_of_type("number", member->null);
	case EM_M_BOOLEAN:
		return em_schema_of_type("boolean", member->null);
	case EM_M_TIME:
		return json_pack("{s:o, s:s}", "type", type_json("string", member->null), "format",
				 "date-time");
	case EM_M_DECIMAL:
		return json_pack("{s:o, s:s}", "type", type_json("string", member->null), "pattern",
				 DECIMAL_PATTERN);
	case EM_M_NAME:
		return name_schema(member);
	case EM_M_OBJECT:
		return em_schema_reference(member->of);
	}
	return NULL;
}

static int put_members(json_t *object, const struct em_member *members)
{
	for (const struct em_member *m = members; m->name; m++) {
		json_t *schema = member_schema(m);

		if (m->list)
			schema = json_pack("{s:s, s:o}", "type", "array", "items", schema);
		if (put_schema(object, m->name, schema, m->help) < 0)
			return -1;
	}
	return 0;
}

/* The names that the row knows; a drive may say others, which come as reserved_N. */
static json_t *names_pattern(const struct em_field *field)
{
	struct em_buf buf;
	json_t *pattern;

	em_buf_init(&buf, 65536);
	em_buf_adds(&buf, "^(");
	for (const struct em_name *n = field->names; n && n->name; n++)
		em_buf_addf(&buf, "%s|", n->name);
	em_buf_adds(&buf, "reserved_[0-9]+)$");
	pattern = em_buf_failed(&buf) ? NULL : json_string(buf.data);
	em_buf_done(&buf);
	return pattern;
}

static json_t *field_schema(const struct em_field *field)
{
	json_t *schema = NULL;

	switch (em_field_json_type(field)) {
	case EM_JSON_INTEGER:
		schema = em_schema_of_type("integer", true);
		break;
	case EM_JSON_BOOLEAN:
		schema = em_schema_of_type("boolean", true);
		break;
	case EM_JSON_STRING:
		schema = em_schema_of_type("string", true);
		break;
	case EM_JSON_DECIMAL_STRING:
		schema = json_pack("{s:o, s:s}", "type", type_json("string", true), "pattern",
				   DECIMAL_PATTERN);
		break;
	}
	if (schema && field->type == EM_ENUM)
		json_object_set_new(schema, "pattern", names_pattern(field));
	if (schema && field->label)
		json_object_set_new(schema, "title", json_string(field->label));
	if (schema && field->unit && *field->unit)
		json_object_set_new(schema, "x-unit", json_string(field->unit));
	if (schema && field->ref)
		json_object_set_new(schema, "x-reference", json_string(field->ref));
	return schema;
}

static json_t *bits_schema(const struct em_field *field)
{
	return json_pack("{s:o, s:{s:s, s:o}}", "type", type_json("array", true), "items", "type",
			 "string", "pattern", names_pattern(field));
}

static int put_field(json_t *object, const struct em_field *field)
{
	char key[64];

	if (put_schema(object, field->key, field_schema(field), field->help) < 0)
		return -1;
	if (field->type != EM_BITS)
		return 0;
	snprintf(key, sizeof(key), "%s" EM_BITS_SUFFIX, field->key);
	return put_schema(object, key, bits_schema(field), "The bits that are set, by name.");
}

static json_t *entry_schema(const struct em_group *group)
{
	json_t *object = object_schema();
	int r = 0;

	if (group->index_key)
		r |= put_schema(object, group->index_key, em_schema_of_type("integer", false),
				group->index_from_zero ? "Its number, from 0."
						       : "Its number, from 1.");
	for (unsigned i = 0; i < group->field_count; i++)
		r |= put_field(object, &group->fields[i]);
	if (group->extra)
		r |= put_field(object, group->extra);
	if (r == 0)
		return object;
	json_decref(object);
	return NULL;
}

static int put_group(json_t *object, const struct em_group *group)
{
	json_t *list = json_pack("{s:o, s:o}", "type", type_json("array", true), "items",
				 entry_schema(group));
	int r = put_schema(object, group->key, list, NULL);

	if (group->unused_key)
		r |= put_schema(object, group->unused_key, em_schema_of_type("integer", true),
				"Entries of the page that are not in use.");
	return r;
}

static json_t *values_schema(const struct em_page *page)
{
	json_t *object = object_schema();
	int r = json_object_set_new(object, "title", json_string(page->title));

	for (unsigned i = 0; i < page->field_count; i++)
		r |= put_field(object, &page->fields[i]);
	for (unsigned i = 0; i < page->group_count; i++)
		r |= put_group(object, &page->groups[i]);
	if (r == 0)
		return object;
	json_decref(object);
	return NULL;
}

static const struct em_object *find_object(const char *name)
{
	for (size_t i = 0; i < em_object_count; i++)
		if (!strcmp(em_objects[i].name, name))
			return &em_objects[i];
	return NULL;
}

static int put_summary_fields(json_t *object)
{
	for (unsigned i = 0; em_summary_keys[i]; i++) {
		const struct em_field *field =
			em_page_field(em_pages[EM_PAGE_SMART], em_summary_keys[i]);

		if (!field || put_field(object, field) < 0)
			return -1;
	}
	return 0;
}

static int put_states(json_t *object)
{
	int r = 0;

	for (unsigned s = 0; s < EM_STATE_COUNT; s++)
		r |= put_schema(object, em_drive_state_name(s), em_schema_of_type("integer", false),
				NULL);
	return r;
}

/* A history's value is of its field's type, so of any of these. */
static json_t *any_value(void)
{
	return json_pack("{s:[s, s, s, s, s]}", "type", "integer", "number", "string", "boolean",
			 "null");
}

static int put_more(json_t *object, enum em_members_more more)
{
	switch (more) {
	case EM_MORE_NONE:
		return 0;
	case EM_MORE_SUMMARY:
		return put_summary_fields(object);
	case EM_MORE_NAMESPACE:
		return put_schema(object, "values", values_schema(em_pages[EM_PAGE_IDENTIFY_NS]),
				  NULL);
	case EM_MORE_VALUE:
		return put_schema(object, "value", any_value(), "null: the drive gave none.");
	case EM_MORE_STATES:
		return put_states(object);
	case EM_MORE_DECODED:
		return put_schema(object, "values", em_schema_of_type("object", true),
				  "As the page's own document has them; null: Ember has no table "
				  "for these bytes.");
	}
	return -1;
}

static json_t *made_by_hand(const struct em_object *object)
{
	json_t *schema = object_schema();
	int r = 0;

	if (object->base)
		r |= put_members(schema, find_object(object->base)->members);
	r |= put_members(schema, object->members);
	r |= put_more(schema, object->more);
	if (r == 0)
		return schema;
	json_decref(schema);
	return NULL;
}

static json_t *page_schema(const struct em_page *page)
{
	json_t *schema = object_schema();

	if (put_members(schema, em_page_members) == 0 &&
	    put_schema(schema, "page",
		       json_pack("{s:s, s:s}", "type", "string", "const", page->key),
		       "Which page this is.") == 0 &&
	    put_schema(schema, "values", values_schema(page), NULL) == 0)
		return schema;
	json_decref(schema);
	return NULL;
}

static const char *put_page_name(const struct em_page *page, char buf[EM_SCHEMA_NAME_SIZE])
{
	snprintf(buf, EM_SCHEMA_NAME_SIZE, "page_%s", page->key);
	return buf;
}

const char *em_schema_of_route(const struct em_route *route, char buf[EM_SCHEMA_NAME_SIZE])
{
	switch (route->shape) {
	case EM_SHAPE_TEXT:
	case EM_SHAPE_METRICS:
	case EM_SHAPE_OPENAPI:
	case EM_SHAPE_NONE:
		return NULL;
	case EM_SHAPE_HEALTH:
		return "health";
	case EM_SHAPE_DRIVES:
		return "drives";
	case EM_SHAPE_DRIVE:
		return "drive";
	case EM_SHAPE_PAGE:
		return put_page_name(em_pages[route->page], buf);
	case EM_SHAPE_NAMESPACES:
		return "namespaces";
	case EM_SHAPE_CAPACITOR:
		return "capacitor";
	case EM_SHAPE_SECURITY:
		return "security";
	case EM_SHAPE_DRIVE_HEALTH:
		return "drive_health";
	case EM_SHAPE_HISTORY:
		return "history";
	case EM_SHAPE_EVENTS:
		return "events";
	case EM_SHAPE_REFRESH:
		return "refresh";
	case EM_SHAPE_COMMAND:
		return "command";
	case EM_SHAPE_SELF_TEST:
		return "self_test";
	case EM_SHAPE_SUMMARY:
		return "summary";
	case EM_SHAPE_TOKENS:
		return "tokens";
	case EM_SHAPE_TOKEN:
		return "new_token";
	}
	return NULL;
}

json_t *em_schemas(void)
{
	json_t *all = json_object();
	char name[EM_SCHEMA_NAME_SIZE];
	int r = 0;

	for (size_t i = 0; i < em_object_count; i++)
		r |= json_object_set_new(all, em_objects[i].name, made_by_hand(&em_objects[i]));
	for (unsigned p = 0; p < EM_PAGE_CTRL_COUNT; p++) {
		put_page_name(em_pages[p], name);
		r |= json_object_set_new(all, name, page_schema(em_pages[p]));
	}
	if (r == 0)
		return all;
	json_decref(all);
	return NULL;
}
