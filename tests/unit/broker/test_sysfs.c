/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "broker/sysfs.h"
#include "tests/unit/runner.h"

static char dir[] = "/tmp/ember-sysfs-XXXXXX";

static void put(const char *name, const char *text, size_t len)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(text, 1, len, file), len);
	fclose(file);
}

static void drop(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	remove(path);
}

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void teardown(void)
{
	drop("serial");
	drop("state");
	rmdir(dir);
}

START_TEST(one_trailing_newline_is_cut)
{
	char buf[16];

	put("serial", "S1\n  \n", 6);
	ck_assert_int_eq(em_sysfs_read(dir, "serial", buf, sizeof(buf)), 5);
	ck_assert_str_eq(buf, "S1\n  ");
	put("serial", "", 0);
	ck_assert_int_eq(em_sysfs_read(dir, "serial", buf, sizeof(buf)), 0);
	ck_assert_str_eq(buf, "");
}
END_TEST

START_TEST(what_does_not_fit_is_cut)
{
	char buf[4];

	put("serial", "ABCDEF\n", 7);
	ck_assert_int_eq(em_sysfs_read(dir, "serial", buf, sizeof(buf)), 3);
	ck_assert_str_eq(buf, "ABC");
}
END_TEST

START_TEST(an_absent_attribute_is_an_error_and_empty)
{
	char buf[8] = "old";

	ck_assert_int_eq(em_sysfs_read(dir, "serial", buf, sizeof(buf)), -ENOENT);
	ck_assert_str_eq(buf, "");
}
END_TEST

START_TEST(a_controller_that_is_not_identified_yet_is_told_apart)
{
	struct em_ipc_drive drive = { 0 };

	put("serial", "(efault)\n", 9);
	ck_assert(!em_sysfs_describe(dir, &drive));
	put("serial", "(efault)            \n", 21);
	ck_assert(em_sysfs_describe(dir, &drive));
	put("serial", "S1                  \n", 21);
	ck_assert(em_sysfs_describe(dir, &drive));
	ck_assert_str_eq(drive.serial, "S1                  ");
	ck_assert_str_eq(drive.model, "");
}
END_TEST

START_TEST(states_say_what_to_do)
{
	ck_assert_int_eq(em_sysfs_link_of("live"), EM_LINK_LIVE);
	ck_assert_int_eq(em_sysfs_link_of("resetting"), EM_LINK_BUSY);
	ck_assert_int_eq(em_sysfs_link_of("connecting"), EM_LINK_BUSY);
	ck_assert_int_eq(em_sysfs_link_of("dead"), EM_LINK_ENDING);
	ck_assert_int_eq(em_sysfs_link_of("deleting (no IO)"), EM_LINK_ENDING);
	ck_assert_int_eq(em_sysfs_link_of("dreaming"), EM_LINK_UNKNOWN);
	ck_assert_int_eq(em_sysfs_link(dir), EM_LINK_UNKNOWN);
	put("state", "resetting\n", 10);
	ck_assert_int_eq(em_sysfs_link(dir), EM_LINK_BUSY);
	ck_assert_int_eq(em_sysfs_link("/no/such/directory"), EM_LINK_GONE);
}
END_TEST

START_TEST(controllers_are_told_from_other_names)
{
	ck_assert(em_sysfs_is_controller("nvme0"));
	ck_assert(em_sysfs_is_controller("nvme123"));
	ck_assert(!em_sysfs_is_controller("nvme"));
	ck_assert(!em_sysfs_is_controller("nvme0n1"));
	ck_assert(!em_sysfs_is_controller("nvme0c0n1"));
	ck_assert(!em_sysfs_is_controller("nvme-subsys0"));
	ck_assert(!em_sysfs_is_controller("nvme-fabrics"));
	ck_assert(!em_sysfs_is_controller("xnvme0"));
}
END_TEST

START_TEST(a_block_device_leads_to_its_owner)
{
	char owner[32];

	ck_assert(em_sysfs_owner("/devices/pci0000:00/0000:00:03.0/nvme/nvme7/nvme7n2", owner,
				 sizeof(owner)));
	ck_assert_str_eq(owner, "nvme7");
	/* With multipath the disk is the subsystem's. */
	ck_assert(em_sysfs_owner("/devices/virtual/nvme-subsystem/nvme-subsys3/nvme3n1", owner,
				 sizeof(owner)));
	ck_assert_str_eq(owner, "nvme-subsys3");
	ck_assert(
		!em_sysfs_owner("/devices/pci0000:00/ata1/host0/block/sda", owner, sizeof(owner)));
	ck_assert(!em_sysfs_owner("/devices/virtual/block/nvme0", owner, sizeof(owner)));
	ck_assert(!em_sysfs_owner("/devices/x/nvme/nvme1000/nvme1000n1", owner, 4));
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("sysfs");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, one_trailing_newline_is_cut);
	tcase_add_test(tc, what_does_not_fit_is_cut);
	tcase_add_test(tc, an_absent_attribute_is_an_error_and_empty);
	tcase_add_test(tc, a_controller_that_is_not_identified_yet_is_told_apart);
	tcase_add_test(tc, states_say_what_to_do);
	tcase_add_test(tc, controllers_are_told_from_other_names);
	tcase_add_test(tc, a_block_device_leads_to_its_owner);
	return run_tests(tc);
}
