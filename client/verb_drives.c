/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include "client/api.h"
#include "client/human.h"
#include "client/view.h"
#include "lib/base/buf.h"
#include "lib/base/cleanup.h"

#define LINE_MAX_LEN 4096u /* of the sums: states are few */

enum column {
	COL_DEVICE,
	COL_STATE,
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
	[COL_TEMPERATURE] = { .title = "Temp", .right = true, .rank = 2 },
	[COL_USED] = { .title = "Used", .right = true, .rank = 4 },
	[COL_SPARE] = { .title = "Spare", .right = true, .rank = 7 },
	[COL_WARNINGS] = { .title = "Warnings", .rank = 1, .shortest = 12 },
	[COL_AGE] = { .title = "Read", .right = true, .rank = 3 },
	[COL_MODEL] = { .title = "Model", .rank = 6, .shortest = 14 },
	[COL_SERIAL] = { .title = "Serial", .rank = 5 },
	[COL_FIRMWARE] = { .title = "Firmware", .rank = 8 },
};

/* Which value of the SMART page a column shows; its unit comes from the row. */
static const char *const value_keys[COL_COUNT] = {
	[COL_TEMPERATURE] = "temperature_celsius",
	[COL_USED] = "percentage_used",
	[COL_SPARE] = "available_spare_percent",
};

static void fill_values(struct em_cell *cells, char texts[][EM_VIEW_SIZE], const json_t *smart,
			bool utf8, enum em_tone tone)
{
	for (unsigned i = 0; i < COL_COUNT; i++) {
		const struct em_field *field;

		if (!value_keys[i])
			continue;
		field = em_page_field(em_pages[EM_PAGE_SMART], value_keys[i]);
		cells[i].text = field ? em_view_value(field, smart, utf8, texts[i]) : NULL;
		cells[i].tone = tone;
	}
}

/* What a drive counts as in the line of sums, the worst that is true of it. */
enum verdict { FINE, WARNED, OLD, UNREAD, OTHER_STATE };

static enum verdict judge(const json_t *drive)
{
	const json_t *smart = json_object_get(drive, "smart");
	const char *state = em_json_text(drive, "state");
	double interval = 0, warnings = 0;

	em_json_number(smart, "interval_seconds", &interval);
	if (!state || strcmp(state, "ok") != 0)
		return OTHER_STATE;
	if (em_json_number(smart, "critical_warning", &warnings) && warnings != 0)
		return WARNED;
	if (!em_json_true(smart, "valid"))
		return UNREAD;
	return em_view_is_overdue(smart, interval) ? OLD : FINE;
}

/* The name of a drive in trouble is as loud as its trouble. */
static enum em_tone name_tone(enum verdict verdict, const char *state)
{
	switch (verdict) {
	case WARNED:
		return EM_TONE_BAD;
	case OLD:
		return EM_TONE_WARN;
	case OTHER_STATE:
		return em_view_state_tone(state);
	case FINE:
	case UNREAD:
		break;
	}
	return EM_TONE_STRONG;
}

static void put_drive(struct em_writer *w, const json_t *drive)
{
	const json_t *smart = json_object_get(drive, "smart");
	const char *state = em_json_text(drive, "state");
	enum verdict verdict = judge(drive);
	struct em_cell cells[COL_COUNT] = { 0 };
	char texts[COL_COUNT][EM_VIEW_SIZE];
	double interval = 0, warnings = 0;
	bool stale;

	em_json_number(smart, "interval_seconds", &interval);
	em_json_number(smart, "critical_warning", &warnings);
	stale = em_view_is_stale_state(state) || em_view_is_overdue(smart, interval);
	cells[COL_DEVICE] =
		(struct em_cell){ em_json_text(drive, "device"), name_tone(verdict, state) };
	cells[COL_STATE] = (struct em_cell){ state, em_view_state_tone(state) };
	cells[COL_MODEL].text = em_json_text(drive, "model");
	cells[COL_SERIAL].text = em_json_text(drive, "serial");
	cells[COL_FIRMWARE].text = em_json_text(drive, "firmware");
	cells[COL_AGE] = (struct em_cell){ em_view_age(smart, texts[COL_AGE]),
					   stale ? EM_TONE_WARN : EM_TONE_PLAIN };
	fill_values(cells, texts, smart, w->term.utf8, stale ? EM_TONE_DIM : EM_TONE_PLAIN);
	cells[COL_WARNINGS] = (struct em_cell){ em_view_warnings(smart, texts[COL_WARNINGS]),
						warnings != 0 ? EM_TONE_BAD
						: stale	      ? EM_TONE_DIM
							      : EM_TONE_PLAIN };
	em_writer_row(w, cells);
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

/* "8 drives: 6 ok, 1 unresponsive, 1 with warnings", for a person: a program counts the rows. */
static void put_sums(struct em_writer *w, const json_t *drives)
{
	em_cleanup(em_buf_done) struct em_buf line;
	unsigned count[OTHER_STATE + 1] = { 0 }, total = (unsigned)json_array_size(drives);
	const char *before = ": ";
	const json_t *drive;
	size_t i;

	json_array_foreach(drives, i, drive) count[judge(drive)]++;
	em_buf_init(&line, LINE_MAX_LEN);
	em_buf_addf(&line, "%u drive%s", total, total == 1 ? "" : "s");
	add_count(&line, &before, count[FINE], "ok");
	add_states(&line, &before, drives);
	add_count(&line, &before, count[WARNED], "with warnings");
	add_count(&line, &before, count[OLD], "with old values");
	add_count(&line, &before, count[UNREAD], "not read yet");
	if (!em_buf_failed(&line))
		em_writer_paragraph(w, (struct em_cell){ line.data, EM_TONE_STRONG });
}

enum em_exit em_verb_drives(struct em_client *client)
{
	em_cleanup(em_doc_done) struct em_doc doc = { 0 };
	enum em_exit code = em_api_get(client, "/v1/drives", &doc);
	const json_t *drives, *drive;
	size_t i;

	if (code != EM_EXIT_OK)
		return code;
	drives = json_object_get(doc.root, "drives");
	em_writer_document(client->writer, NULL, doc.text, doc.len);
	if (json_array_size(drives) == 0) {
		em_writer_paragraph(client->writer,
				    (struct em_cell){ "Ember knows of no NVMe drive on this host. "
						      "`emberctl health` says whether it may look.",
						      EM_TONE_PLAIN });
		return EM_EXIT_OK;
	}
	em_writer_table(client->writer, columns, COL_COUNT);
	json_array_foreach(drives, i, drive) put_drive(client->writer, drive);
	if (client->writer->term.tty)
		put_sums(client->writer, drives);
	return EM_EXIT_OK;
}
