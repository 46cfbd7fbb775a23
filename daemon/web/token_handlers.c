/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "daemon/web/handlers.h"
#include "daemon/web/json.h"
#include "daemon/web/tokens.h"

static bool have_tokens(const struct em_call *call, struct em_reply *reply)
{
	if (!call->context->tokens)
		em_reply_unavailable(reply, call, "emberd has no place to keep tokens in.");
	return call->context->tokens != NULL;
}

static json_t *token_json(const struct em_token *token)
{
	return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "id", token->id, "name", token->name,
			 "role", em_role_name(token->role), "created_at",
			 em_json_time(token->created_us), "expires_at",
			 em_json_time(token->expires_us), "last_used_at",
			 em_json_time(token->last_used_us));
}

void em_handle_tokens(struct em_call *call, struct em_reply *reply)
{
	struct em_token tokens[EM_TOKENS_MAX];
	json_t *list;
	unsigned count;

	if (!have_tokens(call, reply))
		return;
	count = em_tokens_list(call->context->tokens, tokens);
	list = json_array();
	for (unsigned i = 0; list && i < count; i++) {
		if (json_array_append_new(list, token_json(&tokens[i])) == 0)
			continue;
		json_decref(list);
		list = NULL;
	}
	em_reply_json(reply, json_pack("{s:o}", "tokens", list));
}

static void refuse_token(const struct em_call *call, int r, struct em_reply *reply)
{
	char why[256];

	switch (r) {
	case -EINVAL:
		em_reply_problem(reply, call, 400, "This name cannot be given to a token.");
		break;
	case -EEXIST:
		em_reply_problem(reply, call, 409,
				 "There is a token of this name. Revoke it first, or choose "
				 "another name.");
		break;
	case -ENOSPC:
		em_reply_problem(reply, call, 409,
				 "There are %u tokens, which is all there can be. Revoke one that "
				 "is not needed.",
				 EM_TOKENS_MAX);
		break;
	default:
		snprintf(why, sizeof(why), "The token could not be written (%s): there is none.",
			 strerrordesc_np(-r));
		em_reply_unavailable(reply, call, why);
		break;
	}
}

void em_handle_token_create(struct em_call *call, struct em_reply *reply)
{
	const struct em_arg *expires = &call->args[EM_TOKEN_EXPIRES_IN];
	char secret[EM_TOKEN_SECRET_SIZE];
	struct em_token token;
	json_t *object;
	int r;

	if (!em_route_read_body(call, reply) || !have_tokens(call, reply))
		return;
	r = em_tokens_create(
		call->context->tokens, call->args[EM_TOKEN_NAME].text,
		EM_ROLE_VIEWER + (enum em_role)call->args[EM_TOKEN_ROLE].number, call->now_us,
		expires->given ? call->now_us + (int64_t)expires->number : 0, &token, secret);
	if (r < 0) {
		refuse_token(call, r, reply);
		return;
	}
	object = token_json(&token);
	if (object && json_object_set_new(object, "token", json_string(secret)) < 0) {
		json_decref(object);
		object = NULL;
	}
	explicit_bzero(secret, sizeof(secret));
	em_reply_json(reply, object);
	em_reply_success(reply, call->route->status);
	snprintf(reply->location, sizeof(reply->location), "%s/%s", call->route->path, token.id);
}

void em_handle_token_revoke(struct em_call *call, struct em_reply *reply)
{
	char why[256];
	int r;

	if (!have_tokens(call, reply))
		return;
	r = em_tokens_revoke(call->context->tokens, call->id);
	if (r == 0) {
		em_reply_nothing(reply);
	} else if (r == -ENOENT) {
		em_reply_problem(reply, call, 404,
				 "There is no token with this id. GET /v1/tokens lists them.");
	} else {
		snprintf(why, sizeof(why),
			 "It is refused from now on, but that could not be written (%s): after a "
			 "restart it may be valid again. Try again.",
			 strerrordesc_np(-r));
		em_reply_unavailable(reply, call, why);
	}
}
