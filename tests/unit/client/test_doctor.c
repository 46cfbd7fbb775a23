/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
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

static void expect_advice_on_disk(const char *words)
{
	em_doctor_disk(&doctor);
	ck_assert_uint_eq(doctor.report.count, 1);
	ck_assert_ptr_nonnull(strstr(doctor.report.findings[0].advice, words));
	em_report_done(&doctor.report);
}

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
	doctor.health = json_object();
	expect_advice_on_disk("With --config FILE");
	doctor.config_path = "/e.conf";
	expect_advice_on_disk("needs the program emberd");
	doctor.config.known = true;
	expect_advice_on_disk("started with another place");
	json_decref(doctor.health);
}
END_TEST

/* A link of the host, to wherever. */
static void put_link(const char *path, const char *target)
{
	char command[512];

	snprintf(command, sizeof(command), "mkdir -p $(dirname %s%s) && ln -sfn '%s' %s%s", root,
		 path, target, root, path);
	ck_assert_int_eq(system(command), 0);
}

START_TEST(the_kernel_says_that_a_drive_does_not_work)
{
	put("/sys/class/nvme/nvme0/state", "live\n");
	put("/sys/class/nvme/nvme7/state", "dead\n");
	em_doctor_kernel(&doctor);
	ck_assert_uint_eq(doctor.report.count, 2);
	expect(EM_CHECK_KERNEL, EM_RESULT_WARN, "nvme7 is dead");
}
END_TEST

START_TEST(drives_without_a_driver_are_not_of_this_kernel)
{
	doctor.health = json_pack("{s:{s:i}}", "drives", "total", 8);
	em_doctor_kernel(&doctor);
	expect(EM_CHECK_KERNEL, EM_RESULT_WARN, "yet emberd has drives");
	json_decref(doctor.health);
}
END_TEST

START_TEST(a_clock_is_right_or_told)
{
	const int64_t now = INT64_C(1796000000) * 1000000;

	em_doctor_judge_clock(&doctor.report, true, now);
	expect(EM_CHECK_CLOCK, EM_RESULT_OK, "is synchronised");
	em_doctor_judge_clock(&doctor.report, false, now);
	expect(EM_CHECK_CLOCK, EM_RESULT_WARN, "not synchronised");
	em_doctor_judge_clock(&doctor.report, true, 0);
	expect(EM_CHECK_CLOCK, EM_RESULT_FAIL, "1970-01-01");
}
END_TEST

START_TEST(who_has_no_group_gives_no_orders)
{
	strcpy(doctor.config.admin_group, "ember-no-such-group");
	em_doctor_user(&doctor);
	if (geteuid() == 0)
		expect(EM_CHECK_USER, EM_RESULT_OK, "root may give orders");
	else
		expect(EM_CHECK_USER, EM_RESULT_WARN, "no group ember-no-such-group");
	if (geteuid() != 0 || seteuid(65534) < 0)
		return;
	em_doctor_user(&doctor);
	ck_assert_int_eq(seteuid(0), 0);
	expect(EM_CHECK_USER, EM_RESULT_WARN, "no group ember-no-such-group");
}
END_TEST

/* Nothing is said of it: neither does it run, nor will it. */
static void expect_no_tool(void)
{
	em_doctor_tools(&doctor);
	ck_assert_uint_eq(doctor.report.count, 1);
	expect(EM_CHECK_TOOLS, EM_RESULT_OK, "none of smartd");
}

START_TEST(other_programs_are_found_by_their_names)
{
	put("/proc/17/comm", "bash\n");
	expect_no_tool();
	put("/proc/18/comm", "smartd\n");
	put("/proc/self/comm", "multipathd\n");
	em_doctor_tools(&doctor);
	ck_assert_uint_eq(doctor.report.count, 1);
	expect(EM_CHECK_TOOLS, EM_RESULT_OK, "smartd runs. It reads the same health log");
	put("/sys/class/hwmon/hwmon3/name", "nvme\n");
	em_doctor_tools(&doctor);
	expect(EM_CHECK_TOOLS, EM_RESULT_OK, "as sensors");
}
END_TEST

#define UNITS "/etc/systemd/system"

START_TEST(programs_that_will_run_are_found_by_their_units)
{
	put_link(UNITS "/multi-user.target.wants/smartmontools.service", "/lib/smart");
	em_doctor_tools(&doctor);
	expect(EM_CHECK_TOOLS, EM_RESULT_OK, "smartd does not run, but is enabled");
	put_link(UNITS "/smartmontools.service", "/dev/null");
	put_link(UNITS "/multipathd.service", "/lib/multipathd");
	expect_no_tool();
	put("/usr/share/dbus-1/system-services/org.freedesktop.fwupd.service", "");
	em_doctor_tools(&doctor);
	expect(EM_CHECK_TOOLS, EM_RESULT_OK, "fwupd does not run, but starts when it is asked for");
	put_link(UNITS "/fwupd.service", "/dev/null");
	expect_no_tool();
}
END_TEST

