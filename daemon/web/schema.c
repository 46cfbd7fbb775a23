/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/web/schema.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "daemon/web/json.h"
#include "daemon/web/route.h"
#include "lib/base/cleanup.h"

#define SCHEMA_PREFIX "#/components/schemas/"

enum kind {
	STRING,
	INTEGER,
	NUMBER,
	BOOLEAN,
	TIME,
	DECIMAL, /* digits of any number, as a string */
	NAME,	 /* one of .set */
	OBJECT,	 /* the schema named .of */
};

/* Members of the objects that are made by hand. */
struct member {
	const char *name;
	enum kind kind;
	bool list, null;
	const struct em_name_set *set;
	const char *of;
	const char *constant; /* STRING: always this */
	const char *help;
};

struct object {
	const char *name;
	const char *base;	      /* begins with the members of this one; NULL = none */
	const struct member *members; /* ends with name NULL */
};

/* clang-format off */
#define ID_MEMBERS                                                                                 \
	{ "drive", STRING, .help = "Id of the drive." },                                           \
	{ "device", STRING, .help = "Its present device name, like nvme0." },                      \
	{ "serial", STRING, .help = "Its serial number." }
#define READ_MEMBERS                                                                               \
	{ "status", NAME, .set = &em_set_statuses,                                                 \
	  .help = "How the last attempt to read it ended." },                                      \
	{ "status_detail", STRING, .null = true, .help = "The same as a sentence." }
#define ATTEMPT_MEMBER                                                                             \
	{ "attempted_at", TIME, .null = true, .help = "When that was." }
#define AGE_MEMBERS                                                                                \
	{ "read_at", TIME, .null = true, .help = "When the values shown were read." },             \
	{ "age_seconds", NUMBER, .null = true, .help = "How old the values shown are." }
#define INTERVAL_MEMBER                                                                            \
	{ "interval_seconds", NUMBER, .null = true, .help = "How often it is read; null: not." }
#define STATE_MEMBER                                                                               \
	{ "state", NAME, .set = &em_set_states, .help = "What the drive is doing." }
#define VALID_MEMBER                                                                               \
	{ "valid", BOOLEAN, .help = "False: there is no reading, and every value is null." }

static const struct member problem_members[] = {
	{ "type", STRING, .constant = "about:blank",
	  .help = "Always about:blank: the status says it all." },
	{ "title", STRING, .help = "The name of the status." },
	{ "status", INTEGER, .help = "The HTTP status." },
	{ "detail", STRING, .help = "What is wrong, and what to do next." },
	{ "instance", STRING, .help = "The path that was asked for." },
	{ 0 },
};
static const struct member health_members[] = {
	{ "status", NAME, .set = &em_set_health,
	  .help = "ok, or degraded: then reasons has at least one sentence." },
	{ "reasons", STRING, .list = true, .help = "What keeps Ember from doing its work." },
	{ "version", STRING, .help = "The version of Ember." },
	{ "started_at", TIME, .help = "When emberd was started." },
	{ "uptime_seconds", NUMBER, .help = "How long ago that was." },
	{ "broker", OBJECT, .of = "health_broker", .help = "The connection to the broker." },
	{ "store", OBJECT, .of = "health_store", .help = "The database." },
	{ "drives", OBJECT, .of = "health_drives", .help = "Drives by state." },
	{ "listeners", OBJECT, .list = true, .of = "listener", .help = "Where emberd listens." },
	{ "certificate_expires_at", TIME, .null = true,
	  .help = "Until when the certificate of the network listener is valid; null: none." },
	{ 0 },
};
static const struct member health_broker_members[] = {
	{ "connected", BOOLEAN, .help = "Whether emberd is connected to the broker." },
	{ "requests_total", INTEGER, .help = "Requests sent to it since the start." },
	{ 0 },
};
static const struct member health_store_members[] = {
	{ "status", NAME, .set = &em_set_health,
	  .help = "ok, or degraded: history cannot be written." },
	{ "detail", STRING, .null = true, .help = "Why not." },
	{ "queued", INTEGER, .help = "Rows that wait to be written." },
	{ "written_total", INTEGER, .help = "Rows written since the start." },
	{ "dropped_total", INTEGER, .help = "Rows lost since the start." },
	{ 0 },
};
static const struct member health_drives_members[] = {
	{ "total", INTEGER, .help = "All that Ember knows." },
	{ 0 },
};
static const struct member listener_members[] = {
	{ "kind", NAME, .set = &em_set_listeners,
	  .help = "unix: this host, also to change things. tcp: this host, to read. https: the "
		  "network, to read." },
	{ "address", STRING, .help = "Path, or address and port." },
	{ 0 },
};
#define CURSOR_MEMBER                                                                              \
	{ "next_cursor", STRING, .null = true,                                                     \
	  .help = "Where the next part begins (parameter cursor); null: this was the last." }
