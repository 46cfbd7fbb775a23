/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include "daemon/web/call.h"
#include "daemon/web/handlers.h"
#include "daemon/web/json.h"
#include "lib/base/cleanup.h"
#include "lib/base/text.h"

/* What level-0 discovery tells, in the order of the document. */
static const struct {
	const char *key;
	uint16_t member;
	bool truth; /* else a number */
} values[] = {
#define TRUTH(name)                                                                                \
	{                                                                                          \
#name, offsetof(struct em_tcg, name), true                                         \
	}
#define NUMBER(name)                                                                               \
	{                                                                                          \
#name, offsetof(struct em_tcg, name), false                                        \
	}
	TRUTH(locking_supported),
	TRUTH(locking_enabled),
	TRUTH(locked),
	TRUTH(media_encryption),
	TRUTH(mbr_enabled),
	TRUTH(mbr_done),
	TRUTH(mbr_shadowed),
	NUMBER(sid_value_state),
	TRUTH(sid_blocked),
	NUMBER(keys_max),
	NUMBER(keys_unused),
	NUMBER(ranges_per_namespace_max),
	NUMBER(single_user_objects),
	NUMBER(base_comid),
	NUMBER(comid_count),
	NUMBER(data_removal),
#undef TRUTH
#undef NUMBER
};

static json_t *truth_json(struct em_tcg_value value)
{
	return value.known ? json_boolean(value.value) : json_null();
}

static json_t *value_json(struct em_tcg_value value, bool truth)
{
	if (truth)
		return truth_json(value);
	return value.known ? json_integer(value.value) : json_null();
}

static int add_values(json_t *object, const struct em_tcg *tcg)
{
	int r = 0;

	for (size_t i = 0; i < EM_COUNT(values); i++) {
		struct em_tcg_value value;

		memcpy(&value, (const uint8_t *)tcg + values[i].member, sizeof(value));
		r |= json_object_set_new(object, values[i].key, value_json(value, values[i].truth));
	}
	return r;
}

static json_t *removals_json(struct em_tcg_value bits)
{
	json_t *list = json_array();
	int r = list ? 0 : -1;

#define EM_X(id, bit, name)                                                                        \
	if (bits.value >> (bit)&1)                                                                 \
		r |= json_array_append_new(list, json_string(name));
	EM_REMOVALS(EM_X)
#undef EM_X
	if (r == 0)
		return list;
	json_decref(list);
	return NULL;
}

static json_t *feature_json(const struct em_tcg_feature *feature, const struct em_blob *data)
{
	char code[8], hex[2 * UINT8_MAX + 1];

	snprintf(code, sizeof(code), "%04x", feature->code);
	em_text_hex(hex, data->data + feature->at, feature->len);
	return json_pack("{s:s, s:i, s:s}", "code", code, "version", feature->version, "data", hex);
}

static json_t *unknown_json(const struct em_tcg *tcg, const struct em_blob *data)
{
	json_t *list = json_array();

	for (unsigned i = 0; list && i < tcg->unknown_count; i++) {
		if (json_array_append_new(list, feature_json(&tcg->unknown[i], data)) == 0)
			continue;
		json_decref(list);
		return NULL;
	}
	return list;
}

static json_t *erase_json(const struct em_crypto_erase *erase)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "by_format", truth_json(erase->by_format),
			 "by_sanitize", truth_json(erase->by_sanitize), "format_affects_all",
			 truth_json(erase->format_affects_all), "erase_affects_all",
			 truth_json(erase->erase_affects_all));
}

static json_t *write_protected_json(const struct em_drive_snap *drive,
				    const struct em_namespace_snap *ns)
{
	const struct em_blob *data = ns->page.data;
	uint64_t value = data ? em_page_u64(EM_PAGE_IDENTIFY_NS, "write_protected", data->data,
					    data->len, &drive->ctx, UINT64_MAX)
			      : UINT64_MAX;

	return value == UINT64_MAX ? json_null() : json_boolean(value);
}

static json_t *namespaces_json(const struct em_drive_snap *drive,
			       const struct em_crypto_erase *erase)
{
	json_t *list = json_array();

	for (unsigned i = 0; list && i < drive->namespace_count; i++) {
		const struct em_namespace_snap *ns = &drive->namespaces[i];
		json_t *entry = json_pack("{s:I, s:b, s:o, s:s, s:o}", "nsid", (json_int_t)ns->nsid,
					  "attached", ns->attached, "crypto_erase_alone",
					  truth_json(erase->alone), "crypto_erase_reason",
					  em_erase_reason_name(erase->reason), "write_protected",
					  write_protected_json(drive, ns));

		if (json_array_append_new(list, entry) == 0)
			continue;
		json_decref(list);
		return NULL;
	}
	return list;
}

static json_t *head_json(const struct em_drive_snap *drive, const struct em_call *call)
{
	const struct em_page_read *read = &drive->pages[EM_PAGE_SECURITY];

	return json_pack(
		"{s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:b}", "drive", drive->id, "device",
		drive->device, "serial", drive->serial, "state", em_drive_state_name(drive->state),
		"status", em_read_status_name(read->status), "status_detail",
		em_json_status_detail(read), "attempted_at", em_json_time(read->attempted_us),
		"read_at", em_json_time(read->data ? read->read_us : 0), "age_seconds",
		em_json_age(read, call), "valid", read->data != NULL);
}

/* Adds what discovery told; valid false: nothing. */
static int add_discovery(json_t *object, const struct em_drive_snap *drive,
			 const struct em_tcg *tcg, bool valid)
{
	const struct em_blob *data = drive->pages[EM_PAGE_SECURITY].data;
	const char *class = valid && tcg->has_ssc ? em_ssc_name(tcg->ssc) : NULL;
	int r = 0;

	r |= json_object_set_new(object, "complete",
				 valid ? json_boolean(tcg->complete) : json_null());
	r |= json_object_set_new(object, "class", class ? json_string(class) : json_null());
	r |= add_values(object, tcg);
	r |= json_object_set_new(object, "data_removal_bits", removals_json(tcg->data_removal));
	r |= json_object_set_new(object, "unknown_features", unknown_json(tcg, data));
	return r;
}

void em_handle_security(struct em_call *call, struct em_reply *reply)
{
	const struct em_drive_snap *drive = em_call_drive(call, reply);
	struct em_crypto_erase erase;
	struct em_tcg tcg;
	json_t *object;
	bool valid;

	if (!drive)
		return;
	valid = em_drive_snap_tcg(drive, &tcg);
	erase = em_drive_snap_crypto_erase(drive);
	object = head_json(drive, call);
	if (object &&
	    (add_discovery(object, drive, &tcg, valid) < 0 ||
	     json_object_set_new(object, "crypto_erase", erase_json(&erase)) < 0 ||
	     json_object_set_new(object, "namespaces", namespaces_json(drive, &erase)) < 0)) {
		json_decref(object);
		object = NULL;
	}
	em_reply_json(reply, object);
}