START_TEST(programs_that_go_around_the_policy_are_told)
{
	static const struct {
		const char *comm, *denied, *words;
	} rows[] = {
		{ "smartd\n", "test=deny\n", "denies test to Ember, but smartd" },
		{ "udisksd\n", "erase=deny\n", "denies erase to Ember, but udisks2" },
		{ "fwupd\n", "firmware=deny\n", "denies firmware to Ember, but fwupd" },
	};

	for (size_t i = 0; i < EM_COUNT(rows); i++) {
		put("/proc/18/comm", rows[i].comm);
		strcpy(doctor.policy, "read=allow\n");
		em_doctor_tools(&doctor);
		ck_assert_uint_eq(doctor.report.count, 1);
		em_report_done(&doctor.report);
		strcpy(doctor.policy, rows[i].denied);
		em_doctor_tools(&doctor);
		expect(EM_CHECK_TOOLS, EM_RESULT_WARN, rows[i].words);
	}
}
END_TEST

START_TEST(libnvme_is_one_that_ember_is_made_for)
{
	static const struct {
		const char *text;
		enum em_result result;
		const char *words;
	} rows[] = {
		{ "ember-broker 1\nlibnvme 1.3\n", EM_RESULT_OK, "uses libnvme 1.3" },
		{ "ember-broker 1\nlibnvme 1.11.1\n", EM_RESULT_OK, "uses libnvme 1.11.1" },
		{ "ember-broker 1\nlibnvme 2.0\n", EM_RESULT_OK, "uses libnvme 2.0" },
		{ "ember-broker 1\nlibnvme 1.2\n", EM_RESULT_WARN, "made for 1.3" },
		{ "ember-broker 1\nlibnvme ?\n", EM_RESULT_WARN, "does not tell" },
		{ "ember-broker 1\n", EM_RESULT_WARN, "does not tell" },
	};

	for (size_t i = 0; i < EM_COUNT(rows); i++) {
		em_doctor_judge_libnvme(&doctor.report, rows[i].text);
		expect(EM_CHECK_VERSIONS, rows[i].result, rows[i].words);
	}
}
END_TEST

/* A program at hand for the next look; NULL: there is none. */
static void put_programs(const char *emberd, const char *broker)
{
	char path[128], command[512];

	snprintf(path, sizeof(path), "%s/bin", root);
	put("/bin/emberd", emberd ? emberd : "");
	put("/bin/ember-broker", broker ? broker : "");
	snprintf(command, sizeof(command), "chmod %s %s/emberd; chmod %s %s/ember-broker",
		 emberd ? "0755" : "0644", path, broker ? "0755" : "0644", path);
	ck_assert_int_eq(system(command), 0);
	ck_assert_int_eq(setenv("PATH", path, 1), 0);
}

/* Installed programs come before $PATH; where Ember is installed this cannot be played. */
static bool is_installed(void)
{
	return access(EM_SBINDIR "/emberd", F_OK) == 0;
}

#define SAYS(text) "#!/bin/sh\nprintf '" text "'\n"

START_TEST(programs_are_of_one_version)
{
	char *path = strdup(getenv("PATH"));

	if (!is_installed()) {
		put_programs(SAYS("emberd " PACKAGE_VERSION), SAYS("ember-broker 0.0.9"));
		em_doctor_versions(&doctor);
		setenv("PATH", path, 1);
		ck_assert_int_eq(doctor.report.findings[0].result, EM_RESULT_OK);
		expect(EM_CHECK_VERSIONS, EM_RESULT_WARN, "ember-broker has version 0.0.9");
		put_programs(NULL, SAYS("Segmentation fault"));
		em_doctor_versions(&doctor);
		setenv("PATH", path, 1);
		ck_assert_int_eq(doctor.report.findings[0].result, EM_RESULT_WARN);
		expect(EM_CHECK_VERSIONS, EM_RESULT_FAIL, "does not tell its version");
	}
	free(path);
}
END_TEST

START_TEST(a_program_that_was_replaced_runs_on)
{
	put("/proc/9/comm", "ember-broker\n");
	put_link("/proc/9/exe", "/usr/libexec/ember/ember-broker (deleted)");
	put("/proc/8/comm", "bash\n");
	put_link("/proc/8/exe", "/bin/bash (deleted)");
	em_doctor_versions(&doctor);
	expect(EM_CHECK_VERSIONS, EM_RESULT_WARN, "ember-broker was replaced");
	put_link("/proc/9/exe", "/usr/libexec/ember/ember-broker");
	em_doctor_versions(&doctor);
	for (unsigned i = 0; i < doctor.report.count; i++)
		ck_assert_ptr_null(strstr(doctor.report.findings[i].summary, "replaced"));
}
END_TEST

