/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages that are read when somebody asks. Every byte differs from its neighbours, so that a value
 * from another place, or of another width, is another value.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/cleanup.h"
#include "lib/base/u128.h"
#include "lib/nvme/page.h"
#include "tests/unit/runner.h"

static uint8_t data[1 << 18];
static const struct em_nvme_ctx ctx = { .known = true, .ver = EM_VER(2, 0), .log_offset = true };

static void setup(void)
{
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(1 + i * 37 % 255);
}

static const struct em_page *page_of(enum em_page_how how, uint8_t code)
{
	const struct em_page *page = em_page_find_code(how, code);

	ck_assert_msg(page != NULL, "page %02x", code);
	return page;
}

static const char *text_of(const struct em_field *fields, unsigned count, const char *key,
			   const uint8_t *bytes, size_t len)
{
	static char text[EM_VALUE_TEXT_SIZE];
	struct em_value value;

	for (unsigned i = 0; i < count; i++) {
		if (strcmp(fields[i].key, key) != 0)
			continue;
		em_field_get(&fields[i], bytes, len, &ctx, &value);
		return value.kind == EM_V_ABSENT ? "null" : em_value_text(&fields[i], &value, text);
	}
	ck_abort_msg("no field %s", key);
	return NULL;
}

static const char *get(const struct em_page *page, const char *key)
{
	return text_of(page->fields, page->field_count, key, data, page->size);
}

/* Of entry number index of the page's only list; NULL: it has no such entry, or it is not in use.
 */
static const char *get_entry(const struct em_page *page, unsigned index, const char *key)
{
	const struct em_group *group = &page->groups[0];
	uint8_t scratch[EM_ENTRY_SCRATCH];
	const uint8_t *entry;

	ck_assert_uint_eq(page->group_count, 1);
	if (index >= em_group_present(group, &ctx))
		return NULL;
	entry = em_group_entry(group, data, page->size, index, scratch);
	if (!entry || (group->unused && group->unused(entry)))
		return NULL;
	return text_of(group->fields, group->field_count, key, entry, group->stride);
}

static const char *number_at(size_t at, unsigned width, uint32_t scale)
{
	static char text[EM_U128_DEC_SIZE];
	em_u128 value = 0;

	while (width-- > 0)
		value = value << 8 | data[at + width];
	em_u128_dec(text, value, scale);
	return text;
}

struct place {
	const char *key;
	size_t at;
	unsigned width;
	uint32_t scale;
};

static void check_places(const struct em_page *page, const struct place *places, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *wanted = number_at(places[i].at, places[i].width, places[i].scale);

		ck_assert_msg(!strcmp(get(page, places[i].key), wanted), "%s: %s is %s and not %s",
			      page->key, places[i].key, get(page, places[i].key), wanted);
	}
}

static void check_entry(const struct em_page *page, unsigned index, size_t at,
			const struct place *places, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *ours = get_entry(page, index, places[i].key);
		const char *wanted = number_at(at + places[i].at, places[i].width, places[i].scale);

		ck_assert_msg(ours && !strcmp(ours, wanted), "%s: %s is %s and not %s", page->key,
			      places[i].key, ours ? ours : "none", wanted);
	}
}

START_TEST(endurance_group)
{
	static const struct place places[] = {
		{ "available_spare_percent", 3, 1, 1 },
		{ "available_spare_threshold_percent", 4, 1, 1 },
		{ "percentage_used", 5, 1, 1 },
		{ "endurance_estimate_bytes", 32, 16, 1000000000 },
		{ "data_read_bytes", 48, 16, 1000000000 },
		{ "data_written_bytes", 64, 16, 1000000000 },
		{ "media_written_bytes", 80, 16, 1000000000 },
		{ "host_reads", 96, 16, 1 },
		{ "host_writes", 112, 16, 1 },
		{ "media_errors", 128, 16, 1 },
		{ "num_err_log_entries", 144, 16, 1 },
	};
	const struct em_page *page = page_of(EM_BY_LOG, 0x09);

	check_places(page, places, EM_COUNT(places));
	data[0] = 0x0d;
	ck_assert_str_eq(get(page, "critical_warning"), "13");
	ck_assert_str_eq(page->fields[0].names[1].name, "reliability_degraded");
	ck_assert_uint_eq(page->size, 512);
}
END_TEST

START_TEST(supported_pages_and_features)
{
	const struct em_page *logs = page_of(EM_BY_LOG, 0x00);
	const struct em_page *features = page_of(EM_BY_LOG, 0x12);

	memset(data, 0, sizeof(data));
	memcpy(data + 4 * 0xca, "\x03\x00\x34\x12", 4);
	ck_assert_str_eq(get_entry(logs, 0xca, "index_offset"), "true");
	ck_assert_str_eq(get_entry(logs, 0xca, "specific"), "4660");
	ck_assert_ptr_null(get_entry(logs, 0xcb, "specific"));
	ck_assert_uint_eq(em_group_number(&logs->groups[0], 0xca), 0xca);

	memset(data, 0, sizeof(data));
	memcpy(data + 4 * 0x0b, "\x01\x00\x00\x00", 4);
	ck_assert_str_eq(get_entry(features, 0x0b, "changes_data"), "false");
	ck_assert_str_eq(get_entry(features, 0x0b, "scope"), "null");
	data[4 * 0x0b] = 0x03;
	ck_assert_str_eq(get_entry(features, 0x0b, "changes_data"), "true");
	data[4 * 0x0b] = 0x05;
	ck_assert_str_eq(get_entry(features, 0x0b, "changes_namespace_capability"), "true");
	data[4 * 0x0b] = 0x09;
	ck_assert_str_eq(get_entry(features, 0x0b, "changes_namespace_inventory"), "true");
	data[4 * 0x0b] = 0x11;
	ck_assert_str_eq(get_entry(features, 0x0b, "changes_controller_capability"), "true");
	data[4 * 0x0b + 2] = 0x08;
	ck_assert_str_eq(get_entry(features, 0x0b, "uuid_selection"), "true");
	data[4 * 0x0b + 2] = 0x20;
	ck_assert_str_eq(get_entry(features, 0x0b, "uuid_selection"), "false");
	ck_assert_str_eq(get_entry(features, 0x0b, "scope"), "2");
}
END_TEST

