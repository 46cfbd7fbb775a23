/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "broker/checks.h"
#include "broker/operations.h"
#include "broker/record_mask.h"
#include "broker/record_text.h"
#include "lib/base/le.h"
#include "tests/unit/runner.h"

static const struct em_outcome done = { .answer = EM_ANSWER_DONE };
static struct em_recorded *drive;
static uint8_t page[16384];

static struct em_recorded *make(const char *name, const char *serial, const char *nqn)
{
	struct em_ipc_drive info = { 0 };
	struct em_recorded *made;

	snprintf(info.device, sizeof(info.device), "%s", name);
	snprintf(info.serial, sizeof(info.serial), "%s", serial);
	snprintf(info.subsystem_nqn, sizeof(info.subsystem_nqn), "%s", nqn);
	snprintf(info.transport, sizeof(info.transport), "pcie");
	snprintf(info.state, sizeof(info.state), "live");
	ck_assert_int_eq(em_recorded_new(&info, "/nowhere", &made), 0);
	return made;
}

static void setup(void)
{
	memset(page, 0, sizeof(page));
	drive = make("nvme5", "SERIAL12            ", "nqn.2020-01.org.example:SERIAL12");
}

static void teardown(void)
{
	drive = em_recorded_free(drive);
}

/* The next question gets this answer; its key, or "" for the list, or NULL: none any more. */
static const char *answer_with(struct em_recorded *to, const struct em_outcome *outcome)
{
	struct em_ipc_request request;
	const char *key;

	if (!em_recorded_next(to, &request, &key))
		return NULL;
	ck_assert_int_eq(em_op_class(request.op), EM_CLASS_READ);
	ck_assert_ptr_null(em_operation_find(request.op)->check(&request));
	ck_assert_uint_le(request.len, sizeof(page));
	ck_assert_int_eq(em_recorded_take(to, &request, key, outcome, page), 0);
	return key ? key : "";
}

static unsigned answer_all(void)
{
	unsigned count = 0;

	while (answer_with(drive, &done))
		count++;
	return count;
}

static char *text_of(const struct em_recorded *of, bool masked)
{
	struct em_buf out;
	size_t len;

	em_buf_init(&out, 1u << 20);
	em_record_text(&out, of, NULL, masked);
	return em_buf_steal(&out, &len);
}

static void lay_out_identify(const char *serial, const char *nqn)
{
	memset(page, 0, sizeof(page));
	memset(page + 4, ' ', 20);
	memcpy(page + 4, serial, strlen(serial));
	memcpy(page + 768, nqn, strlen(nqn));
}

static void mask(struct em_record_mask *with, struct em_recorded *what)
{
	ck_assert_int_eq(em_record_mask_drive(with, what), 0);
}

START_TEST(only_what_is_announced_is_asked)
{
	/* Zero in all fields: the two mandatory logs, and one entry of the error log. */
	ck_assert_str_eq(answer_with(drive, &done), "identify-page");
	ck_assert_str_eq(answer_with(drive, &done), "smart-page");
	ck_assert_str_eq(answer_with(drive, &done), "error-page");
	ck_assert_uint_eq(drive->pages[2].request.len, 64);
	ck_assert_str_eq(answer_with(drive, &done), "firmware-page");
	ck_assert_ptr_null(answer_with(drive, &done));
}
END_TEST

START_TEST(a_drive_that_says_all_ones_is_asked_within_bounds)
{
	memset(page, 0xff, sizeof(page));
	/* The list does not ascend. */
	ck_assert_uint_eq(answer_all(), 10);
	ck_assert_uint_eq(drive->namespace_count, 0);
}
END_TEST

START_TEST(without_a_list_there_are_no_more_namespaces_than_fit)
{
	em_put_le32(page + 516, UINT32_MAX);
	ck_assert_uint_eq(answer_all(), 4 + EM_RECORDED_NAMESPACES_MAX);
}
END_TEST