START_TEST(units_run_and_will_run_again)
{
	static const struct {
		const char *active, *enabled;
		enum em_result result;
		const char *words;
	} rows[] = {
		{ "active", "enabled", EM_RESULT_OK, "x is active and enabled" },
		{ "active", "disabled", EM_RESULT_WARN, "will not be after the next start" },
		{ "failed", "enabled", EM_RESULT_FAIL, "x is failed" },
		{ "", "", EM_RESULT_FAIL, "x is unknown to systemd" },
	};

	for (size_t i = 0; i < EM_COUNT(rows); i++) {
		em_doctor_judge_unit(&doctor.report, "x", rows[i].active, rows[i].enabled);
		expect(EM_CHECK_UNITS, rows[i].result, rows[i].words);
	}
}
END_TEST

START_TEST(tokens_end)
{
	const int64_t now = INT64_C(1796000000) * 1000000; /* 2026-11-30 */
	json_t *tokens = json_array();

	em_doctor_judge_tokens(&doctor.report, NULL, now);
	expect(EM_CHECK_TOKENS, EM_RESULT_OK, "those alone who may give orders");
	em_doctor_judge_tokens(&doctor.report, tokens, now);
	expect(EM_CHECK_TOKENS, EM_RESULT_WARN, "nobody has a token");
	json_array_append_new(tokens, json_pack("{s:s, s:n}", "name", "a", "expires_at"));
	em_doctor_judge_tokens(&doctor.report, tokens, now);
	expect(EM_CHECK_TOKENS, EM_RESULT_OK, "1 token,");
	json_array_append_new(tokens, json_pack("{s:s, s:s}", "name", "b", "expires_at",
						"2026-12-20T00:00:00.000Z"));
	em_doctor_judge_tokens(&doctor.report, tokens, now);
	ck_assert_uint_eq(doctor.report.count, 1);
	expect(EM_CHECK_TOKENS, EM_RESULT_WARN, "for b ends on 2026-12-20");
	json_array_append_new(tokens, json_pack("{s:s, s:s}", "name", "c", "expires_at",
						"2026-11-20T00:00:00.000Z"));
	em_doctor_judge_tokens(&doctor.report, tokens, now);
	expect(EM_CHECK_TOKENS, EM_RESULT_WARN, "for c has ended on 2026-11-20");
	json_decref(tokens);
}
END_TEST

START_TEST(complaints_are_for_people)
{
	char with[] = "<3>ember-broker: Policy: /etc/p:2: no\nmore\n", plain[] = "Killed";

	ck_assert_str_eq(em_doctor_complaint(with), "/etc/p:2: no");
	ck_assert_str_eq(em_doctor_complaint(plain), "Killed");
}
END_TEST

START_TEST(a_policy_is_wrong_by_its_line)
{
	char *path = strdup(getenv("PATH"));

	if (!is_installed()) {
		put_programs(NULL,
			     "#!/bin/sh\necho '<3>ember-broker: Policy: p:3: no class'; exit 1");
		em_doctor_policy(&doctor);
		setenv("PATH", path, 1);
		expect(EM_CHECK_POLICY, EM_RESULT_FAIL, "p:3: no class");
		put_programs(NULL, SAYS("read=allow\\nfirmware=deny\\n"));
		em_doctor_policy(&doctor);
		ck_assert_str_eq(doctor.policy, "read=allow\nfirmware=deny\n");
	}
	setenv("PATH", path, 1);
	free(path);
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
	tcase_add_test(tcase, the_kernel_says_that_a_drive_does_not_work);
	tcase_add_test(tcase, drives_without_a_driver_are_not_of_this_kernel);
	tcase_add_test(tcase, a_clock_is_right_or_told);
	tcase_add_test(tcase, who_has_no_group_gives_no_orders);
	tcase_add_test(tcase, programs_that_will_run_are_found_by_their_units);
	tcase_add_test(tcase, programs_that_go_around_the_policy_are_told);
	tcase_add_test(tcase, libnvme_is_one_that_ember_is_made_for);
	tcase_add_test(tcase, programs_are_of_one_version);
	tcase_add_test(tcase, a_program_that_was_replaced_runs_on);
	tcase_add_test(tcase, units_run_and_will_run_again);
	tcase_add_test(tcase, tokens_end);
	tcase_add_test(tcase, complaints_are_for_people);
	tcase_add_test(tcase, a_policy_is_wrong_by_its_line);
	tcase_add_test(tcase, the_policy_must_be_roots_alone);
	tcase_add_test(tcase, a_certificate_ends);
	tcase_add_test(tcase, options_are_taken_from_their_sections);
	tcase_add_test(tcase, the_worst_finding_counts);
	return run_tests(tcase);
}
