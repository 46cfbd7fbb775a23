/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <math.h>
#include <string.h>

#include "lib/base/cleanup.h"
#include "lib/base/le.h"
#include "lib/nvme/field.h"
#include "tests/unit/runner.h"

static const struct em_nvme_ctx unknown = { .known = false, .ver = EM_VER(2, 0) };
static const struct em_nvme_ctx ver_1_1 = { .known = true, .ver = EM_VER(1, 1) };
static const struct em_nvme_ctx ver_1_2 = { .known = true, .ver = EM_VER(1, 2) };

static struct em_value get(const struct em_field *field, const void *bytes, size_t len)
{
	struct em_value value;

	em_field_get(field, bytes, len, &ver_1_2, &value);
	return value;
}

static void check_text(const struct em_field *field, const struct em_value *value,
		       const char *expected)
{
	char buf[EM_VALUE_TEXT_SIZE];

	ck_assert_str_eq(em_value_text(field, value, buf), expected);
}

START_TEST(too_few_bytes_are_absent)
{
	const struct em_field field = { .key = "k", .offset = 1, .len = 2, .type = EM_UINT };
	struct em_value v = get(&field, "\x01\x02\x03", 2);

	ck_assert_int_eq(v.kind, EM_V_ABSENT);
	check_text(&field, &v, "");
	v = get(&field, "\x01\x02\x03", 3);
	ck_assert_int_eq(v.kind, EM_V_UINT);
	check_text(&field, &v, "770");
}
END_TEST

START_TEST(an_older_or_unknown_version_is_absent)
{
	const struct em_field field = { .len = 1, .type = EM_UINT, .since = EM_VER(1, 2) };
	struct em_value v;

	em_field_get(&field, (const uint8_t *)"\x05", 1, &ver_1_1, &v);
	ck_assert_int_eq(v.kind, EM_V_ABSENT);
	em_field_get(&field, (const uint8_t *)"\x05", 1, &unknown, &v);
	ck_assert_int_eq(v.kind, EM_V_ABSENT);
	em_field_get(&field, (const uint8_t *)"\x05", 1, &ver_1_2, &v);
	ck_assert_int_eq(v.kind, EM_V_UINT);
}
END_TEST

START_TEST(a_shut_gate_is_absent)
{
	struct em_field field = { .len = 1, .type = EM_UINT, .gate_offset = 1, .gate_mask = 0x0f };

	ck_assert_int_eq(get(&field, "\x05\xf0", 2).kind, EM_V_ABSENT);
	ck_assert_int_eq(get(&field, "\x05\x08", 2).kind, EM_V_UINT);
	ck_assert_int_eq(get(&field, "\x05", 1).kind, EM_V_ABSENT);
	field.gate_value = 7;
	ck_assert_int_eq(get(&field, "\x05\x06", 2).kind, EM_V_ABSENT);
	ck_assert_int_eq(get(&field, "\x05\x27", 2).kind, EM_V_UINT);
}
END_TEST

START_TEST(kelvin_is_shown_in_celsius)
{
	const struct em_field field = { .len = 2, .type = EM_KELVIN };
	struct em_value v = get(&field, "\x38\x01", 2);

	ck_assert_int_eq(v.kind, EM_V_INT);
	check_text(&field, &v, "39");
	v = get(&field, "\x0a\x01", 2);
	check_text(&field, &v, "-7");
	ck_assert_int_eq(get(&field, "\0\0", 2).kind, EM_V_ABSENT);
	ck_assert_int_eq(get(&field, "\xff\xff", 2).kind, EM_V_ABSENT);
	v = get(&field, "\x01\x00", 2);
	check_text(&field, &v, "-272");
}
END_TEST

START_TEST(a_part_of_a_number)
{
	struct em_field field = { .len = 2, .type = EM_UINT, .shift = 4, .bits = 3 };
	struct em_value v = get(&field, "\xaf\xff", 2);

	check_text(&field, &v, "2");
	field.flags = EM_ZERO_ABSENT | EM_ONES_ABSENT;
	ck_assert_int_eq(get(&field, "\x8f\xff", 2).kind, EM_V_ABSENT);
	ck_assert_int_eq(get(&field, "\x70\x00", 2).kind, EM_V_ABSENT);
	ck_assert_int_eq(get(&field, "\x60\x00", 2).kind, EM_V_UINT);
}
END_TEST

