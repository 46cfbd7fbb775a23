/* SPDX-License-Identifier: Apache-2.0 */
#include "client/bundle.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "client/secrets.h"
#include "client/tar.h"
#include "lib/base/cleanup.h"

#define JSON_FORM  (JSON_INDENT(1) | JSON_REAL_PRECISION(15))
#define GROWTH_MAX 8u /* a text in its final form, against EM_BUNDLE_TEXT_MAX */

/* ---- what goes in ------------------------------------------------------------------------- */

static struct em_bundle_entry *add(struct em_bundle *bundle, const char *name, const char *source)
{
	struct em_bundle_entry *grown =
		reallocarray(bundle->entries, bundle->count + 1, sizeof(*grown));
	struct em_bundle_entry *entry;

	if (!grown) {
		bundle->failed = true;
		return NULL;
	}
	bundle->entries = grown;
	entry = &grown[bundle->count++];
	*entry = (struct em_bundle_entry){ .name = strdup(name), .source = strdup(source) };
	bundle->failed |= !entry->name || !entry->source;
	return entry;
}

void em_bundle_miss(struct em_bundle *bundle, const char *name, const char *source,
		    const char *reason)
{
	struct em_bundle_entry *entry = add(bundle, name, source);

	if (!entry)
		return;
	entry->reason = strdup(reason);
	bundle->failed |= !entry->reason;
}

void em_bundle_text(struct em_bundle *bundle, const char *name, const char *source,
		    const char *text, size_t len)
{
	struct em_bundle_entry *entry;

	if (len > EM_BUNDLE_TEXT_MAX || len > EM_BUNDLE_MAX - bundle->bytes) {
		em_bundle_miss(bundle, name, source, "it is larger than what has room here.");
		return;
	}
	entry = add(bundle, name, source);
	if (!entry)
		return;
	entry->text = malloc(len + 1);
	if (!entry->text) {
		bundle->failed = true;
		return;
	}
	memcpy(entry->text, text, len);
	entry->text[len] = '\0';
	entry->len = len;
	bundle->bytes += len;
}

void em_bundle_json(struct em_bundle *bundle, const char *name, const char *source,
		    const json_t *document)
{
	em_cleanup(em_freep) char *text = json_dumps(document, JSON_FORM);
	size_t before = bundle->count;

	if (!text) {
		bundle->failed = true;
		return;
	}
	if (bundle->mask)
		em_mask_learn(bundle->mask, document);
	em_bundle_text(bundle, name, source, text, strlen(text));
	if (bundle->count > before)
		bundle->entries[before].is_json = true;
}

/* ---- what comes out ----------------------------------------------------------------------- */

/* Tokens and keys go in any case, and before the mask takes parts of them. NULL: no memory. */
static char *clean(struct em_bundle *bundle, const char *text, size_t len, size_t *ret_len)
{
	em_cleanup(em_buf_done) struct em_buf open = { 0 }, masked = { 0 };
	struct em_buf *last = bundle->mask ? &masked : &open;

	em_buf_init(&open, GROWTH_MAX * EM_BUNDLE_TEXT_MAX);
	em_buf_init(&masked, GROWTH_MAX * EM_BUNDLE_TEXT_MAX);
	em_buf_adds(&open, ""); /* also of nothing there is a text */
	em_buf_adds(&masked, "");
	em_secrets_remove(text, len, &open);
	if (bundle->mask && !em_buf_failed(&open))
		em_mask_text(bundle->mask, open.data, open.len, &masked);
	bundle->failed |= em_buf_failed(&open) || em_buf_failed(&masked);
	return bundle->failed ? NULL : em_buf_steal(last, ret_len);
}

static void clean_string(struct em_bundle *bundle, json_t *string)
{
	size_t len = 0;
	em_cleanup(em_freep) char *text =
		clean(bundle, json_string_value(string), json_string_length(string), &len);

	if (!text || json_string_setn(string, text, len) < 0)
		bundle->failed = true;
}

/* Strings alone: numbers and the names of members are what they are. As deep as jansson reads. */
static void clean_node(struct em_bundle *bundle, json_t *node)
{
	const char *key;
	json_t *entry;
	size_t i;

	if (json_is_string(node))
		clean_string(bundle, node);
	json_array_foreach(node, i, entry) clean_node(bundle, entry);
	json_object_foreach(node, key, entry) clean_node(bundle, entry);
}