START_TEST(telemetry_header)
{
	static const struct place places[] = {
		{ "data_area_1_bytes", 8, 2, 512 },	{ "data_area_2_bytes", 10, 2, 512 },
		{ "data_area_3_bytes", 12, 2, 512 },	{ "host_generation", 381, 1, 1 },
		{ "controller_generation", 383, 1, 1 },
	};
	static const uint8_t codes[] = { 0x07, 0x08 };

	for (unsigned i = 0; i < EM_COUNT(codes); i++) {
		const struct em_page *page = page_of(EM_BY_LOG, codes[i]);

		check_places(page, places, EM_COUNT(places));
		memcpy(data + 5, "\x01\x02\x03", 3);
		ck_assert_str_eq(get(page, "ieee_oui"), "030201");
		data[382] = 0;
		ck_assert_str_eq(get(page, "controller_data_available"), "false");
		data[382] = 1;
		ck_assert_str_eq(get(page, "controller_data_available"), "true");
		data[384] = 0xab;
		data[511] = 0xcd;
		ck_assert(!strncmp(get(page, "reason"), "ab", 2));
		ck_assert_uint_eq(strlen(get(page, "reason")), 256);
		ck_assert_str_eq(get(page, "reason") + 254, "cd");
	}
}
END_TEST

START_TEST(persistent_event_header)
{
	static const struct place places[] = {
		{ "total_events", 4, 4, 1 },  { "log_bytes", 8, 8, 1 },
		{ "revision", 16, 1, 1 },     { "header_length", 18, 2, 1 },
		{ "timestamp_ms", 20, 6, 1 }, { "power_on_hours", 28, 16, 1 },
		{ "power_cycles", 44, 8, 1 },
	};
	const struct em_page *page = page_of(EM_BY_LOG, 0x0d);

	check_places(page, places, EM_COUNT(places));
	memset(data + 56, ' ', 316);
	memcpy(data + 56, "SERIAL", 6);
	memcpy(data + 76, "MODEL", 5);
	memcpy(data + 116, "nqn.x", 5);
	ck_assert_str_eq(get(page, "serial"), "SERIAL");
	ck_assert_str_eq(get(page, "model"), "MODEL");
	ck_assert_str_eq(get(page, "subsystem_nqn"), "nqn.x");
}
END_TEST

/* Three events of 285, 24 and 26 bytes, laid out by hand; in the second all bytes differ. */
START_TEST(persistent_events_one_behind_another)
{
	static const struct place places[] = {
		{ "type_revision", 1, 1, 1 }, { "controller_id", 4, 2, 1 },
		{ "timestamp_ms", 6, 6, 1 },  { "vendor_bytes", 20, 2, 1 },
		{ "data_bytes", 22, 2, 1 },
	};
	const struct em_page *page = page_of(EM_BY_LOG, 0x0d);
	const struct em_group *group = &page->groups[0];
	uint8_t scratch[EM_ENTRY_SCRATCH], *second = data + 512 + 24 + 261;

	memset(data, 0, sizeof(data));
	data[4] = 3;
	data[18] = 492 & 0xff;
	data[19] = 492 >> 8;
	data[512] = 0x04;
	data[512 + 2] = 21;
	data[512 + 22] = 5;
	data[512 + 23] = 1;
	for (unsigned i = 0; i < 24; i++)
		second[i] = (uint8_t)(0x11 * (i % 13) + i);
	second[2] = 21;
	second[22] = second[23] = 0;
	second[24] = 0xdf;
	second[24 + 1] = 7;
	second[24 + 2] = 23; /* a longer header */
	ck_assert_ptr_null(em_group_entry(group, data, 512 + 23, 0, scratch));
	ck_assert_uint_eq(em_group_entry(group, data, sizeof(data), 0, scratch)[0], 0x04);
	ck_assert_uint_eq(em_group_entry(group, data, sizeof(data), 2, scratch)[0], 0xdf);
	ck_assert_ptr_null(em_group_entry(group, data, sizeof(data), 3, scratch));
	for (unsigned i = 0; i < EM_COUNT(places); i++) {
		const struct em_field *field = &group->fields[i + 1];
		em_u128 want = 0;
		struct em_value value;

		ck_assert_str_eq(field->key, places[i].key);
		for (unsigned b = places[i].width; b-- > 0;)
			want = want << 8 | second[places[i].at + b];
		em_field_get(field, em_group_entry(group, data, sizeof(data), 1, scratch),
			     group->stride, &ctx, &value);
		ck_assert(value.number == want);
		ck_assert_uint_le(field->scale, 1);
	}
	ck_assert_str_eq(text_of(group->fields, group->field_count, "type",
				 em_group_entry(group, data, sizeof(data), 2, scratch),
				 group->stride),
			 "tcg_defined");
	ck_assert_str_eq(text_of(group->fields, group->field_count, "data_bytes",
				 em_group_entry(group, data, sizeof(data), 0, scratch),
				 group->stride),
			 "261");
	data[512 + 2] = 20; /* a header that is shorter than a header is: nothing behind it */
	ck_assert_ptr_null(em_group_entry(group, data, sizeof(data), 0, scratch));
	ck_assert_ptr_null(em_group_entry(group, data, sizeof(data), 1, scratch));
}
END_TEST