START_TEST(a_zero_based_count_is_raised_before_it_is_scaled)
{
	const struct em_field field = {
		.len = 1, .type = EM_UINT, .flags = EM_RAISE_ONE, .scale = 512
	};
	struct em_value v = get(&field, "\xff", 1);

	check_text(&field, &v, "131072");
}
END_TEST

START_TEST(names_and_reserved_values)
{
	static const struct em_name names[] = { { 1, "short" }, { 0, NULL } };
	const struct em_field field = { .len = 1, .type = EM_ENUM, .names = names };
	const struct em_field bits = { .len = 1, .type = EM_BITS, .names = names };
	char buf[EM_BIT_NAME_SIZE];
	struct em_value v = get(&field, "\x01", 1);

	ck_assert_int_eq(v.kind, EM_V_NAME);
	check_text(&field, &v, "short");
	v = get(&field, "\x0e", 1);
	check_text(&field, &v, "reserved_14");
	ck_assert_str_eq(em_field_bit_name(&bits, 1, buf), "short");
	ck_assert_str_eq(em_field_bit_name(&bits, 6, buf), "reserved_6");
	v = get(&bits, "\x42", 1);
	check_text(&bits, &v, "66");
}
END_TEST

START_TEST(booleans_texts_and_hexadecimals)
{
	const struct em_field flag = { .len = 1, .type = EM_BOOL, .shift = 4, .bits = 1 };
	const struct em_field text = { .len = 4, .type = EM_TEXT };
	const struct em_field hex = { .len = 3, .type = EM_HEX };
	const struct em_field turned = { .len = 3, .type = EM_HEX, .flags = EM_LITTLE_ENDIAN };
	struct em_value v = get(&flag, "\xef", 1);

	check_text(&flag, &v, "false");
	v = get(&flag, "\x10", 1);
	check_text(&flag, &v, "true");
	v = get(&text, "a\n  ", 4);
	check_text(&text, &v, "a?");
	ck_assert_int_eq(get(&text, "    ", 4).kind, EM_V_ABSENT);
	ck_assert_int_eq(get(&text, "\0\0\0\0", 4).kind, EM_V_ABSENT);
	v = get(&hex, "\x00\x1c\xff", 3);
	check_text(&hex, &v, "001cff");
	v = get(&turned, "\x5f\x1c\x00", 3);
	check_text(&turned, &v, "001c5f");
	ck_assert_int_eq(get(&hex, "\0\0\0", 3).kind, EM_V_ABSENT);
}
END_TEST

START_TEST(versions)
{
	const struct em_field field = { .len = 4, .type = EM_VERSION, .flags = EM_ZERO_ABSENT };
	struct em_value v = get(&field, "\x00\x04\x01\x00", 4);

	check_text(&field, &v, "1.4");
	v = get(&field, "\x01\x03\x01\x00", 4);
	check_text(&field, &v, "1.3.1");
	ck_assert_int_eq(get(&field, "\0\0\0\0", 4).kind, EM_V_ABSENT);
}
END_TEST

/* A counter as the drive gives it, as text and as metric. */
static void check_counter(em_u128 raw, uint32_t scale, const char *expected)
{
	const struct em_field field = { .len = 16, .type = EM_UINT, .scale = scale };
	char metric[EM_U128_DEC_SIZE];
	uint8_t bytes[16];
	struct em_value v;

	em_put_le64(bytes, (uint64_t)raw);
	em_put_le64(bytes + 8, (uint64_t)(raw >> 64));
	v = get(&field, bytes, sizeof(bytes));
	check_text(&field, &v, expected);
	ck_assert(em_value_metric_text(&field, &v, metric));
	ck_assert_str_eq(metric, expected);
}

