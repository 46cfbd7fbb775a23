/* SPDX-License-Identifier: Apache-2.0 */
#include "client/bay.h"
#include <check.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "lib/base/cleanup.h"
#include "tests/unit/runner.h"

static char root[64];

/* Makes the directories on the way and the file, when there is text for one. */
static void put(const char *path, const char *text)
{
	char whole[256];

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	for (char *slash = whole + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(whole, 0755);
		*slash = '/';
	}
	if (text) {
		em_cleanup(em_fclosep) FILE *file = fopen(whole, "w");

		ck_assert_ptr_nonnull(file);
		fputs(text, file);
	} else {
		ck_assert_int_eq(mkdir(whole, 0755), 0);
	}
}

static void set_up(void)
{
	strcpy(root, "/tmp/ember-bay-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
}

static int drop(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st, (void)flag, (void)ftw;
	return remove(path);
}

static void tear_down(void)
{
	nftw(root, drop, 8, FTW_DEPTH | FTW_PHYS);
}

START_TEST(the_slot_with_the_address_is_the_bay)
{
	char buf[EM_BAY_SIZE] = "untouched";

	ck_assert_int_eq(em_bay_find(root, "0000:01:00.0", buf, sizeof(buf)), -ENOENT);
	put("/sys/bus/pci/slots/4/address", "0000:01:0\n");
	put("/sys/bus/pci/slots/5/address", "0000:02:00\n");
	put("/sys/bus/pci/slots/6/other", "0000:01:00\n");
	ck_assert_int_eq(em_bay_find(root, "0000:01:00.0", buf, sizeof(buf)), -ENOENT);
	ck_assert_str_eq(buf, "untouched");
	put("/sys/bus/pci/slots/7-1/address", "0000:01:00\n");
	ck_assert_int_eq(em_bay_find(root, "0000:01:00.0", buf, sizeof(buf)), 0);
	ck_assert_str_eq(buf, "7-1");
}
END_TEST

START_TEST(the_block_device_of_a_controller)
{
	char buf[EM_BAY_SIZE];

	put("/sys/class/nvme/nvme0/power", NULL);
	put("/sys/class/nvme/nvme0/ng0n1", NULL);
	put("/sys/class/nvme/nvme0/nvme0", NULL);
	put("/sys/class/nvme/nvme0/nvme0n1p1", NULL);
	put("/sys/class/nvme/nvme0/nvme0c", NULL);
	ck_assert_int_eq(em_bay_block(root, "nvme0", buf, sizeof(buf)), -ENOENT);
	put("/sys/class/nvme/nvme0/nvme0n12", NULL);
	ck_assert_int_eq(em_bay_block(root, "nvme0", buf, sizeof(buf)), 0);
	ck_assert_str_eq(buf, "nvme0n12");
	put("/sys/class/nvme/nvme3/nvme2c3n1", NULL);
	ck_assert_int_eq(em_bay_block(root, "nvme3", buf, sizeof(buf)), 0);
	ck_assert_str_eq(buf, "nvme2n1");
	ck_assert_int_eq(em_bay_block(root, "nvme9", buf, sizeof(buf)), -ENOENT);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("bay");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, the_slot_with_the_address_is_the_bay);
	tcase_add_test(tcase, the_block_device_of_a_controller);
	return run_tests(tcase);
}
