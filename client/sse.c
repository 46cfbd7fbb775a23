/* SPDX-License-Identifier: Apache-2.0 */
#include "client/sse.h"
#include <stdio.h>
#include <string.h>
#include "lib/base/parse.h"

#define RETRY_MAX_MS 3600000u

void em_sse_init(struct em_sse *sse, em_sse_fn *fn, void *userdata)
{
	*sse = (struct em_sse){ .fn = fn, .userdata = userdata };
	em_buf_init(&sse->line, EM_SSE_MAX);
	em_buf_init(&sse->data, EM_SSE_MAX);
}

void em_sse_done(struct em_sse *sse)
{
	em_buf_done(&sse->line);
	em_buf_done(&sse->data);
}

static void empty(struct em_buf *buf)
{
	em_buf_done(buf);
	em_buf_init(buf, EM_SSE_MAX);
}

void em_sse_restart(struct em_sse *sse)
{
	empty(&sse->line);
	empty(&sse->data);
	memcpy(sse->next_id, sse->id, sizeof(sse->id));
	sse->after_cr = false;
}

/* An event without data is none: a comment, or an id alone. */
static bool end_event(struct em_sse *sse)
{
	bool go_on = true;

	memcpy(sse->id, sse->next_id, sizeof(sse->id));
	if (sse->data.len > 0)
		go_on = sse->fn(sse->userdata, sse->data.data, sse->data.len);
	empty(&sse->data);
	return go_on;
}

static void take_field(struct em_sse *sse, const char *name, const char *value)
{
	uint64_t number;

	if (strcmp(name, "data") == 0) {
		if (sse->data.len > 0)
			em_buf_addc(&sse->data, '\n');
		em_buf_adds(&sse->data, value);
	} else if (strcmp(name, "id") == 0 && strlen(value) < sizeof(sse->next_id)) {
		snprintf(sse->next_id, sizeof(sse->next_id), "%s", value);
	} else if (strcmp(name, "retry") == 0 &&
		   em_parse_u64(value, 0, RETRY_MAX_MS, &number) == 0) {
		sse->retry_ms = (unsigned)number;
	}
}

static bool end_line(struct em_sse *sse)
{
	char *line = sse->line.data ? sse->line.data : (char[]){ "" };
	char *colon = strchr(line, ':');
	bool go_on = true;

	if (!*line) {
		go_on = end_event(sse);
	} else if (colon != line) {
		const char *value = colon ? colon + 1 : "";

		if (colon)
			*colon = '\0';
		take_field(sse, line, *value == ' ' ? value + 1 : value);
	}
	empty(&sse->line);
	return go_on && !em_buf_failed(&sse->data);
}

static bool take_byte(struct em_sse *sse, char byte)
{
	bool second = byte == '\n' && sse->after_cr;

	sse->after_cr = byte == '\r';
	if (second)
		return true;
	if (byte == '\n' || byte == '\r')
		return end_line(sse);
	em_buf_addc(&sse->line, byte);
	return !em_buf_failed(&sse->line);
}

bool em_sse_feed(struct em_sse *sse, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!take_byte(sse, bytes[i]))
			return false;
	return true;
}
