/* SPDX-License-Identifier: Apache-2.0 */
/* The drives as emberd has them: all of them, answering, and with all pages they have. */
#include "client/doctor.h"
#include <stdio.h>
#include <string.h>
#include "client/api.h"
#include "client/view.h"
#include "lib/base/cleanup.h"

#define NAMES_SHOWN 4u /* devices that a finding names before "and N more" */
#define TEXT_SIZE   2048

/* ---- drives ------------------------------------------------------------------------------ */

static const char *join_names(const json_t *devices, char buf[EM_VIEW_SIZE])
{
	size_t count = json_array_size(devices), len = 0;

	for (size_t i = 0; i < count && i < NAMES_SHOWN; i++)
		len += (size_t)snprintf(buf + len, EM_VIEW_SIZE - len, "%s%.40s", i ? ", " : "",
					json_string_value(json_array_get(devices, i)));
	if (count > NAMES_SHOWN)
		snprintf(buf + len, EM_VIEW_SIZE - len, " and %zu more", count - NAMES_SHOWN);
	return buf;
}

static bool is_known(const json_t *drives, const char *device)
{
	const json_t *drive, *controller;
	size_t i, j;

	json_array_foreach(drives, i, drive)
	{
		const char *name = em_json_text(drive, "device");

		if (name && strcmp(name, device) == 0)
			return true;
		json_array_foreach(json_object_get(drive, "controllers"), j, controller)
		{
			name = em_json_text(controller, "device");
			if (name && strcmp(name, device) == 0)
				return true;
		}
	}
	return false;
}

/* What the kernel has, and emberd has not. */
static void find_unknown(struct em_doctor *doctor)
{
	json_t *controllers = em_doctor_controllers(doctor->root), *unknown = json_array();
	const json_t *device;
	char names[EM_VIEW_SIZE];
	size_t i;

	json_array_foreach(controllers, i,
			   device) if (!is_known(doctor->drives, json_string_value(device)))
		json_array_append(unknown, (json_t *)device);
	if (json_array_size(unknown) > 0)
		em_report_add(
			&doctor->report, EM_CHECK_DRIVES, EM_RESULT_WARN,
			"Discovery controllers, and with [drives] transport=pcie those of other "
			"transports, are left out on purpose. Else `journalctl -u ember-broker "
			"-e` may say why.",
			"emberd does not watch %s", join_names(unknown, names));
	json_decref(unknown);
	json_decref(controllers);
}

/* Devices of the drives in this state; a drive that is gone may have no device any more. */
static json_t *in_state(const json_t *drives, const char *wanted)
{
	json_t *names = json_array();
	const json_t *drive;
	size_t i;

	json_array_foreach(drives, i, drive)
	{
		const char *state = em_json_text(drive, "state");
		const char *device = em_json_text(drive, "device");
		const char *serial = em_json_text(drive, "serial");

		if (state && strcmp(state, wanted) == 0)
			json_array_append_new(names, json_string(device	  ? device
								 : serial ? serial
									  : "?"));
	}
	return names;
}

static void judge_state(struct em_doctor *doctor, const char *state, const char *one,
			const char *many, const char *advice)
{
	json_t *names = in_state(doctor->drives, state);
	size_t count = json_array_size(names);
	char buf[EM_VIEW_SIZE];

	if (count > 0)
		em_report_add(&doctor->report, EM_CHECK_DRIVES, EM_RESULT_WARN, advice,
			      "%zu %s: %s", count, count == 1 ? one : many, join_names(names, buf));
	json_decref(names);
}

static void judge_total(struct em_report *report, size_t total)
{
	if (total == 0)
		em_report_add(report, EM_CHECK_DRIVES, EM_RESULT_WARN,
			      "Does the kernel see one? `ls /sys/class/nvme`; "
			      "`journalctl -u ember-broker -e` says what the broker found.",
			      "emberd knows no drive");
	else
		em_report_add(report, EM_CHECK_DRIVES, EM_RESULT_OK, NULL,
			      "emberd knows %zu drive%s", total, total == 1 ? "" : "s");
}

void em_doctor_drives(struct em_doctor *doctor, bool here)
{
	em_cleanup(em_doc_done) struct em_doc doc = { 0 };
	struct em_reason reason;

	if (em_api_try_list(doctor->client, "/v1/drives", "drives", 0, &doc, &reason) !=
	    EM_EXIT_OK) {
		em_report_add(&doctor->report, EM_CHECK_DRIVES, EM_RESULT_FAIL,
			      "`journalctl -u emberd -e` may say more.",
			      "emberd does not list its drives: %s", reason.text);
		return;
	}
	doctor->drives = json_incref(json_object_get(doc.root, "drives"));
	judge_total(&doctor->report, json_array_size(doctor->drives));
	judge_state(doctor, "unresponsive", "drive does not answer", "drives do not answer",
		    "The kernel's log may say why: journalctl -k -g nvme.");
	judge_state(doctor, "removed", "drive is gone", "drives are gone",
		    "Taken away on purpose? Then: emberctl retire DRIVE.");
	if (here)
		find_unknown(doctor);
}

