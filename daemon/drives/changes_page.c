/* SPDX-License-Identifier: Apache-2.0 */
/* What happened between two readings of a page. */
#include <stdio.h>
#include <string.h>

#include "daemon/drives/changes_impl.h"

/* One value of both readings, as text; "" = absent. */
struct pair {
	char before[EM_VALUE_TEXT_SIZE], after[EM_VALUE_TEXT_SIZE];
};

/* Both readings of a page, where a new one came. */
struct readings {
	const struct em_page *page;
	const struct em_blob *before, *after;
};

static void text_of(const struct em_field *field, const uint8_t *data, size_t len,
		    const struct em_nvme_ctx *ctx, char text[EM_VALUE_TEXT_SIZE])
{
	struct em_value value;
	char buf[EM_VALUE_TEXT_SIZE];

	em_field_get(field, data, len, ctx, &value);
	snprintf(text, EM_VALUE_TEXT_SIZE, "%s", em_value_text(field, &value, buf));
}

/* True when they differ. */
static bool compare(const struct em_comparison *both, const struct readings *readings,
		    const char *key, struct pair *ret)
{
	const struct em_field *field = em_page_field(readings->page, key);

	text_of(field, readings->before->data, readings->before->len, &both->before->ctx,
		ret->before);
	text_of(field, readings->after->data, readings->after->len, &both->after->ctx, ret->after);
	return strcmp(ret->before, ret->after) != 0;
}

static bool reread(const struct em_comparison *both, enum em_page_id id, struct readings *ret)
{
	ret->page = em_pages[id];
	ret->before = both->before->pages[id].data;
	ret->after = both->after->pages[id].data;
	return ret->before && ret->after && ret->before != ret->after;
}

static void put_values(struct em_event *event, const char *before, const char *after)
{
	EM_PUT(event->old_value, "%s", before);
	EM_PUT(event->new_value, "%s", after);
}

static const char *or_none(const char *text)
{
	return *text ? text : "none";
}

/* ---- firmware ---------------------------------------------------------------------------- */

/* By Identify alone: what sysfs says can be older. */
static void compare_firmware(const struct em_comparison *both)
{
	struct em_event event = { 0 };
	struct readings identify;
	struct pair values;

	if (!reread(both, EM_PAGE_IDENTIFY_CTRL, &identify) ||
	    !compare(both, &identify, "firmware", &values) || !values.before[0] || !values.after[0])
		return;
	put_values(&event, values.before, values.after);
	em_change_tell(both, EM_EVENT_KIND_FIRMWARE_CHANGED, &event, "runs firmware %s, was %s",
		       event.new_value, event.old_value);
}

static void compare_slot(const struct em_comparison *both, const struct readings *log,
			 const struct em_group *group, unsigned i)
{
	size_t at = group->offset + (size_t)i * group->stride;
	unsigned slot = em_group_number(group, i);
	struct em_event event = { 0 };
	struct pair values;

	if (at + group->stride > log->before->len || at + group->stride > log->after->len)
		return;
	text_of(group->fields, log->before->data + at, group->stride, &both->before->ctx,
		values.before);
	text_of(group->fields, log->after->data + at, group->stride, &both->after->ctx,
		values.after);
	if (strcmp(values.before, values.after) == 0)
		return;
	EM_PUT(event.subject, "slot %u", slot);
	put_values(&event, values.before, values.after);
	em_change_tell(both, EM_EVENT_KIND_SLOT_CHANGED, &event,
		       "firmware slot %u holds %s, was %s", slot, or_none(event.new_value),
		       or_none(event.old_value));
}

static void compare_active(const struct em_comparison *both, const struct readings *log,
			   const char *key, const char *what)
{
	struct em_event event = { 0 };
	struct pair values;

	if (!compare(both, log, key, &values))
		return;
	EM_PUT(event.subject, "%s", key);
	put_values(&event, values.before, values.after);
	em_change_tell(both, EM_EVENT_KIND_ACTIVE_SLOT_CHANGED, &event, "%s is %s, was %s", what,
		       or_none(event.new_value), or_none(event.old_value));
}

static void compare_slots(const struct em_comparison *both)
{
	struct readings log;
	const struct em_group *slots;

	if (!reread(both, EM_PAGE_FIRMWARE, &log))
		return;
	slots = &log.page->groups[0];
	for (unsigned i = 0; i < em_group_present(slots, &both->after->ctx); i++)
		compare_slot(both, &log, slots, i);
	compare_active(both, &log, "active_slot", "the active firmware slot");
	compare_active(both, &log, "next_reset_slot", "the firmware slot after the next reset");
}

/* ---- health ------------------------------------------------------------------------------ */

static uint64_t warnings_in(const struct em_drive_snap *drive)
{
	const struct em_blob *data = drive->pages[EM_PAGE_SMART].data;

	return data ? em_page_u64(EM_PAGE_SMART, "critical_warning", data->data, data->len,
				  &drive->ctx, 0)
		    : 0;
}

static void name_warnings(uint64_t bits, char *text, size_t size)
{
	const struct em_field *field = em_page_field(em_pages[EM_PAGE_SMART], "critical_warning");
	char name[EM_BIT_NAME_SIZE];
	size_t used = 0;

	snprintf(text, size, "none");
	for (unsigned bit = 0; bit < 8; bit++) {
		if (!(bits >> bit & 1) || used >= size)
			continue;
		used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
					 em_field_bit_name(field, bit, name));
	}
}

static void compare_warnings(const struct em_comparison *both)
{
	uint64_t before = warnings_in(both->before), after = warnings_in(both->after);
	struct em_event event = { 0 };

	if (before == after)
		return;
	name_warnings(before, event.old_value, sizeof(event.old_value));
	name_warnings(after, event.new_value, sizeof(event.new_value));
	em_change_tell(both, EM_EVENT_KIND_CRITICAL_WARNING, &event,
		       "critical warning is %s, was %s", event.new_value, event.old_value);
}