START_TEST(reservation_notification)
{
	static const struct place places[] = { { "notification_count", 0, 8, 1 },
					       { "more_notifications", 9, 1, 1 },
					       { "nsid", 12, 4, 1 } };
	const struct em_page *page = page_of(EM_BY_LOG, 0x80);

	check_places(page, places, EM_COUNT(places));
	data[8] = 3;
	ck_assert_str_eq(get(page, "type"), "reservation_preempted");
	memset(data, 0, sizeof(data));
	ck_assert_int_eq(em_page_check(page, data, page->size), EM_PAGE_VALID);
	ck_assert_str_eq(get(page, "type"), "null");
	ck_assert_str_eq(get(page, "notification_count"), "null");
}
END_TEST

START_TEST(lists_of_namespaces)
{
	const struct em_page *pages[] = { page_of(EM_BY_LOG, 0x04), page_of(EM_BY_IDENTIFY, 0x10),
					  em_page_find_code(EM_BY_IDENTIFY, 0x02) };

	memset(data, 0, sizeof(data));
	memcpy(data, "\x01\x00\x00\x00\x04\x03\x02\x01", 8);
	for (unsigned i = 0; i < EM_COUNT(pages); i++) {
		ck_assert_str_eq(get_entry(pages[i], 0, "nsid"), "1");
		ck_assert_str_eq(get_entry(pages[i], 1, "nsid"), "16909060");
		ck_assert_ptr_null(get_entry(pages[i], 2, "nsid"));
	}
}
END_TEST

START_TEST(lists_of_controllers)
{
	const struct em_page *pages[] = { page_of(EM_BY_IDENTIFY, 0x12),
					  page_of(EM_BY_IDENTIFY, 0x13) };

	memset(data, 0, sizeof(data));
	memcpy(data, "\x02\x00\x00\x00\x34\x12\x99\x99", 8);
	for (unsigned i = 0; i < EM_COUNT(pages); i++) {
		ck_assert_str_eq(get_entry(pages[i], 0, "controller_id"), "0");
		ck_assert_str_eq(get_entry(pages[i], 1, "controller_id"), "4660");
		ck_assert_ptr_null(get_entry(pages[i], 2, "controller_id"));
	}
	/* A list that says to be longer than it is. */
	memset(data, 0xfe, sizeof(data));
	ck_assert_ptr_nonnull(get_entry(pages[0], 2046, "controller_id"));
	ck_assert_ptr_null(get_entry(pages[0], 2047, "controller_id"));
}
END_TEST

START_TEST(identifiers_of_a_namespace)
{
	static const uint8_t list[] = {
		1,    8,    0,	  0,	1,    2,    3,	  4,	5,    6,    7,	  8, /* EUI-64 */
		4,    1,    0,	  0,	2,					     /* zoned */
		9,    3,    0,	  0,	1,    2,    3,				     /* not known */
		3,    16,   0,	  0,	0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17,
		0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f, 0,
	};
	const struct em_page *page = page_of(EM_BY_IDENTIFY, 0x03);

	memset(data, 0, sizeof(data));
	memcpy(data, list, sizeof(list));
	ck_assert_str_eq(get(page, "eui64"), "0102030405060708");
	ck_assert_str_eq(get(page, "command_set"), "2");
	ck_assert_str_eq(get(page, "uuid"), "10111213-1415-1617-1819-1a1b1c1d1e1f");
	ck_assert_str_eq(get(page, "nguid"), "null");
	data[17 + 7] = 2;
	ck_assert_str_eq(get(page, "nguid"), "101112131415161718191a1b1c1d1e1f");
	/* A length of another type's, a length of none, and one beyond the end. */
	data[1] = 7;
	ck_assert_str_eq(get(page, "eui64"), "null");
	data[1] = 0;
	ck_assert_str_eq(get(page, "command_set"), "null");
	memset(data, 3, sizeof(data));
	data[1] = 255;
	ck_assert_str_eq(get(page, "uuid"), "null");
}
END_TEST

START_TEST(nvm_sets)
{
	static const struct place places[] = {
		{ "nvm_set_id", 0, 2, 1 },
		{ "endurance_group_id", 2, 2, 1 },
		{ "random_read_typical_ns", 8, 4, 100 },
		{ "optimal_write_bytes", 12, 4, 1 },
		{ "total_bytes", 16, 16, 1 },
		{ "unallocated_bytes", 32, 16, 1 },
	};
	const struct em_page *page = page_of(EM_BY_IDENTIFY, 0x04);

	check_entry(page, 0, 128, places, EM_COUNT(places));
	check_entry(page, 30, 128 + 30 * 128, places, EM_COUNT(places));
	data[128 + 128] = data[128 + 129] = 0;
	ck_assert_ptr_null(get_entry(page, 1, "nvm_set_id"));
}
END_TEST