static char *clean_json(struct em_bundle *bundle, const char *text, size_t len, size_t *ret_len)
{
	json_t *root = json_loadb(text, len, 0, NULL);
	char *cleaned;

	clean_node(bundle, root);
	cleaned = root ? json_dumps(root, JSON_FORM) : NULL;
	json_decref(root);
	bundle->failed |= !cleaned;
	*ret_len = cleaned ? strlen(cleaned) : 0;
	return cleaned;
}

static void finish_text(struct em_bundle *bundle, struct em_bundle_entry *entry)
{
	size_t len = 0;
	char *text = entry->is_json ? clean_json(bundle, entry->text, entry->len, &len)
				    : clean(bundle, entry->text, entry->len, &len);

	free(entry->text);
	entry->text = text;
	entry->len = len;
}

static void finish_word(struct em_bundle *bundle, char **word)
{
	size_t len;
	char *text;

	if (!*word)
		return;
	text = clean(bundle, *word, strlen(*word), &len);
	free(*word);
	*word = text;
}

static void finish(struct em_bundle *bundle)
{
	for (size_t i = 0; i < bundle->count && !bundle->failed; i++) {
		struct em_bundle_entry *entry = &bundle->entries[i];

		if (entry->text)
			finish_text(bundle, entry);
		finish_word(bundle, &entry->name);
		finish_word(bundle, &entry->source);
		finish_word(bundle, &entry->reason);
	}
	bundle->failed |= bundle->mask && em_mask_failed(bundle->mask);
}

/* In the archive's order; what could not be had stands at the end. */
static void list(const struct em_bundle *bundle, const char *title, struct em_buf *out)
{
	em_buf_addf(out, "%s\n", title);
	for (size_t i = 0; i < bundle->count; i++)
		if (bundle->entries[i].text)
			em_buf_addf(out, "%s: %zu bytes, %s\n", bundle->entries[i].name,
				    bundle->entries[i].len, bundle->entries[i].source);
	em_buf_adds(out, em_bundle_missing(bundle) ? "\nNot here:\n" : "\nNothing is missing.\n");
	for (size_t i = 0; i < bundle->count; i++)
		if (bundle->entries[i].reason)
			em_buf_addf(out, "%s: %s: %s\n", bundle->entries[i].name,
				    bundle->entries[i].source, bundle->entries[i].reason);
}

static void finish_title(struct em_bundle *bundle, const char *title, struct em_buf *manifest)
{
	em_cleanup(em_freep) char *copy = strdup(title);

	bundle->failed |= !copy;
	finish_word(bundle, &copy);
	em_buf_init(manifest, EM_BUNDLE_TEXT_MAX);
	if (copy)
		list(bundle, copy, manifest);
	bundle->failed |= em_buf_failed(manifest);
}

int em_bundle_write(struct em_bundle *bundle, FILE *out, const char *title, uint64_t time_s)
{
	em_cleanup(em_buf_done) struct em_buf manifest = { 0 };
	int r;

	finish(bundle);
	finish_title(bundle, title, &manifest);
	if (bundle->failed)
		return -ENOMEM;
	r = em_tar_add(out, "MANIFEST", manifest.data, manifest.len, time_s);
	for (size_t i = 0; i < bundle->count && r == 0; i++)
		if (bundle->entries[i].text)
			r = em_tar_add(out, bundle->entries[i].name, bundle->entries[i].text,
				       bundle->entries[i].len, time_s);
	return r == 0 ? em_tar_end(out) : r;
}

size_t em_bundle_missing(const struct em_bundle *bundle)
{
	size_t count = 0;

	for (size_t i = 0; i < bundle->count; i++)
		count += bundle->entries[i].reason != NULL;
	return count;
}

void em_bundle_done(struct em_bundle *bundle)
{
	for (size_t i = 0; i < bundle->count; i++) {
		free(bundle->entries[i].name);
		free(bundle->entries[i].source);
		free(bundle->entries[i].text);
		free(bundle->entries[i].reason);
	}
	free(bundle->entries);
	*bundle = (struct em_bundle){ 0 };
}
