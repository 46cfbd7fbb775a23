/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/web/openapi.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/web/route.h"
#include "daemon/web/schema.h"
#include "daemon/web/tokens.h"
#include "lib/base/cleanup.h"
#include "lib/base/parse.h"

#define BEARER "bearer"

/* ---- what goes in ------------------------------------------------------------------------- */

static json_t *choices_schema(const struct em_param *param)
{
	return json_pack("{s:s, s:o, s:i}", "type", "array", "items",
			 em_schema_of_names(param->set), "minItems", 1);
}

static json_t *drive_schema(void)
{
	return json_pack("{s:s, s:i, s:[s, s]}", "type", "string", "minLength", 1, "examples",
			 "nvme0", "SH222100530");
}

static json_t *param_schema(const struct em_param *param)
{
	char min[64], max[64], range[160];

	switch (param->type) {
	case EM_PARAM_NAME:
		return json_pack("{s:s, s:s, s:[s]}", "type", "string", "pattern", "^[a-z0-9_]+$",
				 "examples", "temperature_celsius");
	case EM_PARAM_TIME:
		return json_pack("{s:s, s:[s, s, s, s]}", "type", "string", "examples",
				 "2026-10-25T02:30:00Z", "1792888200", "-15min", "now");
	case EM_PARAM_DURATION:
		snprintf(range, sizeof(range), "from %s to %s",
			 em_duration_format(min, sizeof(min), param->min),
			 em_duration_format(max, sizeof(max), param->max));
		return json_pack("{s:s, s:s, s:[s, s]}", "type", "string", "x-range", range,
				 "examples", "5min", "1d");
	case EM_PARAM_UINT:
		return json_pack("{s:s, s:I, s:I}", "type", "integer", "minimum",
				 (json_int_t)param->min, "maximum", (json_int_t)param->max);
	case EM_PARAM_BOOL:
		return em_schema_of_type("boolean", false);
	case EM_PARAM_CHOICE:
		return em_schema_of_names(param->set);
	case EM_PARAM_CHOICES:
		return choices_schema(param);
	case EM_PARAM_DRIVE:
		return drive_schema();
	case EM_PARAM_CURSOR:
		return json_pack("{s:s, s:s}", "type", "string", "pattern", "^[0-9a-f]+$");
	case EM_PARAM_LABEL:
		return json_pack("{s:s, s:s, s:I}", "type", "string", "pattern",
				 "^[!-~]([ -~]*[!-~])?$", "maxLength", (json_int_t)param->max);
	}
	return NULL;
}

static json_t *default_json(const struct em_param *param)
{
	if (param->type == EM_PARAM_UINT)
		return json_integer(strtoll(param->fallback, NULL, 10));
	if (param->type == EM_PARAM_BOOL)
		return json_boolean(!strcmp(param->fallback, "true"));
	return json_string(param->fallback);
}

static json_t *whole_schema(const struct em_param *param)
{
	json_t *schema = param_schema(param);

	if (schema && param->fallback)
		json_object_set_new(schema, "default", default_json(param));
	return schema;
}

/* Takes schema. */
static json_t *parameter_json(const char *name, const char *in, bool required, const char *help,
			      json_t *schema)
{
	return json_pack("{s:s, s:s, s:b, s:s, s:o}", "name", name, "in", in, "required", required,
			 "description", help, "schema", schema);
}

static void add_path_param(json_t *list, const struct em_route *route)
{
	static const char drive_help[] =
		"The drive's id, serial or device name, or the beginning of an id or serial that "
		"no other drive shares.";
	const char *name = em_route_path_param(route);
	bool drive = name && !strcmp(name, "id");

	if (name)
		json_array_append_new(
			list, parameter_json(
				      name, "path", true, drive ? drive_help : "The token's id.",
				      drive ? drive_schema() : em_schema_of_type("string", false)));
}

