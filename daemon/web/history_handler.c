/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>
#include "daemon/drives/history.h"
#include "daemon/web/handlers.h"
#include "daemon/web/json.h"
#include "lib/base/cleanup.h"
#include "lib/base/clock.h"

EM_DEFINE_CLEANUP(struct em_store_reader, em_store_reader_close)

struct points {
	struct em_buf *buf;
	enum em_json_type type;
	bool any;
};

static void add_string(struct em_buf *buf, const char *text)
{
	em_buf_addc(buf, '"');
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			em_buf_addc(buf, '\\');
		em_buf_addc(buf, c < 0x20 || c > 0x7e ? '?' : (char)c);
	}
	em_buf_addc(buf, '"');
}

/* A JSON number as the store writes them: no more than sign, digits, and a fraction. */
static bool is_number(const char *text)
{
	size_t digits;

	text += *text == '-';
	digits = strspn(text, "0123456789");
	if (!digits)
		return false;
	text += digits;
	if (*text == '.')
		text += 1 + strspn(text + 1, "0123456789");
	return *text == '\0';
}

static void add_value(struct points *points, const char *value)
{
	switch (points->type) {
	case EM_JSON_INTEGER:
		em_buf_adds(points->buf, is_number(value) ? value : "null");
		return;
	case EM_JSON_BOOLEAN:
		em_buf_adds(points->buf, strcmp(value, "0") ? "true" : "false");
		return;
	case EM_JSON_DECIMAL_STRING:
	case EM_JSON_STRING:
		add_string(points->buf, value);
		return;
	}
}

static int add_point(void *userdata, int64_t at_us, const char *value)
{
	struct points *points = userdata;
	char at[EM_TIME_SIZE];

	em_buf_adds(points->buf, points->any ? ",{\"at\":\"" : "{\"at\":\"");
	points->any = true;
	em_buf_adds(points->buf, em_time_format(at, at_us));
	em_buf_adds(points->buf, "\",\"value\":");
	if (value)
		add_value(points, value);
	else
		em_buf_adds(points->buf, "null");
	em_buf_addc(points->buf, '}');
	return em_buf_failed(points->buf) ? -E2BIG : 0;
}

/* All members but the points, without the closing brace. */
static int add_head(struct em_buf *buf, const struct em_call *call,
		    const struct em_drive_snap *drive, const struct em_field *field)
{
	const struct em_arg *step = &call->args[EM_HISTORY_STEP];
	em_cleanup(em_freep) char *text = NULL;
	char from[EM_TIME_SIZE], to[EM_TIME_SIZE]; /* of 0, too: it was asked for */
	json_t *head =
		json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o}", "drive", drive->id, "device",
			  drive->device, "serial", drive->serial, "field", field->key, "unit",
			  field->unit ? field->unit : "", "from",
			  em_time_format(from, call->args[EM_HISTORY_FROM].time_us), "to",
			  em_time_format(to, call->args[EM_HISTORY_TO].time_us), "step_seconds",
			  step->given ? json_real((double)step->number / 1e6) : json_null());

	if (head)
		text = json_dumps(head, JSON_COMPACT | JSON_REAL_PRECISION(12));
	json_decref(head);
	if (!text)
		return -ENOMEM;
	em_buf_add(buf, text, strlen(text) - 1);
	return 0;
}

static void answer_error(const struct em_call *call, struct em_reply *reply, int err)
{
	switch (err) {
	case -ETIMEDOUT:
		em_reply_unavailable(reply, call,
				     "Reading the history took too long. Ask for less time, or "
				     "with a step.");
		break;
	case -E2BIG:
		em_reply_problem(reply, call, 400,
				 "The answer would be too big. Ask for less time, "
				 "or with a step or a smaller limit.");
		break;
	case -ENOMEM:
		em_reply_problem(reply, call, 500, "Memory is short.");
		break;
	default:
		em_reply_unavailable(reply, call,
				     "The history cannot be read now. GET /v1/health says how the "
				     "database is; try again later.");
		break;
	}
}

static int write_history(struct em_call *call, const struct em_drive_snap *drive,
			 const struct em_page *page, const struct em_field *field,
			 struct em_buf *buf)
{
	em_cleanup(em_store_reader_closep) struct em_store_reader *reader = NULL;
	struct points points = { .buf = buf, .type = em_field_json_type(field) };
	struct em_store_range range = {
		.table = page->table,
		.column = field->key,
		.drive_id = drive->id,
		.nsid = (uint32_t)call->args[EM_HISTORY_NSID].number,
		.from_us = call->args[EM_HISTORY_FROM].time_us,
		.to_us = call->args[EM_HISTORY_TO].time_us,
		.step_us = call->args[EM_HISTORY_STEP].number,
		.limit = (unsigned)call->args[EM_HISTORY_LIMIT].number,
		/* Who names no beginning wants to know how it is now. */
		.newest = call->args[EM_HISTORY_FROM].fallback,
		.deadline_us = call->now_mono_us + EM_WAIT_US,
	};
	int r = em_store_reader_open(call->context->store, &reader);

	if (r < 0)
		return r;
	r = add_head(buf, call, drive, field);
	if (r < 0)
		return r;
	em_buf_adds(buf, ",\"points\":[");
	r = em_store_history(reader, &range, add_point, &points);
	if (r < 0)
		return r;
	em_buf_adds(buf, r > 0 ? "],\"truncated\":true}" : "],\"truncated\":false}");
	return buf->err;
}

static const char *pages_with_history(char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	for (unsigned i = 0; i < EM_PAGE_COUNT && len < size; i++)
		if (em_pages[i]->table)
			len += (size_t)snprintf(buf + len, size - len, "%s%s", len > 0 ? ", " : "",
						em_pages[i]->key);
	return buf;
}

void em_handle_history(struct em_call *call, struct em_reply *reply)
{
	const struct em_drive_snap *drive = em_call_drive(call, reply);
	const char *key = call->args[EM_HISTORY_FIELD].text;
	const struct em_page *page;
	const struct em_field *field;
	struct em_buf buf;
	char pages[64];
	int r;

	if (!drive)
		return;
	if (call->args[EM_HISTORY_FROM].time_us > call->args[EM_HISTORY_TO].time_us) {
		em_reply_problem(reply, call, 400, "from is after to.");
		return;
	}
	if (em_history_find(key, &page, &field) < 0) {
		em_reply_problem(
			reply, call, 400,
			"There is no history of a field \"%s\". Values of these pages have "
			"one: %s.",
			key, pages_with_history(pages, sizeof(pages)));
		return;
	}
	if (!call->context->store) {
		em_reply_unavailable(reply, call, "No database is open, so there is no history.");
		return;
	}
	em_buf_init(&buf, EM_REPLY_MAX);
	r = write_history(call, drive, page, field, &buf);
	if (r < 0) {
		em_buf_done(&buf);
		answer_error(call, reply, r);
		return;
	}
	em_reply_text(reply, &buf, EM_TYPE_JSON);
}