START_TEST(granularity_of_namespaces)
{
	static const struct place places[] = { { "size_bytes", 0, 8, 1 },
					       { "capacity_bytes", 8, 8, 1 } };
	const struct em_page *page = page_of(EM_BY_IDENTIFY, 0x16);

	data[4] = 2; /* zero-based */
	check_entry(page, 0, 32, places, EM_COUNT(places));
	check_entry(page, 2, 32 + 2 * 16, places, EM_COUNT(places));
	ck_assert_ptr_null(get_entry(page, 3, "size_bytes"));
	data[0] = 2;
	ck_assert_str_eq(get(page, "for_each_lba_format"), "false");
	data[0] = 1;
	ck_assert_str_eq(get(page, "for_each_lba_format"), "true");
}
END_TEST

static const char *bucket(const struct em_page *page, unsigned list, unsigned index,
			  const char *from_us)
{
	const struct em_group *group = &page->groups[list];
	uint8_t scratch[EM_ENTRY_SCRATCH];
	const uint8_t *entry = em_group_entry(group, data, page->size, index, scratch);
	char text[EM_VALUE_TEXT_SIZE];
	struct em_value value;

	group->extra_get(&ctx, index, &value);
	ck_assert_str_eq(em_value_text(group->extra, &value, text), from_us);
	return text_of(group->fields, group->field_count, "commands", entry, group->stride);
}

#define CHECK_BUCKET(page, list, index, from_us, at)                                               \
	ck_assert_str_eq(bucket(page, list, index, from_us), number_at(at, 4, 1))

START_TEST(latency_of_memblaze_drives)
{
	static const char *const lists[] = { "reads", "writes", "trims" };
	const struct em_page *page = page_of(EM_BY_LOG, 0xd0);

	ck_assert_uint_eq(page->group_count, EM_COUNT(lists));
	for (unsigned i = 0; i < EM_COUNT(lists); i++) {
		size_t at = 8 + i * 256;

		ck_assert_str_eq(page->groups[i].key, lists[i]);
		ck_assert_uint_eq(page->groups[i].count, 32);
		CHECK_BUCKET(page, i, 0, "0", at);
		CHECK_BUCKET(page, i, 4, "200", at + 16);
		CHECK_BUCKET(page, i, 11, "900", at + 44);
		CHECK_BUCKET(page, i, 12, "1000", at + 48);
		CHECK_BUCKET(page, i, 17, "100000", at + 68);
		CHECK_BUCKET(page, i, 25, "900000", at + 100);
		CHECK_BUCKET(page, i, 31, "8000000", at + 124);
	}
	ck_assert_str_eq(get(page, "minor"), number_at(0, 4, 1));
	ck_assert_str_eq(get(page, "major"), number_at(4, 4, 1));
}
END_TEST

START_TEST(latency_of_older_memblaze_drives)
{
	static const uint8_t codes[] = { 0xc1, 0xc2 };

	for (unsigned i = 0; i < EM_COUNT(codes); i++) {
		const struct em_page *page = page_of(EM_BY_LOG, codes[i]);

		ck_assert_uint_eq(page->groups[0].count, 98);
		CHECK_BUCKET(page, 0, 0, "0", 8);
		CHECK_BUCKET(page, 0, 31, "992", 8 + 31 * 4);
		CHECK_BUCKET(page, 0, 32, "1000", 8 + 32 * 4);
		CHECK_BUCKET(page, 0, 62, "31000", 8 + 62 * 4);
		CHECK_BUCKET(page, 0, 63, "32000", 8 + 63 * 4);
		CHECK_BUCKET(page, 0, 93, "992000", 8 + 93 * 4);
		CHECK_BUCKET(page, 0, 94, "1000000", 8 + 94 * 4);
		CHECK_BUCKET(page, 0, 97, "4000000", 8 + 97 * 4);
		ck_assert_str_eq(get(page, "major"), number_at(4, 4, 1));
		ck_assert_str_eq(get(page, "minor"), number_at(0, 4, 1));
	}
}
END_TEST

static void put(size_t at, unsigned width, uint64_t value)
{
	for (; width-- > 0; value >>= 8)
		data[at++] = (uint8_t)value;
}

/* Of as many bytes as came. */
static const char *get_slow(size_t len, unsigned index, const char *key)
{
	const struct em_group *group = &page_of(EM_BY_LOG, 0xd1)->groups[0];
	uint8_t scratch[EM_ENTRY_SCRATCH];
	const uint8_t *entry = em_group_entry(group, data, len, index, scratch);

	return entry ? text_of(group->fields, group->field_count, key, entry, group->stride) : NULL;
}

/* Byte by byte as the vendor's tool has it: two entries and the end of the list. */
static size_t lay_out_slow(void)
{
	uint8_t *first = data + 4, *second = first + 64;

	memset(data, 0, sizeof(data));
	memcpy(data, "\x01\0\0", 4);
	memcpy(first, "\x7b\xe0\x9a\x83\xa1\x01\0", 8); /* 1793209327739 ms */
	memcpy(first + 8, "\x12\x7a\0", 4);		/* 31250 us */
	memcpy(first + 12, "\x03\0\0", 4);		/* queue */
	/* Opcode 02h, fused 2, PSDT 1, identifier 1a2bh. */
	memcpy(first + 16, "\x02\xb6\xa2\x01", 4);
	memcpy(first + 20, "\x01\0\0", 4);		   /* namespace */
	memcpy(first + 24, "\x89\x67\x45\x23\x01\0\0", 8); /* block */
	/* 8 blocks, directive 42h, protection 5, FUA. */
	memcpy(first + 32, "\x07\0\x42\x15", 4);
	second[0] = 17; /* ms since the start */
	/* The reserved bits; most blocks and limited retry. */
	memcpy(second + 16, "\0\0\0\xf0", 4);
	memcpy(second + 32, "\xff\xff\0\xe0", 4);
	first[3 * 64] = 9; /* behind the end */
	return 4 + 1024 * 64;
}

