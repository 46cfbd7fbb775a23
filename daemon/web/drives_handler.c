/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include "daemon/web/cursor.h"
#include "daemon/web/handlers.h"
#include "daemon/web/json.h"
#include "lib/base/text.h"

/* Where a drive stands in the list: the snapshot's order, which outlasts the drive itself. */
struct place {
	uint8_t gone;
	char device[32], id[EM_DRIVE_ID_SIZE];
};
_Static_assert(sizeof(struct place) <= EM_CURSOR_PLACE_MAX, "a place fits into a cursor");

static void set_place(struct place *place, const struct em_drive_snap *drive)
{
	memset(place, 0, sizeof(*place));
	place->gone = em_drive_state_is_gone(drive->state);
	strcpy(place->device, drive->device);
	strcpy(place->id, drive->id);
}

static bool is_after(const struct place *place, const struct place *other)
{
	int device = strverscmp(place->device, other->device);

	if (place->gone != other->gone)
		return place->gone > other->gone;
	return device ? device > 0 : strcmp(place->id, other->id) > 0;
}

static uint64_t question(const struct em_call *call)
{
	const char *state = call->args[EM_DRIVES_STATE].text;

	return em_hash(em_hash(EM_HASH_START, call->route->op_id, strlen(call->route->op_id)),
		       state, strlen(state));
}

static bool read_cursor(const struct em_call *call, struct place *ret, struct em_reply *reply)
{
	const struct em_arg *cursor = &call->args[EM_DRIVES_CURSOR];
	size_t len = 0;

	memset(ret, 0, sizeof(*ret));
	if (!cursor->given)
		return true;
	if (em_cursor_parse(cursor->text, question(call), ret, sizeof(*ret), &len) == 0 &&
	    len == sizeof(*ret) && !ret->device[sizeof(ret->device) - 1] &&
	    !ret->id[sizeof(ret->id) - 1])
		return true;
	em_reply_problem(reply, call, 400, EM_BAD_CURSOR);
	return false;
}

static bool is_wanted(const struct em_call *call, const struct em_drive_snap *drive)
{
	const struct em_arg *state = &call->args[EM_DRIVES_STATE];

	return !state->given || (state->number >> drive->state & 1);
}

/* Takes list. */
static void answer(struct em_call *call, struct em_reply *reply, json_t *list,
		   const struct place *last)
{
	char cursor[EM_CURSOR_SIZE];

	if (last)
		em_cursor_format(cursor, question(call), last, sizeof(*last));
	em_reply_json(reply, json_pack("{s:o, s:o, s:s?}", "at", em_json_time(call->now_us),
				       "drives", list, "next_cursor", last ? cursor : NULL));
}

void em_handle_drives(struct em_call *call, struct em_reply *reply)
{
	struct place begin, last, place;
	bool more = false, after = call->args[EM_DRIVES_CURSOR].given;
	json_t *list;

	if (!read_cursor(call, &begin, reply))
		return;
	list = json_array();
	for (unsigned i = 0; list && !more && i < call->snap->count; i++) {
		const struct em_drive_snap *drive = call->snap->drives[i];

		set_place(&place, drive);
		if (!is_wanted(call, drive) || (after && !is_after(&place, &begin)))
			continue;
		more = json_array_size(list) == call->args[EM_DRIVES_LIMIT].number;
		if (more)
			break;
		last = place;
		if (json_array_append_new(list, em_json_summary(drive, call)) < 0) {
			json_decref(list);
			list = NULL;
		}
	}
	answer(call, reply, list, list && more ? &last : NULL);
}
