/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/nvme/tcg.h"

#include <string.h>

#include "lib/base/cleanup.h"
#include "lib/nvme/page.h"
#include "lib/nvme/tables.h"

#define LENGTH_BYTES	 4u /* the length at the start counts what comes after it */
#define DESCRIPTOR_BYTES 4u /* code, version, length of the payload */

enum code {
	TPER = 0x0001,
	LOCKING = 0x0002,
	GEOMETRY = 0x0003,
	ENTERPRISE = 0x0100,
	OPAL1 = 0x0200,
	SINGLE_USER = 0x0201,
	DATASTORE = 0x0202,
	OPAL2 = 0x0203,
	OPALITE = 0x0301,
	PYRITE1 = 0x0302,
	PYRITE2 = 0x0303,
	RUBY = 0x0304,
	LBA_RANGES = 0x0401,
	BLOCK_SID = 0x0402,
	NAMESPACE_LOCKING = 0x0403,
	DATA_REMOVAL = 0x0404,
	NAMESPACE_GEOMETRY = 0x0405,
};

static const struct ssc {
	uint16_t code;
	enum em_ssc ssc;
} sscs[] = {
	{ ENTERPRISE, EM_SSC_ENTERPRISE },
	{ OPAL1, EM_SSC_OPAL1 },
	{ OPAL2, EM_SSC_OPAL2 },
	{ OPALITE, EM_SSC_OPALITE },
	{ PYRITE1, EM_SSC_PYRITE1 },
	{ PYRITE2, EM_SSC_PYRITE2 },
	{ RUBY, EM_SSC_RUBY },
};

/* Codes that are known and have no value here. */
static const uint16_t silent[] = { TPER, GEOMETRY, DATASTORE, LBA_RANGES, NAMESPACE_GEOMETRY };

/* TCG Core, and the feature sets; offsets in the payload. */
static const struct row {
	uint16_t code;
	uint8_t at, len;
	uint8_t shift, bits; /* bits 0 = all of it */
	uint16_t member;
} rows[] = {
#define MEMBER(name) offsetof(struct em_tcg, name)
	{ LOCKING, 0, 1, 0, 1, MEMBER(locking_supported) },
	{ LOCKING, 0, 1, 1, 1, MEMBER(locking_enabled) },
	{ LOCKING, 0, 1, 2, 1, MEMBER(locked) },
	{ LOCKING, 0, 1, 3, 1, MEMBER(media_encryption) },
	{ LOCKING, 0, 1, 4, 1, MEMBER(mbr_enabled) },
	{ LOCKING, 0, 1, 5, 1, MEMBER(mbr_done) },
	{ SINGLE_USER, 0, 4, 0, 0, MEMBER(single_user_objects) },
	{ BLOCK_SID, 0, 1, 0, 1, MEMBER(sid_value_state) },
	{ BLOCK_SID, 0, 1, 1, 1, MEMBER(sid_blocked) },
	{ NAMESPACE_LOCKING, 4, 4, 0, 0, MEMBER(keys_max) },
	{ NAMESPACE_LOCKING, 8, 4, 0, 0, MEMBER(keys_unused) },
	{ NAMESPACE_LOCKING, 12, 4, 0, 0, MEMBER(ranges_per_namespace_max) },
	{ DATA_REMOVAL, 2, 1, 0, 0, MEMBER(data_removal) },
#undef MEMBER
};

const char *em_ssc_name(enum em_ssc ssc)
{
#define EM_X(id, name) [EM_SSC_##id] = name,
	static const char *const names[] = { EM_SSCS(EM_X) };
#undef EM_X

	return names[ssc];
}

static uint32_t be_n(const uint8_t *p, unsigned len)
{
	uint32_t v = 0;

	while (len-- > 0)
		v = v << 8 | *p++;
	return v;
}

static struct em_tcg_value value_of(uint32_t value)
{
	return (struct em_tcg_value){ true, value };
}

/* The fields of all classes begin alike: first ComID, how many. */
static void take_comids(const struct em_tcg_feature *f, const uint8_t *payload, struct em_tcg *ret)
{
	ret->base_comid = ret->comid_count = (struct em_tcg_value){ 0 };
	if (f->len >= 2)
		ret->base_comid = value_of(be_n(payload, 2));
	if (f->len >= 4)
		ret->comid_count = value_of(be_n(payload + 2, 2));
}

