/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <string.h>

#include "lib/base/le.h"
#include "lib/base/u128.h"
#include "tests/unit/runner.h"

#define MAX (~(em_u128)0)

static void check_dec(em_u128 value, uint32_t scale, const char *expected)
{
	char buf[EM_U128_DEC_SIZE];

	ck_assert_uint_eq(em_u128_dec(buf, value, scale), strlen(expected));
	ck_assert_str_eq(buf, expected);
}

START_TEST(decimals_are_exact)
{
	check_dec(0, 1, "0");
	check_dec(7, 0, "7");
	check_dec(1000000000, 1, "1000000000");
	check_dec(((em_u128)1 << 53) + 1, 1, "9007199254740993");
	check_dec(((em_u128)1 << 96) + 12, 1, "79228162514264337593543950348");
	check_dec(MAX, 1, "340282366920938463463374607431768211455");
}
END_TEST

START_TEST(scaled_decimals_go_beyond_128_bits)
{
	check_dec(((em_u128)1 << 53) + 1, 512000, "4611686018427388416000");
	check_dec(((em_u128)1 << 96) + 12, 512000, "40564819207303340847894502578176000");
	check_dec(MAX, 512000, "174224571863520493293247799005065324264960000");
	check_dec(MAX, UINT32_MAX, "1461501636990620551282746369252908412219869364225");
}
END_TEST

START_TEST(little_endian_of_any_width)
{
	uint8_t bytes[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0x90 };
	uint8_t out[8];

	ck_assert_uint_eq(em_le16(bytes), 0x0201);
	ck_assert_uint_eq(em_le32(bytes), 0x04030201);
	ck_assert_uint_eq(em_le64(bytes), 0x0807060504030201);
	ck_assert(em_le_n(bytes, 6) == 0x060504030201);
	ck_assert(em_le_n(bytes, 16) == ((em_u128)0x900f0e0d0c0b0a09 << 64 | 0x0807060504030201));
	em_put_le64(out, 0x0807060504030201);
	ck_assert_mem_eq(out, bytes, 8);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("u128");

	tcase_add_test(tcase, decimals_are_exact);
	tcase_add_test(tcase, scaled_decimals_go_beyond_128_bits);
	tcase_add_test(tcase, little_endian_of_any_width);
	return run_tests(tcase);
}
