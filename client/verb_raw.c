/* SPDX-License-Identifier: Apache-2.0 */
/* raw: one page of a drive, read now, as values, as bytes or into a file. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "client/raw.h"
#include "client/view.h"
#include "lib/base/buf.h"
#include "lib/base/cleanup.h"
#include "lib/base/parse.h"

#define LINE_BYTES 16u
#define BYTES_MAX  ((2u << 20) + 1) /* emberd reads no more at once */
#define DUMP_MAX   (16u << 20)

/* Numbers that go on to emberd as they are, once they are some. */
static const struct {
	const char *option, *param;
	uint64_t max;
} numbers[] = {
	{ "--nsid", "nsid", UINT32_MAX },     { "--lsp", "lsp", 127 },
	{ "--lsi", "lsi", UINT16_MAX },	      { "--offset", "offset", INT64_MAX },
	{ "--length", "length", UINT32_MAX },
};

/* ---- bytes ------------------------------------------------------------------------------- */

bool em_raw_bytes(const json_t *answer, struct em_buf *ret)
{
	const char *hex = em_json_text(answer, "data");

	for (; hex && hex[0] && hex[1]; hex += 2) {
		int high = em_hex_digit(hex[0]), low = em_hex_digit(hex[1]);
		char byte = (char)(high << 4 | low);

		if (high < 0 || low < 0)
			return false;
		em_buf_add(ret, &byte, 1);
	}
	return hex && !*hex && !em_buf_failed(ret);
}

static void add_line(struct em_buf *out, const uint8_t *data, size_t at, size_t len,
		     uint64_t offset)
{
	size_t left = len - at < LINE_BYTES ? len - at : LINE_BYTES;

	em_buf_addf(out, "%06llx ", (unsigned long long)(offset + at));
	for (size_t i = 0; i < LINE_BYTES; i++)
		if (i < left)
			em_buf_addf(out, "%s%02x", i % 8 ? " " : "  ", data[at + i]);
		else
			em_buf_adds(out, i % 8 ? "   " : "    ");
	em_buf_adds(out, "  |");
	for (size_t i = 0; i < left; i++)
		em_buf_addf(out, "%c", isprint(data[at + i]) ? data[at + i] : '.');
	em_buf_adds(out, "|\n");
}

/* As hexdump -C has it: equal lines once. */
static void add_dump(struct em_buf *out, const uint8_t *data, size_t len, uint64_t offset)
{
	bool starred = false;

	for (size_t at = 0; at < len; at += LINE_BYTES) {
		bool same = at >= LINE_BYTES && at + LINE_BYTES < len &&
			    !memcmp(data + at, data + at - LINE_BYTES, LINE_BYTES);

		if (!same)
			add_line(out, data, at, len, offset);
		else if (!starred)
			em_buf_adds(out, "*\n");
		starred = same;
	}
}

static enum em_exit put_dump(struct em_client *client, const struct em_buf *bytes, uint64_t offset)
{
	em_cleanup(em_buf_done) struct em_buf out = { 0 };

	em_buf_init(&out, DUMP_MAX);
	add_dump(&out, (const uint8_t *)bytes->data, bytes->len, offset);
	if (em_buf_failed(&out))
		return em_client_complain(client, EM_EXIT_FAILED, "There is not enough memory.");
	em_writer_finish(client->writer);
	if (out.len > 0)
		fwrite(out.data, 1, out.len, client->out);
	return EM_EXIT_OK;
}

static enum em_exit save(const struct em_client *client, const char *path,
			 const struct em_buf *bytes)
{
	FILE *file = fopen(path, "wx");
	bool ok = file && (!bytes->len || fwrite(bytes->data, 1, bytes->len, file) == bytes->len);

	if (file && fclose(file) != 0)
		ok = false;
	if (ok)
		return EM_EXIT_OK;
	return em_client_complain(client, EM_EXIT_FAILED, "%s: %s", path, strerror(errno));
}

/* ---- what is asked ------------------------------------------------------------------------ */

enum em_exit em_raw_read(struct em_client *client, const char *drive, const char *query,
			 struct em_doc *ret)
{
	em_cleanup(em_freep) char *path = NULL, *tail = NULL;

	if (asprintf(&tail, "/raw?%s", query) < 0)
		tail = NULL;
	path = tail ? em_api_drive_path(drive, tail) : NULL;
	return em_api_request(client, "POST", path, NULL, ret);
}

static enum em_exit add_numbers(struct em_client *client, struct em_buf *query)
{
	uint64_t value;

	for (size_t i = 0; i < EM_COUNT(numbers); i++) {
		const char *text = em_client_option(client, numbers[i].option);

		if (!text)
			continue;
		if (em_parse_u64(text, 0, numbers[i].max, &value) < 0)
			return em_client_complain(
				client, EM_EXIT_USAGE,
				"%s %s: give a whole number from 0 to %llu, or its hexadecimal "
				"digits after 0x.",
				numbers[i].option, text, (unsigned long long)numbers[i].max);
		em_buf_addf(query, "&%s=%llu", numbers[i].param, (unsigned long long)value);
	}
	if (em_client_option(client, "--consume"))
		em_buf_adds(query, "&consume=true");
	return EM_EXIT_OK;
}

