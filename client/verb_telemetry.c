/* SPDX-License-Identifier: Apache-2.0 */
/* telemetry: what a drive recorded of itself for its maker, into a file. */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "client/human.h"
#include "lib/base/new_file.h"
#include "client/raw.h"
#include "client/view.h"
#include "lib/base/cleanup.h"
#include "lib/base/le.h"
#include "lib/base/parse.h"

#define LOG_HOST       0x07u
#define LOG_CONTROLLER 0x08u
#define BLOCK	       512u
#define LAST_BLOCKS    8u /* in the header, u16 each: of areas 1, 2 and 3 */
#define HOST_NUMBER    381u
#define CTRL_THERE     382u
#define CTRL_NUMBER    383u
#define PART_MAX       (64u << 10)
#define ATTEMPTS       3u
#define HAS_LONG_FORM  0x04u /* log_page_attributes */
#define HAS_TELEMETRY  0x08u
#define CREATE_QUERY   "&lsp=1&consume=true"

struct telemetry {
	struct em_client *client;
	struct em_doc identify;
	struct em_new_file file;
	const char *drive; /* its id: the name may go to another drive meanwhile */
	unsigned log;
	uint64_t area, size, done;
	uint8_t before, after; /* numbers of the capture, before the data and after it */
	unsigned attempts;
	bool progress;
};

static void telemetry_done(struct telemetry *t)
{
	if (t->progress)
		fputs("\r\033[K", t->client->err);
	em_new_file_done(&t->file);
	em_doc_done(&t->identify);
}

static enum em_exit fail(const struct telemetry *t, const char *what)
{
	return em_client_complain(t->client, EM_EXIT_FAILED, "%s", what);
}

/* ---- may it be read? ---------------------------------------------------------------------- */

static enum em_exit choose(struct telemetry *t)
{
	const char *area = em_client_option(t->client, "--area");

	t->log = em_client_option(t->client, "--controller") ? LOG_CONTROLLER : LOG_HOST;
	t->area = 3;
	if (area && em_parse_u64(area, 1, 3, &t->area) < 0)
		return em_client_complain(t->client, EM_EXIT_USAGE,
					  "--area %s: give 1, 2 or 3; each has what is in those "
					  "before it.",
					  area);
	return EM_EXIT_OK;
}

/* What Identify does not announce is not asked. */
static enum em_exit check_drive(struct telemetry *t)
{
	em_cleanup(em_freep) char *path = em_api_drive_path(t->client->args[0], "/identify");
	enum em_exit code = em_api_get(t->client, path, &t->identify);
	double attributes;

	if (code != EM_EXIT_OK)
		return code;
	t->drive = em_json_text(t->identify.root, "drive");
	if (!t->drive)
		return fail(t, "emberd's answer does not tell which drive it is about.");
	if (!em_json_number(json_object_get(t->identify.root, "values"), "log_page_attributes",
			    &attributes))
		return fail(t,
			    "Whether the drive has telemetry is not known: its Identify page was "
			    "not read, or does not tell. `emberctl show` tells more.");
	if (!((unsigned)attributes & HAS_TELEMETRY))
		return fail(t, "The drive has no telemetry: its Identify page announces none.");
	if (!((unsigned)attributes & HAS_LONG_FORM))
		return fail(t, "The drive's telemetry cannot be read: the drive does not take the "
			       "long form of Get Log Page, which reads a log in parts.");
	return EM_EXIT_OK;
}

static enum em_exit open_file(struct telemetry *t)
{
	const char *path = t->client->args[1];
	int r = em_new_file_open(&t->file, path);

	if (r == -EEXIST)
		return em_client_complain(t->client, EM_EXIT_FAILED,
					  "%s exists, and is not overwritten. Choose another name.",
					  path);
	if (r < 0)
		return em_client_complain(t->client, EM_EXIT_FAILED, "%s: %s.", path, strerror(-r));
	return EM_EXIT_OK;
}

/* ---- parts of the log --------------------------------------------------------------------- */

static enum em_exit explain(const struct telemetry *t, const json_t *answer, bool create)
{
	const char *status = em_json_text(answer, "status");
	const char *detail = em_json_text(answer, "status_detail");
	enum em_exit code =
		status && strcmp(status, "denied") == 0 ? EM_EXIT_REFUSED : EM_EXIT_FAILED;

	return em_client_complain(
		t->client, code, "The %s (%s): %s.",
		create ? "drive was not made to capture its state" : "log was not read",
		status ? status : "unknown", detail ? detail : "no reason is known");
}

static enum em_exit read_part(struct telemetry *t, uint64_t offset, uint32_t len, bool create,
			      struct em_buf *ret)
{
	em_cleanup(em_doc_done) struct em_doc doc = { 0 };
	char query[160];
	const char *status;
	enum em_exit code;

	snprintf(query, sizeof(query), "kind=log&page=%u&offset=%llu&length=%u%s", t->log,
		 (unsigned long long)offset, len, create ? CREATE_QUERY : "");
	code = em_raw_read(t->client, t->drive, query, &doc);
	if (code != EM_EXIT_OK)
		return code;
	status = em_json_text(doc.root, "status");
	if (!status || strcmp(status, "ok") != 0)
		return explain(t, doc.root, create);
	if (!em_raw_bytes(doc.root, ret) || ret->len != len)
		return fail(t, "The drive returned fewer bytes than were asked for.");
	return EM_EXIT_OK;
}

static enum em_exit read_header(struct telemetry *t, bool create, uint8_t ret[BLOCK])
{
	em_cleanup(em_buf_done) struct em_buf bytes = { 0 };
	enum em_exit code;

