/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/web/reference.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include "daemon/web/openapi.h"
#include "daemon/web/route.h"
#include "daemon/web/schema.h"
#include "daemon/web/tokens.h"
#include "lib/base/parse.h"

/* Text inside a table: a bar would end the cell. */
static void add_cell(struct em_buf *buf, const char *text)
{
	for (; *text; text++) {
		if (*text == '|')
			em_buf_addc(buf, '\\');
		em_buf_addc(buf, *text);
	}
}

static void add_names(struct em_buf *buf, const struct em_name_set *set)
{
	for (unsigned i = 0; i < set->count; i++)
		em_buf_addf(buf, "%s`%s`", i ? ", " : "", set->name(i));
}

static void add_form(struct em_buf *buf, const struct em_param *param)
{
	char min[64], max[64];

	switch (param->type) {
	case EM_PARAM_NAME:
	case EM_PARAM_DRIVE:
	case EM_PARAM_CURSOR:
		em_buf_adds(buf, "text");
		break;
	case EM_PARAM_LABEL:
		em_buf_addf(buf, "text, at most %llu", (unsigned long long)param->max);
		break;
	case EM_PARAM_TIME:
		em_buf_adds(buf, "time");
		break;
	case EM_PARAM_DURATION:
		em_buf_addf(buf, "span of time, %s to %s",
			    em_duration_format(min, sizeof(min), param->min),
			    em_duration_format(max, sizeof(max), param->max));
		break;
	case EM_PARAM_UINT:
		em_buf_addf(buf, "%llu to %llu", (unsigned long long)param->min,
			    (unsigned long long)param->max);
		break;
	case EM_PARAM_BOOL:
		em_buf_adds(buf, "true or false");
		break;
	case EM_PARAM_CHOICE:
		em_buf_adds(buf, "one of ");
		add_names(buf, param->set);
		break;
	case EM_PARAM_CHOICES:
		em_buf_adds(buf, "with commas between: ");
		add_names(buf, param->set);
		break;
	}
}

static void add_params(struct em_buf *buf, const struct em_route *route)
{
	if (!route->param_count)
		return;
	em_buf_addf(buf, "\n| %s | form | default | |\n|---|---|---|---|\n",
		    route->takes_body ? "member of the body" : "parameter");
	for (unsigned i = 0; i < route->param_count; i++) {
		const struct em_param *param = &route->params[i];

		em_buf_addf(buf, "| `%s` | ", param->name);
		add_form(buf, param);
		em_buf_addf(buf, " | %s | ",
			    param->required   ? "required"
			    : param->fallback ? param->fallback
					      : "");
		add_cell(buf, param->help);
		em_buf_adds(buf, " |\n");
	}
}

static void add_statuses(struct em_buf *buf, const struct em_route *route)
{
	unsigned statuses[EM_STATUSES_MAX], count = em_route_statuses(route, statuses);

	em_buf_adds(buf, "\nAnswers: ");
	for (unsigned i = 0; i < count; i++)
		em_buf_addf(buf, "%s%u", i ? ", " : "", statuses[i]);
	em_buf_adds(buf, ".");
}

static void add_route(struct em_buf *buf, const struct em_route *route)
{
	char name[EM_SCHEMA_NAME_SIZE];
	const char *schema = em_schema_of_route(route, name);

	em_buf_addf(buf, "\n### %s %s\n\n%s\n", route->method, route->path, route->summary);
	if (route->role > EM_ROLE_VIEWER)
		em_buf_addf(buf, "Role %s.\n", em_role_name(route->role));
	add_params(buf, route);
	add_statuses(buf, route);
	if (schema)
		em_buf_addf(buf, " Body: [%s](#%s).", schema, schema);
	em_buf_adds(buf, "\n");
}

static void add_type(struct em_buf *buf, const json_t *schema)
{
	const json_t *type = json_object_get(schema, "type"), *one;
	const json_t *names = json_object_get(schema, "enum");
	const char *reference = json_string_value(json_object_get(schema, "$ref"));
	size_t i;

	if (reference) {
		const char *name = strrchr(reference, '/') + 1;

		em_buf_addf(buf, "[%s](#%s)", name, name);
		return;
	}
	if (json_is_string(type) && !strcmp(json_string_value(type), "array")) {
		em_buf_adds(buf, "list of ");
		add_type(buf, json_object_get(schema, "items"));
		return;
	}
	json_array_foreach(names, i, one)
	{
		if (json_is_null(one))
			em_buf_adds(buf, " or null");
		else
			em_buf_addf(buf, "%s`%s`", i ? ", " : "", json_string_value(one));
	}
	if (names)
		return;
	if (json_is_string(type))
		em_buf_adds(buf, json_string_value(type));
	json_array_foreach(type, i, one)
		em_buf_addf(buf, "%s%s", i ? " or " : "", json_string_value(one));
	if (json_object_get(schema, "format"))
		em_buf_adds(buf, " (time)");
	if (json_object_get(schema, "const"))
		em_buf_addf(buf, " `%s`", json_string_value(json_object_get(schema, "const")));
}

static void add_schema(struct em_buf *buf, const char *name, json_t *schema)
{
	const char *key, *help;
	json_t *member;

	em_buf_addf(buf, "\n### %s\n\n| member | type | |\n|---|---|---|\n", name);
	json_object_foreach(json_object_get(schema, "properties"), key, member)
	{
		help = json_string_value(json_object_get(member, "description"));
		em_buf_addf(buf, "| `%s` | ", key);
		add_type(buf, member);
		em_buf_adds(buf, " | ");
		add_cell(buf, help ? help : "");
		em_buf_adds(buf, " |\n");
	}
}

static void add_answers(struct em_buf *buf)
{
	em_buf_adds(buf, "\n## Answers\n\n| status | |\n|---|---|\n"
			 "| 200, 201, 202, 204 | It is so, made, begun, done. |\n");
	for (unsigned status = 300; status < 600; status++)
		if (em_openapi_status_help(status))
			em_buf_addf(buf, "| %u | %s |\n", status, em_openapi_status_help(status));
}

char *em_reference_text(size_t *ret_len)
{
	json_t *schemas = em_schemas(), *schema;
	struct em_buf buf;
	const char *name;
	char *text;

	em_buf_init(&buf, EM_REPLY_MAX);
	em_buf_adds(
		&buf,
		"# Ember's HTTP interface\n\n"
		"Made by `make update-contract` from the route and field tables; the same as "
		"[openapi.json](openapi.json), for reading.\n\n"
		"Every reply is JSON but for `/`, `/metrics` and streams. Times are RFC 3339 in "
		"UTC. `null` means that the drive gives no value. Numbers that may pass 53 bits "
		"are strings of decimal digits. What goes wrong is told as "
		"[problem](#problem), `application/problem+json`. The keys of a page's `values` "
		"are in [fields.md](fields.md).\n\n"
		"Role admin: over the unix socket, for root, emberd's own user and the group "
		"`ember-admin`. Over the network a token is needed, and only reading is "
		"possible.\n\n## Routes\n");
	for (unsigned i = 0; i < em_route_count; i++)
		add_route(&buf, &em_routes[i]);
	add_answers(&buf);
	em_buf_adds(&buf, "\n## Bodies\n");
	json_object_foreach(schemas, name, schema) add_schema(&buf, name, schema);
	json_decref(schemas);
	text = em_buf_steal(&buf, ret_len);
	em_buf_done(&buf);
	return text;
}