static const struct member drives_members[] = {
	{ "at", TIME, .help = "When this was answered." },
	{ "drives", OBJECT, .list = true, .of = "summary",
	  .help = "By device name; removed ones last." },
	CURSOR_MEMBER,
	{ 0 },
};
static const struct member summary_members[] = {
	{ "id", STRING, .help = "Made from subsystem NQN and serial; stays with the drive." },
	{ "device", STRING, .help = "The present device name, like nvme0." },
	{ "serial", STRING, .help = "Serial number." },
	{ "model", STRING, .null = true, .help = "Model." },
	{ "firmware", STRING, .null = true, .help = "Revision of the running firmware." },
	{ "subsystem_nqn", STRING, .null = true, .help = "NQN of the NVM subsystem." },
	{ "address", STRING, .null = true, .help = "PCI address, or what the transport has." },
	{ "transport", STRING, .null = true, .help = "pcie, tcp, …" },
	{ "controller_id", STRING, .null = true, .help = "Controller id in its subsystem." },
	STATE_MEMBER,
	{ "state_since", TIME, .null = true, .help = "Since when." },
	{ "state_detail", STRING, .null = true, .help = "Why, as a sentence." },
	{ "last_answer_at", TIME, .null = true, .help = "When it last completed a command." },
	{ "smart", OBJECT, .of = "summary_smart", .help = "The values that tell most." },
	{ "capacity_bytes", DECIMAL, .null = true, .help = "All of its NVM." },
	{ "controllers", OBJECT, .list = true, .of = "controller",
	  .help = "The ways to it: its controllers. Mostly one; none while it is gone." },
	{ 0 },
};
static const struct member controller_members[] = {
	{ "device", STRING, .help = "Its device name." },
	{ "address", STRING, .null = true, .help = "PCI address, or what the transport has." },
	{ "transport", STRING, .null = true, .help = "pcie, tcp, …" },
	{ "controller_id", STRING, .null = true, .help = "Its id in the subsystem." },
	{ "state", STRING, .null = true, .help = "What Linux says of it: live, resetting, …" },
	{ "active", BOOLEAN, .help = "True: the drive is read through this one." },
	{ 0 },
};
static const struct member summary_smart_members[] = { AGE_MEMBERS, INTERVAL_MEMBER, VALID_MEMBER,
							{ 0 } };
