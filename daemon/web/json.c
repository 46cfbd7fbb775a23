/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/web/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/web/call.h"
#include "lib/base/clock.h"
#include "lib/nvme/status.h"

/* clang-format off */
const char *const em_summary_keys[] = {
	"critical_warning", "temperature_celsius", "percentage_used", "available_spare_percent",
	"media_errors", "power_on_hours", NULL,
};
/* clang-format on */

#define CAPACITY_KEY "total_capacity_bytes"

json_t *em_json_time(int64_t realtime_us)
{
	char buf[EM_TIME_SIZE];

	return realtime_us ? json_string(em_time_format(buf, realtime_us)) : json_null();
}

json_t *em_json_age(const struct em_page_read *read, const struct em_call *call)
{
	int64_t age = em_page_read_age_us(read, call->now_mono_us, call->now_us);

	return age < 0 ? json_null() : json_real((double)(age / 1000) / 1000.0);
}

json_t *em_json_interval(const struct em_page_read *read)
{
	return read->interval_us ? json_real((double)read->interval_us / 1e6) : json_null();
}

static json_t *value_json(const struct em_field *field, const struct em_value *value)
{
	char buf[EM_VALUE_TEXT_SIZE];
	const char *text;

	if (value->kind == EM_V_ABSENT)
		return json_null();
	text = em_value_text(field, value, buf);
	switch (em_field_json_type(field)) {
	case EM_JSON_INTEGER:
		return json_integer(strtoll(text, NULL, 10));
	case EM_JSON_BOOLEAN:
		return json_boolean(value->number != 0);
	case EM_JSON_DECIMAL_STRING:
	case EM_JSON_STRING:
		break;
	}
	return json_string(text);
}