START_TEST(of_a_long_list_the_rest_is_counted)
{
	em_put_le32(page + 80, 0x00010400);
	ck_assert_str_eq(answer_with(drive, &done), "identify-page");
	while (drive->step < 11 && drive->namespace_count == 0) {
		for (unsigned i = 0; i < 1024; i++)
			em_put_le32(page + 4 * i, i + 1);
		ck_assert_ptr_nonnull(answer_with(drive, &done));
	}
	ck_assert_uint_eq(drive->namespace_count, EM_RECORDED_NAMESPACES_MAX);
	ck_assert_uint_eq(drive->namespaces_left_out, 1024 - EM_RECORDED_NAMESPACES_MAX);
}
END_TEST

START_TEST(silence_ends_it_and_a_refusal_does_not)
{
	const struct em_outcome refused = { .answer = EM_ANSWER_STATUS, .status = 0x4109 };
	const struct em_outcome silent = { .answer = EM_ANSWER_TIMEOUT };
	char *text;

	ck_assert_str_eq(answer_with(drive, &done), "identify-page");
	ck_assert_str_eq(answer_with(drive, &refused), "smart-page");
	ck_assert_str_eq(answer_with(drive, &silent), "error-page");
	ck_assert_ptr_null(answer_with(drive, &done));
	text = text_of(drive, false);
	ck_assert_ptr_nonnull(strstr(text, "# get-log 0x02: refused with status 0x4109\n"
					   "at = 0s refuse get-log 0x02 0x4109\n"));
	ck_assert_ptr_nonnull(strstr(text, "# get-log 0x01: no answer within the patience\n"));
	/* It did answer: it does not play as one that never did. */
	ck_assert_ptr_null(strstr(text, "hang"));
	free(text);
}
END_TEST

START_TEST(what_linux_says_cannot_add_lines)
{
	char *text;

	snprintf(drive->info.address, sizeof(drive->info.address), "x\n[sim]\nspeed = 9");
	snprintf(drive->info.model, sizeof(drive->info.model), "a%%nb");
	text = text_of(drive, false);
	ck_assert_ptr_null(strstr(text, "[sim]"));
	ck_assert_ptr_null(strstr(text, "%n"));
	ck_assert_ptr_nonnull(strstr(text, "# address: has characters that cannot stand here\n"));
	ck_assert_ptr_nonnull(strstr(text, "serial = SERIAL12\n"));
	free(text);
}
END_TEST

START_TEST(a_format_that_no_disk_has_is_512)
{
	char *text;

	em_put_le32(page + 516, 1);
	for (unsigned i = 0; i < 4; i++)
		ck_assert_ptr_nonnull(answer_with(drive, &done));
	memset(page, 0xff, sizeof(page));
	ck_assert_str_eq(answer_with(drive, &done), "namespace-page");
	text = text_of(drive, false);
	ck_assert_ptr_nonnull(strstr(text, "\nnamespace = 1 18446744073709551104 512\n"));
	free(text);
}
END_TEST

START_TEST(masked_words_keep_their_length_and_place)
{
	em_cleanup(em_record_mask_freep) struct em_record_mask *with = em_record_mask_new();
	const uint8_t *id;

	lay_out_identify("SERIAL12", "nqn.2020-01.org.example:SERIAL12");
	memcpy(page + 4001, "xSERIAL12SERIAL12", 17);
	ck_assert_str_eq(answer_with(drive, &done), "identify-page");
	mask(with, drive);
	id = drive->pages[0].data;
	ck_assert_mem_eq(id + 4, "M0000001            ", 20);
	ck_assert_str_eq((const char *)id + 768, "nqn.2014-08.masked:0000000000001");
	ck_assert_mem_eq(id + 4001, "xM0000001M0000001", 17);
	ck_assert_str_eq(drive->info.serial, "M0000001            ");
	ck_assert_str_eq(drive->info.subsystem_nqn, "nqn.2014-08.masked:0000000000001");
}
END_TEST

