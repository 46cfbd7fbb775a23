/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of what drives refuse. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/drives/capabilities.h"
#include "tests/unit/runner.h"

static struct em_capabilities *all;

static void start(void)
{
	all = em_capabilities_new();
}

static void stop(void)
{
	all = em_capabilities_free(all);
}

static struct em_store_capability row(const char *model, const char *firmware, const char *page)
{
	struct em_store_capability row = { .nvme_status = 0x109 };

	strcpy(row.model, model);
	strcpy(row.firmware, firmware);
	strcpy(row.page, page);
	return row;
}

START_TEST(model_firmware_and_page_have_to_be_the_same)
{
	struct em_store_capability refused = row("A", "1", "selftest");

	ck_assert_int_eq(em_capabilities_put(all, &refused), 0);
	ck_assert_uint_eq(em_capabilities_find(all, "A", "1", "selftest")->nvme_status, 0x109);
	ck_assert_ptr_null(em_capabilities_find(all, "B", "1", "selftest"));
	ck_assert_ptr_null(em_capabilities_find(all, "A", "2", "selftest"));
	ck_assert_ptr_null(em_capabilities_find(all, "A", "1", "firmware"));
	ck_assert_ptr_null(em_capabilities_find(NULL, "A", "1", "selftest"));
	refused.nvme_status = 2;
	ck_assert_int_eq(em_capabilities_put(all, &refused), 0);
	ck_assert_uint_eq(em_capabilities_find(all, "A", "1", "selftest")->nvme_status, 2);
	em_capabilities_forget(all, "A", "1", "selftest");
	ck_assert_ptr_null(em_capabilities_find(all, "A", "1", "selftest"));
	em_capabilities_forget(all, "A", "1", "selftest");
}
END_TEST

START_TEST(memory_is_limited)
{
	struct em_store_capability refused;
	char model[16];

	for (unsigned i = 0; i < EM_CAPABILITIES_MAX; i++) {
		snprintf(model, sizeof(model), "M%u", i);
		refused = row(model, "1", "smart");
		ck_assert_int_eq(em_capabilities_put(all, &refused), 0);
	}
	refused = row("one more", "1", "smart");
	ck_assert_int_eq(em_capabilities_put(all, &refused), -ENOSPC);
	em_capabilities_forget(all, "M7", "1", "smart");
	ck_assert_int_eq(em_capabilities_put(all, &refused), 0);
	ck_assert_ptr_nonnull(em_capabilities_find(all, "M4095", "1", "smart"));
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("capabilities");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_set_timeout(tc, 60); /* thousands of searches, on a machine that may be busy */
	tcase_add_test(tc, model_firmware_and_page_have_to_be_the_same);
	tcase_add_test(tc, memory_is_limited);
	return run_tests(tc);
}
