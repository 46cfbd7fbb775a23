/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <string.h>
#include "fixture.h"
#include "lib/base/cleanup.h"
#include "tests/unit/runner.h"

static struct em_snapshot *fleet;

static void setup(void)
{
	fleet = make_fleet();
}

static void teardown(void)
{
	fleet = em_snapshot_unref(fleet);
}

/* The problem's detail has this text, and the body is a whole problem document. */
static void expect_problem(const char *method, const char *uri, unsigned status, const char *says)
{
	struct em_reply reply = ask(fleet, method, uri);
	json_t *root = reply_json(&reply, status);

	ck_text(root, "type", "about:blank");
	ck_text(root, "title", em_http_reason(status));
	ck_int(root, "status", (int)status);
	ck_assert(json_is_string(at(root, "instance")));
	ck_assert_msg(strstr(json_string_value(at(root, "detail")), says) != NULL, "%s: %s", uri,
		      json_string_value(at(root, "detail")));
	json_decref(root);
}

START_TEST(unknown_paths_are_404)
{
	static const char *const paths[] = {
		"/v1",
		"/v1/",
		"/v1/drives/",
		"/v1/drive",
		"/v2/drives",
		"//v1/drives",
		"/v1//drives",
		"/v1/drives/nvme0/",
		"/v1/drives/nvme0/smart/",
		"/v1/drives/nvme0/smart/x",
		"/v1/drives/../tokens",
		"/v1/drives/%2e%2e/health/x",
		"/metrics/",
		"v1/health",
		"*",
		"",
		"http://localhost/v1/health",
		"/v1%2fhealth",
	};

	for (size_t i = 0; i < EM_COUNT(paths); i++)
		expect_problem("GET", paths[i], 404, "GET / lists");
}
END_TEST

START_TEST(broken_encoding_is_400)
{
	expect_problem("GET", "/v1/drives/%00", 400, "percent");
	expect_problem("GET", "/v1/drives%00/nvme0", 400, "percent");
	expect_problem("GET", "/v1/drives/nvme%", 400, "percent");
	expect_problem("GET", "/v1/drives/nvme%4", 400, "percent");
	expect_problem("GET", "/v1/drives/nvme%zz", 400, "percent");
	expect_problem("GET", "/v1/drives/nvme0/history?field=%4", 400, "badly encoded");
}
END_TEST

/* A route of this path that answers the method. */
static const struct em_route *find(const char *path, const char *method)
{
	for (unsigned i = 0; i < em_route_count; i++)
		if (!strcmp(em_routes[i].path, path) && !strcmp(em_routes[i].method, method))
			return &em_routes[i];
	return NULL;
}

START_TEST(every_route_refuses_other_methods)
{
	static const char *const methods[] = { "GET",	"HEAD",	   "POST", "PUT", "DELETE",
					       "PATCH", "OPTIONS", "get",  "X" };

	for (unsigned i = 0; i < em_route_count; i++) {
		const char *path = em_routes[i].path;

		for (size_t m = 0; m < EM_COUNT(methods); m++) {
			const char *wanted = strcmp(methods[m], "HEAD") ? methods[m] : "GET";
			struct em_reply reply;

			if (find(path, wanted))
				continue;
			reply = ask(fleet, methods[m], path);
			ck_assert_uint_eq(reply.status, 405);
			ck_assert_ptr_nonnull(strstr(reply.allow, em_routes[i].method));
			ck_assert(!strstr(reply.allow, "HEAD") == !find(path, "GET"));
			em_reply_done(&reply);
		}
	}
}
END_TEST

START_TEST(head_is_get)
{
	struct em_reply get = ask(fleet, "GET", "/v1/drives");
	struct em_reply head = ask(fleet, "HEAD", "/v1/drives");

	ck_assert_uint_eq(head.status, 200);
	ck_assert_uint_eq(head.len, get.len);
	em_reply_done(&get);
	em_reply_done(&head);
}
END_TEST

START_TEST(encoded_segments_are_the_same_path)
{
	json_t *root = ask_json(fleet, "/v1/dr%69ves/%6Evme0", 200);

	ck_text(root, "device", "nvme0");
	json_decref(root);
}
END_TEST