static void check_slow(size_t len, unsigned index, const char *key, const char *wanted)
{
	const char *ours = get_slow(len, index, key);

	ck_assert_msg(ours && !strcmp(ours, wanted), "%s is %s and not %s", key,
		      ours ? ours : "none", wanted);
}

START_TEST(slow_commands_of_memblaze_drives)
{
	static const struct {
		const char *key, *first, *second;
	} wanted[] = {
		{ "timestamp_ms", "1793209327739", "17" },
		{ "time", "2026-10-28T17:42:07.739Z", "null" },
		{ "latency_us", "31250", "0" },
		{ "queue", "3", "0" },
		{ "opcode", "2", "0" },
		{ "fuse", "2", "0" },
		{ "psdt", "1", "0" },
		{ "command_id", "6699", "0" },
		{ "nsid", "1", "0" },
		{ "slba", "4886718345", "0" },
		{ "blocks", "8", "65536" },
		{ "directive_type", "66", "0" },
		{ "protection", "5", "0" },
		{ "fua", "true", "false" },
		{ "limited_retry", "false", "true" },
	};
	const struct em_page *page = page_of(EM_BY_LOG, 0xd1);
	size_t len = lay_out_slow();

	ck_assert_str_eq(get(page, "version"), "1");
	for (size_t i = 0; i < EM_COUNT(wanted); i++) {
		check_slow(len, 0, wanted[i].key, wanted[i].first);
		check_slow(len, 1, wanted[i].key, wanted[i].second);
	}
	ck_assert_ptr_null(get_slow(len, 2, "queue")); /* no time: the end */
	ck_assert_ptr_null(get_slow(len, 3, "queue"));
	ck_assert_uint_eq(page->groups[0].field_count, EM_COUNT(wanted));
	ck_assert_uint_eq(page->groups[0].count, 1024);
}
END_TEST

START_TEST(a_list_of_slow_commands_has_an_end)
{
	size_t len = lay_out_slow();

	/* No more than came. */
	ck_assert_ptr_nonnull(get_slow(4 + 64, 0, "queue"));
	ck_assert_ptr_null(get_slow(4 + 64 - 1, 0, "queue"));
	ck_assert_ptr_null(get_slow(4 + 2 * 64 - 1, 1, "queue"));
	ck_assert_ptr_null(get_slow(3, 0, "queue"));
	/* Full: nothing ends it but its size, and what came behind it is none of it. */
	memset(data + 4, 1, sizeof(data) - 4);
	ck_assert_ptr_nonnull(get_slow(len, 1023, "queue"));
	ck_assert_ptr_null(get_slow(len, 1024, "queue"));
	/* Another form, and none. */
	data[0] = 2;
	ck_assert_ptr_null(get_slow(len, 0, "queue"));
	data[0] = 1;
	data[3] = 1;
	ck_assert_str_eq(get(page_of(EM_BY_LOG, 0xd1), "version"), "16777217");
	ck_assert_ptr_null(get_slow(len, 0, "queue"));
	memset(data, 0, sizeof(data));
	ck_assert_ptr_null(get_slow(len, 0, "queue"));
	ck_assert_int_eq(em_page_check(page_of(EM_BY_LOG, 0xd1), data, len), EM_PAGE_VALID);
	memset(data, 0xff, sizeof(data));
	ck_assert_int_eq(em_page_check(page_of(EM_BY_LOG, 0xd1), data, len), EM_PAGE_ALL_ONES);
	ck_assert_ptr_null(get_slow(len, 0, "queue"));
}
END_TEST

START_TEST(times_of_memblaze_drives)
{
	static const struct {
		uint64_t ms;
		const char *wanted;
	} times[] = {
		{ UINT64_C(0xffffffff), "null" }, /* since the start */
		{ UINT64_C(0x100000000), "1970-02-19T17:02:47.296Z" },
		{ UINT64_C(253402300799999), "9999-12-31T23:59:59.999Z" },
		{ UINT64_C(253402300800000), "null" },
		{ UINT64_MAX, "null" },
	};
	size_t len = lay_out_slow();

	for (size_t i = 0; i < EM_COUNT(times); i++) {
		put(4, 8, times[i].ms);
		check_slow(len, 0, "time", times[i].wanted);
	}
}
END_TEST

#define HOUR   (6u + 3600u * 24u)
#define SECOND 24u
#define DAY    (4u + 24u * HOUR)

/* Of as many bytes as came; the hour counts from 0. */
static const char *get_hour(size_t len, unsigned hour, const char *key)
{
	const struct em_group *group = &page_of(EM_BY_LOG, 0xd2)->groups[0];
	uint8_t scratch[EM_ENTRY_SCRATCH];
	const uint8_t *entry = em_group_entry(group, data, len, hour, scratch);

	if (!entry || group->unused(entry))
		return NULL;
	return text_of(group->fields, group->field_count, key, entry, group->stride);
}

struct wanted {
	const char *key, *value;
};

static void check_hour(unsigned hour, const struct wanted *wanted, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *ours = get_hour(4 + 2 * HOUR, hour, wanted[i].key);

		ck_assert_msg(ours && !strcmp(ours, wanted[i].value), "%s is %s and not %s",
			      wanted[i].key, ours ? ours : "none", wanted[i].value);
	}
}

