/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON writer: the API's documents as they came; several of them under their names. */
#include <stdlib.h>
#include "client/writer.h"

struct json_writer {
	struct em_writer base;
	bool open; /* the object around named documents */
};

/*
 * The parser has accepted the text, so that these bytes stand inside strings: DEL and the C1
 * controls, which a terminal may obey and JSON allows unescaped.
 */
static size_t put_char(FILE *out, const char *p, size_t left)
{
	const unsigned char *b = (const unsigned char *)p;

	if (b[0] == 0x7f) {
		fputs("\\u007f", out);
		return 1;
	}
	if (left > 1 && b[0] == 0xc2 && b[1] >= 0x80 && b[1] < 0xa0) {
		fprintf(out, "\\u%04x", b[1]);
		return 2;
	}
	fputc(b[0], out);
	return 1;
}

static void json_document(struct em_writer *w, const char *name, const char *json, size_t len)
{
	struct json_writer *self = (struct json_writer *)w;

	if (name)
		fprintf(w->out, "%s\"%s\":", self->open ? ",\n" : "{", name);
	self->open = self->open || name;
	while (len > 0 && (json[len - 1] == '\n' || json[len - 1] == ' '))
		len--;
	for (size_t i = 0; i < len;)
		i += put_char(w->out, json + i, len - i);
	if (!name)
		fputc('\n', w->out);
}

static int json_finish(struct em_writer *w)
{
	struct json_writer *self = (struct json_writer *)w;

	if (self->open)
		fputs("}\n", w->out);
	self->open = false;
	return w->err;
}

static struct em_writer *json_free(struct em_writer *w)
{
	free(w);
	return NULL;
}

static const struct em_writer_ops json_ops = {
	.name = "json",
	.document = json_document,
	.finish = json_finish,
	.free = json_free,
};

struct em_writer *em_writer_json_new(FILE *out, const struct em_term *term)
{
	struct json_writer *self = calloc(1, sizeof(*self));

	if (!self)
		return NULL;
	self->base = (struct em_writer){ .ops = &json_ops, .out = out, .term = *term };
	return &self->base;
}
