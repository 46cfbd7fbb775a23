/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/le.h"
#include "lib/base/text.h"
#include "lib/nvme/field.h"
#include "lib/nvme/items.h"

#define ZERO_CELSIUS 273 /* in kelvin, as the specification rounds it */

/* Integers up to this width are exact in every JSON reader (below 2^53). */
#define JSON_INTEGER_BYTES 6

static bool is_present(const struct em_field *field, const uint8_t *page, size_t len,
		       const struct em_nvme_ctx *ctx)
{
	uint8_t gate;

	if ((size_t)field->offset + field->len > len)
		return false;
	if (field->since && (!ctx->known || ctx->ver < field->since))
		return false;
	if (!field->gate_mask)
		return true;
	if (field->gate_offset >= len)
		return false;
	gate = page[field->gate_offset] & field->gate_mask;
	return field->gate_value ? gate == field->gate_value : gate != 0;
}

static unsigned width(const struct em_field *field)
{
	return field->bits ? field->bits : field->len * 8u - field->shift;
}

static em_u128 all_ones(const struct em_field *field)
{
	return ~(em_u128)0 >> (128 - width(field));
}

/* The raw number; false when the drive says that it has none. */
static bool get_number(const struct em_field *field, const uint8_t *page, size_t len, em_u128 *ret)
{
	em_u128 raw;

	if (field->derive)
		return field->derive(page, len, ret);
	raw = em_le_n(page + field->offset, field->len) >> field->shift & all_ones(field);
	if (raw == 0 && field->flags & EM_ZERO_ABSENT)
		return false;
	if (raw == all_ones(field) && field->flags & EM_ONES_ABSENT)
		return false;
	*ret = raw + (field->flags & EM_RAISE_ONE ? 1 : 0);
	return true;
}

static void get_kelvin(const struct em_field *field, const uint8_t *page, struct em_value *ret)
{
	uint16_t kelvin = em_le16(page + field->offset);

	if (kelvin == 0 || kelvin == UINT16_MAX)
		return;
	ret->kind = EM_V_INT;
	ret->integer = (int64_t)kelvin - ZERO_CELSIUS;
}

static void get_name(const struct em_field *field, struct em_value *ret)
{
	const struct em_name *name = field->names;

	while (name->name && name->value != ret->number)
		name++;
	ret->kind = EM_V_NAME;
	if (name->name)
		snprintf(ret->text, sizeof(ret->text), "%s", name->name);
	else
		snprintf(ret->text, sizeof(ret->text), "reserved_%" PRIu64, (uint64_t)ret->number);
}

static void get_text(const struct em_field *field, const uint8_t *page, size_t len,
		     struct em_value *ret)
{
	if (field->derive_text) {
		if (field->derive_text(page, len, ret->text))
			ret->kind = EM_V_TEXT;
		return;
	}
	em_text_clean(ret->text, sizeof(ret->text), page + field->offset, field->len);
	if (ret->text[0])
		ret->kind = EM_V_TEXT;
}

static void get_hex(const struct em_field *field, const uint8_t *page, struct em_value *ret)
{
	const uint8_t *bytes = page + field->offset;
	bool turned = field->flags & EM_LITTLE_ENDIAN;

	if (em_bytes_all(bytes, field->len, 0) ||
	    (field->flags & EM_ONES_ABSENT && em_bytes_all(bytes, field->len, 0xff)))
		return;
	ret->kind = EM_V_TEXT;
	for (unsigned i = 0; i < field->len; i++)
		em_text_hex(ret->text + 2 * i, bytes + (turned ? field->len - 1u - i : i), 1);
}

/* Major 31:16, minor 15:8, tertiary 7:0. */
static void get_version(struct em_value *ret)
{
	uint32_t ver = (uint32_t)ret->number;
	int n = snprintf(ret->text, sizeof(ret->text), "%" PRIu32 ".%" PRIu32, ver >> 16,
			 ver >> 8 & 0xff);

	if (ver & 0xff)
		snprintf(ret->text + n, sizeof(ret->text) - (size_t)n, ".%" PRIu32, ver & 0xff);
	ret->kind = EM_V_TEXT;
}

static void get_value(const struct em_field *field, const uint8_t *page, size_t len,
		      const struct em_nvme_ctx *ctx, struct em_value *ret)
{
	if (!is_present(field, page, len, ctx))
		return;
	switch ((enum em_field_type)field->type) {
	case EM_KELVIN:
		get_kelvin(field, page, ret);
		return;
	case EM_TEXT:
		get_text(field, page, len, ret);
		return;
	case EM_HEX:
		get_hex(field, page, ret);
		return;
	case EM_UINT:
	case EM_BITS:
	case EM_ENUM:
	case EM_BOOL:
	case EM_VERSION:
		break;
	}
	if (!get_number(field, page, len, &ret->number))
		return;
	ret->kind = EM_V_UINT;
	if (field->type == EM_ENUM)
		get_name(field, ret);
	if (field->type == EM_VERSION)
		get_version(ret);
	if (field->type == EM_BOOL) {
		ret->kind = EM_V_BOOL;
		ret->number = ret->number != 0;
	}
}