static uint8_t *second_of(unsigned hour, unsigned second)
{
	return data + 4 + hour * HOUR + 6 + second * SECOND;
}

/*
 * Thousands of commands, MiB, latency of all, the longest: reads, then writes. The first hour has
 * three seconds, the second hour none but its clock.
 */
static void lay_out_version_1(void)
{
	memset(data, 0, sizeof(data));
	data[0] = 1;
	memcpy(data + 4, "\x7b\xe0\x9a\x83\xa1\x01", 6);
	memcpy(second_of(0, 0), "\x02\x01\x04\x03\x01\x02\x03\x04\x05\x06\x07\x08", 12);
	memcpy(second_of(0, 0) + 12, "\x01\0\x02\0\x10\x27\0\0\x64\0\0\0", 12);
	memcpy(second_of(0, 1), "\x01\0\x01\0\xff\xff\0\0\x09\0\0\0", 12);
	/* Fewer than a thousand: what they took is of an unknown number. */
	memcpy(second_of(0, 3599) + 12, "\0\0\x01\0\x40\x42\x0f\0\x65\0\0\0", 12);
	memcpy(data + 4 + HOUR, "\x11\0\0\0\0\0", 6);
}

START_TEST(performance_of_memblaze_drives)
{
	static const struct wanted first[] = {
		{ "timestamp_ms", "1793209327739" },
		{ "time", "2026-10-28T17:42:07.739Z" },
		{ "active_seconds", "3" },
		{ "unreadable_seconds", "0" },
		{ "read_iops_mean", "86333" }, /* (258000 + 1000) / 3 */
		{ "read_iops_max", "258000" },
		{ "read_bytes_per_second_mean", "270183082" }, /* (772 + 1) MiB / 3 */
		{ "read_bytes_per_second_max", "809500672" },
		{ "read_latency_mean_us", "260" }, /* (67305985 + 65535) / 259000 */
		{ "read_latency_max_us", "134678021" },
		{ "write_iops_mean", "333" },
		{ "write_iops_max", "1000" },
		{ "write_bytes_per_second_mean", "1048576" },
		{ "write_bytes_per_second_max", "2097152" },
		{ "write_latency_mean_us", "10" }, /* 10000 / 1000 */
		{ "write_latency_max_us", "101" },
		{ "read_bandwidth_mean_raw", "null" },
		{ "read_bandwidth_max_raw", "null" },
		{ "read_latency_mean_raw", "null" },
		{ "read_latency_max_raw", "null" },
		{ "write_bandwidth_mean_raw", "null" },
		{ "write_bandwidth_max_raw", "null" },
		{ "write_latency_mean_raw", "null" },
		{ "write_latency_max_raw", "null" },
	};
	static const struct wanted second[] = {
		{ "timestamp_ms", "17" },	    { "time", "null" },
		{ "active_seconds", "0" },	    { "read_iops_mean", "0" },
		{ "read_latency_mean_us", "null" }, { "read_latency_max_us", "null" },
	};

	lay_out_version_1();
	ck_assert_str_eq(get(page_of(EM_BY_LOG, 0xd2), "version"), "1");
	check_hour(0, first, EM_COUNT(first));
	check_hour(1, second, EM_COUNT(second));
	ck_assert_uint_eq(page_of(EM_BY_LOG, 0xd2)->groups[0].field_count, EM_COUNT(first));
	/* The version is the first byte alone. */
	data[1] = data[2] = data[3] = 0xff;
	ck_assert_str_eq(get(page_of(EM_BY_LOG, 0xd2), "version"), "1");
	check_hour(0, first, EM_COUNT(first));
}
END_TEST

START_TEST(performance_of_newer_memblaze_drives)
{
	static const struct wanted first[] = {
		{ "active_seconds", "2" },
		{ "unreadable_seconds", "6" },
		{ "read_iops_mean", "129050" }, /* (258 * 1000 + 100) / 2 */
		{ "read_iops_max", "258000" },
		{ "read_bandwidth_mean_raw", "404750338" }, /* (772 * 1024^2 + 4) / 2 */
		{ "read_bandwidth_max_raw", "809500672" },
		{ "read_latency_mean_raw", "1286000" }, /* of the second that has one */
		{ "read_latency_max_raw", "1800000000000" },
		{ "write_iops_mean", "5" },
		{ "write_iops_max", "10" },
		{ "write_bandwidth_mean_raw", "10240" },
		{ "write_bandwidth_max_raw", "20480" },
		{ "write_latency_mean_raw", "30" },
		{ "write_latency_max_raw", "40" },
		{ "read_bytes_per_second_mean", "null" },
		{ "read_bytes_per_second_max", "null" },
		{ "read_latency_mean_us", "null" },
		{ "read_latency_max_us", "null" },
		{ "write_bytes_per_second_mean", "null" },
		{ "write_bytes_per_second_max", "null" },
		{ "write_latency_mean_us", "null" },
		{ "write_latency_max_us", "null" },
	};

	memset(data, 0, sizeof(data));
	data[0] = 2;
	memcpy(second_of(0, 7), "\x02\x01\x04\x03\x06\x05\x08\x07\x03\x02\x01\x03", 12);
	memcpy(second_of(0, 7) + 12, "\x0a\0\x14\0\x1e\0\x28\0\0\x01\0\0", 12);
	memcpy(second_of(0, 9), "\x64\0\x04\0\0\0\0\0\0\0\0\0", 12);
	/* Steps beyond sense, each alone; the other half of the second does not count either. */
	for (unsigned i = 0; i < 4; i++) {
		memset(second_of(0, 100 + i), 1, 8);
		second_of(0, 100 + i)[8 + i] = i ? 4 : 10;
	}
	second_of(0, 200)[0] = 1;
	second_of(0, 200)[12 + 9] = 4;
	memset(second_of(0, 300), 0xff, SECOND);
	check_hour(0, first, EM_COUNT(first));
}
END_TEST

