/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include "client/api.h"
#include "client/human.h"
#include "client/view.h"
#include "lib/base/buf.h"
#include "lib/base/cleanup.h"

#define PATH_MAX_LEN (64 * 1024)

/* The options carry the names of the route's parameters, without the dashes. */
static void add_params(struct em_buf *path, const struct em_client *client)
{
	for (unsigned i = 0; client->verb->options[i].name; i++) {
		em_cleanup(em_freep) char *value = NULL;

		if (!client->options[i])
			continue;
		value = em_http_escape(client->options[i]);
		if (value)
			em_buf_addf(path, "&%s=%s", client->verb->options[i].name + 2, value);
	}
}

static char *history_path(const struct em_client *client)
{
	em_cleanup(em_freep) char *base = em_api_drive_path(client->args[0], "/history?field=");
	em_cleanup(em_freep) char *field = em_http_escape(client->args[1]);
	em_cleanup(em_buf_done) struct em_buf path;

	em_buf_init(&path, PATH_MAX_LEN);
	if (!base || !field)
		return NULL;
	em_buf_adds(&path, base);
	em_buf_adds(&path, field);
	add_params(&path, client);
	return em_buf_steal(&path, NULL);
}

static const struct em_field *find_field(const char *key)
{
	for (unsigned i = 0; key && i < EM_PAGE_COUNT; i++) {
		const struct em_field *field = em_page_field(em_pages[i], key);

		if (field)
			return field;
	}
	return NULL;
}

static void make_title(const json_t *root, bool utf8, char buf[EM_VIEW_SIZE])
{
	const char *key = em_json_text(root, "field"), *unit = em_json_text(root, "unit");
	const struct em_field *field = find_field(key);
	bool has_unit = unit && *unit;

	snprintf(buf, EM_VIEW_SIZE, "%s%s%s%s",
		 field ? field->label
		 : key ? key
		       : "Value",
		 has_unit ? " (" : "", has_unit ? em_human_unit_sign(unit, utf8) : "",
		 has_unit ? ")" : "");
}

static void put_points(struct em_writer *w, const json_t *root)
{
	char title[EM_VIEW_SIZE], text[EM_VIEW_SIZE];
	const struct em_column columns[] = { { .title = "Time" },
					     { .title = title, .right = true } };
	const json_t *point;
	size_t i;

	make_title(root, w->term.utf8, title);
	em_writer_table(w, columns, EM_COUNT(columns));
	json_array_foreach(json_object_get(root, "points"), i, point)
	{
		const json_t *value = json_object_get(point, "value");
		struct em_cell cells[] = { { em_json_text(point, "at"), EM_TONE_PLAIN },
					   { NULL, EM_TONE_PLAIN } };

		cells[1].text = em_view_scalar(value, text);
		em_writer_row(w, cells);
	}
	/* The table borrows this frame's columns. */
	em_writer_table(w, NULL, 0);
}

/* Without a beginning the newest points were asked for: a limit of one's own then says it all. */
static void tell_truncated(const struct em_client *client)
{
	bool newest = !em_client_option(client, "--from");

	if (newest && em_client_option(client, "--limit"))
		return;
	em_client_complain(client, EM_EXIT_OK,
			   "there are %s points than shown. Give a higher --limit, a --step, "
			   "or a shorter time.",
			   newest ? "older" : "later");
}

enum em_exit em_verb_history(struct em_client *client)
{
	em_cleanup(em_freep) char *path = history_path(client);
	em_cleanup(em_doc_done) struct em_doc doc = { 0 };
	enum em_exit code = em_api_get(client, path, &doc);

	if (code != EM_EXIT_OK)
		return code;
	em_writer_document(client->writer, NULL, doc.text, doc.len);
	if (json_array_size(json_object_get(doc.root, "points")) > 0)
		put_points(client->writer, doc.root);
	else
		em_writer_paragraph(client->writer,
				    (struct em_cell){ "No reading in this time.", EM_TONE_DIM });
	if (em_json_true(doc.root, "truncated"))
		tell_truncated(client);
	return EM_EXIT_OK;
}
