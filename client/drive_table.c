/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "client/drive_table.h"
#include <stdio.h>
#include <string.h>
#include "client/api.h"
#include "client/drive_health.h"
#include "client/human.h"
#include "lib/base/buf.h"
#include "lib/base/cleanup.h"

#define LINE_MAX_LEN 4096u /* of the sums: states are few */

enum column {
	COL_DEVICE,
	COL_STATE,
	COL_HEALTH,
	COL_PATHS,
	COL_TEMPERATURE,
	COL_USED,
	COL_SPARE,
	COL_WARNINGS,
	COL_AGE,
	COL_MODEL,
	COL_SERIAL,
	COL_FIRMWARE,
	COL_COUNT,
};

static const struct em_column columns[COL_COUNT] = {
	[COL_DEVICE] = { .title = "Device" },
	[COL_STATE] = { .title = "State" },
	[COL_HEALTH] = { .title = "Health", .rank = 2 },
	[COL_PATHS] = { .title = "Paths", .right = true, .rank = 10 },
	[COL_TEMPERATURE] = { .title = "Temp", .right = true, .rank = 3 },
	[COL_USED] = { .title = "Used", .right = true, .rank = 5 },
	[COL_SPARE] = { .title = "Spare", .right = true, .rank = 8 },
	[COL_WARNINGS] = { .title = "Warnings", .rank = 1, .shortest = 12 },
	[COL_AGE] = { .title = "Read", .right = true, .rank = 4 },
	[COL_MODEL] = { .title = "Model", .rank = 7, .shortest = 14 },
	[COL_SERIAL] = { .title = "Serial", .rank = 6 },
	[COL_FIRMWARE] = { .title = "Firmware", .rank = 9 },
};

/* Which value of the SMART page a column shows; its unit comes from the row. */
static const char *const value_keys[COL_COUNT] = {
	[COL_TEMPERATURE] = "temperature_celsius",
	[COL_USED] = "percentage_used",
	[COL_SPARE] = "available_spare_percent",
};

enum em_tone em_drive_path_tone(const json_t *controller)
{
	static const char *const passing[] = { "new", "resetting", "connecting" };
	const char *state = em_json_text(controller, "state");

	if (!state)
		return EM_TONE_PLAIN;
	for (size_t i = 0; i < EM_COUNT(passing); i++)
		if (strcmp(state, passing[i]) == 0)
			return EM_TONE_WARN;
	return strcmp(state, "live") == 0 ? EM_TONE_GOOD : EM_TONE_BAD;
}

unsigned em_drive_paths(const json_t *drive, unsigned *ret_live)
{
	const json_t *list = json_object_get(drive, "controllers"), *path;
	unsigned live = 0;
	size_t i;

	json_array_foreach(list, i, path) live += em_drive_path_tone(path) != EM_TONE_BAD;
	*ret_live = live;
	return (unsigned)json_array_size(list);
}

/* What a drive counts as in the line of sums, the worst that is true of it. */
enum verdict { FINE, FAILING, DEGRADED, WARNED, PATHLESS, OLD, UNREAD, UNSURE, OTHER_STATE };

static enum verdict judge(const json_t *drive)
{
	const json_t *smart = json_object_get(drive, "smart");
	const char *state = em_json_text(drive, "state"), *health = em_json_text(drive, "health");
	double interval = 0, warnings = 0;
	unsigned live;

	em_json_number(smart, "interval_seconds", &interval);
	if (!state || strcmp(state, "ok") != 0)
		return OTHER_STATE;
	if (health && strcmp(health, "failing") == 0)
		return FAILING;
	if (health && strcmp(health, "degraded") == 0)
		return DEGRADED;
	if (em_json_number(smart, "critical_warning", &warnings) && warnings != 0)
		return WARNED;
	if (em_drive_paths(drive, &live) > live)
		return PATHLESS;
	if (!em_json_true(smart, "valid"))
		return UNREAD;
	if (em_view_is_overdue(smart, interval))
		return OLD;
	return health && strcmp(health, "unknown") == 0 ? UNSURE : FINE;
}

/* The name of a drive in trouble is as loud as its trouble. */
static enum em_tone name_tone(enum verdict verdict, const char *state)
{
	switch (verdict) {
	case FAILING:
	case WARNED:
		return EM_TONE_BAD;
	case DEGRADED:
	case PATHLESS:
	case OLD:
	case UNSURE:
		return EM_TONE_WARN;
	case OTHER_STATE:
		return em_view_state_tone(state);
	case FINE:
	case UNREAD:
		break;
	}
	return EM_TONE_STRONG;
}

