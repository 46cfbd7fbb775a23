/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include <nvme/types.h>

#include "lib/nvme/status.h"
#include "tests/unit/runner.h"

START_TEST(type_and_code_decide_and_not_the_word)
{
	static const uint16_t high[] = { 0, 0x2000, 0x4000, 0x6000, 0x1800 };

	for (size_t i = 0; i < sizeof(high) / sizeof(high[0]); i++) {
		ck_assert_str_eq(em_status_find(0x107 | high[i])->name, "invalid_firmware_image");
		ck_assert_str_eq(em_status_find(0x11d | high[i])->name, "self_test_in_progress");
		ck_assert_str_eq(em_status_find(0x01d | high[i])->name, "sanitize_in_progress");
		ck_assert_int_eq(em_status_retry(0x10b | high[i]), EM_RETRY_ACCEPTED);
		ck_assert_int_eq(em_status_retry(0x110 | high[i]), EM_RETRY_ACCEPTED);
		ck_assert_int_eq(em_status_retry(0x111 | high[i]), EM_RETRY_ACCEPTED);
		ck_assert_int_eq(em_status_retry(0x112 | high[i]), EM_RETRY_NO);
		ck_assert_int_eq(em_status_retry(0x109 | high[i]), EM_RETRY_REFUSED);
	}
}
END_TEST

START_TEST(a_page_the_drive_does_not_have_is_refused)
{
	ck_assert_int_eq(em_status_retry(0x001), EM_RETRY_REFUSED);
	ck_assert_int_eq(em_status_retry(0x4002), EM_RETRY_REFUSED);
	ck_assert_int_eq(em_status_retry(0x4109), EM_RETRY_REFUSED);
}
END_TEST

START_TEST(do_not_retry_ends_later)
{
	ck_assert_int_eq(em_status_retry(0x370), EM_RETRY_LATER);
	ck_assert_int_eq(em_status_retry(0x371), EM_RETRY_LATER);
	ck_assert_int_eq(em_status_retry(0x082), EM_RETRY_LATER);
	ck_assert_int_eq(em_status_retry(0x4082), EM_RETRY_NO);
}
END_TEST

START_TEST(every_code_has_a_row)
{
	for (unsigned word = 0; word <= UINT16_MAX; word++) {
		const struct em_status *status = em_status_find((uint16_t)word);

		ck_assert_ptr_nonnull(status);
		ck_assert(status->name[0] && status->text[0]);
		ck_assert_uint_eq(status->code >> 8, EM_STATUS_CODE(word) >> 8);
	}
	ck_assert_str_eq(em_status_find(0x7c1)->name, "vendor_specific");
	ck_assert_str_eq(em_status_find(0x0ff)->name, "unknown_generic");
	ck_assert_str_eq(em_status_find(0x2ff)->name, "unknown_media");
}
END_TEST

/* A second opinion on the numbers. */
START_TEST(codes_agree_with_libnvme)
{
	static const struct {
		unsigned type, code;
		const char *name;
	} expected[] = {
		{ NVME_SCT_GENERIC, NVME_SC_INVALID_OPCODE, "invalid_opcode" },
		{ NVME_SCT_GENERIC, NVME_SC_INVALID_FIELD, "invalid_field" },
		{ NVME_SCT_GENERIC, NVME_SC_INVALID_NS, "invalid_namespace" },
		{ NVME_SCT_GENERIC, NVME_SC_SANITIZE_FAILED, "sanitize_failed" },
		{ NVME_SCT_GENERIC, NVME_SC_NS_WRITE_PROTECTED, "namespace_write_protected" },
		{ NVME_SCT_GENERIC, NVME_SC_CMD_INTERRUPTED, "command_interrupted" },
		{ NVME_SCT_GENERIC, NVME_SC_PROHIBITED_BY_CMD_AND_FEAT, "prohibited_by_lockdown" },
		{ NVME_SCT_GENERIC, NVME_SC_ADMIN_CMD_MEDIA_NOT_READY, "media_not_ready" },
		{ NVME_SCT_GENERIC, NVME_SC_FORMAT_IN_PROGRESS, "format_in_progress" },
		{ NVME_SCT_CMD_SPECIFIC, NVME_SC_INVALID_LOG_PAGE, "invalid_log_page" },
		{ NVME_SCT_CMD_SPECIFIC, NVME_SC_FW_NEEDS_CONV_RESET, "needs_conventional_reset" },
		{ NVME_SCT_CMD_SPECIFIC, NVME_SC_FW_NEEDS_SUBSYS_RESET, "needs_subsystem_reset" },
		{ NVME_SCT_CMD_SPECIFIC, NVME_SC_FW_NEEDS_RESET, "needs_controller_reset" },
		{ NVME_SCT_CMD_SPECIFIC, NVME_SC_FW_NEEDS_MAX_TIME, "activation_time_exceeded" },
		{ NVME_SCT_CMD_SPECIFIC, NVME_SC_NS_INSUFFICIENT_CAP,
		  "namespace_insufficient_capacity" },
		{ NVME_SCT_CMD_SPECIFIC, NVME_SC_SELF_TEST_IN_PROGRESS, "self_test_in_progress" },
		{ NVME_SCT_CMD_SPECIFIC, NVME_SC_NS_ATTACHMENT_LIMIT_EXCEEDED,
		  "attachment_limit_exceeded" },
		{ NVME_SCT_CMD_SPECIFIC, NVME_SC_ZNS_OFFLINE, "zone_is_offline" },
		{ NVME_SCT_MEDIA, NVME_SC_READ_ERROR, "unrecovered_read_error" },
		{ NVME_SCT_MEDIA, NVME_SC_UNWRITTEN_BLOCK, "deallocated_block" },
		{ NVME_SCT_PATH, NVME_SC_ANA_TRANSITION, "ana_transition" },
		{ NVME_SCT_PATH, NVME_SC_HOST_PATH_ERROR, "host_path_error" },
		{ NVME_SCT_PATH, NVME_SC_CMD_ABORTED_BY_HOST, "aborted_by_host" },
	};

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		uint16_t word = (uint16_t)(expected[i].type << 8 | expected[i].code);

		ck_assert_str_eq(em_status_find(word)->name, expected[i].name);
		ck_assert_uint_eq(em_status_find(word)->code, word);
	}
	ck_assert_uint_eq(EM_STATUS_MORE(NVME_SC_MORE), 1);
	ck_assert_uint_eq(EM_STATUS_DNR(NVME_SC_DNR), 1);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("status");

	tcase_add_test(tcase, type_and_code_decide_and_not_the_word);
	tcase_add_test(tcase, a_page_the_drive_does_not_have_is_refused);
	tcase_add_test(tcase, do_not_retry_ends_later);
	tcase_add_test(tcase, every_code_has_a_row);
	tcase_add_test(tcase, codes_agree_with_libnvme);
	return run_tests(tcase);
}