static bool take_ssc(const struct em_tcg_feature *f, const uint8_t *payload, struct em_tcg *ret)
{
	for (size_t i = 0; i < EM_COUNT(sscs); i++) {
		if (sscs[i].code != f->code)
			continue;
		if (sscs[i].ssc > ret->ssc) {
			ret->ssc = sscs[i].ssc;
			ret->has_ssc = true;
			take_comids(f, payload, ret);
		}
		return true;
	}
	return false;
}

static bool take_rows(const struct em_tcg_feature *f, const uint8_t *payload, struct em_tcg *ret)
{
	bool known = false;

	for (size_t i = 0; i < EM_COUNT(rows); i++) {
		const struct row *row = &rows[i];
		struct em_tcg_value value;

		if (row->code != f->code)
			continue;
		known = true;
		if (f->len < row->at + row->len)
			continue;
		value = value_of(be_n(payload + row->at, row->len) >> row->shift);
		if (row->bits)
			value.value &= (1u << row->bits) - 1;
		memcpy((uint8_t *)ret + row->member, &value, sizeof(value));
	}
	return known;
}

static bool is_silent(uint16_t code)
{
	for (size_t i = 0; i < EM_COUNT(silent); i++)
		if (silent[i] == code)
			return true;
	return false;
}

static bool was_seen(const uint16_t *seen, unsigned count, uint16_t code)
{
	for (unsigned i = 0; i < count; i++)
		if (seen[i] == code)
			return true;
	return false;
}

/*
 * Reads the descriptor at *at and moves on; false: it does not fit before end, or has no code:
 * bytes that did not come are zero.
 */
static bool next(const uint8_t *data, size_t end, size_t *at, struct em_tcg_feature *ret)
{
	const uint8_t *d = data + *at;

	if (end - *at < DESCRIPTOR_BYTES || end - *at - DESCRIPTOR_BYTES < d[3])
		return false;
	*ret = (struct em_tcg_feature){ .code = (uint16_t)be_n(d, 2),
					.version = d[2] >> 4,
					.len = d[3],
					.at = (uint16_t)(*at + DESCRIPTOR_BYTES) };
	*at += DESCRIPTOR_BYTES + d[3];
	return ret->code != 0;
}

/* True when every descriptor before end was read. */
static bool walk(const uint8_t *data, size_t end, struct em_tcg *ret)
{
	uint16_t seen[EM_TCG_FEATURES_MAX];
	unsigned count = 0;
	size_t at = EM_TCG_HEADER_BYTES;

	while (at < end) {
		struct em_tcg_feature f;

		if (count == EM_TCG_FEATURES_MAX || !next(data, end, &at, &f))
			return false;
		if (was_seen(seen, count, f.code))
			continue;
		seen[count++] = f.code;
		if (!take_ssc(&f, data + f.at, ret) && !take_rows(&f, data + f.at, ret) &&
		    !is_silent(f.code))
			ret->unknown[ret->unknown_count++] = f;
	}
	return true;
}

void em_tcg_decode(const uint8_t *data, size_t len, struct em_tcg *ret)
{
	uint64_t told;
	bool fits;

	*ret = (struct em_tcg){ 0 };
	if (len > UINT16_MAX)
		len = UINT16_MAX;
	if (len < EM_TCG_HEADER_BYTES)
		return;
	told = (uint64_t)be_n(data, LENGTH_BYTES) + LENGTH_BYTES;
	fits = told >= EM_TCG_HEADER_BYTES && told <= len;
	ret->complete = walk(data, told < len ? (size_t)told : len, ret) && fits;
	/* What was not seen is not there only if all was seen. */
	ret->has_ssc = ret->has_ssc || ret->complete;
	if (ret->mbr_enabled.known && ret->mbr_done.known)
		ret->mbr_shadowed = value_of(ret->mbr_enabled.value && !ret->mbr_done.value);
}

static uint32_t ask_bytes(const struct em_nvme_ctx *ctx)
{
	(void)ctx;
	return EM_TCG_ASK_BYTES;
}

/* Its values have no fixed places, so they are no rows: em_tcg_decode() gives them. */
const struct em_page em_page_security = {
	.key = "security",
	.title = "Security",
	.code = 0x01,
	.specific = 0x0001,
	.how = EM_BY_SECURITY_RECEIVE,
	.flags = EM_ONES_NO_READING | EM_ZERO_NO_READING,
	.size = EM_TCG_HEADER_BYTES,
	.max_size = EM_TCG_ASK_BYTES,
	.size_of = ask_bytes,
	.ref = "TCG level-0 discovery",
};
