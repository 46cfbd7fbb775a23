/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include "client/api.h"
#include "client/human.h"
#include "client/nearest.h"
#include "client/spark.h"
#include "client/view.h"
#include "lib/base/buf.h"
#include "lib/base/cleanup.h"

#define PATH_MAX_LEN	 (64 * 1024)
#define COURSE_MARGIN	 14u /* left and right of the bars */
#define COURSE_WIDTH_MAX 60u
#define OVERVIEW_WIDTH	 24u
#define SUGGESTION_MAX	 4096u

/* The options carry the names of the route's parameters, without the dashes. */
static void add_params(struct em_buf *path, const struct em_client *client)
{
	for (unsigned i = 0; client->verb->options[i].name; i++) {
		em_cleanup(em_freep) char *value = NULL;

		/* A switch is for us and not for emberd. */
		if (!client->options[i] || !client->verb->options[i].metavar)
			continue;
		value = em_http_escape(client->options[i]);
		if (value)
			em_buf_addf(path, "&%s=%s", client->verb->options[i].name + 2, value);
	}
}

static char *history_path(const struct em_client *client, const char *key)
{
	em_cleanup(em_freep) char *base = em_api_drive_path(client->args[0], "/history?field=");
	em_cleanup(em_freep) char *field = em_http_escape(key);
	em_cleanup(em_buf_done) struct em_buf path = { 0 };

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

/* "38 °C at 2026-11-30 21:22:23 UTC" */
static const char *describe(const json_t *point, const struct em_field *field, bool with_time,
			    bool utf8, char buf[EM_VIEW_SIZE])
{
	char plain[EM_VIEW_SIZE], value[EM_HUMAN_SIZE], time[EM_VIEW_SIZE];
	const char *text = em_view_scalar(json_object_get(point, "value"), plain);
	const char *at = em_view_time(em_json_text(point, "at"), time);

	if (!text)
		return NULL;
	em_human_unit(value, sizeof(value), text, field ? field->unit : "", utf8);
	snprintf(buf, EM_VIEW_SIZE, "%s%s%.60s", value, with_time && at ? " at " : "",
		 with_time && at ? at : "");
	return buf;
}

/* For a person, below the values. */
static void put_course(struct em_writer *w, const json_t *root)
{
	const json_t *points = json_object_get(root, "points");
	const struct em_field *field = find_field(em_json_text(root, "field"));
	unsigned columns = w->term.width > COURSE_MARGIN + 10 ? w->term.width - COURSE_MARGIN : 10;
	char spark[EM_SPARK_SIZE], text[EM_VIEW_SIZE];
	struct em_course course;
	const char *time;

	em_course_read(&course, points);
	if (course.count < 2)
		return;
	time = em_view_time(em_json_text(course.first, "at"), text);
	em_writer_heading(w, "Course", (struct em_cell){ 0 });
	if (columns > COURSE_WIDTH_MAX)
		columns = COURSE_WIDTH_MAX;
	em_writer_fact(
		w, "",
		(struct em_cell){ em_spark(points, columns, w->term.utf8, spark), EM_TONE_STRONG });
	em_writer_fact(w, "From", (struct em_cell){ time, EM_TONE_PLAIN });
	em_writer_fact(w, "Lowest",
		       (struct em_cell){ describe(course.lowest, field, true, w->term.utf8, text),
					 EM_TONE_PLAIN });
	em_writer_fact(w, "Highest",
		       (struct em_cell){ describe(course.highest, field, true, w->term.utf8, text),
					 EM_TONE_PLAIN });
	em_writer_fact(w, "Last",
		       (struct em_cell){ describe(course.last, field, true, w->term.utf8, text),
					 EM_TONE_PLAIN });
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

/* What tells most about a drive; each only if its table has it. */
static const char *const overview_keys[] = {
	"temperature_celsius", "percentage_used", "available_spare_percent", "bytes_written",
	"bytes_read",	       "media_errors",	  "num_err_log_entries",     "unsafe_shutdowns",
};

/* "2026-11-30 21:22:23 UTC to ...": what the bars stand for. The first field that has it. */
static void note_span(const json_t *points, char span[EM_VIEW_SIZE])
{
	char from[EM_VIEW_SIZE], to[EM_VIEW_SIZE];
	struct em_course course;
	const char *first, *last;

	em_course_read(&course, points);
	first = em_view_time(em_json_text(course.first, "at"), from);
	last = em_view_time(em_json_text(course.last, "at"), to);
	if (!*span && first && last)
		snprintf(span, EM_VIEW_SIZE, "%.60s to %.60s", first, last);
}

static void put_overview_row(struct em_writer *w, const char *key, const json_t *root)
{
	const struct em_field *field = find_field(key);
	const json_t *points = json_object_get(root, "points");
	char spark[EM_SPARK_SIZE], low[EM_VIEW_SIZE], high[EM_VIEW_SIZE], last[EM_VIEW_SIZE];
	struct em_course course;
	struct em_cell cells[5] = { { field ? field->label : key, EM_TONE_PLAIN } };

	em_course_read(&course, points);
	if (course.count > 0) {
		cells[1] = (struct em_cell){ em_spark(points, OVERVIEW_WIDTH, w->term.utf8, spark),
					     EM_TONE_STRONG };
		cells[2].text = describe(course.lowest, field, false, w->term.utf8, low);
		cells[3].text = describe(course.highest, field, false, w->term.utf8, high);
		cells[4].text = describe(course.last, field, false, w->term.utf8, last);
	}
	em_writer_row(w, cells);
}

/* Several fields, a line each. */
static enum em_exit overview(struct em_client *client)
{
	static const struct em_column columns[] = {
		{ .title = "Field" },
		{ .title = "Course" },
		{ .title = "Lowest", .right = true, .rank = 3 },
		{ .title = "Highest", .right = true, .rank = 2 },
		{ .title = "Last", .right = true, .rank = 1 },
	};
	struct em_writer *w = client->writer;
	char span[EM_VIEW_SIZE] = "";
	enum em_exit code = EM_EXIT_OK;

	for (size_t i = 0; i < EM_COUNT(overview_keys) && code == EM_EXIT_OK; i++) {
		em_cleanup(em_freep) char *path = history_path(client, overview_keys[i]);
		em_cleanup(em_doc_done) struct em_doc doc = { 0 };

		code = em_api_get(client, path, &doc);
		if (code != EM_EXIT_OK)
			break;
		if (i == 0)
			em_writer_table(w, columns, EM_COUNT(columns));
		em_writer_document(w, overview_keys[i], doc.text, doc.len);
		put_overview_row(w, overview_keys[i], doc.root);
		note_span(json_object_get(doc.root, "points"), span);
	}
	if (code == EM_EXIT_OK)
		em_writer_paragraph(w, (struct em_cell){ *span ? span : "No reading in this time.",
							 EM_TONE_DIM });
	return code;
}

/* Fields with a history that begin with what was typed, else the one most like it. */
static void suggest(const char *typed, struct em_buf *words)
{
	struct em_nearest nearest;

	em_nearest_start(&nearest, typed);
	for (unsigned i = 0; i < EM_PAGE_COUNT; i++) {
		const struct em_page *page = em_pages[i];

		for (unsigned f = 0; page && page->table && f < page->field_count; f++) {
			const char *key = page->fields[f].key;

			if (page->fields[f].flags & EM_NO_HISTORY)
				continue;
			em_nearest_offer(&nearest, key);
			if (strncmp(key, typed, strlen(typed)) == 0)
				em_buf_addf(words, "%s%s", words->len > 0 ? ", " : "", key);
		}
	}
	if (words->len == 0 && nearest.best)
		em_buf_adds(words, nearest.best);
}

/* What is no field at all is told with those that may have been meant. */
static enum em_exit get_points(struct em_client *client, struct em_doc *ret)
{
	const char *typed = client->args[1];
	em_cleanup(em_freep) char *path = history_path(client, typed);
	em_cleanup(em_buf_done) struct em_buf words = { 0 };
	struct em_reason reason;
	enum em_exit code = em_api_try(client, "GET", path, NULL, ret, &reason);

	em_buf_init(&words, SUGGESTION_MAX);
	if (code == EM_EXIT_OK)
		return code;
	if (code == EM_EXIT_USAGE && !find_field(typed)) {
		suggest(typed, &words);
		return em_client_complain(
			client, EM_EXIT_NOT_FOUND,
			words.len > 0 ? "there is no field `%s`. Did you mean: %s?"
				      : "there is no field `%s`. `emberctl --json show %s` has "
					"those with a history, under smart.",
			typed, words.len > 0 ? words.data : client->args[0]);
	}
	return em_client_complain(client, code, "%s", reason.text);
}

static enum em_exit one_field(struct em_client *client)
{
	static const char *const paths[] = { "at", "value" };
	em_cleanup(em_doc_done) struct em_doc doc = { 0 };
	enum em_exit code = get_points(client, &doc);
	struct em_writer *w = client->writer;
	const json_t *points;

	if (code != EM_EXIT_OK)
		return code;
	points = json_object_get(doc.root, "points");
	em_writer_document(w, NULL, doc.text, doc.len);
	em_writer_records(w, points, paths, EM_COUNT(paths));
	if (json_array_size(points) > 0)
		put_points(w, doc.root);
	else
		em_writer_paragraph(w, (struct em_cell){ "No reading in this time.", EM_TONE_DIM });
	if (w->term.tty)
		put_course(w, doc.root);
	if (em_json_true(doc.root, "truncated"))
		tell_truncated(client);
	return EM_EXIT_OK;
}

enum em_exit em_verb_history(struct em_client *client)
{
	if (client->args[1])
		return one_field(client);
	if (em_client_option(client, "--csv"))
		return em_client_complain(client, EM_EXIT_USAGE,
					  "--csv needs a FIELD, such as temperature_celsius.");
	return overview(client);
}
