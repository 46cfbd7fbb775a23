/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/web/handlers.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "daemon/web/json.h"
#include "daemon/web/metrics.h"
#include "lib/base/clock.h"
#include "lib/base/text.h"

#define RETRY_S 2

/* A name goes with its drive, so it does not find one that is gone; but it tells of it. */
static const struct em_drive_snap *find_gone(const struct em_snapshot *snap, const char *name)
{
	for (unsigned i = 0; i < snap->count; i++)
		if (em_drive_state_is_gone(snap->drives[i]->state) &&
		    !strcmp(snap->drives[i]->device, name))
			return snap->drives[i];
	return NULL;
}

static void reply_no_drive(const struct em_call *call, const char *name, struct em_reply *reply)
{
	const struct em_drive_snap *gone = find_gone(call->snap, name);
	char shown[EM_PATH_ARG_SIZE];

	em_text_clean(shown, sizeof(shown), name, strlen(name));
	if (gone)
		em_reply_problem(reply, call, 404,
				 "No drive has the device name \"%s\" now. %s, serial %s, had it "
				 "and is %s; name that one by its serial or by its id %s.",
				 shown, gone->model, gone->serial, em_drive_state_name(gone->state),
				 gone->id);
	else
		em_reply_problem(reply, call, 404,
				 "There is no drive with the id, serial or device name \"%s\". GET "
				 "/v1/drives lists them.",
				 shown);
}

const struct em_drive_snap *em_call_find_drive(const struct em_call *call, const char *name,
					       struct em_reply *reply)
{
	char shown[EM_PATH_ARG_SIZE];
	int index = em_snapshot_find(call->snap, name);

	if (index >= 0)
		return call->snap->drives[index];
	if (index != -ENOTUNIQ) {
		reply_no_drive(call, name, reply);
		return NULL;
	}
	em_text_clean(shown, sizeof(shown), name, strlen(name));
	em_reply_problem(reply, call, 409,
			 "\"%s\" fits more than one drive. Give more characters, or the id; GET "
			 "/v1/drives lists them.",
			 shown);
	return NULL;
}

const struct em_drive_snap *em_call_drive(const struct em_call *call, struct em_reply *reply)
{
	return em_call_find_drive(call, call->id, reply);
}

void em_reply_unavailable(struct em_reply *reply, const struct em_call *call, const char *why)
{
	em_reply_problem(reply, call, 503, "%s", why);
	reply->retry_after_s = RETRY_S;
}

static void add_params(struct em_buf *buf, const struct em_route *route)
{
	for (unsigned i = 0; i < route->param_count; i++) {
		const struct em_param *param = &route->params[i];

		em_buf_addf(buf, "        %s%s%s%s  %s\n", param->name,
			    param->in_body ? " in the body: " : "=",
			    param->fallback ? param->fallback : "",
			    param->required ? "(required)" : "", param->help);
	}
}

void em_handle_index(struct em_call *call, struct em_reply *reply)
{
	struct em_buf buf;

	em_buf_init(&buf, EM_REPLY_MAX);
	em_buf_addf(&buf, "Ember %s\n\n", call->context->version);
	for (unsigned i = 0; i < em_route_count; i++) {
		em_buf_addf(&buf, "%s %s%s\n        %s\n", em_routes[i].method, em_routes[i].path,
			    em_routes[i].role == EM_ROLE_ADMIN ? " (admin)" : "",
			    em_routes[i].summary);
		add_params(&buf, &em_routes[i]);
	}
	em_buf_adds(&buf, "\n{id} is a drive's id, its serial, its device name (nvme0), or the "
			  "beginning of an id or serial that no other drive shares.\n");
	em_reply_text(reply, &buf, EM_TYPE_TEXT);
}

static void count_states(const struct em_snapshot *snap, unsigned count[EM_STATE_COUNT])
{
	memset(count, 0, EM_STATE_COUNT * sizeof(*count));
	for (unsigned i = 0; i < snap->count; i++)
		count[snap->drives[i]->state]++;
}