static void add_header_params(json_t *list, const struct em_route *route)
{
	if (route->stable)
		json_array_append_new(
			list, parameter_json("If-None-Match", "header", false,
					     "ETag of an earlier reply: 304 when nothing has "
					     "changed since.",
					     em_schema_of_type("string", false)));
	if (route->shape == EM_SHAPE_EVENTS)
		json_array_append_new(
			list, parameter_json("Last-Event-ID", "header", false,
					     "For the stream: the id of the last event that was "
					     "received. Without it the stream begins with what "
					     "happens from now on.",
					     json_pack("{s:s, s:s}", "type", "string", "pattern",
						       "^[0-9]+$")));
}

static json_t *params_json(const struct em_route *route)
{
	json_t *list = json_array();

	add_path_param(list, route);
	for (unsigned i = 0; i < route->param_count; i++) {
		const struct em_param *param = &route->params[i];
		json_t *json;

		if (param->in_body)
			continue;
		json = parameter_json(param->name, "query", param->required, param->help,
				      whole_schema(param));
		if (param->type == EM_PARAM_CHOICES) /* with commas between */
			json_object_set_new(json, "explode", json_false());
		json_array_append_new(list, json);
	}
	add_header_params(list, route);
	return list;
}

static json_t *body_schema(const struct em_route *route)
{
	json_t *required = json_array(), *properties = json_object();

	for (unsigned i = 0; i < route->param_count; i++) {
		const struct em_param *param = &route->params[i];
		json_t *schema;

		if (!param->in_body)
			continue;
		schema = whole_schema(param);
		json_object_set_new(schema, "description", json_string(param->help));
		json_object_set_new(properties, param->name, schema);
		if (param->required)
			json_array_append_new(required, json_string(param->name));
	}
	return json_pack("{s:s, s:b, s:o, s:o}", "type", "object", "additionalProperties", 0,
			 "required", required, "properties", properties);
}

/* ---- what comes out ----------------------------------------------------------------------- */

static json_t *reply_schema(const struct em_route *route)
{
	char buf[EM_SCHEMA_NAME_SIZE];
	const char *name = em_schema_of_route(route, buf);

	if (name)
		return em_schema_reference(name);
	return em_schema_of_type(route->shape == EM_SHAPE_OPENAPI ? "object" : "string", false);
}

static const char *reply_type(enum em_shape shape)
{
	if (shape == EM_SHAPE_METRICS)
		return EM_TYPE_METRICS;
	return shape == EM_SHAPE_TEXT ? EM_TYPE_TEXT : EM_TYPE_JSON;
}

static json_t *header_reference(const char *name)
{
	char text[64];

	snprintf(text, sizeof(text), "#/components/headers/%s", name);
	return json_pack("{s:s}", "$ref", text);
}

static json_t *stream_json(void)
{
	return json_pack("{s:{s:s, s:s, s:s}, s:s}", "schema", "type", "string", "description",
			 "Server-sent events: id is the event's id, event its kind, data the event "
			 "as JSON. A comment comes every 15 s while nothing happens.",
			 "contentMediaType", EM_TYPE_EVENTS, "example",
			 "retry: 3000\n\nid: 1792888200000000\nevent: drive-removed\ndata: "
			 "{\"id\":\"1792888200000000\",\"kind\":\"drive-removed\"}\n\n");
}

static json_t *success_json(const struct em_route *route)
{
	json_t *reply = json_pack("{s:s}", "description", route->summary);
	json_t *headers = json_object();

	if (route->shape != EM_SHAPE_NONE)
		json_object_set_new(reply, "content",
				    json_pack("{s:{s:o}}", reply_type(route->shape), "schema",
					      reply_schema(route)));
	if (route->shape == EM_SHAPE_EVENTS)
		json_object_set_new(json_object_get(reply, "content"), EM_TYPE_EVENTS,
				    stream_json());
	if (route->stable)
		json_object_set_new(headers, "ETag", header_reference("ETag"));
	if (route->status == 201 || route->status == 202)
		json_object_set_new(headers, "Location", header_reference("Location"));
	json_object_set_new(reply, "headers", headers);
	return reply;
}

/* Replies that are the same for every route. */
struct problem {
	unsigned status;
	const char *description;
	const char *header;
	const char *detail; /* of the example */
};

