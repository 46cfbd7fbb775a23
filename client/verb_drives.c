/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include "client/api.h"
#include "client/drive_table.h"
#include "lib/base/cleanup.h"

static const char *const paths[] = {
	"device",
	"state",
	"health",
	"health_reason",
	"state_since",
	"id",
	"serial",
	"model",
	"firmware",
	"address",
	"transport",
	"subsystem_nqn",
	"capacity_bytes",
	"last_answer_at",
	"smart.read_at",
	"smart.critical_warning",
	"smart.critical_warning_bits",
	"smart.temperature_celsius",
	"smart.percentage_used",
	"smart.available_spare_percent",
	"smart.media_errors",
	"smart.power_on_hours",
};

/* The first drive that is missed, and how many are. */
static const json_t *find_removed(const json_t *drives, unsigned *ret_count)
{
	const json_t *drive, *first = NULL;
	size_t i;

	*ret_count = 0;
	json_array_foreach(drives, i, drive)
	{
		const char *state = em_json_text(drive, "state");

		if (!state || strcmp(state, "removed") != 0)
			continue;
		first = first ? first : drive;
		++*ret_count;
	}
	return first;
}

/* For a person: what is wrong, and what to do about a drive that is not there. */
static void sum_up(struct em_writer *w, const json_t *drives)
{
	char line[EM_VIEW_SIZE];
	unsigned count;
	const json_t *removed = find_removed(drives, &count);
	const char *serial = em_json_text(removed, "serial");
	const char *device = em_json_text(removed, "device");

	em_drive_sums(drives, line);
	em_writer_paragraph(w, (struct em_cell){ line, EM_TONE_STRONG });
	if (!serial)
		return;
	snprintf(line, sizeof(line),
		 "%.40s%s missed. Taken away on purpose? Then: emberctl retire %.100s",
		 device && *device ? device : serial, count == 1 ? " is" : " and others are",
		 serial);
	em_writer_paragraph(w, (struct em_cell){ line, EM_TONE_DIM });
}

enum em_exit em_verb_drives(struct em_client *client)
{
	em_cleanup(em_doc_done) struct em_doc doc = { 0 };
	enum em_exit code = em_api_get_list(client, "/v1/drives", "drives", 0, &doc);
	struct em_writer *w = client->writer;
	const json_t *drives;

	if (code != EM_EXIT_OK)
		return code;
	drives = json_object_get(doc.root, "drives");
	em_writer_document(w, NULL, doc.text, doc.len);
	em_writer_records(w, drives, paths, EM_COUNT(paths));
	if (json_array_size(drives) == 0) {
		em_writer_paragraph(w, (struct em_cell){ "Ember knows of no NVMe drive on this "
							 "host. `emberctl health` says whether "
							 "it may look.",
							 EM_TONE_PLAIN });
		return EM_EXIT_OK;
	}
	em_drive_table(w, drives, NULL);
	if (w->term.tty)
		sum_up(w, drives);
	return EM_EXIT_OK;
}