static enum em_exit build_query(struct em_client *client, const char *kind, const char *page,
				struct em_buf *query)
{
	uint64_t number;

	if (em_parse_u64(page, 0, UINT8_MAX, &number) < 0)
		return em_client_complain(client, EM_EXIT_USAGE,
					  "%s: name the page by its number, like 0xca or 202.",
					  page);
	em_buf_addf(query, "kind=%s&page=%llu", kind, (unsigned long long)number);
	return add_numbers(client, query);
}

/* ---- what is shown ------------------------------------------------------------------------ */

static const struct em_page *table_of(const json_t *answer, const char *kind)
{
	const json_t *values = json_object_get(answer, "values");
	double number;

	if (!json_is_object(values) || !em_json_number(answer, "page", &number))
		return NULL;
	return em_page_find_code(!strcmp(kind, "log")	    ? EM_BY_LOG
				 : !strcmp(kind, "feature") ? EM_BY_FEATURE
							    : EM_BY_IDENTIFY,
				 (uint8_t)number);
}

static void put_head(struct em_client *client, const json_t *answer, const char *kind)
{
	const char *device = em_json_text(answer, "device");
	char title[EM_VIEW_SIZE], note[EM_VIEW_SIZE];
	double page = 0, length = 0, took = 0;

	em_json_number(answer, "page", &page);
	em_json_number(answer, "length", &length);
	em_json_number(answer, "duration_us", &took);
	snprintf(title, sizeof(title), "%s %02Xh of %.60s",
		 strcmp(kind, "log") == 0	? "Log page"
		 : strcmp(kind, "feature") == 0 ? "Feature"
						: "Identify CNS",
		 (unsigned)page, device ? device : "the drive");
	snprintf(note, sizeof(note), "%.0f bytes in %.0f us", length, took);
	em_writer_heading(client->writer, title, (struct em_cell){ note, EM_TONE_DIM });
}

static void put_values(struct em_writer *w, const struct em_page *page, const json_t *values)
{
	em_view_page(w, page, values, false);
	for (unsigned i = 0; i < page->group_count; i++)
		em_view_group(w, &page->groups[i], values, page->groups[i].count);
}

static void put_result(struct em_writer *w, const json_t *answer)
{
	char text[64];
	double result;

	if (!em_json_number(answer, "result", &result))
		return;
	snprintf(text, sizeof(text), "0x%08x (%.0f)", (unsigned)result, result);
	em_writer_fact(w, "Value", (struct em_cell){ text, EM_TONE_STRONG });
}

static enum em_exit put_answer(struct em_client *client, const json_t *answer, const char *kind)
{
	em_cleanup(em_buf_done) struct em_buf bytes = { 0 };
	const struct em_page *page = table_of(answer, kind);
	const char *offset = em_client_option(client, "--offset");
	const char *out = em_client_option(client, "--out");
	uint64_t from = 0;

	em_buf_init(&bytes, BYTES_MAX);
	if (!em_raw_bytes(answer, &bytes))
		return em_client_complain(client, EM_EXIT_FAILED,
					  "emberd's answer has no readable bytes.");
	if (out)
		return save(client, out, &bytes);
	put_head(client, answer, kind);
	if (strcmp(kind, "feature") == 0)
		put_result(client->writer, answer);
	if (page && !em_client_option(client, "--hex")) {
		put_values(client->writer, page, json_object_get(answer, "values"));
		return EM_EXIT_OK;
	}
	if (offset)
		em_parse_u64(offset, 0, INT64_MAX, &from);
	/* Only the form for people has a dump; JSON has the bytes in the document. */
	return client->common[EM_COMMON_JSON] ? EM_EXIT_OK : put_dump(client, &bytes, from);
}

static enum em_exit raw(struct em_client *client, const char *kind, const char *page)
{
	em_cleanup(em_buf_done) struct em_buf query = { 0 };
	em_cleanup(em_doc_done) struct em_doc doc = { 0 };
	enum em_exit code;
	const char *status, *detail;

	em_buf_init(&query, 4096);
	code = build_query(client, kind, page, &query);
	if (code == EM_EXIT_OK)
		code = em_raw_read(client, client->args[0], query.data, &doc);
	if (code != EM_EXIT_OK)
		return code;
	em_writer_document(client->writer, NULL, doc.text, doc.len);
	status = em_json_text(doc.root, "status");
	detail = em_json_text(doc.root, "status_detail");
	if (status && strcmp(status, "ok") == 0)
		return put_answer(client, doc.root, kind);
	return em_client_complain(client, EM_EXIT_FAILED, "It was not read (%s): %s",
				  status ? status : "unknown",
				  detail ? detail : "no reason is known");
}

enum em_exit em_verb_raw_identify(struct em_client *client)
{
	return raw(client, "identify", client->arg_count > 1 ? client->args[1] : "1");
}

enum em_exit em_verb_raw_log(struct em_client *client)
{
	return raw(client, "log", client->args[1]);
}

enum em_exit em_verb_raw_feature(struct em_client *client)
{
	return raw(client, "feature", client->args[1]);
}