/* ---- pages ------------------------------------------------------------------------------- */

static bool is_one_of(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (strcmp(word, *words) == 0)
			return true;
	return false;
}

/* What can be said of the pages of one drive. */
struct said {
	char unannounced[TEXT_SIZE], refused[TEXT_SIZE], failed[TEXT_SIZE];
};

static void append(char text[TEXT_SIZE], const char *page, const char *why)
{
	size_t len = strlen(text);

	snprintf(text + len, TEXT_SIZE - len, "%s%s%s%s%s", len ? ", " : "", page, why ? " (" : "",
		 why ? why : "", why ? ")" : "");
}

static void sort_pages(const json_t *pages, struct said *ret)
{
	static const char *const fine[] = { "ok", "never-read", NULL };
	const json_t *page;
	size_t i;

	*ret = (struct said){ 0 };
	json_array_foreach(pages, i, page)
	{
		const char *name = em_json_text(page, "page");
		const char *status = em_json_text(page, "status");
		const char *detail = em_json_text(page, "status_detail");

		if (!name || !status || is_one_of(status, fine))
			continue;
		if (strcmp(status, "unsupported") == 0)
			append(ret->unannounced, name, NULL);
		else if (strcmp(status, "refused") == 0)
			append(ret->refused, name, detail);
		else
			append(ret->failed, name, detail ? detail : status);
	}
}

/* Drives of which the same can be said share a line. */
static void note(json_t *said, const char *text, const char *device)
{
	json_t *devices = json_object_get(said, text);

	if (!devices) {
		devices = json_array();
		json_object_set_new(said, text, devices);
	}
	json_array_append_new(devices, json_string(device));
}

static void tell(struct em_report *report, const json_t *said, enum em_result result,
		 const char *advice, const char *what)
{
	const json_t *devices;
	const char *text;
	char names[EM_VIEW_SIZE];

	json_object_foreach((json_t *)said, text, devices)
		em_report_add(report, EM_CHECK_PAGES, result, advice, "%s: %s%s",
			      join_names(devices, names), what, text);
}

/* Of all drives: text -> devices. */
struct all_said {
	json_t *unannounced, *refused, *failed;
};

static void look_at(struct em_doctor *doctor, const char *device, struct all_said *all)
{
	em_cleanup(em_freep) char *path = em_api_drive_path(device, "");
	em_cleanup(em_doc_done) struct em_doc doc = { 0 };
	struct em_reason reason;
	struct said said;

	if (!path || em_api_try(doctor->client, "GET", path, NULL, &doc, &reason) != EM_EXIT_OK) {
		note(all->failed, "emberd does not tell of its pages", device);
		return;
	}
	sort_pages(json_object_get(doc.root, "pages"), &said);
	if (said.unannounced[0])
		note(all->unannounced, said.unannounced, device);
	if (said.refused[0])
		note(all->refused, said.refused, device);
	if (said.failed[0])
		note(all->failed, said.failed, device);
}

static void tell_all(struct em_doctor *doctor, const struct all_said *all)
{
	if (!json_object_size(all->unannounced) && !json_object_size(all->refused) &&
	    !json_object_size(all->failed)) {
		em_report_add(&doctor->report, EM_CHECK_PAGES, EM_RESULT_OK, NULL,
			      "every page of every drive is read");
		return;
	}
	tell(&doctor->report, all->unannounced, EM_RESULT_OK, NULL,
	     "not announced, so not asked: ");
	tell(&doctor->report, all->refused, EM_RESULT_OK,
	     "After a change of the drive: emberctl refresh DRIVE --refused.", "refused: ");
	tell(&doctor->report, all->failed, EM_RESULT_WARN,
	     "`emberctl show DRIVE` says when it was read last; emberctl refresh DRIVE asks again.",
	     "not read: ");
}

void em_doctor_pages(struct em_doctor *doctor)
{
	static const char *const gone[] = { "removed", "retired", NULL };
	struct all_said all = { json_object(), json_object(), json_object() };
	const json_t *drive;
	size_t i;

	json_array_foreach(doctor->drives, i, drive)
	{
		const char *device = em_json_text(drive, "device");
		const char *state = em_json_text(drive, "state");

		if (device && *device && state && !is_one_of(state, gone))
			look_at(doctor, device, &all);
	}
	if (json_array_size(doctor->drives) > 0)
		tell_all(doctor, &all);
	json_decref(all.unannounced);
	json_decref(all.refused);
	json_decref(all.failed);
}