#define NOT_MODIFIED "Nothing has changed since the reply with that ETag."
static const struct problem problems[] = {
	{ 400, "A parameter, or the body, is not known or not valid.", NULL,
	  "limit must be a whole number from 1 to 4096." },
	{ 401, "The network listener wants a valid token.", "WWW-Authenticate",
	  "This needs a token: Authorization: Bearer ember_…" },
	{ 403, "Who asks may not do this.", NULL, "This is for root." },
	{ 404, "There is none.", NULL,
	  "There is no drive with the id, serial or device name "
	  "\"nvme7\". GET /v1/drives lists them." },
	{ 405, "The path, or the listener, does not answer this method.", "Allow",
	  "This path answers GET, HEAD only." },
	{ 409, "It fits more than one, or the present state does not allow it.", NULL,
	  "\"SN\" fits more than one drive. Give more characters, or the id; GET /v1/drives lists "
	  "them." },
	{ 413, "A body where there may be none, or one that is too large.", NULL,
	  "A body may have 65536 bytes, and only where the API asks for one." },
	{ 421, "Host names another host.", NULL,
	  "Host must be localhost, 127.0.0.1 or [::1] with the port 9980." },
	{ 500, "Memory is short, or Ember has a fault.", NULL, "Memory is short." },
	{ 503, "It cannot be done now.", "Retry-After",
	  "The history cannot be read now. GET /v1/health says how the database is; try again "
	  "later." },
};

/* What never comes to a route; the HTTP library writes it, in words of its own. */
#define BY_LIBRARY " Answered by the HTTP library: the body is no problem document."
static const struct {
	unsigned status;
	const char *description;
} library_replies[] = {
	{ 414, "The request line is too long." BY_LIBRARY },
	{ 431, "The headers are too long, or too many." BY_LIBRARY },
	{ 505, "The version of HTTP is not 1." BY_LIBRARY },
};

static const struct problem *find_problem(unsigned status)
{
	for (size_t i = 0; i < EM_COUNT(problems); i++)
		if (problems[i].status == status)
			return &problems[i];
	return NULL;
}

const char *em_openapi_status_help(unsigned status)
{
	const struct problem *problem = find_problem(status);

	if (status == 304)
		return NOT_MODIFIED;
	for (size_t i = 0; i < EM_COUNT(library_replies); i++)
		if (library_replies[i].status == status)
			return library_replies[i].description;
	return problem ? problem->description : NULL;
}

static json_t *problem_json(const struct problem *problem)
{
	json_t *reply =
		json_pack("{s:s, s:{s:{s:o, s:{s:s, s:s, s:i, s:s, s:s}}}}", "description",
			  problem->description, "content", EM_TYPE_PROBLEM, "schema",
			  em_schema_reference("problem"), "example", "type", "about:blank", "title",
			  em_http_reason(problem->status), "status", (int)problem->status, "detail",
			  problem->detail, "instance", "/v1/drives");

	if (problem->header)
		json_object_set_new(
			reply, "headers",
			json_pack("{s:o}", problem->header, header_reference(problem->header)));
	return reply;
}

static json_t *responses_component(void)
{
	json_t *all = json_object();
	char name[16];

	for (size_t i = 0; i < EM_COUNT(problems); i++) {
		snprintf(name, sizeof(name), "%u", problems[i].status);
		json_object_set_new(all, name, problem_json(&problems[i]));
	}
	for (size_t i = 0; i < EM_COUNT(library_replies); i++) {
		snprintf(name, sizeof(name), "%u", library_replies[i].status);
		json_object_set_new(
			all, name,
			json_pack("{s:s}", "description", library_replies[i].description));
	}
	json_object_set_new(all, "304",
			    json_pack("{s:s, s:{s:o}}", "description", NOT_MODIFIED, "headers",
				      "ETag", header_reference("ETag")));
	return all;
}

static json_t *responses_json(const struct em_route *route)
{
	unsigned statuses[EM_STATUSES_MAX], count = em_route_statuses(route, statuses);
	json_t *all = json_object();
	char name[16], reference[64];

	for (unsigned i = 0; i < count; i++) {
		bool common = statuses[i] == 304 || find_problem(statuses[i]);

		snprintf(name, sizeof(name), "%u", statuses[i]);
		snprintf(reference, sizeof(reference), "#/components/responses/%s", name);
		json_object_set_new(all, name,
				    common ? json_pack("{s:s}", "$ref", reference)
					   : success_json(route));
	}
	return all;
}

