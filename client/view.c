/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "client/view.h"
#include <string.h>
#include "client/api.h"
#include "client/human.h"
#include "lib/base/buf.h"
#include "lib/base/cleanup.h"

/* Names in the tables are made for programs. */
static void to_words(char *text)
{
	for (; *text; text++)
		if (*text == '_')
			*text = ' ';
}

/* As people write a word that a name for programs has in small letters. */
static const char *spell(const char *word, size_t len)
{
	static const struct {
		const char *name, *spelling;
	} words[] = { { "io", "I/O" }, { "mi", "MI" }, { "nvm", "NVM" }, { "nvme", "NVMe" } };

	for (size_t i = 0; i < EM_COUNT(words); i++)
		if (strlen(words[i].name) == len && strncmp(words[i].name, word, len) == 0)
			return words[i].spelling;
	return NULL;
}

const char *em_view_words(const char *name, char buf[EM_VIEW_SIZE])
{
	size_t used = 0;

	if (!name)
		return NULL;
	buf[0] = '\0';
	while (*name && used < EM_VIEW_SIZE) {
		size_t len = strcspn(name, "_");
		const char *known = spell(name, len);

		used += (size_t)snprintf(buf + used, EM_VIEW_SIZE - used, "%s%.*s",
					 used > 0 ? " " : "", (int)(known ? strlen(known) : len),
					 known ? known : name);
		name += len + (name[len] == '_');
	}
	return buf;
}

const char *em_view_names(const json_t *list, char buf[EM_VIEW_SIZE])
{
	const json_t *name;
	size_t i, used = 0;

	if (!json_is_array(list))
		return NULL;
	if (json_array_size(list) == 0)
		return strcpy(buf, "none");
	buf[0] = '\0';
	json_array_foreach(list, i, name)
	{
		const char *text = json_string_value(name);

		used += (size_t)snprintf(buf + used, EM_VIEW_SIZE - used, "%s%s", i > 0 ? ", " : "",
					 text ? text : "?");
		if (used >= EM_VIEW_SIZE)
			break;
	}
	to_words(buf);
	return buf;
}

const char *em_view_scalar(const json_t *value, char buf[EM_VIEW_SIZE])
{
	if (!value)
		return NULL;
	switch (json_typeof(value)) {
	case JSON_STRING:
		snprintf(buf, EM_VIEW_SIZE, "%s", json_string_value(value));
		return buf;
	case JSON_INTEGER:
		snprintf(buf, EM_VIEW_SIZE, "%lld", (long long)json_integer_value(value));
		return buf;
	case JSON_REAL:
		snprintf(buf, EM_VIEW_SIZE, "%.9g", json_real_value(value));
		return buf;
	case JSON_TRUE:
		return strcpy(buf, "yes");
	case JSON_FALSE:
		return strcpy(buf, "no");
	case JSON_NULL:
	case JSON_OBJECT:
	case JSON_ARRAY:
		break;
	}
	return NULL;
}

/* By bit of critical_warning. */
static const char *const short_warnings[] = { "spare",	   "temp",   "degraded",
					      "read-only", "backup", "pmr" };

const char *em_view_warnings(const json_t *values, char buf[EM_VIEW_SIZE])
{
	const json_t *value = json_object_get(values, "critical_warning");
	uint64_t bits = (uint64_t)json_integer_value(value);
	size_t used = 0;

	if (!json_is_integer(value))
		return NULL;
	if (bits == 0)
		return strcpy(buf, "none");
	for (unsigned bit = 0; bit < 64 && used < EM_VIEW_SIZE; bit++) {
		const char *comma = used > 0 ? ", " : "";

		if (!(bits >> bit & 1))
			continue;
		if (bit < EM_COUNT(short_warnings))
			used += (size_t)snprintf(buf + used, EM_VIEW_SIZE - used, "%s%s", comma,
						 short_warnings[bit]);
		else
			used += (size_t)snprintf(buf + used, EM_VIEW_SIZE - used, "%sbit %u", comma,
						 bit);
	}
	return buf;
}

static const char *view_bits(const struct em_field *field, const json_t *values,
			     char buf[EM_VIEW_SIZE])
{
	char key[128];

	snprintf(key, sizeof(key), "%s_bits", field->key);
	return em_view_names(json_object_get(values, key), buf);
}

