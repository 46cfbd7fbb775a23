/* SPDX-License-Identifier: Apache-2.0 */
/* TCG level-0 discovery, laid out by hand from the specification; big-endian. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/cleanup.h"
#include "lib/nvme/crypto_erase.h"
#include "lib/nvme/page.h"
#include "lib/nvme/tcg.h"
#include "tests/unit/runner.h"

static uint8_t page[2048];
static unsigned used;
static struct em_tcg tcg;

/* The length at byte 0 counts what follows it. */
static void set_length(uint32_t length)
{
	page[0] = (uint8_t)(length >> 24);
	page[1] = (uint8_t)(length >> 16);
	page[2] = (uint8_t)(length >> 8);
	page[3] = (uint8_t)length;
}

static void setup(void)
{
	memset(page, 0, sizeof(page));
	page[7] = 1; /* revision */
	used = 48;
	set_length(used - 4);
}

static void put(uint16_t code, uint8_t version, const void *payload, uint8_t len)
{
	page[used] = (uint8_t)(code >> 8);
	page[used + 1] = (uint8_t)code;
	page[used + 2] = (uint8_t)(version << 4);
	page[used + 3] = len;
	memcpy(page + used + 4, payload, len);
	used += 4u + len;
	set_length(used - 4);
}

#define PUT(code, version, ...)                                                                    \
	put(code, version, (const uint8_t[]){ __VA_ARGS__ }, sizeof((uint8_t[]){ __VA_ARGS__ }))

/* In a block of exactly that size, so that a byte too far is seen. */
static void decode_first(size_t len)
{
	uint8_t *bytes = malloc(len ? len : 1);

	ck_assert_ptr_nonnull(bytes);
	memcpy(bytes, page, len);
	em_tcg_decode(bytes, len, &tcg);
	free(bytes);
}

static void decode(void)
{
	decode_first(sizeof(page));
}

static void check_value(struct em_tcg_value value, uint32_t expected)
{
	ck_assert(value.known);
	ck_assert_uint_eq(value.value, expected);
}

