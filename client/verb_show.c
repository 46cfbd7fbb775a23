/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include <stdio.h>
#include <string.h>
#include "client/api.h"
#include "client/drive_health.h"
#include "client/drive_table.h"
#include "client/human.h"
#include "client/view.h"
#include "lib/base/cleanup.h"

#define SELFTESTS_SHOWN 5u

/* The documents of one drive; the first is the drive itself and names it for the others. */
enum part {
	PART_DRIVE,
	PART_IDENTIFY,
	PART_SMART,
	PART_FIRMWARE,
	PART_SELFTEST,
	PART_NAMESPACES,
	PART_COUNT
};

static const char *const part_names[PART_COUNT] = {
	[PART_DRIVE] = "drive",	      [PART_IDENTIFY] = "identify",
	[PART_SMART] = "smart",	      [PART_FIRMWARE] = "firmware",
	[PART_SELFTEST] = "selftest", [PART_NAMESPACES] = "namespaces",
};

struct parts {
	struct em_doc docs[PART_COUNT];
};

static void parts_done(struct parts *parts)
{
	for (unsigned i = 0; i < PART_COUNT; i++)
		em_doc_done(&parts->docs[i]);
}

/* After the first answer by id, so that all parts are of one drive whatever happens meanwhile. */
static enum em_exit load_parts(struct em_client *client, struct parts *parts)
{
	const char *drive = client->args[0];

	for (unsigned i = 0; i < PART_COUNT; i++) {
		em_cleanup(em_freep) char *path = NULL;
		char tail[64] = "";
		enum em_exit code;

		if (i != PART_DRIVE)
			snprintf(tail, sizeof(tail), "/%s", part_names[i]);
		path = em_api_drive_path(drive, tail);
		code = em_api_get(client, path, &parts->docs[i]);
		if (code != EM_EXIT_OK)
			return code;
		if (i == PART_DRIVE && em_json_text(parts->docs[i].root, "id"))
			drive = em_json_text(parts->docs[i].root, "id");
	}
	for (unsigned i = 0; i < PART_COUNT; i++)
		em_writer_document(client->writer, part_names[i], parts->docs[i].text,
				   parts->docs[i].len);
	return EM_EXIT_OK;
}

static void put_fact(struct em_writer *w, const char *label, const char *text)
{
	em_writer_fact(w, label, (struct em_cell){ text, EM_TONE_PLAIN });
}

static double interval_of(const json_t *drive, const char *page)
{
	const json_t *entry;
	double interval = 0;
	size_t i;

	json_array_foreach(json_object_get(drive, "pages"), i, entry)
	{
		const char *name = em_json_text(entry, "page");

		if (name && strcmp(name, page) == 0)
			em_json_number(entry, "interval_seconds", &interval);
	}
	return interval;
}

static bool put_page_head(struct em_writer *w, const char *title, const json_t *drive,
			  const json_t *doc)
{
	const char *page = em_json_text(doc, "page");

	return em_view_page_head(w, title, doc, em_json_text(drive, "state"),
				 page ? interval_of(drive, page) : 0);
}

/* What a person may want to do about the state. */
static void put_advice(struct em_writer *w, const json_t *drive)
{
	const char *state = em_json_text(drive, "state"), *serial = em_json_text(drive, "serial");
	char line[EM_VIEW_SIZE];

	if (!state || !serial || !w->term.tty)
		return;
	if (strcmp(state, "removed") == 0)
		snprintf(line, sizeof(line),
			 "It is missed. Taken away on purpose? Then: emberctl retire %.100s",
			 serial);
	else if (strcmp(state, "retired") == 0)
		snprintf(line, sizeof(line),
			 "It was taken away on purpose. Was it not? Then: emberctl retire %.100s "
			 "--undo",
			 serial);
	else
		return;
	em_writer_fact(w, "", (struct em_cell){ line, EM_TONE_DIM });
}

/* The verdict; why, with what to do, tells `health`. */
static void put_health(struct em_writer *w, const json_t *drive)
{
	const char *health = em_json_text(drive, "health");
	const char *reason = em_json_text(drive, "health_reason");
	char line[EM_VIEW_SIZE];

	if (!health)
		return;
	snprintf(line, sizeof(line), "%.40s%s%.300s", health, reason ? ": " : "",
		 reason ? reason : "");
	em_writer_fact(w, "Health", (struct em_cell){ line, em_drive_health_tone(health) });
}

