/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/web/route.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "lib/base/clock.h"
#include "lib/base/parse.h"
#include "lib/base/text.h"

#define NAMES_SIZE 440

static int find_param(const struct em_route *route, const char *name, bool in_body)
{
	for (unsigned i = 0; i < route->param_count; i++)
		if (route->params[i].in_body == in_body && !strcmp(route->params[i].name, name))
			return (int)i;
	return -ENOENT;
}

static void list_params(const struct em_route *route, bool in_body, char *buf, size_t size)
{
	size_t at = 0;

	buf[0] = '\0';
	for (unsigned i = 0; i < route->param_count && at < size; i++)
		if (route->params[i].in_body == in_body)
			at += (size_t)snprintf(buf + at, size - at, "%s%s", at ? ", " : "",
					       route->params[i].name);
	if (!at)
		snprintf(buf, size, "none");
}

static void list_names(const struct em_name_set *set, char *buf, size_t size)
{
	size_t at = 0;

	for (unsigned i = 0; i < set->count && at < size; i++)
		at += (size_t)snprintf(buf + at, size - at, "%s%s", i ? ", " : "", set->name(i));
}

static bool consists_of(const char *text, const char *characters)
{
	return *text && strspn(text, characters) == strlen(text);
}

static bool is_label(const char *text, size_t max)
{
	size_t len = strlen(text);

	for (size_t i = 0; i < len; i++)
		if (text[i] < 0x20 || text[i] > 0x7e)
			return false;
	return len && len <= max && text[0] != ' ' && text[len - 1] != ' ';
}

static int find_name(const struct em_name_set *set, const char *text, size_t len)
{
	for (unsigned i = 0; i < set->count; i++)
		if (strlen(set->name(i)) == len && !memcmp(set->name(i), text, len))
			return (int)i;
	return -EINVAL;
}

static int read_choice(const struct em_name_set *set, struct em_arg *arg)
{
	int index = find_name(set, arg->text, strlen(arg->text));

	if (index >= 0)
		arg->number = (uint64_t)index;
	return index < 0 ? index : 0;
}

static int read_choices(const struct em_name_set *set, struct em_arg *arg)
{
	const char *text = arg->text;

	for (;;) {
		size_t len = strcspn(text, ",");
		int index = find_name(set, text, len);

		if (index < 0)
			return index;
		arg->number |= UINT64_C(1) << index;
		if (!text[len])
			return 0;
		text += len + 1;
	}
}

static int read_bool(struct em_arg *arg)
{
	bool value;
	int r = em_parse_bool(arg->text, &value);

	if (r == 0)
		arg->number = value;
	return r;
}

static int read_arg(const struct em_param *param, int64_t now_us, struct em_arg *arg)
{
	switch (param->type) {
	case EM_PARAM_NAME:
		return consists_of(arg->text, "abcdefghijklmnopqrstuvwxyz0123456789_") ? 0
										       : -EINVAL;
	case EM_PARAM_TIME:
		return em_time_parse(arg->text, now_us, &arg->time_us);
	case EM_PARAM_DURATION:
		return em_parse_duration_us(arg->text, param->min, param->max, &arg->number);
	case EM_PARAM_UINT:
		return em_parse_u64(arg->text, param->min, param->max, &arg->number);
	case EM_PARAM_BOOL:
		return read_bool(arg);
	case EM_PARAM_CHOICE:
		return read_choice(param->set, arg);
	case EM_PARAM_CHOICES:
		return read_choices(param->set, arg);
	case EM_PARAM_DRIVE:
		return *arg->text ? 0 : -EINVAL;
	case EM_PARAM_CURSOR:
		return consists_of(arg->text, "0123456789abcdef") ? 0 : -EINVAL;
	case EM_PARAM_LABEL:
		return is_label(arg->text, param->max) ? 0 : -EINVAL;
	}
	return -EINVAL;
}

/* What the value must be, to stand behind "must be". */
static void describe(const struct em_param *param, char *buf, size_t size)
{
	char min[64], max[64], names[NAMES_SIZE];

	switch (param->type) {
	case EM_PARAM_NAME:
		snprintf(buf, size, "a name of lower-case letters, digits and underscores");
		break;
	case EM_PARAM_TIME:
		snprintf(buf, size,
			 "a time between 1970 and 9999: RFC 3339 like "
			 "2026-10-25T02:30:00Z, seconds since 1970, now, or -15min");
		break;
	case EM_PARAM_DURATION:
		snprintf(buf, size, "a span of time from %s to %s, like 90s or 5min",
			 em_duration_format(min, sizeof(min), param->min),
			 em_duration_format(max, sizeof(max), param->max));
		break;
	case EM_PARAM_UINT:
		snprintf(buf, size, "a whole number from %llu to %llu",
			 (unsigned long long)param->min, (unsigned long long)param->max);
		break;
	case EM_PARAM_BOOL:
		snprintf(buf, size, "true or false");
		break;
	case EM_PARAM_CHOICE:
		list_names(param->set, names, sizeof(names));
		snprintf(buf, size, "one of: %s", names);
		break;
	case EM_PARAM_CHOICES:
		list_names(param->set, names, sizeof(names));
		snprintf(buf, size, "one or more, with commas between, of: %s", names);
		break;
	case EM_PARAM_DRIVE:
		snprintf(buf, size, "the name of a drive");
		break;
	case EM_PARAM_CURSOR:
		snprintf(buf, size, "the next_cursor of an earlier reply, as it was");
		break;
	case EM_PARAM_LABEL:
		snprintf(buf, size,
			 "1 to %llu printable ASCII characters, without a blank at "
			 "either end",
			 (unsigned long long)param->max);
		break;
	}
}