START_TEST(the_same_becomes_the_same_and_others_do_not)
{
	em_cleanup(em_record_mask_freep) struct em_record_mask *with = em_record_mask_new();
	em_cleanup(em_recorded_freep) struct em_recorded *sister =
		make("nvme6", "SERIAL12            ", "nqn.2020-01.org.example:SERIAL12");
	em_cleanup(em_recorded_freep) struct em_recorded *other =
		make("nvme7", "SERIAL13            ", "nqn.2020-01.org.example:SERIAL13");

	ck_assert(em_record_are_sisters(drive, sister) && !em_record_are_sisters(drive, other));
	mask(with, drive);
	mask(with, other);
	mask(with, sister);
	ck_assert(em_record_are_sisters(drive, sister) && !em_record_are_sisters(drive, other));
	ck_assert_str_ne(drive->info.serial, other->info.serial);
}
END_TEST

START_TEST(names_fill_their_field_and_short_serials_stay_in_theirs)
{
	em_cleanup(em_record_mask_freep) struct em_record_mask *with = em_record_mask_new();
	em_cleanup(em_recorded_freep) struct em_recorded *odd =
		make("nvme6", "A1", "nqn.2014.08.org.nvmexpress:1c5f1c5fA1");
	char nqn[257];
	const uint8_t *id;

	/* No NUL in SUBNQN, and a serial number that fills its field. */
	memset(nqn, 'x', 256);
	nqn[256] = '\0';
	lay_out_identify("ABCDEFGHIJKLMNOPQRST", nqn);
	memcpy(page + 4000, "A1A1", 4);
	drive = em_recorded_free(drive);
	ck_assert_str_eq(answer_with(odd, &done), "identify-page");
	mask(with, odd);
	id = odd->pages[0].data;
	ck_assert_mem_eq(id + 4, "M0000000000000000002", 20);
	ck_assert_ptr_null(memchr(id + 768, 'x', 256));
	ck_assert_int_eq(id[1024], 0);
	ck_assert_mem_eq(id + 4000, "A1A1", 4);
	ck_assert_str_eq(odd->info.serial, "01");
	/* A short one may not stay in the name that Linux made of it. */
	ck_assert_ptr_null(strstr(odd->info.subsystem_nqn, "A1"));
}
END_TEST

START_TEST(a_word_is_never_what_it_replaces)
{
	em_cleanup(em_record_mask_freep) struct em_record_mask *with = em_record_mask_new();
	em_cleanup(em_recorded_freep) struct em_recorded *like = make("nvme6", "M0000001", "");

	mask(with, like);
	ck_assert_str_ne(like->info.serial, "M0000001");
}
END_TEST

START_TEST(identifiers_that_are_none_stay)
{
	em_cleanup(em_record_mask_freep) struct em_record_mask *with = em_record_mask_new();
	static const uint8_t nothing[24];

	snprintf(drive->info.subsystem_nqn, sizeof(drive->info.subsystem_nqn),
		 "nqn.2014-08.org.nvmexpress.discovery");
	lay_out_identify("", "");
	em_put_le32(page + 516, 1);
	ck_assert_uint_eq(answer_all(), 5);
	mask(with, drive);
	ck_assert_str_eq(drive->info.subsystem_nqn, "nqn.2014-08.org.nvmexpress.discovery");
	ck_assert_mem_eq(drive->pages[0].data + 112, nothing, 16);
	ck_assert_mem_eq(drive->pages[4].data + 104, nothing, 24);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("record");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, only_what_is_announced_is_asked);
	tcase_add_test(tcase, a_drive_that_says_all_ones_is_asked_within_bounds);
	tcase_add_test(tcase, without_a_list_there_are_no_more_namespaces_than_fit);
	tcase_add_test(tcase, of_a_long_list_the_rest_is_counted);
	tcase_add_test(tcase, silence_ends_it_and_a_refusal_does_not);
	tcase_add_test(tcase, what_linux_says_cannot_add_lines);
	tcase_add_test(tcase, a_format_that_no_disk_has_is_512);
	tcase_add_test(tcase, masked_words_keep_their_length_and_place);
	tcase_add_test(tcase, the_same_becomes_the_same_and_others_do_not);
	tcase_add_test(tcase, names_fill_their_field_and_short_serials_stay_in_theirs);
	tcase_add_test(tcase, a_word_is_never_what_it_replaces);
	tcase_add_test(tcase, identifiers_that_are_none_stay);
	return run_tests(tcase);
}
