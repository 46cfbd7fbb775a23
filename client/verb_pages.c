/* SPDX-License-Identifier: Apache-2.0 */
/* errors, effects, sanitize, memblaze and capacitor: one document of a drive each. */
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

/* A number that stands for something: 0 is the admin queue, all ones are all namespaces. */
static const char *named_number(const json_t *entry, const char *key, json_int_t special,
				const char *name, char buf[EM_VIEW_SIZE])
{
	const json_t *value = json_object_get(entry, key);

	if (json_is_integer(value) && json_integer_value(value) == special)
		return name;
	return em_view_scalar(value, buf);
}

static void put_error(struct em_writer *w, const json_t *entry)
{
	char number[EM_VIEW_SIZE], queue[EM_VIEW_SIZE], nsid[EM_VIEW_SIZE], lba[EM_VIEW_SIZE];
	const char *text = em_json_text(entry, "status_text");
	const char *cause = em_json_text(entry, "cause");
	const struct em_cell cells[] = {
		{ em_view_scalar(json_object_get(entry, "error_count"), number), EM_TONE_STRONG },
		{ named_number(entry, "sqid", 0, "admin", queue), EM_TONE_PLAIN },
		{ em_json_text(entry, "cmdid"), EM_TONE_PLAIN },
		{ named_number(entry, "nsid", UINT32_MAX, "all", nsid), EM_TONE_PLAIN },
		{ em_view_scalar(json_object_get(entry, "lba"), lba), EM_TONE_PLAIN },
		{ cause, cause && strcmp(cause, "device") == 0 ? EM_TONE_WARN : EM_TONE_PLAIN },
		{ text ? text : em_json_text(entry, "status"), EM_TONE_PLAIN },
	};

	em_writer_row(w, cells);
}

/* What tells a person most; --json and --csv have all of an entry. */
static void put_errors(struct em_writer *w, const json_t *entries)
{
	static const struct em_column columns[] = {
		{ .title = "Error", .right = true },
		{ .title = "Queue", .right = true, .rank = 3 },
		{ .title = "Command", .rank = 4 },
		{ .title = "Namespace", .right = true, .rank = 2 },
		{ .title = "Block", .right = true, .rank = 1 },
		{ .title = "Cause", .rank = 1 },
		{ .title = "Status", .wrap = true, .rank = 1, .shortest = 16 },
	};
	const json_t *entry;
	size_t i;

	em_writer_table(w, columns, EM_COUNT(columns));
	json_array_foreach(entries, i, entry) put_error(w, entry);
}

enum em_exit em_verb_errors(struct em_client *client)
{
	const struct em_page *page = em_pages[EM_PAGE_ERRORS];
	const struct em_group *group = &page->groups[0];
	em_cleanup(em_doc_done) struct em_doc doc = { 0 };
	enum em_exit code = load(client, page->key, &doc);
	const json_t *values = json_object_get(doc.root, "values");
	const json_t *entries = json_object_get(values, group->key);
	struct em_writer *w = client->writer;

	if (code != EM_EXIT_OK)
		return code;
	put_group_records(w, group, values);
	if (!put_head(w, page, doc.root))
		return EM_EXIT_OK;
	if (json_array_size(entries) > 0)
		put_errors(w, entries);
	else
		put_note(w, "The error log is empty.");
	return EM_EXIT_OK;
}

/* "data, namespace list": what the command may change. */
static const char *view_changes(const json_t *entry, char buf[EM_VIEW_SIZE])
{
	static const struct {
		const char *key, *words;
	} changes[] = {
		{ "changes_data", "data" },
		{ "changes_namespace_capability", "namespace format" },
		{ "changes_namespace_inventory", "namespace list" },
		{ "changes_controller_capability", "controller" },
	};
	size_t used = 0;

	for (size_t i = 0; i < EM_COUNT(changes); i++)
		if (em_json_true(entry, changes[i].key))
			used += (size_t)snprintf(buf + used, EM_VIEW_SIZE - used, "%s%s",
						 used > 0 ? ", " : "", changes[i].words);
	return used > 0 ? buf : NULL;
}

static const char *view_submission(const json_t *entry, char buf[EM_VIEW_SIZE])
{
	const char *submission = em_json_text(entry, "submission");

	if (!submission || strcmp(submission, "none") == 0)
		return NULL;
	if (strcmp(submission, "same_namespace") == 0)
		return "an idle namespace";
	if (strcmp(submission, "any_namespace") == 0)
		return "an idle drive";
	snprintf(buf, EM_VIEW_SIZE, "%s", submission);
	return buf;
}

static void put_effect(struct em_writer *w, const json_t *entry)
{
	char opcode[16] = "", name[EM_VIEW_SIZE], changes[EM_VIEW_SIZE], beside[EM_VIEW_SIZE];
	const char *what = view_changes(entry, changes);
	const json_t *number = json_object_get(entry, "opcode");
	const struct em_cell cells[] = {
		{ opcode, EM_TONE_PLAIN },
		{ em_view_words(em_json_text(entry, "name"), name), EM_TONE_STRONG },
		{ what, what ? EM_TONE_WARN : EM_TONE_PLAIN },
		{ view_submission(entry, beside), EM_TONE_PLAIN },
	};

	if (json_is_integer(number))
		snprintf(opcode, sizeof(opcode), "0x%02llx", json_integer_value(number));
	em_writer_row(w, cells);
}