START_TEST(counters_keep_every_digit)
{
	check_counter(((em_u128)1 << 53) + 1, 0, "9007199254740993");
	check_counter(((em_u128)1 << 53) + 1, 512000, "4611686018427388416000");
	check_counter(((em_u128)1 << 96) + 12, 512000, "40564819207303340847894502578176000");
	check_counter(~(em_u128)0, 512000, "174224571863520493293247799005065324264960000");
}
END_TEST

START_TEST(metrics_are_numbers_in_base_units)
{
	const struct em_field hours = { .len = 1, .type = EM_UINT, .metric_scale = 3600 };
	const struct em_field kelvin = { .len = 2, .type = EM_KELVIN };
	const struct em_field text = { .len = 1, .type = EM_TEXT };
	const struct em_field flag = { .len = 1, .type = EM_BOOL };
	char buf[EM_U128_DEC_SIZE] = "untouched";
	struct em_value v = get(&hours, "\x0a", 1);
	double d = 0;

	ck_assert(em_value_metric_text(&hours, &v, buf));
	ck_assert_str_eq(buf, "36000");
	ck_assert(em_value_metric(&hours, &v, &d) && fabs(d - 36000) < 0.5);
	v = get(&kelvin, "\x0a\x01", 2);
	ck_assert(em_value_metric_text(&kelvin, &v, buf));
	ck_assert_str_eq(buf, "-7");
	v = get(&flag, "\x80", 1);
	ck_assert(em_value_metric_text(&flag, &v, buf));
	ck_assert_str_eq(buf, "1");
	v = get(&text, "x", 1);
	ck_assert(!em_value_metric_text(&text, &v, buf) && !em_value_metric(&text, &v, &d));
	v = get(&kelvin, "\0\0", 2);
	ck_assert(!em_value_metric_text(&kelvin, &v, buf) && !em_value_metric(&kelvin, &v, &d));
}
END_TEST

START_TEST(a_key_has_one_json_type)
{
	static const struct {
		struct em_field field;
		enum em_json_type type;
	} expected[] = {
		{ { .len = 6, .type = EM_UINT }, EM_JSON_INTEGER },
		{ { .len = 7, .type = EM_UINT }, EM_JSON_DECIMAL_STRING },
		{ { .len = 8, .type = EM_UINT, .bits = 3 }, EM_JSON_INTEGER },
		{ { .len = 1, .type = EM_UINT, .scale = 4096 }, EM_JSON_DECIMAL_STRING },
		{ { .len = 2, .type = EM_KELVIN }, EM_JSON_INTEGER },
		{ { .len = 1, .type = EM_BITS }, EM_JSON_INTEGER },
		{ { .len = 1, .type = EM_BOOL }, EM_JSON_BOOLEAN },
		{ { .len = 1, .type = EM_ENUM }, EM_JSON_STRING },
		{ { .len = 4, .type = EM_VERSION }, EM_JSON_STRING },
		{ { .len = 8, .type = EM_HEX }, EM_JSON_STRING },
	};

	for (size_t i = 0; i < EM_COUNT(expected); i++)
		ck_assert_int_eq(em_field_json_type(&expected[i].field), expected[i].type);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("field");

	tcase_add_test(tcase, too_few_bytes_are_absent);
	tcase_add_test(tcase, an_older_or_unknown_version_is_absent);
	tcase_add_test(tcase, a_shut_gate_is_absent);
	tcase_add_test(tcase, kelvin_is_shown_in_celsius);
	tcase_add_test(tcase, a_part_of_a_number);
	tcase_add_test(tcase, a_zero_based_count_is_raised_before_it_is_scaled);
	tcase_add_test(tcase, names_and_reserved_values);
	tcase_add_test(tcase, booleans_texts_and_hexadecimals);
	tcase_add_test(tcase, versions);
	tcase_add_test(tcase, counters_keep_every_digit);
	tcase_add_test(tcase, metrics_are_numbers_in_base_units);
	tcase_add_test(tcase, a_key_has_one_json_type);
	return run_tests(tcase);
}