/* In one second: what no row may cut off. */
START_TEST(most_performance_of_memblaze_drives)
{
	static const char *const halves[] = { "read", "write" };
	static const struct {
		const char *key, *first, *second;
	} most[] = {
		{ "iops_mean", "65535000", "65535000000000" },
		{ "iops_max", "65535000", "65535000000000" },
		{ "bytes_per_second_mean", "68718428160", "null" },
		{ "bytes_per_second_max", "68718428160", "null" },
		{ "latency_mean_us", "65", "null" },
		{ "latency_max_us", "4294967294", "null" },
		{ "bandwidth_mean_raw", "null", "70367670435840" },
		{ "bandwidth_max_raw", "null", "70367670435840" },
		{ "latency_mean_raw", "null", "65535000000000" },
		{ "latency_max_raw", "null", "65535000000000" },
	};
	char key[64];

	for (unsigned i = 0; i < 2 * EM_COUNT(most); i++) {
		const char *half = halves[i % 2];

		snprintf(key, sizeof(key), "%s_%s", half, most[i / 2].key);
		memset(data, 0, sizeof(data));
		data[0] = 1;
		memcpy(second_of(0, 5), "\xff\xff\xff\xff\xfe\xff\xff\xff\xfe\xff\xff\xff", 12);
		memcpy(second_of(0, 5) + 12, second_of(0, 5), 12);
		ck_assert_str_eq(get_hour(4 + HOUR, 0, key), most[i / 2].first);
		data[0] = 2;
		memcpy(second_of(0, 5), "\xff\xff\xff\xff\xff\xff\xff\xff\x09\x03\x03\x03", 12);
		memcpy(second_of(0, 5) + 12, second_of(0, 5), 12);
		ck_assert_str_eq(get_hour(4 + HOUR, 0, key), most[i / 2].second);
		data[0] = 1;
		memcpy(second_of(0, 5), "\x01\0\0\0\xff\xff\xff\xff\0\0\0\0", 12);
		memcpy(second_of(0, 5) + 12, second_of(0, 5), 12);
		snprintf(key, sizeof(key), "%s_latency_mean_us", half);
		ck_assert_str_eq(get_hour(4 + HOUR, 0, key), "4294967");
	}
}
END_TEST

START_TEST(hours_of_performance_have_an_end)
{
	const struct em_page *page = page_of(EM_BY_LOG, 0xd2);

	lay_out_version_1();
	ck_assert_ptr_nonnull(get_hour(4 + HOUR, 0, "time"));
	ck_assert_ptr_null(get_hour(4 + HOUR - 1, 0, "time"));
	ck_assert_ptr_null(get_hour(4 + 2 * HOUR - 1, 1, "time"));
	ck_assert_ptr_null(get_hour(0, 0, "time"));
	/* Not so long on: an hour of zeroes. Somebody else's form, all zero, all ones. */
	ck_assert_ptr_null(get_hour(4 + 3 * HOUR, 2, "time"));
	data[0] = 3;
	ck_assert_ptr_null(get_hour(4 + HOUR, 0, "time"));
	memset(data, 0, sizeof(data));
	ck_assert_ptr_null(get_hour(4 + HOUR, 0, "time"));
	ck_assert_int_eq(em_page_check(page, data, 4 + HOUR), EM_PAGE_VALID);
	memset(data, 0xff, sizeof(data));
	ck_assert_int_eq(em_page_check(page, data, sizeof(data)), EM_PAGE_ALL_ONES);
	ck_assert_ptr_null(get_hour(4 + HOUR, 0, "time"));
	data[0] = 1;
	ck_assert_str_eq(get_hour(4 + HOUR, 0, "unreadable_seconds"), "3600");
	ck_assert_str_eq(get_hour(4 + HOUR, 0, "active_seconds"), "0");
	ck_assert_str_eq(get_hour(4 + HOUR, 0, "timestamp_ms"), "null");
}
END_TEST

/* Every second of a version that has most: no sum is too large for what it is kept in. */
START_TEST(a_day_of_performance_is_the_most)
{
	uint8_t *day = calloc(1, DAY + HOUR), scratch[EM_ENTRY_SCRATCH];
	const struct em_page *page = page_of(EM_BY_LOG, 0xd2);
	const struct em_group *group = &page->groups[0];

	ck_assert_ptr_nonnull(day);
	memset(day, 0xfe, DAY + HOUR);
	day[0] = 1;
	ck_assert_uint_eq(page->max_size, DAY);
	ck_assert_uint_eq(page->size, 4 + HOUR);
	ck_assert_ptr_nonnull(em_group_entry(group, day, DAY + HOUR, 23, scratch));
	ck_assert_str_eq(text_of(group->fields, group->field_count, "write_bytes_per_second_mean",
				 scratch, group->stride),
			 "68448944128"); /* FEFEh MiB */
	ck_assert_ptr_null(em_group_entry(group, day, DAY + HOUR, 24, scratch));
	free(day);
}
END_TEST

