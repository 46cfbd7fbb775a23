/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/web/call.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROBLEM_DETAIL_SIZE 512

void em_reply_done(struct em_reply *reply)
{
	free(reply->body);
	memset(reply, 0, sizeof(*reply));
}

static const char no_memory[] =
	"{\"type\":\"about:blank\",\"title\":\"Internal Server Error\",\"status\":500,"
	"\"detail\":\"Memory is short.\",\"instance\":\"\"}";

static void set_body(struct em_reply *reply, unsigned status, const char *type, char *body,
		     size_t len)
{
	free(reply->body);
	reply->body = body;
	reply->fixed = body ? NULL : no_memory;
	reply->len = body ? len : sizeof(no_memory) - 1;
	reply->status = body ? status : 500;
	reply->type = body ? type : EM_TYPE_PROBLEM;
}

void em_reply_json(struct em_reply *reply, json_t *root)
{
	/* Twelve digits: ages keep their microsecond and 0.1 stays 0.1. */
	char *text = root ? json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL;

	json_decref(root);
	set_body(reply, 200, EM_TYPE_JSON, text, text ? strlen(text) : 0);
}

void em_reply_success(struct em_reply *reply, unsigned status)
{
	if (reply->status == 200)
		reply->status = status;
}

void em_reply_nothing(struct em_reply *reply)
{
	em_reply_done(reply);
	reply->status = 204;
}

void em_reply_text(struct em_reply *reply, struct em_buf *buf, const char *type)
{
	size_t len = 0;
	char *text = em_buf_steal(buf, &len);

	em_buf_done(buf);
	set_body(reply, 200, type, text, len);
}

const char *em_http_reason(unsigned status)
{
	switch (status) {
	case 400:
		return "Bad Request";
	case 401:
		return "Unauthorized";
	case 403:
		return "Forbidden";
	case 404:
		return "Not Found";
	case 405:
		return "Method Not Allowed";
	case 409:
		return "Conflict";
	case 413:
		return "Content Too Large";
	case 421:
		return "Misdirected Request";
	case 503:
		return "Service Unavailable";
	default:
		return "Internal Server Error";
	}
}

void em_reply_problem(struct em_reply *reply, const struct em_call *call, unsigned status,
		      const char *format, ...)
{
	char detail[PROBLEM_DETAIL_SIZE];
	char *text = NULL;
	json_t *root;
	va_list ap;

	va_start(ap, format);
	vsnprintf(detail, sizeof(detail), format, ap);
	va_end(ap);
	root = json_pack("{s:s, s:s, s:i, s:s, s:s}", "type", "about:blank", "title",
			 em_http_reason(status), "status", (int)status, "detail", detail,
			 "instance", call->instance);
	if (root)
		text = json_dumps(root, JSON_COMPACT);
	json_decref(root);
	set_body(reply, status, EM_TYPE_PROBLEM, text, text ? strlen(text) : 0);
}