static void compare_error_count(const struct em_comparison *both)
{
	struct em_event event = { 0 };
	struct readings smart;
	struct pair values;
	size_t before, after;

	if (!reread(both, EM_PAGE_SMART, &smart) ||
	    !compare(both, &smart, "num_err_log_entries", &values))
		return;
	before = strlen(values.before);
	after = strlen(values.after);
	/* Digits without leading zeros: the longer one is greater. */
	if (before > after || (before == after && strcmp(values.before, values.after) > 0))
		return;
	put_values(&event, values.before, values.after);
	em_change_tell(both, EM_EVENT_KIND_ERROR_LOG_GREW, &event, "error log entries: %s, was %s",
		       event.new_value, event.old_value);
}

/* ---- long operations --------------------------------------------------------------------- */

static const struct em_field *entry_field(const struct em_group *group, const char *key)
{
	for (unsigned i = 0; i < group->field_count; i++) {
		if (strcmp(group->fields[i].key, key) == 0)
			return &group->fields[i];
	}
	return NULL;
}

/* Whatever the log said of running: a new result means that a test has ended. */
static void compare_selftest(const struct em_comparison *both)
{
	struct em_event event = { 0 };
	struct readings log;
	const struct em_group *results;
	const uint8_t *newest;
	size_t len;
	struct pair values;

	if (!reread(both, EM_PAGE_SELFTEST, &log))
		return;
	results = &log.page->groups[0];
	len = (size_t)results->stride * results->count;
	newest = log.after->data + results->offset;
	if (results->offset + len > log.before->len || results->offset + len > log.after->len ||
	    memcmp(log.before->data + results->offset, newest, len) == 0 || results->unused(newest))
		return;
	text_of(entry_field(results, "test"), newest, results->stride, &both->after->ctx,
		values.before);
	text_of(entry_field(results, "result"), newest, results->stride, &both->after->ctx,
		values.after);
	EM_PUT(event.subject, "%.60s", values.before);
	EM_PUT(event.new_value, "%s", values.after);
	text_of(entry_field(results, "segment"), newest, results->stride, &both->after->ctx,
		values.before);
	em_change_tell(both, EM_EVENT_KIND_SELFTEST_ENDED, &event, "%s self-test ended: %s%s%.20s",
		       event.subject, event.new_value, values.before[0] ? ", segment " : "",
		       values.before);
}

/* One that began and ended between two readings has only an end. */
static void compare_running_test(const struct em_comparison *both)
{
	struct em_event event = { 0 };
	struct readings log;
	struct pair values;

	if (!reread(both, EM_PAGE_SELFTEST, &log) ||
	    !compare(both, &log, "running_test", &values) || !values.after[0])
		return;
	EM_PUT(event.subject, "%.60s", values.after);
	em_change_tell(both, EM_EVENT_KIND_SELFTEST_STARTED, &event, "%s self-test runs",
		       event.subject);
}

static void compare_sanitize(const struct em_comparison *both)
{
	struct em_event event = { 0 };
	struct readings log;
	struct pair values;

	if (!reread(both, EM_PAGE_SANITIZE, &log) || !compare(both, &log, "state", &values))
		return;
	put_values(&event, values.before, values.after);
	em_change_tell(both, EM_EVENT_KIND_SANITIZE_STATE, &event, "sanitize is %s, was %s",
		       event.new_value, event.old_value);
}

void em_changes_of_pages(const struct em_comparison *both)
{
	compare_firmware(both);
	compare_slots(both);
	compare_warnings(both);
	compare_error_count(both);
	compare_selftest(both);
	compare_running_test(both);
	compare_sanitize(both);
}

/* ---- namespaces -------------------------------------------------------------------------- */

static void append(char *list, size_t size, const char *text)
{
	size_t used = strlen(list);

	snprintf(list + used, size - used, "%s%s", used ? ", " : "", or_none(text));
}

static void note_change(struct em_event *event, const char *what, const struct pair *values)
{
	append(event->subject, sizeof(event->subject), what);
	append(event->old_value, sizeof(event->old_value), values->before);
	append(event->new_value, sizeof(event->new_value), values->after);
}

static void compare_attachment(bool before, bool after, struct em_event *event)
{
	static const struct pair attached = { "no", "yes" }, detached = { "yes", "no" };

	if (before != after)
		note_change(event, "attached", after ? &attached : &detached);
}

static void compare_namespace_page(const struct em_comparison *both, const struct em_blob *before,
				   const struct em_blob *after, struct em_event *event)
{
	static const char *const keys[] = { "size_blocks", "capacity_blocks", "lba_format", "nguid",
					    "eui64" };
	const struct readings identify = { em_pages[EM_PAGE_IDENTIFY_NS], before, after };
	struct pair values;

	if (!before || !after || before == after)
		return;
	for (unsigned i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (compare(both, &identify, keys[i], &values))
			note_change(event, keys[i], &values);
	}
}

void em_changes_of_namespace(const struct em_comparison *both,
			     const struct em_namespace_snap *before,
			     const struct em_namespace_snap *after)
{
	struct em_event event = { .nsid = after->nsid };

	compare_attachment(before->attached, after->attached, &event);
	compare_namespace_page(both, before->page.data, after->page.data, &event);
	if (event.subject[0])
		em_change_tell(both, EM_EVENT_KIND_NAMESPACE_CHANGED, &event,
			       "namespace %u: %s is %.60s, was %.60s", after->nsid, event.subject,
			       event.new_value, event.old_value);
}