static void put_effects(struct em_writer *w, const char *title, const json_t *commands)
{
	static const struct em_column columns[] = {
		{ .title = "Code" },
		{ .title = "Command", .rank = 1, .shortest = 12 },
		{ .title = "Changes", .rank = 2, .shortest = 12 },
		{ .title = "Needs", .wrap = true, .rank = 3, .shortest = 12 },
	};
	const json_t *entry;
	size_t i;

	if (json_array_size(commands) == 0)
		return;
	em_writer_heading(w, title, (struct em_cell){ 0 });
	em_writer_table(w, columns, EM_COUNT(columns));
	json_array_foreach(commands, i, entry) put_effect(w, entry);
}

/* One list for CSV: a column tells which set of commands each belongs to. */
static json_t *join_groups(const struct em_page *page, const json_t *values)
{
	json_t *all = json_array(), *entry;
	size_t i;

	for (unsigned g = 0; all && g < page->group_count; g++) {
		json_array_foreach(json_object_get(values, page->groups[g].key), i, entry)
		{
			if (json_is_object(entry))
				json_object_set_new(entry, "set", json_string(page->groups[g].key));
			json_array_append(all, entry);
		}
	}
	return all;
}

enum em_exit em_verb_effects(struct em_client *client)
{
	static const char *const paths[] = {
		"set",
		"opcode",
		"name",
		"changes_data",
		"changes_namespace_capability",
		"changes_namespace_inventory",
		"changes_controller_capability",
		"submission",
		"uuid_selection",
		"scope",
	};
	const struct em_page *page = em_pages[EM_PAGE_EFFECTS];
	em_cleanup(em_doc_done) struct em_doc doc = { 0 };
	enum em_exit code = load(client, page->key, &doc);
	const json_t *values = json_object_get(doc.root, "values");
	struct em_writer *w = client->writer;
	json_t *all;

	if (code != EM_EXIT_OK)
		return code;
	all = join_groups(page, values);
	em_writer_records(w, all, paths, EM_COUNT(paths));
	json_decref(all);
	if (!put_head(w, page, doc.root))
		return EM_EXIT_OK;
	put_effects(w, "Admin commands", json_object_get(values, "admin_commands"));
	put_effects(w, "I/O commands", json_object_get(values, "io_commands"));
	return EM_EXIT_OK;
}

static enum em_exit show_page(struct em_client *client, enum em_page_id id)
{
	const struct em_page *page = em_pages[id];
	em_cleanup(em_doc_done) struct em_doc doc = { 0 };
	enum em_exit code = load(client, page->key, &doc);
	struct em_writer *w = client->writer;

	if (code != EM_EXIT_OK)
		return code;
	if (put_head(w, page, doc.root))
		em_view_page(w, page, json_object_get(doc.root, "values"), false);
	return EM_EXIT_OK;
}

enum em_exit em_verb_sanitize(struct em_client *client)
{
	return show_page(client, EM_PAGE_SANITIZE);
}

enum em_exit em_verb_memblaze(struct em_client *client)
{
	return show_page(client, EM_PAGE_MEMBLAZE);
}

static enum em_tone tone_of_health(const char *health)
{
	static const struct {
		const char *health;
		enum em_tone tone;
	} tones[] = {
		{ "ok", EM_TONE_GOOD },
		{ "low", EM_TONE_WARN },
		{ "failed", EM_TONE_BAD },
	};

	for (size_t i = 0; health && i < EM_COUNT(tones); i++)
		if (strcmp(health, tones[i].health) == 0)
			return tones[i].tone;
	return EM_TONE_DIM;
}

/* Why, in words; and what to do when it is not well. */
static const char *explain_capacitor(const char *health, const char *source)
{
	if (!health || strcmp(health, "unknown") == 0)
		return "The drive tells nothing of its power-loss protection.";
	if (strcmp(health, "failed") == 0)
		return "Data that was written last may be lost with the power. Replace the drive; "
		       "until then turn its write cache off, or do not rely on it.";
	if (strcmp(health, "low") == 0)
		return "It still works. Plan to replace the drive.";
	if (source && strcmp(source, "percentage") == 0)
		return "That this is a percentage of health is what the vendor's tables suggest; "
		       "the vendor names no limit.";
	return NULL;
}

static void put_capacitor(struct em_writer *w, const json_t *doc)
{
	static const struct {
		const char *key, *label;
	} facts[] = {
		{ "health_percent", "Percent" },
		{ "capacitance", "Capacitance" },
		{ "nominal_capacitance", "When new" },
		{ "threshold_capacitance", "Needed" },
	};
	const char *health = em_json_text(doc, "health"), *source = em_json_text(doc, "source");
	const char *device = em_json_text(doc, "device"), *why = explain_capacitor(health, source);
	char title[EM_VIEW_SIZE], age[EM_VIEW_SIZE], number[EM_VIEW_SIZE], words[EM_VIEW_SIZE];

	snprintf(title, sizeof(title), "Capacitor of %.60s", device ? device : "the drive");
	em_writer_heading(w, title, (struct em_cell){ em_view_age(doc, age), EM_TONE_DIM });
	em_writer_fact(w, "Health", (struct em_cell){ health, tone_of_health(health) });
	for (size_t i = 0; i < EM_COUNT(facts); i++) {
		const json_t *value = json_object_get(doc, facts[i].key);

		if (json_is_integer(value))
			em_writer_fact(
				w, facts[i].label,
				(struct em_cell){ em_view_scalar(value, number), EM_TONE_PLAIN });
	}
	em_writer_fact(w, "Told by",
		       (struct em_cell){ em_view_words(source, words), EM_TONE_PLAIN });
	if (why)
		put_note(w, why);
}

enum em_exit em_verb_capacitor(struct em_client *client)
{
	em_cleanup(em_doc_done) struct em_doc doc = { 0 };
	enum em_exit code = load(client, "capacitor", &doc);

	if (code == EM_EXIT_OK)
		put_capacitor(client->writer, doc.root);
	return code;
}
