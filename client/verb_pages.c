/* SPDX-License-Identifier: Apache-2.0 */
/* errors, effects and sanitize: one page of a drive each. */
#include <stdio.h>
#include <string.h>
#include "client/api.h"
#include "client/human.h"
#include "client/view.h"
#include "lib/base/cleanup.h"

static enum em_exit load(struct em_client *client, const char *page, struct em_doc *ret)
{
	em_cleanup(em_freep) char *path = NULL;
	char tail[64];
	enum em_exit code;

	snprintf(tail, sizeof(tail), "/%s", page);
	path = em_api_drive_path(client->args[0], tail);
	code = em_api_get(client, path, ret);
	if (code == EM_EXIT_OK)
		em_writer_document(client->writer, NULL, ret->text, ret->len);
	return code;
}

/* "Error log of nvme0"; true when there are values. */
static bool put_head(struct em_writer *w, const struct em_page *page, const json_t *doc)
{
	const char *device = em_json_text(doc, "device");
	char title[EM_VIEW_SIZE];

	snprintf(title, sizeof(title), "%.60s of %.60s", page->title,
		 device ? device : "the drive");
	return em_view_page_head(w, title, doc, em_json_text(doc, "state"), 0);
}

static void put_note(struct em_writer *w, const char *text)
{
	em_writer_paragraph(w, (struct em_cell){ text, EM_TONE_DIM });
}

/* The keys of a group's entries, as CSV columns. */
static void put_group_records(struct em_writer *w, const struct em_group *group,
			      const json_t *values)
{
	const char *paths[EM_COLUMNS_MAX];
	unsigned count = 0;

	if (group->index_key)
		paths[count++] = group->index_key;
	for (unsigned i = 0; i < group->field_count && count < EM_COLUMNS_MAX; i++)
		paths[count++] = group->fields[i].key;
	if (group->extra && count < EM_COLUMNS_MAX)
		paths[count++] = group->extra->key;
	em_writer_records(w, json_object_get(values, group->key), paths, count);
}

enum em_exit em_verb_errors(struct em_client *client)
{
	const struct em_page *page = em_page_find("errors");
	em_cleanup(em_doc_done) struct em_doc doc = { 0 };
	enum em_exit code = load(client, page->key, &doc);
	const json_t *values = json_object_get(doc.root, "values");
	const struct em_group *group = &page->groups[0];
	struct em_writer *w = client->writer;
	double unused = 0;
	char line[EM_VIEW_SIZE];

	if (code != EM_EXIT_OK)
		return code;
	put_group_records(w, group, values);
	if (!put_head(w, page, doc.root))
		return EM_EXIT_OK;
	if (json_array_size(json_object_get(values, group->key)) == 0) {
		put_note(w, "The error log is empty.");
		return EM_EXIT_OK;
	}
	em_view_group(w, group, values, (size_t)-1);
	if (group->unused_key && em_json_number(values, group->unused_key, &unused) && unused > 0) {
		snprintf(line, sizeof(line), "Room for %.0f more.", unused);
		put_note(w, line);
	}
	return EM_EXIT_OK;
}

enum em_exit em_verb_effects(struct em_client *client)
{
	const struct em_page *page = em_page_find("effects");
	em_cleanup(em_doc_done) struct em_doc doc = { 0 };
	enum em_exit code = load(client, page->key, &doc);
	const json_t *values = json_object_get(doc.root, "values");
	struct em_writer *w = client->writer;
	bool valid;

	if (code != EM_EXIT_OK)
		return code;
	valid = put_head(w, page, doc.root);
	for (unsigned i = 0; i < page->group_count; i++) {
		const struct em_group *group = &page->groups[i];

		put_group_records(w, group, values);
		if (valid && json_array_size(json_object_get(values, group->key)) > 0)
			em_view_group(w, group, values, (size_t)-1);
	}
	return EM_EXIT_OK;
}

enum em_exit em_verb_sanitize(struct em_client *client)
{
	const struct em_page *page = em_page_find("sanitize");
	em_cleanup(em_doc_done) struct em_doc doc = { 0 };
	enum em_exit code = load(client, page->key, &doc);
	struct em_writer *w = client->writer;

	if (code != EM_EXIT_OK)
		return code;
	if (put_head(w, page, doc.root))
		em_view_page(w, page, json_object_get(doc.root, "values"));
	return EM_EXIT_OK;
}
