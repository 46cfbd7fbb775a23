/* SPDX-License-Identifier: Apache-2.0 */
/* What POST and DELETE do: orders to a loop of this test's own, tokens in a file. */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "daemon/web/tokens.h"
#include "fixture.h"
#include "lib/base/cleanup.h"
#include "lib/base/clock.h"
#include "tests/unit/runner.h"

static struct em_snapshot *fleet;
static struct em_context context;

static void setup(void)
{
	fleet = make_fleet();
	context = (struct em_context){ .version = "1.2.3" };
}

static void teardown(void)
{
	fleet = em_snapshot_unref(fleet);
}

static struct em_reply send(const char *method, const char *uri, const char *body)
{
	struct em_call call = { .context = &context,
				.snap = fleet,
				.body = body,
				.body_len = body ? strlen(body) : 0,
				.last_event_id = -1,
				.now_mono_us = em_monotonic_us() };

	return ask_call(&call, method, uri);
}

static json_t *send_json(const char *method, const char *uri, const char *body, unsigned status)
{
	struct em_reply reply = send(method, uri, body);

	return reply_json(&reply, status);
}

/* ---- orders ------------------------------------------------------------------------------- */

struct loop {
	pthread_t thread;
	sd_event *event;
	struct em_order seen; /* the last one */
	int result;	      /* what the next ones get */
};

static void carry_out(void *userdata, struct em_order *order)
{
	struct loop *loop = userdata;

	if (!order->drive_id[0]) { /* of end() */
		sd_event_exit(loop->event, 0);
		return;
	}
	loop->seen = *order;
	order->result = loop->result;
	if (loop->result < 0)
		strcpy(order->message, "It is not removed.");
}

static void *turn(void *userdata)
{
	struct loop *loop = userdata;

	sd_event_loop(loop->event);
	return NULL;
}

static void begin(struct loop *loop, int result)
{
	*loop = (struct loop){ .result = result };
	ck_assert_int_ge(sd_event_new(&loop->event), 0);
	ck_assert_int_eq(em_orders_new(&context.orders, loop->event, carry_out, loop), 0);
	pthread_create(&loop->thread, NULL, turn, loop);
}

static void end(struct loop *loop)
{
	struct em_order last = { 0 };

	ck_assert_int_eq(
		em_orders_give(context.orders, &last, em_monotonic_us() + 20 * EM_US_PER_SEC), 0);
	pthread_join(loop->thread, NULL);
	context.orders = em_orders_free(context.orders);
	sd_event_unref(loop->event);
}

START_TEST(refresh_tells_what_is_read)
{
	struct em_reply reply;
	struct loop loop;
	json_t *root;

	begin(&loop, 0);
	reply = send("POST", "/v1/drives/nvme2/refresh?refused=true", NULL);
	ck_assert_str_eq(reply.location, "/v1/drives/10000000000000c2");
	root = reply_json(&reply, 202);
	ck_text(root, "drive", "10000000000000c2");
	ck_text(root, "requested_at", "2026-10-25T00:30:00.000Z");
	ck_assert_uint_eq(json_array_size(at(root, "pages")), 1);
	ck_text(root, "pages.0", "selftest"); /* what it refused; the rest has no interval */
	ck_assert_int_eq(loop.seen.kind, EM_ORDER_REFRESH);
	ck_assert_str_eq(loop.seen.drive_id, "10000000000000c2");
	ck_assert(loop.seen.refused);
	json_decref(root);
	root = send_json("POST", "/v1/drives/nvme0/refresh", NULL, 202);
	ck_assert(!loop.seen.refused);
	ck_assert_uint_eq(json_array_size(at(root, "pages")), 3);
	json_decref(root);
	end(&loop);
}
END_TEST

START_TEST(state_that_forbids_is_409)
{
	struct loop loop;
	json_t *root;

	begin(&loop, -EBUSY);
	root = send_json("POST", "/v1/drives/nvme0/retire", NULL, 409);
	ck_text(root, "detail", "It is not removed.");
	ck_assert_int_eq(loop.seen.kind, EM_ORDER_RETIRE);
	json_decref(root);
	loop.result = -ENOENT;
	json_decref(send_json("POST", "/v1/drives/nvme0/unretire", NULL, 404));
	ck_assert_int_eq(loop.seen.kind, EM_ORDER_UNRETIRE);
	end(&loop);
}
END_TEST

/* Nobody is told that it is done when a restart would undo it. */
START_TEST(without_a_database_nothing_is_acknowledged)
{
	struct em_reply reply;
	struct loop loop;

	begin(&loop, 0);
	reply = send("POST", "/v1/drives/nvme0/retire", NULL);
	ck_assert_uint_gt(reply.retry_after_s, 0);
	json_decref(reply_json(&reply, 503));
	end(&loop);
	json_decref(send_json("POST", "/v1/drives/nvme0/refresh", NULL, 503));
}
END_TEST