static const struct member drive_members[] = {
	{ "pages", OBJECT, .list = true, .of = "page_state", .help = "What is read of it." },
	{ "namespaces", INTEGER, .list = true, .help = "Namespace ids, ascending." },
	{ "polls", OBJECT, .of = "polls", .help = "The work that Ember has with it." },
	{ 0 },
};
static const struct member page_state_members[] = {
	{ "page", NAME, .set = &em_set_pages,
	  .help = "The page; /v1/drives/{id}/PAGE has its values." },
	READ_MEMBERS,
	ATTEMPT_MEMBER,
	AGE_MEMBERS,
	INTERVAL_MEMBER,
	{ 0 },
};
static const struct member polls_members[] = {
	{ "commands_total", INTEGER, .help = "Commands sent since the start." },
	{ "errors_total", INTEGER, .help = "Attempts that gave no reading." },
	{ "misses", INTEGER, .help = "Commands without an answer, in a row." },
	{ "last_duration_us", INTEGER, .help = "Microseconds the last completed command took." },
	{ "events_total", INTEGER, .help = "Events heard from it." },
	{ 0 },
};
static const struct member page_members[] = {
	ID_MEMBERS,
	STATE_MEMBER,
	READ_MEMBERS,
	ATTEMPT_MEMBER,
	AGE_MEMBERS,
	VALID_MEMBER,
	{ 0 },
};
static const struct member namespaces_members[] = {
	ID_MEMBERS,
	STATE_MEMBER,
	{ "list_read_at", TIME, .null = true, .help = "When the list of namespaces was read." },
	{ "list_age_seconds", NUMBER, .null = true, .help = "How old the list is." },
	{ "list_status", NAME, .set = &em_set_statuses,
	  .help = "How the last attempt to read the list ended." },
	{ "namespaces", OBJECT, .list = true, .of = "namespace", .help = "By namespace id." },
	{ 0 },
};
static const struct member namespace_members[] = {
	{ "nsid", INTEGER, .help = "Namespace id." },
	READ_MEMBERS,
	AGE_MEMBERS,
	VALID_MEMBER,
	{ 0 },
};
static const struct member history_members[] = {
	ID_MEMBERS,
	{ "field", STRING, .help = "Key of the value." },
	{ "unit", STRING, .help = "Its unit; may be empty." },
	{ "from", TIME, .help = "First moment." },
	{ "to", TIME, .help = "The moment after the last." },
	{ "step_seconds", NUMBER, .null = true, .help = "null: every reading." },
	{ "points", OBJECT, .list = true, .of = "point", .help = "Oldest first." },
	{ "truncated", BOOLEAN, .help = "True: there are more points than the limit." },
	{ 0 },
};
static const struct member point_members[] = {
	{ "at", TIME, .help = "When it was read." },
	{ 0 },
};

static const struct member event_members[] = {
	{ "id", DECIMAL, .help = "Ascends, and is never given twice." },
	{ "at", TIME, .help = "When it was noticed." },
	{ "kind", NAME, .set = &em_set_kinds, .help = "What happened." },
	{ "change", BOOLEAN, .help = "True: it is also in /v1/changes." },
	{ "drive", STRING, .null = true, .help = "Id of the drive; null: of none." },
	{ "device", STRING, .null = true, .help = "Its device name then." },
	{ "serial", STRING, .null = true, .help = "Its serial number." },
	{ "nsid", INTEGER, .null = true, .help = "Namespace id; null: of none." },
	{ "subject", STRING, .null = true, .help = "What of the drive, like slot 2." },
	{ "old_value", STRING, .null = true, .help = "What it was; null: not known, or nothing." },
	{ "new_value", STRING, .null = true, .help = "What it is; null: not known, or nothing." },
	{ "summary", STRING, .help = "All of it as a sentence." },
	{ 0 },
};
static const struct member events_members[] = {
	{ "events", OBJECT, .list = true, .of = "event", .help = "In the order asked for." },
	CURSOR_MEMBER,
	{ "newest_id", DECIMAL, .null = true,
	  .help = "Id of the newest of all events, wanted or not: where a stream may begin." },
	{ 0 },
};
static const struct member refresh_members[] = {
	{ "drive", STRING, .help = "Id of the drive." },
	{ "requested_at", TIME, .help = "Pages attempted after this moment were read for it." },
	{ "pages", NAME, .list = true, .set = &em_set_pages, .help = "What is being read." },
	{ 0 },
};
static const struct member tokens_members[] = {
	{ "tokens", OBJECT, .list = true, .of = "token", .help = "Oldest first." },
	{ 0 },
};
static const struct member token_members[] = {
	{ "id", STRING, .help = "Its public part." },
	{ "name", STRING, .help = "What it is for." },
	{ "role", NAME, .set = &em_set_roles, .help = "What its holder may do." },
	{ "created_at", TIME, .help = "When it was made." },
	{ "expires_at", TIME, .null = true, .help = "Until when it is valid; null: for ever." },
	{ "last_used_at", TIME, .null = true, .help = "When it was last used; null: never." },
	{ 0 },
};
static const struct member new_token_members[] = {
	{ "token", STRING, .help = "The secret: Authorization: Bearer and this." },
	{ 0 },
};