static json_t *header_json(const char *help, const char *type)
{
	return json_pack("{s:s, s:{s:s}}", "description", help, "schema", "type", type);
}

static json_t *headers_component(void)
{
	return json_pack(
		"{s:o, s:o, s:o, s:o, s:o}", "ETag",
		header_json("Changes whenever the body does; for If-None-Match.", "string"),
		"Location",
		header_json("The path of what was made, or of what to watch.", "string"),
		"Retry-After", header_json("Seconds after which to try again.", "integer"),
		"WWW-Authenticate", header_json("Always Bearer.", "string"), "Allow",
		header_json("The methods that are answered, with commas between.", "string"));
}

/* ---- the document ------------------------------------------------------------------------- */

/* Admins are known by the unix socket, for which OpenAPI has no word; x-role says it. */
static json_t *security_json(const struct em_route *route)
{
	if (route->role > EM_ROLE_VIEWER)
		return json_pack("[{}]");
	return json_pack("[{}, {s:[]}]", BEARER);
}

static json_t *operation_json(const struct em_route *route)
{
	json_t *operation =
		json_pack("{s:s, s:s, s:s, s:o, s:o}", "operationId", route->op_id, "summary",
			  route->summary, "x-role", em_role_name(route->role), "security",
			  security_json(route), "parameters", params_json(route));

	if (route->takes_body)
		json_object_set_new(operation, "requestBody",
				    json_pack("{s:b, s:{s:{s:o}}}", "required", 1, "content",
					      EM_TYPE_JSON, "schema", body_schema(route)));
	json_object_set_new(operation, "responses", responses_json(route));
	return operation;
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
		if (json_object_set_new(item, method, operation_json(route)) < 0) {
			json_decref(paths);
			return NULL;
		}
	}
	return paths;
}

static json_t *info_json(const char *version)
{
	return json_pack(
		"{s:s, s:s, s:s, s:{s:s, s:s}}", "title", "Ember", "version", version,
		"description",
		"The state, health and history of NVMe drives. Every value says when it was read; "
		"null means that the drive gives no value. Numbers that may pass 53 bits are "
		"strings of decimal digits. Every GET also answers HEAD. What a path does not "
		"answer is a 404, a method that it does not answer a 405. What is no valid HTTP, "
		"or too long, is answered by the HTTP library with 400, 413, 414, 431 or 505 and "
		"a body that is no problem document, or not at all; then it closes the "
		"connection. Operations whose x-role is admin are for the unix "
		"socket /run/ember/emberd.sock, for root, emberd's own user and the group "
		"ember-admin; the other listeners only read.",
		"license", "name", "Apache-2.0", "identifier", "Apache-2.0");
}

static json_t *servers_json(void)
{
	return json_pack("[{s:s, s:s}, {s:s, s:s, s:{s:{s:s}}}]", "url", "http://127.0.0.1:9980",
			 "description", "This host, where [http] listen is set.", "url",
			 "https://{host}:9443", "description",
			 "The network, where [https] listen is set; with a token.", "variables",
			 "host", "default", "localhost");
}

char *em_openapi_text(const char *version, size_t *ret_len)
{
	json_t *root = json_pack(
		"{s:s, s:o, s:o, s:o, s:{s:o, s:o, s:o, s:{s:{s:s, s:s, s:s}}}}", "openapi",
		"3.1.0", "info", info_json(version), "servers", servers_json(), "paths",
		paths_json(), "components", "schemas", em_schemas(), "responses",
		responses_component(), "headers", headers_component(), "securitySchemes", BEARER,
		"type", "http", "scheme", "bearer", "description",
		"A token of emberctl token create, role viewer. Only the network listener asks for "
		"it.");
	char *text = root ? json_dumps(root, JSON_INDENT(1)) : NULL;

	json_decref(root);
	if (text)
		*ret_len = strlen(text);
	return text;
}