const char *em_view_value(const struct em_field *field, const json_t *values, bool utf8,
			  char buf[EM_VIEW_SIZE])
{
	const json_t *value = json_object_get(values, field->key);
	char plain[EM_VIEW_SIZE];

	if (!value)
		return NULL;
	if (field->type == EM_BITS)
		return view_bits(field, values, buf);
	if (!em_view_scalar(value, plain))
		return NULL;
	if (field->type == EM_ENUM)
		to_words(plain);
	if (field->type == EM_UINT || field->type == EM_KELVIN)
		return em_human_unit(buf, EM_VIEW_SIZE, plain, field->unit, utf8);
	return strcpy(buf, plain);
}

const char *em_view_age(const json_t *object, char buf[EM_VIEW_SIZE])
{
	double age;

	if (!em_json_number(object, "age_seconds", &age))
		return NULL;
	return em_human_age(buf, EM_VIEW_SIZE, age);
}

const char *em_view_time(const char *rfc3339, char buf[EM_VIEW_SIZE])
{
	/* "2026-11-30T21:22:23.456Z" */
	if (!rfc3339 || strlen(rfc3339) < 20 || rfc3339[10] != 'T' || !strchr(rfc3339, 'Z'))
		return rfc3339;
	snprintf(buf, EM_VIEW_SIZE, "%.10s %.8s UTC", rfc3339, rfc3339 + 11);
	return buf;
}

enum em_tone em_view_state_tone(const char *state)
{
	if (!state)
		return EM_TONE_PLAIN;
	if (strcmp(state, "ok") == 0)
		return EM_TONE_GOOD;
	if (strcmp(state, "busy") == 0)
		return EM_TONE_WARN;
	if (strcmp(state, "retired") == 0)
		return EM_TONE_DIM;
	return EM_TONE_BAD;
}

enum em_tone em_view_status_tone(const char *status)
{
	static const char *const harmless[] = { "unsupported", "refused", "never-read" };

	if (status && strcmp(status, "ok") == 0)
		return EM_TONE_GOOD;
	for (size_t i = 0; status && i < EM_COUNT(harmless); i++)
		if (strcmp(status, harmless[i]) == 0)
			return EM_TONE_DIM;
	return EM_TONE_WARN;
}

const char *em_view_because(const char *status, const char *detail, const char **last)
{
	bool same = detail && *last && strcmp(detail, *last) == 0;

	*last = detail;
	if (status && strcmp(status, "unsupported") == 0)
		return NULL;
	return same ? "likewise" : detail;
}

bool em_view_is_stale_state(const char *state)
{
	return !state || (strcmp(state, "ok") != 0 && strcmp(state, "busy") != 0);
}

bool em_view_is_overdue(const json_t *object, double interval_seconds)
{
	double age;

	return interval_seconds > 0 && em_json_number(object, "age_seconds", &age) &&
	       age > 3 * interval_seconds;
}

static struct em_cell age_note(const json_t *doc, const char *state, double interval,
			       char buf[EM_VIEW_SIZE])
{
	bool old = em_view_is_stale_state(state) || em_view_is_overdue(doc, interval);
	char age[EM_VIEW_SIZE];

	if (!em_view_age(doc, age))
		return (struct em_cell){ "never read", EM_TONE_DIM };
	snprintf(buf, EM_VIEW_SIZE, "read %.100s%s", age, old ? " (old)" : "");
	return (struct em_cell){ buf, old ? EM_TONE_WARN : EM_TONE_DIM };
}

bool em_view_page_head(struct em_writer *w, const char *title, const json_t *doc, const char *state,
		       double interval_seconds)
{
	const char *status = em_json_text(doc, "status");
	const char *detail = em_json_text(doc, "status_detail");
	char buf[EM_VIEW_SIZE], line[EM_VIEW_SIZE];

	em_writer_heading(w, title, age_note(doc, state, interval_seconds, buf));
	if (status && strcmp(status, "ok") != 0) {
		snprintf(line, sizeof(line), "Last attempt: %.60s%s%.400s", status,
			 detail ? ", " : "", detail ? detail : "");
		em_writer_paragraph(w, (struct em_cell){ line, em_view_status_tone(status) });
	}
	return em_json_true(doc, "valid");
}

static bool has_warning(const struct em_field *field, const json_t *values)
{
	double bits;

	return field->type == EM_BITS && em_json_number(values, field->key, &bits) && bits != 0;
}

/* "Not given by the drive: A; Sensor 2 to 8; B". */
struct absent {
	struct em_buf line;
	const struct em_field *last; /* of a row of alike fields */
	bool row;
};

