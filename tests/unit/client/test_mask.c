/* SPDX-License-Identifier: Apache-2.0 */
#include "client/mask.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include "client/secrets.h"
#include "tests/unit/runner.h"

static struct em_mask *mask;
static struct em_buf out;

static void set_up(void)
{
	mask = em_mask_new();
	ck_assert_ptr_nonnull(mask);
	em_buf_init(&out, 1u << 20);
	em_mask_add(mask, EM_MASKED_SERIAL, "  SH222100536   ");
	em_mask_add(mask, EM_MASKED_SERIAL, "SH222100666");
	em_mask_add(mask, EM_MASKED_SERIAL, "A1");
	em_mask_add(mask, EM_MASKED_NAME, "00e0cf0000030001");
	em_mask_add(mask, EM_MASKED_NAME,
		    "0100000000000000"
		    "00e0cf0000030002");
	em_mask_add(mask, EM_MASKED_DRIVE, "85b6c859ccbc3563");
}

static void tear_down(void)
{
	ck_assert(!em_mask_failed(mask));
	em_mask_free(mask);
	em_buf_done(&out);
}

static const char *masked(const char *text)
{
	em_buf_done(&out);
	em_buf_init(&out, 1u << 20);
	em_mask_text(mask, text, strlen(text), &out);
	ck_assert(!em_buf_failed(&out));
	return out.data ? out.data : "";
}

START_TEST(the_same_is_replaced_by_the_same_in_free_text)
{
	ck_assert_str_eq(masked("nvme3: SH222100536, SH222100666; sh222100536!"),
			 "nvme3: masked-serial-1, masked-serial-2; masked-serial-1!");
	ck_assert_str_eq(masked("nvme-P6536_SH222100536_1 5348323232313030353336"),
			 "nvme-P6536_masked-serial-1_1 masked-serial-1");
	ck_assert_str_eq(masked("/v1/drives/85b6c859ccbc3563/raw"),
			 "/v1/drives/masked-drive-1/raw");
	ck_assert_str_eq(masked("eui.00E0CF0000030001"), "eui.masked-id-1");
	ck_assert_str_eq(masked("SH2221005"), "SH2221005");
	ck_assert_str_eq(masked(""), "");
}
END_TEST

START_TEST(a_short_serial_stands_alone)
{
	ck_assert_str_eq(masked("A1 (a1) A12 FA1 A1"),
			 "masked-serial-3 (masked-serial-3) A12 FA1 masked-serial-3");
}
END_TEST

START_TEST(one_name_in_many_forms)
{
	ck_assert_str_eq(masked("01000000-0000-0000-00e0-cf0000030002"), "masked-id-2");
	ck_assert_str_eq(masked("010000000000000000e0cf0000030002"), "masked-id-2");
	/* Byte by byte it keeps its form. */
	ck_assert_str_eq(masked("eui 00 e0 cf 00 00 03 00 01 end"),
			 "eui 31 2d 69 64 2a 2a 2a 2a end");
	ck_assert_str_eq(masked("00:E0:CF:00:00:03:00:01"), "31:2d:69:64:2a:2a:2a:2a");
	ck_assert_str_eq(masked("00e0:cf00:0003:0001"), "312d:6964:2a2a:2a2a");
	ck_assert_str_eq(masked("0x00, 0xe0, 0xcf, 0x00, 0x00, 0x03, 0x00, 0x01"),
			 "0x31, 0x2d, 0x69, 0x64, 0x2a, 0x2a, 0x2a, 0x2a");
}
END_TEST

START_TEST(what_looks_like_one_is_replaced_unlearned)
{
	ck_assert_str_eq(masked("\"nqn.2014-08.org.nvmexpress:uuid:x\", next"),
			 "\"masked-nqn-1\", next");
	ck_assert_str_eq(masked("nqn.2014-08.org.nvmexpress:uuid:x"), "masked-nqn-1");
	ck_assert_str_eq(masked("0f3b0e52-7a34-4a6c-9f5e-0242ac120002"), "masked-id-3");
	ck_assert_str_eq(masked("0F3B0E527A344A6C9F5E0242AC120002"), "masked-id-3");
	ck_assert_str_eq(masked("wwn-0x5000000000000001 naa.5000000000000002"),
			 "wwn-0xmasked-id-4 naa.masked-id-5");
	/* Numbers and longer words are what they are. */
	ck_assert_str_eq(masked("1796306099799528 d41d8cd98f00b204e98 nqn.x"),
			 "1796306099799528 d41d8cd98f00b204e98 nqn.x");
}
END_TEST