static json_t *states_json(const struct em_snapshot *snap)
{
	unsigned count[EM_STATE_COUNT];
	json_t *object = json_pack("{s:i}", "total", (int)snap->count);

	count_states(snap, count);
	for (unsigned s = 0; object && s < EM_STATE_COUNT; s++) {
		if (json_object_set_new(object, em_drive_state_name(s), json_integer(count[s])) ==
		    0)
			continue;
		json_decref(object);
		return NULL;
	}
	return object;
}

static void get_store_status(const struct em_context *context, struct em_store_status *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (context->store)
		em_store_get_status(context->store, ret);
	else
		snprintf(ret->detail, sizeof(ret->detail), "no database is open");
}

static json_t *store_json(const struct em_store_status *status)
{
	return json_pack("{s:s, s:s?, s:I, s:I, s:I}", "status", status->ok ? "ok" : "degraded",
			 "detail", status->ok ? NULL : status->detail, "queued",
			 (json_int_t)status->queued, "written_total", (json_int_t)status->written,
			 "dropped_total", (json_int_t)status->dropped);
}

static int add_reason(json_t *list, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int add_reason(json_t *list, const char *format, ...)
{
	char text[320];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	return json_array_append_new(list, json_string(text));
}

/* Of the network's listener. */
static int add_network_reasons(json_t *list, const struct em_call *call)
{
	const struct em_context *context = call->context;
	int64_t expires = context->certificate_expires_us;
	int r = 0;

	if (expires && expires <= call->now_us)
		r |= add_reason(list, "the certificate for HTTPS has expired: clients refuse it");
	if (expires && context->tokens_trouble)
		r |= add_reason(list, "%s: nobody gets in over the network",
				context->tokens_trouble);
	return r;
}

/* What keeps Ember from doing its work; an unwell drive that answers is not among it. */
static json_t *reasons_json(const struct em_call *call, const struct em_store_status *store)
{
	const struct em_snapshot *snap = call->snap;
	json_t *list = json_array();
	char jobs[EM_JOBS_PROBLEM_SIZE];
	int r = 0;

	if (!list)
		return NULL;
	if (!snap->broker_connected)
		r |= add_reason(list, "the broker is not connected: no drive can be read");
	if (!store->ok)
		r |= add_reason(list, "history is not being written: %s", store->detail);
	if (em_jobs_problem(call->context->jobs, jobs))
		r |= add_reason(list, "%s", jobs);
	r |= add_network_reasons(list, call);
	for (unsigned i = 0; i < snap->count; i++) {
		const struct em_drive_snap *drive = snap->drives[i];

		if (drive->state == EM_STATE_UNRESPONSIVE)
			r |= add_reason(list, "%s (%s) does not answer", drive->device,
					drive->serial);
	}
	if (r == 0)
		return list;
	json_decref(list);
	return NULL;
}

static json_t *listeners_json(const struct em_context *context)
{
	json_t *list = json_array();

	for (unsigned i = 0; list && i < context->listener_count; i++) {
		const struct em_listener_info *info = &context->listeners[i];
		json_t *entry =
			json_pack("{s:s, s:s}", "kind", info->kind, "address", info->address);

		if (json_array_append_new(list, entry) == 0)
			continue;
		json_decref(list);
		return NULL;
	}
	return list;
}

void em_handle_health(struct em_call *call, struct em_reply *reply)
{
	const struct em_snapshot *snap = call->snap;
	struct em_store_status store;
	json_t *reasons;
	uint64_t up = call->now_mono_us - call->context->started_mono_us;

	get_store_status(call->context, &store);
	reasons = reasons_json(call, &store);
	/* clang-format off */
	em_reply_json(reply, json_pack("{s:s, s:o, s:s, s:o, s:f, s:{s:b, s:I}, s:o, s:o, s:o, s:o}",
				       "status", json_array_size(reasons) ? "degraded" : "ok",
				       "reasons", reasons,
				       "version", call->context->version,
				       "started_at", em_json_time(call->context->started_us),
				       "uptime_seconds", (double)(up / 1000) / 1000.0,
				       "broker", "connected", snap->broker_connected,
						 "requests_total", (json_int_t)snap->broker_requests,
				       "store", store_json(&store),
				       "drives", states_json(snap),
				       "listeners", listeners_json(call->context),
				       "certificate_expires_at",
				       em_json_time(call->context->certificate_expires_us)));
	/* clang-format on */
}

static json_t *page_state_json(const struct em_page *page, const struct em_page_read *read,
			       const struct em_call *call)
{
	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "page", page->key, "status",
			 em_read_status_name(read->status), "status_detail",
			 em_json_status_detail(read), "attempted_at",
			 em_json_time(read->attempted_us), "read_at",
			 em_json_time(read->data ? read->read_us : 0), "age_seconds",
			 em_json_age(read, call), "interval_seconds", em_json_interval(read));
}

