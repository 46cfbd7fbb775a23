/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/web/cursor.h"
#include "daemon/web/events.h"
#include "daemon/web/handlers.h"
#include "lib/base/cleanup.h"
#include "lib/base/le.h"
#include "lib/base/text.h"

EM_DEFINE_CLEANUP(struct em_store_reader, em_store_reader_close)

/* A list on its way. */
struct list {
	const struct em_event_filter *filter;
	struct em_store_event_range range;
	const char *kinds[EM_EVENT_KIND_COUNT];
	json_t *events;
	int64_t last_id; /* of the last event taken */
	bool more;
};

/* Kinds by the places of the route's set. */
static uint64_t wanted_kinds(const struct em_call *call, bool changes)
{
	const struct em_arg *kind = &call->args[EM_EVENTS_KIND];
	const struct em_name_set *set = call->route->params[EM_EVENTS_KIND].set;
	uint64_t kinds = 0;
	enum em_event_kind_id id;

	if (!kind->given)
		return changes ? em_event_changes() : EM_EVENT_KINDS_ALL;
	for (unsigned i = 0; i < set->count; i++)
		if (kind->number >> i & 1 && em_event_kind_find(set->name(i), &id) == 0)
			kinds |= UINT64_C(1) << id;
	return kinds;
}

static bool make_filter(const struct em_call *call, bool changes, struct em_event_filter *ret,
			struct em_reply *reply)
{
	const struct em_arg *name = &call->args[EM_EVENTS_DRIVE];
	const struct em_drive_snap *drive;

	*ret = (struct em_event_filter){ .kinds = wanted_kinds(call, changes) };
	if (!name->given)
		return true;
	drive = em_call_find_drive(call, name->text, reply);
	if (drive)
		strcpy(ret->drive, drive->id);
	return drive != NULL;
}

/* What makes a list has no meaning for a stream, which has no end. */
static bool check_stream(const struct em_call *call, struct em_reply *reply)
{
	static const unsigned of_lists[] = { EM_EVENTS_SINCE, EM_EVENTS_UNTIL, EM_EVENTS_ORDER,
					     EM_EVENTS_LIMIT, EM_EVENTS_CURSOR };

	for (size_t i = 0; i < EM_COUNT(of_lists); i++) {
		const struct em_arg *arg = &call->args[of_lists[i]];

		if (!arg->given || arg->fallback)
			continue;
		em_reply_problem(reply, call, 400,
				 "%s is for lists. A stream takes drive, kind and after.",
				 call->route->params[of_lists[i]].name);
		return false;
	}
	return true;
}

static void begin_stream(const struct em_call *call, const struct em_event_filter *filter,
			 struct em_reply *reply)
{
	int64_t oldest, newest;

	if (!check_stream(call, reply))
		return;
	if (!call->context->events) {
		em_reply_unavailable(reply, call, "No events are kept.");
		return;
	}
	em_event_log_bounds(call->context->events, &oldest, &newest);
	reply->events_after = newest;
	if (call->last_event_id >= 0)
		reply->events_after = call->last_event_id;
	else if (call->args[EM_EVENTS_AFTER].given)
		reply->events_after = (int64_t)call->args[EM_EVENTS_AFTER].number;
	reply->status = 200;
	reply->type = EM_TYPE_EVENTS;
	reply->events = true;
	reply->events_filter = *filter;
}

/* Of all that was asked but how much at once. */
static uint64_t question(const struct em_call *call)
{
	const char *op_id = call->route->op_id;
	uint64_t hash = em_hash(EM_HASH_START, op_id, strlen(op_id));

	for (unsigned i = 0; i < EM_EVENTS_LIMIT; i++)
		hash = em_hash(hash, call->args[i].text, strlen(call->args[i].text) + 1);
	return hash;
}

static bool read_cursor(const struct em_call *call, struct em_store_event_range *range,
			struct em_reply *reply)
{
	const struct em_arg *cursor = &call->args[EM_EVENTS_CURSOR];
	uint8_t place[8];
	size_t len = 0;

	if (!cursor->given)
		return true;
	if (em_cursor_parse(cursor->text, question(call), place, sizeof(place), &len) < 0 ||
	    len != sizeof(place)) {
		em_reply_problem(reply, call, 400, EM_BAD_CURSOR);
		return false;
	}
	if (range->newest_first)
		range->before_id = (int64_t)em_le64(place);
	else
		range->after_id = (int64_t)em_le64(place);
	return true;
}

/* Rows of the store and of memory alike; the one above the limit only says that it is there. */
static int take(void *userdata, const struct em_event *event)
{
	struct list *list = userdata;

	list->more = json_array_size(list->events) == list->range.limit;
	if (list->more)
		return 0;
	list->last_id = event->id;
	return json_array_append_new(list->events, em_json_event(event)) < 0 ? -ENOMEM : 0;
}

static bool in_range(const struct list *list, const struct em_event *event)
{
	const struct em_store_event_range *range = &list->range;

	return event->id > range->after_id && (!range->before_id || event->id < range->before_id) &&
	       event->at_us >= range->from_us && (!range->to_us || event->at_us < range->to_us) &&
	       em_event_wanted(list->filter, event);
}

