/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/web/events.h"

#include <stdio.h>
#include <string.h>
#include "daemon/web/json.h"

static const char *or_null(const char *text)
{
	return *text ? text : NULL;
}

json_t *em_json_event(const struct em_event *event)
{
	enum em_event_kind_id kind;
	char id[24];

	/* A kind that a newer Ember wrote is no change that this one knows of. */
	if (em_event_kind_find(event->kind, &kind) < 0)
		kind = EM_EVENT_KIND_COUNT;
	snprintf(id, sizeof(id), "%lld", (long long)event->id);
	return json_pack("{s:s, s:o, s:s, s:b, s:s?, s:s?, s:s?, s:o, s:s?, s:s?, s:s?, s:s}", "id",
			 id, "at", em_json_time(event->at_us), "kind", event->kind, "change",
			 kind != EM_EVENT_KIND_COUNT && em_event_kind_is_change(kind), "drive",
			 or_null(event->drive), "device", or_null(event->device), "serial",
			 or_null(event->serial), "nsid",
			 event->nsid ? json_integer(event->nsid) : json_null(), "subject",
			 or_null(event->subject), "old_value", or_null(event->old_value),
			 "new_value", or_null(event->new_value), "summary", event->summary);
}

bool em_event_wanted(const struct em_event_filter *filter, const struct em_event *event)
{
	enum em_event_kind_id kind;

	if (filter->drive[0] && strcmp(filter->drive, event->drive))
		return false;
	if (em_event_kind_find(event->kind, &kind) < 0)
		return filter->kinds == EM_EVENT_KINDS_ALL;
	return filter->kinds >> kind & 1;
}

uint64_t em_event_changes(void)
{
	uint64_t kinds = 0;

	for (unsigned k = 0; k < EM_EVENT_KIND_COUNT; k++)
		if (em_event_kind_is_change(k))
			kinds |= UINT64_C(1) << k;
	return kinds;
}
