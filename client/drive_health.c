/* SPDX-License-Identifier: Apache-2.0 */
#include "client/drive_health.h"
#include <stdio.h>
#include <string.h>
#include "client/api.h"
#include "client/human.h"
#include "client/view.h"
#include "lib/base/cleanup.h"

/* By what emberd says, the better first; a word that it does not have is no good news. */
static const struct kind {
	const char *health;
	enum em_tone tone;
	enum em_exit code;
} kinds[] = {
	{ "ok", EM_TONE_GOOD, EM_EXIT_OK },
	{ "degraded", EM_TONE_WARN, EM_EXIT_DEGRADED },
	{ "unknown", EM_TONE_WARN, EM_EXIT_UNKNOWN },
	{ "failing", EM_TONE_BAD, EM_EXIT_FAILING },
};
#define KIND_UNKNOWN 2u

static unsigned kind_of(const char *health)
{
	for (unsigned i = 0; health && i < EM_COUNT(kinds); i++)
		if (strcmp(kinds[i].health, health) == 0)
			return i;
	return KIND_UNKNOWN;
}

enum em_tone em_drive_health_tone(const char *health)
{
	return kinds[kind_of(health)].tone;
}

/* ---- all ------------------------------------------------------------------------------------ */

static const struct em_column all_columns[] = {
	{ .title = "Device" },
	{ .title = "Model", .rank = 2, .shortest = 12 },
	{ .title = "Health" },
	{ .title = "Reason", .wrap = true, .rank = 1, .shortest = 16 },
};

static void put_drive(struct em_writer *w, const json_t *drive)
{
	const char *health = em_json_text(drive, "health");
	const char *reason = em_json_text(drive, "health_reason");
	const struct em_cell cells[] = {
		{ em_json_text(drive, "device"), EM_TONE_STRONG },
		{ em_json_text(drive, "model"), EM_TONE_PLAIN },
		{ health, em_drive_health_tone(health) },
		{ reason ? reason : em_json_text(drive, "state_detail"), EM_TONE_PLAIN },
	};

	em_writer_row(w, cells);
}

static bool is_retired(const json_t *drive)
{
	const char *state = em_json_text(drive, "state");

	return state && strcmp(state, "retired") == 0;
}

enum em_exit em_drive_health_all(struct em_client *client)
{
	em_cleanup(em_doc_done) struct em_doc doc = { 0 };
	enum em_exit code = em_api_get_list(client, "/v1/drives", "drives", 0, &doc);
	const json_t *drives = json_object_get(doc.root, "drives"), *drive;
	unsigned worst = 0;
	size_t i;

	if (code != EM_EXIT_OK)
		return code;
	if (json_array_size(drives) > 0) {
		em_writer_heading(client->writer, "Drives", (struct em_cell){ 0 });
		em_writer_table(client->writer, all_columns, EM_COUNT(all_columns));
	}
	json_array_foreach(drives, i, drive)
	{
		unsigned kind = kind_of(em_json_text(drive, "health"));

		put_drive(client->writer, drive);
		if (!is_retired(drive) && kind > worst)
			worst = kind;
	}
	return kinds[worst].code;
}

/* ---- one ------------------------------------------------------------------------------------ */

static const struct em_column reason_columns[] = {
	{ .title = "Severity" },
	{ .title = "Value", .right = true },
	{ .title = "Limit", .right = true },
	{ .title = "Read", .right = true, .rank = 2 },
	{ .title = "Reason, and what to do", .wrap = true, .rank = 1, .shortest = 16 },
};

/* A number of a reason with its field's unit; NULL: there is none. */
static const char *number_of(const json_t *reason, const char *key, bool utf8,
			     char buf[EM_VIEW_SIZE])
{
	const char *name = em_json_text(reason, "page"), *field_key = em_json_text(reason, "field");
	const struct em_page *page = name ? em_page_find(name) : NULL;
	const struct em_field *field = page && field_key ? em_page_field(page, field_key) : NULL;
	char digits[EM_VIEW_SIZE];

	if (!em_view_scalar(json_object_get(reason, key), digits))
		return NULL;
	return em_human_unit(buf, EM_VIEW_SIZE, digits, field ? field->unit : "", utf8);
}

/* "Its last self-test of this kind failed. (extended) Save ..." */
static void put_reason(struct em_writer *w, const json_t *reason)
{
	const char *text = em_json_text(reason, "text"), *detail = em_json_text(reason, "detail");
	const char *next = em_json_text(reason, "next_step");
	const char *severity = em_json_text(reason, "severity");
	char value[EM_VIEW_SIZE], limit[EM_VIEW_SIZE], words[EM_VIEW_SIZE], line[EM_VIEW_SIZE];
	char age[EM_VIEW_SIZE];
	const struct em_cell cells[] = {
		{ severity, severity && strcmp(severity, "info") == 0
				    ? EM_TONE_DIM
				    : em_drive_health_tone(severity) },
		{ number_of(reason, "value", w->term.utf8, value), EM_TONE_PLAIN },
		{ number_of(reason, "limit", w->term.utf8, limit), EM_TONE_PLAIN },
		{ em_view_age(reason, age), EM_TONE_PLAIN },
		{ line, EM_TONE_PLAIN },
	};

	snprintf(line, sizeof(line), "%.250s%s%.60s%s %.250s", text ? text : "?",
		 detail ? " (" : "", detail ? em_view_words(detail, words) : "", detail ? ")" : "",
		 next ? next : "");
	em_writer_row(w, cells);
}

static void put_health(struct em_writer *w, const json_t *doc)
{
	const char *health = em_json_text(doc, "health"), *device = em_json_text(doc, "device");
	const char *state = em_json_text(doc, "state");
	const json_t *reasons = json_object_get(doc, "reasons"), *reason;
	char title[EM_VIEW_SIZE];
	size_t i;

	snprintf(title, sizeof(title), "Health of %.60s", device ? device : "the drive");
	em_writer_heading(w, title, (struct em_cell){ em_json_text(doc, "model"), EM_TONE_DIM });
	em_writer_fact(w, "Health", (struct em_cell){ health, em_drive_health_tone(health) });
	em_writer_fact(w, "State", (struct em_cell){ state, em_view_state_tone(state) });
	em_writer_fact(w, "Capacitor",
		       (struct em_cell){ em_json_text(doc, "capacitor"), EM_TONE_PLAIN });
	if (json_array_size(reasons) == 0) {
		em_writer_paragraph(w, (struct em_cell){ "Nothing was found.", EM_TONE_DIM });
		return;
	}
	em_writer_heading(w, "Reasons", (struct em_cell){ 0 });
	em_writer_table(w, reason_columns, EM_COUNT(reason_columns));
	json_array_foreach(reasons, i, reason) put_reason(w, reason);
}

enum em_exit em_drive_health_one(struct em_client *client)
{
	em_cleanup(em_freep) char *path = em_api_drive_path(client->args[0], "/health");
	em_cleanup(em_doc_done) struct em_doc doc = { 0 };
	enum em_exit code = em_api_get(client, path, &doc);

	if (code != EM_EXIT_OK)
		return code;
	em_writer_document(client->writer, NULL, doc.text, doc.len);
	put_health(client->writer, doc.root);
	return kinds[kind_of(em_json_text(doc.root, "health"))].code;
}