static json_t *pages_json(const struct em_drive_snap *drive, const struct em_call *call)
{
	json_t *list = json_array();

	for (unsigned p = 0; list && p < EM_PAGE_CTRL_COUNT; p++) {
		json_t *page = page_state_json(em_pages[p], &drive->pages[p], call);

		if (json_array_append_new(list, page) == 0)
			continue;
		json_decref(list);
		return NULL;
	}
	return list;
}

static json_t *nsids_json(const struct em_drive_snap *drive)
{
	json_t *list = json_array();

	for (unsigned i = 0; list && i < drive->namespace_count; i++) {
		if (json_array_append_new(list, json_integer(drive->namespaces[i].nsid)) == 0)
			continue;
		json_decref(list);
		return NULL;
	}
	return list;
}

static json_t *polls_json(const struct em_drive_snap *drive)
{
	uint64_t errors = 0;

	for (unsigned i = 0; i < EM_READ_COUNT; i++)
		errors += drive->errors[i];
	return json_pack("{s:I, s:I, s:I, s:I, s:I}", "commands_total", (json_int_t)drive->commands,
			 "errors_total", (json_int_t)errors, "misses", (json_int_t)drive->misses,
			 "last_duration_us", (json_int_t)drive->last_duration_us, "events_total",
			 (json_int_t)drive->events);
}

void em_handle_drive(struct em_call *call, struct em_reply *reply)
{
	const struct em_drive_snap *drive = em_call_drive(call, reply);
	json_t *object;

	if (!drive)
		return;
	object = em_json_summary(drive, call);
	if (object && (json_object_set_new(object, "pages", pages_json(drive, call)) < 0 ||
		       json_object_set_new(object, "namespaces", nsids_json(drive)) < 0 ||
		       json_object_set_new(object, "polls", polls_json(drive)) < 0)) {
		json_decref(object);
		object = NULL;
	}
	em_reply_json(reply, object);
}

void em_handle_page(struct em_call *call, struct em_reply *reply)
{
	const struct em_drive_snap *drive = em_call_drive(call, reply);
	enum em_page_id id = call->route->page;

	if (drive)
		em_reply_json(reply, em_json_page(drive, em_pages[id], &drive->pages[id], call));
}

static json_t *namespace_json(const struct em_drive_snap *drive, const struct em_namespace_snap *ns,
			      const struct em_call *call)
{
	const struct em_page_read *read = &ns->page;
	json_t *values = em_json_values(em_pages[EM_PAGE_IDENTIFY_NS], read->data, &drive->ctx);

	return json_pack("{s:I, s:b, s:s, s:o, s:o, s:o, s:b, s:o}", "nsid", (json_int_t)ns->nsid,
			 "attached", ns->attached, "status", em_read_status_name(read->status),
			 "status_detail", em_json_status_detail(read), "read_at",
			 em_json_time(read->data ? read->read_us : 0), "age_seconds",
			 em_json_age(read, call), "valid", read->data != NULL, "values", values);
}