START_TEST(dumps_over_several_lines)
{
	/* Identify: the serial number begins at byte 4. */
	static const char hexdump[] =
		"00000000  5f 1c 5f 1c 20 53 48 32  32 32 31 30 30 35 33 36  |_._. SH222100536|\n"
		"00000010  20 20 20 20 20 20 20 20  50 36 35 33 36 44 54 30  |        P6536DT0|\n";
	static const char split[] =
		"000000   5f 1c 5f 1c 20 20 20 20  20 20 20 20 53 48 32 32  |_._.        SH22|\n"
		"000010   32 31 30 30 35 33 36 20  20                        |2100536  |\n";
	static const char xxd[] =
		"00000000: 5f1c 5f1c 2020 2020 2020 2020 5348 3232  _._.        SH22\n"
		"00000010: 3231 3030 3533 3620                      2100536 \n";

	ck_assert_str_eq(
		masked(hexdump),
		"00000000  5f 1c 5f 1c 20 31 2d 73  65 72 69 61 6c 2a 2a 2a  |.... "
		"...............|\n"
		"00000010  20 20 20 20 20 20 20 20  50 36 35 33 36 44 54 30  |        P6536DT0|\n");
	ck_assert_str_eq(
		masked(split),
		"000000   5f 1c 5f 1c 20 20 20 20  20 20 20 20 31 2d 73 65  |....        ....|\n"
		"000010   72 69 61 6c 2a 2a 2a 20  20                        |.......  |\n");
	ck_assert_str_eq(masked(xxd),
			 "00000000: 5f1c 5f1c 2020 2020 2020 2020 312d 7365  ....        ....\n"
			 "00000010: 7269 616c 2a2a 2a20                      ....... \n");
	ck_assert_ptr_null(strstr(masked("534832323231\n3030353336"), "3030353336"));
}
END_TEST

START_TEST(documents_teach)
{
	json_t *doc =
		json_loads("{\"drives\": [{\"id\": \"0011223344556677\", \"subsystem_nqn\": "
			   "\"nqn.2014.08.org.nvmexpress:1c5f1c5fQQ 17  P6\", \"serial\": "
			   "\"QQ \\\"17\"}], \"events\": [{\"id\": \"1796306099799528\", "
			   "\"drive\": null, \"nguid\": \"00000000000000000000000000000017\"}]}",
			   0, NULL);

	ck_assert_ptr_nonnull(doc);
	em_mask_learn(mask, doc);
	json_decref(doc);
	ck_assert_str_eq(masked("QQ \"17 of 0011223344556677, 1796306099799528"),
			 "masked-serial-4 of masked-drive-2, 1796306099799528");
	ck_assert_str_eq(masked("<nqn.2014.08.org.nvmexpress:1c5f1c5fQQ 17  P6>"),
			 "<masked-nqn-1>");
	ck_assert_str_eq(masked("00000000-0000-0000-0000-000000000017"), "masked-id-3");
}
END_TEST

/* Whatever stands around it, the name is gone, and nothing is read beyond the text. */
START_TEST(any_surroundings)
{
	static const char signs[] = "0123456789abcdefABCDEF x:|-.,\n\n  nqn.eui";
	static const char *const names[] = { "SH222100536", "00e0cf0000030001",
					     "5348323232313030353336" };
	uint32_t random = 1;

	for (unsigned round = 0; round < 3000; round++) {
		char text[200];
		size_t at = 0;

		for (; at < sizeof(text) - 1; at++) {
			random = random * 1664525 + 1013904223;
			text[at] = signs[(random >> 16) % (sizeof(signs) - 1)];
		}
		text[at] = '\0';
		at = random % 150;
		memcpy(text + at, names[round % 3], strlen(names[round % 3]));
		ck_assert_ptr_null(strstr(masked(text), names[round % 3]));
		ck_assert_ptr_nonnull(masked(text + sizeof(text) - 1 - round % 40));
	}
}
END_TEST

static const char *cleaned(const char *text)
{
	em_buf_done(&out);
	em_buf_init(&out, 1u << 20);
	em_secrets_remove(text, strlen(text), &out);
	return out.data ? out.data : "";
}

START_TEST(secrets_never_stay)
{
	ck_assert_str_eq(cleaned("a ember_0123456789abcdef_0123456789abcdef0123456789abcdef b"),
			 "a [removed] b");
	ck_assert_str_eq(cleaned("Authorization: Bearer xyz.\r\n"), "Authorization: [removed]\r\n");
	ck_assert_str_eq(cleaned("x\n-----BEGIN EC PRIVATE KEY-----\nMHc\n-----END EC PRIVATE "
				 "KEY-----\ny"),
			 "x\n[removed]\ny");
	ck_assert_str_eq(cleaned("-----BEGIN PRIVATE KEY-----\nMHc"), "[removed]");
	ck_assert_str_eq(cleaned("-----BEGIN CERTIFICATE-----\nMHc"),
			 "-----BEGIN CERTIFICATE-----\nMHc");
	ck_assert_str_eq(cleaned("ember_drives 3"), "ember_drives 3");
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("mask");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, the_same_is_replaced_by_the_same_in_free_text);
	tcase_add_test(tcase, a_short_serial_stands_alone);
	tcase_add_test(tcase, one_name_in_many_forms);
	tcase_add_test(tcase, what_looks_like_one_is_replaced_unlearned);
	tcase_add_test(tcase, dumps_over_several_lines);
	tcase_add_test(tcase, documents_teach);
	tcase_add_test(tcase, any_surroundings);
	tcase_add_test(tcase, secrets_never_stay);
	return run_tests(tcase);
}
