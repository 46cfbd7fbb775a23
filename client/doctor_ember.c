/* SPDX-License-Identifier: Apache-2.0 */
/* What emberd says of itself, of the broker, and of its history. */
#include "config.h"
#include "client/doctor.h"
#include <stdio.h>
#include <string.h>
#include "client/api.h"
#include "lib/base/cleanup.h"

static long long count_of(const json_t *object, const char *key)
{
	return (long long)json_integer_value(json_object_get(object, key));
}

static void judge_version(struct em_report *report, const char *version)
{
	if (!version || strcmp(version, PACKAGE_VERSION) != 0)
		em_report_add(report, EM_CHECK_EMBERD, EM_RESULT_WARN,
			      "After an upgrade, as root: systemctl restart emberd ember-broker.",
			      "emberd that runs has version %s, emberctl has " PACKAGE_VERSION,
			      version ? version : "unknown");
	else
		em_report_add(report, EM_CHECK_EMBERD, EM_RESULT_OK, NULL,
			      "emberd answers, and has version " PACKAGE_VERSION);
}

static void judge_broker(struct em_report *report, const json_t *broker)
{
	if (em_json_true(broker, "connected"))
		em_report_add(report, EM_CHECK_BROKER, EM_RESULT_OK, NULL,
			      "emberd is connected to the broker");
	else
		em_report_add(
			report, EM_CHECK_BROKER, EM_RESULT_FAIL,
			"No drive is read. `journalctl -u ember-broker -e` says why; then, as "
			"root: systemctl restart ember-broker.socket.",
			"emberd is not connected to the broker");
}

static void judge_store(struct em_report *report, const json_t *store)
{
	const char *status = em_json_text(store, "status"), *detail = em_json_text(store, "detail");
	long long lost = count_of(store, "dropped_total");

	if (!status || strcmp(status, "ok") != 0)
		em_report_add(report, EM_CHECK_HISTORY, EM_RESULT_FAIL,
			      "Readings wait in memory until it can be written. Is the disk full "
			      "or read-only? `journalctl -u emberd -e` says more.",
			      "the history is not written: %s",
			      detail ? detail : "no reason given");
	else if (lost > 0)
		em_report_add(report, EM_CHECK_HISTORY, EM_RESULT_WARN,
			      "That was while the disk could not be written or was too slow.",
			      "the history is written, but %lld rows were lost since the start of "
			      "emberd",
			      lost);
	else
		em_report_add(report, EM_CHECK_HISTORY, EM_RESULT_OK, NULL,
			      "the history is written");
}

/* The reason's first sentence is what is found, the others are what to do. */
static void tell_silence(struct em_report *report, struct em_reason *reason)
{
	char *end = strstr(reason->text, ". ");
	size_t len;

	if (end)
		*end = '\0';
	len = strlen(reason->text);
	if (len > 0 && reason->text[len - 1] == '.')
		reason->text[len - 1] = '\0';
	em_report_add(report, EM_CHECK_EMBERD, EM_RESULT_FAIL,
		      end ? end + 2 : "`journalctl -u emberd -e` may say more.", "%s",
		      reason->text);
}

void em_doctor_emberd(struct em_doctor *doctor)
{
	em_cleanup(em_doc_done) struct em_doc doc = { 0 };
	struct em_reason reason = { 0 };

	if (em_api_try(doctor->client, "GET", "/v1/health", NULL, &doc, &reason) != EM_EXIT_OK) {
		tell_silence(&doctor->report, &reason);
		return;
	}
	doctor->health = json_incref(doc.root);
	judge_version(&doctor->report, em_json_text(doctor->health, "version"));
	judge_broker(&doctor->report, json_object_get(doctor->health, "broker"));
	judge_store(&doctor->report, json_object_get(doctor->health, "store"));
}