/* One line as text, so that it can be compared with how it was before. */
struct line {
	char texts[COL_COUNT][EM_VIEW_SIZE];
	const char *cells[COL_COUNT]; /* NULL = absent */
};

static void fill_line(struct line *line, const json_t *drive, bool utf8)
{
	const json_t *smart = json_object_get(drive, "smart");
	unsigned live, paths = em_drive_paths(drive, &live);

	memset(line->cells, 0, sizeof(line->cells));
	line->cells[COL_DEVICE] = em_json_text(drive, "device");
	line->cells[COL_STATE] = em_json_text(drive, "state");
	line->cells[COL_HEALTH] = em_json_text(drive, "health");
	line->cells[COL_MODEL] = em_json_text(drive, "model");
	line->cells[COL_SERIAL] = em_json_text(drive, "serial");
	line->cells[COL_FIRMWARE] = em_json_text(drive, "firmware");
	line->cells[COL_AGE] = em_view_age(smart, line->texts[COL_AGE]);
	line->cells[COL_WARNINGS] = em_view_warnings(smart, line->texts[COL_WARNINGS]);
	if (paths > 1) {
		snprintf(line->texts[COL_PATHS], EM_VIEW_SIZE, "%u of %u", live, paths);
		line->cells[COL_PATHS] = line->texts[COL_PATHS];
	}
	for (unsigned i = 0; i < COL_COUNT; i++) {
		const struct em_field *field =
			value_keys[i] ? em_page_field(em_pages[EM_PAGE_SMART], value_keys[i])
				      : NULL;

		if (field)
			line->cells[i] = em_view_value(field, smart, utf8, line->texts[i]);
	}
}

/* Colours of a line by what is true of the drive. */
static void tone_line(struct em_cell *cells, const json_t *drive)
{
	const json_t *smart = json_object_get(drive, "smart");
	const char *state = em_json_text(drive, "state");
	double interval = 0, warnings = 0;
	unsigned live, paths = em_drive_paths(drive, &live);
	bool retired = state && strcmp(state, "retired") == 0, stale;

	em_json_number(smart, "interval_seconds", &interval);
	em_json_number(smart, "critical_warning", &warnings);
	stale = em_view_is_stale_state(state) || em_view_is_overdue(smart, interval);
	for (unsigned i = 0; i < COL_COUNT; i++)
		cells[i].tone = retired || (stale && i < COL_MODEL) ? EM_TONE_DIM : EM_TONE_PLAIN;
	cells[COL_STATE].tone = em_view_state_tone(state);
	if (retired)
		return;
	cells[COL_DEVICE].tone = name_tone(judge(drive), state);
	if (cells[COL_HEALTH].text)
		cells[COL_HEALTH].tone = em_drive_health_tone(cells[COL_HEALTH].text);
	if (stale)
		cells[COL_AGE].tone = EM_TONE_WARN;
	if (warnings != 0)
		cells[COL_WARNINGS].tone = EM_TONE_BAD;
	if (live < paths)
		cells[COL_PATHS].tone = EM_TONE_WARN;
}

/* What is not as it was before; how old it is always differs. */
static void tone_changes(struct em_cell *cells, const struct line *line, const json_t *before,
			 bool utf8)
{
	struct line old;

	fill_line(&old, before, utf8);
	for (unsigned i = 0; i < COL_COUNT; i++) {
		const char *was = old.cells[i] ? old.cells[i] : "";
		const char *is = line->cells[i] ? line->cells[i] : "";

		if (i != COL_AGE && strcmp(was, is) != 0)
			cells[i].tone = EM_TONE_NEW;
	}
}

const json_t *em_drive_find(const json_t *drives, const char *id)
{
	const json_t *drive;
	size_t i;

	json_array_foreach(drives, i, drive)
	{
		const char *its = em_json_text(drive, "id");

		if (its && id && strcmp(its, id) == 0)
			return drive;
	}
	return NULL;
}

/*
 * The columns of this table: without paths when every drive has one alone; *ret_broken when one
 * does not work, and they matter.
 */
