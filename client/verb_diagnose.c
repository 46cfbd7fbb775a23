/* SPDX-License-Identifier: Apache-2.0 */
/* diagnose: what somebody wants to know who is to help, in one file. */
#include "config.h"
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/utsname.h>
#include "client/api.h"
#include "client/bundle.h"
#include "client/doctor.h"
#include "lib/base/new_file.h"
#include "client/view.h"
#include "lib/base/cleanup.h"
#include "lib/base/clock.h"

#define DRIVES_PATH   "/v1/drives?limit=4096"
#define EVENTS_PATH   "/v1/events?limit=1000"
#define CHANGES_PATH  "/v1/changes?limit=1000"
#define JOURNAL_MAX   (8u << 20)
#define NAME_SIZE     128
#define JOURNAL_LINES "2000"

struct diagnose {
	struct em_client *client;
	struct em_bundle bundle;
	struct em_new_file file;
	struct em_doc drives, drive; /* all of them; the one that is asked about */
	char unreachable[1024];	     /* why emberd is not asked any more; "" = it is */
	int64_t now_us;
};

static void diagnose_done(struct diagnose *d)
{
	em_mask_free(d->bundle.mask);
	em_bundle_done(&d->bundle);
	em_new_file_done(&d->file);
	em_doc_done(&d->drives);
	em_doc_done(&d->drive);
}

/* ---- what emberd tells -------------------------------------------------------------------- */

/* list: the name of what comes in pages; NULL = it comes in one. An emberd that is not there is
 * asked once. */
static enum em_exit ask(struct diagnose *d, const char *path, const char *list, struct em_doc *ret,
			struct em_reason *ret_reason)
{
	enum em_exit code;

	if (d->unreachable[0]) {
		snprintf(ret_reason->text, sizeof(ret_reason->text), "%s", d->unreachable);
		return EM_EXIT_UNREACHABLE;
	}
	code = list ? em_api_try_list(d->client, path, list, 0, ret, ret_reason)
		    : em_api_try(d->client, "GET", path, NULL, ret, ret_reason);
	if (code == EM_EXIT_UNREACHABLE)
		snprintf(d->unreachable, sizeof(d->unreachable), "%s", ret_reason->text);
	return code;
}

static void put(struct diagnose *d, const char *name, const char *path, const struct em_doc *doc)
{
	char source[1024];

	snprintf(source, sizeof(source), "GET %s", path);
	em_bundle_json(&d->bundle, name, source, doc->root);
}

static void miss(struct diagnose *d, const char *name, const char *path, const char *reason)
{
	char source[1024];

	snprintf(source, sizeof(source), "GET %s", path);
	em_bundle_miss(&d->bundle, name, source, reason);
}

static void fetch(struct diagnose *d, const char *name, const char *path)
{
	em_cleanup(em_doc_done) struct em_doc doc = { 0 };
	struct em_reason reason;

	if (ask(d, path, NULL, &doc, &reason) == EM_EXIT_OK)
		put(d, name, path, &doc);
	else
		miss(d, name, path, reason.text);
}

/* The one document that is no JSON. */
static void fetch_metrics(struct diagnose *d)
{
	static const char name[] = "metrics.txt", path[] = "/metrics";
	struct em_http_answer answer = { 0 };
	char reason[1024];
	int r = d->unreachable[0] ? 0 : em_http_get(d->client->http, path, &answer);

	if (d->unreachable[0])
		snprintf(reason, sizeof(reason), "%s", d->unreachable);
	else if (r < 0)
		em_http_explain(d->client->http, r, reason, sizeof(reason));
	else
		snprintf(reason, sizeof(reason), "emberd answered with HTTP status %ld.",
			 answer.status);
	if (answer.status == 200)
		em_bundle_text(&d->bundle, name, "GET /metrics", answer.body, answer.len);
	else
		miss(d, name, path, reason);
	free(answer.body);
}

/* ---- drives ------------------------------------------------------------------------------- */

static void add_words(char *buf, size_t size, const char *text, size_t max)
{
	size_t used = strlen(buf);

	for (; *text && max > 0 && used + 1 < size; text++, max--)
		buf[used++] = isalnum((unsigned char)*text) ? *text : '_';
	buf[used] = '\0';
}

