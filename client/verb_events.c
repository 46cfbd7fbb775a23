/* SPDX-License-Identifier: Apache-2.0 */
/* events and changes: what happened, as a list; follow.c goes on from there. */
#include <stdio.h>
#include <string.h>
#include "client/api.h"
#include "client/event_view.h"
#include "client/follow.h"
#include "lib/base/buf.h"
#include "lib/base/cleanup.h"
#include "lib/base/parse.h"

#define PATH_MAX_LEN (16 * 1024)
#define PAGE_LIMIT   1000u /* what emberd gives at once */
#define LIST_LIMIT   100u  /* without --since and --limit */
#define FOLLOW_LIMIT 10u   /* likewise, of what was before */
#define LIMIT_MAX    1000000u

/* What a person asked for. */
struct query {
	const char *route;
	char drive[64]; /* id; "" = all */
	const char *since, *kind;
	uint64_t limit; /* 0 = all */
};

/* The filter is by id: whatever name of the drive is typed, and whoever has it later. */
static enum em_exit find_drive(struct em_client *client, struct query *query)
{
	const char *name = em_client_option(client, "--drive");
	em_cleanup(em_freep) char *path = name ? em_api_drive_path(name, "") : NULL;
	em_cleanup(em_doc_done) struct em_doc doc = { 0 };
	enum em_exit code;
	const char *id;

	if (!name)
		return EM_EXIT_OK;
	code = em_api_get(client, path, &doc);
	id = em_json_text(doc.root, "id");
	if (code == EM_EXIT_OK)
		snprintf(query->drive, sizeof(query->drive), "%s", id ? id : name);
	return code;
}

static enum em_exit read_query(struct em_client *client, struct query *query)
{
	const char *limit = em_client_option(client, "--limit");

	query->since = em_client_option(client, "--since");
	query->kind = em_client_option(client, "--kind");
	query->limit = query->since			      ? 0
		       : em_client_option(client, "--follow") ? FOLLOW_LIMIT
							      : LIST_LIMIT;
	if (limit && em_parse_u64(limit, 1, LIMIT_MAX, &query->limit) < 0)
		return em_client_complain(client, EM_EXIT_USAGE,
					  "--limit %s: give a number from 1 to %u.", limit,
					  LIMIT_MAX);
	return find_drive(client, query);
}

static void add_param(struct em_buf *path, const char *name, const char *value)
{
	em_cleanup(em_freep) char *escaped = value && *value ? em_http_escape(value) : NULL;

	if (escaped)
		em_buf_addf(path, "%c%s=%s", strchr(path->data, '?') ? '&' : '?', name, escaped);
}

/* The route with its filters, and what else is asked; to be freed. */
static char *make_path(const struct query *query, const char *more, const char *since)
{
	em_cleanup(em_buf_done) struct em_buf path = { 0 };

	em_buf_init(&path, PATH_MAX_LEN);
	em_buf_addf(&path, "%s%s", query->route, more);
	if (em_buf_failed(&path))
		return NULL;
	add_param(&path, "drive", query->drive);
	add_param(&path, "kind", query->kind);
	add_param(&path, "since", since);
	return em_buf_steal(&path, NULL);
}

/* From a beginning on the oldest come first; without one the newest are wanted, and turned. */
static char *list_path(const struct query *query)
{
	uint64_t page = query->limit > 0 && query->limit < PAGE_LIMIT ? query->limit : PAGE_LIMIT;
	char more[64];

	snprintf(more, sizeof(more), "?limit=%llu&order=%s", (unsigned long long)page,
		 query->since ? "oldest" : "newest");
	return make_path(query, more, query->since);
}

static void turn(json_t *events)
{
	size_t count = json_array_size(events);

	for (size_t i = 0; i + 1 < count; i++) {
		json_t *last = json_incref(json_array_get(events, count - 1));

		json_array_remove(events, count - 1);
		json_array_insert_new(events, i, last);
	}
}

/* In lines of their own, so that what follows has the same form. */
static void put_json_lines(struct em_client *client, const json_t *events)
{
	const json_t *event;
	size_t i;

	json_array_foreach(events, i, event)
	{
		em_cleanup(em_freep) char *text = json_dumps(event, JSON_COMPACT);

		if (text)
			em_writer_document(client->writer, NULL, text, strlen(text));
	}
}

static void put_list(struct em_client *client, const struct em_doc *doc, const struct query *query,
		     bool follow)
{
	json_t *events = json_object_get(doc->root, "events"), *event;
	struct em_writer *w = client->writer;
	unsigned width;
	size_t i;

	if (!follow)
		em_writer_document(w, NULL, doc->text, doc->len);
	if (!query->since)
		turn(events);
	if (follow)
		put_json_lines(client, events);
	em_writer_records(w, events, em_event_paths, em_event_path_count);
	width = em_event_device_width(events);
	if (follow || json_array_size(events) > 0)
		em_event_head(w, follow ? EM_FOLLOW_DEVICE_WIDTH : width);
	json_array_foreach(events, i, event)
		em_event_put(w, event, follow ? EM_FOLLOW_DEVICE_WIDTH : width);
	if (json_array_size(events) == 0 && !follow)
		em_writer_paragraph(w, (struct em_cell){ "No such event is kept.", EM_TONE_DIM });
}

static void tell_more(const struct em_client *client, const struct em_doc *doc,
		      const struct query *query)
{
	if (!em_json_text(doc->root, "next_cursor") || em_client_option(client, "--limit"))
		return;
	em_client_complain(client, EM_EXIT_OK,
			   "there are %s ones than shown. Give --since TIME or a higher --limit.",
			   query->since ? "later" : "older");
}

static enum em_exit list_events(struct em_client *client, const char *route, bool follow)
{
	struct query query = { .route = route };
	em_cleanup(em_doc_done) struct em_doc doc = { 0 };
	em_cleanup(em_freep) char *path = NULL;
	em_cleanup(em_freep) char *stream = NULL;
	enum em_exit code = read_query(client, &query);

	if (code != EM_EXIT_OK)
		return code;
	path = list_path(&query);
	code = em_api_get_list(client, path, "events", query.limit, &doc);
	if (code != EM_EXIT_OK)
		return code;
	put_list(client, &doc, &query, follow);
	if (!follow) {
		if (client->writer->term.tty)
			tell_more(client, &doc, &query);
		return EM_EXIT_OK;
	}
	stream = make_path(&query, "", NULL);
	return em_follow(client, stream, em_json_text(doc.root, "newest_id"));
}

enum em_exit em_verb_events(struct em_client *client)
{
	return list_events(client, "/v1/events", em_client_option(client, "--follow"));
}

enum em_exit em_verb_changes(struct em_client *client)
{
	return list_events(client, "/v1/changes", false);
}