static unsigned choose_columns(const json_t *drives, unsigned chosen[COL_COUNT], bool *ret_broken)
{
	const json_t *drive;
	unsigned count = 0, live;
	bool several = false;
	size_t i;

	*ret_broken = false;
	json_array_foreach(drives, i, drive)
	{
		unsigned paths = em_drive_paths(drive, &live);

		several = several || paths > 1;
		*ret_broken = *ret_broken || live < paths;
	}
	for (unsigned c = 0; c < COL_COUNT; c++)
		if (several || c != COL_PATHS)
			chosen[count++] = c;
	return count;
}

static void put_drive(struct em_writer *w, const json_t *drive, const json_t *before,
		      const unsigned *chosen, unsigned count)
{
	const json_t *was = em_drive_find(before, em_json_text(drive, "id"));
	struct em_cell cells[COL_COUNT] = { 0 }, shown[COL_COUNT];
	struct line line;

	fill_line(&line, drive, w->term.utf8);
	for (unsigned c = 0; c < COL_COUNT; c++)
		cells[c].text = line.cells[c];
	tone_line(cells, drive);
	if (before)
		tone_changes(cells, &line, was, w->term.utf8);
	for (unsigned i = 0; i < count; i++)
		shown[i] = cells[chosen[i]];
	em_writer_row(w, shown);
}

void em_drive_table(struct em_writer *w, const json_t *drives, const json_t *before)
{
	struct em_column shown[COL_COUNT];
	unsigned chosen[COL_COUNT];
	bool broken;
	unsigned count = choose_columns(drives, chosen, &broken);
	const json_t *drive;
	size_t i;

	for (unsigned c = 0; c < count; c++) {
		shown[c] = columns[chosen[c]];
		if (broken && chosen[c] == COL_PATHS)
			shown[c].rank = 0;
	}
	em_writer_table(w, shown, count);
	json_array_foreach(drives, i, drive) put_drive(w, drive, before, chosen, count);
	/* The table borrows this frame's columns. */
	em_writer_table(w, NULL, 0);
}

/* before is what parts it from what stands there already. */
static void add_count(struct em_buf *line, const char **before, unsigned count, const char *what)
{
	if (count == 0)
		return;
	em_buf_addf(line, "%s%u %s", *before, count, what);
	*before = ", ";
}

/* Drives that are in another state than ok, by state, in the order of the list. */
static void add_states(struct em_buf *line, const char **before, const json_t *drives)
{
	const json_t *drive, *other;
	size_t i, j;

	json_array_foreach(drives, i, drive)
	{
		const char *state = em_json_text(drive, "state");
		unsigned count = 0;
		bool told = false;

		if (!state || judge(drive) != OTHER_STATE)
			continue;
		json_array_foreach(drives, j, other)
		{
			const char *its = em_json_text(other, "state");

			if (!its || strcmp(its, state) != 0)
				continue;
			told = told || j < i;
			count++;
		}
		if (!told)
			add_count(line, before, count, state);
	}
}

static bool needs_eyes(const json_t *drive)
{
	const char *state = em_json_text(drive, "state");

	return judge(drive) != FINE && !(state && strcmp(state, "retired") == 0);
}

json_t *em_drives_worst_first(const json_t *drives)
{
	json_t *list = json_array(), *drive;
	size_t i;

	json_array_foreach(drives, i, drive) if (needs_eyes(drive)) json_array_append(list, drive);
	json_array_foreach(drives, i, drive) if (!needs_eyes(drive)) json_array_append(list, drive);
	return list;
}

void em_drive_sums(const json_t *drives, char buf[EM_VIEW_SIZE])
{
	em_cleanup(em_buf_done) struct em_buf line = { 0 };
	unsigned count[OTHER_STATE + 1] = { 0 }, total = (unsigned)json_array_size(drives);
	const char *before = ": ";
	const json_t *drive;
	size_t i;

	json_array_foreach(drives, i, drive) count[judge(drive)]++;
	em_buf_init(&line, LINE_MAX_LEN);
	em_buf_addf(&line, "%u drive%s", total, total == 1 ? "" : "s");
	add_count(&line, &before, count[FINE], "ok");
	add_states(&line, &before, drives);
	add_count(&line, &before, count[FAILING], "failing");
	add_count(&line, &before, count[DEGRADED], "degraded");
	add_count(&line, &before, count[WARNED], "with warnings");
	add_count(&line, &before, count[PATHLESS], "without all paths");
	add_count(&line, &before, count[OLD], "with old values");
	add_count(&line, &before, count[UNREAD], "not read yet");
	add_count(&line, &before, count[UNSURE], "of unknown health");
	snprintf(buf, EM_VIEW_SIZE, "%s", line.data ? line.data : "");
}