/* "drives/nvme0-0123456789abcdef/" */
static void name_directory(const json_t *drive, char buf[NAME_SIZE])
{
	const char *device = em_json_text(drive, "device"), *id = em_json_text(drive, "id");

	snprintf(buf, NAME_SIZE, "drives/");
	add_words(buf, NAME_SIZE, device ? device : "gone", 20);
	strcat(buf, "-");
	add_words(buf, NAME_SIZE, id ? id : "", 32);
	strcat(buf, "/");
}

static void fetch_part(struct diagnose *d, const json_t *drive, const char *part)
{
	const char *id = em_json_text(drive, "id");
	char directory[NAME_SIZE], name[2 * NAME_SIZE], tail[NAME_SIZE] = "";
	em_cleanup(em_freep) char *path = NULL;

	if (*part)
		snprintf(tail, sizeof(tail), "/%.60s", part);
	path = id ? em_api_drive_path(id, tail) : NULL;
	name_directory(drive, directory);
	snprintf(name, sizeof(name), "%s%.60s.json", directory, *part ? part : "drive");
	if (path)
		fetch(d, name, path);
}

static void fetch_drive(struct diagnose *d, const json_t *drive)
{
	static const char *const others[] = { "", "health", "capacitor", "namespaces" };

	for (size_t i = 0; i < EM_COUNT(others); i++)
		fetch_part(d, drive, others[i]);
	for (unsigned page = 0; page < EM_PAGE_CTRL_COUNT; page++)
		fetch_part(d, drive, em_pages[page]->key);
}

/* The names of all drives, also of those that are not asked about: the journal has them. */
static void learn_names(struct diagnose *d)
{
	const json_t *drive;
	size_t i;

	if (!d->bundle.mask)
		return;
	em_mask_learn(d->bundle.mask, d->drives.root);
	json_array_foreach(json_object_get(d->drives.root, "drives"), i, drive)
	{
		const char *id = em_json_text(drive, "id");
		em_cleanup(em_freep) char *path = id ? em_api_drive_path(id, "/namespaces") : NULL;
		em_cleanup(em_doc_done) struct em_doc doc = { 0 };
		struct em_reason reason;

		if (path && ask(d, path, NULL, &doc, &reason) == EM_EXIT_OK)
			em_mask_learn(d->bundle.mask, doc.root);
	}
}

static void fetch_drives(struct diagnose *d)
{
	static const char name[] = "drives.json";
	struct em_reason reason;
	const json_t *drive;
	size_t i;

	if (ask(d, DRIVES_PATH, "drives", &d->drives, &reason) != EM_EXIT_OK) {
		miss(d, name, DRIVES_PATH, reason.text);
		return;
	}
	learn_names(d);
	if (d->drive.root) {
		fetch_drive(d, d->drive.root);
		return;
	}
	put(d, name, DRIVES_PATH, &d->drives);
	json_array_foreach(json_object_get(d->drives.root, "drives"), i, drive)
		fetch_drive(d, drive);
}

static void fetch_events(struct diagnose *d)
{
	static const struct {
		const char *name, *path;
	} lists[] = { { "events.json", EVENTS_PATH }, { "changes.json", CHANGES_PATH } };
	const char *id = em_json_text(d->drive.root, "id");
	em_cleanup(em_freep) char *drive = id ? em_http_escape(id) : NULL;

	for (size_t i = 0; i < EM_COUNT(lists); i++) {
		char path[NAME_SIZE * 2];

		snprintf(path, sizeof(path), "%s%s%.100s", lists[i].path, drive ? "&drive=" : "",
			 drive ? drive : "");
		fetch(d, lists[i].name, path);
	}
}

/* ---- what this host tells ----------------------------------------------------------------- */

