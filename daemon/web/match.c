/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/web/route.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "lib/base/parse.h"
#include "lib/base/text.h"

int em_uri_decode(char *dst, size_t size, const char *src, size_t len)
{
	size_t at = 0, i = 0;

	while (i < len) {
		int c = (unsigned char)src[i++];

		if (c == '%') {
			int high = i < len ? em_hex_digit(src[i]) : -1;
			int low = i + 1 < len ? em_hex_digit(src[i + 1]) : -1;

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

bool em_route_resolve(struct em_call *call, const char *method, const char *uri,
		      struct em_reply *reply)
{
	size_t path_len = strcspn(uri, "?");

	em_text_clean(call->instance, sizeof(call->instance), uri, path_len);
	memset(call->args, 0, sizeof(call->args));
	if (!find_route(call, method, uri, path_len, reply))
		return false;
	return em_route_read_query(call, uri + path_len + (uri[path_len] == '?'), reply);
}

bool em_route_allows(const struct em_route *route, enum em_role role)
{
	return role >= route->role;
}
