/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/web/route.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "lib/base/clock.h"
#include "lib/base/parse.h"
#include "lib/base/text.h"

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int em_uri_decode(char *dst, size_t size, const char *src, size_t len)
{
	size_t at = 0, i = 0;

	while (i < len) {
		int c = (unsigned char)src[i++];

		if (c == '%') {
			int high = i < len ? hex_digit(src[i]) : -1;
			int low = i + 1 < len ? hex_digit(src[i + 1]) : -1;

			if (high < 0 || low < 0 || (high == 0 && low == 0))
				return -EINVAL;
			c = high << 4 | low;
			i += 2;
		}
		if (at + 1 >= size)
			return -E2BIG;
		dst[at++] = (char)c;
	}
	dst[at] = '\0';
	return 0;
}

/* One segment against one of the pattern; a {…} takes any that is not empty. */
static int match_segment(const char *pattern, size_t pattern_len, const char *path, size_t len,
			 char id[EM_PATH_ARG_SIZE])
{
	char text[EM_PATH_ARG_SIZE];
	int r = em_uri_decode(text, sizeof(text), path, len);

	if (r == -E2BIG)
		return -ENOENT;
	if (r < 0)
		return r;
	if (pattern[0] == '{') {
		if (!text[0])
			return -ENOENT;
		strcpy(id, text);
		return 0;
	}
	return strlen(text) == pattern_len && !memcmp(text, pattern, pattern_len) ? 0 : -ENOENT;
}

/* 0, -ENOENT, or -EINVAL for an encoding that is broken. */
static int match_path(const char *pattern, const char *path, size_t path_len,
		      char id[EM_PATH_ARG_SIZE])
{
	const char *end = path + path_len;

	id[0] = '\0';
	while (*pattern == '/' && path < end && *path == '/') {
		size_t pattern_len = strcspn(pattern + 1, "/");
		const char *slash = memchr(path + 1, '/', (size_t)(end - path - 1));
		size_t len = (size_t)((slash ? slash : end) - path - 1);
		int r = match_segment(pattern + 1, pattern_len, path + 1, len, id);

		if (r < 0)
			return r;
		pattern += pattern_len + 1;
		path += len + 1;
	}
	return *pattern == '\0' && path == end ? 0 : -ENOENT;
}

static void add_allowed(char *allow, size_t size, const char *method)
{
	size_t len = strlen(allow);

	snprintf(allow + len, size - len, "%s%s%s", len ? ", " : "", method,
		 !strcmp(method, "GET") ? ", HEAD" : "");
}

static bool find_route(struct em_call *call, const char *method, const char *path, size_t len,
		       struct em_reply *reply)
{
	const char *wanted = !strcmp(method, "HEAD") ? "GET" : method;
	char allow[sizeof(reply->allow)] = "";

	for (unsigned i = 0; i < em_route_count; i++) {
		const struct em_route *route = &em_routes[i];
		int r = match_path(route->path, path, len, call->id);

		if (r == -EINVAL) {
			em_reply_problem(reply, call, 400,
					 "The path has a percent sign that is not followed by two "
					 "hexadecimal digits, or a NUL.");
			return false;
		}
		if (r < 0)
			continue;
		if (!strcmp(route->method, wanted)) {
			call->route = route;
			return true;
		}
		add_allowed(allow, sizeof(allow), route->method);
	}
	if (!allow[0]) {
		em_reply_problem(reply, call, 404,
				 "There is nothing at this path. GET / lists what there is.");
		return false;
	}
	em_reply_problem(reply, call, 405, "This path answers %s only.", allow);
	strcpy(reply->allow, allow);
	return false;
}

static int find_param(const struct em_route *route, const char *name)
{
	for (unsigned i = 0; i < route->param_count; i++)
		if (!strcmp(route->params[i].name, name))
			return (int)i;
	return -ENOENT;
}

static void list_params(const struct em_route *route, char *buf, size_t size)
{
	size_t at = 0;

	buf[0] = '\0';
	for (unsigned i = 0; i < route->param_count && at < size; i++)
		at += (size_t)snprintf(buf + at, size - at, "%s%s", i ? ", " : "",
				       route->params[i].name);
}

static bool is_name(const char *text)
{
	return *text && strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(text);
}