START_TEST(features_of_memblaze_drives)
{
	static const struct {
		uint8_t code;
		uint32_t dword;
		const char *key, *value;
	} rows[] = {
		{ 0xd0, 0x00000001, "latency_statistics", "true" },
		{ 0xd0, 0xfffffffe, "latency_statistics", "false" },
		{ 0xd0, 0x00000002, "slow_commands", "true" },
		{ 0xd0, 0xfffffffd, "slow_commands", "false" },
		{ 0xd0, 0x00000004, "performance", "true" },
		{ 0xd0, 0xfffffffb, "performance", "false" },
		{ 0xd0, 0x00000010, "of_reads", "true" },
		{ 0xd0, 0xffffffef, "of_reads", "false" },
		{ 0xd0, 0x00000020, "of_writes", "true" },
		{ 0xd0, 0xffffffdf, "of_writes", "false" },
		{ 0xd0, 0x00000040, "of_trims", "true" },
		{ 0xd0, 0xffffffbf, "of_trims", "false" },
		{ 0xd0, 0xc8640900, "slow_read_ms", "100" },
		{ 0xd0, 0xc8640900, "slow_write_ms", "1010" },
		{ 0xd0, 0xc8640900, "slow_trim_ms", "2010" },
		{ 0xd0, 0, "slow_read_ms", "10" },
		{ 0xd0, 0xfffffffe, "slow_trim_ms", "2560" },
		{ 0xe1, 0x00008000, "slow_commands", "true" },
		{ 0xe1, 0xffff7fff, "slow_commands", "false" },
		{ 0xe1, 0xffff9388, "slow_ms", "5000" },
		{ 0xe1, 0xfffffffe, "slow_ms", "32766" },
		{ 0xe2, 0x00000001, "latency_statistics", "true" },
		{ 0xe2, 0xfffffffe, "latency_statistics", "false" },
	};
	static const struct em_nvme_ctx no_offset = { .known = true };

	for (size_t i = 0; i < EM_COUNT(rows); i++) {
		const struct em_page *page = page_of(EM_BY_FEATURE, rows[i].code);

		put(0, 4, rows[i].dword);
		ck_assert_int_eq(em_page_check(page, data, 4), EM_PAGE_VALID);
		ck_assert_msg(!strcmp(get(page, rows[i].key), rows[i].value), "%s of %08x is %s",
			      rows[i].key, rows[i].dword, get(page, rows[i].key));
		ck_assert_uint_eq(em_page_size(page, &no_offset), 4);
	}
	ck_assert_uint_eq(page_of(EM_BY_FEATURE, 0xd0)->beside, 0);
	ck_assert_uint_eq(page_of(EM_BY_FEATURE, 0xe1)->beside, 0);
	ck_assert_uint_eq(page_of(EM_BY_FEATURE, 0xe2)->beside, 32);
	/* A log page of the same number is another page. */
	ck_assert_ptr_ne(page_of(EM_BY_FEATURE, 0xd0), page_of(EM_BY_LOG, 0xd0));
}
END_TEST

START_TEST(how_much_of_it_is_asked_for)
{
	static const struct em_nvme_ctx no_offset = { .known = true };

	ck_assert_uint_eq(em_page_size(page_of(EM_BY_LOG, 0xd1), &ctx), 65540);
	ck_assert_uint_eq(em_page_size(page_of(EM_BY_LOG, 0xd1), &no_offset), 4036);
	/* Two hours: one is no whole number of dwords. */
	ck_assert_uint_eq(em_page_size(page_of(EM_BY_LOG, 0xd2), &ctx), 4 + 2 * 86406);
}
END_TEST

START_TEST(nothing_is_no_reading)
{
	for (unsigned i = 0; i < EM_REQUEST_PAGE_COUNT; i++) {
		const struct em_page *page = em_request_pages[i];

		memset(data, 0xff, sizeof(data));
		ck_assert_int_eq(em_page_check(page, data, page->size), EM_PAGE_ALL_ONES);
		ck_assert_int_eq(em_page_check(page, data, page->size - 1), EM_PAGE_SHORT);
		ck_assert_ptr_eq(em_page_find_code(page->how, page->code), page);
	}
	ck_assert_ptr_null(em_page_find_code(EM_BY_LOG, 0xfe));
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("all");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, endurance_group);
	tcase_add_test(tc, supported_pages_and_features);
	tcase_add_test(tc, telemetry_header);
	tcase_add_test(tc, persistent_event_header);
	tcase_add_test(tc, persistent_events_one_behind_another);
	tcase_add_test(tc, reservation_notification);
	tcase_add_test(tc, lists_of_namespaces);
	tcase_add_test(tc, lists_of_controllers);
	tcase_add_test(tc, identifiers_of_a_namespace);
	tcase_add_test(tc, nvm_sets);
	tcase_add_test(tc, granularity_of_namespaces);
	tcase_add_test(tc, latency_of_memblaze_drives);
	tcase_add_test(tc, latency_of_older_memblaze_drives);
	tcase_add_test(tc, slow_commands_of_memblaze_drives);
	tcase_add_test(tc, a_list_of_slow_commands_has_an_end);
	tcase_add_test(tc, times_of_memblaze_drives);
	tcase_add_test(tc, performance_of_memblaze_drives);
	tcase_add_test(tc, performance_of_newer_memblaze_drives);
	tcase_add_test(tc, most_performance_of_memblaze_drives);
	tcase_add_test(tc, hours_of_performance_have_an_end);
	tcase_add_test(tc, a_day_of_performance_is_the_most);
	tcase_add_test(tc, features_of_memblaze_drives);
	tcase_add_test(tc, how_much_of_it_is_asked_for);
	tcase_add_test(tc, nothing_is_no_reading);
	return run_tests(tc);
}
