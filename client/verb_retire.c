/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include "client/api.h"
#include "client/ask.h"
#include "client/view.h"
#include "lib/base/cleanup.h"

static bool has_state(const json_t *drive, const char *state)
{
	const char *its = em_json_text(drive, "state");

	return its && strcmp(its, state) == 0;
}

/* "nvme3, P6530DTM0384T00, serial SH0003" */
static const char *describe(const json_t *drive, char buf[EM_VIEW_SIZE])
{
	const char *device = em_json_text(drive, "device"), *model = em_json_text(drive, "model");
	const char *serial = em_json_text(drive, "serial");

	snprintf(buf, EM_VIEW_SIZE, "%.40s%s%.80s, serial %.80s", device ? device : "",
		 device && *device ? ", " : "", model ? model : "unknown model",
		 serial ? serial : "unknown");
	return buf;
}

/* What emberd would refuse is told before anybody is asked, with what to do instead. */
static enum em_exit check_state(struct em_client *client, const json_t *drive, bool undo)
{
	const char *wanted = undo ? "retired" : "removed";
	const char *state = em_json_text(drive, "state");
	char name[EM_VIEW_SIZE];

	if (has_state(drive, wanted))
		return EM_EXIT_OK;
	describe(drive, name);
	if (undo)
		return em_client_complain(
			client, EM_EXIT_FAILED,
			"%s, is not retired but %s. There is nothing to take back.", name,
			state ? state : "unknown");
	if (has_state(drive, "retired"))
		return em_client_complain(client, EM_EXIT_FAILED,
					  "%s, is retired already. --undo takes that back.", name);
	return em_client_complain(client, EM_EXIT_FAILED,
				  "%s, is %s. Only a removed drive can be retired: take it out "
				  "first, then retire it.",
				  name, state ? state : "unknown");
}

static enum em_exit confirm(struct em_client *client, const json_t *drive)
{
	char name[EM_VIEW_SIZE], since[EM_VIEW_SIZE];
	const char *time = em_view_time(em_json_text(drive, "state_since"), since);

	em_client_complain(client, EM_EXIT_OK, "%s, is removed%s%s. Its history stays.",
			   describe(drive, name), time ? " since " : "", time ? time : "");
	return em_ask(client, "Was it taken away on purpose, and shall no longer be missed?",
		      "--yes");
}

enum em_exit em_verb_retire(struct em_client *client)
{
	bool undo = em_client_option(client, "--undo");
	em_cleanup(em_freep) char *path = em_api_drive_path(client->args[0], "");
	em_cleanup(em_freep) char *order = NULL;
	em_cleanup(em_doc_done) struct em_doc drive = { 0 };
	em_cleanup(em_doc_done) struct em_doc reply = { 0 };
	enum em_exit code = em_api_get(client, path, &drive);
	const char *id = em_json_text(drive.root, "id");
	char name[EM_VIEW_SIZE], line[2 * EM_VIEW_SIZE];

	if (code == EM_EXIT_OK)
		code = check_state(client, drive.root, undo);
	if (code == EM_EXIT_OK && !undo && !em_client_option(client, "--yes"))
		code = confirm(client, drive.root);
	if (code != EM_EXIT_OK)
		return code;
	order = em_api_drive_path(id ? id : client->args[0], undo ? "/unretire" : "/retire");
	code = em_api_request(client, "POST", order, NULL, &reply);
	if (code != EM_EXIT_OK)
		return code;
	em_writer_document(client->writer, NULL, reply.text, reply.len);
	snprintf(line, sizeof(line), "%s, is %s.", describe(drive.root, name),
		 undo ? "missed again" : "retired");
	em_writer_paragraph(client->writer, (struct em_cell){ line, EM_TONE_PLAIN });
	return EM_EXIT_OK;
}