static void put_state(struct em_writer *w, const json_t *drive)
{
	const char *state = em_json_text(drive, "state"),
		   *detail = em_json_text(drive, "state_detail");
	const char *device = em_json_text(drive, "device"), *model = em_json_text(drive, "model");
	char since[EM_VIEW_SIZE], line[EM_VIEW_SIZE];
	const char *time = em_view_time(em_json_text(drive, "state_since"), since);

	snprintf(line, sizeof(line), "%.40s  %.100s", device ? device : "", model ? model : "");
	em_writer_heading(w, line, (struct em_cell){ 0 });
	snprintf(line, sizeof(line), "%.40s%s%.60s", state ? state : "unknown",
		 time ? " since " : "", time ? time : "");
	em_writer_fact(w, "State", (struct em_cell){ line, em_view_state_tone(state) });
	put_advice(w, drive);
	if (detail && *detail)
		em_writer_fact(w, "Reason", (struct em_cell){ detail, EM_TONE_WARN });
	if (em_view_is_stale_state(state))
		put_fact(w, "Last answer",
			 em_view_time(em_json_text(drive, "last_answer_at"), since));
	put_health(w, drive);
}

/* Fields by key, from whichever document has them; labels and units from the Identify table. */
static void put_identify_fact(struct em_writer *w, const json_t *values, const char *key)
{
	const struct em_field *field = em_page_field(em_pages[EM_PAGE_IDENTIFY_CTRL], key);
	char buf[EM_VIEW_SIZE];

	if (field)
		put_fact(w, field->label, em_view_value(field, values, w->term.utf8, buf));
}

static const json_t *active_path(const json_t *drive)
{
	const json_t *path;
	size_t i;

	json_array_foreach(json_object_get(drive, "controllers"), i, path)
	{
		if (em_json_true(path, "active"))
			return path;
	}
	return NULL;
}

/* "16 GT/s x4", and what it could be where that is more. */
static void put_link(struct em_writer *w, const json_t *drive)
{
	const json_t *path = active_path(drive);
	double speed, width, speed_max, width_max;
	bool below;
	char text[128];

	if (!em_json_number(path, "link_speed_gts", &speed) ||
	    !em_json_number(path, "link_width", &width))
		return;
	below = em_json_number(path, "link_speed_max_gts", &speed_max) &&
		em_json_number(path, "link_width_max", &width_max) &&
		(speed < speed_max || width < width_max);
	if (below)
		snprintf(text, sizeof(text), "%g GT/s x%.0f of %g GT/s x%.0f", speed, width,
			 speed_max, width_max);
	else
		snprintf(text, sizeof(text), "%g GT/s x%.0f", speed, width);
	em_writer_fact(w, "PCIe link",
		       (struct em_cell){ text, below ? EM_TONE_WARN : EM_TONE_PLAIN });
}

static void put_identity(struct em_writer *w, const json_t *drive, const json_t *identify)
{
	static const char *const of_drive[] = { "model", "serial", "firmware" };
	static const char *const of_page[] = {
		"version",
		"total_capacity_bytes",
		"unallocated_capacity_bytes",
		"warning_temp_threshold_celsius",
		"critical_temp_threshold_celsius",
	};
	const char *address = em_json_text(drive, "address");
	const char *transport = em_json_text(drive, "transport");
	char line[EM_VIEW_SIZE];

	for (size_t i = 0; i < EM_COUNT(of_drive); i++)
		put_identify_fact(w, drive, of_drive[i]);
	for (size_t i = 0; i < EM_COUNT(of_page); i++)
		put_identify_fact(w, json_object_get(identify, "values"), of_page[i]);
	snprintf(line, sizeof(line), "%.200s%s%.30s%s", address ? address : "",
		 transport && *transport ? " (" : "", transport ? transport : "",
		 transport && *transport ? ")" : "");
	put_fact(w, "Address", line);
	put_link(w, drive);
	put_fact(w, "Subsystem", em_json_text(drive, "subsystem_nqn"));
	put_fact(w, "Id", em_json_text(drive, "id"));
}