static json_t *bits_json(const struct em_field *field, const struct em_value *value)
{
	json_t *list;
	char buf[EM_BIT_NAME_SIZE];

	if (value->kind == EM_V_ABSENT)
		return json_null();
	list = json_array();
	for (unsigned bit = 0; list && bit < 64; bit++) {
		if (!(value->number >> bit & 1))
			continue;
		if (json_array_append_new(list, json_string(em_field_bit_name(field, bit, buf))) <
		    0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static int put_value(json_t *object, const struct em_field *field, const struct em_value *value)
{
	char key[64];

	if (json_object_set_new(object, field->key, value_json(field, value)) < 0)
		return -1;
	if (field->type != EM_BITS)
		return 0;
	snprintf(key, sizeof(key), "%s" EM_BITS_SUFFIX, field->key);
	return json_object_set_new(object, key, bits_json(field, value));
}

/* The fields of a page or an entry; no bytes (NULL): all absent. */
static int put_fields(json_t *object, const struct em_field *fields, unsigned count,
		      const uint8_t *bytes, size_t len, const struct em_nvme_ctx *ctx)
{
	for (unsigned i = 0; i < count; i++) {
		struct em_value value = { .kind = EM_V_ABSENT };

		if (bytes)
			em_field_get(&fields[i], bytes, len, ctx, &value);
		if (put_value(object, &fields[i], &value) < 0)
			return -1;
	}
	return 0;
}

static json_t *entry_json(const struct em_group *group, unsigned index, const uint8_t *entry,
			  size_t len, const struct em_nvme_ctx *ctx)
{
	json_t *object = json_object();
	struct em_value extra = { .kind = EM_V_ABSENT };

	if (!object)
		return NULL;
	if (group->index_key &&
	    json_object_set_new(object, group->index_key,
				json_integer(em_group_number(group, index))) < 0)
		goto fail;
	if (put_fields(object, group->fields, group->field_count, entry, len, ctx) < 0)
		goto fail;
	if (group->extra) {
		group->extra_get(ctx, index, &extra);
		if (put_value(object, group->extra, &extra) < 0)
			goto fail;
	}
	return object;
fail:
	json_decref(object);
	return NULL;
}

static int put_group(json_t *object, const struct em_group *group, const struct em_blob *data,
		     const struct em_nvme_ctx *ctx)
{
	unsigned count = em_group_present(group, ctx), unused = 0;
	json_t *list = json_array();

	if (!list || json_object_set_new(object, group->key, list) < 0)
		return -1;
	for (unsigned i = 0; i < count; i++) {
		uint8_t scratch[EM_ENTRY_SCRATCH];
		const uint8_t *entry = em_group_entry(group, data->data, data->len, i, scratch);

		if (!entry)
			continue;
		if (group->unused && group->unused(entry)) {
			unused++;
			continue;
		}
		if (json_array_append_new(list, entry_json(group, i, entry, group->stride, ctx)) <
		    0)
			return -1;
	}
	if (!group->unused_key)
		return 0;
	return json_object_set_new(object, group->unused_key, json_integer(unused));
}

static int put_no_group(json_t *object, const struct em_group *group)
{
	if (json_object_set_new(object, group->key, json_null()) < 0)
		return -1;
	if (!group->unused_key)
		return 0;
	return json_object_set_new(object, group->unused_key, json_null());
}

json_t *em_json_values(const struct em_page *page, const struct em_blob *data,
		       const struct em_nvme_ctx *ctx)
{
	json_t *object = json_object();

	if (!object)
		return NULL;
	if (put_fields(object, page->fields, page->field_count, data ? data->data : NULL,
		       data ? data->len : 0, ctx) < 0)
		goto fail;
	for (unsigned i = 0; i < page->group_count; i++) {
		const struct em_group *group = &page->groups[i];
		int r = data ? put_group(object, group, data, ctx) : put_no_group(object, group);

		if (r < 0)
			goto fail;
	}
	return object;
fail:
	json_decref(object);
	return NULL;
}

static const char *no_reading_text(const struct em_page_read *read)
{
	return em_page_state_text(read->zeroes ? EM_PAGE_ALL_ZERO : EM_PAGE_ALL_ONES);
}

static const char *status_text(const struct em_page_read *read)
{
	switch (read->status) {
	case EM_READ_OK:
		return NULL;
	case EM_READ_NEVER:
		return read->data ? "not read yet since Ember was started" : "not read yet";
	case EM_READ_NO_READING:
		return no_reading_text(read);
	case EM_READ_SHORT:
		return "the drive answered fewer bytes than the page has";
	case EM_READ_REFUSED:
	case EM_READ_STATUS:
		return em_status_find(read->nvme_status)->text;
	case EM_READ_UNSUPPORTED:
		return "the drive does not announce this page, so it is not asked for it";
	case EM_READ_TIMEOUT:
		return "the drive did not answer in time";
	case EM_READ_STUCK:
		return "an earlier command to this drive has not come back yet";
	case EM_READ_BUSY:
		return "the kernel is resetting the controller";
	case EM_READ_GONE:
		return "the drive is gone";
	case EM_READ_DENIED:
		return "the broker's policy does not allow it; see policy.conf";
	case EM_READ_NEEDS_CONFIRMATION:
		return "the broker's policy asks for root's confirmation; see policy.conf";
	case EM_READ_HOST_ERROR:
		return strerrordesc_np(abs(read->err));
	case EM_READ_COUNT:
		break;
	}
	return "unknown";
}

json_t *em_json_status_detail(const struct em_page_read *read)
{
	const char *text = status_text(read);

	return text ? json_string(text) : json_null();
}

/* clang-format off */
json_t *em_json_page(const struct em_drive_snap *drive, const struct em_page *page,
		     const struct em_page_read *read, const struct em_call *call)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:b, s:o}",
			 "drive", drive->id, "device", drive->device, "serial", drive->serial,
			 "page", page->key, "state", em_drive_state_name(drive->state),
			 "status", em_read_status_name(read->status),
			 "status_detail", em_json_status_detail(read),
			 "attempted_at", em_json_time(read->attempted_us),
			 "read_at", em_json_time(read->data ? read->read_us : 0),
			 "age_seconds", em_json_age(read, call),
			 "valid", read->data != NULL,
			 "values", em_json_values(page, read->data, &drive->ctx));
}
/* clang-format on */

