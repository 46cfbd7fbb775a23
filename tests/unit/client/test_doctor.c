/* SPDX-License-Identifier: Apache-2.0 */
#include "client/doctor.h"
#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/base/cleanup.h"
#include "tests/unit/runner.h"

#define MIB (UINT64_C(1) << 20)

static char root[64];
static struct em_doctor doctor;

static void start(void)
{
	strcpy(root, "/tmp/ember-doctor-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	ck_assert_int_eq(chmod(root, 0755), 0);
	doctor = (struct em_doctor){ .root = root };
	strcpy(doctor.config.directory, "/state");
}

static void stop(void)
{
	char command[128];

	em_report_done(&doctor.report);
	snprintf(command, sizeof(command), "rm -r %s", root);
	ck_assert_int_eq(system(command), 0);
}

/* A file of the host; text NULL makes a directory. */
static void put(const char *path, const char *text)
{
	char command[512], full[256];

	snprintf(full, sizeof(full), "%s%s", root, path);
	snprintf(command, sizeof(command), text ? "mkdir -p $(dirname %s)" : "mkdir -p %s", full);
	ck_assert_int_eq(system(command), 0);
	if (text) {
		em_cleanup(em_fclosep) FILE *file = fopen(full, "w");

		ck_assert_ptr_nonnull(file);
		fputs(text, file);
		ck_assert_int_eq(fchmod(fileno(file), 0644), 0);
	}
}

/* There is one finding with these words, and it has this result. */
static void expect(enum em_check check, enum em_result result, const char *words)
{
	const struct em_finding *found = NULL;

	for (unsigned i = 0; i < doctor.report.count; i++)
		if (strstr(doctor.report.findings[i].summary, words))
			found = &doctor.report.findings[i];
	ck_assert_msg(found, "no finding says \"%s\"", words);
	ck_assert_int_eq(found->check, check);
	ck_assert_msg(found->result == result, "%s: %s", found->summary,
		      em_result_name(found->result));
	if (result != EM_RESULT_OK)
		ck_assert_msg(found->advice && *found->advice, "%s: no advice", found->summary);
	em_report_done(&doctor.report);
}

START_TEST(the_driver_and_its_controllers)
{
	em_doctor_kernel(&doctor);
	expect(EM_CHECK_KERNEL, EM_RESULT_FAIL, "no NVMe driver");
	put("/sys/class/nvme", NULL);
	em_doctor_kernel(&doctor);
	expect(EM_CHECK_KERNEL, EM_RESULT_WARN, "no controller");
	put("/sys/class/nvme/nvme0", NULL);
	put("/sys/class/nvme/nvme-subsystem", NULL);
	em_doctor_kernel(&doctor);
	expect(EM_CHECK_KERNEL, EM_RESULT_OK, "1 controller");
}
END_TEST

START_TEST(space_is_judged_by_what_is_left)
{
	em_doctor_space(&doctor.report, "/x", 15 * MIB, 1000 * MIB);
	expect(EM_CHECK_DISK, EM_RESULT_FAIL, "/x has only 15 MiB left");
	em_doctor_space(&doctor.report, "/x", 255 * MIB, 300 * MIB);
	expect(EM_CHECK_DISK, EM_RESULT_WARN, "/x has 255 MiB left");
	em_doctor_space(&doctor.report, "/x", 1024 * MIB, 30720 * MIB);
	expect(EM_CHECK_DISK, EM_RESULT_WARN, "1024 MiB left of");
	em_doctor_space(&doctor.report, "/x", 2048 * MIB, 30720 * MIB);
	expect(EM_CHECK_DISK, EM_RESULT_OK, "2048 MiB left");
	em_doctor_disk(&doctor);
	expect(EM_CHECK_DISK, EM_RESULT_WARN, "/state, for the history");
}
END_TEST

START_TEST(other_programs_are_found_by_their_names)
{
	put("/proc/17/comm", "bash\n");
	em_doctor_tools(&doctor);
	expect(EM_CHECK_TOOLS, EM_RESULT_OK, "none of smartd");
	put("/proc/18/comm", "smartd\n");
	put("/proc/self/comm", "multipathd\n");
	em_doctor_tools(&doctor);
	ck_assert_uint_eq(doctor.report.count, 1);
	expect(EM_CHECK_TOOLS, EM_RESULT_OK, "smartd reads the same health log");
	put("/sys/class/hwmon/hwmon3/name", "nvme\n");
	em_doctor_tools(&doctor);
	expect(EM_CHECK_TOOLS, EM_RESULT_OK, "as sensors");
}
END_TEST

static void set_mode(const char *path, mode_t mode)
{
	char full[256];

	snprintf(full, sizeof(full), "%s%s", root, path);
	ck_assert_int_eq(chmod(full, mode), 0);
}

START_TEST(the_policy_must_be_roots_alone)
{
	em_doctor_policy(&doctor);
	expect(EM_CHECK_POLICY, EM_RESULT_OK, "the built-in policy holds");
	put(EM_SYSCONFDIR "/policy.conf", "");
	em_doctor_policy(&doctor);
	if (geteuid() != 0) {
		expect(EM_CHECK_POLICY, EM_RESULT_FAIL, "does not belong to root");
		return;
	}
	expect(EM_CHECK_POLICY, EM_RESULT_OK, "root alone can change it");
	set_mode(EM_SYSCONFDIR "/policy.conf", 0664);
	em_doctor_policy(&doctor);
	expect(EM_CHECK_POLICY, EM_RESULT_FAIL, "policy.conf can be written by others");
	set_mode(EM_SYSCONFDIR "/policy.conf", 0600);
	set_mode(EM_SYSCONFDIR, 0777);
	em_doctor_policy(&doctor);
	expect(EM_CHECK_POLICY, EM_RESULT_FAIL, EM_SYSCONFDIR " can be written by others");
}
END_TEST

START_TEST(a_certificate_ends)
{
	static const struct {
		const char *text;
		enum em_result result;
		const char *words;
	} rows[] = {
		{ "2001-01-01T00:00:00.000Z", EM_RESULT_FAIL, "has expired on 2001-01-01" },
		{ "2999-01-01T00:00:00.000Z", EM_RESULT_OK, "is valid until 2999-01-01" },
	};

	for (size_t i = 0; i < EM_COUNT(rows); i++) {
		doctor.health = json_pack("{s:s}", "certificate_expires_at", rows[i].text);
		em_doctor_certificate(&doctor);
		expect(EM_CHECK_CERTIFICATE, rows[i].result, rows[i].words);
		json_decref(doctor.health);
	}
	doctor.health = json_pack("{s:n}", "certificate_expires_at");
	em_doctor_certificate(&doctor);
	ck_assert_uint_eq(doctor.report.count, 0);
	json_decref(doctor.health);
}
END_TEST

START_TEST(options_are_taken_from_their_sections)
{
	em_doctor_read_config(&doctor.config, "[http]\nsocket=/a\nadmin_group=storage\n"
					      "[https]\ncertificate=/c.pem\n"
					      "[store]\ndirectory=/d\n[broker]\ndirectory=/no\n");
	ck_assert_str_eq(doctor.config.admin_group, "storage");
	ck_assert_str_eq(doctor.config.certificate, "/c.pem");
	ck_assert_str_eq(doctor.config.directory, "/d");
	ck_assert(doctor.config.known);
}
END_TEST

START_TEST(the_worst_finding_counts)
{
	struct em_report *report = &doctor.report;

	ck_assert_int_eq(em_report_worst(report), EM_RESULT_OK);
	em_report_add(report, EM_CHECK_USER, EM_RESULT_WARN, "do", "a");
	em_report_add(report, EM_CHECK_USER, EM_RESULT_OK, "", "b");
	ck_assert_int_eq(em_report_worst(report), EM_RESULT_WARN);
	ck_assert_ptr_null(report->findings[1].advice);
	for (unsigned i = 0; i <= EM_FINDINGS_MAX; i++)
		em_report_add(report, EM_CHECK_PAGES, EM_RESULT_FAIL, NULL, "c");
	ck_assert_int_eq(em_report_worst(report), EM_RESULT_FAIL);
	ck_assert_uint_eq(report->count, EM_FINDINGS_MAX);
	ck_assert(report->incomplete);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("doctor");

	tcase_add_checked_fixture(tcase, start, stop);
	tcase_add_test(tcase, the_driver_and_its_controllers);
	tcase_add_test(tcase, space_is_judged_by_what_is_left);
	tcase_add_test(tcase, other_programs_are_found_by_their_names);
	tcase_add_test(tcase, the_policy_must_be_roots_alone);
	tcase_add_test(tcase, a_certificate_ends);
	tcase_add_test(tcase, options_are_taken_from_their_sections);
	tcase_add_test(tcase, the_worst_finding_counts);
	return run_tests(tcase);
}
