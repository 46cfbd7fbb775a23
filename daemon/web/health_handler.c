/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/web/handlers.h"
#include "daemon/web/json.h"

static json_t *number_json(bool given, int64_t number)
{
	return given ? json_integer(number) : json_null();
}

static const char *or_null(const char *text)
{
	return text && *text ? text : NULL;
}

/* clang-format off */
static json_t *reason_json(const struct em_finding *reason, const struct em_drive_snap *drive,
			   const struct em_call *call)
{
	const struct em_page_read *read = reason->page >= 0 ? &drive->pages[reason->page] : NULL;

	return json_pack("{s:s, s:s, s:s?, s:s?, s:o, s:o, s:s, s:s, s:s?, s:s?, s:o, s:o}",
			 "rule", reason->rule,
			 "severity", em_severity_name(reason->severity),
			 "page", read ? em_pages[reason->page]->key : NULL,
			 "field", reason->field,
			 "value", number_json(reason->has_value, reason->value),
			 "limit", number_json(reason->has_limit, reason->limit),
			 "confidence", em_trust_name(reason->trust),
			 "text", reason->text,
			 "detail", reason->detail,
			 "next_step", or_null(reason->next_step),
			 "read_at", em_json_time(read && read->data ? read->read_us : 0),
			 "age_seconds", read ? em_json_age(read, call) : json_null());
}
/* clang-format on */

static json_t *reasons_json(const struct em_health *health, const struct em_drive_snap *drive,
			    const struct em_call *call)
{
	json_t *list = json_array();

	for (unsigned i = 0; list && i < health->count; i++) {
		json_t *reason = reason_json(&health->reasons[i], drive, call);

		if (json_array_append_new(list, reason) == 0)
			continue;
		json_decref(list);
		return NULL;
	}
	return list;
}

void em_handle_drive_health(struct em_call *call, struct em_reply *reply)
{
	const struct em_drive_snap *drive = em_call_drive(call, reply);
	struct em_health health;

	if (!drive)
		return;
	em_drive_snap_health(drive, call->now_mono_us, call->now_us, &health);
	/* clang-format off */
	em_reply_json(reply, json_pack("{s:s, s:s, s:s, s:s, s:s?, s:s, s:s, s:o}",
				       "drive", drive->id, "device", drive->device, "serial", drive->serial,
				       "state", em_drive_state_name(drive->state),
				       "model", or_null(drive->model),
				       "health", em_verdict_name(health.verdict),
				       "capacitor",
				       em_capacitor_state_name(em_drive_snap_capacitor(drive).state),
				       "reasons", reasons_json(&health, drive, call)));
	/* clang-format on */
}