static int take_memory(struct list *list, const struct em_event *events, unsigned count)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && !list->more && i < count; i++) {
		const struct em_event *event =
			&events[list->range.newest_first ? count - 1 - i : i];

		if (in_range(list, event))
			r = take(list, event);
	}
	return r;
}

/* Those before oldest_id, which memory begins with (0: it has none). */
static int take_store(struct list *list, struct em_store *store, int64_t oldest_id)
{
	em_cleanup(em_store_reader_closep) struct em_store_reader *reader = NULL;
	struct em_store_event_range range = list->range;
	int r;

	if (!store || list->more)
		return 0;
	r = em_store_reader_open(store, &reader);
	if (r < 0)
		return r;
	if (oldest_id && (!range.before_id || oldest_id < range.before_id))
		range.before_id = oldest_id;
	range.limit = range.limit - (unsigned)json_array_size(list->events) + 1;
	r = em_store_events(reader, &range, take, list);
	return r < 0 ? r : 0;
}

static int fill(struct list *list, const struct em_context *context, int64_t *ret_newest)
{
	em_cleanup(em_freep) struct em_event *events = NULL;
	unsigned count = 0;
	int64_t oldest;
	int r = 0;

	if (context->events) {
		events = malloc(EM_EVENT_LOG_MAX * sizeof(*events));
		if (!events)
			return -ENOMEM;
		count = em_event_log_read(context->events, 0, events, EM_EVENT_LOG_MAX);
	}
	oldest = count ? events[0].id : 0;
	*ret_newest = count ? events[count - 1].id : 0;
	if (!list->range.newest_first)
		r = take_store(list, context->store, oldest);
	if (r == 0)
		r = take_memory(list, events, count);
	if (r == 0 && list->range.newest_first)
		r = take_store(list, context->store, oldest);
	return r;
}

static void set_range(struct list *list, const struct em_call *call)
{
	struct em_store_event_range *range = &list->range;

	*range = (struct em_store_event_range){
		.after_id = (int64_t)call->args[EM_EVENTS_AFTER].number,
		.from_us = call->args[EM_EVENTS_SINCE].time_us,
		.to_us = call->args[EM_EVENTS_UNTIL].time_us,
		.drive_id = list->filter->drive[0] ? list->filter->drive : NULL,
		.limit = (unsigned)call->args[EM_EVENTS_LIMIT].number,
		.newest_first = call->args[EM_EVENTS_ORDER].number == EM_ORDER_NEWEST,
		.deadline_us = call->now_mono_us + EM_WAIT_US,
	};
	if (list->filter->kinds == EM_EVENT_KINDS_ALL)
		return;
	range->kinds = list->kinds;
	for (unsigned k = 0; k < EM_EVENT_KIND_COUNT; k++)
		if (list->filter->kinds >> k & 1)
			list->kinds[range->kind_count++] = em_event_kind_name(k);
}

/* null for 0 */
static json_t *id_json(int64_t id)
{
	return id ? json_sprintf("%lld", (long long)id) : json_null();
}

static void answer(struct list *list, const struct em_call *call, int64_t newest,
		   struct em_reply *reply)
{
	char cursor[EM_CURSOR_SIZE];
	uint8_t place[8];

	em_put_le64(place, (uint64_t)list->last_id);
	em_cursor_format(cursor, question(call), place, sizeof(place));
	em_reply_json(reply, json_pack("{s:O, s:s?, s:o}", "events", list->events, "next_cursor",
				       list->more ? cursor : NULL, "newest_id", id_json(newest)));
}

static void answer_list(struct em_call *call, const struct em_event_filter *filter,
			struct em_reply *reply)
{
	struct list list = { .filter = filter };
	int64_t newest = 0;
	int r;

	if (!call->context->events && !call->context->store) {
		em_reply_unavailable(reply, call, "No events are kept.");
		return;
	}
	set_range(&list, call);
	if (list.range.to_us && list.range.from_us > list.range.to_us) {
		em_reply_problem(reply, call, 400, "since is after until.");
		return;
	}
	if (!read_cursor(call, &list.range, reply))
		return;
	list.events = json_array();
	r = list.events ? fill(&list, call->context, &newest) : -ENOMEM;
	if (r == 0)
		answer(&list, call, newest, reply);
	else if (r == -ENOMEM)
		em_reply_problem(reply, call, 500, "Memory is short.");
	else if (r == -ETIMEDOUT)
		em_reply_unavailable(reply, call,
				     "Reading the events took too long. Ask for less "
				     "time, or for one drive.");
	else
		em_reply_unavailable(reply, call,
				     "Older events cannot be read now. GET /v1/health "
				     "says how the database is; try again later.");
	json_decref(list.events);
}

static void handle(struct em_call *call, bool changes, struct em_reply *reply)
{
	struct em_event_filter filter;

	if (!make_filter(call, changes, &filter, reply))
		return;
	if (call->wants_events)
		begin_stream(call, &filter, reply);
	else
		answer_list(call, &filter, reply);
}

void em_handle_events(struct em_call *call, struct em_reply *reply)
{
	handle(call, false, reply);
}

void em_handle_changes(struct em_call *call, struct em_reply *reply)
{
	handle(call, true, reply);
}