/* ---- tokens ------------------------------------------------------------------------------- */

static char token_file[64];

static void open_tokens(void)
{
	int fd;

	strcpy(token_file, "/tmp/ember-test-XXXXXX");
	fd = mkstemp(token_file);
	ck_assert_int_ge(fd, 0);
	close(fd);
	unlink(token_file);
	ck_assert_int_eq(em_tokens_open(&context.tokens, token_file, NULL), 0);
}

static void close_tokens(void)
{
	context.tokens = em_tokens_free(context.tokens);
	unlink(token_file);
}

/* Of who holds the secret of that reply. */
static enum em_role role_of(json_t *root)
{
	return em_tokens_check(context.tokens, json_string_value(at(root, "token")), NOW_US, NULL);
}

START_TEST(token_is_made_listed_and_revoked)
{
	char uri[EM_INSTANCE_SIZE];
	struct em_reply reply;
	json_t *root, *list;

	open_tokens();
	reply = send("POST", "/v1/tokens", "{\"name\":\"prometheus\",\"expires_in\":\"90d\"}");
	ck_assert_ptr_nonnull(strstr(reply.location, "/v1/tokens/"));
	strcpy(uri, reply.location);
	root = reply_json(&reply, 201);
	ck_text(root, "name", "prometheus");
	ck_text(root, "role", "viewer");
	ck_text(root, "created_at", "2026-10-25T00:30:00.000Z");
	ck_text(root, "expires_at", "2027-01-23T00:30:00.000Z");
	ck_null(root, "last_used_at");
	ck_assert_int_eq(role_of(root), EM_ROLE_VIEWER);
	list = send_json("GET", "/v1/tokens", NULL, 200);
	ck_assert_uint_eq(json_array_size(at(list, "tokens")), 1);
	ck_assert_ptr_null(at(list, "tokens.0.token"));
	json_decref(list);
	reply = send("DELETE", uri, NULL);
	ck_assert_uint_eq(reply.status, 204);
	ck_assert_uint_eq(reply.len, 0);
	ck_assert_int_eq(role_of(root), EM_ROLE_NONE);
	json_decref(send_json("DELETE", uri, NULL, 404));
	json_decref(root);
	close_tokens();
}
END_TEST

START_TEST(bodies_are_checked)
{
	static const struct {
		const char *body, *says;
	} bad[] = {
		{ NULL, "one JSON object" },
		{ "", "one JSON object" },
		{ "[]", "one JSON object" },
		{ "{\"name\":\"a\"} x", "one JSON object" },
		{ "{\"name\":\"a\",\"name\":\"b\"}", "one JSON object" },
		{ "{\"name\":\"a\\u0000b\"}", "one JSON object" },
		{ "{}", "name is required" },
		{ "{\"name\":7}", "must be a text" },
		{ "{\"name\":null}", "must be a text" },
		{ "{\"name\":\"\"}", "1 to 64 printable" },
		{ "{\"name\":\" a\"}", "1 to 64 printable" },
		{ "{\"name\":\"a\\n\"}", "1 to 64 printable" },
		{ "{\"name\":\"a\",\"role\":\"admin\"}", "one of: viewer" },
		{ "{\"name\":\"a\",\"expires_in\":\"59s\"}", "from 1min to" },
		{ "{\"name\":\"a\",\"more\":\"b\"}", "known: name, role, expires_in" },
	};

	open_tokens();
	for (size_t i = 0; i < EM_COUNT(bad); i++) {
		json_t *root = send_json("POST", "/v1/tokens", bad[i].body, 400);

		ck_assert_msg(strstr(json_string_value(at(root, "detail")), bad[i].says) != NULL,
			      "%s: %s", bad[i].body, json_string_value(at(root, "detail")));
		json_decref(root);
	}
	/* A member of the body is no parameter of the query. */
	json_decref(send_json("POST", "/v1/tokens?name=a", "{\"name\":\"a\"}", 400));
	json_decref(send_json("POST", "/v1/tokens", "{\"name\":\"a\"}", 201));
	json_decref(send_json("POST", "/v1/tokens", "{\"name\":\"a\"}", 409));
	close_tokens();
}
END_TEST

START_TEST(without_a_place_for_tokens)
{
	json_decref(send_json("GET", "/v1/tokens", NULL, 503));
	json_decref(send_json("POST", "/v1/tokens", "{\"name\":\"a\"}", 503));
	json_decref(send_json("DELETE", "/v1/tokens/x", NULL, 503));
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("all");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, refresh_tells_what_is_read);
	tcase_add_test(tc, state_that_forbids_is_409);
	tcase_add_test(tc, without_a_database_nothing_is_acknowledged);
	tcase_add_test(tc, token_is_made_listed_and_revoked);
	tcase_add_test(tc, bodies_are_checked);
	tcase_add_test(tc, without_a_place_for_tokens);
	return run_tests(tc);
}