/* program: where it was installed to; else $PATH has it. words come behind its name. */
static void run(struct diagnose *d, const char *name, const char *source, const char *program,
		const char *const *words, size_t count)
{
	em_cleanup(em_buf_done) struct em_buf output = { 0 };
	char path[EM_DOCTOR_PATH_SIZE], reason[512];
	const char *argv[12] = { path };
	int r;

	if (!em_doctor_find_program(program, path)) {
		em_bundle_miss(&d->bundle, name, source, "there is no such program.");
		return;
	}
	for (size_t i = 0; i < count && i + 2 < EM_COUNT(argv); i++)
		argv[i + 1] = words[i];
	em_buf_init(&output, JOURNAL_MAX);
	r = em_doctor_run_long((char *const *)argv, &output);
	if (r < 0) {
		em_bundle_miss(&d->bundle, name, source, strerror(-r));
	} else if (r > 0 || (output.data && strstr(output.data, "insufficient permissions"))) {
		snprintf(reason, sizeof(reason), "it ended with %d: %.400s", r,
			 output.data ? em_doctor_complaint(output.data) : "no word");
		em_bundle_miss(&d->bundle, name, source, reason);
	} else {
		em_bundle_text(&d->bundle, name, source, output.data ? output.data : "",
			       output.len);
	}
}

/* Nobody vouches for a text of many hands while it is not known what has to be masked in it. */
static void put_journal(struct diagnose *d)
{
	static const char name[] = "journal.txt";
	static const char source[] = "journalctl -u 'ember*' -n " JOURNAL_LINES;
	static const char *const words[] = {
		"-u", "ember*", "-n", JOURNAL_LINES, "--no-pager", "-o", "short-iso-precise"
	};

	if (d->bundle.mask && !d->drives.root)
		em_bundle_miss(&d->bundle, name, source,
			       "it cannot be masked without emberd's list of drives.");
	else
		run(d, name, source, "/journalctl", words, EM_COUNT(words));
}

static void run_programs(struct diagnose *d)
{
	static const char *const version[] = { "--version" };
	const char *config = em_client_option(d->client, "--config");
	const char *const print[] = { "--print-config", "--config", config };

	run(d, "emberd.conf.txt", "emberd --print-config", EM_SBINDIR "/emberd", print,
	    config ? 3 : 1);
	run(d, "emberd.version.txt", "emberd --version", EM_SBINDIR "/emberd", version, 1);
	run(d, "ember-broker.version.txt", "ember-broker --version", EM_LIBEXECDIR "/ember-broker",
	    version, 1);
	put_journal(d);
}

/* Without the host's name. */
static void put_system(struct diagnose *d)
{
	char text[1024];
	struct utsname system;

	if (uname(&system) < 0)
		return;
	snprintf(text, sizeof(text), "emberctl %s\n%s %s\n%s\n%s\n", PACKAGE_VERSION,
		 system.sysname, system.release, system.version, system.machine);
	em_bundle_text(&d->bundle, "system.txt", "emberctl, uname", text, strlen(text));
}

static void put_host(struct diagnose *d)
{
	static const char *const names[] = { "emberd.conf.txt", "emberd.version.txt",
					     "ember-broker.version.txt", "journal.txt" };
	json_t *doctor = em_doctor_document(d->client, em_client_option(d->client, "--config"));

	if (doctor)
		em_bundle_json(&d->bundle, "doctor.json", "emberctl doctor --json", doctor);
	else
		em_bundle_miss(&d->bundle, "doctor.json", "emberctl doctor", "out of memory.");
	json_decref(doctor);
	put_system(d);
	if (em_doctor_is_here(d->client)) {
		run_programs(d);
		return;
	}
	for (size_t i = 0; i < EM_COUNT(names); i++)
		em_bundle_miss(&d->bundle, names[i], "this host", "emberd is on another one.");
}

/* ---- the file ----------------------------------------------------------------------------- */

static enum em_exit open_file(struct diagnose *d)
{
	const char *path = em_client_option(d->client, "--out");
	char usual[NAME_SIZE], time[EM_TIME_SIZE];
	int r;

	if (!path) {
		/* "2026-11-30T21:22:23.456Z": without what file systems of others do not take. */
		em_time_format(time, d->now_us);
		snprintf(usual, sizeof(usual), "ember-%.10s-%.2s%.2s%.2s.tar", time, time + 11,
			 time + 14, time + 17);
		path = usual;
	}
	r = em_new_file_open(&d->file, path);
	if (r == -EEXIST)
		return em_client_complain(d->client, EM_EXIT_FAILED,
					  "%s exists, and is not overwritten. Choose another name "
					  "with --out.",
					  path);
	if (r < 0)
		return em_client_complain(d->client, EM_EXIT_FAILED, "%s: %s.", path, strerror(-r));
	return EM_EXIT_OK;
}

