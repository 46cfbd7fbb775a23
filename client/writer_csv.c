/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CSV writer, by RFC 4180: lines end with CR LF, what needs it stands in quotes, the first line
 * names the columns. Values are the API's own, not rounded; null is an empty field. Text that a
 * spreadsheet would take for a formula has an apostrophe in front.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "client/writer.h"
#include "lib/base/buf.h"
#include "lib/base/cleanup.h"

#define LIST_MAX 4096u

struct csv_writer {
	struct em_writer base;
	bool named; /* the first line is printed */
};

/* A terminal might obey these; nothing that Ember means stands in them. */
static bool is_control(const unsigned char *p)
{
	return *p < 0x20 || *p == 0x7f || (*p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0);
}

static bool is_number(const char *text)
{
	size_t digits;

	text += *text == '-' || *text == '+';
	digits = strspn(text, "0123456789");
	text += digits;
	if (*text == '.')
		text += 1 + strspn(text + 1, "0123456789");
	return digits > 0 && *text == '\0';
}

/* A spreadsheet would compute it, and a drive's name must not become a command. */
static bool is_formula(const char *text)
{
	return *text && strchr("=+-@", *text) && !is_number(text);
}

static void put_text(FILE *out, const char *text)
{
	bool quoted = text[strcspn(text, ",\"\r\n")] != '\0';

	if (quoted)
		fputc('"', out);
	if (is_formula(text))
		fputc('\'', out);
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		if (*p == '"')
			fputc('"', out);
		if (!is_control(p)) {
			fputc(*p, out);
			continue;
		}
		fputc('?', out);
		p += *p == 0xc2;
	}
	if (quoted)
		fputc('"', out);
}

/* "a;b": a list in one field. */
static void put_list(FILE *out, const json_t *list)
{
	em_cleanup(em_buf_done) struct em_buf line = { 0 };
	const json_t *entry;
	size_t i;

	em_buf_init(&line, LIST_MAX);
	json_array_foreach(list, i, entry)
	{
		if (json_string_value(entry))
			em_buf_addf(&line, "%s%s", line.len > 0 ? ";" : "",
				    json_string_value(entry));
	}
	if (line.data)
		put_text(out, line.data);
}

static void put_value(FILE *out, const json_t *value)
{
	if (!value)
		return;
	switch (json_typeof(value)) {
	case JSON_STRING:
		put_text(out, json_string_value(value));
		return;
	case JSON_INTEGER:
		fprintf(out, "%lld", (long long)json_integer_value(value));
		return;
	case JSON_REAL:
		fprintf(out, "%.15g", json_real_value(value));
		return;
	case JSON_TRUE:
		fputs("true", out);
		return;
	case JSON_FALSE:
		fputs("false", out);
		return;
	case JSON_ARRAY:
		put_list(out, value);
		return;
	case JSON_NULL:
	case JSON_OBJECT:
		return;
	}
}

/* "smart.read_at" */
static const json_t *find(const json_t *object, const char *path)
{
	char key[64];

	for (const char *dot; object && (dot = strchr(path, '.')); path = dot + 1) {
		snprintf(key, sizeof(key), "%.*s", (int)(dot - path), path);
		object = json_object_get(object, key);
	}
	return json_object_get(object, path);
}

/* "smart.read_at" is the column smart_read_at. */
static void put_names(FILE *out, const char *const *paths, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		fputs(i > 0 ? "," : "", out);
		for (const char *p = paths[i]; *p; p++)
			fputc(*p == '.' ? '_' : *p, out);
	}
	fputs("\r\n", out);
}

static void csv_records(struct em_writer *w, const json_t *list, const char *const *paths,
			unsigned count)
{
	struct csv_writer *self = (struct csv_writer *)w;
	const json_t *record;
	size_t r;

	if (!self->named)
		put_names(w->out, paths, count);
	self->named = true;
	json_array_foreach(list, r, record)
	{
		for (unsigned i = 0; i < count; i++) {
			fputs(i > 0 ? "," : "", w->out);
			put_value(w->out, find(record, paths[i]));
		}
		fputs("\r\n", w->out);
	}
}

static int csv_finish(struct em_writer *w)
{
	return w->err;
}

static struct em_writer *csv_free(struct em_writer *w)
{
	free(w);
	return NULL;
}

static const struct em_writer_ops csv_ops = {
	.name = "csv",
	.records = csv_records,
	.finish = csv_finish,
	.free = csv_free,
};

struct em_writer *em_writer_csv_new(FILE *out, const struct em_term *term)
{
	struct csv_writer *self = calloc(1, sizeof(*self));

	if (!self)
		return NULL;
	self->base = (struct em_writer){ .ops = &csv_ops, .out = out, .term = *term };
	return &self->base;
}