	em_buf_init(&bytes, BLOCK + 1);
	code = read_part(t, 0, BLOCK, create, &bytes);
	if (code != EM_EXIT_OK)
		return code;
	memcpy(ret, bytes.data, BLOCK);
	if (ret[0] != t->log)
		return fail(t, "What the drive returned is not its telemetry: the header has "
			       "another log's number.");
	return EM_EXIT_OK;
}

static uint8_t number_of(const struct telemetry *t, const uint8_t header[BLOCK])
{
	return header[t->log == LOG_HOST ? HOST_NUMBER : CTRL_NUMBER];
}

static void put_progress(struct telemetry *t)
{
	if (isatty(fileno(t->client->err)) != 1)
		return;
	fprintf(t->client->err, "\r%llu of %llu KiB\033[K", (unsigned long long)(t->done >> 10),
		(unsigned long long)(t->size >> 10));
	fflush(t->client->err);
	t->progress = true;
}

static enum em_exit save(struct telemetry *t, const void *data, size_t len)
{
	if (fwrite(data, 1, len, t->file.file) != len)
		return em_client_complain(t->client, EM_EXIT_FAILED, "%s: %s.", t->file.path,
					  strerror(errno));
	t->done += len;
	put_progress(t);
	return EM_EXIT_OK;
}

static enum em_exit save_data(struct telemetry *t)
{
	enum em_exit code = EM_EXIT_OK;

	while (code == EM_EXIT_OK && t->done < t->size) {
		em_cleanup(em_buf_done) struct em_buf bytes = { 0 };
		uint64_t left = t->size - t->done;
		uint32_t len = left < PART_MAX ? (uint32_t)left : PART_MAX;

		em_buf_init(&bytes, PART_MAX + 1);
		code = read_part(t, t->done, len, false, &bytes);
		if (code == EM_EXIT_OK)
			code = save(t, bytes.data, bytes.len);
	}
	return code;
}

/* One reading from the beginning; whether it is of one capture, its numbers tell. */
static enum em_exit attempt(struct telemetry *t, bool create)
{
	uint8_t header[BLOCK];
	enum em_exit code = read_header(t, create, header);

	if (code != EM_EXIT_OK)
		return code;
	if (t->log == LOG_CONTROLLER && !header[CTRL_THERE])
		return fail(t, "The drive has captured nothing by itself. Without --controller it "
			       "captures its state now.");
	t->done = 0;
	t->size = BLOCK * (1 + (uint64_t)em_le16(header + LAST_BLOCKS + 2 * (t->area - 1)));
	t->before = number_of(t, header);
	rewind(t->file.file);
	if (ftruncate(fileno(t->file.file), 0) < 0)
		return fail(t, strerror(errno));
	code = save(t, header, BLOCK);
	if (code == EM_EXIT_OK)
		code = save_data(t);
	if (code == EM_EXIT_OK)
		code = read_header(t, false, header);
	t->after = number_of(t, header);
	return code;
}

/*
 * Whoever else has a capture made meanwhile is not answered by one more: the next attempt takes
 * what is there.
 */
static enum em_exit read_whole(struct telemetry *t)
{
	enum em_exit code;

	do {
		code = attempt(t, t->log == LOG_HOST && t->attempts == 0);
		t->attempts++;
	} while (code == EM_EXIT_OK && t->before != t->after && t->attempts < ATTEMPTS);
	if (code == EM_EXIT_OK && t->before != t->after)
		code = em_client_complain(
			t->client, EM_EXIT_FAILED,
			"The log was torn in %u attempts: each time the drive captured anew while "
			"it was read (number %u became %u). Something else asks it for telemetry; "
			"%s was not written.",
			t->attempts, t->before, t->after, t->file.path);
	return code;
}

/* ---- what is shown ------------------------------------------------------------------------ */

static void put_summary(const struct telemetry *t)
{
	struct em_writer *w = t->client->writer;
	const char *device = em_json_text(t->identify.root, "device");
	json_t *root = json_pack("{s:s, s:s?, s:i, s:i, s:I, s:i, s:i, s:i, s:s}", "drive",
				 t->drive, "device", device, "log", (int)t->log, "area",
				 (int)t->area, "bytes", (json_int_t)t->done, "generation_before",
				 (int)t->before, "generation_after", (int)t->after, "attempts",
				 (int)t->attempts, "file", t->file.path);
	em_cleanup(em_freep) char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;
	char line[EM_VIEW_SIZE];

	if (text)
		em_writer_document(w, NULL, text, strlen(text));
	json_decref(root);
	snprintf(line, sizeof(line), "%llu bytes of %.60s are in %.400s (log %02Xh, capture %u).",
		 (unsigned long long)t->done, device ? device : "the drive", t->file.path, t->log,
		 t->after);
	em_writer_paragraph(w, (struct em_cell){ line, EM_TONE_PLAIN });
}

enum em_exit em_verb_telemetry(struct em_client *client)
{
	em_cleanup(telemetry_done) struct telemetry t = { .client = client };
	enum em_exit code = choose(&t);
	int r;

	if (code == EM_EXIT_OK)
		code = check_drive(&t);
	if (code == EM_EXIT_OK)
		code = open_file(&t);
	if (code == EM_EXIT_OK)
		code = read_whole(&t);
	if (code != EM_EXIT_OK)
		return code;
	r = em_new_file_keep(&t.file);
	if (r < 0)
		return em_client_complain(client, EM_EXIT_FAILED, "%s: %s.", t.file.path,
					  strerror(-r));
	put_summary(&t);
	return EM_EXIT_OK;
}