START_TEST(parameters_are_checked)
{
	static const struct {
		const char *query, *says;
	} bad[] = {
		{ "", "field is required" },
		{ "?", "field is required" },
		{ "?field=", "lower-case" },
		{ "?field=Temp", "lower-case" },
		{ "?field=no_such_field", "no history of a field" },
		{ "?field=serial", "no history of a field" },
		{ "?field=active_slot",
		  "Values of these pages have one: smart, sanitize, memblaze." },
		{ "?field=percentage_used&x=1", "no parameter \"x\"" },
		{ "?field=percentage_used&field=percentage_used", "more than once" },
		{ "?field=percentage_used&limit=-1", "from 1 to 100000" },
		{ "?field=percentage_used&limit=0", "from 1 to 100000" },
		{ "?field=percentage_used&limit=18446744073709551615", "from 1 to 100000" },
		{ "?field=percentage_used&limit=18446744073709551617", "from 1 to 100000" },
		{ "?field=percentage_used&limit=1e3", "from 1 to 100000" },
		{ "?field=percentage_used&limit=%20", "from 1 to 100000" },
		{ "?field=percentage_used&limit", "from 1 to 100000" },
		{ "?field=percentage_used&step=0", "span of time" },
		{ "?field=percentage_used&step=-5s", "span of time" },
		{ "?field=percentage_used&step=1parsec", "span of time" },
		{ "?field=percentage_used&from=yesterday", "must be a time" },
		{ "?field=percentage_used&from=2026-13-01T00:00:00Z", "must be a time" },
		{ "?field=percentage_used&from=now&to=-1h", "from is after to" },
		{ "?field=percentage_used&from=2026-10-25T01:00:00Z&to=2026-10-25T02:30:00%2B02:00",
		  "from is after to" },
		{ "?field=percentage_used&nsid=4294967295", "from 0 to 4294967294" },
	};
	char uri[512];

	for (size_t i = 0; i < EM_COUNT(bad); i++) {
		snprintf(uri, sizeof(uri), "/v1/drives/nvme0/history%s", bad[i].query);
		expect_problem("GET", uri, 400, bad[i].says);
	}
	expect_problem("GET", "/v1/health?limit=1", 400, "known: none");
	expect_problem("GET", "/v1/drives?limit=4097", 400, "from 1 to 4096");
	expect_problem("GET", "/v1/drives?state=", 400, "one or more");
	expect_problem("GET", "/v1/drives?state=ok,", 400, "one or more");
	expect_problem("GET", "/v1/drives?state=ok,well", 400, "unresponsive");
	expect_problem("GET", "/v1/drives?cursor=XY", 400, "next_cursor");
	expect_problem("GET", "/v1/drives?cursor=", 400, "next_cursor");
	expect_problem("GET", "/v1/events?kind=drive-state,x", 400, "drive-appeared");
	/* No change, so that asking for it there is a mistake. */
	expect_problem("GET", "/v1/changes?kind=drive-state", 400, "one or more");
	expect_problem("GET", "/v1/events?order=random", 400, "newest, oldest");
	expect_problem("GET", "/v1/events?drive=", 400, "name of a drive");
	expect_problem("GET", "/v1/events?drive=nvme7", 404, "nvme7");
	expect_problem("POST", "/v1/drives/nvme0/refresh?refused=maybe", 400, "true or false");
	expect_problem("GET", "/metrics?x", 400, "no parameter \"x\"");
	memset(uri, 'a', sizeof(uri) - 1);
	memcpy(uri, "/metrics?", 9);
	uri[sizeof(uri) - 1] = '\0';
	expect_problem("GET", uri, 400, "longer than");
}
END_TEST

/* A plus is a plus: time zones may be written without encoding. No store: 503, so it was valid. */
START_TEST(good_parameters_pass)
{
	expect_problem(
		"GET",
		"/v1/drives/nvme0/history?field=percentage_used&from=2026-10-25T02:30:00+02:00"
		"&to=2026-10-25T01:30:00Z&step=5min&limit=100000&nsid=0",
		503, "no history");
	expect_problem("GET", "/v1/drives/nvme0/history?&field=percentage_used&", 503,
		       "no history");
}
END_TEST

START_TEST(drives_are_found)
{
	static const struct {
		const char *id, *device;
	} good[] = {
		{ "00000000000000a0", "nvme0" },
		{ "SN-A-0002", "nvme1" },
		{ "nvme10", "nvme10" },
		{ "1000", "nvme2" },
		{ "SN-B", "nvme2" },
		{ "SN0000000001-3%3f", "nvme10" },
	};
	char uri[128];

	for (size_t i = 0; i < EM_COUNT(good); i++) {
		json_t *root;

		snprintf(uri, sizeof(uri), "/v1/drives/%s", good[i].id);
		root = ask_json(fleet, uri, 200);
		ck_text(root, "device", good[i].device);
		json_decref(root);
	}
	expect_problem("GET", "/v1/drives/SN-A", 409, "more than one");
	expect_problem("GET", "/v1/drives/0000", 409, "more than one");
	expect_problem("GET", "/v1/drives/nvme7", 404, "nvme7");
	expect_problem("GET", "/v1/drives/nvme7/smart", 404, "nvme7");
	expect_problem("GET", "/v1/drives/nvme7/history?field=percentage_used", 404, "nvme7");
	expect_problem("GET", "/v1/drives/%ff%0a%22", 404, "??\"");
}
END_TEST