/* The few SMART values that a list of drives shows. */
static json_t *smart_summary(const struct em_drive_snap *drive, const struct em_call *call)
{
	const struct em_page *page = em_pages[EM_PAGE_SMART];
	const struct em_page_read *read = &drive->pages[EM_PAGE_SMART];
	const struct em_blob *data = read->data;
	json_t *object =
		json_pack("{s:o, s:o, s:o, s:b}", "read_at", em_json_time(data ? read->read_us : 0),
			  "age_seconds", em_json_age(read, call), "interval_seconds",
			  em_json_interval(read), "valid", data != NULL);

	for (unsigned i = 0; object && em_summary_keys[i]; i++) {
		const struct em_field *field = em_page_field(page, em_summary_keys[i]);

		if (!field || put_fields(object, field, 1, data ? data->data : NULL,
					 data ? data->len : 0, &drive->ctx) < 0) {
			json_decref(object);
			return NULL;
		}
	}
	return object;
}

static json_t *capacity_json(const struct em_drive_snap *drive)
{
	const struct em_field *field = em_page_field(em_pages[EM_PAGE_IDENTIFY_CTRL], CAPACITY_KEY);
	const struct em_blob *data = drive->pages[EM_PAGE_IDENTIFY_CTRL].data;
	struct em_value value;

	if (!field || !data)
		return json_null();
	em_field_get(field, data->data, data->len, &drive->ctx, &value);
	return value_json(field, &value);
}

static const char *or_null(const char *text)
{
	return *text ? text : NULL;
}

static json_t *real_or_null(double value)
{
	return value > 0 ? json_real(value) : json_null();
}

static json_t *count_or_null(unsigned value)
{
	return value > 0 ? json_integer(value) : json_null();
}

static json_t *controllers_json(const struct em_drive_snap *drive)
{
	json_t *list = json_array();

	for (unsigned i = 0; list && i < drive->controller_count; i++) {
		const struct em_controller_snap *c = &drive->controllers[i];
		json_t *entry = json_pack(
			"{s:s, s:s?, s:s?, s:s?, s:s?, s:b, s:o, s:o, s:o, s:o, s:o}", "device",
			c->device, "address", or_null(c->address), "transport",
			or_null(c->transport), "controller_id", or_null(c->cntlid), "state",
			or_null(c->state), "active", c->active, "link_speed_gts",
			real_or_null(c->link.speed_gts), "link_width", count_or_null(c->link.width),
			"link_speed_max_gts", real_or_null(c->link.speed_max_gts), "link_width_max",
			count_or_null(c->link.width_max), "numa_node",
			c->numa_node == EM_NUMA_UNKNOWN ? json_null() : json_integer(c->numa_node));

		if (json_array_append_new(list, entry) == 0)
			continue;
		json_decref(list);
		return NULL;
	}
	return list;
}

/* clang-format off */
json_t *em_json_summary(const struct em_drive_snap *drive, const struct em_call *call)
{
	struct em_health health;

	em_drive_snap_health(drive, call->now_mono_us, call->now_us, &health);
	return json_pack("{s:s, s:s, s:s, s:s?, s:s?, s:s?, s:s?, s:s?, s:s?, s:s, s:s, s:s?, s:o, s:s?, s:o, "
			 "s:o, s:o, s:o}",
			 "id", drive->id, "device", drive->device, "serial", drive->serial,
			 "model", or_null(drive->model), "firmware", or_null(drive->firmware),
			 "subsystem_nqn", or_null(drive->subsystem_nqn),
			 "address", or_null(drive->address),
			 "transport", or_null(drive->transport),
			 "controller_id", or_null(drive->cntlid),
			 "state", em_drive_state_name(drive->state),
			 "health", em_verdict_name(health.verdict),
			 "health_reason", em_health_reason(&health),
			 "state_since", em_json_time(drive->state_since_us),
			 "state_detail", or_null(drive->state_detail),
			 "last_answer_at", em_json_time(drive->last_answer_us),
			 "smart", smart_summary(drive, call),
			 "capacity_bytes", capacity_json(drive),
			 "controllers", controllers_json(drive));
}
/* clang-format on */