static void end_absent_row(struct absent *absent)
{
	if (absent->row)
		em_buf_addf(&absent->line, " to %s", absent->last->metric_label_value);
	absent->row = false;
}

static bool are_alike(const struct em_field *a, const struct em_field *b)
{
	return a && a->metric_label && b->metric_label &&
	       strcmp(a->metric_name, b->metric_name) == 0;
}

static void add_absent(struct absent *absent, const struct em_field *field)
{
	if (are_alike(absent->last, field)) {
		absent->row = true;
	} else {
		end_absent_row(absent);
		em_buf_addf(&absent->line, "%s%s",
			    absent->last ? "; " : "Not given by the drive: ", field->label);
	}
	absent->last = field;
}

static void put_absent(struct em_writer *w, struct absent *absent)
{
	end_absent_row(absent);
	if (absent->last && !em_buf_failed(&absent->line))
		em_writer_paragraph(w, (struct em_cell){ absent->line.data, EM_TONE_DIM });
	em_buf_done(&absent->line);
}

void em_view_page(struct em_writer *w, const struct em_page *page, const json_t *values,
		  bool history)
{
	struct absent absent = { 0 };
	char buf[EM_VIEW_SIZE];

	em_buf_init(&absent.line, 16 * 1024);
	for (unsigned i = 0; i < page->field_count; i++) {
		const struct em_field *field = &page->fields[i];
		const char *text = em_view_value(field, values, w->term.utf8, buf);

		if (history && (field->flags & EM_NO_HISTORY))
			continue;
		if (!text) {
			add_absent(&absent, field);
			continue;
		}
		em_writer_fact(w, field->label,
			       (struct em_cell){ text, has_warning(field, values)
							       ? EM_TONE_BAD
							       : EM_TONE_PLAIN });
	}
	put_absent(w, &absent);
}

/* The columns of a group: its index, its fields, its extra value. */
struct group_view {
	const struct em_field *fields[EM_COLUMNS_MAX]; /* NULL: the index */
	struct em_column columns[EM_COLUMNS_MAX];
	unsigned count;
};

static bool any_entry_has(const json_t *list, const struct em_field *field)
{
	const json_t *entry;
	size_t i;

	json_array_foreach(list, i, entry)
	{
		const json_t *value = json_object_get(entry, field->key);

		if (value && !json_is_null(value))
			return true;
	}
	return false;
}

static void add_column(struct group_view *view, const struct em_field *field, const char *title)
{
	unsigned n = view->count;

	if (n >= EM_COLUMNS_MAX)
		return;
	view->fields[n] = field;
	/* Later fields are details: they give way first. */
	view->columns[n] = (struct em_column){
		.title = title,
		.right = !field || field->type == EM_UINT,
		.rank = (uint8_t)n,
		.shortest = 8,
	};
	view->count++;
}

static void plan_group(struct group_view *view, const struct em_group *group, const json_t *list)
{
	view->count = 0;
	if (group->index_key)
		add_column(view, NULL, "No.");
	for (unsigned i = 0; i < group->field_count; i++)
		if (any_entry_has(list, &group->fields[i]))
			add_column(view, &group->fields[i], group->fields[i].label);
	if (group->extra && any_entry_has(list, group->extra))
		add_column(view, group->extra, group->extra->label);
}

static void put_entry(struct em_writer *w, const struct group_view *view,
		      const struct em_group *group, const json_t *entry)
{
	char texts[EM_COLUMNS_MAX][EM_VIEW_SIZE];
	struct em_cell cells[EM_COLUMNS_MAX] = { 0 };

	for (unsigned i = 0; i < view->count; i++) {
		const struct em_field *field = view->fields[i];

		if (field)
			cells[i].text = em_view_value(field, entry, w->term.utf8, texts[i]);
		else
			cells[i].text =
				em_view_scalar(json_object_get(entry, group->index_key), texts[i]);
	}
	em_writer_row(w, cells);
}

void em_view_group(struct em_writer *w, const struct em_group *group, const json_t *values,
		   size_t max)
{
	const json_t *list = json_object_get(values, group->key), *entry;
	struct group_view view;
	size_t i;

	if (json_array_size(list) == 0)
		return;
	plan_group(&view, group, list);
	if (view.count == 0)
		return;
	em_writer_table(w, view.columns, view.count);
	json_array_foreach(list, i, entry)
	{
		if (i >= max)
			break;
		put_entry(w, &view, group, entry);
	}
	/* The table borrows this frame's columns. */
	em_writer_table(w, NULL, 0);
}
