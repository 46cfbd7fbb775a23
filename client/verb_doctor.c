/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "client/api.h"
#include "client/doctor.h"
#include "lib/base/cleanup.h"

/* What holds when emberd's own program cannot be asked. */
static const struct em_doctor_config usual = {
	.directory = "/var/lib/ember",
	.admin_group = "ember-admin",
};

bool em_doctor_is_here(const struct em_client *client)
{
	static const char *const names[] = { "127.0.0.1", "localhost", "[::1]" };
	const char *url = client->target.url, *host = url ? strstr(url, "//") : NULL;

	if (!url)
		return true;
	for (size_t i = 0; host && i < EM_COUNT(names); i++) {
		size_t len = strlen(names[i]);

		if (strncasecmp(host + 2, names[i], len) == 0 && strchr(":/", host[2 + len]))
			return true;
	}
	return false;
}

static void look_at_host(struct em_doctor *doctor)
{
	em_doctor_versions(doctor);
	em_doctor_configuration(doctor);
	em_doctor_user(doctor);
	em_doctor_kernel(doctor);
	em_doctor_units(doctor);
	em_doctor_policy(doctor);
	em_doctor_disk(doctor);
	em_doctor_clock(doctor);
	em_doctor_tools(doctor);
}

static void look_at_emberd(struct em_doctor *doctor, bool here)
{
	if (here)
		em_doctor_listeners(doctor);
	em_doctor_certificate(doctor);
	em_doctor_tokens(doctor);
	em_doctor_drives(doctor, here);
	em_doctor_pages(doctor);
}

static void examine(struct em_doctor *doctor)
{
	bool here = em_doctor_is_here(doctor->client);

	em_doctor_emberd(doctor);
	if (here)
		look_at_host(doctor);
	else
		em_report_add(&doctor->report, EM_CHECK_EMBERD, EM_RESULT_OK,
			      "For the rest run emberctl doctor there.",
			      "emberd is on another host: nothing is looked at but what it tells");
	if (doctor->health)
		look_at_emberd(doctor, here);
}

static json_t *finding_json(const struct em_finding *finding)
{
	return json_pack("{s:s, s:s, s:s, s:s?}", "check", em_check_name(finding->check), "result",
			 em_result_name(finding->result), "summary",
			 finding->summary ? finding->summary : "", "advice", finding->advice);
}

/* In the order of the checks, and as each found it. */
static json_t *list_json(const struct em_report *report)
{
	json_t *list = json_array();

	for (unsigned check = 0; check < EM_CHECK_COUNT; check++)
		for (unsigned i = 0; i < report->count; i++)
			if (report->findings[i].check == check)
				json_array_append_new(list, finding_json(&report->findings[i]));
	return list;
}

static const enum em_tone tones[] = {
	[EM_RESULT_OK] = EM_TONE_GOOD,
	[EM_RESULT_WARN] = EM_TONE_WARN,
	[EM_RESULT_FAIL] = EM_TONE_BAD,
};

static void put_row(struct em_writer *w, const struct em_finding *finding)
{
	em_cleanup(em_freep) char *text = NULL;
	const char *advice = finding->advice;

	if (asprintf(&text, "%s.%s%s", finding->summary ? finding->summary : "", advice ? " " : "",
		     advice ? advice : "") < 0)
		text = NULL;
	em_writer_row(w, (struct em_cell[]){
				 { em_result_name(finding->result), tones[finding->result] },
				 { em_check_name(finding->check), EM_TONE_PLAIN },
				 { text, finding->result == EM_RESULT_OK ? EM_TONE_PLAIN
									 : EM_TONE_STRONG },
			 });
}

static unsigned count_of(const struct em_report *report, enum em_result result)
{
	unsigned count = 0;

	for (unsigned i = 0; i < report->count; i++)
		count += report->findings[i].result == result;
	return count;
}

/* "18 findings: 15 ok, 2 to look at, 1 that fails." */
static void put_sums(struct em_writer *w, const struct em_report *report)
{
	unsigned warn = count_of(report, EM_RESULT_WARN), fail = count_of(report, EM_RESULT_FAIL);
	char line[256], warned[64] = "", failed[64] = "";

	if (warn > 0)
		snprintf(warned, sizeof(warned), ", %u warn", warn);
	if (fail > 0)
		snprintf(failed, sizeof(failed), ", %u fail", fail);
	snprintf(line, sizeof(line), "%u finding%s: %u ok%s%s%s", report->count,
		 report->count == 1 ? "" : "s", count_of(report, EM_RESULT_OK), warned, failed,
		 report->incomplete ? "; there was more than fits in here" : "");
	em_writer_paragraph(w, (struct em_cell){ line, tones[em_report_worst(report)] });
}

static void put_table(struct em_writer *w, const struct em_report *report)
{
	static const struct em_column columns[] = {
		{ .title = "Result" },
		{ .title = "Check" },
		{ .title = "Finding, and what to do", .wrap = true },
	};

	em_writer_table(w, columns, EM_COUNT(columns));
	for (unsigned check = 0; check < EM_CHECK_COUNT; check++)
		for (unsigned i = 0; i < report->count; i++)
			if (report->findings[i].check == check)
				put_row(w, &report->findings[i]);
	put_sums(w, report);
}

/* list becomes part of it. */
static json_t *report_json(const struct em_report *report, json_t *list)
{
	return json_pack("{s:s, s:b, s:O}", "result", em_result_name(em_report_worst(report)),
			 "complete", !report->incomplete, "findings", list);
}

static void put_document(struct em_writer *w, const struct em_report *report)
{
	static const char *const paths[] = { "result", "check", "summary", "advice" };
	json_t *list = list_json(report);
	json_t *root = report_json(report, list);
	em_cleanup(em_freep) char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;

	if (text)
		em_writer_document(w, NULL, text, strlen(text));
	em_writer_records(w, list, paths, EM_COUNT(paths));
	json_decref(root);
	json_decref(list);
}

static void doctor_done(struct em_doctor *doctor)
{
	json_decref(doctor->health);
	json_decref(doctor->drives);
	em_report_done(&doctor->report);
}

json_t *em_doctor_document(struct em_client *client, const char *config_path)
{
	em_cleanup(doctor_done) struct em_doctor doctor = {
		.client = client, .root = "", .config = usual, .config_path = config_path
	};
	json_t *list, *root;

	examine(&doctor);
	list = list_json(&doctor.report);
	root = report_json(&doctor.report, list);
	json_decref(list);
	return root;
}

enum em_exit em_verb_doctor(struct em_client *client)
{
	em_cleanup(doctor_done) struct em_doctor doctor = { .client = client,
							    .root = "",
							    .config = usual };
	enum em_result worst;

	doctor.config_path = em_client_option(client, "--config");
	examine(&doctor);
	worst = em_report_worst(&doctor.report);
	put_document(client->writer, &doctor.report);
	put_table(client->writer, &doctor.report);
	return worst == EM_RESULT_FAIL ? EM_EXIT_FAILED : EM_EXIT_OK;
}