/* The list has times but no bytes, so em_page_read_age_us() knows no age of it. */
static json_t *list_age_json(const struct em_page_read *list, const struct em_call *call)
{
	int64_t age = list->read_mono_us ? (int64_t)(call->now_mono_us - list->read_mono_us)
					 : call->now_us - list->read_us;

	if (!list->read_us)
		return json_null();
	return json_real(age > 0 ? (double)(age / 1000) / 1000.0 : 0);
}

void em_handle_namespaces(struct em_call *call, struct em_reply *reply)
{
	const struct em_drive_snap *drive = em_call_drive(call, reply);
	json_t *list;

	if (!drive)
		return;
	list = json_array();
	for (unsigned i = 0; list && i < drive->namespace_count; i++) {
		json_t *ns = namespace_json(drive, &drive->namespaces[i], call);

		if (json_array_append_new(list, ns) == 0)
			continue;
		json_decref(list);
		list = NULL;
	}
	em_reply_json(reply,
		      json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:s, s:o}", "drive", drive->id,
				"device", drive->device, "serial", drive->serial, "state",
				em_drive_state_name(drive->state), "list_read_at",
				em_json_time(drive->namespace_list.read_us), "list_age_seconds",
				list_age_json(&drive->namespace_list, call), "list_status",
				em_read_status_name(drive->namespace_list.status), "namespaces",
				list));
}

static json_t *if_known(bool known, unsigned value)
{
	return known ? json_integer(value) : json_null();
}

void em_handle_capacitor(struct em_call *call, struct em_reply *reply)
{
	const struct em_drive_snap *drive = em_call_drive(call, reply);
	const struct em_page_read *read;
	struct em_capacitor c;

	if (!drive)
		return;
	c = em_drive_snap_capacitor(drive);
	read = em_drive_snap_capacitor_read(drive, &c);
	/* clang-format off */
	em_reply_json(reply, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s?, s:o, s:o, s:o, s:o, s:o, s:o}",
				       "drive", drive->id, "device", drive->device, "serial", drive->serial,
				       "state", em_drive_state_name(drive->state),
				       "health", em_capacitor_state_name(c.state),
				       "source", em_capacitor_source_name(c.source),
				       "confidence", read ? em_trust_name(c.trust) : NULL,
				       "health_percent", if_known(c.has_percent, c.health_percent),
				       "capacitance", if_known(c.has_capacitance, c.capacitance),
				       "nominal_capacitance",
				       if_known(c.has_capacitance, c.nominal_capacitance),
				       "threshold_capacitance",
				       if_known(c.has_capacitance, c.threshold_capacitance),
				       "read_at", em_json_time(read ? read->read_us : 0),
				       "age_seconds", read ? em_json_age(read, call) : json_null()));
	/* clang-format on */
}

void em_handle_metrics(struct em_call *call, struct em_reply *reply)
{
	uint64_t events[EM_EVENT_KIND_COUNT];
	struct em_store_status store;
	struct em_buf buf;

	get_store_status(call->context, &store);
	em_buf_init(&buf, EM_REPLY_MAX);
	em_metrics_write(call->context->metrics, call->snap, &store, call->context->version,
			 call->now_mono_us, call->now_us, &buf);
	if (call->context->events)
		em_event_log_counts(call->context->events, events);
	em_metrics_write_service(call->context->events ? events : NULL,
				 call->context->certificate_expires_us, &buf);
	em_reply_text(reply, &buf, EM_TYPE_METRICS);
}

void em_handle_openapi(struct em_call *call, struct em_reply *reply)
{
	struct em_buf buf;

	em_buf_init(&buf, EM_REPLY_MAX);
	em_buf_add(&buf, call->context->openapi, call->context->openapi_len);
	em_reply_text(reply, &buf, EM_TYPE_JSON);
}