void em_field_get(const struct em_field *field, const uint8_t *page, size_t len,
		  const struct em_nvme_ctx *ctx, struct em_value *ret)
{
	struct em_field found;

	/* Not the whole text: this is done for each value of each page that is shown. */
	ret->kind = EM_V_ABSENT;
	ret->number = 0;
	ret->integer = 0;
	ret->text[0] = '\0';
	if (!field->places) {
		get_value(field, page, len, ctx, ret);
		return;
	}
	found = *field;
	if (em_items_place(field->places, page, len, &found.offset, &found.len))
		get_value(&found, page, len, ctx, ret);
}

const char *em_trust_name(enum em_trust trust)
{
	static const char *const names[EM_TRUST_COUNT] = {
		[EM_TRUST_STATED] = "stated",
		[EM_TRUST_DERIVED] = "derived",
		[EM_TRUST_UNVERIFIED] = "unverified",
	};

	return names[trust];
}

const char *em_field_caveat(const struct em_field *field)
{
	switch ((enum em_trust)field->trust) {
	case EM_TRUST_STATED:
	case EM_TRUST_COUNT:
		break;
	case EM_TRUST_DERIVED:
		return "The vendor does not state this: it is what its tables suggest.";
	case EM_TRUST_UNVERIFIED:
		return "What the number means is not confirmed.";
	}
	return "";
}

static uint32_t or_one(uint32_t scale)
{
	return scale ? scale : 1;
}

const char *em_value_text(const struct em_field *field, const struct em_value *value,
			  char buf[EM_VALUE_TEXT_SIZE])
{
	buf[0] = '\0';
	switch (value->kind) {
	case EM_V_ABSENT:
		break;
	case EM_V_UINT:
		em_u128_dec(buf, value->number, field->scale);
		break;
	case EM_V_INT:
		snprintf(buf, EM_VALUE_TEXT_SIZE, "%" PRId64, value->integer);
		break;
	case EM_V_BOOL:
		snprintf(buf, EM_VALUE_TEXT_SIZE, "%s", value->number ? "true" : "false");
		break;
	case EM_V_NAME:
	case EM_V_TEXT:
		snprintf(buf, EM_VALUE_TEXT_SIZE, "%s", value->text);
		break;
	}
	return buf;
}

bool em_value_metric(const struct em_field *field, const struct em_value *value, double *ret)
{
	double scale = or_one(field->metric_scale);

	if (value->kind == EM_V_UINT || value->kind == EM_V_BOOL)
		*ret = (double)value->number * or_one(field->scale) * scale;
	else if (value->kind == EM_V_INT)
		*ret = (double)value->integer * scale;
	else
		return false;
	return true;
}

static void integer_text(int64_t value, char buf[EM_U128_DEC_SIZE])
{
	uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	char digits[EM_U128_DEC_SIZE];
	size_t len = em_u128_dec(digits, size, 1);

	buf[0] = '-';
	memcpy(buf + (value < 0), digits, len + 1);
}

bool em_value_metric_text(const struct em_field *field, const struct em_value *value,
			  char buf[EM_U128_DEC_SIZE])
{
	uint64_t scale = (uint64_t)or_one(field->scale) * or_one(field->metric_scale);

	assert(scale <= UINT32_MAX); /* a test holds every row to it */
	if (value->kind == EM_V_UINT || value->kind == EM_V_BOOL)
		em_u128_dec(buf, value->number, (uint32_t)scale);
	else if (value->kind == EM_V_INT)
		integer_text(value->integer * or_one(field->metric_scale), buf);
	else
		return false;
	return true;
}

enum em_json_type em_field_json_type(const struct em_field *field)
{
	switch ((enum em_field_type)field->type) {
	case EM_UINT:
		if (field->scale > 1 || width(field) > JSON_INTEGER_BYTES * 8)
			return EM_JSON_DECIMAL_STRING;
		return EM_JSON_INTEGER;
	case EM_KELVIN:
	case EM_BITS:
		return EM_JSON_INTEGER;
	case EM_BOOL:
		return EM_JSON_BOOLEAN;
	case EM_ENUM:
	case EM_TEXT:
	case EM_HEX:
	case EM_VERSION:
		break;
	}
	return EM_JSON_STRING;
}

const char *em_field_bit_name(const struct em_field *field, unsigned bit,
			      char buf[EM_BIT_NAME_SIZE])
{
	for (const struct em_name *name = field->names; name->name; name++)
		if (name->value == bit)
			return name->name;
	snprintf(buf, EM_BIT_NAME_SIZE, "reserved_%u", bit);
	return buf;
}
