/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/nvme/page.h"
#include "lib/nvme/tables.h"

#define LPA_EXTENDED 0x04 /* Identify Controller LPA: offset and a length of 32 bits */

const struct em_page *const em_pages[EM_PAGE_COUNT] = {
	[EM_PAGE_IDENTIFY_CTRL] = &em_page_identify_ctrl,
	[EM_PAGE_SMART] = &em_page_smart,
	[EM_PAGE_FIRMWARE] = &em_page_firmware,
	[EM_PAGE_SELFTEST] = &em_page_selftest,
	[EM_PAGE_ERRORS] = &em_page_errors,
	[EM_PAGE_EFFECTS] = &em_page_effects,
	[EM_PAGE_SANITIZE] = &em_page_sanitize,
	[EM_PAGE_MEMBLAZE] = &em_page_memblaze,
	[EM_PAGE_SECURITY] = &em_page_security,
	[EM_PAGE_IDENTIFY_NS] = &em_page_identify_ns,
};

const struct em_page *const em_request_pages[EM_REQUEST_PAGE_COUNT] = {
	&em_page_supported_logs,
	&em_page_changed_namespaces,
	&em_page_host_telemetry,
	&em_page_controller_telemetry,
	&em_page_endurance_group,
	&em_page_persistent_events,
	&em_page_feature_effects,
	&em_page_reservation,
	&em_page_memblaze_read_latency,
	&em_page_memblaze_write_latency,
	&em_page_memblaze_latency,
	&em_page_memblaze_slow,
	&em_page_memblaze_performance,
	&em_page_memblaze_recording,
	&em_page_memblaze_old_slow,
	&em_page_memblaze_old_latency,
	&em_page_active_namespaces,
	&em_page_namespace_identifiers,
	&em_page_nvm_sets,
	&em_page_allocated_namespaces,
	&em_page_attached_controllers,
	&em_page_controllers,
	&em_page_granularity,
};

const struct em_page *em_page_find(const char *key)
{
	for (unsigned i = 0; i < EM_PAGE_COUNT; i++)
		if (!strcmp(em_pages[i]->key, key))
			return em_pages[i];
	return NULL;
}

const struct em_page *em_page_find_code(enum em_page_how how, uint8_t code)
{
	for (unsigned i = 0; i < EM_PAGE_COUNT; i++)
		if (em_pages[i]->how == how && em_pages[i]->code == code)
			return em_pages[i];
	for (unsigned i = 0; i < EM_REQUEST_PAGE_COUNT; i++)
		if (em_request_pages[i]->how == how && em_request_pages[i]->code == code)
			return em_request_pages[i];
	return NULL;
}

const struct em_field *em_page_field(const struct em_page *page, const char *key)
{
	for (unsigned i = 0; i < page->field_count; i++)
		if (!strcmp(page->fields[i].key, key))
			return &page->fields[i];
	return NULL;
}

static uint32_t max_size(const struct em_page *page)
{
	return page->max_size ? page->max_size : page->size;
}

uint32_t em_page_size(const struct em_page *page, const struct em_nvme_ctx *ctx)
{
	return page->size_of ? page->size_of(ctx) : page->size;
}

enum em_page_state em_page_check(const struct em_page *page, const uint8_t *data, size_t len)
{
	if (len < page->size)
		return EM_PAGE_SHORT;
	if (len > max_size(page))
		len = max_size(page);
	if (page->flags & EM_ONES_NO_READING && em_bytes_all(data, len, 0xff))
		return EM_PAGE_ALL_ONES;
	if (page->flags & EM_ZERO_NO_READING && em_bytes_all(data, len, 0))
		return EM_PAGE_ALL_ZERO;
	return EM_PAGE_VALID;
}

const char *em_page_state_text(enum em_page_state state)
{
	switch (state) {
	case EM_PAGE_VALID:
		return "valid";
	case EM_PAGE_SHORT:
		return "fewer bytes than the page has";
	case EM_PAGE_ALL_ONES:
		return "all bytes are FFh";
	case EM_PAGE_ALL_ZERO:
		return "all bytes are 00h";
	}
	return "unknown";
}

/* Of a field that every version has. */
static uint64_t identify_u64(const char *key, const uint8_t *identify, size_t len)
{
	static const struct em_nvme_ctx unknown;

	return em_page_u64(EM_PAGE_IDENTIFY_CTRL, key, identify, len, &unknown, 0);
}

void em_nvme_ctx_from_identify(const uint8_t *identify, size_t len, struct em_nvme_ctx *ret)
{
	static const struct em_nvme_ctx unknown;

	*ret = unknown;
	if (em_page_check(&em_page_identify_ctrl, identify, len) != EM_PAGE_VALID)
		return;
	*ret = (struct em_nvme_ctx){
		.known = true,
		.ver = (uint32_t)identify_u64("version", identify, len),
		.frmw = (uint8_t)identify_u64("firmware_updates", identify, len),
		.log_offset = identify_u64("log_page_attributes", identify, len) & LPA_EXTENDED,
		.error_entries = (uint16_t)identify_u64("error_log_entries_max", identify, len),
	};
}

/* A character that one drive could differ by from another. */
static bool has_content(const struct em_field *field, const uint8_t *identify)
{
	for (unsigned i = 0; i < field->len; i++) {
		uint8_t byte = identify[field->offset + i];

		if (byte > 0x20 && byte < 0x7f)
			return true;
	}
	return false;
}

bool em_identify_identity_valid(const uint8_t *identify, size_t len)
{
	const struct em_page *page = &em_page_identify_ctrl;

	return em_page_check(page, identify, len) == EM_PAGE_VALID &&
	       has_content(em_page_field(page, "serial"), identify) &&
	       has_content(em_page_field(page, "model"), identify);
}

unsigned em_group_present(const struct em_group *group, const struct em_nvme_ctx *ctx)
{
	unsigned present = group->present ? group->present(ctx) : group->count;

	return present < group->count ? present : group->count;
}

const uint8_t *em_group_entry(const struct em_group *group, const uint8_t *data, size_t len,
			      unsigned index, uint8_t scratch[EM_ENTRY_SCRATCH])
{
	size_t at = group->offset + (size_t)index * group->stride;

	if (group->entry) {
		assert(group->stride <= EM_ENTRY_SCRATCH);
		return group->entry(data, len, index, scratch) ? scratch : NULL;
	}
	return at + group->stride <= len ? data + at : NULL;
}

unsigned em_group_number(const struct em_group *group, unsigned index)
{
	return group->index_from_zero ? index : index + 1;
}

uint64_t em_page_u64(enum em_page_id id, const char *key, const uint8_t *data, size_t len,
		     const struct em_nvme_ctx *ctx, uint64_t absent_value)
{
	const struct em_field *field = em_page_field(em_pages[id], key);
	struct em_value value;

	assert(field); /* a key that the table does not have is a fault of the caller */
	em_field_get(field, data, len, ctx, &value);
	if (value.kind == EM_V_ABSENT)
		return absent_value;
	if (value.kind == EM_V_INT)
		return (uint64_t)value.integer;
	return (uint64_t)(value.number * (field->scale ? field->scale : 1));
}