/* A drive that nobody knows is a slip of the hand; an emberd that is not there is a finding. */
static enum em_exit find_drive(struct diagnose *d)
{
	em_cleanup(em_freep) char *path = NULL;
	struct em_reason reason;
	enum em_exit code;

	if (d->client->arg_count == 0)
		return EM_EXIT_OK;
	path = em_api_drive_path(d->client->args[0], "");
	if (!path)
		return em_client_complain(d->client, EM_EXIT_FAILED, "out of memory.");
	code = ask(d, path, NULL, &d->drive, &reason);
	if (code == EM_EXIT_NOT_FOUND || code == EM_EXIT_USAGE)
		return em_client_complain(d->client, code, "%s", reason.text);
	if (code != EM_EXIT_OK)
		miss(d, "drives/drive.json", "/v1/drives/DRIVE", reason.text);
	return EM_EXIT_OK;
}

static enum em_exit write_file(struct diagnose *d)
{
	const char *device = em_json_text(d->drive.root, "device");
	char title[512], time[EM_TIME_SIZE];
	int r;

	em_time_format(time, d->now_us);
	snprintf(title, sizeof(title),
		 "What emberctl %s found on %s, for %.100s.\n"
		 "Identifiers of drives: %s.\n",
		 PACKAGE_VERSION, time, device ? device : "all drives",
		 d->bundle.mask ? "masked; the same word stands for the same one in all files"
				: "as they are");
	r = em_bundle_write(&d->bundle, d->file.file, title, (uint64_t)d->now_us / EM_US_PER_SEC);
	if (r == 0)
		r = em_new_file_keep(&d->file);
	if (r < 0)
		return em_client_complain(d->client, EM_EXIT_FAILED, "%s: %s.", d->file.path,
					  strerror(-r));
	return EM_EXIT_OK;
}

static void put_summary(const struct diagnose *d)
{
	const struct em_bundle *bundle = &d->bundle;
	size_t missing = em_bundle_missing(bundle), there = bundle->count - missing;
	json_t *root =
		json_pack("{s:s, s:I, s:I, s:b}", "file", d->file.path, "files", (json_int_t)there,
			  "missing", (json_int_t)missing, "masked", bundle->mask != NULL);
	em_cleanup(em_freep) char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;
	char line[EM_VIEW_SIZE], left[64] = "";

	if (text)
		em_writer_document(d->client->writer, NULL, text, strlen(text));
	json_decref(root);
	if (missing > 0)
		snprintf(left, sizeof(left), "; %zu could not be had", missing);
	snprintf(line, sizeof(line), "%zu files are in %.400s%s. MANIFEST in it tells which.",
		 there, d->file.path, left);
	em_writer_paragraph(d->client->writer, (struct em_cell){ line, EM_TONE_PLAIN });
	if (!bundle->mask)
		em_writer_paragraph(d->client->writer,
				    (struct em_cell){ "It names drives by their serial numbers; "
						      "--mask replaces these.",
						      EM_TONE_DIM });
}

enum em_exit em_verb_diagnose(struct em_client *client)
{
	em_cleanup(diagnose_done) struct diagnose d = { .client = client,
							.now_us = em_realtime_us() };
	enum em_exit code = open_file(&d);

	if (code == EM_EXIT_OK && em_client_option(client, "--mask")) {
		d.bundle.mask = em_mask_new();
		if (!d.bundle.mask)
			return em_client_complain(client, EM_EXIT_FAILED, "out of memory.");
	}
	if (code == EM_EXIT_OK)
		code = find_drive(&d);
	if (code != EM_EXIT_OK)
		return code;
	fetch(&d, "health.json", "/v1/health");
	fetch_drives(&d);
	fetch_events(&d);
	fetch_metrics(&d);
	put_host(&d);
	code = write_file(&d);
	if (code == EM_EXIT_OK)
		put_summary(&d);
	return code;
}