START_TEST(rows_are_sound)
{
	for (unsigned i = 0; i < em_route_count; i++) {
		const struct em_route *route = &em_routes[i];

		ck_assert_ptr_nonnull(route->handle);
		ck_assert_ptr_nonnull(route->op_id);
		ck_assert_uint_le(route->param_count, EM_PARAMS_MAX);
		/* Nobody but an admin changes anything. */
		if (strcmp(route->method, "GET"))
			ck_assert(!em_route_allows(route, EM_ROLE_OPERATOR));
		ck_assert(em_route_allows(route, EM_ROLE_ADMIN));
		if (route->shape == EM_SHAPE_PAGE)
			ck_assert_str_eq(strrchr(route->path, '/') + 1, em_pages[route->page]->key);
		for (unsigned j = 0; j < i; j++)
			ck_assert_str_ne(route->op_id, em_routes[j].op_id);
		for (unsigned j = 0; j < route->param_count; j++) {
			const struct em_param *param = &route->params[j];

			ck_assert_ptr_nonnull(param->name);
			ck_assert(!param->in_body || route->takes_body);
			if (param->type == EM_PARAM_CHOICE || param->type == EM_PARAM_CHOICES)
				ck_assert_uint_le(param->set->count, 64);
		}
	}
}
END_TEST

START_TEST(roles_are_ordered)
{
	struct em_route route = { .role = EM_ROLE_OPERATOR };

	ck_assert(!em_route_allows(&route, EM_ROLE_VIEWER));
	ck_assert(em_route_allows(&route, EM_ROLE_OPERATOR));
	ck_assert(em_route_allows(&route, EM_ROLE_ADMIN));
}
END_TEST

START_TEST(decoding)
{
	char text[8];

	ck_assert_int_eq(em_uri_decode(text, sizeof(text), "a%2Fb+%e4", 9), 0);
	ck_assert_str_eq(text, "a/b+\xe4");
	ck_assert_int_eq(em_uri_decode(text, sizeof(text), "1234567", 7), 0);
	ck_assert_int_eq(em_uri_decode(text, sizeof(text), "12345678", 8), -E2BIG);
	ck_assert_int_eq(em_uri_decode(text, sizeof(text), "%00", 3), -EINVAL);
	/* The digits of the next part do not count. */
	ck_assert_int_eq(em_uri_decode(text, sizeof(text), "%41", 2), -EINVAL);
}
END_TEST

/* The one reply that cannot be made in the usual way has the usual form. */
START_TEST(no_memory_is_a_problem_too)
{
	struct em_reply reply = { 0 };
	json_t *root;

	em_reply_json(&reply, NULL);
	ck_assert_uint_eq(reply.status, 500);
	ck_assert_str_eq(reply.type, EM_TYPE_PROBLEM);
	ck_assert_ptr_null(reply.body);
	ck_assert_uint_eq(reply.len, strlen(reply.fixed));
	root = json_loads(reply.fixed, JSON_REJECT_DUPLICATES, NULL);
	ck_int(root, "status", 500);
	ck_text(root, "title", em_http_reason(500));
	ck_text(root, "detail", "Memory is short.");
	ck_text(root, "instance", "");
	ck_text(root, "type", "about:blank");
	json_decref(root);
	em_reply_done(&reply);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("all");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, unknown_paths_are_404);
	tcase_add_test(tc, broken_encoding_is_400);
	tcase_add_test(tc, every_route_refuses_other_methods);
	tcase_add_test(tc, head_is_get);
	tcase_add_test(tc, encoded_segments_are_the_same_path);
	tcase_add_test(tc, parameters_are_checked);
	tcase_add_test(tc, good_parameters_pass);
	tcase_add_test(tc, drives_are_found);
	tcase_add_test(tc, rows_are_sound);
	tcase_add_test(tc, roles_are_ordered);
	tcase_add_test(tc, decoding);
	tcase_add_test(tc, no_memory_is_a_problem_too);
	return run_tests(tc);
}
