/* SPDX-License-Identifier: Apache-2.0 */
/* security: locking, encryption, and what can be erased by itself. */
#include <stdio.h>
#include <string.h>
#include "client/api.h"
#include "client/human.h"
#include "client/view.h"
#include "lib/base/cleanup.h"

/* How a truth is shown: what it says, and how loud. */
struct truth {
	const char *key, *label;
	enum em_tone yes, no;
};

static const struct truth lock_truths[] = {
	{ "locking_supported", "Can be locked", EM_TONE_PLAIN, EM_TONE_PLAIN },
	{ "locking_enabled", "Locking set up", EM_TONE_PLAIN, EM_TONE_PLAIN },
	{ "media_encryption", "Encrypts its data", EM_TONE_PLAIN, EM_TONE_PLAIN },
	{ "mbr_shadowed", "Shows pre-boot image", EM_TONE_WARN, EM_TONE_PLAIN },
	{ "sid_blocked", "Owner blocked", EM_TONE_PLAIN, EM_TONE_PLAIN },
};

static const struct truth erase_truths[] = {
	{ "by_format", "Crypto erase by Format", EM_TONE_PLAIN, EM_TONE_PLAIN },
	{ "by_sanitize", "Crypto erase by Sanitize", EM_TONE_PLAIN, EM_TONE_PLAIN },
	{ "format_affects_all", "Format affects all", EM_TONE_WARN, EM_TONE_PLAIN },
	{ "erase_affects_all", "Erase affects all", EM_TONE_WARN, EM_TONE_PLAIN },
};

static struct em_cell truth_cell(const json_t *value, enum em_tone yes, enum em_tone no)
{
	if (!json_is_boolean(value))
		return (struct em_cell){ 0 };
	return json_is_true(value) ? (struct em_cell){ "yes", yes } : (struct em_cell){ "no", no };
}

static void put_truths(struct em_writer *w, const json_t *object, const struct truth *truths,
		       size_t count)
{
	for (size_t i = 0; i < count; i++)
		em_writer_fact(w, truths[i].label,
			       truth_cell(json_object_get(object, truths[i].key), truths[i].yes,
					  truths[i].no));
}

/* The first thing to know of such a drive. */
static void put_lock(struct em_writer *w, const json_t *doc)
{
	const json_t *locked = json_object_get(doc, "locked");
	bool can = em_json_true(doc, "locking_supported");

	if (json_is_true(locked))
		em_writer_fact(w, "State", (struct em_cell){ "locked", EM_TONE_BAD });
	else if (json_is_false(locked))
		em_writer_fact(
			w, "State",
			(struct em_cell){ "not locked", can ? EM_TONE_GOOD : EM_TONE_PLAIN });
	else
		em_writer_fact(w, "State", (struct em_cell){ "not known", EM_TONE_DIM });
}

static void put_discovery(struct em_writer *w, const json_t *doc)
{
	static const struct {
		const char *key, *label;
	} numbers[] = {
		{ "keys_max", "Keys for namespaces" },
		{ "keys_unused", "Keys left" },
		{ "ranges_per_namespace_max", "Ranges of a namespace" },
	};
	char number[EM_VIEW_SIZE], names[EM_VIEW_SIZE];

	put_lock(w, doc);
	em_writer_fact(w, "Class", (struct em_cell){ em_json_text(doc, "class"), EM_TONE_PLAIN });
	put_truths(w, doc, lock_truths, EM_COUNT(lock_truths));
	for (size_t i = 0; i < EM_COUNT(numbers); i++) {
		const json_t *value = json_object_get(doc, numbers[i].key);

		if (json_is_integer(value))
			em_writer_fact(
				w, numbers[i].label,
				(struct em_cell){ em_view_scalar(value, number), EM_TONE_PLAIN });
	}
	if (json_is_integer(json_object_get(doc, "data_removal")))
		em_writer_fact(
			w, "Removes data by",
			(struct em_cell){
				em_view_names(json_object_get(doc, "data_removal_bits"), names),
				EM_TONE_PLAIN });
	if (json_is_false(json_object_get(doc, "complete")))
		em_writer_paragraph(w, (struct em_cell){ "The drive's answer is not complete: what "
							 "is missing here may be there.",
							 EM_TONE_WARN });
	if (em_json_true(doc, "locked"))
		em_writer_paragraph(w, (struct em_cell){ "Reading or writing what is locked fails "
							 "until somebody unlocks it.",
							 EM_TONE_WARN });
}

static const char *explain(const char *reason)
{
	static const struct {
		const char *reason, *text;
	} reasons[] = {
		{ "unknown", "Identify was not read" },
		{ "no_format", "the drive has no Format" },
		{ "no_crypto_erase", "Format cannot change keys" },
		{ "erase_affects_all", "erasing one erases all" },
		{ "format_affects_all", "formatting one formats all" },
		{ "announced", "Identify says so" },
		{ "namespace_keys", "the drive counts keys of namespaces" },
	};

	for (size_t i = 0; reason && i < EM_COUNT(reasons); i++)
		if (strcmp(reason, reasons[i].reason) == 0)
			return reasons[i].text;
	return reason;
}

static void put_namespace(struct em_writer *w, const json_t *entry)
{
	char nsid[EM_VIEW_SIZE];
	const struct em_cell cells[] = {
		{ em_view_scalar(json_object_get(entry, "nsid"), nsid), EM_TONE_STRONG },
		truth_cell(json_object_get(entry, "write_protected"), EM_TONE_WARN, EM_TONE_PLAIN),
		truth_cell(json_object_get(entry, "crypto_erase_alone"), EM_TONE_PLAIN,
			   EM_TONE_WARN),
		{ explain(em_json_text(entry, "crypto_erase_reason")), EM_TONE_DIM },
	};

	em_writer_row(w, cells);
}

static void put_namespaces(struct em_writer *w, const json_t *list)
{
	static const struct em_column columns[] = {
		{ .title = "Namespace", .right = true },
		{ .title = "Write-protected", .rank = 1 },
		{ .title = "Erased alone" },
		{ .title = "Because", .wrap = true, .rank = 2, .shortest = 12 },
	};
	const json_t *entry;
	size_t i;

	if (json_array_size(list) == 0)
		return;
	em_writer_table(w, columns, EM_COUNT(columns));
	json_array_foreach(list, i, entry) put_namespace(w, entry);
}

enum em_exit em_verb_security(struct em_client *client)
{
	em_cleanup(em_freep) char *path = em_api_drive_path(client->args[0], "/security");
	em_cleanup(em_doc_done) struct em_doc doc = { 0 };
	enum em_exit code = em_api_get(client, path, &doc);
	struct em_writer *w = client->writer;
	const char *device;
	char title[EM_VIEW_SIZE];

	if (code != EM_EXIT_OK)
		return code;
	em_writer_document(w, NULL, doc.text, doc.len);
	device = em_json_text(doc.root, "device");
	snprintf(title, sizeof(title), "Security of %.60s", device ? device : "the drive");
	if (em_view_page_head(w, title, doc.root, em_json_text(doc.root, "state"), 0))
		put_discovery(w, doc.root);
	em_writer_heading(w, "Erasing", (struct em_cell){ 0 });
	put_truths(w, json_object_get(doc.root, "crypto_erase"), erase_truths,
		   EM_COUNT(erase_truths));
	put_namespaces(w, json_object_get(doc.root, "namespaces"));
	return EM_EXIT_OK;
}