/* Only where there is more than the one that the identity names. */
static void put_paths(struct em_writer *w, const json_t *drive)
{
	static const struct em_column columns[] = {
		{ .title = "Controller" },
		{ .title = "State" },
		{ .title = "Asked" },
		{ .title = "Address", .rank = 1, .shortest = 12 },
		{ .title = "Over", .rank = 2 },
		{ .title = "Controller id", .right = true, .rank = 3 },
	};
	const json_t *paths = json_object_get(drive, "controllers"), *path;
	size_t i;

	if (json_array_size(paths) < 2)
		return;
	em_writer_heading(w, "Paths", (struct em_cell){ 0 });
	em_writer_table(w, columns, EM_COUNT(columns));
	json_array_foreach(paths, i, path)
	{
		bool active = em_json_true(path, "active");
		char id[EM_VIEW_SIZE];
		struct em_cell cells[] = {
			{ em_json_text(path, "device"), EM_TONE_STRONG },
			{ em_json_text(path, "state"), em_drive_path_tone(path) },
			{ active ? "this one" : NULL, EM_TONE_GOOD },
			{ em_json_text(path, "address"), EM_TONE_PLAIN },
			{ em_json_text(path, "transport"), EM_TONE_PLAIN },
			{ em_view_scalar(json_object_get(path, "controller_id"), id),
			  EM_TONE_PLAIN },
		};

		em_writer_row(w, cells);
	}
}

static void put_smart(struct em_writer *w, const json_t *drive, const json_t *doc)
{
	if (put_page_head(w, "Health", drive, doc))
		em_view_page(w, em_pages[EM_PAGE_SMART], json_object_get(doc, "values"), true);
}

static void put_fields(struct em_writer *w, const struct em_page *page, const json_t *values)
{
	char buf[EM_VIEW_SIZE];

	for (unsigned i = 0; i < page->field_count; i++) {
		const char *text = em_view_value(&page->fields[i], values, w->term.utf8, buf);

		if (text)
			put_fact(w, page->fields[i].label, text);
	}
}

static void put_firmware(struct em_writer *w, const json_t *drive, const json_t *doc)
{
	const struct em_page *page = em_pages[EM_PAGE_FIRMWARE];
	const json_t *values = json_object_get(doc, "values");

	if (!put_page_head(w, page->title, drive, doc))
		return;
	put_fields(w, page, values);
	for (unsigned i = 0; i < page->group_count; i++)
		em_view_group(w, &page->groups[i], values, (size_t)-1);
}

static void put_selftest(struct em_writer *w, const json_t *drive, const json_t *doc)
{
	const struct em_page *page = em_pages[EM_PAGE_SELFTEST];
	const json_t *values = json_object_get(doc, "values");
	size_t count = json_array_size(json_object_get(values, page->groups[0].key));
	char buf[EM_VIEW_SIZE];

	if (!put_page_head(w, page->title, drive, doc))
		return;
	put_fields(w, page, values);
	em_view_group(w, &page->groups[0], values, SELFTESTS_SHOWN);
	if (count > SELFTESTS_SHOWN) {
		snprintf(buf, sizeof(buf), "%zu older results: see --json",
			 count - SELFTESTS_SHOWN);
		em_writer_paragraph(w, (struct em_cell){ buf, EM_TONE_DIM });
	} else if (count == 0) {
		em_writer_paragraph(w, (struct em_cell){ "No result is kept.", EM_TONE_DIM });
	}
}

static const char *const namespace_keys[] = { "size_bytes", "utilization_bytes", "block_size_bytes",
					      "write_protected", "nguid" };
#define NAMESPACE_COLUMNS (EM_COUNT(namespace_keys) + 2)

static const char *view_nsid(const json_t *entry, char text[EM_VIEW_SIZE])
{
	char nsid[EM_VIEW_SIZE];
	bool attached = !json_is_false(json_object_get(entry, "attached"));

	snprintf(text, EM_VIEW_SIZE, "%.32s%s",
		 em_view_scalar(json_object_get(entry, "nsid"), nsid),
		 attached ? "" : ", not attached");
	return text;
}

static void put_namespace(struct em_writer *w, const json_t *entry)
{
	char texts[NAMESPACE_COLUMNS][EM_VIEW_SIZE];
	struct em_cell cells[NAMESPACE_COLUMNS] = { 0 };
	const char *status = em_json_text(entry, "status");
	bool ok = status && strcmp(status, "ok") == 0;

	cells[0].text = view_nsid(entry, texts[0]);
	for (unsigned i = 0; i < EM_COUNT(namespace_keys); i++) {
		const struct em_field *field =
			em_page_field(em_pages[EM_PAGE_IDENTIFY_NS], namespace_keys[i]);

		cells[i + 1].text = field ? em_view_value(field, json_object_get(entry, "values"),
							  w->term.utf8, texts[i + 1])
					  : NULL;
	}
	cells[NAMESPACE_COLUMNS - 1].text = em_view_age(entry, texts[NAMESPACE_COLUMNS - 1]);
	if (!ok)
		cells[NAMESPACE_COLUMNS - 1] =
			(struct em_cell){ status, em_view_status_tone(status) };
	em_writer_row(w, cells);
}

