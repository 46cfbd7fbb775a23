/* SPDX-License-Identifier: Apache-2.0 */
/* complete_words - what a shell offers that only emberd or the field tables know. */
#include "config.h"
#include <jansson.h>
#include <string.h>
#include "client/client.h"
#include "lib/base/cleanup.h"
#include "lib/nvme/page.h"

/* A key press should not wait for a daemon in trouble. */
#define COMPLETE_TIMEOUT_MS 1000u

/* Shell words: a name with anything else in it could not be typed and is not offered. */
static bool is_plain(const char *word)
{
	return word && *word &&
	       word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				 "0123456789-_.")] == '\0';
}

static void put_words(FILE *out, const json_t *list, const char *const *keys, size_t key_count)
{
	const json_t *entry;
	size_t i;

	json_array_foreach(list, i, entry)
	{
		for (size_t k = 0; k < key_count; k++) {
			const char *word = json_string_value(json_object_get(entry, keys[k]));

			if (is_plain(word))
				fprintf(out, "%s\n", word);
		}
	}
}

/* NULL when emberd does not answer at once. */
static json_t *ask(struct em_client *client, const char *path)
{
	struct em_http_answer answer;
	json_t *root;

	em_http_free(client->http);
	client->http = NULL;
	client->target.timeout_ms = COMPLETE_TIMEOUT_MS;
	if (em_http_new(&client->http, &client->target) < 0 ||
	    em_http_get(client->http, path, &answer) < 0)
		return NULL;
	root = json_loadb(answer.body, answer.len, 0, NULL);
	free(answer.body);
	return root;
}

static enum em_exit offer_list(struct em_client *client, const char *path, const char *list,
			       const char *const *keys, size_t key_count)
{
	json_t *root = ask(client, path);

	if (!root)
		return EM_EXIT_UNREACHABLE;
	put_words(client->out, json_object_get(root, list), keys, key_count);
	json_decref(root);
	return EM_EXIT_OK;
}

static enum em_exit offer_drives(struct em_client *client)
{
	static const char *const keys[] = { "device", "serial" };

	return offer_list(client, "/v1/drives", "drives", keys, EM_COUNT(keys));
}

static enum em_exit offer_tokens(struct em_client *client)
{
	static const char *const keys[] = { "id" };

	return offer_list(client, "/v1/tokens", "tokens", keys, EM_COUNT(keys));
}

static enum em_exit offer_fields(struct em_client *client)
{
	for (unsigned i = 0; i < EM_PAGE_COUNT; i++) {
		const struct em_page *page = em_pages[i];

		for (unsigned f = 0; page && page->table && f < page->field_count; f++)
			if (!(page->fields[f].flags & EM_NO_HISTORY))
				fprintf(client->out, "%s\n", page->fields[f].key);
	}
	return EM_EXIT_OK;
}

/* The kinds of events stand in emberd's own description of its interface. */
static enum em_exit offer_kinds(struct em_client *client)
{
	static const char *const way[] = { "components", "schemas", "event",
					   "properties", "kind",    "enum" };
	json_t *root = ask(client, "/openapi.json");
	const json_t *at = root, *kind;
	size_t i;

	if (!root)
		return EM_EXIT_UNREACHABLE;
	for (i = 0; i < EM_COUNT(way); i++)
		at = json_object_get(at, way[i]);
	json_array_foreach(at, i, kind)
	{
		if (is_plain(json_string_value(kind)))
			fprintf(client->out, "%s\n", json_string_value(kind));
	}
	json_decref(root);
	return EM_EXIT_OK;
}

enum em_exit em_complete_words(struct em_client *client, const char *kind)
{
	static const struct {
		enum em_complete complete;
		enum em_exit (*offer)(struct em_client *client);
	} offers[] = {
		{ EM_COMPLETE_DRIVE, offer_drives },
		{ EM_COMPLETE_FIELD, offer_fields },
		{ EM_COMPLETE_KIND, offer_kinds },
		{ EM_COMPLETE_TOKEN, offer_tokens },
	};

	for (size_t i = 0; i < EM_COUNT(offers); i++)
		if (strcmp(kind, em_complete_name(offers[i].complete)) == 0)
			return offers[i].offer(client);
	return EM_EXIT_USAGE;
}