static bool take_arg(struct em_call *call, unsigned index, struct em_reply *reply)
{
	const struct em_param *param = &call->route->params[index];
	char wanted[NAMES_SIZE + 64];

	if (read_arg(param, call->now_us, &call->args[index]) < 0) {
		describe(param, wanted, sizeof(wanted));
		em_reply_problem(reply, call, 400, "%s must be %s.", param->name, wanted);
		return false;
	}
	call->args[index].given = true;
	return true;
}

static int find_arg(struct em_call *call, const char *name, bool in_body, struct em_reply *reply)
{
	int index = find_param(call->route, name, in_body);
	char known[256], shown[EM_ARG_SIZE];

	if (index >= 0)
		return index;
	list_params(call->route, in_body, known, sizeof(known));
	em_text_clean(shown, sizeof(shown), name, strlen(name));
	em_reply_problem(reply, call, 400, "There is no %s \"%s\" here; known: %s.",
			 in_body ? "member" : "parameter", shown, known);
	return index;
}

/* One "name=value" of the query. */
static bool read_pair(struct em_call *call, const char *pair, size_t len, struct em_reply *reply)
{
	const char *equals = memchr(pair, '=', len);
	size_t name_len = equals ? (size_t)(equals - pair) : len;
	char name[EM_ARG_SIZE], text[EM_ARG_SIZE] = "";
	int index;

	if (em_uri_decode(name, sizeof(name), pair, name_len) < 0 ||
	    (equals && em_uri_decode(text, sizeof(text), equals + 1, len - name_len - 1) < 0)) {
		em_reply_problem(reply, call, 400,
				 "The query has a part that is badly encoded or longer than %d "
				 "characters.",
				 EM_ARG_SIZE - 1);
		return false;
	}
	index = find_arg(call, name, false, reply);
	if (index < 0)
		return false;
	if (call->args[index].given) {
		em_reply_problem(reply, call, 400, "%s is given more than once.", name);
		return false;
	}
	strcpy(call->args[index].text, text);
	return take_arg(call, (unsigned)index, reply);
}

/* What is missing gets its default, or is a problem. */
static bool fill_in(struct em_call *call, bool in_body, struct em_reply *reply)
{
	for (unsigned i = 0; i < call->route->param_count; i++) {
		const struct em_param *param = &call->route->params[i];

		if (param->in_body != in_body || call->args[i].given)
			continue;
		if (param->required) {
			em_reply_problem(reply, call, 400, "%s is required: %s", param->name,
					 param->help);
			return false;
		}
		if (!param->fallback)
			continue;
		snprintf(call->args[i].text, EM_ARG_SIZE, "%s", param->fallback);
		call->args[i].fallback = true;
		if (!take_arg(call, i, reply))
			return false;
	}
	return true;
}

bool em_route_read_query(struct em_call *call, const char *query, struct em_reply *reply)
{
	while (*query) {
		size_t len = strcspn(query, "&");

		if (len && !read_pair(call, query, len, reply))
			return false;
		query += len;
		query += *query == '&';
	}
	return fill_in(call, false, reply);
}

static bool read_member(struct em_call *call, const char *name, const json_t *value,
			struct em_reply *reply)
{
	int index = find_arg(call, name, true, reply);
	const char *text = json_string_value(value);

	if (index < 0)
		return false;
	/* jansson refuses a NUL inside a text, so its length is the text's. */
	if (!text || strlen(text) >= EM_ARG_SIZE) {
		em_reply_problem(reply, call, 400, "%s must be a text of at most %d bytes.", name,
				 EM_ARG_SIZE - 1);
		return false;
	}
	strcpy(call->args[index].text, text);
	return take_arg(call, (unsigned)index, reply);
}

bool em_route_read_body(struct em_call *call, struct em_reply *reply)
{
	json_t *root = NULL, *value;
	bool good = true;
	const char *name;

	if (call->body_len)
		root = json_loadb(call->body, call->body_len, JSON_REJECT_DUPLICATES, NULL);
	if (!json_is_object(root)) {
		json_decref(root);
		em_reply_problem(reply, call, 400,
				 "The body must be one JSON object, each member once.");
		return false;
	}
	json_object_foreach(root, name, value)
	{
		good = read_member(call, name, value, reply);
		if (!good)
			break;
	}
	json_decref(root);
	return good && fill_in(call, true, reply);
}
