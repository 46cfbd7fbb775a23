/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests as the routes see them: any method and address, all parameters, any body.
 * Input: role (1 byte), a line "METHOD ADDRESS", the body.
 */
#include <jansson.h>
#include <string.h>
#include "daemon/drives/history.h"
#include "daemon/web/metrics.h"
#include "daemon/web/openapi.h"
#include "daemon/web/route.h"
#include "daemon/web/tokens.h"
#include "lib/base/cleanup.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "tests/fuzz/drive.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/history.h"

static struct em_context *context(void)
{
	static struct em_context context;
	size_t len;

	if (context.version)
		return &context;
	em_log_init("fuzz", LOG_EMERG);
	context = (struct em_context){
		.version = "1.2.3",
		.started_us = FUZZ_NOW_US - 60000000,
		.started_mono_us = FUZZ_NOW_MONO_US - 60000000,
		.hub = em_hub_new(),
		.store = fuzz_store(),
		.metrics = em_metrics_new(),
		.events = fuzz_events(),
		.openapi = em_openapi_text("1.2.3", &len),
	};
	context.openapi_len = len;
	fuzz_check(context.hub && context.metrics && context.openapi);
	return &context;
}

static void check_json(const struct em_reply *reply)
{
	json_error_t error;
	json_t *root = json_loadb(reply->body, reply->len, JSON_REJECT_DUPLICATES, &error);

	if (!root)
		fprintf(stderr, "%s\n", error.text);
	fuzz_check(root);
	if (reply->status >= 400)
		fuzz_check(json_integer_value(json_object_get(root, "status")) == reply->status);
	fuzz_check_history(root);
	json_decref(root);
}

static void check_reply(const struct em_reply *reply)
{
	if (reply->events)
		return;
	fuzz_check(reply->status >= 200 && reply->status < 600 && reply->status != 500);
	fuzz_check(*em_http_reason(reply->status));
	fuzz_check(reply->len <= EM_REPLY_MAX);
	fuzz_check((reply->body != NULL) == (reply->len != 0));
	fuzz_check(reply->status != 405 || reply->allow[0]);
	fuzz_check(!strpbrk(reply->allow, "\r\n") && !strpbrk(reply->location, "\r\n"));
	if (!reply->body)
		return;
	fuzz_check(reply->type);
	if (strcmp(reply->type, EM_TYPE_JSON) == 0 || strcmp(reply->type, EM_TYPE_PROBLEM) == 0)
		check_json(reply);
}

/* What comes out of decoding is a text that fits and holds no NUL before its end. */
static void check_decode(const char *uri)
{
	char small[16], large[512];

	if (em_uri_decode(large, sizeof(large), uri, strlen(uri)) == 0)
		fuzz_check(strlen(large) <= strlen(uri));
	em_uri_decode(small, sizeof(small), uri, strlen(uri));
}

static json_t *json_of(const struct em_reply *reply)
{
	return reply->body ? json_loadb(reply->body, reply->len, 0, NULL) : NULL;
}

/* The document at that address with a cursor; NULL when there is none now. */
static json_t *ask_next(struct em_call *call, const char *uri, const char *cursor)
{
	em_cleanup(em_freep) char *next = NULL;
	struct em_reply reply = { 0 };
	json_t *root;

	fuzz_check(asprintf(&next, "%s%ccursor=%s", uri, strchr(uri, '?') ? '&' : '?', cursor) > 0);
	fuzz_check(em_route_resolve(call, "GET", next, &reply));
	call->route->handle(call, &reply);
	fuzz_check(reply.status == 200 || reply.status == 503);
	root = reply.status == 200 ? json_of(&reply) : NULL;
	em_reply_done(&reply);
	return root;
}

/* A cursor that is given leads on. fresh: the call as it was before it was asked. */
static void follow(const struct em_call *fresh, const char *uri, const struct em_reply *reply)
{
	json_t *root = reply->status == 200 && !reply->events ? json_of(reply) : NULL, *next = NULL;
	const char *cursor = json_string_value(json_object_get(root, "next_cursor"));
	struct em_call call = *fresh;

	if (cursor && !strstr(uri, "cursor"))
		next = ask_next(&call, uri, cursor);
	fuzz_check_events(root, next);
	json_decref(next);
	json_decref(root);
}

static void ask(struct em_call *call, char *line)
{
	struct em_call fresh = *call;
	struct em_reply reply = { 0 };
	char *uri = strchr(line, ' ');

	if (uri)
		*uri++ = '\0';
	else
		uri = line;
	check_decode(uri);
	if (em_route_resolve(call, line, uri, &reply)) {
		fuzz_check(call->route);
		if (em_route_allows(call->route, call->role))
			call->route->handle(call, &reply);
	} else {
		fuzz_check(reply.status >= 400 && reply.status < 500);
	}
	if (reply.status)
		check_reply(&reply);
	if (strncmp(line, "GET", 4) == 0)
		follow(&fresh, uri, &reply);
	em_reply_done(&reply);
}

/* Tokens of its own for each input that may change them, so that an input always does the same. */
static void open_tokens(struct em_context *context, const char *line)
{
	char path[FUZZ_PATH_SIZE];

	if (strncmp(line, "GET", 3) == 0)
		return;
	fuzz_path(path, "tokens.json");
	fuzz_check(em_tokens_open(&context->tokens, path, NULL) == 0);
}

static void close_tokens(struct em_context *context)
{
	if (!context->tokens)
		return;
	context->tokens = em_tokens_free(context->tokens);
	fuzz_empty();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t smart[512] = { 0x02, 0x38, 0x01, 100, 10, 1 };
	static const struct em_nvme_ctx ctx = { .known = true, .ver = EM_VER(1, 4), .frmw = 0x17 };
	struct fuzz_input in = { data, size };
	struct em_call call = { .context = context(),
				.snap = fuzz_snapshot(EM_PAGE_SMART, &ctx, smart, sizeof(smart)),
				.now_us = FUZZ_NOW_US,
				.now_mono_us = em_monotonic_us(),
				.last_event_id = -1 };
	em_cleanup(em_freep) char *line = NULL;
	em_cleanup(em_freep) uint8_t *body = NULL;

	call.role = (enum em_role)(fuzz_u8(&in) % (EM_ROLE_ADMIN + 1));
	line = fuzz_line(&in);
	body = fuzz_copy(&in, in.left, &call.body_len);
	call.body = call.body_len ? (const char *)body : NULL;
	open_tokens(context(), line);
	ask(&call, line);
	close_tokens(context());
	em_snapshot_unref((struct em_snapshot *)call.snap);
	return 0;
}