static const struct object objects[] = {
	{ "problem", NULL, problem_members },
	{ "health", NULL, health_members },
	{ "health_broker", NULL, health_broker_members },
	{ "health_store", NULL, health_store_members },
	{ "health_drives", NULL, health_drives_members },
	{ "drives", NULL, drives_members },
	{ "summary", NULL, summary_members },
	{ "summary_smart", NULL, summary_smart_members },
	{ "drive", "summary", drive_members },
	{ "page_state", NULL, page_state_members },
	{ "polls", NULL, polls_members },
	{ "namespaces", NULL, namespaces_members },
	{ "namespace", NULL, namespace_members },
	{ "history", NULL, history_members },
	{ "point", NULL, point_members },
	{ "listener", NULL, listener_members },
	{ "controller", NULL, controller_members },
	{ "event", NULL, event_members },
	{ "events", NULL, events_members },
	{ "refresh", NULL, refresh_members },
	{ "tokens", NULL, tokens_members },
	{ "token", NULL, token_members },
	{ "new_token", "token", new_token_members },
};
/* clang-format on */

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

static json_t *member_schema(const struct member *member)
{
	switch (member->kind) {
	case STRING:
		if (member->constant)
			return json_pack("{s:s, s:s}", "type", "string", "const", member->constant);
		return em_schema_of_type("string", member->null);
	case INTEGER:
		return em_schema_of_type("integer", member->null);
	case NUMBER:
		return em_schema_of_type("number", member->null);
	case BOOLEAN:
		return em_schema_of_type("boolean", member->null);
	case TIME:
		return json_pack("{s:o, s:s}", "type", type_json("string", member->null), "format",
				 "date-time");
	case DECIMAL:
		return json_pack("{s:o, s:s}", "type", type_json("string", member->null), "pattern",
				 DECIMAL_PATTERN);
	case NAME:
		return em_schema_of_names(member->set);
	case OBJECT:
		return em_schema_reference(member->of);
	}
	return NULL;
}

static int put_members(json_t *object, const struct member *members)
{
	for (const struct member *m = members; m->name; m++) {
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

static const struct object *find_object(const char *name)
{
	for (size_t i = 0; i < EM_COUNT(objects); i++)
		if (!strcmp(objects[i].name, name))
			return &objects[i];
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

static json_t *made_by_hand(const struct object *object)
{
	json_t *schema = object_schema();
	int r = 0;

	if (object->base)
		r |= put_members(schema, find_object(object->base)->members);
	r |= put_members(schema, object->members);
	if (object->members == summary_smart_members)
		r |= put_summary_fields(schema);
	if (object->members == namespace_members)
		r |= put_schema(schema, "values", values_schema(em_pages[EM_PAGE_IDENTIFY_NS]),
				NULL);
	if (object->members == point_members)
		r |= put_schema(schema, "value", any_value(), "null: the drive gave none.");
	if (object->members == health_drives_members)
		r |= put_states(schema);
	if (r == 0)
		return schema;
	json_decref(schema);
	return NULL;
}

static json_t *page_schema(const struct em_page *page)
{
	json_t *schema = object_schema();

	if (put_members(schema, page_members) == 0 &&
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
	case EM_SHAPE_HISTORY:
		return "history";
	case EM_SHAPE_EVENTS:
		return "events";
	case EM_SHAPE_REFRESH:
		return "refresh";
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

	for (size_t i = 0; i < EM_COUNT(objects); i++)
		r |= json_object_set_new(all, objects[i].name, made_by_hand(&objects[i]));
	for (unsigned p = 0; p < EM_PAGE_CTRL_COUNT; p++) {
		put_page_name(em_pages[p], name);
		r |= json_object_set_new(all, name, page_schema(em_pages[p]));
	}
	if (r == 0)
		return all;
	json_decref(all);
	return NULL;
}