START_TEST(locking_bit_by_bit)
{
	for (unsigned bit = 0; bit < 6; bit++) {
		setup();
		PUT(0x0002, 1, (uint8_t)(1u << bit), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
		decode();
		ck_assert(tcg.complete);
		check_value(tcg.locking_supported, bit == 0);
		check_value(tcg.locking_enabled, bit == 1);
		check_value(tcg.locked, bit == 2);
		check_value(tcg.media_encryption, bit == 3);
		check_value(tcg.mbr_enabled, bit == 4);
		check_value(tcg.mbr_done, bit == 5);
		check_value(tcg.mbr_shadowed, bit == 4);
	}
	setup();
	PUT(0x0002, 1, 0x30);
	decode();
	check_value(tcg.mbr_shadowed, 0);
}
END_TEST

START_TEST(values_of_the_other_features)
{
	PUT(0x0201, 1, 0x00, 0x01, 0x02, 0x03, 0xff, 0, 0, 0, 0, 0, 0, 0);
	PUT(0x0402, 1, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	PUT(0x0403, 1, 0xc0, 0, 0, 0, 0x00, 0x00, 0x00, 0x20, 0x00, 0x00, 0x01, 0x1d, 0xfe, 0, 0,
	    9);
	PUT(0x0404, 1, 0xff, 0xff, 0x15, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	decode();
	check_value(tcg.single_user_objects, 0x010203);
	check_value(tcg.sid_value_state, 0);
	check_value(tcg.sid_blocked, 1);
	check_value(tcg.keys_max, 32);
	check_value(tcg.keys_unused, 0x11d);
	check_value(tcg.ranges_per_namespace_max, 0xfe000009);
	check_value(tcg.data_removal, 0x15);
	ck_assert_uint_eq(tcg.unknown_count, 0);
	ck_assert(!tcg.locked.known && !tcg.mbr_shadowed.known && !tcg.base_comid.known);
}
END_TEST

/* Each with a ComID of its own; whatever their order, the strongest is told, with its ComID. */
START_TEST(the_strongest_class_is_told)
{
	static const struct {
		uint16_t code;
		enum em_ssc ssc;
		const char *name;
	} classes[] = {
		{ 0x0301, EM_SSC_OPALITE, "opalite" }, { 0x0302, EM_SSC_PYRITE1, "pyrite1" },
		{ 0x0303, EM_SSC_PYRITE2, "pyrite2" }, { 0x0100, EM_SSC_ENTERPRISE, "enterprise" },
		{ 0x0200, EM_SSC_OPAL1, "opal1" },     { 0x0203, EM_SSC_OPAL2, "opal2" },
		{ 0x0304, EM_SSC_RUBY, "ruby" },
	};

	decode();
	ck_assert(tcg.complete && tcg.has_ssc);
	ck_assert_str_eq(em_ssc_name(tcg.ssc), "none");
	for (uint8_t i = 0; i < EM_COUNT(classes); i++) {
		for (uint8_t j = 0; j < EM_COUNT(classes); j++) {
			uint8_t best = i > j ? i : j;

			setup();
			PUT(classes[i].code, 1, 0x07, (uint8_t)(0xf0 + i), 0, (uint8_t)(i + 1));
			PUT(classes[j].code, 1, 0x07, (uint8_t)(0xf0 + j), 0, (uint8_t)(j + 1));
			decode();
			ck_assert(tcg.has_ssc);
			ck_assert_int_eq(tcg.ssc, classes[best].ssc);
			ck_assert_str_eq(em_ssc_name(tcg.ssc), classes[best].name);
			check_value(tcg.base_comid, 0x07f0u + best);
			check_value(tcg.comid_count, best + 1u);
		}
	}
}
END_TEST

START_TEST(short_payloads_have_no_values)
{
	put(0x0002, 1, "", 0);
	PUT(0x0403, 1, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0);
	PUT(0x0203, 1, 7);
	PUT(0x0404, 1, 1, 1);
	decode();
	ck_assert(tcg.complete);
	ck_assert(!tcg.locked.known && !tcg.locking_supported.known && !tcg.mbr_shadowed.known);
	check_value(tcg.keys_max, 16);
	ck_assert(!tcg.keys_unused.known && !tcg.ranges_per_namespace_max.known);
	ck_assert_int_eq(tcg.ssc, EM_SSC_OPAL2);
	ck_assert(!tcg.base_comid.known && !tcg.comid_count.known && !tcg.data_removal.known);
	ck_assert_uint_eq(tcg.unknown_count, 0);
}
END_TEST

START_TEST(of_two_features_with_one_code_the_first_counts)
{
	PUT(0x0002, 1, 0x07);
	PUT(0x0002, 1, 0x01);
	PUT(0xc001, 2, 1, 2, 3);
	PUT(0xc001, 2, 4);
	decode();
	check_value(tcg.locked, 1);
	check_value(tcg.locking_enabled, 1);
	ck_assert_uint_eq(tcg.unknown_count, 1);
	ck_assert_uint_eq(tcg.unknown[0].len, 3);
	ck_assert(tcg.complete);
}
END_TEST

START_TEST(unknown_codes_are_kept_with_their_place)
{
	PUT(0x0001, 1, 0x11, 0, 0, 0); /* TPer, geometry, data stores: known, and nothing to tell */
	PUT(0x0003, 1, 1);
	PUT(0x0202, 1, 0, 0);
	PUT(0xc001, 3, 0xaa, 0xbb);
	put(0x0407, 1, "", 0);
	decode();
	ck_assert_uint_eq(tcg.unknown_count, 2);
	ck_assert_uint_eq(tcg.unknown[0].code, 0xc001);
	ck_assert_uint_eq(tcg.unknown[0].version, 3);
	ck_assert_uint_eq(tcg.unknown[0].len, 2);
	ck_assert_uint_eq(page[tcg.unknown[0].at], 0xaa);
	ck_assert_uint_eq(tcg.unknown[1].code, 0x0407);
	ck_assert_uint_eq(tcg.unknown[1].len, 0);
}
END_TEST

START_TEST(a_length_beyond_the_bytes_is_not_believed)
{
	static const uint32_t lengths[] = { 2048, 0xffff, 0x7fffffff, 0xfffffffe, 0xffffffff };

	for (unsigned i = 0; i < EM_COUNT(lengths); i++) {
		setup();
		PUT(0x0002, 1, 0x05);
		PUT(0x0203, 1, 0x08, 0x00, 0, 1);
		set_length(lengths[i]);
		decode();
		check_value(tcg.locked, 1);
		ck_assert_int_eq(tcg.ssc, EM_SSC_OPAL2);
		ck_assert_msg(!tcg.complete, "%u", lengths[i]);
	}
}
END_TEST

/* Without the end of the list nobody knows what else it had. */
START_TEST(what_was_not_seen_is_not_told_to_be_missing)
{
	static const uint32_t lengths[] = { 0, 1, 43 };

	PUT(0x0002, 1, 0x07);
	for (unsigned i = 0; i < EM_COUNT(lengths); i++) {
		set_length(lengths[i]);
		decode();
		ck_assert(!tcg.complete && !tcg.has_ssc && !tcg.locked.known);
	}
	/* Three bytes more are no descriptor; zeros are none either, they are what did not come. */
	for (unsigned more = 3; more < 300; more += 99) {
		set_length(used - 4 + more);
		decode();
		check_value(tcg.locked, 1);
		ck_assert(!tcg.complete && !tcg.has_ssc);
		ck_assert_uint_eq(tcg.unknown_count, 0);
	}
}
END_TEST

START_TEST(a_feature_that_runs_over_the_end_ends_the_list)
{
	PUT(0x0203, 1, 0x08, 0x00, 0, 1);
	PUT(0x0002, 1, 0x07, 0, 0, 0);
	page[used - 5] = 5; /* one byte more than there is */
	decode();
	ck_assert(!tcg.complete && tcg.has_ssc && !tcg.locked.known);
	page[used - 5] = 255;
	decode();
	ck_assert(!tcg.complete && !tcg.locked.known);
	page[used - 5] = 4;
	decode();
	ck_assert(tcg.complete && tcg.locked.known);
	for (size_t len = 0; len < used; len++) {
		decode_first(len);
		ck_assert_msg(!tcg.complete && !tcg.locked.known, "%zu", len);
		ck_assert_msg(tcg.has_ssc == (len >= 56), "%zu", len);
	}
}
END_TEST

START_TEST(more_features_than_any_drive_has)
{
	for (unsigned i = 0; i < EM_TCG_FEATURES_MAX; i++)
		put((uint16_t)(0xc000 + i), 1, "", 0);
	decode();
	ck_assert(tcg.complete);
	ck_assert_uint_eq(tcg.unknown_count, EM_TCG_FEATURES_MAX);
	put(0xd000, 1, "", 0);
	decode();
	ck_assert(!tcg.complete);
	ck_assert_uint_eq(tcg.unknown_count, EM_TCG_FEATURES_MAX);
}
END_TEST

START_TEST(any_bytes_are_decoded)
{
	uint32_t seed = 1;

	for (unsigned round = 0; round < 500; round++) {
		size_t len = round % 2 ? sizeof(page) : seed % sizeof(page);

		for (size_t i = 0; i < sizeof(page); i++) {
			seed = seed * 1664525 + 1013904223;
			page[i] = (uint8_t)(seed >> 24);
		}
		if (round % 3)
			set_length(seed % 2200);
		decode_first(len);
		for (unsigned i = 0; i < tcg.unknown_count; i++)
			ck_assert_uint_le(tcg.unknown[i].at + tcg.unknown[i].len, len);
	}
}
END_TEST

/* OACS at 256, SANICAP at 328, FNA at 524 of Identify Controller. */
static struct em_crypto_erase judge(uint8_t oacs, uint8_t fna, uint8_t sanicap,
				    const struct em_tcg *discovery)
{
	static const struct em_nvme_ctx ctx = { .known = true, .ver = EM_VER(1, 4) };
	static uint8_t identify[4096];

	memset(identify, 0, sizeof(identify));
	memcpy(identify + 4, "SN", 2);
	identify[256] = oacs;
	identify[328] = sanicap;
	identify[524] = fna;
	return em_crypto_erase_judge(identify, sizeof(identify), &ctx, discovery);
}

START_TEST(crypto_erase_of_one_namespace)
{
	static const struct {
		uint8_t oacs, fna;
		bool alone;
		const char *reason;
	} expected[] = {
		{ 0, 0x04, false, "no_format" },	  { 2, 0, false, "no_crypto_erase" },
		{ 2, 0x03, false, "no_crypto_erase" },	  { 2, 0x04, true, "announced" },
		{ 2, 0x05, false, "format_affects_all" }, { 2, 0x06, false, "erase_affects_all" },
		{ 2, 0x07, false, "erase_affects_all" },
	};

	for (unsigned i = 0; i < EM_COUNT(expected); i++) {
		struct em_crypto_erase erase = judge(expected[i].oacs, expected[i].fna, 2, NULL);

		check_value(erase.alone, expected[i].alone);
		ck_assert_str_eq(em_erase_reason_name(erase.reason), expected[i].reason);
		check_value(erase.by_format, expected[i].oacs && expected[i].fna & 4);
		check_value(erase.format_affects_all, expected[i].fna & 1);
		check_value(erase.erase_affects_all, expected[i].fna >> 1 & 1);
		check_value(erase.by_sanitize, 0);
	}
	check_value(judge(2, 4, 1, NULL).by_sanitize, 1);
}
END_TEST

START_TEST(keys_are_a_proof_and_no_more)
{
	PUT(0x0403, 1, 0, 0, 0, 0, 0, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0, 9);
	decode();
	ck_assert_int_eq(judge(2, 4, 0, &tcg).reason, EM_ERASE_KEYS);
	check_value(judge(2, 4, 0, &tcg).alone, 1);
	ck_assert_int_eq(judge(2, 6, 0, &tcg).reason, EM_ERASE_ERASE_ALL);
	check_value(judge(2, 6, 0, &tcg).alone, 0);
	setup();
	PUT(0x0403, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9);
	decode();
	ck_assert_int_eq(judge(2, 4, 0, &tcg).reason, EM_ERASE_ANNOUNCED);
}
END_TEST

START_TEST(without_identify_nothing_is_known_of_erasing)
{
	static const struct em_nvme_ctx unknown;
	struct em_crypto_erase erase = em_crypto_erase_judge(NULL, 0, &unknown, NULL);

	ck_assert(!erase.alone.known && !erase.by_format.known && !erase.by_sanitize.known);
	ck_assert_str_eq(em_erase_reason_name(erase.reason), "unknown");
}
END_TEST

START_TEST(the_page_is_asked_as_others_ask_it)
{
	static const struct em_nvme_ctx ctx = { .known = true, .ver = EM_VER(1, 4) };
	const struct em_page *p = em_pages[EM_PAGE_SECURITY];

	ck_assert_uint_eq(em_page_size(p, &ctx), 2048);
	ck_assert_uint_eq(p->specific, 1);
	ck_assert_int_eq(em_page_check(p, page, 47), EM_PAGE_SHORT);
	ck_assert_int_eq(em_page_check(p, page, 48), EM_PAGE_VALID);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("tcg");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, locking_bit_by_bit);
	tcase_add_test(tcase, values_of_the_other_features);
	tcase_add_test(tcase, the_strongest_class_is_told);
	tcase_add_test(tcase, short_payloads_have_no_values);
	tcase_add_test(tcase, of_two_features_with_one_code_the_first_counts);
	tcase_add_test(tcase, unknown_codes_are_kept_with_their_place);
	tcase_add_test(tcase, a_length_beyond_the_bytes_is_not_believed);
	tcase_add_test(tcase, what_was_not_seen_is_not_told_to_be_missing);
	tcase_add_test(tcase, a_feature_that_runs_over_the_end_ends_the_list);
	tcase_add_test(tcase, more_features_than_any_drive_has);
	tcase_add_test(tcase, any_bytes_are_decoded);
	tcase_add_test(tcase, crypto_erase_of_one_namespace);
	tcase_add_test(tcase, keys_are_a_proof_and_no_more);
	tcase_add_test(tcase, without_identify_nothing_is_known_of_erasing);
	tcase_add_test(tcase, the_page_is_asked_as_others_ask_it);
	return run_tests(tcase);
}