static void plan_namespaces(struct em_column columns[NAMESPACE_COLUMNS])
{
	columns[0] = (struct em_column){ .title = "NSID", .right = true };
	for (unsigned i = 0; i < EM_COUNT(namespace_keys); i++) {
		const struct em_field *field =
			em_page_field(em_pages[EM_PAGE_IDENTIFY_NS], namespace_keys[i]);

		columns[i + 1] = (struct em_column){
			.title = field ? field->label : namespace_keys[i],
			.right = field && field->type == EM_UINT,
			.rank = (uint8_t)(i + 1),
		};
	}
	columns[NAMESPACE_COLUMNS - 1] = (struct em_column){ .title = "Read", .right = true };
}

static void put_namespaces(struct em_writer *w, const json_t *doc)
{
	struct em_column columns[NAMESPACE_COLUMNS];
	const json_t *list = json_object_get(doc, "namespaces"), *entry;
	size_t i;

	em_writer_heading(w, "Namespaces", (struct em_cell){ 0 });
	if (json_array_size(list) == 0) {
		em_writer_paragraph(w, (struct em_cell){ "None is known.", EM_TONE_DIM });
		return;
	}
	plan_namespaces(columns);
	em_writer_table(w, columns, NAMESPACE_COLUMNS);
	json_array_foreach(list, i, entry) put_namespace(w, entry);
	/* The table borrows this frame's columns. */
	em_writer_table(w, NULL, 0);
}

static void put_page_row(struct em_writer *w, const json_t *entry, const char **last)
{
	const char *key = em_json_text(entry, "page");
	const struct em_page *page = key ? em_page_find(key) : NULL;
	const char *status = em_json_text(entry, "status");
	char age[EM_VIEW_SIZE], every[EM_VIEW_SIZE];
	struct em_cell cells[] = {
		{ page ? page->title : key, EM_TONE_PLAIN },
		{ em_view_age(entry, age), EM_TONE_PLAIN },
		{ NULL, EM_TONE_PLAIN },
		{ status, em_view_status_tone(status) },
		{ em_view_because(status, em_json_text(entry, "status_detail"), last),
		  EM_TONE_DIM },
	};
	double interval = 0;

	if (em_json_number(entry, "interval_seconds", &interval) && interval > 0)
		cells[2].text = em_human_span(every, sizeof(every), interval);
	if (em_view_is_overdue(entry, interval))
		cells[1].tone = EM_TONE_WARN;
	em_writer_row(w, cells);
}

static void put_pages(struct em_writer *w, const json_t *drive)
{
	static const struct em_column columns[] = {
		{ .title = "Page" },
		{ .title = "Read", .right = true },
		{ .title = "Every", .right = true },
		{ .title = "Last attempt" },
		{ .title = "Because", .wrap = true, .rank = 1, .shortest = 12 },
	};
	const char *last = NULL;
	const json_t *entry;
	size_t i;

	em_writer_heading(w, "Pages", (struct em_cell){ 0 });
	em_writer_table(w, columns, EM_COUNT(columns));
	json_array_foreach(json_object_get(drive, "pages"), i, entry) put_page_row(w, entry, &last);
}

enum em_exit em_verb_show(struct em_client *client)
{
	em_cleanup(parts_done) struct parts parts = { 0 };
	enum em_exit code = load_parts(client, &parts);
	struct em_writer *w = client->writer;
	const json_t *drive = parts.docs[PART_DRIVE].root;

	if (code != EM_EXIT_OK)
		return code;
	put_state(w, drive);
	put_identity(w, drive, parts.docs[PART_IDENTIFY].root);
	put_paths(w, drive);
	put_smart(w, drive, parts.docs[PART_SMART].root);
	put_firmware(w, drive, parts.docs[PART_FIRMWARE].root);
	put_selftest(w, drive, parts.docs[PART_SELFTEST].root);
	put_namespaces(w, parts.docs[PART_NAMESPACES].root);
	put_pages(w, drive);
	return EM_EXIT_OK;
}