static int read_arg(const struct em_param *param, int64_t now_us, struct em_arg *arg)
{
	switch (param->type) {
	case EM_PARAM_NAME:
		return is_name(arg->text) ? 0 : -EINVAL;
	case EM_PARAM_TIME:
		return em_time_parse(arg->text, now_us, &arg->time_us);
	case EM_PARAM_DURATION:
		return em_parse_duration_us(arg->text, param->min, param->max, &arg->number);
	case EM_PARAM_UINT:
		return em_parse_u64(arg->text, param->min, param->max, &arg->number);
	}
	return -EINVAL;
}

static void bad_arg(const struct em_call *call, const struct em_param *param,
		    struct em_reply *reply)
{
	char min[64], max[64];

	switch (param->type) {
	case EM_PARAM_NAME:
		em_reply_problem(reply, call, 400,
				 "%s must be a name of lower-case letters, digits and underscores.",
				 param->name);
		break;
	case EM_PARAM_TIME:
		em_reply_problem(reply, call, 400,
				 "%s must be a time between 1970 and 9999: RFC 3339 like "
				 "2026-10-25T02:30:00Z, seconds since 1970, now, or -15min.",
				 param->name);
		break;
	case EM_PARAM_DURATION:
		em_reply_problem(reply, call, 400,
				 "%s must be a span of time from %s to %s, like 30s or 5min.",
				 param->name, em_duration_format(min, sizeof(min), param->min),
				 em_duration_format(max, sizeof(max), param->max));
		break;
	case EM_PARAM_UINT:
		em_reply_problem(reply, call, 400, "%s must be a whole number from %llu to %llu.",
				 param->name, (unsigned long long)param->min,
				 (unsigned long long)param->max);
		break;
	}
}

static bool take_arg(struct em_call *call, unsigned index, struct em_reply *reply)
{
	const struct em_param *param = &call->route->params[index];

	if (read_arg(param, call->now_us, &call->args[index]) < 0) {
		bad_arg(call, param, reply);
		return false;
	}
	call->args[index].given = true;
	return true;
}

/* One "name=value" of the query. */
static bool read_pair(struct em_call *call, const char *pair, size_t len, struct em_reply *reply)
{
	const char *equals = memchr(pair, '=', len);
	size_t name_len = equals ? (size_t)(equals - pair) : len;
	char name[EM_ARG_SIZE], text[EM_ARG_SIZE] = "", known[256];
	int index;

	if (em_uri_decode(name, sizeof(name), pair, name_len) < 0 ||
	    (equals && em_uri_decode(text, sizeof(text), equals + 1, len - name_len - 1) < 0)) {
		em_reply_problem(reply, call, 400,
				 "The query has a part that is badly encoded or longer than %d "
				 "characters.", EM_ARG_SIZE - 1);
		return false;
	}
	index = find_param(call->route, name);
	if (index < 0) {
		list_params(call->route, known, sizeof(known));
		em_text_clean(text, sizeof(text), name, strlen(name));
		em_reply_problem(reply, call, 400, "There is no parameter \"%s\" here; known: %s.",
				 text, known[0] ? known : "none");
		return false;
	}
	if (call->args[index].given) {
		em_reply_problem(reply, call, 400, "%s is given more than once.", name);
		return false;
	}
	strcpy(call->args[index].text, text);
	return take_arg(call, (unsigned)index, reply);
}

static bool read_query(struct em_call *call, const char *query, struct em_reply *reply)
{
	while (*query) {
		size_t len = strcspn(query, "&");

		if (len && !read_pair(call, query, len, reply))
			return false;
		query += len;
		query += *query == '&';
	}
	for (unsigned i = 0; i < call->route->param_count; i++) {
		const struct em_param *param = &call->route->params[i];

		if (call->args[i].given)
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

bool em_route_resolve(struct em_call *call, const char *method, const char *uri,
		      struct em_reply *reply)
{
	size_t path_len = strcspn(uri, "?");

	em_text_clean(call->instance, sizeof(call->instance), uri, path_len);
	memset(call->args, 0, sizeof(call->args));
	if (!find_route(call, method, uri, path_len, reply))
		return false;
	return read_query(call, uri + path_len + (uri[path_len] == '?'), reply);
}

bool em_route_allows(const struct em_route *route, enum em_role role)
{
	return role >= route->role;
}
